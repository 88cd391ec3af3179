/** What is likely wrong with tools and settings: by code, worst first, each with its fix where there is one. */
import * as Popover from "@radix-ui/react-popover";
import { useQuery } from "@tanstack/react-query";
import { ShieldCheck, Wrench } from "lucide-react";
import { useState } from "react";
import { Empty } from "../../components/Empty";
import { ProblemNote } from "../../components/ProblemNote";
import { ToolName } from "../../components/ToolName";
import { Problem, type Lint, type LintPage, type Severity } from "../../ipc/client";
import { fixLints } from "../../lib/edits";
import { count, counted } from "../../lib/format";
import { lintsQuery } from "../../lib/queries";
import { useWindow } from "../../lib/store";
import { SEVERITY } from "../../lib/words";
import { Fix } from "./Fix";
import "./lint.css";

const MORE = 200;
const SEVERITIES: readonly Severity[] = ["error", "warning", "info"];

export function LintsView() {
  const [code, setCode] = useState<string | null>(null);
  const [severities, setSeverities] = useState<Severity[]>([]);
  const [limit, setLimit] = useState(MORE);
  const { data, error } = useQuery(
    lintsQuery({ codes: code === null ? [] : [code], severities, tools: [], offset: 0, limit }),
  );
  if (error) return <ProblemNote problem={Problem.from(error)} />;
  if (!data) return null;
  if (data.codes.length === 0) return <Clean />;
  const shown = data.codes.filter((c) => severities.length === 0 || severities.includes(c.severity));
  return (
    <>
      <div className="toolbar">
        {SEVERITIES.map((s) => (
          <button
            type="button"
            key={s}
            className="badge severity"
            data-severity={s}
            aria-pressed={severities.includes(s)}
            data-testid={`lint-severity-${s}`}
            onClick={() => {
              setSeverities(severities.includes(s) ? severities.filter((x) => x !== s) : [...severities, s]);
              setCode(null);
            }}
          >
            {count(ofSeverity(data, s))} {SEVERITY[s].toLowerCase()}
            {ofSeverity(data, s) === 1 || s === "info" ? "" : "s"}
          </button>
        ))}
        <span className="grow" />
        <FixAll page={data} code={code} />
      </div>
      <div className="beside">
        <ul className="side-list lint-codes" aria-label="Codes">
          <li>
            <button type="button" className="side-choice" aria-pressed={code === null} onClick={() => setCode(null)}>
              <span className="grow">All</span>
              <span className="side-count">{count(shown.reduce((n, c) => n + c.count, 0))}</span>
            </button>
          </li>
          {shown.map((c) => (
            <li key={c.code}>
              <button
                type="button"
                className="side-choice"
                aria-pressed={code === c.code}
                data-testid={`lint-code-${c.code}`}
                onClick={() => {
                  setCode(c.code);
                  setLimit(MORE);
                }}
              >
                <span className="lint-dot" data-severity={c.severity} title={SEVERITY[c.severity]} />
                <code className="grow truncate">{c.code}</code>
                {c.fixable > 0 && <Wrench size={12} aria-label={`${c.fixable} with a fix`} />}
                <span className="side-count">{count(c.count)}</span>
              </button>
            </li>
          ))}
        </ul>
        <ol className="lint-list" data-testid="lint-list">
          {data.lints.map((lint, i) => (
            <LintLine key={`${lint.code}:${lint.tools[0] ?? lint.field}:${i}`} lint={lint} withCode={code === null} />
          ))}
          {data.total > data.lints.length && (
            <li>
              <button type="button" className="link" onClick={() => setLimit(limit + MORE)}>
                {count(data.total - data.lints.length)} more
              </button>
            </li>
          )}
        </ol>
      </div>
    </>
  );
}

function ofSeverity(page: LintPage, severity: Severity): number {
  return page.codes.filter((c) => c.severity === severity).reduce((n, c) => n + c.count, 0);
}

function Clean() {
  return (
    <Empty title="No lints">
      <p>
        <ShieldCheck size={14} aria-hidden /> Nothing looks wrong. Lints find guidance that names tools which do not
        exist, required arguments without a description, unclassified tools, deferred tools that nobody can reach, and
        more, whenever the catalog or the settings change.
      </p>
    </Empty>
  );
}

/** All fixes of the shown code, with what they change, before they are made. */
function FixAll({ page, code }: { page: LintPage; code: string | null }) {
  const codes = page.codes.filter((c) => c.fixable > 0 && (code === null || c.code === code));
  const fixable = codes.reduce((n, c) => n + c.fixable, 0);
  if (fixable === 0) return null;
  const examples = page.lints.filter((l) => l.fix !== null).slice(0, 20);
  return (
    <Popover.Root>
      <Popover.Trigger className="button small" data-testid="fix-all">
        <Wrench size={12} aria-hidden /> Fix {code === null ? "all" : code} ({count(fixable)})
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className="popover fix-all" align="end" sideOffset={4}>
          <p>
            Applies {counted(fixable, "fix")} as one revision, which can be undone.{" "}
            {examples.length < fixable && "Some of them:"}
          </p>
          <ul>
            {examples.map((lint, i) => (
              <li key={i}>
                <code>{lint.tools[0] ?? "settings"}</code> <span className="muted">{lint.fix!.title}</span>
              </li>
            ))}
          </ul>
          <Popover.Close
            className="button primary"
            data-testid="fix-all-apply"
            onClick={() => void fixLints({ codes: codes.map((c) => c.code), tools: [] })}
          >
            Apply {counted(fixable, "fix")}
          </Popover.Close>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function LintLine({ lint, withCode }: { lint: Lint; withCode: boolean }) {
  return (
    <li data-testid={`lint-${lint.code}`} data-tool={lint.tools[0]}>
      <span className="lint-dot" data-severity={lint.severity} title={SEVERITY[lint.severity]} />
      <span className="lint-says">
        <span>{lint.message}</span>
        <span className="lint-foot">
          {lint.tools.slice(0, 6).map((tool) => (
            <ToolName key={tool} name={tool} />
          ))}
          {lint.tools.length > 6 && <span className="muted">and {count(lint.tools.length - 6)} more</span>}
          {lint.tools.length === 0 && lint.field !== "" ? (
            <button
              type="button"
              className="link mono"
              title="Open the setting"
              onClick={() => useWindow.getState().set({ view: "settings", settingsAt: lint.field })}
            >
              {lint.field}
            </button>
          ) : (
            lint.field !== "" && <code className="muted">{lint.field}</code>
          )}
          {withCode && <code className="rule">{lint.code}</code>}
        </span>
      </span>
      {lint.fix && <Fix lint={lint} fix={lint.fix} />}
    </li>
  );
}

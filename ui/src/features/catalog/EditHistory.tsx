/** The revisions of the catalog: what each changed, the difference between any two, and the way back. */
import { useQuery } from "@tanstack/react-query";
import { Redo2, Undo2 } from "lucide-react";
import { useState } from "react";
import { Empty } from "../../components/Empty";
import { FieldDiff } from "../../components/FieldDiff";
import { ProblemNote } from "../../components/ProblemNote";
import { ToolName } from "../../components/ToolName";
import { Problem, type CatalogRevision, type UndoState } from "../../ipc/client";
import { redo, revertCatalog, undo } from "../../lib/edits";
import { count, counted, moment } from "../../lib/format";
import { catalogDiffQuery, historyQuery } from "../../lib/queries";
import "./catalog.css";

const MORE = 100;

export function EditHistory() {
  const [limit, setLimit] = useState(MORE);
  const { data, error } = useQuery(historyQuery(limit));
  const [pair, setPair] = useState<{ from: number; to: number } | null>(null);
  if (error) return <ProblemNote problem={Problem.from(error)} />;
  if (!data) return null;
  const { revisions, total, undo: steps } = data;
  const newest = revisions[0]?.revision ?? null;
  const shown = pair ?? (newest === null ? null : { from: newest - 1, to: newest });
  return (
    <>
      <div className="toolbar">
        <StepButton word="Undo" keys="Ctrl+Z" icon={Undo2} step={steps.undo} act={undo} />
        <StepButton word="Redo" keys="Ctrl+Shift+Z" icon={Redo2} step={steps.redo} act={redo} />
        <span className="grow" />
        {shown && <Compare pair={shown} revisions={revisions} onPair={setPair} />}
      </div>
      {revisions.length === 0 ? (
        <Empty title="No edit yet">
          <p>
            Every edit of a tool, also of many at once, becomes a revision here. It can be compared with any other and
            taken back, and each run remembers the revision it used.
          </p>
        </Empty>
      ) : (
        <div className="beside">
          <ol className="side-list history-list" aria-label="Revisions" data-testid="history-list">
            {revisions.map((row) => (
              <RevisionLine
                key={row.revision}
                row={row}
                shown={shown?.to === row.revision && shown.from === row.revision - 1}
                isNewest={row.revision === newest}
                onShow={() => setPair({ from: row.revision - 1, to: row.revision })}
              />
            ))}
            {total > revisions.length && (
              <li>
                <button type="button" className="link" onClick={() => setLimit(limit + MORE)}>
                  {count(total - revisions.length)} earlier
                </button>
              </li>
            )}
          </ol>
          {shown && <Differences from={shown.from} to={shown.to} />}
        </div>
      )}
    </>
  );
}

interface StepButtonProps {
  word: "Undo" | "Redo";
  keys: string;
  icon: typeof Undo2;
  /** What it would take back or make again. */
  step: UndoState["undo"];
  act: () => Promise<void>;
}

function StepButton({ word, keys, icon: Icon, step, act }: StepButtonProps) {
  return (
    <button
      type="button"
      className="button small"
      disabled={!step}
      title={`${word} (${keys})`}
      data-testid={`history-${word.toLowerCase()}`}
      onClick={() => void act()}
    >
      <Icon size={13} aria-hidden /> <span className="truncate">{step ? `${word}: ${step.label}` : word}</span>
    </button>
  );
}

function RevisionLine({
  row,
  shown,
  isNewest,
  onShow,
}: {
  row: CatalogRevision;
  shown: boolean;
  isNewest: boolean;
  onShow: () => void;
}) {
  return (
    <li data-selected={shown || undefined} data-testid={`catalog-revision-${row.revision}`}>
      <button type="button" onClick={onShow} aria-pressed={shown}>
        <span className="history-head">
          <code>r{row.revision}</code>
          <span className="truncate grow">{row.label}</span>
        </span>
        <span className="muted small">
          {moment(row.at_ms)} · {row.author} · {counted(row.tools, "tool")}
          {row.undoes !== null && ` · takes back r${row.undoes}`}
          {row.redoes !== null && ` · makes r${row.redoes} again`}
        </span>
      </button>
      {!isNewest && (
        <button
          type="button"
          className="button small"
          title="Store the whole catalog as it was here, as a new revision"
          onClick={() => void revertCatalog(row.revision)}
        >
          <Undo2 size={12} aria-hidden /> Revert to here
        </button>
      )}
    </li>
  );
}

function Compare({
  pair,
  revisions,
  onPair,
}: {
  pair: { from: number; to: number };
  revisions: CatalogRevision[];
  onPair: (pair: { from: number; to: number }) => void;
}) {
  const oldest = revisions.at(-1)?.revision ?? 1;
  const numbers = [...new Set([...revisions.map((r) => r.revision), oldest - 1, pair.from, pair.to])].sort(
    (a, b) => b - a,
  );
  const choice = (label: string, value: number, onChange: (n: number) => void) => (
    <label className="choice always">
      <span>{label}</span>
      <select aria-label={label} value={value} onChange={(e) => onChange(Number(e.target.value))}>
        {numbers.map((n) => (
          <option key={n} value={n}>
            r{n}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <>
      {choice("Compare", pair.from, (from) => onPair({ ...pair, from }))}
      {choice("with", pair.to, (to) => onPair({ ...pair, to }))}
    </>
  );
}

function Differences({ from, to }: { from: number; to: number }) {
  const { data, error } = useQuery(catalogDiffQuery(from, to, 200));
  if (error) return <ProblemNote problem={Problem.from(error)} />;
  if (!data) return <div className="history-diff" />;
  const { added, removed, changed, tools } = data;
  return (
    <div className="history-diff" data-testid="history-diff">
      <p className="muted">
        From r{from} to r{to}:{" "}
        {[
          changed > 0 && `${counted(changed, "tool")} changed`,
          added > 0 && `${counted(added, "tool")} added`,
          removed > 0 && `${counted(removed, "tool")} removed`,
        ]
          .filter(Boolean)
          .join(", ") || "no difference"}
      </p>
      {tools.map((diff) => (
        <section key={diff.tool}>
          <h3>
            <ToolName name={diff.tool} /> {diff.kind !== "changed" && <span className="badge">{diff.kind}</span>}
          </h3>
          <FieldDiff changes={diff.changed} />
        </section>
      ))}
      {added + removed + changed > tools.length && (
        <p className="muted">and {counted(added + removed + changed - tools.length, "other tool")}</p>
      )}
    </div>
  );
}

import { EyeOff, Hourglass } from "lucide-react";
import { ToolName } from "../../components/ToolName";
import type { LabMethod, LabRow, SearchLab } from "../../ipc/client";
import { count, duration } from "../../lib/format";
import { useWindow } from "../../lib/store";
import { GATE, METHOD } from "../../lib/words";
import { elsewhere, ranked, snippet } from "./lab";
import { ModelTeaser } from "./ModelPanel";

interface LabColumnProps {
  method: LabMethod;
  lab: SearchLab;
  /** The tool under the pointer, in whichever column. */
  hovered: string | null;
  onHover: (tool: string | null) => void;
}

const ABOUT: Record<LabMethod, string> = {
  exact: "The whole name or an alias",
  regex: "The query as a pattern",
  lexical: "Words, weighted by field",
  semantic: "Meaning, by the embedding model",
};

export function LabColumn({ method, lab, hovered, onHover }: LabColumnProps) {
  const ranking = lab.rankings.find((r) => r.method === method);
  const rows = ranked(lab, method);
  const error = ranking?.error ?? "";
  return (
    <section
      className="lab-column"
      aria-label={METHOD[method]}
      data-empty={(rows.length === 0 && method !== "semantic") || undefined}
      data-testid={`lab-${method}`}
    >
      <header title={ABOUT[method]}>
        <h3>{METHOD[method]}</h3>
        {error === "" && ranking && (
          <span className="muted small">
            {count(ranking.found)} found · {duration(ranking.duration_ms)}
          </span>
        )}
      </header>
      {error !== "" && method === "semantic" ? (
        <ModelTeaser />
      ) : error !== "" ? (
        <p className="lab-error" role="status" data-testid={`lab-error-${method}`}>
          {method === "regex"
            ? `Not a pattern: ${error}. A \\ before a sign such as ( or * finds the sign itself.`
            : error}
        </p>
      ) : rows.length === 0 ? (
        <p className="muted lab-none">Finds nothing.</p>
      ) : (
        <ol>
          {rows.map((row) => (
            <Hit
              key={row.tool}
              row={row}
              method={method}
              hot={row.tool === hovered}
              onHover={() => onHover(row.tool)}
            />
          ))}
        </ol>
      )}
    </section>
  );
}

interface HitProps {
  row: LabRow;
  method: LabMethod;
  hot: boolean;
  onHover: () => void;
}

function Hit({ row, method, hot, onHover }: HitProps) {
  const place = row[method]!;
  const chosen = useWindow((s) => s.tool === row.tool);
  const others = elsewhere(row, method);
  return (
    <li
      data-hot={hot || undefined}
      data-selected={chosen || undefined}
      data-hidden={!row.visible || undefined}
      data-tool={row.tool}
      onMouseEnter={onHover}
    >
      <div className="hit-head">
        <span className="hit-rank">{place.rank}</span>
        <ToolName name={row.tool} dimmed={!row.visible} />
        <span className="grow" />
        <span className="hit-score" title={`Score ${place.score ?? "unknown"}`}>
          <span style={{ width: `${(place.score ?? 0) * 100}%` }} />
        </span>
        <span className="hit-number">{place.score?.toFixed(2) ?? "?"}</span>
      </div>
      {method !== "semantic" &&
        row.fields.slice(0, 2).map((field) => {
          const { before, marked, after } = snippet(field);
          return (
            <div key={field.field} className="hit-field">
              <span className="muted">{field.field}</span>{" "}
              <span>
                {before}
                {marked !== "" && <mark>{marked}</mark>}
                {after}
              </span>
            </div>
          );
        })}
      {!row.visible && (
        <div className="hit-hidden" title={row.reason}>
          <EyeOff size={12} aria-hidden /> hidden{row.gate !== null && ` by ${GATE[row.gate].toLowerCase()}`}:{" "}
          {row.reason}
        </div>
      )}
      {row.visible && row.loading === "deferred" && (
        <div className="hit-deferred">
          <Hourglass size={12} aria-hidden /> deferred
        </div>
      )}
      {hot && <div className="hit-others">{others === "" ? "in no other column" : others}</div>}
    </li>
  );
}

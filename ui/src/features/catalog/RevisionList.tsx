import { Undo2 } from "lucide-react";
import type { RevisionRow } from "../../ipc/client";
import { moment } from "../../lib/format";
import { revertTo } from "./save";

/** How the tool changed, newest first, and the way back to each earlier state. */
export function RevisionList({ tool, history }: { tool: string; history: RevisionRow[] }) {
  const rows = [...history].sort((a, b) => b.revision - a.revision);
  return (
    <section className="section" aria-label="Revisions">
      <h3>Revisions</h3>
      <ol className="revisions">
        {rows.map((row, i) => (
          <li key={row.revision} data-testid={`revision-${row.revision}`}>
            <div className="revision-head">
              <code>r{row.revision}</code>
              <span className="muted">
                {moment(row.at_ms)} · {row.author}
              </span>
              {i > 0 && (
                <button
                  type="button"
                  className="button small"
                  data-testid={`revert-${row.revision}`}
                  title="Store the tool as it was here, as a new revision"
                  onClick={() => void revertTo(tool, row.revision)}
                >
                  <Undo2 size={12} aria-hidden /> Revert
                </button>
              )}
            </div>
            {row.changed.length === 0 && <div className="muted">Registered</div>}
            {row.changed.map((change) => (
              <div key={change.field} className="revision-change">
                <span>{change.field}</span>
                <del>{change.before || "empty"}</del> → <ins>{change.after || "empty"}</ins>
              </div>
            ))}
          </li>
        ))}
      </ol>
    </section>
  );
}

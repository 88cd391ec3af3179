/** From all tools to the planned ones: how many were left after each gate, and which were lost there. */
import type { FunnelRow } from "../../ipc/client";
import { count, counted } from "../../lib/format";
import { useWindow } from "../../lib/store";
import { GATE } from "../../lib/words";
import "./visibility.css";

export function FunnelPanel({ rows }: { rows: FunnelRow[] }) {
  const set = useWindow((s) => s.set);
  const all = Math.max(1, ...rows.map((r) => r.left + r.lost));
  return (
    <ol className="funnel" data-testid="funnel">
      {rows.map((row) => (
        <li key={row.gate} data-testid={`funnel-${row.gate}`} data-left={row.left} data-lost={row.lost}>
          <span className="funnel-gate">{GATE[row.gate]}</span>
          <span className="bar">
            <span style={{ width: `${(row.left / all) * 100}%` }} />
          </span>
          <span className="numeric">{count(row.left)} left</span>
          <span className="funnel-lost">
            {row.lost > 0 && <span className="muted">{counted(row.lost, "tool")} lost here: </span>}
            {row.examples.map((tool) => (
              <button type="button" key={tool} className="link mono" onClick={() => set({ tool, step: null })}>
                {tool}
              </button>
            ))}
            {row.lost > row.examples.length && (
              <span className="muted">and {count(row.lost - row.examples.length)} more</span>
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** From all tools to the planned ones: how many were left after each gate, and which were lost there and why. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ToolName } from "../../components/ToolName";
import type { FunnelRow, Gate } from "../../ipc/client";
import { count, counted } from "../../lib/format";
import { useContextRequest } from "../../lib/planning";
import { toolsAtGate } from "../../lib/queries";
import { GATE } from "../../lib/words";
import "./visibility.css";

/** Names shown in the line itself as far as there is room; all of them stand in the list. */
const SHOWN = 6;
const MORE = 200;

export function FunnelPanel({ rows }: { rows: FunnelRow[] }) {
  const [open, setOpen] = useState<Gate | null>(null);
  const all = Math.max(1, ...rows.map((r) => r.left + r.lost));
  const row = rows.find((r) => r.gate === open && r.lost > 0);
  return (
    <div className="beside">
      <ol className="funnel" data-testid="funnel">
        {rows.map((r) => (
          <li
            key={r.gate}
            data-testid={`funnel-${r.gate}`}
            data-left={r.left}
            data-lost={r.lost}
            data-selected={r.gate === open || undefined}
          >
            <span className="funnel-gate">{GATE[r.gate]}</span>
            <span className="bar">
              <span style={{ width: `${(r.left / all) * 100}%` }} />
              <span className="bar-lost" style={{ width: `${(r.lost / all) * 100}%` }} />
            </span>
            <span className="numeric">{count(r.left)} left</span>
            <span className="funnel-lost">
              {r.lost > 0 && (
                <button
                  type="button"
                  className="link"
                  aria-expanded={r.gate === open}
                  title="All of them, with their reasons"
                  data-testid={`funnel-open-${r.gate}`}
                  onClick={() => setOpen(r.gate === open ? null : r.gate)}
                >
                  {count(r.lost)} lost
                </button>
              )}
              {!row && (
                <span className="funnel-names">
                  {r.examples.slice(0, SHOWN).map((tool) => (
                    <ToolName key={tool} name={tool} />
                  ))}
                </span>
              )}
            </span>
          </li>
        ))}
      </ol>
      {row && <Lost key={row.gate} row={row} />}
    </div>
  );
}

/** The tools that ended at one gate, each with its reason. */
function Lost({ row }: { row: FunnelRow }) {
  const { request, plan } = useContextRequest();
  const [limit, setLimit] = useState(MORE);
  const { data } = useQuery(toolsAtGate(row.gate, request, plan, limit));
  const items = data?.rows.filter((i) => i.row.gate === row.gate) ?? [];
  return (
    <section className="funnel-list" aria-label={`Lost at ${GATE[row.gate]}`} data-testid="funnel-list">
      <h3>
        {counted(row.lost, "tool")} lost at {GATE[row.gate].toLowerCase()}
      </h3>
      <ol>
        {items.map(({ row: r }) => (
          <li key={r.name}>
            <ToolName name={r.name} />
            <span className="muted">{r.reason}</span>
          </li>
        ))}
      </ol>
      {data && data.total > data.rows.length && data.rows.length === limit && limit < 500 && (
        <button type="button" className="link" onClick={() => setLimit(500)}>
          show more
        </button>
      )}
      {data && data.total > 500 && (
        <p className="muted">The catalog shows all of them: filter it by “ended at {GATE[row.gate].toLowerCase()}”.</p>
      )}
    </section>
  );
}

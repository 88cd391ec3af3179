import { useQuery } from "@tanstack/react-query";
import { GitCompareArrows, Undo2 } from "lucide-react";
import { useState } from "react";
import { FieldDiff } from "../../components/FieldDiff";
import type { RevisionRow } from "../../ipc/client";
import { moment } from "../../lib/format";
import { toolDiffQuery } from "../../lib/queries";
import { revertTo } from "./save";

/** How the tool changed, newest first, the difference between any two states, and the way back to each. */
export function RevisionList({ tool, history }: { tool: string; history: RevisionRow[] }) {
  const rows = [...history].sort((a, b) => b.revision - a.revision);
  const [pair, setPair] = useState<[number, number] | null>(null);
  const [oldest, newest] = [rows.at(-1)?.revision ?? 0, rows[0]?.revision ?? 0];
  return (
    <section className="section" aria-label="Revisions">
      <h3>
        <span className="grow">Revisions</span>
        {rows.length > 1 && (
          <button
            type="button"
            className="button small plain"
            aria-pressed={pair !== null}
            onClick={() => setPair(pair ? null : [oldest, newest])}
          >
            <GitCompareArrows size={12} aria-hidden /> Compare
          </button>
        )}
      </h3>
      {pair && <Compare tool={tool} rows={rows} pair={pair} onPair={setPair} />}
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
            {row.changed.length === 0 ? <div className="muted">Registered</div> : <FieldDiff changes={row.changed} />}
          </li>
        ))}
      </ol>
    </section>
  );
}

interface CompareProps {
  tool: string;
  rows: RevisionRow[];
  pair: [number, number];
  onPair: (pair: [number, number]) => void;
}

function Compare({ tool, rows, pair: [from, to], onPair }: CompareProps) {
  const { data } = useQuery(toolDiffQuery(tool, from, to));
  const choice = (label: string, value: number, onChange: (n: number) => void) => (
    <select aria-label={label} value={value} onChange={(e) => onChange(Number(e.target.value))}>
      {rows.map((r) => (
        <option key={r.revision} value={r.revision}>
          r{r.revision}
        </option>
      ))}
    </select>
  );
  return (
    <div className="compare" data-testid="tool-compare">
      <div className="compare-pair">
        {choice("From revision", from, (n) => onPair([n, to]))} → {choice("To revision", to, (n) => onPair([from, n]))}
      </div>
      {data &&
        (data.changed.length === 0 ? <p className="muted">No difference.</p> : <FieldDiff changes={data.changed} />)}
    </div>
  );
}

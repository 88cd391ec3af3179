import { useQuery } from "@tanstack/react-query";
import { GitFork, Repeat } from "lucide-react";
import { RunOutcomeBadge } from "../../components/Badges";
import type { RunSummary } from "../../ipc/client";
import { duration } from "../../lib/format";
import { treeQuery } from "../../lib/queries";
import { useWindow } from "../../lib/store";
import "./past.css";

/** How far below the root a run hangs. */
function depthOf(run: RunSummary, runs: readonly RunSummary[]): number {
  const up = run.origin?.run == null ? undefined : runs.find((r) => r.id === run.origin!.run);
  return up && up !== run ? 1 + depthOf(up, runs) : 0;
}

/** A run, its replays and forks, and theirs. */
export function RunTree({ run }: { run: number }) {
  const { data } = useQuery(treeQuery(run));
  const set = useWindow((s) => s.set);
  if (!data) return null;
  return (
    <ul className="run-tree" aria-label="Runs that come from one another">
      {data.runs.map((r) => (
        <li
          key={r.id}
          style={{ paddingLeft: 12 + 20 * depthOf(r, data.runs) }}
          data-testid={`tree-${r.id}`}
          data-open={r.id === run || undefined}
        >
          {r.origin?.kind === "fork" ? (
            <GitFork size={13} aria-label="Fork" />
          ) : r.origin ? (
            <Repeat size={13} aria-label="Replay" />
          ) : (
            <span className="tree-root" />
          )}
          <button
            type="button"
            className="link"
            aria-current={r.id === run || undefined}
            onClick={() => set({ openRun: r.id, cursor: null })}
          >
            Run {r.id}
          </button>
          <RunOutcomeBadge of={r.outcome} />
          <span className="truncate grow">
            {r.origin === null
              ? r.query
              : r.origin.kind === "replay"
                ? "Replay"
                : `From event ${r.origin.at}: ${r.origin.change}`}
            {r.faithful !== null && <Faithful is={r.faithful} />}
          </span>
          <span className="muted">{duration(r.duration_ms)}</span>
          {r.id !== run && (
            <button
              type="button"
              className="button small"
              onClick={() => set({ runTab: "compare", compareWith: r.id })}
            >
              Compare
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

export function Faithful({ is }: { is: boolean }) {
  return (
    <span className="badge" data-run-outcome={is ? "succeeded" : "failed"}>
      {is ? "faithful" : "diverged"}
    </span>
  );
}

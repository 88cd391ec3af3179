import { useQuery } from "@tanstack/react-query";
import { Pin } from "lucide-react";
import { RunOutcomeBadge } from "../../components/Badges";
import { Empty } from "../../components/Empty";
import { ProblemNote } from "../../components/ProblemNote";
import { Problem } from "../../ipc/client";
import { count, counted, duration, moment } from "../../lib/format";
import { runsQuery } from "../../lib/queries";
import { useWindow } from "../../lib/store";
import "./run.css";

/** All runs, newest first. */
export function RunList() {
  const { data: runs, error } = useQuery(runsQuery);
  const open = useWindow((s) => s.openRun);
  const set = useWindow((s) => s.set);
  if (error) return <ProblemNote problem={Problem.from(error)} />;
  if (runs?.length === 0) {
    return (
      <Empty title="No run yet">
        <p>
          Plan a query and press F5. Every run is kept here with its journal, so that it can be opened and stepped
          through later.
        </p>
      </Empty>
    );
  }
  return (
    <ul className="run-list" aria-label="Runs">
      {runs?.map((run) => (
        <li key={run.id}>
          <button
            type="button"
            data-testid={`run-row-${run.id}`}
            data-outcome-of-run={run.outcome ?? "running"}
            aria-pressed={run.id === open}
            onClick={() => set({ openRun: run.id, cursor: null, step: null, tool: null })}
          >
            <span className="run-line">
              <strong>Run {run.id}</strong>
              <RunOutcomeBadge of={run.outcome} />
              {run.pinned && <Pin size={11} aria-label="Kept for ever" />}
              <span className="muted">
                {count(run.succeeded)} of {counted(run.steps, "step")}
              </span>
              <span className="run-time">{run.duration_ms === null ? "" : duration(run.duration_ms)}</span>
            </span>
            <span className="run-query">{run.query}</span>
            <span className="run-line muted">
              {run.origin && (
                <span className="badge" data-origin={run.origin.kind}>
                  {run.origin.kind === "replay" ? "replay" : "fork"} of {run.origin.run ?? "another"}
                </span>
              )}
              {moment(run.started_ms)} · {run.planner} · catalog r{run.catalog_revision}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

import { count, counted } from "../lib/format";
import type { RunState } from "../ipc/client";
import "./work.css";

/** How far a run is: `2 of 4 steps`, with a bar while it goes on. Stop beside it is the way out. */
export function StepProgress({ run }: { run: RunState }) {
  const steps = Object.values(run.steps);
  const done = steps.filter((s) => s.status === "succeeded").length;
  return (
    <span className="muted step-progress" data-testid="run-progress">
      {run.outcome === null && steps.length > 0 && (
        <span className="bar" aria-hidden>
          <span style={{ width: `${(done / steps.length) * 100}%` }} />
        </span>
      )}
      {count(done)} of {counted(steps.length, "step")}
    </span>
  );
}

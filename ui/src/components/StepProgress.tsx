import { count, counted } from "../lib/format";
import type { RunState } from "../ipc/client";

/** How far a run is: `2 of 4 steps`. */
export function StepProgress({ run }: { run: RunState }) {
  const steps = Object.values(run.steps);
  const done = steps.filter((s) => s.status === "succeeded").length;
  return (
    <span className="muted" data-testid="run-progress">
      {count(done)} of {counted(steps.length, "step")}
    </span>
  );
}

import { TriangleAlert, X } from "lucide-react";
import type { Problem } from "../ipc/client";

/** A failed command: the thing, the remedy, and nothing else on screen is lost. */
export function ProblemNote({ problem, onDismiss }: { problem: Problem; onDismiss?: () => void }) {
  return (
    <div className="problem" role="alert" data-testid="problem" data-code={problem.code}>
      <TriangleAlert size={14} aria-hidden />
      <div>
        <div>{problem.message}</div>
        {problem.hint !== "" && <div className="hint">{problem.hint}</div>}
      </div>
      {onDismiss && (
        <button type="button" className="icon-button" aria-label="Dismiss" onClick={onDismiss}>
          <X size={14} />
        </button>
      )}
    </div>
  );
}

import { Handle, Position, type Node, type NodeProps } from "@xyflow/react";
import { CornerDownRight, RotateCw, TriangleAlert } from "lucide-react";
import { memo, type KeyboardEvent } from "react";
import { StatusIcon } from "../components/Status";
import type { GraphStep } from "../ipc/client";
import { duration, expected } from "../lib/format";
import type { StepLook } from "../lib/steps";
import { OUTCOME, STATUS } from "../lib/words";

export type StepNode = Node<
  {
    step: GraphStep;
    look: StepLook | undefined;
    chosen: boolean;
    changed: boolean;
    onSelect: (id: string) => void;
    onMove: (id: string, key: string) => void;
  },
  "step"
>;

const ARROWS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];

export const StepCard = memo(function StepCard({ data }: NodeProps<StepNode>) {
  const { step, look, chosen, changed, onSelect, onMove } = data;
  const time = look?.elapsed_ms != null ? duration(look.elapsed_ms) : expected(step.expected_ms);
  const move = (event: KeyboardEvent) => {
    if (!ARROWS.includes(event.key)) return;
    event.preventDefault();
    // Arrows also step through a run; on a card they mean its neighbours.
    event.stopPropagation();
    onMove(step.id, event.key);
  };
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <button
        type="button"
        className="step-card nopan"
        data-testid={`step-${step.id}`}
        data-step={step.id}
        data-classification={step.classification}
        data-status={look?.status ?? "planned"}
        data-chosen={chosen || undefined}
        data-changed={changed || undefined}
        aria-pressed={chosen}
        aria-label={`${step.tool}, stage ${step.stage}, ${look ? STATUS[look.status] : "planned"}, ${step.classification}`}
        onClick={() => onSelect(step.id)}
        onKeyDown={move}
      >
        <span className="step-top">
          <span className="step-tool">{step.tool}</span>
          {step.mark === "added" && (
            <span className="mark mark-added" title="Added by a rule">
              {OUTCOME.added}
            </span>
          )}
          {step.mark === "dropped" && (
            <span className="mark mark-dropped" title="Audit: the guard would have dropped it">
              audit
            </span>
          )}
          {step.mark === "rewritten" && (
            <span className="mark mark-rewritten" title="The guard rewrote its arguments">
              rewritten
            </span>
          )}
          <span data-testid={`step-status-${step.id}`} data-status={look?.status ?? "planned"} className="step-status">
            {look ? <StatusIcon status={look.status} /> : null}
          </span>
        </span>
        <span className="step-argument">{step.key_argument}</span>
        <span className="step-bottom">
          {step.critical && (
            <span className="mark" title="Critical: its failure stops the run">
              <TriangleAlert size={11} /> critical
            </span>
          )}
          {look !== undefined && look.retries > 0 && (
            <span className="mark mark-rewritten" title={`Retried ${look.retries} times`}>
              <RotateCw size={11} /> ×{look.retries}
            </span>
          )}
          {step.fallback !== null && (
            <span
              className="mark mark-fallback"
              data-active={look?.fallback != null || undefined}
              title={`Falls back to ${step.fallback}`}
            >
              <CornerDownRight size={11} /> {step.fallback}
            </span>
          )}
          <span className="step-time">{time}</span>
        </span>
      </button>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  );
});

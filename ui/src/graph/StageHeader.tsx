import type { Node, NodeProps } from "@xyflow/react";
import { memo } from "react";
import type { StageView } from "../ipc/client";
import { counted, duration, UNKNOWN } from "../lib/format";

export type StageNode = Node<{ stage: StageView }, "stage">;

function stageTitle(stage: StageView): string {
  const bound = stage.bound_ms === null ? UNKNOWN : `≤ ${duration(stage.bound_ms)}`;
  return `Stage ${stage.number} · ${counted(stage.steps.length, "step")} · ${bound}`;
}

export const StageHeader = memo(function StageHeader({ data }: NodeProps<StageNode>) {
  return (
    <div className="stage-header" data-testid={`stage-${data.stage.number}`}>
      {stageTitle(data.stage)}
    </div>
  );
});

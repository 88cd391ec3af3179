import { BaseEdge, EdgeLabelRenderer, getBezierPath, type Edge, type EdgeProps } from "@xyflow/react";
import { memo, useState } from "react";
import type { GraphEdge } from "../ipc/client";

export type FlowEdgeData = Edge<
  { kind: GraphEdge["kind"]; label: string; critical: boolean; touched: boolean },
  "flow"
>;

/** Data edges tell on hover, or when one of their ends is selected, what flows along them. */
export const FlowEdge = memo(function FlowEdge(props: EdgeProps<FlowEdgeData>) {
  const { id, data } = props;
  const [hovered, setHovered] = useState(false);
  const [path, x, y] = getBezierPath(props);
  const { kind = "order", label = "", critical = false, touched = false } = data ?? {};
  const className = ["flow-edge", `flow-${kind}`, critical && "flow-critical", (touched || hovered) && "flow-touched"];
  return (
    <>
      <g onMouseEnter={() => setHovered(true)} onMouseLeave={() => setHovered(false)}>
        <BaseEdge
          id={id}
          path={path}
          interactionWidth={16}
          className={className.filter(Boolean).join(" ")}
          markerEnd={props.markerEnd}
        />
      </g>
      {label !== "" && hovered && (
        <EdgeLabelRenderer>
          <div className="edge-label" style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}>
            {label}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
});

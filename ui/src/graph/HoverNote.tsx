import { StatusIcon } from "../components/Status";
import { duration, expected } from "../lib/format";
import type { StepLook } from "../lib/steps";
import { STATUS } from "../lib/words";
import type { Placed, SceneEdge } from "./scene";

export interface Hovered {
  step: Placed | null;
  edge: SceneEdge | null;
  /** In the pane. */
  x: number;
  y: number;
  /** Where there is more room beside the pointer. */
  left: boolean;
  above: boolean;
}

/** What lies under the pointer where the picture is too small to say it. */
export function HoverNote({ hovered, look }: { hovered: Hovered; look: StepLook | undefined }) {
  const { step: placed, edge, x, y } = hovered;
  const style = {
    left: hovered.left ? x - 10 : x + 14,
    top: hovered.above ? y - 8 : y + 14,
    translate: `${hovered.left ? "-100%" : "0"} ${hovered.above ? "-100%" : "0"}`,
  };
  if (placed) {
    const { step } = placed;
    return (
      <div className="hover-note" style={style}>
        <div className="hover-title">
          {look && <StatusIcon status={look.status} />}
          <code>{step.tool}</code> <span className="muted">{step.id}</span>
        </div>
        {step.key_argument !== "" && <div className="mono muted">{step.key_argument}</div>}
        <div className="muted">
          {look ? STATUS[look.status] : "Planned"} ·{" "}
          {look?.elapsed_ms != null ? duration(look.elapsed_ms) : expected(step.expected_ms)}
          {look !== undefined && look.retries > 0 && ` · retried ×${look.retries}`}
        </div>
      </div>
    );
  }
  if (!edge) return null;
  return (
    <div className="hover-note" style={style}>
      <div className="mono">
        {edge.from.step.id} → {edge.to.step.id}
      </div>
      <div className="mono muted">{edge.label === "" ? "order only" : edge.label}</div>
    </div>
  );
}

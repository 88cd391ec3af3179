/** Where runs stop, what is watched, and what goes wrong on purpose. */
import type { GraphView, RunState } from "../../ipc/client";
import { Breakpoints } from "./Breakpoints";
import { Faults } from "./Faults";
import { Watches } from "./Watches";
import "./debug.css";

export function DebugPanel({ graph, state }: { graph: GraphView; state: RunState | null }) {
  return (
    <div className="debug-panel">
      <Breakpoints graph={graph} />
      <Watches state={state} />
      <Faults graph={graph} />
    </div>
  );
}

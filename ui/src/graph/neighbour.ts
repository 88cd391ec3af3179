import type { GraphView } from "../ipc/client";
import type { Positions } from "./layout";

/** The step that an arrow key leads to: up and down inside the column, left and right to the nearest of the next. */
export function neighbour(graph: GraphView, positions: Positions, from: string, key: string): string | null {
  const here = graph.steps.find((s) => s.id === from);
  const at = positions[from];
  if (!here || !at) return null;
  const y = (id: string) => positions[id]?.y ?? 0;
  const column = (stage: number) =>
    graph.steps
      .filter((s) => s.stage === stage)
      .map((s) => s.id)
      .sort((a, b) => y(a) - y(b));
  if (key === "ArrowUp" || key === "ArrowDown") {
    const ids = column(here.stage);
    return ids[ids.indexOf(from) + (key === "ArrowDown" ? 1 : -1)] ?? null;
  }
  const ids = column(here.stage + (key === "ArrowRight" ? 1 : -1));
  return ids.sort((a, b) => Math.abs(y(a) - at.y) - Math.abs(y(b) - at.y))[0] ?? null;
}

import type { Scene } from "./scene";

/** The step that an arrow key leads to: up and down inside the column, left and right to the nearest of the next. */
export function neighbour({ columns, byId }: Scene, from: string, key: string): string | null {
  const here = byId.get(from);
  if (!here) return null;
  const column = columns[here.step.stage - 1]!;
  if (key === "ArrowUp" || key === "ArrowDown")
    return column[column.indexOf(here) + (key === "ArrowDown" ? 1 : -1)]?.step.id ?? null;
  const way = key === "ArrowRight" ? 1 : -1;
  for (let stage = here.step.stage - 1 + way; columns[stage]; stage += way) {
    const nearest = columns[stage]!.reduce<(typeof column)[number] | null>(
      (best, p) => (best && Math.abs(best.y - here.y) <= Math.abs(p.y - here.y) ? best : p),
      null,
    );
    if (nearest) return nearest.step.id;
  }
  return null;
}

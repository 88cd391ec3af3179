/** How much of the graph is drawn at a zoom: only what can be read there. */
import type { StageView } from "../ipc/client";
import { counted, duration, UNKNOWN } from "../lib/format";
import { COLUMN } from "./layout";

/**
 * `cards` are elements with everything on them; `compact` boxes carry the tool's name, `marks` only a colour, and both
 * are painted. Beyond `SMALL` steps, cards are left earlier, because elements are what makes a large picture slow.
 */
export type Detail = "cards" | "compact" | "marks";

const SMALL = 150;

export function detailAt(zoom: number, steps: number): Detail {
  if (zoom >= (steps <= SMALL ? 0.42 : 0.58)) return "cards";
  return zoom >= 0.25 ? "compact" : "marks";
}

/** Which edges can be told apart. The critical path and the edges of the selected step are always drawn. */
export function edgesAt(detail: Detail, edges: number): "all" | "few" {
  return detail === "marks" && edges > 120 ? "few" : "all";
}

/** Every how many stages a header fits, and what it says: screen pixels decide, so that headers stay legible. */
export function headersAt(zoom: number): { every: number; words: "full" | "short" | "name" | "number" } {
  const room = COLUMN * zoom;
  if (room >= 235) return { every: 1, words: "full" };
  if (room >= 110) return { every: 1, words: "short" };
  if (room >= 64) return { every: 1, words: "name" };
  return { every: [1, 2, 5, 10, 20, 50, 100].find((n) => n * room >= 26) ?? 200, words: "number" };
}

export function headerText(stage: StageView, words: ReturnType<typeof headersAt>["words"]): string {
  if (words === "number") return String(stage.number);
  if (words === "name") return `Stage ${stage.number}`;
  const steps = counted(stage.steps.length, "step");
  if (words === "short") return `Stage ${stage.number} · ${stage.steps.length}`;
  return `Stage ${stage.number} · ${steps} · ${stage.bound_ms === null ? UNKNOWN : `≤ ${duration(stage.bound_ms)}`}`;
}

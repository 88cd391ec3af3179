/** The placed graph as data: what is where, and which step or edge lies under a point. Coordinates are the layout's. */
import type { GraphEdge, GraphStep, GraphView } from "../ipc/client";
import { CARD, COLUMN, type Positions } from "./layout";
import { mergedEdges } from "./mergedEdges";

export interface Placed {
  step: GraphStep;
  x: number;
  y: number;
}

export interface SceneEdge {
  from: Placed;
  to: Placed;
  kind: GraphEdge["kind"];
  label: string;
  critical: boolean;
}

export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Scene {
  /** By stage, each from top to bottom; the first stage at index 0. */
  columns: Placed[][];
  byId: Map<string, Placed>;
  edges: SceneEdge[];
  bounds: Rect;
}

export function makeScene(graph: GraphView, positions: Positions, criticalPath: readonly string[]): Scene {
  const byId = new Map<string, Placed>();
  const columns: Placed[][] = [];
  for (const step of graph.steps) {
    const at = positions[step.id];
    if (!at) continue;
    const placed = { step, ...at };
    byId.set(step.id, placed);
    (columns[step.stage - 1] ??= []).push(placed);
  }
  for (let i = 0; i < columns.length; i++) (columns[i] ??= []).sort((a, b) => a.y - b.y);
  const next = new Map(criticalPath.slice(1).map((id, i) => [criticalPath[i]!, id]));
  const edges = mergedEdges(graph.edges).flatMap((edge): SceneEdge[] => {
    const [from, to] = [byId.get(edge.from), byId.get(edge.to)];
    if (!from || !to) return [];
    return [{ from, to, kind: edge.kind, label: edge.label, critical: next.get(edge.from) === edge.to }];
  });
  const height = columns.reduce<number>(
    (most, column) => Math.max(most, (column.at(-1)?.y ?? 0) + CARD.height),
    CARD.height,
  );
  const width = Math.max(1, columns.length) * COLUMN - (COLUMN - CARD.width);
  return { columns, byId, edges, bounds: { x: 0, y: 0, width, height } };
}

/** Steps whose card touches the rectangle. */
export function stepsIn(scene: Scene, rect: Rect): Placed[] {
  const first = Math.max(0, Math.ceil((rect.x - CARD.width) / COLUMN));
  const last = Math.min(scene.columns.length - 1, Math.floor((rect.x + rect.width) / COLUMN));
  const found: Placed[] = [];
  for (let i = first; i <= last; i++) {
    const column = scene.columns[i]!;
    for (let k = from(column, rect.y - CARD.height); k < column.length && column[k]!.y <= rect.y + rect.height; k++)
      found.push(column[k]!);
  }
  return found;
}

/** Index of the first step of the column at or below `y`. */
function from(column: readonly Placed[], y: number): number {
  let [low, high] = [0, column.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[middle]!.y < y) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The step under the point; `reach` widens the cards by so much, for marks of a few pixels. */
export function stepAt(scene: Scene, x: number, y: number, reach = 0): Placed | null {
  const near = stepsIn(scene, { x: x - reach, y: y - reach, width: 2 * reach, height: 2 * reach });
  const distance = (p: Placed) => Math.abs(p.y + CARD.height / 2 - y) + Math.abs(p.x + CARD.width / 2 - x);
  return near.reduce<Placed | null>((best, p) => (best && distance(best) <= distance(p) ? best : p), null);
}

/** Ends and control points of an edge: it leaves a card on the right and reaches the next on the left. */
export function curveOf({ from, to }: SceneEdge): [number, number, number, number, number, number, number, number] {
  const [x0, y0] = [from.x + CARD.width, from.y + CARD.height / 2];
  const [x1, y1] = [to.x, to.y + CARD.height / 2];
  const bend = x1 > x0 ? Math.max(24, (x1 - x0) / 2) : 60;
  return [x0, y0, x0 + bend, y0, x1 - bend, y1, x1, y1];
}

const SAMPLES = 16;

/** The edge that passes within `reach` of the point. */
export function edgeAt(scene: Scene, x: number, y: number, reach: number): SceneEdge | null {
  let best: SceneEdge | null = null;
  let least = reach * reach;
  for (const edge of scene.edges) {
    const [x0, y0, ax, ay, bx, by, x1, y1] = curveOf(edge);
    if (x < Math.min(x0, bx) - reach || x > Math.max(x1, ax) + reach) continue;
    if (y < Math.min(y0, y1) - reach || y > Math.max(y0, y1) + reach) continue;
    let [px, py] = [x0, y0];
    for (let i = 1; i <= SAMPLES; i++) {
      const t = i / SAMPLES;
      const u = 1 - t;
      const qx = u * u * u * x0 + 3 * u * u * t * ax + 3 * u * t * t * bx + t * t * t * x1;
      const qy = u * u * u * y0 + 3 * u * u * t * ay + 3 * u * t * t * by + t * t * t * y1;
      const far = squaredDistance(x, y, px, py, qx, qy);
      if (far < least) [least, best] = [far, edge];
      [px, py] = [qx, qy];
    }
  }
  return best;
}

/** From a point to a line between two others. */
function squaredDistance(x: number, y: number, ax: number, ay: number, bx: number, by: number): number {
  const [dx, dy] = [bx - ax, by - ay];
  const along = dx * dx + dy * dy || 1;
  const t = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / along));
  return (x - ax - t * dx) ** 2 + (y - ay - t * dy) ** 2;
}

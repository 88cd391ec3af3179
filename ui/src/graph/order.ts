/**
 * Places the steps of a large plan. dagre bends long edges around the cards of the columns between and needs seconds
 * for it; with a thousand steps such edges are not followed by eye, and a compact picture tells more. The columns are
 * given, so only the order inside them is sought: each step near the middle of what it is connected with.
 */
import { CARD, COLUMN, ROW_GAP, type LayoutEdge, type LayoutStep, type Positions } from "./layout";

const SWEEPS = 6;

export function orderStages(steps: readonly LayoutStep[], edges: readonly LayoutEdge[]): Positions {
  const columns: string[][] = [];
  const stageOf = new Map<string, number>();
  for (const { id, stage } of steps) {
    (columns[stage - 1] ??= []).push(id);
    stageOf.set(id, stage);
  }
  const before = new Map<string, string[]>();
  const after = new Map<string, string[]>();
  const note = (map: Map<string, string[]>, key: string, id: string) => {
    const known = map.get(key);
    if (known) known.push(id);
    else map.set(key, [id]);
  };
  for (const { from, to } of edges) {
    const [left, right] = [stageOf.get(from), stageOf.get(to)];
    if (left === undefined || right === undefined || left >= right) continue;
    note(before, to, from);
    note(after, from, to);
  }

  // Rows count from the middle, so that columns of different height face each other.
  const row = new Map<string, number>();
  const number = (column: string[]) => column.forEach((id, i) => row.set(id, i - (column.length - 1) / 2));
  for (const column of columns) if (column) number(column);
  const sort = (column: string[], near: Map<string, string[]>) => {
    const middle = new Map(
      column.map((id) => {
        const others = near.get(id) ?? [];
        const sum = others.reduce((total, other) => total + row.get(other)!, 0);
        return [id, others.length > 0 ? sum / others.length : row.get(id)!];
      }),
    );
    column.sort((a, b) => middle.get(a)! - middle.get(b)!);
    number(column);
  };
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const forward = sweep % 2 === 0;
    for (const column of forward ? columns : [...columns].reverse()) if (column) sort(column, forward ? before : after);
  }

  const pitch = CARD.height + ROW_GAP;
  const top = Math.min(...columns.filter(Boolean).map((column) => row.get(column[0]!)!));
  return Object.fromEntries(
    steps.map(({ id, stage }) => [id, { x: (stage - 1) * COLUMN, y: Math.round((row.get(id)! - top) * pitch) }]),
  );
}

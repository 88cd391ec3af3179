/**
 * Keeps the node objects whose content did not change. React Flow draws a node again when its object is another one, and
 * every event of a run brings new objects for all steps, most of them equal.
 */
import type { Node } from "@xyflow/react";

export function reuseNodes<N extends Node>(before: readonly N[], now: readonly N[]): N[] {
  const old = new Map(before.map((n) => [n.id, n]));
  return now.map((node) => {
    const kept = old.get(node.id);
    return kept &&
      kept.position.x === node.position.x &&
      kept.position.y === node.position.y &&
      equal(kept.data, node.data, 2)
      ? kept
      : node;
  });
}

/** Equality of plain objects down to `depth`; deeper values and functions are compared by identity. */
function equal(a: unknown, b: unknown, depth: number): boolean {
  if (Object.is(a, b)) return true;
  if (depth === 0 || typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((k) => equal(left[k], right[k], depth - 1));
}

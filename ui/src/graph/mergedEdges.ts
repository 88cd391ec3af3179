import type { GraphEdge } from "../ipc/client";

/**
 * One edge per pair of steps. Several arguments may come from one step; drawn one by one, their lines and labels would
 * lie on top of each other.
 */
export function mergedEdges(edges: readonly GraphEdge[]): GraphEdge[] {
  const merged = new Map<string, GraphEdge>();
  for (const edge of edges) {
    if (edge.implied) continue;
    const key = JSON.stringify([edge.from, edge.to]);
    const drawn = merged.get(key);
    if (!drawn) merged.set(key, edge);
    else
      merged.set(key, {
        ...drawn,
        kind: drawn.kind === "data" ? "data" : edge.kind,
        label: [drawn.label, edge.label].filter(Boolean).join(", "),
      });
  }
  return [...merged.values()];
}

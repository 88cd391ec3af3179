/**
 * Places the steps of a plan: stages are columns from left to right, and dagre orders the steps inside a column so that
 * few edges cross. A pure function; it runs in a worker because a large plan takes longer than a frame.
 */
import { Graph, layout as dagreLayout } from "@dagrejs/dagre";

export const CARD = { width: 220, height: 64 } as const;
export const COLUMN = CARD.width + 60;
export const ROW_GAP = 20;

export interface LayoutStep {
  id: string;
  /** From 1. */
  stage: number;
}

export interface LayoutEdge {
  from: string;
  to: string;
}

export type Positions = Record<string, { x: number; y: number }>;

export function layoutStages(steps: readonly LayoutStep[], edges: readonly LayoutEdge[]): Positions {
  if (steps.length === 0) return {};
  const stageOf = new Map(steps.map((s) => [s.id, s.stage]));
  const graph = new Graph();
  // dagre doubles the ranks to make room for edge labels; the same factor keeps the stages apart.
  const rankByStage = (ranked: Graph) => {
    for (const id of ranked.nodes()) ranked.node(id).rank = 2 * (stageOf.get(id) ?? 0);
  };
  graph.setGraph({ rankdir: "LR", nodesep: ROW_GAP, ranksep: COLUMN - CARD.width, ranker: rankByStage });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const step of steps) graph.setNode(step.id, { ...CARD });
  for (const { from, to } of edges) {
    // A plan with findings may hold edges that lead nowhere or back; they are drawn, but must not bend the columns.
    if ((stageOf.get(from) ?? Infinity) < (stageOf.get(to) ?? 0)) graph.setEdge(from, to);
  }
  dagreLayout(graph);

  const placed = steps.map((s) => ({ ...s, y: graph.node(s.id).y - CARD.height / 2 }));
  const top = Math.min(...placed.map((s) => s.y));
  return Object.fromEntries(placed.map((s) => [s.id, { x: (s.stage - 1) * COLUMN, y: s.y - top }]));
}

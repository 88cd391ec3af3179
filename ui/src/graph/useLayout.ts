import { useEffect, useMemo, useState } from "react";
import type { GraphView } from "../ipc/client";
import { layoutStages, type Positions } from "./layout";
import type { LayoutOrder } from "./layout.worker";

// Started with the module: a worker takes longer to start than a small plan to lay out. Tests run without one.
const worker =
  typeof Worker === "undefined" ? null : new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
let tickets = 0;

/** Layouts by the shape of their plan, the latest used last: a plan that is opened again stands where it stood. */
const known = new Map<string, Positions>();
const KEPT = 40;

function remember(shape: string, positions: Positions) {
  known.delete(shape);
  known.set(shape, positions);
  if (known.size > KEPT) known.delete(known.keys().next().value!);
}

/** What the layout depends on, and nothing else: neither status nor arguments move a card. */
export function shapeOf(graph: GraphView): string {
  return JSON.stringify([graph.steps.map((s) => [s.id, s.stage]), graph.edges.map((e) => [e.from, e.to])]);
}

/**
 * Positions of the steps. Laid out again only when the structure changes, so that progress of a run never moves a card;
 * until a new layout is there, the old one stays.
 */
export function useLayout(graph: GraphView): Positions {
  const shape = useMemo(() => shapeOf(graph), [graph]);
  const [positions, setPositions] = useState<Positions>(() => known.get(shape) ?? {});

  useEffect(() => {
    const settle = (placed: Positions) => {
      remember(shape, placed);
      setPositions(placed);
    };
    const before = known.get(shape);
    if (before) return settle(before);
    const steps = graph.steps.map(({ id, stage }) => ({ id, stage }));
    const edges = graph.edges.map(({ from, to }) => ({ from, to }));
    if (!worker) return settle(layoutStages(steps, edges));
    const order: LayoutOrder = { ticket: ++tickets, steps, edges };
    const receive = ({ data }: MessageEvent<{ ticket: number; positions: Positions }>) => {
      if (data.ticket === order.ticket) settle(data.positions);
    };
    worker.addEventListener("message", receive);
    worker.postMessage(order);
    return () => worker.removeEventListener("message", receive);
    // The shape says all of the graph that matters here.
  }, [shape]);

  return positions;
}

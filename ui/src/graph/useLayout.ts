import { useEffect, useMemo, useState } from "react";
import type { GraphView } from "../ipc/client";
import { layoutStages, type Positions } from "./layout";
import type { LayoutOrder } from "./layout.worker";

// Started with the module: a worker takes longer to start than a small plan to lay out. Tests run without one.
const worker =
  typeof Worker === "undefined" ? null : new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
let tickets = 0;

/**
 * Positions of the steps. Laid out again only when the structure changes, so that progress of a run never moves a card;
 * until a new layout is there, the old one stays.
 */
export function useLayout(graph: GraphView): Positions {
  const structure = useMemo(
    () =>
      JSON.stringify({
        steps: graph.steps.map(({ id, stage }) => ({ id, stage })),
        edges: graph.edges.map(({ from, to }) => ({ from, to })),
      }),
    [graph],
  );
  const [positions, setPositions] = useState<Positions>({});

  useEffect(() => {
    const order: LayoutOrder = { ticket: ++tickets, ...(JSON.parse(structure) as Omit<LayoutOrder, "ticket">) };
    if (!worker) {
      setPositions(layoutStages(order.steps, order.edges));
      return;
    }
    const receive = ({ data }: MessageEvent<{ ticket: number; positions: Positions }>) => {
      if (data.ticket === order.ticket) setPositions(data.positions);
    };
    worker.addEventListener("message", receive);
    worker.postMessage(order);
    return () => worker.removeEventListener("message", receive);
  }, [structure]);

  return positions;
}

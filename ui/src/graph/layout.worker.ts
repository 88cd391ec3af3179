import { layoutStages, type LayoutEdge, type LayoutStep } from "./layout";
import { orderStages } from "./order";

export interface LayoutOrder {
  ticket: number;
  steps: LayoutStep[];
  edges: LayoutEdge[];
}

/** Beyond this many steps the columns are ordered without dagre. */
const LARGE = 250;

self.onmessage = ({ data }: MessageEvent<LayoutOrder>) => {
  const place = data.steps.length > LARGE ? orderStages : layoutStages;
  self.postMessage({ ticket: data.ticket, positions: place(data.steps, data.edges) });
};

import { layoutStages, type LayoutEdge, type LayoutStep } from "./layout";

export interface LayoutOrder {
  ticket: number;
  steps: LayoutStep[];
  edges: LayoutEdge[];
}

self.onmessage = ({ data }: MessageEvent<LayoutOrder>) => {
  self.postMessage({ ticket: data.ticket, positions: layoutStages(data.steps, data.edges) });
};

/**
 * The planning that the window looks at. It is the answer to a command, not a cached question: asking again makes a
 * new planning with an id of its own. A failed attempt leaves the last good one in place.
 */
import { create } from "zustand";
import { client, Problem, type PlanView, type Request } from "../ipc/client";
import { useWindow } from "./store";

interface PlanningState {
  view: PlanView | null;
  problem: Problem | null;
  pending: boolean;
  /** Plans the request. Of several in flight only the last one is shown. */
  plan: (request: Request) => Promise<void>;
  /** Plans the open query again as it was asked; does nothing before the first planning. */
  replan: () => Promise<void>;
  dismiss: () => void;
}

let asked = 0;

export const usePlanning = create<PlanningState>()((set, get) => ({
  view: null,
  problem: null,
  pending: false,

  async plan(request) {
    const ask = ++asked;
    const open = get().view;
    // Against another query everything differs: a list of changes would only be noise.
    const previous = open?.planning.request.query === request.query ? open.id : null;
    set({ pending: true, problem: null });
    try {
      const view = await client.plan(request, previous);
      if (ask !== asked) return;
      set({ view, pending: false });
      forgetLostStep(view);
    } catch (thrown) {
      if (ask === asked) set({ problem: Problem.from(thrown), pending: false });
    }
  },

  async replan() {
    const open = get().view;
    if (open) await get().plan(open.planning.request);
  },

  dismiss: () => set({ problem: null }),
}));

function forgetLostStep(view: PlanView) {
  const { step, set } = useWindow.getState();
  if (step !== null && !view.graph.steps.some((s) => s.id === step)) set({ step: null });
  set({ hoveredCall: null });
}

/** The context in which catalog and tools are shown: that of the open planning, else the draft's. */
export function useContextRequest(): { request: Request; plan: number | null } {
  const view = usePlanning((s) => s.view);
  const draft = useWindow((s) => s.draft);
  return view ? { request: view.planning.request, plan: view.id } : { request: { ...draft, query: "" }, plan: null };
}

/**
 * The planning that the window looks at. It is the answer to a command, not a cached question: asking again makes a
 * new planning with an id of its own. A failed attempt leaves the last good one in place.
 */
import type { Query } from "@tanstack/react-query";
import { useMemo } from "react";
import { create } from "zustand";
import { CALLED_OFF, client, Problem, type Change, type PlanView, type Request } from "../ipc/client";
import { ABOUT_CATALOG, infoQuery, queryClient } from "./queries";
import { useWindow } from "./store";

interface PlanningState {
  view: PlanView | null;
  problem: Problem | null;
  pending: boolean;
  /** The last planning has only just come: what it changed is tinted. */
  fresh: boolean;
  /** Plans the request. Of several in flight only the last one is shown. */
  plan: (request: Request) => Promise<void>;
  /** Plans the open query again as it was asked; does nothing before the first planning. */
  replan: () => Promise<void>;
  /** Shows a planning that was made elsewhere. */
  show: (view: PlanView) => void;
  dismiss: () => void;
}

/** How long a change stays tinted; the style sheet fades it within this time. */
const TINT_MS = 1600;

let asked = 0;

export const usePlanning = create<PlanningState>()((set, get) => ({
  view: null,
  problem: null,
  pending: false,
  fresh: false,

  async plan(request) {
    const ask = ++asked;
    const open = get().view;
    // Against another query everything differs: a list of changes would only be noise.
    const previous = open?.planning.request.query === request.query ? open.id : null;
    set({ pending: true, problem: null });
    try {
      const view = await client.plan(request, previous);
      if (ask !== asked) return;
      shown(view, ask);
    } catch (thrown) {
      const problem = Problem.from(thrown);
      // Called off by the person: the plan before it still stands, and nothing is wrong.
      if (ask === asked) set({ problem: problem.code === CALLED_OFF ? null : problem, pending: false });
    }
  },

  async replan() {
    const open = get().view;
    if (open) await get().plan(open.planning.request);
  },

  show: (view) => shown(view, ++asked),
  dismiss: () => set({ problem: null }),
}));

function shown(view: PlanView, ask: number) {
  usePlanning.setState({ view, pending: false, problem: null, fresh: true });
  setTimeout(() => ask === asked && usePlanning.setState({ fresh: false }), TINT_MS);
  forgetLostStep(view);
}

function forgetLostStep(view: PlanView) {
  const { step, set } = useWindow.getState();
  if (step !== null && !view.graph.steps.some((s) => s.id === step)) set({ step: null });
  set({ hoveredCall: null });
}

const NONE: ReadonlySet<string> = new Set();

/** The names of what the last planning changed, for as long as they are tinted. */
export function useJustChanged(subject: Change["subject"]): ReadonlySet<string> {
  const changes = usePlanning((s) => (s.fresh ? s.view?.changes : undefined));
  return useMemo(
    () => (changes ? new Set(changes.filter((c) => c.subject === subject).map((c) => c.name)) : NONE),
    [changes, subject],
  );
}

/** In which context catalog and tools are shown: that of the open planning, else the draft's. */
interface Context {
  request: Request;
  plan: number | null;
}

function contextOf(view: PlanView | null, draft: Request): Context {
  return view ? { request: view.planning.request, plan: view.id } : { request: { ...draft, query: "" }, plan: null };
}

export const currentContext = (): Context => contextOf(usePlanning.getState().view, useWindow.getState().draft);

export function useContextRequest(): Context {
  const view = usePlanning((s) => s.view);
  const draft = useWindow((s) => s.draft);
  return contextOf(view, draft);
}

/**
 * After an edit of the catalog or the settings: plans the open query again, and asks again whatever was asked about the
 * old state.
 */
export async function catalogChanged() {
  const about = ({ queryKey: [name] }: Query) => ABOUT_CATALOG.includes(String(name));
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: infoQuery.queryKey }),
    queryClient.invalidateQueries({ predicate: about, refetchType: "none" }),
  ]);
  const { view, replan } = usePlanning.getState();
  await replan();
  const replanned = usePlanning.getState().view !== view;
  // The views follow the new planning and ask about it by themselves; asking about the old one would be for nothing.
  await queryClient.refetchQueries({
    type: "active",
    stale: true,
    predicate: (q) => about(q) && (!replanned || q.queryKey[1] === null),
  });
}

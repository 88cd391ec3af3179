/** Starting and stopping the run of the open planning: what the buttons, F5 and the palette share. */
import { useQuery } from "@tanstack/react-query";
import { create } from "zustand";
import { client, Problem, type PlanView, type RunState } from "../ipc/client";
import { usePlanning } from "./planning";
import { liveQuery, queryClient } from "./queries";
import { useWindow } from "./store";

interface RunningState {
  starting: boolean;
  problem: Problem | null;
  start: () => Promise<void>;
  stop: () => Promise<void>;
  dismiss: () => void;
}

/** The run of the open planning, if this window started one, at its newest state. */
export function useLiveRun(): RunState | null {
  const live = useWindow((s) => s.live);
  const plan = usePlanning((s) => s.view?.id ?? null);
  const mine = live !== null && live.plan === plan ? live.run : null;
  const { data } = useQuery({ ...liveQuery(mine ?? 0), enabled: mine !== null });
  return mine === null ? null : (data ?? null);
}

/** Why the open planning cannot run now, or null. */
export function blockedBecause(view: PlanView | null, run: RunState | null): string | null {
  if (!view) return "Plan a query first";
  const { findings } = view.planning;
  if (findings.length > 0)
    return `The plan has ${findings.length === 1 ? "a finding" : `${findings.length} findings`}: ${findings[0]!.message}`;
  if (view.graph.steps.length === 0) return "The plan has no steps";
  if (run && run.outcome === null) return "It is running";
  return null;
}

function currentRun(): RunState | null {
  const { live } = useWindow.getState();
  return live && live.plan === usePlanning.getState().view?.id
    ? (queryClient.getQueryData<RunState>(["live", live.run]) ?? null)
    : null;
}

export const useRunning = create<RunningState>()((set, get) => ({
  starting: false,
  problem: null,

  async start() {
    const { view } = usePlanning.getState();
    if (!view || get().starting || blockedBecause(view, currentRun()) !== null) return;
    set({ starting: true, problem: null });
    try {
      const run = await client.startRun(view.id, null);
      useWindow.getState().set({ live: { run, plan: view.id }, bottomTab: "events" });
      await queryClient.invalidateQueries({ queryKey: ["runs"] });
    } catch (thrown) {
      set({ problem: Problem.from(thrown) });
    } finally {
      set({ starting: false });
    }
  },

  async stop() {
    const { live } = useWindow.getState();
    if (!live || currentRun()?.outcome !== null) return;
    try {
      await client.cancelRun(live.run);
    } catch (thrown) {
      set({ problem: Problem.from(thrown) });
    }
  },

  dismiss: () => set({ problem: null }),
}));

/** Starting, stopping and stepping through a run: what the buttons, the keys and the palette share. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { create } from "zustand";
import { client, Problem, type PlanView, type RunState } from "../ipc/client";
import { optionsOf, setBreakpoints, toggled, useDebug } from "./debug";
import { usePlanning } from "./planning";
import { liveQuery, queryClient } from "./queries";
import { useWindow } from "./store";

interface RunningState {
  starting: boolean;
  problem: Problem | null;
  /** Runs the open plan, or goes on with the run that is paused; with `stepMode` it pauses before the first step. */
  start: (stepMode?: boolean) => Promise<void>;
  stop: () => Promise<void>;
  pause: () => Promise<void>;
  /** One step, to its end. */
  step: () => Promise<void>;
  /** To the end of the first stage that is not done. */
  nextStage: () => Promise<void>;
  /** Until the step is about to start. */
  runTo: (step: string) => Promise<void>;
  toggleBreakpoint: (step: string | null) => Promise<void>;
  /** Does something that may fail, and says so when it does. */
  attempt: (what: () => Promise<unknown>) => Promise<void>;
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

export interface Target {
  run: number;
  state: RunState;
}

const stateOf = (run: number) => queryClient.getQueryData<RunState>(["live", run]);

/** The run that keys and buttons act on: the open one among the runs, elsewhere the one of the open planning. */
export function currentTarget(): Target | null {
  const { view, openRun, live } = useWindow.getState();
  const mine = live && live.plan === usePlanning.getState().view?.id ? live.run : null;
  const run = view === "runs" ? openRun : mine;
  const state = run === null ? undefined : stateOf(run);
  return run !== null && state ? { run, state } : null;
}

/** The current target as long as it goes on. */
function underWay(): Target | null {
  const target = currentTarget();
  return target?.state.outcome === null ? target : null;
}

export const useRunning = create<RunningState>()((set, get) => ({
  starting: false,
  problem: null,

  async start(stepMode = false) {
    const target = underWay();
    if (target?.state.paused) return get().attempt(() => client.stepRun(target.run, { kind: "continue" }));
    const { view } = usePlanning.getState();
    const window = useWindow.getState();
    if (!view || window.view === "runs" || get().starting) return;
    if (blockedBecause(view, target?.state ?? null) !== null) return;
    set({ starting: true, problem: null });
    await get().attempt(async () => {
      const run = await client.startRun(view.id, optionsOf(stepMode));
      window.set({ live: { run, plan: view.id } });
      await queryClient.invalidateQueries({ queryKey: ["runs"] });
    });
    set({ starting: false });
  },

  async stop() {
    const target = underWay();
    if (target) await get().attempt(() => client.cancelRun(target.run));
  },

  async pause() {
    const target = underWay();
    if (target && !target.state.paused) await get().attempt(() => client.pauseRun(target.run));
  },

  async step() {
    const target = underWay();
    if (!target) return get().start(true);
    if (target.state.paused) await get().attempt(() => client.stepRun(target.run, { kind: "step" }));
  },

  async nextStage() {
    const target = underWay();
    if (target?.state.paused) await get().attempt(() => client.nextStage(target.run));
  },

  async runTo(step) {
    const target = underWay();
    if (target?.state.paused) await get().attempt(() => client.runTo(target.run, step));
  },

  async toggleBreakpoint(step) {
    if (step === null) return;
    const { breakpoints } = useDebug.getState();
    await get().attempt(() => setBreakpoints(toggled(breakpoints, step), underWay()?.run ?? null));
  },

  async attempt(what) {
    try {
      set({ problem: null });
      await what();
    } catch (thrown) {
      set({ problem: Problem.from(thrown) });
    }
  },

  dismiss: () => set({ problem: null }),
}));

/** The run to which a change of breakpoints has to be told. */
export const runUnderWay = (): number | null => underWay()?.run ?? null;

/** Steps with a breakpoint before them, and whether it is on. */
export function useStepBreakpoints(): ReadonlyMap<string, boolean> {
  const breakpoints = useDebug((s) => s.breakpoints);
  return useMemo(
    () =>
      new Map(
        breakpoints.flatMap(({ on, enabled }) =>
          on.kind === "step" && on.when === "before" ? [[on.step, enabled] as const] : [],
        ),
      ),
    [breakpoints],
  );
}

/** Starting, stopping and stepping through a run: what the buttons, the keys and the palette share. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { create } from "zustand";
import { client, Problem, type PlanView, type RunState, type StepStatus } from "../ipc/client";
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

export type StepAction = "run_to" | "edit_arguments" | "edit_result" | "skip" | "cancel" | "retry";

const OVER: readonly StepStatus[] = ["succeeded", "failed", "skipped", "cancelled"];

/** Why this cannot be done to the step now, or null. */
export function stepBlocked(action: StepAction, target: Target | null, step: string | null): string | null {
  if (step === null) return "Choose a step first";
  if (!target) return "There is no run of it";
  const { state } = target;
  const status = state.steps[step]?.status;
  if (status === undefined) return `The run has no ${step}`;
  if (state.outcome !== null) return "The run is over: fork it to change a step";
  const over = OVER.includes(status);
  switch (action) {
    case "run_to":
    case "edit_arguments":
      return over ? `${step} is over` : state.paused ? null : "Pause the run first";
    case "edit_result":
      return state.paused ? null : "Pause the run first";
    case "skip":
      return over ? `${step} is over` : status === "running" ? "Its call is under way: cancel it instead" : null;
    case "cancel":
      return status === "running" ? null : "No call of it is under way";
    case "retry":
      return over && status !== "succeeded" ? null : "Only a step that ended without success is tried again";
  }
}

/** Why the run cannot be steered now, or null. */
export function steeringBlocked(needs: "paused" | "going" | "under_way", target = currentTarget()): string | null {
  if (!target) return "There is no run";
  if (target.state.outcome !== null) return "The run is over";
  if (needs === "paused" && !target.state.paused) return "Pause the run first";
  if (needs === "going" && target.state.paused) return "It is paused";
  return null;
}

/** Why F5 does nothing now, or null. */
export function startBlocked(): string | null {
  const target = underWay();
  if (target) return target.state.paused ? null : "It is running";
  if (useWindow.getState().view === "runs") return "This run is over: replay or fork it";
  return blockedBecause(usePlanning.getState().view, null);
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
      window.set({ live: { run, plan: view.id }, planCursor: null });
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

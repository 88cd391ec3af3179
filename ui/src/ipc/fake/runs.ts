/** Plays a plan's steps in virtual time and folds its events into the state at any of them, as the journal does. */
import type {
  Attempt,
  EventRow,
  OriginLink,
  Planning,
  RunState,
  RunOptions,
  RunSummary,
  StepState,
  ToolSpec,
} from "../client";
import type { FakeStep, Scenario } from "./plan";

/** An event with what a filter asks for, and what it does to the state. */
export interface FakeEvent extends EventRow {
  tool: string;
  status: string;
  duration_ms: number | null;
  apply: (state: RunState) => void;
}

export interface FakeRun {
  id: number;
  query: string;
  scenario: Scenario;
  planning: Planning;
  events: FakeEvent[];
  /** The state before the first event, and after every so many events as they were asked for. */
  checkpoints: Map<number, RunState>;
  /** How many events have happened; fewer than all while it runs. */
  shown: number;
  /** Of a copy: where it comes from. */
  link: OriginLink | null;
  faithful: boolean | null;
  pinned: boolean;
}

const CHECKPOINT = 1000;

/** The state after the first `count` events. Steps are replaced, never changed, so that states may share them. */
export function stateAt(run: FakeRun, count: number): RunState {
  const copy = (state: RunState): RunState => ({ ...state, steps: { ...state.steps } });
  let from = count - (count % CHECKPOINT);
  while (!run.checkpoints.has(from)) from -= CHECKPOINT;
  let state = copy(run.checkpoints.get(from)!);
  for (let i = from; i < count; i++) {
    const event = run.events[i]!;
    event.apply(state);
    state.seq = event.seq;
    if ((i + 1) % CHECKPOINT === 0) {
      run.checkpoints.set(i + 1, state);
      state = copy(state);
    }
  }
  return state;
}

export const shownState = (run: FakeRun): RunState => stateAt(run, run.shown);

const fresh = (): StepState => ({
  status: "pending",
  attempts: [],
  ready_ms: null,
  ready_seq: null,
  finished_ms: null,
  result: null,
  error: null,
  skip: null,
  fallback: null,
  tries: 0,
  waits_ms: null,
  edited_arguments: null,
  edited_result: false,
  unknown: false,
  hits: [],
});

export const NO_OPTIONS: RunOptions = {
  breakpoints: [],
  faults: [],
  no_cache: false,
  step_mode: false,
  seed: 0,
  backoff: "exponential",
  jitter_percent: null,
  conversation: [],
  metadata: {},
};

/** Steps that run at once. */
const LIMIT = 5;

const unavailable = {
  class: "transient" as const,
  message: "The server answered 503 Service Unavailable",
  hint: "Try again later, or raise the number of retries.",
  retry_after_ms: null,
};

export function simulate(
  id: number,
  scenario: Scenario,
  planning: Planning,
  tools: ToolSpec[],
  start: number,
  options: RunOptions = NO_OPTIONS,
): FakeRun {
  const planned = new Set(planning.plan.steps.map((s) => s.id));
  const steps = scenario.steps.filter((s) => planned.has(s.id));
  const first: RunState = {
    seq: 0,
    planning: null,
    plan: planning.plan,
    catalog_revision: planning.revision,
    parallel_limit: LIMIT,
    timeout_ms: 30_000,
    retry: { max_retries: 2, base_ms: 200 },
    started_ms: start,
    duration_ms: null,
    cancelling: false,
    activated: [],
    outcome: null,
    steps: Object.fromEntries(steps.map((s) => [s.id, fresh()])),
    origin: null,
    faithful: null,
    divergence: null,
    options,
    breakpoints: options.breakpoints,
    hits: [],
    paused: options.step_mode ? { kind: "start" } : null,
    go: { kind: "continue" },
    stepping: null,
    told_unknown: false,
    dropped: [],
  };
  type Pending = Omit<FakeEvent, "seq">;
  const pending: Pending[] = [];
  const record = (
    at_ms: number,
    kind: string,
    step: FakeStep | null,
    text: string,
    change: (before: StepState) => Partial<StepState> = () => ({}),
    more: Partial<Pending> = {},
  ) =>
    pending.push({
      at_ms,
      kind,
      step: step?.id ?? "",
      text,
      tool: step?.tool ?? "",
      status: "",
      duration_ms: null,
      apply: (state) => {
        const before = step && state.steps[step.id];
        if (before) state.steps[step.id] = { ...before, ...change(before) };
      },
      ...more,
    });
  const done = new Map<string, { at: number; ok: boolean }>();
  const waitsFor = new Map<string, string[]>();
  for (const { from, to } of scenario.edges) waitsFor.set(to, [...(waitsFor.get(to) ?? []), from]);
  /** When each of the places for running steps is free again. */
  const free = Array.from({ length: LIMIT }, () => start);

  record(start, "run_started", null, `The run started with ${steps.length} steps`);
  // What a step waits for lies in an earlier stage, so its end is known by then.
  for (const step of [...steps].sort((a, b) => a.stage - b.stage)) play(step);
  const end = [...done.values()].reduce((latest, d) => Math.max(latest, d.at), start);
  const good = [...done.values()].filter((d) => d.ok).length;
  const outcome = good === steps.length ? "succeeded" : good > 0 ? "partial" : "failed";
  record(end + 1, "run_finished", null, `The run ended: ${outcome}`, undefined, {
    status: outcome,
    duration_ms: end + 1 - start,
    apply: (state) => Object.assign(state, { outcome, duration_ms: end + 1 - start }),
  });

  function play(step: FakeStep) {
    const before = (waitsFor.get(step.id) ?? []).filter((id) => done.has(id));
    const ready = before.reduce((latest, id) => Math.max(latest, done.get(id)!.at), start) + 2;
    const broken = before.find((id) => !done.get(id)!.ok);
    if (broken !== undefined) {
      record(ready, "step_skipped", step, `${step.id} is skipped: ${broken} failed`, () => ({
        status: "skipped",
        skip: { kind: "dependency", root: broken },
      }));
      done.set(step.id, { at: ready, ok: false });
      return;
    }
    record(ready, "step_ready", step, `${step.id} has everything it needs`, () => ({
      status: "ready",
      ready_ms: ready,
    }));
    const place = free.indexOf(Math.min(...free));
    attempt(step, 1, Math.max(ready + 3, free[place]! + 1), step.tool);
    free[place] = done.get(step.id)!.at;
  }

  function attempt(step: FakeStep, number: number, at: number, tool: string) {
    const took = step.ms ?? 200;
    const end = at + took;
    const running: Attempt = {
      number,
      tool,
      arguments: step.args,
      started_ms: at,
      duration_ms: null,
      outcome: null,
      cached_ms: null,
      fault: null,
      timeout: null,
      unknown: false,
      live: false,
      given_up: false,
    };
    record(
      at,
      "attempt_started",
      step,
      `${tool} is called, attempt ${number}`,
      (before) => ({ status: "running", attempts: [...before.attempts, running] }),
      { tool },
    );
    const ended = (before: StepState, outcome: Attempt["outcome"]): Attempt[] => [
      ...before.attempts.slice(0, -1),
      { ...running, duration_ms: took, outcome },
    ];
    const onFallback = tool !== step.tool;
    if (!onFallback && number <= (step.fails ?? 0)) {
      record(
        end,
        "attempt_failed",
        step,
        `${tool} failed: ${unavailable.message}`,
        (before) => ({ attempts: ended(before, { kind: "failed", error: unavailable }) }),
        { tool, status: "failed", duration_ms: took },
      );
      if (step.fallback) {
        const fallback = step.fallback;
        record(end + 1, "fallback_started", step, `${fallback} takes over from ${tool}`, () => ({ fallback }));
        return attempt(step, number + 1, end + 4, fallback);
      }
      if (number > (step.retries ?? 2)) {
        record(
          end + 1,
          "step_failed",
          step,
          `${step.id} failed after ${number} attempts`,
          () => ({ status: "failed", finished_ms: end + 1, error: unavailable }),
          { status: "failed" },
        );
        done.set(step.id, { at: end + 1, ok: false });
        return;
      }
      const wait = Math.min(3200, 200 * 2 ** (number - 1));
      record(end + 1, "retry_scheduled", step, `${tool} is tried again in ${wait} ms`, () => ({
        status: "waiting",
        tries: number,
      }));
      return attempt(step, number + 1, end + wait, tool);
    }
    const result = {
      data: { text: `A fixed answer of ${tool}`, items: ["第一个结果", "second result 😀"] },
      confidence: 0.86,
      sources: ["docs/login.md"],
    };
    record(
      end,
      "step_succeeded",
      step,
      `${tool} answered`,
      (before) => ({
        attempts: ended(before, { kind: "succeeded", result }),
        status: "succeeded",
        finished_ms: end,
        result,
      }),
      { tool, status: "succeeded", duration_ms: took },
    );
    done.set(step.id, { at: end, ok: tools.some((t) => t.name === tool) });
  }

  // Stable: what was recorded first comes first among events of the same instant.
  pending.sort((a, b) => a.at_ms - b.at_ms);
  const events = pending.map((event, i): FakeEvent => ({ seq: i + 1, ...event }));
  const checkpoints = new Map([[0, first]]);
  return {
    id,
    query: planning.request.query,
    scenario,
    planning,
    events,
    checkpoints,
    shown: events.length,
    link: null,
    faithful: null,
    pinned: false,
  };
}

export const eventRow = ({ seq, at_ms, kind, step, text }: EventRow): EventRow => ({ seq, at_ms, kind, step, text });

export function summaryOf(run: FakeRun): RunSummary {
  const state = shownState(run);
  const steps = Object.values(state.steps);
  return {
    id: run.id,
    query: run.query,
    started_ms: state.started_ms ?? 0,
    duration_ms: state.duration_ms,
    outcome: state.outcome,
    steps: steps.length,
    succeeded: steps.filter((s) => s.status === "succeeded").length,
    catalog_revision: state.catalog_revision,
    planner: run.planning.planner.label,
    pinned: run.pinned,
    imported: false,
    origin: run.link,
    faithful: run.faithful,
  };
}

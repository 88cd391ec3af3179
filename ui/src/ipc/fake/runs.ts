/** Plays a plan's steps in virtual time and keeps the state after every event, as the journal does. */
import type { Attempt, EventRow, Planning, RunState, RunSummary, StepState, ToolSpec } from "../client";
import type { FakeStep, Scenario } from "./plan";

export interface FakeRun {
  id: number;
  query: string;
  scenario: Scenario;
  planning: Planning;
  events: EventRow[];
  /** The state after each event. */
  states: RunState[];
  /** How many events have happened; fewer than all while it runs. */
  shown: number;
}

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
});

const unavailable = {
  class: "transient" as const,
  message: "The server answered 503 Service Unavailable",
  hint: "Try again later, or raise the number of retries.",
};

export function simulate(
  id: number,
  scenario: Scenario,
  planning: Planning,
  tools: ToolSpec[],
  start: number,
): FakeRun {
  const planned = new Set(planning.plan.steps.map((s) => s.id));
  const steps = scenario.steps.filter((s) => planned.has(s.id));
  const state: RunState = {
    seq: 0,
    planning: null,
    plan: planning.plan,
    catalog_revision: planning.revision,
    parallel_limit: 5,
    timeout_ms: 30_000,
    retry: { max_retries: 2, base_ms: 200 },
    started_ms: start,
    duration_ms: null,
    cancelling: false,
    activated: [],
    outcome: null,
    steps: Object.fromEntries(steps.map((s) => [s.id, fresh()])),
  };
  const pending: { at: number; kind: string; step: string; text: string; apply: () => void }[] = [];
  const record = (at: number, kind: string, step: string, text: string, apply: () => void = () => {}) =>
    pending.push({ at, kind, step, text, apply });
  const done = new Map<string, { at: number; ok: boolean }>();

  record(start, "run_started", "", `The run started with ${steps.length} steps`);
  // What a step waits for lies in an earlier stage, so its end is known by then.
  for (const step of [...steps].sort((a, b) => a.stage - b.stage)) play(step);
  const end = Math.max(start, ...[...done.values()].map((d) => d.at));
  const good = [...done.values()].filter((d) => d.ok).length;
  const outcome = good === steps.length ? "succeeded" : good > 0 ? "partial" : "failed";
  record(end + 1, "run_finished", "", `The run ended: ${outcome}`, () =>
    Object.assign(state, { outcome, duration_ms: end + 1 - start }),
  );

  function play(step: FakeStep) {
    const before = scenario.edges.filter((e) => e.to === step.id).map((e) => done.get(e.from)!);
    const ready = Math.max(start, ...before.map((d) => d.at)) + 2;
    const mine = () => state.steps[step.id]!;
    const broken = scenario.edges.find((e) => e.to === step.id && !done.get(e.from)!.ok);
    if (broken) {
      record(ready, "step_skipped", step.id, `${step.id} is skipped: ${broken.from} failed`, () =>
        Object.assign(mine(), { status: "skipped", skip: { kind: "dependency", root: broken.from } }),
      );
      done.set(step.id, { at: ready, ok: false });
      return;
    }
    record(ready, "step_ready", step.id, `${step.id} has everything it needs`, () =>
      Object.assign(mine(), { status: "ready", ready_ms: ready }),
    );
    attempt(step, 1, ready + 3, step.tool);
  }

  function attempt(step: FakeStep, number: number, at: number, tool: string) {
    const mine = () => state.steps[step.id]!;
    const took = step.ms ?? 200;
    const end = at + took;
    const running: Attempt = { number, tool, arguments: step.args, started_ms: at, duration_ms: null, outcome: null };
    record(at, "attempt_started", step.id, `${tool} is called, attempt ${number}`, () => {
      mine().status = "running";
      mine().attempts.push({ ...running });
    });
    const last = () => mine().attempts.at(-1)!;
    const onFallback = tool !== step.tool;
    if (!onFallback && number <= (step.fails ?? 0)) {
      record(end, "attempt_failed", step.id, `${tool} failed: ${unavailable.message}`, () =>
        Object.assign(last(), { duration_ms: took, outcome: { kind: "failed", error: unavailable } }),
      );
      if (step.fallback) {
        record(end + 1, "fallback_started", step.id, `${step.fallback} takes over from ${tool}`, () =>
          Object.assign(mine(), { fallback: step.fallback }),
        );
        return attempt(step, number + 1, end + 4, step.fallback);
      }
      if (number > 2) {
        record(end + 1, "step_failed", step.id, `${step.id} failed after ${number} attempts`, () =>
          Object.assign(mine(), { status: "failed", finished_ms: end + 1, error: unavailable }),
        );
        done.set(step.id, { at: end + 1, ok: false });
        return;
      }
      const wait = 200 * 2 ** (number - 1);
      record(end + 1, "retry_scheduled", step.id, `${tool} is tried again in ${wait} ms`, () =>
        Object.assign(mine(), { status: "waiting", tries: number }),
      );
      return attempt(step, number + 1, end + wait, tool);
    }
    const result = {
      data: { text: `A fixed answer of ${tool}`, items: ["第一个结果", "second result 😀"] },
      confidence: 0.86,
      sources: ["docs/login.md"],
    };
    record(end, "step_succeeded", step.id, `${tool} answered`, () => {
      Object.assign(last(), { duration_ms: took, outcome: { kind: "succeeded", result } });
      Object.assign(mine(), { status: "succeeded", finished_ms: end, result });
    });
    done.set(step.id, { at: end, ok: tools.some((t) => t.name === tool) });
  }

  // Stable: what was recorded first comes first among events of the same instant.
  pending.sort((a, b) => a.at - b.at);
  const states: RunState[] = [];
  const events = pending.map(({ at, kind, step, text, apply }, i): EventRow => {
    apply();
    state.seq = i + 1;
    states.push(structuredClone(state));
    return { seq: i + 1, at_ms: at, kind, step, text };
  });
  return { id, query: planning.request.query, scenario, planning, events, states, shown: events.length };
}

export function summaryOf(run: FakeRun): RunSummary {
  const state = run.states[run.shown - 1]!;
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
  };
}

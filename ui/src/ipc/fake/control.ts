/** Plays a fake run in real time, and lets a person interfere: pause, step, break, edit, skip. */
import type { Breakpoint, BreakOn, Go, PauseReason, RunControlState } from "../client";
import { refuse } from "./desk";
import { shownState, type FakeEvent, type FakeRun } from "./runs";

const TELL_MS = 40;
const ENDS = ["step_succeeded", "step_failed", "step_skipped"];

/** Puts an event in where the run stands; what was to come moves on by one. */
export function interject(run: FakeRun, kind: string, step: string, text: string, apply: FakeEvent["apply"]) {
  const at_ms = Math.max(Date.now(), run.events[run.shown - 1]?.at_ms ?? 0);
  run.events.splice(run.shown, 0, { seq: 0, at_ms, kind, step, text, tool: "", status: "", duration_ms: null, apply });
  for (let i = run.shown; i < run.events.length; i++) run.events[i]!.seq = i + 1;
  for (const count of run.checkpoints.keys()) if (count > run.shown) run.checkpoints.delete(count);
  run.shown++;
}

/** Nothing that was to come of the step comes any more. */
function forget(run: FakeRun, step: string) {
  run.events = run.events.filter((e, i) => i < run.shown || e.step !== step);
}

const passed = new WeakMap<FakeEvent, Set<number>>();

export function player(tell: (run: FakeRun) => void) {
  const pause = (run: FakeRun, reason: PauseReason, text: string) =>
    interject(run, "paused", "", text, (state) => {
      state.paused = reason;
    });

  function hit(run: FakeRun, next: FakeEvent): Breakpoint | undefined {
    const done = passed.get(next) ?? new Set();
    passed.set(next, done);
    return shownState(run).breakpoints.find(({ id, on, enabled }) => {
      if (!enabled || done.has(id)) return false;
      const fits =
        (on.kind === "step" && next.kind === "attempt_started" && on.step === next.step) ||
        (on.kind === "tool" && next.kind === "attempt_started" && on.tool === next.tool) ||
        (on.kind === "error" && next.kind === "step_failed") ||
        (on.kind === "duration" && (next.duration_ms ?? 0) > on.above_ms && next.step !== "");
      if (fits) done.add(id);
      return fits;
    });
  }

  /** Shows the next event, or stops before it. */
  function show(run: FakeRun): boolean {
    const next = run.events[run.shown]!;
    const { go } = shownState(run);
    const breakpoint = hit(run, next);
    if (breakpoint) {
      const text = `Breakpoint ${breakpoint.id}: ${words(breakpoint.on)}`;
      interject(run, "breakpoint_hit", next.step, text, () => {});
      pause(run, { kind: "breakpoint", breakpoint: breakpoint.id, step: next.step }, `Paused: ${text}`);
      return false;
    }
    if (go.kind === "to" && next.kind === "attempt_started" && next.step === go.step) {
      pause(run, { kind: "reached", step: go.step }, `Paused: ${go.step} is next`);
      return false;
    }
    run.shown++;
    if (go.kind === "step" && ENDS.includes(next.kind) && run.shown < run.events.length - 1) {
      pause(run, { kind: "stepped", step: next.step }, `Paused: ${next.step} is done`);
      return false;
    }
    if (go.kind === "stage" && ENDS.includes(next.kind)) {
      const { steps } = shownState(run);
      const stage = run.scenario.steps.filter((s) => s.stage <= go.stage + 1 && steps[s.id]);
      if (stage.every((s) => ["succeeded", "failed", "skipped"].includes(steps[s.id]!.status))) {
        pause(run, { kind: "staged", stage: go.stage }, `Paused: stage ${go.stage + 1} is done`);
        return false;
      }
    }
    return true;
  }

  function advance(run: FakeRun) {
    tell(run);
    const at = run.shown;
    if (at >= run.events.length || shownState(run).paused) return;
    const now = run.events[at - 1]!.at_ms;
    setTimeout(
      () => {
        const state = shownState(run);
        // Cancelled, paused or played on by somebody else in between.
        if (run.shown !== at || state.outcome !== null || state.paused) return;
        // The window is told a few times a second, not of every event.
        while (show(run) && run.shown < run.events.length && run.events[run.shown]!.at_ms - now < TELL_MS);
        advance(run);
      },
      Math.max(0, run.events[at]!.at_ms - now),
    );
  }

  function go(run: FakeRun, go: Go) {
    if (!shownState(run).paused) refuse("run.not_paused", `Run ${run.id} is not paused`, "Pause it first with F6.");
    interject(run, "resumed", "", go.kind === "continue" ? "The run goes on" : `The run goes on: ${go.kind}`, (state) =>
      Object.assign(state, { paused: null, go }),
    );
    const late = Date.now() - (run.events[run.shown]?.at_ms ?? Date.now()) + 5;
    for (let i = run.shown; i < run.events.length; i++) run.events[i]!.at_ms += Math.max(0, late);
    advance(run);
  }

  return {
    advance,
    go,
    pause(run: FakeRun) {
      if (shownState(run).outcome !== null) return;
      pause(run, { kind: "by_hand" }, "Paused by hand");
      tell(run);
    },
    nextStage(run: FakeRun) {
      const { steps } = shownState(run);
      const open = run.scenario.steps.filter((s) =>
        ["pending", "ready", "running", "waiting"].includes(steps[s.id]?.status ?? ""),
      );
      go(run, { kind: "stage", stage: Math.min(...open.map((s) => s.stage)) - 1 });
    },
    setBreakpoints(run: FakeRun, breakpoints: Breakpoint[]) {
      interject(run, "breakpoints_set", "", `${breakpoints.length} breakpoints`, (state) =>
        Object.assign(state, { breakpoints }),
      );
      tell(run);
    },
    /** The step ends as said, whatever was to come of it. */
    end(run: FakeRun, step: string, kind: string, text: string, change: FakeEvent["apply"]) {
      forget(run, step);
      interject(run, kind, step, text, change);
      advance(run);
    },
  };
}

export function controlStateOf(run: FakeRun): RunControlState {
  const state = shownState(run);
  const reason = state.paused;
  const text =
    reason?.kind === "breakpoint"
      ? words(state.breakpoints.find((b) => b.id === reason.breakpoint)?.on ?? { kind: "error", class: null })
      : (reason?.kind ?? "");
  return {
    run: run.id,
    live: state.outcome === null,
    resumable: state.outcome === "interrupted",
    paused: reason,
    pause_text: text,
    go: state.go,
    breakpoints: state.breakpoints,
    unconfirmed: [],
    queue: Object.entries(state.steps)
      .filter(([, s]) => s.status === "ready")
      .map(([id]) => id),
  };
}

function words(on: BreakOn): string {
  switch (on.kind) {
    case "step":
      return `step:${on.step}`;
    case "tool":
      return `tool:${on.tool}`;
    case "duration":
      return `duration>${on.above_ms}`;
    case "cost":
      return `cost>${on.above}`;
    case "condition":
      return `${on.when === "after" ? "result" : "arguments"} ${on.path} ${on.operator}`;
    default:
      return on.kind;
  }
}

export function parseBreakpoint(text: string): BreakOn {
  const [, kind = "", name = ""] = /^(step|tool|error|guard):?(.*)$/.exec(text.trim()) ?? [];
  if (kind === "step" && name !== "") return { kind: "step", step: name, when: "before" };
  if (kind === "tool" && name !== "") return { kind: "tool", tool: name, when: "before" };
  if (kind === "error") return { kind: "error", class: null };
  if (kind === "guard") return { kind: "guard", rule: name };
  const number = /^(cost|duration)>(\d+(?:\.\d+)?)$/.exec(text.trim());
  if (number?.[1] === "cost") return { kind: "cost", above: Number(number[2]) };
  if (number) return { kind: "duration", above_ms: Number(number[2]) };
  const condition = /^(arguments|result)(?::(\S+))? (\/\S*) (exists|missing)$/.exec(text.trim());
  if (condition)
    return {
      kind: "condition",
      step: condition[2] ?? "",
      when: condition[1] === "result" ? "after" : "before",
      path: condition[3]!,
      operator: condition[4] as "exists",
      value: null,
    };
  return refuse(
    "breakpoint.malformed",
    `"${text}" is no breakpoint`,
    "write step:ID, tool:NAME, error, guard, cost>N, duration>MS, or result /path exists",
  );
}

/** What the in-browser host answers about runs that are over: copies of them, differences, and what they take up. */
import type {
  Divergence,
  Fork,
  ForkPreview,
  OriginLink,
  ReplayPolicy,
  RunDiff,
  RunTree,
  StepState,
  Storage,
  ToolAt,
  ToolsAt,
  ToolSpec,
  ToolThen,
  Value,
  Verdict,
} from "../client";
import { interject } from "./control";
import { shownState, stateAt, summaryOf, type FakeRun } from "./runs";
import { costOf } from "./visibility";
import { refuse } from "./desk";

/** A copy of a run under another number, changed in one thing. */
export function derived(from: FakeRun, id: number, fork: Fork | null): FakeRun {
  const link: OriginLink = {
    kind: fork ? "fork" : "replay",
    run: from.id,
    at: fork?.at ?? (fork ? 3 : 1),
    change: fork ? sentence(fork) : "",
  };
  const run: FakeRun = {
    ...from,
    id,
    events: from.events.slice(0, from.shown).map((e) => ({ ...e })),
    checkpoints: new Map([[0, from.checkpoints.get(0)!]]),
    link,
    faithful: fork ? null : true,
    pinned: false,
  };
  const { change } = fork ?? {};
  if (change?.kind === "arguments" || change?.kind === "result") {
    const { step } = change;
    run.shown = run.events.length - 1;
    interject(run, `${change.kind}_edited`, step, sentence(fork!), (state) => {
      const was = state.steps[step]!;
      const data = change.kind === "result" ? change.value : null;
      state.steps[step] =
        change.kind === "result"
          ? {
              ...was,
              status: "succeeded",
              error: null,
              edited_result: true,
              result: { data, confidence: null, sources: [] },
            }
          : { ...was, attempts: was.attempts.map((a) => ({ ...a, arguments: change.arguments })) };
    });
    run.shown = run.events.length;
  }
  return run;
}

function sentence({ change }: Fork): string {
  if (change.kind === "arguments") return `${change.step} is called with other arguments`;
  if (change.kind === "result") return `${change.step} gave another result`;
  if (change.kind === "skip") return `${change.step} is skipped`;
  return change.kind === "tool" ? "a tool is described otherwise" : "other settings";
}

/** What a fork would do: the changed step is called, every other step answers from the record. */
export function previewOf(run: FakeRun, fork: Fork, policy: ReplayPolicy): ForkPreview {
  const { change } = fork;
  const changed = change.kind === "arguments" ? change.step : null;
  const { plan, steps } = shownState(run);
  const later = plan.steps.filter((s) => s.id === changed || s.dependencies.includes(changed ?? ""));
  return {
    at: fork.at ?? 3,
    kept: plan.steps.filter((s) => !later.includes(s) && steps[s.id]?.status === "succeeded").map((s) => s.id),
    calls: later.map((s) => ({
      step: s.id,
      tool: s.tool,
      arguments: change.kind === "arguments" && s.id === changed ? change.arguments : s.arguments,
      answerer: s.id === changed ? "tool" : "record",
      rests_on: s.id === changed || changed === null ? [] : [changed],
      otherwise: s.id === changed ? null : "tool",
      classification: "SAFE",
      refused: null,
      text:
        s.id === changed
          ? `${s.tool} is called: the record holds no answer for these arguments`
          : `The record answers if ${changed} gives what it gave; otherwise ${s.tool} is called`,
    })),
    policy: {
      tools: { ...Object.fromEntries(later.map((s) => [s.tool, { kind: "recorded_or_live" }])), ...policy.tools },
    },
  };
}

export function treeOf(run: FakeRun, runs: FakeRun[]): RunTree {
  let root = run;
  for (let up = root.link?.run; up != null; up = root.link?.run) root = runs.find((r) => r.id === up) ?? root;
  const below = (of: FakeRun): FakeRun[] => [of, ...runs.filter((r) => r.link?.run === of.id).flatMap(below)];
  return { root: root.id, runs: below(root).map(summaryOf) };
}

export function diffOf(a: FakeRun, b: FakeRun): RunDiff {
  const [left, right] = [shownState(a), shownState(b)];
  const ids = [...new Set([...Object.keys(left.steps), ...Object.keys(right.steps)])];
  const tool = (run: FakeRun, id: string) => run.scenario.steps.find((s) => s.id === id)?.tool ?? null;
  const steps = ids.flatMap((id): RunDiff["steps"] => {
    const [x, y] = [left.steps[id], right.steps[id]];
    const changed = [
      ...(JSON.stringify(x?.result?.data) === JSON.stringify(y?.result?.data)
        ? []
        : [{ path: "/result", a: x?.result?.data ?? null, b: y?.result?.data ?? null }]),
      ...(JSON.stringify(x?.attempts.at(-1)?.arguments) === JSON.stringify(y?.attempts.at(-1)?.arguments)
        ? []
        : [
            {
              path: "/arguments",
              a: (x?.attempts.at(-1)?.arguments ?? null) as Value,
              b: (y?.attempts.at(-1)?.arguments ?? null) as Value,
            },
          ]),
    ];
    if (changed.length === 0 && x?.status === y?.status) return [];
    return [
      {
        id: { a: x ? id : null, b: y ? id : null },
        tool: { a: x ? tool(a, id) : null, b: y ? tool(b, id) : null },
        status: { a: x?.status ?? null, b: y?.status ?? null },
        attempts: { a: x?.attempts.length ?? 0, b: y?.attempts.length ?? 0 },
        duration_ms: { a: took(x), b: took(y) },
        changed,
      },
    ];
  });
  const first = steps[0];
  const divergence: Divergence | null = first
    ? ({
        kind: first.id.a === null ? "extra" : first.id.b === null ? "missing" : "answer",
        call: 1 + ids.indexOf(first.id.a ?? first.id.b ?? ""),
        step_a: first.id.a,
        step_b: first.id.b,
        tool_a: first.tool.a,
        tool_b: first.tool.b,
        seq_a: first.id.a && (a.events.find((e) => e.step === first.id.a)?.seq ?? null),
        seq_b: first.id.b && (b.events.find((e) => e.step === first.id.b)?.seq ?? null),
        sentence: `${first.tool.a ?? first.tool.b} in ${first.id.a ?? first.id.b} went otherwise`,
      } as Divergence)
    : null;
  const calls = (run: typeof left) => Object.values(run.steps).reduce((sum, s) => sum + s.attempts.length, 0);
  return {
    same: steps.length === 0,
    divergence,
    plan: {
      facts: a.query === b.query ? [] : [{ name: "query", a: a.query, b: b.query }],
      steps: [],
      verdicts: [],
      tokens: [],
    },
    steps,
    outcome: { a: left.outcome, b: right.outcome },
    duration_ms: { a: left.duration_ms, b: right.duration_ms },
    calls: { a: calls(left), b: calls(right) },
  };
}

function took(step: ReturnType<typeof shownState>["steps"][string] | undefined): number | null {
  const first = step?.attempts[0];
  return first && step.finished_ms !== null ? step.finished_ms - first.started_ms : null;
}

export function storageOf(runs: FakeRun[]): Storage {
  const events = runs.reduce((sum, r) => sum + r.shown, 0);
  return {
    file_bytes: 3_400_000 + events * 420,
    free_bytes: 212_000,
    kinds: [
      { kind: "events", rows: events, bytes: events * 410 },
      { kind: "runs", rows: runs.length, bytes: runs.length * 900 },
      { kind: "tools", rows: 41, bytes: 96_000 },
      { kind: "statistics", rows: 12, bytes: 4_200 },
      { kind: "settings", rows: 1, bytes: 2_300 },
    ],
    runs: runs.length,
    pinned: runs.filter((r) => r.pinned).length,
    oldest_ms: runs[0]?.events[0]?.at_ms ?? null,
  };
}

function toolAt(run: FakeRun, seq: number, spec: ToolSpec): ToolAt {
  const state = stateAt(run, seq);
  const steps = Object.entries(state.steps).filter(([, s]) => toolOf(run, s) === spec.name);
  const own = run.scenario.steps.filter((s) => s.tool === spec.name && state.steps[s.id]?.attempts.length === 0);
  const ids = [...own.map((s) => s.id), ...steps.map(([id]) => id)].sort();
  const attempts = Object.values(state.steps).flatMap((s) => s.attempts.filter((a) => a.tool === spec.name));
  const status = ids[0] === undefined ? null : state.steps[ids[0]]!.status;
  const trail = run.planning.trails.find((t) => t.tool === spec.name);
  const executed = executedOf(status, ids[0]);
  return {
    name: spec.name,
    classification: spec.classification,
    unchanged: true,
    removed: false,
    status,
    steps: ids.length,
    step: ids[0] ?? "",
    calls: attempts.length,
    failures: attempts.filter((a) => a.outcome?.kind === "failed").length,
    found: false,
    activated: false,
    verdict: executed ?? trail?.verdicts.at(-1) ?? null,
  };
}

const toolOf = (_: FakeRun, step: StepState) => step.attempts.at(-1)?.tool;

function executedOf(status: ToolAt["status"], step = ""): Verdict | null {
  const more = { evidence: [], config_key: null, gate: "executed" } as const;
  if (status === "running")
    return { ...more, evidence: [], outcome: "kept", rule: "executed.running", reason: `${step} is at work` };
  if (status === "succeeded")
    return { ...more, evidence: [], outcome: "kept", rule: "executed.succeeded", reason: `${step} succeeded` };
  if (status === "failed")
    return { ...more, evidence: [], outcome: "dropped", rule: "executed.failed", reason: `${step} failed` };
  return null;
}

export function toolsAt(
  run: FakeRun,
  seq: number,
  tools: ToolSpec[],
  text: string,
  offset: number,
  limit: number,
): ToolsAt {
  const found = tools.filter((t) => t.name.includes(text.trim().toLowerCase()));
  const planned = new Set(run.scenario.steps.map((s) => s.tool));
  const order = [...found.filter((t) => planned.has(t.name)), ...found.filter((t) => !planned.has(t.name))];
  const rows = order.slice(offset, offset + limit).map((t) => toolAt(run, seq, t));
  return { revision: run.planning.revision, all: tools.length, total: found.length, rows };
}

export function toolThen(run: FakeRun, seq: number, tools: ToolSpec[], name: string): ToolThen {
  const spec =
    tools.find((t) => t.name === name) ??
    refuse("run.unknown_tool", `The catalog of run ${run.id} has no tool ${name}`, "Choose one that the run shows.");
  const at = toolAt(run, seq, spec);
  const trail = run.planning.trails.find((t) => t.tool === name) ?? { tool: name, verdicts: [] };
  const executed = executedOf(at.status, at.step);
  return {
    at,
    spec,
    cost: costOf(spec),
    trail: { ...trail, verdicts: [...trail.verdicts, ...(executed ? [executed] : [])] },
    changed: [],
  };
}

/** How a step of a run looks at one instant, read off its state. */
import type { AnswerSource, Planning, RunState, StepState, StepStatus, Value } from "../ipc/client";
import { middle } from "./format";

export interface StepLook {
  status: StepStatus;
  elapsed_ms: number | null;
  /** Attempts after the first. */
  retries: number;
  /** The fallback that has taken over. */
  fallback: string | null;
  /** The last attempt was answered from the cache. */
  cached: boolean;
  /** A person changed its arguments or its result. */
  edited: boolean;
  /** Where a person changed them: the argument that matters, in place of the planned one. */
  argument: string | null;
  /** A fault on purpose struck it. */
  fault: boolean;
  /** In a replay: the tool itself was called. */
  live: boolean;
}

function lookOf(step: StepState, sources: Record<string, AnswerSource>): StepLook {
  const first = step.attempts[0];
  return {
    status: step.status,
    elapsed_ms: first && step.finished_ms !== null ? step.finished_ms - first.started_ms : null,
    retries: Math.max(0, step.attempts.length - 1 - (step.fallback === null ? 0 : 1)),
    fallback: step.fallback,
    cached: step.attempts.at(-1)?.cached_ms != null,
    edited: step.edited_result || step.edited_arguments !== null,
    argument: step.edited_arguments && keyArgument(step.edited_arguments),
    fault: step.attempts.some((a) => a.fault !== null),
    // Journals from before live calls were marked say it by the policy alone.
    live: step.attempts.at(-1)?.live === true || sources[step.attempts.at(-1)?.tool ?? ""]?.kind === "live",
  };
}

export function looksOf(run: RunState | null | undefined): Record<string, StepLook> {
  if (!run) return {};
  const sources = run.origin?.policy.tools ?? {};
  return Object.fromEntries(Object.entries(run.steps).map(([id, step]) => [id, lookOf(step, sources)]));
}

export function sameLook(a: StepLook | undefined, b: StepLook | undefined): boolean {
  if (!a || !b) return a === b;
  return (Object.keys(a) as (keyof StepLook)[]).every((key) => a[key] === b[key]);
}

/** A value that is taken from an earlier result. */
export function asReference(value: Value): { step: string; path: string } | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const { $from: step, path = "" } = value;
  return typeof step === "string" && typeof path === "string" ? { step, path } : null;
}

/** As many characters as Rust leaves of it. */
const KEY_ARGUMENT = 40;

/** The argument that tells a step from others, as Rust picks it for the graph: the first text, else a reference. */
export function keyArgument(args: Record<string, Value>): string {
  const all = Object.entries(args);
  const first = all.find(([, v]) => typeof v === "string") ?? all.find(([, v]) => asReference(v)) ?? all[0];
  if (!first) return "";
  const [name, value] = first;
  const from = asReference(value);
  const shown = from ? `← ${from.step}${from.path}` : typeof value === "string" ? value : JSON.stringify(value);
  return middle(`${name}: ${shown}`, KEY_ARGUMENT);
}

/** What became of a call that the guard let go on. */
export interface Fate {
  step: string;
  status: StepStatus;
}

/** By the index of the guarded call. The steps were made from the calls that went on, in the same order. */
export function fatesOf(planning: Planning, run: RunState | null): ReadonlyMap<number, Fate> {
  const fates = new Map<number, Fate>();
  if (!run) return fates;
  let at = 0;
  planning.guard.calls.forEach((call, index) => {
    if (call.outcome === "dropped") return;
    const spec = planning.plan.steps[at++];
    const state = spec && run.steps[spec.id];
    if (state && spec.tool === call.call.tool) fates.set(index, { step: spec.id, status: state.status });
  });
  return fates;
}

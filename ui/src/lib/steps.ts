/** How a step of a run looks at one instant, read off its state. */
import type { AnswerSource, RunState, StepState, StepStatus } from "../ipc/client";

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

/** How a step of a run looks at one instant, read off its state. */
import type { RunState, StepState, StepStatus } from "../ipc/client";

export interface StepLook {
  status: StepStatus;
  elapsed_ms: number | null;
  /** Attempts after the first. */
  retries: number;
  /** The fallback that has taken over. */
  fallback: string | null;
}

function lookOf(step: StepState): StepLook {
  const first = step.attempts[0];
  return {
    status: step.status,
    elapsed_ms: first && step.finished_ms !== null ? step.finished_ms - first.started_ms : null,
    retries: Math.max(0, step.attempts.length - 1 - (step.fallback === null ? 0 : 1)),
    fallback: step.fallback,
  };
}

export function looksOf(run: RunState | null | undefined): Record<string, StepLook> {
  if (!run) return {};
  return Object.fromEntries(Object.entries(run.steps).map(([id, step]) => [id, lookOf(step)]));
}

export function sameLook(a: StepLook | undefined, b: StepLook | undefined): boolean {
  if (!a || !b) return a === b;
  return a.status === b.status && a.elapsed_ms === b.elapsed_ms && a.retries === b.retries && a.fallback === b.fallback;
}

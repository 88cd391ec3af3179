/** Geometry of the timeline: the stretch of time in sight, its ticks, and the bars of a step. Times in milliseconds. */
import type { TimelineStep } from "../../ipc/client";

/** The stretch of time that the chart shows. */
export interface Span {
  from: number;
  to: number;
}

const LEAST = 0.5;

/** Zooms around the instant under the pointer and stays within the run. */
export function zoomed(span: Span, around: number, factor: number, wall: number): Span {
  const wide = Math.min(wall, Math.max(LEAST, (span.to - span.from) * factor));
  const part = span.to === span.from ? 0.5 : (around - span.from) / (span.to - span.from);
  return shifted({ from: around - part * wide, to: around - part * wide + wide }, 0, wall);
}

/** Moves the stretch, as far as the run goes. */
export function shifted({ from, to }: Span, by: number, wall: number): Span {
  const wide = to - from;
  const start = Math.max(0, Math.min(wall - wide, from + by));
  return { from: start, to: start + wide };
}

const STEPS = [1, 2, 5];
/** From a minute on, what is round on a clock. */
const MINUTES = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200].map((minutes) => minutes * 60_000);

/** Round instants, about `apart` pixels from one another. */
export function ticks({ from, to }: Span, width: number, apart = 90): number[] {
  if (to <= from || width <= 0) return [];
  const wanted = ((to - from) / width) * apart;
  const power = 10 ** Math.floor(Math.log10(wanted));
  const round = (STEPS.find((s) => s * power >= wanted) ?? 10) * power;
  const every = wanted > 30_000 ? (MINUTES.find((m) => m >= wanted) ?? round) : round;
  const first = Math.ceil(from / every - 1e-9) || 0;
  const found: number[] = [];
  for (let i = first; i * every <= to + 1e-9; i++) found.push(i * every);
  return found;
}

export type BarKind = "queue" | "attempt" | "backoff";

export interface Bar {
  kind: BarKind;
  from: number;
  to: number;
  /** Of an attempt: how it ended. */
  outcome?: "succeeded" | "failed" | "timeout" | "running" | "cancelled";
  cached?: boolean;
  number?: number;
  tool?: string;
  error?: string;
}

/** What happened to a step, first to last: the wait for a place, its attempts and the pauses between them. */
export function barsOf(step: TimelineStep, wall: number): Bar[] {
  const bars: Bar[] = [];
  const first = step.attempts[0];
  if (step.ready_ms !== null) {
    const until = first?.start_ms ?? step.finished_ms ?? wall;
    if (until > step.ready_ms) bars.push({ kind: "queue", from: step.ready_ms, to: until });
  }
  for (const attempt of step.attempts) {
    const start = attempt.start_ms ?? 0;
    const pause = attempt.pause_ms ?? 0;
    if (pause > 0) bars.push({ kind: "backoff", from: start - pause, to: start });
    const ended = attempt.end_ms ?? step.finished_ms;
    const failed = attempt.error !== "";
    const outcome = failed
      ? /time(d )?\s?out/i.test(attempt.error)
        ? "timeout"
        : "failed"
      : attempt.given_up
        ? "cancelled"
        : attempt.end_ms !== null
          ? "succeeded"
          : "running";
    const { cached, number, tool, error } = attempt;
    bars.push({ kind: "attempt", from: start, to: ended ?? wall, outcome, cached, number, tool, error });
  }
  return bars;
}

/** The bar at an instant; the last one that covers it, since a mark may lie on a wait. */
export function barAt(bars: readonly Bar[], time: number, reach: number): Bar | null {
  return bars.findLast((b) => b.from - reach <= time && time <= b.to + reach) ?? null;
}

/** In the order in which the steps began; those that never did come last, in plan order. */
export function inOrder(steps: readonly TimelineStep[]): TimelineStep[] {
  const begin = (s: TimelineStep) => s.ready_ms ?? s.attempts[0]?.start_ms ?? Infinity;
  return steps
    .map((step, i) => ({ step, i, at: begin(step) }))
    .sort((a, b) => (a.at === b.at ? a.i - b.i : a.at - b.at))
    .map(({ step }) => step);
}

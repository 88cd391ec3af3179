/** The track of a run: where its events lie in number and time, and what happened where. */
import type { Mark } from "../../ipc/client";

export type MarkKind = "failure" | "retry" | "fallback";

export interface Bucket {
  failure: number;
  retry: number;
  fallback: number;
}

/** How many marks of each kind fall on each of `count` places; the first event at the left end, the last at the right. */
export function bucketed(marks: Record<MarkKind, readonly number[]>, lastSeq: number, count: number): Bucket[] {
  const buckets = Array.from({ length: Math.max(0, count) }, (): Bucket => ({ failure: 0, retry: 0, fallback: 0 }));
  if (count <= 0) return buckets;
  for (const kind of ["failure", "retry", "fallback"] as const)
    for (const seq of marks[kind]) buckets[placeOf(seq, lastSeq, count)]![kind]++;
  return buckets;
}

export function placeOf(seq: number, lastSeq: number, count: number): number {
  if (lastSeq <= 1) return count - 1;
  const at = ((seq - 1) / (lastSeq - 1)) * (count - 1);
  return Math.min(count - 1, Math.max(0, Math.round(at)));
}

/** Index of the last mark at or before `value` of a rising series, or −1. */
function lastUpTo(marks: readonly Mark[], value: number, of: (mark: Mark) => number): number {
  let [low, high] = [0, marks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(marks[middle]!) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function between(
  marks: readonly Mark[],
  value: number,
  from: (mark: Mark) => number,
  to: (mark: Mark) => number,
): number {
  const at = lastUpTo(marks, value, from);
  const [before, after] = [marks[Math.max(0, at)], marks[at + 1]];
  if (!before) return 0;
  if (at < 0 || !after) return to(before);
  const wide = from(after) - from(before);
  return wide === 0 ? to(before) : to(before) + ((value - from(before)) / wide) * (to(after) - to(before));
}

const seqOf = (mark: Mark) => mark.seq;
const timeOf = (mark: Mark) => mark.after_ms;

/** Milliseconds after the start at which the event happened; between two marks, as if events were evenly apart. */
export const timeAt = (marks: readonly Mark[], seq: number): number => between(marks, seq, seqOf, timeOf);

/** The last event that had happened by then. */
export const eventAt = (marks: readonly Mark[], ms: number): number => Math.floor(between(marks, ms, timeOf, seqOf));

import { expect, test } from "vitest";
import { bucketed, eventAt, placeOf, timeAt } from "./marks";

const none = { failure: [], retry: [], fallback: [] };

test("every mark of a dense run falls on a place, and none is lost", () => {
  const failure = Array.from({ length: 30_000 }, (_, i) => 1 + i * 3);
  const buckets = bucketed({ ...none, failure }, 100_000, 400);
  expect(buckets).toHaveLength(400);
  expect(buckets.reduce((sum, b) => sum + b.failure, 0)).toBe(30_000);
  expect(buckets[0]!.failure).toBeGreaterThan(0);
  expect(buckets[399]!.failure).toBe(0);
});

test("the first event stands at the left end and the last at the right", () => {
  expect(placeOf(1, 412, 100)).toBe(0);
  expect(placeOf(412, 412, 100)).toBe(99);
  expect(placeOf(1, 1, 100)).toBe(99);
  expect(bucketed({ ...none, retry: [412] }, 412, 100)[99]!.retry).toBe(1);
  expect(bucketed(none, 412, 0)).toEqual([]);
});

test("time and number lead to one another, also between marks that were left out", () => {
  const marks = [
    { seq: 1, after_ms: 0, failure: false },
    { seq: 11, after_ms: 100, failure: false },
    { seq: 12, after_ms: 100, failure: true },
    { seq: 22, after_ms: 1100, failure: false },
  ];
  expect(timeAt(marks, 1)).toBe(0);
  expect(timeAt(marks, 6)).toBe(50);
  expect(timeAt(marks, 22)).toBe(1100);
  expect(eventAt(marks, 0)).toBe(1);
  expect(eventAt(marks, 50)).toBe(6);
  expect(eventAt(marks, 100)).toBe(12);
  expect(eventAt(marks, 99_999)).toBe(22);
  expect(eventAt([], 5)).toBe(0);
});

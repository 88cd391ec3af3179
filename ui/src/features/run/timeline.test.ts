import { expect, test } from "vitest";
import type { TimelineStep } from "../../ipc/client";
import { barAt, barsOf, inOrder, shifted, ticks, zoomed } from "./timeline";

const attempt = (start_ms: number, end_ms: number | null, more: Partial<TimelineStep["attempts"][number]> = {}) => ({
  number: 1,
  tool: "web_fetch",
  start_ms,
  end_ms,
  pause_ms: 0,
  cached: false,
  given_up: false,
  error: "",
  ...more,
});
const step = (more: Partial<TimelineStep>): TimelineStep => ({
  step: "step-1",
  status: "succeeded",
  ready_ms: 0,
  queue_ms: 0,
  work_ms: 0,
  finished_ms: null,
  attempts: [],
  on_critical_path: false,
  ...more,
});
const show = (s: TimelineStep, wall = 100) =>
  barsOf(s, wall)
    .map((b) => `${b.kind}${b.outcome ? ` ${b.outcome}` : ""} ${b.from}–${b.to}`)
    .join(", ");

test("a step is drawn as its wait, its attempts and the pauses between them (W-05)", () => {
  const tried = step({
    ready_ms: 5,
    attempts: [attempt(10, 20, { error: "503" }), attempt(30, 60, { number: 2, pause_ms: 10 })],
  });
  expect(show(tried)).toBe("queue 5–10, attempt failed 10–20, backoff 20–30, attempt succeeded 30–60");
});

test("what was cancelled ends where it was given up, whatever became of its step", () => {
  const again = step({ attempts: [attempt(10, 30, { given_up: true }), attempt(50, 60, { number: 2 })] });
  expect(show({ ...again, ready_ms: null })).toBe("attempt cancelled 10–30, attempt succeeded 50–60");
});

test("what goes on reaches to now, and a wait without an attempt does too", () => {
  expect(show(step({ status: "running", ready_ms: 10, attempts: [attempt(10, null)] }))).toBe("attempt running 10–100");
  expect(show(step({ status: "ready", ready_ms: 40 }))).toBe("queue 40–100");
  expect(show(step({ status: "pending", ready_ms: null }))).toBe("");
});

test("a timeout is told from another failure", () => {
  expect(show(step({ attempts: [attempt(0, 30, { error: "web_fetch timed out after 30 ms" })] }))).toBe(
    "attempt timeout 0–30",
  );
});

test("the pointer finds the bar under it", () => {
  const bars = barsOf(step({ ready_ms: 0, attempts: [attempt(10, 20)] }), 100);
  expect(barAt(bars, 5, 0)?.kind).toBe("queue");
  expect(barAt(bars, 15, 0)?.kind).toBe("attempt");
  expect(barAt(bars, 30, 1)).toBeNull();
  expect(barAt(bars, 20.5, 1)?.kind).toBe("attempt");
});

test("steps stand in the order in which they began", () => {
  const steps = [
    step({ step: "c", ready_ms: null }),
    step({ step: "b", ready_ms: 9 }),
    step({ step: "a", ready_ms: 2 }),
  ];
  expect(inOrder(steps).map((s) => s.step)).toEqual(["a", "b", "c"]);
});

test("zooming keeps the instant under the pointer and stays within the run", () => {
  const near = zoomed({ from: 0, to: 100 }, 25, 0.5, 100);
  expect(near).toEqual({ from: 12.5, to: 62.5 });
  expect((25 - near.from) / (near.to - near.from)).toBeCloseTo(0.25);
  expect(zoomed(near, 25, 1000, 100)).toEqual({ from: 0, to: 100 });
  expect(shifted({ from: 10, to: 20 }, 500, 100)).toEqual({ from: 90, to: 100 });
  expect(shifted({ from: 10, to: 20 }, -500, 100)).toEqual({ from: 0, to: 10 });
});

test("ticks are round and not too close", () => {
  expect(ticks({ from: 0, to: 1000 }, 900)).toEqual([0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]);
  expect(ticks({ from: 130, to: 470 }, 300)).toEqual([200, 400]);
  expect(ticks({ from: 0, to: 3_600_000 }, 400).map((t) => t / 60_000)).toEqual([0, 15, 30, 45, 60]);
  expect(ticks({ from: 5, to: 5 }, 300)).toEqual([]);
});

import { expect, test } from "vitest";
import type { RunState, StepState } from "../ipc/client";
import { steeringBlocked, stepBlocked, type StepAction } from "./running";

const run = (steps: Record<string, string>, more: Partial<RunState>) => {
  const states = Object.entries(steps).map(([id, status]) => [id, { status } as StepState]);
  const state = { outcome: null, paused: null, steps: Object.fromEntries(states), ...more } as RunState;
  return { run: 1, state };
};

test("what can be done to a step follows its status and the run, and the reason is told (O-07)", () => {
  const steps = { a: "running", b: "failed", c: "succeeded", d: "pending" };
  const paused = run(steps, { paused: { kind: "by_hand" } });
  const going = run(steps, {});
  const free = (action: StepAction, target: typeof paused) =>
    Object.keys(steps).filter((step) => stepBlocked(action, target, step) === null);
  expect(free("run_to", paused)).toEqual(["a", "d"]);
  expect(free("run_to", going)).toEqual([]);
  expect(free("edit_result", paused)).toEqual(["a", "b", "c", "d"]);
  expect(free("skip", going)).toEqual(["d"]);
  expect(free("cancel", going)).toEqual(["a"]);
  expect(free("retry", going)).toEqual(["b"]);
  expect(stepBlocked("run_to", going, "d")).toBe("Pause the run first");
  expect(stepBlocked("skip", null, "d")).toBe("There is no run of it");
  expect(stepBlocked("skip", paused, null)).toBe("Choose a step first");
  expect(stepBlocked("retry", run(steps, { outcome: "partial" }), "b")).toContain("The run is over");
});

test("a run is steered only while it goes on", () => {
  const going = run({}, {});
  expect([steeringBlocked("paused", going), steeringBlocked("going", going)]).toEqual(["Pause the run first", null]);
  expect(steeringBlocked("under_way", run({}, { outcome: "failed" }))).toBe("The run is over");
  expect(steeringBlocked("going", run({}, { paused: { kind: "start" } }))).toBe("It is paused");
});

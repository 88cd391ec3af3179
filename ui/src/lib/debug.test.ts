import { expect, test } from "vitest";
import type { BreakOn, Breakpoint } from "../ipc/client";
import {
  at,
  breakpointOn,
  breakpointWords,
  faultWords,
  optionsOf,
  readWatch,
  toggled,
  useDebug,
  withBreakpoint,
} from "./debug";

test("F9 sets and takes away one breakpoint, and leaves the others with their numbers (O-07)", () => {
  const error: Breakpoint = { id: 4, on: { kind: "error", class: null }, enabled: true };
  const set = toggled([error], "step-2");
  expect(set.map((b) => b.id)).toEqual([4, 5]);
  expect(breakpointOn(set, "step-2")?.enabled).toBe(true);
  expect(toggled(set, "step-2")).toEqual([error]);
});

test("a breakpoint behind a step is not the one that F9 toggles", () => {
  const behind = withBreakpoint([], { kind: "step", step: "a", when: "after" });
  expect(breakpointOn(behind, "a")).toBeUndefined();
  expect(toggled(behind, "a")).toHaveLength(2);
});

test("every kind of breakpoint has words", () => {
  const all: BreakOn[] = [
    { kind: "step", step: "step-1", when: "before" },
    { kind: "tool", tool: "web_fetch", when: "after" },
    { kind: "error", class: "rate_limited" },
    { kind: "guard", rule: "" },
    { kind: "cost", above: 0.5 },
    { kind: "duration", above_ms: 2000 },
    { kind: "condition", step: "", when: "after", path: "/items/0", operator: "equals", value: 3 },
  ];
  expect(all.map(breakpointWords)).toEqual([
    "before step-1",
    "after any call of web_fetch",
    "a failure: rate limited",
    "a drop by the guard",
    "cost above $0.5",
    "an attempt longer than 2000 ms",
    "the result of any step: /items/0 = 3",
  ]);
});

test("a JSON Pointer leads through objects and lists, with its escapes", () => {
  const value = { items: [{ id: 7 }], "a/b": { "~": true }, none: null };
  expect(at(value, "")).toBe(value);
  expect(at(value, "/items/0/id")).toBe(7);
  expect(at(value, "/a~1b/~0")).toBe(true);
  expect(at(value, "/none")).toBeNull();
  expect(at(value, "/none/more")).toBeUndefined();
  expect(at(value, "/items/9")).toBeUndefined();
  expect(at(undefined, "/x")).toBeUndefined();
});

test("a watch is a step and a path into its result", () => {
  expect(readWatch("step-1 /items/0")).toEqual({ step: "step-1", path: "/items/0" });
  expect(readWatch("step-1/items")).toEqual({ step: "step-1", path: "/items" });
  expect(readWatch(" step-1 ")).toEqual({ step: "step-1", path: "" });
  expect(readWatch("")).toBeNull();
  expect(readWatch("a b c")).toBeNull();
});

test("a fault that is off stays and does not strike (O-12)", () => {
  const fault = { kind: "error", class: "transient" } as const;
  const rule = { tool: "web_fetch", step: "", attempts: 2, probability: 0.5, fault };
  useDebug.setState({
    faults: [
      { ...rule, off: true },
      { ...rule, step: "a", off: false },
    ],
  });
  expect(optionsOf(false).faults).toEqual([{ ...rule, step: "a" }]);
  expect(useDebug.getState().faults).toHaveLength(2);
  expect(faultWords(rule)).toBe("web_fetch fails (transient), the first 2 attempts, 50 % of the time");
  useDebug.setState({ faults: [] });
});

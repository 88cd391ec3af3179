import { expect, test } from "vitest";
import type { Planning, RunState, StepState } from "../ipc/client";
import { fatesOf, keyArgument, looksOf } from "./steps";

const step = (more: Partial<StepState>) =>
  ({
    status: "pending",
    attempts: [],
    fallback: null,
    edited_arguments: null,
    edited_result: false,
    ...more,
  }) as StepState;

test("a call that went on is followed to its step, a dropped one has none (R-04)", () => {
  const call = (tool: string, outcome: string) => ({ call: { tool, arguments: {} }, outcome });
  const planning = {
    guard: { calls: [call("grep", "dropped"), call("search", "kept"), call("jira", "added")] },
    plan: {
      steps: [
        { id: "s1", tool: "search" },
        { id: "s2", tool: "jira" },
      ],
    },
  } as unknown as Planning;
  const state = (a: StepState["status"]) =>
    ({ steps: { s1: step({ status: a }), s2: step({}) } }) as unknown as RunState;
  expect([...fatesOf(planning, state("running"))]).toEqual([
    [1, { step: "s1", status: "running" }],
    [2, { step: "s2", status: "pending" }],
  ]);
  expect(fatesOf(planning, state("succeeded")).get(1)?.status).toBe("succeeded");
  expect(fatesOf(planning, null).size).toBe(0);
});

test("the argument that tells a step from others is the first text, else a reference", () => {
  expect(keyArgument({ top_k: 5, query: "retry policy" })).toBe("query: retry policy");
  expect(keyArgument({ top_k: 5, from: { $from: "s1", path: "/v" } })).toBe("from: ← s1/v");
  expect(keyArgument({ n: [1, 2] })).toBe("n: [1,2]");
  expect(keyArgument({})).toBe("");
  expect(keyArgument({ query: "a".repeat(60) })).toHaveLength(40);
});

test("a card shows other arguments from the instant on at which they were given", () => {
  const look = (more: Partial<StepState>) =>
    looksOf({ origin: null, steps: { a: step(more) } } as unknown as RunState).a;
  expect(look({})?.argument).toBeNull();
  expect(look({ edited_arguments: { query: "other" } })?.argument).toBe("query: other");
});

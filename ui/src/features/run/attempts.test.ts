import { expect, test } from "vitest";
import type { Attempt } from "../../ipc/client";
import { attemptWord } from "./Attempts";

test("an attempt without an answer is running only while its step is", () => {
  const open = { outcome: null, unknown: false } as Attempt;
  expect(attemptWord(open, "running")).toBe("running");
  expect(attemptWord(open, "cancelled")).toBe("cancelled");
  expect(attemptWord(open, "succeeded")).toBe("no answer");
  expect(attemptWord({ ...open, unknown: true }, "waiting")).toBe("outcome unknown");
  expect(attemptWord({ ...open, outcome: { kind: "failed" } } as Attempt, "cancelled")).toBe("failed");
});

import { expect, test } from "vitest";
import type { ToolAt } from "../../ipc/client";
import { usedWords } from "./toolWords";

test("a tool's part in a run is said for the instant (R-04)", () => {
  const tool = { status: null, steps: 0, step: "", found: false, activated: false } as ToolAt;
  expect(usedWords(tool)).toBe("Not used");
  expect(usedWords({ ...tool, found: true })).toBe("Found");
  expect(usedWords({ ...tool, status: "pending", steps: 1, step: "step-2" })).toBe("Planned step-2");
  expect(usedWords({ ...tool, status: "running", steps: 1, step: "step-2", found: true })).toBe(
    "Running step-2, found",
  );
  const late = { ...tool, status: "succeeded", steps: 3, step: "a", found: true, activated: true } as const;
  expect(usedWords(late)).toBe("Succeeded 3 steps, activated");
});

import { expect, test } from "vitest";
import { workAmount, workTitle } from "./work";

test("long work says what it does and how far it is, in its own unit", () => {
  const work = {
    id: 1,
    kind: "import",
    label: "/home/you/deep/run-12.jsonl",
    done: 1_200_000,
    total: 34_000_000,
  } as const;
  expect([workTitle(work), workAmount(work)]).toEqual(["Importing run-12.jsonl", "1.2 MB of 34 MB"]);
  expect(workAmount({ ...work, kind: "export", done: 500, total: 100_000 })).toBe("500 of 100,000 events");
  expect(workAmount({ ...work, kind: "plan", total: 0 })).toBe("");
});

import { expect, test } from "vitest";
import type { Value } from "../../ipc/client";
import { readAnswer, sourcesOf } from "./answer";

test("an answer is read with its sentences, their results and what is not borne out (O-09)", () => {
  const view = readAnswer({
    answer: "Jobs are tried five times. They wait.",
    sentences: [
      {
        text: "Jobs are tried five times.",
        result: 2,
        source: "docs/retries.md",
        citations: [
          { result: 2, source: "docs/retries.md", quote: "five times" },
          { result: 1, source: null, quote: null },
        ],
        grade: "supported",
        confidence: 0.9,
        reason: "it stands there",
      },
      {
        text: "They wait.",
        result: null,
        citations: [],
        grade: "unsupported",
        confidence: 0.2,
        reason: "nothing says so",
      },
    ],
    unsupported: [],
    coverage: 0.75,
    support: 0.5,
    method: "model",
  });
  expect(view?.answer).toContain("five times");
  expect(view?.statements.map((s) => [s.grade, s.rests.map((r) => r.result)])).toEqual([
    ["supported", [2, 1]],
    ["unsupported", []],
  ]);
  expect(sourcesOf(view!.statements)).toEqual([
    { result: 1, sources: [] },
    { result: 2, sources: ["docs/retries.md"] },
  ]);
  expect([view?.coverage, view?.support, view?.method]).toEqual([0.75, 0.5, "model"]);
});

test("judgements are read: a verdict with reasons, claims with evidence", () => {
  const valid = readAnswer({
    verdict: "unsupported",
    reasons: ["x is not there"],
    missing: ["timeouts"],
    sentences: [],
  });
  expect([valid?.answer, valid?.verdict, valid?.missing]).toEqual([undefined, "unsupported", ["timeouts"]]);
  const checked = readAnswer({
    hallucinated: true,
    supported: 0,
    unsupported: 0,
    contradicted: 1,
    claims: [{ text: "Two times.", grade: "contradicted", evidence: "five times", result: 1, source: "a.md" }],
  });
  expect(checked?.verdict).toBe("hallucinated");
  expect(checked?.statements[0]?.rests).toEqual([{ result: 1, source: "a.md", quote: "five times" }]);
});

test("other results are no answers", () => {
  const others: Value[] = [null, "text", 3, [1], {}, { answer: "yes" }, { items: [] }, { verdict: "x" }];
  for (const data of others) expect(readAnswer(data)).toBeNull();
  expect(readAnswer({ answer: null, sentences: [] })?.answer).toBeNull();
});

import { expect, test } from "vitest";
import type { BulkPreview, Change } from "../../ipc/client";
import { noPatch } from "../../lib/edits";
import { FIELDS, patchOf, sentence } from "./bulk";

const field = (id: string) => FIELDS.find((f) => f.id === id)!;
const step = (name: string, before: string, after: string): Change => ({ subject: "step", name, before, after });
const preview = (selected: number, changed: number, changes: Change[] = []): BulkPreview => ({
  selected,
  changed,
  changes,
  examples: [],
  problems: [],
});

test("a field and a text make a patch that sets that field alone", () => {
  expect(patchOf(field("classification"), "SAFE")).toEqual({ ...noPatch, classification: "SAFE" });
  expect(patchOf(field("add_tags"), " docs, , core ")).toEqual({ ...noPatch, add_tags: ["docs", "core"] });
  expect(patchOf(field("timeout_ms"), "0")).toEqual({ ...noPatch, timeout_ms: 0 });
  expect(patchOf(field("critical"), "no")).toEqual({ ...noPatch, critical: false });
  expect(patchOf(field("accept_suggestions"), "")).toEqual({ ...noPatch, accept_suggestions: true });
  expect(patchOf(field("group"), "")).toEqual({ ...noPatch, group: "" });
});

test("what says nothing, or no number, makes no patch", () => {
  for (const [id, text] of [
    ["classification", ""],
    ["add_tags", " , "],
    ["timeout_ms", "soon"],
    ["timeout_ms", "99999999999"],
    ["add_guidance", "  "],
  ] as const)
    expect(patchOf(field(id), text)).toBeNull();
});

test("the preview is a sentence about the tools and the open plan", () => {
  expect(sentence(preview(214, 214, [step("step-2", "web_fetch url", "")]))).toBe(
    "Changes 214 tools; the open plan loses step-2",
  );
  expect(sentence(preview(214, 3, [step("step-2", "a", ""), step("step-4", "", "b"), step("step-1", "a", "b")]))).toBe(
    "Changes 3 of 214 tools; the open plan loses step-2 and gains step-4 and alters step-1",
  );
  const many = ["1", "2", "3", "4"].map((n) => step(`step-${n}`, "a", ""));
  expect(sentence(preview(9, 9, many))).toBe("Changes 9 tools; the open plan loses 4 steps");
  expect(sentence(preview(1, 1, [{ subject: "verdict", name: "a", before: "x", after: "y" }]))).toBe(
    "Changes 1 tool; the open plan keeps its steps, with 1 other verdict",
  );
  expect(sentence(preview(5, 0))).toBe("Changes nothing: the tools are like this already");
});

import { expect, test } from "vitest";
import { changesOf } from "./patch";

test("a merge patch is told field by field, and only where it changes something", () => {
  const before = { name: "a", parameters: { required: ["x", "y"], properties: { x: {} } }, timeout_ms: 5 };
  expect(changesOf(before, { name: "a", parameters: { required: ["x"] }, timeout_ms: null })).toEqual([
    { field: "parameters.required", before: '["x","y"]', after: '["x"]' },
    { field: "timeout_ms", before: "5", after: "" },
  ]);
  expect(changesOf(before, { title: "A" })).toEqual([{ field: "title", before: "", after: "A" }]);
});

import { expect, test } from "vitest";
import type { Value } from "../ipc/client";
import { readJson, readJsonObject, sameJson } from "./json";
import { drafts, replacement } from "./jsonDraft";

const refused = (text: string) => {
  const reading = readJsonObject(text);
  return reading.ok ? "accepted" : reading.message;
};

test("what a double cannot hold is refused instead of rounded", () => {
  expect(refused('{"id": 12345678901234567890}')).toContain("12345678901234567890");
  expect(refused('{"x": 1e999}')).toContain("1e999");
  expect(refused('{"id": 9007199254740991, "x": -0.25, "y": 1e3}')).toBe("accepted");
});

test("digits inside a string are no number", () => {
  expect(refused('{"id": "12345678901234567890", "q": "\\"1e999"}')).toBe("accepted");
});

test("a key that occurs twice is refused instead of half lost", () => {
  expect(refused('{"a": 1, "b": {"a": 2}, "a": 3}')).toBe('The key "a" occurs twice');
  expect(refused('{"a": [{"a": 1}, {"a": 2}], "b": {"a": 3}}')).toBe("accepted");
});

test("only an object is taken where an object belongs", () => {
  expect(refused("[1]")).toContain("object");
  expect(refused("null")).toContain("object");
  expect(readJson("[1]").ok).toBe(true);
});

test("an invalid text is never replaced by a value from outside", () => {
  for (const text of ['{"type": "object",', "", '{"a": 1, "a": 2}', "nonsense"]) {
    expect(replacement(text, { type: "object" })).toBeNull();
  }
});

test("a text that says the value keeps its layout; another value replaces it", () => {
  const value: Value = { type: "object", required: ["q"] };
  expect(replacement('{ "required":["q"],"type":"object" }', value)).toBeNull();
  const text = replacement('{"type": "string"}', value);
  expect(JSON.parse(text!)).toEqual(value);
});

test("invalid text waits under its name until the text is valid", () => {
  drafts.keep("jira.parameters", '{"type":', false);
  expect(drafts.of("jira.parameters")).toBe('{"type":');
  expect(drafts.of("other.parameters")).toBeUndefined();
  drafts.keep("jira.parameters", '{"type": "object"}', true);
  expect(drafts.of("jira.parameters")).toBeUndefined();
});

test("equality looks at values, not at the order of keys", () => {
  expect(sameJson({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 })).toBe(true);
  expect(sameJson([1, 2], [2, 1])).toBe(false);
  expect(sameJson({ a: undefined }, { b: undefined })).toBe(false);
  expect(sameJson([], {})).toBe(false);
  expect(sameJson(1, "1")).toBe(false);
});

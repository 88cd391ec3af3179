import { expect, test } from "vitest";
import { differing } from "./textDiff";

const shown = (before: string, after: string) => differing(before, after).map((p) => p.join("|"));

test("only the part that differs is marked", () => {
  expect(shown("Finds exact words.", "Finds whole words.")).toEqual(["Finds |exact| words.", "Finds |whole| words."]);
  expect(shown('["a"]', '["a","b"]')).toEqual(['["a"||]', '["a"|,"b"|]']);
  expect(shown("same", "same")).toEqual(["same||", "same||"]);
});

test("repeated text does not overlap with itself", () => {
  expect(shown("aa", "aaa")).toEqual(["aa||", "aa|a|"]);
});

test("a character of two code units is never cut", () => {
  const [[start, middle]] = differing("x😀y", "x😁y");
  expect([start, middle]).toEqual(["x", "😀"]);
});

test("what stays the same in a long text is shortened", () => {
  const long = "x".repeat(500);
  expect(differing(`${long}a`, `${long}b`)[0][0]).toHaveLength(61);
});

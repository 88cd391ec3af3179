import { expect, test } from "vitest";
import { countOf, everything, extended, isChosen, nothing, only, stretch, these, toggled } from "./selection";

const names = (chosen: ReturnType<typeof only>) => (chosen.kind === "all" ? "all" : [...chosen.names].join(" "));

test("a row is taken in and out again", () => {
  const both = toggled(only("a"), "b");
  expect(names(both)).toBe("a b");
  expect(names(toggled(both, "a"))).toBe("b");
  expect(countOf(both, 9)).toBe(2);
});

test("all is the filter itself, until one row is taken out of it", () => {
  expect(isChosen(everything, "anything")).toBe(true);
  expect(countOf(everything, 20_000)).toBe(20_000);
  expect(names(toggled(everything, "b", ["a", "b", "c"]))).toBe("a c");
});

test("a stretch goes either way and joins what was chosen", () => {
  expect(stretch(7, 3)).toEqual([3, 7]);
  expect(names(extended(these(["x"]), ["a", "b"]))).toBe("x a b");
  expect(extended(everything, ["a"])).toBe(everything);
  expect(isChosen(nothing, "a")).toBe(false);
});

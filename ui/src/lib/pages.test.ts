import { expect, test } from "vitest";
import { pagesOf } from "./pages";

test("the pages that rows lie on", () => {
  expect(pagesOf(0, 40)).toEqual([0]);
  expect(pagesOf(90, 130)).toEqual([0, 1]);
  expect(pagesOf(19_980, 19_999)).toEqual([199]);
  expect(pagesOf(-1, -1)).toEqual([0]);
});

import { expect, test } from "vitest";
import { fitting, tableWidth } from "./tracks";

const columns = [{ width: "30px" }, { width: "minmax(160px, 1fr)" }, { width: "100px" }, { width: "50px" }];

test("columns are shown as far as they have room, and never fewer than two", () => {
  expect(fitting(columns, 340)).toHaveLength(4);
  expect(fitting(columns, 339)).toHaveLength(3);
  expect(fitting(columns, 289)).toHaveLength(2);
  expect(fitting(columns, 10)).toHaveLength(2);
  expect(fitting(columns, Infinity)).toEqual(columns);
  expect(tableWidth(columns)).toBe("max(100%, 340px)");
});

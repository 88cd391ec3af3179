import { expect, test } from "vitest";
import { elapsed } from "./format";

test("an instant of a run is short and has no minute of 60 seconds", () => {
  expect([12, 3214, 59_990, 60_000, 119_980, 8_383_240].map(elapsed)).toEqual([
    "12 ms",
    "3.21 s",
    "59.99 s",
    "1:00.0",
    "2:00.0",
    "139:43.2",
  ]);
});

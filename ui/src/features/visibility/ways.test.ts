import { expect, test } from "vitest";
import { EXECUTION_STATES } from "../../ipc/client";
import { waysFrom } from "./ways";

const open = (...args: Parameters<typeof waysFrom>) =>
  waysFrom(...args)
    .filter((w) => w.open)
    .map((w) => `${w.from}>${w.to}`);

test("only ways from the present state are open, and an intent must be there to be selected", () => {
  expect(open("REQUEST", true)).toEqual(["REQUEST>REASONING"]);
  expect(open("REASONING", true)).toEqual(["REASONING>ACTION", "REASONING>REQUEST"]);
  expect(open("REASONING", false)).toEqual(["REASONING>REQUEST"]);
  expect(open("ACTION", false)).toEqual(["ACTION>REASONING", "ACTION>REQUEST"]);
  for (const state of EXECUTION_STATES) expect(waysFrom(state, true)).toHaveLength(5);
});

import { expect, test } from "vitest";
import { client, type RunState } from "../ipc/client";
import { liveQuery, queryClient, runAdvanced } from "./queries";

const seqOf = (run: number) => queryClient.getQueryData<RunState>(["live", run])?.seq;

test("an answer that an event has overtaken does not take the run back", async () => {
  const last = (await client.openRun(2)).state;
  const asked = queryClient.fetchQuery(liveQuery(2));
  runAdvanced({ run: 2, state: { ...last, seq: last.seq + 5 } });
  await asked;
  expect(seqOf(2)).toBe(last.seq + 5);
});

test("a late event does not take the run back", () => {
  const newest = queryClient.getQueryData<RunState>(["live", 2])!;
  runAdvanced({ run: 2, state: { ...newest, seq: 1 } });
  expect(seqOf(2)).toBe(newest.seq);
});

import { expect, test } from "vitest";
import { client, type Settings, type Value } from "../../ipc/client";
import { misfit } from "./shape";

const { settings } = await client.info();
const altered = (change: (s: Record<string, never> & Settings) => void): string | null => {
  const copy = structuredClone(settings) as Record<string, never> & Settings;
  change(copy);
  return misfit(copy as unknown as Value, settings);
};

test("complete settings fit, whatever their values", () => {
  expect(altered(() => {})).toBeNull();
  expect(altered((s) => (s.policy.allowed = ["a"]))).toBeNull();
  expect(altered((s) => (s.modes = []))).toBeNull();
});

test("a missing, misspelt or wrong part is named by its path", () => {
  expect(altered((s) => delete (s.guard as Partial<Settings["guard"]>).projects)).toBe("guard.projects is missing");
  expect(altered((s) => Object.assign(s.guard, { porjects: [] }))).toBe("guard.porjects is no setting");
  expect(altered((s) => Object.assign(s, { guard: 5 }))).toBe("guard must be an object");
  expect(altered((s) => Object.assign(s.run, { parallel_limit: "5" }))).toBe("run.parallel_limit must be a number");
  expect(altered((s) => Object.assign(s, { modes: [null] }))).toBe("modes must be a list of objects");
  expect(altered((s) => Object.assign(s.policy, { denied: null }))).toBe("policy.denied must be a list of texts");
});

import { expect, test } from "vitest";
import { client } from "../../ipc/client";
import { mentions } from "./Fields";
import { groupOf, GROUPS, valueAt, withValue } from "./paths";

const { settings } = await client.info();

test("a setting is read and written by its path, and nothing else is touched", () => {
  const next = withValue(settings, "discovery.hints.top_k", 9);
  expect(valueAt(next, "discovery.hints.top_k")).toBe(9);
  expect(valueAt(settings, "discovery.hints.top_k")).toBe(5);
  expect(next.guard).toBe(settings.guard);
  expect(next.discovery.directory).toBe(settings.discovery.directory);
});

test("every setting has a group, so that a verdict's link leads somewhere", () => {
  const groups = Object.keys(settings).map((key) => [key, groupOf(key)] as const);
  expect(groups.filter(([, group]) => group === "json")).toEqual([]);
  expect(groupOf("policy.denied")).toBe("policy");
  expect(groupOf("classification")).toBe("json");
  for (const path of GROUPS.flatMap((g) => g.paths)) expect(valueAt(settings, path), path).not.toBeUndefined();
});

test("a refusal belongs to the field that it names", () => {
  const message = "discovery.hints.top_k is 50";
  expect(mentions(message, "discovery.hints.top_k")).toBe(true);
  expect(mentions(message, "discovery.hints")).toBe(false);
  expect(mentions("the discovery.hints.top_k.x", "discovery.hints.top_k")).toBe(false);
  expect(mentions("policy.denied is odd.", "policy.denied")).toBe(true);
});

/** What becomes of text in a JSON field: when a value may replace it, and where invalid text waits. */
import type { Value } from "../ipc/client";
import { json } from "./format";
import { readJsonObject, sameJson } from "./json";

/**
 * The text that should stand in the field for `value`, or null to leave it. Invalid text is the person's own unfinished
 * work, and text that already says `value` keeps its layout and its order of keys.
 */
export function replacement(text: string, value: Value): string | null {
  const reading = readJsonObject(text);
  return reading.ok && !sameJson(reading.value, value) ? json(value) : null;
}

const waiting = new Map<string, string>();

/** Invalid texts by the name of their field. They outlive the field, so looking at another tool loses nothing. */
export const drafts = {
  of: (name: string): string | undefined => waiting.get(name),
  keep(name: string, text: string, valid: boolean) {
    if (valid) waiting.delete(name);
    else waiting.set(name, text);
  },
};

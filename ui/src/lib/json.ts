/**
 * Reads JSON that a person typed. What would not survive the way into a JavaScript value and back is refused instead of
 * changed silently: numbers beyond a double's precision and keys that occur twice.
 */
import type { Value } from "../ipc/client";

export type JsonReading = { ok: true; value: Value } | { ok: false; message: string };

export function readJson(text: string): JsonReading {
  let value: Value;
  try {
    value = JSON.parse(text) as Value;
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
  const loss = lossIn(text);
  return loss === null ? { ok: true, value } : { ok: false, message: loss };
}

/** Like `readJson`, for a place that only holds an object. */
export function readJsonObject(text: string): JsonReading {
  const reading = readJson(text);
  if (!reading.ok) return reading;
  const isObject = typeof reading.value === "object" && reading.value !== null && !Array.isArray(reading.value);
  return isObject ? reading : { ok: false, message: "This must be a JSON object: { … }" };
}

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[{}[\],:]/g;

/** The first thing in valid JSON text that a JavaScript value cannot hold, in a sentence. */
function lossIn(text: string): string | null {
  const open: (Set<string> | null)[] = [];
  let key: string | null = null;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(null);
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") {
      const keys = open.at(-1);
      if (key !== null && keys?.has(key)) return `The key ${JSON.stringify(key)} occurs twice`;
      if (key !== null) keys?.add(key);
    } else if (token.startsWith('"')) key = JSON.parse(token) as string;
    else if (token !== "," && !survives(token))
      return `The number ${token} has more digits than can be kept; write it as a string`;
  }
  return null;
}

function survives(token: string): boolean {
  const n = Number(token);
  return Number.isFinite(n) && (!/^-?\d+$/.test(token) || Number.isSafeInteger(n));
}

/** Equality of JSON values; the order of keys does not matter. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = Object.entries(a);
  const right = b as Record<string, unknown>;
  return (
    left.length === Object.keys(right).length &&
    left.every(([k, v]) => Object.hasOwn(right, k) && sameJson(v, right[k]))
  );
}

/** Help with typing a filter of events. What a filter means is Rust's; here are only the words to choose from. */

export const KEYS: { key: string; example: string }[] = [
  { key: "kind", example: "what happened: kind:retry_scheduled" },
  { key: "step", example: "one step: step:step-3" },
  { key: "tool", example: "part of a tool's name: tool:jira" },
  { key: "status", example: "status:failed" },
  { key: "dur", example: "how long it took: dur:>500ms" },
  { key: "after", example: "since the start: after:1s..3s" },
  { key: "attempt", example: "attempt:>1" },
  { key: "seq", example: "numbers of events: seq:100..200" },
];

const FIXED: Record<string, readonly string[]> = {
  kind: [
    "attempt_started",
    "attempt_finished",
    "retry_scheduled",
    "fallback_started",
    "step_ready",
    "step_succeeded",
    "step_failed",
    "step_skipped",
    "step_cancelled",
    "run_started",
    "run_finished",
  ],
  status: ["failed", "succeeded", "running", "waiting", "skipped", "cancelled", "ready"],
  dur: [">500ms", ">1s", "<100ms", "1s..3s"],
  after: [">1s", ">10s", "0s..1s"],
  attempt: [">1", "1"],
  seq: ["1..100"],
};

export interface Suggestions {
  /** The part of the text that a choice replaces. */
  from: number;
  to: number;
  options: { insert: string; hint: string }[];
}

const MOST = 8;

/** What could stand where the caret is: a key, or a value of the key before the colon. */
export function suggest(text: string, caret: number, known: Record<string, readonly string[]>): Suggestions {
  const before = text.slice(0, caret);
  const quotes = before.split('"').length - 1;
  const from = before.search(/\S+$/);
  const none: Suggestions = { from: caret, to: caret, options: [] };
  if (quotes % 2 === 1) return none;
  const start = from < 0 ? caret : from;
  const word = before.slice(start);
  const minus = word.startsWith("-") ? "-" : "";
  const typed = word.slice(minus.length);
  const end = caret + (/^\S*/.exec(text.slice(caret))?.[0].length ?? 0);
  const colon = typed.indexOf(":");
  if (colon < 0) {
    const options = KEYS.filter(({ key }) => key.startsWith(typed.toLowerCase()));
    return {
      from: start,
      to: end,
      options: options.map(({ key, example }) => ({ insert: `${minus}${key}:`, hint: example })),
    };
  }
  const key = typed.slice(0, colon).toLowerCase();
  const parts = typed.slice(colon + 1).split(",");
  const part = parts.at(-1)!.toLowerCase();
  const head = `${minus}${key}:${parts
    .slice(0, -1)
    .map((p) => `${p},`)
    .join("")}`;
  const values = [...(known[key] ?? FIXED[key] ?? [])];
  const fits = values.filter((v) => v.toLowerCase().includes(part) && v.toLowerCase() !== part);
  fits.sort((a, b) => Number(b.startsWith(part)) - Number(a.startsWith(part)));
  return { from: start, to: end, options: fits.slice(0, MOST).map((v) => ({ insert: `${head}${v} `, hint: "" })) };
}

const STORED = "toolplan.filters";
const RECENT = 8;

export function recentFilters(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED) ?? "[]");
    return Array.isArray(stored) ? stored.filter((f) => typeof f === "string") : [];
  } catch {
    return [];
  }
}

export function rememberFilter(filter: string) {
  const text = filter.trim();
  if (text === "") return;
  localStorage.setItem(STORED, JSON.stringify([text, ...recentFilters().filter((f) => f !== text)].slice(0, RECENT)));
}

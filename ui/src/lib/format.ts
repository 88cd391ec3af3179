/** Numbers and times as the window writes them. What is not known reads "unknown", never 0. */

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export const UNKNOWN = "unknown";

export function count(n: number | null): string {
  return n === null ? UNKNOWN : whole.format(n);
}

/** `3 steps`, `1 step`. */
export function counted(n: number, noun: string): string {
  return `${whole.format(n)} ${noun}${n === 1 ? "" : "s"}`;
}

export function duration(ms: number | null): string {
  if (ms === null) return UNKNOWN;
  if (ms < 1) return "<1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60_000);
  return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** An instant of a run, short enough for a column: `12 ms`, `3.21 s`, `139:43.2`. */
export function elapsed(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`;
  // Rounded before it is taken apart, so that no minute has 60 seconds.
  const tenths = Math.round(ms / 100);
  return `${Math.floor(tenths / 600)}:${((tenths % 600) / 10).toFixed(1).padStart(4, "0")}`;
}

/** `512 B`, `3.4 MB`. */
export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  if (n < 1_000_000) return `${(n / 1000).toFixed(n < 10_000 ? 1 : 0)} kB`;
  if (n < 1_000_000_000) return `${(n / 1_000_000).toFixed(n < 10_000_000 ? 1 : 0)} MB`;
  return `${(n / 1_000_000_000).toFixed(1)} GB`;
}

/** A duration that is only expected. */
export function expected(ms: number | null): string {
  return ms === null ? UNKNOWN : `≈ ${duration(ms)}`;
}

/** How much smaller `part` is than `full`: `−72 %`. */
export function reduction(part: number, full: number): string {
  if (full === 0) return "0 %";
  const percent = Math.round(((full - part) / full) * 100);
  return percent === 0 ? "0 %" : `${percent > 0 ? "−" : "+"}${Math.abs(percent)} %`;
}

export function percent(ratio: number | null): string {
  return ratio === null ? UNKNOWN : `${Math.round(ratio * 100)} %`;
}

const day = new Intl.DateTimeFormat("en-GB", {
  day: "2-digit",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const clock = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
});

export const moment = (ms: number): string => day.format(ms);
export const timeOfDay = (ms: number): string => clock.format(ms);

export function json(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "";
}

/** Arguments on one line: `query: "…", limit: 5`. */
export function inline(value: { [key: string]: unknown }): string {
  return Object.entries(value)
    .map(([name, v]) => `${name}: ${JSON.stringify(v)}`)
    .join(", ");
}

/** A long text with its middle left out: both its ends tell it from others. */
export function middle(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = Math.floor((most - 1) / 2);
  return `${text.slice(0, most - 1 - end)}…${text.slice(text.length - end)}`;
}

/** What a person sets up for runs and keeps from one to the next: breakpoints, faults, watched values, options. */
import { create } from "zustand";
import { createJSONStorage, persist } from "zustand/middleware";
import { client, type Breakpoint, type BreakOn, type FaultRule, type RunOptions, type Value } from "../ipc/client";

/** A value to keep an eye on: a place in the result of a step. */
export interface Watch {
  step: string;
  /** JSON Pointer; empty for all of it. */
  path: string;
}

/** A fault that is kept for later runs while it is off. */
export type KeptFault = FaultRule & { off?: boolean };

interface DebugState {
  breakpoints: Breakpoint[];
  faults: KeptFault[];
  watches: Watch[];
  noCache: boolean;
  seed: number;
  jitter: number | null;
  set: (change: Partial<Omit<DebugState, "set">>) => void;
}

export const useDebug = create<DebugState>()(
  persist((set) => ({ breakpoints: [], faults: [], watches: [], noCache: false, seed: 0, jitter: null, set }), {
    name: "toolplan.debug",
    storage: createJSONStorage(() => localStorage),
    partialize: ({ set: _, ...kept }) => kept,
  }),
);

export function optionsOf(stepMode: boolean): RunOptions {
  const { breakpoints, faults, noCache, seed, jitter } = useDebug.getState();
  return {
    breakpoints,
    faults: faults.flatMap(({ off, ...rule }) => (off ? [] : [rule])),
    no_cache: noCache,
    step_mode: stepMode,
    seed,
    backoff: "exponential",
    jitter_percent: jitter,
    conversation: [],
    metadata: {},
  };
}

/** The breakpoint that stops before a step, whether on or off. */
export function breakpointOn(breakpoints: readonly Breakpoint[], step: string): Breakpoint | undefined {
  return breakpoints.find(({ on }) => on.kind === "step" && on.step === step && on.when === "before");
}

export function withBreakpoint(breakpoints: readonly Breakpoint[], on: BreakOn): Breakpoint[] {
  const id = 1 + breakpoints.reduce((most, b) => Math.max(most, b.id), 0);
  return [...breakpoints, { id, on, enabled: true }];
}

export function toggled(breakpoints: readonly Breakpoint[], step: string): Breakpoint[] {
  const known = breakpointOn(breakpoints, step);
  return known
    ? breakpoints.filter((b) => b !== known)
    : withBreakpoint(breakpoints, { kind: "step", step, when: "before" });
}

/** Keeps the breakpoints and tells them to the run that is under way. */
export async function setBreakpoints(breakpoints: Breakpoint[], run: number | null) {
  useDebug.getState().set({ breakpoints });
  if (run !== null) await client.setBreakpoints(run, breakpoints);
}

const WHEN = { before: "before", after: "after" };
const OPERATOR = {
  exists: "exists",
  missing: "is missing",
  equals: "=",
  differs: "≠",
  above: ">",
  below: "<",
  contains: "contains",
};

/** The breakpoint as a sentence's beginning: what it waits for. */
export function breakpointWords(on: BreakOn): string {
  switch (on.kind) {
    case "step":
      return `${WHEN[on.when]} ${on.step}`;
    case "tool":
      return `${WHEN[on.when]} any call of ${on.tool}`;
    case "error":
      return on.class === null ? "a failed attempt" : `a failure: ${on.class.replaceAll("_", " ")}`;
    case "guard":
      return on.rule === "" ? "a drop by the guard" : `a drop by ${on.rule}`;
    case "cost":
      return `cost above $${on.above ?? "unknown"}`;
    case "duration":
      return `an attempt longer than ${on.above_ms} ms`;
    case "condition": {
      const of = on.when === "after" ? "the result" : "the arguments";
      const value = on.operator === "exists" || on.operator === "missing" ? "" : ` ${JSON.stringify(on.value)}`;
      return `${of} of ${on.step === "" ? "any step" : on.step}: ${on.path || "all"} ${OPERATOR[on.operator]}${value}`;
    }
  }
}

/** What stands at a JSON Pointer; undefined where nothing does. */
export function at(value: Value | undefined, pointer: string): Value | undefined {
  if (pointer === "") return value;
  let here: Value | undefined = value;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof here !== "object" || here === null) return undefined;
    here = Array.isArray(here) ? here[Number(key)] : here[key];
  }
  return here;
}

/** `step-1 /items/0/id`, `step-1`; null when it names no step. */
export function readWatch(text: string): Watch | null {
  const match = /^(\S+?)(?:\s+|(?=\/))?(\/\S*)?$/.exec(text.trim());
  return match ? { step: match[1]!, path: match[2] ?? "" } : null;
}

/** A fault in words: `web_fetch fails (transient), half of the time`. */
export function faultWords({ tool, step, attempts, probability, fault }: FaultRule): string {
  const whom = step || tool || "any call";
  const often = [
    ...(attempts === null ? [] : [attempts === 1 ? "the first attempt" : `the first ${attempts} attempts`]),
    ...((probability ?? 1) < 1 ? [`${Math.round((probability ?? 1) * 100)} % of the time`] : []),
  ];
  return [`${whom} ${happens(fault)}`, ...often].join(", ");
}

function happens(fault: FaultRule["fault"]): string {
  switch (fault.kind) {
    case "error":
      return `fails (${fault.class.replaceAll("_", " ")})`;
    case "delay":
      return `is ${fault.ms} ms late`;
    case "hang":
      return "never answers";
    case "malformed":
      return "answers cut off";
    case "rate_limit":
      return "is rate limited";
  }
}

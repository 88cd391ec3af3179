/** Questions about the events of a fake run: pages that a filter lets through, marks, and where the time went. */
import type { EventPage, RunMarks, Timeline, TimelineStep } from "../client";
import { refuse } from "./desk";
import { eventRow, shownState, type FakeEvent, type FakeRun } from "./runs";

const KEYS = ["kind", "step", "tool", "status", "dur", "after", "attempt", "seq"];
const UNIT: Record<string, number> = { "": 1, ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 };

type Test = (event: FakeEvent) => boolean;

function range(key: string, text: string, at: number): (value: number | null) => boolean {
  const match = /^(>=|<=|>|<|)(\d+(?:\.\d+)?)(ms|s|m|min|h|)$/.exec(text);
  if (!match)
    refuse(
      "filter.value",
      `at character ${at + 1} of the filter: ${key}: does not understand "${text}"`,
      `write ${key === "dur" ? "dur:>500ms or dur:<=2s" : `${key}:>1`}`,
    );
  const [, sign, digits, unit] = match!;
  const limit = Number(digits) * UNIT[unit!]!;
  const holds: Record<string, (v: number) => boolean> = {
    ">": (v) => v > limit,
    ">=": (v) => v >= limit,
    "<": (v) => v < limit,
    "<=": (v) => v <= limit,
    "": (v) => v === limit,
  };
  return (value) => value !== null && holds[sign!]!(value);
}

function testOf(term: string, at: number, start: number): Test {
  const [, key = "", value = ""] = /^([a-z]+):(.*)$/i.exec(term) ?? [];
  if (key === "" || value.startsWith("//")) {
    const words = term.replace(/^"|"$/g, "").toLowerCase();
    return (e) => e.text.toLowerCase().includes(words);
  }
  if (!KEYS.includes(key))
    refuse(
      "filter.key",
      `at character ${at + 1} of the filter: there is no key "${key}"`,
      `use one of ${KEYS.join(", ")}, or put the text in quotes`,
    );
  if (value === "")
    refuse("filter.value", `at character ${at + key.length + 2} of the filter: ${key}: has no value`, `write ${key}:…`);
  const values = value.replace(/^"|"$/g, "").toLowerCase().split(",");
  if (key === "tool") return (e) => e.tool !== "" && values.some((v) => e.tool.includes(v));
  if (key === "kind" || key === "step" || key === "status") return (e) => values.includes(e[key]);
  const holds = range(key, value, at + key.length + 1);
  if (key === "dur") return (e) => holds(e.duration_ms);
  if (key === "after") return (e) => holds(e.at_ms - start);
  if (key === "attempt") return (e) => holds(Number(/attempt (\d+)/.exec(e.text)?.[1] ?? NaN));
  return (e) => holds(e.seq);
}

function read(filter: string, start: number): Test {
  if ((filter.match(/"/g)?.length ?? 0) % 2 === 1)
    refuse(
      "filter.quote",
      `at character ${filter.lastIndexOf('"') + 1} of the filter: the quote has no end`,
      'close it with another "',
    );
  const tests = [...filter.matchAll(/-?(?:[a-z]+:)?"[^"]*"|\S+/gi)].map(({ 0: term, index }) => {
    const negative = term.startsWith("-") && term.length > 1;
    const test = testOf(negative ? term.slice(1) : term, index + Number(negative), start);
    return (e: FakeEvent) => test(e) !== negative;
  });
  return (e) => tests.every((test) => test(e));
}

/** The last answer: pages of one filter are asked for one after the other. */
let last: { key: string; found: FakeEvent[] } = { key: "", found: [] };

function filtered(run: FakeRun, filter: string): FakeEvent[] {
  const key = `${run.id} ${run.shown} ${filter}`;
  if (last.key === key) return last.found;
  const shown = run.shown < run.events.length ? run.events.slice(0, run.shown) : run.events;
  const found = filter.trim() === "" ? shown : shown.filter(read(filter, run.events[0]?.at_ms ?? 0));
  last = { key, found };
  return found;
}

export function eventPage(run: FakeRun, filter: string, offset: number, limit: number): EventPage {
  const found = filtered(run, filter);
  return { rows: found.slice(offset, offset + limit).map(eventRow), total: found.length, events: run.shown };
}

export function eventBeside(run: FakeRun, filter: string, seq: number, backwards: boolean): number | null {
  const found = filtered(run, filter);
  const beside = backwards ? found.findLast((e) => e.seq < seq) : found.find((e) => e.seq > seq);
  return beside?.seq ?? null;
}

const MOST_MARKS = 4000;

export function marksOf(run: FakeRun): RunMarks {
  const start = run.events[0]?.at_ms ?? 0;
  const step = Math.max(1, Math.ceil(run.shown / MOST_MARKS));
  const marks = run.events
    .slice(0, run.shown)
    .filter((e, i) => i % step === 0 || i === run.shown - 1 || (e.status === "failed" && i % 3 === 0))
    .map((e) => ({ seq: e.seq, after_ms: e.at_ms - start, failure: e.status === "failed" }));
  return { marks, last_seq: run.shown };
}

export function timelineOf(run: FakeRun): Timeline {
  const state = shownState(run);
  const start = state.started_ms ?? 0;
  const path = run.planning.shape.critical_path;
  const steps = Object.entries(state.steps).map(([step, s]): TimelineStep => {
    const attempts = s.attempts.map((a, i) => {
      const before = s.attempts[i - 1];
      const pause = before?.duration_ms == null ? 0 : a.started_ms - before.started_ms - before.duration_ms;
      return {
        number: a.number,
        tool: a.tool,
        start_ms: a.started_ms - start,
        end_ms: a.duration_ms === null ? null : a.started_ms + a.duration_ms - start,
        pause_ms: Math.max(0, pause),
        cached: false,
        given_up: a.given_up,
        error: a.outcome?.kind === "failed" ? a.outcome.error.message : "",
      };
    });
    const [first, end] = [attempts[0], attempts.at(-1)?.end_ms ?? null];
    return {
      step,
      status: s.status,
      ready_ms: s.ready_ms === null ? null : s.ready_ms - start,
      queue_ms: first && s.ready_ms !== null ? first.start_ms - (s.ready_ms - start) : null,
      work_ms: first && end !== null ? end - first.start_ms : 0,
      finished_ms: s.finished_ms === null ? null : s.finished_ms - start,
      attempts,
      on_critical_path: path.includes(step),
    };
  });
  const sum_ms = steps.reduce((sum, s) => sum + (s.work_ms ?? 0), 0);
  const wall_ms = state.duration_ms ?? Math.max(0, ...steps.map((s) => s.finished_ms ?? 0));
  return {
    steps,
    critical_path: path,
    critical_path_ms: steps.filter((s) => s.on_critical_path).reduce((sum, s) => sum + (s.work_ms ?? 0), 0),
    wall_ms,
    sum_ms,
    speed_up: wall_ms > 0 ? sum_ms / wall_ms : null,
  };
}

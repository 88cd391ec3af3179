/**
 * The journal of a run as lines. Only the lines in sight are drawn and only the pages they lie on are asked for, so a
 * hundred thousand events are as quick as ten; which of them a filter lets through is Rust's to say.
 */
import { useQueries, useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useDeferredValue, useEffect, useRef, useState, type KeyboardEvent } from "react";
import { Empty } from "../../components/Empty";
import { Problem, type EventRow } from "../../ipc/client";
import { count, elapsed, timeOfDay } from "../../lib/format";
import { EVENT_PAGE, eventPageQuery } from "../../lib/queries";
import { FilterField } from "./FilterField";
import "./events.css";
import "./run.css";

const ROW = 24;
const OVERSCAN = 16;

interface EventLogProps {
  run: number | null;
  startedMs: number | null;
  /** Number of the event that is shown. */
  at: number | null;
  /** The chosen step, which the log can be narrowed to. */
  step: string | null;
  known: Record<string, readonly string[]>;
  onSelect: (event: EventRow) => void;
}

export function EventLog({ run, startedMs, at, step, known, onSelect }: EventLogProps) {
  const [typed, setTyped] = useState("");
  const wanted = useDeferredValue(typed.trim());
  // A filter with a mistake leaves the lines of the last good one in place.
  const [filter, setFilter] = useState("");
  const tried = useQuery({ ...eventPageQuery(run ?? 0, wanted, 0), enabled: run !== null });
  const head = useQuery({ ...eventPageQuery(run ?? 0, filter, 0), enabled: run !== null });
  useEffect(() => {
    if (tried.data) setFilter(wanted);
  }, [tried.data, wanted]);
  const problem = tried.error ? Problem.from(tried.error) : null;
  const total = head.data?.total ?? 0;

  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: total,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: OVERSCAN,
  });
  const items = virtual.getVirtualItems();
  const first = Math.floor((items[0]?.index ?? 0) / EVENT_PAGE);
  const last = Math.floor((items.at(-1)?.index ?? 0) / EVENT_PAGE);
  const pages = useQueries({
    queries: Array.from({ length: last - first + 1 }, (_, i) => ({
      ...eventPageQuery(run ?? 0, filter, first + i),
      enabled: run !== null,
    })),
  });
  const rowAt = (index: number): EventRow | undefined =>
    pages[Math.floor(index / EVENT_PAGE) - first]?.data?.rows[index % EVENT_PAGE];
  const indexOf = (seq: number): number => {
    if (filter === "") return seq - 1;
    for (let p = 0; p < pages.length; p++) {
      const found = pages[p]!.data?.rows.findIndex((r) => r.seq === seq) ?? -1;
      if (found >= 0) return (first + p) * EVENT_PAGE + found;
    }
    return -1;
  };

  // The shown event stays in sight; so does the end of a log that grows while its end is seen.
  useEffect(() => {
    const index = at === null ? -1 : indexOf(at);
    if (index >= 0 && index < total) virtual.scrollToIndex(index, { align: "auto" });
  }, [at, total, filter]);

  if (run === null || (head.data && head.data.events === 0)) {
    return (
      <Empty title="No events yet">
        <p>Run the plan with F5; each thing that happens becomes a line here.</p>
      </Empty>
    );
  }

  const walk = (event: KeyboardEvent) => {
    if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (by === undefined || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    const here = at === null ? -1 : indexOf(at);
    const row = rowAt(here < 0 ? (items[0]?.index ?? 0) : here + by);
    if (row) onSelect(row);
  };

  const only = step === null ? "" : `step:${step}`;
  return (
    <div className="event-log">
      <div className="event-bar">
        <FilterField value={typed} known={known} problem={problem} onChange={setTyped} />
        {only !== "" && !typed.includes(only) && (
          <button type="button" className="button small mono" onClick={() => setTyped(`${typed} ${only}`.trim())}>
            {only}
          </button>
        )}
        <span className="muted event-count" data-testid="event-count" aria-live="polite">
          {filter === "" ? `${count(total)} events` : `${count(total)} of ${count(head.data?.events ?? 0)}`}
        </span>
      </div>
      {problem && (
        <div className="event-problem" id="event-filter-problem" data-testid="event-filter-problem" role="alert">
          <strong>{problem.message}</strong> <span className="muted">{problem.hint}</span>
        </div>
      )}
      <div className="event-head" aria-hidden>
        <span>#</span>
        <span>Time</span>
        <span>Event</span>
        <span>Step</span>
        <span>What happened</span>
      </div>
      <div
        className="event-rows"
        ref={scroller}
        role="grid"
        aria-label="Events"
        aria-rowcount={total}
        aria-colcount={5}
        tabIndex={0}
        onKeyDown={walk}
      >
        {head.data && total === 0 && <p className="muted event-none">No event fits the filter.</p>}
        <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {items.map((item) => {
            const row = rowAt(item.index);
            const style = { transform: `translateY(${item.start}px)` };
            if (!row) return <div key={item.key} className="event-row" role="row" aria-busy style={style} />;
            return (
              <div
                key={item.key}
                role="row"
                className="event-row"
                style={style}
                data-testid={`event-${row.seq}`}
                data-kind={row.kind}
                data-selected={row.seq === at || undefined}
                data-later={(at !== null && row.seq > at) || undefined}
                aria-selected={row.seq === at}
                aria-rowindex={item.index + 1}
                onClick={() => onSelect(row)}
              >
                <span role="gridcell">{row.seq}</span>
                <span role="gridcell" title={timeOfDay(row.at_ms)}>
                  {startedMs === null ? timeOfDay(row.at_ms) : sinceStart(row.at_ms - startedMs)}
                </span>
                <span role="gridcell" className="event-kind">
                  {row.kind.replaceAll("_", " ")}
                </span>
                <span role="gridcell" className="mono">
                  {row.step}
                </span>
                <span role="gridcell" title={row.text}>
                  {row.text}
                </span>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Planning comes before the start. */
const sinceStart = (ms: number): string => (ms < 0 ? `−${elapsed(-ms)}` : `+${elapsed(ms)}`);

/** Where a run's time went: a row per step with its wait, attempts and pauses, and what could not have been shorter. */
import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent } from "react";
import { Canvas, type Draw } from "../../components/Canvas";
import { Empty } from "../../components/Empty";
import { ProblemNote } from "../../components/ProblemNote";
import { StatusIcon } from "../../components/Status";
import { Problem, type GraphView, type Timeline as TimelineData } from "../../ipc/client";
import { duration, elapsed } from "../../lib/format";
import { usePalette } from "../../lib/palette";
import { timelineQuery } from "../../lib/queries";
import { useWindow } from "../../lib/store";
import { STATUS } from "../../lib/words";
import { AXIS, drawTimeline, ROW } from "./drawTimeline";
import { barAt, barsOf, inOrder, shifted, zoomed, type Bar, type Span } from "./timeline";
import "./timeline.css";

export function Timeline({ run, graph }: { run: number | null; graph: GraphView }) {
  const { data, error } = useQuery({ ...timelineQuery(run ?? 0), enabled: run !== null });
  if (error) return <ProblemNote problem={Problem.from(error)} />;
  if (run === null || (data && data.steps.length === 0)) {
    return (
      <Empty title="No run yet">
        <p>Run the plan with F5; each step becomes a row with its waits, attempts and pauses.</p>
      </Empty>
    );
  }
  return data ? <Chart key={run} data={data} graph={graph} /> : null;
}

function Chart({ data, graph }: { data: TimelineData; graph: GraphView }) {
  const selected = useWindow((s) => s.step);
  const set = useWindow((s) => s.set);
  const palette = usePalette();
  const wall = Math.max(1, data.wall_ms ?? 0, ...data.steps.slice(-1).map((s) => s.finished_ms ?? 0));
  // Null follows the run to its end.
  const [chosen, setSpan] = useState<Span | null>(null);
  const span = useMemo(() => chosen ?? { from: 0, to: wall }, [chosen, wall]);
  const [brush, setBrush] = useState<Span | null>(null);
  const [hovered, setHovered] = useState<{ step: string; bar: Bar; x: number; y: number } | null>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const chart = useRef<HTMLDivElement>(null);

  const tools = useMemo(() => new Map(graph.steps.map((s) => [s.id, s.tool])), [graph]);
  const rows = useMemo(() => inOrder(data.steps).map((step) => ({ step, bars: barsOf(step, wall) })), [data, wall]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 6,
  });
  const items = virtual.getVirtualItems();
  const offset = virtual.scrollOffset ?? 0;

  useEffect(() => {
    const at = rows.findIndex((r) => r.step.step === selected);
    if (at >= 0) virtual.scrollToIndex(at, { align: "auto" });
    // Only a new choice scrolls.
  }, [selected]);

  const draw = useCallback<Draw>(
    (context, width, height) => {
      const visible = items.map((item) => {
        const { step, bars } = rows[item.index]!;
        const row = { bars, critical: step.on_critical_path, chosen: step.step === selected };
        return { top: item.start - offset, row };
      });
      drawTimeline(context, { width, height }, span, visible, brush, palette);
    },
    [items, rows, selected, offset, span, brush, palette],
  );

  const timeAt = (clientX: number) => {
    const box = chart.current!.getBoundingClientRect();
    return span.from + ((clientX - box.left) / box.width) * (span.to - span.from);
  };

  // React listens to the wheel passively, and a zoom must keep the page from scrolling.
  useEffect(() => {
    const element = scroller.current?.parentElement;
    const turn = (event: WheelEvent) => {
      const box = chart.current!.getBoundingClientRect();
      const onAxis = event.clientY < box.top + AXIS && event.clientX > box.left;
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      if (event.ctrlKey || event.metaKey || onAxis) {
        const around = span.from + ((event.clientX - box.left) / box.width) * (span.to - span.from);
        setSpan(zoomed(span, around, Math.exp(event.deltaY / 300), wall));
      } else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY))
        setSpan(shifted(span, (sideways / box.width) * (span.to - span.from), wall));
      else return;
      event.preventDefault();
    };
    element?.addEventListener("wheel", turn, { passive: false });
    return () => element?.removeEventListener("wheel", turn);
  }, [span, wall]);

  const startBrush = (event: MouseEvent) => {
    if (event.button !== 0) return;
    event.preventDefault();
    const from = timeAt(event.clientX);
    const range = (e: { clientX: number }): Span => {
      const to = Math.max(0, Math.min(wall, timeAt(e.clientX)));
      return { from: Math.min(from, to), to: Math.max(from, to) };
    };
    const move = (e: globalThis.MouseEvent) => setBrush(range(e));
    const end = (e: globalThis.MouseEvent) => {
      window.removeEventListener("mousemove", move);
      window.removeEventListener("mouseup", end);
      setBrush(null);
      const chosen = range(e);
      // A click is no stretch of time.
      if ((chosen.to - chosen.from) / (span.to - span.from) > 0.01) setSpan(chosen);
    };
    window.addEventListener("mousemove", move);
    window.addEventListener("mouseup", end);
  };

  const hover = (event: MouseEvent, index: number) => {
    const { step, bars } = rows[index]!;
    const box = chart.current!.getBoundingClientRect();
    if (event.clientX < box.left) return setHovered(null);
    const bar = barAt(bars, timeAt(event.clientX), (3 / box.width) * (span.to - span.from));
    const outer = scroller.current!.parentElement!.getBoundingClientRect();
    setHovered(bar && { step: step.step, bar, x: event.clientX - outer.left, y: event.clientY - outer.top });
  };

  const walk = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    const centre = (span.from + span.to) / 2;
    if (by !== undefined) {
      const at = rows.findIndex((r) => r.step.step === selected);
      const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
      if (next) set({ step: next.step.step, tool: null });
    } else if (event.key === "+" || event.key === "=") setSpan(zoomed(span, centre, 0.7, wall));
    else if (event.key === "-") setSpan(zoomed(span, centre, 1.4, wall));
    else if (event.key === "0") setSpan(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div className="timeline" data-testid="timeline">
      <Summary data={data} zoomed={chosen !== null} onReset={() => setSpan(null)} />
      <div className="timeline-body">
        <div
          className="timeline-rows"
          ref={scroller}
          role="listbox"
          aria-label="Timeline of the steps"
          tabIndex={0}
          onKeyDown={walk}
          onMouseLeave={() => setHovered(null)}
        >
          <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
            {items.map((item) => {
              const { step, bars } = rows[item.index]!;
              return (
                <div
                  key={step.step}
                  role="option"
                  className="timeline-row"
                  data-testid={`timeline-${step.step}`}
                  data-critical={step.on_critical_path || undefined}
                  aria-selected={step.step === selected}
                  aria-label={spoken(step.step, tools.get(step.step) ?? "", step.status, bars)}
                  style={{ transform: `translateY(${item.start}px)` }}
                  onClick={() => set({ step: step.step, tool: null })}
                  onMouseMove={(event) => hover(event, item.index)}
                >
                  <span className="timeline-label">
                    <StatusIcon status={step.status} />
                    <code className="truncate">{tools.get(step.step)}</code>
                    <span className="muted">{step.step}</span>
                    <span className="timeline-time">{step.attempts.length > 0 ? duration(step.work_ms) : ""}</span>
                  </span>
                </div>
              );
            })}
          </div>
        </div>
        <div className="timeline-corner muted">Step</div>
        <div className="timeline-chart" ref={chart}>
          <Canvas draw={draw} />
          <div
            className="timeline-axis"
            title="Drag to zoom to a stretch of time; wheel to zoom; double click to see all"
            onMouseDown={startBrush}
            onDoubleClick={() => setSpan(null)}
          />
        </div>
        {hovered && <Note {...hovered} />}
      </div>
    </div>
  );
}

function Summary({ data, zoomed, onReset }: { data: TimelineData; zoomed: boolean; onReset: () => void }) {
  return (
    <div className="timeline-summary" data-testid="timeline-summary">
      <span>
        Wall time <strong>{duration(data.wall_ms)}</strong>
      </span>
      <span title="All steps one after the other, pauses included">
        Sum <strong>{duration(data.sum_ms)}</strong>
      </span>
      <span title="The steps that the end had to wait for">
        Longest path <strong>{duration(data.critical_path_ms)}</strong>
      </span>
      <SpeedUp of={data.speed_up} />
      <span className="grow" />
      {zoomed && (
        <button type="button" className="button small" onClick={onReset}>
          Show all <kbd>0</kbd>
        </button>
      )}
      <span className="timeline-legend muted" aria-hidden>
        <i data-kind="queue" /> queued <i data-kind="succeeded" /> succeeded <i data-kind="failed" /> failed{" "}
        <i data-kind="backoff" /> backoff <i data-kind="critical" /> longest path
      </span>
    </div>
  );
}

/** Without any work there is nothing to have sped up, such as where every call was answered from the cache. */
function SpeedUp({ of }: { of: number | null }) {
  const known = of !== null && of > 0;
  return (
    <span
      title={
        known
          ? "Sum of the steps ÷ the time in which any of them was at work"
          : "Not known: no call took any time of its own"
      }
      data-testid="speed-up"
    >
      Speed-up <strong>{known ? `×${of.toFixed(1)}` : "—"}</strong>
    </span>
  );
}

function words(bar: Bar): string {
  const took = duration(bar.to - bar.from);
  if (bar.kind === "queue") return `Queued ${took}`;
  if (bar.kind === "backoff") return `Backoff ${took}`;
  const outcome = bar.outcome === "timeout" ? "timed out" : bar.outcome;
  return `Attempt ${bar.number}: ${outcome}, ${took}${bar.cached ? ", from the cache" : ""}`;
}

function spoken(step: string, tool: string, status: keyof typeof STATUS, bars: readonly Bar[]): string {
  return [`${step}, ${tool}, ${STATUS[status]}`, ...bars.slice(0, 6).map(words)].join(". ");
}

function Note({ step, bar, x, y }: { step: string; bar: Bar; x: number; y: number }) {
  return (
    <div className="timeline-note" style={{ left: x + 12, top: y + 14 }}>
      <strong>{words(bar)}</strong>
      <div className="muted">
        <code>{bar.tool ?? step}</code> · from {elapsed(bar.from)} to {elapsed(bar.to)}
      </div>
      {bar.error !== undefined && bar.error !== "" && <div className="field-error">{bar.error}</div>}
    </div>
  );
}

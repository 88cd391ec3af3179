/** Moves through a run event by event, by hand or by itself. The window shows the run as it was after that event. */
import { useQuery } from "@tanstack/react-query";
import { ChevronLeft, ChevronRight, Pause, Play, SkipBack, SkipForward, StepForward } from "lucide-react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { Canvas, type Draw } from "../../components/Canvas";
import { client, type Mark } from "../../ipc/client";
import { count, elapsed, timeOfDay } from "../../lib/format";
import { faded, usePalette } from "../../lib/palette";
import { EVENT_PAGE, eventPageQuery, marksQuery } from "../../lib/queries";
import { useWindow, type CursorOf } from "../../lib/store";
import { bucketed, placeOf, timeAt } from "./marks";
import { SPEEDS, usePlayback } from "./usePlayback";
import "./scrubber.css";

interface ScrubberProps {
  run: number;
  /** The cursor that it moves. */
  of: CursorOf;
  /** Number of the newest event. */
  last: number;
  /** Number of the event that is shown; null means the newest. */
  cursor: number | null;
  /** The run goes on. */
  live: boolean;
}

const FAILURES = "status:failed";
const NO_MARKS: never[] = [];
/** Up to this many marks of a kind are all shown; of more, samples from all over the run. */
const ALL = 1000;
const SAMPLES = 24;
const SAMPLE = 40;

/** Numbers of the events that a filter finds, as far as a track can tell them apart. */
function useSeqs(run: number, filter: string): readonly number[] {
  const { data } = useQuery({
    queryKey: ["run", run, "seqs", filter],
    queryFn: async () => {
      const seqs = async (offset: number, limit: number) => client.runEvents(run, filter, offset, limit);
      const first = await seqs(0, ALL);
      if (first.total <= ALL) return first.rows.map((r) => r.seq);
      const every = Array.from({ length: SAMPLES }, (_, i) => Math.floor((i * (first.total - SAMPLE)) / (SAMPLES - 1)));
      const pages = await Promise.all(every.map((offset) => seqs(offset, SAMPLE)));
      return pages.flatMap((page) => page.rows.map((r) => r.seq));
    },
  });
  return data ?? NO_MARKS;
}

export function Scrubber({ run, of, last, cursor, live }: ScrubberProps) {
  const move = useCallback((to: number | null) => useWindow.getState().set({ [of]: to }), [of]);
  const { data } = useQuery(marksQuery(run));
  const marks = data?.marks ?? NO_MARKS;
  const retries = useSeqs(run, "kind:retry_scheduled");
  const fallbacks = useSeqs(run, "kind:fallback_started");
  const { playing, speed, setSpeed, toggle, stop } = usePlayback(marks, last, of);
  const at = Math.min(cursor ?? last, last);
  const past = at < last;
  const { data: page } = useQuery(eventPageQuery(run, "", Math.floor((Math.max(1, at) - 1) / EVENT_PAGE)));
  const event = page?.rows[(Math.max(1, at) - 1) % EVENT_PAGE];

  const go = useCallback(
    (seq: number) => {
      const to = Math.min(last, Math.max(1, seq));
      move(to === last ? null : to);
    },
    [last, move],
  );
  const jump = useCallback(
    async (backwards: boolean) => {
      const cursor = useWindow.getState()[of];
      const found = await client.findEvent(run, FAILURES, cursor ?? last, backwards);
      if (found !== null) go(found);
    },
    [run, last, of, go],
  );

  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const busy =
        event.target instanceof HTMLElement &&
        event.target.closest("input:not([type=range]), textarea, select, .cm-editor, [role=tab], [role=dialog]");
      if (busy || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      const way = { ArrowLeft: -1, k: -1, K: -1, ArrowRight: 1, j: 1, J: 1 }[event.key];
      if (way !== undefined) {
        if (event.shiftKey) void jump(way < 0);
        else go(at + way);
      } else if (event.key === "Home") go(1);
      else if (event.key === "End") move(null);
      else if (event.key === " " && !(event.target instanceof HTMLElement && event.target.closest("button"))) toggle();
      else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  });

  const button = (label: string, keys: string, Icon: typeof SkipBack, act: () => void, disabled: boolean) => (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={`${label} (${keys})`}
      disabled={disabled}
      onClick={act}
      data-testid={`event-${label.split(" ")[0]!.toLowerCase()}`}
    >
      <Icon size={15} />
    </button>
  );

  return (
    <div className="scrubber" data-past={past || undefined} data-testid="scrubber">
      <div className="scrubber-line">
        {button("First event", "Home", SkipBack, () => go(1), at <= 1)}
        {button("Back", "← or K; Shift: to the failure before", ChevronLeft, () => go(at - 1), at <= 1)}
        {button(
          playing ? "Pause" : "Play",
          "Space",
          playing ? Pause : Play,
          () => (past || playing ? toggle() : (move(1), toggle())),
          last <= 1,
        )}
        {button("Forward", "→ or J; Shift: to the next failure", ChevronRight, () => go(at + 1), !past)}
        {button("Last event", "End", SkipForward, () => move(null), !past)}
        <Track
          marks={marks}
          failures={useMemo(() => marks.filter((m) => m.failure).map((m) => m.seq), [marks])}
          retries={retries}
          fallbacks={fallbacks}
          at={at}
          last={last}
          onGo={(seq) => {
            stop();
            go(seq);
          }}
        />
        <button
          type="button"
          className="icon-button"
          title="Next failure (Shift+J)"
          aria-label="Next failure"
          data-testid="next-failure"
          disabled={!past}
          onClick={() => void jump(false)}
        >
          <StepForward size={15} className="scrubber-failure" />
        </button>
        <select
          aria-label="Speed"
          title="Speed of the play"
          data-testid="play-speed"
          value={speed.id}
          onChange={(e) => setSpeed(SPEEDS.find((s) => s.id === e.target.value)!)}
        >
          {SPEEDS.map((s) => (
            <option key={s.id} value={s.id}>
              {s.label}
            </option>
          ))}
        </select>
      </div>
      <div className="scrubber-now" aria-live="off">
        <strong data-testid="event-position">
          {past ? "Past: event" : "Event"} {count(at)} of {count(last)}
        </strong>
        <span className="scrubber-time" title={event ? timeOfDay(event.at_ms) : undefined}>
          +{elapsed(timeAt(marks, at))}
        </span>
        {event && (
          <span className="truncate grow" title={event.text}>
            {event.text}
          </span>
        )}
        {past && (
          <button type="button" className="button small" data-testid="back-to-live" onClick={() => move(null)}>
            {live ? "Back to live" : "Back to the end"} <kbd>End</kbd>
          </button>
        )}
      </div>
    </div>
  );
}

interface TrackProps {
  marks: readonly Mark[];
  failures: readonly number[];
  retries: readonly number[];
  fallbacks: readonly number[];
  at: number;
  last: number;
  onGo: (seq: number) => void;
}

/** All events on a line. The slider over it is what keys and screen readers use; the canvas is what is seen. */
function Track({ marks, failures, retries, fallbacks, at, last, onGo }: TrackProps) {
  const palette = usePalette();
  const [hover, setHover] = useState<{ x: number; seq: number } | null>(null);
  const draw = useCallback<Draw>(
    (context, width, height) => {
      const middle = height / 2;
      const x = (seq: number) => placeOf(seq, last, width) + 0.5;
      context.fillStyle = palette.border;
      context.fillRect(0, middle - 2, width, 4);
      context.fillStyle = at < last ? palette.deferred : palette.accent;
      context.fillRect(0, middle - 2, x(at), 4);
      const places = Math.max(1, Math.floor(width / 2));
      bucketed({ failure: failures, retry: retries, fallback: fallbacks }, last, places).forEach((bucket, i) => {
        const left = (i / Math.max(1, places - 1)) * (width - 2);
        const tall = (n: number, most: number) => Math.min(most, 5 + 2 * Math.log2(n + 1));
        if (bucket.retry > 0) {
          context.fillStyle = palette.rewritten;
          context.fillRect(left, middle + 3, 2, tall(bucket.retry, middle - 3));
        }
        if (bucket.fallback > 0) {
          context.fillStyle = palette.deferred;
          context.fillRect(left, middle + 3, 2, tall(bucket.fallback, middle - 3));
        }
        if (bucket.failure > 0) {
          const size = tall(bucket.failure, middle - 3);
          context.fillStyle = palette.dropped;
          context.fillRect(left, middle - 3 - size, 2, size);
        }
      });
      const thumb = Math.min(width - 5, Math.max(5, x(at)));
      context.fillStyle = faded(palette.panel, 1);
      context.strokeStyle = at < last ? palette.deferred : palette.accent;
      context.lineWidth = 2.5;
      context.beginPath();
      context.arc(thumb, middle, 4.5, 0, 7);
      context.fill();
      context.stroke();
    },
    [palette, failures, retries, fallbacks, at, last],
  );
  return (
    <div
      className="scrubber-track"
      onMouseMove={(e) => {
        const box = e.currentTarget.getBoundingClientRect();
        const part = (e.clientX - box.left) / box.width;
        setHover({ x: e.clientX - box.left, seq: Math.round(1 + part * (last - 1)) });
      }}
      onMouseLeave={() => setHover(null)}
    >
      <Canvas draw={draw} />
      <input
        type="range"
        data-testid="event-slider"
        aria-label="Event"
        aria-valuetext={`event ${at} of ${last}`}
        min={1}
        max={Math.max(1, last)}
        value={at}
        onChange={(e) => onGo(Number(e.target.value))}
      />
      {hover && (
        <span className="scrubber-hover" style={{ left: hover.x }}>
          {count(Math.min(last, Math.max(1, hover.seq)))} · +{elapsed(timeAt(marks, hover.seq))}
        </span>
      )}
    </div>
  );
}

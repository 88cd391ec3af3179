/** Plays a run: the cursor moves by itself, in the run's own time or so many events a second. */
import { useEffect, useRef, useState } from "react";
import type { Mark } from "../../ipc/client";
import { useWindow, type CursorOf } from "../../lib/store";
import { eventAt, timeAt } from "./marks";

export const SPEEDS = [
  { id: "1", label: "1×", factor: 1 },
  { id: "2", label: "2×", factor: 2 },
  { id: "10", label: "10×", factor: 10 },
  { id: "100", label: "100×", factor: 100 },
  { id: "e5", label: "5 events/s", events: 5 },
  { id: "e50", label: "50 events/s", events: 50 },
  { id: "e1000", label: "1,000 events/s", events: 1000 },
] as const;

export type Speed = (typeof SPEEDS)[number];

export function usePlayback(marks: readonly Mark[], last: number, of: CursorOf) {
  const set = useWindow((s) => s.set);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<Speed>(SPEEDS[0]);
  const latest = useRef({ marks, last });
  latest.current = { marks, last };

  useEffect(() => {
    if (!playing) return;
    const cursor = useWindow.getState()[of];
    const from = cursor ?? 1;
    const start = performance.now();
    const base = timeAt(latest.current.marks, from);
    let shown = from;
    let frame = requestAnimationFrame(function tick(now) {
      const { marks, last } = latest.current;
      const at = useWindow.getState()[of];
      // Somebody else moved the cursor: that ends the play.
      if (at !== null && at !== shown && shown !== from) return setPlaying(false);
      const passed = now - start;
      const next =
        "events" in speed
          ? from + Math.floor((passed / 1000) * speed.events)
          : eventAt(marks, base + passed * speed.factor);
      shown = Math.max(from, Math.min(last, next));
      if (shown >= last) {
        set({ [of]: null });
        return setPlaying(false);
      }
      if (shown !== at) set({ [of]: shown });
      frame = requestAnimationFrame(tick);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing, speed, of, set]);

  return { playing, speed, setSpeed, toggle: () => setPlaying((on) => !on), stop: () => setPlaying(false) };
}

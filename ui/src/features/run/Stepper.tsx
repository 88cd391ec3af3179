import { ChevronLeft, ChevronRight, SkipBack, SkipForward } from "lucide-react";
import { useEffect } from "react";
import type { EventRow } from "../../ipc/client";
import { useWindow } from "../../lib/store";
import "./run.css";

interface StepperProps {
  run: number;
  events: EventRow[];
  /** Sequence number of the event that is shown; null means the last. */
  cursor: number | null;
}

/** Moves through a run event by event. The window shows the run as it was right after the chosen event. */
export function Stepper({ run, events, cursor }: StepperProps) {
  const set = useWindow((s) => s.set);
  const last = events.length - 1;
  const at = cursor === null ? last : events.findIndex((e) => e.seq === cursor);
  const past = at < last;

  const go = (index: number) => {
    const to = Math.min(last, Math.max(0, index));
    set({ cursor: to === last ? null : (events[to]?.seq ?? null) });
  };

  useEffect(() => {
    const keys: Record<string, () => number> = {
      ArrowLeft: () => at - 1,
      ArrowRight: () => at + 1,
      Home: () => 0,
      End: () => last,
    };
    const press = (event: KeyboardEvent) => {
      const busy =
        event.target instanceof HTMLElement && event.target.closest("input, textarea, select, .cm-editor, [role=tab]");
      const to = keys[event.key];
      if (!to || busy || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      go(to());
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  });

  const button = (label: string, Icon: typeof SkipBack, to: number, disabled: boolean) => (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={label}
      disabled={disabled}
      onClick={() => go(to)}
      data-testid={`event-${label.split(" ")[0]!.toLowerCase()}`}
    >
      <Icon size={15} />
    </button>
  );

  return (
    <div className="stepper" data-past={past || undefined}>
      {button("First event (Home)", SkipBack, 0, at <= 0)}
      {button("Back (←)", ChevronLeft, at - 1, at <= 0)}
      {button("Forward (→)", ChevronRight, at + 1, !past)}
      {button("Last event (End)", SkipForward, last, !past)}
      <input
        type="range"
        data-testid="event-slider"
        aria-label="Event"
        aria-valuetext={`event ${at + 1} of ${events.length}`}
        min={1}
        max={Math.max(1, events.length)}
        value={at + 1}
        onChange={(e) => go(Number(e.target.value) - 1)}
      />
      <span className="stepper-label" data-testid="event-position">
        Run {run} at event {at + 1} of {events.length}
      </span>
      <span className="muted truncate">{events[at]?.text}</span>
    </div>
  );
}

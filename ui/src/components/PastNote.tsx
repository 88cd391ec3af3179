import { History } from "lucide-react";
import { count } from "../lib/format";
import { useWindow, type CursorOf } from "../lib/store";

/** An event of a run, as something to look at. */
export interface Instant {
  run: number;
  /** Number of the event after which the run is shown. */
  at: number;
  /** Number of its newest event. */
  last: number;
  /** The cursor that goes elsewhere. */
  of: CursorOf;
}

/** Says of a panel whose moment it shows. What is past is marked, and nothing in it can be changed. */
export function PastNote({ instant: { run, at, last, of } }: { instant: Instant }) {
  const set = useWindow((s) => s.set);
  const past = at < last;
  return (
    <p className="past-note" data-past={past || undefined} data-testid="past-note">
      <History size={12} aria-hidden />
      <span className="truncate grow">
        Run {run}, {past ? `event ${count(at)} of ${count(last)}` : "newest event"} · read only
      </span>
      {past && (
        <button type="button" className="link" onClick={() => set({ [of]: null })}>
          Newest
        </button>
      )}
    </p>
  );
}

/** Long work in one line: what, how far, and the way out of it. */
import { X } from "lucide-react";
import { useEffect, useState } from "react";
import { client, type LongWork, type WorkKind } from "../ipc/client";
import { useWork, workAmount, workTitle } from "../lib/work";
import "./work.css";

/** What is over sooner than this never shows. */
const SOON_MS = 300;

interface ProgressProps {
  title: string;
  /** Of 1; null where nobody knows. */
  part: number | null;
  amount: string;
  onCancel: (() => void) | null;
}

export function Progress({ title, part, amount, onCancel }: ProgressProps) {
  const percent = part === null ? undefined : Math.round(Math.min(1, part) * 100);
  return (
    <div className="work" data-testid="work">
      <span className="truncate" title={title}>
        {title}
      </span>
      <div
        className="bar"
        role="progressbar"
        aria-label={title}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        data-unknown={percent === undefined || undefined}
      >
        <span style={{ width: percent === undefined ? undefined : `${percent}%` }} />
      </div>
      <span className="muted work-amount">{amount}</span>
      {onCancel && (
        <button type="button" className="button small" data-testid="work-cancel" onClick={onCancel}>
          <X size={12} aria-hidden /> Cancel
        </button>
      )}
    </div>
  );
}

/** All work of some kinds that is under way for longer than a moment. */
export function WorkProgress({ kinds }: { kinds: readonly WorkKind[] }) {
  const works = useWork((s) => s.works);
  return works.filter((work) => kinds.includes(work.kind)).map((work) => <OneWork key={work.id} work={work} />);
}

function OneWork({ work }: { work: LongWork }) {
  const [shown, setShown] = useState(false);
  const [asked, setAsked] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SOON_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!shown) return null;
  return (
    <Progress
      title={asked ? `Cancelling: ${workTitle(work)}` : workTitle(work)}
      part={work.total === 0 ? null : work.done / work.total}
      amount={workAmount(work)}
      onCancel={
        asked
          ? null
          : () => {
              setAsked(true);
              void client.cancelWork(work.id);
            }
      }
    />
  );
}

import { CircleCheck, CircleDot, CirclePlus, CircleX, EyeOff, Hourglass, Pencil } from "lucide-react";
import type { Classification, Outcome, RunOutcome } from "../ipc/client";
import { OUTCOME, RUN_OUTCOME } from "../lib/words";

const OUTCOME_ICON = {
  kept: CircleCheck,
  hidden: EyeOff,
  dropped: CircleX,
  added: CirclePlus,
  rewritten: Pencil,
  deferred: Hourglass,
  not_chosen: CircleDot,
};

/** An outcome is never told by colour alone: it has an icon and a word. */
export function OutcomeBadge({ of }: { of: Outcome }) {
  const Icon = OUTCOME_ICON[of];
  return (
    <span className="badge" data-outcome={of}>
      <Icon size={12} aria-hidden /> {OUTCOME[of]}
    </span>
  );
}

export function ClassificationBadge({ of }: { of: Classification }) {
  return (
    <span className="badge" data-classification={of}>
      {of}
    </span>
  );
}

export function RunOutcomeBadge({ of, paused }: { of: RunOutcome | null; paused?: boolean }) {
  return (
    <span className="badge" data-run-outcome={of ?? "running"}>
      {of !== null ? RUN_OUTCOME[of] : paused ? "Paused" : "Running"}
    </span>
  );
}

export function Rule({ id }: { id: string }) {
  return <code className="rule">{id}</code>;
}

import {
  CircleCheck,
  CircleDashed,
  CircleDot,
  CircleMinus,
  CircleSlash,
  CircleX,
  Clock,
  LoaderCircle,
} from "lucide-react";
import type { StepStatus } from "../ipc/client";
import { STATUS } from "../lib/words";

const ICON = {
  pending: CircleDashed,
  ready: CircleDot,
  running: LoaderCircle,
  waiting: Clock,
  succeeded: CircleCheck,
  failed: CircleX,
  skipped: CircleMinus,
  cancelled: CircleSlash,
};

export function StatusIcon({ status }: { status: StepStatus }) {
  const Icon = ICON[status];
  return (
    <span className={`status status-${status}`} title={STATUS[status]}>
      <Icon size={14} aria-label={STATUS[status]} />
    </span>
  );
}

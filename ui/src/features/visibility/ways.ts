/** The ways between the states of a session, as they are drawn. What really happens is for Rust to decide. */
import type { ExecutionState } from "../../ipc/client";

export interface Way {
  from: ExecutionState;
  to: ExecutionState;
  label: string;
  /** How far the curve bends, in pixels: above the states, or below where negative. */
  bend: number;
  /** It can be taken from where the session is. */
  open: boolean;
}

const WAYS: Omit<Way, "open">[] = [
  { from: "REQUEST", to: "REASONING", label: "message", bend: 44 },
  { from: "REASONING", to: "ACTION", label: "select an intent", bend: 44 },
  { from: "ACTION", to: "REASONING", label: "message, recover", bend: -40 },
  { from: "REASONING", to: "REQUEST", label: "reset", bend: -40 },
  { from: "ACTION", to: "REQUEST", label: "reset", bend: -88 },
];

/** `selectable`: there is an intent that could be selected. */
export function waysFrom(state: ExecutionState, selectable: boolean): Way[] {
  return WAYS.map((way) => ({ ...way, open: way.from === state && (way.to !== "ACTION" || selectable) }));
}

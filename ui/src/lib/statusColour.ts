import type { StepStatus } from "../ipc/client";
import type { Palette } from "./palette";

/** The colour that a status has in every panel. */
export const STATUS_COLOUR: Record<StepStatus, keyof Palette> = {
  pending: "hidden",
  ready: "deferred",
  running: "added",
  waiting: "rewritten",
  succeeded: "kept",
  failed: "dropped",
  skipped: "hidden",
  cancelled: "hidden",
};

/** The domain's words as they stand on screen. One per thing, the same in every panel. */
import type {
  Change,
  Gate,
  IntentStatus,
  LabMethod,
  Outcome,
  ReplyPath,
  RunOutcome,
  Severity,
  StepStatus,
} from "../ipc/client";

export const OUTCOME: Record<Outcome, string> = {
  kept: "Kept",
  hidden: "Hidden",
  dropped: "Dropped",
  added: "Added",
  rewritten: "Rewritten",
  deferred: "Deferred",
  not_chosen: "Not chosen",
};

export const GATE: Record<Gate, string> = {
  registered: "Registered",
  policy: "Policy",
  visibility: "Visibility",
  mode: "Mode",
  state: "State",
  loading: "Loading",
  retrieved: "Retrieved",
  proposed: "Proposed",
  whitelist: "Whitelist",
  applicability: "Applicability",
  arguments: "Arguments",
  schema: "Schema",
  planned: "Planned",
  executed: "Executed",
};

export const PATH: Record<ReplyPath, string> = {
  native: "Native tool calls",
  json: "JSON in the text",
  free_text: "Free text",
  fallback: "Fallback to the offline planner",
  offline: "Offline planner",
};

export const STATUS: Record<StepStatus, string> = {
  pending: "Pending",
  ready: "Ready",
  running: "Running",
  waiting: "Waiting",
  succeeded: "Succeeded",
  failed: "Failed",
  skipped: "Skipped",
  cancelled: "Cancelled",
};

export const RUN_OUTCOME: Record<RunOutcome, string> = {
  succeeded: "Succeeded",
  partial: "Partial",
  failed: "Failed",
  cancelled: "Cancelled",
  interrupted: "Interrupted",
};

export const SUBJECT: Record<Change["subject"], string> = { step: "Step", verdict: "Verdict", tokens: "Tokens" };

export const SEVERITY: Record<Severity, string> = { error: "Error", warning: "Warning", info: "Info" };

export const METHOD: Record<LabMethod, string> = {
  exact: "Exact",
  regex: "Regex",
  lexical: "Lexical",
  semantic: "Semantic",
};

export const INTENT_STATUS: Record<IntentStatus, string> = {
  open: "Open",
  active: "Active",
  completed: "Completed",
  abandoned: "Abandoned",
  blocked: "Blocked",
};

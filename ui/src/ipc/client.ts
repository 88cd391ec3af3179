/**
 * The window's only way to Rust: every command as a function that returns its answer or throws a `Problem`.
 *
 * Nothing else imports the generated bindings or Tauri. In a plain browser, where there is no Rust, the same functions
 * talk to the in-browser host of `fake.ts`.
 */
import { getCurrentWebview } from "@tauri-apps/api/webview";
import { commands, events } from "./bindings";
import type * as B from "./bindings";

/**
 * Serde fills in defaults, so the bindings call such fields optional, although Rust always sends them and takes them
 * all. Inside the window every field is there; a `Value` is left as it is, because it is already complete.
 */
type Full<T> = [B.Value] extends [T]
  ? T
  : T extends (infer Item)[]
    ? Full<Item>[]
    : T extends object
      ? { [K in keyof T]-?: Full<Exclude<T[K], undefined>> }
      : T;

type Commands = typeof commands;
type FullAll<Args> = { [K in keyof Args]: Full<Args[K]> };
type AnswerOf<R> = R extends { status: "ok"; data: infer Data } ? Full<Data> : never;
type Command<F> = F extends (...args: infer Args) => Promise<infer R>
  ? (...args: FullAll<Args>) => Promise<AnswerOf<R>>
  : never;

export type RunAdvanced = Full<B.RunAdvanced>;

export type FilesDropped = { kind: "over" } | { kind: "leave" } | { kind: "drop"; paths: string[] };

/** What the window needs of the side that answers it. */
export type Host = { [Name in keyof Commands]: Command<Commands[Name]> } & {
  /** Calls `listener` whenever a run went on; returns the function that stops it. */
  onRunAdvanced(listener: (advanced: RunAdvanced) => void): Promise<() => void>;
  /** Calls `listener` while files are dragged over the window, and when they are dropped. */
  onFilesDropped(listener: (event: FilesDropped) => void): Promise<() => void>;
};

/** Something that could not be done, in words for a person: the thing, and the remedy. */
export class Problem extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(problem: B.Problem) {
    super(problem.message);
    this.name = "Problem";
    this.code = problem.code;
    this.hint = problem.hint;
  }

  /** Reads whatever was thrown: Rust's problem, a JavaScript error, or Tauri's bare string. */
  static from(thrown: unknown): Problem {
    if (thrown instanceof Problem) return thrown;
    if (isProblem(thrown)) return new Problem(thrown);
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new Problem({ code: "window.unexpected", message, hint: "Try again; if it stays, restart Toolplan." });
  }
}

function isProblem(thrown: unknown): thrown is B.Problem {
  if (typeof thrown !== "object" || thrown === null) return false;
  const { code, message, hint } = thrown as Record<string, unknown>;
  return typeof code === "string" && typeof message === "string" && typeof hint === "string";
}

type Reply = { status: "ok"; data: unknown } | { status: "error"; error: unknown };

/** The answer inside the reply of a command, or a throw of its problem. */
export async function unwrap(reply: Promise<Reply>): Promise<unknown> {
  let settled: Reply;
  try {
    settled = await reply;
  } catch (thrown) {
    throw Problem.from(thrown);
  }
  if (settled.status === "error") throw Problem.from(settled.error);
  return settled.data;
}

function tauriHost(): Host {
  const unwrapped = Object.entries(commands).map(([name, command]) => {
    const call = command as (...args: unknown[]) => Promise<Reply>;
    return [name, (...args: unknown[]) => unwrap(call(...args))] as const;
  });
  return {
    // The types were computed from the same table that is walked here.
    ...(Object.fromEntries(unwrapped) as unknown as Omit<Host, "onRunAdvanced" | "onFilesDropped">),
    onFilesDropped: (listener) =>
      getCurrentWebview().onDragDropEvent(({ payload }) => {
        if (payload.type === "drop") listener({ kind: "drop", paths: payload.paths });
        else listener({ kind: payload.type === "leave" ? "leave" : "over" });
      }),
    onRunAdvanced: (listener) => events.runAdvanced.listen((event) => listener(event.payload as RunAdvanced)),
  };
}

const insideTauri = typeof window !== "undefined" && "__TAURI_INTERNALS__" in window;

/** Loaded on first use, so that the desktop window never fetches the fake's data. */
let host: Promise<Host> | null = null;
const loadHost = async (): Promise<Host> => (insideTauri ? tauriHost() : (await import("./fake")).createHost());

/** Calls go through this object, so that a test or the fake can stand in without the callers knowing. */
export const client = new Proxy({} as Host, {
  get:
    (_, name: keyof Host) =>
    async (...args: unknown[]) => {
      host ??= loadHost();
      const call = (await host)[name] as (...args: unknown[]) => Promise<unknown>;
      return call(...args);
    },
});

export type AnswerSource = Full<B.AnswerSource>;
export type BreakOn = Full<B.BreakOn>;
export type Breakpoint = Full<B.Breakpoint>;
export type Divergence = Full<B.Divergence>;
export type Fault = Full<B.Fault>;
export type FaultRule = Full<B.FaultRule>;
export type Fork = Full<B.Fork>;
export type ForkChange = Full<B.ForkChange>;
export type ForkPreview = Full<B.ForkPreview>;
export type Go = Full<B.Go>;
export type Imported = Full<B.Imported>;
export type OriginLink = Full<B.OriginLink>;
export type PauseReason = Full<B.PauseReason>;
export type PlanDiff = Full<B.PlanDiff>;
export type ReplayPolicy = Full<B.ReplayPolicy>;
export type RunControlState = Full<B.RunControlState>;
export type RunDiff = Full<B.RunDiff>;
export type RunOptions = Full<B.RunOptions>;
export type RunTree = Full<B.RunTree>;
export type StepDiff = Full<B.StepDiff>;
export type Storage = Full<B.Storage>;
export type Timeline = Full<B.Timeline>;
export type TimelineAttempt = Full<B.TimelineAttempt>;
export type TimelineStep = Full<B.TimelineStep>;
export type Exported = Full<B.Exported>;
export type Pruned = Full<B.Pruned>;
export type ErrorClass = B.ErrorClass;
export type Operator = B.Operator;
export type Age = B.Age;
export type AppInfo = Full<B.AppInfo>;
export type Applicability = Full<B.Applicability>;
export type Attempt = Full<B.Attempt>;
export type BulkDone = Full<B.BulkDone>;
export type BulkPreview = Full<B.BulkPreview>;
export type CapabilitySettings = Full<B.CapabilitySettings>;
export type CapabilitySuggestion = Full<B.CapabilitySuggestion>;
export type CatalogDiff = Full<B.CatalogDiff>;
export type CatalogFilter = Full<B.CatalogFilter>;
export type CatalogHistory = Full<B.CatalogHistory>;
export type CatalogItem = Full<B.CatalogItem>;
export type CatalogPage = Full<B.CatalogPage>;
export type CatalogQuery = Full<B.CatalogQuery>;
export type CatalogRevision = Full<B.CatalogRevision>;
export type CatalogRow = Full<B.CatalogRow>;
export type CatalogSort = B.CatalogSort;
export type Category = B.Category;
export type Change = Full<B.Change>;
export type Classification = B.Classification;
export type Directory = Full<B.Directory>;
export type DiscoverySettings = Full<B.DiscoverySettings>;
export type EventRow = Full<B.EventRow>;
export type EventPage = Full<B.EventPage>;
export type Evidence = Full<B.Evidence>;
export type ExecutionState = B.ExecutionState;
export type Facet = Full<B.Facet>;
export type FacetName = B.FacetName;
export type FieldChange = Full<B.FieldChange>;
export type Finding = Full<B.Finding>;
export type FunnelRow = Full<B.FunnelRow>;
export type Gate = B.Gate;
export type GraphEdge = Full<B.GraphEdge>;
export type GraphStep = Full<B.GraphStep>;
export type GraphView = Full<B.GraphView>;
export type GuardedCall = Full<B.GuardedCall>;
export type GuardReport = Full<B.GuardReport>;
export type GuidanceLine = Full<B.GuidanceLine>;
export type GuidanceReport = Full<B.GuidanceReport>;
export type Intent = Full<B.Intent>;
export type IntentStatus = B.IntentStatus;
export type IntentView = Full<B.IntentView>;
export type LabMethod = B.LabMethod;
export type LabRow = Full<B.LabRow>;
export type Lint = Full<B.Lint>;
export type LintPage = Full<B.LintPage>;
export type LintQuery = Full<B.LintQuery>;
export type Loading = B.Loading;
export type MatchedField = Full<B.MatchedField>;
export type MatrixOnly = B.MatrixOnly;
export type MatrixPage = Full<B.MatrixPage>;
export type MatrixQuery = Full<B.MatrixQuery>;
export type MatrixRow = Full<B.MatrixRow>;
export type ModelInfo = Full<B.ModelInfo>;
export type Needs = Full<B.Needs>;
export type Outcome = B.Outcome;
export type Planner = B.Planner;
export type Planning = Full<B.Planning>;
export type PolicyImport = Full<B.PolicyImport>;
export type PlanningEntry = Full<B.PlanningEntry>;
export type PlanningView = Full<B.PlanningView>;
export type PlanView = Full<B.PlanView>;
export type PromptBlocks = Full<B.PromptBlocks>;
export type ReplyPath = B.ReplyPath;
export type Request = Full<B.Request>;
export type RevisionRow = Full<B.RevisionRow>;
export type RunDetail = Full<B.RunDetail>;
export type Mark = Full<B.Mark>;
export type RunAt = Full<B.RunAt>;
export type RunMarks = Full<B.RunMarks>;
export type RunOutcome = B.RunOutcome;
export type RunState = Full<B.RunState>;
export type RunSummary = Full<B.RunSummary>;
export type SampleQuery = Full<B.SampleQuery>;
export type Savings = Full<B.Savings>;
export type SavingsRow = Full<B.SavingsRow>;
export type SearchLab = Full<B.SearchLab>;
export type SearchQuery = Full<B.SearchQuery>;
export type SearchType = B.SearchType;
export type Selection = Full<B.Selection>;
export type SessionEvent = Full<B.SessionEvent>;
export type SessionState = Full<B.SessionState>;
export type SessionView = Full<B.SessionView>;
export type Settings = Full<B.Settings>;
export type Severity = B.Severity;
export type SideEffects = B.SideEffects;
export type Source = Full<B.Source>;
export type StageView = Full<B.StageView>;
export type StateTokens = Full<B.StateTokens>;
export type StepSpec = Full<B.StepSpec>;
export type StepState = Full<B.StepState>;
export type StepStatus = B.StepStatus;
export type Suggestion = Full<B.Suggestion>;
export type TokenReport = Full<B.TokenReport>;
export type ToolDetail = Full<B.ToolDetail>;
export type ToolDiff = Full<B.ToolDiff>;
export type ToolPatch = Full<B.ToolPatch>;
export type ToolSpec = Full<B.ToolSpec>;
export type ToolStats = Full<B.ToolStats>;
export type Trail = Full<B.Trail>;
export type TurnRecord = Full<B.TurnRecord>;
export type TurnTokens = Full<B.TurnTokens>;
export type UndoState = Full<B.UndoState>;
export type Value = B.Value;
export type Verdict = Full<B.Verdict>;
export type WhyQuery = Full<B.WhyQuery>;
export type WhyRow = Full<B.WhyRow>;

export const EXECUTION_STATES: readonly ExecutionState[] = ["REQUEST", "REASONING", "ACTION"];

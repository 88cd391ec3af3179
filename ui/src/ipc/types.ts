/** What crosses between Rust and the window, as the window reads it: the generated bindings with every field there. */
import type * as B from "./bindings";

/**
 * Serde fills in defaults, so the bindings call such fields optional, although Rust always sends them and takes them
 * all. Inside the window every field is there; a `Value` is left as it is, because it is already complete.
 */
export type Full<T> = [B.Value] extends [T]
  ? T
  : T extends (infer Item)[]
    ? Full<Item>[]
    : T extends object
      ? { [K in keyof T]-?: Full<Exclude<T[K], undefined>> }
      : T;

export type AnswerSource = Full<B.AnswerSource>;
export type AppInfo = Full<B.AppInfo>;
export type Applicability = Full<B.Applicability>;
export type Attempt = Full<B.Attempt>;
export type BreakOn = Full<B.BreakOn>;
export type Breakpoint = Full<B.Breakpoint>;
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
export type Change = Full<B.Change>;
export type Directory = Full<B.Directory>;
export type DiscoverySettings = Full<B.DiscoverySettings>;
export type Divergence = Full<B.Divergence>;
export type EventPage = Full<B.EventPage>;
export type EventRow = Full<B.EventRow>;
export type Evidence = Full<B.Evidence>;
export type Exported = Full<B.Exported>;
export type Facet = Full<B.Facet>;
export type Fault = Full<B.Fault>;
export type FaultRule = Full<B.FaultRule>;
export type FieldChange = Full<B.FieldChange>;
export type Finding = Full<B.Finding>;
export type Fork = Full<B.Fork>;
export type ForkChange = Full<B.ForkChange>;
export type ForkPreview = Full<B.ForkPreview>;
export type FunnelRow = Full<B.FunnelRow>;
export type Go = Full<B.Go>;
export type GraphEdge = Full<B.GraphEdge>;
export type GraphStep = Full<B.GraphStep>;
export type GraphView = Full<B.GraphView>;
export type GuardReport = Full<B.GuardReport>;
export type GuardedCall = Full<B.GuardedCall>;
export type GuidanceLine = Full<B.GuidanceLine>;
export type GuidanceReport = Full<B.GuidanceReport>;
export type Imported = Full<B.Imported>;
export type Intent = Full<B.Intent>;
export type IntentView = Full<B.IntentView>;
export type LabRow = Full<B.LabRow>;
export type Lint = Full<B.Lint>;
export type LintPage = Full<B.LintPage>;
export type LintQuery = Full<B.LintQuery>;
export type Mark = Full<B.Mark>;
export type MatchedField = Full<B.MatchedField>;
export type MatrixPage = Full<B.MatrixPage>;
export type MatrixQuery = Full<B.MatrixQuery>;
export type MatrixRow = Full<B.MatrixRow>;
export type ModelInfo = Full<B.ModelInfo>;
export type Needs = Full<B.Needs>;
export type OriginLink = Full<B.OriginLink>;
export type PauseReason = Full<B.PauseReason>;
export type PlanDiff = Full<B.PlanDiff>;
export type PlanView = Full<B.PlanView>;
export type Planning = Full<B.Planning>;
export type PlanningEntry = Full<B.PlanningEntry>;
export type PlanningView = Full<B.PlanningView>;
export type PolicyImport = Full<B.PolicyImport>;
export type PromptBlocks = Full<B.PromptBlocks>;
export type Pruned = Full<B.Pruned>;
export type ReplayPolicy = Full<B.ReplayPolicy>;
export type Request = Full<B.Request>;
export type RevisionRow = Full<B.RevisionRow>;
export type RunAdvanced = Full<B.RunAdvanced>;
export type RunAt = Full<B.RunAt>;
export type LongWork = Full<B.LongWork>;
export type WorkAdvanced = Full<B.WorkAdvanced>;
export type WorkKind = B.WorkKind;
export type ToolAt = Full<B.ToolAt>;
export type ToolsAt = Full<B.ToolsAt>;
export type ToolThen = Full<B.ToolThen>;
export type RunControlState = Full<B.RunControlState>;
export type RunDetail = Full<B.RunDetail>;
export type RunDiff = Full<B.RunDiff>;
export type RunMarks = Full<B.RunMarks>;
export type RunOptions = Full<B.RunOptions>;
export type RunState = Full<B.RunState>;
export type RunSummary = Full<B.RunSummary>;
export type RunTree = Full<B.RunTree>;
export type SampleQuery = Full<B.SampleQuery>;
export type Savings = Full<B.Savings>;
export type SavingsRow = Full<B.SavingsRow>;
export type SearchLab = Full<B.SearchLab>;
export type SearchQuery = Full<B.SearchQuery>;
export type Selection = Full<B.Selection>;
export type SessionEvent = Full<B.SessionEvent>;
export type SessionState = Full<B.SessionState>;
export type SessionView = Full<B.SessionView>;
export type Settings = Full<B.Settings>;
export type Source = Full<B.Source>;
export type StageView = Full<B.StageView>;
export type StateTokens = Full<B.StateTokens>;
export type StepDiff = Full<B.StepDiff>;
export type StepSpec = Full<B.StepSpec>;
export type StepState = Full<B.StepState>;
export type Storage = Full<B.Storage>;
export type Suggestion = Full<B.Suggestion>;
export type Timeline = Full<B.Timeline>;
export type TimelineAttempt = Full<B.TimelineAttempt>;
export type TimelineStep = Full<B.TimelineStep>;
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
export type Verdict = Full<B.Verdict>;
export type WhyQuery = Full<B.WhyQuery>;
export type WhyRow = Full<B.WhyRow>;

// Names and unions, which have no fields to fill.
export type Age = B.Age;
export type CatalogSort = B.CatalogSort;
export type Category = B.Category;
export type Classification = B.Classification;
export type ErrorClass = B.ErrorClass;
export type ExecutionState = B.ExecutionState;
export type FacetName = B.FacetName;
export type Gate = B.Gate;
export type IntentStatus = B.IntentStatus;
export type LabMethod = B.LabMethod;
export type Loading = B.Loading;
export type MatrixOnly = B.MatrixOnly;
export type Operator = B.Operator;
export type Outcome = B.Outcome;
export type Planner = B.Planner;
export type ReplyPath = B.ReplyPath;
export type RunOutcome = B.RunOutcome;
export type SearchType = B.SearchType;
export type Severity = B.Severity;
export type SideEffects = B.SideEffects;
export type StepStatus = B.StepStatus;
export type Value = B.Value;

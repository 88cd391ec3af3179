//! What the window and the CLI receive. Shapes only: everything in them was decided elsewhere.

pub mod catalog;
mod past;

pub use past::*;

use serde::{Deserialize, Serialize};
use toolplan_engine::{
    Problem,
    planning::Planning,
    request::Request,
    run::{Breakpoint, Go, JournalEntry, PauseReason, RunId, RunOutcome, RunState, StepStatus},
    settings::Settings,
    tokens::TokenCost,
    tool::{Category, Classification, Loading, Revision, SideEffects, ToolSpec},
    verdict::{Gate, Outcome, Trail},
};

/// Everything the window needs before the first query.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct AppInfo {
    pub version: String,
    pub workspace: WorkspaceInfo,
    pub provider: ProviderInfo,
    pub embedding_model: ModelInfo,
    pub settings: Settings,
    pub revision: Revision,
    pub samples: Vec<SampleQuery>,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct WorkspaceInfo {
    pub name: String,
    /// The folder that file tools may read.
    pub root: String,
    /// The SQLite file.
    pub database: String,
    pub is_sample: bool,
    pub tools: u32,
    /// Troubles found while opening: shown, not fatal.
    pub notices: Vec<Problem>,
}

/// The model provider that the environment configures.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ProviderInfo {
    pub configured: bool,
    /// `anthropic/claude-sonnet-4`, or `offline`.
    pub label: String,
    /// A sentence for the status bar: what is used and how to change it.
    pub note: String,
}

/// The local model that finds tools by meaning (D-04).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ModelInfo {
    pub installed: bool,
    /// `all-MiniLM-L6-v2`, or `words only`.
    pub label: String,
    /// A sentence: how tools are found now, and how to change it.
    pub note: String,
    /// Tools of this workspace whose vectors are at hand, and all of its tools.
    pub indexed: u32,
    pub total: u32,
    /// Vectors are being made right now.
    pub indexing: bool,
    /// Tools are found by words and by meaning. False: by words alone.
    pub in_use: bool,
    /// Why the model or its vectors cannot be used.
    pub problem: Option<Problem>,
}

/// A query to start from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct SampleQuery {
    pub title: String,
    /// What it shows, in a sentence.
    pub shows: String,
    pub request: Request,
}

/// A planned query, ready to draw.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PlanView {
    /// Names this planning in later calls.
    pub id: u32,
    pub planning: Planning,
    pub graph: GraphView,
    /// What differs from the planning that was named as the previous one.
    pub changes: Vec<Change>,
    /// Milliseconds of the decision, without the model's.
    pub decided_in_ms: f64,
}

/// The stage graph without positions: the window lays it out.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct GraphView {
    pub stages: Vec<StageView>,
    pub steps: Vec<GraphStep>,
    pub edges: Vec<GraphEdge>,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct StageView {
    /// From 1.
    pub number: u32,
    pub steps: Vec<String>,
    /// The longest expected duration in the stage, milliseconds; null when one is unknown.
    pub bound_ms: Option<f64>,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct GraphStep {
    pub id: String,
    pub tool: String,
    /// From 1.
    pub stage: u32,
    pub classification: Classification,
    /// The argument that matters, as `name: value`, middle-truncated.
    pub key_argument: String,
    pub expected_ms: Option<u32>,
    pub fallback: Option<String>,
    pub critical: bool,
    pub on_critical_path: bool,
    /// A rule put the call in, or audit mode let it through.
    pub mark: Option<Outcome>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// A result flows along it.
    Data,
    /// Order only.
    Order,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct GraphEdge {
    pub from: String,
    pub to: String,
    pub kind: EdgeKind,
    /// For data edges, what flows: `argument ← /path`.
    pub label: String,
    /// Other edges already say so: drawn only on demand.
    pub implied: bool,
}

/// One difference between two plannings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Change {
    pub subject: ChangeSubject,
    /// Step id, tool name or state name.
    pub name: String,
    pub before: String,
    pub after: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ChangeSubject {
    /// A step joined, left or was altered.
    Step,
    /// The tool's deciding verdict.
    Verdict,
    /// Tokens of the visible set in a state.
    Tokens,
}

/// One row of the catalog table for a request.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CatalogRow {
    pub name: String,
    pub title: Option<String>,
    pub namespace: String,
    pub group: String,
    pub category: Category,
    pub classification: Classification,
    pub loading: Loading,
    pub side_effects: SideEffects,
    pub tags: Vec<String>,
    pub tokens: u32,
    /// The model sees it in the request's context.
    pub visible: bool,
    /// Where the tool's way ended for the open query: the deciding gate, or the last one it passed.
    pub gate: Gate,
    pub outcome: Outcome,
    pub reason: String,
    /// False: it can be planned, not run.
    pub runnable: bool,
}

/// A tool with everything the inspector shows.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ToolDetail {
    pub spec: ToolSpec,
    pub cost: TokenCost,
    pub trail: Trail,
    pub history: Vec<RevisionRow>,
    pub stats: Option<ToolStats>,
}

/// One revision of a tool (K-04).
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RevisionRow {
    pub revision: Revision,
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    pub author: String,
    /// The fields that changed against the revision before; empty for the first.
    pub changed: Vec<FieldChange>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct FieldChange {
    pub field: String,
    pub before: String,
    pub after: String,
}

/// How a tool has behaved so far (K-03). Durations in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ToolStats {
    pub calls: u32,
    pub failures: u32,
    pub retries: u32,
    pub timeouts: u32,
    pub average_ms: f64,
    pub p50_ms: f64,
    pub p95_ms: f64,
    /// 0..1
    pub failure_rate: f64,
    /// 0..1, over the calls that reported one.
    pub average_confidence: Option<f64>,
    /// Calls that the result cache answered instead.
    pub cache_hits: u32,
}

/// A row of the list of runs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RunSummary {
    pub id: RunId,
    pub query: String,
    pub started_ms: u64,
    pub duration_ms: Option<u64>,
    /// Null while it runs.
    pub outcome: Option<RunOutcome>,
    pub steps: u32,
    pub succeeded: u32,
    pub catalog_revision: Revision,
    pub planner: String,
    /// Kept whatever the retention says.
    pub pinned: bool,
    /// It came from a file.
    pub imported: bool,
    /// Of a replay or fork: where it comes from.
    pub origin: Option<OriginLink>,
    /// Of a replay that was held against its origin.
    pub faithful: Option<bool>,
}

/// A run with its journal.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RunDetail {
    pub summary: RunSummary,
    /// At the last event; `planning` is inside.
    pub state: RunState,
    pub graph: GraphView,
    /// The first [`MOST_EVENTS`]; `run_events` gives any others.
    pub events: Vec<EventRow>,
    pub event_count: u32,
}

/// How many events a [`RunDetail`] carries.
pub const MOST_EVENTS: usize = 5_000;

/// One event as a line of the log.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct EventRow {
    pub seq: u32,
    pub at_ms: u64,
    /// `attempt_started`, `step_failed` …
    pub kind: String,
    /// Empty for events about the whole run.
    pub step: String,
    /// A sentence.
    pub text: String,
}

impl EventRow {
    pub fn of(entry: &JournalEntry) -> Self {
        crate::describe::event_row(entry)
    }
}

/// What can be done with a run now (O-07).
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RunControlState {
    pub run: RunId,
    /// This process drives it.
    pub live: bool,
    /// It was interrupted and can be gone on with.
    pub resumable: bool,
    pub paused: Option<PauseReason>,
    /// Why it is paused, in words; empty when it is not.
    pub pause_text: String,
    pub go: Go,
    pub breakpoints: Vec<Breakpoint>,
    /// Steps whose outcome is unknown and that are called again only when a person confirms it (O-10).
    pub unconfirmed: Vec<String>,
    /// Steps that wait for a slot, the next one first (O-01).
    pub queue: Vec<String>,
}

/// Where a run's time went (W-05). Times are milliseconds after the start of the run.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Timeline {
    pub steps: Vec<TimelineStep>,
    /// Ids on the longest path, by the durations that were measured.
    pub critical_path: Vec<String>,
    pub critical_path_ms: f64,
    pub wall_ms: f64,
    /// The steps one after the other.
    pub sum_ms: f64,
    /// `sum_ms` against the time in which any step was at work, standing still left out; null when nothing took time, or
    /// everything came from the cache.
    pub speed_up: Option<f64>,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct TimelineStep {
    pub step: String,
    pub status: StepStatus,
    pub ready_ms: Option<f64>,
    /// How long it waited for a slot.
    pub queue_ms: Option<f64>,
    /// From the first call to the last answer.
    pub work_ms: f64,
    pub finished_ms: Option<f64>,
    pub attempts: Vec<TimelineAttempt>,
    pub on_critical_path: bool,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct TimelineAttempt {
    pub number: u32,
    pub tool: String,
    pub start_ms: f64,
    /// Null while it is under way, and when nobody knows.
    pub end_ms: Option<f64>,
    /// Between the attempt before and this one.
    pub pause_ms: f64,
    pub cached: bool,
    /// Cancelled before it answered.
    pub given_up: bool,
    /// Empty when it succeeded.
    pub error: String,
}

//! Shapes for what is done with runs that were: replays, forks, comparisons, files, storage.

use super::{EventRow, FieldChange, PlanView, RunSummary};
use serde::{Deserialize, Serialize};
use toolplan_engine::{
    Problem,
    compare::PlanDiff,
    replay::ForkCall,
    run::{ForkChange, ReplayPolicy, RunId, RunState, StepStatus},
    tokens::{TokenCost, TokenReport},
    tool::{Classification, Revision, ToolSpec},
    verdict::{Trail, Verdict},
};

/// How a derived run hangs on its origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct OriginLink {
    pub kind: OriginKind,
    /// Null when the origin is not in this workspace.
    pub run: Option<RunId>,
    /// The last event taken over from the origin.
    pub at: u32,
    /// What is different, in a sentence; empty for a replay.
    pub change: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum OriginKind {
    Replay,
    Fork,
}

/// Where a fork leaves its origin, and the one thing that is different.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Fork {
    pub change: ForkChange,
    /// The last event to take over; null takes the last one before the change can have an effect.
    pub at: Option<u32>,
}

/// What a fork will do, told before it starts.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ForkPreview {
    /// The last event that is taken over; 0 when the query is planned again.
    pub at: u32,
    /// Steps that are not called: what they gave is taken over.
    pub kept: Vec<String>,
    /// In the order in which they leave. A call that nobody answers is the last: the fork fails there.
    pub calls: Vec<PreviewedCall>,
    /// What the fork goes by: what was asked for, and for the other SAFE tools the record, else the tool.
    pub policy: ReplayPolicy,
}

/// A call that a fork will make.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PreviewedCall {
    #[serde(flatten)]
    pub call: ForkCall,
    /// Of the tool today; null when there is none of the name.
    pub classification: Option<Classification>,
    /// The tool itself is to be called, and today's gate refuses it.
    pub refused: Option<Problem>,
    /// Who answers and why, in a sentence.
    pub text: String,
}

/// A planning made anew from a recorded reply, with what flips.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Replanned {
    pub view: PlanView,
    /// From the run's planning to today's.
    pub diff: PlanDiff,
}

/// The runs that come from one another: the oldest at hand, its replays and forks, and theirs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RunTree {
    pub root: RunId,
    /// The root first, each after its origin.
    pub runs: Vec<RunSummary>,
}

/// A run as it was after one event. Its tools are many: [`ToolsAt`] has them by pages.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RunAt {
    #[serde(flatten)]
    pub state: RunState,
    /// Null before the query was planned. Tools that the run has activated by then count as part of the prompt.
    pub tokens: Option<TokenReport>,
    /// US dollars of the calls so far, where their cost is known.
    pub cost: f64,
}

/// Tools of the catalog as it was at the run, each with what had become of it after one event: those that the run has
/// to do with first, in the order of its plan, then the others.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ToolsAt {
    pub revision: Revision,
    /// All tools of that catalog; of an imported run, the tools that came with it.
    pub all: u32,
    /// Those that the text finds.
    pub total: u32,
    pub rows: Vec<ToolAt>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ToolAt {
    pub name: String,
    pub classification: Classification,
    /// It is the same today.
    pub unchanged: bool,
    /// It is gone today.
    pub removed: bool,
    /// How its steps stand: the one under way before the one that failed, those before the one that succeeded, and all
    /// before one that has not begun. Null: no step calls it.
    pub status: Option<StepStatus>,
    pub steps: u32,
    /// The first of its steps; empty without one.
    pub step: String,
    /// Calls that had left by then, retries included, and those of them that had failed.
    pub calls: u32,
    pub failures: u32,
    /// A search or a reading of records had brought it up.
    pub found: bool,
    /// Deferred, and part of the prompt since its first call.
    pub activated: bool,
    /// Where its way had led by then. Null before the query was planned.
    pub verdict: Option<Verdict>,
}

/// One tool as it was at the run, at one instant.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ToolThen {
    pub at: ToolAt,
    pub spec: ToolSpec,
    pub cost: TokenCost,
    pub trail: Trail,
    /// From then to today; empty when it is the same, or gone.
    pub changed: Vec<FieldChange>,
}

/// Some rows of a run's log.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct EventPage {
    pub rows: Vec<EventRow>,
    /// How many the filter lets through.
    pub total: u32,
    /// All events of the run.
    pub events: u32,
}

/// What playing a run needs: when its events happened, thinned out to at most [`MOST_MARKS`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RunMarks {
    pub marks: Vec<Mark>,
    pub last_seq: u32,
}

/// How many marks a [`RunMarks`] has at most, failures always among them.
pub const MOST_MARKS: usize = 2_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Mark {
    pub seq: u32,
    /// Milliseconds since the first event.
    pub after_ms: u64,
    /// Something failed here.
    pub failure: bool,
}

/// A file that a run was written to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Exported {
    pub path: String,
    pub events: u32,
    pub bytes: u64,
}

/// What became of one file. A broken one is taken as far as it goes, with the problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Imported {
    pub path: String,
    /// Null: nothing could be taken.
    pub run: Option<RunId>,
    pub events: u32,
    /// The very run was here already; `run` is that one.
    pub already: bool,
    pub problem: Option<Problem>,
}

/// What the workspace takes on the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Storage {
    /// The database and its log.
    pub file_bytes: u64,
    /// Bytes in the file that are free for what comes.
    pub free_bytes: u64,
    pub kinds: Vec<StorageKind>,
    pub runs: u32,
    pub pinned: u32,
    /// Milliseconds since 1970-01-01 UTC; null without runs.
    pub oldest_ms: Option<u64>,
}

/// Rows of one kind and the bytes of their contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct StorageKind {
    /// `events`, `runs`, `tools`, `statistics`, `settings`.
    pub kind: String,
    pub rows: u32,
    pub bytes: u64,
}

/// What pruning took away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Pruned {
    pub runs: u32,
    pub events: u32,
    pub bytes: u64,
}

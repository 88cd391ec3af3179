//! What can happen in a run. Variants are only ever added: every journal ever written stays readable.

use super::{
    breakpoint::Breakpoint,
    fault::Fault,
    options::{Go, PauseReason, RunOptions},
    origin::Origin,
};
use crate::{
    compare::Divergence,
    discovery::DiscoveryEvent,
    plan::PlanSpec,
    planning::Planning,
    ports::{ToolError, ToolResult},
    settings::Settings,
    tool::{Revision, ToolSpec},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One thing that happened in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunEvent {
    /// The query was planned; everything that was decided, with its reasons.
    Planned {
        planning: Box<Planning>,
    },
    /// The plan began to run. `plan` is what runs, after any edit.
    Started {
        plan: PlanSpec,
        catalog_revision: Revision,
        parallel_limit: u32,
        timeout_ms: u32,
        retry: crate::tool::RetryPolicy,
    },
    /// All dependencies of the step are done; it waits for a free slot (O-01).
    StepReady {
        step: String,
    },
    /// A call left for the tool. `arguments` are resolved: no references remain (P-08).
    AttemptStarted {
        step: String,
        /// From 1; counts on through the fallback.
        attempt: u32,
        tool: String,
        arguments: Map<String, Value>,
    },
    AttemptFinished {
        step: String,
        attempt: u32,
        duration_ms: u64,
        outcome: AttemptOutcome,
    },
    /// The next attempt waits for `delay_ms` (O-03).
    RetryScheduled {
        step: String,
        attempt: u32,
        delay_ms: u64,
    },
    /// The step's fallback takes over (O-05).
    FallbackStarted {
        step: String,
        tool: String,
        reason: String,
    },
    StepSucceeded {
        step: String,
    },
    StepFailed {
        step: String,
        error: ToolError,
    },
    StepSkipped {
        step: String,
        reason: Skip,
    },
    StepCancelled {
        step: String,
    },
    CancelRequested,
    Finished {
        outcome: RunOutcome,
        duration_ms: u64,
    },
    /// Tools were searched, read, activated or shown (D-08).
    Discovery {
        /// The step that did it; null while the query was planned.
        step: Option<String>,
        event: DiscoveryEvent,
    },
    /// What held when the plan began to run: the settings, and the tools that it may call. With it a journal stands on
    /// its own (R-01).
    Basis {
        settings: Box<Settings>,
        tools: Vec<ToolSpec>,
    },
    /// The run answers out of another one's record; the events before this one are the origin's (R-02, R-05).
    Derived {
        origin: Box<Origin>,
    },
    /// A replay was held against its origin: whether every decision was the same, else where the first was not.
    Compared {
        faithful: bool,
        divergence: Option<Box<Divergence>>,
    },
    /// An event that a newer Toolplan wrote: kept as it is, shown by its name, without effect.
    #[serde(skip)]
    Unknown {
        kind: String,
        body: Value,
    },
    /// What a person chose for this run; absent when nothing was chosen.
    Configured {
        options: Box<RunOptions>,
    },
    /// The attempt was answered from the result cache (O-08).
    CacheHit {
        step: String,
        attempt: u32,
        /// Since the call that gave the result ended; 0 when it was under way at the same time.
        age_ms: u32,
    },
    /// A fault on purpose strikes the attempt (O-12).
    FaultInjected {
        step: String,
        attempt: u32,
        fault: Fault,
    },
    /// The attempt's timeout does not come from the plan, but from the tool's history (O-11).
    TimeoutChosen {
        step: String,
        attempt: u32,
        timeout_ms: u32,
        reason: String,
    },
    /// The run came to a breakpoint (O-07); `Paused` follows.
    BreakpointHit {
        /// Empty: the run as a whole.
        step: String,
        /// The attempt that is about to start, or has just ended.
        attempt: u32,
        breakpoint: u32,
        /// The breakpoint in words.
        text: String,
    },
    /// Nothing starts and nothing is decided until `Resumed`; calls that are under way go on.
    Paused {
        reason: PauseReason,
    },
    Resumed {
        go: Go,
    },
    BreakpointsSet {
        breakpoints: Vec<Breakpoint>,
    },
    /// A person gave the step other arguments for its next call.
    ArgumentsEdited {
        step: String,
        arguments: Map<String, Value>,
    },
    /// A person gave the step a result, in place of the tool's or of a call.
    ResultEdited {
        step: String,
        result: ToolResult,
    },
    /// A person wants the step to be tried again; what was skipped because of it waits again.
    RetryRequested {
        step: String,
    },
    /// Somebody goes on with a run whose process died (O-10).
    Reopened {
        /// Steps that may be called again although nobody knows whether their call took effect.
        confirmed: Vec<String>,
    },
    /// The call was under way when the process died. `again`: it is harmless or confirmed, and made once more.
    OutcomeUnknown {
        step: String,
        attempt: u32,
        again: bool,
    },
    /// In a replay or fork: the attempt's call goes to the tool itself, not to the record (R-02, R-05).
    CalledLive {
        step: String,
        attempt: u32,
    },
}

impl RunEvent {
    /// The variant's name, as it stands in the journal.
    pub fn kind(&self) -> &str {
        match self {
            Self::Planned { .. } => "planned",
            Self::Started { .. } => "started",
            Self::StepReady { .. } => "step_ready",
            Self::AttemptStarted { .. } => "attempt_started",
            Self::AttemptFinished { .. } => "attempt_finished",
            Self::RetryScheduled { .. } => "retry_scheduled",
            Self::FallbackStarted { .. } => "fallback_started",
            Self::StepSucceeded { .. } => "step_succeeded",
            Self::StepFailed { .. } => "step_failed",
            Self::StepSkipped { .. } => "step_skipped",
            Self::StepCancelled { .. } => "step_cancelled",
            Self::CancelRequested => "cancel_requested",
            Self::Finished { .. } => "finished",
            Self::Discovery { .. } => "discovery",
            Self::Basis { .. } => "basis",
            Self::Derived { .. } => "derived",
            Self::Compared { .. } => "compared",
            Self::Unknown { kind, .. } => kind,
            Self::Configured { .. } => "configured",
            Self::CacheHit { .. } => "cache_hit",
            Self::FaultInjected { .. } => "fault_injected",
            Self::TimeoutChosen { .. } => "timeout_chosen",
            Self::BreakpointHit { .. } => "breakpoint_hit",
            Self::Paused { .. } => "paused",
            Self::Resumed { .. } => "resumed",
            Self::BreakpointsSet { .. } => "breakpoints_set",
            Self::ArgumentsEdited { .. } => "arguments_edited",
            Self::ResultEdited { .. } => "result_edited",
            Self::RetryRequested { .. } => "retry_requested",
            Self::Reopened { .. } => "reopened",
            Self::OutcomeUnknown { .. } => "outcome_unknown",
            Self::CalledLive { .. } => "called_live",
        }
    }

    /// The event as the journal keeps it. With [`RunEvent::from_json`] the one place where events become text.
    pub fn to_json(&self) -> serde_json::Result<String> {
        match self {
            Self::Unknown { body, .. } => serde_json::to_string(body),
            known => serde_json::to_string(known),
        }
    }

    /// Reads what [`RunEvent::to_json`] wrote, here or in a newer version. Errors on damage: not JSON, no event, or an
    /// event of a kind that this version knows in a shape that it does not.
    pub fn from_json(bytes: &[u8]) -> serde_json::Result<Self> {
        let error = match serde_json::from_slice::<Self>(bytes) {
            Ok(event) => return Ok(event),
            Err(error) => error,
        };
        let Ok(body) = serde_json::from_slice::<Value>(bytes) else { return Err(error) };
        Self::newer(body).ok_or(error)
    }

    /// [`RunEvent::from_json`] of what was parsed already.
    pub fn from_value(body: Value) -> serde_json::Result<Self> {
        match Self::deserialize(&body) {
            Ok(event) => Ok(event),
            Err(error) => Self::newer(body).ok_or(error),
        }
    }

    fn newer(body: Value) -> Option<Self> {
        let kind = body.get("type").and_then(Value::as_str).filter(|kind| !Self::knows(kind))?.to_string();
        Some(Self::Unknown { kind, body })
    }

    /// Whether events of this kind exist in this version.
    fn knows(kind: &str) -> bool {
        let bare = Value::from(Map::from_iter([("type".to_string(), kind.into())]));
        match serde_json::from_value::<Self>(bare) {
            Ok(_) => true,
            Err(error) => !error.to_string().starts_with("unknown variant"),
        }
    }

    /// The step that the event is about; `None` for the run as a whole.
    pub fn step(&self) -> Option<&str> {
        match self {
            Self::StepReady { step }
            | Self::AttemptStarted { step, .. }
            | Self::AttemptFinished { step, .. }
            | Self::RetryScheduled { step, .. }
            | Self::FallbackStarted { step, .. }
            | Self::StepSucceeded { step }
            | Self::StepFailed { step, .. }
            | Self::StepSkipped { step, .. }
            | Self::StepCancelled { step }
            | Self::CacheHit { step, .. }
            | Self::FaultInjected { step, .. }
            | Self::TimeoutChosen { step, .. }
            | Self::ArgumentsEdited { step, .. }
            | Self::ResultEdited { step, .. }
            | Self::RetryRequested { step }
            | Self::OutcomeUnknown { step, .. }
            | Self::CalledLive { step, .. } => Some(step),
            Self::BreakpointHit { step, .. } => (!step.is_empty()).then_some(step),
            Self::Unknown { body, .. } => body.get("step").and_then(Value::as_str),
            _ => None,
        }
    }
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AttemptOutcome {
    Succeeded { result: ToolResult },
    Failed { error: ToolError },
}

/// Why a step never ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Skip {
    /// A step it depends on failed; `root` is where it began (O-06).
    Dependency { root: String },
    /// A critical step failed and stopped the run (O-06).
    CriticalFailure { root: String },
    /// A person skipped it (O-07).
    ByHand,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    Succeeded,
    /// Some steps succeeded, some did not.
    Partial,
    Failed,
    Cancelled,
    /// Our process died; found when the run is opened.
    Interrupted,
}

/// An event as the journal keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct JournalEntry {
    /// From 1, without gaps, within the run.
    pub seq: u32,
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    pub event: RunEvent,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name that code asks for is the one that is stored.
    #[test]
    fn kinds_are_the_stored_names() {
        let step = || "s".to_string();
        let events = [
            RunEvent::StepReady { step: step() },
            RunEvent::RetryScheduled { step: step(), attempt: 1, delay_ms: 1 },
            RunEvent::FallbackStarted { step: step(), tool: "t".into(), reason: String::new() },
            RunEvent::StepSucceeded { step: step() },
            RunEvent::StepSkipped { step: step(), reason: Skip::Dependency { root: step() } },
            RunEvent::StepCancelled { step: step() },
            RunEvent::CancelRequested,
            RunEvent::Finished { outcome: RunOutcome::Failed, duration_ms: 0 },
            RunEvent::Discovery { step: None, event: DiscoveryEvent::DirectoryRendered { group_count: 1 } },
            RunEvent::CalledLive { step: step(), attempt: 1 },
        ];
        for event in events {
            assert_eq!(serde_json::to_value(&event).unwrap()["type"], event.kind());
        }
    }
    /// R-01: what a newer version wrote is kept byte for byte; damage of what this version knows is an error.
    #[test]
    fn newer_events_are_kept() {
        let newer = r#"{"type":"budget_set","step":"s","limit":{"usd":2}}"#;
        let event = RunEvent::from_json(newer.as_bytes()).unwrap();
        assert_eq!((event.kind(), event.step()), ("budget_set", Some("s")));
        assert_eq!(event.to_json().unwrap(), newer);
        for damaged in [r#"{"type":"step_ready"}"#, r#"{"type":"step_re"#, r#"{"step":"s"}"#, "[]", "\u{7}"] {
            assert!(RunEvent::from_json(damaged.as_bytes()).is_err(), "{damaged}");
        }
        assert!(RunEvent::from_json(br#"{"type":"cancel_requested"}"#).is_ok());
    }
}

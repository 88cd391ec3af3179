//! The one fold over a run's events.

use super::{
    event::{AttemptOutcome, JournalEntry, RunEvent, RunOutcome, Skip},
    origin::Origin,
};
use crate::{
    compare::Divergence,
    plan::PlanSpec,
    planning::Planning,
    ports::{ToolError, ToolResult},
    tool::{RetryPolicy, Revision},
};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    #[default]
    Pending,
    /// Its dependencies are done; it waits for a slot.
    Ready,
    Running,
    /// Waits for its next attempt.
    Waiting,
    Succeeded,
    Failed,
    Skipped,
    Cancelled,
}

impl StepStatus {
    pub fn is_done(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Skipped | Self::Cancelled)
    }
}

/// One attempt of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Attempt {
    pub number: u32,
    pub tool: String,
    pub arguments: Map<String, Value>,
    pub started_ms: u64,
    pub duration_ms: Option<u64>,
    pub outcome: Option<AttemptOutcome>,
}

/// A step as the events so far describe it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct StepState {
    pub status: StepStatus,
    pub attempts: Vec<Attempt>,
    /// When its dependencies were done, milliseconds since 1970.
    pub ready_ms: Option<u64>,
    /// Its place in the queue: the number of the event that made it ready.
    pub ready_seq: Option<u32>,
    pub finished_ms: Option<u64>,
    pub result: Option<ToolResult>,
    pub error: Option<ToolError>,
    pub skip: Option<Skip>,
    /// The fallback that has taken over.
    pub fallback: Option<String>,
    /// Attempts that count against the retries of the tool in charge: zero again when the fallback takes over.
    pub tries: u32,
}

/// A run as its events so far describe it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RunState {
    /// Sequence number of the last event applied.
    pub seq: u32,
    pub planning: Option<Box<Planning>>,
    pub plan: PlanSpec,
    pub catalog_revision: Revision,
    pub parallel_limit: u32,
    pub timeout_ms: u32,
    pub retry: RetryPolicy,
    pub started_ms: Option<u64>,
    pub duration_ms: Option<u64>,
    pub cancelling: bool,
    pub outcome: Option<RunOutcome>,
    /// By step id, in plan order.
    #[cfg_attr(feature = "specta", specta(type = std::collections::HashMap<String, StepState>))]
    pub steps: IndexMap<String, StepState>,
    /// Of a run that answers out of another one's record.
    pub origin: Option<Box<Origin>>,
    /// Of a replay that was held against its origin.
    pub faithful: Option<bool>,
    pub divergence: Option<Box<Divergence>>,
}

impl RunState {
    /// Folds a whole journal.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a JournalEntry>) -> Self {
        let mut state = Self::default();
        for entry in entries {
            state.apply(entry);
        }
        state
    }

    /// Takes in one event. Events about unknown steps are ignored: a damaged journal still opens.
    pub fn apply(&mut self, entry: &JournalEntry) {
        self.seq = entry.seq;
        match &entry.event {
            RunEvent::Planned { planning } => {
                self.plan = planning.plan.clone();
                self.catalog_revision = planning.revision;
                self.planning = Some(planning.clone());
                self.reset_steps();
            }
            RunEvent::Started { plan, catalog_revision, parallel_limit, timeout_ms, retry } => {
                self.plan = plan.clone();
                self.catalog_revision = *catalog_revision;
                self.parallel_limit = *parallel_limit;
                self.timeout_ms = *timeout_ms;
                self.retry = *retry;
                self.started_ms = Some(entry.at_ms);
                self.reset_steps();
            }
            RunEvent::StepReady { step } => self.with(step, |s| {
                s.status = StepStatus::Ready;
                s.ready_ms = Some(entry.at_ms);
                s.ready_seq = Some(entry.seq);
            }),
            RunEvent::AttemptStarted { step, attempt, tool, arguments } => self.with(step, |s| {
                s.status = StepStatus::Running;
                s.tries += 1;
                s.attempts.push(Attempt {
                    number: *attempt,
                    tool: tool.clone(),
                    arguments: arguments.clone(),
                    started_ms: entry.at_ms,
                    duration_ms: None,
                    outcome: None,
                });
            }),
            RunEvent::AttemptFinished { step, attempt, duration_ms, outcome } => self.with(step, |s| {
                if let Some(a) = s.attempts.iter_mut().find(|a| a.number == *attempt) {
                    a.duration_ms = Some(*duration_ms);
                    a.outcome = Some(outcome.clone());
                }
                match outcome {
                    AttemptOutcome::Succeeded { result } => {
                        s.result = Some(result.clone());
                        s.error = None;
                    }
                    AttemptOutcome::Failed { error } => s.error = Some(error.clone()),
                }
            }),
            RunEvent::RetryScheduled { step, .. } => self.with(step, |s| s.status = StepStatus::Waiting),
            RunEvent::FallbackStarted { step, tool, .. } => self.with(step, |s| {
                s.status = StepStatus::Ready;
                s.fallback = Some(tool.clone());
                s.tries = 0;
            }),
            RunEvent::StepSucceeded { step } => self.finish(step, StepStatus::Succeeded, entry.at_ms),
            RunEvent::StepFailed { step, error } => {
                self.finish(step, StepStatus::Failed, entry.at_ms);
                self.with(step, |s| s.error = Some(error.clone()));
            }
            RunEvent::StepSkipped { step, reason } => {
                self.finish(step, StepStatus::Skipped, entry.at_ms);
                self.with(step, |s| s.skip = Some(reason.clone()));
            }
            RunEvent::StepCancelled { step } => self.finish(step, StepStatus::Cancelled, entry.at_ms),
            RunEvent::CancelRequested => self.cancelling = true,
            RunEvent::Finished { outcome, duration_ms } => {
                self.outcome = Some(*outcome);
                self.duration_ms = Some(*duration_ms);
            }
            RunEvent::Derived { origin } => self.origin = Some(origin.clone()),
            RunEvent::Compared { faithful, divergence } => {
                self.faithful = Some(*faithful);
                self.divergence = divergence.clone();
            }
            RunEvent::Basis { .. } | RunEvent::Unknown { .. } => {}
        }
    }

    fn reset_steps(&mut self) {
        self.steps = self.plan.steps.iter().map(|s| (s.id.clone(), StepState::default())).collect();
    }

    fn with(&mut self, step: &str, change: impl FnOnce(&mut StepState)) {
        if let Some(state) = self.steps.get_mut(step) {
            change(state);
        }
    }

    fn finish(&mut self, step: &str, status: StepStatus, at_ms: u64) {
        self.with(step, |s| {
            s.status = status;
            s.finished_ms = Some(at_ms);
        });
    }
}

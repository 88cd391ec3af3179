//! The one fold over a run's events.

use super::{
    breakpoint::{Breakpoint, Hit},
    event::{AttemptOutcome, JournalEntry, RunEvent, RunOutcome, Skip},
    fault::Fault,
    options::{Go, PauseReason, RunOptions},
    origin::Origin,
};
use crate::{
    compare::Divergence,
    discovery::DiscoveryEvent,
    plan::{PlanSpec, StepSpec},
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
    /// Answered from the result cache; so many milliseconds old.
    #[serde(default)]
    pub cached_ms: Option<u32>,
    #[serde(default)]
    pub fault: Option<Fault>,
    /// Its timeout and where it comes from, when the plan does not say so.
    #[serde(default)]
    pub timeout: Option<ChosenTimeout>,
    /// Our process died while the call was under way (O-10).
    #[serde(default)]
    pub unknown: bool,
    /// In a replay or fork: the tool itself was called.
    #[serde(default)]
    pub live: bool,
    /// Cancelled before it answered; `duration_ms` goes up to then.
    #[serde(default)]
    pub given_up: bool,
}

/// A timeout that the tool's history suggests (O-11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ChosenTimeout {
    pub timeout_ms: u32,
    pub reason: String,
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
    /// The next pause of its retries, milliseconds; null when none is under way.
    #[serde(default)]
    pub waits_ms: Option<u64>,
    /// A person's arguments, in place of the plan's.
    #[serde(default)]
    pub edited_arguments: Option<Map<String, Value>>,
    /// The result is a person's.
    #[serde(default)]
    pub edited_result: bool,
    /// Waits for a person's word: nobody knows whether its call took effect (O-10).
    #[serde(default)]
    pub unknown: bool,
    /// The breakpoints that it has hit.
    #[serde(default)]
    pub hits: Vec<Hit>,
}

impl StepState {
    /// Its call has left and has not answered.
    pub fn is_in_flight(&self) -> bool {
        self.status == StepStatus::Running && self.attempts.last().is_some_and(|a| a.outcome.is_none())
    }

    /// The call that has left and of which nothing has been heard since.
    fn open_attempt(&mut self) -> Option<&mut Attempt> {
        self.attempts.last_mut().filter(|a| a.outcome.is_none() && !a.unknown && !a.given_up)
    }

    /// Nobody waits for its call any more.
    fn give_up(&mut self, at_ms: u64) {
        if let Some(attempt) = self.open_attempt() {
            attempt.given_up = true;
            attempt.duration_ms = Some(at_ms.saturating_sub(attempt.started_ms));
        }
    }
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
    /// Deferred tools that the run has activated, in the order of their first calls (D-06).
    #[serde(default)]
    pub activated: Vec<String>,
    /// By step id, in plan order.
    #[cfg_attr(feature = "specta", specta(type = std::collections::HashMap<String, StepState>))]
    pub steps: IndexMap<String, StepState>,
    /// Of a run that answers out of another one's record.
    pub origin: Option<Box<Origin>>,
    /// Of a replay that was held against its origin.
    pub faithful: Option<bool>,
    pub divergence: Option<Box<Divergence>>,
    #[serde(default)]
    pub options: RunOptions,
    #[serde(default)]
    pub breakpoints: Vec<Breakpoint>,
    /// Breakpoints that the planning has hit.
    #[serde(default)]
    pub hits: Vec<u32>,
    #[serde(default)]
    pub paused: Option<PauseReason>,
    #[serde(default)]
    pub go: Go,
    /// The step that runs while going step by step.
    #[serde(default)]
    pub stepping: Option<String>,
    /// A person has been told of every step whose outcome is unknown.
    #[serde(default)]
    pub told_unknown: bool,
    /// `tool rule` of the calls that the guard dropped when the plan was made.
    #[serde(default)]
    pub dropped: Vec<String>,
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
                self.dropped = dropped(planning);
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
                s.waits_ms = None;
            }),
            RunEvent::AttemptStarted { step, attempt, tool, arguments } => {
                if self.go == Go::Step && self.stepping.is_none() {
                    self.stepping = Some(step.clone());
                }
                self.with(step, |s| {
                    s.status = StepStatus::Running;
                    s.tries += 1;
                    s.unknown = false;
                    s.attempts.push(Attempt {
                        number: *attempt,
                        tool: tool.clone(),
                        arguments: arguments.clone(),
                        started_ms: entry.at_ms,
                        duration_ms: None,
                        outcome: None,
                        cached_ms: None,
                        fault: None,
                        timeout: None,
                        unknown: false,
                        live: false,
                        given_up: false,
                    });
                })
            }
            RunEvent::AttemptFinished { step, attempt, duration_ms, outcome } => self.with(step, |s| {
                if let Some(a) = s.attempts.iter_mut().rev().find(|a| a.number == *attempt) {
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
            RunEvent::RetryScheduled { step, delay_ms, .. } => self.with(step, |s| {
                s.status = StepStatus::Waiting;
                s.waits_ms = Some(*delay_ms);
            }),
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
            RunEvent::StepCancelled { step } => {
                self.finish(step, StepStatus::Cancelled, entry.at_ms);
                self.with(step, |s| s.give_up(entry.at_ms));
            }
            RunEvent::CancelRequested => self.cancelling = true,
            RunEvent::Finished { outcome, duration_ms } => {
                self.outcome = Some(*outcome);
                self.duration_ms = Some(*duration_ms);
                if *outcome == RunOutcome::Interrupted {
                    self.steps.values_mut().filter_map(StepState::open_attempt).for_each(|a| a.unknown = true);
                }
            }
            RunEvent::Discovery { event: DiscoveryEvent::Activated { tool_name, .. }, .. } => {
                if !self.activated.contains(tool_name) {
                    self.activated.push(tool_name.clone());
                }
            }
            RunEvent::Discovery { .. } => {}
            RunEvent::Derived { origin } => {
                self.origin = Some(origin.clone());
                // What its origin called is a record to this run.
                self.steps.values_mut().flat_map(|s| &mut s.attempts).for_each(|a| a.live = false);
            }
            RunEvent::CalledLive { step, attempt } => self.with_attempt(step, *attempt, |a| a.live = true),
            RunEvent::Compared { faithful, divergence } => {
                self.faithful = Some(*faithful);
                self.divergence = divergence.clone();
            }
            RunEvent::Basis { .. } | RunEvent::Unknown { .. } => {}
            RunEvent::Configured { options } => {
                self.breakpoints.clone_from(&options.breakpoints);
                self.options = (**options).clone();
            }
            RunEvent::CacheHit { step, attempt, age_ms } => {
                self.with_attempt(step, *attempt, |a| a.cached_ms = Some(*age_ms));
            }
            RunEvent::FaultInjected { step, attempt, fault } => {
                self.with_attempt(step, *attempt, |a| a.fault = Some(fault.clone()));
            }
            RunEvent::TimeoutChosen { step, attempt, timeout_ms, reason } => {
                self.with_attempt(step, *attempt, |a| {
                    a.timeout = Some(ChosenTimeout { timeout_ms: *timeout_ms, reason: reason.clone() });
                });
            }
            RunEvent::BreakpointHit { step, breakpoint, .. } if step.is_empty() => self.hits.push(*breakpoint),
            RunEvent::BreakpointHit { step, attempt, breakpoint, .. } => {
                self.with(step, |s| s.hits.push(Hit { breakpoint: *breakpoint, attempt: *attempt }));
            }
            RunEvent::Paused { reason } => {
                self.told_unknown |= matches!(reason, PauseReason::UnknownOutcome { .. });
                self.paused = Some(reason.clone());
            }
            RunEvent::Resumed { go } => {
                self.paused = None;
                self.go = go.clone();
                self.stepping = None;
            }
            RunEvent::BreakpointsSet { breakpoints } => self.breakpoints.clone_from(breakpoints),
            RunEvent::ArgumentsEdited { step, arguments } => {
                self.with(step, |s| s.edited_arguments = Some(arguments.clone()));
            }
            RunEvent::ResultEdited { step, result } => {
                self.await_again(step);
                self.with(step, |s| {
                    s.result = Some(result.clone());
                    s.edited_result = true;
                    s.error = None;
                    s.unknown = false;
                });
            }
            RunEvent::RetryRequested { step } => {
                self.await_again(step);
                self.with(step, |s| {
                    s.status = if s.ready_ms.is_some() { StepStatus::Ready } else { StepStatus::Pending };
                    s.ready_seq = s.ready_ms.map(|_| entry.seq);
                    s.tries = 0;
                    (s.result, s.error, s.fallback) = (None, None, None);
                    (s.edited_result, s.unknown) = (false, false);
                });
            }
            RunEvent::Reopened { .. } => {
                self.outcome = None;
                self.paused = None;
                self.go = Go::Continue;
                self.told_unknown = false;
            }
            RunEvent::OutcomeUnknown { step, attempt, again } => {
                self.with_attempt(step, *attempt, |a| a.unknown = true);
                self.with(step, |s| {
                    s.status = if *again { StepStatus::Ready } else { StepStatus::Waiting };
                    s.ready_seq = Some(entry.seq);
                    s.tries = s.tries.saturating_sub(1);
                    s.unknown = !again;
                });
            }
        }
    }

    /// US dollars of all calls that left so far, where their cost is known.
    pub fn cost(&self) -> f64 {
        let calls = |step: &StepSpec| {
            self.steps.get(&step.id).map_or(0, |s| s.attempts.iter().filter(|a| a.cached_ms.is_none()).count())
        };
        self.plan.steps.iter().filter_map(|step| Some(step.cost? * calls(step) as f64)).sum()
    }

    /// A step that had ended without success waits again, and with it everything that was skipped because of it.
    fn await_again(&mut self, step: &str) {
        for (id, s) in &mut self.steps {
            let because = matches!(&s.skip, Some(Skip::Dependency { root }) if root == step);
            if id == step && s.status.is_done() && s.status != StepStatus::Succeeded || because {
                s.status = StepStatus::Pending;
                (s.skip, s.finished_ms) = (None, None);
            }
        }
    }

    fn with_attempt(&mut self, step: &str, attempt: u32, change: impl FnOnce(&mut Attempt)) {
        self.with(step, |s| {
            if let Some(attempt) = s.attempts.iter_mut().rev().find(|a| a.number == attempt) {
                change(attempt);
            }
        });
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

fn dropped(planning: &Planning) -> Vec<String> {
    let calls = planning.guard.calls.iter().filter(|call| !call.goes_on());
    calls.map(|call| format!("{} {}", call.call.tool, call.verdict.rule)).collect()
}

//! What a run does next: the only scheduler (O-01 to O-07). A pure function of the plan and the state.
//!
//! [`next_actions`] says it for any state. A run asks again after every event, so it keeps the [`Frontier`], which
//! says the same and looks only at the steps that an event has touched.

mod frontier;

pub use frontier::Frontier;

use crate::{
    plan::Plan,
    ports::ToolError,
    run::{AttemptOutcome, PauseReason, RunOutcome, RunState, Skip, StepState, StepStatus, fault::dice},
    tool::{FallbackCondition, RetryPolicy},
};

/// One thing to do. `step` is an index into the plan's steps.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Its dependencies are done: put it in the queue.
    Ready {
        step: usize,
    },
    /// Make the call. Counted from 1.
    Start {
        step: usize,
        attempt: u32,
    },
    /// Try again after a pause, as attempt number `attempt`.
    Retry {
        step: usize,
        attempt: u32,
        delay_ms: u64,
    },
    /// Let the fallback take over.
    FallBack {
        step: usize,
        reason: String,
    },
    Succeed {
        step: usize,
    },
    Fail {
        step: usize,
        error: ToolError,
    },
    Skip {
        step: usize,
        reason: Skip,
    },
    /// Stop its work, if it is at work, and give it up.
    Cancel {
        step: usize,
    },
    /// The run comes to breakpoints. `step` is `None` for the run as a whole; `attempt` is the one that is about to
    /// start or has just ended.
    Break {
        step: Option<usize>,
        attempt: u32,
        breakpoints: Vec<u32>,
    },
    /// Nothing more until a person says so.
    Pause {
        reason: PauseReason,
    },
    Finish {
        outcome: RunOutcome,
    },
}

/// Below this confidence an `on_low_confidence` fallback takes over, unless it sets a threshold of its own.
const LOW_CONFIDENCE: f32 = 0.7;

/// A retry is never put off longer than this, whatever the tool asks for.
const LONGEST_PAUSE_MS: u64 = 600_000;

/// What is to be done now; empty while the run waits for its tools or for a person. Applying the events of the actions
/// and asking again ends after as many rounds as the plan has stages.
pub fn next_actions(plan: &Plan, state: &RunState) -> Vec<Action> {
    Frontier::of(plan, state).actions(plan, state)
}

/// What becomes of a step that waits for others; `None` while one of them is not done.
fn when_pending(plan: &Plan, state: &RunState, step: usize) -> Option<Action> {
    let mut all_done = true;
    for &dependency in &plan.steps()[step].dependencies {
        let before = &state.steps[dependency];
        match before.status {
            StepStatus::Succeeded => {}
            StepStatus::Failed | StepStatus::Cancelled => {
                let root = plan.steps()[dependency].spec.id.clone();
                return Some(Action::Skip { step, reason: Skip::Dependency { root } });
            }
            StepStatus::Skipped if before.skip == Some(Skip::ByHand) => {
                let root = plan.steps()[dependency].spec.id.clone();
                return Some(Action::Skip { step, reason: Skip::Dependency { root } });
            }
            // The root cause is where the failure began, not the step before (O-06).
            StepStatus::Skipped => {
                let reason =
                    before.skip.clone().unwrap_or(Skip::Dependency { root: plan.steps()[dependency].spec.id.clone() });
                return Some(Action::Skip { step, reason });
            }
            _ => all_done = false,
        }
    }
    all_done.then_some(Action::Ready { step })
}

/// What becomes of a step whose call has an outcome.
fn when_answered(plan: &Plan, state: &RunState, step: usize, s: &StepState, outcome: &AttemptOutcome) -> Action {
    let spec = &plan.steps()[step].spec;
    let fallback = spec.fallback.as_ref().filter(|_| s.fallback.is_none() && plan.steps()[step].fallback.is_some());
    match outcome {
        AttemptOutcome::Succeeded { result } => {
            let threshold = fallback.and_then(|f| f.threshold).unwrap_or(LOW_CONFIDENCE);
            match (fallback, result.confidence) {
                (Some(f), Some(confidence))
                    if f.condition == FallbackCondition::OnLowConfidence && confidence < threshold =>
                {
                    Action::FallBack { step, reason: format!("confidence {confidence:.2} is below {threshold:.2}") }
                }
                _ => Action::Succeed { step },
            }
        }
        AttemptOutcome::Failed { error } => {
            // A fallback has retries of its own (O-05).
            let own = spec.fallback.as_ref().filter(|_| s.fallback.is_some()).and_then(|f| f.retry);
            let retry = own.or(spec.retry).unwrap_or(state.retry);
            if error.class.is_retryable() && s.tries <= retry.max_retries {
                let attempt = s.attempts.len() as u32 + 1;
                return Action::Retry { step, attempt, delay_ms: pause(state, &spec.id, s, retry, error) };
            }
            match fallback {
                Some(_) => Action::FallBack { step, reason: error.message.clone() },
                None => Action::Fail { step, error: error.clone() },
            }
        }
    }
}

/// How long a step waits for its next attempt (O-03): one, two, four times the base, a little more or less where jitter
/// is wanted, and never less than the tool asks for.
fn pause(state: &RunState, id: &str, s: &StepState, retry: RetryPolicy, error: &ToolError) -> u64 {
    let backoff = u64::from(retry.base_ms) * state.options.backoff.factor(s.tries);
    let jitter = f64::from(state.options.jitter_percent.unwrap_or_default().min(100)) / 100.0;
    let dice = dice(state.options.seed, &format!("jitter/{id}/{}", s.attempts.len())) * 2.0 - 1.0;
    let jittered = (backoff as f64 * (1.0 + jitter * dice)).round() as u64;
    let asked = error.retry_after_ms.map_or(0, u64::from);
    jittered.max(asked).min(LONGEST_PAUSE_MS.max(backoff))
}

//! What a run does next: the only scheduler (O-01 to O-06). A pure function of the plan and the state.

use crate::{
    plan::{ExecutionMode, Plan},
    ports::ToolError,
    run::{AttemptOutcome, RunOutcome, RunState, Skip, StepState, StepStatus},
    tool::FallbackCondition,
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
    Finish {
        outcome: RunOutcome,
    },
}

/// Below this confidence an `on_low_confidence` fallback takes over, unless it sets a threshold of its own.
const LOW_CONFIDENCE: f32 = 0.7;

/// What is to be done now; empty while the run waits for its tools. Applying the events of the actions and asking
/// again ends after as many rounds as the plan has stages.
pub fn next_actions(plan: &Plan, state: &RunState) -> Vec<Action> {
    if state.outcome.is_some() {
        return vec![];
    }
    let of = |step: usize| &state.steps[step];
    let steps = || (0..plan.steps().len()).map(|i| (i, of(i)));
    if state.cancelling {
        let open: Vec<_> =
            steps().filter(|(_, s)| !s.status.is_done()).map(|(step, _)| Action::Cancel { step }).collect();
        return if open.is_empty() { vec![Action::Finish { outcome: RunOutcome::Cancelled }] } else { open };
    }
    if let Some((broken, _)) = steps().find(|(i, s)| s.status == StepStatus::Failed && plan.steps()[*i].spec.critical) {
        let root = plan.steps()[broken].spec.id.clone();
        let stop = |(step, s): (usize, &StepState)| match s.status {
            StepStatus::Running | StepStatus::Waiting => Action::Cancel { step },
            _ => Action::Skip { step, reason: Skip::CriticalFailure { root: root.clone() } },
        };
        let open: Vec<_> = steps().filter(|(_, s)| !s.status.is_done()).map(stop).collect();
        return if open.is_empty() { vec![Action::Finish { outcome: RunOutcome::Failed }] } else { open };
    }
    let mut actions = vec![];
    let mut running = 0;
    // Sequential steps run one at a time, by stage and then in plan order: a step never waits for its dependents.
    let is_sequential = |step: usize| plan.steps()[step].spec.mode == ExecutionMode::Sequential;
    let turn = steps()
        .filter(|(step, s)| is_sequential(*step) && !s.status.is_done())
        .map(|(step, _)| step)
        .min_by_key(|&step| (plan.steps()[step].stage, step));
    let mut queue = vec![];
    for (step, s) in steps() {
        match s.status {
            StepStatus::Pending => actions.extend(when_pending(plan, state, step)),
            StepStatus::Ready if !is_sequential(step) || turn == Some(step) => queue.push(step),
            StepStatus::Running => match s.attempts.last().and_then(|a| a.outcome.as_ref()) {
                None => running += 1,
                Some(outcome) => actions.push(when_answered(plan, state, step, s, outcome)),
            },
            _ => {}
        }
    }
    let limit = (state.parallel_limit.max(1) as usize).saturating_sub(running);
    queue.sort_by_key(|&step| (of(step).ready_seq, step));
    actions.extend(
        queue.into_iter().take(limit).map(|step| Action::Start { step, attempt: of(step).attempts.len() as u32 + 1 }),
    );
    if actions.is_empty() && steps().all(|(_, s)| s.status.is_done()) {
        let succeeded = steps().filter(|(_, s)| s.status == StepStatus::Succeeded).count();
        let outcome = match succeeded {
            n if n == plan.steps().len() => RunOutcome::Succeeded,
            0 => RunOutcome::Failed,
            _ => RunOutcome::Partial,
        };
        actions.push(Action::Finish { outcome });
    }
    actions
}

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
            let retry = spec.retry.unwrap_or(state.retry);
            if error.class.is_retryable() && s.tries <= retry.max_retries {
                let delay_ms = u64::from(retry.base_ms) << (s.tries - 1).min(20);
                return Action::Retry { step, attempt: s.attempts.len() as u32 + 1, delay_ms };
            }
            match fallback {
                Some(_) => Action::FallBack { step, reason: error.message.clone() },
                None => Action::Fail { step, error: error.clone() },
            }
        }
    }
}

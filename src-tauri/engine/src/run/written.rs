//! Actions as the events that record them: what the scheduler decides is written down in one way, whoever asks.

use super::{PauseReason, RunEvent, RunState};
use crate::{plan::Plan, schedule::Action};

/// Adds the events that record `action`, which is nothing but its record. A start is not: a call leaves with it.
/// `duration_ms` is what a run that ends now has taken.
pub(crate) fn write_down(plan: &Plan, state: &RunState, action: Action, duration_ms: u64, events: &mut Vec<RunEvent>) {
    let id = |step: usize| plan.steps()[step].spec.id.clone();
    let event = match action {
        Action::Ready { step } => RunEvent::StepReady { step: id(step) },
        Action::Retry { step, attempt, delay_ms } => RunEvent::RetryScheduled { step: id(step), attempt, delay_ms },
        Action::FallBack { step, reason } => {
            let fallback = plan.steps()[step].fallback.as_ref();
            let tool = fallback.map(|f| f.call().tool.clone()).unwrap_or_default();
            RunEvent::FallbackStarted { step: id(step), tool, reason }
        }
        Action::Succeed { step } => RunEvent::StepSucceeded { step: id(step) },
        Action::Fail { step, error } => RunEvent::StepFailed { step: id(step), error },
        Action::Skip { step, reason } => RunEvent::StepSkipped { step: id(step), reason },
        Action::Cancel { step } => RunEvent::StepCancelled { step: id(step) },
        Action::Break { step, attempt, breakpoints } => {
            let id = step.map(id).unwrap_or_default();
            let text = |breakpoint| {
                state.breakpoints.iter().find(|b| b.id == breakpoint).map(|b| b.on.to_string()).unwrap_or_default()
            };
            events.extend(breakpoints.iter().map(|&breakpoint| RunEvent::BreakpointHit {
                step: id.clone(),
                attempt,
                breakpoint,
                text: text(breakpoint),
            }));
            // Several steps may come to breakpoints at once; the run pauses at the first.
            if events.iter().any(|event| matches!(event, RunEvent::Paused { .. })) {
                return;
            }
            let breakpoint = breakpoints.first().copied().unwrap_or_default();
            RunEvent::Paused { reason: PauseReason::Breakpoint { breakpoint, step: id } }
        }
        Action::Pause { reason } => RunEvent::Paused { reason },
        Action::Finish { outcome } => {
            let before = state.duration_ms.unwrap_or_default();
            RunEvent::Finished { outcome, duration_ms: before + duration_ms }
        }
        Action::Start { .. } => return,
    };
    events.push(event);
}

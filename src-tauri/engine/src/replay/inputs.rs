//! Which events come from outside, and which the scheduler decides.

use crate::{
    plan::Plan,
    run::{PauseReason, RunEvent, RunOutcome, RunState, Skip, StepStatus},
};

/// Whether the event came from outside: an answer, a pause that is over, a person's word, a crash. `state` is the run
/// before it. All other events are decisions of the scheduler.
pub fn is_input(event: &RunEvent, plan: &Plan, state: &RunState) -> bool {
    let status = |step: &str| state.steps.get(step).map(|s| s.status);
    match event {
        RunEvent::Planned { .. }
        | RunEvent::Started { .. }
        | RunEvent::Configured { .. }
        | RunEvent::Basis { .. }
        | RunEvent::Derived { .. }
        | RunEvent::Compared { .. }
        | RunEvent::Unknown { .. }
        | RunEvent::AttemptFinished { .. }
        | RunEvent::CacheHit { .. }
        | RunEvent::FaultInjected { .. }
        | RunEvent::TimeoutChosen { .. }
        | RunEvent::CalledLive { .. }
        | RunEvent::Discovery { .. }
        | RunEvent::CancelRequested
        | RunEvent::Resumed { .. }
        | RunEvent::BreakpointsSet { .. }
        | RunEvent::ArgumentsEdited { .. }
        | RunEvent::ResultEdited { .. }
        | RunEvent::RetryRequested { .. }
        | RunEvent::Reopened { .. }
        | RunEvent::OutcomeUnknown { .. } => true,
        RunEvent::Paused { reason } => matches!(reason, PauseReason::Start | PauseReason::ByHand),
        // The pause before its next attempt is over.
        RunEvent::StepReady { step } => status(step) == Some(StepStatus::Waiting),
        RunEvent::StepSkipped { reason, .. } => *reason == Skip::ByHand,
        // The scheduler cancels steps of a run that is cancelled or broken; a person cancels one of any other.
        RunEvent::StepCancelled { .. } => {
            let broken =
                |step: &crate::plan::Step| step.spec.critical && status(&step.spec.id) == Some(StepStatus::Failed);
            !state.cancelling && !plan.steps().iter().any(broken)
        }
        RunEvent::Finished { outcome, .. } => *outcome == RunOutcome::Interrupted,
        RunEvent::StepSucceeded { .. }
        | RunEvent::StepFailed { .. }
        | RunEvent::AttemptStarted { .. }
        | RunEvent::RetryScheduled { .. }
        | RunEvent::FallbackStarted { .. }
        | RunEvent::BreakpointHit { .. } => false,
    }
}

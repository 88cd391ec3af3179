//! What the tables need to know of an event beside its text: taken out before the event goes back to who appended it.

use toolplan_engine::{
    Problem,
    ports::ErrorClass,
    run::{AttemptOutcome, RunEvent, RunOutcome},
    tool::Revision,
};

/// An event and its JSON, encoded by the caller so that the one writer has less to do.
pub(crate) struct Encoded {
    pub(crate) kind: &'static str,
    pub(crate) body: String,
    pub(crate) facts: Facts,
}

/// What an event says about its run and its tools.
pub(crate) enum Facts {
    Planned { steps: usize, revision: Revision },
    Started { steps: usize, revision: Revision },
    Reopened,
    AttemptStarted { step: String, attempt: u32, tool: String },
    AttemptFinished { step: String, attempt: u32, duration_ms: u64, ended: &'static str, confidence: Option<f32> },
    CacheHit { step: String, attempt: u32 },
    StepSucceeded,
    Finished { outcome: RunOutcome },
    Nothing,
}

impl Encoded {
    pub(crate) fn new(event: &RunEvent) -> Result<Self, Problem> {
        let body = serde_json::to_string(event).map_err(|error| {
            Problem::new(
                "journal.write",
                format!("an event cannot be written as JSON: {error}"),
                "report this with the message",
            )
        })?;
        Ok(Self { kind: event.kind(), body, facts: Facts::of(event) })
    }

    pub(crate) fn ends_run(&self) -> bool {
        matches!(self.facts, Facts::Finished { .. })
    }

    /// From here on the run belongs to whoever appends this.
    pub(crate) fn begins_run(&self) -> bool {
        matches!(self.facts, Facts::Started { .. } | Facts::Reopened)
    }
}

impl Facts {
    fn of(event: &RunEvent) -> Self {
        match event {
            RunEvent::Planned { planning } => {
                Self::Planned { steps: planning.plan.steps.len(), revision: planning.revision }
            }
            RunEvent::Started { plan, catalog_revision, .. } => {
                Self::Started { steps: plan.steps.len(), revision: *catalog_revision }
            }
            RunEvent::Reopened { .. } => Self::Reopened,
            RunEvent::AttemptStarted { step, attempt, tool, .. } => {
                Self::AttemptStarted { step: step.clone(), attempt: *attempt, tool: tool.clone() }
            }
            RunEvent::AttemptFinished { step, attempt, duration_ms, outcome } => {
                let (ended, confidence) = match outcome {
                    AttemptOutcome::Succeeded { result } => ("ok", result.confidence),
                    AttemptOutcome::Failed { error } if error.class == ErrorClass::Timeout => ("timeout", None),
                    AttemptOutcome::Failed { .. } => ("error", None),
                };
                let (attempt, duration_ms) = (*attempt, *duration_ms);
                Self::AttemptFinished { step: step.clone(), attempt, duration_ms, ended, confidence }
            }
            RunEvent::CacheHit { step, attempt, .. } => Self::CacheHit { step: step.clone(), attempt: *attempt },
            RunEvent::StepSucceeded { .. } => Self::StepSucceeded,
            RunEvent::Finished { outcome, .. } => Self::Finished { outcome: *outcome },
            _ => Self::Nothing,
        }
    }
}

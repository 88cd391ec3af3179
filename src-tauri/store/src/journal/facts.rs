//! What the tables need to know of an event beside its text: taken out before the event goes back to who appended it.

use toolplan_engine::{
    Problem,
    ports::ErrorClass,
    redact::Redactor,
    run::{AttemptOutcome, RunEvent, RunOutcome},
    tool::Revision,
};

/// An event and its JSON, encoded by the caller so that the one writer has less to do.
pub(crate) struct Encoded {
    pub(crate) kind: String,
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
    Derived { uid: String, at: u32, change: String },
    Compared { faithful: bool },
    Nothing,
}

impl Encoded {
    /// The event without its secrets (S-01), and its encoding.
    pub(crate) fn new(event: RunEvent, redactor: &Redactor) -> Result<(RunEvent, Self), Problem> {
        let (event, body) = redactor.event(event).map_err(|error| {
            Problem::new(
                "journal.write",
                format!("an event cannot be written as JSON: {error}"),
                "report this with the message",
            )
        })?;
        let (kind, facts) = (event.kind().to_string(), Facts::of(&event));
        Ok((event, Self { kind, body, facts }))
    }

    /// Many of them.
    pub(crate) fn all(events: Vec<RunEvent>, redactor: &Redactor) -> Result<(Vec<RunEvent>, Vec<Self>), Problem> {
        let mut both = (Vec::with_capacity(events.len()), Vec::with_capacity(events.len()));
        for event in events {
            let (event, encoded) = Self::new(event, redactor)?;
            both.0.push(event);
            both.1.push(encoded);
        }
        Ok(both)
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
            RunEvent::Derived { origin } => {
                let change = origin.change.as_ref().map(|c| c.to_string()).unwrap_or_default();
                Self::Derived { uid: origin.uid.clone(), at: origin.at, change }
            }
            RunEvent::Compared { faithful, .. } => Self::Compared { faithful: *faithful },
            _ => Self::Nothing,
        }
    }
}

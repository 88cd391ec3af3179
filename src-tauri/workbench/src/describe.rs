//! Events and edits in words.

use crate::views::{EventRow, FieldChange};
use serde_json::Value;
use toolplan_engine::{
    run::{AttemptOutcome, Go, JournalEntry, Origin, PauseReason, RunEvent, RunOutcome, Skip},
    text::middle_truncate,
    tool::ToolSpec,
};

pub fn event_row(entry: &JournalEntry) -> EventRow {
    let (step, text) = match &entry.event {
        RunEvent::Planned { planning } => {
            let calls = &planning.guard.calls;
            let kept = calls.iter().filter(|c| c.goes_on()).count();
            (
                "",
                format!(
                    "Planned by {}: {} proposed or added, {kept} kept, {} stages",
                    planning.planner.label,
                    calls.len(),
                    planning.shape.stages.len()
                ),
            )
        }
        RunEvent::Started { plan, catalog_revision, parallel_limit, .. } => (
            "",
            format!(
                "Started {} steps at catalog r{catalog_revision}, at most {parallel_limit} at once",
                plan.steps.len()
            ),
        ),
        RunEvent::StepReady { step } => (step.as_str(), "Waits for a free slot".into()),
        RunEvent::AttemptStarted { step, attempt, tool, arguments } => {
            let arguments = middle_truncate(&Value::from(arguments.clone()).to_string(), 120);
            (step.as_str(), format!("Attempt {attempt}: {tool} {arguments}"))
        }
        RunEvent::AttemptFinished { step, attempt, duration_ms, outcome } => {
            let how = match outcome {
                AttemptOutcome::Succeeded { .. } => "succeeded".to_string(),
                AttemptOutcome::Failed { error } => format!("failed: {}", error.message),
            };
            (step.as_str(), format!("Attempt {attempt} {how} after {duration_ms} ms"))
        }
        RunEvent::RetryScheduled { step, attempt, delay_ms } => {
            (step.as_str(), format!("Attempt {attempt} follows in {delay_ms} ms"))
        }
        RunEvent::FallbackStarted { step, tool, reason } => (step.as_str(), format!("{tool} takes over: {reason}")),
        RunEvent::StepSucceeded { step } => (step.as_str(), "Succeeded".into()),
        RunEvent::StepFailed { step, error } => (step.as_str(), format!("Failed: {}", error.message)),
        RunEvent::StepSkipped { step, reason } => (step.as_str(), skip(reason)),
        RunEvent::StepCancelled { step } => (step.as_str(), "Cancelled".into()),
        RunEvent::CancelRequested => ("", "Cancel requested".into()),
        RunEvent::Finished { outcome, duration_ms } => {
            ("", format!("Run {} after {duration_ms} ms", run_outcome(*outcome)))
        }
        RunEvent::Discovery { step, event } => (step.as_deref().unwrap_or_default(), event.says()),
        RunEvent::Basis { tools, .. } => ("", format!("Settings, and {} tools that may be called", tools.len())),
        RunEvent::Derived { origin } => ("", derived(origin)),
        RunEvent::Compared { faithful: true, .. } => ("", "Faithful: every decision is the origin's".into()),
        RunEvent::Compared { divergence, .. } => {
            let where_ = divergence.as_ref().map(|d| d.sentence.as_str()).unwrap_or("the decisions differ");
            ("", format!("Not faithful: {where_}"))
        }
        RunEvent::Unknown { kind, .. } => (
            entry.event.step().unwrap_or_default(),
            format!("{kind}: an event of a newer Toolplan, without effect here"),
        ),
        event => control(event),
    };
    EventRow { seq: entry.seq, at_ms: entry.at_ms, kind: entry.event.kind().into(), step: step.into(), text }
}

/// What a run comes from.
pub fn derived(origin: &Origin) -> String {
    match &origin.change {
        None => format!("Replays run {} from event {}", origin.run, origin.at),
        Some(change) => format!("Forks run {} after event {}: {}", origin.run, origin.at, change),
    }
}

/// What people, breakpoints, faults and the cache do to a run.
fn control(event: &RunEvent) -> (&str, String) {
    let step = event.step().unwrap_or_default();
    let text = match event {
        RunEvent::Configured { options } => {
            let mut parts = vec![];
            let mut part = |count: usize, what: &str| parts.extend((count > 0).then(|| format!("{count} {what}")));
            part(options.breakpoints.len(), "breakpoints");
            part(options.faults.len(), "faults");
            part(options.conversation.len(), "earlier messages");
            parts.extend(options.no_cache.then(|| "no result cache".to_string()));
            parts.extend(options.step_mode.then(|| "step by step".to_string()));
            parts.extend(options.jitter_percent.map(|percent| format!("jitter {percent} %")));
            format!("Options: {}, seed {}", parts.join(", "), options.seed)
        }
        RunEvent::CacheHit { attempt, age_ms: 0, .. } => format!("Attempt {attempt} shares a call under way"),
        RunEvent::CacheHit { attempt, age_ms, .. } => {
            format!("Attempt {attempt} is answered from the cache, {age_ms} ms old")
        }
        RunEvent::CalledLive { attempt, .. } => format!("Attempt {attempt} calls the tool itself"),
        RunEvent::FaultInjected { attempt, fault, .. } => format!("Attempt {attempt} gets a fault: {fault}"),
        RunEvent::TimeoutChosen { attempt, timeout_ms, reason, .. } => {
            format!("Attempt {attempt} may take {timeout_ms} ms: {reason}")
        }
        RunEvent::BreakpointHit { attempt, text, .. } => format!("Attempt {attempt} hits the breakpoint {text}"),
        RunEvent::Paused { reason } => format!("Paused: {}", pause(reason)),
        RunEvent::Resumed { go } => match go {
            Go::Continue => "Goes on".into(),
            Go::Step => "Goes on for one step".into(),
            Go::Stage { stage } => format!("Goes on to the end of stage {}", stage + 1),
            Go::To { step } => format!("Goes on to {step}"),
        },
        RunEvent::BreakpointsSet { breakpoints } => format!("{} breakpoints are set", breakpoints.len()),
        RunEvent::ArgumentsEdited { arguments, .. } => {
            format!("Arguments edited: {}", middle_truncate(&Value::from(arguments.clone()).to_string(), 120))
        }
        RunEvent::ResultEdited { result, .. } => {
            format!("Result edited: {}", middle_truncate(&result.data.to_string(), 120))
        }
        RunEvent::RetryRequested { .. } => "To be tried again".into(),
        RunEvent::Reopened { confirmed } if confirmed.is_empty() => "Goes on after an interruption".into(),
        RunEvent::Reopened { confirmed } => {
            format!("Goes on after an interruption; may be called again: {}", confirmed.join(", "))
        }
        RunEvent::OutcomeUnknown { attempt, again: true, .. } => {
            format!("Nobody knows how attempt {attempt} ended; it is made again")
        }
        RunEvent::OutcomeUnknown { attempt, .. } => {
            format!("Nobody knows how attempt {attempt} ended; the run waits for a person's word")
        }
        other => other.kind().into(),
    };
    (step, text)
}

/// Why a run is paused.
pub fn pause(reason: &PauseReason) -> String {
    match reason {
        PauseReason::Start => "before the first step".into(),
        PauseReason::ByHand => "by hand".into(),
        PauseReason::Breakpoint { breakpoint, step } if step.is_empty() => format!("at breakpoint {breakpoint}"),
        PauseReason::Breakpoint { breakpoint, step } => format!("at breakpoint {breakpoint}, {step}"),
        PauseReason::Stepped { step } => format!("{step} is done"),
        PauseReason::Staged { stage } => format!("stage {} is done", stage + 1),
        PauseReason::Reached { step } => format!("{step} is next"),
        PauseReason::UnknownOutcome { steps } => {
            format!("nobody knows whether {} took effect; retry, skip or give a result", steps.join(", "))
        }
    }
}

pub fn skip(reason: &Skip) -> String {
    match reason {
        Skip::ByHand => "Skipped by hand".into(),
        Skip::Dependency { root } => format!("Skipped: {root} did not succeed"),
        Skip::CriticalFailure { root } => format!("Skipped: the critical step {root} failed"),
    }
}

pub fn run_outcome(outcome: RunOutcome) -> &'static str {
    match outcome {
        RunOutcome::Succeeded => "succeeded",
        RunOutcome::Partial => "partly succeeded",
        RunOutcome::Failed => "failed",
        RunOutcome::Cancelled => "cancelled",
        RunOutcome::Interrupted => "was interrupted",
    }
}

/// The fields in which two versions of a tool differ.
pub fn field_changes(before: &ToolSpec, after: &ToolSpec) -> Vec<FieldChange> {
    let fields = |spec: &ToolSpec| match serde_json::to_value(spec) {
        Ok(Value::Object(map)) => map,
        _ => unreachable!("a tool is written as an object"),
    };
    let (before, after) = (fields(before), fields(after));
    let show = |value: Option<&Value>| match value {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    after
        .iter()
        .filter(|(field, value)| before.get(*field) != Some(value))
        .map(|(field, value)| FieldChange {
            field: field.clone(),
            before: show(before.get(field)),
            after: show(Some(value)),
        })
        .collect()
}

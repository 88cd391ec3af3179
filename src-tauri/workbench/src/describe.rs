//! Events and edits in words.

use crate::views::{EventRow, FieldChange};
use serde_json::Value;
use toolplan_engine::{
    run::{AttemptOutcome, ForkChange, JournalEntry, Origin, RunEvent, RunOutcome, Skip},
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
    };
    EventRow { seq: entry.seq, at_ms: entry.at_ms, kind: entry.event.kind().into(), step: step.into(), text }
}

/// What a run comes from.
pub fn derived(origin: &Origin) -> String {
    match &origin.change {
        None => format!("Replays run {} from event {}", origin.run, origin.at),
        Some(change) => format!("Forks run {} after event {}: {}", origin.run, origin.at, fork_change(change)),
    }
}

/// The one thing that is different in a fork.
pub fn fork_change(change: &ForkChange) -> String {
    match change {
        ForkChange::Arguments { step, arguments } => {
            format!("{step} is called with {}", middle_truncate(&Value::from(arguments.clone()).to_string(), 80))
        }
        ForkChange::Result { step, value } => {
            format!("{step} gives {}", middle_truncate(&value.to_string(), 80))
        }
        ForkChange::Skip { step } => format!("{step} is skipped"),
        ForkChange::Tool { spec } => format!("{} is described anew", spec.name),
        ForkChange::Settings { .. } => "other settings".into(),
    }
}

pub fn skip(reason: &Skip) -> String {
    match reason {
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

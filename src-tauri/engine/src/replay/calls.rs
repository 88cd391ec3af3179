//! The calls of a replay: their answers come out of the record, from the policy, or from a live tool.

use super::{
    Coming, LiveCall, Replay,
    book::Answer,
    preview::{Answerer, Asked},
};
use crate::{
    plan::references,
    ports::{ErrorClass, ToolError, ToolResult},
    redact::is_redacted,
    run::{AnswerSource, AttemptOutcome, JournalEntry, RunEvent},
    schedule::Frontier,
};
use serde_json::{Map, Value};

impl Replay {
    /// A call was decided: its answer comes from where the policy says.
    pub(super) fn leave(
        &mut self,
        step: String,
        attempt: u32,
        tool: String,
        arguments: Map<String, Value>,
        entries: &mut Vec<JournalEntry>,
    ) {
        let by_record = matches!(self.policy.source(&tool), AnswerSource::Recorded | AnswerSource::RecordedOrLive);
        if self.following {
            if by_record {
                return;
            }
            self.leave_the_record();
            // Everything else that is under way; this call is not the record's.
            self.order += 1;
            let place = (u64::MAX, self.order);
            let nothing =
                Answer { outcome: failed(ErrorClass::Internal, String::new(), ""), duration_ms: 0, cached_ms: None };
            self.coming.insert(place, Coming::Answer { step: step.clone(), attempt, answer: nothing });
            self.settle(entries);
            self.coming.remove(&place);
        }
        match by_record.then(|| self.book.find(&step, attempt, &tool, &arguments)).flatten() {
            Some(answer) => {
                self.asked.push(Asked::new(&step, &tool, &arguments, Answerer::Record));
                self.expect(self.now_ms + answer.duration_ms, Coming::Answer { step, attempt, answer });
            }
            None => self.ask_other(step, attempt, tool, arguments, entries),
        }
    }

    /// The record does not answer the call: it may not, or it does not hold the call.
    pub(super) fn ask_other(
        &mut self,
        step: String,
        attempt: u32,
        tool: String,
        arguments: Map<String, Value>,
        entries: &mut Vec<JournalEntry>,
    ) {
        let source = self.policy.source(&tool).clone();
        let answerer = match source {
            AnswerSource::Recorded => Answerer::Nobody,
            AnswerSource::Static { .. } => Answerer::Value,
            AnswerSource::Live | AnswerSource::RecordedOrLive => Answerer::Tool,
        };
        self.asked.push(Asked::new(&step, &tool, &arguments, answerer));
        let outcome = match source {
            AnswerSource::Recorded => return self.miss(&step, attempt, &tool),
            AnswerSource::Static { value } => {
                AttemptOutcome::Succeeded { result: ToolResult { data: value, confidence: None, sources: vec![] } }
            }
            AnswerSource::Live | AnswerSource::RecordedOrLive => match cannot_leave(&step, &tool, &arguments) {
                Some(error) => AttemptOutcome::Failed { error },
                None => return self.call_live(step, attempt, tool, arguments, entries),
            },
        };
        let answer = Answer { outcome, duration_ms: 0, cached_ms: None };
        self.expect(self.now_ms, Coming::Answer { step, attempt, answer });
    }

    fn call_live(
        &mut self,
        step: String,
        attempt: u32,
        tool: String,
        arguments: Map<String, Value>,
        entries: &mut Vec<JournalEntry>,
    ) {
        let Some(index) = self.plan.index(&step) else { return };
        let planned = &self.plan.steps()[index];
        let previous = planned.dependencies.iter().filter_map(|&d| {
            let result = self.state.steps[d].result.clone()?;
            Some((self.plan.steps()[d].spec.id.clone(), result))
        });
        let previous = previous.collect();
        let timeout_ms = planned.spec.timeout_ms.unwrap_or(self.state.timeout_ms);
        self.outstanding += 1;
        self.live.push(LiveCall { step: step.clone(), attempt, tool, arguments, previous, timeout_ms });
        self.take_in(RunEvent::CalledLive { step, attempt }, entries);
    }

    /// The record does not hold the call: the step fails, and with it the replay.
    pub(super) fn miss(&mut self, step: &str, attempt: u32, tool: &str) {
        let message =
            format!("the record holds no answer for {tool} in {step}, attempt {attempt}, with these arguments");
        self.part(format!("A call that the origin did not make: {message}"), None);
        if let Some(index) = self.plan.index(step) {
            self.plan.stop_at(index);
            self.frontier = Frontier::of(&self.plan, &self.state);
        }
        let outcome = failed(ErrorClass::Refused, message, "give the tool a value, or let it live for this replay");
        let answer = Answer { outcome, duration_ms: 0, cached_ms: None };
        self.expect(self.now_ms, Coming::Answer { step: step.into(), attempt, answer });
    }
}

fn failed(class: ErrorClass, message: String, hint: &str) -> AttemptOutcome {
    AttemptOutcome::Failed { error: ToolError::new(class, message, hint) }
}

/// Why a call cannot go to its tool, whatever the gate says.
pub fn cannot_leave(step: &str, tool: &str, arguments: &Map<String, Value>) -> Option<ToolError> {
    if arguments.values().any(is_redacted) {
        let message = format!("{tool} in {step} needs a secret that was left out of the record");
        let hint = "answer it from the record, or give the fork arguments without the placeholder";
        return Some(ToolError::new(ErrorClass::Refused, message, hint));
    }
    let (argument, reference) = references(arguments).into_iter().next()?;
    let message = format!("{argument} of {tool} in {step} refers to a result of {} that is not there", reference.step);
    let hint = "change the reference, or give the step that it names a result that holds it";
    Some(ToolError::new(ErrorClass::Validation, message, hint))
}

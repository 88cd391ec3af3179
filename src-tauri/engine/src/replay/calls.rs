//! The calls of a replay: their answers come out of the record, from the policy, or from a live tool.

use super::{Coming, LiveCall, Replay, book::Answer};
use crate::{
    ports::{ErrorClass, ToolError, ToolResult},
    redact::is_redacted,
    run::{AnswerSource, AttemptOutcome, JournalEntry},
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
        let source = self.policy.source(&tool).clone();
        if self.following {
            if source == AnswerSource::Recorded {
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
        match source {
            AnswerSource::Recorded => match self.book.find(&step, attempt, &tool, &arguments) {
                Some(answer) => self.expect(self.now_ms + answer.duration_ms, Coming::Answer { step, attempt, answer }),
                None => self.miss(&step, attempt, &tool),
            },
            AnswerSource::Static { value } => {
                let result = ToolResult { data: value, confidence: None, sources: vec![] };
                let answer = Answer { outcome: AttemptOutcome::Succeeded { result }, duration_ms: 0, cached_ms: None };
                self.expect(self.now_ms, Coming::Answer { step, attempt, answer });
            }
            AnswerSource::Live if arguments.values().any(is_redacted) => {
                let error = failed(
                    ErrorClass::Refused,
                    format!("{tool} in {step} needs a secret that was left out of the record"),
                    "answer it from the record, or give the fork arguments without the placeholder",
                );
                let answer = Answer { outcome: error, duration_ms: 0, cached_ms: None };
                self.expect(self.now_ms, Coming::Answer { step, attempt, answer });
            }
            AnswerSource::Live => {
                let Some(index) = self.plan.index(&step) else { return };
                let planned = &self.plan.steps()[index];
                let previous = planned.dependencies.iter().filter_map(|&d| {
                    let data = self.state.steps[d].result.as_ref()?.data.clone();
                    Some((self.plan.steps()[d].spec.id.clone(), data))
                });
                let previous = previous.collect();
                let timeout_ms = planned.spec.timeout_ms.unwrap_or(self.state.timeout_ms);
                self.outstanding += 1;
                self.live.push(LiveCall { step, attempt, tool, arguments, previous, timeout_ms });
            }
        }
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

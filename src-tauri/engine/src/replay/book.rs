//! The recorded answers, found by call.

use crate::{
    compare::normalised,
    run::{AttemptOutcome, JournalEntry, RunEvent},
};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// A recorded answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    pub(super) outcome: AttemptOutcome,
    pub(super) duration_ms: u64,
    /// It came from the result cache.
    pub(super) cached_ms: Option<u32>,
}

/// The answers of one run. Each is given once.
#[derive(Default)]
pub(super) struct Book {
    calls: Vec<Call>,
    /// By tool and normalised arguments: places in `calls`, in order.
    same: HashMap<(String, String), Vec<usize>>,
}

struct Call {
    step: String,
    attempt: u32,
    answer: Option<Answer>,
    used: bool,
}

impl Book {
    pub(super) fn of(entries: &[JournalEntry]) -> Self {
        let mut book = Self::default();
        let mut open: HashMap<(&str, u32), usize> = HashMap::new();
        let mut cached: HashMap<(&str, u32), u32> = HashMap::new();
        for entry in entries {
            match &entry.event {
                RunEvent::AttemptStarted { step, attempt, tool, arguments } => {
                    let place = book.calls.len();
                    open.insert((step, *attempt), place);
                    book.same.entry((tool.clone(), normalised(arguments))).or_default().push(place);
                    book.calls.push(Call { step: step.clone(), attempt: *attempt, answer: None, used: false });
                }
                RunEvent::CacheHit { step, attempt, age_ms } => {
                    cached.insert((step, *attempt), *age_ms);
                }
                RunEvent::AttemptFinished { step, attempt, duration_ms, outcome } => {
                    if let Some(&place) = open.get(&(step.as_str(), *attempt)) {
                        let cached_ms = cached.remove(&(step.as_str(), *attempt));
                        let (outcome, duration_ms) = (outcome.clone(), *duration_ms);
                        book.calls[place].answer = Some(Answer { outcome, duration_ms, cached_ms });
                    }
                }
                _ => {}
            }
        }
        book
    }

    /// The answer to a call: of those to the same tool with the same arguments the one of this step and attempt, else
    /// of this step, else the first that was not given yet.
    pub(super) fn find(
        &mut self,
        step: &str,
        attempt: u32,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Option<Answer> {
        let places = self.same.get(&(tool.to_string(), normalised(arguments)))?;
        let free = || places.iter().copied().filter(|&p| !self.calls[p].used && self.calls[p].answer.is_some());
        let of_step = |p: &usize| self.calls[*p].step == step;
        let place = free()
            .find(|p| of_step(p) && self.calls[*p].attempt == attempt)
            .or_else(|| free().find(of_step))
            .or_else(|| free().next())?;
        self.calls[place].used = true;
        self.calls[place].answer.clone()
    }

    /// The answer was given by following the record.
    pub(super) fn use_up(&mut self, step: &str, attempt: u32) {
        if let Some(call) = self.calls.iter_mut().rev().find(|c| c.step == step && c.attempt == attempt) {
            call.used = true;
        }
    }
}

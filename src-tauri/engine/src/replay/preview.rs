//! Which calls a fork will make and who will answer them, told before it starts.
//!
//! The fork is played without anybody being called. A call that would go to the tool itself is taken to answer as the
//! step did in the origin; what rests on that answer is marked, because it may come out otherwise.

use super::{Progress, Replay};
use crate::{
    plan::references,
    ports::ToolResult,
    run::{AnswerSource, AttemptOutcome, ReplayPolicy, RunState, breakpoint::arguments_in_charge},
};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Who answers a call of a replay or fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Answerer {
    Record,
    /// A value that somebody gave.
    Value,
    /// The tool itself.
    Tool,
    /// The record does not hold the call, and the tool may not be called: the fork fails here.
    Nobody,
}

/// A call that a fork will make.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ForkCall {
    pub step: String,
    pub tool: String,
    /// As they will leave, if the steps of `rests_on` answer as they did.
    pub arguments: Map<String, Value>,
    pub answerer: Answerer,
    /// The steps with new answers on which the arguments rest, directly or through other steps.
    pub rests_on: Vec<String>,
    /// Who answers if those come out otherwise; null when it makes no difference.
    pub otherwise: Option<Answerer>,
}

/// A call as it left, and who answers it.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    step: String,
    tool: String,
    arguments: Map<String, Value>,
    answerer: Answerer,
}

impl Asked {
    pub(super) fn new(step: &str, tool: &str, arguments: &Map<String, Value>, answerer: Answerer) -> Self {
        Self { step: step.into(), tool: tool.into(), arguments: arguments.clone(), answerer }
    }
}

/// The calls that the fork will make, one a step and tool, in their order. Of several attempts it is the one that goes
/// furthest from the record.
pub fn preview(mut fork: Replay) -> Vec<ForkCall> {
    let origin = RunState::of(fork.origin.iter());
    while let Progress::Entries { calls, .. } = fork.advance() {
        for call in calls {
            let recorded = origin.steps.get(&call.step).and_then(|s| s.result.clone());
            let result = recorded.unwrap_or(ToolResult { data: Value::Null, confidence: None, sources: vec![] });
            fork.answer(&call.step, call.attempt, AttemptOutcome::Succeeded { result }, 0);
        }
    }
    let mut calls: Vec<Asked> = vec![];
    for asked in std::mem::take(&mut fork.asked) {
        match calls.iter_mut().find(|c| c.step == asked.step && c.tool == asked.tool) {
            Some(known) if known.answerer < asked.answerer => *known = asked,
            Some(_) => {}
            None => calls.push(asked),
        }
    }
    let rests_on = rests_on(&fork, &calls);
    let call = |asked: Asked| {
        let rests_on: Vec<String> = rests_on.get(&asked.step).into_iter().flatten().cloned().collect();
        let otherwise = if rests_on.is_empty() { None } else { otherwise(&fork.policy, &asked.tool) };
        let Asked { step, tool, arguments, answerer } = asked;
        ForkCall { step, tool, arguments, answerer, rests_on, otherwise }
    };
    calls.into_iter().map(call).collect()
}

fn otherwise(policy: &ReplayPolicy, tool: &str) -> Option<Answerer> {
    match policy.source(tool) {
        AnswerSource::Recorded => Some(Answerer::Nobody),
        AnswerSource::RecordedOrLive => Some(Answerer::Tool),
        AnswerSource::Static { .. } | AnswerSource::Live => None,
    }
}

/// For each step the steps with new answers that reach its arguments. A call leaves after those that it rests on, so one
/// pass in their order reaches everything.
fn rests_on(fork: &Replay, calls: &[Asked]) -> BTreeMap<String, BTreeSet<String>> {
    let live: BTreeSet<&str> = calls.iter().filter(|c| c.answerer == Answerer::Tool).map(|c| c.step.as_str()).collect();
    let mut reached: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for asked in calls {
        let Some((planned, state)) =
            fork.plan.index(&asked.step).map(|i| (&fork.plan.steps()[i], &fork.state.steps[i]))
        else {
            continue;
        };
        let mut roots = BTreeSet::new();
        for (_, reference) in references(arguments_in_charge(planned, state)) {
            roots.extend(reached.get(&reference.step).into_iter().flatten().cloned());
            roots.extend(live.contains(reference.step.as_str()).then_some(reference.step));
        }
        reached.insert(asked.step.clone(), roots);
    }
    reached
}

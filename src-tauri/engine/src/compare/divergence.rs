//! The first tool call at which two runs part.

use super::{Call, Record, value_diffs};
use crate::{run::AttemptOutcome, text::middle_truncate};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum DivergenceKind {
    /// Another tool was called.
    Tool,
    /// The same tool with other arguments.
    Arguments,
    /// A call that only side a has.
    Missing,
    /// A call that only side b has.
    Extra,
    /// The same call was answered otherwise.
    Answer,
    /// The same calls left in another order.
    Order,
    /// The calls agree; the run ended otherwise.
    End,
    /// A replay decided otherwise than its origin.
    Decision,
}

/// Where two runs part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Divergence {
    pub kind: DivergenceKind,
    /// Number of the tool call in the order of the run, from 1; 0 when it is not about a call.
    pub call: u32,
    /// Step, tool and event on each side; null where a side has none.
    pub step_a: Option<String>,
    pub step_b: Option<String>,
    pub tool_a: Option<String>,
    pub tool_b: Option<String>,
    pub seq_a: Option<u32>,
    pub seq_b: Option<u32>,
    /// For a person.
    pub sentence: String,
}

/// The first call, in run order, that differs: tool, arguments, answer; a call that only one side has; calls in
/// another order; else another end. `pairs` says which step is which ([`super::align`]).
pub fn first_divergence(a: &Record, b: &Record, pairs: &[(Option<usize>, Option<usize>)]) -> Option<Divergence> {
    let id = |record: &'_ Record, i: usize| record.state.plan.steps[i].id.clone();
    let partner: HashMap<String, String> =
        pairs.iter().filter_map(|&(ia, ib)| Some((id(a, ia?), id(b, ib?)))).collect();
    let at_b: HashMap<(&str, u32), usize> =
        b.calls.iter().enumerate().map(|(j, call)| ((call.step.as_str(), call.attempt), j)).collect();
    let mut of_b = vec![None; b.calls.len()];
    let mut of_a = vec![None; a.calls.len()];
    for (i, call) in a.calls.iter().enumerate() {
        let there = partner.get(&call.step).and_then(|step| at_b.get(&(step.as_str(), call.attempt)));
        if let Some(&j) = there {
            of_a[i] = Some(j);
            of_b[j] = Some(i);
        }
    }
    let pair = |i: usize, j: usize| differs(i.min(j), &a.calls[i], &b.calls[j]);
    // A call that was given up shows what happened to another one: it stands back for a difference of its own.
    let gave_up = |d: &Divergence| {
        let unanswered = |calls: &[Call], seq| calls.iter().any(|c| Some(c.seq) == seq && c.outcome.is_none());
        d.kind == DivergenceKind::Answer && (unanswered(&a.calls, d.seq_a) || unanswered(&b.calls, d.seq_b))
    };
    let mut given_up = None;
    for i in 0..a.calls.len().max(b.calls.len()) {
        // A pair is looked at where the first of its two calls stands.
        let from_a = of_a.get(i).copied().flatten().filter(|&j| j >= i).and_then(|j| pair(i, j));
        let from_b = of_b.get(i).copied().flatten().filter(|&k| k > i).and_then(|k| pair(k, i));
        let both = [from_a, from_b].into_iter().flatten();
        match both.min_by(|x, y| (&x.tool_a, &x.step_a).cmp(&(&y.tool_a, &y.step_a))) {
            Some(found) if gave_up(&found) => given_up = given_up.or(Some(found)),
            Some(found) => return Some(found),
            None => {}
        }
        let alone =
            |calls: &'_ [Call], partners: &[Option<usize>]| calls.get(i).filter(|_| partners[i].is_none()).cloned();
        match (alone(&a.calls, &of_a), alone(&b.calls, &of_b)) {
            (None, None) => {}
            (mine, theirs) => return Some(unpaired(i, mine.as_ref(), theirs.as_ref())),
        }
    }
    if given_up.is_some() {
        return given_up;
    }
    if let Some(i) = (0..a.calls.len()).find(|&i| of_a[i] != Some(i)) {
        let (mine, theirs) = (&a.calls[i], &b.calls[i]);
        let sentence = format!(
            "Call {}: {} left in one run, {} in the other; the calls are the same, their order is not",
            i + 1,
            named(mine),
            named(theirs)
        );
        return Some(Divergence { sentence, ..between(DivergenceKind::Order, i, Some(mine), Some(theirs)) });
    }
    let (ea, eb) = (a.state.outcome, b.state.outcome);
    (ea != eb).then(|| {
        let name = |outcome| match outcome {
            None => "has no end".to_string(),
            Some(outcome) => {
                format!("ended as {}", serde_json::to_value(outcome).unwrap_or_default().as_str().unwrap_or_default())
            }
        };
        let sentence = format!("The tool calls are the same; one run {}, the other {}", name(ea), name(eb));
        Divergence { call: 0, sentence, ..between(DivergenceKind::End, 0, None, None) }
    })
}

/// How the two calls of a pair differ, if they do.
fn differs(i: usize, a: &Call, b: &Call) -> Option<Divergence> {
    let is = |kind, what: String| {
        let sentence = format!("Call {} ({}): {what}", i + 1, named(a));
        Some(Divergence { sentence, ..between(kind, i, Some(a), Some(b)) })
    };
    if a.tool != b.tool {
        return is(DivergenceKind::Tool, format!("one run called {}, the other {}", a.tool, b.tool));
    }
    let diffs = value_diffs(&a.arguments.clone().into(), &b.arguments.clone().into());
    if let Some(diff) = diffs.first() {
        let what = format!(
            "the argument {} is {} in one run and {} in the other",
            diff.path.trim_start_matches('/'),
            shown(&diff.a),
            shown(&diff.b)
        );
        return is(DivergenceKind::Arguments, what);
    }
    let answer = |call: &Call| serde_json::to_value(&call.outcome).unwrap_or_default();
    match (&a.outcome, &b.outcome) {
        (x, y) if x == y => None,
        (Some(AttemptOutcome::Succeeded { .. }), Some(AttemptOutcome::Succeeded { .. })) => {
            let diffs = value_diffs(&answer(a), &answer(b));
            let diff = diffs.first()?;
            let path = diff.path.trim_start_matches("/result").trim_start_matches("/data");
            let place = if path.is_empty() { "the result".to_string() } else { format!("the result at {path}") };
            is(
                DivergenceKind::Answer,
                format!("{place} is {} in one run and {} in the other", shown(&diff.a), shown(&diff.b)),
            )
        }
        (x, y) => is(DivergenceKind::Answer, format!("one run got {}, the other {}", ended(x), ended(y))),
    }
}

fn ended(outcome: &Option<AttemptOutcome>) -> String {
    match outcome {
        None => "no answer".into(),
        Some(AttemptOutcome::Succeeded { .. }) => "a result".into(),
        Some(AttemptOutcome::Failed { error }) => format!("the error {:?}", middle_truncate(&error.message, 120)),
    }
}

fn unpaired(i: usize, a: Option<&Call>, b: Option<&Call>) -> Divergence {
    let number = i + 1;
    let (kind, sentence) = match (a, b) {
        (Some(a), Some(b)) => {
            (DivergenceKind::Tool, format!("Call {number}: one run called {}, the other {}", named(a), named(b)))
        }
        (Some(a), None) => (DivergenceKind::Missing, format!("Call {number}: only the first run called {}", named(a))),
        (_, b) => {
            let name = b.map(named).unwrap_or_default();
            (DivergenceKind::Extra, format!("Call {number}: only the second run called {name}"))
        }
    };
    Divergence { sentence, ..between(kind, i, a, b) }
}

fn between(kind: DivergenceKind, i: usize, a: Option<&Call>, b: Option<&Call>) -> Divergence {
    Divergence {
        kind,
        call: i as u32 + 1,
        step_a: a.map(|c| c.step.clone()),
        step_b: b.map(|c| c.step.clone()),
        tool_a: a.map(|c| c.tool.clone()),
        tool_b: b.map(|c| c.tool.clone()),
        seq_a: a.map(|c| c.seq),
        seq_b: b.map(|c| c.seq),
        sentence: String::new(),
    }
}

fn named(call: &Call) -> String {
    match call.attempt {
        1 => format!("{} in {}", call.tool, call.step),
        n => format!("{} in {}, attempt {n}", call.tool, call.step),
    }
}

fn shown(value: &Option<Value>) -> String {
    value.as_ref().map_or("missing".into(), |value| middle_truncate(&value.to_string(), 80))
}

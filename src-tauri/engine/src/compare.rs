//! What differs between two runs, or between two plannings of a query, and where they part.
//!
//! Pure and deterministic: the same two sides give the same answer, and the two sides swapped give the same answer
//! swapped. Times are shown and never make a difference.

mod align;
mod divergence;
mod values;

pub use align::align;
pub use divergence::{Divergence, DivergenceKind, first_divergence};
pub use values::{ValueDiff, value_diffs};

use crate::{
    plan::{PlanSpec, StepSpec},
    planning::Planning,
    run::{AttemptOutcome, JournalEntry, RunEvent, RunOutcome, RunState, StepState, StepStatus},
    verdict::{Gate, Outcome, Trail},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A thing on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Pair<T> {
    pub a: T,
    pub b: T,
}

/// The differences of two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RunDiff {
    /// Nothing differs but times.
    pub same: bool,
    /// Where the tool calls part, in the order of the runs.
    pub divergence: Option<Divergence>,
    pub plan: PlanDiff,
    /// The steps in which something differs or that only one side has, in the order of the plans.
    pub steps: Vec<StepDiff>,
    pub outcome: Pair<Option<RunOutcome>>,
    pub duration_ms: Pair<Option<u64>>,
    /// Calls that left, repetitions included.
    pub calls: Pair<u32>,
}

/// The differences of two plannings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PlanDiff {
    /// Query, context, planner and catalog, where they differ.
    pub facts: Vec<FactDiff>,
    /// Steps of the plans that differ, in plan order; `changed` has the fields of the step.
    pub steps: Vec<PlannedDiff>,
    /// Tools whose way ends at another gate, with another outcome or by another rule, by name.
    pub verdicts: Vec<VerdictDiff>,
    /// States in which the definitions cost differently.
    pub tokens: Vec<TokenDiff>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct FactDiff {
    /// `query`, `state`, `mode`, `intent`, `tenant`, `user`, `planner`, `catalog_revision`.
    pub name: String,
    pub a: String,
    pub b: String,
}

/// One step of two plans; null where a side has none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PlannedDiff {
    pub id: Pair<Option<String>>,
    pub tool: Pair<Option<String>>,
    /// Paths into the step, such as `/arguments/issue_key`; empty where a side has none.
    pub changed: Vec<ValueDiff>,
}

/// Where a tool's way ended on each side; null where a side does not know the tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct VerdictDiff {
    pub tool: String,
    pub a: Option<VerdictEnd>,
    pub b: Option<VerdictEnd>,
}

/// The verdict that decided, or the last one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct VerdictEnd {
    pub gate: Gate,
    pub outcome: Outcome,
    pub rule: String,
    pub reason: String,
}

/// Tokens of the definitions in one state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct TokenDiff {
    pub state: String,
    /// The model sees them.
    pub visible: Pair<u32>,
    /// All of them.
    pub full: Pair<u32>,
}

/// What came of one step on both sides; null where a side has none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct StepDiff {
    pub id: Pair<Option<String>>,
    pub tool: Pair<Option<String>>,
    pub status: Pair<Option<StepStatus>>,
    pub attempts: Pair<u32>,
    /// From the first attempt to the end.
    pub duration_ms: Pair<Option<u64>>,
    /// Arguments as they left (`/arguments/…`), the result (`/result/…`) and the error (`/error/…`).
    pub changed: Vec<ValueDiff>,
}

/// A run to compare: its state, and its calls in the order in which they left.
#[derive(Debug, Clone, Default)]
pub struct Record {
    pub state: RunState,
    pub calls: Vec<Call>,
}

/// One call that left.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub seq: u32,
    pub step: String,
    pub attempt: u32,
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// `None`: it was never answered.
    pub outcome: Option<AttemptOutcome>,
}

impl Record {
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a JournalEntry>) -> Self {
        let mut record = Self::default();
        let mut open: BTreeMap<(String, u32), usize> = BTreeMap::new();
        for entry in entries {
            record.state.apply(entry);
            match &entry.event {
                RunEvent::AttemptStarted { step, attempt, tool, arguments } => {
                    open.insert((step.clone(), *attempt), record.calls.len());
                    record.calls.push(Call {
                        seq: entry.seq,
                        step: step.clone(),
                        attempt: *attempt,
                        tool: tool.clone(),
                        arguments: arguments.clone(),
                        outcome: None,
                    });
                }
                RunEvent::AttemptFinished { step, attempt, outcome, .. } => {
                    if let Some(at) = open.remove(&(step.clone(), *attempt)) {
                        record.calls[at].outcome = Some(outcome.clone());
                    }
                }
                _ => {}
            }
        }
        record
    }
}

/// Compares two runs.
pub fn runs(a: &Record, b: &Record) -> RunDiff {
    let pairs = align(&a.state.plan.steps, &b.state.plan.steps);
    let plan = match (&a.state.planning, &b.state.planning) {
        (Some(pa), Some(pb)) => {
            PlanDiff { steps: planned(&a.state.plan, &b.state.plan, &pairs), ..plannings_but_steps(pa, pb) }
        }
        _ => PlanDiff { steps: planned(&a.state.plan, &b.state.plan, &pairs), ..PlanDiff::default() },
    };
    let divergence = first_divergence(a, b, &pairs);
    let steps = pairs.iter().filter_map(|&(ia, ib)| step_diff(a, b, ia, ib)).collect::<Vec<_>>();
    let outcome = Pair { a: a.state.outcome, b: b.state.outcome };
    let real = |s: &StepDiff| s.status.a != s.status.b || s.attempts.a != s.attempts.b || !s.changed.is_empty();
    RunDiff {
        same: divergence.is_none() && plan.is_same() && !steps.iter().any(real) && outcome.a == outcome.b,
        divergence,
        plan,
        steps,
        outcome,
        duration_ms: Pair { a: a.state.duration_ms, b: b.state.duration_ms },
        calls: Pair { a: a.calls.len() as u32, b: b.calls.len() as u32 },
    }
}

/// Compares two plannings.
pub fn plannings(a: &Planning, b: &Planning) -> PlanDiff {
    let pairs = align(&a.plan.steps, &b.plan.steps);
    PlanDiff { steps: planned(&a.plan, &b.plan, &pairs), ..plannings_but_steps(a, b) }
}

impl PlanDiff {
    /// Whether nothing that matters differs: who planned and at which revision does not.
    pub fn is_same(&self) -> bool {
        let matters = |f: &FactDiff| f.name != "planner" && f.name != "catalog_revision";
        self.steps.is_empty() && self.verdicts.is_empty() && self.tokens.is_empty() && !self.facts.iter().any(matters)
    }
}

fn plannings_but_steps(a: &Planning, b: &Planning) -> PlanDiff {
    let mut facts = vec![];
    let (ra, rb) = (&a.request, &b.request);
    let mut fact = |name: &str, a: &str, b: &str| {
        if a != b {
            facts.push(FactDiff { name: name.into(), a: a.into(), b: b.into() });
        }
    };
    fact("query", &ra.query, &rb.query);
    fact("state", ra.state.name(), rb.state.name());
    fact("mode", &ra.mode, &rb.mode);
    fact("intent", &ra.intent, &rb.intent);
    fact("tenant", &ra.session.tenant, &rb.session.tenant);
    fact("user", &ra.session.user, &rb.session.user);
    fact("planner", &a.planner.label, &b.planner.label);
    fact("catalog_revision", &a.revision.to_string(), &b.revision.to_string());
    PlanDiff { facts, steps: vec![], verdicts: verdicts(&a.trails, &b.trails), tokens: tokens(a, b) }
}

fn verdicts(a: &[Trail], b: &[Trail]) -> Vec<VerdictDiff> {
    let ends = |trails: &[Trail]| -> BTreeMap<String, VerdictEnd> {
        trails.iter().filter_map(|t| Some((t.tool.clone(), VerdictEnd::of(t)?))).collect()
    };
    let (a, b) = (ends(a), ends(b));
    let names: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let differs = |name: &&&String| match (a.get(**name), b.get(**name)) {
        (Some(a), Some(b)) => (a.gate, a.outcome, &a.rule) != (b.gate, b.outcome, &b.rule),
        (a, b) => a != b,
    };
    let diff = |name: &String| VerdictDiff { tool: name.clone(), a: a.get(name).cloned(), b: b.get(name).cloned() };
    names.iter().filter(differs).map(|name| diff(name)).collect()
}

impl VerdictEnd {
    /// Where the tool's way ended.
    pub fn of(trail: &Trail) -> Option<Self> {
        let verdict = trail.decided().or(trail.verdicts.last())?;
        Some(Self {
            gate: verdict.gate,
            outcome: verdict.outcome,
            rule: verdict.rule.to_string(),
            reason: verdict.reason.to_string(),
        })
    }
}

fn tokens(a: &Planning, b: &Planning) -> Vec<TokenDiff> {
    let of = |p: &Planning, state: &str| {
        p.tokens.states.iter().find(|s| s.state.name() == state).map_or((0, 0), |s| (s.visible, s.full))
    };
    let states = crate::request::ExecutionState::ALL.into_iter().map(|s| s.name());
    states
        .map(|state| (state, of(a, state), of(b, state)))
        .filter(|(_, a, b)| a != b)
        .map(|(state, a, b)| TokenDiff {
            state: state.into(),
            visible: Pair { a: a.0, b: b.0 },
            full: Pair { a: a.1, b: b.1 },
        })
        .collect()
}

fn planned(a: &PlanSpec, b: &PlanSpec, pairs: &[(Option<usize>, Option<usize>)]) -> Vec<PlannedDiff> {
    // Aligned steps may have other ids; dependencies and references are compared under the names of side a.
    let names: BTreeMap<&str, &str> =
        pairs.iter().filter_map(|&(ia, ib)| Some((b.steps[ib?].id.as_str(), a.steps[ia?].id.as_str()))).collect();
    let of = |step: &StepSpec| -> Value {
        let mut value = serde_json::to_value(step).unwrap_or_default();
        if let Some(map) = value.as_object_mut() {
            map.shift_remove("id");
            // Estimates follow the statistics; they decide nothing.
            map.shift_remove("expected_ms");
        }
        value
    };
    let mut diffs = vec![];
    for &(ia, ib) in pairs {
        let (sa, sb) = (ia.map(|i| &a.steps[i]), ib.map(|i| &b.steps[i]));
        let changed = match (sa, sb) {
            (Some(sa), Some(sb)) => {
                let mut vb = of(sb);
                rename(&mut vb, &names);
                let changed = value_diffs(&of(sa), &vb);
                if changed.is_empty() {
                    continue;
                }
                changed
            }
            _ => vec![],
        };
        diffs.push(PlannedDiff {
            id: Pair { a: sa.map(|s| s.id.clone()), b: sb.map(|s| s.id.clone()) },
            tool: Pair { a: sa.map(|s| s.tool.clone()), b: sb.map(|s| s.tool.clone()) },
            changed,
        });
    }
    diffs
}

/// Gives the steps of the other side our names, in dependencies and references.
fn rename(step: &mut Value, names: &BTreeMap<&str, &str>) {
    let ours = |text: &mut String| {
        if let Some(name) = names.get(text.as_str()) {
            *text = name.to_string();
        }
    };
    fn references(value: &mut Value, ours: &impl Fn(&mut String)) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|v| references(v, ours)),
            Value::Object(map) => {
                for (key, inner) in map {
                    match inner {
                        Value::String(text) if key == "$from" => ours(text),
                        other => references(other, ours),
                    }
                }
            }
            _ => {}
        }
    }
    if let Some(Value::Array(ids)) = step.get_mut("dependencies") {
        for id in ids {
            if let Value::String(text) = id {
                ours(text);
            }
        }
    }
    if let Some(arguments) = step.get_mut("arguments") {
        references(arguments, &ours);
    }
}

fn step_diff(a: &Record, b: &Record, ia: Option<usize>, ib: Option<usize>) -> Option<StepDiff> {
    let side = |record: &'_ Record, i: Option<usize>| {
        let spec = i.map(|i| record.state.plan.steps[i].clone());
        let state = spec.as_ref().and_then(|s| record.state.steps.get(&s.id)).cloned();
        (spec, state)
    };
    let ((sa, ta), (sb, tb)) = (side(a, ia), side(b, ib));
    let changed = match (&ta, &tb) {
        (Some(ta), Some(tb)) => value_diffs(&outcome_of(ta), &outcome_of(tb)),
        _ => vec![],
    };
    let count = |s: &Option<StepState>| s.as_ref().map_or(0, |s| s.attempts.len() as u32);
    let tool = |spec: &Option<StepSpec>, state: &Option<StepState>| {
        let called = state.as_ref().and_then(|s| s.attempts.last()).map(|a| a.tool.clone());
        called.or_else(|| spec.as_ref().map(|s| s.tool.clone()))
    };
    let diff = StepDiff {
        id: Pair { a: sa.as_ref().map(|s| s.id.clone()), b: sb.as_ref().map(|s| s.id.clone()) },
        tool: Pair { a: tool(&sa, &ta), b: tool(&sb, &tb) },
        status: Pair { a: ta.as_ref().map(|s| s.status), b: tb.as_ref().map(|s| s.status) },
        attempts: Pair { a: count(&ta), b: count(&tb) },
        duration_ms: Pair { a: ta.as_ref().and_then(duration), b: tb.as_ref().and_then(duration) },
        changed,
    };
    let plain = diff.changed.is_empty()
        && diff.status.a == diff.status.b
        && diff.attempts.a == diff.attempts.b
        && diff.tool.a == diff.tool.b
        && diff.duration_ms.a == diff.duration_ms.b;
    (!plain).then_some(diff)
}

fn outcome_of(step: &StepState) -> Value {
    json!({
        "arguments": step.attempts.last().map(|a| &a.arguments),
        "result": step.result,
        "error": step.error,
        "skip": step.skip,
        "fallback": step.fallback,
    })
}

fn duration(step: &StepState) -> Option<u64> {
    Some(step.finished_ms?.saturating_sub(step.attempts.first()?.started_ms))
}

//! A plan as the window draws it: stages, steps, edges. No positions; the window lays it out.

use crate::views::{EdgeKind, GraphEdge, GraphStep, GraphView, StageView};
use serde_json::{Map, Value};
use std::collections::HashMap;
use toolplan_engine::{
    guard::GuardReport,
    plan::{PlanSpec, Shape, as_reference, references},
    text::middle_truncate,
    tool::{Catalog, Classification},
    verdict::Outcome,
};

/// Characters of the argument on a step's card.
const KEY_ARGUMENT_CHARS: usize = 40;

/// Draws `plan`. `report` are the calls that it was made from, in the same order, where it was made from calls.
pub fn of(plan: &PlanSpec, shape: &Shape, catalog: &Catalog, report: Option<&GuardReport>) -> GraphView {
    let stage_of: HashMap<&str, usize> =
        shape.stages.iter().enumerate().flat_map(|(i, ids)| ids.iter().map(move |id| (id.as_str(), i + 1))).collect();
    let expected: HashMap<&str, Option<u32>> = plan.steps.iter().map(|s| (s.id.as_str(), s.expected_ms)).collect();
    let stages = shape
        .stages
        .iter()
        .enumerate()
        .map(|(i, ids)| {
            let longest =
                ids.iter().map(|id| expected.get(id.as_str()).copied().flatten()).try_fold(0, |m, e| Some(m.max(e?)));
            StageView { number: i as u32 + 1, steps: ids.clone(), bound_ms: longest.map(f64::from) }
        })
        .collect();
    let mut going_on = report.into_iter().flat_map(|r| r.calls.iter().filter(|c| c.goes_on()));
    let steps = plan
        .steps
        .iter()
        .map(|step| {
            let call = going_on.next();
            let mark = match call {
                Some(c) if c.would_drop => Some(Outcome::Dropped),
                Some(c) if c.outcome != Outcome::Kept => Some(c.outcome),
                _ => None,
            };
            GraphStep {
                id: step.id.clone(),
                tool: step.tool.clone(),
                stage: stage_of.get(step.id.as_str()).copied().unwrap_or(1) as u32,
                classification: catalog.spec(&step.tool).map_or(Classification::Unclassified, |t| t.classification),
                key_argument: key_argument(&step.arguments),
                expected_ms: step.expected_ms,
                fallback: step.fallback.as_ref().map(|f| f.tool.clone()),
                critical: step.critical,
                on_critical_path: shape.critical_path.contains(&step.id),
                mark,
            }
        })
        .collect();
    GraphView { stages, steps, edges: edges(plan) }
}

/// The argument that tells the step from others: the first text, else a reference, else the first of any kind.
fn key_argument(arguments: &Map<String, Value>) -> String {
    let first = arguments
        .iter()
        .find(|(_, v)| v.is_string())
        .or_else(|| arguments.iter().find(|(_, v)| as_reference(v).is_some()))
        .or_else(|| arguments.iter().next());
    let Some((name, value)) = first else { return String::new() };
    let shown = match (value, as_reference(value)) {
        (_, Some(reference)) => format!("← {}{}", reference.step, reference.path),
        (Value::String(text), _) => text.clone(),
        (other, _) => other.to_string(),
    };
    middle_truncate(&format!("{name}: {shown}"), KEY_ARGUMENT_CHARS)
}

/// Data edges from references, order edges from bare dependencies; an edge is implied when a longer way says the same.
fn edges(plan: &PlanSpec) -> Vec<GraphEdge> {
    let index: HashMap<&str, usize> = plan.steps.iter().enumerate().map(|(i, s)| (s.id.as_str(), i)).collect();
    let mut edges: Vec<GraphEdge> = vec![];
    let mut direct: Vec<Vec<usize>> = vec![vec![]; plan.steps.len()];
    for (to, step) in plan.steps.iter().enumerate() {
        let mut labels: Vec<(usize, String)> = vec![];
        for (argument, reference) in references(&step.arguments) {
            if let Some(&from) = index.get(reference.step.as_str()) {
                labels.push((
                    from,
                    format!("{argument} ← {}", if reference.path.is_empty() { "result" } else { &reference.path }),
                ));
            }
        }
        for dependency in step.dependencies.iter().filter_map(|d| index.get(d.as_str()).copied()) {
            if labels.iter().all(|(from, _)| *from != dependency) {
                labels.push((dependency, String::new()));
            }
        }
        for (from, label) in labels {
            direct[to].push(from);
            edges.push(GraphEdge {
                from: plan.steps[from].id.clone(),
                to: step.id.clone(),
                kind: if label.is_empty() { EdgeKind::Order } else { EdgeKind::Data },
                label,
                implied: false,
            });
        }
    }
    let above = ancestors(&direct);
    for edge in edges.iter_mut().filter(|e| e.kind == EdgeKind::Order) {
        let (from, to) = (index[edge.from.as_str()], index[edge.to.as_str()]);
        edge.implied = direct[to].iter().any(|&other| other != from && above[other].get(from));
    }
    edges
}

/// For each step the steps above it, as bits. Steps on a cycle are above themselves; the walk still ends.
fn ancestors(direct: &[Vec<usize>]) -> Vec<Bits> {
    let mut above: Vec<Option<Bits>> = vec![None; direct.len()];
    fn visit(step: usize, direct: &[Vec<usize>], above: &mut Vec<Option<Bits>>) {
        if above[step].is_some() {
            return;
        }
        above[step] = Some(Bits(vec![0; direct.len().div_ceil(64)]));
        for &before in &direct[step] {
            visit(before, direct, above);
            let inherited = above[before].clone();
            let bits = above[step].as_mut().expect("it was just set");
            bits.set(before);
            if let Some(inherited) = inherited {
                bits.merge(&inherited);
            }
        }
    }
    for step in 0..direct.len() {
        visit(step, direct, &mut above);
    }
    above.into_iter().map(|bits| bits.expect("every step was visited")).collect()
}

#[derive(Clone)]
struct Bits(Vec<u64>);

impl Bits {
    fn set(&mut self, i: usize) {
        self.0[i / 64] |= 1 << (i % 64);
    }

    fn get(&self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 == 1
    }

    fn merge(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolplan_engine::plan::StepSpec;

    fn step(id: &str, after: &[&str], arguments: Value) -> StepSpec {
        StepSpec {
            id: id.into(),
            tool: "t".into(),
            dependencies: after.iter().map(|s| s.to_string()).collect(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            ..Default::default()
        }
    }

    /// W-01: data and order edges; what other edges already say is marked as implied.
    #[test]
    fn edges_say_what_flows() {
        let plan = PlanSpec {
            steps: vec![
                step("a", &[], json!({})),
                step("b", &["a"], json!({})),
                step("c", &["a", "b"], json!({"x": {"$from": "b", "path": "/items/0"}})),
            ],
            ..Default::default()
        };
        let shown: Vec<String> = edges(&plan)
            .iter()
            .map(|e| format!("{}→{} {:?} {} {}", e.from, e.to, e.kind, e.label, e.implied))
            .collect();
        assert_eq!(shown, ["a→b Order  false", "b→c Data x ← /items/0 false", "a→c Order  true"]);
    }
}

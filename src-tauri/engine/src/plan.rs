//! Plans: plain data that anyone may edit ([`PlanSpec`]) and the checked form that alone can run ([`Plan`]).
//!
//! A plan is a graph of steps; a step is one tool call. Its stages are the levels of the graph: stage 1 holds the
//! steps without dependencies, stage N those whose dependencies all lie in earlier stages (P-06). A step starts as
//! soon as its own dependencies are done, so the estimated duration is the critical path, not the sum of the stages'
//! maxima (`docs/decisions/0002-critical-path.md`).
//!
//! Knows nothing of how steps run.

use crate::{
    guard::Admitted,
    tool::{Fallback, RetryPolicy, ToolCall},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};

/// Whether a step may run beside others (source 001, `executionMode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ExecutionMode {
    #[default]
    Parallel,
    /// Runs alone among the sequential steps of the plan, in plan order.
    Sequential,
}

/// One step as data (P-01).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct StepSpec {
    pub id: String,
    pub tool: String,
    /// Values, or references to earlier results: `{"$from": "step-1", "path": "/items/0/id"}` (P-08).
    pub arguments: Map<String, Value>,
    /// Ids of the steps that must be done first.
    pub dependencies: Vec<String>,
    pub mode: ExecutionMode,
    /// Milliseconds of one attempt; unset means the tool's, then the workspace's.
    pub timeout_ms: Option<u32>,
    pub retry: Option<RetryPolicy>,
    pub fallback: Option<Fallback>,
    pub critical: bool,
    /// The id of the sub-query that the step serves; empty for none.
    pub sub_query: String,
    /// Expected milliseconds, where known: from the tool's history, else its hint.
    pub expected_ms: Option<u32>,
    /// US dollars of one call, where known.
    pub cost: Option<f64>,
}

impl StepSpec {
    /// The references in its arguments and in those of its fallback.
    fn all_references(&self) -> Vec<(String, Reference)> {
        let mut found = references(&self.arguments);
        found.extend(self.fallback.iter().filter_map(|f| f.arguments.as_ref()).flat_map(references));
        found
    }
}

/// A plan as data: stored, shown, edited (P-01).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct PlanSpec {
    pub steps: Vec<StepSpec>,
    pub reasoning: String,
}

/// Something wrong with a plan. All findings are reported together (P-07).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Finding {
    /// Stable: `plan.cycle`, `plan.dangling`, `plan.duplicate`, `plan.unknown_tool`, `plan.refused`,
    /// `plan.reference`, `plan.fallback`.
    pub code: String,
    /// The step it is about; empty for the plan as a whole.
    pub step: String,
    pub message: String,
    pub hint: String,
}

/// A step that passed every check.
#[derive(Debug, Clone)]
pub struct Step {
    pub spec: StepSpec,
    /// The call with its references still in place; only the guard can make one.
    pub call: Admitted,
    /// The call of the fallback, where there is one.
    pub fallback: Option<Admitted>,
    /// Indexes into [`Plan::steps`].
    pub dependencies: Vec<usize>,
    /// From 0.
    pub stage: usize,
}

/// A checked plan: acyclic, bound, admitted. Only [`PlanSpec::check`] makes one.
#[derive(Debug, Clone)]
pub struct Plan {
    steps: Vec<Step>,
    spec: PlanSpec,
}

impl Plan {
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub fn spec(&self) -> &PlanSpec {
        &self.spec
    }

    pub fn index(&self, id: &str) -> Option<usize> {
        self.steps.iter().position(|s| s.spec.id == id)
    }
}

/// The shape of a plan: stages, and how long it should take (P-06, P-10).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Shape {
    /// Step ids by stage.
    pub stages: Vec<Vec<String>>,
    /// Longest path in milliseconds; null when a step's duration is unknown.
    pub duration_ms: Option<f64>,
    /// Sum over the steps in US dollars; null when a step's cost is unknown.
    pub cost: Option<f64>,
    /// Ids on the longest path, first to last; empty when the duration is unknown.
    pub critical_path: Vec<String>,
}

/// Levels of a graph of `n` nodes. `dependencies[i]` are the nodes that must precede node `i`.
///
/// Returns for each node its level, from 0, or the nodes that lie on cycles or behind one.
pub fn levels(dependencies: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let order = topological_order(dependencies)?;
    let mut level = vec![0; dependencies.len()];
    for node in order {
        level[node] = dependencies[node].iter().map(|&d| level[d] + 1).max().unwrap_or(0);
    }
    Ok(level)
}

/// The nodes in an order in which dependencies come first, or the nodes that no such order can hold.
fn topological_order(dependencies: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let n = dependencies.len();
    let mut waiting: Vec<usize> = dependencies.iter().map(Vec::len).collect();
    let mut dependents = vec![vec![]; n];
    for (node, deps) in dependencies.iter().enumerate() {
        for &d in deps {
            dependents[d].push(node);
        }
    }
    let mut order: Vec<usize> = (0..n).filter(|&i| waiting[i] == 0).collect();
    let mut next = 0;
    while next < order.len() {
        for &node in &dependents[order[next]] {
            waiting[node] -= 1;
            if waiting[node] == 0 {
                order.push(node);
            }
        }
        next += 1;
    }
    if order.len() == n { Ok(order) } else { Err((0..n).filter(|&i| waiting[i] > 0).collect()) }
}

/// The longest path through an acyclic graph: its length, and its nodes from first to last.
///
/// Returns `None` for a graph with cycles.
pub fn critical_path(dependencies: &[Vec<usize>], durations: &[f64]) -> Option<(f64, Vec<usize>)> {
    let order = topological_order(dependencies).ok()?;
    let mut end = vec![0.0_f64; durations.len()];
    let mut before = vec![None; durations.len()];
    for node in order {
        let longest = dependencies[node].iter().copied().max_by(|&a, &b| end[a].total_cmp(&end[b]));
        end[node] = longest.map_or(0.0, |d| end[d]) + durations[node];
        before[node] = longest;
    }
    let last = (0..durations.len()).max_by(|&a, &b| end[a].total_cmp(&end[b]))?;
    let mut path = vec![last];
    while let Some(previous) = before[path[path.len() - 1]] {
        path.push(previous);
    }
    path.reverse();
    Some((end[last], path))
}

/// A reference to an earlier result inside an argument (P-08).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    pub step: String,
    /// JSON Pointer into the result's data; empty means all of it.
    pub path: String,
}

/// Reads `{"$from": "step-1", "path": "/items/0/id"}`; anything else is a plain value.
pub fn as_reference(value: &Value) -> Option<Reference> {
    let object = value.as_object()?;
    let step = object.get("$from")?.as_str()?;
    let path = match object.get("path") {
        None => "",
        Some(path) => path.as_str()?,
    };
    let known = object.keys().all(|k| k == "$from" || k == "path");
    known.then(|| Reference { step: step.into(), path: path.into() })
}

/// All references inside the arguments, at any depth, with the argument each stands in.
pub fn references(arguments: &Map<String, Value>) -> Vec<(String, Reference)> {
    fn walk(name: &str, value: &Value, found: &mut Vec<(String, Reference)>) {
        if let Some(reference) = as_reference(value) {
            found.push((name.to_string(), reference));
            return;
        }
        match value {
            Value::Array(items) => items.iter().for_each(|v| walk(name, v, found)),
            Value::Object(map) => map.values().for_each(|v| walk(name, v, found)),
            _ => {}
        }
    }
    let mut found = vec![];
    for (name, value) in arguments {
        walk(name, value, &mut found);
    }
    found
}

/// Puts results in the place of references. The value keeps its JSON type.
///
/// Errors name the argument, the step and the path that held nothing.
pub fn resolve(
    arguments: &Map<String, Value>,
    result_of: &dyn Fn(&str) -> Option<Value>,
) -> Result<Map<String, Value>, String> {
    fn walk(name: &str, value: &Value, result_of: &dyn Fn(&str) -> Option<Value>) -> Result<Value, String> {
        if let Some(reference) = as_reference(value) {
            let data = result_of(&reference.step)
                .ok_or_else(|| format!("the argument {name} refers to {}, which has no result", reference.step))?;
            return data.pointer(&reference.path).cloned().ok_or_else(|| {
                format!(
                    "the argument {name} refers to {} of {}, and the result holds nothing there",
                    reference.path, reference.step
                )
            });
        }
        match value {
            Value::Array(items) => {
                items.iter().map(|v| walk(name, v, result_of)).collect::<Result<_, _>>().map(Value::Array)
            }
            Value::Object(map) => map
                .iter()
                .map(|(k, v)| Ok((k.clone(), walk(name, v, result_of)?)))
                .collect::<Result<_, _>>()
                .map(Value::Object),
            plain => Ok(plain.clone()),
        }
    }
    arguments.iter().map(|(name, value)| Ok((name.clone(), walk(name, value, result_of)?))).collect()
}

impl PlanSpec {
    /// Indexes of each step's dependencies: the declared ones and those that its references imply. Unknown ids are
    /// left out; [`PlanSpec::check`] reports them.
    pub fn dependency_indexes(&self) -> Vec<Vec<usize>> {
        let index: HashMap<&str, usize> =
            self.steps.iter().enumerate().rev().map(|(i, s)| (s.id.as_str(), i)).collect();
        self.steps
            .iter()
            .map(|step| {
                let mut deps: BTreeSet<usize> =
                    step.dependencies.iter().filter_map(|d| index.get(d.as_str()).copied()).collect();
                deps.extend(step.all_references().iter().filter_map(|(_, r)| index.get(r.step.as_str()).copied()));
                deps.into_iter().collect()
            })
            .collect()
    }

    /// Stages and estimates. A plan with a cycle has no shape: everything is empty or unknown.
    pub fn shape(&self) -> Shape {
        let deps = self.dependency_indexes();
        let Ok(level) = levels(&deps) else { return Shape::default() };
        let mut stages = vec![vec![]; level.iter().max().map_or(0, |m| m + 1)];
        for (step, &stage) in self.steps.iter().zip(&level) {
            stages[stage].push(step.id.clone());
        }
        let durations: Option<Vec<f64>> = self.steps.iter().map(|s| s.expected_ms.map(f64::from)).collect();
        let longest = durations.and_then(|d| critical_path(&deps, &d));
        let cost = self.steps.iter().map(|s| s.cost).sum::<Option<f64>>();
        Shape {
            stages,
            duration_ms: longest.as_ref().map(|(ms, _)| *ms),
            cost: cost.filter(|_| !self.steps.is_empty()),
            critical_path: longest
                .map(|(_, path)| path.into_iter().map(|i| self.steps[i].id.clone()).collect())
                .unwrap_or_default(),
        }
    }

    /// Checks everything at once (P-07). `admit` is the guard's word on a call: visible, permitted, valid.
    ///
    /// Returns the plan, or all findings.
    pub fn check(self, admit: impl Fn(&ToolCall) -> Result<Admitted, Finding>) -> Result<Plan, Vec<Finding>> {
        let mut findings = vec![];
        let mut seen = BTreeSet::new();
        for step in &self.steps {
            if step.id.is_empty() || !seen.insert(step.id.as_str()) {
                let message = match step.id.as_str() {
                    "" => format!("a step that calls {} has no id", step.tool),
                    id => format!("two steps have the id {id:?}"),
                };
                findings.push(finding("plan.duplicate", &step.id, message, "give every step an id of its own"));
            }
        }
        let deps = self.dependency_indexes();
        for step in &self.steps {
            for dependency in &step.dependencies {
                if !seen.contains(dependency.as_str()) {
                    findings.push(finding(
                        "plan.dangling",
                        &step.id,
                        format!("it depends on {dependency}, which is not in the plan"),
                        "remove the dependency or add the step",
                    ));
                }
                if *dependency == step.id {
                    findings.push(finding(
                        "plan.cycle",
                        &step.id,
                        "it depends on itself".into(),
                        "remove the dependency",
                    ));
                }
            }
            for (argument, reference) in step.all_references() {
                if !seen.contains(reference.step.as_str()) || reference.step == step.id {
                    findings.push(finding(
                        "plan.reference",
                        &step.id,
                        format!("the argument {argument} refers to {}, which is no earlier step", reference.step),
                        "refer to a step that this one depends on",
                    ));
                } else if !reference.path.is_empty() && !reference.path.starts_with('/') {
                    findings.push(finding(
                        "plan.reference",
                        &step.id,
                        format!("the argument {argument} has the path {:?}", reference.path),
                        "a path is a JSON Pointer such as /items/0/id",
                    ));
                }
            }
            if step.fallback.as_ref().is_some_and(|f| f.tool == step.tool) {
                findings.push(finding(
                    "plan.fallback",
                    &step.id,
                    format!("it falls back to {}, which is the tool itself", step.tool),
                    "choose another tool or remove the fallback",
                ));
            }
        }
        let level = match levels(&deps) {
            Ok(level) => level,
            Err(stuck) => {
                let names: Vec<_> = stuck.iter().map(|&i| self.steps[i].id.as_str()).collect();
                findings.push(finding(
                    "plan.cycle",
                    "",
                    format!("these steps wait for one another: {}", names.join(", ")),
                    "remove one of the dependencies between them",
                ));
                vec![0; self.steps.len()]
            }
        };
        let mut steps = Vec::with_capacity(self.steps.len());
        for (i, spec) in self.steps.iter().enumerate() {
            let call = ToolCall { tool: spec.tool.clone(), arguments: spec.arguments.clone() };
            let fallback = spec.fallback.as_ref().map(|f| admit(&f.call(&spec.arguments)));
            let fallback = match fallback.transpose() {
                Ok(fallback) => fallback,
                Err(refused) => {
                    findings.push(Finding {
                        step: spec.id.clone(),
                        message: format!("its fallback: {}", refused.message),
                        ..refused
                    });
                    None
                }
            };
            match admit(&call) {
                Ok(call) => steps.push(Step {
                    spec: spec.clone(),
                    call,
                    fallback,
                    dependencies: deps[i].clone(),
                    stage: level[i],
                }),
                Err(refused) => findings.push(Finding { step: spec.id.clone(), ..refused }),
            }
        }
        if findings.is_empty() { Ok(Plan { steps, spec: self }) } else { Err(findings) }
    }
}

pub(crate) fn finding(code: &str, step: &str, message: String, hint: &str) -> Finding {
    Finding { code: code.into(), step: step.into(), message, hint: hint.into() }
}

//! Stages and estimated durations against labelled plan graphs.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use toolplan_engine::plan::{critical_path, levels};

/// One labelled graph. `START` and `END` in edges are marks of the source, not nodes.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    pub id: String,
    #[serde(default)]
    pub nodes: Option<Vec<Node>>,
    #[serde(default)]
    pub edges: Option<Vec<(Value, Value)>>,
    #[serde(default)]
    pub optimal_seconds: Option<f64>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Node {
    pub id: Value,
    #[serde(default)]
    pub seconds: Option<f64>,
}

/// Stages by node id, and the estimated duration where every node's is known.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    pub id: String,
    pub estimated_seconds: Option<f64>,
    pub stages: Vec<Vec<String>>,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct Score {
    pub cases: usize,
    /// Cases with a known optimum, and those whose estimate equals it.
    pub with_optimum: usize,
    pub equal_optimum: usize,
    pub unequal: Vec<String>,
    /// Edges between nodes, and those whose stages are in order.
    pub edges: usize,
    pub edges_respected: usize,
    /// Cases whose edges form a cycle.
    pub broken: Vec<String>,
}

/// Stages every case that has nodes and edges.
pub fn run(cases: &[Case]) -> Vec<Row> {
    cases.iter().map(row).collect()
}

fn row(case: &Case) -> Row {
    let unknown = Row { id: case.id.clone(), estimated_seconds: None, stages: vec![] };
    let Some((names, dependencies)) = graph(case) else { return unknown };
    let Ok(level) = levels(&dependencies) else { return unknown };
    let mut stages = vec![vec![]; level.iter().max().map_or(0, |m| m + 1)];
    for (name, stage) in names.iter().zip(&level) {
        stages[*stage].push(name.clone());
    }
    let seconds: Option<Vec<f64>> = case.nodes.iter().flatten().map(|n| n.seconds).collect();
    let estimated_seconds = seconds
        .filter(|s| s.len() == names.len())
        .and_then(|s| critical_path(&dependencies, &s))
        .map(|(length, _)| length);
    Row { id: case.id.clone(), estimated_seconds, stages }
}

/// Node names and, for each node, the nodes before it. None for a case without nodes or edges.
///
/// A node that only an edge names belongs to the graph all the same; its duration is unknown.
fn graph(case: &Case) -> Option<(Vec<String>, Vec<Vec<usize>>)> {
    let mut names: Vec<String> = case.nodes.as_ref()?.iter().map(|n| name(&n.id)).collect();
    for end in edges(case).flat_map(|(from, to)| [from, to]) {
        if !names.contains(&end) {
            names.push(end);
        }
    }
    let index: HashMap<&str, usize> = names.iter().enumerate().map(|(i, n)| (n.as_str(), i)).collect();
    let mut dependencies = vec![vec![]; names.len()];
    for (from, to) in edges(case) {
        if let (Some(&from), Some(&to)) = (index.get(from.as_str()), index.get(to.as_str()))
            && !dependencies[to].contains(&from)
        {
            dependencies[to].push(from);
        }
    }
    case.edges.as_ref()?;
    Some((names, dependencies))
}

fn edges(case: &Case) -> impl Iterator<Item = (String, String)> {
    let mark = |name: &str| name == "START" || name == "END";
    case.edges.iter().flatten().map(|(a, b)| (name(a), name(b))).filter(move |(a, b)| !mark(a) && !mark(b))
}

fn name(id: &Value) -> String {
    match id {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

pub fn score(cases: &[Case], rows: &[Row]) -> Score {
    let mut score = Score { cases: cases.len(), ..Default::default() };
    for (case, row) in cases.iter().zip(rows) {
        if let Some(optimum) = case.optimal_seconds {
            score.with_optimum += 1;
            if row.estimated_seconds.is_some_and(|e| (e - optimum).abs() < 1e-6) {
                score.equal_optimum += 1;
            } else {
                score.unequal.push(case.id.clone());
            }
        }
        let stage: HashMap<&str, usize> =
            row.stages.iter().enumerate().flat_map(|(i, names)| names.iter().map(move |n| (n.as_str(), i))).collect();
        let mut broken = row.stages.is_empty() && case.nodes.is_some() && case.edges.is_some();
        for (from, to) in edges(case) {
            score.edges += 1;
            match (stage.get(from.as_str()), stage.get(to.as_str())) {
                (Some(a), Some(b)) if a < b => score.edges_respected += 1,
                _ => broken = true,
            }
        }
        if broken {
            score.broken.push(case.id.clone());
        }
    }
    score
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn case(value: Value) -> Case {
        serde_json::from_value(value).unwrap()
    }

    /// P-06, P-10: the estimate is the longest path, which is less than the sum of the stages' maxima.
    #[test]
    fn estimates_are_longest_paths() {
        let cases = [
            case(
                json!({"id": "g", "nodes": [{"id": "1", "seconds": 10}, {"id": "2", "seconds": 1}, {"id": 3, "seconds": 10}],
                        "edges": [["START", "1"], ["2", 3], [3, "END"]], "optimal_seconds": 11}),
            ),
            case(json!({"id": "cycle", "nodes": [{"id": "a"}, {"id": "b"}], "edges": [["a", "b"], ["b", "a"]]})),
            case(json!({"id": "unknown", "nodes": null, "edges": null})),
        ];
        let rows = run(&cases);
        assert_eq!(rows[0].stages, [vec!["1", "2"], vec!["3"]]);
        let score = score(&cases, &rows);
        assert_eq!((score.equal_optimum, score.edges, score.edges_respected), (1, 3, 1));
        assert_eq!(score.broken, ["cycle"]);
    }
}

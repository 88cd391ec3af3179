//! The guard against labelled cases: query and model text in, calls out. References added by rule are switched off.

use super::share;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use toolplan_adapters::tools::builtin_specs;
use toolplan_engine::{
    Problem, decompose,
    guard::Guard,
    request::{ExecutionState, Request, RoutingPlan},
    select::{Reply, reply},
    settings::Settings,
    tool::{Catalog, Category},
    visibility::Viewer,
};

/// One labelled case.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    pub id: String,
    #[serde(default)]
    pub category: String,
    pub query: String,
    pub llm_text: String,
    #[serde(default)]
    pub suggested_tools: Option<Vec<String>>,
    #[serde(default)]
    pub sub_questions: Option<Vec<String>>,
    /// What must come out, as a set; absent in cases without labels.
    #[serde(default)]
    pub expected_calls: Option<Vec<Call>>,
    /// Other defensible answers.
    #[serde(default)]
    pub also_ok: Option<Vec<Vec<Call>>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub tool: String,
    pub arguments: Map<String, Value>,
}

/// What the guard made of a case.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    pub id: String,
    pub calls: Vec<Call>,
}

/// Shares of cases that equal the expected calls (strict), or those or another defensible answer (lenient).
#[derive(Debug, Clone, Default, Serialize)]
pub struct Score {
    pub cases: usize,
    pub strict: f64,
    pub lenient: f64,
    pub categories: BTreeMap<String, CategoryScore>,
    /// Ids of the cases that are wrong even leniently.
    pub wrong: Vec<String>,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct CategoryScore {
    pub cases: usize,
    pub strict: usize,
    pub lenient: usize,
}

/// Runs the guard over the cases with the built-in tools.
pub fn run(cases: &[Case]) -> Result<Vec<Row>, Problem> {
    // The tools of source 000; those that combine results are not named by its texts.
    let nine = builtin_specs().into_iter().filter(|t| matches!(t.category, Category::Search | Category::External));
    let (catalog, _) = Catalog::new(1, nine);
    let mut settings = Settings::default();
    settings.guard.add_by_rule = false;
    let names: Vec<&str> = catalog.specs().map(|s| s.name.as_str()).collect();
    cases.iter().map(|case| run_case(case, &catalog, &settings, &names)).collect()
}

fn run_case(case: &Case, catalog: &Catalog, settings: &Settings, names: &[&str]) -> Result<Row, Problem> {
    let sub_questions = case.sub_questions.clone().unwrap_or_default();
    let parts = decompose::from_questions(&case.query, &sub_questions).sub_queries;
    let request = Request {
        query: case.query.clone(),
        state: ExecutionState::Reasoning,
        routing: RoutingPlan { suggested_tools: case.suggested_tools.clone(), sub_questions },
        ..Default::default()
    };
    let viewer = Viewer::new(settings, &request)?;
    let said = Reply { text: case.llm_text.clone(), ..Default::default() };
    let proposal = reply::read(&said, names, &settings.guard);
    let report = Guard::new(catalog, settings, viewer, &request, &parts).review(proposal, &case.llm_text);
    let calls = report
        .calls
        .into_iter()
        .filter(|c| c.goes_on())
        .map(|c| Call { tool: c.call.tool, arguments: c.call.arguments })
        .collect();
    Ok(Row { id: case.id.clone(), calls })
}

/// Scores the rows of labelled cases; cases without labels are left out.
pub fn score(cases: &[Case], rows: &[Row]) -> Score {
    let mut score = Score::default();
    let (mut strict, mut lenient) = (0, 0);
    for (case, row) in cases.iter().zip(rows) {
        let Some(expected) = &case.expected_calls else { continue };
        let exact = same_set(&row.calls, expected);
        let defensible = exact || case.also_ok.iter().flatten().any(|other| same_set(&row.calls, other));
        let category = score.categories.entry(case.category.clone()).or_default();
        category.cases += 1;
        category.strict += usize::from(exact);
        category.lenient += usize::from(defensible);
        score.cases += 1;
        strict += usize::from(exact);
        lenient += usize::from(defensible);
        if !defensible {
            score.wrong.push(case.id.clone());
        }
    }
    score.strict = share(strict, score.cases);
    score.lenient = share(lenient, score.cases);
    score
}

fn same_set(a: &[Call], b: &[Call]) -> bool {
    a.iter().all(|call| b.contains(call)) && b.iter().all(|call| a.contains(call))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn case(value: Value) -> Case {
        serde_json::from_value(value).unwrap()
    }

    /// The score compares sets, counts lenient answers and leaves unlabelled cases out.
    #[test]
    fn scores_count_what_they_say() {
        let key = |k: &str| json!({"tool": "jira_fetch", "arguments": {"issue_key": k}});
        let cases = [
            case(
                json!({"id": "1", "category": "a", "query": "AB-1 and AB-2", "llm_text": "jira_fetch", "expected_calls": [key("AB-2"), key("AB-1")]}),
            ),
            case(
                json!({"id": "2", "category": "a", "query": "AB-1", "llm_text": "jira_fetch", "expected_calls": [], "also_ok": [[key("AB-1")]]}),
            ),
            case(json!({"id": "3", "category": "b", "query": "AB-1", "llm_text": "jira_fetch", "expected_calls": []})),
            case(json!({"id": "4", "query": "AB-1", "llm_text": "nothing"})),
        ];
        let score = score(&cases, &run(&cases).unwrap());
        assert_eq!((score.cases, score.wrong), (3, vec!["3".to_string()]));
        assert!((score.strict - 1.0 / 3.0).abs() < 1e-9 && (score.lenient - 2.0 / 3.0).abs() < 1e-9);
    }
}

//! Suggested classifications against the publishers' own labels. A destructive tool called SAFE is the one error that
//! matters; a safe one called DESTRUCTIVE only costs a click.

use super::{retrieval::StatedTool, share};
use serde::{Deserialize, Serialize};
use toolplan_engine::{
    classify::suggest,
    tool::{Classification, ToolSpec},
};

/// One labelled case.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    pub id: String,
    #[serde(flatten)]
    pub tool: StatedTool,
    /// Absent in cases without labels.
    #[serde(default)]
    pub label: Option<Classification>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Row {
    pub id: String,
    pub label: Classification,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Score {
    pub cases: usize,
    pub accuracy: f64,
    /// Ids of destructive tools called SAFE.
    pub unsafe_called_safe: Vec<String>,
    /// Ids of safe tools called DESTRUCTIVE.
    pub safe_called_unsafe: Vec<String>,
}

pub fn run(cases: &[Case]) -> Vec<Row> {
    cases
        .iter()
        .map(|case| {
            let spec: ToolSpec = case.tool.clone().spec(case.tool.name.clone());
            Row { id: case.id.clone(), label: suggest(&spec).classification }
        })
        .collect()
}

/// Scores the rows of labelled cases; cases without labels are left out.
pub fn score(cases: &[Case], rows: &[Row]) -> Score {
    let mut score = Score::default();
    let mut right = 0;
    for (case, row) in cases.iter().zip(rows) {
        let Some(label) = case.label else { continue };
        score.cases += 1;
        match (label.is_safe(), row.label.is_safe()) {
            (false, true) => score.unsafe_called_safe.push(case.id.clone()),
            (true, false) => score.safe_called_unsafe.push(case.id.clone()),
            _ => right += 1,
        }
    }
    score.accuracy = share(right, score.cases);
    score
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn case(value: Value) -> Case {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn both_kinds_of_error_are_named() {
        let cases = [
            case(json!({"id": "1", "name": "get_user", "description": "Gets a user.", "label": "SAFE"})),
            case(json!({"id": "2", "name": "delete_user", "description": "Deletes a user.", "label": "SAFE"})),
            case(json!({"id": "3", "name": "list_users", "description": "Lists users.", "label": "DESTRUCTIVE"})),
            case(json!({"id": "4", "name": "list_users", "description": "Lists users."})),
        ];
        let score = score(&cases, &run(&cases));
        assert_eq!(
            (score.cases, score.unsafe_called_safe, score.safe_called_unsafe),
            (3, vec!["3".into()], vec!["2".into()])
        );
        assert!((score.accuracy - 1.0 / 3.0).abs() < 1e-9);
    }
}

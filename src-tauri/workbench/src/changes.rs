//! What differs between two plannings of a query: steps, deciding verdicts, tokens.

use crate::views::{Change, ChangeSubject};
use std::collections::BTreeMap;
use toolplan_engine::{planning::Planning, verdict::Trail};

/// The differences from `before` to `after`, steps first.
pub fn between(before: &Planning, after: &Planning) -> Vec<Change> {
    let mut changes = vec![];
    let steps = |p: &Planning| -> BTreeMap<String, String> {
        let key = |s: &toolplan_engine::plan::StepSpec| {
            format!("{} {}", s.tool, serde_json::Value::from(s.arguments.clone()))
        };
        p.plan.steps.iter().map(|s| (key(s), format!("{}{}", s.id, after_text(&s.dependencies)))).collect()
    };
    let name = |key: &str| key.split(' ').next().unwrap_or(key).to_string();
    differences(&steps(before), &steps(after), |key, b, a| {
        changes.push(Change { subject: ChangeSubject::Step, name: name(key), before: b, after: a })
    });
    let verdicts =
        |p: &Planning| -> BTreeMap<String, String> { p.trails.iter().map(|t| (t.tool.clone(), end_of(t))).collect() };
    differences(&verdicts(before), &verdicts(after), |tool, b, a| {
        changes.push(Change { subject: ChangeSubject::Verdict, name: tool.into(), before: b, after: a })
    });
    let tokens = |p: &Planning| -> BTreeMap<String, String> {
        p.tokens
            .states
            .iter()
            .map(|s| (s.state.name().to_string(), format!("{} of {} tokens", s.visible, s.full)))
            .collect()
    };
    differences(&tokens(before), &tokens(after), |state, b, a| {
        changes.push(Change { subject: ChangeSubject::Tokens, name: state.into(), before: b, after: a })
    });
    changes
}

fn differences(
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
    mut say: impl FnMut(&str, String, String),
) {
    for (key, old) in before {
        let new = after.get(key).cloned().unwrap_or_default();
        if *old != new {
            say(key, old.clone(), new);
        }
    }
    for (key, new) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
        say(key, String::new(), new.clone());
    }
}

fn after_text(dependencies: &[String]) -> String {
    if dependencies.is_empty() { String::new() } else { format!(" after {}", dependencies.join(", ")) }
}

/// Where a tool's way ended, in words.
fn end_of(trail: &Trail) -> String {
    match trail.decided().or(trail.verdicts.last()) {
        Some(verdict) => verdict.reason.to_string(),
        None => String::new(),
    }
}

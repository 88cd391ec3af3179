//! The answers of a run and what became of them when they were checked, as text for people (O-09).

use serde_json::Value;
use toolplan_workbench::engine::{
    ports::ToolResult,
    run::{RunState, StepStatus},
    text::middle_truncate,
};

/// What the tools over results found, step by step; nothing for a run without them.
pub fn print(state: &RunState) {
    for spec in &state.plan.steps {
        let Some(step) = state.steps.get(&spec.id).filter(|s| s.status == StepStatus::Succeeded) else { continue };
        if let Some(lines) = step.result.as_ref().and_then(|result| told(&spec.id, result)) {
            println!("\n{}", lines.join("\n"));
        }
    }
}

fn told(step: &str, result: &ToolResult) -> Option<Vec<String>> {
    let data = &result.data;
    let by = match (data["method"].as_str()?, data["why"].as_str()) {
        ("model", why) => {
            format!("by {}{}", text(&data["model"]["label"]), why.map_or(String::new(), |w| format!("; {w}")))
        }
        (method, Some(why)) => format!("{method}: {why}"),
        (method, None) => method.to_string(),
    };
    let confidence = result.confidence.map_or(String::new(), |c| format!(" · confidence {c:.2}"));
    let head = |what: &str| format!("{what} · {step} · {by}{confidence}");
    let mut lines = vec![];
    if let Some(verdict) = data["verdict"].as_str() {
        lines.push(head(&format!("Answer is {verdict}")));
        lines.extend(list(&data["reasons"]).map(|reason| format!("  {}", text(reason))));
    } else if let Some(hallucinated) = data["hallucinated"].as_bool() {
        lines.push(head(if hallucinated {
            "Not all of the answer is borne out"
        } else {
            "All of the answer is borne out"
        }));
        lines.extend(list(&data["claims"]).map(|claim| {
            let mark = if claim["grade"] == "supported" { "✓" } else { "✗" };
            let from = claim["source"].as_str().map_or(String::new(), |source| format!("  ⟵ {source}"));
            format!("  {mark} {} {} ({}){from}", text(&claim["grade"]), short(&claim["text"]), text(&claim["reason"]))
        }));
    } else if data["sentences"].is_array() {
        lines.push(head("Answer"));
        lines.extend(list(&data["sentences"]).map(|sentence| {
            let results: Vec<String> = list(&sentence["citations"]).map(|c| c["result"].to_string()).collect();
            let doubt = if sentence["grade"] == "supported" { "" } else { "  ✗ unsupported" };
            format!("  {} [{}]{doubt}", text(&sentence["text"]), results.join(", "))
        }));
        if data["answer"].is_null() {
            lines.push("  none: the results hold no answer".into());
        }
        if !result.sources.is_empty() {
            lines.push(format!("  Sources: {}", result.sources.join(", ")));
        }
    } else {
        return None;
    }
    Some(lines)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn short(value: &Value) -> String {
    middle_truncate(text(value), 100)
}

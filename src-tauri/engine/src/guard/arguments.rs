//! Arguments taken from text by their schema, for tools without a rule of their own (P-04, G-09).
//!
//! Only what the text states is used; a required argument that it does not state leaves the call out.

use super::reference;
use crate::tool::ToolSpec;
use regex::Regex;
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// Names of arguments that take the question itself.
const TEXT_NAMES: &[&str] = &[
    "query",
    "q",
    "question",
    "text",
    "search",
    "search_query",
    "keywords",
    "keyword",
    "input",
    "prompt",
    "message",
    "content",
    "topic",
    "term",
    "search_term",
    "searchterm",
    "request",
    "task",
    "sentence",
];

/// Fills the required arguments of `tool` from `text`, or names the one that the text does not state.
pub fn from_schema(tool: &ToolSpec, text: &str) -> Result<Map<String, Value>, String> {
    let mut arguments = Map::new();
    let mut numbers = numbers(text);
    for name in tool.required() {
        let schema = tool.properties().and_then(|p| p.get(name)).unwrap_or(&Value::Null);
        let value = value_for(name, schema, text, &mut numbers)
            .ok_or_else(|| format!("The query does not state the required argument {name}"))?;
        arguments.insert(name.to_string(), value);
    }
    Ok(arguments)
}

fn value_for(name: &str, schema: &Value, text: &str, numbers: &mut Vec<f64>) -> Option<Value> {
    if let Some(value) = schema.get("const").or_else(|| schema.get("default")) {
        return Some(value.clone());
    }
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        let lower = text.to_lowercase();
        return options.iter().find(|o| o.as_str().is_some_and(|o| contains_word(&lower, &o.to_lowercase()))).cloned();
    }
    match schema.get("type").and_then(Value::as_str).unwrap_or("string") {
        "integer" => {
            let at = numbers.iter().position(|n| n.fract() == 0.0)?;
            Some(Value::from(numbers.remove(at) as i64))
        }
        "number" => (!numbers.is_empty()).then(|| Value::from(numbers.remove(0))),
        "array" => {
            let items: Vec<Value> = reference::quoted(text).found.into_iter().map(|f| f.value.into()).collect();
            (!items.is_empty()).then(|| items.into())
        }
        "string" => text_for(&name.to_lowercase(), schema, text).map(Value::from),
        _ => None,
    }
}

fn text_for(name: &str, schema: &Value, text: &str) -> Option<String> {
    let first = |references: reference::References| references.found.into_iter().next().map(|f| f.value);
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    if name.contains("url") || name.contains("link") || format == "uri" {
        return first(reference::urls(text));
    }
    if name.contains("path") || name.contains("file") {
        return first(reference::paths(text));
    }
    if name.contains("email") || format == "email" {
        return EMAIL.find(text).map(|m| m.as_str().into());
    }
    if name.contains("date") || format == "date" {
        return DATE.find(text).map(|m| m.as_str().into());
    }
    if let Some(quoted) = first(reference::quoted(text)) {
        return Some(quoted);
    }
    TEXT_NAMES.contains(&name).then(|| text.trim().to_string()).filter(|t| !t.is_empty())
}

static EMAIL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+").expect("a pattern of ours compiles"));
static DATE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b\d{4}-\d{2}-\d{2}\b").expect("a pattern of ours compiles"));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"-?\d+(?:\.\d+)?").expect("a pattern of ours compiles"));

fn numbers(text: &str) -> Vec<f64> {
    NUMBER.find_iter(text).filter_map(|m| m.as_str().parse().ok()).collect()
}

fn contains_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let edge = |c: Option<char>| !c.is_some_and(|c| c.is_ascii_alphanumeric());
        edge(text[..at].chars().next_back()) && edge(text[at + word.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(parameters: Value) -> ToolSpec {
        ToolSpec { name: "t".into(), parameters, ..Default::default() }
    }

    /// P-04, G-09
    #[test]
    fn only_what_the_text_states_is_used() {
        let spec = tool(json!({"type": "object", "required": ["city", "days", "unit", "query"], "properties": {
            "city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["celsius", "kelvin"]}, "query": {"type": "string"}}}));
        let filled = from_schema(&spec, "Weather in \"Oslo\" for 3 days in Celsius").unwrap();
        assert_eq!(Value::from(filled), json!({"city": "Oslo", "days": 3, "unit": "celsius", "query": "Oslo"}));
        let missing = from_schema(&spec, "Weather in Oslo").unwrap_err();
        assert_eq!(missing, "The query does not state the required argument city");
    }
}

//! What the discovery tools say about themselves: the catalog entries that people and models read.

use super::{GET, MAX_NAMES, SEARCH};
use crate::{
    settings::MAX_LIMIT,
    tool::{Applicability, Binding, Category, Classification, Loading, Needs, SideEffects, ToolExample, ToolSpec},
};
use serde_json::{Value, json};

/// The catalog entries of `tool_search` and `tool_get` (D-02).
pub fn specs() -> Vec<ToolSpec> {
    vec![tool_search(), tool_get()]
}

fn tool_search() -> ToolSpec {
    let parameters = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "description": "What the tool should do, in plain words, or its name."},
            "search_type": {
                "type": "string", "enum": ["fts", "regex", "exact"],
                "description": "fts ranks by words, regex matches names and texts, exact compares whole names, tags and capabilities. Default fts.",
            },
            "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "description": "Tools to return. Default 8."},
            "include_always_loaded": {"type": "boolean", "description": "Also the tools that are offered anyway. Default false."},
            "tags": {"type": "array", "items": {"type": "string"}, "description": "Only tools that carry all of these tags."},
            "namespace": {"type": ["string", "null"], "description": "Only tools of this namespace or below it."},
        },
        "required": ["query"],
        "additionalProperties": false,
    });
    ToolSpec {
        title: Some("Search tools".into()),
        description: "Finds tools of the catalog that can be called here, by what they do or by name. Use it when no \
            offered tool fits."
            .into(),
        limitations: vec!["finds only what this session may call".into()],
        applicability: Some(Applicability { needs: Needs::Text, argument: "query".into() }),
        examples: vec![ToolExample {
            query: "which tool sends a message?".into(),
            parameters: [("query".to_string(), json!("send a message")), ("limit".to_string(), json!(3))]
                .into_iter()
                .collect(),
            expected_result: "Up to three tools with name, description and score, best first.".into(),
        }],
        ..spec(SEARCH, parameters)
    }
}

fn tool_get() -> ToolSpec {
    let parameters = json!({
        "type": "object",
        "properties": {
            "names": {
                "type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MAX_NAMES,
                "description": "Exact names, as tool_search gives them.",
            },
            "include_schemas": {"type": "boolean", "description": "With the JSON Schemas of arguments and result. Default true."},
            "include_examples": {"type": "boolean", "description": "With worked examples. Default true."},
        },
        "required": ["names"],
        "additionalProperties": false,
    });
    ToolSpec {
        title: Some("Read tools".into()),
        description: "Reads the records of up to ten tools by name: what they do, their arguments and examples. Use \
            it before the first call of a tool whose arguments are unknown."
            .into(),
        limitations: vec!["reads only what this session may call".into()],
        ..spec(GET, parameters)
    }
}

fn spec(name: &str, parameters: Value) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        parameters,
        group: "discovery".into(),
        category: Category::Search,
        capabilities: vec!["tool discovery".into()],
        side_effects: SideEffects::Pure,
        classification: Classification::Safe,
        loading: Loading::Always,
        latency_hint_ms: Some(5),
        cost_hint: Some(0.0),
        binding: Binding::Builtin { name: name.into() },
        ..ToolSpec::default()
    }
}

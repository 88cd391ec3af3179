//! `tool_get`: the records of tools by name (D-02). What is withheld is named without saying whether it exists.

use super::Within;
use crate::{
    ports::{ErrorClass, ToolError},
    settings::ExampleSettings,
    tool::{Category, Classification, Loading, SideEffects, ToolExample, ToolSpec},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The arguments of `tool_get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GetQuery {
    /// 1 to 10 names or aliases.
    pub names: Vec<String>,
    #[serde(default = "yes")]
    pub include_schemas: bool,
    #[serde(default = "yes")]
    pub include_examples: bool,
}

fn yes() -> bool {
    true
}

/// The most names of one call.
pub const MAX_NAMES: usize = 10;

/// What `tool_get` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GetAnswer {
    pub tools: Vec<ToolRecord>,
    pub requested: Vec<String>,
    pub returned: Vec<String>,
    /// Requested and not returned: unknown, or hidden from this session.
    pub withheld: Vec<String>,
    pub format: String,
}

/// What a model may know of a tool. Fallback and guidance are left out: they may name hidden tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolRecord {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub description: String,
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub namespace: String,
    pub category: Category,
    pub side_effects: SideEffects,
    pub classification: Classification,
    pub loading_mode: Loading,
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub capabilities: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub limitations: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub auth_scopes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_hint: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_hint_ms: Option<u32>,
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub safety_notes: String,
    /// JSON Schema of the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returns: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples: Option<Vec<ToolExample>>,
}

impl GetQuery {
    pub fn check(&self) -> Result<(), ToolError> {
        if (1..=MAX_NAMES).contains(&self.names.len()) {
            return Ok(());
        }
        Err(ToolError::new(
            ErrorClass::Validation,
            format!("names holds {} names; it must hold 1 to {MAX_NAMES}", self.names.len()),
            "ask for the few tools that you consider",
        ))
    }
}

/// The records of the tools that the session could call. An error when none of the names is one.
pub fn get(within: &Within, query: &GetQuery) -> Result<GetAnswer, ToolError> {
    let mut requested: Vec<String> = vec![];
    for name in query.names.iter().map(|n| n.trim()).filter(|n| !n.is_empty()) {
        if !requested.iter().any(|r| r == name) {
            requested.push(name.into());
        }
    }
    let mut tools: Vec<&ToolSpec> = vec![];
    let mut withheld = vec![];
    for name in &requested {
        match resolve(within, name) {
            Some(tool) if tools.iter().any(|t| t.name == tool.name) => {}
            Some(tool) => tools.push(tool),
            None => withheld.push(name.clone()),
        }
    }
    if tools.is_empty() {
        return Err(ToolError::new(
            ErrorClass::NotFound,
            format!("none of these tools is available: {}", requested.join(", ")),
            "find the exact names with tool_search",
        ));
    }
    Ok(GetAnswer {
        returned: tools.iter().map(|t| t.name.clone()).collect(),
        tools: tools.into_iter().map(|tool| record(within, tool, query)).collect(),
        requested,
        withheld,
        format: "tool_record".into(),
    })
}

/// The visible tool of the name, else the one visible tool of that alias.
fn resolve<'c>(within: &Within<'c>, name: &str) -> Option<&'c ToolSpec> {
    if let Some(tool) = within.catalog.spec(name).filter(|tool| within.viewer.sees(tool)) {
        return Some(tool);
    }
    let mut called = within.catalog.specs().filter(|t| t.aliases.iter().any(|a| a == name) && within.viewer.sees(t));
    called.next().filter(|_| called.next().is_none())
}

fn record(within: &Within, tool: &ToolSpec, query: &GetQuery) -> ToolRecord {
    ToolRecord {
        name: tool.name.clone(),
        title: tool.title.clone(),
        description: tool.description.clone(),
        namespace: tool.namespace.clone(),
        category: tool.category,
        side_effects: tool.side_effects,
        classification: tool.classification,
        loading_mode: within.viewer.loads(tool),
        tags: tool.tags.clone(),
        capabilities: tool.capabilities.clone(),
        limitations: tool.limitations.clone(),
        auth_scopes: tool.auth_scopes.clone(),
        cost_hint: tool.cost_hint,
        latency_hint_ms: tool.latency_hint_ms,
        safety_notes: tool.safety_notes.clone(),
        parameters: query.include_schemas.then(|| tool.parameters.clone()),
        returns: tool.returns.clone().filter(|_| query.include_schemas),
        examples: examples(tool, &within.settings.examples).filter(|_| query.include_examples),
    }
}

fn examples(tool: &ToolSpec, settings: &ExampleSettings) -> Option<Vec<ToolExample>> {
    let shown = tool.examples.iter().take(settings.max_examples_per_tool.clamp(1, 10) as usize).cloned();
    let bare = |e: ToolExample| match settings.include_descriptions {
        true => e,
        false => ToolExample { query: String::new(), expected_result: String::new(), ..e },
    };
    settings.enabled.then(|| shown.map(bare).collect())
}

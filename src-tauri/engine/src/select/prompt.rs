//! The prompt for tool selection, in a template of our own with the parts of source 001.
//!
//! Holds the visible tools and nothing of the hidden ones (V-09); each provider's adapter only encodes it.

use super::Exchange;
use crate::{
    intent,
    request::{Decomposition, ExecutionState, Request},
    settings::{Intent, Settings},
    tool::Entry,
    visibility::effective_state,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Changes whenever the words below do.
pub const TEMPLATE_VERSION: u32 = 2;

/// What is sent to a model, before a provider's encoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Prompt {
    pub system: String,
    pub user: String,
    pub tools: Vec<ToolDefinition>,
    pub temperature: f32,
    /// What was said since: turns in which the model selected an intent or searched for tools.
    #[serde(default)]
    pub turns: Vec<Exchange>,
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ToolDefinition {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Value,
}

/// Builds the prompt from the tools that stand in it and the section of their guidance (K-10).
pub fn build(
    request: &Request,
    decomposition: &Decomposition,
    tools: &[&Entry],
    guidance: &str,
    temperature: f32,
) -> Prompt {
    let mut system = String::from(
        "You choose tools for a query. For each part of the query pick the tool that serves it best, or none.\n\
         Rules:\n\
         - Call only tools that are offered to you, by their exact names.\n\
         - Prefer few calls. Search by meaning for questions, by words for exact names, by both when unsure.\n\
         - Fill arguments only with values that the query states. Never invent a key, a URL or an id.\n\
         - Validation tools come after the steps whose results they check.\n\
         Call the tools directly. If you cannot, answer with one JSON object:\n\
         {\"reasoning\": \"...\", \"toolChain\": [{\"subQuery\": \"...\", \"tool\": \"...\", \"parameters\": {}, \"confidence\": 0.9}]}\n",
    );
    system.push_str(guidance);
    let mut user = format!("Query: {}\nQuery type: {:?}\n", request.query, decomposition.query_type);
    if decomposition.sub_queries.len() > 1 {
        user.push_str("Parts:\n");
        for part in &decomposition.sub_queries {
            user.push_str(&format!("- {}: {}\n", part.id, part.query));
        }
    }
    let tools = tools
        .iter()
        .map(|t| ToolDefinition {
            name: t.spec.name.clone(),
            description: t.spec.description.clone(),
            parameters: t.spec.parameters.clone(),
        })
        .collect();
    Prompt { system, user, tools, temperature, turns: vec![] }
}

/// Begins what a prompt says of hidden tools.
pub const ABOUT_TOOLS: &str = "About the tools:\n";

/// What the model must know of tools that it does not see: how to select an intent, which one it works on, or that
/// there is no tool at all. Empty when there is nothing to say.
pub fn about_tools(settings: &Settings, request: &Request, tools: &[&Entry]) -> String {
    let mut lines = vec![];
    let handshake =
        tools.iter().map(|t| t.spec.name.as_str()).find(|n| settings.handshake_tools.iter().any(|h| h == n));
    match (effective_state(settings, request), handshake) {
        (ExecutionState::Reasoning, Some(tool)) => {
            lines.push(
                "No intent is selected. You see the tools that only read; those that change something are not offered \
                 yet."
                    .to_string(),
            );
            let open: Vec<&Intent> = intent::open(settings).collect();
            if open.is_empty() {
                lines.push("There is no intent to select, so work with the tools that only read.".into());
            } else {
                lines.push(format!(
                    "When the query asks for a change, first call {tool} with the id of the intent that covers it, and \
                     nothing else. The other tools are offered after that. A query that only asks needs no intent."
                ));
                lines.push("Intents:".into());
                lines.extend(open.iter().map(|intent| intent_line(intent)));
            }
        }
        (ExecutionState::Action, _) => {
            let id = request.intent.trim();
            match settings.intents.iter().find(|i| i.id == id) {
                Some(intent) => {
                    lines.push(format!("You work on this intent:\n{}", intent_line(intent)));
                    let parts = [
                        ("Keep to", &intent.constraints),
                        ("Touch only", &intent.scope),
                        ("It is done when", &intent.acceptance),
                    ];
                    lines.extend(
                        parts
                            .iter()
                            .filter(|(_, of)| !of.is_empty())
                            .map(|(head, of)| format!("{head}: {}", of.join("; "))),
                    );
                }
                None => lines.push(format!("You work on the intent {id}.")),
            }
        }
        _ => {}
    }
    if tools.is_empty() {
        lines.push("No tools are available. Call and name none; answer with an empty toolChain and say why.".into());
    }
    if lines.is_empty() { String::new() } else { format!("{ABOUT_TOOLS}{}\n", lines.join("\n")) }
}

fn intent_line(intent: &Intent) -> String {
    if intent.title.is_empty() { format!("- {}", intent.id) } else { format!("- {}: {}", intent.id, intent.title) }
}

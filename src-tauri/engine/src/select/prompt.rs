//! The prompt for tool selection, in a template of our own with the parts of source 001.
//!
//! Holds the visible tools and nothing of the hidden ones (V-09); each provider's adapter only encodes it.

use crate::{
    request::{Decomposition, Request},
    tool::Entry,
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
    Prompt { system, user, tools, temperature }
}

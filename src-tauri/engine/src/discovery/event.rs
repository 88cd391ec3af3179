//! What discovery did, as the journal keeps it (D-08). Variants are only ever added.

use crate::{
    settings::{ActivationScope, SearchType},
    verdict::Gate,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "type")]
pub enum DiscoveryEvent {
    /// The index of the catalog is at hand.
    #[serde(rename = "tool_search_cache_ready")]
    IndexReady {
        /// The stored index; empty where it is kept in memory only.
        db_path: String,
        tool_count: u32,
        /// Always true: the ranking is part of the program.
        fts_available: bool,
        /// Tools that the policy lets through.
        execution_tool_count: u32,
        /// Tools whose schemas stand in the prompt.
        visible_tool_count: u32,
    },
    #[serde(rename = "planner_tool_policy_filtered")]
    PolicyFiltered {
        /// The first of them, at most 50.
        removed: Vec<String>,
        original_count: u32,
        filtered_count: u32,
    },
    #[serde(rename = "tool_search_query")]
    SearchQuery {
        query: String,
        requested_search_type: SearchType,
        effective_search_type: SearchType,
        results_count: u32,
        tags: Vec<String>,
        namespace: Option<String>,
    },
    #[serde(rename = "tool_get")]
    ToolGet {
        requested: Vec<String>,
        returned: Vec<String>,
        /// Requested and not returned.
        withheld: Vec<String>,
        include_schemas: bool,
        include_examples: bool,
    },
    #[serde(rename = "tool_hints_generated")]
    HintsGenerated {
        query: String,
        requested_search_type: SearchType,
        effective_search_type: SearchType,
        count: u32,
        top_k: u32,
    },
    #[serde(rename = "tool_directory_rendered")]
    DirectoryRendered { group_count: u32 },
    #[serde(rename = "tool_activated")]
    Activated {
        tool_name: String,
        activation_scope: ActivationScope,
        /// `tool_call`
        source: String,
        /// `first_use`
        reason: String,
    },
    #[serde(rename = "tool_activation_denied")]
    ActivationDenied {
        tool_name: String,
        /// `visibility_policy`, or `session_id_missing`.
        reason: String,
        /// The gate that refused; null when none did.
        gate: Option<Gate>,
        /// The rule of that gate, and the setting behind it.
        rule: String,
        config_key: String,
    },
}

impl DiscoveryEvent {
    /// The name under which it is stored.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::IndexReady { .. } => "tool_search_cache_ready",
            Self::PolicyFiltered { .. } => "planner_tool_policy_filtered",
            Self::SearchQuery { .. } => "tool_search_query",
            Self::ToolGet { .. } => "tool_get",
            Self::HintsGenerated { .. } => "tool_hints_generated",
            Self::DirectoryRendered { .. } => "tool_directory_rendered",
            Self::Activated { .. } => "tool_activated",
            Self::ActivationDenied { .. } => "tool_activation_denied",
        }
    }

    /// A sentence for a person.
    pub fn says(&self) -> String {
        match self {
            Self::IndexReady { tool_count, visible_tool_count, .. } => {
                format!("Index ready: {tool_count} tools, {visible_tool_count} in the prompt")
            }
            Self::PolicyFiltered { original_count, filtered_count, .. } => {
                format!("The policy lets {filtered_count} of {original_count} tools through")
            }
            Self::SearchQuery { query, requested_search_type, effective_search_type, results_count, .. } => {
                let instead = match requested_search_type == effective_search_type {
                    true => String::new(),
                    false => format!(" in place of {}", name(*requested_search_type)),
                };
                format!(
                    "Searched tools for {query:?} by {}{instead}: {results_count} found",
                    name(*effective_search_type)
                )
            }
            Self::ToolGet { returned, withheld, .. } => match withheld.len() {
                0 => format!("Read the records of {}", returned.join(", ")),
                n => format!("Read the records of {} tools; {n} withheld", returned.len()),
            },
            Self::HintsGenerated { count, query, .. } => format!("{count} hints for {query:?}"),
            Self::DirectoryRendered { group_count } => format!("Directory of {group_count} groups"),
            Self::Activated { tool_name, activation_scope, .. } => {
                let scope = match activation_scope {
                    ActivationScope::Run => "run",
                    ActivationScope::Session => "session",
                };
                format!("Activated {tool_name} for the {scope}: its first call")
            }
            Self::ActivationDenied { tool_name, rule, .. } => format!("{tool_name} was not activated: {rule}"),
        }
    }
}

fn name(search_type: SearchType) -> &'static str {
    match search_type {
        SearchType::Fts => "words",
        SearchType::Regex => "regex",
        SearchType::Exact => "exact match",
    }
}

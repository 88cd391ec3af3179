//! What tools cost in the prompt, and what hiding them saves (V-10).
//!
//! A tool's cost is the tokens of its name, its description and its JSON Schema, each counted alone; the punctuation
//! that a provider's wire format puts around them is not included. The figures are exact for models that use the
//! encoding and labelled estimated for all others.

use crate::{
    ports::TokenCounter,
    request::ExecutionState,
    tool::{Entry, ToolSpec},
};
use serde::{Deserialize, Serialize};

/// Tokens of one tool's definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct TokenCost {
    pub name: u32,
    pub description: u32,
    pub schema: u32,
}

impl TokenCost {
    pub fn of(tool: &ToolSpec, counter: &dyn TokenCounter) -> Self {
        Self {
            name: counter.count(&tool.name),
            description: counter.count(&tool.description),
            schema: counter.count(&tool.parameters.to_string()),
        }
    }

    pub fn total(self) -> u32 {
        self.name + self.description + self.schema
    }
}

impl Entry {
    /// What the tool costs in the prompt; counted once.
    pub fn token_cost(&self, counter: &dyn TokenCounter) -> TokenCost {
        *self.cost.get_or_init(|| TokenCost::of(&self.spec, counter))
    }
}

/// Full against visible definitions in one state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct StateTokens {
    pub state: ExecutionState,
    pub full_tools: u32,
    pub visible_tools: u32,
    /// Tokens of all tools of the catalog.
    pub full: u32,
    /// Tokens of the tools that the model sees.
    pub visible: u32,
    /// `full − visible`.
    pub saved: u32,
}

/// One tool's part in the prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ToolTokens {
    pub tool: String,
    pub cost: TokenCost,
    pub total: u32,
    /// Whether the model sees the tool in the request's state.
    pub visible: bool,
}

/// Tokens per state and per tool for one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct TokenReport {
    pub encoding: String,
    /// False: the model's own tokenizer may count otherwise.
    pub exact: bool,
    pub states: Vec<StateTokens>,
    /// Largest first; at most [`TOP_TOOLS`].
    pub tools: Vec<ToolTokens>,
}

/// How many tools a [`TokenReport`] names.
pub const TOP_TOOLS: usize = 50;

/// Byte-pair encodings of the `tiktoken` crate.
pub struct Tiktoken {
    name: String,
    bpe: &'static tiktoken::CoreBpe,
}

impl Tiktoken {
    /// The encoding called `name`, or `o200k_base` where there is none of that name.
    pub fn named(name: &str) -> Self {
        match tiktoken::get_encoding(name) {
            Some(bpe) => Self { name: name.into(), bpe },
            None => Self {
                name: "o200k_base".into(),
                bpe: tiktoken::get_encoding("o200k_base").expect("the crate bundles o200k_base"),
            },
        }
    }
}

impl TokenCounter for Tiktoken {
    fn encoding(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str) -> u32 {
        self.bpe.count(text) as u32
    }
}

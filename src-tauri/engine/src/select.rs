//! Proposing calls: the prompt for a model, the reading of its reply, and the offline selector.

pub mod offline;
pub mod prompt;
pub mod reply;

pub use prompt::{Prompt, ToolDefinition};
pub use reply::{Proposal, Proposed, ReplyPath};

use crate::tool::ToolCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A model's answer, from any provider. Also the form of a recorded reply (P-05).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct Reply {
    /// All text, thinking included where the provider sends it inline.
    pub text: String,
    /// Calls made through the provider's own tool protocol.
    pub native_calls: Vec<ToolCall>,
    pub input_tokens: Option<u32>,
    pub output_tokens: Option<u32>,
}

/// An earlier turn of the same planning: what the model said and called, and what it was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Exchange {
    pub text: String,
    /// False: the calls stand as JSON in the text, and the results go back as text.
    pub native: bool,
    pub calls: Vec<ExchangeCall>,
}

/// A call of an earlier turn with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ExchangeCall {
    /// Nine letters and digits: every protocol takes them.
    pub id: String,
    pub call: ToolCall,
    pub result: Value,
    pub is_error: bool,
}

impl Exchange {
    /// The results as one text, for replies whose calls were text.
    pub fn results_as_text(&self) -> String {
        let lines = self.calls.iter().map(|c| format!("Result of {}: {}", c.call.tool, c.result));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Everything that it adds to a prompt, for counting.
    pub fn to_text(&self) -> String {
        let calls = self.calls.iter().map(|c| format!("{} {}\n", c.call.tool, Value::from(c.call.arguments.clone())));
        let calls: String = if self.native { calls.collect() } else { String::new() };
        format!("{}\n{calls}{}", self.text, self.results_as_text())
    }
}

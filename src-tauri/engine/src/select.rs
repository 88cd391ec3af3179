//! Proposing calls: the prompt for a model, the reading of its reply, and the offline selector.

pub mod offline;
pub mod prompt;
pub mod reply;

pub use prompt::{Prompt, ToolDefinition};
pub use reply::{Proposal, Proposed, ReplyPath};

use crate::tool::ToolCall;
use serde::{Deserialize, Serialize};

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

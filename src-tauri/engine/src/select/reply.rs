//! Reading a model's reply: native calls, then JSON, then free text (G-03).

use crate::text::Span;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How the calls were found in the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ReplyPath {
    /// The provider's tool protocol.
    Native,
    /// A JSON value in the text.
    Json,
    /// Tool names mentioned in prose.
    FreeText,
    /// The reply named no call; the offline selector proposed instead.
    Fallback,
    /// No model was asked.
    #[default]
    Offline,
}

/// One call as proposed, before the guard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Proposed {
    pub tool: String,
    /// Null when the proposal only named the tool.
    pub arguments: Option<Map<String, Value>>,
    /// Where the model's text says so.
    pub mention: Option<Span>,
    /// The model said not to use it.
    pub negated: bool,
    /// Id of the sub-query it serves; empty for the whole query.
    pub sub_query: String,
    /// Ids of proposed calls it needs: indexes into the proposal, for chains that the offline selector makes.
    pub after: Vec<u32>,
}

/// All proposed calls and how they were found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Proposal {
    pub path: ReplyPath,
    /// Why this path was taken.
    pub path_reason: String,
    pub calls: Vec<Proposed>,
    pub reasoning: String,
}

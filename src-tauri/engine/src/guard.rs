//! The guard of source 000: which proposed calls may run, with which arguments, and why the others may not.
//!
//! Every proposal passes here, whichever way it was found (G-03). A call that comes out is [`Admitted`]; nothing else
//! in the program can make one.

use crate::{
    select::ReplyPath,
    text::Span,
    tool::ToolCall,
    verdict::{Outcome, Verdict},
};
use serde::{Deserialize, Serialize};

/// Prefixes of words that look like Jira keys and are not (G-05). Never PROJ: the sources use it.
pub const NOISE_PREFIXES: &[&str] = &["UTF"];

/// A call that passed the guard. The only way to make one is [`admit`].
#[derive(Debug, Clone, PartialEq)]
pub struct Admitted {
    call: ToolCall,
}

impl Admitted {
    pub fn call(&self) -> &ToolCall {
        &self.call
    }
}

/// One call and what the guard said of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct GuardedCall {
    pub call: ToolCall,
    /// `kept`, `dropped`, `added` or `rewritten`.
    pub outcome: Outcome,
    /// Rule, reason and evidence of the verdict that decided.
    pub verdict: Verdict,
    /// All verdicts on this call, in the order of the gates.
    pub verdicts: Vec<Verdict>,
    /// Id of the sub-query that the call serves; empty for the whole query.
    pub sub_query: String,
    /// Audit mode: the call would have been dropped.
    pub would_drop: bool,
    /// Indexes of calls in this report whose results it waits for.
    pub after: Vec<u32>,
}

/// A place in the model's text that names a tool (G-04).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Mention {
    pub tool: String,
    pub span: Span,
    pub negated: bool,
    /// It stands inside thinking text.
    pub thinking: bool,
}

/// What the guard made of one reply.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct GuardReport {
    pub path: ReplyPath,
    pub path_reason: String,
    /// The text that was read; empty without a model.
    pub model_text: String,
    pub mentions: Vec<Mention>,
    /// In the order of mention; added calls last.
    pub calls: Vec<GuardedCall>,
}

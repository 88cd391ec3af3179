//! An error as a person sees it: the thing that is wrong and the remedy.

use serde::{Deserialize, Serialize};

/// What went wrong, in the words shown on screen and in the CLI.
///
/// `code` is stable and dotted (`catalog.malformed`), `message` names the thing, `hint` the remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[error("{message}")]
pub struct Problem {
    pub code: String,
    pub message: String,
    pub hint: String,
}

impl Problem {
    pub fn new(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), hint: hint.into() }
    }
}

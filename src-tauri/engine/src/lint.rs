//! Lints: what is likely wrong with a tool, the catalog or the settings, before anybody plans with them (K-12).
//!
//! A lint is a finding with a stable code, a sentence and, where one exists, a fix as data: a JSON merge patch (RFC 7396)
//! for a tool or for the settings. Lints only report; a fix is applied when somebody asks for it. `docs/lints.md` lists
//! the codes.

use crate::verdict::Text;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Something cannot work.
    Error,
    /// Something will surprise somebody.
    Warning,
    /// Something could be better.
    Info,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Lint {
    /// Stable and dotted: `schema.required_unknown`.
    pub code: Text,
    pub severity: Severity,
    /// A sentence for a person.
    pub message: String,
    /// The tools that it is about, the one to look at first; at most [`MAX_TOOLS`]. Empty for the settings.
    pub tools: Vec<String>,
    /// The field of the tool, or the path in the settings.
    pub field: String,
    pub fix: Option<Fix>,
}

/// How many tools a lint names.
pub const MAX_TOOLS: usize = 20;

/// A way to make a lint go away.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Fix {
    /// What it does: "Remove `limit` from the required arguments".
    pub title: String,
    pub target: FixTarget,
    /// JSON merge patch: objects merge, null removes, everything else replaces.
    pub patch: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FixTarget {
    Tool { name: String },
    Settings,
}

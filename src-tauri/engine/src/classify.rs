//! Suggesting whether a tool is safe, from what it says about itself. A suggestion never changes a tool: somebody
//! accepts it, or nothing happens (V-06).
//!
//! It errs on one side. SAFE needs a name that begins with a reading word and a name and description without any
//! writing word; everything else is DESTRUCTIVE.

use crate::tool::{Classification, ToolSpec};
use serde::Serialize;

/// What a tool seems to be, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suggestion {
    /// SAFE or DESTRUCTIVE.
    pub classification: Classification,
    pub reason: String,
    /// The word that decided; empty where none was found.
    pub evidence: String,
}

pub fn suggest(spec: &ToolSpec) -> Suggestion {
    let _ = spec;
    Suggestion { classification: Classification::Destructive, reason: String::new(), evidence: String::new() }
}

//! Capabilities: which tools a list of enabled extensions stands for, what they can do, and how to use them well.
//!
//! An extension is something that a person switches on: `web`, `memory`, the namespace of an imported server. Ids have
//! [`aliases`] and imply one another; the [`view`] turns enabled ids into entries, each a tool with its capabilities and
//! its guidance. Entries come from the bundled core catalog (`core.json`, K-09) and from the tools of the workspace that
//! describe themselves. [`guidance`] is what of it reaches a prompt; [`matchers`] suggest capabilities for a query.
//!
//! Nothing here makes a tool visible or callable: a view describes, the gates of [`crate::visibility`] decide.

pub mod aliases;
pub mod guidance;
pub mod matchers;
pub mod view;

pub use aliases::Aliases;
pub use view::{EntrySource, PlanningView, view};

use crate::settings::RequestMatcher;
use serde::Deserialize;
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashSet},
    sync::LazyLock,
};

/// The bundled catalog of `core.json`.
#[derive(Debug, Deserialize)]
pub struct Core {
    /// Groups of ids that mean one extension; the first is the canonical one.
    pub aliases: Vec<Vec<String>>,
    /// What an extension brings along, one way.
    pub implications: BTreeMap<String, Vec<String>>,
    pub entries: Vec<CoreEntry>,
}

/// A tool of the core catalog.
#[derive(Debug, Deserialize)]
pub struct CoreEntry {
    pub extension: String,
    pub tool: String,
    pub capabilities: Vec<String>,
    pub guidance: Vec<String>,
    #[serde(default)]
    pub matchers: Vec<RequestMatcher>,
}

/// The 31 entries that come with Toolplan (K-09).
pub static CORE: LazyLock<Core> =
    LazyLock::new(|| serde_json::from_str(include_str!("capability/core.json")).expect("the core catalog is sound"));

/// Trims, drops blanks, keeps the first of equal strings (K-07).
pub fn normalise<'a>(strings: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut seen = HashSet::new();
    let trimmed = strings.into_iter().map(str::trim).filter(|s| !s.is_empty());
    trimmed.filter(|s| seen.insert(*s)).map(str::to_string).collect()
}

/// The strings of a JSON value as [`normalise`] leaves them, and what was left out of it, in words: a value that is not
/// an array, an element that is not a string (K-07). Null is an empty list and nothing is left out.
pub fn strings(value: &Value) -> (Vec<String>, Vec<String>) {
    match value {
        Value::Null => (vec![], vec![]),
        Value::Array(items) => {
            let kept = normalise(items.iter().filter_map(Value::as_str));
            let odd = items.iter().enumerate().filter(|(_, item)| !item.is_string());
            (kept, odd.map(|(i, item)| format!("element {} is {} and no text", i + 1, kind(item))).collect())
        }
        other => (vec![], vec![format!("it is {} and no list", kind(other))]),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

//! Lints: what is likely wrong with a tool, the catalog or the settings, before anybody plans with them (K-12).
//!
//! A lint is a finding with a stable code, a sentence and, where one exists, a fix as data: a JSON merge patch (RFC 7396)
//! for a tool or for the settings. Lints only report; a fix is applied when somebody asks for it. `docs/lints.md` lists
//! the codes.

pub mod patch;
mod settings;
mod shelf;
mod similar;
mod tool;

use crate::{settings::Settings, tool::Catalog, verdict::Text};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{collections::HashMap, sync::Arc};

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

impl Lint {
    fn new(code: &'static str, severity: Severity, field: &str, message: impl Into<String>) -> Self {
        Self { code: code.into(), severity, message: message.into(), tools: vec![], field: field.into(), fix: None }
    }

    fn of<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.tools.extend(tools.into_iter().take(MAX_TOOLS).map(Into::into));
        self
    }

    fn fixed_by(mut self, title: impl Into<String>, target: FixTarget, patch: Value) -> Self {
        self.fix = Some(Fix { title: title.into(), target, patch });
        self
    }
}

/// Everything that was found, worst first.
#[derive(Debug, Clone, Default)]
pub struct LintReport {
    pub lints: Vec<Arc<Lint>>,
    by_tool: HashMap<String, Vec<u32>>,
}

impl LintReport {
    fn of(mut lints: Vec<Arc<Lint>>) -> Self {
        lints.sort_by_key(|lint| lint.severity);
        let mut by_tool: HashMap<String, Vec<u32>> = HashMap::new();
        for (i, lint) in lints.iter().enumerate() {
            for tool in &lint.tools {
                match by_tool.get_mut(tool) {
                    Some(numbers) => numbers.push(i as u32),
                    None => drop(by_tool.insert(tool.clone(), vec![i as u32])),
                }
            }
        }
        Self { lints, by_tool }
    }

    /// The lints that name the tool.
    pub fn of_tool(&self, tool: &str) -> impl Iterator<Item = &Lint> {
        let numbers = self.by_tool.get(tool).map_or(&[][..], Vec::as_slice);
        numbers.iter().map(|i| self.lints[*i as usize].as_ref())
    }
}

/// Finds lints and remembers what it learned of each tool, so that after an edit only the edited tools are read again.
#[derive(Debug, Default)]
pub struct Linter {
    shelf: shelf::Shelf,
    last: Option<(Catalog, Settings, Arc<LintReport>)>,
}

impl Linter {
    /// All lints of the catalog under the settings.
    pub fn report(&mut self, catalog: &Catalog, settings: &Settings) -> Arc<LintReport> {
        if let Some((of, under, report)) = &self.last
            && of.is_same(catalog)
            && under == settings
        {
            return report.clone();
        }
        self.shelf.read(catalog);
        let mut lints = self.shelf.lints(catalog);
        lints.extend(settings::lints(catalog, settings).into_iter().map(Arc::new));
        let report = Arc::new(LintReport::of(lints));
        self.last = Some((catalog.clone(), settings.clone(), report.clone()));
        report
    }
}

//! Why a tool is, or is not, in the prompt, in the plan, in the run.
//!
//! Every tool passes one ordered chain of gates for a query, and each gate writes a [`Verdict`]. A [`Trail`] is a
//! tool's verdicts in the order of the chain; the first that says no decides. The catalog's "why hidden?", the
//! funnel, the guard panel and the token savings all read trails and nothing else.

use crate::text::Span;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A text that is usually a constant of the program.
pub type Text = Cow<'static, str>;

/// The gates in the order in which a tool passes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    Registered,
    Policy,
    Visibility,
    Mode,
    State,
    Loading,
    Retrieved,
    Proposed,
    Whitelist,
    Applicability,
    Arguments,
    Schema,
    Planned,
    Executed,
}

impl Gate {
    pub const ALL: [Gate; 14] = [
        Gate::Registered,
        Gate::Policy,
        Gate::Visibility,
        Gate::Mode,
        Gate::State,
        Gate::Loading,
        Gate::Retrieved,
        Gate::Proposed,
        Gate::Whitelist,
        Gate::Applicability,
        Gate::Arguments,
        Gate::Schema,
        Gate::Planned,
        Gate::Executed,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Registered => "registered",
            Self::Policy => "policy",
            Self::Visibility => "visibility",
            Self::Mode => "mode",
            Self::State => "state",
            Self::Loading => "loading",
            Self::Retrieved => "retrieved",
            Self::Proposed => "proposed",
            Self::Whitelist => "whitelist",
            Self::Applicability => "applicability",
            Self::Arguments => "arguments",
            Self::Schema => "schema",
            Self::Planned => "planned",
            Self::Executed => "executed",
        }
    }
}

/// What a gate said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Kept,
    /// Not shown to the model.
    Hidden,
    /// Proposed and refused.
    Dropped,
    /// Not proposed, put in by a rule.
    Added,
    Rewritten,
    /// Its schema waits for the first call.
    Deferred,
    /// Shown and left alone.
    NotChosen,
}

impl Outcome {
    /// Whether the tool goes no further.
    pub fn stops(self) -> bool {
        matches!(self, Self::Hidden | Self::Dropped | Self::NotChosen)
    }
}

/// Which text a piece of evidence lies in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Source {
    Query,
    ModelText,
    /// The sub-question with this index.
    SubQuestion {
        index: u32,
    },
}

/// A stretch of text that a verdict rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Evidence {
    pub source: Source,
    pub span: Span,
    pub text: String,
}

/// What one gate said of one tool, and why (G-11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Verdict {
    pub gate: Gate,
    pub outcome: Outcome,
    /// Stable id of the rule, such as `state.unclassified`.
    pub rule: Text,
    /// A sentence for a person.
    pub reason: Text,
    pub evidence: Vec<Evidence>,
    /// The setting that decides this, such as `policy.denied`, where there is one.
    pub config_key: Option<Text>,
}

impl Verdict {
    pub fn new(gate: Gate, outcome: Outcome, rule: impl Into<Text>, reason: impl Into<Text>) -> Self {
        Self { gate, outcome, rule: rule.into(), reason: reason.into(), evidence: vec![], config_key: None }
    }

    pub fn kept(gate: Gate, rule: impl Into<Text>, reason: impl Into<Text>) -> Self {
        Self::new(gate, Outcome::Kept, rule, reason)
    }

    pub fn because(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    pub fn set_by(mut self, key: impl Into<Text>) -> Self {
        self.config_key = Some(key.into());
        self
    }
}

/// A tool's verdicts, in the order of the gates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Trail {
    pub tool: String,
    pub verdicts: Vec<Verdict>,
}

impl Trail {
    /// The first verdict that stops the tool, if any does.
    pub fn decided(&self) -> Option<&Verdict> {
        self.verdicts.iter().find(|v| v.outcome.stops())
    }

    /// Whether every gate so far let the tool through.
    pub fn passes(&self) -> bool {
        self.decided().is_none()
    }
}

//! Where a run comes from that answers out of another one's record: a replay or a fork.
//!
//! Plain data: stored in the journal, shown, exchanged.

use super::RunId;
use crate::{settings::Settings, text::middle_truncate, tool::ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, fmt};

/// Who answers the calls of one tool in a replay.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AnswerSource {
    /// The record of the origin; a call that it does not hold fails the replay.
    #[default]
    Recorded,
    /// Always this value.
    Static { value: Value },
    /// The tool itself, after the runtime gate has admitted the call with today's catalog and settings.
    Live,
    /// The record, and for a call that it does not hold the tool itself, as with [`Self::Live`].
    RecordedOrLive,
}

/// Who answers in a replay: the record, unless the tool stands in `tools`. Nothing is ever live that is not named.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct ReplayPolicy {
    #[cfg_attr(feature = "specta", specta(type = std::collections::HashMap<String, AnswerSource>))]
    pub tools: BTreeMap<String, AnswerSource>,
}

impl ReplayPolicy {
    pub fn source(&self, tool: &str) -> &AnswerSource {
        self.tools.get(tool).unwrap_or(&AnswerSource::Recorded)
    }
}

/// The one thing that is different in a fork.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ForkChange {
    /// The step is called with these arguments; the fork begins where the step got ready.
    Arguments { step: String, arguments: Map<String, Value> },
    /// The step's last attempt gave this value; the fork begins where it was answered.
    Result { step: String, value: Value },
    /// The step does not run; the fork begins where it got ready.
    Skip { step: String },
    /// The tool is described like this. A planning rests on its tools, so the fork begins with the recorded reply,
    /// planned anew.
    Tool { spec: Box<ToolSpec> },
    /// These settings hold. The fork begins with the recorded reply, planned anew.
    Settings { settings: Box<Settings> },
}

impl ForkChange {
    /// The step that is changed, where it is one.
    pub fn step(&self) -> Option<&str> {
        match self {
            Self::Arguments { step, .. } | Self::Result { step, .. } | Self::Skip { step } => Some(step),
            Self::Tool { .. } | Self::Settings { .. } => None,
        }
    }
}

impl fmt::Display for ForkChange {
    /// In words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arguments { step, arguments } => {
                let shown = middle_truncate(&Value::from(arguments.clone()).to_string(), 80);
                write!(f, "{step} is called with {shown}")
            }
            Self::Result { step, value } => write!(f, "{step} gives {}", middle_truncate(&value.to_string(), 80)),
            Self::Skip { step } => write!(f, "{step} is skipped"),
            Self::Tool { spec } => write!(f, "{} is described anew", spec.name),
            Self::Settings { .. } => write!(f, "other settings"),
        }
    }
}

/// What a derived run rests on. Stands in its journal right after the events that it has from its origin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Origin {
    /// The origin's number in the workspace where this run was made.
    pub run: RunId,
    /// The origin's name across workspaces.
    pub uid: String,
    /// The last event taken over from the origin.
    pub at: u32,
    /// Null: a replay.
    pub change: Option<Box<ForkChange>>,
    #[serde(default)]
    pub policy: ReplayPolicy,
}

//! What is asked, by whom, in which state: the whole context of one query.

use serde::{Deserialize, Serialize};

/// Who asks (V-02).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct Session {
    pub tenant: String,
    pub user: String,
    /// Feature flags that are on.
    pub flags: Vec<String>,
    /// Names the conversation that activations of scope `session` belong to (D-06); empty for none.
    pub id: String,
    /// Deferred tools that the session has activated. The workbench fills it in: what a caller sends is not used.
    pub activated: Vec<String>,
}

/// The phase of the conversation (source 004). The transitions between them: [`ExecutionState::transition`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "UPPERCASE")]
pub enum ExecutionState {
    /// Also what an unknown or missing state counts as: the most restrictive (V-06).
    #[default]
    Request,
    Reasoning,
    Action,
}

impl ExecutionState {
    pub const ALL: [Self; 3] = [Self::Request, Self::Reasoning, Self::Action];

    pub fn name(self) -> &'static str {
        match self {
            Self::Request => "REQUEST",
            Self::Reasoning => "REASONING",
            Self::Action => "ACTION",
        }
    }

    /// The state called `name` in any letter case; an unknown name is [`ExecutionState::Request`] (V-06: fail closed).
    pub fn parse_closed(name: &str) -> Self {
        Self::ALL.into_iter().find(|s| s.name().eq_ignore_ascii_case(name.trim())).unwrap_or_default()
    }

    /// The states that may follow this one.
    pub fn successors(self) -> &'static [Self] {
        match self {
            Self::Request => &[Self::Reasoning],
            Self::Reasoning => &[Self::Action, Self::Request],
            Self::Action => &[Self::Request, Self::Reasoning],
        }
    }

    /// Moves to `to`, or says which states are allowed. ACTION needs an intent (V-04).
    pub fn transition(self, to: Self, intent: &str) -> Result<Self, String> {
        if !self.successors().contains(&to) {
            let allowed: Vec<_> = self.successors().iter().map(|s| s.name()).collect();
            return Err(format!(
                "Invalid state transition: {} → {}. Allowed: {}",
                self.name(),
                to.name(),
                allowed.join(", ")
            ));
        }
        if to == Self::Action && intent.trim().is_empty() {
            return Err("Cannot transition to ACTION without an intent. Select an intent first.".into());
        }
        Ok(to)
    }
}

/// How calls are proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Planner {
    /// Deterministic, no key and no network (P-04).
    #[default]
    Offline,
    /// The configured model provider (P-03).
    Model,
    /// A recorded reply for this query (P-05).
    Recorded,
}

/// The kinds of query of source 001.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum QueryType {
    #[default]
    SimpleLookup,
    Procedural,
    Comparative,
    MultiHop,
    ListBuilding,
    Conversational,
}

/// One part of a decomposed query (P-02).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct SubQuery {
    pub id: String,
    pub query: String,
    /// Ids of the sub-queries whose results this one needs.
    #[serde(default)]
    pub dependencies: Vec<String>,
    /// 1 is the most important.
    #[serde(default)]
    pub priority: u32,
    /// What the sub-query is for: `lookup`, `compare`, `apply`, `validate` …
    #[serde(default)]
    pub purpose: String,
}

/// A query taken apart (P-02). At most [`crate::decompose::MAX_SUB_QUERIES`] parts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Decomposition {
    pub query_type: QueryType,
    pub sub_queries: Vec<SubQuery>,
    /// 0..1
    pub confidence: f32,
    #[serde(default)]
    pub entities: Vec<String>,
    /// Why it was taken apart this way.
    #[serde(default)]
    pub reasoning: String,
}

/// The routing plan of source 000.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct RoutingPlan {
    /// The whitelist; null or empty means no restriction (G-01).
    pub suggested_tools: Option<Vec<String>>,
    pub sub_questions: Vec<String>,
}

impl RoutingPlan {
    /// The whitelist, or `None` where there is no restriction.
    pub fn whitelist(&self) -> Option<&[String]> {
        self.suggested_tools.as_deref().filter(|tools| !tools.is_empty())
    }

    pub fn has_sub_questions(&self) -> bool {
        self.sub_questions.iter().any(|question| !question.trim().is_empty())
    }
}

/// One query with its whole context.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct Request {
    pub query: String,
    pub session: Session,
    pub state: ExecutionState,
    /// Empty means the workspace's default mode.
    pub mode: String,
    /// Empty means none selected.
    pub intent: String,
    pub routing: RoutingPlan,
    /// Given from outside; otherwise the engine decomposes the query itself.
    pub decomposition: Option<Decomposition>,
    pub planner: Planner,
}

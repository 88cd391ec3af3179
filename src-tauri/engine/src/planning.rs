//! From a query to a plan, as one pure function: visibility, retrieval, selection, guard, plan.
//!
//! The model's reply, where there is one, comes in as data; nothing here waits for anything.

use crate::{
    guard::GuardReport,
    plan::{Finding, PlanSpec, Shape},
    request::{Decomposition, Planner, Request},
    tokens::TokenReport,
    tool::Revision,
    verdict::{Gate, Trail},
};
use serde::{Deserialize, Serialize};

/// Everything that was decided for one query, with its reasons. Plain data: shown, journaled, compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Planning {
    pub request: Request,
    pub revision: Revision,
    pub planner: PlannerReport,
    pub decomposition: Decomposition,
    /// Tools that rank for the query, best first.
    pub candidates: Vec<Candidate>,
    pub guard: GuardReport,
    pub plan: PlanSpec,
    pub shape: Shape,
    /// Empty when the plan can run.
    pub findings: Vec<Finding>,
    pub tokens: TokenReport,
    pub funnel: Vec<FunnelRow>,
    /// One trail per tool of the catalog up to [`MAX_TRAILS`] tools; beyond that only the tools that were proposed,
    /// ranked or added. The trail of any other tool is computed when asked for.
    pub trails: Vec<Trail>,
}

/// How many trails a [`Planning`] carries.
pub const MAX_TRAILS: usize = 500;

/// Who proposed the calls.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PlannerReport {
    pub requested: Planner,
    pub used: Planner,
    /// For people: `offline`, `anthropic/claude-sonnet-4`.
    pub label: String,
    /// Why `used` is not `requested`; empty when it is.
    pub fallback_reason: String,
    /// Milliseconds that the model took.
    pub model_ms: Option<u32>,
}

/// A tool that ranks for the query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Candidate {
    pub tool: String,
    /// 0..1, relative to the best.
    pub score: f32,
    pub matched: Vec<String>,
}

/// How many tools were left after a gate, and which were lost there (D-10).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct FunnelRow {
    pub gate: Gate,
    pub left: u32,
    pub lost: u32,
    /// The first of those lost, at most 50.
    pub examples: Vec<String>,
}

//! What is visible to whom: the matrix of tools and states, why one tool is hidden, policy files, token savings.

use crate::Workbench;
use serde::{Deserialize, Serialize};
use toolplan_engine::{
    Problem,
    request::{ExecutionState, Request, Session},
    savings::{self, Conversation, Savings},
    tool::{Classification, Loading, ToolSpec},
    verdict::{Gate, Verdict},
    visibility::{Sight, Viewer},
};

/// Which part of the matrix is wanted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct MatrixQuery {
    pub session: Session,
    /// Empty means the workspace's default mode.
    pub mode: String,
    /// Only tools whose name, namespace, group or tag holds this, in any letter case.
    pub filter: String,
    pub only: MatrixOnly,
    pub offset: u32,
    /// At most [`MAX_PAGE`]; 0 counts without rows.
    pub limit: u32,
}

/// The rows of one answer.
pub const MAX_PAGE: u32 = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum MatrixOnly {
    #[default]
    All,
    /// Hidden in some state and shown in another.
    Differs,
    /// Hidden in every state.
    Hidden,
    /// Nobody has classified them.
    Unclassified,
}

/// Tools and states for one tenant, user, flags and mode; ACTION is shown as it is with an intent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct MatrixPage {
    /// Tools of the catalog.
    pub tools: u32,
    /// Those that the query is about; the rows are a part of them.
    pub matching: u32,
    pub offset: u32,
    /// Over the whole catalog, per state.
    pub states: Vec<MatrixState>,
    pub rows: Vec<MatrixRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct MatrixState {
    pub state: ExecutionState,
    pub visible: u32,
    /// Those of them whose schema stands in the prompt.
    pub in_prompt: u32,
    /// Tokens of their definitions.
    pub tokens: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct MatrixRow {
    pub tool: String,
    pub namespace: String,
    pub group: String,
    pub classification: Classification,
    pub loading: Loading,
    pub tokens: u32,
    /// In the order of the states.
    pub cells: Vec<MatrixCell>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct MatrixCell {
    pub state: ExecutionState,
    pub visible: bool,
    pub in_prompt: bool,
    /// The gate that hides it; `loading` for a visible tool.
    pub gate: Gate,
    pub rule: String,
    pub reason: String,
}

/// For whom one tool is explained; an empty list stands for the one thing that holds by default.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct WhyQuery {
    /// Empty means all three.
    pub states: Vec<ExecutionState>,
    /// Empty means the workspace's default mode.
    pub modes: Vec<String>,
    /// Empty means no tenant.
    pub tenants: Vec<String>,
    pub user: String,
    pub flags: Vec<String>,
}

/// One tool in one state, mode and tenant.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct WhyRow {
    pub state: ExecutionState,
    pub mode: String,
    pub tenant: String,
    pub visible: bool,
    pub in_prompt: bool,
    /// The verdict that hides it; null when it is visible.
    pub decided: Option<Verdict>,
    /// What else would hide it, were that one lifted.
    pub also: Vec<Verdict>,
    /// All gates.
    pub verdicts: Vec<Verdict>,
}

/// How many combinations one answer explains.
const MAX_COMBINATIONS: usize = 1000;

impl Workbench {
    /// A page of the matrix of tools and states (V-11).
    pub fn visibility_matrix(&self, query: &MatrixQuery) -> Result<MatrixPage, Problem> {
        let settings = self.settings();
        let catalog = self.tools().catalog;
        let counter = self.counter(&settings);
        let request = Request {
            session: query.session.clone(),
            mode: query.mode.clone(),
            state: ExecutionState::Action,
            intent: "any".into(),
            ..Request::default()
        };
        let viewer = Viewer::new(&settings, &request)?;
        let viewers = ExecutionState::ALL.map(|state| viewer.in_state(state));
        let zero = |state| MatrixState { state, visible: 0, in_prompt: 0, tokens: 0 };
        let mut states = ExecutionState::ALL.map(zero);
        let filter = query.filter.trim().to_lowercase();
        let limit = query.limit.min(MAX_PAGE) as usize;
        let (mut matching, mut rows) = (0, vec![]);
        for entry in catalog.iter() {
            let spec = &entry.spec;
            let sight = viewer.sight(spec);
            let tokens = entry.token_cost(&counter).total();
            for (state, (visible, in_prompt)) in states.iter_mut().zip(sight.visible.into_iter().zip(sight.in_prompt)) {
                state.visible += u32::from(visible);
                state.in_prompt += u32::from(in_prompt);
                state.tokens += if in_prompt { tokens } else { 0 };
            }
            if !(wanted(query.only, spec, &sight) && (filter.is_empty() || holds(spec, &filter))) {
                continue;
            }
            matching += 1;
            if matching > query.offset && rows.len() < limit {
                rows.push(MatrixRow {
                    tool: spec.name.clone(),
                    namespace: spec.namespace.clone(),
                    group: spec.group.clone(),
                    classification: spec.classification,
                    loading: spec.loading,
                    tokens,
                    cells: viewers.iter().map(|viewer| cell(viewer, spec)).collect(),
                });
            }
        }
        let tools = catalog.len() as u32;
        Ok(MatrixPage { tools, matching, offset: query.offset, states: states.into(), rows })
    }

    /// Why the tool is, or is not, visible, for every combination of the query (V-11).
    pub fn why_hidden(&self, tool: &str, query: &WhyQuery) -> Result<Vec<WhyRow>, Problem> {
        let settings = self.settings();
        let catalog = self.tools().catalog;
        let spec = catalog.spec(tool).ok_or_else(|| crate::catalog::unknown(&catalog, tool))?;
        let or_default = |list: &[String]| if list.is_empty() { vec![String::new()] } else { list.to_vec() };
        let states = if query.states.is_empty() { ExecutionState::ALL.to_vec() } else { query.states.clone() };
        let (modes, tenants) = (or_default(&query.modes), or_default(&query.tenants));
        let combinations = states.len() * modes.len() * tenants.len();
        if combinations > MAX_COMBINATIONS {
            return Err(Problem::new(
                "why.too_many",
                format!("{combinations} combinations are asked for; at most {MAX_COMBINATIONS} are explained at once"),
                "name fewer modes or tenants",
            ));
        }
        let mut rows = vec![];
        for tenant in &tenants {
            for mode in &modes {
                let session = Session {
                    tenant: tenant.clone(),
                    user: query.user.clone(),
                    flags: query.flags.clone(),
                    ..Default::default()
                };
                let request = Request {
                    session,
                    mode: mode.clone(),
                    state: ExecutionState::Action,
                    intent: "any".into(),
                    ..Request::default()
                };
                let viewer = Viewer::new(&settings, &request)?;
                for &state in &states {
                    let viewer = viewer.in_state(state);
                    let verdicts = viewer.trail(spec).verdicts;
                    let mut stops = verdicts.iter().filter(|v| v.outcome.stops()).cloned();
                    let decided = stops.next();
                    rows.push(WhyRow {
                        state,
                        mode: mode.clone(),
                        tenant: tenant.clone(),
                        visible: decided.is_none(),
                        in_prompt: viewer.in_prompt(spec),
                        also: stops.collect(),
                        decided,
                        verdicts,
                    });
                }
            }
        }
        Ok(rows)
    }

    /// What hiding tools saved in the turns of a planning (V-10).
    pub fn token_savings(&self, plan: u32) -> Result<Savings, Problem> {
        Ok(self.planned(plan)?.planning.savings.clone())
    }

    /// What hiding tools saved in a conversation recorded elsewhere (V-10). Always labelled estimated: nobody says which
    /// model had it.
    pub fn conversation_savings(&self, conversation: &Conversation) -> Result<Savings, Problem> {
        let settings = self.settings();
        let counter = self.counter(&settings);
        savings::of_conversation(conversation, &self.tools().catalog, &counter, false, &settings.savings)
    }
}

fn wanted(only: MatrixOnly, spec: &ToolSpec, sight: &Sight) -> bool {
    match only {
        MatrixOnly::All => true,
        MatrixOnly::Differs => sight.visible.contains(&true) && sight.visible.contains(&false),
        MatrixOnly::Hidden => !sight.visible.contains(&true),
        MatrixOnly::Unclassified => spec.classification == Classification::Unclassified,
    }
}

fn holds(spec: &ToolSpec, filter: &str) -> bool {
    let texts = [&spec.name, &spec.namespace, &spec.group];
    texts.into_iter().chain(&spec.tags).any(|text| text.to_lowercase().contains(filter))
}

fn cell(viewer: &Viewer, spec: &ToolSpec) -> MatrixCell {
    let Verdict { gate, outcome, rule, reason, .. } = viewer.end(spec);
    let (rule, reason) = (rule.into_owned(), reason.into_owned());
    let in_prompt = viewer.in_prompt(spec);
    MatrixCell { state: viewer.state(), visible: !outcome.stops(), in_prompt, gate, rule, reason }
}

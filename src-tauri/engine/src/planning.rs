//! From a query to a plan, as one pure function: visibility, retrieval, selection, guard, plan.
//!
//! The model's reply, where there is one, comes in as data; nothing here waits for anything.

use crate::{
    Problem,
    capability::{
        self,
        guidance::{Guidance, GuidanceReport},
        matchers::{self, CapabilitySuggestion},
    },
    decompose,
    discovery::{self, DiscoveryEvent, Index, PromptBlocks, Within, activation},
    guard::{Guard, GuardReport},
    plan::{ExecutionMode, Finding, PlanSpec, Shape, StepSpec},
    ports::TokenCounter,
    request::{Decomposition, ExecutionState, Planner, Request},
    savings::Savings,
    select::{self, Prompt, Proposal, Reply, ReplyPath, offline, reply},
    settings::{ActivationScope, Settings},
    tokens::{StateTokens, TOP_TOOLS, TokenReport, ToolTokens},
    tool::{Catalog, Entry, Revision, ToolSpec},
    turns::{TurnRecord, is_planning_tool},
    verdict::{Gate, Outcome, Trail, Verdict},
    visibility::{self, Sight, Viewer, is_own_discovery_tool},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, HashSet},
};

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
    /// What a model was asked and answered, turn by turn; empty when none was.
    #[serde(default)]
    pub turns: Vec<TurnRecord>,
    /// What hiding tools saved over these turns.
    #[serde(default)]
    pub savings: Savings,
    /// The guidance lines of the prompt, with whose they are and what they cost (K-10).
    #[serde(default)]
    pub guidance: GuidanceReport,
    /// Capabilities that the query's words call for; empty unless the setting is on (K-11).
    #[serde(default)]
    pub suggestions: Vec<CapabilitySuggestion>,
    /// What discovery adds to the prompt (D-07).
    #[serde(default)]
    pub blocks: PromptBlocks,
    /// What discovery did while the query was planned (D-08); empty while it is off.
    #[serde(default)]
    pub discovery: Vec<DiscoveryEvent>,
    /// What the model said, so that the query can be planned again without it. Null when none was asked.
    #[serde(default)]
    pub reply: Option<Reply>,
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

/// How a tool has behaved so far, for the estimates (K-03, P-10).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToolHistory {
    /// Median milliseconds of a call.
    pub p50_ms: f64,
}

/// Who answers the question which tools to call.
#[derive(Debug, Clone, Copy)]
pub enum Answer<'a> {
    /// The offline selector.
    Offline,
    /// A model, or its recording.
    Reply { reply: &'a Reply, label: &'a str, model_ms: Option<u32> },
    /// The model was asked and did not answer: the offline selector does, and the reason is shown (P-11).
    Unavailable { reason: &'a str },
}

/// Everything that a planning rests on.
pub struct Inputs<'a> {
    pub catalog: &'a Catalog,
    pub index: &'a Index,
    pub settings: &'a Settings,
    pub request: &'a Request,
    pub counter: &'a dyn TokenCounter,
    /// Whether the counter is the model's own.
    pub counts_exactly: bool,
    pub history: &'a HashMap<String, ToolHistory>,
    pub answer: Answer<'a>,
}

/// The longest query in bytes. A longer text is a document, not a query.
pub const MAX_QUERY_BYTES: usize = 64 * 1024;

/// How many tools are ranked for a query.
const MAX_CANDIDATES: usize = 20;

/// What is wrong with a request before anything is decided: an empty or far too long query, an unknown mode, no session
/// where activations belong to one.
pub fn validate<'a>(settings: &'a Settings, request: &'a Request) -> Result<Viewer<'a>, Problem> {
    if request.query.trim().is_empty() {
        return Err(Problem::new("query.empty", "the query is empty", "type a question or an instruction"));
    }
    if request.query.len() > MAX_QUERY_BYTES {
        let message = format!("the query has {} bytes; at most {MAX_QUERY_BYTES} are planned", request.query.len());
        return Err(Problem::new(
            "query.too_long",
            message,
            "shorten it, or put the text into a file and ask about that",
        ));
    }
    let discovery = &settings.discovery;
    let of_session = discovery.enabled && discovery.activation_scope == ActivationScope::Session;
    if of_session && request.session.id.trim().is_empty() {
        return Err(Problem::new(
            "session.id_missing",
            "tools are activated for a session, and the request names none",
            activation::NO_SESSION_HINT,
        ));
    }
    Viewer::new(settings, request)
}

/// The parts of the query: as given, as the routing plan's sub-questions say, or by form.
pub fn decomposition(request: &Request) -> Decomposition {
    match &request.decomposition {
        Some(given) => given.clone(),
        None if request.routing.has_sub_questions() => {
            decompose::from_questions(&request.query, &request.routing.sub_questions)
        }
        None => decompose::decompose(&request.query),
    }
}

/// The prompt that a model would get for this request: the visible tools and nothing of the hidden ones (V-09).
pub fn prompt(catalog: &Catalog, index: &Index, settings: &Settings, request: &Request) -> Result<Prompt, Problem> {
    let viewer = validate(settings, request)?;
    let tools = visibility::in_prompt(catalog, &viewer);
    Ok(prompt_for(
        &Within { catalog, index, settings: &settings.discovery, viewer: &viewer },
        settings,
        request,
        &tools,
    ))
}

/// The prompt that offers these tools, with their guidance, what holds for them, and what discovery says of the others.
pub(crate) fn prompt_for(within: &Within, settings: &Settings, request: &Request, tools: &[&Entry]) -> Prompt {
    let view = capability::view(&settings.capabilities, within.catalog);
    let guidance = Guidance::of(&view, tools.iter().copied()).section();
    let mut prompt =
        select::prompt::build(request, &decomposition(request), tools, &guidance, settings.planner.temperature);
    let (blocks, _) = discovery::blocks(within, request.query.trim());
    blocks.iter().for_each(|(_, text)| prompt.system.push_str(text));
    prompt.system.push_str(&select::prompt::about_tools(settings, request, tools));
    prompt
}

/// Plans the request (P-01).
///
/// Errors when the request itself is unusable; everything that can be said about tools and plans is in the result.
pub fn plan(inputs: &Inputs) -> Result<Planning, Problem> {
    let Inputs { catalog, settings, request, .. } = *inputs;
    let viewer = validate(settings, request)?;
    let decomposition = decomposition(request);
    let candidates = candidates(inputs, &viewer);
    let sights: Vec<Sight> = catalog.specs().map(|tool| viewer.sight(tool)).collect();

    let (proposal, planner) = propose(inputs, &decomposition, &viewer);
    let model_text = match inputs.answer {
        Answer::Reply { reply, .. } => reply.text.as_str(),
        _ => "",
    };
    // Parts from outside or from the offline selector are what search tools ask; a model that names no part speaks of
    // the look-ups.
    let given = request.decomposition.is_some() || request.routing.has_sub_questions();
    let parts = if given || decomposition.sub_queries.len() > 1 { decomposition.sub_queries.as_slice() } else { &[] };
    let guard = Guard::new(catalog, settings, viewer.clone(), request, parts);
    let reasoning = proposal.reasoning.clone();
    let mut report = guard.review(proposal, model_text);
    let mut spec = build(inputs, &decomposition, &mut report, reasoning);
    leave_out_unusable_fallbacks(&mut spec, &guard);
    let shape = spec.shape();
    let findings = spec.clone().check(|call| guard.admit(call)).err().unwrap_or_default();
    let (trails, funnel) = trails(inputs, (&viewer, &sights), &candidates, &report, &spec, &planner);
    let (guidance, suggestions) = guidance(inputs, &viewer);
    let (blocks, events) = discovered(inputs, &viewer, &report);
    Ok(Planning {
        request: request.clone(),
        revision: catalog.revision(),
        planner,
        decomposition,
        candidates,
        guard: report,
        plan: spec,
        shape,
        findings,
        tokens: token_report(inputs, &viewer, &sights),
        funnel,
        trails,
        turns: vec![],
        savings: Savings::default(),
        guidance,
        suggestions,
        blocks,
        discovery: events,
        reply: match inputs.answer {
            Answer::Reply { reply, .. } => Some(reply.clone()),
            _ => None,
        },
    })
}

/// The blocks of the prompt, and what discovery did: what the policy removed, what the blocks show, and the deferred
/// tools that were asked for and may not be activated.
fn discovered(inputs: &Inputs, viewer: &Viewer, report: &GuardReport) -> (PromptBlocks, Vec<DiscoveryEvent>) {
    let Inputs { catalog, index, settings, request, counter, .. } = *inputs;
    if !settings.discovery.enabled {
        return Default::default();
    }
    let within = Within { catalog, index, settings: &settings.discovery, viewer };
    let mut events: Vec<DiscoveryEvent> = discovery::policy_filtered(&within).into_iter().collect();
    let (blocks, shown) = discovery::blocks(&within, request.query.trim());
    events.extend(shown);
    let mut asked = HashSet::new();
    for call in report.calls.iter().filter(|c| asked.insert(c.call.tool.as_str())) {
        let tool = catalog.spec(&call.call.tool);
        let refused = tool.map(|tool| activation::decide(tool, viewer, &settings.discovery, false));
        if let Some(activation::Activation::Refuse { event, .. }) = refused {
            events.push(event);
        }
    }
    (PromptBlocks::counted(blocks, counter), events)
}

/// The whole way of one tool for a planning, whatever the size of the catalog ("why hidden?").
pub fn trail(planning: &Planning, settings: &Settings, tool: &ToolSpec) -> Result<Trail, Problem> {
    let viewer = Viewer::new(settings, &planning.request)?;
    let ranks = ranks(&planning.candidates);
    Ok(full_trail(&viewer, tool, &ranks, &planning.guard, &planning.plan, &planning.planner))
}

fn candidates(inputs: &Inputs, viewer: &Viewer) -> Vec<Candidate> {
    // A query is about the tools that are found, never about the finding.
    let sees =
        |name: &str| inputs.catalog.spec(name).is_some_and(|spec| viewer.sees(spec) && !is_own_discovery_tool(spec));
    let hits = inputs.index.search(&inputs.request.query, MAX_CANDIDATES, sees);
    let best = hits.first().map_or(1.0, |h| h.score);
    hits.into_iter().map(|h| Candidate { tool: h.tool, score: h.score / best, matched: h.matched }).collect()
}

fn propose(inputs: &Inputs, decomposition: &Decomposition, viewer: &Viewer) -> (Proposal, PlannerReport) {
    let requested = inputs.request.planner;
    let report = |used, label: &str, fallback_reason: String, model_ms| PlannerReport {
        requested,
        used,
        label: label.into(),
        fallback_reason,
        model_ms,
    };
    let offline = || {
        let whitelist = inputs.request.routing.whitelist();
        let visible = visibility::visible(inputs.catalog, viewer);
        let tools = visible
            .iter()
            .map(|e| &e.spec)
            .filter(|t| !is_own_discovery_tool(t) && whitelist.is_none_or(|list| list.contains(&t.name)))
            .collect();
        offline::select(&offline::Choice { tools, index: inputs.index, settings: inputs.settings }, decomposition)
    };
    // The offline planner in the model's place, with the reason.
    let instead = |reason: &str, model_ms| {
        let path_reason = format!("Planned offline: {reason}");
        let proposal = Proposal { path: ReplyPath::Fallback, path_reason, ..offline() };
        (proposal, report(Planner::Offline, "offline", reason.into(), model_ms))
    };
    match inputs.answer {
        Answer::Offline => (offline(), report(Planner::Offline, "offline", String::new(), None)),
        Answer::Unavailable { reason } => instead(reason, None),
        Answer::Reply { reply, label, model_ms } => {
            let names: Vec<&str> = inputs.catalog.specs().map(|s| s.name.as_str()).collect();
            let proposal = reply::read(reply, &names, &inputs.settings.guard);
            let no_step = |tool: &str| is_planning_tool(inputs.settings, tool);
            if proposal.calls.iter().all(|c| no_step(&c.tool)) {
                let reason = match proposal.calls.first() {
                    None => "the reply names no tool".to_string(),
                    Some(call) => format!("the reply calls only {}, which is no step of a plan", call.tool),
                };
                let (fallback, report) = instead(&reason, model_ms);
                // What the reply says of tools still counts.
                let fallback = Proposal { mentions: proposal.mentions, declined: proposal.declined, ..fallback };
                return (fallback, report);
            }
            (proposal, report(requested, label, String::new(), model_ms))
        }
    }
}

/// Steps from the calls that go on: ids in order, dependencies from the proposal and from the parts of the query.
/// References between calls become references between steps, in the report too.
fn build(inputs: &Inputs, decomposition: &Decomposition, report: &mut GuardReport, reasoning: String) -> PlanSpec {
    let mut ids: Vec<Option<String>> = vec![];
    for call in &report.calls {
        let number = ids.iter().flatten().count() + 1;
        ids.push(call.goes_on().then(|| format!("step-{number}")));
    }
    let id_of = |index: u32| ids.get(index as usize).cloned().flatten();
    let served: Vec<String> = report.calls.iter().map(|c| c.sub_query.clone()).collect();
    let mut steps: Vec<StepSpec> = vec![];
    for (call, id) in report.calls.iter_mut().zip(&ids) {
        let Some(id) = id else { continue };
        let named = call.call.arguments.iter().map(|(k, v)| (k.clone(), with_step_ids(v, &id_of))).collect();
        call.call.arguments = named;
        let mut dependencies: Vec<String> = call.after.iter().filter_map(|&i| id_of(i)).collect();
        let needs =
            decomposition.sub_queries.iter().find(|s| s.id == call.sub_query).map_or(&[][..], |s| &s.dependencies);
        // Parts may be listed in any order, so the steps of a needed part may come later in the list.
        for part in needs {
            let of_part = served.iter().zip(&ids).filter(|(other, _)| *other == part);
            dependencies.extend(of_part.filter_map(|(_, id)| id.clone()));
        }
        let mut seen = HashSet::new();
        dependencies.retain(|id| seen.insert(id.clone()));
        let tool = inputs.catalog.spec(&call.call.tool);
        let measured = inputs.history.get(&call.call.tool).map(|h| h.p50_ms.round() as u32);
        steps.push(StepSpec {
            id: id.clone(),
            tool: call.call.tool.clone(),
            arguments: call.call.arguments.clone(),
            dependencies,
            // Two changes at once could meet: what is not known to be safe runs one after another.
            mode: match tool.is_some_and(|t| t.classification.is_safe()) {
                true => ExecutionMode::Parallel,
                false => ExecutionMode::Sequential,
            },
            timeout_ms: tool.and_then(|t| t.timeout_ms),
            retry: tool.and_then(|t| t.retry),
            fallback: tool.and_then(|t| t.fallback.clone()),
            critical: tool.is_some_and(|t| t.critical),
            sub_query: call.sub_query.clone(),
            expected_ms: measured.or_else(|| tool.and_then(|t| t.latency_hint_ms)),
            cost: tool.and_then(|t| t.cost_hint),
        });
    }
    PlanSpec { steps, reasoning }
}

/// A tool's fallback stays out of a step that it cannot serve, hidden or with other arguments; the plan's reasoning
/// says so. The step itself can still run.
fn leave_out_unusable_fallbacks(plan: &mut PlanSpec, guard: &Guard) {
    for step in &mut plan.steps {
        let Some(fallback) = &step.fallback else { continue };
        let call = fallback.call(&step.arguments);
        if let Err(refused) = guard.admit(&call) {
            plan.reasoning.push_str(&format!("\n{} has no fallback: {}", step.id, refused.message));
            step.fallback = None;
        }
    }
}

/// Puts step ids in the place of references to calls. A reference to a call that was dropped leaves the list it
/// stands in.
fn with_step_ids(value: &Value, id_of: &dyn Fn(u32) -> Option<String>) -> Value {
    let call = |value: &Value| {
        value.get("$from").and_then(Value::as_str).and_then(|s| s.strip_prefix('#')).and_then(|s| s.parse().ok())
    };
    match value {
        Value::Array(items) => items
            .iter()
            .filter(|item| call(item).is_none_or(|index| id_of(index).is_some()))
            .map(|item| with_step_ids(item, id_of))
            .collect(),
        Value::Object(map) => {
            if let Some(id) = call(value).and_then(id_of) {
                let mut map = map.clone();
                map.insert("$from".into(), id.into());
                return map.into();
            }
            map.iter().map(|(k, v)| (k.clone(), with_step_ids(v, id_of))).collect::<serde_json::Map<_, _>>().into()
        }
        plain => plain.clone(),
    }
}

fn ranks(candidates: &[Candidate]) -> HashMap<&str, usize> {
    candidates.iter().enumerate().map(|(i, c)| (c.tool.as_str(), i + 1)).collect()
}

fn full_trail(
    viewer: &Viewer,
    tool: &ToolSpec,
    ranks: &HashMap<&str, usize>,
    report: &GuardReport,
    plan: &PlanSpec,
    planner: &PlannerReport,
) -> Trail {
    let mut trail = viewer.trail(tool);
    if !trail.passes() {
        // A hidden tool that was proposed all the same: the proposal stands in the trail too.
        let proposed = report.calls.iter().find(|c| c.call.tool == tool.name);
        trail.verdicts.extend(proposed.and_then(|c| c.verdicts.first()).cloned());
        return trail;
    }
    let calls: Vec<_> = report.calls.iter().filter(|c| c.call.tool == tool.name).collect();
    trail.verdicts.push(retrieved(tool, ranks, planner, !calls.is_empty()));
    // A tool with several calls shows the one that got furthest.
    match calls.iter().find(|c| c.goes_on()).or(calls.first()) {
        Some(call) => trail.verdicts.extend(call.verdicts.iter().cloned()),
        None if trail.passes() => trail.verdicts.push(Verdict::new(
            Gate::Proposed,
            Outcome::NotChosen,
            "proposed.not_chosen",
            if planner.used == Planner::Offline {
                "The offline planner chose other tools"
            } else {
                "The model did not ask for it"
            },
        )),
        None => {}
    }
    if let Some(step) = plan.steps.iter().find(|s| s.tool == tool.name) {
        let stage = plan.shape().stages.iter().position(|s| s.contains(&step.id)).map_or(0, |s| s + 1);
        trail.verdicts.push(Verdict::kept(
            Gate::Planned,
            "planned.step",
            format!("Planned as {} in stage {stage}", step.id),
        ));
    }
    trail
}

fn retrieved(tool: &ToolSpec, ranks: &HashMap<&str, usize>, planner: &PlannerReport, proposed: bool) -> Verdict {
    match ranks.get(tool.name.as_str()) {
        Some(rank) => Verdict::kept(Gate::Retrieved, "retrieved.rank", format!("Rank {rank} for the query")),
        None if planner.used != Planner::Offline => {
            Verdict::kept(Gate::Retrieved, "retrieved.offered", "Every visible tool is offered to the model")
        }
        None if is_own_discovery_tool(tool) && !proposed => Verdict::new(
            Gate::Retrieved,
            Outcome::NotChosen,
            "retrieved.discovery",
            "It finds tools: a model or a plan by hand calls it, never the ranking",
        ),
        None if proposed => Verdict::kept(Gate::Retrieved, "retrieved.rule", "A rule leads to it, not the ranking"),
        None if ranks.len() < MAX_CANDIDATES => {
            Verdict::new(Gate::Retrieved, Outcome::NotChosen, "retrieved.no_match", "It shares no word with the query")
        }
        None => Verdict::new(
            Gate::Retrieved,
            Outcome::NotChosen,
            "retrieved.unranked",
            format!("Not among the best {MAX_CANDIDATES} tools for the query"),
        ),
    }
}

fn trails(
    inputs: &Inputs,
    (viewer, sights): (&Viewer, &[Sight]),
    candidates: &[Candidate],
    report: &GuardReport,
    plan: &PlanSpec,
    planner: &PlannerReport,
) -> (Vec<Trail>, Vec<FunnelRow>) {
    let ranks = ranks(candidates);
    // In the order of the gates; the names are those of the first tools lost there.
    let mut lost: [(u32, Vec<&str>); Gate::ALL.len()] = Default::default();
    let mut kept = vec![];
    let all = inputs.catalog.len() <= MAX_TRAILS;
    let proposed = report.calls.iter().map(|c| c.call.tool.as_str());
    let told: HashSet<&str> = proposed.chain(ranks.keys().copied()).collect();
    // No name can be among those told of when none is as long: most names need no hash.
    let lengths: HashSet<usize> = told.iter().map(|name| name.len()).collect();
    let unasked = if planner.used == Planner::Offline { Gate::Retrieved } else { Gate::Proposed };
    for (tool, sight) in inputs.catalog.specs().zip(sights) {
        let name = tool.name.as_str();
        let gate = if all || lengths.contains(&name.len()) && told.contains(name) {
            let trail = full_trail(viewer, tool, &ranks, report, plan, planner);
            let gate = trail.decided().map(|verdict| verdict.gate);
            kept.push(trail);
            gate
        } else {
            sight.stopped_at.or(Some(unasked))
        };
        if let Some(gate) = gate {
            let row = &mut lost[gate as usize];
            row.0 += 1;
            if row.1.len() < 50 {
                row.1.push(name);
            }
        }
    }
    let mut left = inputs.catalog.len() as u32;
    let funnel = Gate::ALL
        .into_iter()
        .zip(lost)
        .filter(|(gate, _)| *gate <= Gate::Planned)
        .map(|(gate, (gone, examples))| {
            left -= gone;
            FunnelRow { gate, left, lost: gone, examples: examples.into_iter().map(str::to_string).collect() }
        })
        .collect();
    (kept, funnel)
}

/// What the tools of the prompt say about their use, and what the query's words suggest. Both only describe.
fn guidance(inputs: &Inputs, viewer: &Viewer) -> (GuidanceReport, Vec<CapabilitySuggestion>) {
    let settings = &inputs.settings.capabilities;
    let view = capability::view(settings, inputs.catalog);
    let speaks = |e: &&Entry| !e.spec.guidance.is_empty() || view.callable.binary_search(&e.spec.name).is_ok();
    let prompt = inputs.catalog.iter().filter(speaks).filter(|e| viewer.in_prompt(&e.spec));
    let guidance = Guidance::of(&view, prompt).report(inputs.catalog, inputs.counter, |spec| viewer.in_prompt(spec));
    let sees = |tool: &str| inputs.catalog.spec(tool).is_some_and(|spec| viewer.sees(spec));
    let suggestions = match settings.suggest {
        true => matchers::suggest(settings, &view, &inputs.request.query, sees),
        false => vec![],
    };
    (guidance, suggestions)
}

fn token_report(inputs: &Inputs, viewer: &Viewer, sights: &[Sight]) -> TokenReport {
    let mut full = 0;
    let mut seen = [(0, 0); ExecutionState::ALL.len()];
    // The largest so far, as a heap whose top is the smallest of them.
    let mut largest: BinaryHeap<Reverse<(u32, Reverse<&str>, usize)>> = BinaryHeap::with_capacity(TOP_TOOLS + 1);
    for (at, (entry, sight)) in inputs.catalog.iter().zip(sights).enumerate() {
        let cost = entry.token_cost(inputs.counter).total();
        full += cost;
        for (seen, in_prompt) in seen.iter_mut().zip(sight.in_prompt) {
            if in_prompt {
                *seen = (seen.0 + 1, seen.1 + cost);
            }
        }
        if largest.len() < TOP_TOOLS || largest.peek().is_some_and(|Reverse((least, ..))| cost >= *least) {
            largest.push(Reverse((cost, Reverse(&entry.spec.name), at)));
            if largest.len() > TOP_TOOLS {
                largest.pop();
            }
        }
    }
    let states = ExecutionState::ALL
        .into_iter()
        .zip(seen)
        .map(|(state, (visible_tools, visible))| StateTokens {
            state,
            full_tools: inputs.catalog.len() as u32,
            visible_tools,
            full,
            visible,
            saved: full - visible,
        })
        .collect();
    let here = ExecutionState::ALL.iter().position(|s| *s == viewer.state()).unwrap_or_default();
    let tools = largest.into_sorted_vec().into_iter().filter_map(|Reverse((total, Reverse(name), at))| {
        let cost = inputs.catalog.get(name)?.token_cost(inputs.counter);
        Some(ToolTokens { tool: name.to_string(), cost, total, visible: sights[at].in_prompt[here] })
    });
    TokenReport {
        encoding: inputs.counter.encoding().into(),
        exact: inputs.counts_exactly,
        states,
        tools: tools.collect(),
    }
}

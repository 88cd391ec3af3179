//! Discovery at work: the discovery tools of a run, activations of runs and sessions, the search lab.

use crate::{Tools, Workbench};
use async_trait::async_trait;
use serde_json::{Map, Value};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Instant,
};
use toolplan_engine::{
    Problem,
    discovery::{
        self, Directory, DiscoveryEvent, SearchAnswer, SearchQuery, Within,
        activation::{self, Activation},
        lab::{self, LabMethod, LabRanking, SearchLab},
    },
    guard::Admitted,
    plan::Finding,
    ports::{CallContext, ToolError, ToolResult, ToolRuntime},
    request::Request,
    run::{Gatekeeper, Noted},
    settings::{ActivationScope, Settings},
    tool::{ToolCall, ToolSpec},
    visibility::{Viewer, is_own_discovery_tool},
};
use toolplan_store::Store;

/// The activated tools of each session, by its id. They last as long as the program.
#[derive(Default)]
pub(crate) struct Activations(Mutex<HashMap<String, Vec<String>>>);

impl Activations {
    fn of(&self, session: &str) -> Vec<String> {
        self.0.lock().expect("no holder panics").get(session.trim()).cloned().unwrap_or_default()
    }

    fn holds(&self, session: &str, tool: &str) -> bool {
        let sessions = self.0.lock().expect("no holder panics");
        sessions.get(session.trim()).is_some_and(|tools| tools.iter().any(|t| t == tool))
    }

    fn add(&self, session: &str, tool: &str) {
        let mut sessions = self.0.lock().expect("no holder panics");
        let tools = sessions.entry(session.trim().into()).or_default();
        if !tools.iter().any(|t| t == tool) {
            tools.push(tool.into());
        }
    }

    fn remove(&self, session: &str, tool: Option<&str>) {
        let mut sessions = self.0.lock().expect("no holder panics");
        let Some(tools) = sessions.get_mut(session.trim()) else { return };
        tools.retain(|t| tool.is_some_and(|tool| t != tool));
        if tools.is_empty() {
            sessions.remove(session.trim());
        }
    }
}

/// Registers the discovery tools whose names are free. False: they were all there.
pub(crate) fn register(store: &Store) -> Result<bool, Problem> {
    let registry = store.registry();
    let before = registry.newest()?;
    let mut missing = vec![];
    for spec in discovery::specs() {
        if !registry.holds(&spec.name)? {
            missing.push(spec);
        }
    }
    Ok(!missing.is_empty() && registry.register(&missing, "toolplan", "discovery")? != before)
}

impl Workbench {
    /// Searches as a model would in the context of the request (D-02), whether or not discovery is on.
    pub fn search_tools(&self, request: &Request, query: &SearchQuery) -> Result<SearchAnswer, Problem> {
        query.check().map_err(|error| Problem::new("search.limit", error.message, error.hint))?;
        self.within(request, |within| discovery::search(within, query))
    }

    /// The groups of tools that the model would see (D-07), whether or not they are part of the prompt.
    pub fn tool_directory(&self, request: &Request) -> Result<Directory, Problem> {
        self.within(request, discovery::directory)
    }

    /// One query searched in every way, side by side (D-09). `hidden`: also what the session does not see.
    pub fn search_lab(&self, request: &Request, query: &SearchQuery, hidden: bool) -> Result<SearchLab, Problem> {
        query.check().map_err(|error| Problem::new("search.limit", error.message, error.hint))?;
        self.within(request, |within| {
            let (mut rankings, mut ranked) = (vec![], vec![]);
            for method in [LabMethod::Exact, LabMethod::Regex, LabMethod::Lexical, LabMethod::Semantic] {
                let began = Instant::now();
                let found = lab::rank(within, query, method, hidden);
                let duration_ms = began.elapsed().as_secs_f64() * 1000.0;
                let (tools, error) = found.map_or_else(|error| (vec![], error), |tools| (tools, String::new()));
                rankings.push(LabRanking { method, found: tools.len() as u32, duration_ms, error });
                ranked.push((method, tools));
            }
            SearchLab { rankings, rows: lab::rows(within, &query.query, &ranked, query.limit as usize) }
        })
    }

    /// The deferred tools that the session has activated, in the order of their first calls (D-06).
    pub fn activated_tools(&self, session: &str) -> Vec<String> {
        self.inner.activations.of(session)
    }

    /// Takes an activation back, or all of the session's where no tool is named.
    pub fn deactivate_tools(&self, session: &str, tool: Option<&str>) {
        self.inner.activations.remove(session, tool);
    }

    /// The request with what its session has activated, and nothing that a caller claims.
    pub(crate) fn activated_in(&self, settings: &Settings, mut request: Request) -> Request {
        let of_session = settings.discovery.activation_scope == ActivationScope::Session;
        request.session.activated = if of_session { self.activated_tools(&request.session.id) } else { vec![] };
        request
    }

    pub(crate) fn index_ready(
        &self,
        tools: &Tools,
        settings: &Settings,
        request: &Request,
    ) -> Result<DiscoveryEvent, Problem> {
        let viewer = Viewer::new(settings, request)?;
        let (catalog, index) = (&tools.catalog, &*tools.index);
        let within = Within { catalog, index, settings: &settings.discovery, viewer: &viewer };
        Ok(discovery::index_ready(&within, &self.inner.index_cache.path()))
    }

    fn within<T>(&self, request: &Request, ask: impl FnOnce(&Within) -> T) -> Result<T, Problem> {
        let (tools, settings) = (self.tools(), self.settings());
        let request = self.activated_in(&settings, request.clone());
        let viewer = Viewer::new(&settings, &request)?;
        let (catalog, index) = (&tools.catalog, &*tools.index);
        Ok(ask(&Within { catalog, index, settings: &settings.discovery, viewer: &viewer }))
    }
}

/// Discovery in one run: it stands before the gate and the tools, and notes what it does for the journal. As the gate
/// does, it decides by today's catalog and settings.
#[derive(Clone)]
pub(crate) struct RunDiscovery {
    workbench: Workbench,
    request: Request,
    /// By this run.
    activated: Arc<Mutex<Vec<String>>>,
    noted: Noted,
}

impl RunDiscovery {
    /// `activated`: by the run so far; a run that goes on keeps it.
    pub(crate) fn new(workbench: Workbench, mut request: Request, activated: Vec<String>) -> Self {
        // Nothing that a caller claims: the session's own activations are asked for at each call.
        request.session.activated.clear();
        let activated = Arc::new(Mutex::new(activated));
        Self { workbench, request, activated, noted: Noted::default() }
    }

    pub(crate) fn noted(&self) -> Noted {
        self.noted.clone()
    }

    /// The gate, which also activates deferred tools: one that `inner` admits is activated by its first call, and one
    /// that is hidden is refused by the name of the gate that hides it.
    pub(crate) fn gate(&self, inner: Gatekeeper) -> Gatekeeper {
        let this = self.clone();
        Arc::new(move |call| {
            let admitted = inner(call);
            this.activate(call, admitted)
        })
    }

    fn activate(&self, call: &ToolCall, admitted: Result<Admitted, Finding>) -> Result<Admitted, Finding> {
        match self.activation(call) {
            Some(Activation::Refuse { finding, event }) => {
                self.noted.note(None, event);
                Err(finding)
            }
            Some(Activation::Activate(event)) => {
                let admitted = admitted?;
                self.activated.lock().expect("no holder panics").push(call.tool.clone());
                if matches!(event, DiscoveryEvent::Activated { activation_scope: ActivationScope::Session, .. }) {
                    self.workbench.inner.activations.add(&self.request.session.id, &call.tool);
                }
                self.noted.note(None, event);
                Ok(admitted)
            }
            Some(Activation::NotNeeded) | None => admitted,
        }
    }

    /// What a call of the tool leads to; nothing for a name that no tool has. Asked before every call: it copies
    /// neither the settings nor the request.
    fn activation(&self, call: &ToolCall) -> Option<Activation> {
        let inner = &self.workbench.inner;
        let settings = inner.settings.read().expect("no writer panics");
        let discovery = &settings.discovery;
        if !discovery.enabled {
            return None;
        }
        let catalog = self.workbench.tools().catalog;
        let viewer = Viewer::new(&settings, &self.request).ok()?;
        let by_session = discovery.activation_scope == ActivationScope::Session
            && inner.activations.holds(&self.request.session.id, &call.tool);
        let already = by_session || self.activated.lock().expect("no holder panics").contains(&call.tool);
        Some(activation::decide(catalog.spec(&call.tool)?, &viewer, discovery, already))
    }

    /// The tools of the run: the discovery tools are answered here, all others by `inner`.
    pub(crate) fn runtime(&self, inner: Arc<dyn ToolRuntime>) -> Arc<dyn ToolRuntime> {
        Arc::new(RunTools { discovery: self.clone(), inner })
    }
}

struct RunTools {
    discovery: RunDiscovery,
    inner: Arc<dyn ToolRuntime>,
}

#[async_trait]
impl ToolRuntime for RunTools {
    async fn call(
        &self,
        tool: &ToolSpec,
        arguments: &Map<String, Value>,
        context: &CallContext,
    ) -> Result<ToolResult, ToolError> {
        // Most calls are of other tools, and what comes now copies request and settings.
        if !is_own_discovery_tool(tool) {
            return self.inner.call(tool, arguments, context).await;
        }
        let RunDiscovery { workbench, request, noted, .. } = &self.discovery;
        let call = ToolCall { tool: tool.name.clone(), arguments: arguments.clone() };
        match workbench.within(request, |within| discovery::answer(&call, within)) {
            Ok(Some(answer)) => {
                if let Some(event) = answer.event {
                    noted.note(Some(context.step.clone()), event);
                }
                answer.result.map(|data| ToolResult { data, confidence: None, sources: vec![] })
            }
            Ok(None) | Err(_) => self.inner.call(tool, arguments, context).await,
        }
    }
}

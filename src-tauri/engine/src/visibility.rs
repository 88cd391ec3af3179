//! Which tools the model sees, and why the others are hidden: policy, visibility rules, mode, state, loading.
//!
//! The five gates only ever narrow (V-01 to V-06). They say nothing about the query: the same session sees the same
//! tools whatever it asks.

use crate::{
    Problem, intent,
    request::{ExecutionState, Request, Session},
    settings::{Mode, Settings, VisibilityRule},
    tool::{Binding, Catalog, Classification, Entry, Loading, ToolSpec},
    verdict::{Gate, Outcome, Trail, Verdict},
};
use std::{collections::HashSet, sync::Arc};

/// The session's side of a request, resolved against the settings. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Viewer<'a> {
    settings: &'a Settings,
    session: &'a Session,
    state: ExecutionState,
    mode: Option<&'a Mode>,
    lists: Arc<Lists<'a>>,
}

/// The lists of the settings as the gates ask them.
#[derive(Debug)]
struct Lists<'a> {
    denied: Names<'a>,
    allowed: Option<Names<'a>>,
    killed: Names<'a>,
    of_mode: Names<'a>,
    /// The rules that are about this session.
    rules: Vec<(&'a VisibilityRule, Names<'a>)>,
}

/// What one gate says of a tool, as data: the words of a verdict are made only where somebody reads them.
#[derive(Debug, Clone, Copy)]
enum Decision<'a> {
    Denied,
    DiscoveryIsOff,
    NotAllowed,
    LacksTag(&'a str),
    Allowed,
    Killed,
    HiddenBy(&'a VisibilityRule),
    Open,
    NoMode,
    ModePermits(&'a Mode),
    ModeForbids(&'a Mode),
    /// A mode that hid the discovery tools would leave every deferred tool of its groups undiscoverable.
    ModeDiscovery,
    ActionShows,
    Handshake,
    Safe,
    Destructive,
    Unclassified,
    Loaded,
    LoadedAsDeferred,
    LoadedByPattern(&'a str),
    LoadedByDefault,
    Activated,
    Deferred,
    DeferredByDefault,
}

impl Decision<'_> {
    fn gate(self) -> Gate {
        match self {
            Self::Denied | Self::DiscoveryIsOff | Self::NotAllowed | Self::LacksTag(_) | Self::Allowed => Gate::Policy,
            Self::Killed | Self::HiddenBy(_) | Self::Open => Gate::Visibility,
            Self::NoMode | Self::ModePermits(_) | Self::ModeForbids(_) | Self::ModeDiscovery => Gate::Mode,
            Self::ActionShows | Self::Handshake | Self::Safe | Self::Destructive | Self::Unclassified => Gate::State,
            Self::Loaded
            | Self::LoadedAsDeferred
            | Self::LoadedByPattern(_)
            | Self::LoadedByDefault
            | Self::Activated
            | Self::Deferred
            | Self::DeferredByDefault => Gate::Loading,
        }
    }

    fn stops(self) -> bool {
        matches!(
            self,
            Self::Denied
                | Self::DiscoveryIsOff
                | Self::NotAllowed
                | Self::LacksTag(_)
                | Self::Killed
                | Self::HiddenBy(_)
                | Self::ModeForbids(_)
                | Self::Destructive
                | Self::Unclassified
        )
    }

    fn stopping(self) -> Option<Self> {
        self.stops().then_some(self)
    }
}

/// Where a tool stands in every state, without the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sight {
    /// The gate that hides it in the viewer's state, if one does.
    pub stopped_at: Option<Gate>,
    /// Whether the model sees it, in the order of [`ExecutionState::ALL`].
    pub visible: [bool; 3],
    /// Whether its schema stands in the prompt of each state, in the order of [`ExecutionState::ALL`].
    pub in_prompt: [bool; 3],
}

impl<'a> Viewer<'a> {
    /// Resolves the request's mode and tenant. An unknown mode is an error, never "all" (V-03); so is a tenant that the
    /// settings do not list, where they list any (V-02).
    pub fn new(settings: &'a Settings, request: &'a Request) -> Result<Self, Problem> {
        let wanted = if request.mode.is_empty() { &settings.default_mode } else { &request.mode };
        let mode = match wanted.as_str() {
            "" => None,
            name => Some(settings.modes.iter().find(|m| m.name == name).ok_or_else(|| unknown_mode(settings, name))?),
        };
        let tenant = &request.session.tenant;
        if !tenant.is_empty() && !settings.tenants.is_empty() && !settings.tenants.contains(tenant) {
            return Err(unknown_tenant(settings, tenant));
        }
        let policy = &settings.policy;
        let rules = settings.visibility.iter().filter(|rule| applies(rule, &request.session));
        let lists = Lists {
            denied: Names::of(&policy.denied),
            allowed: policy.allowed.as_deref().map(Names::of),
            killed: Names::of(&settings.kill_switch),
            of_mode: mode.map_or(Names::of(&[]), |mode| Names::of(&mode.tools)),
            rules: rules.map(|rule| (rule, Names::of(&rule.hide))).collect(),
        };
        Ok(Self {
            settings,
            session: &request.session,
            state: effective_state(settings, request),
            mode,
            lists: Arc::new(lists),
        })
    }

    pub fn state(&self) -> ExecutionState {
        self.state
    }

    pub fn in_state(&self, state: ExecutionState) -> Self {
        Self { state, ..self.clone() }
    }

    /// The tool's verdicts at the gates from `registered` to `loading`. All gates are evaluated, so that a trail also
    /// says what else would have stopped the tool.
    pub fn trail(&self, tool: &ToolSpec) -> Trail {
        let mut verdicts = vec![Verdict::kept(Gate::Registered, "registered", "Registered in the catalog")];
        let state = self.state_in(self.state, tool);
        let decisions = [self.policy(tool), self.visibility(tool), self.mode(tool), state, self.loading(tool)];
        verdicts.extend(decisions.map(|decision| self.verdict(decision, tool)));
        Trail { tool: tool.name.clone(), verdicts }
    }

    /// The verdict that hides the tool, if one does: the first that stops of [`Viewer::trail`].
    pub fn hides(&self, tool: &ToolSpec) -> Option<Verdict> {
        self.stop(tool).map(|decision| self.verdict(decision, tool))
    }

    /// Where the tool's way ends before the query is looked at: the verdict that hides it, else the last one.
    pub fn end(&self, tool: &ToolSpec) -> Verdict {
        self.verdict(self.stop(tool).unwrap_or_else(|| self.loading(tool)), tool)
    }

    /// The gate that hides the tool, if one does: [`Viewer::trail`] without the words.
    pub fn stopped_at(&self, tool: &ToolSpec) -> Option<Gate> {
        self.stop(tool).map(Decision::gate)
    }

    /// Whether the model sees the tool.
    pub fn sees(&self, tool: &ToolSpec) -> bool {
        self.stop(tool).is_none()
    }

    /// Whether the tool's schema stands in the prompt: visible and not deferred.
    pub fn in_prompt(&self, tool: &ToolSpec) -> bool {
        !self.is_deferred(tool) && self.sees(tool)
    }

    /// The tool in all states, for what is counted over whole catalogs.
    pub fn sight(&self, tool: &ToolSpec) -> Sight {
        if let Some(stop) = self.stop_before_state(tool) {
            return Sight { stopped_at: Some(stop.gate()), visible: [false; 3], in_prompt: [false; 3] };
        }
        let loaded = !self.is_deferred(tool);
        let shown = ExecutionState::ALL.map(|state| !self.state_in(state, tool).stops());
        let here = ExecutionState::ALL.iter().position(|s| *s == self.state).is_some_and(|at| shown[at]);
        let stopped_at = (!here).then_some(Gate::State);
        Sight { stopped_at, visible: shown, in_prompt: shown.map(|shown| shown && loaded) }
    }

    fn stop<'t>(&'t self, tool: &'t ToolSpec) -> Option<Decision<'t>> {
        self.stop_before_state(tool).or_else(|| self.state_in(self.state, tool).stopping())
    }

    fn stop_before_state<'t>(&'t self, tool: &'t ToolSpec) -> Option<Decision<'t>> {
        let policy = self.policy(tool).stopping();
        policy.or_else(|| self.visibility(tool).stopping()).or_else(|| self.mode(tool).stopping())
    }

    fn is_handshake(&self, tool: &ToolSpec) -> bool {
        self.settings.handshake_tools.contains(&tool.name)
    }

    fn is_discovery(&self, tool: &ToolSpec) -> bool {
        self.settings.discovery.enabled && self.settings.discovery.discovery_tools.contains(&tool.name)
    }

    fn is_deferred(&self, tool: &ToolSpec) -> bool {
        matches!(self.loading(tool), Decision::Deferred | Decision::DeferredByDefault)
    }

    /// Whether the tool's schema stands in the prompt before anything is activated.
    pub fn loads_from_start(&self, tool: &ToolSpec) -> bool {
        !matches!(self.loading(tool), Decision::Deferred | Decision::DeferredByDefault | Decision::Activated)
    }

    /// What the tool's own word, the patterns and the default come to: never undeclared.
    pub fn loads(&self, tool: &ToolSpec) -> Loading {
        if self.loads_from_start(tool) { Loading::Always } else { Loading::Deferred }
    }

    pub fn session(&self) -> &'a Session {
        self.session
    }

    fn policy<'t>(&'t self, tool: &'t ToolSpec) -> Decision<'t> {
        if self.lists.denied.names(tool) {
            return Decision::Denied;
        }
        if !self.settings.discovery.enabled && is_own_discovery_tool(tool) {
            return Decision::DiscoveryIsOff;
        }
        let required = &self.settings.policy.require_tags;
        if self.lists.allowed.is_none() && required.is_empty() {
            return Decision::Allowed;
        }
        // Discovery and handshake tools survive the allow-list and the tags unless denied by name (V-01).
        if self.is_handshake(tool) || self.settings.discovery.discovery_tools.contains(&tool.name) {
            return Decision::Allowed;
        }
        if self.lists.allowed.as_ref().is_some_and(|allowed| !allowed.permits(&tool.name)) {
            return Decision::NotAllowed;
        }
        match required.iter().find(|tag| !tool.tags.contains(tag)) {
            Some(tag) => Decision::LacksTag(tag),
            None => Decision::Allowed,
        }
    }

    fn visibility<'t>(&'t self, tool: &'t ToolSpec) -> Decision<'t> {
        if self.lists.killed.names(tool) {
            return Decision::Killed;
        }
        let covers = |(rule, hide): &&(&VisibilityRule, Names)| {
            hide.names(tool) || rule.hide_tags.iter().any(|tag| tool.tags.contains(tag))
        };
        self.lists.rules.iter().find(covers).map_or(Decision::Open, |(rule, _)| Decision::HiddenBy(rule))
    }

    fn mode<'t>(&'t self, tool: &'t ToolSpec) -> Decision<'t> {
        let Some(mode) = self.mode else { return Decision::NoMode };
        if self.is_discovery(tool) {
            return Decision::ModeDiscovery;
        }
        match mode.groups.contains(&tool.group) || self.lists.of_mode.permits(&tool.name) || self.is_handshake(tool) {
            true => Decision::ModePermits(mode),
            false => Decision::ModeForbids(mode),
        }
    }

    fn state_in(&self, state: ExecutionState, tool: &ToolSpec) -> Decision<'static> {
        if state == ExecutionState::Action {
            return Decision::ActionShows;
        }
        match tool.classification {
            // The exemption is for a tool that selects an intent; one that is called DESTRUCTIVE does more than that
            // (S-02).
            Classification::Destructive => Decision::Destructive,
            _ if self.is_handshake(tool) => Decision::Handshake,
            Classification::Safe => Decision::Safe,
            Classification::Unclassified => Decision::Unclassified,
        }
    }

    /// A pattern wins over what the tool declares; a tool that declares nothing follows the default (D-01).
    fn loading<'t>(&'t self, tool: &'t ToolSpec) -> Decision<'t> {
        let discovery = &self.settings.discovery;
        let declared = tool.loading == Loading::Deferred;
        if !discovery.enabled {
            return if declared { Decision::LoadedAsDeferred } else { Decision::Loaded };
        }
        if tool.loading == Loading::Always {
            return Decision::Loaded;
        }
        if let Some(pattern) = discovery.pattern_for(&tool.name) {
            return Decision::LoadedByPattern(pattern);
        }
        if !declared && discovery.default_loading != Loading::Deferred {
            return Decision::LoadedByDefault;
        }
        if self.session.activated.contains(&tool.name) {
            return Decision::Activated;
        }
        if declared { Decision::Deferred } else { Decision::DeferredByDefault }
    }

    /// A decision in words.
    fn verdict(&self, decision: Decision, tool: &ToolSpec) -> Verdict {
        let gate = decision.gate();
        let kept = |rule: &'static str, reason: &'static str| Verdict::kept(gate, rule, reason);
        let hidden = |rule: &'static str, reason: String| Verdict::new(gate, Outcome::Hidden, rule, reason);
        let state = self.state.name();
        match decision {
            Decision::Denied => hidden("policy.denied", "Denied by name".into()).set_by("policy.denied"),
            Decision::DiscoveryIsOff => {
                hidden("policy.discovery_off", "Discovery is off".into()).set_by("discovery.enabled")
            }
            Decision::NotAllowed => {
                hidden("policy.not_allowed", "Not on the allow-list".into()).set_by("policy.allowed")
            }
            Decision::LacksTag(tag) => {
                hidden("policy.tag", format!("Lacks the required tag {tag}")).set_by("policy.require_tags")
            }
            Decision::Allowed => kept("policy.allowed", "Allowed by the tool policy"),
            Decision::Killed => {
                hidden("visibility.kill_switch", "Switched off by the kill-switch".into()).set_by("kill_switch")
            }
            Decision::HiddenBy(rule) => {
                let reason = format!("Hidden by the rule {} for this session", rule.id);
                Verdict::new(gate, Outcome::Hidden, format!("visibility.{}", rule.id), reason).set_by("visibility")
            }
            Decision::Open => kept("visibility.open", "No visibility rule hides it from this session"),
            Decision::NoMode => kept("mode.none", "No mode is set"),
            Decision::ModePermits(mode) => {
                Verdict::kept(gate, "mode.permits", format!("Permitted by the mode {}", mode.name))
            }
            Decision::ModeForbids(mode) => {
                let group = if tool.group.is_empty() { "no group".into() } else { format!("the group {}", tool.group) };
                hidden("mode.group", format!("The mode {} does not permit {group}", mode.name)).set_by("modes")
            }
            Decision::ModeDiscovery => {
                kept("mode.discovery", "Discovery tools are shown in every mode").set_by("discovery.discovery_tools")
            }
            Decision::ActionShows => kept("state.action", "ACTION shows all that the mode permits"),
            Decision::Handshake => kept("state.handshake", "The intent-selection tool is always shown"),
            Decision::Safe => {
                Verdict::kept(gate, "state.safe", format!("SAFE tools are shown in {state}")).set_by("classification")
            }
            Decision::Destructive => {
                hidden("state.destructive", format!("Hidden in {state}: DESTRUCTIVE until an intent is selected"))
                    .set_by("classification")
            }
            Decision::Unclassified => {
                hidden("state.unclassified", format!("Hidden in {state}: unclassified counts as destructive"))
                    .set_by("classification")
            }
            Decision::Loaded => kept("loading.always", "Loaded from the start"),
            Decision::LoadedAsDeferred => {
                kept("loading.discovery_off", "Deferred, but loaded because discovery is off")
                    .set_by("discovery.enabled")
            }
            Decision::LoadedByPattern(pattern) => {
                let reason = format!("Loaded from the start: its name fits {pattern}");
                Verdict::kept(gate, "loading.pattern", reason).set_by("discovery.always_loaded_patterns")
            }
            Decision::LoadedByDefault => {
                kept("loading.default", "Declares nothing; the default loads it from the start")
                    .set_by("discovery.default_loading")
            }
            Decision::Activated => {
                kept("loading.activated", "Activated in this session").set_by("discovery.activation_scope")
            }
            Decision::Deferred => {
                Verdict::new(gate, Outcome::Deferred, "loading.deferred", "Its schema is loaded at the first call")
                    .set_by("discovery.enabled")
            }
            Decision::DeferredByDefault => {
                let reason = "Declares nothing; by default its schema is loaded at the first call";
                Verdict::new(gate, Outcome::Deferred, "loading.default_deferred", reason)
                    .set_by("discovery.default_loading")
            }
        }
    }
}

/// A list of tool names; `*` at the end of one matches any rest. Case counts.
#[derive(Debug)]
enum Names<'a> {
    Few(&'a [String]),
    Many { exact: HashSet<&'a str>, prefixes: Vec<&'a str> },
}

impl<'a> Names<'a> {
    /// Below this many, comparing with each is faster than making a set.
    const MANY: usize = 16;

    fn of(list: &'a [String]) -> Self {
        if list.len() < Self::MANY {
            return Self::Few(list);
        }
        let (prefixes, exact): (Vec<&str>, Vec<&str>) = list.iter().map(String::as_str).partition(|n| n.ends_with('*'));
        Self::Many {
            exact: exact.into_iter().collect(),
            prefixes: prefixes.iter().filter_map(|p| p.strip_suffix('*')).collect(),
        }
    }

    /// Whether a list that narrows names the tool, by one of its aliases too.
    fn names(&self, tool: &ToolSpec) -> bool {
        match self {
            Self::Few([]) => false,
            _ => self.permits(&tool.name) || tool.aliases.iter().any(|alias| self.permits(alias)),
        }
    }

    /// Whether the very name is listed. Lists that open something ask this: a tool may call itself by any alias, and
    /// must not open a door with it.
    fn permits(&self, name: &str) -> bool {
        match self {
            Self::Few(list) => list.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix),
                None => pattern == name,
            }),
            Self::Many { exact, prefixes } => exact.contains(name) || prefixes.iter().any(|p| name.starts_with(p)),
        }
    }
}

/// Whether the tool is one of our own discovery tools, whatever it is called in this catalog.
pub fn is_own_discovery_tool(tool: &ToolSpec) -> bool {
    matches!(&tool.binding, Binding::Builtin { name } if name == crate::discovery::SEARCH || name == crate::discovery::GET)
}

/// The state that a request is judged in. ACTION counts as REASONING without an intent, and with one that the settings
/// list as completed, abandoned or blocked: no destructive tool is shown or run before an intent is selected (V-04,
/// V-06, S-02).
pub fn effective_state(settings: &Settings, request: &Request) -> ExecutionState {
    let intent = request.intent.trim();
    match request.state {
        ExecutionState::Action if intent.is_empty() || !intent::still_holds(settings, intent) => {
            ExecutionState::Reasoning
        }
        state => state,
    }
}

/// The tools that the model sees, in catalog order.
pub fn visible<'c>(catalog: &'c Catalog, viewer: &Viewer) -> Vec<&'c Entry> {
    catalog.iter().filter(|entry| viewer.sees(&entry.spec)).collect()
}

/// The visible tools whose schemas stand in the prompt: the visible set less the deferred tools.
pub fn in_prompt<'c>(catalog: &'c Catalog, viewer: &Viewer) -> Vec<&'c Entry> {
    catalog.iter().filter(|entry| viewer.in_prompt(&entry.spec)).collect()
}

fn applies(rule: &VisibilityRule, session: &Session) -> bool {
    (rule.tenants.is_empty() || rule.tenants.contains(&session.tenant))
        && !rule.except_tenants.contains(&session.tenant)
        && (rule.users.is_empty() || rule.users.contains(&session.user))
        && (rule.unless_flag.is_empty() || !session.flags.contains(&rule.unless_flag))
}

/// A misspelt tenant would slip past every rule that is about it: where the tenants are listed, others are refused.
fn unknown_tenant(settings: &Settings, name: &str) -> Problem {
    Problem::new(
        "tenant.unknown",
        format!("there is no tenant called {name:?}"),
        format!("choose one of: {}; or list it under tenants in the settings", settings.tenants.join(", ")),
    )
}

fn unknown_mode(settings: &Settings, name: &str) -> Problem {
    let known: Vec<_> = settings.modes.iter().map(|m| m.name.as_str()).collect();
    Problem::new(
        "mode.unknown",
        format!("there is no mode called {name:?}"),
        if known.is_empty() {
            "define modes in the settings, or leave the mode empty".into()
        } else {
            format!("choose one of: {}", known.join(", "))
        },
    )
}

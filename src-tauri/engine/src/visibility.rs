//! Which tools the model sees, and why the others are hidden: policy, visibility rules, mode, state, loading.
//!
//! The five gates only ever narrow (V-01 to V-06). They say nothing about the query: the same session sees the same
//! tools whatever it asks.

use crate::Problem;
use crate::{
    request::{ExecutionState, Request, Session},
    settings::{Mode, Settings, VisibilityRule},
    tool::{Binding, Catalog, Classification, Entry, Loading, ToolSpec},
    verdict::{Gate, Outcome, Trail, Verdict},
};

/// The rule that shows a deferred tool after its first call.
const ACTIVATED: &str = "loading.activated";

/// The session's side of a request, resolved against the settings.
#[derive(Debug, Clone)]
pub struct Viewer<'a> {
    settings: &'a Settings,
    session: &'a Session,
    state: ExecutionState,
    mode: Option<&'a Mode>,
}

impl<'a> Viewer<'a> {
    /// Resolves the request's mode. An unknown mode is an error, never "all" (V-03).
    pub fn new(settings: &'a Settings, request: &'a Request) -> Result<Self, Problem> {
        let wanted = if request.mode.is_empty() { &settings.default_mode } else { &request.mode };
        let mode = match wanted.as_str() {
            "" => None,
            name => Some(settings.modes.iter().find(|m| m.name == name).ok_or_else(|| unknown_mode(settings, name))?),
        };
        Ok(Self { settings, session: &request.session, state: effective_state(request), mode })
    }

    pub fn in_state(&self, state: ExecutionState) -> Self {
        Self { state, ..self.clone() }
    }

    /// The tool's verdicts at the gates from `registered` to `loading`. All gates are evaluated, so that a trail also
    /// says what else would have stopped the tool.
    pub fn trail(&self, tool: &ToolSpec) -> Trail {
        let verdicts = vec![
            Verdict::kept(Gate::Registered, "registered", "Registered in the catalog"),
            self.policy(tool),
            self.visibility(tool),
            self.mode(tool),
            self.state_verdict(tool),
            self.loading(tool),
        ];
        Trail { tool: tool.name.clone(), verdicts }
    }

    /// The gate that hides the tool, if one does: [`Viewer::trail`] without the words.
    pub fn stopped_at(&self, tool: &ToolSpec) -> Option<Gate> {
        let gates: [fn(&Self, &ToolSpec) -> Verdict; 4] =
            [Self::policy, Self::visibility, Self::mode, Self::state_verdict];
        gates.iter().map(|gate| gate(self, tool)).find(|v| v.outcome.stops()).map(|v| v.gate)
    }

    /// Whether the model sees the tool.
    pub fn sees(&self, tool: &ToolSpec) -> bool {
        self.stopped_at(tool).is_none()
    }

    /// Whether the tool's schema stands in the prompt: visible and not deferred.
    pub fn in_prompt(&self, tool: &ToolSpec) -> bool {
        self.sees(tool) && self.loading(tool).outcome != Outcome::Deferred
    }

    /// Whether the tool's schema stands in the prompt before anything is activated.
    pub fn loads_from_start(&self, tool: &ToolSpec) -> bool {
        let verdict = self.loading(tool);
        verdict.outcome != Outcome::Deferred && verdict.rule != ACTIVATED
    }

    /// What the tool's own word, the patterns and the default come to: never undeclared.
    pub fn loads(&self, tool: &ToolSpec) -> Loading {
        if self.loads_from_start(tool) { Loading::Always } else { Loading::Deferred }
    }

    pub fn session(&self) -> &'a Session {
        self.session
    }

    fn is_handshake(&self, tool: &ToolSpec) -> bool {
        self.settings.handshake_tools.contains(&tool.name)
    }

    fn is_discovery(&self, tool: &ToolSpec) -> bool {
        self.settings.discovery.enabled && self.settings.discovery.discovery_tools.contains(&tool.name)
    }

    fn policy(&self, tool: &ToolSpec) -> Verdict {
        let policy = &self.settings.policy;
        if policy.denied.contains(&tool.name) {
            return hidden(Gate::Policy, "policy.denied", "Denied by name").set_by("policy.denied");
        }
        if !self.settings.discovery.enabled && is_own_discovery_tool(tool) {
            return hidden(Gate::Policy, "policy.discovery_off", "Discovery is off").set_by("discovery.enabled");
        }
        // Discovery and handshake tools survive the allow-list and the tags unless denied by name (V-01).
        let exempt = self.is_handshake(tool) || self.settings.discovery.discovery_tools.contains(&tool.name);
        if let Some(allowed) = &policy.allowed
            && !exempt
            && !allowed.contains(&tool.name)
        {
            return hidden(Gate::Policy, "policy.not_allowed", "Not on the allow-list").set_by("policy.allowed");
        }
        if !exempt && let Some(tag) = policy.require_tags.iter().find(|tag| !tool.tags.contains(tag)) {
            return hidden(Gate::Policy, "policy.tag", format!("Lacks the required tag {tag}"))
                .set_by("policy.require_tags");
        }
        Verdict::kept(Gate::Policy, "policy.allowed", "Allowed by the tool policy")
    }

    fn visibility(&self, tool: &ToolSpec) -> Verdict {
        if self.settings.kill_switch.contains(&tool.name) {
            return hidden(Gate::Visibility, "visibility.kill_switch", "Switched off by the kill-switch")
                .set_by("kill_switch");
        }
        for rule in &self.settings.visibility {
            if applies(rule, self.session) && covers(rule, tool) {
                let reason = format!("Hidden by the rule {} for this session", rule.id);
                return hidden(Gate::Visibility, format!("visibility.{}", rule.id), reason).set_by("visibility");
            }
        }
        Verdict::kept(Gate::Visibility, "visibility.open", "No visibility rule hides it from this session")
    }

    fn mode(&self, tool: &ToolSpec) -> Verdict {
        let Some(mode) = self.mode else {
            return Verdict::kept(Gate::Mode, "mode.none", "No mode is set");
        };
        if self.is_discovery(tool) {
            // A mode that hid them would leave every deferred tool of its groups undiscoverable.
            Verdict::kept(Gate::Mode, "mode.discovery", "Discovery tools are shown in every mode")
                .set_by("discovery.discovery_tools")
        } else if mode.groups.contains(&tool.group) || mode.tools.contains(&tool.name) || self.is_handshake(tool) {
            Verdict::kept(Gate::Mode, "mode.permits", format!("Permitted by the mode {}", mode.name))
        } else {
            let group = if tool.group.is_empty() { "no group".into() } else { format!("the group {}", tool.group) };
            hidden(Gate::Mode, "mode.group", format!("The mode {} does not permit {group}", mode.name)).set_by("modes")
        }
    }

    fn state_verdict(&self, tool: &ToolSpec) -> Verdict {
        let state = self.state.name();
        if self.state == ExecutionState::Action {
            return Verdict::kept(Gate::State, "state.action", "ACTION shows all that the mode permits");
        }
        // The exemption is for a tool that selects an intent; one that is called DESTRUCTIVE does more than that (S-02).
        if self.is_handshake(tool) && tool.classification != Classification::Destructive {
            return Verdict::kept(Gate::State, "state.handshake", "The intent-selection tool is always shown");
        }
        match tool.classification {
            Classification::Safe => {
                Verdict::kept(Gate::State, "state.safe", format!("SAFE tools are shown in {state}"))
            }
            Classification::Destructive => hidden(
                Gate::State,
                "state.destructive",
                format!("Hidden in {state}: DESTRUCTIVE until an intent is selected"),
            ),
            Classification::Unclassified => hidden(
                Gate::State,
                "state.unclassified",
                format!("Hidden in {state}: unclassified counts as destructive"),
            ),
        }
        .set_by("classification")
    }

    /// A pattern wins over what the tool declares; a tool that declares nothing follows the default (D-01).
    fn loading(&self, tool: &ToolSpec) -> Verdict {
        let kept = |rule: &'static str, reason: &'static str| Verdict::kept(Gate::Loading, rule, reason);
        let discovery = &self.settings.discovery;
        if !discovery.enabled {
            return match tool.loading {
                Loading::Deferred => kept("loading.discovery_off", "Deferred, but loaded because discovery is off")
                    .set_by("discovery.enabled"),
                _ => kept("loading.always", "Loaded from the start"),
            };
        }
        if tool.loading == Loading::Always {
            return kept("loading.always", "Loaded from the start");
        }
        if let Some(pattern) = discovery.pattern_for(&tool.name) {
            let reason = format!("Loaded from the start: its name fits {pattern}");
            return Verdict::kept(Gate::Loading, "loading.pattern", reason).set_by("discovery.always_loaded_patterns");
        }
        let declared = tool.loading == Loading::Deferred;
        if !declared && discovery.default_loading != Loading::Deferred {
            return kept("loading.default", "Declares nothing; the default loads it from the start")
                .set_by("discovery.default_loading");
        }
        if self.session.activated.contains(&tool.name) {
            return kept(ACTIVATED, "Activated in this session").set_by("discovery.activation_scope");
        }
        let (rule, reason, key) = match declared {
            true => ("loading.deferred", "Its schema is loaded at the first call", "discovery.enabled"),
            false => (
                "loading.default_deferred",
                "Declares nothing; by default its schema is loaded at the first call",
                "discovery.default_loading",
            ),
        };
        Verdict::new(Gate::Loading, Outcome::Deferred, rule, reason).set_by(key)
    }
}

/// Whether the tool is one of our own discovery tools, whatever it is called in this catalog.
pub fn is_own_discovery_tool(tool: &ToolSpec) -> bool {
    matches!(&tool.binding, Binding::Builtin { name } if name == crate::discovery::SEARCH || name == crate::discovery::GET)
}

/// The state that a request is judged in. ACTION without an intent counts as REASONING: no destructive tool is shown
/// or run before an intent is selected (V-04, V-06, S-02).
pub fn effective_state(request: &Request) -> ExecutionState {
    match request.state {
        ExecutionState::Action if request.intent.trim().is_empty() => ExecutionState::Reasoning,
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

fn hidden(gate: Gate, rule: impl Into<crate::verdict::Text>, reason: impl Into<crate::verdict::Text>) -> Verdict {
    Verdict::new(gate, Outcome::Hidden, rule, reason)
}

fn applies(rule: &VisibilityRule, session: &Session) -> bool {
    (rule.tenants.is_empty() || rule.tenants.contains(&session.tenant))
        && !rule.except_tenants.contains(&session.tenant)
        && (rule.users.is_empty() || rule.users.contains(&session.user))
        && (rule.unless_flag.is_empty() || !session.flags.contains(&rule.unless_flag))
}

fn covers(rule: &VisibilityRule, tool: &ToolSpec) -> bool {
    rule.hide.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => tool.name.starts_with(prefix),
        None => *pattern == tool.name,
    }) || rule.hide_tags.iter().any(|tag| tool.tags.contains(tag))
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

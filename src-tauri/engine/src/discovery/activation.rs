//! Whether a call activates its tool (D-06). A deferred tool that the session may call is activated by its first call;
//! no search before it is needed.

use super::DiscoveryEvent;
use crate::{
    plan::Finding,
    settings::{ActivationScope, DiscoverySettings},
    tool::ToolSpec,
    visibility::Viewer,
};

/// What the first call of a tool leads to.
#[derive(Debug, Clone, PartialEq)]
pub enum Activation {
    /// It stands in the prompt already, or was activated before.
    NotNeeded,
    Activate(DiscoveryEvent),
    Refuse {
        finding: Finding,
        event: DiscoveryEvent,
    },
}

/// Decides for one call. `already`: the run has activated it.
pub fn decide(tool: &ToolSpec, viewer: &Viewer, settings: &DiscoverySettings, already: bool) -> Activation {
    if !settings.enabled || viewer.loads_from_start(tool) {
        return Activation::NotNeeded;
    }
    let refuse = |message: String, hint: &str, event| Activation::Refuse {
        finding: Finding { code: "plan.refused".into(), step: String::new(), message, hint: hint.into() },
        event,
    };
    // A tool that was hidden after it was activated is refused like any other.
    if let Some(verdict) = viewer.trail(tool).decided() {
        let gate = verdict.gate.name();
        return refuse(
            format!("{} cannot be activated: the gate {gate} hides it ({})", tool.name, verdict.reason),
            "choose a tool that tool_search finds, or change the state, mode or policy",
            DiscoveryEvent::ActivationDenied {
                tool_name: tool.name.clone(),
                reason: "visibility_policy".into(),
                gate: Some(verdict.gate),
                rule: verdict.rule.to_string(),
                config_key: verdict.config_key.as_deref().unwrap_or_default().into(),
            },
        );
    }
    if already || viewer.session().activated.contains(&tool.name) {
        return Activation::NotNeeded;
    }
    if settings.activation_scope == ActivationScope::Session && viewer.session().id.trim().is_empty() {
        return refuse(
            format!("{} cannot be activated for a session: the request has no session id", tool.name),
            NO_SESSION_HINT,
            DiscoveryEvent::ActivationDenied {
                tool_name: tool.name.clone(),
                reason: "session_id_missing".into(),
                gate: None,
                rule: "activation.session_id".into(),
                config_key: "discovery.activation_scope".into(),
            },
        );
    }
    Activation::Activate(DiscoveryEvent::Activated {
        tool_name: tool.name.clone(),
        activation_scope: settings.activation_scope,
        source: "tool_call".into(),
        reason: "first_use".into(),
    })
}

pub(crate) const NO_SESSION_HINT: &str = "give the request a session id, or set discovery.activation_scope to run";

//! What is likely wrong with the settings, looked at together with the catalog: names that nobody has, lists that allow
//! nothing, tools that nobody can ever reach, extensions that bring more than was asked for.

use super::{FixTarget, Lint, Severity};
use crate::{
    capability::{Aliases, aliases::Came, view, view::nearest},
    request::{ExecutionState, Request},
    settings::Settings,
    tool::{Catalog, Loading, ToolSpec},
    verdict::Gate,
    visibility::Viewer,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub fn lints(catalog: &Catalog, settings: &Settings) -> Vec<Lint> {
    let mut found = vec![];
    lists(catalog, settings, &mut found);
    discovery(catalog, settings, &mut found);
    handshake(catalog, settings, &mut found);
    modes(catalog, settings, &mut found);
    extensions(catalog, settings, &mut found);
    found
}

fn set(lint: Lint, title: impl Into<String>, patch: Value) -> Lint {
    lint.fixed_by(title, FixTarget::Settings, patch)
}

/// A patch that sets the value at a dotted path.
fn at(path: &str, value: Value) -> Value {
    path.rsplit('.').fold(value, |inner, key| json!({key: inner}))
}

fn without(list: &[String], name: &str) -> Vec<String> {
    list.iter().filter(|other| *other != name).cloned().collect()
}

/// Lists of names: empty where null was meant, or naming what is not there.
fn lists(catalog: &Catalog, settings: &Settings, found: &mut Vec<Lint>) {
    let policy = &settings.policy;
    if policy.allowed.as_ref().is_some_and(Vec::is_empty) {
        let lint = Lint::new(
            "settings.empty_list",
            Severity::Warning,
            "policy.allowed",
            "the allow-list is empty, so no tool is allowed; null means that there is no allow-list",
        );
        found.push(set(lint, "Have no allow-list", at("policy.allowed", Value::Null)));
    }
    let lists = [
        ("policy.allowed", policy.allowed.as_deref().unwrap_or_default()),
        ("policy.denied", policy.denied.as_slice()),
        ("kill_switch", settings.kill_switch.as_slice()),
    ];
    for (path, names) in lists {
        for name in names.iter().filter(|name| catalog.get(name).is_none()) {
            let meant = nearest(name, catalog.specs().map(|s| s.name.as_str()));
            let (hint, title, list) = match &meant {
                Some(meant) => (
                    format!("; {meant} may be meant"),
                    format!("Write {meant}"),
                    names.iter().map(|n| if n == name { meant } else { n }).cloned().collect(),
                ),
                None => (String::new(), format!("Take {name} out of the list"), without(names, name)),
            };
            let message = format!("{path} names {name}, which the catalog does not hold{hint}");
            let lint = Lint::new("settings.unknown_tool", Severity::Warning, path, message);
            found.push(set(lint, title, at(path, json!(list))));
        }
    }
    if let Some(tag) = policy.require_tags.iter().find(|tag| catalog.specs().all(|s| !s.tags.contains(tag))) {
        let message = format!("every tool must carry the tag {tag}, and none does");
        let lint = Lint::new("settings.unknown_tag", Severity::Error, "policy.require_tags", message);
        let rest = without(&policy.require_tags, tag);
        found.push(set(lint, format!("Do not require {tag}"), at("policy.require_tags", json!(rest))));
    }
}

/// The modes to look at: none, and each that there is.
fn requests(settings: &Settings) -> impl Iterator<Item = Request> {
    let named = settings.modes.iter().map(|mode| mode.name.clone());
    let default = settings.modes.is_empty().then(String::new);
    named.chain(default).map(|mode| Request { mode, state: ExecutionState::Reasoning, ..Request::default() })
}

/// Deferred tools need a way to be found (W3-8).
fn discovery(catalog: &Catalog, settings: &Settings, found: &mut Vec<Lint>) {
    if !settings.discovery.enabled {
        return;
    }
    let anybody = Request::default();
    let Ok(viewer) = Viewer::new(settings, &anybody) else { return };
    let deferred: Vec<&str> =
        catalog.specs().filter(|s| viewer.loads(s) == Loading::Deferred).map(|s| s.name.as_str()).collect();
    if deferred.is_empty() {
        return;
    }
    let registered: Vec<&ToolSpec> =
        settings.discovery.discovery_tools.iter().filter_map(|name| catalog.spec(name)).collect();
    if registered.is_empty() {
        let message = format!(
            "{} deferred tools cannot be found: discovery is on, and no discovery tool ({}) is registered",
            deferred.len(),
            settings.discovery.discovery_tools.join(", ")
        );
        let lint = Lint::new("deferred.unreachable", Severity::Error, "discovery.discovery_tools", message);
        let lint = lint.of(deferred);
        found.push(set(lint, "Switch discovery off, so that they are loaded", at("discovery.enabled", json!(false))));
        return;
    }
    for request in requests(settings) {
        let Ok(viewer) = Viewer::new(settings, &request) else { continue };
        for spec in &registered {
            if let Some(gate) = viewer.stopped_at(spec) {
                let what = format!("the discovery tool {} is hidden", spec.name);
                found.push(filtered("discovery.filtered", &what, gate, spec, settings, &request));
            }
        }
    }
    merge_modes(found, "discovery.filtered");
}

/// A tool that must stay visible and is hidden, with the way to show it.
fn filtered(
    code: &'static str,
    what: &str,
    gate: Gate,
    spec: &ToolSpec,
    settings: &Settings,
    request: &Request,
) -> Lint {
    let name = &spec.name;
    let lint =
        |field: &str, why: &str| Lint::new(code, Severity::Error, field, format!("{what}{why}")).of([name.as_str()]);
    match gate {
        Gate::Policy => {
            let denied = without(&settings.policy.denied, name);
            let lint = lint("policy.denied", " by the tool policy");
            set(lint, format!("Do not deny {name}"), at("policy.denied", json!(denied)))
        }
        Gate::Visibility if settings.kill_switch.contains(name) => {
            let rest = without(&settings.kill_switch, name);
            set(lint("kill_switch", " by the kill-switch"), "Switch it on again", at("kill_switch", json!(rest)))
        }
        Gate::Mode => {
            let mut modes = settings.modes.clone();
            if let Some(mode) = modes.iter_mut().find(|mode| mode.name == request.mode) {
                mode.tools.push(name.clone());
            }
            let title = format!("Permit {name} in the mode {}", request.mode);
            set(lint("modes", &format!(" in the mode {}", request.mode)), title, at("modes", json!(modes)))
        }
        Gate::State => lint("classification", " before an intent is selected, because it is not SAFE").fixed_by(
            format!("Classify {name} as SAFE"),
            FixTarget::Tool { name: name.clone() },
            json!({"classification": "SAFE"}),
        ),
        _ => lint("visibility", " by a visibility rule"),
    }
}

/// What holds in every mode is said once.
fn merge_modes(found: &mut Vec<Lint>, code: &str) {
    let mut seen: Vec<(String, Vec<String>)> = vec![];
    found.retain(|lint| {
        let key = (lint.message.clone(), lint.tools.clone());
        let repeated = lint.code == code && seen.contains(&key);
        seen.push(key);
        !repeated
    });
}

/// Somebody must be able to select an intent, or no destructive tool is ever reached (W4-8).
fn handshake(catalog: &Catalog, settings: &Settings, found: &mut Vec<Lint>) {
    let Some(guarded) = catalog.specs().find(|s| !s.classification.is_safe()) else { return };
    let registered: Vec<&ToolSpec> = settings.handshake_tools.iter().filter_map(|name| catalog.spec(name)).collect();
    if registered.is_empty() {
        let message = "no intent-selection tool is registered: only a person can reach ACTION, a model never can";
        let lint = Lint::new("handshake.missing", Severity::Info, "handshake_tools", message);
        found.push(lint.of([guarded.name.as_str()]));
        return;
    }
    for request in requests(settings) {
        let Ok(viewer) = Viewer::new(settings, &request) else { continue };
        let stopped: Vec<(&&ToolSpec, Gate)> =
            registered.iter().filter_map(|spec| Some((spec, viewer.stopped_at(spec)?))).collect();
        // One way in is enough.
        if stopped.len() == registered.len() {
            let (spec, gate) = stopped[0];
            let what = format!(
                "no intent can be selected, so destructive tools stay hidden for ever: {} is hidden",
                spec.name
            );
            found.push(filtered("handshake.deadlock", &what, gate, spec, settings, &request));
        }
    }
    merge_modes(found, "handshake.deadlock");
}

fn modes(catalog: &Catalog, settings: &Settings, found: &mut Vec<Lint>) {
    let groups: std::collections::HashSet<&str> = catalog.specs().map(|s| s.group.as_str()).collect();
    for mode in &settings.modes {
        let request = Request { mode: mode.name.clone(), state: ExecutionState::Reasoning, ..Request::default() };
        let Ok(viewer) = Viewer::new(settings, &request) else { continue };
        let usable = |s: &ToolSpec| !settings.handshake_tools.contains(&s.name) && viewer.sees(s);
        if !catalog.is_empty() && !catalog.specs().any(usable) {
            let message = format!("the mode {} shows no tool before an intent is selected", mode.name);
            found.push(Lint::new("mode.no_safe_tool", Severity::Warning, "modes", message));
        }
        let unknown: Vec<&str> = mode.groups.iter().map(String::as_str).filter(|g| !groups.contains(g)).collect();
        if !unknown.is_empty() {
            let message = format!("the mode {} permits groups that no tool is in: {}", mode.name, unknown.join(", "));
            found.push(Lint::new("mode.unknown_group", Severity::Info, "modes", message));
        }
    }
}

/// Enabled extensions: unknown, without tools, or bringing along what changes things (W2-1, W2-5, W2-6).
fn extensions(catalog: &Catalog, settings: &Settings, found: &mut Vec<Lint>) {
    let capabilities = &settings.capabilities;
    let known = Aliases::of(capabilities);
    for double in known.ambiguous() {
        let message = format!(
            "{} belongs to {} and is claimed by {} as well; it stays with the first",
            double.id, double.kept, double.other
        );
        let groups: Vec<Vec<String>> = capabilities
            .aliases
            .iter()
            .map(|group| match group.first().is_some_and(|first| known.canonical(first) == double.other) {
                true => group.iter().filter(|id| id.trim().to_lowercase() != double.id).cloned().collect(),
                false => group.clone(),
            })
            .collect();
        let lint = Lint::new("alias.overlap", Severity::Warning, "capabilities.aliases", message);
        let title = format!("Take {} out of {}", double.id, double.other);
        found.push(set(lint, title, at("capabilities.aliases", json!(groups))));
    }
    let view = view(capabilities, catalog);
    for unknown in &view.unknown {
        let enabled = &capabilities.enabled_extensions;
        let (hint, title, list) = match &unknown.meant {
            Some(meant) => (
                format!("; {meant} may be meant"),
                format!("Enable {meant}"),
                enabled.iter().map(|id| if id.trim() == unknown.id { meant } else { id }).cloned().collect(),
            ),
            None => {
                let rest: Vec<String> = enabled.iter().filter(|id| id.trim() != unknown.id).cloned().collect();
                (String::new(), format!("Take {} out of the list", unknown.id), rest)
            }
        };
        let message = format!("the enabled extension {} is unknown and stands for nothing{hint}", unknown.id);
        let lint = Lint::new("extension.unknown", Severity::Warning, "capabilities.enabled_extensions", message);
        found.push(set(lint, title, at("capabilities.enabled_extensions", json!(list))));
    }
    let mut overreach: BTreeMap<(&str, bool), Vec<&str>> = BTreeMap::new();
    for over in &view.overreach {
        overreach.entry((&over.enabled, over.came == Came::Alias)).or_default().push(&over.tool);
    }
    for ((enabled, alias), tools) in overreach {
        let how = if alias { "as another name of its family" } else { "because it implies them" };
        let message = format!("enabling {enabled} also describes {} {how}, and they change things", tools.join(", "));
        let mut denied = settings.policy.denied.clone();
        denied.extend(tools.iter().filter(|t| !settings.policy.denied.iter().any(|d| d == *t)).map(|t| t.to_string()));
        let lint = Lint::new("alias.overreach", Severity::Warning, "capabilities.enabled_extensions", message);
        // Denied by name is dealt with.
        if denied.len() > settings.policy.denied.len() {
            let title = format!("Deny {}", tools.join(", "));
            found.push(set(lint.of(tools), title, at("policy.denied", json!(denied))));
        }
    }
    for capability in &view.capabilities {
        if capability.tools.iter().all(|tool| view.callable.binary_search(tool).is_err()) {
            let message = format!(
                "the capability {} has no tool that can be called: {} is not in the catalog",
                capability.capability,
                capability.tools.join(", ")
            );
            found.push(Lint::new("capability.no_tool", Severity::Warning, "capabilities.enabled_extensions", message));
        }
    }
    for (i, matcher) in capabilities.matchers.iter().enumerate() {
        if capabilities.suggest && view.tools_for_capability(&matcher.capability).is_empty() {
            let message = format!("matcher {} suggests {}, which no enabled tool offers", i + 1, matcher.capability);
            found.push(Lint::new("capability.no_tool", Severity::Warning, "capabilities.matchers", message));
        }
    }
}

//! What must hold for any catalog, any settings, any query and any reply (S-02, S-03, G-15).
//!
//! The cases are the same at every run; `PROPTEST_RNG_SEED=… PROPTEST_CASES=…` tries others.

use crate::desk::{Desk, calls, slice_utf16, tool};
use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select, subsequence},
    test_runner::RngSeed,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use toolplan_engine::{
    decompose::{MAX_SUB_QUERIES, decompose, from_questions},
    guard::reference,
    planning::{Answer, Planning},
    request::{Decomposition, ExecutionState, Planner, Request, RoutingPlan, Session, SubQuery},
    select::Reply,
    settings::{GuardMode, Mode, Settings, ToolPolicy, VisibilityRule},
    tool::{Classification, Fallback, FallbackCondition, Loading, ToolSpec},
    verdict::{Gate, Source},
    visibility::{effective_state, in_prompt, visible},
};

pub fn config() -> ProptestConfig {
    let from_environment = std::env::var_os("PROPTEST_RNG_SEED").is_some();
    let default = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if from_environment { default } else { ProptestConfig { rng_seed: RngSeed::Fixed(0), ..default } }
}

const NAMES: &[&str] = &[
    "vector_search",
    "jira_fetch",
    "web_fetch",
    "confluence_fetch",
    "read_file",
    "write_to_file",
    "execute_command",
    "jira.search",
    "mcp_tool",
    "select_active_intent",
    "tool_search",
    "purge",
];
const RULES: &[&str] = &[
    "",
    "text:q",
    "issue_key:key",
    "url:url",
    "page_id:page",
    "path:path",
    "entity:of",
    "n!integer",
    "pattern:p=INC(\\d+)",
];
const GROUPS: &[&str] = &["read", "edit", "command"];
const TAGS: &[&str] = &["kb", "ops"];

/// Any tool of the name: any classification, group, rule, tags, side effects, loading and fallback.
fn any_tool(name: &'static str) -> impl Strategy<Value = ToolSpec> {
    let classes = [Classification::Safe, Classification::Destructive, Classification::Unclassified];
    let of_tool = (select(RULES), select(GROUPS), subsequence(TAGS, 0..=2), any::<bool>(), any::<bool>());
    (of_tool, select(classes.to_vec()), proptest::option::weighted(0.2, select(NAMES))).prop_map(
        move |((rule, group, tags, deferred, writes), classification, fallback)| {
            let mut spec = tool(&format!("{name} SAFE @{group} {rule} {}", if writes { "writes" } else { "" }));
            spec.classification = classification;
            spec.tags = tags.iter().map(|t| t.to_string()).collect();
            spec.loading = if deferred { Loading::Deferred } else { Loading::Always };
            let condition = FallbackCondition::OnError;
            spec.fallback = fallback.map(|tool| Fallback { condition, ..Fallback::on_error(tool) });
            spec
        },
    )
}

fn some_names() -> impl Strategy<Value = Vec<String>> {
    subsequence(NAMES, 0..=NAMES.len()).prop_map(|names| names.into_iter().map(str::to_string).collect())
}

fn few_names() -> impl Strategy<Value = Vec<String>> {
    subsequence(NAMES, 0..=3).prop_map(|names| names.into_iter().map(str::to_string).collect())
}

/// Texts of the pieces that the engine looks for, glued in any way, and of anything else.
fn any_text() -> impl Strategy<Value = String> {
    let pieces = select(vec![
        "PROJ-123",
        "proj-1",
        "UTF-8",
        "https://example.com/a",
        "HTTP://",
        "page 1234567890",
        "wiki",
        "Confluence",
        "docs/a.md",
        "INC42",
        "\"quoted\"",
        "《书》",
        "<think>",
        "</think>",
        "```json",
        "```",
        "{",
        "}",
        "[",
        "]",
        "\"",
        ":",
        ",",
        "{\"tool\":",
        "{\"name\": \"purge\", \"arguments\": {}}",
        "do not use ",
        "不要使用 ",
        "use ",
        " and ",
        " then ",
        " vs ",
        "对比",
        "和",
        "吗？",
        "? ",
        "。",
        "; ",
        "\n",
        "😀",
        "é",
        "\u{0}",
        "\u{202e}",
        "ＰＲＯＪ－９",
        "ACTION",
        "(",
        ")",
        "\\",
        "$from",
        "#0",
        "-",
        "  ",
        "3",
    ]);
    let words = prop_oneof![
        4 => pieces.prop_map(str::to_string),
        2 => select(NAMES).prop_map(str::to_string),
        1 => "\\PC{0,6}",
        1 => any::<String>(),
    ];
    vec(words, 0..14).prop_map(|words| words.concat())
}

/// Arguments that fit the tool, or do not.
fn arguments_of(spec: &ToolSpec) -> Value {
    let values = spec.properties().into_iter().flatten().map(|(name, schema)| {
        let value = if schema["type"] == "integer" {
            json!(3)
        } else {
            json!("PROJ-123 https://example.com/a page 1234567890")
        };
        (name.clone(), value)
    });
    Value::Object(values.collect::<Map<_, _>>())
}

#[derive(Debug, Clone, Copy)]
enum Voice {
    Offline,
    Unavailable,
    Native,
    Json,
    Prose,
    Thinking,
    Everything,
    Noise,
}

/// A reply that names every tool there is, in the voice.
fn reply_in(voice: Voice, specs: &[ToolSpec], noise: &str) -> Reply {
    let named: Vec<(&str, Value)> = specs.iter().map(|s| (s.name.as_str(), arguments_of(s))).collect();
    let as_json =
        Value::from(named.iter().map(|(t, a)| json!({"tool": t, "arguments": a})).collect::<Vec<_>>()).to_string();
    let prose = NAMES.iter().map(|n| format!("use {n}")).collect::<Vec<_>>().join(", ");
    match voice {
        Voice::Native => calls(&named),
        Voice::Json => Reply { text: format!("{noise}\n```json\n{as_json}\n```"), ..Default::default() },
        Voice::Prose => Reply { text: format!("{prose}. {noise}"), ..Default::default() },
        Voice::Thinking => Reply { text: format!("<think>{prose}</think>{noise}"), ..Default::default() },
        Voice::Everything => Reply { text: format!("{prose} {as_json} {noise}"), ..calls(&named) },
        Voice::Noise | Voice::Offline | Voice::Unavailable => Reply { text: noise.into(), ..Default::default() },
    }
}

#[derive(Debug, Clone)]
struct Case {
    desk: Desk,
    voice: Voice,
    reply: Reply,
}

impl Case {
    fn plan(&self) -> Option<Planning> {
        let answer = match self.voice {
            Voice::Offline => Answer::Offline,
            Voice::Unavailable => Answer::Unavailable { reason: "no key" },
            _ => Answer::Reply { reply: &self.reply, label: "scripted", model_ms: Some(1) },
        };
        match self.desk.try_plan(answer) {
            Ok(planning) => Some(planning),
            Err(problem) => {
                assert_eq!(problem.code, "query.empty", "{}", problem.message);
                None
            }
        }
    }
}

prop_compose! {
    fn any_settings()(
        allowed in proptest::option::weighted(0.3, some_names()),
        denied in few_names(),
        tags in subsequence(TAGS, 0..=1),
        kill in few_names(),
        rules in vec((few_names(), subsequence(TAGS, 0..=1), select(vec!["", "acme"]), any::<bool>()), 0..3),
        switches in any::<(bool, bool, bool, bool)>(),
    ) -> Settings {
        let (audit, thinking, adding, discovery) = switches;
        let mode_of = |name: &str, groups: &[&str]| Mode {
            name: name.into(),
            groups: groups.iter().map(|g| g.to_string()).collect(),
            ..Default::default()
        };
        let mut settings = Settings {
            policy: ToolPolicy { allowed, denied, require_tags: tags.iter().map(|t| t.to_string()).collect() },
            kill_switch: kill,
            visibility: rules.iter().map(rule).collect(),
            modes: vec![mode_of("reader", &["read"]), mode_of("editor", &["read", "edit"])],
            ..Default::default()
        };
        settings.guard.mode = if audit { GuardMode::Audit } else { GuardMode::Enforce };
        settings.guard.scan_thinking = thinking;
        settings.guard.add_by_rule = adding;
        settings.discovery.enabled = discovery;
        settings
    }
}

type RuleParts = (Vec<String>, Vec<&'static str>, &'static str, bool);

fn rule((hide, tags, tenant, flag): &RuleParts) -> VisibilityRule {
    VisibilityRule {
        id: "rule".into(),
        tenants: [tenant.to_string()].into_iter().filter(|t| !t.is_empty()).collect(),
        unless_flag: if *flag { "beta".into() } else { String::new() },
        hide: hide.clone(),
        hide_tags: tags.iter().map(|t| t.to_string()).collect(),
        ..Default::default()
    }
}

fn any_part() -> impl Strategy<Value = SubQuery> {
    (
        select(vec!["p1", "p2", "p3"]),
        any_text(),
        subsequence(vec!["p1", "p2", "p3", "p9"], 0..=2),
        select(vec!["lookup", "compare", "validate"]),
    )
        .prop_map(|(id, query, dependencies, purpose)| SubQuery {
            id: id.into(),
            query,
            dependencies: dependencies.into_iter().map(str::to_string).collect(),
            priority: 1,
            purpose: purpose.into(),
        })
}

prop_compose! {
    fn any_request()(
        query in any_text(),
        state in select(ExecutionState::ALL.to_vec()),
        intent in select(vec!["", " ", "REQ-1"]),
        mode in select(vec!["", "reader", "editor"]),
        whitelist in proptest::option::of(some_names()),
        questions in vec(any_text(), 0..3),
        parts in proptest::option::weighted(0.3, vec(any_part(), 0..4)),
        tenant in select(vec!["", "acme"]),
    ) -> Request {
        Request {
            query,
            state,
            intent: intent.into(),
            mode: mode.into(),
            routing: RoutingPlan { suggested_tools: whitelist, sub_questions: questions },
            decomposition: parts.map(|sub_queries| Decomposition { sub_queries, ..Default::default() }),
            session: Session { tenant: tenant.into(), ..Default::default() },
            planner: Planner::Model,
        }
    }
}

fn any_case() -> impl Strategy<Value = Case> {
    let tools = NAMES.iter().map(|name| any_tool(name).boxed()).collect::<Vec<_>>();
    let voices = vec![
        Voice::Offline,
        Voice::Unavailable,
        Voice::Native,
        Voice::Json,
        Voice::Prose,
        Voice::Thinking,
        Voice::Everything,
        Voice::Noise,
    ];
    (tools, any_settings(), any_request(), select(voices), any_text(), any::<Index>()).prop_map(
        |(specs, settings, request, voice, noise, without)| {
            let mut specs = specs;
            let unknown = specs.remove(without.index(NAMES.len()));
            let mut all = specs.clone();
            all.push(unknown);
            let desk = Desk::with_tools(specs).but(|d| {
                d.settings = settings;
                d.request = request;
            });
            Case { desk, voice, reply: reply_in(voice, &all, &noise) }
        },
    )
}

/// The tools of the plan, fallbacks of an admitted plan included.
fn tools_of(planning: &Planning, desk: &Desk) -> BTreeSet<String> {
    let mut tools: BTreeSet<String> = planning.plan.steps.iter().map(|s| s.tool.clone()).collect();
    let admitted = planning.plan.clone().check(|call| desk.guard().admit(call));
    assert_eq!(admitted.as_ref().err().cloned().unwrap_or_default(), planning.findings);
    if let Ok(plan) = admitted {
        tools.extend(plan.steps().iter().filter_map(|s| Some(s.fallback.as_ref()?.call().tool.clone())));
    }
    tools
}

proptest! {
    #![proptest_config(config())]

    /// G-02, G-15, V-05: no tool that a gate refuses is ever a step, on any path of reply; the trail of every planned
    /// tool passes, and the funnel counts every tool once.
    #[test]
    fn a_refused_tool_is_never_a_step(case in any_case()) {
        let Some(planning) = case.plan() else { return Ok(()) };
        let desk = &case.desk;
        let viewer = desk.viewer();
        for name in tools_of(&planning, desk) {
            let spec = desk.catalog.spec(&name);
            prop_assert!(spec.is_some_and(|s| viewer.sees(s)), "{name} is planned and not visible");
            let audit = desk.settings.guard.mode == GuardMode::Audit;
            let listed = desk.request.routing.whitelist().is_none_or(|list| list.contains(&name));
            prop_assert!(listed || audit, "{name} is planned and not on the whitelist");
        }
        for trail in &planning.trails {
            let is_step = planning.plan.steps.iter().any(|s| s.tool == trail.tool);
            let planned = trail.verdicts.iter().any(|v| v.gate == Gate::Planned);
            prop_assert_eq!(is_step, planned, "{}", trail.tool);
            prop_assert!(!is_step || trail.passes(), "{} is a step: {:?}", trail.tool, trail.decided());
        }
        for step in &planning.plan.steps {
            let (spec, known) = (desk.catalog.get(&step.tool).unwrap(), &step.arguments);
            prop_assert!(spec.validator().unwrap().is_valid(&Value::from(known.clone())), "{} {known:?}", step.tool);
        }
        let total = desk.catalog.len() as u32;
        prop_assert_eq!(planning.funnel.iter().map(|r| r.lost).sum::<u32>() + planning.funnel.last().unwrap().left, total);
        let steps: BTreeSet<_> = planning.plan.steps.iter().map(|s| &s.tool).collect();
        prop_assert_eq!(planning.funnel.last().unwrap().left as usize, steps.len());
    }

    /// S-02, V-05, V-06, V-09: outside ACTION with an intent nothing destructive or unclassified is in the prompt, in
    /// a plan or admitted by the guard, but the handshake that the settings name.
    #[test]
    fn nothing_destructive_before_an_intent(case in any_case()) {
        let desk = &case.desk;
        let open = desk.request.state == ExecutionState::Action && desk.request.intent == "REQ-1";
        prop_assert_eq!(effective_state(&desk.settings, &desk.request) == ExecutionState::Action, open);
        if open {
            return Ok(());
        }
        let harmless = |name: &str| {
            let spec = desk.catalog.spec(name);
            spec.is_some_and(|s| s.classification == Classification::Safe) || desk.settings.handshake_tools.contains(&name.to_string())
        };
        for entry in in_prompt(&desk.catalog, &desk.viewer()) {
            prop_assert!(harmless(&entry.spec.name), "{} is in the prompt", entry.spec.name);
        }
        for spec in desk.catalog.specs().filter(|s| !harmless(&s.name)) {
            let arguments = arguments_of(spec).as_object().cloned().unwrap();
            let call = toolplan_engine::tool::ToolCall { tool: spec.name.clone(), arguments };
            prop_assert!(desk.guard().admit(&call).is_err(), "{} is admitted", spec.name);
        }
        if let Some(planning) = case.plan() {
            for name in tools_of(&planning, desk) {
                prop_assert!(harmless(&name), "{name} is planned");
            }
        }
    }

    /// V-01, V-02, V-05: one more refusal shows no more tools, and neither REQUEST nor REASONING shows more than ACTION.
    #[test]
    fn visibility_only_narrows(case in any_case(), name in select(NAMES), parts in (few_names(), subsequence(TAGS, 0..=1), select(vec!["", "acme"]), any::<bool>())) {
        let desk = &case.desk;
        let seen = |desk: &Desk| desk.visible().into_iter().map(str::to_string).collect::<BTreeSet<_>>();
        let before = seen(desk);
        let narrower: [&dyn Fn(&mut Desk); 6] = [
            &|d| d.settings.policy.denied.push(name.into()),
            &|d| d.settings.kill_switch.push(name.into()),
            &|d| d.settings.visibility.push(rule(&parts)),
            &|d| d.settings.policy.require_tags.push("kb".into()),
            &|d| if let Some(allowed) = &mut d.settings.policy.allowed { allowed.retain(|n| n != name) } else { d.settings.policy.allowed = Some(vec![]) },
            &|d| d.request.intent.clear(),
        ];
        for (at, narrow) in narrower.iter().enumerate() {
            let after = seen(&desk.clone().but(narrow));
            prop_assert!(after.is_subset(&before), "change {at} shows {:?}", after.difference(&before));
        }
        let in_state = |state| {
            let viewer = desk.viewer().in_state(state);
            visible(&desk.catalog, &viewer).iter().map(|e| e.spec.name.clone()).collect::<BTreeSet<_>>()
        };
        let action = in_state(ExecutionState::Action);
        prop_assert!(in_state(ExecutionState::Request).is_subset(&action));
        prop_assert_eq!(in_state(ExecutionState::Request), in_state(ExecutionState::Reasoning));
        for spec in desk.catalog.specs() {
            let viewer = desk.viewer();
            let trail = viewer.trail(spec);
            prop_assert_eq!(viewer.stopped_at(spec), trail.decided().map(|v| v.gate), "{}", spec.name);
            prop_assert_eq!(viewer.sees(spec), trail.passes());
        }
    }

    /// S-03, G-11: any query and any reply give a planning, each span lies within its text and cuts out what it says.
    #[test]
    fn any_text_is_planned(case in any_case(), query in any_text(), text in any_text()) {
        let mut case = case;
        case.desk.request.query = query;
        case.reply.text = text;
        case.voice = if matches!(case.voice, Voice::Offline) { Voice::Offline } else { Voice::Noise };
        let Some(planning) = case.plan() else { return Ok(()) };
        for call in &planning.guard.calls {
            for evidence in call.verdicts.iter().flat_map(|v| &v.evidence) {
                let source = match evidence.source {
                    Source::Query => &planning.request.query,
                    Source::ModelText => &planning.guard.model_text,
                    Source::SubQuestion { index } => &planning.decomposition.sub_queries[index as usize].query,
                };
                let slice = slice_utf16(source, evidence.span);
                prop_assert!(!slice.is_empty());
                if evidence.source != Source::ModelText && slice.is_ascii() {
                    prop_assert_eq!(slice, evidence.text.as_str());
                }
            }
        }
        for mention in &planning.guard.mentions {
            let plain = |s: &str| s.to_lowercase().replace(['-', ' '], "_");
            prop_assert_eq!(plain(&slice_utf16(&planning.guard.model_text, mention.span)), plain(&mention.tool));
        }
        let stored: Planning = serde_json::from_str(&serde_json::to_string(&planning).unwrap()).unwrap();
        prop_assert_eq!(stored.guard, planning.guard, "a planning survives its file format");
    }

    /// S-03, G-05, G-06, G-07: what is extracted from a text stands in it, once, in order and without overlap.
    #[test]
    fn references_stand_in_their_text(text in any_text()) {
        let settings = Default::default();
        for found in [reference::issue_keys(&text, &settings), reference::urls(&text), reference::page_ids(&text), reference::paths(&text), reference::quoted(&text)] {
            let values: BTreeSet<_> = found.found.iter().map(|f| &f.value).collect();
            prop_assert_eq!(values.len(), found.found.len(), "no repeats");
            for f in found.found.iter().chain(found.near.iter().map(|n| &n.found)) {
                let slice = text.get(f.range.clone());
                prop_assert!(slice.is_some_and(|s| !s.is_empty() && (!s.is_ascii() || s == f.value)), "{f:?} of {text:?}");
            }
        }
    }

    /// P-02: at most ten parts, ids of their own, every dependency an earlier part.
    #[test]
    fn decompositions_are_sound(query in any_text(), joiner in select(vec![" then ", "? ", "; ", " vs ", "，然后", "？"]), times in 0usize..30, questions in vec(any_text(), 0..20)) {
        let long = vec![query.as_str(); times].join(joiner);
        for decomposition in [decompose(&query), decompose(&long), from_questions(&query, &questions)] {
            let parts = &decomposition.sub_queries;
            prop_assert!(parts.len() <= MAX_SUB_QUERIES);
            prop_assert!((0.0..=1.0).contains(&decomposition.confidence));
            for (at, part) in parts.iter().enumerate() {
                let earlier: Vec<&str> = parts[..at].iter().map(|p| p.id.as_str()).collect();
                prop_assert!(!earlier.contains(&part.id.as_str()), "{} twice", part.id);
                prop_assert!(part.dependencies.iter().all(|d| earlier.contains(&d.as_str())), "{part:?}");
            }
        }
    }
}

//! What the model sees and why the rest is hidden (V-01 to V-06, V-09, V-10).

use crate::desk::{BUILD_TOOLS, Desk, tool};
use expect_test::{Expect, expect};
use toolplan_engine::{
    planning::Answer,
    request::{ExecutionState, Request, Session},
    settings::{Mode, VisibilityRule},
    tokens::Tiktoken,
    tool::Classification,
    verdict::{Gate, Outcome},
};

const TOOLS: &[&str] = &[
    "search SAFE @read #kb",
    "write_page DESTRUCTIVE @edit #kb",
    "deploy DESTRUCTIVE @command #ops",
    "legacy @read",
    "select_active_intent SAFE @modes",
    "tool_search SAFE @modes",
    "tool_get SAFE @modes",
];

/// One line per tool: `+` seen, `-` hidden with the deciding rule, its setting and reason.
#[track_caller]
fn check(desk: &Desk, expected: Expect) {
    let viewer = desk.viewer();
    let lines = desk.catalog.specs().map(|spec| match viewer.trail(spec).decided() {
        None => format!("+ {}", spec.name),
        Some(v) => format!("- {} {} ({}): {}", spec.name, v.rule, v.config_key.as_deref().unwrap_or(""), v.reason),
    });
    expected.assert_eq(&lines.collect::<Vec<_>>().join("\n"));
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|n| n.to_string()).collect()
}

fn in_action() -> Desk {
    Desk::of(TOOLS).asks("anything").in_action("REQ-1")
}

/// V-01: null means no allow-list.
#[test]
fn without_an_allow_list_everything_is_allowed() {
    assert_eq!(in_action().visible().len(), TOOLS.len());
}

/// V-01: an empty allow-list allows nothing but discovery and the handshake.
#[test]
fn an_empty_allow_list_leaves_discovery_and_handshake() {
    let desk = in_action().but(|d| d.settings.policy.allowed = Some(vec![]));
    check(
        &desk,
        expect![[r#"
            - search policy.not_allowed (policy.allowed): Not on the allow-list
            - write_page policy.not_allowed (policy.allowed): Not on the allow-list
            - deploy policy.not_allowed (policy.allowed): Not on the allow-list
            - legacy policy.not_allowed (policy.allowed): Not on the allow-list
            + select_active_intent
            + tool_search
            + tool_get"#]],
    );
}

/// V-01: the deny-list wins over the allow-list, and over the exemption of discovery and handshake.
#[test]
fn the_deny_list_wins() {
    let desk = in_action().but(|d| {
        d.settings.policy.allowed = Some(names(&["search", "deploy"]));
        d.settings.policy.denied = names(&["deploy", "tool_get", "select_active_intent"]);
    });
    check(
        &desk,
        expect![[r#"
            + search
            - write_page policy.not_allowed (policy.allowed): Not on the allow-list
            - deploy policy.denied (policy.denied): Denied by name
            - legacy policy.not_allowed (policy.allowed): Not on the allow-list
            - select_active_intent policy.denied (policy.denied): Denied by name
            + tool_search
            - tool_get policy.denied (policy.denied): Denied by name"#]],
    );
}

/// V-01: every required tag counts, and discovery and handshake carry none.
#[test]
fn all_required_tags_count() {
    let desk = Desk::of(&["a SAFE #kb #ops", "b SAFE #kb", "c SAFE #ops", "d SAFE", "tool_search SAFE"])
        .asks("anything")
        .but(|d| d.settings.policy.require_tags = names(&["kb", "ops"]));
    check(
        &desk,
        expect![[r#"
            + a
            - b policy.tag (policy.require_tags): Lacks the required tag ops
            - c policy.tag (policy.require_tags): Lacks the required tag kb
            - d policy.tag (policy.require_tags): Lacks the required tag kb
            + tool_search"#]],
    );
}

fn rule(id: &str, hide: &[&str]) -> VisibilityRule {
    VisibilityRule { id: id.into(), hide: names(hide), ..Default::default() }
}

fn session(tenant: &str, user: &str, flags: &[&str]) -> Session {
    Session { tenant: tenant.into(), user: user.into(), flags: names(flags), ..Default::default() }
}

/// V-02: who asks decides what a rule hides, and the rule is named.
#[test]
fn rules_hide_by_tenant_user_and_flag() {
    let desk = in_action().but(|d| {
        d.settings.visibility = vec![
            VisibilityRule { tenants: names(&["acme"]), ..rule("acme-no-deploy", &["deploy"]) },
            VisibilityRule { users: names(&["trainee"]), hide_tags: names(&["kb"]), ..rule("trainees", &[]) },
            VisibilityRule { unless_flag: "beta".into(), ..rule("beta-only", &["leg*"]) },
            VisibilityRule { except_tenants: names(&["acme", "globex"]), ..rule("partners", &["search"]) },
        ];
    });
    let seen = |session: Session| desk.clone().but(|d| d.request.session = session).visible().join(" ");
    let always = "select_active_intent tool_search tool_get";
    assert_eq!(seen(session("acme", "ann", &[])), format!("search write_page {always}"));
    assert_eq!(seen(session("globex", "ann", &["beta"])), format!("search write_page deploy legacy {always}"));
    assert_eq!(seen(session("acme", "trainee", &["beta"])), format!("legacy {always}"));
    assert_eq!(seen(session("", "", &[])), format!("write_page deploy {always}"));
    check(
        &desk.but(|d| d.request.session = session("acme", "trainee", &[])),
        expect![[r#"
            - search visibility.trainees (visibility): Hidden by the rule trainees for this session
            - write_page visibility.trainees (visibility): Hidden by the rule trainees for this session
            - deploy visibility.acme-no-deploy (visibility): Hidden by the rule acme-no-deploy for this session
            - legacy visibility.beta-only (visibility): Hidden by the rule beta-only for this session
            + select_active_intent
            + tool_search
            + tool_get"#]],
    );
}

/// V-02: the kill-switch beats everything, the handshake included, and nothing in a rule shows a denied tool.
#[test]
fn the_kill_switch_spares_nobody() {
    let desk = in_action().but(|d| {
        d.settings.kill_switch = names(&["search", "select_active_intent", "tool_search"]);
        d.settings.policy.denied = names(&["deploy"]);
        d.settings.visibility =
            vec![VisibilityRule { except_tenants: names(&["acme"]), ..rule("spares", &["deploy"]) }];
        d.request.session = session("acme", "", &[]);
    });
    check(
        &desk,
        expect![[r#"
            - search visibility.kill_switch (kill_switch): Switched off by the kill-switch
            + write_page
            - deploy policy.denied (policy.denied): Denied by name
            + legacy
            - select_active_intent visibility.kill_switch (kill_switch): Switched off by the kill-switch
            - tool_search visibility.kill_switch (kill_switch): Switched off by the kill-switch
            + tool_get"#]],
    );
}

fn modes() -> Vec<Mode> {
    let mode = |name: &str, groups: &[&str], tools: &[&str]| Mode {
        name: name.into(),
        title: name.into(),
        groups: names(groups),
        tools: names(tools),
    };
    vec![mode("ask", &["read"], &[]), mode("writer", &["read"], &["write_page"])]
}

/// V-03: an unknown mode is an error that names the modes, for the prompt and the plan as well.
#[test]
fn an_unknown_mode_is_an_error() {
    let desk = in_action().but(|d| {
        d.settings.modes = modes();
        d.request.mode = "wirter".into();
    });
    let problem = desk.try_plan(Answer::Offline).unwrap_err();
    assert_eq!(
        (problem.code.as_str(), problem.message.as_str(), problem.hint.as_str()),
        ("mode.unknown", r#"there is no mode called "wirter""#, "choose one of: ask, writer")
    );
    let of_prompt =
        toolplan_engine::planning::prompt(&desk.catalog, &Default::default(), &desk.settings, &desk.request)
            .unwrap_err();
    assert_eq!(of_prompt, problem);
    // The default mode is no safer when it is misspelt.
    let by_default = desk.but(|d| {
        d.request.mode = String::new();
        d.settings.default_mode = "nobody".into();
    });
    assert_eq!(by_default.try_plan(Answer::Offline).unwrap_err().code, "mode.unknown");
}

/// V-03: a custom mode and the state filter compound: each hides what it alone would hide.
#[test]
fn modes_and_states_compound() {
    let desk = in_action().but(|d| {
        d.settings.modes = modes();
        d.request.mode = "writer".into();
    });
    check(
        &desk,
        expect![[r#"
            + search
            + write_page
            - deploy mode.group (modes): The mode writer does not permit the group command
            + legacy
            + select_active_intent
            - tool_search mode.group (modes): The mode writer does not permit the group modes
            - tool_get mode.group (modes): The mode writer does not permit the group modes"#]],
    );
    check(
        &desk.but(|d| d.request.state = ExecutionState::Reasoning),
        expect![[r#"
            + search
            - write_page state.destructive (classification): Hidden in REASONING: DESTRUCTIVE until an intent is selected
            - deploy mode.group (modes): The mode writer does not permit the group command
            - legacy state.unclassified (classification): Hidden in REASONING: unclassified counts as destructive
            + select_active_intent
            - tool_search mode.group (modes): The mode writer does not permit the group modes
            - tool_get mode.group (modes): The mode writer does not permit the group modes"#]],
    );
}

/// V-04 and SYSTEMS 4.1: all nine transitions, with and without an intent.
#[test]
fn transitions_name_what_is_allowed() {
    let mut lines = vec![];
    for from in ExecutionState::ALL {
        for to in ExecutionState::ALL {
            for intent in ["", "  ", "REQ-1"] {
                let said = match from.transition(to, intent) {
                    Ok(state) => format!("ok {}", state.name()),
                    Err(message) => message,
                };
                let line = format!("{} {} {intent:?}: {said}", from.name(), to.name());
                if intent != "  " || to == ExecutionState::Action && from == ExecutionState::Reasoning {
                    lines.push(line);
                }
            }
        }
    }
    expect![[r#"
        REQUEST REQUEST "": Invalid state transition: REQUEST → REQUEST. Allowed: REASONING
        REQUEST REQUEST "REQ-1": Invalid state transition: REQUEST → REQUEST. Allowed: REASONING
        REQUEST REASONING "": ok REASONING
        REQUEST REASONING "REQ-1": ok REASONING
        REQUEST ACTION "": Invalid state transition: REQUEST → ACTION. Allowed: REASONING
        REQUEST ACTION "REQ-1": Invalid state transition: REQUEST → ACTION. Allowed: REASONING
        REASONING REQUEST "": ok REQUEST
        REASONING REQUEST "REQ-1": ok REQUEST
        REASONING REASONING "": Invalid state transition: REASONING → REASONING. Allowed: ACTION, REQUEST
        REASONING REASONING "REQ-1": Invalid state transition: REASONING → REASONING. Allowed: ACTION, REQUEST
        REASONING ACTION "": Cannot transition to ACTION without an intent. Select an intent first.
        REASONING ACTION "  ": Cannot transition to ACTION without an intent. Select an intent first.
        REASONING ACTION "REQ-1": ok ACTION
        ACTION REQUEST "": ok REQUEST
        ACTION REQUEST "REQ-1": ok REQUEST
        ACTION REASONING "": ok REASONING
        ACTION REASONING "REQ-1": ok REASONING
        ACTION ACTION "": Invalid state transition: ACTION → ACTION. Allowed: REQUEST, REASONING
        ACTION ACTION "REQ-1": Invalid state transition: ACTION → ACTION. Allowed: REQUEST, REASONING"#]]
    .assert_eq(&lines.join("\n"));
}

/// V-05 and SYSTEMS 4.2 (build-tools.spec).
#[test]
fn build_tools_conformance() {
    let desk = Desk::of(BUILD_TOOLS).asks("fix the login page");
    let seen = |state, intent: &str| {
        let desk = desk.clone().but(|d| {
            d.request.state = state;
            d.request.intent = intent.into();
        });
        let prompt: Vec<String> = desk.prompt().tools.into_iter().map(|t| t.name).collect();
        assert_eq!(prompt, desk.visible(), "what is seen is what is sent");
        prompt.join(" ")
    };
    assert_eq!(seen(ExecutionState::Reasoning, ""), "read_file select_active_intent");
    assert_eq!(seen(ExecutionState::Request, ""), "read_file select_active_intent");
    assert_eq!(seen(ExecutionState::Action, "REQ-123"), "read_file write_to_file execute_command select_active_intent");
    // An intent opens nothing before ACTION, and ACTION opens nothing without one (S-02).
    assert_eq!(seen(ExecutionState::Reasoning, "REQ-123"), "read_file select_active_intent");
    assert_eq!(seen(ExecutionState::Action, " "), "read_file select_active_intent");
}

/// V-05, S-02: the intent-selection tool is shown before an intent even unclassified, but not one called DESTRUCTIVE.
#[test]
fn the_handshake_needs_no_classification() {
    let desk = Desk::of(&["select_active_intent", "select_intent DESTRUCTIVE", "select_intents"]).asks("x");
    assert_eq!(desk.visible(), ["select_active_intent"]);
}

/// V-06: unclassified is hidden before an intent, and a reclassification counts at once.
#[test]
fn unclassified_counts_as_destructive() {
    let desk = Desk::of(&["legacy @read"]).asks("x");
    check(
        &desk,
        expect![[
            r#"- legacy state.unclassified (classification): Hidden in REASONING: unclassified counts as destructive"#
        ]],
    );
    let mut spec = tool("legacy @read");
    spec.classification = Classification::Safe;
    let classified = desk.clone().but(|d| d.catalog = d.catalog.with(2, spec).unwrap());
    assert_eq!(classified.visible(), ["legacy"]);
    assert_eq!(desk.in_action("REQ-1").visible(), ["legacy"]);
}

/// V-06: what no state is called, and what is missing, is the most restrictive state.
#[test]
fn unknown_states_are_closed() {
    for unknown in ["", "action!", "ACTIVE", "null", "ＡＣＴＩＯＮ", "ACTION\0"] {
        assert_eq!(ExecutionState::parse_closed(unknown), ExecutionState::Request, "{unknown:?}");
    }
    assert_eq!(ExecutionState::parse_closed(" action "), ExecutionState::Action);
    assert_eq!(ExecutionState::parse_closed("Reasoning"), ExecutionState::Reasoning);
    let missing: Request = serde_json::from_str(r#"{"query": "x", "intent": "REQ-1"}"#).unwrap();
    assert_eq!(missing.state, ExecutionState::Request);
    assert!(serde_json::from_str::<Request>(r#"{"query": "x", "state": "ANYTHING"}"#).is_err(), "never ACTION");
}

const MIXED: &[&str] = &[
    "read_file SAFE @read path:file_path",
    "web_fetch SAFE @web url:url",
    "write_to_file DESTRUCTIVE @edit target!string body!string",
    "execute_command DESTRUCTIVE @command shell!string",
    "mcp_thing @command payload!object",
    "big_index DESTRUCTIVE @edit deferred rows!integer",
    "select_active_intent SAFE @modes intent_id!string",
];

/// V-09: before an intent, no name, description or schema text of a destructive or unclassified tool is in the prompt.
#[test]
fn prompts_before_an_intent_hold_nothing_destructive() {
    let desk = Desk::of(MIXED).asks("What changed? And what is next?");
    for (state, intent) in
        [(ExecutionState::Request, ""), (ExecutionState::Reasoning, "REQ-1"), (ExecutionState::Action, "")]
    {
        let desk = desk.clone().but(|d| {
            d.request.state = state;
            d.request.intent = intent.into();
        });
        let sent = serde_json::to_string(&desk.prompt()).unwrap();
        for spec in desk.catalog.specs() {
            let mut words = vec![spec.name.clone(), spec.description.clone()];
            for (argument, schema) in spec.properties().unwrap() {
                words.push(format!("\"{argument}\":"));
                words.push(schema["description"].as_str().unwrap().into());
            }
            for word in words {
                assert_eq!(sent.contains(&word), spec.classification.is_safe(), "{word} in {}", state.name());
            }
        }
    }
}

/// V-09: in ACTION every permitted tool stands in the prompt with its whole definition, and no other does.
#[test]
fn prompts_in_action_hold_every_permitted_tool() {
    let desk = Desk::of(MIXED).asks("What changed?").in_action("REQ-1").but(|d| {
        d.settings.modes = vec![Mode { name: "edit".into(), groups: names(&["read", "edit"]), ..Default::default() }];
        d.request.mode = "edit".into();
    });
    let prompt = desk.prompt();
    let sent: Vec<&str> = prompt.tools.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(sent, ["read_file", "write_to_file", "big_index", "select_active_intent"]);
    for definition in &prompt.tools {
        let spec = desk.catalog.spec(&definition.name).unwrap();
        assert_eq!((&definition.description, &definition.parameters), (&spec.description, &spec.parameters));
    }
}

/// V-09, D-06: a deferred tool is seen, and its schema waits while discovery is on.
#[test]
fn deferred_schemas_wait_for_discovery() {
    let desk = Desk::of(MIXED).asks("x").in_action("REQ-1").but(|d| d.settings.discovery.enabled = true);
    assert!(desk.visible().contains(&"big_index"));
    assert!(!serde_json::to_string(&desk.prompt()).unwrap().contains("big_index"));
    let viewer = desk.viewer();
    let verdict = viewer.trail(desk.catalog.spec("big_index").unwrap()).verdicts.pop().unwrap();
    assert_eq!((verdict.gate, verdict.outcome), (Gate::Loading, Outcome::Deferred));
}

/// V-09: guidance of hidden tools is hidden with them; the same line twice is sent once.
#[test]
fn guidance_travels_with_its_tool() {
    let guided = |line: &str, guidance: &[&str]| {
        let mut spec = tool(line);
        spec.guidance = names(guidance);
        spec
    };
    let desk = Desk::with_tools([
        guided("read_file SAFE path:file_path", &["Read before you answer.", "Quote paths."]),
        guided("grep SAFE text:query", &["Quote paths."]),
        guided("write_to_file DESTRUCTIVE", &["Write small files."]),
    ])
    .asks("x");
    let before = desk.prompt().system;
    assert_eq!(before.matches("Quote paths.").count(), 1);
    assert!(before.contains("Read before you answer.") && !before.contains("Write small files."));
    assert!(desk.in_action("REQ-1").prompt().system.contains("Write small files."));
}

/// V-10: what is saved is what the hidden tools cost, for every state, whatever the request's own state is.
#[test]
fn savings_add_up() {
    let desk = Desk::of(BUILD_TOOLS).asks("x").but(|d| d.settings.policy.denied = names(&["execute_command"]));
    let report = desk.plan_offline().tokens;
    let cost = |name: &str| {
        let spec = desk.catalog.spec(name).unwrap();
        let texts = [spec.name.clone(), spec.description.clone(), spec.parameters.to_string()];
        texts.iter().map(|t| t.chars().count() as u32).sum::<u32>()
    };
    let (read, write, command, select) =
        (cost("read_file"), cost("write_to_file"), cost("execute_command"), cost("select_active_intent"));
    let of: Vec<_> = report
        .states
        .iter()
        .map(|s| (s.state.name(), s.full_tools, s.visible_tools, s.full, s.visible, s.saved))
        .collect();
    let full = read + write + command + select;
    assert_eq!(
        of,
        [
            ("REQUEST", 4, 2, full, read + select, write + command),
            ("REASONING", 4, 2, full, read + select, write + command),
            ("ACTION", 4, 3, full, read + write + select, command),
        ]
    );
    assert_eq!((report.encoding.as_str(), report.exact), ("letters", false));
    let ranked: Vec<u32> = report.tools.iter().map(|t| t.total).collect();
    assert!(ranked.is_sorted_by(|a, b| a >= b), "largest first: {ranked:?}");
    assert!(report.tools.iter().all(|t| t.total == t.cost.total()));
}

/// V-10, SC-003: with a real tokenizer, the definitions sent before an intent cost less than those of ACTION.
#[test]
fn a_real_tokenizer_shows_the_saving() {
    let counter = Tiktoken::named("o200k_base");
    let tokens = |desk: &Desk| {
        toolplan_engine::ports::TokenCounter::count(&counter, &serde_json::to_string(&desk.prompt().tools).unwrap())
    };
    let desk = Desk::of(BUILD_TOOLS).asks("x");
    let before = tokens(&desk);
    let after = tokens(&desk.in_action("REQ-1"));
    assert!(before > 0 && before < after, "{before} of {after}");
}

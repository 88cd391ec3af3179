//! The session's states and its intent (V-04, V-08), and the weaknesses of the handshake that it does not have.

use crate::desk::Desk;
use expect_test::{Expect, expect};
use toolplan_engine::{
    request::ExecutionState,
    run::FaultRule,
    session::{Actor, MAX_LOG, SessionEvent, SessionState, deadlocks},
    settings::{Intent, IntentStatus, Mode, OnMessage, Settings},
    tool::{Classification, ToolCall},
};

fn intent(id: &str, status: IntentStatus) -> Intent {
    Intent { id: id.into(), title: format!("Title of {id}"), status, ..Intent::default() }
}

fn settings() -> Settings {
    Settings {
        intents: vec![
            intent("REQ-1", IntentStatus::Open),
            intent("REQ-2", IntentStatus::Active),
            intent("REQ-done", IntentStatus::Completed),
            intent("REQ-gone", IntentStatus::Abandoned),
            intent("REQ-held", IntentStatus::Blocked),
        ],
        ..Settings::default()
    }
}

fn event(word: &str) -> SessionEvent {
    match word.split_once(':').unwrap_or((word, "")) {
        ("message", text) => SessionEvent::Message { text: text.into() },
        ("select", intent) => SessionEvent::SelectIntent { intent: intent.into(), by: Actor::Model },
        ("switch", intent) => SessionEvent::SwitchIntent { intent: intent.into() },
        ("reset", _) => SessionEvent::Reset,
        ("recover", _) => SessionEvent::Recover,
        other => panic!("{other:?} is no event"),
    }
}

fn after(words: &str, settings: &Settings) -> SessionState {
    let mut session = SessionState::new("test");
    for (at, word) in words.split_whitespace().enumerate() {
        let _ = session.on(event(word), settings, at as u64);
    }
    session
}

/// One line per event: the state and the intent after it, what was said, and what is offered again.
#[track_caller]
fn check(words: &str, settings: &Settings, expected: Expect) {
    let session = after(words, settings);
    let lines = session.log().iter().map(|t| {
        let hint = t.refused.as_ref().map(|p| format!(" [{}: {}]", p.code, p.hint)).unwrap_or_default();
        format!("{} {:?}: {}{hint}", t.to.name(), t.intent, t.text)
    });
    expected.assert_eq(&lines.collect::<Vec<_>>().join("\n"));
}

/// V-04, V-08, SYSTEMS 4.1: the whole way of a session, and every new message drops ACTION.
#[test]
fn a_session_goes_its_way() {
    check(
        "message:hello message:more select:REQ-1 message:next select:REQ-2 reset recover",
        &settings(),
        expect![[r#"
            REASONING "": A new message begins a request
            REASONING "": A new message; the state stays REASONING
            ACTION "REQ-1": REQ-1 is selected
            REASONING "": A new message begins a request; REQ-1 is cleared
            ACTION "REQ-2": REQ-2 is selected
            REQUEST "": Reset to REQUEST
            REASONING "": Recovered to REASONING"#]],
    );
}

/// V-08, W4-1: a selection in the wrong state changes nothing and says so.
#[test]
fn a_selection_belongs_to_reasoning() {
    check(
        "select:REQ-1 message:x select:REQ-1 select:REQ-2 switch:REQ-2 reset switch:REQ-1",
        &settings(),
        expect![[r#"
            REQUEST "": Refused: Cannot select intent in state REQUEST. Must be in REASONING state. [session.state: send a message first: it begins a request]
            REASONING "": A new message begins a request
            ACTION "REQ-1": REQ-1 is selected
            ACTION "REQ-1": Refused: Cannot select intent in state ACTION. Must be in REASONING state. [session.state: switch the intent by hand, or recover the session, and select it then]
            ACTION "REQ-2": REQ-2 instead of REQ-1, by way of REASONING
            REQUEST "": Reset to REQUEST
            REQUEST "": Refused: Cannot switch the intent in state REQUEST. None is selected. [session.state: select an intent in REASONING]"#]],
    );
}

/// V-08, SYSTEMS 4.1: unknown, completed, abandoned and blocked intents are refused, with those that are available.
#[test]
fn refused_intents_change_nothing() {
    check(
        "message:x select:REQ-none select:REQ-done select:REQ-gone select:REQ-held",
        &settings(),
        expect![[r#"
            REASONING "": A new message begins a request
            REASONING "": Refused: there is no intent called REQ-none [intent.unknown: available: REQ-1 (Title of REQ-1), REQ-2 (Title of REQ-2)]
            REASONING "": Refused: REQ-done is completed [intent.completed: available: REQ-1 (Title of REQ-1), REQ-2 (Title of REQ-2)]
            REASONING "": Refused: REQ-gone is abandoned [intent.abandoned: available: REQ-1 (Title of REQ-1), REQ-2 (Title of REQ-2)]
            REASONING "": Refused: REQ-held is blocked until a person unblocks it [intent.blocked: available: REQ-1 (Title of REQ-1), REQ-2 (Title of REQ-2)]"#]],
    );
    // A refused switch keeps the intent that was there.
    let session = after("message:x select:REQ-1 switch:REQ-held", &settings());
    assert_eq!((session.state(), session.intent()), (ExecutionState::Action, "REQ-1"));
}

/// SYSTEMS 4.2 (HookEngine.test): ids that are none, and ids that are.
#[test]
fn ids_have_a_form() {
    let ids =
        ["FIX-123", "12345", "", "REQ_", "req-123", "REQ-", "REQ-1 ", "REQ-123", "REQ-AUTH-01", "REQ-FEATURE-FLAG-99"];
    let settings = Settings { intents: ids.map(|id| intent(id, IntentStatus::Open)).into(), ..Settings::default() };
    let selected = ids.map(|id| {
        let mut session = after("message:x", &settings);
        let event = SessionEvent::SelectIntent { intent: id.into(), by: Actor::Person };
        let refused = session.on(event, &settings, 0).err();
        assert!(refused.as_ref().is_none_or(|p| p.code == "intent.id"), "{refused:?}");
        refused.is_none()
    });
    assert_eq!(selected, [false, false, false, false, false, false, false, true, true, true]);
    // The pattern is a setting; a broken one lets nothing pass.
    let mut own = settings.clone();
    own.session.intent_pattern = r"^\d+$".into();
    assert_eq!(after("message:x select:12345", &own).intent(), "12345");
    own.session.intent_pattern = "(".into();
    let broken = after("message:x select:12345", &own);
    assert_eq!(
        (broken.state(), broken.log()[1].refused.as_ref().unwrap().code.as_str()),
        (ExecutionState::Reasoning, "intent.pattern")
    );
    own.intents.clear();
    assert_eq!(own.check().unwrap_err().code, "settings.intent_pattern");
}

/// O-01, O-04, O-12: settings under which a run would stand still, or a chance that is none, are refused.
#[test]
fn settings_of_runs_are_checked() {
    let wrong = |edit: &dyn Fn(&mut Settings)| {
        let mut settings = Settings::default();
        edit(&mut settings);
        settings.check().unwrap_err().message
    };
    assert_eq!(wrong(&|s| s.run.parallel_limit = 0), "run.parallel_limit is 0");
    assert_eq!(wrong(&|s| s.run.timeout_ms = 0), "run.timeout_ms is 0");
    let fault = |p| FaultRule { probability: p, ..FaultRule::default() };
    assert_eq!(wrong(&|s| s.run.faults = vec![fault(1.0), fault(-0.5)]), "run.faults[1].probability is -0.5");
    assert_eq!(Settings::default().check(), Ok(()));
}

/// W4-6: a scope is judged by what it fits.
#[test]
fn a_broad_scope_is_no_intent() {
    let with = |scope: &[&str]| {
        let mut settings = settings();
        settings.intents[0].scope = scope.iter().map(|s| s.to_string()).collect();
        let session = after("message:x select:REQ-1", &settings);
        session.log()[1].refused.as_ref().map(|p| p.code.clone())
    };
    for broad in ["**/*", "./**/*", "app/**", "{src,lib}/**", "**/*.ts"] {
        assert_eq!(with(&[broad]).as_deref(), Some("intent.scope"), "{broad}");
    }
    assert_eq!(with(&["src/billing/**", "docs/billing.md"]), None);
}

/// V-08, W4-2: after a message the prompt names no intent while the catalog hides its tools, whichever the setting.
#[test]
fn a_new_message_leaves_no_contradiction() {
    for on_message in [OnMessage::Clear, OnMessage::Reconfirm] {
        let mut settings = settings();
        settings.session.on_message = on_message;
        let session = after("message:x select:REQ-1 message:y", &settings);
        assert_eq!((session.state(), session.intent()), (ExecutionState::Reasoning, ""));
        let offered = if on_message == OnMessage::Reconfirm { "REQ-1" } else { "" };
        assert_eq!(session.last_intent(), offered);
        let desk = Desk::of(&["read SAFE", "drop DESTRUCTIVE", "select_intent SAFE intent_id!string"]).asks("y");
        let desk = desk.but(|d| {
            d.settings = settings.clone();
            d.request = session.request(d.request.clone());
        });
        let prompt = desk.prompt();
        assert!(!prompt.system.contains("You work on"), "{}", prompt.system);
        assert_eq!(desk.visible(), ["read", "select_intent"]);
        assert_eq!(session.trouble(&settings), None);
    }
}

/// W4-1, source 004 edge case: a stuck session is named and recovered, whatever it was stored as.
#[test]
fn a_stuck_session_recovers() {
    let stored = |state: &str, intent: &str| -> SessionState {
        serde_json::from_value(serde_json::json!({"id": "old", "state": state, "intent": intent, "log": []})).unwrap()
    };
    let settings = settings();
    for (mut session, stuck) in [
        (stored("ACTION", ""), true),
        (stored("ACTION", "REQ-done"), true),
        (stored("REASONING", "REQ-1"), true),
        (stored("REQUEST", "REQ-1"), true),
        (stored("ACTION", "REQ-1"), false),
        (stored("REASONING", ""), false),
    ] {
        assert_eq!(session.trouble(&settings).is_some(), stuck, "{session:?}");
        session.on(SessionEvent::Recover, &settings, 0).unwrap();
        assert_eq!((session.state(), session.intent()), (ExecutionState::Reasoning, ""));
        session.on(event("select:REQ-2"), &settings, 0).unwrap();
        assert_eq!(session.trouble(&settings), None);
    }
}

/// V-08: an intent that is completed meanwhile hides the destructive tools at once.
#[test]
fn an_ended_intent_opens_nothing() {
    let desk = Desk::of(&["drop DESTRUCTIVE"]).asks("x").in_action("REQ-1").but(|d| d.settings = settings());
    assert_eq!(desk.visible(), ["drop"]);
    for status in [IntentStatus::Completed, IntentStatus::Abandoned, IntentStatus::Blocked] {
        assert_eq!(desk.clone().but(|d| d.settings.intents[0].status = status).visible(), [""; 0], "{status:?}");
    }
}

/// V-08: the log keeps its end and its numbers.
#[test]
fn the_log_is_bounded() {
    let settings = settings();
    let mut session = SessionState::new("long");
    for at in 0..MAX_LOG as u64 + 30 {
        let _ = session.on(event(if at % 2 == 0 { "message:x" } else { "select:nothing" }), &settings, at);
    }
    assert_eq!(session.log().len(), MAX_LOG);
    assert_eq!(session.log().first().unwrap().seq, 31);
    let numbers: Vec<u32> = session.log().iter().map(|t| t.seq).collect();
    assert!(numbers.windows(2).all(|w| w[0] + 1 == w[1]));
}

/// W4-8: a mode without the handshake, no SAFE tool, no intent: each is reported, and sound settings report nothing.
#[test]
fn deadlocks_are_reported() {
    let tools = &["read SAFE @read", "drop DESTRUCTIVE @edit", "select_intent SAFE @modes"];
    let codes = |desk: &Desk| -> Vec<String> {
        deadlocks(&desk.catalog, &desk.settings).into_iter().map(|p| format!("{}: {}", p.code, p.message)).collect()
    };
    let sound = Desk::of(tools).but(|d| d.settings.intents = vec![intent("REQ-1", IntentStatus::Open)]);
    assert_eq!(codes(&sound), [""; 0]);
    let edit = |name: &str, groups: &[&str]| Mode {
        name: name.into(),
        groups: groups.iter().map(|g| g.to_string()).collect(),
        ..Mode::default()
    };
    let no_safe = sound.clone().but(|d| d.settings.modes = vec![edit("write", &["edit"])]);
    assert_eq!(codes(&no_safe), ["session.nothing_safe: before an intent no tool is shown in the mode write"]);
    let denied = sound.clone().but(|d| d.settings.policy.denied = vec!["select_intent".into()]);
    assert_eq!(
        codes(&denied),
        ["session.no_handshake: a model cannot select an intent without a mode: select_intent: Denied by name"]
    );
    let missing = Desk::of(&tools[..2]).but(|d| d.settings.intents = vec![intent("REQ-1", IntentStatus::Open)]);
    assert_eq!(codes(&missing).len(), 1);
    let none = sound.but(|d| d.settings.intents[0].status = IntentStatus::Blocked);
    assert_eq!(codes(&none), ["session.no_intent: no intent can be selected, so destructive tools stay hidden"]);
}

/// W4-3: what is missing or unknown is closed, and no call site may say otherwise: a session that cannot be read is new.
#[test]
fn a_session_without_a_state_is_closed() {
    let session: SessionState = serde_json::from_str(r#"{"id": "x", "intent": "REQ-1"}"#).unwrap();
    assert_eq!(session.state(), ExecutionState::Request);
    assert!(serde_json::from_str::<SessionState>(r#"{"state": "ANYTHING"}"#).is_err());
}

/// W4-5: the classification belongs to the tool, so an alias neither hides a SAFE tool nor opens a list for another.
#[test]
fn aliases_narrow_and_never_widen() {
    let desk = Desk::of(&["read_file SAFE", "sneaky SAFE", "drop DESTRUCTIVE"]).asks("x").but(|d| {
        for (name, alias) in [("read_file", "cat"), ("sneaky", "read_file"), ("drop", "rm")] {
            let mut spec = d.catalog.spec(name).unwrap().clone();
            spec.aliases = vec![alias.into()];
            d.catalog = d.catalog.with(2, spec).unwrap();
        }
    });
    assert_eq!(desk.visible(), ["read_file", "sneaky"]);
    let allowed = desk.clone().but(|d| d.settings.policy.allowed = Some(vec!["read_file".into()]));
    assert_eq!(allowed.visible(), ["read_file"], "a tool cannot call itself onto the list");
    let denied = desk.clone().in_action("REQ-1").but(|d| d.settings.policy.denied = vec!["rm".into(), "cat".into()]);
    assert_eq!(denied.visible(), ["sneaky"]);
    let safe = desk.but(|d| {
        let mut spec = d.catalog.spec("drop").unwrap().clone();
        spec.classification = Classification::Safe;
        d.catalog = d.catalog.with(3, spec).unwrap();
    });
    assert!(safe.visible().contains(&"drop"), "a reclassification counts at once, with aliases and all");
}

/// V-01: lists take `*` at the end of a name, long lists and short ones alike.
#[test]
fn lists_take_prefixes() {
    let desk = Desk::of(&["fs_read SAFE", "fs_write SAFE", "web SAFE"]).asks("x");
    for filler in [0, 40] {
        let names = |first: &str| -> Vec<String> {
            std::iter::once(first.to_string()).chain((0..filler).map(|i| format!("other_{i}"))).collect()
        };
        assert_eq!(desk.clone().but(|d| d.settings.policy.denied = names("fs_*")).visible(), ["web"]);
        assert_eq!(
            desk.clone().but(|d| d.settings.policy.allowed = Some(names("fs_*"))).visible(),
            ["fs_read", "fs_write"]
        );
        assert_eq!(desk.clone().but(|d| d.settings.kill_switch = names("web")).visible(), ["fs_read", "fs_write"]);
    }
}

/// The runtime gate's word on each tool, in the order of the names.
fn gate(desk: &Desk, names: &[&str]) -> Vec<bool> {
    let call = |name: &&str| ToolCall { tool: name.to_string(), arguments: Default::default() };
    names.iter().map(|name| desk.guard().admit(&call(name)).is_ok()).collect()
}

/// SYSTEMS 4.2 (StateMachine.test, RelaxedHandshakeIntegration, spec 014): what the gate lets through in each state;
/// refusals are values that name the reason (W4-6).
#[test]
fn state_machine_conformance() {
    let tools = [
        "read_file SAFE",
        "list_files SAFE",
        "codebase_search SAFE",
        "attempt_completion SAFE",
        "select_active_intent SAFE",
        "write_to_file DESTRUCTIVE",
        "execute_command DESTRUCTIVE",
        "apply_diff DESTRUCTIVE",
        "unknown_tool",
        "mcp_read",
    ];
    let names: Vec<&str> = tools.iter().map(|line| line.split(' ').next().unwrap()).collect();
    let desk = Desk::of(&tools).asks("x");
    let safe: Vec<bool> = tools.iter().map(|line| line.ends_with(" SAFE")).collect();
    for state in [ExecutionState::Request, ExecutionState::Reasoning] {
        let desk = desk.clone().but(|d| d.request.state = state);
        assert_eq!(gate(&desk, &names), safe, "{}", state.name());
        let refusal = desk.guard().admit(&ToolCall { tool: "apply_diff".into(), arguments: Default::default() });
        assert!(refusal.unwrap_err().message.contains("DESTRUCTIVE until an intent is selected"));
    }
    assert_eq!(gate(&desk.clone().in_action("REQ-123"), &names), [true; 10]);
    // Research, selection, change: one session, the same tools.
    let mut session = after("message:x", &settings());
    let of = |session: &SessionState| {
        gate(&desk.clone().but(|d| d.request = session.request(d.request.clone())), &["read_file", "write_to_file"])
    };
    assert_eq!(of(&session), [true, false]);
    session.on(event("select:REQ-1"), &settings(), 1).unwrap();
    assert_eq!(of(&session), [true, true]);
    // A reclassification counts at once.
    let mut claimed = desk.catalog.spec("mcp_read").unwrap().clone();
    claimed.classification = Classification::Safe;
    let reclassified = desk.but(|d| d.catalog = d.catalog.with(2, claimed).unwrap());
    assert_eq!(gate(&reclassified, &["mcp_read"]), [true]);
}

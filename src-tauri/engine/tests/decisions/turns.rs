//! Several turns of one planning: the handshake of a model, and what each prompt holds (V-08, V-09).

use crate::desk::{BUILD_TOOLS, Desk, Letters, calls, says};
use serde_json::json;
use toolplan_engine::{
    discovery::Index,
    planning::Answer,
    request::{ExecutionState, Planner},
    select::Reply,
    settings::{Intent, IntentStatus, Mode},
    turns::{Dialogue, Next, TurnRecord},
};

fn desk() -> Desk {
    Desk::of(BUILD_TOOLS).asks("fix the login page").but(|d| {
        d.settings.intents = vec![
            Intent {
                id: "REQ-1".into(),
                title: "Fix the login".into(),
                constraints: vec!["keep the tests green".into()],
                scope: vec!["src/login/**".into()],
                acceptance: vec!["login works".into()],
                ..Intent::default()
            },
            Intent { id: "REQ-2".into(), status: IntentStatus::Blocked, ..Intent::default() },
        ];
    })
}

/// Asks with scripted replies until one is the proposal: a line per turn, then the state that is left.
fn converse(desk: &Desk, replies: &[Reply]) -> (Vec<String>, Vec<TurnRecord>, ExecutionState, String) {
    let index = Index::of(&desk.catalog);
    let mut dialogue = Dialogue::new(&desk.catalog, &index, &desk.settings, &Letters, &desk.request).unwrap();
    let mut lines = vec![];
    for reply in replies {
        let prompt = dialogue.prompt().unwrap();
        let offered: Vec<&str> = prompt.tools.iter().map(|t| t.name.as_str()).collect();
        let next = dialogue.take(&prompt, reply, None);
        let last = dialogue.records().last().unwrap();
        let answers: Vec<String> = last
            .calls
            .iter()
            .map(|c| match &c.result {
                Some(result) => format!("{}={}{result}", c.call.tool, if c.is_error { "!" } else { "" }),
                None => c.call.tool.clone(),
            })
            .collect();
        lines.push(format!("{} [{}] {}", last.state.name(), offered.join(" "), answers.join(" ")));
        if next == Next::Done {
            break;
        }
    }
    let request = dialogue.request().clone();
    (lines, dialogue.into_records(), request.state, request.intent)
}

fn selects(intent: &str) -> Reply {
    calls(&[("select_active_intent", json!({"intent_id": intent}))])
}

/// V-08, V-09: REASONING, a selection, ACTION; the destructive tools appear in the next turn and in no earlier one.
#[test]
fn a_selection_opens_the_next_turn() {
    let desk = desk();
    let write = calls(&[("write_to_file", json!({"path": "a", "content": "b"}))]);
    let (lines, records, state, intent) = converse(&desk, &[selects("REQ-1"), write]);
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with("REASONING [read_file select_active_intent] select_active_intent={"), "{}", lines[0]);
    for told in ["keep the tests green", "src/login/**", "login works", "\"state\":\"ACTION\""] {
        assert!(lines[0].contains(told), "{} lacks {told}", lines[0]);
    }
    assert_eq!(lines[1], "ACTION [read_file write_to_file execute_command select_active_intent] write_to_file");
    assert_eq!((state, intent.as_str()), (ExecutionState::Action, "REQ-1"));
    assert_eq!((records[0].state_after, records[0].tokens.extra), (ExecutionState::Action, true));
    assert!(records[1].tokens.carried > 0, "the second prompt repeats the first turn");
}

/// V-08: a refused selection changes nothing, and the model is told what it may select.
#[test]
fn a_refused_selection_is_answered() {
    let (lines, _, state, intent) =
        converse(&desk(), &[selects("REQ-2"), selects("REQ-9"), selects("nonsense"), selects("")]);
    assert_eq!((state, intent.as_str()), (ExecutionState::Reasoning, ""));
    assert_eq!(lines.len(), 4, "asked four times at most");
    assert!(lines[0].contains("blocked until a person") && lines[0].contains("available: REQ-1"), "{}", lines[0]);
    assert!(lines[1].contains("no intent called REQ-9"), "{}", lines[1]);
    assert!(lines.iter().all(|l| l.starts_with("REASONING [read_file select_active_intent]")), "{lines:?}");
    assert!(converse(&desk(), &[selects("nonsense")]).0[0].contains("is no id of an intent"));
}

/// V-07: in REQUEST a selection is refused, and one that the policy hides is no way around it.
#[test]
fn a_selection_needs_its_state_and_its_tool() {
    let request = desk().but(|d| d.request.state = ExecutionState::Request);
    let (lines, _, state, _) = converse(&request, &[selects("REQ-1")]);
    assert!(lines[0].contains("Cannot select intent in state REQUEST"), "{}", lines[0]);
    assert_eq!(state, ExecutionState::Request);
    let hidden = desk().but(|d| d.settings.policy.denied = vec!["select_active_intent".into()]);
    let (lines, _, state, _) = converse(&hidden, &[selects("REQ-1")]);
    assert!(lines[0].contains("Denied by name"), "{}", lines[0]);
    assert_eq!(state, ExecutionState::Reasoning);
    let destructive = Desk::of(&["select_intent DESTRUCTIVE intent_id!string", "drop DESTRUCTIVE"]).asks("x");
    let destructive = destructive.but(|d| d.settings.intents = desk().settings.intents);
    let selects = calls(&[("select_intent", json!({"intent_id": "REQ-1"}))]);
    assert_eq!(converse(&destructive, &[selects]).2, ExecutionState::Reasoning);
}

/// V-08: calls beside a selection wait; they were written without sight of the tools that it opens.
#[test]
fn other_calls_wait_for_the_next_turn() {
    let mixed = calls(&[
        ("select_active_intent", json!({"intent_id": "REQ-1"})),
        ("execute_command", json!({"command": "rm -rf /"})),
    ]);
    let (lines, records, ..) = converse(&desk(), &[mixed, says("nothing more")]);
    assert!(lines[0].contains("execute_command={\"status\":\"not run"), "{}", lines[0]);
    assert!(!records[0].tokens.extra, "the turn was not only a selection");
}

/// V-08: the number of turns is a setting, and discovery without an index is answered with an error.
#[test]
fn turns_end() {
    let desk = desk().but(|d| d.settings.planner.max_turns = 1);
    let (lines, _, state, _) = converse(&desk, &[selects("REQ-1"), says("never read")]);
    assert_eq!((lines.len(), state), (1, ExecutionState::Action));
    let search = calls(&[("tool_search", json!({"query": "x"}))]);
    let (lines, ..) = converse(&self::desk(), &[search, says("done")]);
    assert!(lines[0].contains("tool_search=!{"), "{}", lines[0]);
    assert_eq!(lines.len(), 2);
}

/// G-03: a model without a tool protocol selects by JSON; prose that only names the tool selects nothing.
#[test]
fn a_selection_may_be_json() {
    let json = says(r#"{"tool": "select_active_intent", "parameters": {"intent_id": "REQ-1"}}"#);
    assert_eq!(converse(&desk(), &[json, says("ok")]).2, ExecutionState::Action);
    let prose = says("I would call select_active_intent with REQ-1");
    assert_eq!(converse(&desk(), &[prose]).2, ExecutionState::Reasoning);
}

/// V-09, W4-2, W4-4: each prompt's every byte says of hidden tools nothing, and of the state what is so.
#[test]
fn every_prompt_agrees_with_its_catalog() {
    let desk = desk();
    let index = Index::of(&desk.catalog);
    let mut dialogue = Dialogue::new(&desk.catalog, &index, &desk.settings, &Letters, &desk.request).unwrap();
    let before = dialogue.prompt().unwrap();
    let sent = serde_json::to_string(&before).unwrap();
    for hidden in ["write_to_file", "execute_command", "the command that", "\"content\""] {
        assert!(!sent.contains(hidden), "{hidden}");
    }
    assert!(before.system.contains("No intent is selected") && before.system.contains("REQ-1: Fix the login"));
    assert!(!before.system.contains("REQ-2"), "a blocked intent is not offered");
    dialogue.take(&before, &selects("REQ-1"), None);
    let after = dialogue.prompt().unwrap();
    assert!(after.system.contains("You work on this intent:\n- REQ-1: Fix the login"), "{}", after.system);
    assert!(!after.system.contains("No intent is selected"));
    assert_eq!(after.turns.len(), 1);
    assert!(after.turns[0].calls[0].id.len() == 9 && after.turns[0].calls[0].id.is_ascii());
    let names: Vec<&str> = after.tools.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, desk.in_action("REQ-1").visible());
}

/// The model is told when there is no tool at all, and of the handshake only where there is one.
#[test]
fn a_prompt_says_what_applies() {
    let none = Desk::of(&["drop DESTRUCTIVE"]).asks("x");
    assert!(none.prompt().system.contains("No tools are available"));
    assert!(!none.prompt().system.contains("intent"));
    let plain = Desk::of(&["read SAFE"]).asks("x");
    assert!(!plain.prompt().system.contains("About the tools"));
    let by_hand = Desk::of(&["read SAFE"]).asks("x").in_action("REQ-7");
    assert!(by_hand.prompt().system.contains("You work on the intent REQ-7."));
}

/// W4-8: a mode may leave out what it likes, the handshake stays; the loop works inside a mode.
#[test]
fn a_mode_keeps_the_handshake() {
    let desk = desk().but(|d| {
        d.settings.modes = vec![Mode { name: "edit".into(), groups: vec!["edit".into()], ..Mode::default() }];
        d.request.mode = "edit".into();
    });
    let (lines, ..) = converse(&desk, &[selects("REQ-1"), says("ok")]);
    assert!(lines[0].starts_with("REASONING [select_active_intent]"), "{}", lines[0]);
    assert!(lines[1].starts_with("ACTION [write_to_file select_active_intent]"), "{}", lines[1]);
}

/// P-12: a reply that only selects is no plan: the offline planner answers, and says why.
#[test]
fn a_selection_is_no_step() {
    let desk = desk().but(|d| d.request.planner = Planner::Model);
    let reply = selects("REQ-1");
    let planning = desk.try_plan(Answer::Reply { reply: &reply, label: "m", model_ms: None }).unwrap();
    assert!(planning.plan.steps.iter().all(|s| s.tool != "select_active_intent"));
    assert!(planning.planner.fallback_reason.contains("only select_active_intent"), "{:?}", planning.planner);
    let both = calls(&[
        ("select_active_intent", json!({"intent_id": "REQ-1"})),
        ("read_file", json!({"file_path": "README.md"})),
    ]);
    let planning = desk.asks("show README.md").plan(&both);
    let tools: Vec<&str> = planning.plan.steps.iter().map(|s| s.tool.as_str()).collect();
    assert_eq!(tools, ["read_file"]);
    assert_eq!(planning.guard.calls[0].verdict.rule, "proposed.planning");
}

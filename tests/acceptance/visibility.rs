//! Proactive filtering: what is in the prompt in which state, on the very bytes that leave for a provider.

use crate::bench::{Bench, asking};
use toolplan_workbench::{
    adapters::models::{anthropic, openai},
    engine::{
        request::{ExecutionState, Request},
        tool::{Classification, ToolSpec},
    },
};

fn in_state(state: ExecutionState) -> Request {
    Request { state, intent: "REQ-DOCS-1".into(), ..asking("What is in the wiki?") }
}

/// The request bodies of both wire formats for a request.
fn bodies(bench: &Bench, request: &Request) -> [String; 2] {
    let prompt = bench.workbench.prompt(request).unwrap();
    [
        anthropic::body(&prompt, "claude-sonnet-4-6", 1024).to_string(),
        openai::body(&prompt, "gpt-4.1-mini", 1024).to_string(),
    ]
}

/// A text that only this tool's definition holds: its description as it stands in JSON.
fn signature(tool: &ToolSpec) -> String {
    serde_json::to_string(&tool.description).unwrap()
}

/// V-05, V-06, V-09 (SC-001): no prompt before an intent holds a destructive or unclassified tool, in any format.
#[tokio::test]
async fn nothing_destructive_is_in_a_prompt_before_an_intent() {
    let bench = Bench::sample().await;
    let tools = bench.workbench.tool_specs();
    let without_intent = Request { intent: String::new(), ..in_state(ExecutionState::Action) };
    let requests = [in_state(ExecutionState::Request), in_state(ExecutionState::Reasoning), without_intent];
    let mut looked_at = 0;
    for request in &requests {
        for body in bodies(&bench, request) {
            for tool in tools.iter().filter(|t| t.classification != Classification::Safe) {
                assert!(!body.contains(&format!("\"{}\"", tool.name)), "{} in {:?}", tool.name, request.state);
                assert!(!body.contains(&signature(tool)), "{} in {:?}", tool.name, request.state);
                looked_at += 1;
            }
            assert!(body.contains("\"select_intent\""), "the handshake tool is always there");
        }
    }
    assert!(looked_at >= 6 * 8);
}

/// V-05, V-09 (SC-002): every ACTION prompt holds every tool that the mode and the policy permit.
#[tokio::test]
async fn an_action_prompt_holds_every_permitted_tool() {
    let bench = Bench::sample().await;
    for mode in ["operator", "support"] {
        let request = Request { mode: mode.into(), ..in_state(ExecutionState::Action) };
        let rows = bench.workbench.catalog(&request, None).unwrap();
        let permitted: Vec<_> = rows.iter().filter(|r| r.visible).map(|r| r.name.clone()).collect();
        assert!(permitted.iter().any(|name| name == "jira_transition"), "{mode}");
        for body in bodies(&bench, &request) {
            for tool in bench.workbench.tool_specs() {
                assert_eq!(
                    body.contains(&signature(&tool)),
                    permitted.contains(&tool.name),
                    "{} in mode {mode}",
                    tool.name
                );
            }
        }
    }
}

/// V-10 (SC-003): the prompt before an intent is smaller by what the hidden tools cost.
#[tokio::test]
async fn hiding_saves_tokens() {
    let bench = Bench::sample().await;
    let view = bench.plan(asking("What is a tenant?")).await;
    let of = |state| view.planning.tokens.states.iter().find(|s| s.state == state).unwrap().clone();
    let (reasoning, action) = (of(ExecutionState::Reasoning), of(ExecutionState::Action));
    assert!(reasoning.visible < action.visible && reasoning.visible_tools < action.visible_tools);
    assert_eq!(reasoning.saved, reasoning.full - reasoning.visible);
    let listed: u32 = view.planning.tokens.tools.iter().filter(|t| t.visible).map(|t| t.total).sum();
    assert_eq!(listed, reasoning.visible, "the tools of the table add up to the prompt's");
    assert_eq!((view.planning.tokens.encoding.as_str(), view.planning.tokens.exact), ("o200k_base", false));
}

/// V-06: a new tool without a classification is hidden until somebody classifies it; the change takes effect at once.
#[tokio::test]
async fn an_unclassified_tool_waits_for_a_word() {
    let bench = Bench::sample().await;
    let request = in_state(ExecutionState::Reasoning);
    let visible =
        || bench.workbench.catalog(&request, None).unwrap().into_iter().find(|r| r.name == "tool_metrics").unwrap();
    assert_eq!(
        (visible().visible, visible().reason.as_str()),
        (false, "Hidden in REASONING: unclassified counts as destructive")
    );
    let mut spec = bench.workbench.tool_specs().into_iter().find(|t| t.name == "tool_metrics").unwrap();
    spec.classification = Classification::Safe;
    bench.workbench.save_tool(spec).unwrap();
    assert!(visible().visible);
}

/// V-02, V-03: tenants, flags, modes and the kill-switch narrow; an unknown mode is an error that names the modes.
#[tokio::test]
async fn sessions_and_modes_narrow() {
    let bench = Bench::sample().await;
    let names = |request: &Request| -> Vec<String> {
        bench.workbench.catalog(request, None).unwrap().into_iter().filter(|r| r.visible).map(|r| r.name).collect()
    };
    let all = names(&in_state(ExecutionState::Action));
    assert!(all.contains(&"send_email".to_string()) && !all.contains(&"queue_depth_history".to_string()));

    let mut harbour = in_state(ExecutionState::Action);
    harbour.session.tenant = "harbour".into();
    assert!(!names(&harbour).contains(&"send_email".to_string()));

    let mut beta = in_state(ExecutionState::Action);
    beta.session.flags = vec!["metrics-beta".into()];
    assert!(names(&beta).contains(&"queue_depth_history".to_string()));

    let docs = names(&Request { mode: "docs".into(), ..in_state(ExecutionState::Action) });
    assert!(docs.iter().all(|n| all.contains(n)) && !docs.contains(&"jira_fetch".to_string()));
    assert!(docs.contains(&"select_intent".to_string()));

    let mut settings = bench.workbench.info().settings;
    settings.kill_switch = vec!["vector_search".into()];
    bench.workbench.save_settings(settings).unwrap();
    assert!(!names(&in_state(ExecutionState::Action)).contains(&"vector_search".to_string()));

    let problem = bench.workbench.plan(Request { mode: "everything".into(), ..asking("x") }, None).await.unwrap_err();
    assert_eq!(problem.code, "mode.unknown");
    assert!(problem.hint.contains("operator"));
}

/// V-07, G-02: a hallucinated destructive call before an intent is a state violation; with an intent in ACTION it passes.
#[tokio::test]
async fn a_destructive_call_waits_for_an_intent() {
    let bench = Bench::sample().await;
    let text = r#"{"tool": "purge_dead_letters", "parameters": {"queue": "exports"}}"#;
    let call = |request: Request| bench.workbench.check_guard(request, text).unwrap().calls.remove(0);
    let refused = call(in_state(ExecutionState::Reasoning));
    assert!(!refused.goes_on() && refused.verdict.reason.starts_with("State violation"), "{}", refused.verdict.reason);
    assert!(call(in_state(ExecutionState::Action)).goes_on());
}

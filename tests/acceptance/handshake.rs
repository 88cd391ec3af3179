//! A model selects an intent while it plans: real HTTP servers on loopback, turn by turn, in both wire formats.

use crate::bench::{Bench, asking, stages};
use axum::{Router, body::Bytes, extract::State, response::IntoResponse, routing::post};
use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};
use toolplan_workbench::engine::{
    request::{ExecutionState, Planner, Request},
    run::RunOutcome,
    session::SessionEvent,
    tool::{Classification, ToolSpec},
};

/// A provider that gives its replies in their order, the last one for ever, and remembers the bytes that it was sent.
#[derive(Clone)]
struct Provider {
    url: String,
    replies: Arc<Mutex<VecDeque<(Value, Duration)>>>,
    sent: Arc<Mutex<Vec<String>>>,
}

async fn answer(State(provider): State<Provider>, body: Bytes) -> impl IntoResponse {
    provider.sent.lock().unwrap().push(String::from_utf8(body.to_vec()).unwrap());
    let (reply, delay) = {
        let mut replies = provider.replies.lock().unwrap();
        if replies.len() > 1 { replies.pop_front().unwrap() } else { replies[0].clone() }
    };
    tokio::time::sleep(delay).await;
    ([("content-type", "application/json")], reply.to_string())
}

#[derive(Clone, Copy, PartialEq)]
enum Wire {
    Anthropic,
    OpenAi,
}

impl Wire {
    /// A reply that makes these calls, in the provider's form.
    fn calls(self, calls: &[(&str, Value)]) -> Value {
        match self {
            Self::Anthropic => {
                let blocks = calls.iter().enumerate().map(|(i, (name, input))| {
                    json!({"type": "tool_use", "id": format!("toolu_{i}"), "name": name, "input": input})
                });
                json!({"type": "message", "role": "assistant", "stop_reason": "tool_use",
                    "content": blocks.collect::<Vec<_>>()})
            }
            Self::OpenAi => {
                let calls = calls.iter().enumerate().map(|(i, (name, arguments))| {
                    json!({"id": format!("c{i}"), "type": "function",
                        "function": {"name": name, "arguments": arguments.to_string()}})
                });
                json!({"choices": [{"finish_reason": "tool_calls", "message":
                    {"role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>()}}]})
            }
        }
    }

    async fn bench(self, replies: Vec<Value>) -> (Bench, Provider) {
        self.delayed(replies.into_iter().map(|reply| (reply, Duration::ZERO)).collect()).await
    }

    async fn delayed(self, replies: Vec<(Value, Duration)>) -> (Bench, Provider) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let provider = Provider { url, replies: Arc::new(Mutex::new(replies.into())), sent: Arc::default() };
        let path = if self == Self::Anthropic { "/v1/messages" } else { "/v1/chat/completions" };
        let router = Router::new().route(path, post(answer)).with_state(provider.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let base = format!("{}/v1", provider.url);
        let bench = match self {
            Self::Anthropic => Bench::with(&[("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", &provider.url)]).await,
            Self::OpenAi => {
                let variables =
                    [("OPENAI_BASE_URL", base.as_str()), ("OPENAI_API_KEY", "k"), ("TOOL_PLANNER_MODEL", "m")];
                Bench::with(&variables).await
            }
        };
        (bench, provider)
    }
}

fn by_model(query: &str) -> Request {
    Request { planner: Planner::Model, ..asking(query) }
}

/// Texts that only this tool's definition holds.
fn signature(tool: &ToolSpec) -> String {
    serde_json::to_string(&tool.description).unwrap()
}

fn is_hidden(tool: &ToolSpec) -> bool {
    tool.classification != Classification::Safe
}

const SELECT: (&str, &str) = ("select_intent", "REQ-OPS-2");

/// V-08, V-09 (SC-001, SC-002, SC-004): before the selection no byte of a destructive definition is sent, after it
/// every permitted one is; the turns travel in each provider's own form, and the plan can run.
#[tokio::test]
async fn a_selection_opens_the_next_request() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let select = wire.calls(&[(SELECT.0, json!({"intent_id": SELECT.1}))]);
        let purge = wire.calls(&[("purge_dead_letters", json!({"queue": "exports"}))]);
        let (bench, provider) = wire.bench(vec![select, purge]).await;
        let view = bench.plan(by_model("Purge the dead letters of the queue exports")).await;
        let sent = provider.sent.lock().unwrap().clone();
        assert_eq!(sent.len(), 2, "{:?}", view.planning.planner);
        let tools = bench.workbench.tool_specs();
        let after = Request { state: ExecutionState::Action, intent: SELECT.1.into(), ..asking("x") };
        let rows = bench.workbench.catalog(&after, None).unwrap();
        let permitted = |name: &str| rows.iter().any(|r| r.name == name && r.visible);
        let (mut omitted, mut opened) = (0, 0);
        for tool in &tools {
            if is_hidden(tool) {
                assert!(!sent[0].contains(&signature(tool)), "{} before the selection", tool.name);
                assert!(!sent[0].contains(&format!("\"{}\"", tool.name)), "{} before the selection", tool.name);
                omitted += 1;
                opened += usize::from(permitted(&tool.name));
            }
            assert_eq!(sent[1].contains(&signature(tool)), permitted(&tool.name), "{} after it", tool.name);
        }
        assert!(omitted >= 8 && opened >= 7, "{omitted} {opened}");
        let body: Value = serde_json::from_str(&sent[1]).unwrap();
        let messages = body["messages"].as_array().unwrap();
        let told = match wire {
            Wire::Anthropic => {
                assert_eq!(messages.len(), 3);
                let (call, result) = (&messages[1]["content"][0], &messages[2]["content"][0]);
                assert_eq!((&call["type"], &result["type"]), (&json!("tool_use"), &json!("tool_result")));
                assert_eq!(call["id"], result["tool_use_id"]);
                assert_eq!(call["input"], json!({"intent_id": SELECT.1}));
                result["content"].as_str().unwrap().to_string()
            }
            Wire::OpenAi => {
                assert_eq!(messages.len(), 4, "system, user, assistant, tool");
                let call = &messages[2]["tool_calls"][0];
                assert_eq!((&messages[3]["role"], &messages[3]["tool_call_id"]), (&json!("tool"), &call["id"]));
                assert_eq!(call["function"]["arguments"], json!({"intent_id": SELECT.1}).to_string());
                messages[3]["content"].as_str().unwrap().to_string()
            }
        };
        assert!(told.contains("\"state\":\"ACTION\""), "{told}");
        // What was decided stands in the planning, and the plan runs in the state that the model opened.
        let planning = &view.planning;
        assert_eq!((planning.request.state, planning.request.intent.as_str()), (ExecutionState::Action, SELECT.1));
        assert_eq!(stages(&view), [["purge_dead_letters"]]);
        assert_eq!(planning.turns.len(), 2);
        let first = &planning.turns[0];
        assert_eq!((first.state, first.state_after), (ExecutionState::Reasoning, ExecutionState::Action));
        assert!(first.visible < planning.turns[1].visible && first.tokens.extra);
        let savings = bench.workbench.token_savings(view.id).unwrap();
        assert_eq!((savings.rows.len(), savings.exact), (2, false));
        assert!((savings.net - (savings.gross - savings.overhead)).abs() < 1e-6 && savings.rows[1].searches > 0.0);
        let run = bench.workbench.start_run(view.id).await.unwrap();
        bench.workbench.wait_run(run).await.unwrap();
        let detail = bench.workbench.open_run(run).unwrap();
        assert_eq!(detail.summary.outcome, Some(RunOutcome::Succeeded));
        assert_eq!(detail.state.planning.unwrap().turns.len(), 2, "the turns are in the run's journal");
    }
}

/// S-02, V-07: a model that calls a destructive tool without a selection, or with a refused one, gets none into a plan.
#[tokio::test]
async fn without_a_selection_nothing_destructive_is_planned() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let purge = ("purge_dead_letters", json!({"queue": "exports"}));
        for select in [None, Some("REQ-NOBODY"), Some("ACTION"), Some("")] {
            let mut replies = vec![];
            if let Some(intent) = select {
                replies.push(wire.calls(&[(SELECT.0, json!({"intent_id": intent})), purge.clone()]));
            }
            replies.push(wire.calls(std::slice::from_ref(&purge)));
            let (bench, provider) = wire.bench(replies).await;
            let view = bench.plan(by_model("Purge the dead letters of exports")).await;
            assert!(view.planning.plan.steps.iter().all(|s| s.tool != "purge_dead_letters"), "{select:?}");
            assert_eq!(view.planning.request.state, ExecutionState::Reasoning);
            let hidden: Vec<ToolSpec> = bench.workbench.tool_specs().into_iter().filter(is_hidden).collect();
            for body in provider.sent.lock().unwrap().iter() {
                assert!(hidden.iter().all(|tool| !body.contains(&signature(tool))), "{select:?}");
            }
            let refusal = &view.planning.guard.calls[0].verdict;
            assert!(refusal.reason.starts_with("State violation"), "{}", refusal.reason);
        }
    }
}

/// P-11, V-08: every turn has the whole time; one that is late gives way to the offline planner in the state of before.
#[tokio::test]
async fn a_late_second_turn_falls_back_closed() {
    let wire = Wire::Anthropic;
    let select = wire.calls(&[(SELECT.0, json!({"intent_id": SELECT.1}))]);
    let (bench, _provider) =
        wire.delayed(vec![(select, Duration::from_millis(300)), (wire.calls(&[]), Duration::from_secs(20))]).await;
    let mut settings = bench.workbench.info().settings;
    settings.planner.timeout_ms = 500;
    bench.workbench.save_settings(settings).unwrap();
    let view = bench.plan(by_model("Purge the dead letters of exports")).await;
    assert!(view.planning.planner.fallback_reason.contains("within 500 ms"), "{:?}", view.planning.planner);
    assert_eq!((view.planning.request.state, view.planning.request.intent.as_str()), (ExecutionState::Reasoning, ""));
    assert_eq!(view.planning.turns.len(), 1, "what was said is shown");
}

/// P-03: the number of turns is a setting, and a model that never stops selecting ends there.
#[tokio::test]
async fn turns_end() {
    let wire = Wire::OpenAi;
    let (bench, provider) = wire.bench(vec![wire.calls(&[("select_intent", json!({"intent_id": "nobody"}))])]).await;
    let view = bench.plan(by_model("What is a tenant?")).await;
    assert_eq!((provider.sent.lock().unwrap().len(), view.planning.turns.len()), (4, 4));
    assert!(view.planning.planner.fallback_reason.contains("only select_intent"), "{:?}", view.planning.planner);
    assert_eq!(stages(&view), [["vector_search"]], "planned offline instead");
}

/// K-05: an edit plans again with all turns of then and asks nobody.
#[tokio::test]
async fn an_edit_replays_every_turn() {
    let wire = Wire::OpenAi;
    let select = wire.calls(&[(SELECT.0, json!({"intent_id": SELECT.1}))]);
    let purge = wire.calls(&[("purge_dead_letters", json!({"queue": "exports"}))]);
    let (bench, provider) = wire.bench(vec![select, purge]).await;
    let request = by_model("Purge the dead letters of exports");
    let before = bench.plan(request.clone()).await;
    let mut settings = bench.workbench.info().settings;
    settings.intents.iter_mut().for_each(|i| i.status = toolplan_workbench::engine::settings::IntentStatus::Blocked);
    bench.workbench.save_settings(settings).unwrap();
    let after = bench.workbench.plan(request, Some(before.id)).await.unwrap();
    assert_eq!(provider.sent.lock().unwrap().len(), 2, "nobody is asked again");
    assert_eq!(
        (stages(&before).len(), after.planning.plan.steps.len()),
        (1, 0),
        "the blocked intent opens nothing now"
    );
    assert_eq!(after.planning.turns.len(), 2);
}

/// V-08: planning inside a session: the model's selection moves the session, and a message closes it again.
#[tokio::test]
async fn a_model_moves_its_session() {
    let wire = Wire::Anthropic;
    let select = wire.calls(&[(SELECT.0, json!({"intent_id": SELECT.1}))]);
    let purge = wire.calls(&[("purge_dead_letters", json!({"queue": "exports"}))]);
    let (bench, _provider) = wire.bench(vec![select, purge]).await;
    let workbench = &bench.workbench;
    let message = || SessionEvent::Message { text: "Purge exports".into() };
    workbench.session_event("main", message()).unwrap();
    let done = workbench.plan_in_session("main", by_model("Purge the dead letters of exports"), None).await.unwrap();
    assert_eq!((done.session.session.state(), done.session.session.intent()), (ExecutionState::Action, SELECT.1));
    assert_eq!(done.session.session.log().len(), 2);
    let next = workbench.session_event("main", message()).unwrap().session;
    assert_eq!((next.state(), next.intent()), (ExecutionState::Reasoning, ""));
    let other = workbench.session("other").unwrap().session;
    assert_eq!((other.state(), other.log().len()), (ExecutionState::Request, 0), "sessions do not mix");
}

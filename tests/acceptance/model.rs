//! Planning with a model: real HTTP servers on loopback that speak the providers' protocols.

use crate::bench::{Bench, asking, stages, suggesting};
use axum::{Router, body::Bytes, extract::State, http::HeaderMap, response::IntoResponse, routing::post};
use serde_json::{Value, json};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use toolplan_workbench::engine::{
    request::{Planner, Request},
    select::ReplyPath,
    tool::Classification,
};

/// A provider on loopback that answers everything with one body and remembers what it was sent.
pub struct Provider {
    url: String,
    pub sent: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
}

#[derive(Clone)]
struct Script {
    answer: String,
    delay: Duration,
    sent: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
}

async fn answer(State(script): State<Script>, headers: HeaderMap, body: Bytes) -> impl IntoResponse {
    script.sent.lock().unwrap().push((headers, serde_json::from_slice(&body).unwrap()));
    tokio::time::sleep(script.delay).await;
    ([("content-type", "application/json")], script.answer)
}

impl Provider {
    async fn start(path: &str, reply: Value, delay: Duration) -> Self {
        let sent = Arc::new(Mutex::new(vec![]));
        let script = Script { answer: reply.to_string(), delay, sent: sent.clone() };
        let router = Router::new().route(path, post(answer)).with_state(script);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, sent }
    }

    /// Chat Completions with one text.
    pub async fn saying(text: &str, delay: Duration) -> Self {
        let reply = json!({"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]});
        Self::start("/v1/chat/completions", reply, delay).await
    }

    pub async fn bench(&self) -> Bench {
        let base = format!("{}/v1", self.url);
        Bench::with(&[
            ("OPENAI_BASE_URL", &base),
            ("OPENAI_API_KEY", "sk-secret"),
            ("TOOL_PLANNER_MODEL", "test-model"),
            ("TOOL_PLANNER_TEMPERATURE", "0.1"),
        ])
        .await
    }
}

fn by_model(request: Request) -> Request {
    Request { planner: Planner::Model, ..request }
}

/// P-03, G-03, V-09: the model is asked with the visible tools only; its native calls become a plan.
#[tokio::test]
async fn native_calls_become_a_plan() {
    let call = json!({"id": "c1", "type": "function", "function": {"name": "jira_fetch", "arguments": "{\"issue_key\":\"TIDE-42\"}"}});
    let reply = json!({"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    let provider = Provider::start("/v1/chat/completions", reply, Duration::ZERO).await;
    let bench = provider.bench().await;
    let view = bench.plan(by_model(asking("What is TIDE-42 about?"))).await;
    assert_eq!((view.planning.guard.path, stages(&view)), (ReplyPath::Native, vec![vec!["jira_fetch".to_string()]]));
    assert_eq!(view.planning.planner.label, "openai/test-model");
    let (headers, body) = provider.sent.lock().unwrap()[0].clone();
    assert_eq!(headers["authorization"], "Bearer sk-secret");
    assert!((body["temperature"].as_f64().unwrap() - 0.1).abs() < 1e-6, "the environment sets the temperature");
    let text = body.to_string();
    assert!(text.contains("\"vector_search\"") && !text.contains("purge_dead_letters"), "only visible tools are sent");
    let planning = serde_json::to_string(&view.planning).unwrap();
    assert!(!planning.contains("sk-secret"), "S-01: the key is nowhere in what is stored");
}

/// P-03: the Messages API of Anthropic.
#[tokio::test]
async fn anthropic_answers_too() {
    let reply = json!({"id": "m", "type": "message", "role": "assistant", "stop_reason": "tool_use", "usage": {"input_tokens": 9, "output_tokens": 3},
        "content": [{"type": "text", "text": "I look it up."}, {"type": "tool_use", "id": "t", "name": "vector_search", "input": {"query": "tenants"}}]});
    let provider = Provider::start("/v1/messages", reply, Duration::ZERO).await;
    let bench = Bench::with(&[("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", &provider.url)]).await;
    let view = bench.plan(by_model(asking("What is a tenant?"))).await;
    assert_eq!(view.planning.guard.path, ReplyPath::Native, "{:?}", view.planning.planner);
    assert_eq!(view.planning.plan.steps[0].arguments["query"], "tenants");
}

/// G-02, G-03: prose goes through the same guard and the same whitelist.
#[tokio::test]
async fn prose_is_guarded() {
    let provider =
        Provider::saying("grep_search, vector_search, jira_fetch, web_fetch: all of them!", Duration::ZERO).await;
    let bench = provider.bench().await;
    let view = bench.plan(by_model(suggesting("What is a tenant?", &["vector_search"]))).await;
    assert_eq!(
        (view.planning.guard.path, stages(&view)),
        (ReplyPath::FreeText, vec![vec!["vector_search".to_string()]])
    );
}

/// P-11: a model that does not answer in time gives way to the offline planner, and the reason is shown.
#[tokio::test]
async fn a_slow_model_gives_way() {
    let provider = Provider::saying("too late", Duration::from_secs(30)).await;
    let bench = provider.bench().await;
    let mut settings = bench.workbench.info().settings;
    assert_eq!(settings.planner.timeout_ms, 2000, "the default of source 001");
    settings.planner.timeout_ms = 100;
    bench.workbench.save_settings(settings).unwrap();
    let view = bench.plan(by_model(asking("What is a tenant?"))).await;
    assert_eq!((view.planning.planner.used, view.planning.guard.path), (Planner::Offline, ReplyPath::Fallback));
    assert!(view.planning.planner.fallback_reason.contains("within 100 ms"), "{:?}", view.planning.planner);
    assert_eq!(stages(&view), [["vector_search"]]);
}

/// P-03, S-03: no server, a server that refuses, a reply without sense: planned offline, with the reason.
#[tokio::test]
async fn a_broken_model_gives_way() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let base = format!("http://127.0.0.1:{port}/v1");
    let bench = Bench::with(&[("OPENAI_BASE_URL", &base), ("TOOL_PLANNER_MODEL", "m")]).await;
    let view = bench.plan(by_model(asking("What is a tenant?"))).await;
    assert_eq!(view.planning.guard.path, ReplyPath::Fallback);
    assert!(view.planning.planner.fallback_reason.contains("127.0.0.1"), "{:?}", view.planning.planner);

    let odd = Provider::start("/v1/chat/completions", json!({"surprise": true}), Duration::ZERO).await;
    let view = odd.bench().await.plan(by_model(asking("What is a tenant?"))).await;
    assert_eq!(view.planning.guard.path, ReplyPath::Fallback, "{:?}", view.planning.planner);
    assert!(!view.planning.planner.fallback_reason.is_empty());
}

/// P-04: without a provider the offline planner is the default and says so.
#[tokio::test]
async fn without_a_provider_the_window_says_so() {
    let bench = Bench::sample().await;
    let provider = bench.workbench.info().provider;
    assert!(!provider.configured && provider.note.contains("offline planner"));
    let view = bench.plan(by_model(asking("What is a tenant?"))).await;
    assert_eq!(view.planning.planner.fallback_reason, "no model is configured");
}

/// K-05: an edit replans with the reply of then; the same request without an edit, or another context, asks again.
#[tokio::test]
async fn an_edit_does_not_ask_again() {
    let provider = Provider::saying("vector_search and grep_search", Duration::ZERO).await;
    let bench = provider.bench().await;
    let asked = || provider.sent.lock().unwrap().len();
    let request = by_model(asking("What is a tenant?"));
    let before = bench.plan(request.clone()).await;
    let mut spec = bench.workbench.tool_specs().into_iter().find(|t| t.name == "grep_search").unwrap();
    spec.classification = Classification::Destructive;
    bench.workbench.save_tool(spec).unwrap();
    let after = bench.workbench.plan(request.clone(), Some(before.id)).await.unwrap();
    assert_eq!((stages(&after), asked()), (vec![vec!["vector_search".to_string()]], 1));
    let again = bench.workbench.plan(request.clone(), Some(after.id)).await.unwrap();
    assert_eq!(asked(), 2, "planned again on purpose");
    let elsewhere = Request { mode: "docs".into(), ..request };
    bench.workbench.plan(elsewhere, Some(again.id)).await.unwrap();
    assert_eq!(asked(), 3, "another mode offers other tools");
}

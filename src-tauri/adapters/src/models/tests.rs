//! The providers against real HTTP servers on loopback, which keep what they were sent.

mod anthropic;
mod config;
mod failures;
mod names;
mod openai;
mod scripted;
mod sse;
mod turns;

use super::{Provider, ProviderConfig, Secret};
use axum::{
    Router,
    body::{Body, Bytes},
    extract::ConnectInfo,
    http::HeaderMap,
    response::Response,
};
use futures::StreamExt;
use serde_json::{Value, json};
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};
use toolplan_engine::{
    Problem,
    ports::ChatModel,
    request::{Decomposition, Request},
    select::{Prompt, Reply, ToolDefinition, prompt},
    tool::{Catalog, ToolSpec},
};
use url::Url;

pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

/// One request as it arrived.
#[derive(Clone)]
pub(crate) struct Seen {
    peer: SocketAddr,
    path: String,
    headers: HeaderMap,
    body: Bytes,
}

impl Seen {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// A server that gives every request the same answer.
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    pub(crate) async fn start(answer: impl Fn() -> Response + Clone + Send + Sync + 'static) -> Self {
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let keep = seen.clone();
        let app = Router::new().fallback(move |request: axum::extract::Request| async move {
            let (parts, body) = request.into_parts();
            let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().unwrap().0;
            let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
            keep.lock().unwrap().push(Seen { peer, path: parts.uri.path().to_owned(), headers: parts.headers, body });
            answer()
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(
            async move { axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await },
        );
        Self { url, seen }
    }

    /// The only request so far.
    fn only(&self) -> Seen {
        let seen = self.seen.lock().unwrap();
        assert_eq!(seen.len(), 1, "exactly one request: nothing is retried");
        seen[0].clone()
    }
}

/// A response with this status and body.
pub(crate) fn plain(status: u16, content_type: &str, body: impl Into<Body>) -> Response {
    Response::builder().status(status).header("content-type", content_type).body(body.into()).unwrap()
}

/// An event stream that arrives in pieces of `size` bytes, each in an HTTP chunk of its own.
fn stream(text: &str, size: usize) -> Response {
    let pieces: Vec<Vec<u8>> = text.as_bytes().chunks(size).map(<[u8]>::to_vec).collect();
    let pieces = futures::stream::iter(pieces).then(|piece| async move {
        tokio::task::yield_now().await;
        Ok::<_, std::convert::Infallible>(piece)
    });
    plain(200, "text/event-stream", Body::from_stream(pieces))
}

fn config(provider: Provider, url: &str) -> ProviderConfig {
    ProviderConfig {
        provider,
        model: "test-model".into(),
        base_url: Url::parse(url).unwrap(),
        key: (provider != Provider::Ollama).then(|| Secret::new(KEY)),
        temperature: None,
        max_tokens: 500,
    }
}

pub(crate) fn model(provider: Provider, url: &str) -> Arc<dyn ChatModel> {
    config(provider, url).build().unwrap()
}

/// Asks `provider` at a server that answers so.
async fn ask(
    provider: Provider,
    answer: impl Fn() -> Response + Clone + Send + Sync + 'static,
) -> Result<Reply, Problem> {
    let server = Server::start(answer).await;
    let result = model(provider, &server.url).complete(&sample()).await;
    if let Err(problem) = &result {
        assert_silent(problem);
    }
    result
}

/// No error shows the key, nor a piece of it.
fn assert_silent(problem: &Problem) {
    let shown = format!("{problem} {problem:?}");
    assert!(!shown.contains(&KEY[..10]) && !shown.contains("0123456789"), "the key is in {shown}");
}

/// A prompt with one safe name and one that no provider accepts.
fn sample() -> Prompt {
    let tool = |name: &str| ToolDefinition {
        name: name.into(),
        description: format!("About {name}"),
        parameters: json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}),
    };
    Prompt {
        system: "You choose tools.".into(),
        user: "Query: where is Köln?\nQuery type: SimpleLookup\n".into(),
        tools: vec![tool("vector_search"), tool("fs.read/文件")],
        temperature: 0.3,
        turns: vec![],
    }
}

/// The engine's own prompt for a catalog of which only some tools are visible.
fn engine_prompt(visible: &[&str]) -> Prompt {
    let spec = |name: &str| ToolSpec {
        name: name.into(),
        description: format!("Describes {name}"),
        guidance: vec![format!("Guidance of {name}.")],
        ..ToolSpec::default()
    };
    let (catalog, problems) = Catalog::new(1, ["find", "read.page", "delete_everything", "drop.table"].map(spec));
    assert!(problems.is_empty());
    let entries: Vec<_> = visible.iter().map(|name| catalog.get(name).unwrap()).collect();
    let request = Request { query: "tidy up".into(), ..Request::default() };
    prompt::build(&request, &Decomposition::default(), &entries, "", 0.3)
}

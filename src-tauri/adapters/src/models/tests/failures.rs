//! What goes wrong around a reply: connections, statuses, silence, size.

use super::{KEY, Server, ask, assert_silent, config, model, plain, sample, stream};
use crate::models::{Provider, ProviderConfig};
use axum::{body::Body, response::Response};
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use toolplan_engine::Problem;

/// The problem of a status, for both protocols, as `code: message without the port (hint)`.
async fn check(provider: Provider, answer: impl Fn() -> Response + Clone + Send + Sync + 'static, expected: &str) {
    let problem = ask(provider, answer).await.unwrap_err();
    assert_eq!(shown(&problem), expected);
}

fn shown(problem: &Problem) -> String {
    let (before, after) = problem.message.split_once("127.0.0.1:").expect("the message names the host");
    let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{}: {before}HOST{after} ({})", problem.code, problem.hint)
}

#[tokio::test]
async fn statuses() {
    let echo = || plain(401, "application/json", format!(r#"{{"error":{{"message":"Incorrect API key: {KEY}"}}}}"#));
    check(
        Provider::OpenAi,
        echo,
        "model.refused: openai at HOST: refused the key (HTTP 401 Unauthorized) \
         (check OPENAI_API_KEY, and that its account may use test-model)",
    )
    .await;
    let echo =
        || plain(403, "application/json", format!(r#"{{"type":"error","error":{{"message":"{KEY} may not"}}}}"#));
    check(
        Provider::Anthropic,
        echo,
        "model.refused: anthropic at HOST: refused the request (HTTP 403 Forbidden): [redacted] may not \
         (check ANTHROPIC_API_KEY, and that its account may use test-model)",
    )
    .await;
    check(
        Provider::Ollama,
        || plain(401, "text/plain", "who?"),
        "model.refused: ollama at HOST: wants a key (HTTP 401 Unauthorized) \
         (check OLLAMA_HOST: the server wants a key, and this provider sends none)",
    )
    .await;
    let limited = || {
        let mut response = plain(429, "application/json", r#"{"error":{"message":"slow down"}}"#);
        response.headers_mut().insert("retry-after", "12".parse().unwrap());
        response
    };
    check(
        Provider::Anthropic,
        limited,
        "model.rate_limited: anthropic at HOST: allows no more requests now (HTTP 429 Too Many Requests), try again \
         after 12 s: slow down (wait, or choose another TOOL_PLANNER_MODEL or TOOL_PLANNER_LLM)",
    )
    .await;
    check(
        Provider::OpenAi,
        || plain(500, "text/html", "<html>nginx</html>"),
        "model.server: openai at HOST: failed (HTTP 500 Internal Server Error) \
         (try again later, or choose another TOOL_PLANNER_LLM)",
    )
    .await;
    check(
        Provider::Anthropic,
        || {
            plain(
                529,
                "application/json",
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            )
        },
        "model.server: anthropic at HOST: failed (HTTP 529): Overloaded \
         (try again later, or choose another TOOL_PLANNER_LLM)",
    )
    .await;
    check(
        Provider::Ollama,
        || plain(404, "application/json", r#"{"error":{"message":"model 'test-model' not found"}}"#),
        "model.request: ollama at HOST: did not accept the request (HTTP 404 Not Found): model 'test-model' not found \
         (check TOOL_PLANNER_MODEL (now test-model) and OLLAMA_HOST)",
    )
    .await;
}

#[tokio::test]
async fn a_key_cut_off_by_the_length_of_a_message_is_hidden_too() {
    let answer = || plain(400, "text/plain", format!("{}{KEY}", "x".repeat(185)));
    let problem = ask(Provider::OpenAi, answer).await.unwrap_err();
    assert!(problem.message.ends_with("x[redacted]…"), "{problem}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = Server::start(|| plain(200, "text/plain", "")).await;
    let target = other.url.clone();
    let answer = move || Response::builder().status(307).header("location", &target).body(Body::empty()).unwrap();
    let problem = ask(Provider::Anthropic, answer).await.unwrap_err();
    assert_eq!(problem.code, "model.request");
    assert!(other.seen.lock().unwrap().is_empty(), "the key went to another server");
}

#[tokio::test]
async fn nobody_listens() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    for provider in Provider::ALL {
        let problem = model(provider, &format!("http://127.0.0.1:{port}")).complete(&sample()).await.unwrap_err();
        assert_silent(&problem);
        let (name, url) = (provider.name(), provider.url_variable());
        let shown = shown(&problem);
        let start = format!("model.unreachable: {name} at HOST: cannot be reached: ");
        let end = format!(" (check that the server runs, and check {url} and the network)");
        assert!(shown.starts_with(&start) && shown.ends_with(&end), "{shown}");
        assert!(shown.contains("refused"), "the system's own words say why: {shown}");
    }
}

#[tokio::test]
async fn something_else_answers() {
    for provider in [Provider::Anthropic, Provider::OpenAi] {
        let page = "<!doctype html>\n<html><body>Sign in to the hotel's Wi-Fi</body></html>\n";
        let problem = ask(provider, move || plain(200, "text/html", page)).await.unwrap_err();
        assert_eq!(problem.code, "model.reply");
        assert!(problem.message.ends_with("the stream holds a line that is no event: <!doctype html>"), "{problem}");
        let problem = ask(provider, || plain(200, "application/json", r#"{"hello": "world"}"#)).await.unwrap_err();
        assert!(problem.message.contains("; is this a server of the "), "{problem}");
        let problem = ask(provider, || plain(200, "application/json", r#"{"hello": "#)).await.unwrap_err();
        assert!(problem.message.contains("the reply is not JSON"), "{problem}");
        let problem =
            ask(provider, || plain(200, "text/event-stream", b"data: \xff\xff\n\n".to_vec())).await.unwrap_err();
        assert!(problem.message.contains("the stream is not UTF-8"), "{problem}");
    }
}

#[tokio::test]
async fn an_endless_reply_is_stopped() {
    let comment = format!(": {}\n", "x".repeat(60_000));
    let endless = futures::stream::repeat(Ok::<_, std::convert::Infallible>(comment));
    let answer = {
        let endless = endless.clone();
        move || plain(200, "text/event-stream", Body::from_stream(endless.clone()))
    };
    let problem = ask(Provider::OpenAi, answer).await.unwrap_err();
    assert!(problem.message.ends_with("the reply is larger than 4194304 bytes"), "{problem}");
    let line = futures::stream::repeat(Ok::<_, std::convert::Infallible>("x".repeat(60_000)));
    let answer = move || plain(200, "text/event-stream", Body::from_stream(line.clone()));
    let problem = ask(Provider::Anthropic, answer).await.unwrap_err();
    assert!(problem.message.contains("a line of the stream is longer"), "{problem}");
}

/// A server that takes the request, sends `start` and then nothing; says when the client has gone.
async fn silent_server(start: &'static str) -> (ProviderConfig, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let config = config(Provider::OpenAi, &format!("http://{}", listener.local_addr().unwrap()));
    let gone = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut buffer = [0; 65_536];
        assert!(socket.read(&mut buffer).await.unwrap() > 0);
        socket.write_all(start.as_bytes()).await.unwrap();
        // Zero bytes, or a reset: either way the connection is closed.
        while socket.read(&mut buffer).await.unwrap_or(0) > 0 {}
    });
    (config, gone)
}

const BEGUN: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

#[tokio::test]
async fn a_dropped_question_closes_its_connection() {
    let half = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n\
                1d\r\ndata: {\"choices\":[{\"delta\":{}\r\n";
    let error = "HTTP/1.1 500 Oops\r\ncontent-length: 100\r\n\r\nhalf an err";
    for start in ["", BEGUN, half, error] {
        let (config, gone) = silent_server(start).await;
        let model = config.build().unwrap();
        let late = tokio::time::timeout(Duration::from_millis(100), model.complete(&sample())).await;
        assert!(late.is_err(), "after {start:?}");
        // The model still lives, and its pool with it: it is the dropped future that frees the connection.
        tokio::time::timeout(Duration::from_secs(5), gone).await.expect("the connection is still open").unwrap();
        drop(model);
    }
}

#[tokio::test]
async fn a_complete_reply_is_not_held_up_by_an_open_stream() {
    let done = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n\
                e\r\ndata: [DONE]\n\n\r\n";
    let (config, gone) = silent_server(done).await;
    let model = config.build().unwrap();
    let reply = tokio::time::timeout(Duration::from_secs(2), model.complete(&sample())).await.unwrap().unwrap();
    assert_eq!(reply.text, "");
    tokio::time::timeout(Duration::from_secs(5), gone).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_connection_that_breaks_in_the_middle() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let config = config(Provider::Anthropic, &format!("http://{}", listener.local_addr().unwrap()));
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        assert!(socket.read(&mut [0; 65_536]).await.unwrap() > 0);
        socket.write_all(BEGUN.as_bytes()).await.unwrap();
        socket.write_all(b"10\r\ndata: {\"type\"").await.unwrap();
    });
    let problem = config.build().unwrap().complete(&sample()).await.unwrap_err();
    assert_eq!(problem.code, "model.reply");
    assert!(problem.message.contains("the reply broke off before its end ("), "{problem}");
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let server = Server::start(|| stream("data: [DONE]\n\n", 5)).await;
    let model = model(Provider::OpenAi, &server.url);
    for _ in 0..3 {
        model.complete(&sample()).await.unwrap();
    }
    let peers: Vec<_> = server.seen.lock().unwrap().iter().map(|seen| seen.peer).collect();
    assert_eq!(peers, [peers[0]; 3], "a new connection costs a handshake of the two seconds that planning has");
}

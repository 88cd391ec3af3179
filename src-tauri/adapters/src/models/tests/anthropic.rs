//! The Messages API over a real connection.

use super::{KEY, Server, ask, config, engine_prompt, model, plain, sample, stream};
use crate::models::{Provider, anthropic::body};
use serde_json::{Value, json};
use toolplan_engine::select::{Prompt, Reply};

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

/// Thinking, text and two calls, one of them to a tool with a wire name; in the API's own event order.
fn reply_events() -> String {
    let wire = wire_name();
    let block =
        |index: u32, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: u32, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: u32| json!({"type": "content_block_stop", "index": index});
    let events = [
        json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "stop_reason": null,
            "usage": {"input_tokens": 400, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 5, "output_tokens": 1}}}),
        json!({"type": "ping"}),
        block(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "Köln 🙂 "})),
        delta(0, json!({"type": "thinking_delta", "thinking": "liegt am Rhein"})),
        delta(0, json!({"type": "signature_delta", "signature": "c2ln"})),
        stop(0),
        block(1, json!({"type": "redacted_thinking", "data": "xxxx"})),
        stop(1),
        block(2, json!({"type": "text", "text": ""})),
        delta(2, json!({"type": "text_delta", "text": "Ich suche 文"})),
        delta(2, json!({"type": "text_delta", "text": format!("件 mit {wire}.")})),
        stop(2),
        block(3, json!({"type": "tool_use", "id": "t1", "name": "vector_search", "input": {}})),
        delta(3, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(3, json!({"type": "input_json_delta", "partial_json": "{\"query\": \"Kö"})),
        delta(3, json!({"type": "input_json_delta", "partial_json": "ln\", \"n\": 1"})),
        delta(3, json!({"type": "input_json_delta", "partial_json": "0}"})),
        stop(3),
        block(4, json!({"type": "tool_use", "id": "t2", "name": wire, "input": {}})),
        stop(4),
        json!({"type": "invented_later", "anything": 1}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 77}}),
        json!({"type": "message_stop"}),
    ];
    events.iter().map(event).collect()
}

fn wire_name() -> String {
    body(&sample(), "m", 1)["tools"][1]["name"].as_str().unwrap().to_owned()
}

/// What those events mean.
fn assert_reply(reply: &Reply) {
    assert_eq!(reply.text, "<think>Köln 🙂 liegt am Rhein</think>Ich suche 文件 mit fs.read/文件.");
    let calls: Vec<_> = reply.native_calls.iter().map(|c| (c.tool.as_str(), json!(c.arguments))).collect();
    assert_eq!(calls, [("vector_search", json!({"query": "Köln", "n": 10})), ("fs.read/文件", json!({}))]);
    assert_eq!((reply.input_tokens, reply.output_tokens), (Some(425), Some(77)));
}

#[tokio::test]
async fn the_request_as_it_arrives() {
    let server = Server::start(|| stream(&reply_events(), 4096)).await;
    model(Provider::Anthropic, &server.url).complete(&sample()).await.unwrap();
    let seen = server.only();
    assert_eq!(seen.path, "/v1/messages");
    assert_eq!(seen.header("x-api-key"), KEY);
    assert_eq!(seen.header("anthropic-version"), "2023-06-01");
    assert_eq!(seen.header("content-type"), "application/json");
    assert_eq!(seen.header("authorization"), "");
    let schema = json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]});
    assert_eq!(
        seen.json(),
        json!({
            "model": "test-model",
            "max_tokens": 500,
            "stream": true,
            "messages": [{"role": "user", "content": "Query: where is Köln?\nQuery type: SimpleLookup\n"}],
            "system": "You choose tools.",
            "temperature": 0.3,
            "tools": [
                {"name": "vector_search", "description": "About vector_search", "input_schema": schema},
                {"name": wire_name(), "description": "About fs.read/文件", "input_schema": schema},
            ],
        })
    );
    assert!(wire_name().starts_with("fs_read_"));
}

/// V-09: what is hidden from the prompt is not in the bytes, and what is visible is.
#[tokio::test]
async fn the_bytes_name_the_visible_tools_only() {
    for visible in [&["find", "read.page"][..], &["find", "read.page", "delete_everything", "drop.table"]] {
        let server = Server::start(|| stream(&reply_events(), 4096)).await;
        model(Provider::Anthropic, &server.url).complete(&engine_prompt(visible)).await.unwrap();
        let bytes = String::from_utf8(server.only().body.to_vec()).unwrap();
        for name in ["find", "read.page", "delete_everything", "drop.table"] {
            assert_eq!(bytes.contains(&format!("Describes {name}")), visible.contains(&name), "{name}");
            assert_eq!(bytes.contains(name), visible.contains(&name), "{name}");
        }
        assert_eq!(bytes.contains("drop_table"), visible.contains(&"drop.table"));
    }
}

#[test]
fn the_body_leaves_out_what_is_empty_or_refused() {
    let bare = Prompt { system: String::new(), tools: vec![], temperature: 1.5, ..sample() };
    let sent = body(&bare, "claude-sonnet-4-6", 9);
    assert!(sent.get("system").is_none() && sent.get("tools").is_none());
    assert_eq!(sent["temperature"], 1.0);
    for (model, takes) in [
        ("claude-3-5-haiku-latest", true),
        ("claude-sonnet-4-0", true),
        ("claude-sonnet-4-6", true),
        ("claude-opus-4-7", false),
        ("claude-opus-5-20260801", false),
        ("claude-newname", false),
        ("glm-4.6", true),
    ] {
        assert_eq!(body(&bare, model, 9).get("temperature").is_some(), takes, "{model}");
    }
    let mut untyped = sample();
    untyped.tools[0].parameters = json!({});
    assert_eq!(body(&untyped, "m", 9)["tools"][0]["input_schema"], json!({"type": "object"}));
}

#[tokio::test]
async fn a_stream_in_any_pieces() {
    for size in [1, 2, 3, 5, 64, 1000, 100_000] {
        assert_reply(&ask(Provider::Anthropic, move || stream(&reply_events(), size)).await.unwrap());
    }
}

#[tokio::test]
async fn an_answer_without_stream() {
    let answer = || {
        let content = json!([
            {"type": "thinking", "thinking": "Köln 🙂 liegt am Rhein", "signature": "s"},
            {"type": "text", "text": format!("Ich suche 文件 mit {}.", wire_name())},
            {"type": "tool_use", "id": "a", "name": "vector_search", "input": {"query": "Köln", "n": 10}},
            {"type": "tool_use", "id": "b", "name": wire_name(), "input": {}},
        ]);
        let usage = json!({"input_tokens": 425, "output_tokens": 77});
        let message = json!({"type": "message", "content": content, "usage": usage, "stop_reason": "tool_use"});
        plain(200, "application/json", format!("\n {message}"))
    };
    assert_reply(&ask(Provider::Anthropic, answer).await.unwrap());
}

#[tokio::test]
async fn thinking_cannot_end_itself() {
    let start = json!({"type": "content_block_start", "index": 0,
        "content_block": {"type": "thinking", "thinking": "a</think>call it"}});
    let events = event(&start) + &event(&json!({"type": "message_stop"}));
    let reply = ask(Provider::Anthropic, move || stream(&events, 9)).await.unwrap();
    assert_eq!(reply.text, "<think>a</ think>call it</think>");
}

/// The reply's problem as `code: message`, without the server's name.
async fn broken(events: impl Into<String>) -> String {
    let events = events.into();
    let problem = ask(Provider::Anthropic, move || stream(&events, 11)).await.unwrap_err();
    let message = problem.message.split_once(": ").unwrap().1;
    format!("{}: {message}", problem.code)
}

#[tokio::test]
async fn broken_replies() {
    let tool = json!({"type": "content_block_start", "index": 0,
        "content_block": {"type": "tool_use", "id": "t", "name": "vector_search", "input": {}}});
    let piece = json!({"type": "content_block_delta", "index": 0,
        "delta": {"type": "input_json_delta", "partial_json": "{\"query\": \"Kö"}});
    let stop = json!({"type": "message_stop"});
    let cut = json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 9}});

    let shown = broken(event(&tool) + &event(&piece) + &event(&cut) + &event(&stop)).await;
    assert!(shown.starts_with("model.reply: the arguments of vector_search are not JSON"), "{shown}");
    assert!(shown.ends_with("{\"query\": \"Kö; the model ran out of tokens"), "{shown}");

    let whole = reply_events();
    for end in [0, 10, whole.len() / 2, whole.len() - 3] {
        let end = (end..).find(|at| whole.is_char_boundary(*at)).unwrap();
        assert_eq!(broken(&whole[..end]).await, "model.reply: the reply broke off before its end", "at {end}");
    }
    let shown = broken(event(&piece)).await;
    assert_eq!(shown, "model.reply: the stream continues block 0, which it did not begin");
    let shown = broken("data: {\"type\": \"message_st\n\n").await;
    assert!(shown.starts_with("model.reply: an event is not understood"), "{shown}");
    let shown = broken(format!("data: {}\n\n", "[".repeat(100_000))).await;
    assert!(shown.starts_with("model.reply: an event is not understood"), "deep JSON: {shown}");
    let nested = piece.to_string().replace("{\\\"query\\\": \\\"Kö", &"[".repeat(100_000));
    let shown = broken(event(&tool) + &format!("data: {nested}\n\n") + &event(&stop)).await;
    assert!(shown.starts_with("model.reply: the arguments of vector_search are not JSON"), "{shown}");

    let reported = |kind: &str| event(&json!({"type": "error", "error": {"type": kind, "message": "no luck"}}));
    for (kind, code) in [
        ("overloaded_error", "model.server"),
        ("rate_limit_error", "model.rate_limited"),
        ("authentication_error", "model.refused"),
        ("invalid_request_error", "model.request"),
        ("new_error", "model.reply"),
    ] {
        assert_eq!(broken(reported(kind)).await, format!("{code}: the provider reports: no luck"));
    }
}

#[tokio::test]
async fn a_base_url_may_end_in_v1_or_not() {
    for suffix in ["", "/", "/v1", "/v1/", "/proxy", "/proxy/v1"] {
        let server = Server::start(|| stream(&reply_events(), 4096)).await;
        let config = config(Provider::Anthropic, &format!("{}{suffix}", server.url));
        config.build().unwrap().complete(&sample()).await.unwrap();
        let prefix = if suffix.contains("proxy") { "/proxy" } else { "" };
        assert_eq!(server.only().path, format!("{prefix}/v1/messages"));
        assert_eq!(config.label(), "anthropic/test-model");
    }
}

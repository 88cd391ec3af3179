//! The Chat Completions API over a real connection.

use super::{KEY, Server, ask, engine_prompt, model, plain, sample, stream};
use crate::models::{Provider, openai::body};
use serde_json::{Value, json};
use toolplan_engine::select::{Prompt, Reply};

fn wire_name() -> String {
    body(&sample(), "m", 1)["tools"][1]["function"]["name"].as_str().unwrap().to_owned()
}

fn delta(delta: Value) -> Value {
    json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn call(index: u32, id: &str, name: &str, arguments: &str) -> Value {
    let mut function = json!({"arguments": arguments});
    if !name.is_empty() {
        function["name"] = name.into();
    }
    let mut call = json!({"index": index, "function": function});
    if !id.is_empty() {
        call["id"] = id.into();
        call["type"] = "function".into();
    }
    delta(json!({"tool_calls": [call]}))
}

fn stopped(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn events(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}

/// Reasoning, text and two interleaved calls, one of them to a tool with a wire name.
fn reply_events() -> String {
    let wire = wire_name();
    let chunks = [
        delta(json!({"role": "assistant", "content": null})),
        delta(json!({"reasoning_content": "Köln 🙂 "})),
        delta(json!({"reasoning_content": "liegt am Rhein"})),
        delta(json!({"content": "Ich suche 文"})),
        delta(json!({"content": format!("件 mit {wire}.")})),
        call(0, "a", "vector_search", ""),
        call(0, "", "", "{\"query\": \"Kö"),
        call(1, "b", &wire, "{"),
        call(0, "", "", "ln\", \"n\": 10}"),
        call(1, "", "", "}"),
        stopped("tool_calls"),
        json!({"choices": [], "usage": {"prompt_tokens": 425, "completion_tokens": 77, "total_tokens": 502}}),
    ];
    format!(": keep-alive\n\n{}data: [DONE]\n\n", events(&chunks))
}

fn assert_reply(reply: &Reply) {
    assert_eq!(reply.text, "<think>Köln 🙂 liegt am Rhein</think>Ich suche 文件 mit fs.read/文件.");
    assert_eq!(calls(reply), [("vector_search", json!({"query": "Köln", "n": 10})), ("fs.read/文件", json!({}))]);
    assert_eq!((reply.input_tokens, reply.output_tokens), (Some(425), Some(77)));
}

fn calls(reply: &Reply) -> Vec<(&str, Value)> {
    reply.native_calls.iter().map(|c| (c.tool.as_str(), json!(c.arguments))).collect()
}

/// The reply that `text` streams.
async fn read(text: String) -> Reply {
    ask(Provider::OpenAi, move || stream(&text, 13)).await.unwrap()
}

#[tokio::test]
async fn the_request_as_it_arrives() {
    for (provider, base, path) in [
        (Provider::OpenAi, "/v1", "/v1/chat/completions"),
        (Provider::OpenAi, "", "/chat/completions"),
        (Provider::OpenAi, "/api/v3/", "/api/v3/chat/completions"),
        (Provider::Ollama, "", "/v1/chat/completions"),
        (Provider::Ollama, "/v1", "/v1/chat/completions"),
    ] {
        let server = Server::start(|| stream(&reply_events(), 4096)).await;
        let model = model(provider, &format!("{}{base}", server.url));
        model.complete(&sample()).await.unwrap();
        assert_eq!(model.label(), format!("{}/test-model", provider.name()));
        let seen = server.only();
        assert_eq!(seen.path, path);
        let bearer = if provider == Provider::OpenAi { format!("Bearer {KEY}") } else { String::new() };
        assert_eq!(seen.header("authorization"), bearer);
        let schema = json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]});
        let function = |name: &str, description: &str| json!({"type": "function", "function": {"name": name, "description": description, "parameters": schema}});
        assert_eq!(
            seen.json(),
            json!({
                "model": "test-model",
                "messages": [
                    {"role": "system", "content": "You choose tools."},
                    {"role": "user", "content": "Query: where is Köln?\nQuery type: SimpleLookup\n"},
                ],
                "stream": true,
                "stream_options": {"include_usage": true},
                "max_tokens": 500,
                "temperature": 0.3,
                "tools": [
                    function("vector_search", "About vector_search"),
                    function(&wire_name(), "About fs.read/文件"),
                ],
            })
        );
    }
}

/// V-09: what is hidden from the prompt is not in the bytes, and what is visible is.
#[tokio::test]
async fn the_bytes_name_the_visible_tools_only() {
    for visible in [&["find", "read.page"][..], &["find", "read.page", "delete_everything", "drop.table"]] {
        let server = Server::start(|| stream(&reply_events(), 4096)).await;
        model(Provider::OpenAi, &server.url).complete(&engine_prompt(visible)).await.unwrap();
        let bytes = String::from_utf8(server.only().body.to_vec()).unwrap();
        for name in ["find", "read.page", "delete_everything", "drop.table"] {
            assert_eq!(bytes.contains(&format!("Describes {name}")), visible.contains(&name), "{name}");
            assert_eq!(bytes.contains(name), visible.contains(&name), "{name}");
        }
        assert_eq!(bytes.contains("drop_table"), visible.contains(&"drop.table"));
    }
}

#[test]
fn reasoning_models_get_the_fields_they_take() {
    let bare = Prompt { system: String::new(), tools: vec![], ..sample() };
    for (model, reasons) in [("gpt-5-mini", true), ("o3", true), ("gpt-4.1-mini", false), ("gpt-oss-20b", false)] {
        let sent = body(&bare, model, 9);
        assert_eq!(sent.get("max_completion_tokens").is_some(), reasons, "{model}");
        assert_eq!(sent.get("max_tokens").is_none(), reasons, "{model}");
        assert_eq!(sent.get("temperature").is_none(), reasons, "{model}");
        assert!(sent.get("tools").is_none() && sent["messages"].as_array().unwrap().len() == 1);
    }
}

#[tokio::test]
async fn a_stream_in_any_pieces() {
    for size in [1, 2, 3, 5, 64, 1000, 100_000] {
        assert_reply(&ask(Provider::OpenAi, move || stream(&reply_events(), size)).await.unwrap());
        assert_reply(&ask(Provider::Ollama, move || stream(&reply_events(), size)).await.unwrap());
    }
}

#[tokio::test]
async fn an_answer_without_stream() {
    let answer = || {
        let call = |name: &str, arguments: Value| json!({"id": name, "type": "function", "function": {"name": name, "arguments": arguments}});
        let message = json!({
            "role": "assistant",
            "content": format!("Ich suche 文件 mit {}.", wire_name()),
            "reasoning": "Köln 🙂 liegt am Rhein",
            "tool_calls": [
                call("vector_search", json!("{\"query\": \"Köln\", \"n\": 10}")),
                call(&wire_name(), json!({})),
            ],
        });
        let usage = json!({"prompt_tokens": 425, "completion_tokens": 77});
        let body =
            json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": usage});
        plain(200, "application/json", body.to_string())
    };
    assert_reply(&ask(Provider::OpenAi, answer).await.unwrap());
}

#[tokio::test]
async fn the_habits_of_other_servers() {
    // No [DONE].
    let reply = read(events(&[delta(json!({"content": "hi"})), stopped("stop")])).await;
    assert_eq!(reply.text, "hi");
    // Every whole call has the index 0; the second is another call all the same.
    let reply =
        read(events(&[call(0, "a", "find", "{\"n\":1}"), call(0, "b", "find", "{\"n\":2}"), stopped("stop")])).await;
    assert_eq!(calls(&reply), [("find", json!({"n": 1})), ("find", json!({"n": 2}))]);
    // The name comes again with every fragment.
    let reply = read(events(&[call(0, "a", "find", "{\"n\""), call(0, "a", "find", ":1}"), stopped("stop")])).await;
    assert_eq!(calls(&reply), [("find", json!({"n": 1}))]);
    // No index; the arguments are an object, null or missing.
    let bare = |function: Value| delta(json!({"tool_calls": [{"function": function}]}));
    let functions = [
        json!({"name": "a", "arguments": {"n": 1}}),
        json!({"name": "b", "arguments": null}),
        json!({"name": "c"}),
        json!({"name": "d", "arguments": "{\"n\":"}),
        json!({"arguments": "4}"}),
    ];
    let chunks: Vec<Value> = functions.into_iter().map(bare).chain([stopped("stop")]).collect();
    let expected = [("a", json!({"n": 1})), ("b", json!({})), ("c", json!({})), ("d", json!({"n": 4}))];
    assert_eq!(calls(&read(events(&chunks)).await), expected);
    // Content in parts, thinking among them; thinking inline stays where it is.
    let parts =
        json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "so"}]);
    let reply = read(events(&[delta(json!({"content": parts})), stopped("stop")])).await;
    assert_eq!(reply.text, "<think>hm</think>so");
    let reply = read(events(&[delta(json!({"content": "<think>hm</think>so"})), stopped("stop")])).await;
    assert_eq!(reply.text, "<think>hm</think>so");
    // A second choice is not ours, and a refusal is text.
    let other = json!({"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}]});
    let reply = read(events(&[delta(json!({"refusal": "I will not"})), other, stopped("stop")])).await;
    assert_eq!(reply.text, "I will not");
}

/// The reply's problem as `code: message`, without the server's name.
async fn broken(text: impl Into<String>) -> String {
    let text = text.into();
    let problem = ask(Provider::OpenAi, move || stream(&text, 11)).await.unwrap_err();
    let message = problem.message.split_once(": ").unwrap().1;
    format!("{}: {message}", problem.code)
}

#[tokio::test]
async fn broken_replies() {
    let shown = broken(events(&[call(0, "a", "find", "{\"n\": "), stopped("length")]) + "data: [DONE]\n\n").await;
    assert!(shown.starts_with("model.reply: the arguments of find are not JSON"), "{shown}");
    assert!(shown.ends_with("{\"n\":; the model ran out of tokens"), "{shown}");
    let shown = broken(events(&[call(0, "a", "find", "[1]"), stopped("stop")])).await;
    assert_eq!(shown, "model.reply: the arguments of find are not a JSON object: [1]");
    let shown = broken(events(&[call(0, "a", "", "{}"), stopped("stop")])).await;
    assert_eq!(shown, "model.reply: the reply calls a tool without a name");
    for cut in [events(&[delta(json!({"content": "hi"}))]), String::new(), "data: {\"choices\": [".into()] {
        assert_eq!(broken(cut).await, "model.reply: the reply broke off before its end");
    }
    for text in ["data: {\"choices\": [\n\n", "data: 7\n\n", "data: {\"choices\": {\"delta\": 1}}\n\n"] {
        let shown = broken(text).await;
        assert!(shown.starts_with("model.reply: an event is not understood"), "{shown}");
    }
    for (error, code) in [
        (json!({"message": "no luck", "type": "server_error", "code": null}), "model.server"),
        (json!({"message": "no luck", "type": "requests", "code": "rate_limit_exceeded"}), "model.rate_limited"),
        (json!({"message": "no luck", "code": 503}), "model.server"),
        (json!({"message": "no luck", "code": 401}), "model.refused"),
        (json!("no luck"), "model.reply"),
    ] {
        let expected = format!("{code}: the provider reports: no luck");
        assert_eq!(broken(events(&[json!({"error": error})])).await, expected);
        // llama.cpp's way.
        assert_eq!(broken(format!("error: {error}\n\n")).await, expected);
    }
}

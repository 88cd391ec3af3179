//! Earlier turns on the wire: calls and results in each provider's own form, or as text where there was no protocol.

use super::sample;
use crate::models::{anthropic, openai};
use serde_json::{Value, json};
use toolplan_engine::{
    select::{Exchange, ExchangeCall, Prompt},
    tool::ToolCall,
};

fn exchange(text: &str, native: bool) -> Exchange {
    let call = |id: &str, tool: &str, result: Value, is_error| ExchangeCall {
        id: id.into(),
        call: ToolCall::new(tool, "query", "Köln"),
        result,
        is_error,
    };
    let calls = vec![
        call("call01000", "vector_search", json!({"ok": true}), false),
        call("call01001", "fs.read/文件", json!({"error": "no"}), true),
    ];
    Exchange { text: text.into(), native, calls }
}

fn wire_name() -> String {
    openai::body(&sample(), "m", 1)["tools"][1]["function"]["name"].as_str().unwrap().to_owned()
}

fn messages(turn: Exchange) -> (Vec<Value>, Vec<Value>) {
    let prompt = Prompt { turns: vec![turn], ..sample() };
    let of = |body: Value| body["messages"].as_array().unwrap().clone();
    (of(anthropic::body(&prompt, "claude-sonnet-4-6", 9)), of(openai::body(&prompt, "gpt-4.1-mini", 9)))
}

/// P-03, V-08: each protocol's own form, under the wire names, with the ids that belong together.
#[test]
fn native_turns() {
    let (claude, gpt) = messages(exchange("<think>hm</think>I look.", true));
    let wire = wire_name();
    assert_eq!(
        claude[1..],
        [
            json!({"role": "assistant", "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "call01000", "name": "vector_search", "input": {"query": "Köln"}},
                {"type": "tool_use", "id": "call01001", "name": wire, "input": {"query": "Köln"}},
            ]}),
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call01000", "content": "{\"ok\":true}", "is_error": false},
                {"type": "tool_result", "tool_use_id": "call01001", "content": "{\"error\":\"no\"}", "is_error": true},
            ]}),
        ]
    );
    let function = |name: &str| json!({"name": name, "arguments": "{\"query\":\"Köln\"}"});
    assert_eq!(
        gpt[2..],
        [
            json!({"role": "assistant", "content": "I look.", "tool_calls": [
                {"id": "call01000", "type": "function", "function": function("vector_search")},
                {"id": "call01001", "type": "function", "function": function(&wire)},
            ]}),
            json!({"role": "tool", "tool_call_id": "call01000", "content": "{\"ok\":true}"}),
            json!({"role": "tool", "tool_call_id": "call01001", "content": "{\"error\":\"no\"}"}),
        ]
    );
}

/// A turn that was only thinking and calls has no text block: the Messages API refuses an empty one.
#[test]
fn no_empty_text() {
    let (claude, gpt) = messages(exchange("<think>hm</think>", true));
    assert_eq!(claude[1]["content"].as_array().unwrap().len(), 2);
    assert_eq!(gpt[2]["content"], "");
}

/// Calls that stood in the text go back as text, and so do calls where no tool is offered any more.
#[test]
fn textual_turns() {
    let results = "Result of vector_search: {\"ok\":true}\nResult of fs.read/文件: {\"error\":\"no\"}";
    let (claude, gpt) = messages(exchange("{\"tool\": \"vector_search\"}", false));
    for messages in [&claude[1..], &gpt[2..]] {
        assert_eq!(messages[0], json!({"role": "assistant", "content": "{\"tool\": \"vector_search\"}"}));
        assert_eq!(messages[1], json!({"role": "user", "content": results}));
    }
    let prompt = Prompt { turns: vec![exchange("", true)], tools: vec![], ..sample() };
    let body = anthropic::body(&prompt, "claude-sonnet-4-6", 9);
    let said = body["messages"][1]["content"].as_str().unwrap();
    assert!(said.contains("vector_search") && !said.is_empty(), "{said}");
    assert!(body.get("tools").is_none());
}

/// A tool that an earlier turn called and that is offered no longer keeps its wire name.
#[test]
fn names_outlive_their_offer() {
    let mut prompt = Prompt { turns: vec![exchange("", true)], ..sample() };
    prompt.tools.truncate(1);
    let body = openai::body(&prompt, "gpt-4.1-mini", 9);
    assert_eq!(body["messages"][2]["tool_calls"][1]["function"]["name"], json!(wire_name()));
}

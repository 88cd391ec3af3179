//! Reading a model's reply: native calls, then JSON, then free text (G-03).
//!
//! Says what was proposed and by which path; whether it may run is the guard's business.

use super::Reply;
use crate::{
    guard::{Mention, mention},
    settings::GuardSettings,
    text::Span,
};
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{collections::HashSet, ops::Range, sync::LazyLock};

/// How the calls were found in the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ReplyPath {
    /// The provider's tool protocol.
    Native,
    /// A JSON value in the text.
    Json,
    /// Tool names mentioned in prose.
    FreeText,
    /// The reply named no call; the offline selector proposed instead.
    Fallback,
    /// No model was asked.
    #[default]
    Offline,
}

/// One call as proposed, before the guard.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Proposed {
    pub tool: String,
    /// Null when the proposal only named the tool.
    pub arguments: Option<Map<String, Value>>,
    /// Where the model's text says so.
    pub mention: Option<Span>,
    /// The model said not to use it.
    pub declined: bool,
    /// Id of the sub-query it serves; empty for the whole query.
    pub sub_query: String,
    /// Indexes of earlier calls of the proposal whose results it needs.
    pub after: Vec<u32>,
}

/// All proposed calls and how they were found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Proposal {
    pub path: ReplyPath,
    /// Why this path was taken.
    pub path_reason: String,
    pub calls: Vec<Proposed>,
    pub mentions: Vec<Mention>,
    /// Tools that the text says not to use, whichever way the calls were found.
    pub declined: Vec<String>,
    pub reasoning: String,
}

/// Reads a reply. `names` are the tools of the catalog.
pub fn read(reply: &Reply, names: &[&str], settings: &GuardSettings) -> Proposal {
    let text = reply.text.as_str();
    let mentions = mention::mentions(text, names);
    let counted = mentions.iter().filter(|m| settings.scan_thinking || !m.thinking);
    let declined: Vec<String> = mention::declined(text, counted).into_iter().map(str::to_string).collect();
    if !reply.native_calls.is_empty() {
        let calls = reply
            .native_calls
            .iter()
            .map(|c| Proposed { tool: c.tool.clone(), arguments: Some(c.arguments.clone()), ..Default::default() })
            .collect();
        return Proposal {
            path: ReplyPath::Native,
            path_reason: "The reply holds native tool calls".into(),
            calls,
            mentions,
            declined,
            reasoning: text.into(),
        };
    }
    let known = || names.iter().copied().collect();
    let json = if text.contains(['{', '[']) { json_calls(text, &known()) } else { None };
    if let Some((calls, reasoning, place)) = json {
        return Proposal {
            path: ReplyPath::Json,
            path_reason: format!("No native calls; {place} holds JSON calls"),
            calls,
            mentions,
            declined,
            reasoning,
        };
    }
    let calls = mentioned_calls(&mentions, &declined, settings.scan_thinking);
    let path_reason = if calls.is_empty() {
        "No native calls, no JSON calls, and the text names no tool".to_string()
    } else {
        "No native calls and no JSON calls; the text names tools".to_string()
    };
    Proposal { path: ReplyPath::FreeText, path_reason, calls, mentions, declined, reasoning: text.into() }
}

/// One call per tool that the prose mentions, in the order of first mention.
fn mentioned_calls(mentions: &[Mention], declined: &[String], scan_thinking: bool) -> Vec<Proposed> {
    let mut seen = HashSet::new();
    let counted = mentions.iter().filter(|m| scan_thinking || !m.thinking);
    counted
        .filter(|mention| seen.insert(mention.tool.as_str()))
        .map(|mention| Proposed {
            tool: mention.tool.clone(),
            mention: Some(mention.span),
            declined: declined.contains(&mention.tool),
            ..Default::default()
        })
        .collect()
}

/// JSON calls outside thinking text, else inside it: the calls, the reasoning beside them, and where they stood.
fn json_calls(text: &str, known: &HashSet<&str>) -> Option<(Vec<Proposed>, String, &'static str)> {
    let plain = mention::without_thinking(text);
    let places = [
        (plain.as_str(), fences(&plain), "a fenced block"),
        (plain.as_str(), std::iter::once(0..plain.len()).collect(), "the text"),
        (text, std::iter::once(0..text.len()).collect(), "the thinking text"),
    ];
    // Without thinking text the last place would be read twice.
    let places = places.into_iter().filter(|(source, _, place)| *place != "the thinking text" || *source != plain);
    for (source, ranges, place) in places {
        let mut calls = vec![];
        let mut reasoning = String::new();
        for range in ranges {
            for (at, value) in json_values(source, range) {
                let before = calls.len();
                collect_calls(&value, known, &mut calls, 0);
                // In the text as it is: blanked thinking text has the bytes of it and not the UTF-16 units.
                let span = Span::of(text, at);
                calls[before..].iter_mut().for_each(|c: &mut Proposed| c.mention = Some(span));
                if let Some(said) =
                    ["reasoning", "rationale", "thought"].iter().find_map(|k| value.get(k)).and_then(Value::as_str)
                {
                    reasoning = said.into();
                }
            }
        }
        if !calls.is_empty() {
            return Some((calls, reasoning, place));
        }
    }
    None
}

fn fences(text: &str) -> Vec<Range<usize>> {
    static FENCE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?s)```[A-Za-z0-9_]*[ \t]*\r?\n?(.*?)```").expect("a pattern of ours compiles"));
    FENCE.captures_iter(text).filter_map(|c| c.get(1)).map(|m| m.range()).collect()
}

/// How many places in a text are tried as the beginning of a JSON value.
const MAX_JSON_STARTS: usize = 256;

/// How many of them may run to the end of the text unclosed: each reads all the rest.
const MAX_UNCLOSED: usize = 16;

/// The complete JSON objects and arrays in a stretch of text, with their places. Nothing is found inside another.
fn json_values(text: &str, within: Range<usize>) -> Vec<(Range<usize>, Value)> {
    let mut found = vec![];
    let mut at = within.start;
    let mut unclosed = 0;
    for _ in 0..MAX_JSON_STARTS {
        let Some(start) = text[at..within.end].find(['{', '[']).map(|i| at + i) else { break };
        let mut stream = serde_json::Deserializer::from_str(&text[start..within.end]).into_iter::<Value>();
        at = match stream.next() {
            Some(Ok(value)) => {
                let end = start + stream.byte_offset();
                found.push((start..end, value));
                end
            }
            Some(Err(error)) if error.is_eof() && unclosed == MAX_UNCLOSED => break,
            Some(Err(error)) if error.is_eof() => {
                unclosed += 1;
                start + 1
            }
            _ => start + 1,
        };
    }
    found
}

const NAME_KEYS: &[&str] = &["tool", "tool_name", "toolName", "name", "function", "action", "recipient_name"];
const ARGUMENT_KEYS: &[&str] = &["arguments", "args", "parameters", "params", "input", "tool_input", "action_input"];

fn collect_calls(value: &Value, known: &HashSet<&str>, calls: &mut Vec<Proposed>, depth: usize) {
    if depth > 8 {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| match item.as_str() {
            Some(name) if known.contains(name) => calls.push(Proposed { tool: name.into(), ..Default::default() }),
            _ => collect_calls(item, known, calls, depth + 1),
        }),
        Value::Object(map) => {
            if let Some(call) = as_call(map, known) {
                calls.push(call);
                return;
            }
            for (key, inner) in map {
                // {"vector_search": {"query": "…"}}
                match inner {
                    Value::Object(arguments) if known.contains(key.as_str()) => calls.push(Proposed {
                        tool: key.clone(),
                        arguments: Some(arguments.clone()),
                        ..Default::default()
                    }),
                    _ => collect_calls(inner, known, calls, depth + 1),
                }
            }
        }
        _ => {}
    }
}

fn as_call(map: &Map<String, Value>, known: &HashSet<&str>) -> Option<Proposed> {
    let name = NAME_KEYS.iter().find_map(|k| map.get(*k)?.as_str())?;
    let name = name.strip_prefix("functions.").unwrap_or(name);
    let arguments = ARGUMENT_KEYS.iter().find_map(|k| as_arguments(map.get(*k)?));
    // A stranger's "name" is data unless it comes with arguments.
    if !known.contains(name) && arguments.is_none() && !map.contains_key("tool") {
        return None;
    }
    let sub_query = ["subQuery", "sub_query"].iter().find_map(|k| map.get(*k)?.as_str()).unwrap_or_default();
    Some(Proposed { tool: name.into(), arguments, sub_query: sub_query.into(), ..Default::default() })
}

/// Arguments as an object, or as the JSON text of one (OpenAI's habit).
fn as_arguments(value: &Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(map) => Some(map.clone()),
        Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(texts: &[&str], expected: Expect) {
        let names = ["vector_search", "jira_fetch", "web_fetch"];
        let lines: Vec<String> = texts
            .iter()
            .map(|text| {
                let reply = Reply { text: (*text).into(), ..Default::default() };
                let proposal = read(&reply, &names, &GuardSettings::default());
                let calls: Vec<String> = proposal
                    .calls
                    .iter()
                    .map(|c| {
                        format!(
                            "{}{}{}",
                            if c.declined { "!" } else { "" },
                            c.tool,
                            c.arguments.as_ref().map_or(String::new(), |a| Value::from(a.clone()).to_string())
                        )
                    })
                    .collect();
                format!("{} => {:?} {}", text.escape_debug(), proposal.path, calls.join(" "))
            })
            .collect();
        expected.assert_eq(&lines.join("\n"));
    }

    /// G-03: the order of the paths, and every shape of JSON that models send.
    #[test]
    fn replies_are_read_in_order() {
        check(
            &[
                r#"{"tool":"vector_search"}"#,
                "Sure:\n```json\n[{\"name\":\"jira_fetch\",\"arguments\":\"{\\\"issue_key\\\":\\\"A-1\\\"}\"}]\n```",
                r#"<think>jira_fetch? no.</think>{"reasoning":"x","toolChain":[{"tool":"web_fetch","parameters":{"url":"u"},"confidence":1}]}"#,
                r#"I call {"tool_calls":[{"type":"function","function":{"name":"vector_search","arguments":{"query":"q"}}}]} now {"#,
                r#"{"vector_search":{"query":"a {brace}"}} {"name":"Bob"}"#,
                r#"{"tool":"vector_search_v2"}"#,
                "{broken vector_search",
                "<think>use web_fetch</think>",
                "nothing here",
            ],
            expect![[r#"
                {\"tool\":\"vector_search\"} => Json vector_search
                Sure:\n```json\n[{\"name\":\"jira_fetch\",\"arguments\":\"{\\\"issue_key\\\":\\\"A-1\\\"}\"}]\n``` => Json jira_fetch{"issue_key":"A-1"}
                <think>jira_fetch? no.</think>{\"reasoning\":\"x\",\"toolChain\":[{\"tool\":\"web_fetch\",\"parameters\":{\"url\":\"u\"},\"confidence\":1}]} => Json web_fetch{"url":"u"}
                I call {\"tool_calls\":[{\"type\":\"function\",\"function\":{\"name\":\"vector_search\",\"arguments\":{\"query\":\"q\"}}}]} now { => Json vector_search{"query":"q"}
                {\"vector_search\":{\"query\":\"a {brace}\"}} {\"name\":\"Bob\"} => Json vector_search{"query":"a {brace}"}
                {\"tool\":\"vector_search_v2\"} => Json vector_search_v2
                {broken vector_search => FreeText vector_search
                <think>use web_fetch</think> => FreeText web_fetch
                nothing here => FreeText "#]],
        );
    }
}

//! A reply while it is being assembled, whatever protocol it comes by, and what can be wrong with it.
//!
//! Pure: knows neither the server nor the key, so nothing here can name them.

use super::{names::WireNames, sse::Event};
use serde_json::{Map, Value, json};
use toolplan_engine::{
    select::{Exchange, Reply},
    tool::ToolCall,
};

/// Why no reply came of the bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The code of the problem that it becomes.
    pub(super) code: &'static str,
    pub(super) message: String,
}

impl Fault {
    /// The reply is not what the protocol says.
    pub(super) fn reply(message: impl Into<String>) -> Self {
        Self { code: "model.reply", message: message.into() }
    }

    /// The stream ended before the provider said that it was complete.
    pub(super) fn truncated() -> Self {
        Self::reply("the reply broke off before its end")
    }

    /// The provider reports an error inside its answer; `kind` is the provider's word or an HTTP status.
    pub(super) fn reported(kind: &str, message: &str) -> Self {
        let code = match kind {
            "authentication_error" | "permission_error" | "invalid_api_key" | "401" | "403" => "model.refused",
            "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" | "429" => "model.rate_limited",
            "invalid_request_error" | "not_found_error" | "request_too_large" | "400" | "404" | "413" => {
                "model.request"
            }
            "api_error" | "overloaded_error" | "server_error" | "timeout_error" => "model.server",
            status if status.len() == 3 && status.starts_with('5') => "model.server",
            _ => "model.reply",
        };
        Self { code, message: format!("the provider reports: {}", excerpt(message)) }
    }
}

/// The reading of one protocol.
pub(super) trait Assembly: Send {
    /// Takes an event of the stream; true when the reply is complete.
    fn event(&mut self, event: &Event) -> Result<bool, Fault>;
    /// Takes a whole reply from a server that does not stream.
    fn whole(&mut self, body: &Value) -> Result<(), Fault>;
    /// What was assembled, or why it is no reply.
    fn finish(self, names: &WireNames) -> Result<Reply, Fault>;
}

/// The parts that have arrived.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) thinking: String,
    pub(super) text: String,
    pub(super) calls: Vec<DraftCall>,
    pub(super) input_tokens: Option<u32>,
    pub(super) output_tokens: Option<u32>,
    /// The model ran out of tokens.
    pub(super) cut: bool,
}

/// A tool call whose arguments arrive as pieces of JSON text.
#[derive(Debug, Default)]
pub(super) struct DraftCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
}

impl Draft {
    /// The finished reply: thinking inside `<think>` before the text, and tool names as the catalog has them.
    pub(super) fn reply(self, names: &WireNames) -> Result<Reply, Fault> {
        let native_calls = self
            .calls
            .iter()
            .map(|call| {
                let tool = names.original(&call.name);
                if tool.is_empty() {
                    return Err(Fault::reply("the reply calls a tool without a name"));
                }
                let arguments = arguments(&call.arguments).map_err(|why| {
                    let cut = if self.cut { "; the model ran out of tokens" } else { "" };
                    Fault::reply(format!("the arguments of {} are {why}{cut}", excerpt(tool)))
                })?;
                Ok(ToolCall { tool: tool.to_owned(), arguments })
            })
            .collect::<Result<_, _>>()?;
        let text = if self.thinking.is_empty() {
            self.text
        } else {
            // Thinking that spells the closing tag would otherwise continue as the answer.
            format!("<think>{}</think>{}", self.thinking.replace("</think>", "</ think>"), self.text)
        };
        Ok(Reply {
            text: names.original_text(&text).into_owned(),
            native_calls,
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
        })
    }
}

/// Models leave the text empty, or write null, for a call without arguments.
fn arguments(text: &str) -> Result<Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err(format!("not a JSON object: {}", excerpt(text))),
        Err(error) => Err(format!("not JSON ({error}): {}", excerpt(text))),
    }
}

/// Reads the JSON of an event.
pub(super) fn json<'a, T: serde::Deserialize<'a>>(data: &'a str) -> Result<T, Fault> {
    serde_json::from_str(data)
        .map_err(|error| Fault::reply(format!("an event is not understood ({error}): {}", excerpt(data))))
}

/// The first words of something foreign, on one line, for a message.
pub(super) fn excerpt(text: &str) -> String {
    const CHARS: usize = 200;
    let mut clean: String = text.trim().chars().take(CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.trim().chars().nth(CHARS).is_some() {
        clean.push('…');
    }
    clean
}

/// A number as JSON prints it in decimal: 0.3 and not 0.30000001192092896.
pub(super) fn decimal(number: f32) -> Value {
    number.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}

/// A schema that says it is of an object, as both protocols require.
pub(super) fn object_schema(parameters: &Value) -> Value {
    let mut schema = parameters.clone();
    if let Some(map) = schema.as_object_mut().filter(|map| !map.contains_key("type")) {
        map.insert("type".into(), "object".into());
    }
    schema
}

/// What the model said in an earlier turn. Thinking is not sent back: providers refuse it or charge for it.
pub(super) fn without_thinking(text: &str) -> &str {
    match text.rfind("</think>") {
        Some(at) if text.starts_with("<think>") => &text[at + "</think>".len()..],
        _ => text,
    }
}

/// An earlier turn as text, calls included; never empty, which the protocols refuse.
pub(super) fn said(turn: &Exchange) -> String {
    let text = without_thinking(&turn.text).trim();
    let calls = turn.calls.iter().map(|c| json!({"tool": c.call.tool, "parameters": c.call.arguments}).to_string());
    match (turn.native, text) {
        (false, text) if !text.is_empty() => text.into(),
        (_, text) => [text.to_string()].into_iter().chain(calls).collect::<Vec<_>>().join("\n").trim().to_string(),
    }
}

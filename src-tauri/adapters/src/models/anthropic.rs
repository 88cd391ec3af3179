//! Anthropic's Messages API: the body of a request, and the reply out of its stream of content blocks.
//!
//! Tool names travel as the API accepts them and come back as the catalog has them (see `names.rs`). Knows nothing of
//! connections or limits.

use super::{
    ProviderConfig,
    draft::{Assembly, Draft, DraftCall, Fault, decimal, json, object_schema, said, without_thinking},
    http::{Endpoint, secret_header},
    names::WireNames,
    sse::Event,
};
use async_trait::async_trait;
use reqwest::header::{HeaderMap, HeaderValue};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use toolplan_engine::{
    Problem,
    ports::ChatModel,
    select::{Prompt, Reply},
};

const VERSION: &str = "2023-06-01";

/// A model behind the Messages API.
pub struct Anthropic {
    endpoint: Endpoint,
}

impl Anthropic {
    pub fn new(config: &ProviderConfig) -> Result<Self, Problem> {
        let mut headers = HeaderMap::new();
        headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
        if let Some(key) = secret_header(config, "")? {
            headers.insert("x-api-key", key);
        }
        Ok(Self { endpoint: Endpoint::new(config, &["v1", "messages"], headers)? })
    }
}

#[async_trait]
impl ChatModel for Anthropic {
    fn label(&self) -> String {
        self.endpoint.config().label()
    }

    fn counts_exactly(&self) -> bool {
        false
    }

    async fn complete(&self, prompt: &Prompt) -> Result<Reply, Problem> {
        let config = self.endpoint.config();
        let names = WireNames::new(&prompt.tools);
        self.endpoint.ask(&body(prompt, &config.model, config.max_tokens), Blocks::default(), &names).await
    }
}

/// The request's JSON: the prompt and its tools, and nothing else that could name a tool (V-09).
pub fn body(prompt: &Prompt, model: &str, max_tokens: u32) -> Value {
    let mut body = json!({
        "model": model,
        "max_tokens": max_tokens,
        "stream": true,
        "messages": messages(prompt),
    });
    if !prompt.system.is_empty() {
        body["system"] = prompt.system.as_str().into();
    }
    if takes_temperature(model) {
        // The API's range ends at 1, where others end at 2.
        body["temperature"] = decimal(prompt.temperature.clamp(0.0, 1.0));
    }
    if !prompt.tools.is_empty() {
        let names = WireNames::new(&prompt.tools);
        let tools = names.zip(&prompt.tools).map(|(name, tool)| {
            json!({
                "name": name,
                "description": tool.description,
                "input_schema": object_schema(&tool.parameters),
            })
        });
        body["tools"] = tools.collect();
    }
    body
}

/// The query and the turns since: calls as `tool_use` blocks, their results as `tool_result` blocks of the next message.
fn messages(prompt: &Prompt) -> Vec<Value> {
    let names = WireNames::new(&prompt.tools);
    let mut messages = vec![json!({"role": "user", "content": prompt.user})];
    for turn in &prompt.turns {
        // The API takes calls only beside tools.
        if !turn.native || prompt.tools.is_empty() {
            messages.push(json!({"role": "assistant", "content": said(turn)}));
            messages.push(json!({"role": "user", "content": turn.results_as_text()}));
            continue;
        }
        let mut said = vec![];
        // The API refuses an empty text.
        let text = without_thinking(&turn.text).trim();
        if !text.is_empty() {
            said.push(json!({"type": "text", "text": text}));
        }
        said.extend(turn.calls.iter().map(
            |c| json!({"type": "tool_use", "id": c.id, "name": names.wire(&c.call.tool), "input": c.call.arguments}),
        ));
        let results = turn.calls.iter().map(|c| {
            let content = c.result.to_string();
            json!({"type": "tool_result", "tool_use_id": c.id, "content": content, "is_error": c.is_error})
        });
        messages.push(json!({"role": "assistant", "content": said}));
        messages.push(json!({"role": "user", "content": results.collect::<Vec<_>>()}));
    }
    messages
}

/// Claude models after 4.6 answer HTTP 400 to a temperature. Names that are not Claude's belong to other servers, which
/// take it.
fn takes_temperature(model: &str) -> bool {
    let Some(rest) = model.strip_prefix("claude-") else { return true };
    // One or two digits are a version; eight are a date.
    let mut numbers = rest.split(['-', '.']).filter(|part| part.len() <= 2).filter_map(|part| part.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), minor) => (major, minor.unwrap_or(0)) <= (4, 6),
        (None, _) => false,
    }
}

/// The content blocks so far.
#[derive(Default)]
struct Blocks {
    draft: Draft,
    kinds: HashMap<u64, Kind>,
    complete: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    /// Index of the call in the draft.
    Tool(usize),
    /// A block that says nothing about calls, such as hidden thinking or a search by the provider.
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum StreamEvent {
    MessageStart {
        message: Message,
    },
    ContentBlockStart {
        index: u64,
        content_block: Block,
    },
    ContentBlockDelta {
        index: u64,
        delta: Delta,
    },
    ContentBlockStop {},
    MessageDelta {
        delta: MessageDelta,
        #[serde(default)]
        usage: Usage,
    },
    MessageStop {},
    Error {
        error: Reported,
    },
    /// `ping`, and what later versions add.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Vec<Block>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    usage: Usage,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        #[serde(default)]
        text: String,
    },
    Thinking {
        #[serde(default)]
        thinking: String,
    },
    ToolUse {
        #[serde(default)]
        id: String,
        name: String,
        #[serde(default)]
        input: Value,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(rename = "input_json_delta")]
    InputJson { partial_json: String },
    /// Signatures and citations.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct MessageDelta {
    #[serde(default)]
    stop_reason: Option<String>,
}

/// Counts so far: a later one replaces an earlier one.
#[derive(Default, Deserialize)]
struct Usage {
    input_tokens: Option<u32>,
    cache_creation_input_tokens: Option<u32>,
    cache_read_input_tokens: Option<u32>,
    output_tokens: Option<u32>,
}

#[derive(Deserialize)]
struct Reported {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    message: String,
}

impl Blocks {
    fn start(&mut self, index: u64, block: Block) {
        let kind = match block {
            Block::Text { text } => {
                if !self.draft.text.is_empty() {
                    self.draft.text.push('\n');
                }
                self.draft.text.push_str(&text);
                Kind::Text
            }
            Block::Thinking { thinking } => {
                self.draft.thinking.push_str(&thinking);
                Kind::Thinking
            }
            Block::ToolUse { id, name, input } => {
                let given = !input.is_null() && input.as_object().is_none_or(|map| !map.is_empty());
                let arguments = if given { input.to_string() } else { String::new() };
                self.draft.calls.push(DraftCall { id, name, arguments });
                Kind::Tool(self.draft.calls.len() - 1)
            }
            Block::Other => Kind::Other,
        };
        self.kinds.insert(index, kind);
    }

    fn delta(&mut self, index: u64, delta: Delta) -> Result<(), Fault> {
        let Some(kind) = self.kinds.get(&index) else {
            return Err(Fault::reply(format!("the stream continues block {index}, which it did not begin")));
        };
        match (*kind, delta) {
            (_, Delta::Other) | (Kind::Other, _) => {}
            (Kind::Text, Delta::Text { text }) => self.draft.text.push_str(&text),
            (Kind::Thinking, Delta::Thinking { thinking }) => self.draft.thinking.push_str(&thinking),
            (Kind::Tool(call), Delta::InputJson { partial_json }) => {
                self.draft.calls[call].arguments.push_str(&partial_json);
            }
            _ => return Err(Fault::reply(format!("the stream continues block {index} with what it is not"))),
        }
        Ok(())
    }

    fn usage(&mut self, usage: &Usage) {
        let parts = [usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens];
        if usage.input_tokens.is_some() {
            self.draft.input_tokens = Some(parts.into_iter().flatten().fold(0, u32::saturating_add));
        }
        self.draft.output_tokens = usage.output_tokens.or(self.draft.output_tokens);
    }

    fn stop_reason(&mut self, reason: Option<&str>) {
        self.draft.cut |= reason == Some("max_tokens");
    }
}

impl Assembly for Blocks {
    fn event(&mut self, event: &Event) -> Result<bool, Fault> {
        match json::<StreamEvent>(&event.data)? {
            StreamEvent::MessageStart { message } => self.usage(&message.usage),
            StreamEvent::ContentBlockStart { index, content_block } => self.start(index, content_block),
            StreamEvent::ContentBlockDelta { index, delta } => self.delta(index, delta)?,
            StreamEvent::MessageDelta { delta, usage } => {
                self.stop_reason(delta.stop_reason.as_deref());
                self.usage(&usage);
            }
            StreamEvent::MessageStop {} => self.complete = true,
            StreamEvent::Error { error } => return Err(Fault::reported(&error.kind, &error.message)),
            StreamEvent::ContentBlockStop {} | StreamEvent::Other => {}
        }
        Ok(self.complete)
    }

    fn whole(&mut self, body: &Value) -> Result<(), Fault> {
        if let Some(error) = body.get("error") {
            let text = |key| error.get(key).and_then(Value::as_str).unwrap_or_default();
            return Err(Fault::reported(text("type"), text("message")));
        }
        if body.get("content").is_none() {
            return Err(Fault::reply("the reply has no content; is this a server of the Messages API?"));
        }
        let message =
            Message::deserialize(body).map_err(|e| Fault::reply(format!("the reply is not understood ({e})")))?;
        self.usage(&message.usage);
        self.stop_reason(message.stop_reason.as_deref());
        for (index, block) in (0..).zip(message.content) {
            self.start(index, block);
        }
        self.complete = true;
        Ok(())
    }

    fn finish(self, names: &WireNames) -> Result<Reply, Fault> {
        if self.complete { self.draft.reply(names) } else { Err(Fault::truncated()) }
    }
}

//! The Chat Completions API, as OpenAI, Ollama, llama.cpp and others speak it: the body of a request, and the reply
//! out of its stream of deltas.
//!
//! Tool names travel as the API accepts them and come back as the catalog has them (see `names.rs`). Where servers
//! differ from OpenAI (no `[DONE]`, no index, arguments as an object, one answer instead of a stream), the reading
//! gives way. Knows nothing of connections or limits.

use super::{
    Provider, ProviderConfig,
    draft::{Assembly, Draft, DraftCall, Fault, decimal, json, object_schema, said, without_thinking},
    http::{Endpoint, secret_header},
    names::WireNames,
    sse::Event,
};
use async_trait::async_trait;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde::Deserialize;
use serde_json::{Value, json};
use toolplan_engine::{
    Problem,
    ports::ChatModel,
    select::{Prompt, Reply},
};

/// A model behind the Chat Completions API.
pub struct OpenAi {
    endpoint: Endpoint,
}

impl OpenAi {
    pub fn new(config: &ProviderConfig) -> Result<Self, Problem> {
        let mut headers = HeaderMap::new();
        if let Some(bearer) = secret_header(config, "Bearer ")? {
            headers.insert(AUTHORIZATION, bearer);
        }
        let path: &[&str] = match config.provider {
            Provider::Ollama => &["v1", "chat", "completions"],
            _ => &["chat", "completions"],
        };
        Ok(Self { endpoint: Endpoint::new(config, path, headers)? })
    }
}

#[async_trait]
impl ChatModel for OpenAi {
    fn label(&self) -> String {
        self.endpoint.config().label()
    }

    /// True for OpenAI's own models at OpenAI: any other server may call any model `gpt-4o`.
    fn counts_exactly(&self) -> bool {
        let config = self.endpoint.config();
        let host = config.base_url.host_str().unwrap_or_default();
        let at_openai = host == "api.openai.com" || host.ends_with(".api.openai.com");
        config.provider == Provider::OpenAi && at_openai && uses_o200k(&config.model)
    }

    async fn complete(&self, prompt: &Prompt) -> Result<Reply, Problem> {
        let config = self.endpoint.config();
        let names = WireNames::new(&prompt.tools);
        self.endpoint.ask(&body(prompt, &config.model, config.max_tokens), Deltas::default(), &names).await
    }
}

/// The request's JSON: the prompt and its tools, and nothing else that could name a tool (V-09).
pub fn body(prompt: &Prompt, model: &str, max_tokens: u32) -> Value {
    let mut messages = vec![];
    if !prompt.system.is_empty() {
        messages.push(json!({"role": "system", "content": prompt.system}));
    }
    messages.push(json!({"role": "user", "content": prompt.user}));
    messages.extend(turns(prompt));
    let mut body = json!({
        "model": model,
        "messages": messages,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    // OpenAI's reasoning models refuse a temperature and the old name of the limit, which other servers still need.
    if is_family(model, &["gpt-5", "o1", "o3", "o4"]) {
        body["max_completion_tokens"] = max_tokens.into();
    } else {
        body["max_tokens"] = max_tokens.into();
        body["temperature"] = decimal(prompt.temperature);
    }
    if !prompt.tools.is_empty() {
        let names = WireNames::new(&prompt.tools);
        let tools = names.zip(&prompt.tools).map(|(name, tool)| {
            json!({
                "type": "function",
                "function": {
                    "name": name,
                    "description": tool.description,
                    "parameters": object_schema(&tool.parameters),
                },
            })
        });
        body["tools"] = tools.collect();
    }
    body
}

/// The turns since the query: calls as `tool_calls`, their results as messages of the role `tool`.
fn turns(prompt: &Prompt) -> Vec<Value> {
    let names = WireNames::new(&prompt.tools);
    let mut messages = vec![];
    for turn in &prompt.turns {
        // The API takes calls only beside tools.
        if !turn.native || prompt.tools.is_empty() {
            messages.push(json!({"role": "assistant", "content": said(turn)}));
            messages.push(json!({"role": "user", "content": turn.results_as_text()}));
            continue;
        }
        let calls = turn.calls.iter().map(|c| {
            let arguments = Value::from(c.call.arguments.clone()).to_string();
            let function = json!({"name": names.wire(&c.call.tool), "arguments": arguments});
            json!({"id": c.id, "type": "function", "function": function})
        });
        messages.push(json!({
            "role": "assistant",
            "content": without_thinking(&turn.text),
            "tool_calls": calls.collect::<Vec<_>>(),
        }));
        messages.extend(
            turn.calls.iter().map(|c| json!({"role": "tool", "tool_call_id": c.id, "content": c.result.to_string()})),
        );
    }
    messages
}

/// Whether OpenAI encodes the text of this model as o200k.
pub(super) fn uses_o200k(model: &str) -> bool {
    is_family(model, &["gpt-4o", "gpt-4.1", "gpt-5", "o1", "o3", "o4"])
}

/// `gpt-5`, `gpt-5-mini` and `gpt-5.1` are of the family `gpt-5`; `o10` is not of `o1`. Fine-tuned models belong to
/// their base's family.
fn is_family(model: &str, families: &[&str]) -> bool {
    let model = model.strip_prefix("ft:").unwrap_or(model);
    families.iter().any(|family| {
        model.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', ':']))
    })
}

/// The deltas so far.
#[derive(Default)]
struct Deltas {
    draft: Draft,
    /// The index that the server gave to each call of the draft.
    indexes: Vec<Option<u64>>,
    /// A choice has said why it stopped.
    stopped: bool,
    /// `[DONE]`, or a whole reply.
    complete: bool,
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: u64,
    delta: Option<Delta>,
    /// Instead of `delta` where the server does not stream.
    message: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<Text>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
}

/// Text, or the parts that some servers make of it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Plain(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
    thinking: Option<Text>,
}

#[derive(Deserialize)]
struct CallDelta {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Default, Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    /// A piece of JSON text; some servers send the object itself.
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct Usage {
    prompt_tokens: Option<u32>,
    completion_tokens: Option<u32>,
}

impl Deltas {
    fn chunk(&mut self, chunk: Chunk) -> Result<(), Fault> {
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(reported(&error));
        }
        if let Some(usage) = chunk.usage {
            self.draft.input_tokens = usage.prompt_tokens.or(self.draft.input_tokens);
            self.draft.output_tokens = usage.completion_tokens.or(self.draft.output_tokens);
        }
        // Only one choice was asked for.
        for choice in chunk.choices.into_iter().filter(|choice| choice.index == 0) {
            for delta in choice.delta.into_iter().chain(choice.message) {
                self.delta(delta);
            }
            self.stopped |= choice.finish_reason.is_some();
            self.draft.cut |= choice.finish_reason.as_deref() == Some("length");
        }
        Ok(())
    }

    fn delta(&mut self, delta: Delta) {
        // Some servers send the same thought under both names.
        if let Some(thought) = delta.reasoning_content.or(delta.reasoning) {
            self.draft.thinking.push_str(&thought);
        }
        if let Some(content) = delta.content {
            self.text(content, false);
        }
        if let Some(refusal) = delta.refusal {
            self.draft.text.push_str(&refusal);
        }
        for call in delta.tool_calls.into_iter().flatten() {
            self.call(call);
        }
    }

    fn text(&mut self, text: Text, thinking: bool) {
        match text {
            Text::Plain(text) if thinking => self.draft.thinking.push_str(&text),
            Text::Plain(text) => self.draft.text.push_str(&text),
            Text::Parts(parts) => {
                for part in parts {
                    if let Some(text) = part.text {
                        self.text(Text::Plain(text), thinking);
                    }
                    if let Some(thought) = part.thinking {
                        self.text(thought, true);
                    }
                }
            }
        }
    }

    fn call(&mut self, fragment: CallDelta) {
        let id = fragment.id.unwrap_or_default();
        let function = fragment.function.unwrap_or_default();
        let name = function.name.unwrap_or_default();
        let position = match fragment.index {
            Some(_) => self.indexes.iter().rposition(|index| *index == fragment.index),
            // Without an index a name begins a call and anything else continues the last one.
            None if name.is_empty() => self.indexes.len().checked_sub(1),
            None => None,
        };
        // Some servers give every whole call the index 0: another id with a name is another call.
        let position = position.filter(|at| {
            let known = &self.draft.calls[*at];
            name.is_empty() || id.is_empty() || known.id.is_empty() || known.id == id
        });
        let at = position.unwrap_or_else(|| {
            self.draft.calls.push(DraftCall::default());
            self.indexes.push(fragment.index);
            self.draft.calls.len() - 1
        });
        let call = &mut self.draft.calls[at];
        if call.id.is_empty() {
            call.id = id;
        }
        // Some servers repeat the name with every fragment.
        if call.name != name {
            call.name.push_str(&name);
        }
        match function.arguments {
            None | Some(Value::Null) => {}
            Some(Value::String(piece)) => call.arguments.push_str(&piece),
            Some(whole) => call.arguments.push_str(&whole.to_string()),
        }
    }
}

fn reported(error: &Value) -> Fault {
    let message = error.get("message").or(Some(error)).and_then(Value::as_str).unwrap_or("an error without words");
    let kinds = ["code", "type"].into_iter().filter_map(|key| error.get(key));
    let kinds = kinds.map(|kind| kind.as_str().map_or_else(|| kind.to_string(), str::to_owned));
    let faults: Vec<Fault> = kinds.map(|kind| Fault::reported(&kind, message)).collect();
    // The first word that says more than "an error".
    let telling = faults.into_iter().find(|fault| fault.code != "model.reply");
    telling.unwrap_or_else(|| Fault::reported("", message))
}

impl Assembly for Deltas {
    fn event(&mut self, event: &Event) -> Result<bool, Fault> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.complete = true;
        } else if event.name == "error" {
            let value: Value = json(data)?;
            return Err(reported(value.get("error").unwrap_or(&value)));
        } else if !data.is_empty() {
            self.chunk(json(data)?)?;
        }
        Ok(self.complete)
    }

    fn whole(&mut self, body: &Value) -> Result<(), Fault> {
        let chunk = Chunk::deserialize(body).map_err(|e| Fault::reply(format!("the reply is not understood ({e})")))?;
        if chunk.choices.is_empty() && chunk.error.is_none() {
            return Err(Fault::reply("the reply has no choices; is this a server of the Chat Completions API?"));
        }
        self.chunk(chunk)?;
        self.complete = true;
        Ok(())
    }

    /// A stream that said why it stopped is complete: not every server sends `[DONE]`.
    fn finish(self, names: &WireNames) -> Result<Reply, Fault> {
        if self.complete || self.stopped { self.draft.reply(names) } else { Err(Fault::truncated()) }
    }
}

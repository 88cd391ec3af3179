//! Asking the model: one question, one repair, a time limit, and what it took.

use super::prompt::{self, Asked};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;
use toolplan_engine::{
    Problem,
    ports::{CallContext, ChatModel, ErrorClass, ToolError},
    text::middle_truncate,
};

/// Who writes and who judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// The model where there is one and it answers; else the words.
    Auto,
    Extractive,
    Model,
}

/// What asking took, for the journal.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Usage {
    pub(super) label: String,
    calls: u32,
    input_tokens: Option<u32>,
    output_tokens: Option<u32>,
    /// Characters of the results that it did not see.
    cut: usize,
}

impl Usage {
    pub(super) fn to_json(&self) -> Value {
        let mut told = json!({
            "label": self.label,
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
        });
        if self.cut > 0 {
            told["cut_characters"] = self.cut.into();
        }
        told
    }
}

/// Why the words decide in the model's place.
pub(super) struct Refused {
    pub(super) why: String,
    /// Empty when no model was asked.
    pub(super) usage: Option<Usage>,
}

/// What the model said, or why it is not asked or not heard.
pub(super) type Heard<T> = Result<(T, Usage), Refused>;

/// The part of a call's time that the model may take; the rest is for the answer without it.
const SHARE: f64 = 0.8;
/// When nobody says how long a call may take.
const USUAL_LIMIT: Duration = Duration::from_secs(24);

/// Asks the model and reads its answer with `read`, which says what is wrong with one that cannot be used.
///
/// Errors only where `method` is [`Method::Model`]: no model is configured, or it gave no usable answer.
pub(super) async fn ask<T, R: DeserializeOwned>(
    model: Option<&Arc<dyn ChatModel>>,
    method: Method,
    context: &CallContext,
    asked: impl FnOnce() -> Asked,
    read: impl Fn(R) -> Result<T, String>,
) -> Result<Heard<T>, ToolError> {
    if method == Method::Extractive {
        return Ok(Err(Refused { why: "the method is extractive".into(), usage: None }));
    }
    let Some(model) = model else {
        if method == Method::Model {
            return Err(ToolError::new(
                ErrorClass::Unbound,
                "the method is model, and no model is configured",
                "set TOOL_PLANNER_LLM and the provider's key, or use the method auto or extractive",
            ));
        }
        return Ok(Err(Refused { why: "no model is configured".into(), usage: None }));
    };
    let limit = match context.timeout_ms {
        0 => USUAL_LIMIT,
        ms => Duration::from_millis(u64::from(ms)).mul_f64(SHARE),
    };
    let Asked { prompt: first, cut } = asked();
    let mut usage = Usage { label: model.label(), cut, ..Usage::default() };
    let deadline = Instant::now() + limit;
    let mut prompt = first.clone();
    let mut fault = String::new();
    // Once, and once more with what was wrong.
    for _ in 0..2 {
        usage.calls += 1;
        let reply = match tokio::time::timeout_at(deadline, model.complete(&prompt)).await {
            Ok(Ok(reply)) => reply,
            Ok(Err(problem)) => {
                return refused(method, usage, class(&problem), format!("{} ({})", problem.message, problem.hint));
            }
            Err(_) => {
                let why = format!("{} did not answer within {} ms", usage.label, limit.as_millis());
                return refused(method, usage, ErrorClass::Timeout, why);
            }
        };
        let add = |total: Option<u32>, more: Option<u32>| match (total, more) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        usage.input_tokens = add(usage.input_tokens, reply.input_tokens);
        usage.output_tokens = add(usage.output_tokens, reply.output_tokens);
        match object(&reply.text)
            .and_then(|text| serde_json::from_str(text).map_err(|e| format!("it is not the JSON asked for: {e}")))
        {
            Ok(parsed) => match read(parsed) {
                Ok(told) => return Ok(Ok((told, usage))),
                Err(why) => fault = why,
            },
            Err(why) => fault = why,
        }
        prompt = prompt::repair(&first, &reply.text, &fault);
    }
    let why = format!("{} gave no usable answer, twice: {}", usage.label, middle_truncate(&fault, 200));
    refused(method, usage, ErrorClass::Internal, why)
}

fn refused<T>(method: Method, usage: Usage, class: ErrorClass, why: String) -> Result<Heard<T>, ToolError> {
    match method {
        Method::Model => Err(ToolError::new(class, why, "the method auto answers without the model then")),
        _ => Ok(Err(Refused { why, usage: Some(usage) })),
    }
}

/// The class of a model's trouble, so that what may pass is tried again (O-03).
fn class(problem: &Problem) -> ErrorClass {
    match problem.code.as_str() {
        "model.rate_limited" => ErrorClass::RateLimited,
        "model.unreachable" | "model.server" => ErrorClass::Transient,
        "model.refused" => ErrorClass::Refused,
        "model.request" => ErrorClass::Client,
        _ => ErrorClass::Internal,
    }
}

/// The JSON object that the text is, thinking before it and a fence around it aside.
fn object(text: &str) -> Result<&str, String> {
    let text = text.trim();
    let text = match text.strip_prefix("<think>") {
        Some(rest) => rest.rsplit_once("</think>").map_or("", |(_, after)| after).trim(),
        None => text,
    };
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```")).and_then(|t| t.strip_suffix("```"));
    let text = inner.unwrap_or(text).trim();
    match text.starts_with('{') {
        true => Ok(text),
        false => Err("it is no JSON object".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::object;

    #[test]
    fn the_object_is_found_and_nothing_else_is_taken_for_it() {
        for (text, found) in [
            ("{\"a\": 1}", Some("{\"a\": 1}")),
            (" ```json\n{\"a\": 1}\n``` ", Some("{\"a\": 1}")),
            ("<think>{no}</think>{}", Some("{}")),
            ("Sure: {}", None),
            ("[1]", None),
            ("<think>for ever", None),
        ] {
            assert_eq!(object(text).ok(), found, "{text}");
        }
    }
}

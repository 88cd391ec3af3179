//! What the engine needs of the outside world, on one page. The `store` and `adapters` crates implement these.

use crate::{
    Problem,
    run::{JournalEntry, Message, RunEvent, RunId},
    select::{Prompt, Reply},
    tool::ToolSpec,
};
use async_trait::async_trait;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, sync::Arc};
use tokio_util::sync::CancellationToken;

/// A chat model: one prompt in, one reply out.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// For people: `anthropic/claude-sonnet-4`.
    fn label(&self) -> String;
    /// Whether token counts of the o200k encoding are exact for this model.
    fn counts_exactly(&self) -> bool;
    async fn complete(&self, prompt: &Prompt) -> Result<Reply, Problem>;
}

/// Turns text into vectors: texts that mean alike lie close together (D-04).
///
/// The same text gives the same vector. A call takes milliseconds a text and does not yield: many texts belong on a
/// thread of their own.
pub trait Embedder: Send + Sync {
    /// Tells this model's vectors from those of any other: a hash of its files.
    fn id(&self) -> &str;
    /// For people: `all-MiniLM-L6-v2`.
    fn label(&self) -> &str;
    /// Numbers in a vector.
    fn dimensions(&self) -> usize;
    /// A vector of length 1 for each text, in order. Long texts are read up to the model's limit.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Problem>;
}

/// Runs tools. Dropping the future cancels the work itself (O-04).
#[async_trait]
pub trait ToolRuntime: Send + Sync {
    async fn call(
        &self,
        tool: &ToolSpec,
        arguments: &Map<String, Value>,
        context: &CallContext,
    ) -> Result<ToolResult, ToolError>;
}

/// What a tool may know beside its arguments (O-02).
#[derive(Debug, Clone, Default)]
pub struct CallContext {
    pub run: RunId,
    pub step: String,
    /// 1 for the first attempt.
    pub attempt: u32,
    pub query: String,
    /// The results of the steps that this one depends on, by step id, with their confidence and sources (O-09).
    pub previous: BTreeMap<String, ToolResult>,
    /// What was said before the query, and anything else that was given with it.
    pub given: Arc<Given>,
    /// When the run started, milliseconds since 1970.
    pub started_ms: u64,
    /// Milliseconds that this attempt may take; 0 where nobody says.
    pub timeout_ms: u32,
    pub cancel: CancellationToken,
}

/// What a run was given beside its query (O-02).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Given {
    pub conversation: Vec<Message>,
    pub metadata: Map<String, Value>,
}

/// A tool's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ToolResult {
    pub data: Value,
    /// 0..1, where the tool can tell.
    #[serde(default)]
    pub confidence: Option<f32>,
    /// Files, pages or URLs that the data come from.
    #[serde(default)]
    pub sources: Vec<String>,
}

/// Why a call failed. The class decides whether a retry makes sense (O-03).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[error("{message}")]
pub struct ToolError {
    pub class: ErrorClass,
    pub message: String,
    pub hint: String,
    /// How long the tool asks to be left alone, milliseconds (HTTP `Retry-After`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u32>,
}

impl ToolError {
    pub fn new(class: ErrorClass, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { class, message: message.into(), hint: hint.into(), retry_after_ms: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The arguments are wrong.
    Validation,
    /// Not allowed: policy, state, sandbox, private address, HTTP 401 and 403.
    Refused,
    NotFound,
    /// Any other answer of HTTP 4xx.
    Client,
    /// HTTP 429.
    RateLimited,
    /// HTTP 5xx, connection trouble.
    Transient,
    Timeout,
    /// The tool has no binding here.
    Unbound,
    Internal,
}

impl ErrorClass {
    const ALL: [(Self, &'static str); 9] = [
        (Self::Validation, "validation"),
        (Self::Refused, "refused"),
        (Self::NotFound, "not_found"),
        (Self::Client, "client"),
        (Self::RateLimited, "rate_limited"),
        (Self::Transient, "transient"),
        (Self::Timeout, "timeout"),
        (Self::Unbound, "unbound"),
        (Self::Internal, "internal"),
    ];

    /// As in JSON.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(class, _)| *class == self).map_or("", |(_, name)| name)
    }

    /// The class of the name, or a sentence with all names.
    pub fn named(name: &str) -> Result<Self, String> {
        let names = || Self::ALL.map(|(_, name)| name).join(", ");
        let found = Self::ALL.iter().find(|(_, known)| *known == name).map(|(class, _)| *class);
        found.ok_or_else(|| format!("there is no error class {name:?}; choose one of: {}", names()))
    }

    /// Whether the same call may succeed later (O-03, O-04).
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::Transient | Self::Timeout)
    }
}

/// The durable record of runs. An entry is on disk before `append` returns (O-10).
#[async_trait]
pub trait Journal: Send + Sync {
    /// Appends events to the run, in order, and returns them as stored.
    async fn append(&self, run: RunId, events: Vec<RunEvent>) -> Result<Vec<JournalEntry>, Problem>;
}

/// Results of harmless calls, kept for a while (O-08).
#[async_trait]
pub trait ResultCache: Send + Sync {
    /// The kept result of the key, or that of `call`, which is made once however many ask for the key at the same
    /// time. Failures are not kept.
    async fn get_or_call(
        &self,
        key: CacheKey,
        call: BoxFuture<'_, Result<ToolResult, ToolError>>,
    ) -> Result<(ToolResult, Option<Cached>), ToolError>;
}

/// Names one call: tool, its revision, normalised arguments.
pub type CacheKey = String;

/// Where a result came from that was not called for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cached {
    /// Milliseconds since the call that gave it ended; 0 when it was under way at the same time.
    pub age_ms: u32,
}

/// Counts tokens of text in one encoding.
pub trait TokenCounter: Send + Sync {
    /// Such as `o200k_base`.
    fn encoding(&self) -> &str;
    fn count(&self, text: &str) -> u32;
}

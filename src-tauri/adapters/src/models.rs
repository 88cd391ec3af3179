//! Model providers: one prompt over the network, one reply back.
//!
//! A [`ProviderConfig`] says which provider, model and server; [`ProviderConfig::build`] makes the [`ChatModel`] of it.
//! Both protocols stream and are read piece by piece under fixed limits. [`Recorded`] answers without a network.
//!
//! Knows nothing of visibility, guards or plans: what stands in the prompt is sent, and what the model proposes is
//! returned unjudged. Nothing is retried and no total time is kept here; whoever asks drops the future when it is late,
//! and that closes the connection.
//!
//! | code of a problem | when |
//! | --- | --- |
//! | `model.config` | the settings name no usable provider |
//! | `model.unreachable` | no connection, or silence on an open one |
//! | `model.refused` | HTTP 401 and 403 |
//! | `model.rate_limited` | HTTP 429 |
//! | `model.request` | any other refusal of this request, such as an unknown model |
//! | `model.server` | HTTP 5xx, or the provider says that it is overloaded |
//! | `model.reply` | the answer is broken, cut off or too large |
//! | `model.unrecorded` | no reply is recorded for the query |
//!
//! [`ChatModel`]: toolplan_engine::ports::ChatModel

pub mod anthropic;
pub mod openai;

mod config;
mod draft;
mod http;
mod names;
mod scripted;
mod secret;
mod sse;
#[cfg(test)]
pub(crate) mod tests;

pub use anthropic::Anthropic;
pub use config::{MAX_TOKENS, Provider, ProviderConfig};
pub use openai::OpenAi;
pub use scripted::Recorded;
pub use secret::Secret;

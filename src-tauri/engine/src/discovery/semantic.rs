//! Ranking by meaning: how near a query's vectors lie to those of the tools (D-04).
//!
//! Every tool has one vector, of its name in words and its description. A query has one for the whole and one for each
//! sentence. Vectors are kept in 8 bits and scanned one after another: for tens of thousands of tools that takes less
//! time than reading the query does. Knows nothing of words and their weights, nor of how a model works.

use super::{own_name, plain_words, words};
use crate::{Problem, ports::Embedder, text::is_cjk, tool::ToolSpec};
use std::{fmt, sync::Arc};

/// Bytes of a tool's text that matter; models read less.
const MAX_TEXT: usize = 1500;
/// Sentences of a query that are read one by one, beside the query as a whole.
const MAX_SENTENCES: usize = 6;
/// Of a query with more of its letters from Chinese, Japanese or Korean than this, the words decide: the small models
/// that people install know English.
const FOREIGN: f32 = 0.3;
/// How much of a query's likeness is its best sentence's, where it has several.
const BEST_SENTENCE: f32 = 0.5;

/// What a model reads of a tool.
pub fn text(spec: &ToolSpec) -> String {
    let name = plain_words(own_name(spec)).join(" ");
    let description = spec.description.trim();
    let text = if description.is_empty() { name } else { format!("{name}: {description}") };
    words::cut(&text, MAX_TEXT).to_string()
}

/// A vector of length 1 in a byte a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    /// What one step of a byte stands for.
    step: f32,
    values: Box<[i8]>,
}

impl Vector {
    pub fn of(values: &[f32]) -> Self {
        let length = values.iter().map(|v| v * v).sum::<f32>().sqrt();
        let most = values.iter().fold(0.0f32, |most, v| most.max(v.abs()));
        if most <= 0.0 || !length.is_finite() {
            return Self { step: 0.0, values: vec![0; values.len()].into() };
        }
        let values: Box<[i8]> = values.iter().map(|v| (v / most * 127.0).round() as i8).collect();
        // Rounded values are a little longer or shorter than the given ones; the step makes up for it.
        let rounded = values.iter().map(|v| f32::from(*v).powi(2)).sum::<f32>().sqrt();
        Self { step: 1.0 / rounded, values }
    }

    /// As it is stored: the step, then a byte a number.
    pub fn to_bytes(&self) -> Vec<u8> {
        let values = self.values.iter().map(|v| v.to_le_bytes()[0]);
        self.step.to_le_bytes().into_iter().chain(values).collect()
    }

    /// None for what no vector of this size was stored as.
    pub fn from_bytes(bytes: &[u8], dimensions: usize) -> Option<Self> {
        let (step, values) = bytes.split_first_chunk::<4>()?;
        let step = f32::from_le_bytes(*step);
        let sound = values.len() == dimensions && step.is_finite() && (0.0..=1.0).contains(&step);
        sound.then(|| Self { step, values: values.iter().map(|v| i8::from_le_bytes([*v])).collect() })
    }

    /// The cosine: 1 for the same direction, 0 for texts that have nothing to do with one another.
    pub fn likeness(&self, other: &Self) -> f32 {
        dot(&self.values, &other.values) as f32 * self.step * other.step
    }
}

/// Sums of 8 products fit in 32 bits a hundred thousand times over, and compile to the wide instructions.
fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(x, y)| i32::from(i16::from(*x) * i16::from(*y))).sum()
}

/// The model, and what it made of the tools, by their slots in the index.
#[derive(Clone)]
pub(super) struct Meaning {
    pub embedder: Arc<dyn Embedder>,
    width: usize,
    values: Vec<i8>,
    /// 0: not known yet.
    steps: Vec<f32>,
    known: usize,
}

impl fmt::Debug for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Meaning({}, {} tools)", self.embedder.label(), self.known)
    }
}

impl Meaning {
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        let width = embedder.dimensions();
        Self { embedder, width, values: vec![], steps: vec![], known: 0 }
    }

    pub fn put(&mut self, slot: u32, vector: &Vector) {
        let slot = slot as usize;
        if vector.values.len() != self.width {
            return;
        }
        if self.steps.len() <= slot {
            self.steps.resize(slot + 1, 0.0);
            self.values.resize((slot + 1) * self.width, 0);
        }
        self.forget(slot as u32);
        // A vector of nothing but zeros is a known one.
        self.steps[slot] = vector.step.max(f32::MIN_POSITIVE);
        self.values[slot * self.width..(slot + 1) * self.width].copy_from_slice(&vector.values);
        self.known += 1;
    }

    pub fn forget(&mut self, slot: u32) {
        if let Some(step) = self.steps.get_mut(slot as usize).filter(|step| **step > 0.0) {
            *step = 0.0;
            self.known -= 1;
        }
    }

    pub fn known(&self) -> usize {
        self.known
    }

    pub fn knows(&self, slot: u32) -> bool {
        self.steps.get(slot as usize).is_some_and(|step| *step > 0.0)
    }

    /// The query's likeness to every slot; none for a query that the model cannot read.
    pub fn likeness(&self, query: &str) -> Option<Result<Vec<f32>, Problem>> {
        if is_foreign(query) {
            return None;
        }
        let mut texts = vec![words::beginning(query)];
        let sentences = words::sentences(query);
        if sentences.len() > 1 {
            texts.extend(sentences.into_iter().take(MAX_SENTENCES));
        }
        Some(self.embedder.embed(&texts).map(|vectors| {
            let vectors: Vec<Vector> = vectors.iter().map(|v| Vector::of(v)).collect();
            let Some((whole, sentences)) = vectors.split_first() else { return vec![] };
            let share = if sentences.is_empty() { 0.0 } else { BEST_SENTENCE };
            let slots = self.values.chunks_exact(self.width.max(1)).zip(&self.steps);
            slots
                .map(|(values, step)| {
                    let to = |v: &Vector| dot(values, &v.values) as f32 * step * v.step;
                    let best = sentences.iter().map(to).fold(f32::MIN, f32::max);
                    (1.0 - share) * to(whole) + if share > 0.0 { share * best } else { 0.0 }
                })
                .collect()
        }))
    }
}

fn is_foreign(query: &str) -> bool {
    let (mut letters, mut foreign) = (0u32, 0u32);
    for c in words::beginning(query).chars().filter(|c| c.is_alphanumeric()) {
        letters += 1;
        foreign += u32::from(is_cjk(c));
    }
    foreign as f32 > FOREIGN * letters as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_survive_a_byte_a_number() {
        let unit = |values: [f32; 4]| {
            let length = values.iter().map(|v| v * v).sum::<f32>().sqrt();
            values.map(|v| v / length)
        };
        let (a, b) = (unit([0.3, -0.2, 0.9, 0.01]), unit([0.1, 0.5, 0.4, -0.7]));
        let cosine: f32 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
        let (short_a, short_b) = (Vector::of(&a), Vector::of(&b));
        assert!((short_a.likeness(&short_b) - cosine).abs() < 0.01);
        assert!((short_a.likeness(&short_a) - 1.0).abs() < 1e-5);
        assert_eq!(Vector::from_bytes(&short_a.to_bytes(), 4), Some(short_a.clone()));
        assert_eq!(Vector::from_bytes(&short_a.to_bytes(), 5), None);
        assert_eq!(Vector::from_bytes(&[255; 8], 4), None);
        assert_eq!(Vector::of(&[0.0; 4]).likeness(&short_a), 0.0);
    }

    #[test]
    fn the_text_of_a_tool_is_its_name_in_words_and_its_description() {
        let spec = ToolSpec {
            name: "jira.searchIssues".into(),
            namespace: "jira".into(),
            description: " Find bugs ".into(),
            ..ToolSpec::default()
        };
        assert_eq!(text(&spec), "search issues: Find bugs");
        assert_eq!(text(&ToolSpec { description: format!("a{}", "翻".repeat(1000)), ..spec }).len(), 1498);
    }

    #[test]
    fn queries_in_chinese_are_left_to_the_words() {
        assert!(is_foreign("北京后天的天气如何？"));
        assert!(!is_foreign("the weather in 北京 tomorrow"));
        assert!(!is_foreign(""));
    }
}

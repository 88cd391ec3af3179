//! The words of a set of tools, in an inverted index.
//!
//! Lengths are measured against a typical tool instead of this catalog's average, so an edit never changes another
//! tool's entry, and an edited index equals a new one. The index knows nothing of visibility.

use super::{
    rows::Rows,
    semantic::{Meaning, Vector},
    stored,
    vocabulary::{Act, act},
    words::{Word, words},
};
use crate::{
    ports::Embedder,
    tool::{Catalog, ToolSpec},
};
use serde_json::Value;
use std::{collections::HashMap, sync::Arc};

/// A field of a tool: what its words count for, how much a long text dilutes them, and what length is usual.
struct Field {
    weight: f32,
    dilution: f32,
    usual: f32,
    /// Whether neighbouring words also count as one.
    phrases: bool,
}

const NAME: Field = Field { weight: 3.0, dilution: 0.5, usual: 3.0, phrases: true };
const CAPABILITY: Field = Field { weight: 2.0, dilution: 0.5, usual: 3.0, phrases: true };
const NAMESPACE: Field = Field { weight: 1.0, dilution: 0.5, usual: 3.0, phrases: true };
const DESCRIPTION: Field = Field { weight: 1.0, dilution: 0.7, usual: 20.0, phrases: true };
const TAG: Field = Field { weight: 0.5, dilution: 0.5, usual: 3.0, phrases: true };
const PARAMETER_NAME: Field = Field { weight: 0.6, dilution: 0.5, usual: 5.0, phrases: true };
const PARAMETER_DESCRIPTION: Field = Field { weight: 0.4, dilution: 0.5, usual: 25.0, phrases: false };

/// BM25's saturation: how soon more of the same word stops to count.
const SATURATION: f32 = 1.2;

/// Searchable words of a set of tools.
#[derive(Debug, Clone, Default)]
pub struct Index {
    pub(super) slots: HashMap<String, u32>,
    pub(super) documents: Vec<Option<Document>>,
    /// By slot, sorted.
    pub(super) document_terms: Rows<u32>,
    pub(super) free: Vec<u32>,
    /// Terms by the hash of their text. What a tool is called is a term as well, of a kind of its own ([`called`]).
    pub(super) terms: HashMap<u64, u32>,
    pub(super) postings: Rows<Posting>,
    /// With a model: what the tools mean.
    pub(super) meaning: Option<Meaning>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Posting {
    pub(super) slot: u32,
    /// Below 1: how much the tool is about the term.
    pub(super) impact: f32,
}

#[derive(Debug, Clone)]
pub(super) struct Document {
    pub(super) tool: String,
    pub(super) namespace: u64,
    pub(super) act: Option<Act>,
    /// What of the tool was read ([`stored::record_of`]).
    pub(super) record: u64,
}

impl Index {
    pub fn of(catalog: &Catalog) -> Self {
        let mut index = Self::default();
        for spec in catalog.specs() {
            index.upsert(spec);
        }
        index
    }

    /// How many tools it holds.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Adds the tool or replaces the one of its name.
    pub fn upsert(&mut self, spec: &ToolSpec) {
        self.remove(&spec.name);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.documents.push(None);
            self.documents.len() as u32 - 1
        });
        let read = Reading::of(spec);
        let mut terms = Vec::with_capacity(read.frequencies.len() + read.called.len());
        let names = read.called.iter().map(|name| (called(name), 0.0));
        for (key, frequency) in read.frequencies.into_iter().chain(names) {
            let next = self.postings.len() as u32;
            let term = *self.terms.entry(key).or_insert(next);
            self.postings.edit(term).push(Posting { slot, impact: frequency / (frequency + SATURATION) });
            terms.push(term);
        }
        terms.sort_unstable();
        *self.document_terms.edit(slot) = terms;
        self.slots.insert(spec.name.clone(), slot);
        self.documents[slot as usize] = Some(Document {
            tool: spec.name.clone(),
            namespace: key(&spec.namespace),
            act: read.act,
            record: stored::record_of(spec),
        });
    }

    pub fn remove(&mut self, tool: &str) {
        let Some(slot) = self.slots.remove(tool) else { return };
        self.documents[slot as usize] = None;
        if let Some(meaning) = &mut self.meaning {
            meaning.forget(slot);
        }
        for term in std::mem::take(self.document_terms.edit(slot)) {
            self.postings.edit(term).retain(|p| p.slot != slot);
        }
        self.free.push(slot);
    }

    /// From now on tools are also found by meaning, as soon as the vector of each is known.
    pub fn with_model(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.meaning = Some(Meaning::new(embedder));
        self
    }

    /// From now on tools are found by words alone.
    pub fn without_model(mut self) -> Self {
        self.meaning = None;
        self
    }

    /// Takes the vector of a tool, made of [`semantic::text`]. A tool that changes needs a new one.
    pub fn learn(&mut self, tool: &str, vector: &Vector) {
        if let (Some(slot), Some(meaning)) = (self.slots.get(tool), &mut self.meaning) {
            meaning.put(*slot, vector);
        }
    }

    /// Whether the tool's vector is known.
    pub fn knows(&self, tool: &str) -> bool {
        self.slots.get(tool).is_some_and(|slot| self.meaning.as_ref().is_some_and(|m| m.knows(*slot)))
    }

    /// Whether tools are found by meaning too: with a model, and every tool known to it. A half-known catalog would rank
    /// by how far the reading has come.
    pub fn uses_meaning(&self) -> bool {
        self.meaning.as_ref().is_some_and(|m| m.known() == self.slots.len())
    }
}

/// What the index takes from a tool.
struct Reading {
    /// Weighted frequencies by the terms' keys.
    frequencies: HashMap<u64, f32>,
    act: Option<Act>,
    called: Vec<String>,
}

impl Reading {
    fn of(spec: &ToolSpec) -> Self {
        let own = own_name(spec);
        let mut called: Vec<String> = [spec.name.as_str(), own]
            .into_iter()
            .chain(spec.title.as_deref())
            .chain(spec.aliases.iter().map(String::as_str))
            .map(|name| name.trim().to_lowercase())
            .filter(|name| !name.is_empty())
            .collect();
        called.sort_unstable();
        called.dedup();
        let name = words(own);
        let description = words(&spec.description);
        let act = name.iter().chain(description.first()).find_map(|w| act(&w.stem));
        let mut reading = Self { frequencies: HashMap::new(), act, called };
        let mut named = vec![own.to_string()];
        named.extend(spec.title.clone());
        reading.field(&NAME, &named);
        reading.field(&CAPABILITY, &[spec.capabilities.as_slice(), &spec.aliases].concat());
        reading.field(&NAMESPACE, std::slice::from_ref(&spec.namespace));
        reading.add(&DESCRIPTION, &[description]);
        reading.field(&TAG, &spec.tags);
        let (mut names, mut descriptions) = (vec![], vec![]);
        for (name, schema) in spec.properties().into_iter().flatten() {
            names.push(name.clone());
            descriptions.extend(schema.get("description").and_then(Value::as_str).map(str::to_string));
        }
        reading.field(&PARAMETER_NAME, &names);
        reading.field(&PARAMETER_DESCRIPTION, &descriptions);
        reading
    }

    fn field(&mut self, field: &Field, texts: &[String]) {
        let texts: Vec<Vec<Word>> = texts.iter().map(|t| words(t)).collect();
        self.add(field, &texts);
    }

    fn add(&mut self, field: &Field, texts: &[Vec<Word>]) {
        let length: usize = texts.iter().map(Vec::len).sum();
        let each = field.weight / (1.0 - field.dilution + field.dilution * length as f32 / field.usual);
        for text in texts {
            for word in text {
                *self.frequencies.entry(key(&word.stem)).or_default() += each;
            }
            for pair in text.windows(2).filter(|_| field.phrases) {
                *self.frequencies.entry(phrase(&pair[0], &pair[1])).or_default() += each;
            }
        }
    }
}

/// The name without the namespace that it may begin with.
pub(super) fn own_name(spec: &ToolSpec) -> &str {
    let rest = spec.name.strip_prefix(&spec.namespace).filter(|_| !spec.namespace.is_empty());
    let own = rest.map(|r| r.trim_start_matches(['.', '/', '_', '-', ':'])).filter(|own| !own.is_empty());
    match (rest, own) {
        (Some(rest), Some(own)) if own.len() < rest.len() => own,
        _ => &spec.name,
    }
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a: terms are kept by their hash, since nothing ever shows their text.
fn fold(start: u64, text: &str) -> u64 {
    text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

pub(super) fn key(stem: &str) -> u64 {
    fold(FNV_START, stem)
}

/// What a tool is called: name, name without namespace, title, aliases; in lower case.
pub(super) fn called(name: &str) -> u64 {
    fold(fold(FNV_START, "\0called\0"), name)
}

/// Two neighbours as one term, the same as when they are written as one word: "time zone" is `timezone`, of which the
/// stemmer leaves `timezon`.
pub(super) fn phrase(first: &Word, second: &Word) -> u64 {
    fold(fold(FNV_START, &first.lower), second.stem.strip_suffix('e').unwrap_or(&second.stem))
}

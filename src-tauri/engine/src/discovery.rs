//! Ranking tools for a query: an inverted index with BM25F over the tools' fields (D-04).
//!
//! The index is incremental: an edited tool is replaced without touching the others. It knows nothing of visibility;
//! callers say which tools count.

use crate::{
    text::is_cjk,
    tool::{Catalog, ToolSpec},
};
use rust_stemmers::{Algorithm, Stemmer};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// A tool that ranks for a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub tool: String,
    /// BM25F; comparable within one search.
    pub score: f32,
    /// The words of the query that matched, as the person wrote them.
    pub matched: Vec<String>,
}

/// What a word counts for, by the field that it stands in.
const NAME: f32 = 3.0;
const CAPABILITY: f32 = 2.0;
const TAG: f32 = 1.5;
const DESCRIPTION: f32 = 1.0;
const PARAMETER_NAME: f32 = 0.7;
const PARAMETER_DESCRIPTION: f32 = 0.4;

/// BM25's usual constants.
const K1: f32 = 1.2;
const B: f32 = 0.5;

/// Searchable words of a set of tools.
#[derive(Debug, Clone, Default)]
pub struct Index {
    slots: HashMap<String, u32>,
    documents: Vec<Option<Document>>,
    postings: HashMap<String, Vec<(u32, f32)>>,
    /// Sum of the live documents' lengths.
    length: f32,
    live: usize,
}

#[derive(Debug, Clone)]
struct Document {
    tool: String,
    length: f32,
    words: Vec<String>,
}

impl Index {
    pub fn of(catalog: &Catalog) -> Self {
        let mut index = Self::default();
        for spec in catalog.specs() {
            index.upsert(spec);
        }
        index
    }

    /// Adds the tool or replaces the one of its name.
    pub fn upsert(&mut self, spec: &ToolSpec) {
        self.remove(&spec.name);
        let weights = weighted_words(spec);
        let length: f32 = weights.values().sum();
        let slot = self.documents.len() as u32;
        for (word, weight) in &weights {
            self.postings.entry(word.clone()).or_default().push((slot, *weight));
        }
        self.documents.push(Some(Document { tool: spec.name.clone(), length, words: weights.into_keys().collect() }));
        self.slots.insert(spec.name.clone(), slot);
        self.length += length;
        self.live += 1;
    }

    pub fn remove(&mut self, tool: &str) {
        let Some(slot) = self.slots.remove(tool) else { return };
        let Some(document) = self.documents[slot as usize].take() else { return };
        for word in &document.words {
            if let Some(list) = self.postings.get_mut(word) {
                list.retain(|(s, _)| *s != slot);
            }
        }
        self.length -= document.length;
        self.live -= 1;
    }

    /// The best `limit` tools for `query` among those that `counts` accepts, best first; equal scores by name.
    pub fn search(&self, query: &str, limit: usize, counts: impl Fn(&str) -> bool) -> Vec<Hit> {
        let mut scores: HashMap<u32, (f32, Vec<&str>)> = HashMap::new();
        let average = (self.length / self.live.max(1) as f32).max(1.0);
        let mut seen = std::collections::HashSet::new();
        let words = words(query);
        for (word, original) in words.iter().filter(|(word, _)| seen.insert(word.clone())) {
            let Some(list) = self.postings.get(word) else { continue };
            let n = self.live as f32;
            let df = list.len() as f32;
            let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
            for (slot, tf) in list {
                let Some(document) = &self.documents[*slot as usize] else { continue };
                let norm = K1 * (1.0 - B + B * document.length / average);
                let entry = scores.entry(*slot).or_default();
                entry.0 += idf * tf * (K1 + 1.0) / (tf + norm);
                entry.1.push(original);
            }
        }
        let mut hits: Vec<Hit> = scores
            .into_iter()
            .filter_map(|(slot, (score, matched))| {
                let document = self.documents[slot as usize].as_ref()?;
                counts(&document.tool).then(|| Hit {
                    tool: document.tool.clone(),
                    score,
                    matched: matched.into_iter().map(str::to_string).collect(),
                })
            })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.tool.cmp(&b.tool)));
        hits.truncate(limit);
        hits
    }
}

fn weighted_words(spec: &ToolSpec) -> BTreeMap<String, f32> {
    let mut weights = BTreeMap::new();
    let mut add = |text: &str, weight: f32| {
        for (word, _) in words(text) {
            *weights.entry(word).or_insert(0.0) += weight;
        }
    };
    add(&spec.name, NAME);
    add(spec.title.as_deref().unwrap_or_default(), NAME);
    add(&spec.description, DESCRIPTION);
    add(&spec.namespace, TAG);
    spec.capabilities.iter().for_each(|c| add(c, CAPABILITY));
    spec.aliases.iter().for_each(|a| add(a, CAPABILITY));
    spec.tags.iter().for_each(|t| add(t, TAG));
    for (name, schema) in spec.properties().into_iter().flatten() {
        add(name, PARAMETER_NAME);
        add(schema.get("description").and_then(Value::as_str).unwrap_or_default(), PARAMETER_DESCRIPTION);
    }
    weights
}

/// Words that say nothing about a tool.
const STOP: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "how", "i", "in", "is", "it",
    "its", "me", "my", "of", "on", "or", "our", "that", "the", "their", "this", "to", "was", "we", "what", "when",
    "where", "which", "who", "why", "will", "with", "you", "your",
];

/// The searchable words of a text with the words they come from: identifiers in parts, English stemmed, CJK text as
/// pairs of characters (single ones where they stand alone).
pub fn words(text: &str) -> Vec<(String, String)> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut found = vec![];
    let mut add = |run: &str| {
        let lower = run.to_lowercase();
        if !lower.is_empty() && !STOP.contains(&lower.as_str()) {
            found.push((stemmer.stem(&lower).into_owned(), run.to_string()));
        }
    };
    let mut cjk: Vec<char> = vec![];
    let mut pairs: Vec<(String, String)> = vec![];
    let mut flush = |cjk: &mut Vec<char>| {
        if cjk.len() == 1 {
            pairs.push((cjk[0].to_string(), cjk[0].to_string()));
        }
        for pair in cjk.windows(2) {
            let pair: String = pair.iter().collect();
            pairs.push((pair.clone(), pair));
        }
        cjk.clear();
    };
    let mut run = String::new();
    let mut previous_lower = false;
    for c in text.chars() {
        if is_cjk(c) && c.is_alphanumeric() {
            add(&std::mem::take(&mut run));
            cjk.push(c);
            continue;
        }
        flush(&mut cjk);
        if !c.is_alphanumeric() || (c.is_uppercase() && previous_lower) {
            add(&std::mem::take(&mut run));
        }
        if c.is_alphanumeric() {
            run.push(c);
        }
        previous_lower = c.is_lowercase() || c.is_ascii_digit();
    }
    add(&run);
    flush(&mut cjk);
    found.append(&mut pairs);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, description: &str) -> ToolSpec {
        ToolSpec { name: name.into(), description: description.into(), ..Default::default() }
    }

    fn index() -> Index {
        let (catalog, _) = Catalog::new(
            1,
            [
                tool("jira.search_issues", "Find issues by text"),
                tool("weather.forecast", "Forecast for a city. Mentions an issue once among many other long words"),
                tool("translate", "翻译文本 into another language"),
            ],
        );
        Index::of(&catalog)
    }

    fn names(hits: Vec<Hit>) -> Vec<String> {
        hits.into_iter().map(|h| h.tool).collect()
    }

    /// D-04: relevance decides, in English and in Chinese; what matches nothing is not found.
    #[test]
    fn better_matches_come_first() {
        let index = index();
        assert_eq!(names(index.search("search the issue", 5, |_| true)), ["jira.search_issues", "weather.forecast"]);
        assert_eq!(names(index.search("请翻译这个", 5, |_| true)), ["translate"]);
        assert!(index.search("quantum chromodynamics", 5, |_| true).is_empty());
    }

    /// K-05: an edit replaces one tool; the result equals a fresh index.
    #[test]
    fn an_edit_equals_a_rebuild() {
        let mut edited = index();
        edited.upsert(&tool("translate", "render prose in French"));
        let (catalog, _) = Catalog::new(
            1,
            [
                tool("jira.search_issues", "Find issues by text"),
                tool("weather.forecast", "Forecast for a city. Mentions an issue once among many other long words"),
                tool("translate", "render prose in French"),
            ],
        );
        let fresh = Index::of(&catalog);
        for query in ["翻译", "French prose", "issue"] {
            assert_eq!(edited.search(query, 5, |_| true), fresh.search(query, 5, |_| true), "{query}");
        }
    }

    #[test]
    fn identifiers_fall_into_parts() {
        let words: Vec<String> = words("getUserDetails v2_ISSUE简介").into_iter().map(|(w, _)| w).collect();
        assert_eq!(words, ["get", "user", "detail", "v2", "issu", "简介"]);
    }
}

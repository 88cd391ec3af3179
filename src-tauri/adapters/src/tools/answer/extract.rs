//! Answers made of sentences of the results, word for word, and the words of the question that they leave out.

use super::{
    super::{
        blocking::Stop,
        results::round,
        words::{for_each_term, query_terms},
    },
    reading::Reading,
};
use regex::Regex;
use serde_json::{Value, json};
use std::{collections::HashSet, sync::LazyLock};
use toolplan_engine::ports::{ToolError, ToolResult};

/// Sentences in an answer.
const MAX_SENTENCES: usize = 5;

/// A sentence of the results with the words of the question that it or its heading holds.
struct Candidate {
    sentence: usize,
    covered: HashSet<usize>,
    /// How many of them it says itself, outside of links: a link points at where something is said.
    said: usize,
}

impl Candidate {
    fn rank(&self) -> usize {
        2 * self.said + self.covered.len()
    }
}

static LINK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[([^\]\[]*)\]\([^()\s]*\)").expect("a test uses it"));

/// Sentences that answer a question.
pub(super) struct Extract {
    /// Indexes into the reading's sentences.
    pub(super) sentences: Vec<usize>,
    /// The share of the question's words that they hold.
    pub(super) coverage: f32,
}

/// The best sentences for the question, at least one of each result that has any.
pub(super) fn extract(question: &str, reading: &Reading, stop: &Stop) -> Result<Extract, ToolError> {
    let terms = distinct_terms(question);
    let mut found = candidates(reading, &terms, stop)?;
    found.sort_by_key(|c| std::cmp::Reverse(c.rank()));
    let text = |c: &Candidate| reading.sentences[c.sentence].text.as_str();
    let mut chosen: Vec<&Candidate> = vec![];
    for result in 0..reading.found.len() {
        let new = |c: &&Candidate| chosen.iter().all(|other| text(other) != text(c));
        let of_it = |c: &&Candidate| reading.result_of(c.sentence) == result && !c.covered.is_empty();
        let best = found.iter().filter(new).find(of_it);
        chosen.extend(best);
    }
    for candidate in &found {
        let said = chosen.iter().any(|c| text(c) == text(candidate));
        if chosen.len() < MAX_SENTENCES && !said && candidate.said > 0 && candidate.rank() >= terms.len().max(2) {
            chosen.push(candidate);
        }
    }
    chosen.truncate(MAX_SENTENCES.max(reading.found.len()));
    let covered: HashSet<usize> = chosen.iter().flat_map(|c| c.covered.iter().copied()).collect();
    let coverage = covered.len() as f32 / terms.len().max(1) as f32;
    Ok(Extract { sentences: chosen.iter().map(|c| c.sentence).collect(), coverage })
}

/// Which words of the question the results speak of.
pub(super) fn check(question: &str, reading: &Reading, stop: &Stop) -> Result<ToolResult, ToolError> {
    let terms = distinct_terms(question);
    let found = candidates(reading, &terms, stop)?;
    let covered: HashSet<usize> = found.iter().flat_map(|c| c.covered.iter().copied()).collect();
    let missing: Vec<&str> = (0..terms.len()).filter(|i| !covered.contains(i)).map(|i| terms[i].as_str()).collect();
    let coverage = covered.len() as f32 / terms.len().max(1) as f32;
    let data: Value = json!({
        "coverage": round(coverage),
        "missing": missing,
        "results": reading.found.len(),
        "method": "words of the question that stand in the results",
    });
    Ok(ToolResult { data, confidence: Some(coverage), sources: vec![] })
}

fn distinct_terms(question: &str) -> Vec<String> {
    let mut terms: Vec<String> = vec![];
    for term in query_terms(question) {
        if !terms.contains(&term.text) {
            terms.push(term.text);
        }
    }
    terms
}

fn candidates(reading: &Reading, terms: &[String], stop: &Stop) -> Result<Vec<Candidate>, ToolError> {
    let mut found = vec![];
    for (at, sentence) in reading.sentences.iter().enumerate() {
        if at % 1000 == 0 {
            stop.check()?;
        }
        let text = &sentence.text;
        // Rows of tables, code and the fields of an object are no sentences, and questions say nothing.
        let reads = text.chars().count() >= 8
            && !text.contains("```")
            && !text.contains(" | ")
            && !text.starts_with('#')
            && !text.ends_with(['?', '？']);
        if reads && !reading.units[sentence.unit].fields {
            let of = |text: &str| {
                let mut covered = HashSet::new();
                for_each_term(text, |word| covered.extend(terms.iter().position(|t| t == word)));
                covered
            };
            let bare = LINK.replace_all(text, " ");
            let said = of(&bare).len();
            // Nothing but a pointer says nothing.
            if said > 0 || bare == *text {
                let mut covered = of(&LINK.replace_all(text, "$1"));
                covered.extend(of(&reading.units[sentence.unit].context));
                found.push(Candidate { sentence: at, covered, said });
            }
        }
    }
    Ok(found)
}

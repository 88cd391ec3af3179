//! Tools that work on the results of earlier steps: `combine_results` picks the sentences that answer the question,
//! `check_coverage` says which words of the question the results do not speak of.
//!
//! Extractive: every sentence stands in a result word for word. No model is asked, nothing is read but the results.

use super::{
    arguments::Arguments,
    blocking::Stop,
    results::round,
    words::{for_each_term, query_terms, sentences},
};
use serde_json::{Value, json};
use std::collections::HashSet;
use toolplan_engine::{
    ports::{ToolError, ToolResult},
    text::middle_truncate,
};

/// Sentences in an answer.
const MAX_SENTENCES: usize = 5;
/// Characters of the results that are read; the rest is left out and said so.
const MAX_CHARS: usize = 2_000_000;

/// A sentence of a result.
struct Sentence<'a> {
    text: &'a str,
    source: Option<&'a str>,
    /// Index of the result it stands in.
    result: usize,
    covered: HashSet<usize>,
}

/// The best sentences for the question, at least one of each result that has any.
pub(super) fn combine(arguments: &Arguments, stop: &Stop) -> Result<ToolResult, ToolError> {
    let question = arguments.required("question")?;
    let results = arguments.list("results")?;
    let terms = distinct_terms(question);
    let mut found = read(results, &terms, stop)?;
    found.sort_by_key(|s| std::cmp::Reverse(s.covered.len()));
    let mut chosen: Vec<&Sentence> = vec![];
    for result in 0..results.len() {
        let new = |s: &&Sentence| chosen.iter().all(|c| c.text != s.text);
        let best = found.iter().filter(new).find(|s| s.result == result && !s.covered.is_empty());
        chosen.extend(best);
    }
    for sentence in &found {
        let said = chosen.iter().any(|c| c.text == sentence.text);
        if chosen.len() < MAX_SENTENCES && !said && sentence.covered.len() * 2 >= terms.len().max(2) {
            chosen.push(sentence);
        }
    }
    chosen.truncate(MAX_SENTENCES.max(results.len()));
    let covered: HashSet<usize> = chosen.iter().flat_map(|s| s.covered.iter().copied()).collect();
    let confidence = covered.len() as f32 / terms.len().max(1) as f32;
    let answer: Vec<&str> = chosen.iter().map(|s| s.text).collect();
    let data = json!({
        "answer": if answer.is_empty() { Value::Null } else { answer.join("\n").into() },
        "sentences": chosen.iter().map(|s| json!({"text": s.text, "source": s.source, "result": s.result + 1})).collect::<Vec<_>>(),
        "results": results.len(),
        "method": "extractive: sentences of the results, chosen by the words of the question",
    });
    Ok(ToolResult { data, confidence: Some(confidence), sources: sources(&chosen) })
}

/// Which words of the question the results speak of.
pub(super) fn check(arguments: &Arguments, stop: &Stop) -> Result<ToolResult, ToolError> {
    let question = arguments.required("question")?;
    let results = arguments.list("results")?;
    let terms = distinct_terms(question);
    let found = read(results, &terms, stop)?;
    let covered: HashSet<usize> = found.iter().flat_map(|s| s.covered.iter().copied()).collect();
    let missing: Vec<&str> = (0..terms.len()).filter(|i| !covered.contains(i)).map(|i| terms[i].as_str()).collect();
    let coverage = covered.len() as f32 / terms.len().max(1) as f32;
    let data = json!({"coverage": round(coverage), "missing": missing, "results": results.len(), "method": "words of the question that stand in the results"});
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

/// The sentences of all texts inside the results, with the words of the question that each holds.
fn read<'a>(results: &'a [Value], terms: &[String], stop: &Stop) -> Result<Vec<Sentence<'a>>, ToolError> {
    let mut found = vec![];
    let mut left = MAX_CHARS;
    for (result, value) in results.iter().enumerate() {
        stop.check()?;
        collect(value, None, &mut |text, source| {
            if text.len() > left {
                return;
            }
            left -= text.len();
            for sentence in sentences(text) {
                let mut covered = HashSet::new();
                for_each_term(sentence, |word| covered.extend(terms.iter().position(|t| t == word)));
                let text = sentence.trim();
                // Rows of tables and code are no sentences.
                if text.chars().count() >= 8 && !text.contains("```") && !text.contains(" | ") && !text.starts_with('#')
                {
                    found.push(Sentence { text, source, result, covered });
                }
            }
        });
    }
    Ok(found)
}

/// Every text in a value that reads like prose, with the path or URL of the object around it.
fn collect<'a>(value: &'a Value, source: Option<&'a str>, each: &mut impl FnMut(&'a str, Option<&'a str>)) {
    match value {
        Value::String(text) if text.contains(char::is_whitespace) || text.chars().count() > 40 => each(text, source),
        Value::Array(items) => items.iter().for_each(|item| collect(item, source, each)),
        Value::Object(map) => {
            let own = ["path", "url", "source"].iter().find_map(|k| map.get(*k)?.as_str()).or(source);
            // What a tool says about itself is no result.
            let about = ["path", "url", "source", "method", "vectors", "mode", "skipped", "note"];
            map.iter().filter(|(k, _)| !about.contains(&k.as_str())).for_each(|(_, v)| collect(v, own, each));
        }
        _ => {}
    }
}

fn sources(chosen: &[&Sentence]) -> Vec<String> {
    let mut sources: Vec<String> = vec![];
    for source in chosen.iter().filter_map(|s| s.source) {
        let source = middle_truncate(source, 300);
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    sources
}

//! The results that an answer rests on, read once: their texts, cut into sentences, each with its result and source.
//!
//! What other steps gave is data. Nothing here, and nothing that reads it, takes a word of it for an instruction.

use super::super::{
    arguments::{Arguments, invalid},
    words::sentences,
};
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, HashSet},
    ops::Range,
};
use toolplan_engine::{
    ports::{CallContext, ToolError, ToolResult},
    text::{is_cjk, middle_truncate},
};

/// Characters of all results that are read.
pub(super) const MAX_CHARS: usize = 2_000_000;
/// Characters of an object's short fields that its longer texts are understood with.
const MAX_CONTEXT: usize = 400;
/// Fields that say where a text stands, and are no text themselves.
const PLACES: [&str; 3] = ["path", "url", "source"];
/// Fields in which a search tool speaks of itself.
const ABOUT: [&str; 14] = [
    "method",
    "vectors",
    "mode",
    "skipped",
    "note",
    "score",
    "scores",
    "rank",
    "start_line",
    "end_line",
    "line",
    "column",
    "top_k",
    "truncated",
];

/// Fields that say what the texts beside them are about.
const HEADS: [&str; 5] = ["title", "heading", "name", "summary", "key"];

/// One result.
pub(super) struct Found {
    /// The step that gave it, where that is known.
    pub(super) step: Option<String>,
    /// As its tool said.
    pub(super) confidence: Option<f32>,
    pub(super) sources: Vec<String>,
    /// Characters of its texts.
    pub(super) characters: usize,
    /// Why it is not read.
    pub(super) left_out: Option<&'static str>,
}

/// A text of a result.
pub(super) struct Unit {
    /// Index of the result.
    pub(super) result: usize,
    pub(super) source: Option<String>,
    /// Short fields of the objects around it: a title, a key.
    pub(super) context: String,
    /// The fields of an object, `name: value` by line, and no prose.
    pub(super) fields: bool,
    pub(super) text: String,
    /// Its sentences among those of the reading.
    pub(super) sentences: Range<usize>,
}

/// A sentence of a unit.
pub(super) struct Sentence {
    pub(super) unit: usize,
    pub(super) text: String,
}

/// All results.
pub(super) struct Reading {
    pub(super) found: Vec<Found>,
    pub(super) units: Vec<Unit>,
    pub(super) sentences: Vec<Sentence>,
    /// Characters that were not read, because there are too many.
    pub(super) unread: usize,
}

/// The argument `results`, or the results of the steps that this one depends on.
pub(super) fn given(arguments: &Arguments, context: &CallContext) -> Result<Vec<Value>, ToolError> {
    match arguments.has("results") {
        true => Ok(arguments.list("results")?.to_vec()),
        false if context.previous.is_empty() => Err(invalid(
            "the argument results is missing",
            "name the results of earlier steps, or let the step depend on the steps that give them",
        )),
        false => Ok(context.previous.values().map(|result| result.data.clone()).collect()),
    }
}

impl Reading {
    /// Reads the results. One that an earlier step gave comes with that step's confidence and sources. `answer` is what
    /// is checked against them: a result that says it is no evidence for it.
    pub(super) fn of(given: &[Value], previous: &BTreeMap<String, ToolResult>, answer: Option<&str>) -> Self {
        let mut reading = Self { found: vec![], units: vec![], sentences: vec![], unread: 0 };
        given.iter().for_each(|value| reading.read(value, previous, answer));
        reading
    }

    fn read(&mut self, value: &Value, previous: &BTreeMap<String, ToolResult>, answer: Option<&str>) {
        let result = self.found.len();
        let origin = previous.iter().find(|(_, r)| r.data == *value);
        let says_it = answer.is_some_and(|answer| value.get("answer").and_then(Value::as_str) == Some(answer));
        self.found.push(Found {
            step: origin.map(|(step, _)| step.clone()),
            confidence: origin.and_then(|(_, r)| r.confidence),
            sources: origin.map(|(_, r)| r.sources.clone()).unwrap_or_default(),
            characters: 0,
            left_out: says_it.then_some("it is the answer itself"),
        });
        if !says_it {
            // With one source, all of a result comes from there.
            let only = match self.found[result].sources.as_slice() {
                [only] => Some(only.clone()),
                _ => None,
            };
            self.walk(value, result, only.as_deref(), "");
        }
    }

    fn walk(&mut self, value: &Value, result: usize, source: Option<&str>, context: &str) {
        match value {
            Value::String(text) => self.add(result, source, context, text, false),
            Value::Array(items) => {
                let plain: Vec<String> = items.iter().filter_map(scalar).collect();
                match !plain.is_empty() && plain.len() == items.len() && plain.iter().all(|p| !is_prose(p)) {
                    true => self.add(result, source, context, &plain.join("\n"), true),
                    false => items.iter().for_each(|item| self.walk(item, result, source, context)),
                }
            }
            Value::Object(map) => self.walk_object(map, result, source, context),
            Value::Null => {}
            plain => self.add(result, source, context, &plain.to_string(), true),
        }
    }

    fn walk_object(&mut self, map: &Map<String, Value>, result: usize, source: Option<&str>, context: &str) {
        let own = PLACES.iter().find_map(|k| map.get(*k)?.as_str()).or(source);
        // What one of these tools wrote: only the sentences that it found supported count, and each once.
        if let (Some(Value::Array(sentences)), true) = (map.get("sentences"), map.contains_key("method")) {
            let counts = |s: &&Value| matches!(s["grade"].as_str(), None | Some("supported"));
            sentences.iter().filter(counts).for_each(|s| {
                if let Some(text) = s["text"].as_str() {
                    self.add(result, s["source"].as_str().or(own), context, text, false);
                }
            });
            return;
        }
        let tells = |name: &str| !PLACES.contains(&name) && !ABOUT.contains(&name);
        // A heading says what the texts beside it are about; it is no sentence of theirs.
        let is_text = |name: &str, text: &str| is_prose(text) && !(HEADS.contains(&name) && is_heading(text));
        let (mut lines, mut short) = (vec![], vec![context.to_string()]);
        for (name, value) in map.iter().filter(|(name, _)| tells(name)) {
            match scalar(value).filter(|text| !text.trim().is_empty() && !is_text(name, text)) {
                Some(text) => {
                    if value.is_string() {
                        short.push(text.clone());
                    }
                    lines.push(format!("{name}: {text}"));
                }
                None if HEADS.contains(&name.as_str()) => short.extend(value.as_str().map(str::to_string)),
                None => {}
            }
        }
        let mut around = short.join("\n").trim().to_string();
        if around.chars().count() > MAX_CONTEXT {
            around = around.chars().take(MAX_CONTEXT).collect();
        }
        if !lines.is_empty() {
            self.add(result, own, context, &lines.join("\n"), true);
        }
        for (name, value) in map.iter().filter(|(name, _)| tells(name)) {
            if scalar(value).is_none_or(|text| is_text(name, &text)) {
                self.walk(value, result, own, &around);
            }
        }
    }

    fn add(&mut self, result: usize, source: Option<&str>, context: &str, text: &str, fields: bool) {
        let length = text.chars().count();
        let read: usize = self.found.iter().map(|f| f.characters).sum();
        let room = MAX_CHARS - read.min(MAX_CHARS);
        if length > room {
            self.unread += length - room;
        }
        let text: String = text.chars().take(room).collect();
        if text.trim().is_empty() {
            return;
        }
        self.found[result].characters += length.min(room);
        let source = source.map(|s| middle_truncate(s, 300));
        if let Some(source) = source.as_ref().filter(|s| !self.found[result].sources.contains(s)) {
            self.found[result].sources.push(source.clone());
        }
        let text = without_heading(&text, context).to_string();
        let unit = self.units.len();
        let pieces = match fields {
            true => text.lines().map(|line| line.trim().to_string()).filter(|l| !l.is_empty()).collect(),
            false => prose(&text),
        };
        let from = self.sentences.len();
        self.sentences.extend(pieces.into_iter().map(|text| Sentence { unit, text }));
        let sentences = from..self.sentences.len();
        self.units.push(Unit { result, source, context: context.to_string(), fields, text, sentences });
    }

    /// Whether there is anything to rest an answer on.
    pub(super) fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }

    pub(super) fn result_of(&self, sentence: usize) -> usize {
        self.units[self.sentences[sentence].unit].result
    }

    pub(super) fn source_of(&self, sentence: usize) -> Option<&str> {
        self.units[self.sentences[sentence].unit].source.as_deref()
    }

    /// The sentences of a result in which `quote` stands word for word, spaces aside: the first and the last.
    pub(super) fn quoted(&self, quote: &str, result: usize) -> Option<(usize, usize)> {
        let wanted = bare(quote);
        let units = self.units.iter().filter(|unit| unit.result == result && !wanted.is_empty());
        units.into_iter().find_map(|unit| {
            let mut text = String::new();
            let mut ends = vec![];
            for sentence in &self.sentences[unit.sentences.clone()] {
                text.extend(sentence.text.chars().filter(|c| !c.is_whitespace()));
                ends.push(text.len());
            }
            let at = text.find(&wanted)?;
            let holds = |byte: usize| unit.sentences.start + ends.partition_point(|&end| end <= byte);
            Some((holds(at), holds(at + wanted.len() - 1)))
        })
    }

    /// What was read, for the reader of an answer.
    pub(super) fn describe(&self) -> Value {
        let rows = self.found.iter().enumerate().map(|(i, f)| {
            let mut row = json!({"result": i + 1, "sources": f.sources, "characters": f.characters});
            if let Some(step) = &f.step {
                row["step"] = step.as_str().into();
            }
            if let Some(confidence) = f.confidence {
                row["confidence"] = super::super::results::round(confidence).into();
            }
            if let Some(why) = f.left_out {
                row["left_out"] = why.into();
            }
            row
        });
        rows.collect()
    }

    /// The sources of these results' sentences, each once, in order.
    pub(super) fn sources(&self, of: impl Iterator<Item = usize>) -> Vec<String> {
        let mut seen = HashSet::new();
        let sources = of.filter_map(|s| self.source_of(s)).filter(|s| seen.insert(s.to_string()));
        sources.map(str::to_string).collect()
    }

    /// How far the results themselves are sure: the mean confidence of these, 1 for one whose tool says nothing. None of
    /// them counts as 1.
    pub(super) fn trust(&self, of: &HashSet<usize>) -> f32 {
        let known: Vec<f32> = of.iter().map(|&r| self.found[r].confidence.unwrap_or(1.0)).collect();
        if known.is_empty() { 1.0 } else { known.iter().sum::<f32>() / known.len() as f32 }
    }
}

/// Text without any space, and without the quotation marks around it.
pub(super) fn bare(text: &str) -> String {
    let marks = ['"', '\'', '“', '”', '‘', '’', '「', '」', '…'];
    text.trim().trim_matches(marks).chars().filter(|c| !c.is_whitespace()).collect()
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Short, and not a sentence.
fn is_heading(text: &str) -> bool {
    text.chars().count() <= 120 && !text.trim_end().ends_with(['.', '!', '?', '。', '！', '？'])
}

/// Several words, rather than a value.
pub(super) fn is_prose(text: &str) -> bool {
    text.trim().contains(char::is_whitespace) || text.chars().count() > 40
}

/// Without the heading that it begins with, which is known from the fields around it: a snippet holds both in one line.
fn without_heading<'t>(text: &'t str, context: &str) -> &'t str {
    let Some(line) = text.trim_start().strip_prefix('#') else { return text };
    let line = line.trim_start_matches('#').trim_start();
    // `Guide › Retries` is a heading below another.
    let headings = context.lines().filter_map(|field| field.rsplit(" › ").next()).filter(|h| !h.trim().is_empty());
    let rest = headings.into_iter().find_map(|heading| line.strip_prefix(heading)).map(str::trim_start);
    rest.filter(|rest| !rest.is_empty()).unwrap_or(text)
}

/// Without the mark of a list item or quotation.
fn unmarked(line: &str) -> &str {
    ["- ", "* ", "> "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line)
}

/// The sentences of prose. Lines that a file wraps belong together; headings, list items and rows of tables do not.
fn prose(text: &str) -> Vec<String> {
    let mut paragraphs: Vec<String> = vec![];
    let mut open = false;
    for line in text.lines().map(str::trim) {
        let stands_alone = line.starts_with(['#', '|', '-', '*', '>', '`'])
            || line.split_once(['.', ')']).is_some_and(|(n, _)| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
        match paragraphs.last_mut().filter(|_| open && !line.is_empty() && !stands_alone) {
            Some(last) => {
                let joint = last.chars().next_back().zip(line.chars().next());
                if joint.is_none_or(|(a, b)| !is_cjk(a) || !is_cjk(b)) {
                    last.push(' ');
                }
                last.push_str(line);
            }
            None => paragraphs.push(line.to_string()),
        }
        open = !line.is_empty() && !line.starts_with(['#', '|']);
    }
    paragraphs.iter().flat_map(|p| sentences(p)).map(|s| unmarked(s.trim()).to_string()).collect()
}

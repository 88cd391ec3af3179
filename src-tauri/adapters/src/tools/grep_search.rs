//! `grep_search`: exact search in the folder with ripgrep's libraries.
//!
//! It reads the files at each call and needs no index. A query that stands nowhere as it is written is searched once
//! more by its words, and the result says so in `mode`.

use super::{
    arguments::{Arguments, invalid},
    blocking::Stop,
    sandbox::{Folder, Found, Notes, Workspace, decode},
    words::{Run, normalise, significant_runs},
};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use serde::Serialize;
use serde_json::json;
use std::io;
use toolplan_engine::{
    ports::{ToolError, ToolResult},
    text::Span,
};

/// Characters of a query beyond which it is no search any more.
const MAX_QUERY: usize = 2000;
/// Most lines that one call gives.
const MAX_RESULTS: usize = 1000;
/// Lines that are collected when words are searched, before all but the best are let go.
const MAX_RANKED: usize = 5000;
/// Bytes of a line that a match shows.
const SHOWN: usize = 300;

/// One line that matches.
#[derive(Debug, Clone, Serialize)]
struct Match {
    path: String,
    line: u64,
    /// Of the first hit, from 1, in UTF-16 code units of the whole line.
    column: u32,
    /// The line, or the part of a long line around the first hit.
    text: String,
    matched: Vec<String>,
}

pub(super) fn call(workspace: &Workspace, arguments: &Arguments, stop: &Stop) -> Result<ToolResult, ToolError> {
    let query = arguments.required("query")?.trim();
    if query.chars().count() > MAX_QUERY {
        return Err(invalid(format!("the query is longer than {MAX_QUERY} characters"), "search for fewer words"));
    }
    let is_regex = arguments.flag("regex")?;
    let most = arguments.count("max_results", 50, MAX_RESULTS)?;
    let folder = workspace.open()?;
    let place = folder.resolve(arguments.optional("path")?.unwrap_or(""), stop)?;
    let mut notes = Notes::default();
    let files = folder.walk(&place, stop, &mut notes)?;
    let of_the_walk = notes.clone();

    let search = Search { folder: &folder, files: &files, stop };
    let mut mode = if is_regex { "regex" } else { "literal" };
    let mut confidence = 1.0;
    let words = words_of(query);
    let (mut matches, mut searched) = (vec![], 0);
    // No line holds a line break: such a query has nothing but words.
    if is_regex || !query.contains('\n') || words.is_empty() {
        // One more than wanted tells whether there are more.
        (matches, searched) = search.lines(&matcher(&[query], !is_regex)?, None, most + 1, &mut notes)?;
    }
    if matches.is_empty() && !is_regex && !words.is_empty() {
        mode = "words";
        notes = of_the_walk;
        (matches, searched) = search.lines(&matcher(&words, true)?, Some(&words), usize::MAX, &mut notes)?;
        rank(&mut matches);
        confidence = matches.first().map_or(0.0, |best| best.matched.len() as f32 / words.len() as f32);
    }
    let truncated = matches.len() > most;
    matches.truncate(most);
    if matches.is_empty() {
        confidence = 0.0;
    }
    let mut sources: Vec<String> = matches.iter().map(|m| m.path.clone()).collect();
    sources.dedup();
    let mut seen = std::collections::HashSet::new();
    sources.retain(|path| seen.insert(path.clone()));
    let mut data = json!({"mode": mode, "matches": matches, "files_searched": searched, "truncated": truncated});
    if mode == "words" {
        data["words"] = json!(words);
    }
    notes.into_fields(&mut data);
    Ok(ToolResult { data, confidence: Some(confidence), sources })
}

/// A case-insensitive matcher of any of `patterns`; a pattern that takes too much memory is an error.
fn matcher(patterns: &[impl AsRef<str>], is_literal: bool) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(true).fixed_strings(is_literal).line_terminator(Some(b'\n')).size_limit(1 << 20);
    builder.dfa_size_limit(10 << 20).nest_limit(100).build_many(patterns).map_err(|e| {
        let what = if is_literal { "searched for" } else { "read as a regular expression" };
        invalid(format!("the query cannot be {what}: {e}"), "mend the expression, or leave regex off")
    })
}

/// The words of the query that are searched one by one. Runs of Chinese are searched by their pairs: nobody can tell
/// where their words end.
fn words_of(query: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![];
    for run in significant_runs(query) {
        match run {
            Run::Word(word) => words.push(word),
            Run::Cjk(run) if run.len() <= 2 => words.push(run.iter().collect()),
            Run::Cjk(run) => words.extend(run.windows(2).map(|pair| pair.iter().collect::<String>())),
        }
    }
    let mut seen = std::collections::HashSet::new();
    words.retain(|word| seen.insert(word.clone()));
    words.truncate(64);
    words
}

fn words_in(text: &str, words: &[String]) -> Vec<String> {
    let text = normalise(text);
    words.iter().filter(|word| text.contains(word.as_str())).cloned().collect()
}

/// Puts lines with more of the words first. Stable: lines with as many stay in the order of the files.
fn rank(matches: &mut [Match]) {
    matches.sort_by_key(|m| std::cmp::Reverse(m.matched.len()));
}

struct Search<'a> {
    folder: &'a Folder,
    files: &'a [Found],
    stop: &'a Stop,
}

impl Search<'_> {
    /// Up to `most` matching lines in the order of the files, and how many files were read. With `words`, a line's
    /// matches are the words that stand anywhere in it.
    fn lines(
        &self,
        matcher: &RegexMatcher,
        words: Option<&[String]>,
        most: usize,
        notes: &mut Notes,
    ) -> Result<(Vec<Match>, usize), ToolError> {
        let mut searcher = SearcherBuilder::new().line_number(true).binary_detection(BinaryDetection::none()).build();
        let mut matches = vec![];
        let mut searched = 0;
        for found in self.files {
            self.stop.check()?;
            let path = &found.place.relative;
            let text = match self.folder.read(&found.place).and_then(|bytes| decode(&bytes)) {
                Ok((text, lossy)) => {
                    if lossy {
                        notes.lossy(path);
                    }
                    text
                }
                Err(reason) => {
                    notes.skip(path, reason);
                    continue;
                }
            };
            searched += 1;
            let mut lines = Lines { path, matcher, words, matches: &mut matches, most, stop: self.stop };
            if let Err(e) = searcher.search_slice(matcher, text.as_bytes(), &mut lines) {
                notes.skip(path, format!("cannot be searched: {}", e.kind()));
            }
            if matches.len() >= most {
                break;
            }
        }
        self.stop.check()?;
        Ok((matches, searched))
    }
}

/// Receives the matching lines of one file.
struct Lines<'a> {
    path: &'a str,
    matcher: &'a RegexMatcher,
    words: Option<&'a [String]>,
    matches: &'a mut Vec<Match>,
    most: usize,
    stop: &'a Stop,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let line = String::from_utf8_lossy(found.bytes());
        let line = line.trim_end_matches(['\n', '\r']);
        let mut first = None;
        let mut matched: Vec<String> = vec![];
        let mut steps = 0;
        // A line may hold a million hits: a few distinct ones are enough.
        let _ = self.matcher.find_iter(line.as_bytes(), |hit| {
            steps += 1;
            first.get_or_insert(hit.start());
            if let Some(text) = line.get(hit.start()..hit.end()).filter(|t| !t.is_empty()) {
                let text = window(text, 0);
                if !matched.contains(&text) {
                    matched.push(text);
                }
            }
            matched.len() < 10 && steps < 100
        });
        let at = first.unwrap_or(0).min(line.len());
        if let Some(words) = self.words {
            matched = words_in(line, words);
        }
        let column = if line.is_char_boundary(at) { Span::of(line, at..at).start + 1 } else { 1 };
        self.matches.push(Match {
            path: self.path.to_string(),
            line: found.line_number().unwrap_or(0),
            column,
            text: window(line, at),
            matched,
        });
        if self.words.is_some() && self.matches.len() > MAX_RANKED {
            rank(self.matches);
            // One more than anybody can ask for still tells that there are more.
            self.matches.truncate(MAX_RESULTS + 1);
        }
        Ok(self.matches.len() < self.most && !self.stop.is_set())
    }
}

/// At most [`SHOWN`] bytes of a line, with some of what stands before `at`.
fn window(line: &str, at: usize) -> String {
    if line.len() <= SHOWN {
        return line.to_string();
    }
    let mut start = at.saturating_sub(SHOWN / 3).min(line.len() - SHOWN);
    let mut end = start + SHOWN;
    while !line.is_char_boundary(start) {
        start += 1;
    }
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let before = if start > 0 { "…" } else { "" };
    let after = if end < line.len() { "…" } else { "" };
    format!("{before}{}{after}", &line[start..end])
}

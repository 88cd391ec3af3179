//! The guidance lines of a prompt: whose they are, what they cost, and what is wrong with them (K-10).
//!
//! A prompt holds the lines of the tools that stand in it and of no others. A tool's own lines count; the core catalog
//! fills in for an enabled extension whose tool says nothing. Nothing is judged silently: a line that repeats, contradicts
//! another or names a tool that the prompt does not hold is said so and stays.

use super::{EntrySource, PlanningView};
use crate::{
    discovery::plain_words,
    ports::TokenCounter,
    tool::{Catalog, Entry, ToolSpec},
};
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

/// All guidance of one prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct GuidanceReport {
    /// In the order of the prompt; at most [`MAX_LINES`].
    pub lines: Vec<GuidanceLine>,
    /// How many lines the prompt holds.
    pub total_lines: u32,
    /// What all of them cost.
    pub tokens: u32,
}

/// How many lines a [`GuidanceReport`] shows.
pub const MAX_LINES: usize = 200;

/// A line of guidance in the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct GuidanceLine {
    pub line: String,
    /// The tools that say it; the first brought it in.
    pub tools: Vec<String>,
    /// Its number among the lines of the first tool, from 1.
    pub index: u32,
    pub source: GuidanceSource,
    pub tokens: u32,
    /// The number in the prompt, from 1, of an earlier line that says nearly the same.
    pub repeats: Option<u32>,
    /// The numbers in the prompt, from 1, of earlier lines that say the opposite.
    pub contradicts: Vec<u32>,
    /// Tools of the catalog that it names and the prompt does not hold.
    pub names_hidden: Vec<String>,
    /// What it names as a tool and the catalog does not hold.
    pub names_absent: Vec<String>,
}

/// Where a line comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum GuidanceSource {
    Tool,
    Core,
}

/// The guidance of a prompt with the tools `prompt`, in their order.
pub struct Guidance<'a> {
    lines: Vec<Collected<'a>>,
    /// The enabled extensions' tools in the prompt, by exact name.
    enabled: Vec<&'a str>,
}

struct Collected<'a> {
    line: &'a str,
    tools: Vec<&'a str>,
    index: u32,
    source: GuidanceSource,
}

impl<'a> Guidance<'a> {
    pub fn of(view: &'a PlanningView, prompt: impl IntoIterator<Item = &'a Entry>) -> Self {
        let core: HashMap<&str, &[String]> = view
            .entries
            .iter()
            .filter(|e| e.source != EntrySource::Tool && e.registered)
            .map(|e| (e.tool.as_str(), e.guidance.as_slice()))
            .collect();
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut guidance = Self { lines: vec![], enabled: vec![] };
        for spec in prompt.into_iter().map(|entry| &entry.spec) {
            if view.callable.binary_search(&spec.name).is_ok() {
                guidance.enabled.push(&spec.name);
            }
            let (lines, source) = match spec.guidance.iter().any(|line| !line.trim().is_empty()) {
                true => (spec.guidance.as_slice(), GuidanceSource::Tool),
                false => (core.get(spec.name.as_str()).copied().unwrap_or_default(), GuidanceSource::Core),
            };
            for (i, line) in lines.iter().map(|line| line.trim()).enumerate().filter(|(_, line)| !line.is_empty()) {
                match places.get(line) {
                    Some(place) => {
                        let tools: &mut Vec<&str> = &mut guidance.lines[*place].tools;
                        if tools.last() != Some(&spec.name.as_str()) {
                            tools.push(&spec.name);
                        }
                    }
                    None => {
                        places.insert(line, guidance.lines.len());
                        guidance.lines.push(Collected { line, tools: vec![&spec.name], index: i as u32 + 1, source });
                    }
                }
            }
        }
        guidance
    }

    /// The part of the prompt; empty where there is nothing to say.
    pub fn section(&self) -> String {
        let mut section = String::new();
        if !self.enabled.is_empty() {
            let names: Vec<String> = self.enabled.iter().map(|name| format!("`{name}`")).collect();
            section.push_str(&format!("Enabled tools, by exact name: {}.\n", names.join(", ")));
        }
        if !self.lines.is_empty() {
            section.push_str("Guidance:\n");
            for line in &self.lines {
                section.push_str("- ");
                section.push_str(line.line);
                section.push('\n');
            }
        }
        section
    }

    /// The lines with what there is to say of them. `in_prompt` tells of any tool of the catalog whether it stands in the
    /// prompt: [`Guidance::of`] may have seen only those that have something to say.
    pub fn report(
        &self,
        catalog: &Catalog,
        counter: &dyn TokenCounter,
        in_prompt: impl Fn(&ToolSpec) -> bool,
    ) -> GuidanceReport {
        let shown = &self.lines[..self.lines.len().min(MAX_LINES)];
        let tokens = |c: &Collected| match catalog.get(c.tools[0]) {
            Some(entry) if c.source == GuidanceSource::Tool => entry.guidance_cost(counter)[c.index as usize - 1],
            _ => counter.count(c.line),
        };
        let said: Vec<Said> = shown.iter().map(|c| Said::of(c.line)).collect();
        let mut lines = vec![];
        for (i, collected) in shown.iter().enumerate() {
            let number = |j: usize| j as u32 + 1;
            let earlier = || (0..i).filter(|j| said[*j].about(&said[i]));
            let named = named(collected.line);
            let hidden = |name: &&Named| catalog.spec(name.text).is_some_and(|spec| !in_prompt(spec));
            let absent = |name: &&Named| {
                let own = collected.tools.iter().filter_map(|tool| catalog.spec(tool));
                name.as_tool
                    && catalog.get(name.text).is_none()
                    && !own.into_iter().any(|spec| has_word(spec, name.text))
            };
            lines.push(GuidanceLine {
                line: collected.line.to_string(),
                tools: collected.tools.iter().map(|t| t.to_string()).collect(),
                index: collected.index,
                source: collected.source,
                tokens: tokens(collected),
                repeats: earlier().find(|j| said[*j].denies == said[i].denies).map(number),
                contradicts: earlier().filter(|j| said[*j].denies != said[i].denies).map(number).collect(),
                names_hidden: named.iter().filter(hidden).map(|n| n.text.to_string()).collect(),
                names_absent: named.iter().filter(absent).map(|n| n.text.to_string()).collect(),
            });
        }
        let rest: u32 = self.lines[shown.len()..].iter().map(tokens).sum();
        GuidanceReport {
            tokens: rest + lines.iter().map(|l| l.tokens).sum::<u32>(),
            total_lines: self.lines.len() as u32,
            lines,
        }
    }
}

impl Entry {
    /// Tokens of each line of the tool's guidance; counted once.
    fn guidance_cost(&self, counter: &dyn TokenCounter) -> &[u32] {
        self.guidance_cost.get_or_init(|| self.spec.guidance.iter().map(|line| counter.count(line.trim())).collect())
    }
}

/// What a line says, for comparing it with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    /// The words that carry its meaning, sorted.
    words: Vec<String>,
    pub(crate) denies: bool,
}

const DENYING: &[&str] = &["not", "never", "don't", "dont", "avoid", "no", "without", "cannot", "stop"];
const DENYING_CJK: &[&str] = &["不要", "不得", "禁止", "避免", "切勿", "请勿", "不应", "不可", "从不", "绝不"];
/// Words that say how strongly, not what.
const EMPTY: &[&str] = &[
    "a", "always", "an", "and", "any", "are", "as", "be", "before", "by", "call", "calls", "do", "does", "every",
    "first", "for", "from", "if", "in", "instead", "is", "it", "its", "must", "of", "on", "only", "or", "please",
    "prefer", "should", "t", "that", "the", "them", "this", "to", "tool", "use", "using", "when", "with", "you",
    "your",
];

impl Said {
    pub(crate) fn of(line: &str) -> Self {
        let line = line.replace('’', "'");
        let lower = line.to_lowercase();
        let contracted = lower.contains("n't ");
        let all = plain_words(&line);
        let denies = contracted
            || all.iter().any(|w| DENYING.contains(&w.as_str()))
            || DENYING_CJK.iter().any(|no| lower.contains(no));
        let mut bare = line;
        DENYING_CJK.iter().for_each(|no| bare = bare.replace(no, " "));
        let mut words: Vec<String> = plain_words(&bare);
        words.retain(|w| !EMPTY.contains(&w.as_str()) && !DENYING.contains(&w.as_str()) && w != "don");
        words.sort();
        words.dedup();
        Self { words, denies }
    }

    /// Whether both speak of the same: at least four of five of their words are shared, and there are two.
    pub(crate) fn about(&self, other: &Self) -> bool {
        let shared = self.words.iter().filter(|w| other.words.binary_search(w).is_ok()).count();
        let all = self.words.len() + other.words.len() - shared;
        (shared >= 2 || (shared == 1 && all == 1)) && shared * 5 >= all * 4
    }

    /// The same words in the same sense.
    pub(crate) fn key(&self) -> (bool, String) {
        (self.denies, self.words.join(" "))
    }
}

/// A name in a line of guidance.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named<'t> {
    pub text: &'t str,
    /// The line tells to call it, so it should be a tool.
    pub as_tool: bool,
}

pattern!(CODE, r"`([^`\n]{1,128})`");
pattern!(IDENTIFIER, r"^[A-Za-z][A-Za-z0-9]*(?:[_.\-/:][A-Za-z0-9]+)*$");
pattern!(
    TOLD,
    r"(?i)(?:\b(?:use|using|call|calling|run|invoke|prefer|try|via|with|by|through|start with|instead of|than|tool|tools)|使用|调用|改用|先用|用|通过|优先)\s*(?:the\s+)?$"
);
pattern!(IS_TOOL, r"(?i)^\s*(?:tools?\b|工具)");
pattern!(COMPOUND, r"\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b");
pattern!(ACTION, r"(?i)\b(?:actions?|modes?|arguments?|parameters?|fields?|options?|flags?|values?)\b");

/// The identifiers that a line names, in order: those between backticks, and words with an underscore outside them.
pub(crate) fn named(line: &str) -> Vec<Named<'_>> {
    let mut found: Vec<(usize, Named)> = vec![];
    let mut code = vec![];
    for quoted in CODE.captures_iter(line) {
        let (whole, inner) = (quoted.get(0).expect("it matched"), quoted.get(1).expect("it has a group"));
        code.push(whole.range());
        if IDENTIFIER.is_match(inner.as_str()) {
            let (before, after) = (&line[..whole.start()], &line[whole.end()..]);
            let about_tool = IS_TOOL.is_match(after);
            // "by `execute`" beside "`shell`" names an action more often than a tool, unless the name is compound.
            let compound = inner.as_str().contains(['_', '.', '/']);
            let told = TOLD.is_match(before) && compound && !ACTION.is_match(line);
            found.push((inner.start(), Named { text: inner.as_str(), as_tool: about_tool || told }));
        }
    }
    for word in COMPOUND.find_iter(line) {
        let covered = code.iter().any(|c| c.start <= word.start() && word.end() <= c.end);
        if !covered {
            let told = TOLD.is_match(&line[..word.start()]) || IS_TOOL.is_match(&line[word.end()..]);
            let as_tool = told && !ACTION.is_match(line) && !line[word.end()..].starts_with(['=', '*']);
            found.push((word.start(), Named { text: word.as_str(), as_tool }));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    let mut seen = HashSet::new();
    found.into_iter().map(|(_, named)| named).filter(|n| seen.insert(n.text)).collect()
}

/// Whether `word` is the tool itself, an argument of it, or a value that one of its arguments takes.
pub(crate) fn has_word(spec: &ToolSpec, word: &str) -> bool {
    spec.name == word
        || spec.aliases.iter().any(|alias| alias == word)
        || spec.properties().is_some_and(|properties| {
            properties.contains_key(word) || Cow::from(spec.parameters.to_string()).contains(&format!("\"{word}\""))
        })
}

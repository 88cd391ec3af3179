//! Request matchers: patterns that suggest a capability for a query (K-11).
//!
//! A pattern is a phrase. Its words must stand in the text in order, side by side, as whole words in any inflection that
//! English stemming knows: `read` is not found in `already`, `page` not in `homepage`. Chinese and Japanese have no
//! spaces, so there a pattern of at least two characters may stand anywhere. Words inside a URL, and words that the text
//! denies ("no update", 不要发送), do not count.
//!
//! A suggestion is a hint for a person; it makes nothing visible and calls nothing.

use super::{CORE, PlanningView};
use crate::{
    guard::reference,
    settings::{CapabilitySettings, RequestMatcher},
    text::{Span, is_cjk},
};
use rust_stemmers::{Algorithm, Stemmer};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;

/// A capability that the words of a query call for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CapabilitySuggestion {
    pub capability: String,
    /// Tools with the capability that the model sees, in the order of the planning view.
    pub tools: Vec<String>,
    /// What matched; empty for a capability that goes along with another.
    pub matches: Vec<PatternMatch>,
    /// The capability that this one goes along with.
    pub along_with: Option<String>,
}

/// A pattern and where it matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PatternMatch {
    pub pattern: String,
    pub span: Span,
    /// The words of the query.
    pub text: String,
}

/// What the matchers in force find in `query`, in the order of the view's entries; the workspace's own matchers follow.
/// Tools that `counts` refuses are left out, and with them a capability that no tool is left for.
pub fn suggest(
    settings: &CapabilitySettings,
    view: &PlanningView,
    query: &str,
    counts: impl Fn(&str) -> bool,
) -> Vec<CapabilitySuggestion> {
    let tools_for = |capability: &str| -> Vec<String> {
        view.tools_for_capability(capability).iter().filter(|tool| counts(tool)).cloned().collect()
    };
    let core = view.entries.iter().flat_map(|entry| {
        let of = |core: &&super::CoreEntry| core.tool == entry.tool && core.extension == entry.extension;
        CORE.entries.iter().filter(|_| settings.use_core_catalog).filter(of).flat_map(|core| &core.matchers)
    });
    let text = Text::of(query);
    let mut found: Vec<CapabilitySuggestion> = vec![];
    for matcher in core.chain(&settings.matchers) {
        let matches = text.matches(matcher);
        let tools = tools_for(&matcher.capability);
        if matches.is_empty() || tools.is_empty() {
            continue;
        }
        match found.iter_mut().find(|s| s.capability == matcher.capability) {
            Some(known) => {
                known.along_with = None;
                known.matches.extend(matches.into_iter().filter(|m| !known.matches.contains(m)).collect::<Vec<_>>());
            }
            None => found.push(CapabilitySuggestion {
                capability: matcher.capability.clone(),
                tools,
                matches,
                along_with: None,
            }),
        }
        for along in &matcher.along {
            let tools = tools_for(along);
            if !tools.is_empty() && found.iter().all(|s| s.capability != *along) {
                found.push(CapabilitySuggestion {
                    capability: along.clone(),
                    tools,
                    matches: vec![],
                    along_with: Some(matcher.capability.clone()),
                });
            }
        }
    }
    found
}

/// A query taken apart for matching.
pub struct Text<'t> {
    text: &'t str,
    words: Vec<Word>,
    has_url: bool,
}

struct Word {
    /// In bytes.
    range: Range<usize>,
    lower: String,
    stem: String,
    cjk: bool,
}

/// How many words a matcher reads.
const MAX_WORDS: usize = 4096;

impl<'t> Text<'t> {
    pub fn of(text: &'t str) -> Self {
        let urls: Vec<Range<usize>> = reference::urls(text).found.into_iter().map(|url| url.range).collect();
        let mut words = words(text);
        words.retain(|word| urls.iter().all(|url| word.range.end <= url.start || url.end <= word.range.start));
        Self { text, words, has_url: !urls.is_empty() }
    }

    /// Where the matcher's patterns stand, each at its first place that is not denied.
    pub fn matches(&self, matcher: &RequestMatcher) -> Vec<PatternMatch> {
        if matcher.require_literal_url && !self.has_url || matcher.forbid_literal_url && self.has_url {
            return vec![];
        }
        let found = |pattern: &String| {
            let wanted = words(pattern);
            // One Chinese character is part of too many words to say anything.
            if wanted.is_empty() || (wanted.len() == 1 && wanted[0].cjk) {
                return None;
            }
            let place = (0..self.words.len()).find(|at| self.stands(&wanted, *at) && !self.denied(*at))?;
            let range = self.words[place].range.start..self.words[place + wanted.len() - 1].range.end;
            let text = self.text[range.clone()].to_string();
            Some(PatternMatch { pattern: pattern.clone(), span: Span::of(self.text, range), text })
        };
        matcher.patterns.iter().filter_map(found).collect()
    }

    fn stands(&self, wanted: &[Word], at: usize) -> bool {
        let Some(here) = self.words.get(at..at + wanted.len()) else { return false };
        let same = |a: &Word, b: &Word| a.lower == b.lower || (!a.cjk && a.stem == b.stem);
        here.iter().zip(wanted).all(|(a, b)| same(a, b))
            && here.windows(2).all(|pair| joins(&self.text[pair[0].range.end..pair[1].range.start]))
    }

    /// Whether the words right before deny what follows: "no update", "do not send", 不要发送.
    fn denied(&self, at: usize) -> bool {
        let clause = |i: usize| {
            let between = &self.text[self.words[i].range.end..self.words[i + 1].range.start];
            !between.contains(|c: char| ".,;:!?。，；：！？、\n".contains(c))
        };
        let mut before = vec![];
        let mut i = at;
        while i > 0 && before.len() < 4 && clause(i - 1) {
            i -= 1;
            before.push(self.words[i].lower.as_str());
        }
        let english = |word: &&&str| {
            [
                "no", "not", "never", "without", "don't", "doesn't", "didn't", "won't", "cannot", "can't", "neither",
                "nor",
            ]
            .contains(word)
        };
        // Between a denial and what it denies stand at most small words: "do not ever send".
        let small = |word: &&str| ["any", "a", "an", "the", "to", "ever", "please", "be", "yet", "more"].contains(word);
        let mut telling = before.iter().filter(|w| !small(w));
        // A word for how the thing is may stand between: "no latest news".
        if telling.next().is_some_and(|w| english(&w)) || telling.next().is_some_and(|w| ["no", "without"].contains(w))
        {
            return true;
        }
        let lead: String = before.iter().rev().copied().collect();
        ["不要", "不用", "不必", "无需", "别", "没有", "请勿", "不需要", "不想"].iter().any(|no| lead.ends_with(no))
    }
}

/// What may stand between the words of a phrase.
fn joins(between: &str) -> bool {
    between.chars().count() <= 3
        && between.chars().all(|c| c.is_whitespace() || matches!(c, '-' | '\u{2010}' | '\u{2011}'))
}

/// Runs of letters, digits and underscores with apostrophes inside; each CJK character is a word of its own.
fn words(text: &str) -> Vec<Word> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut words: Vec<Word> = vec![];
    let mut open: Option<usize> = None;
    let close = |words: &mut Vec<Word>, start: usize, end: usize| {
        let plain: String = text[start..end].nfkc().collect::<String>().replace('’', "'").to_lowercase();
        let plain = plain.trim_matches('\'').to_string();
        if !plain.is_empty() {
            let stem = stemmer.stem(&plain).into_owned();
            words.push(Word { range: start..end, lower: plain, stem, cjk: false });
        }
    };
    for (at, c) in text.char_indices() {
        if words.len() >= MAX_WORDS {
            return words;
        }
        let full_width = matches!(c, '\u{FF10}'..='\u{FF19}' | '\u{FF21}'..='\u{FF3A}' | '\u{FF41}'..='\u{FF5A}');
        let cjk = is_cjk(c) && !full_width;
        let inside = !cjk && (c.is_alphanumeric() || c == '_' || (open.is_some() && matches!(c, '\'' | '’')));
        if inside {
            open.get_or_insert(at);
            continue;
        }
        if let Some(start) = open.take() {
            close(&mut words, start, at);
        }
        if cjk && c.is_alphanumeric() {
            words.push(Word { range: at..at + c.len_utf8(), lower: c.into(), stem: c.into(), cjk: true });
        }
    }
    if let Some(start) = open {
        close(&mut words, start, text.len());
    }
    words
}

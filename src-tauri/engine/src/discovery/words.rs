//! From text to the words that are compared: identifiers in parts, English stemmed, CJK text as pairs of characters.
//!
//! Knows nothing of tools or scores.

use super::vocabulary::{ASKING, STOP, STOP_CJK};
use crate::text::is_cjk;
use rust_stemmers::{Algorithm, Stemmer};
use std::ops::Range;

/// A searchable word of a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Word<'a> {
    /// As it is compared.
    pub stem: String,
    /// In lower case, unstemmed.
    pub lower: String,
    /// As it was written.
    pub original: &'a str,
    /// Where it begins, in bytes.
    pub at: usize,
}

/// A word of a query, with what its place says about it.
#[derive(Debug, Clone)]
pub(super) struct Asked<'a> {
    pub word: Word<'a>,
    /// Number of the sentence that it stands in.
    pub sentence: usize,
    /// Quoted text and placeholders are values for a tool more often than words about it.
    pub quoted: bool,
    pub number: bool,
    /// Not a word of its own but a compound that was also taken apart: `GitHub` beside `git` and `hub`.
    pub compound: bool,
}

/// A sentence with fewer words belongs to the next one: "Hi there."
const SENTENCE: usize = 2;

/// How many words, and how many bytes, are read of a query. Longer ones are documents, and reading on would only cost
/// time.
const MAX_ASKED: usize = 256;
const MAX_BYTES: usize = 16_384;

/// How far apart two quotation marks may stand to be a pair.
const MAX_QUOTED: usize = 240;

/// The searchable words of a text, in order.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut found = vec![];
    for run in runs(text) {
        if run.cjk {
            found.extend(pairs(text, run.range));
        } else {
            found.extend(parts(text, run.range).into_iter().filter_map(|part| word(text, part, &stemmer)));
        }
    }
    found
}

/// Every word of a text in lower case, identifiers in parts, nothing left out or stemmed.
pub(crate) fn plain_words(text: &str) -> Vec<String> {
    runs(text).into_iter().flat_map(|run| parts(text, run.range)).map(|part| text[part].to_lowercase()).collect()
}

/// The words of a query, at most [`MAX_ASKED`].
pub(super) fn asked(query: &str) -> Vec<Asked<'_>> {
    let query = beginning(query);
    let stemmer = Stemmer::create(Algorithm::English);
    let quoted = quoted(query);
    let ends = sentence_ends(query, &quoted);
    let mut asked = vec![];
    let mut add = |word: Word<'_>, compound: bool| {
        if !ASKING.contains(&word.lower.as_str()) {
            asked.push(Asked {
                sentence: ends.partition_point(|end| *end <= word.at),
                quoted: within(&quoted, word.at),
                number: word.lower.bytes().all(|b| b.is_ascii_digit()),
                word: Word { original: &query[word.at..word.at + word.original.len()], ..word },
                compound,
            });
        }
    };
    for run in runs(query) {
        if run.cjk {
            pairs(query, run.range).into_iter().for_each(|w| add(w, false));
            continue;
        }
        let parts = parts(query, run.range.clone());
        let two = parts.len() == 2;
        parts.into_iter().filter_map(|p| word(query, p, &stemmer)).for_each(|w| add(w, false));
        if two && let Some(whole) = word(query, run.range, &stemmer) {
            add(whole, true);
        }
    }
    asked.truncate(MAX_ASKED);
    join_short_sentences(&mut asked);
    asked
}

/// As much of a query as is read.
pub(super) fn beginning(query: &str) -> &str {
    cut(query, MAX_BYTES)
}

/// Who speaks in a transcript: "user: ...". The first few are the person.
const SPEAKERS: [&str; 9] = ["user", "human", "customer", "assistant", "system", "agent", "bot", "ai", "tool"];
const PERSONS: usize = 3;

/// Of a transcript, a turn a speaker, what is still to be done: from the first thing that the person says after the last
/// call of a tool, with what was asked back since. None for other texts, and where no tool was called.
pub(super) fn under_way(query: &str) -> Option<&str> {
    let query = beginning(query);
    let (mut called, mut open) = (false, None);
    let mut at = 0;
    for line in query.split_inclusive('\n') {
        if let Some((person, said)) = turn(line) {
            if !person && is_call(said) {
                (called, open) = (true, None);
            } else if person && called && open.is_none() {
                open = Some(&query[at + line.len() - said.len()..]);
            }
        }
        at += line.len();
    }
    open.filter(|open| !open.trim().is_empty())
}

/// Whether the person speaks in a line that begins a turn, and what is said.
fn turn(line: &str) -> Option<(bool, &str)> {
    let (speaker, said) = line.split_once([':', '：'])?;
    let place = SPEAKERS.iter().position(|s| s.eq_ignore_ascii_case(speaker.trim()))?;
    Some((place < PERSONS, said))
}

/// Whether a turn begins with a call as programs write it: `[find_flights(...`.
fn is_call(said: &str) -> bool {
    let name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/');
    let call = said.trim_start_matches(|c: char| c.is_whitespace() || c == '[');
    let rest = call.trim_start_matches(name);
    rest.len() < call.len() && rest.starts_with('(')
}

/// The beginning of a text, at most so many bytes.
pub(super) fn cut(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The sentences of a query, those too short to stand alone together with the next one.
pub(super) fn sentences(query: &str) -> Vec<&str> {
    let query = beginning(query);
    let mut cuts: Vec<Range<usize>> = vec![];
    let mut start = 0;
    for end in sentence_ends(query, &quoted(query)).into_iter().chain([query.len()]) {
        if query[start..end].split_whitespace().count() > SENTENCE {
            cuts.push(start..end);
            start = end;
        }
    }
    // What is left at the end goes back to the sentence before it.
    if let Some(last) = cuts.last_mut() {
        last.end = query.len();
    }
    cuts.into_iter().map(|cut| query[cut].trim()).collect()
}

struct Run {
    range: Range<usize>,
    cjk: bool,
}

/// Unbroken letters and digits, CJK text apart from other scripts.
fn runs(text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = vec![];
    let mut open = false;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        // The s of "today's" is no word.
        if matches!(c, '\'' | '’') && open && matches!(characters.peek(), Some((_, 's' | 'S'))) {
            let mut ahead = characters.clone();
            ahead.next();
            if ahead.peek().is_none_or(|(_, next)| !next.is_alphanumeric()) {
                characters.next();
            }
        }
        if !c.is_alphanumeric() {
            open = false;
            continue;
        }
        let end = at + c.len_utf8();
        let cjk = is_cjk(c);
        match runs.last_mut().filter(|last| open && last.cjk == cjk) {
            Some(last) => last.range.end = end,
            None => runs.push(Run { range: at..end, cjk }),
        }
        open = true;
    }
    runs
}

/// The parts of an identifier: `getUserDetails` is get, User, Details, and `HTMLPage` is HTML, Page.
fn parts(text: &str, run: Range<usize>) -> Vec<Range<usize>> {
    let characters: Vec<(usize, char)> = text[run.clone()].char_indices().map(|(i, c)| (run.start + i, c)).collect();
    let mut parts = vec![];
    let mut start = run.start;
    for (i, (at, c)) in characters.iter().enumerate().skip(1) {
        let before = characters[i - 1].1;
        let after_lower = characters.get(i + 1).is_some_and(|(_, next)| next.is_lowercase());
        if c.is_uppercase()
            && (before.is_lowercase() || before.is_ascii_digit() || (before.is_uppercase() && after_lower))
        {
            parts.push(start..*at);
            start = *at;
        }
    }
    parts.push(start..run.end);
    parts
}

fn word<'a>(text: &'a str, range: Range<usize>, stemmer: &Stemmer) -> Option<Word<'a>> {
    let original = &text[range.clone()];
    let lower = original.to_lowercase();
    if STOP.contains(&lower.as_str()) {
        return None;
    }
    let stem = if lower.is_ascii() { stemmer.stem(&lower).into_owned() } else { lower.clone() };
    Some(Word { stem, lower, original, at: range.start })
}

/// Neighbouring characters of CJK text; a character that stands alone stands for itself.
fn pairs(text: &str, run: Range<usize>) -> Vec<Word<'_>> {
    let ends: Vec<usize> = text[run.clone()].char_indices().map(|(i, c)| run.start + i + c.len_utf8()).collect();
    let starts: Vec<usize> = std::iter::once(run.start).chain(ends.iter().copied()).collect();
    let width = 2.min(ends.len());
    (width..=ends.len())
        .map(|last| {
            let at = starts[last - width];
            let original = &text[at..ends[last - 1]];
            (at, original)
        })
        .filter(|(_, original)| !original.contains(STOP_CJK))
        .map(|(at, original)| Word { stem: original.to_string(), lower: original.to_string(), original, at })
        .collect()
}

/// The ranges between quotation marks, and between the angle brackets of placeholders.
fn quoted(text: &str) -> Vec<Range<usize>> {
    let characters: Vec<(usize, char)> = text.char_indices().collect();
    let letter = |i: usize| characters.get(i).is_some_and(|(_, c)| c.is_alphanumeric());
    let apostrophe = |i: usize| i > 0 && letter(i - 1) && letter(i + 1);
    let mut ranges = vec![];
    let mut i = 0;
    while let Some((at, c)) = characters.get(i) {
        let close = match c {
            '"' | '`' | '\'' => *c,
            '“' => '”',
            '‘' => '’',
            '<' => '>',
            '「' => '」',
            '『' => '』',
            _ => {
                i += 1;
                continue;
            }
        };
        // A mark right behind a letter closes, or is an apostrophe.
        let opens = !(matches!(c, '\'' | '"') && i > 0 && letter(i - 1));
        let end = (i + 1..characters.len().min(i + MAX_QUOTED)).find(|j| characters[*j].1 == close && !apostrophe(*j));
        match end.filter(|_| opens) {
            Some(end) => {
                ranges.push(*at..characters[end].0);
                i = end + 1;
            }
            None => i += 1,
        }
    }
    ranges
}

/// Whether one of the sorted ranges holds the place.
fn within(ranges: &[Range<usize>], at: usize) -> bool {
    let next = ranges.partition_point(|range| range.end <= at);
    ranges.get(next).is_some_and(|range| range.contains(&at))
}

/// Where sentences end, outside quotations.
fn sentence_ends(text: &str, quoted: &[Range<usize>]) -> Vec<usize> {
    let mut ends = vec![];
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let space_follows =
            characters.peek().is_none_or(|(_, next)| next.is_whitespace() || matches!(next, '"' | '\''));
        let end =
            matches!(c, '。' | '？' | '！' | '；') || (matches!(c, '.' | '?' | '!' | ';' | '\n') && space_follows);
        if end && !within(quoted, at) {
            ends.push(at + c.len_utf8());
        }
    }
    ends
}

/// Gives the words of a sentence that is too short to stand alone to its neighbour, and numbers the rest from 0.
fn join_short_sentences(asked: &mut [Asked]) {
    let mut sizes: Vec<(usize, usize)> = vec![];
    for word in asked.iter() {
        match sizes.last_mut().filter(|(sentence, _)| *sentence == word.sentence) {
            Some((_, size)) => *size += 1,
            None => sizes.push((word.sentence, 1)),
        }
    }
    let mut numbers = vec![];
    let mut number = 0usize;
    let mut held = 0;
    for (i, (sentence, size)) in sizes.iter().enumerate() {
        held += size;
        numbers.push((*sentence, number));
        if held >= SENTENCE && i + 1 < sizes.len() {
            number += 1;
            held = 0;
        }
    }
    // What is left at the end goes back to the sentence before it.
    let last = if held < SENTENCE { number.saturating_sub(1) } else { number };
    for word in asked {
        let number = numbers.iter().find(|(sentence, _)| *sentence == word.sentence).map_or(0, |(_, number)| *number);
        word.sentence = number.min(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str) -> Vec<String> {
        words(text).into_iter().map(|w| w.stem).collect()
    }

    #[test]
    fn identifiers_fall_into_parts() {
        assert_eq!(stems("getUserDetails v2_ISSUE简介"), ["get", "user", "detail", "v2", "issu", "简介"]);
        assert_eq!(stems("HTMLPage.toPDF"), ["html", "page", "pdf"]);
        assert_eq!(stems("today's forecast, 查"), ["today", "forecast", "查"]);
    }

    #[test]
    fn a_query_has_sentences_and_quotations() {
        let shown: Vec<String> = asked(r#"Hi! Find "Stranger Things" on GitHub. Delete 3 files, v1.2"#)
            .iter()
            .map(|a| {
                let mark = if a.quoted {
                    "q"
                } else if a.number {
                    "n"
                } else if a.compound {
                    "+"
                } else {
                    ""
                };
                format!("{}{}{mark}", a.sentence, a.word.original)
            })
            .collect();
        assert_eq!(
            shown,
            ["0Find", "0Strangerq", "0Thingsq", "0Git", "0Hub", "0GitHub+", "1Delete", "13n", "1files", "1v1", "12n"]
        );
        assert!(asked("don't quote the user's words").iter().all(|a| !a.quoted));
    }

    #[test]
    fn sentences_are_cut_outside_quotations() {
        assert_eq!(
            sentences("Hi! Find \"Yes. No. Maybe\" on the web. Then delete three old files. Thanks"),
            ["Hi! Find \"Yes. No. Maybe\" on the web.", "Then delete three old files. Thanks"]
        );
        assert_eq!(sentences("List files"), Vec::<&str>::new());
    }

    #[test]
    fn what_was_called_in_a_transcript_is_done() {
        let done = "Is it cold in Rome?\nsystem: [get_weather(city=\"Rome\")]\nsystem: 12 degrees\n";
        let next = "A table for two then\nassistant: At what time?\nUser: At eight";
        assert_eq!(under_way(&format!("{done}User: {next}")), Some(format!(" {next}").as_str()));
        assert_eq!(under_way(&format!("{done}user: {next}\nassistant: book(at=8)\nhuman:再见")), Some("再见"));
        assert_eq!(under_way(done), None);
        assert_eq!(under_way(&format!("{done}user:  ")), None);
        assert_eq!(under_way("A table\nassistant: When?\nuser: At eight"), None);
        assert_eq!(under_way("note: [f()]\nuser: list files (all)"), None);
    }

    #[test]
    fn short_sentences_join_their_neighbour() {
        let numbers = |text: &str| asked(text).iter().map(|a| a.sentence).collect::<Vec<_>>();
        assert_eq!(numbers("Weather? Book flights tonight. Bye"), [0, 0, 0, 0, 0]);
        assert_eq!(numbers("Book flights. Weather tomorrow."), [0, 0, 1, 1]);
        assert_eq!(numbers(&"word ".repeat(10_000)).len(), MAX_ASKED);
    }
}

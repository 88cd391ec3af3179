//! Offsets into text, converted in one place.
//!
//! Rust counts bytes, JavaScript counts UTF-16 code units. Everything that leaves the engine uses [`Span`], in UTF-16
//! code units; byte ranges stay inside the function that found them.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Half-open range of UTF-16 code units, as `String.prototype.slice(start, end)` takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// The span of the byte range `range` of `text`. Both ends must be character boundaries.
    pub fn of(text: &str, range: Range<usize>) -> Self {
        let start = utf16_len(&text[..range.start]);
        Self { start, end: start + utf16_len(&text[range]) }
    }
}

/// Spans of many ranges of one text, each character counted once. Ranges must begin in the order of the text.
pub struct Spans<'t> {
    text: &'t str,
    byte: usize,
    unit: u32,
}

impl<'t> Spans<'t> {
    pub fn in_order(text: &'t str) -> Self {
        Self { text, byte: 0, unit: 0 }
    }

    /// [`Span::of`] for the next range.
    pub fn next(&mut self, range: Range<usize>) -> Span {
        self.unit += utf16_len(&self.text[self.byte..range.start]);
        self.byte = range.start;
        Span { start: self.unit, end: self.unit + utf16_len(&self.text[range]) }
    }

    /// The bytes of the next span.
    pub fn bytes(&mut self, span: Span) -> Range<usize> {
        self.byte += utf8_len(&self.text[self.byte..], span.start - self.unit);
        self.unit = span.start;
        self.byte..self.byte + utf8_len(&self.text[self.byte..], span.end - span.start)
    }
}

/// Bytes of the first `units` UTF-16 units of `text`.
fn utf8_len(text: &str, units: u32) -> usize {
    let mut passed = 0;
    let within = text.chars().take_while(|c| {
        let inside = passed < units;
        passed += c.len_utf16() as u32;
        inside
    });
    within.map(char::len_utf8).sum()
}

fn utf16_len(text: &str) -> u32 {
    text.chars().map(|c| c.len_utf16() as u32).sum()
}

/// Shortens `text` to at most `max` characters, cutting the middle.
pub fn middle_truncate(text: &str, max: usize) -> String {
    let count = text.chars().count();
    if count <= max {
        return text.to_string();
    }
    let head = max.saturating_sub(1).div_ceil(2);
    let tail = max.saturating_sub(1) - head;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{start}…{end}")
}

/// Whether `c` is written without spaces between words: Han, kana, Hangul and their punctuation.
pub fn is_cjk(c: char) -> bool {
    matches!(c as u32,
        0x2E80..=0x303F | 0x3040..=0x30FF | 0x3100..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF
        | 0xF900..=0xFAFF | 0xFE30..=0xFE4F | 0xFF00..=0xFFEF | 0x20000..=0x323AF)
}

/// Whether the whole of `text` fits `pattern`, in which `*` is any text and `?` any one character. Letter case counts.
pub fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // The last star, and where the text after it was tried from: the only place to go back to.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(b'?') if is_first_byte(text[t]) => {
                let character = text[t + 1..].iter().take_while(|b| !is_first_byte(**b)).count() + 1;
                (p, t) = (p + 1, t + character);
            }
            Some(byte) if *byte != b'?' && *byte == text[t] => (p, t) = (p + 1, t + 1),
            _ => match &mut star {
                Some((at, from)) => {
                    *from += 1;
                    (p, t) = (*at + 1, *from);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// Of a character in UTF-8.
fn is_first_byte(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G-11: offsets agree with JavaScript, which sees two units in an emoji and one in a Han character.
    #[test]
    fn spans_count_utf16_units() {
        let text = "查看😀PROJ-1";
        let at = text.find("PROJ").unwrap();
        assert_eq!(Span::of(text, at..text.len()), Span { start: 4, end: 10 });
    }

    #[test]
    fn spans_in_order_equal_spans_one_by_one() {
        let text = "é😀a😀PROJ-1 查b";
        let (mut spans, mut back) = (Spans::in_order(text), Spans::in_order(text));
        for range in [2..6, 2..7, 7..11, 11..17, 18..21, 21..22, 22..22] {
            let span = Span::of(text, range.clone());
            assert_eq!(spans.next(range.clone()), span);
            assert_eq!(back.bytes(span), range);
        }
    }

    #[test]
    fn truncation_keeps_both_ends() {
        assert_eq!(middle_truncate("abcdefghij", 5), "ab…ij");
        assert_eq!(middle_truncate("abc", 5), "abc");
    }

    /// D-01: patterns of names, in time that grows with the text and not with the stars.
    #[test]
    fn globs_match_whole_names() {
        for (pattern, text, fits) in [
            ("tasks.*", "tasks.list", true),
            ("tasks.*", "tasks", false),
            ("tasks.*", "my.tasks.list", false),
            ("*", "", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*_id*", "get_id_of", true),
            ("翻*", "翻译", true),
            ("?译", "翻译", true),
            ("*?", "翻", true),
            ("*??", "翻", false),
            ("a?*", "a", false),
            ("finish", "Finish", false),
            ("", "a", false),
        ] {
            assert_eq!(glob(pattern, text), fits, "{pattern} {text}");
        }
        assert!(!glob(&"a*".repeat(200), &"a".repeat(150)));
    }
}

//! What a document points at: links, wiki links, ticket keys and names of files, as written.
//!
//! Whether a target exists is for the reader of the whole folder (`graph_related`); one file cannot know.

use regex::Regex;
use std::{cell::LazyCell, collections::HashSet, sync::LazyLock};
use toolplan_engine::{guard::NOISE_PREFIXES, text::middle_truncate};

/// References of one file beyond which the rest is not kept.
const MAX_REFERENCES: usize = 1000;

/// How a document points at something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// `[text](target)` or `[label]: target`.
    Link,
    /// `[[target]]` or `[[target|text]]`.
    WikiLink,
    /// `PROJ-12`.
    Ticket,
    /// `notes.md` or `src/notes.md` in the text.
    FileName,
}

impl Kind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Link => "markdown link",
            Self::WikiLink => "wiki link",
            Self::Ticket => "ticket",
            Self::FileName => "file name",
        }
    }
}

/// One thing that a document points at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) kind: Kind,
    pub(super) target: String,
    /// The line that holds it, shortened.
    pub(super) text: String,
}

static LINK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"\]\(\s*<?([^)\s>]{1,300})>?[^)\n]{0,200}\)|^\s*\[[^\]\n]{1,100}\]:\s*<?(\S{1,300}?)>?(?:\s|$)"#)
});
static WIKI: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[\[([^\]\[|#\n]{1,200})[^\]\[\n]{0,200}\]\]"));
static TICKET: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?-u:\b)([A-Z][A-Z0-9_]{1,15}-[1-9][0-9]{0,8})(?-u:\b)"));

/// Names of standards that look like ticket keys.
const STANDARDS: &[&str] = &["ISO", "SHA", "RFC", "CVE", "IPV", "HTTP", "BASE", "AES", "RSA", "GPT"];

fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("the patterns of this file compile; a test uses each")
}

/// The distinct references of `text`, in its order.
pub(super) fn find(text: &str) -> Vec<Reference> {
    let mut seen = HashSet::new();
    let mut references = vec![];
    for line in text.lines() {
        // Shortened once: a line of megabytes may hold a thousand references.
        let shown = LazyCell::new(|| middle_truncate(line.trim(), 200));
        let mut add = |kind: Kind, target: &str| {
            let target = target.trim();
            if !target.is_empty() && references.len() < MAX_REFERENCES && seen.insert((kind, target.to_string())) {
                references.push(Reference { kind, target: target.into(), text: shown.clone() });
            }
        };
        for found in LINK.captures_iter(line) {
            if let Some(target) = found.get(1).or(found.get(2)).map(|m| m.as_str()).filter(|t| !is_url(t)) {
                add(Kind::Link, target.split(['#', '?']).next().unwrap_or_default());
            }
        }
        WIKI.captures_iter(line).for_each(|found| add(Kind::WikiLink, &found[1]));
        TICKET.captures_iter(line).filter(|found| is_ticket(&found[1])).for_each(|found| add(Kind::Ticket, &found[1]));
        file_names(line).for_each(|name| add(Kind::FileName, name));
    }
    references
}

/// The words of the line that look like a file's name or path.
///
/// No pattern does this: one that starts anywhere takes quadratic time on a line of a million letters.
fn file_names(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))).filter_map(|word| {
        let word = word.trim_start_matches("./").trim_end_matches(['.', '/']);
        let (before, extension) = word.rsplit_once('.')?;
        let is_extension = (1..=8).contains(&extension.len())
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.bytes().all(|b| b.is_ascii_alphanumeric());
        let has_name = before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-'));
        (is_extension && has_name && word.len() <= 300).then_some(word)
    })
}

/// Whether the whole text is a ticket key.
pub(super) fn is_ticket_key(text: &str) -> bool {
    TICKET.find(text).is_some_and(|m| m.as_str() == text)
}

fn is_ticket(key: &str) -> bool {
    let prefix = key.split('-').next().unwrap_or_default();
    !NOISE_PREFIXES.contains(&prefix) && !STANDARDS.contains(&prefix)
}

fn is_url(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:") || target.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(Kind, &str)]) {
        let found = find(text);
        let found: Vec<(Kind, &str)> = found.iter().map(|r| (r.kind, r.target.as_str())).collect();
        assert_eq!(found, expected, "references of {text:?}");
    }

    #[test]
    fn every_kind_is_found() {
        check("see [the plan](docs/plan%20b.md#top)", &[(Kind::Link, "docs/plan%20b.md"), (Kind::FileName, "20b.md")]);
        check("[p]: <a/计划> \"title\"", &[(Kind::Link, "a/计划")]);
        check(
            "[[Release Notes|the notes]] and [[设计#头]]",
            &[(Kind::WikiLink, "Release Notes"), (Kind::WikiLink, "设计")],
        );
        check("修复PROJ-12，见 UTF-8 and ISO-8601", &[(Kind::Ticket, "PROJ-12")]);
        check("run ./src/main.rs", &[(Kind::FileName, "src/main.rs")]);
        check("[out](https://example.org/page) 1.5, x@y.", &[]);
        check("see guide.md. Or a/b.tar.gz, ..", &[(Kind::FileName, "guide.md"), (Kind::FileName, "a/b.tar.gz")]);
    }
}

//! The language that filters a run's events: `tool:jira status:failed dur:>500ms -kind:step_ready "free text"` (W-05).
//!
//! Terms stand beside one another and all must hold; a minus in front turns one around. `key:a,b` holds for either
//! value. `*` stands for any letters. Letter case never matters. A word without a key is looked for in the event's
//! line. Reads text and decides; knows nothing of where events come from.

use crate::Problem;

/// A filter that was read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filter {
    terms: Vec<Term>,
}

/// What a filter sees of one event. Texts are in small letters.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    pub seq: u32,
    /// Milliseconds since the run's first event.
    pub after_ms: u64,
    pub kind: &'a str,
    pub step: &'a str,
    pub tool: &'a str,
    /// `failed`, `succeeded`, `running` …; empty where the event says nothing of it.
    pub status: &'a str,
    pub attempt: Option<u32>,
    pub duration_ms: Option<u64>,
    /// The event's line in the log.
    pub text: &'a str,
}

#[derive(Debug, Clone, PartialEq)]
struct Term {
    negative: bool,
    test: Test,
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    Text(String),
    Kind(Vec<Pattern>),
    Step(Vec<Pattern>),
    Tool(Vec<Pattern>),
    Status(Vec<Pattern>),
    Duration(Range),
    After(Range),
    Attempt(Range),
    Seq(Range),
}

/// From and to, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Range(u64, u64);

#[derive(Debug, Clone, PartialEq)]
enum Pattern {
    Whole(String),
    Part(String),
    /// The parts between the stars.
    Stars(Vec<String>),
}

const KEYS: &[&str] = &["kind", "step", "tool", "status", "dur", "after", "attempt", "seq"];

const STATUSES: &[&str] = &[
    "pending",
    "ready",
    "running",
    "waiting",
    "succeeded",
    "failed",
    "skipped",
    "cancelled",
    "partial",
    "interrupted",
];

/// The longest filter in bytes.
const LONGEST: usize = 4096;

impl Filter {
    /// Reads a filter. Errors name the place, counted in characters from 1, and the remedy: `filter.key`,
    /// `filter.value`, `filter.quote`, `filter.too_long`.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        if text.len() > LONGEST {
            return Err(Problem::new(
                "filter.too_long",
                format!("the filter has more than {LONGEST} bytes"),
                "shorten it",
            ));
        }
        let mut terms = vec![];
        let mut reader = Reader { text, at: 0 };
        while reader.skip_space() {
            let start = reader.at;
            let negative =
                reader.take('-') && !reader.rest().is_empty() && !reader.rest().starts_with(char::is_whitespace);
            if !negative {
                reader.at = start;
            }
            terms.push(Term { negative, test: reader.term()? });
        }
        Ok(Self { terms })
    }

    /// Whether nothing is filtered.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    pub fn matches(&self, facts: &Facts) -> bool {
        self.terms.iter().all(|term| term.test.holds(facts) != term.negative)
    }
}

impl Test {
    fn holds(&self, facts: &Facts) -> bool {
        let any = |patterns: &[Pattern], text: &str| !text.is_empty() && patterns.iter().any(|p| p.fits(text));
        let within = |range: &Range, value: Option<u64>| value.is_some_and(|v| range.0 <= v && v <= range.1);
        match self {
            Self::Text(part) => facts.text.contains(part.as_str()),
            Self::Kind(patterns) => any(patterns, facts.kind),
            Self::Step(patterns) => any(patterns, facts.step),
            Self::Tool(patterns) => any(patterns, facts.tool),
            Self::Status(patterns) => any(patterns, facts.status),
            Self::Duration(range) => within(range, facts.duration_ms),
            Self::After(range) => within(range, Some(facts.after_ms)),
            Self::Attempt(range) => within(range, facts.attempt.map(u64::from)),
            Self::Seq(range) => within(range, Some(u64::from(facts.seq))),
        }
    }
}

impl Pattern {
    fn new(text: &str, parts: bool) -> Self {
        let text = text.to_lowercase();
        match text.contains('*') {
            true => Self::Stars(text.split('*').map(str::to_string).collect()),
            false if parts => Self::Part(text),
            false => Self::Whole(text),
        }
    }

    fn fits(&self, text: &str) -> bool {
        match self {
            Self::Whole(whole) => text == whole,
            Self::Part(part) => text.contains(part.as_str()),
            Self::Stars(parts) => {
                let (first, last) = (&parts[0], &parts[parts.len() - 1]);
                let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
                for part in &parts[1..parts.len() - 1] {
                    let Some(at) = rest.find(part.as_str()) else { return false };
                    rest = &rest[at + part.len()..];
                }
                rest.ends_with(last.as_str())
            }
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    /// In bytes.
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Whether anything follows.
    fn skip_space(&mut self) -> bool {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        self.at < self.text.len()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn term(&mut self) -> Result<Test, Problem> {
        let start = self.at;
        let word = self.rest().find(|c: char| c == ':' || c == '"' || c.is_whitespace()).map(|n| &self.rest()[..n]);
        let Some(key) = word.filter(|w| !w.is_empty() && self.rest()[w.len()..].starts_with(':')) else {
            return Ok(Test::Text(self.value()?.to_lowercase()));
        };
        let name = key.to_lowercase();
        if !KEYS.contains(&name.as_str()) {
            // A URL or a time is text that somebody looks for.
            if !name.chars().all(|c| c.is_ascii_alphabetic()) || self.rest()[key.len()..].starts_with("://") {
                return Ok(Test::Text(self.value()?.to_lowercase()));
            }
            return Err(self.error(
                "filter.key",
                start,
                format!("there is no key {key:?}"),
                format!("use one of {}, or put the text in quotes", KEYS.join(", ")),
            ));
        }
        self.at += key.len() + 1;
        let place = self.at;
        let quoted = self.rest().starts_with('"');
        let value = self.value()?;
        if value.is_empty() {
            return Err(self.error(
                "filter.value",
                place,
                format!("{name}: has no value"),
                format!("write {}", example(&name)),
            ));
        }
        let values: Vec<&str> =
            if quoted { vec![&value] } else { value.split(',').filter(|v| !v.is_empty()).collect() };
        let patterns = |parts| values.iter().map(|v| Pattern::new(v, parts)).collect();
        let range = |ms| {
            read_range(&value, ms).ok_or_else(|| {
                self.error(
                    "filter.value",
                    place,
                    format!("{name}: does not understand {value:?}"),
                    format!("write {}", example(&name)),
                )
            })
        };
        Ok(match name.as_str() {
            "kind" => Test::Kind(patterns(false)),
            "step" => Test::Step(patterns(false)),
            "tool" => Test::Tool(patterns(true)),
            "status" => {
                if let Some(unknown) =
                    values.iter().find(|v| !v.contains('*') && !STATUSES.contains(&v.to_lowercase().as_str()))
                {
                    return Err(self.error(
                        "filter.value",
                        place,
                        format!("there is no status {unknown:?}"),
                        format!("use one of {}", STATUSES.join(", ")),
                    ));
                }
                Test::Status(patterns(false))
            }
            "dur" => Test::Duration(range(true)?),
            "after" => Test::After(range(true)?),
            "attempt" => Test::Attempt(range(false)?),
            _ => Test::Seq(range(false)?),
        })
    }

    /// A quoted text, or all up to the next space.
    fn value(&mut self) -> Result<String, Problem> {
        let start = self.at;
        if self.take('"') {
            let Some(end) = self.rest().find('"') else {
                return Err(self.error(
                    "filter.quote",
                    start,
                    "the quote has no end".into(),
                    "close it with another \"".into(),
                ));
            };
            let value = self.rest()[..end].to_string();
            self.at += end + 1;
            return Ok(value);
        }
        let end = self.rest().find(char::is_whitespace).unwrap_or(self.rest().len());
        let value = self.rest()[..end].to_string();
        self.at += end;
        Ok(value)
    }

    fn error(&self, code: &str, at: usize, message: String, hint: String) -> Problem {
        let place = self.text[..at].chars().count() + 1;
        Problem::new(code, format!("at character {place} of the filter: {message}"), hint)
    }
}

fn example(key: &str) -> String {
    match key {
        "kind" => "kind:attempt_finished",
        "step" => "step:step-3",
        "tool" => "tool:jira",
        "status" => "status:failed",
        "dur" => "dur:>500ms, dur:<=2s or dur:1s..3s",
        "after" => "after:>2s or after:1s..3s",
        "attempt" => "attempt:>1",
        _ => "seq:100..200",
    }
    .into()
}

/// `>5`, `>=5`, `<5`, `<=5`, `5`, `5..9`, `5..`; with units of time where `ms` says so.
fn read_range(text: &str, ms: bool) -> Option<Range> {
    let number = |text: &str| read_number(text.trim(), ms);
    if let Some((from, to)) = text.split_once("..") {
        let from = if from.is_empty() { 0 } else { number(from)? };
        let to = if to.is_empty() { u64::MAX } else { number(to)? };
        return (from <= to).then_some(Range(from, to));
    }
    if let Some(rest) = text.strip_prefix(">=") {
        return Some(Range(number(rest)?, u64::MAX));
    }
    if let Some(rest) = text.strip_prefix('>') {
        return Some(Range(number(rest)?.checked_add(1)?, u64::MAX));
    }
    if let Some(rest) = text.strip_prefix("<=") {
        return Some(Range(0, number(rest)?));
    }
    if let Some(rest) = text.strip_prefix('<') {
        return Some(Range(0, number(rest)?.checked_sub(1)?));
    }
    number(text).map(|n| Range(n, n))
}

fn read_number(text: &str, ms: bool) -> Option<u64> {
    if !ms {
        return text.parse().ok();
    }
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..digits].parse().ok()?;
    let factor = match text[digits..].trim() {
        "" | "ms" => 1.0,
        "s" => 1000.0,
        "m" | "min" => 60_000.0,
        "h" => 3_600_000.0,
        _ => return None,
    };
    let value = number * factor;
    (value <= 1e15).then_some(value.round() as u64)
}

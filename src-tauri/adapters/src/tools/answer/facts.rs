//! What a sentence states exactly: numbers, dates, versions, identifiers and names, in English and in Chinese.
//!
//! Two sentences may share nearly all their words and still say different things; it is these that then differ.

use super::super::words::STOP_WORDS;
use regex::Regex;
use std::{ops::Range, sync::LazyLock};
use toolplan_engine::text::is_cjk;

/// Something exact, with the text that says it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fact {
    pub(super) text: String,
    pub(super) value: Exact,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Exact {
    /// The unit is `s` for times, `b` for sizes, `%`, the name of another measure, or empty. `value` is in that unit.
    Number { raw: f64, value: f64, unit: &'static str },
    /// What is stated of year, month and day.
    Date([Option<u32>; 3]),
    /// Such as `2.3.1`.
    Version(String),
    /// In small letters.
    Identifier(String),
    /// In small letters.
    Name(String),
}

impl Fact {
    /// For people: `the number 5`.
    pub(super) fn kind(&self) -> &'static str {
        match self.value {
            Exact::Number { .. } => "number",
            Exact::Date(_) => "date",
            Exact::Version(_) => "version",
            Exact::Identifier(_) => "identifier",
            Exact::Name(_) => "name",
        }
    }

    /// Whether `other` says the same, or more exactly the same.
    pub(super) fn is_in(&self, other: &Fact) -> bool {
        match (&self.value, &other.value) {
            (Exact::Number { raw, value, unit }, Exact::Number { raw: r, value: v, unit: u }) => {
                if unit.is_empty() || u.is_empty() { same(*raw, *r) } else { unit == u && same(*value, *v) }
            }
            (Exact::Date(own), Exact::Date(other)) => {
                own.iter().zip(other).all(|(own, other)| own.is_none() || own == other)
            }
            // A year beside a whole date.
            (Exact::Number { raw, unit: "", .. }, Exact::Date([Some(year), ..])) => same(*raw, f64::from(*year)),
            (Exact::Version(version), Exact::Number { raw, .. })
            | (Exact::Number { raw, .. }, Exact::Version(version)) => version.parse() == Ok(*raw),
            (own, other) => own == other,
        }
    }

    /// Whether `other` could stand in its place: a number of the same measure, a key of the same project.
    pub(super) fn rivals(&self, other: &Fact) -> bool {
        match (&self.value, &other.value) {
            (Exact::Number { unit, .. }, Exact::Number { unit: u, .. }) => unit == u,
            (Exact::Identifier(own), Exact::Identifier(other)) => {
                let stem = |id: &str| id.trim_end_matches(|c: char| c.is_ascii_digit()).to_string();
                stem(own) == stem(other)
            }
            (Exact::Date(_), Exact::Date(_)) | (Exact::Version(_), Exact::Version(_) | Exact::Number { .. }) => true,
            _ => false,
        }
    }
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs())
}

macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: LazyLock<Regex> = LazyLock::new(|| compiled($pattern));
    };
}

/// A Han character beside a digit ends a word here, which `\b` would not say.
fn compiled(pattern: &str) -> Regex {
    Regex::new(&pattern.replace(r"\b", r"(?-u:\b)")).expect("a pattern of ours compiles")
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const UNITS: &str = r"%|percent\b|per cent\b|ms\b|milliseconds?\b|s\b|secs?\b|seconds?\b|m\b|mins?\b|minutes?\b|h\b|hrs?\b|hours?\b|d\b|days?\b|weeks?\b|months?\b|years?\b|[kKMGT]i?B\b|bytes?\b|毫秒|秒钟|秒|分钟|个?小时|天|日|周|个?星期|个?月|年|次|个|条|台|倍|元|份|项|种|名|位|人|级|步|号";

pattern!(URL, r#"https?://[^\s<>"'()\[\]，。）】]+"#);
pattern!(ISO_DATE, r"\b((?:19|20)\d\d)[-/.](\d{1,2})(?:[-/.](\d{1,2}))?\b");
pattern!(HAN_DATE, r"(?:(\d{4})年)?(\d{1,2})月(?:(\d{1,2})[日号])?|(\d{4})年");
pattern!(
    DAY_MONTH,
    r"\b(?:(\d{1,2})(?:st|nd|rd|th)?\s+)?(January|Jan|February|Feb|March|Mar|April|Apr|May|June|Jun|July|Jul|August|Aug|September|Sept|Sep|October|Oct|November|Nov|December|Dec)\b\.?\s+(?:(\d{1,2})(?:st|nd|rd|th)?\b(?:,?\s+(\d{4})\b)?|(\d{4})\b)"
);
pattern!(VERSION, r"\bv?(\d+(?:\.\d+){2,})\b|\bv(\d+(?:\.\d+)*)\b|(?:[Vv]ersion|[Rr]elease|版本)\s*v?(\d+(?:\.\d+)*)");
pattern!(TOKEN, r"[A-Za-z0-9][A-Za-z0-9_./:@#-]*[A-Za-z0-9]|[A-Za-z]");
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    let words = NUMBER_WORDS.map(|(word, _)| word).join("|");
    let tens = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety";
    let digits = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?";
    let han = "百分之[零一二三四五六七八九十百点]+|[零〇一二两三四五六七八九十百千万亿]+";
    let scale = r"thousand\b|million\b|billion\b|[万亿千]";
    let text = format!(
        r"(?:({digits})|\b((?i:(?:(?:{tens})[- ])?(?:{words}))\b)|({han}))(?:\s*({scale}))?(?:[\s-]*({UNITS}))?"
    );
    compiled(&text)
});

const NUMBER_WORDS: [(&str, f64); 30] = [
    ("zero", 0.0),
    ("one", 1.0),
    ("two", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("six", 6.0),
    ("seven", 7.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("ten", 10.0),
    ("eleven", 11.0),
    ("twelve", 12.0),
    ("thirteen", 13.0),
    ("fourteen", 14.0),
    ("fifteen", 15.0),
    ("sixteen", 16.0),
    ("seventeen", 17.0),
    ("eighteen", 18.0),
    ("nineteen", 19.0),
    ("twenty", 20.0),
    ("thirty", 30.0),
    ("forty", 40.0),
    ("fifty", 50.0),
    ("sixty", 60.0),
    ("seventy", 70.0),
    ("eighty", 80.0),
    ("ninety", 90.0),
    ("hundred", 100.0),
    ("thousand", 1000.0),
];

/// The facts of a sentence, without names.
pub(super) fn exact(text: &str) -> Vec<Fact> {
    let mut taken: Vec<Range<usize>> = vec![];
    let mut facts = vec![];
    let mut take = |range: Range<usize>, value: Option<Exact>| {
        let free = taken.iter().all(|t| t.end <= range.start || range.end <= t.start);
        if let Some(value) = value.filter(|_| free) {
            facts.push(Fact { text: text[range.clone()].trim().into(), value });
            taken.push(range);
        }
    };
    for m in URL.find_iter(text) {
        take(m.range(), Some(Exact::Identifier(m.as_str().trim_end_matches('.').to_lowercase())));
    }
    let part = |c: &regex::Captures, group: usize| c.get(group).and_then(|m| m.as_str().parse::<u32>().ok());
    for c in ISO_DATE.captures_iter(text) {
        let date = [part(&c, 1), part(&c, 2), part(&c, 3)];
        let fits = date[1].is_some_and(|m| (1..=12).contains(&m)) && date[2].is_none_or(|d| (1..=31).contains(&d));
        take(c.get(0).expect("the whole match").range(), fits.then_some(Exact::Date(date)));
    }
    for c in HAN_DATE.captures_iter(text) {
        let date = [part(&c, 1).or(part(&c, 4)), part(&c, 2), part(&c, 3)];
        take(c.get(0).expect("the whole match").range(), Some(Exact::Date(date)));
    }
    for c in DAY_MONTH.captures_iter(text) {
        let month = MONTHS.iter().position(|m| c[2].starts_with(m)).map(|m| m as u32 + 1);
        let date = [part(&c, 4).or(part(&c, 5)), month, part(&c, 1).or(part(&c, 3))];
        take(c.get(0).expect("the whole match").range(), Some(Exact::Date(date)));
    }
    for c in VERSION.captures_iter(text) {
        let version = c.iter().skip(1).flatten().next().map(|m| Exact::Version(m.as_str().into()));
        take(c.get(0).expect("the whole match").range(), version);
    }
    for m in TOKEN.find_iter(text).filter(|m| is_identifier(m.as_str())) {
        take(m.range(), Some(Exact::Identifier(m.as_str().to_lowercase())));
    }
    for c in NUMBER.captures_iter(text) {
        take(c.get(0).expect("the whole match").range(), number(&c));
    }
    facts
}

fn number(c: &regex::Captures) -> Option<Exact> {
    let (digits, word, han) = (c.get(1), c.get(2), c.get(3));
    let unit = c.get(5).map(|m| m.as_str()).unwrap_or_default();
    let mut raw = match (digits, word, han) {
        (Some(digits), ..) => digits.as_str().replace(',', "").parse().ok()?,
        (_, Some(word), _) => {
            let value = |w: &str| NUMBER_WORDS.iter().find(|(known, _)| *known == w).map(|(_, value)| *value);
            let parts: Vec<f64> = word.as_str().to_lowercase().split(['-', ' ']).filter_map(value).collect();
            // "one" by itself counts nothing: one of them, one another.
            if parts == [1.0] && measure(unit).0.is_empty() {
                return None;
            }
            parts.iter().sum()
        }
        (.., Some(han)) => match han.as_str().strip_prefix("百分之") {
            Some(percent) => return Some(of_unit(han_number(percent)?, "%")),
            None => {
                let (text, is_measure) = (han.as_str(), !measure(unit).0.is_empty());
                // 一个 and 一种 say "a"; a lone numeral is often part of a word.
                let counts = text.chars().count() > 1 || (!unit.is_empty() && (text != "一" || is_measure));
                han_number(text).filter(|_| counts)?
            }
        },
        _ => return None,
    };
    raw *= match c.get(4).map(|m| m.as_str()) {
        Some("thousand" | "千") => 1e3,
        Some("万") => 1e4,
        Some("million") => 1e6,
        Some("亿") => 1e8,
        Some("billion") => 1e9,
        _ => 1.0,
    };
    Some(of_unit(raw, unit))
}

fn of_unit(raw: f64, unit: &str) -> Exact {
    let (unit, factor) = measure(unit);
    Exact::Number { raw, value: raw * factor, unit }
}

/// The measure that a unit belongs to, and what one of it is there.
fn measure(unit: &str) -> (&'static str, f64) {
    match unit {
        "%" | "percent" | "per cent" => ("%", 1.0),
        "ms" | "毫秒" => ("s", 0.001),
        "s" | "秒" | "秒钟" => ("s", 1.0),
        "m" | "分钟" => ("s", 60.0),
        "h" | "小时" | "个小时" => ("s", 3600.0),
        "d" | "天" | "日" => ("s", 86_400.0),
        "周" | "星期" | "个星期" => ("s", 604_800.0),
        "月" | "个月" => ("month", 1.0),
        "年" => ("year", 1.0),
        "元" => ("元", 1.0),
        "倍" => ("times", 1.0),
        u if u.starts_with("milli") => ("s", 0.001),
        u if u.starts_with("sec") => ("s", 1.0),
        u if u.starts_with("min") => ("s", 60.0),
        u if u.starts_with("hr") || u.starts_with("hour") => ("s", 3600.0),
        u if u.starts_with("day") => ("s", 86_400.0),
        u if u.starts_with("week") => ("s", 604_800.0),
        u if u.starts_with("month") => ("month", 1.0),
        u if u.starts_with("year") => ("year", 1.0),
        u if u.starts_with("byte") => ("b", 1.0),
        u if u.ends_with('B') => {
            let base: f64 = if u.contains('i') { 1024.0 } else { 1000.0 };
            ("b", base.powi("kmgt".find(&u[..1].to_lowercase()).map_or(0, |p| p as i32 + 1)))
        }
        // What is counted: five attempts and 五次 are the same number.
        _ => ("", 1.0),
    }
}

/// The value of a Chinese numeral.
fn han_number(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('点').unwrap_or((text, ""));
    let digit = |c: char| {
        "零一二三四五六七八九".chars().position(|d| d == c).or((c == '两').then_some(2)).or((c == '〇').then_some(0))
    };
    let (mut total, mut section, mut number) = (0.0, 0.0, 0.0);
    for c in whole.chars() {
        if let Some(value) = digit(c) {
            number = value as f64;
            continue;
        }
        match c {
            '十' | '百' | '千' => {
                let scale = if c == '十' {
                    10.0
                } else if c == '百' {
                    100.0
                } else {
                    1000.0
                };
                section += if number == 0.0 { scale } else { number * scale };
            }
            '万' | '亿' => {
                total = (total + section + number) * if c == '万' { 1e4 } else { 1e8 };
                section = 0.0;
            }
            _ => return None,
        }
        number = 0.0;
    }
    let after = fraction.chars().rev().try_fold(0.0, |sum, c| Some((sum + digit(c)? as f64) / 10.0))?;
    Some(total + section + number + after)
}

/// Written like a key, a path or a name in code.
fn is_identifier(token: &str) -> bool {
    let has = |test: fn(&char) -> bool| token.chars().any(|c| test(&c));
    let (letters, digits) = (has(char::is_ascii_alphabetic), has(char::is_ascii_digit));
    if !letters {
        return false;
    }
    if digits {
        // 5m, 30-second, 2nd: numbers with their units.
        let rest = token.trim_start_matches(|c: char| c.is_ascii_digit() || ".,".contains(c)).trim_start_matches('-');
        let measured = rest.len() < token.len() && (is_unit(rest) || ["st", "nd", "rd", "th", "x"].contains(&rest));
        let version = token.strip_prefix('v').is_some_and(|v| v.chars().all(|c| c.is_ascii_digit() || c == '.'));
        return !measured && !version;
    }
    let parts: Vec<&str> = token.split(['.', '/']).collect();
    let dotted = token.contains('.') && parts.iter().all(|p| !p.is_empty()) && parts.iter().any(|p| p.len() > 1);
    let camel = token.as_bytes().windows(2).any(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase());
    token.contains('_') || dotted || camel || parts.len() > 2
}

fn is_unit(text: &str) -> bool {
    static UNIT: LazyLock<Regex> = LazyLock::new(|| compiled(&format!("^(?:{UNITS})$")));
    UNIT.is_match(text)
}

/// The names of a sentence: capitals inside it, and abbreviations anywhere. The first word of an English sentence has
/// its capital from there and is none; `first` is that word, which may be a name all the same.
pub(super) fn names(text: &str) -> (Vec<Fact>, Option<String>) {
    let chinese = text.chars().any(is_cjk);
    let (mut names, mut first) = (vec![], None);
    let mut begins = true;
    let mut end = 0;
    for m in TOKEN.find_iter(text) {
        let between = &text[end..m.start()];
        begins |= between.contains(['.', ':', '!', '?', '(', '"', '“', '*', '#', '|']);
        end = m.end();
        let word = m.as_str();
        let lower = word.to_lowercase();
        let capital = word.chars().next().is_some_and(char::is_uppercase);
        let initials = word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
        let starts = std::mem::take(&mut begins) && !chinese;
        if !capital || is_identifier(word) {
            continue;
        }
        // A letter in the middle of a sentence names something: stage A.
        let letter = word.len() == 1 && !starts && word != "I";
        let common = STOP_WORDS.contains(&lower.as_str())
            || MONTHS.iter().any(|m| lower.starts_with(&m.to_lowercase()) && word.len() > 3);
        if letter || initials || (!starts && !common && word.len() > 1) {
            names.push(Fact { text: word.into(), value: Exact::Name(lower) });
        } else if starts && !common && first.is_none() && word.len() > 1 {
            first = Some(lower);
        }
    }
    (names, first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(claim: &str, evidence: &str, is_in: bool) {
        let (claims, facts) = (exact(claim), exact(evidence));
        assert!(!claims.is_empty(), "{claim} states something");
        let fits = claims.iter().all(|c| facts.iter().any(|f| c.is_in(f)));
        assert_eq!(fits, is_in, "{claims:?} in {facts:?}");
    }

    /// O-09: the same value however it is written, and no other.
    #[test]
    fn values_are_compared_and_not_their_spelling() {
        for (claim, evidence, fits) in [
            ("five attempts", "5 attempts", true),
            ("5 attempts", "7 attempts", false),
            ("300 s", "five minutes", true),
            ("5m", "5 minutes", true),
            ("5 minutes", "5 hours", false),
            ("twenty-one days", "21 days", true),
            ("1,500 jobs", "1500 jobs", true),
            ("2 million rows", "2,000,000 rows", true),
            ("50 percent", "50%", true),
            ("五次", "5 attempts", true),
            ("百分之二十", "20%", true),
            ("三百二十天", "320 天", true),
            ("两万五千条", "25000 条", true),
            ("March 5, 2026", "2026-03-05", true),
            ("2026年3月5日", "5 March 2026", true),
            ("March 2026", "2026-03-05", true),
            ("2026-03-06", "2026-03-05", false),
            ("version 2.3", "since 2.3", true),
            ("v2.3.1", "2.3.2", false),
            ("PROJ-12", "PROJ-12", true),
            ("PROJ-12", "PROJ-13", false),
            ("retry.max_attempts", "retry.max_attempts", true),
            ("https://a.example/x", "https://a.example/y", false),
        ] {
            check(claim, evidence, fits);
        }
        assert_eq!(exact("one of them, 一个, 统一, and/or, on-call, e.g. this"), []);
    }

    #[test]
    fn names_are_told_from_first_words() {
        let (all, first) = names("Moreover Alice and the NASA use stage B.");
        let names: Vec<&str> = all.iter().map(|n| n.text.as_str()).collect();
        assert_eq!((names, first.as_deref()), (vec!["Alice", "NASA", "B"], Some("moreover")));
        assert_eq!(super::names("Tidewater 使用 Redis").0.len(), 2, "Chinese has no capitals of its own");
    }
}

//! A sentence taken apart for comparing: its words, its facts, what it denies.

use super::{
    super::words::{Run, STOP_PHRASES, STOP_WORDS, normalise, runs, stem},
    facts::{self, Exact, Fact},
};
use std::collections::HashSet;
use toolplan_engine::text::is_cjk;

/// Words that turn a sentence into its opposite.
const NEGATIONS: [&str; 14] = [
    "not", "no", "never", "none", "neither", "nor", "without", "cannot", "unable", "fails", "nothing", "nobody",
    "hardly", "refuses",
];
/// The same in Chinese. Longer ones first.
const HAN_NEGATIONS: [&str; 14] =
    ["不会", "不能", "不可", "不再", "不应", "没有", "无法", "无需", "禁止", "尚未", "并非", "不", "未", "没"];
/// Words that hold the sign of a negation and deny nothing.
const HAN_NO_NEGATIONS: [&str; 14] = [
    "不仅",
    "不但",
    "不过",
    "不同",
    "不断",
    "不管",
    "不论",
    "不只",
    "不少",
    "不久",
    "未来",
    "是不是",
    "能不能",
    "有没有",
];
/// Words that only ask in a question and say something in a statement.
const ASKING: [&str; 8] = ["all", "any", "find", "get", "give", "search", "show", "tell"];
/// Verbs whose forms have no common beginning.
const IRREGULAR: [(&str, &str); 22] = [
    ("kept", "keep"),
    ("sent", "send"),
    ("ran", "run"),
    ("written", "write"),
    ("wrote", "write"),
    ("made", "make"),
    ("took", "take"),
    ("taken", "take"),
    ("gave", "give"),
    ("given", "give"),
    ("held", "hold"),
    ("found", "find"),
    ("left", "leave"),
    ("built", "build"),
    ("lost", "lose"),
    ("told", "tell"),
    ("shown", "show"),
    ("known", "know"),
    ("chosen", "choose"),
    ("began", "begin"),
    ("became", "become"),
    ("went", "go"),
];
/// Words of which a sentence has one or the other.
const OPPOSITES: [(&str, &str); 44] = [
    ("enable", "disable"),
    ("enabled", "disabled"),
    ("allow", "forbid"),
    ("allow", "deny"),
    ("allow", "prevent"),
    ("accept", "reject"),
    ("before", "after"),
    ("increase", "decrease"),
    ("more than", "less than"),
    ("at least", "at most"),
    ("up to", "at least"),
    ("maximum", "minimum"),
    ("primary", "secondary"),
    ("required", "optional"),
    ("public", "private"),
    ("internal", "external"),
    ("open", "closed"),
    ("start", "stop"),
    ("success", "failure"),
    ("succeed", "fail"),
    ("true", "false"),
    ("first", "last"),
    ("always", "sometimes"),
    ("above", "below"),
    ("synchronous", "asynchronous"),
    ("include", "exclude"),
    ("safe", "unsafe"),
    ("on", "off"),
    ("permanent", "temporary"),
    ("slower", "faster"),
    ("higher", "lower"),
    ("启用", "禁用"),
    ("允许", "禁止"),
    ("之前", "之后"),
    ("增加", "减少"),
    ("最多", "最少"),
    ("最多", "至少"),
    ("大于", "小于"),
    ("成功", "失败"),
    ("同步", "异步"),
    ("必须", "可选"),
    ("开始", "停止"),
    ("公开", "私有"),
    ("以上", "以下"),
];
/// Words after a negation that it denies, and characters in Chinese.
const SCOPE: usize = 2;
const HAN_SCOPE: usize = 4;

pub(super) struct Statement {
    /// What it is about: words without endings and little words; pairs of characters in Chinese.
    pub(super) words: Vec<String>,
    has: HashSet<String>,
    /// The same in order, by word and by single character, with the spelling.
    pub(super) sequence: Vec<(String, String)>,
    pub(super) facts: Vec<Fact>,
    /// A first word that may be a name.
    pub(super) first: Option<String>,
    /// What it denies.
    denied: HashSet<String>,
    lower: String,
}

impl Statement {
    pub(super) fn of(text: &str) -> Self {
        let words = words(text);
        let folded: String = unicode_normalization::UnicodeNormalization::nfkc(text).collect();
        let (names, first) = facts::names(&folded);
        let mut facts = facts::exact(&folded);
        // What is part of a key or an address is no name by itself.
        let part =
            |name: &Fact| facts.iter().any(|f| f.text.split(|c: char| !c.is_alphanumeric()).any(|p| p == name.text));
        let names: Vec<Fact> = names.into_iter().filter(|n| !part(n)).collect();
        facts.extend(names);
        let lower = normalise(text);
        Self {
            has: words.iter().cloned().collect(),
            words,
            sequence: sequence(&folded),
            facts,
            first,
            denied: denied(&lower),
            lower,
        }
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.has.contains(word)
    }

    /// Whether it states the fact.
    pub(super) fn states(&self, fact: &Fact) -> bool {
        match &fact.value {
            Exact::Name(name) => self.has(&root(name)) || self.holds(name),
            Exact::Identifier(id) => self.holds(id) || (id.contains('_') && self.holds(&id.replace('_', " "))),
            _ => self.facts.iter().any(|own| fact.is_in(own)),
        }
    }

    /// Whether the text stands in it as a word of its own.
    fn holds(&self, text: &str) -> bool {
        let edge = |c: Option<char>| c.is_none_or(|c| is_cjk(c) || !(c.is_alphanumeric() || c == '_'));
        self.lower.match_indices(text).any(|(at, _)| {
            edge(self.lower[..at].chars().next_back()) && edge(self.lower[at + text.len()..].chars().next())
        })
    }

    /// What one of the two denies and the other says.
    pub(super) fn denial(&self, other: &Self) -> Option<String> {
        let shared = |of: &Self, by: &Self| of.denied.iter().filter(|word| by.has(word)).min().cloned();
        match (shared(self, other), shared(other, self)) {
            (Some(word), None) | (None, Some(word)) => Some(word),
            _ => None,
        }
    }

    /// A word of this one whose opposite stands in the other.
    pub(super) fn opposite(&self, other: &Self) -> Option<(&'static str, &'static str)> {
        let both_ways = OPPOSITES.into_iter().flat_map(|(a, b)| [(a, b), (b, a)]);
        let says = |of: &Self, word: &str| {
            if word.is_ascii() && !word.contains(' ') {
                of.sequence.iter().any(|(key, shown)| *key == root(word) || shown.eq_ignore_ascii_case(word))
            } else {
                of.lower.contains(word)
            }
        };
        let differ =
            |(own, its): &(&str, &str)| says(self, own) && !says(self, its) && says(other, its) && !says(other, own);
        both_ways.into_iter().find(differ)
    }
}

/// The words that text is about, each once, in order.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut all: Vec<String> = vec![];
    let mut seen = HashSet::new();
    let mut add = |word: String| {
        if seen.insert(word.clone()) {
            all.push(word);
        }
    };
    for run in runs(&without_phrases(&normalise(text))) {
        match run {
            Run::Word(word) if is_little(&word) => {}
            Run::Word(word) => add(root(&word)),
            Run::Cjk(run) if run.len() == 1 => add(run.iter().collect()),
            Run::Cjk(run) => run.windows(2).for_each(|pair| add(pair.iter().collect())),
        }
    }
    all
}

/// Little words and signs of negation: a sentence is not about them.
fn is_little(word: &str) -> bool {
    STOP_WORDS.contains(&word) && !ASKING.contains(&word)
        || NEGATIONS.contains(&word)
        || matches!(word, "t" | "s" | "re" | "ll" | "ve" | "d")
}

/// The words that a question asks about.
pub(super) fn asked(question: &str) -> Vec<String> {
    let asks = |word: &String| ASKING.iter().any(|a| root(a) == *word);
    words(question).into_iter().filter(|word| !asks(word)).collect()
}

fn without_phrases(normalised: &str) -> String {
    let phrases = STOP_PHRASES.iter().filter(|p| p.chars().count() > 1).chain(&HAN_NEGATIONS).chain(&["的", "了"]);
    phrases.fold(normalised.to_string(), |text, phrase| text.replace(phrase, " "))
}

pub(super) fn sequence(folded: &str) -> Vec<(String, String)> {
    let mut sequence = vec![];
    let mut word = String::new();
    for c in folded.chars().chain([' ']) {
        if c.is_alphanumeric() && !is_cjk(c) || c == '_' {
            word.push(c);
            continue;
        }
        let lower = word.to_lowercase();
        if !lower.is_empty() && (!is_little(&lower) || (word.len() == 1 && word != "a")) {
            sequence.push((root(&lower), word.clone()));
        }
        word.clear();
        if is_cjk(c) && c.is_alphanumeric() && !"的了".contains(c) {
            sequence.push((c.to_string(), c.to_string()));
        }
    }
    sequence
}

/// A word without its English ending: "allows", "allowed" and "allowing" are one word.
pub(super) fn root(word: &str) -> String {
    let word = stem(word);
    let word = IRREGULAR.iter().find(|(form, _)| *form == word).map_or(word, |(_, verb)| verb.to_string());
    if !word.is_ascii() || word.len() < 4 || word.chars().any(|c| c.is_ascii_digit()) {
        return word;
    }
    let cut = ["ing", "ed", "ly", "e"].iter().find_map(|end| word.strip_suffix(end).filter(|rest| rest.len() >= 3));
    let mut root = cut.unwrap_or(&word).to_string();
    if root.ends_with('y') {
        root.pop();
        root.push('i');
    }
    let bytes = root.as_bytes();
    if let [.., a, b] = bytes
        && a == b
    {
        root.pop();
    }
    root
}

/// What the negations of a sentence deny.
fn denied(lower: &str) -> HashSet<String> {
    let mut denied = HashSet::new();
    let text = lower.replace("n't", " not").replace("n’t", " not").replace("no longer", "not");
    let mut left = 0;
    for word in text.split(|c: char| is_cjk(c) || !(c.is_alphanumeric() || c == '_')).filter(|w| !w.is_empty()) {
        if NEGATIONS.contains(&word) {
            left = SCOPE;
        } else if left > 0 && !is_little(word) {
            denied.insert(root(word));
            left -= 1;
        }
    }
    let text = HAN_NO_NEGATIONS.iter().fold(lower.to_string(), |text, phrase| text.replace(phrase, " "));
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        let rest: String = chars[at..].iter().take(3).collect();
        let Some(sign) = HAN_NEGATIONS.iter().find(|sign| rest.starts_with(**sign)) else {
            at += 1;
            continue;
        };
        at += sign.chars().count();
        let scope: Vec<char> =
            chars[at..].iter().copied().take_while(|c| is_cjk(*c) && c.is_alphanumeric()).take(HAN_SCOPE).collect();
        denied.extend(scope.windows(2).map(|pair| pair.iter().collect::<String>()));
    }
    denied
}

//! Words of text, alike for English and Chinese: what the search tools count and compare.
//!
//! Latin text gives its words, with plurals folded and the parts of `snake_case` and `camelCase` names; text written
//! without spaces gives characters and pairs of neighbours. Knows nothing of files or scores.

use toolplan_engine::text::is_cjk;
use unicode_normalization::UnicodeNormalization;

/// A stretch of text that is split in one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Run {
    /// Letters, digits and `_`, lower case.
    Word(String),
    /// Characters of a script without spaces.
    Cjk(Vec<char>),
}

/// A word of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) text: String,
    /// The run that it came from: neighbours of one run overlap by one character.
    pub(super) run: usize,
    pub(super) is_cjk: bool,
}

/// Question words and little words: they carry a question and not what it is about.
pub(super) const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "could", "did", "do",
    "does", "find", "for", "from", "get", "give", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it",
    "its", "let", "many", "much", "me", "my", "of", "on", "or", "our", "please", "search", "should", "show", "so",
    "some", "tell", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "us",
    "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you", "your",
];

/// The same in Chinese. Longer ones first, since they are cut out in this order; single characters that often stand
/// inside other words are not here.
pub(super) const STOP_PHRASES: &[&str] = &[
    "为什么",
    "有没有",
    "是什么",
    "有哪些",
    "怎么样",
    "什么时候",
    "什么",
    "怎么",
    "怎样",
    "如何",
    "哪些",
    "哪个",
    "哪里",
    "多少",
    "请问",
    "帮我",
    "告诉",
    "一下",
    "关于",
    "我们",
    "你们",
    "可以",
    "能否",
    "是否",
    "的",
    "了",
    "吗",
    "呢",
    "吧",
    "请",
    "我",
    "你",
];

/// Compatibility forms folded (full-width letters become plain ones) and lower case.
pub(super) fn normalise(text: &str) -> String {
    text.nfkc().flat_map(char::to_lowercase).collect()
}

/// The runs of text that [`normalise`] has seen.
pub(super) fn runs(normalised: &str) -> Vec<Run> {
    let mut runs = vec![];
    for c in normalised.chars() {
        let is_letter = c.is_alphanumeric() || c == '_';
        match runs.last_mut() {
            Some(Run::Cjk(run)) if is_letter && is_cjk(c) => run.push(c),
            Some(Run::Word(word)) if is_letter && !is_cjk(c) => word.push(c),
            _ if is_letter && is_cjk(c) => runs.push(Run::Cjk(vec![c])),
            _ if is_letter => runs.push(Run::Word(c.to_string())),
            // An empty word ends the run before it.
            Some(Run::Word(word)) if word.is_empty() => {}
            _ => runs.push(Run::Word(String::new())),
        }
    }
    runs.retain(|run| !matches!(run, Run::Word(word) if word.trim_matches('_').is_empty()));
    runs
}

/// Calls `each` with every term of a document: words, their parts, characters and pairs.
pub(super) fn for_each_term(text: &str, mut each: impl FnMut(&str)) {
    // Parts of camelCase are seen before letters lose their case.
    let parted = part_camel_case(text);
    for run in runs(&normalise(&parted)) {
        match run {
            Run::Word(word) => {
                each(&stem(&word));
                if word.contains('_') {
                    word.split('_').filter(|part| !part.is_empty()).for_each(|part| each(&stem(part)));
                    // Also without its joints: maxRetries is asked for as "maxretries".
                    each(&stem(&word.replace('_', "")));
                }
            }
            Run::Cjk(run) => {
                let mut buffer = String::new();
                for length in [1, 2] {
                    for window in run.windows(length) {
                        buffer.clear();
                        buffer.extend(window);
                        each(&buffer);
                    }
                }
            }
        }
    }
}

/// The terms of a query without its little words; all of its words when nothing else is left.
pub(super) fn query_terms(query: &str) -> Vec<Term> {
    let significant = terms_of_runs(&significant_runs(query));
    if significant.is_empty() { terms_of_runs(&runs(&normalise(query))) } else { significant }
}

/// The runs of a query without its little words, as they are written (no stemming).
pub(super) fn significant_runs(query: &str) -> Vec<Run> {
    let mut text = normalise(query);
    for phrase in STOP_PHRASES {
        text = text.replace(phrase, " ");
    }
    let mut runs = runs(&text);
    runs.retain(|run| !matches!(run, Run::Word(word) if STOP_WORDS.contains(&word.as_str())));
    runs
}

fn terms_of_runs(runs: &[Run]) -> Vec<Term> {
    let mut terms: Vec<Term> = vec![];
    let mut add = |text: String, run: usize, is_cjk: bool| {
        if !terms.iter().any(|t| t.text == text) {
            terms.push(Term { text, run, is_cjk });
        }
    };
    for (index, run) in runs.iter().enumerate() {
        match run {
            Run::Word(word) => add(stem(word), index, false),
            Run::Cjk(run) if run.len() == 1 => add(run.iter().collect(), index, true),
            Run::Cjk(run) => run.windows(2).for_each(|pair| add(pair.iter().collect(), index, true)),
        }
    }
    terms
}

/// Folds English plurals, so that "retries" finds "retry". Anything bolder would merge names in code.
pub(super) fn stem(word: &str) -> String {
    let plural = word.len() > 3 && word.is_ascii() && word.ends_with('s');
    match () {
        _ if !plural || word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") => word.to_string(),
        _ if word.len() > 4 && word.ends_with("ies") => format!("{}y", &word[..word.len() - 3]),
        _ => word[..word.len() - 1].to_string(),
    }
}

/// Puts `_` between the words of `camelCase`.
fn part_camel_case(text: &str) -> String {
    let mut parted = String::with_capacity(text.len() + text.len() / 16);
    let mut before = ' ';
    for c in text.chars() {
        if before.is_lowercase() && c.is_uppercase() {
            parted.push('_');
        }
        parted.push(c);
        before = c;
    }
    parted
}

/// The sentences of text, each trimmed, with its byte range.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = vec![];
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let ends = match c {
            '\n' | '。' | '！' | '？' | '；' => true,
            '.' | '!' | '?' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if ends {
            sentences.push(text[start..end].trim());
            start = end;
        }
    }
    sentences.push(text[start..].trim());
    sentences.retain(|s| !s.is_empty());
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, expected: &[&str]) {
        let terms: Vec<String> = query_terms(query).into_iter().map(|t| t.text).collect();
        assert_eq!(terms, expected, "terms of {query:?}");
    }

    #[test]
    fn queries_lose_their_little_words() {
        check("How do I configure the retries?", &["configure", "retry"]);
        check("如何配置重试次数", &["配置", "置重", "重试", "试次", "次数"]);
        check("查看 PROJ-12 的日志", &["查看", "proj", "12", "日志"]);
        check("ＨＴＴＰ　timeout", &["http", "timeout"]);
        check("what is it", &["what", "is", "it"]);
        check("猫", &["猫"]);
        check("?!", &[]);
    }

    #[test]
    fn documents_give_parts_of_names() {
        let mut terms = vec![];
        for_each_term("maxRetries = retry_policy; 重试", |t| terms.push(t.to_string()));
        for wanted in ["max", "retry", "maxretry", "policy", "retry_policy", "重试", "重"] {
            assert!(terms.iter().any(|t| t == wanted), "{wanted} is missing in {terms:?}");
        }
    }

    #[test]
    fn sentences_end_in_both_scripts() {
        assert_eq!(sentences("Use 1.5 s. Then stop!\n先停。再走"), ["Use 1.5 s.", "Then stop!", "先停。", "再走"]);
    }
}

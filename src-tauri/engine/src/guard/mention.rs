//! Tool names in prose: where they stand, and whether the text declines them (G-04).

use super::Mention;
use crate::text::Spans;
use regex::Regex;
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::Range,
    sync::LazyLock,
};

/// All tool names that `text` mentions, in the order of the text.
///
/// A name is matched in any letter case and with `-`, `_` or a space between its parts, on identifier boundaries:
/// `my_vector_search_v2` names another tool. Mentions inside thinking text are marked as such.
pub fn mentions(text: &str, names: &[&str]) -> Vec<Mention> {
    let words = words(text);
    let by_first = names_by_first_part(names, &words.iter().map(|w| text[w.clone()].to_lowercase()).collect());
    let thinking = thinking(text);
    let mut ranges: Vec<(Range<usize>, String)> = vec![];
    let mut i = 0;
    while i < words.len() {
        match longest_name(text, &words[i..], &by_first) {
            Some((name, count)) => {
                ranges.push((words[i].start..words[i + count - 1].end, name.to_string()));
                i += count;
            }
            None => i += 1,
        }
    }
    let mut mentions: Vec<Mention> = vec![];
    let mut spans = Spans::in_order(text);
    for (at, (range, tool)) in ranges.iter().enumerate() {
        let previous = at.checked_sub(1).map(|p| ranges[p].0.end);
        let carried =
            previous.is_some_and(|end| mentions[at - 1].negated && CONNECTOR.is_match(&text[end..range.start]));
        let next = ranges.get(at + 1).map_or(text.len(), |(r, _)| r.start);
        let carried = carried && !ENOUGH_AFTER.is_match(&text[range.end..next]);
        let negated = carried
            || declined_before(&text[previous.unwrap_or(0)..range.start])
            || declined_after(&text[range.end..next], next == text.len());
        mentions.push(Mention {
            tool: tool.clone(),
            span: spans.next(range.clone()),
            negated,
            thinking: thinking
                .get(thinking.partition_point(|t| t.end < range.end))
                .is_some_and(|t| t.start <= range.start),
        });
    }
    mentions
}

/// The tools that the text declines, by the mentions that count, in order: what it last said of a tool in so many words
/// decides, and a bare mention after a refusal does not take the refusal back.
pub fn declined<'m>(text: &str, mentions: impl IntoIterator<Item = &'m Mention>) -> BTreeSet<&'m str> {
    let mut declined = BTreeSet::new();
    let mut spans = Spans::in_order(text);
    let mut previous = 0;
    for mention in mentions {
        let range = spans.bytes(mention.span);
        if mention.negated {
            declined.insert(mention.tool.as_str());
        } else if ASKED_BEFORE.is_match(&text[previous..range.start]) {
            declined.remove(mention.tool.as_str());
        }
        previous = range.end;
    }
    declined
}

/// Inside `<think>` … `</think>`; text after an unclosed tag counts to the end.
pub fn thinking(text: &str) -> Vec<Range<usize>> {
    static TAG: LazyLock<Regex> = LazyLock::new(|| compiled(r"(?i)<(/?)(?:think|thinking|reasoning)>"));
    let mut ranges = vec![];
    let mut open = None;
    for tag in TAG.captures_iter(text) {
        let whole = tag.get(0).expect("group 0 always matches");
        match (tag[1].is_empty(), open) {
            (true, None) => open = Some(whole.end()),
            (false, Some(start)) => {
                ranges.push(start..whole.start());
                open = None;
            }
            // Some servers send the reasoning without its opening tag.
            (false, None) if ranges.is_empty() => ranges.push(0..whole.start()),
            _ => {}
        }
    }
    ranges.extend(open.map(|start| start..text.len()));
    ranges
}

/// `text` with its thinking parts blanked out, so that offsets stay.
pub fn without_thinking(text: &str) -> String {
    let mut plain = text.to_string();
    for range in thinking(text) {
        let blank: String = text[range.clone()]
            .chars()
            .map(|c| if c == '\n' { "\n".into() } else { " ".repeat(c.len_utf8()) })
            .collect();
        plain.replace_range(range, &blank);
    }
    plain
}

type Names<'n> = HashMap<String, Vec<(Vec<String>, &'n str)>>;

/// The names that can stand in a text with these words: those whose beginning is one of them. A large catalog has
/// thousands of names and a text names a few.
fn names_by_first_part<'n>(names: &[&'n str], spoken: &HashSet<String>) -> Names<'n> {
    let mut by_first: Names = HashMap::new();
    let mut initials = [false; 256];
    for initial in spoken.iter().filter_map(|word| word.bytes().next()) {
        initials[usize::from(initial)] = true;
    }
    for &name in names.iter().filter(|name| may_begin(name, &initials)) {
        let lower = name.to_lowercase();
        let identifier = lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').find(|p| !p.is_empty());
        let first = identifier.and_then(|i| i.split('_').find(|p| !p.is_empty()));
        if ![identifier, first].into_iter().flatten().any(|beginning| spoken.contains(beginning)) {
            continue;
        }
        // The name as one word, as it is written in code …
        by_first.entry(lower.clone()).or_default().push((vec![lower.clone()], name));
        // … and as separate words: `vector search`, `vector-search`.
        let parts: Vec<String> = lower.split(['_', '-', ' ']).filter(|p| !p.is_empty()).map(str::to_string).collect();
        if parts.len() > 1 {
            by_first.entry(parts[0].clone()).or_default().push((parts, name));
        }
    }
    by_first
}

/// Whether the name's first identifier, or its first part, begins with one of these bytes: most names of a large catalog
/// are passed over by this alone.
fn may_begin(name: &str, initials: &[bool; 256]) -> bool {
    if !name.is_ascii() {
        return true;
    }
    let mut bytes = name.bytes().skip_while(|b| !b.is_ascii_alphanumeric() && *b != b'_');
    let Some(initial) = bytes.next() else { return false };
    if initial == b'_' {
        let part = bytes.find(|b| *b != b'_').map(|b| b.to_ascii_lowercase());
        return initials[usize::from(b'_')] || part.is_some_and(|b| initials[usize::from(b)]);
    }
    initials[usize::from(initial.to_ascii_lowercase())]
}

/// Runs of identifier characters. CJK text and punctuation separate them.
fn words(text: &str) -> Vec<Range<usize>> {
    static WORD: LazyLock<Regex> = LazyLock::new(|| compiled(r"[A-Za-z0-9_]+"));
    WORD.find_iter(text).map(|m| m.range()).collect()
}

fn longest_name<'n>(text: &str, words: &[Range<usize>], names: &Names<'n>) -> Option<(&'n str, usize)> {
    let first = text[words[0].clone()].to_lowercase();
    let fits = |parts: &[String]| {
        parts.len() <= words.len()
            && parts.iter().zip(words).all(|(part, word)| text[word.clone()].eq_ignore_ascii_case(part))
            && words[..parts.len()].windows(2).all(|pair| matches!(&text[pair[0].end..pair[1].start], "-" | " "))
            && !hyphenated(text, words[0].start, words[parts.len() - 1].end)
    };
    // Dotted and slashed names are one name of several words: compare the text itself.
    let dotted =
        names.get(&first).into_iter().flatten().filter(|(parts, _)| fits(parts)).max_by_key(|(parts, _)| parts.len());
    dotted.map(|(parts, name)| (*name, parts.len())).or_else(|| punctuated_name(text, words, names))
}

/// Names that hold characters no identifier has (`jira.search`, `GET /search`, `翻译`) are matched letter for letter.
fn punctuated_name<'n>(text: &str, words: &[Range<usize>], names: &Names<'n>) -> Option<(&'n str, usize)> {
    let rest = &text[words[0].start..];
    for count in (2..=words.len().min(8)).rev() {
        let candidate = &rest[..words[count - 1].end - words[0].start];
        if candidate.contains('\n') || !candidate.contains(['.', '/', ':']) {
            continue;
        }
        if let Some(found) = names.get(&candidate.to_lowercase()) {
            return found.iter().find(|(parts, _)| parts.len() == 1).map(|(_, name)| (*name, count));
        }
    }
    None
}

/// Whether a hyphen glues the words to more identifier: `pre-read-file-hook`.
fn hyphenated(text: &str, start: usize, end: usize) -> bool {
    let mut before = text[..start].chars().rev();
    let mut after = text[end..].chars();
    let left = before.next() == Some('-') && before.next().is_some_and(|c| c.is_ascii_alphanumeric());
    let right = after.next() == Some('-') && after.next().is_some_and(|c| c.is_ascii_alphanumeric());
    left || right
}

fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of ours compiles")
}

/// Words that may stand between a refusal and the tool it refuses.
const FILLER: &str = r"(?:[\s`'\x22*(]|(?:use|using|call|calling|invoke|invoking|run|running|need|needing|needed|want|require|try|trying|pick|picking|choose|choosing|select|selecting|employ|execute|executing|apply|applying|include|including|touch|have|to|the|a|an|any|of|either|tools?|functions?|be|ever|really|actually|also|rely|on|with|for|it|my|our|this|that)\b)*";

static REFUSAL: LazyLock<Regex> = LazyLock::new(|| {
    compiled(&format!(
        r"(?i)\b(do(?:es)?\s*n[o'’]t|do\s+not|don[’']?t|won[’']?t|will\s+not|wouldn[’']?t|would\s+not|shouldn[’']?t|should\s+not|shall\s+not|mustn[’']?t|must\s+not|cannot|can[’']?t|can\s+not|needn[’']?t|need\s+not|not\s+going\s+to|no\s+need\s+(?:to|for)|no\s+reason\s+to|unnecessary\s+to|not\s+necessary\s+to|neither|nor|never|not|no|avoid(?:ing)?|skip(?:ping)?|without|instead\s+of|rather\s+than|refrain\s+from|exclud(?:e|ing)|except(?:\s+for)?|ignor(?:e|ing)|disabl(?:e|ing)|forbid(?:s|den)?|reject(?:ing)?|stop)\b{FILLER}$"
    ))
});

static REFUSAL_ZH: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(不要|不用|不必|不需要|不需|无需|无须|毋须|勿|禁止|避免|不应该?|不能|不可以?|不得|不会|不想|不打算|没必要|没有必要|而不是|而非|不再|跳过|排除|停止|不建议|不适合|不考虑|拒绝|别)(?:再|去|来|使用|调用|用|执行|运行|选择|选用|采用|考虑|通过|任何|工具|函数|的|对|到|了|[\s`'\x22“”「」『』])*$",
    )
});

static NOT_USED_ZH: LazyLock<Regex> = LazyLock::new(|| {
    compiled(r"[暂先]?不(?:再)?(?:使用|调用|用|选用|选择|采用|执行|运行|通过|走)[\s`'\x22“”「」『』]*$")
});

/// After the name: "is not needed", "isn't applicable", "? no", 不需要.
static DECLINED_AFTER: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?ix)^ [`'\x22*)\]]* (?:
            \s*\(\)? )? (?:
            \s+(?:tool\s+)?(?:is|are|was|were|would\s+be|will\s+be|seems?|looks?)\s+(?:not|n't|never|un(?:necessary|needed|suitable|available|related)|irrelevant|inapplicable|useless|overkill|off[- ]limits|forbidden|disabled)\b
          | \s+(?:is|are|was|were)n[’']?t\b
          | \s+(?:should|must|shall|will|would|can|could|does|do|need)\s*(?:not|n[’']t)\b
          | \s+(?:cannot|can[’']?t|won[’']?t)\b
          | \s*(?:[:?,，：？-]|\s-)\s*(?:(?:no|nope)\s*[.,;:!?)<\n。，；！）]|not\s+(?:needed|necessary|required|applicable|useful|relevant|here|this)\b)
          | \s*\(\s*(?:no|not)\s
          | [^。，；！？,.;!?\n]{0,8}?(?:不需要|不需|不必|不用|不适用|没必要|没有必要|不可用|不合适|不相关|无关|不应|不能|不要|不行|无法|多余|禁用)
        )",
    )
});

static CONNECTOR: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?i)^[\s`'\x22*]*(?:,|、|/|\bor\b|\band\b|\bnor\b|或者?|和|与|及|以及|还有|也)?[\s`'\x22*]*(?:\bor\b|\band\b|\bnor\b)?[\s`'\x22*]*(?:the\s+)?[`'\x22*]*$",
    )
});

/// After the name: "suffices", "is enough", 即可. Ends a list of refused tools.
static ENOUGH_AFTER: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?i)^[\s`'\x22*()]*(?:suffices?|is\s+(?:enough|sufficient|better|best|fine|right|the\s)|will\s+(?:do|work|suffice)|does|works|can\b|alone|instead|即可|就够|足够|就行|就好|更好|更合适|可以|才)",
    )
});

/// The model asks for the tool in so many words.
static ASKED_BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?i)(?:\b(?:use|using|call|calling|invoke|invoking|run|need|prefer|choose|select|try|with|via|then)\s+(?:the\s+)?|使用|调用|改用|选择|采用|通过|需要|用)[\s`'\x22*]*$",
    )
});

/// Whether the clause that leads up to a mention refuses it.
fn declined_before(lead: &str) -> bool {
    // A sentence ends the reach of a refusal; a comma does not.
    let clause = lead.rsplit(['.', '!', '?', ';', '\n', '。', '！', '？', '；']).next().unwrap_or(lead);
    if let Some(found) = REFUSAL.captures(clause) {
        let word = found.get(1).expect("the pattern has the group");
        let before = clause[..word.start()].trim_end().to_lowercase();
        let refusal = word.as_str().to_lowercase();
        // "why not X", "cannot do without X", "if not X": no refusals.
        let asks = refusal == "not" && (before.ends_with("why") || before.ends_with("if") || before.ends_with("or"));
        let doubled = DOUBLES.is_match(&refusal) && NEGATIVE.is_match(&before);
        return !asks && !doubled;
    }
    if let Some(found) = NOT_USED_ZH.find(clause) {
        // "Why not use X": a suggestion.
        return !clause[..found.start()].ends_with(['何', '么', '妨']);
    }
    if let Some(found) = REFUSAL_ZH.captures(clause) {
        let word = found.get(1).expect("the pattern has the group");
        // 别 is a refusal only as a word of its own: not in 分别, 特别, 识别.
        let part_of_word = word.as_str() == "别"
            && clause[..word.start()].ends_with(['分', '特', '识', '级', '区', '个', '类', '性', '差', '辨']);
        return !part_of_word;
    }
    false
}

/// How far behind a name a refusal of it is looked for, in characters.
const REACH: usize = 120;

/// Whether what follows a mention refuses it: "is not needed", but not "is not only useful". The end of the text ends
/// a sentence.
fn declined_after(rest: &str, is_end: bool) -> bool {
    let mut rest: String = rest.chars().take(REACH).collect();
    if is_end {
        rest.push('.');
    }
    DECLINED_AFTER.find(&rest).is_some_and(|m| {
        let next = rest[m.end()..].trim_start().to_lowercase();
        !["only", "just", "merely", "仅", "只"].iter().any(|word| next.starts_with(word))
    })
}

/// Refusals that a "not" before them turns round: "cannot do without", "should not skip".
static DOUBLES: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"^(?:without|skip|avoid|ignor|exclud|reject|disabl|refrain|stop)"));

static NEGATIVE: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"(?i)(?:\b(?:not|cannot|never|impossible)|n[’']t)(?:\s+\w+){0,3}$"));

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    const NAMES: &[&str] = &["vector_search", "jira_fetch", "web_fetch", "read_file", "jira.search"];

    #[track_caller]
    fn check(texts: &[&str], expected: Expect) {
        let lines: Vec<String> = texts
            .iter()
            .map(|text| {
                let found = mentions(text, NAMES);
                let show: Vec<String> =
                    found.iter().map(|m| format!("{}{}", if m.negated { "!" } else { "" }, m.tool)).collect();
                format!("{text} => {}", show.join(" "))
            })
            .collect();
        expected.assert_eq(&lines.join("\n"));
    }

    /// G-04: identifier boundaries, spelling variants, order of mention.
    #[test]
    fn names_stand_on_identifier_boundaries() {
        check(
            &[
                "web_fetch then vector_search",
                "my_vector_search_v2, pre_read_file_hook, no_web_fetch",
                "vector-search or Vector Search",
                "tools.jira_fetch, functions/jira_fetch, JIRA_FETCH()",
                "用jira_fetch查询，然后vector_search",
                "call jira.search",
            ],
            expect![[r#"
                web_fetch then vector_search => web_fetch vector_search
                my_vector_search_v2, pre_read_file_hook, no_web_fetch => 
                vector-search or Vector Search => vector_search vector_search
                tools.jira_fetch, functions/jira_fetch, JIRA_FETCH() => jira_fetch jira_fetch jira_fetch
                用jira_fetch查询，然后vector_search => jira_fetch vector_search
                call jira.search => jira.search"#]],
        );
    }

    /// G-04: declined mentions.
    #[test]
    fn refusals_reach_their_tool_and_no_further() {
        check(
            &[
                "Do not use web_fetch. vector_search suffices",
                "I won't call jira_fetch or web_fetch; use vector_search",
                "Do not use web_fetch, jira_fetch, use vector_search",
                "不要使用 jira_fetch，改用 vector_search",
                "分别使用 jira_fetch 和 vector_search",
                "jira_fetch is not needed, vector_search is",
                "jira_fetch 在这里不需要",
                "Don't forget to use jira_fetch. Not sure; why not web_fetch?",
                "We cannot answer without jira_fetch",
                "vector_search instead of web_fetch",
                "无需调用jira_fetch，vector_search即可",
                "Skip jira_fetch, vector_search is enough",
                "I should not skip jira_fetch; web_fetch is not only useful but required",
                "only vector_search, no jira_fetch; 暂不使用web_fetch，何不使用read_file",
            ],
            expect![[r#"
                Do not use web_fetch. vector_search suffices => !web_fetch vector_search
                I won't call jira_fetch or web_fetch; use vector_search => !jira_fetch !web_fetch vector_search
                Do not use web_fetch, jira_fetch, use vector_search => !web_fetch !jira_fetch vector_search
                不要使用 jira_fetch，改用 vector_search => !jira_fetch vector_search
                分别使用 jira_fetch 和 vector_search => jira_fetch vector_search
                jira_fetch is not needed, vector_search is => !jira_fetch vector_search
                jira_fetch 在这里不需要 => !jira_fetch
                Don't forget to use jira_fetch. Not sure; why not web_fetch? => jira_fetch web_fetch
                We cannot answer without jira_fetch => jira_fetch
                vector_search instead of web_fetch => vector_search !web_fetch
                无需调用jira_fetch，vector_search即可 => !jira_fetch vector_search
                Skip jira_fetch, vector_search is enough => !jira_fetch vector_search
                I should not skip jira_fetch; web_fetch is not only useful but required => jira_fetch web_fetch
                only vector_search, no jira_fetch; 暂不使用web_fetch，何不使用read_file => vector_search !jira_fetch !web_fetch read_file"#]],
        );
    }

    /// G-04: thinking text, closed, unclosed and without its opening tag.
    #[test]
    fn thinking_is_marked() {
        for (text, thinking) in [
            ("<think>jira_fetch</think> no", true),
            ("<think>jira_fetch", true),
            ("jira_fetch</think> x", true),
            ("<think>x</think> jira_fetch", false),
        ] {
            assert_eq!(mentions(text, NAMES)[0].thinking, thinking, "{text}");
        }
        assert_eq!(without_thinking("a<think>日</think>b").len(), "a<think>日</think>b".len());
    }
}

//! References that a query states: issue keys, URLs, wiki pages, file paths (G-05, G-06, G-07).
//!
//! Everything is found by scanning with ASCII boundaries, because Han characters are word characters to a regular
//! expression and would swallow the edge of `查看PROJ-123的状态`. What looks like a reference and is refused is returned
//! beside what is accepted, with the reason.

use crate::{settings::GuardSettings, text::is_cjk, tool::Needs};
use std::ops::Range;

/// A reference in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// As the tool gets it; for keys in their plain ASCII form.
    pub value: String,
    /// Bytes of the text.
    pub range: Range<usize>,
}

/// Something that looks like a reference and is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearMiss {
    pub found: Found,
    pub reason: String,
}

/// What a text holds of one kind of reference, in the order of the text, without repeats.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct References {
    pub found: Vec<Found>,
    pub near: Vec<NearMiss>,
}

impl References {
    fn accept(&mut self, value: String, range: Range<usize>) {
        if self.found.iter().all(|f| f.value != value) {
            self.found.push(Found { value, range });
        }
    }

    fn refuse(&mut self, value: String, range: Range<usize>, reason: impl Into<String>) {
        self.near.push(NearMiss { found: Found { value, range }, reason: reason.into() });
    }
}

/// A character with its plain ASCII form and its bytes in the text.
struct Char {
    plain: char,
    original: char,
    range: Range<usize>,
}

/// Full-width letters, digits and hyphens as their ASCII forms; everything else as it is.
fn plain_chars(text: &str) -> Vec<Char> {
    text.char_indices()
        .map(|(at, c)| {
            let plain = match c {
                '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFEE0).unwrap_or(c),
                '\u{2010}' | '\u{2011}' | '\u{FE63}' => '-',
                _ => c,
            };
            Char { plain, original: c, range: at..at + c.len_utf8() }
        })
        .collect()
}

/// The longest issue number that is taken seriously.
const MAX_NUMBER_DIGITS: usize = 10;

/// Jira issue keys: `[A-Z][A-Z0-9_]+-[1-9]\d*` on ASCII boundaries, less the noise (G-05).
///
/// A key is refused when it is part of a longer compound (`CVE-2024-1234`, `ABC-1.5`) or touches an upper-case letter
/// of another script, which is how look-alike letters hide in front of one. Lower-case keys are near misses.
pub fn issue_keys(text: &str, settings: &GuardSettings) -> References {
    let chars = plain_chars(text);
    let at = |i: usize| chars.get(i).map(|c| c.plain);
    let mut result = References::default();
    let mut i = 0;
    while i < chars.len() {
        let start = i;
        if !chars[i].plain.is_ascii_alphabetic() || !left_edge(&chars, i) {
            i += 1;
            continue;
        }
        let mut j = i;
        while at(j).is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            j += 1;
        }
        i = j;
        if at(j) != Some('-') {
            continue;
        }
        let digits = j + 1;
        let mut end = digits;
        while at(end).is_some_and(|c| c.is_ascii_digit()) {
            end += 1;
        }
        if end == digits || !right_edge(&chars, end) {
            continue;
        }
        let project: String = chars[start..j].iter().map(|c| c.plain).collect();
        let number: String = chars[digits..end].iter().map(|c| c.plain).collect();
        let range = chars[start].range.start..chars[end - 1].range.end;
        let key = format!("{project}-{number}");
        let upper = project.to_ascii_uppercase();
        if settings.noise_prefixes.iter().any(|p| p.eq_ignore_ascii_case(&project)) {
            result.refuse(key, range, format!("{upper} is a noise prefix, not a project"));
        } else if project != upper {
            let suggestion = format!("{upper}-{number}");
            result.refuse(key, range, format!("keys are upper-case; if {suggestion} is meant, write it so"));
        } else if project.len() < 2 {
            result.refuse(key, range, "a project key has at least two characters");
        } else if number.starts_with('0') {
            result.refuse(key, range, "an issue number does not begin with 0");
        } else if number.len() > MAX_NUMBER_DIGITS {
            result.refuse(key, range, "the number is too long for an issue");
        } else if !settings.projects.is_empty() && !settings.projects.iter().any(|p| p == &project) {
            result.refuse(key, range, format!("{project} is not on the list of projects"));
        } else {
            result.accept(key, range);
        }
        i = end;
    }
    result
}

fn left_edge(chars: &[Char], i: usize) -> bool {
    let Some(before) = i.checked_sub(1).map(|b| &chars[b]) else { return true };
    let glued = before.plain.is_ascii_alphanumeric() || before.plain == '_';
    let lookalike = !before.original.is_ascii() && before.original.is_uppercase();
    let compound = before.plain == '-' && i >= 2 && chars[i - 2].plain.is_ascii_uppercase();
    !glued && !lookalike && !compound
}

fn right_edge(chars: &[Char], end: usize) -> bool {
    let Some(after) = chars.get(end) else { return true };
    let glued = after.plain.is_ascii_alphanumeric() || after.plain == '_';
    let lookalike = !after.original.is_ascii() && (after.original.is_uppercase() || after.original.is_numeric());
    let goes_on = matches!(after.plain, '-' | '.') && chars.get(end + 1).is_some_and(|c| c.plain.is_ascii_digit());
    !glued && !lookalike && !goes_on
}

pattern!(SCHEME, r"(?i)https?://");
pattern!(ENTITY, r"&(?:quot|gt|lt|apos|#39|#34);");

/// URLs with http or https in any letter case (G-06).
///
/// A URL ends before white space, quotes, angle brackets, a bar, a backslash, CJK text and punctuation, other symbols
/// outside ASCII, and a closing bracket that it did not open; then trailing punctuation is cut.
pub fn urls(text: &str) -> References {
    let mut result = References::default();
    let mut from = 0;
    while let Some(scheme) = SCHEME.find_at(text, from) {
        from = scheme.end();
        let glued = text[..scheme.start()].chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric());
        let end = scheme.end() + url_rest(&text[scheme.end()..]);
        let value = &text[scheme.start()..end];
        if glued {
            result.refuse(value.into(), scheme.start()..end, "the scheme is part of a longer word");
        } else if text[scheme.end()..end].chars().next().is_some_and(|c| c.is_ascii_alphanumeric() || c == '[') {
            result.accept(value.into(), scheme.start()..end);
        } else {
            result.refuse(value.into(), scheme.start()..end, "there is no host after the scheme");
        }
        from = from.max(end);
    }
    result
}

/// Bytes of `rest` that belong to the URL whose scheme was just read.
fn url_rest(rest: &str) -> usize {
    let mut open = vec![];
    let mut end = 0;
    for (at, c) in rest.char_indices() {
        // `https://a,https://b` are two URLs; `https://archive/https://b` is one.
        let another = matches!(c, ',' | ';') && SCHEME.find(&rest[at + 1..]).is_some_and(|m| m.start() == 0);
        let ends = another
            || c.is_whitespace()
            || c.is_control()
            || matches!(c, '"' | '\'' | '<' | '>' | '`' | '|' | '\\' | '{' | '}' | '^')
            || (!c.is_ascii() && (is_cjk(c) || !c.is_alphanumeric()));
        if ends {
            break;
        }
        match c {
            '(' => open.push(')'),
            '[' => open.push(']'),
            ')' | ']' if open.last() == Some(&c) => {
                open.pop();
            }
            ')' | ']' => break,
            _ => {}
        }
        end = at + c.len_utf8();
    }
    if let Some(entity) = ENTITY.find(&rest[..end]) {
        end = entity.start();
    }
    loop {
        let kept = &rest[..end];
        let Some(last) = kept.chars().next_back() else { return end };
        let unclosed = matches!(last, '(' | '[');
        if unclosed || matches!(last, '.' | ',' | ';' | ':' | '!' | '?' | '*' | '_' | '~') {
            end -= last.len_utf8();
        } else {
            return end;
        }
    }
}

pattern!(PAGE_IN_URL, r"(?i)(?:[?&](?:pageId|contentId)=|/pages/(?:edit-v2/|edit/)?)(\d{1,19})(?:\D|$)");
pattern!(WIKI_URL, r"(?i)confluence|wiki|viewpage|pageid=");
pattern!(WIKI_WORD, r"(?i)(?:^|[^a-z0-9_])(confluence|wiki)(?:[^a-z0-9_]|$)");
pattern!(
    PAGE_BEFORE,
    r"(?i)(?:(?:^|[^a-z0-9_])(?:page|wiki|confluence)|page[ _-]?id|页面|頁面|网页|文档|ページ|페이지)[\s#:：=（(「“\x22'`]{0,3}(?:(?:page|id|no\.?|number|num|编号|号|是|为|with|的)[\s#:：=（(「“\x22'`]{0,3}){0,3}$"
);
pattern!(
    PAGE_AFTER,
    r"(?i)^[\s)）」”\x22'`]*(?:号|號)?(?:这个|这一|那个|该|的|這個)?\s*(?:页面|頁面|文档|wiki|confluence|ページ|page(?:[^a-z]|$))"
);
pattern!(
    OTHER_BEFORE,
    r"(?i)(?:call|phone|tel|mobile|fax|dial|电话|電話|手机|号码|order|订单|unix time|timestamp|epoch|时间戳|isbn|port|端口|qq|price|价格|costs?|invoice|zip|postcode|邮编|\bip|ticket|issue|工单|pr|build|commit|lines?|room|year|rmb|usd|eur|version|account|账号|user|uid|about|over|nearly|约|共|有|超过)[\s:：#.]*$"
);
pattern!(
    OTHER_AFTER,
    r"(?i)^\s*(?:元|块|个|個|条|次|人|年|月|日|天|位|万|亿|名|篇|份|行|页|美元|usd|eur|dollars?|users?|people|times|bytes|kb|mb|gb|ms|seconds?|minutes?|hours?|days?|years?|views?|visits?|items?|rows?|lines?|pages|articles|employees|customers|requests|words|%|percent)"
);

/// The shortest number that can be a page id where the words around it do not say so.
const MIN_PAGE_DIGITS: usize = 5;
/// The shortest number that is an id when it is the whole query: longer than a year or a postcode.
const MIN_BARE_DIGITS: usize = 7;

/// Ids of wiki pages: in a Confluence URL, beside the word page, wiki or Confluence, or anywhere in a text that names
/// the wiki, unless the words around say that the number is a phone number, a count, a price, a port … (G-07).
pub fn page_ids(text: &str) -> References {
    let mut result = References::default();
    let urls = urls(text);
    for url in &urls.found {
        if !WIKI_URL.is_match(&url.value) {
            continue;
        }
        for captures in PAGE_IN_URL.captures_iter(&url.value) {
            let id = captures.get(1).expect("the pattern has the group");
            let from = url.range.start;
            result.accept(id.as_str().into(), from + id.start()..from + id.end());
        }
    }
    let names_wiki = names_wiki(text).is_some();
    let mut from = 0;
    while let Some(range) = next_number(text, from) {
        from = range.end;
        let (before, number, after) = (tail(&text[..range.start]), &text[range.clone()], &text[range.end..]);
        let in_url = urls.found.iter().any(|u| u.range.start <= range.start && range.end <= u.range.end);
        if in_url || number.len() < MIN_PAGE_DIGITS || number.len() > 19 || !stands_alone(before, after) {
            continue;
        }
        let beside_page = PAGE_BEFORE.is_match(before) || PAGE_AFTER.is_match(after);
        let alone = text.trim() == number && number.len() >= MIN_BARE_DIGITS;
        let other = OTHER_BEFORE.is_match(before) || OTHER_AFTER.is_match(after);
        if beside_page && !OTHER_AFTER.is_match(after) || alone || names_wiki && !other {
            result.accept(number.into(), range);
        } else {
            result.refuse(number.into(), range, "nothing near the number says that it is a page");
        }
    }
    result
}

/// The word wiki or Confluence in the text, if it stands there as a word.
pub fn names_wiki(text: &str) -> Option<Range<usize>> {
    WIKI_WORD.captures(text).and_then(|c| c.get(1)).map(|m| m.range())
}

/// The last of `text`, as much as a phrase beside a number takes: patterns anchored at its end need not read it all.
fn tail(text: &str) -> &str {
    let start = text.char_indices().rev().nth(79).map_or(0, |(at, _)| at);
    &text[start..]
}

fn next_number(text: &str, from: usize) -> Option<Range<usize>> {
    let start = from + text[from..].find(|c: char| c.is_ascii_digit())?;
    let length = text[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - start);
    Some(start..start + length)
}

/// Whether a number is a word of its own: no part of a decimal, a date, an address, a key or a price.
fn stands_alone(before: &str, after: &str) -> bool {
    let left = before.chars().next_back();
    let glued_left = left.is_some_and(|c| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '%' | '$' | '¥' | '￥' | '€' | '£' | '+' | '@')
    }) || matches!(left, Some(',' | ':'))
        && before.chars().nth_back(1).is_some_and(|c| c.is_ascii_digit());
    let mut right = after.chars();
    let glued_right = match right.next() {
        Some(c) if c.is_ascii_alphanumeric() || matches!(c, '_' | '%' | '@' | '$' | '€' | '£') => true,
        Some('.' | '-' | ':' | '/' | ',') => right.next().is_some_and(|c| c.is_ascii_digit()),
        _ => false,
    };
    !glued_left && !glued_right
}

pattern!(
    PATH,
    r"(?:~/|\.{1,2}/|/)?(?:[A-Za-z0-9_.@+\-\p{Han}]+/)*[A-Za-z0-9_@+\-\p{Han}][A-Za-z0-9_.@+\-\p{Han}]*\.(?:md|mdx|markdown|rst|adoc|txt|log|csv|tsv|json|jsonl|ya?ml|toml|ini|cfg|conf|env|xml|html?|css|pdf|docx?|xlsx?|rs|py|js|jsx|ts|tsx|java|kt|go|c|cc|cpp|h|hpp|cs|rb|php|swift|scala|sh|bash|ps1|sql|lock|gradle|proto|vue|svelte|ipynb)(?-u:\b)"
);
pattern!(QUOTED, "[`\"“「『《']([^`\"”」』》']{1,200})[`\"”」』》']");

/// File paths, by their extension; URLs are none.
pub fn paths(text: &str) -> References {
    let mut result = References::default();
    let urls = urls(text);
    for path in PATH.find_iter(text) {
        let inside_url = urls.found.iter().any(|u| u.range.start <= path.start() && path.start() < u.range.end);
        if inside_url {
            continue;
        }
        // A Han prefix glued to an ASCII path is the sentence before it: 读取docs/a.md
        let lead: usize = if path.as_str().starts_with(|c: char| c.is_ascii()) {
            0
        } else {
            let ascii = path.as_str().find(|c: char| c.is_ascii_alphanumeric()).unwrap_or(0);
            let rest = &path.as_str()[ascii..];
            if rest.contains('/') || rest.split('.').next().is_some_and(|stem| stem.len() > 1) { ascii } else { 0 }
        };
        result.accept(path.as_str()[lead..].to_string(), path.start() + lead..path.end());
    }
    result
}

/// Texts in quotation marks of any kind.
pub fn quoted(text: &str) -> References {
    let mut result = References::default();
    for captures in QUOTED.captures_iter(text) {
        let inner = captures.get(1).expect("the pattern has the group");
        let value = inner.as_str().trim();
        if !value.is_empty() {
            let start = inner.end() - inner.as_str().trim_start().len();
            result.accept(value.into(), start..start + value.len());
        }
    }
    result
}

/// What `text` holds of what a tool needs; nothing for a tool that takes any text.
///
/// Errors when a user's own pattern does not compile.
pub fn of(needs: &Needs, text: &str, settings: &GuardSettings) -> Result<References, String> {
    Ok(match needs {
        Needs::Text => References::default(),
        Needs::IssueKey => issue_keys(text, settings),
        Needs::Url => urls(text),
        Needs::PageId => page_ids(text),
        Needs::Path => paths(text),
        Needs::Entity => {
            let kinds = [paths(text), issue_keys(text, settings), quoted(text)];
            kinds.into_iter().find(|k| !k.found.is_empty()).unwrap_or_default()
        }
        Needs::Pattern { regex } => matches(text, regex)?,
    })
}

/// Matches of a user's own pattern: group 1 where it has one, else the whole match.
///
/// Errors when the pattern does not compile. Patterns run in time linear in the text.
pub fn matches(text: &str, regex: &str) -> Result<References, String> {
    let compiled = regex::RegexBuilder::new(regex).size_limit(1 << 20).build().map_err(|e| e.to_string())?;
    let mut result = References::default();
    for captures in compiled.captures_iter(text) {
        let m = captures.get(1).or_else(|| captures.get(0)).expect("group 0 always matches");
        if !m.as_str().is_empty() {
            result.accept(m.as_str().into(), m.range());
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn show(references: References) -> String {
        references.found.iter().map(|f| f.value.as_str()).collect::<Vec<_>>().join(" | ")
    }

    #[track_caller]
    fn check(find: impl Fn(&str) -> References, cases: &[&str], expected: Expect) {
        let lines: Vec<String> = cases.iter().map(|c| format!("{c} => {}", show(find(c)))).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    /// G-05
    #[test]
    fn issue_keys_stand_on_ascii_boundaries() {
        check(
            |t| issue_keys(t, &GuardSettings::default()),
            &[
                "What is PROJ-123?",
                "查看PROJ-123的状态",
                "K1-1 and AB2-345, twice AB2-345",
                "ＯＰＳ－９ 的状态",
                "A_C-23 x_A-23 A-23 A-23B -23",
                "UTF-8 SHA-256 CVE-2024-1234 COVID-19 HTTP-404 ISO-8859-1",
                "PROJ-0 PROJ-012 PROJ-1.5 proj-7",
                "fix/ABC-77-login",
                "РROJ-123",
            ],
            expect![[r#"
                What is PROJ-123? => PROJ-123
                查看PROJ-123的状态 => PROJ-123
                K1-1 and AB2-345, twice AB2-345 => K1-1 | AB2-345
                ＯＰＳ－９ 的状态 => OPS-9
                A_C-23 x_A-23 A-23 A-23B -23 => A_C-23
                UTF-8 SHA-256 CVE-2024-1234 COVID-19 HTTP-404 ISO-8859-1 => 
                PROJ-0 PROJ-012 PROJ-1.5 proj-7 => 
                fix/ABC-77-login => ABC-77
                РROJ-123 => "#]],
        );
    }

    /// G-05: the project list is a setting.
    #[test]
    fn a_project_list_restricts_keys() {
        let settings = GuardSettings { projects: vec!["OPS".into()], ..Default::default() };
        let keys = issue_keys("PROJ-1 OPS-2", &settings);
        assert_eq!(show(keys.clone()), "OPS-2");
        assert_eq!(keys.near[0].reason, "PROJ is not on the list of projects");
    }

    /// G-06
    #[test]
    fn urls_end_where_a_reader_ends_them() {
        check(
            urls,
            &[
                "总结https://example.com的内容",
                "see (https://en.wikipedia.org/wiki/Rust_(language)), or [x](https://b.example/y).",
                "HTTP://A.example/x、https://b.example/y,https://c.example;d",
                "http:// nothing, example.com, xhttps://a.example",
                "**https://a.example/b_c** &lt;https://c.example/?q=1&gt;",
            ],
            expect![[r#"
                总结https://example.com的内容 => https://example.com
                see (https://en.wikipedia.org/wiki/Rust_(language)), or [x](https://b.example/y). => https://en.wikipedia.org/wiki/Rust_(language) | https://b.example/y
                HTTP://A.example/x、https://b.example/y,https://c.example;d => HTTP://A.example/x | https://b.example/y | https://c.example;d
                http:// nothing, example.com, xhttps://a.example => 
                **https://a.example/b_c** &lt;https://c.example/?q=1&gt; => https://a.example/b_c | https://c.example/?q=1"#]],
        );
    }

    /// G-07
    #[test]
    fn page_ids_need_a_page() {
        check(
            page_ids,
            &[
                "Check page 1234567890",
                "看一下1231231233这个页面",
                "https://acme.atlassian.net/wiki/spaces/ENG/pages/1234567890/Retry+policy",
                "https://wiki.example/pages/viewpage.action?pageId=123456789.",
                "call 5551234567 about the wiki",
                "the wiki has 12345 pages",
                "unix time 1700000000 to date",
                "homepage 3, wikipedia 12345678, In 2023 and 2024",
                "confluence 1234567890123",
            ],
            expect![[r#"
                Check page 1234567890 => 1234567890
                看一下1231231233这个页面 => 1231231233
                https://acme.atlassian.net/wiki/spaces/ENG/pages/1234567890/Retry+policy => 1234567890
                https://wiki.example/pages/viewpage.action?pageId=123456789. => 123456789
                call 5551234567 about the wiki => 
                the wiki has 12345 pages => 
                unix time 1700000000 to date => 
                homepage 3, wikipedia 12345678, In 2023 and 2024 => 
                confluence 1234567890123 => 1234567890123"#]],
        );
    }

    #[test]
    fn paths_are_told_by_their_extension() {
        check(
            paths,
            &["read src/main.rs", "读取docs/简介.md好吗", "see https://a.example/b.md or example.com", "../etc/x.conf"],
            expect![[r#"
                read src/main.rs => src/main.rs
                读取docs/简介.md好吗 => docs/简介.md
                see https://a.example/b.md or example.com => 
                ../etc/x.conf => ../etc/x.conf"#]],
        );
    }
}

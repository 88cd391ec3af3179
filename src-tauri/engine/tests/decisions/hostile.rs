//! Text made to break or to stall the engine (S-03). The tests assert that an answer comes back; none measures time.

use crate::desk::{Desk, calls, says, show_kept};
use serde_json::{Value, json};
use toolplan_engine::{planning::MAX_QUERY_BYTES, verdict::Gate};

fn desk() -> Desk {
    Desk::source_000().adds_by_rule().asks("What is PROJ-1?")
}

/// The reply is read and the plan is what the query alone asks for.
#[track_caller]
fn check_reply(text: &str, tools: &str) {
    let planning = desk().plan(&says(text));
    let mut planned: Vec<&str> = planning.plan.steps.iter().map(|s| s.tool.as_str()).collect();
    planned.dedup();
    assert_eq!(planned.join(" "), tools);
}

/// S-03, G-03: 200 kB of opening braces, alone and before a real call.
#[test]
fn braces_without_end() {
    let braces = "{".repeat(200_000);
    check_reply(&braces, "jira_fetch");
    check_reply(&"[".repeat(200_000), "jira_fetch");
    check_reply(&"{\"a\":".repeat(40_000), "jira_fetch");
    check_reply(&format!("vector_search {braces}"), "vector_search jira_fetch");
}

/// S-03, G-03: unclosed arrays that are long as well as deep, so that every start is read to the end.
#[test]
fn long_unclosed_json() {
    let numbers = "1,".repeat(200_000);
    check_reply(&format!("{}{numbers}", "[".repeat(120)), "jira_fetch");
    check_reply(&format!("{}{numbers}", "{\"a\":[".repeat(60)), "jira_fetch");
}

/// S-03, G-03: JSON nested beyond any parser's limit, and calls buried deeper than anybody means them.
#[test]
fn deep_json() {
    let deep = |depth: usize, inner: &str| format!("{}{inner}{}", "[".repeat(depth), "]".repeat(depth));
    check_reply(&deep(100_000, "1"), "jira_fetch");
    check_reply(&deep(100, r#"{"tool": "grep_search", "arguments": {"query": "x"}}"#), "grep_search jira_fetch");
    check_reply(&deep(3, r#"{"tool": "vector_search", "arguments": {"query": "x"}}"#), "vector_search jira_fetch");
}

/// S-03: a megabyte of prose, of one tool's name, of thinking tags, of refusals, of spaces, of Han text.
#[test]
fn a_megabyte_of_text() {
    let repeated = |unit: &str| unit.repeat(1_000_000 / unit.len());
    check_reply(&repeated("lorem ipsum "), "jira_fetch");
    check_reply(&repeated("vector_search "), "vector_search jira_fetch");
    check_reply(&repeated("<think>vector_search</think>"), "vector_search jira_fetch");
    check_reply(&repeated("<think>"), "jira_fetch");
    check_reply(&repeated("do not use vector_search or "), "jira_fetch");
    check_reply(&repeated("不要使用 vector_search，"), "jira_fetch");
    check_reply(&repeated(" "), "jira_fetch");
    check_reply(&repeated("没写什么"), "jira_fetch");
    check_reply(&repeated("a"), "jira_fetch");
    check_reply(&repeated("```json\n"), "jira_fetch");
    check_reply(&"a.b/c:".repeat(20_000), "jira_fetch");
}

/// S-03: a query at the limit of length, made of what the guard looks for; one byte more is refused with a remedy.
#[test]
fn the_longest_queries() {
    let repeated = |unit: &str| unit.repeat(MAX_QUERY_BYTES / unit.len());
    for unit in
        ["a", "页12345 ", "PROJ-", "-1", "https://", "(", "'\"", "重试和", "no wiki 1", "\u{301}", "..", "and then "]
    {
        let planning = desk().asks(&repeated(unit)).plan_offline();
        assert_eq!(planning.findings, [], "{unit:?}");
    }
    let many: String = (1..=1000).map(|i| format!("AB-{i} ")).collect();
    assert_eq!(desk().asks(&many).plan_offline().plan.steps.len(), 1000);
    let too_long = desk().asks(&"a".repeat(MAX_QUERY_BYTES + 1));
    let problem = too_long.try_plan(toolplan_engine::planning::Answer::Offline).unwrap_err();
    assert_eq!(problem.code, "query.too_long");
    assert!(problem.message.contains("65537") && !problem.hint.is_empty());
}

/// S-03, G-09: characters that mean something to a regular expression mean themselves.
#[test]
fn regex_characters_are_plain_text() {
    for query in [".*", "(", "[a-z", "\\", "^$", "a{1000000}", "(?i)x|y", "*+?", "\\d+ PROJ", "$1 \\1", "(a+)+$"] {
        let planning = Desk::source_000().asks(query).plan(&says("vector_search"));
        assert_eq!(show_kept(&planning), format!("vector_search {}", json!({"query": query})));
        let text = format!("vector_search {query}");
        assert_eq!(Desk::source_000().asks("x").plan(&says(&text)).plan.steps.len(), 1, "{text}");
    }
}

/// S-03, G-12: a user's pattern that does not compile is named in the verdict; its tool is left out and no other.
#[test]
fn a_broken_pattern_of_a_user() {
    for pattern in ["(unclosed", "[z-a]", "(?<n>", "(?=look)", "x{99999999}"] {
        let ticket = format!("ticket SAFE pattern:key={pattern}");
        let desk = Desk::of(&[&ticket, "vector_search SAFE search text:query"]).adds_by_rule().asks("see INC42");
        let planning = desk.plan(&says("ticket and vector_search"));
        assert_eq!(show_kept(&planning), r#"vector_search {"query":"see INC42"}"#, "{pattern}");
        let verdict = &planning.guard.calls[0].verdict;
        assert_eq!((verdict.gate, verdict.rule.as_ref()), (Gate::Applicability, "applies.bad_pattern"), "{pattern}");
        assert!(verdict.reason.starts_with("Its pattern does not compile: "), "{}", verdict.reason);
        assert_eq!(desk.plan_offline().plan.steps.len(), 1, "{pattern}");
    }
}

/// S-03, G-12: a user's pattern that would take for ever elsewhere, over the longest query.
#[test]
fn a_slow_pattern_of_a_user() {
    let desk = Desk::of(&["ticket SAFE pattern:key=(a|aa)+$"]).asks(&format!("{}b", "a".repeat(60_000)));
    assert_eq!(desk.plan(&says("ticket")).plan.steps, []);
    let desk = Desk::of(&["ticket SAFE pattern:key=INC(\\d+)"]).asks("INC42 and INC7");
    assert_eq!(show_kept(&desk.plan(&says("ticket"))), r#"ticket {"key":"42"} ; ticket {"key":"7"}"#);
}

/// S-03: odd characters in a reply: NUL, lone surrogates' replacements, direction marks, names with accents.
#[test]
fn odd_characters() {
    check_reply("\0\u{FFFD}\u{202E}vector_search\u{202C}\u{FEFF}", "vector_search jira_fetch");
    check_reply("véctor_search vector_seаrch", "jira_fetch");
    check_reply("\u{1F600}".repeat(1000).as_str(), "jira_fetch");
}

/// S-03: two thousand native calls of a tool that does not exist, and one of a tool that does.
#[test]
fn many_native_calls() {
    let mut all: Vec<(&str, Value)> = vec![("no_such_tool", json!({"query": "x"})); 2_000];
    all.push(("vector_search", json!({"query": "x"})));
    let planning = desk().plan(&calls(&all));
    assert_eq!(planning.plan.steps.len(), 2, "the search, and the fetch that the query names");
}

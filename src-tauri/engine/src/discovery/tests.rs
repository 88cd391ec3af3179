//! The index and its ranking.

use super::{
    FITS, Hit, Index,
    semantic::{self, Vector},
};
use crate::{ports::Embedder, tool::ToolSpec};
use proptest::prelude::*;
use std::sync::Arc;

fn tool(name: &str, description: &str) -> ToolSpec {
    ToolSpec { name: name.into(), description: description.into(), ..Default::default() }
}

fn index(specs: &[ToolSpec]) -> Index {
    let mut index = Index::default();
    specs.iter().for_each(|spec| index.upsert(spec));
    index
}

fn desk() -> Vec<ToolSpec> {
    vec![
        tool("jira.search_issues", "Find issues by text"),
        tool("jira.create_issue", "File a new bug or ticket"),
        tool("jira.delete_issue", "Delete an issue for good"),
        tool("weather.forecast", "Forecast for a city. Mentions an issue once among many other long words"),
        tool("slack.post_message", "Post a message to a channel"),
        tool("translate", "翻译文本 into another language"),
        tool("summarize", "总结一篇文章"),
    ]
}

/// The names found in `tools`, best first.
#[track_caller]
fn check(tools: &[ToolSpec], query: &str, expected: &[&str]) {
    let hits = index(tools).search(query, 3, |_| true);
    let names: Vec<&str> = hits.iter().map(|h| h.tool.as_str()).collect();
    assert_eq!(names, expected, "{query}: {hits:?}");
    assert!(hits.iter().all(|h| (0.0..=1.0).contains(&h.score)), "{query}: {hits:?}");
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score), "{query}: {hits:?}");
}

/// D-04: relevance decides, in English and in Chinese.
#[test]
fn better_matches_come_first() {
    let issues = &["jira.search_issues", "jira.create_issue", "jira.delete_issue"];
    check(&desk(), "search the issue", issues);
    check(&desk(), "post into the slack channel", &["slack.post_message"]);
    check(&desk(), "请翻译这个", &["translate"]);
    check(&desk(), "帮我总结 this article and then 翻译", &["summarize", "translate"]);
}

/// D-04: what fits nothing finds nothing, and a stray word is not enough.
#[test]
fn no_answer_is_an_answer() {
    check(&desk(), "quantum chromodynamics", &[]);
    check(&desk(), "", &[]);
    check(&desk(), "the of and", &[]);
    let hits = index(&desk()).search("create a ticket for the bug issue", 5, |_| true);
    assert_eq!(hits[0].tool, "jira.create_issue");
    assert!(hits.iter().all(|h| h.tool != "weather.forecast" && h.tool != "slack.post_message"), "{hits:?}");
    let stray = index(&desk()).search("integrate a polynomial of some city", 1, |_| true);
    assert!(stray.iter().all(|h| h.evidence < FITS), "{stray:?}");
    assert!(hits[0].evidence >= FITS, "{hits:?}");
}

/// D-04: a tool called by its name is first, with the full score where nothing else is asked.
#[test]
fn the_exact_name_is_first() {
    let mut tools = desk();
    tools.push(tool("issues", "issues issues jira search issues find issues"));
    tools.push(ToolSpec { namespace: "github".into(), ..tool("github.get", "") });
    let index = index(&tools);
    for spec in &tools {
        let hits = index.search(&spec.name, 2, |_| true);
        assert_eq!((hits[0].tool.as_str(), hits[0].score), (spec.name.as_str(), 1.0));
        assert!(hits.get(1).is_none_or(|second| second.score < 1.0), "{hits:?}");
    }
    assert_eq!(index.search("get", 1, |_| true)[0].tool, "github.get");
    check(
        &tools,
        "find issues about search, not with jira.delete_issue",
        &["jira.delete_issue", "jira.search_issues", "issues"],
    );
}

/// D-03: plain text never acts as operators (W3-2).
#[test]
fn operators_are_plain_words() {
    for query in ["issue NOT jira", "issue OR", "\"issue", "issue*", "issue AND (", "name:issue NEAR/2 ^jira -x"] {
        let hits = index(&desk()).search(query, 5, |_| true);
        assert!(hits.iter().any(|h| h.tool.starts_with("jira.")), "{query}: {hits:?}");
        assert!(hits.iter().all(|h| h.tool != "slack.post_message"), "{query}: {hits:?}");
    }
}

/// A request for two things finds both before more of the first.
#[test]
fn every_sentence_counts() {
    let tools = [
        tool("weather_today", "Current weather of a city"),
        tool("weather_week", "Weather of a city for a week"),
        tool("weather_alerts", "Weather warnings of a city"),
        tool("book_table", "Reserve a table in a restaurant"),
    ];
    let hits = index(&tools).search("How is the weather in the city today? Reserve a restaurant table.", 2, |_| true);
    let mut names: Vec<&str> = hits.iter().map(|h| h.tool.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["book_table", "weather_today"]);
}

#[test]
fn neighbours_synonyms_and_acts_count() {
    let clocks = [tool("list_zones", "Zones, and the time of each"), tool("timezone", "Offset of a place")];
    check(&clocks, "time zone", &["list_zones", "timezone"]);
    check(&clocks, "timezone", &["timezone"]);
    check(&[tool("find_movies", "Movies by genre")], "any film", &["find_movies"]);
    check(&[tool("delete_user", ""), tool("list_user", "")], "list every user", &["list_user", "delete_user"]);
}

#[test]
fn ties_go_by_name_and_only_what_counts_is_found() {
    let same = ["c", "a", "d", "b"].map(|n| tool(&format!("copy_{n}"), "Copy of a photo"));
    check(&same, "photo", &["copy_a", "copy_b", "copy_c"]);
    let hits = index(&same).search("photo", 10, |name| name > "copy_b");
    assert_eq!(hits.iter().map(|h| h.tool.as_str()).collect::<Vec<_>>(), ["copy_c", "copy_d"]);
    assert!(index(&same).search("photo", 0, |_| true).is_empty());
}

#[test]
fn matched_words_are_the_persons_own() {
    let hits = index(&desk()).search("Search the Issues", 1, |_| true);
    assert_eq!(hits[0].matched, ["Search", "Issues"]);
}

/// Huge and odd queries end soon and break nothing.
#[test]
fn hostile_queries_are_bounded() {
    let index = index(&desk());
    for query in
        ["\"a' <b".repeat(200_000), "issue ".repeat(200_000), "翻译。".repeat(200_000), "\u{0}\u{301}'s".repeat(9)]
    {
        assert!(index.search(&query, 3, |_| true).len() <= 3);
    }
}

fn any_tool() -> impl Strategy<Value = ToolSpec> {
    let word =
        prop::sample::select(vec!["issue", "city", "list", "delete", "time", "zone", "timezone", "翻译", "photo"]);
    ("[a-d]", prop::collection::vec(word, 0..6)).prop_map(|(name, words)| tool(&name, &words.join(" ")))
}

/// Puts texts of one subject on one axis, as a model does with every subject there is.
struct Subjects;

impl Embedder for Subjects {
    fn id(&self) -> &str {
        "subjects"
    }

    fn label(&self) -> &str {
        "subjects"
    }

    fn dimensions(&self) -> usize {
        4
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, crate::Problem> {
        const SUBJECTS: [&[&str]; 3] =
            [&["issue", "bug", "broken"], &["weather", "forecast", "umbrella"], &["slack", "colleagues"]];
        let axis =
            |text: &str, words: &[&str]| f32::from(u8::from(words.iter().any(|w| text.to_lowercase().contains(w))));
        Ok(texts.iter().map(|t| SUBJECTS.map(|words| axis(t, words)).into_iter().chain([0.2]).collect()).collect())
    }
}

fn with_meaning(tools: &[ToolSpec]) -> Index {
    let mut index = index(tools).with_model(Arc::new(Subjects));
    for spec in tools {
        let vector = Subjects.embed(&[&semantic::text(spec)]).unwrap().remove(0);
        index.learn(&spec.name, &Vector::of(&vector));
    }
    index
}

fn names(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|h| h.tool.as_str()).collect()
}

/// D-04: with a model, what means the same is found without a common word; names stay first, nothing stays nothing,
/// and Chinese is left to the words.
#[test]
fn meaning_joins_the_words() {
    let index = with_meaning(&desk());
    assert!(index.uses_meaning());
    assert!(index.by_words("Do I need an umbrella", 5, |_| true).is_empty());
    assert_eq!(index.search("Do I need an umbrella", 5, |_| true)[0].tool, "weather.forecast");
    assert_eq!(names(&index.by_meaning("umbrella please take", 1, |_| true)), ["weather.forecast"]);
    for spec in desk() {
        let hits = index.search(&spec.name, 2, |_| true);
        assert_eq!((hits[0].tool.as_str(), hits[0].score), (spec.name.as_str(), 1.0));
        assert!(hits.get(1).is_none_or(|second| second.score < 0.9));
    }
    let hits = index.search("tell my colleagues about jira.delete_issue", 5, |_| true);
    assert_eq!(names(&hits)[0], "jira.delete_issue");
    assert!(names(&hits).contains(&"slack.post_message"), "{hits:?}");
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score) && hits.iter().all(|h| (0.0..=1.0).contains(&h.score)));
    assert!(index.search("", 5, |_| true).is_empty() && index.search("the of and", 5, |_| true).is_empty());
    assert_eq!(index.search("请翻译这个", 5, |_| true), index.by_words("请翻译这个", 5, |_| true));
}

/// As long as one tool is unread, the words decide alone; an edit makes a tool unread.
#[test]
fn a_half_read_catalog_is_ranked_by_words() {
    let mut index = with_meaning(&desk());
    let edited = tool("weather.forecast", "Pressure and wind");
    index.upsert(&edited);
    assert!(!index.uses_meaning() && !index.knows("weather.forecast") && index.knows("translate"));
    assert!(index.search("Do I need an umbrella", 5, |_| true).is_empty());
    assert!(index.by_meaning("Do I need an umbrella", 5, |_| true).is_empty());
    index.remove("weather.forecast");
    assert!(index.uses_meaning());
    index.upsert(&edited);
    index.learn("weather.forecast", &Vector::of(&[0.0, 0.0, 1.0, 0.0]));
    assert!(index.uses_meaning());
    index.learn("weather.forecast", &Vector::of(&[1.0]));
    assert!(index.uses_meaning(), "a vector of another model is not taken");
}

proptest! {
    /// K-05: after any edits, the index answers as a new one does, to the last bit.
    #[test]
    fn edits_equal_a_rebuild(edits in prop::collection::vec((any_tool(), any::<bool>()), 0..12), query in "(issue |city |list |time zone |翻译 |a ){0,5}") {
        let mut edited = Index::default();
        let mut left: Vec<ToolSpec> = vec![];
        for (spec, keep) in edits {
            left.retain(|s| s.name != spec.name);
            if keep {
                edited.upsert(&spec);
                left.insert(0, spec);
            } else {
                edited.remove(&spec.name);
            }
        }
        prop_assert_eq!(edited.search(&query, 10, |_| true), index(&left).search(&query, 10, |_| true));
    }
}

//! Extensions, capabilities, guidance and request matchers.

use serde_json::json;
use std::collections::HashSet;
use toolplan_engine::{
    capability::{
        Aliases, CORE, PlanningView,
        aliases::Came,
        guidance::Guidance,
        matchers::{self, CapabilitySuggestion},
        normalise, strings, view,
    },
    settings::{CapabilitySettings, RequestMatcher, Settings},
    text::Span,
    tokens::Tiktoken,
    tool::{Catalog, Classification, ToolSpec},
};

fn enabling(ids: &[&str]) -> CapabilitySettings {
    CapabilitySettings { enabled_extensions: ids.iter().map(|id| id.to_string()).collect(), ..Default::default() }
}

fn catalog(specs: Vec<ToolSpec>) -> Catalog {
    let (catalog, problems) = Catalog::new(1, specs);
    assert_eq!(problems, []);
    catalog
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec { name: name.into(), classification: Classification::Safe, ..Default::default() }
}

fn seen(ids: &[&str]) -> PlanningView {
    view(&enabling(ids), &Catalog::default())
}

fn aliases() -> Aliases {
    Aliases::of(&CapabilitySettings::default())
}

fn expand(ids: &[&str]) -> Vec<String> {
    let mut ids: Vec<String> = aliases().expand(ids.iter().copied()).into_iter().map(|e| e.id).collect();
    ids.sort();
    ids
}

/// K-09: 31 entries of 30 extensions, each with guidance of its own; no two lines are the same.
#[test]
fn the_core_catalog_is_complete() {
    assert_eq!(CORE.entries.len(), 31);
    assert_eq!(CORE.entries.iter().map(|e| &e.extension).collect::<HashSet<_>>().len(), 30);
    assert!(CORE.entries.iter().all(|e| !e.capabilities.is_empty() && !e.guidance.is_empty()));
    let lines: Vec<&String> = CORE.entries.iter().flat_map(|e| &e.guidance).collect();
    assert_eq!(lines.iter().collect::<HashSet<_>>().len(), lines.len());
    let of = |tool: &str| &CORE.entries.iter().find(|e| e.tool == tool).unwrap().capabilities;
    assert_eq!(of("browser"), &["browser.navigate", "browser.capture", "artifact.pdf"]);
    assert_eq!(of("connector_message_tool"), &["delivery.message", "delivery.media", "delivery.voice_note"]);
    assert_eq!(of("memory_tool"), &["memory.search", "memory.store"]);
    let exact = ["sessions_tool", "context_status", "monitor_tool", "generate_image", "web_search", "web_fetch"];
    assert!(exact.iter().all(|tool| CORE.entries.iter().any(|e| e.tool == *tool)));
}

/// K-06: the view of the conformance cases.
#[test]
fn a_view_says_what_extensions_stand_for() {
    let view = seen(&["web_search", "web_fetch", "browser", "manage_connectors"]);
    assert_eq!(view.display_ids, ["browser", "manage_connectors", "web"]);
    assert!(view.expanded_ids.is_sorted());
    assert_eq!(seen(&["web_search"]).tools_for_capability("research.search"), ["web_search"]);
    assert_eq!(seen(&["manage_connectors"]).tools_for_capability("delivery.voice_note"), ["connector_message_tool"]);
    let [a, b] = [seen(&["google_workspace"]), seen(&["gws"])];
    assert_eq!((&a.display_ids, &a.entries[0].tool), (&b.display_ids, &"google_workspace".to_string()));
    assert_eq!(b.tools_for_capability("workspace.google"), ["google_workspace"]);
    assert_eq!(seen(&["memory"]).tools_for_capability("research.search"), [] as [&str; 0]);
    assert_eq!(seen(&["memory"]).first_tool_for_capability("research.search"), None);
    assert_eq!(seen(&["memory"]).first_tool_for_capability("memory.store"), Some("memory_tool"));
}

/// K-06, W2-2: nothing enabled is nothing, whatever the catalog describes.
#[test]
fn nothing_enabled_is_nothing() {
    let described = ToolSpec { capabilities: vec!["research.search".into()], ..tool("own") };
    for ids in [&[][..], &["", "  "]] {
        assert_eq!(view(&enabling(ids), &catalog(vec![described.clone()])), PlanningView::default());
    }
}

/// K-06, K-09: a tool of an extension brings its own entry; its own words win over the core's (W2-3).
#[test]
fn tools_add_entries_through_their_own_metadata() {
    let sender = ToolSpec {
        capabilities: vec![" delivery.media ".into(), "delivery.voice_note".into(), "".into(), "delivery.media".into()],
        guidance: vec!["Send media with the caption in one call.".into()],
        ..tool("custom_media_sender")
    };
    let silent = ToolSpec { namespace: "acme".into(), capabilities: vec!["  ".into()], ..tool("acme.silent") };
    let scoped =
        ToolSpec { namespace: "acme".into(), capabilities: vec!["delivery.media".into()], ..tool("acme.send") };
    let own = ToolSpec { guidance: vec!["Search twice.".into()], ..tool("web_search") };
    let catalog = catalog(vec![sender, silent, scoped, own]);

    let view = view(&enabling(&["custom_media_sender", "acme", "web"]), &catalog);
    assert_eq!(view.tools_for_capability("delivery.media"), ["custom_media_sender", "acme.send"], "entry order");
    assert!(view.guidance.contains(&"Send media with the caption in one call.".to_string()));
    let entry = |tool: &str| view.entries.iter().find(|e| e.tool == tool).unwrap();
    assert_eq!(entry("custom_media_sender").capabilities, ["delivery.media", "delivery.voice_note"], "K-07");
    assert_eq!(view.undescribed, ["acme.silent"], "K-07: no capability and no guidance, no entry");
    assert_eq!(view.entries.iter().filter(|e| e.tool == "web_search").count(), 1, "W2-3: one tool, one entry");
    assert_eq!(
        (entry("web_search").guidance.as_slice(), entry("web_search").capabilities.as_slice()),
        (&["Search twice.".to_string()][..], &["research.search".to_string()][..],)
    );
}

/// W2-1: what is offered as callable is exactly what can be called; family ids and merged tools are not.
#[test]
fn callable_names_are_exact() {
    let catalog = catalog(vec![tool("web_search"), tool("memory_tool")]);
    let view = view(&enabling(&["web_search", "memory"]), &catalog);
    assert_eq!(view.callable, ["memory_tool", "web_search"]);
    assert_eq!(view.phantoms, ["http_request", "web_fetch"]);
    assert!(view.display_ids.contains(&"web".to_string()) && !view.callable.contains(&"web".to_string()));
    let entries = catalog.iter().collect::<Vec<_>>();
    let section = Guidance::of(&view, entries).section();
    assert!(section.starts_with("Enabled tools, by exact name: `web_search`, `memory_tool`.\n"), "{section}");
    assert!(!section.contains("http_request"), "{section}");
}

/// W2-1: asking for one tool must not quietly bring along another that deletes.
#[test]
fn overreach_is_seen() {
    let delete = ToolSpec { classification: Classification::Destructive, ..tool("delete_file") };
    let catalog = catalog(vec![tool("read_file"), delete]);
    let view = view(&enabling(&["read_file"]), &catalog);
    assert_eq!(view.overreach.len(), 1);
    assert_eq!((view.overreach[0].tool.as_str(), view.overreach[0].came), ("delete_file", Came::Alias));
}

/// W2-5: the tool to begin with is one that can be called, wherever the alphabet puts it.
#[test]
fn the_first_tool_can_be_called() {
    let own = ToolSpec { capabilities: vec!["research.search".into()], ..tool("zz_search") };
    let view = view(&enabling(&["web", "zz_search"]), &catalog(vec![own]));
    assert_eq!(view.tools_for_capability("research.search"), ["web_search", "zz_search"]);
    assert_eq!(view.first_tool_for_capability("research.search"), Some("zz_search"));
}

/// W2-6: an id that nobody knows is said so, with what may have been meant.
#[test]
fn unknown_ids_are_not_silent() {
    let catalog = catalog(vec![ToolSpec { namespace: "Acme".into(), ..tool("Acme.go") }]);
    let view = view(&enabling(&["browsr", "acme", "Acme", "nobody_knows"]), &catalog);
    let unknown: Vec<_> = view.unknown.iter().map(|u| (u.id.as_str(), u.meant.as_deref())).collect();
    assert_eq!(unknown, [("browsr", Some("browser")), ("acme", Some("Acme")), ("nobody_knows", None)]);
}

/// K-07: trimmed, no blanks, no repeats, nothing that is no text; and what was left out is told.
#[test]
fn strings_are_normalised() {
    assert_eq!(normalise([" b", "a", "", "b ", "  ", "a"]), ["b", "a"]);
    assert_eq!(strings(&json!(null)), (vec![], vec![]));
    let (kept, left_out) = strings(&json!([" a ", 5, null, "a", {"x": 1}, "b", ""]));
    assert_eq!((kept, left_out.len()), (vec!["a".to_string(), "b".into()], 3));
    assert_eq!(strings(&json!("a")).1.len(), 1);
    for odd in [json!(null), json!([]), json!("web"), json!([null, 7, " "]), json!({})] {
        let settings: CapabilitySettings = serde_json::from_value(json!({"enabled_extensions": odd})).unwrap();
        assert!(settings.enabled_extensions.is_empty(), "{odd}");
    }
}

/// K-08: canonical ids.
#[test]
fn ids_have_one_canonical_name() {
    for (id, canonical) in [
        ("web_search", "web"),
        ("http", "web"),
        ("execute_command", "shell"),
        ("process_tool", "shell"),
        ("memory_search", "memory"),
        ("memory_get", "memory"),
        ("memory_store", "memory"),
        ("memory_update", "memory"),
        ("delegate_to_claude_code", "delegate"),
        ("claude_code", "delegate"),
        ("openclaw_browser", "browser"),
        ("human_loop", "ask_human"),
        ("session_info", "manage_sessions"),
        (" GWS ", "google_workspace"),
        ("Google-Workspace", "google_workspace"),
        ("unknown_Tool", "unknown_Tool"),
        ("  padded_Unknown ", "padded_Unknown"),
        ("", ""),
        ("   ", ""),
    ] {
        assert_eq!(aliases().canonical(id), canonical, "{id:?}");
    }
}

/// K-08: expansion is breadth first over groups and one-way implications, without repeats.
#[test]
fn ids_expand() {
    assert_eq!(
        expand(&["web_search"]),
        ["http", "http_request", "web", "web_crawl", "web_extract", "web_fetch", "web_search"]
    );
    assert_eq!(expand(&["git"]), ["execute_command", "git", "process", "process_tool", "shell"]);
    let platform = expand(&["manage_platform"]);
    assert_eq!(platform.len(), 16);
    assert!(
        ["connector_message_tool", "sessions_tool", "manage_secrets"]
            .iter()
            .all(|id| platform.contains(&id.to_string()))
    );
    assert!(!platform.contains(&"manage_chatrooms".to_string()) && !platform.contains(&"manage_protocols".to_string()));
    assert!(!expand(&["manage_schedules"]).contains(&"manage_platform".to_string()), "one way");
    assert_eq!(expand(&["unknown_Tool"]), ["unknown_Tool"]);
    assert_eq!(expand(&["Unknown", "unknown"]), ["Unknown", "unknown"]);
    assert_eq!(expand(&["WEB", "web", " Web ", "", " "]), expand(&["web"]));
    assert_eq!(expand(&[]), [] as [&str; 0]);
    let all: Vec<&str> = CORE.aliases.iter().flatten().map(String::as_str).collect();
    let everything = expand(&all);
    assert!(all.len() > 50 && everything.len() == everything.iter().collect::<HashSet<_>>().len());
}

/// K-08: who is meant by what.
#[test]
fn ids_match() {
    let matches = |enabled: &[&str], id: &str| aliases().matches(enabled.iter().copied(), id);
    assert!(matches(&["web"], "web_search") && matches(&["web_search"], "web"));
    assert!(matches(&["web_search"], "WEB_FETCH") && matches(&[" Web "], "web"));
    assert!(matches(&["manage_platform"], "manage_tasks") && matches(&["manage_platform"], "manage_secrets"));
    assert!(!matches(&["manage_tasks"], "manage_platform"));
    assert!(!matches(&["files"], "shell"));
    assert!(!matches(&[], "web") && !matches(&["web"], "") && !matches(&[""], ""));
    assert!(matches(&["Own"], "Own") && !matches(&["Own"], "own"), "unknown ids keep their letter case");
}

/// K-08: the workspace's own tables; cycles end, and an id in two groups is told.
#[test]
fn own_tables_join_the_core() {
    let settings = CapabilitySettings {
        aliases: vec![
            vec!["files".into(), "FS".into()],
            vec!["a".into(), "b".into()],
            vec!["b".into(), "web_search".into()],
            vec![],
        ],
        implications: [("a", "c"), ("c", "d"), ("d", "a"), ("", "x")]
            .map(|(from, to)| (from.to_string(), vec![to.to_string(), from.to_string()]))
            .into(),
        ..Default::default()
    };
    let aliases = Aliases::of(&settings);
    assert_eq!(aliases.canonical("fs"), "files");
    let mut ids: Vec<String> = aliases.expand(["B"]).into_iter().map(|e| e.id).collect();
    ids.sort();
    assert_eq!(ids, ["a", "b", "c", "d"]);
    let ambiguous: Vec<_> =
        aliases.ambiguous().iter().map(|a| (a.id.as_str(), a.kept.as_str(), a.other.as_str())).collect();
    assert_eq!(ambiguous, [("web_search", "web", "a")]);
    let none = CapabilitySettings { use_core_catalog: false, ..Default::default() };
    assert_eq!(Aliases::of(&none).canonical("web_search"), "web_search");
    assert!(
        view(&CapabilitySettings { use_core_catalog: false, ..enabling(&["web"]) }, &Catalog::default())
            .entries
            .is_empty()
    );
}

fn suggested(ids: &[&str], query: &str) -> Vec<CapabilitySuggestion> {
    let settings = CapabilitySettings { suggest: true, ..enabling(ids) };
    matchers::suggest(&settings, &view(&settings, &Catalog::default()), query, |_| true)
}

fn capabilities(ids: &[&str], query: &str) -> Vec<String> {
    suggested(ids, query).into_iter().map(|s| s.capability).collect()
}

fn tools(ids: &[&str], query: &str) -> Vec<String> {
    let mut tools: Vec<String> = vec![];
    for tool in suggested(ids, query).into_iter().flat_map(|s| s.tools) {
        if !tools.contains(&tool) {
            tools.push(tool);
        }
    }
    tools
}

const ALL: &[&str] = &["web_search", "web_fetch", "browser", "manage_connectors", "google_workspace"];

/// K-11: the cases of the capability router hold with whole words.
#[test]
fn requests_suggest_capabilities() {
    let ids = &["web_search", "web_fetch", "browser", "manage_connectors"];
    let mut found = tools(
        ids,
        "Find the latest news about the outage, take screenshots of the headlines, and send me a voice note with the gist",
    );
    found.sort();
    assert_eq!(found, ["browser", "connector_message_tool", "web_fetch", "web_search"]);
    assert_eq!(tools(ids, "Send me a voice note over WhatsApp with the result"), ["connector_message_tool"]);
    assert_eq!(tools(ids, "Keep watching for meaningful updates on this story"), ["web_search", "web_fetch"]);
    assert_eq!(tools(ids, "What is the e2e_validation_token I told you earlier?"), [] as [&str; 0]);
    assert_eq!(tools(ids, "Build and test a calculator app"), [] as [&str; 0]);
    assert_eq!(tools(ids, "summarize https://example.com/a for me"), ["web_fetch"]);
    assert_eq!(capabilities(&["browser"], "save https://example.com as PDF"), ["artifact.pdf"]);
    assert_eq!(tools(&["gws"], "put it into a Google Sheet"), ["google_workspace"]);
    assert_eq!(tools(&["memory"], "find the latest news"), [] as [&str; 0], "only what is enabled");
}

/// K-11: a URL in the text can be required or ruled out, and its own words do not count.
#[test]
fn urls_decide_and_do_not_count_as_words() {
    assert_eq!(capabilities(ALL, "read this article"), [] as [&str; 0]);
    assert_eq!(capabilities(ALL, "read https://example.com/x"), ["research.fetch"]);
    assert_eq!(capabilities(ALL, "the latest news on https://example.com/x"), [] as [&str; 0]);
    assert_eq!(capabilities(ALL, "https://example.com/read/screenshot.pdf"), [] as [&str; 0]);
}

/// K-11, W2-4: substrings of other words, identifiers and denied words are no matches.
#[test]
fn words_inside_words_do_not_match() {
    for query in [
        "already in the thread about bread https://example.com",
        "our homepage is https://example.com",
        "the blinking light, see https://example.com",
        "hurl and curly https://example.com",
        "resend it",
        "there is no update",
        "no latest news, please",
        "do not send anything",
        "don't send it, without any screenshots",
        "crypttool and ptt",
        "newsletter",
        "the message_queue and imagery",
        "不要发送任何东西",
        "别截图",
    ] {
        assert_eq!(capabilities(ALL, query), [] as [&str; 0], "{query}");
    }
}

/// K-11: any language, with what matched where in UTF-16 units.
#[test]
fn matches_say_what_and_where() {
    let found = suggested(ALL, "😀请查一下最新的新闻，然后发送截图给我");
    let spans: Vec<_> =
        found.iter().flat_map(|s| &s.matches).map(|m| (m.text.as_str(), m.span.start, m.span.end)).collect();
    assert!(spans.contains(&("最新", 6, 8)) && spans.contains(&("新闻", 9, 11)), "{spans:?}");
    let named: Vec<&str> = found.iter().map(|s| s.capability.as_str()).collect();
    assert_eq!(named, ["browser.capture", "delivery.message", "delivery.media", "research.search", "research.fetch"]);
    assert_eq!(found[4].along_with.as_deref(), Some("research.search"));

    let english = suggested(&["manage_connectors"], "A voice-note, PLEASE");
    assert_eq!(english[0].matches[0].pattern, "voice note");
    assert_eq!(english[0].matches[0].span, Span { start: 2, end: 12 });
    assert_eq!(capabilities(&["manage_connectors"], "ＳＥＮＤ it"), ["delivery.message"], "full width");

    let own = RequestMatcher {
        capability: "memory.search".into(),
        patterns: vec!["weißt du noch".into(), "记".into()],
        ..Default::default()
    };
    let settings = CapabilitySettings { suggest: true, matchers: vec![own], ..enabling(&["memory"]) };
    let view = view(&settings, &Catalog::default());
    let suggest = |query| matchers::suggest(&settings, &view, query, |_| true).len();
    assert_eq!((suggest("Weißt du noch, wie es hieß?"), suggest("weißt du nochmals"), suggest("记得吗")), (1, 0, 0));
}

/// K-11: a suggestion names only tools that are seen, and a capability without one is not suggested.
#[test]
fn suggestions_widen_nothing() {
    let settings = CapabilitySettings { suggest: true, ..enabling(ALL) };
    let view = view(&settings, &Catalog::default());
    assert!(matchers::suggest(&settings, &view, "send the latest news", |_| false).is_empty());
    let only = matchers::suggest(&settings, &view, "send the latest news", |tool| tool == "web_search");
    assert_eq!(only.iter().flat_map(|s| &s.tools).collect::<Vec<_>>(), ["web_search"]);
    assert!(!Settings::default().capabilities.suggest, "off until somebody wants it");
}

/// K-10: each line of the prompt with its tool, its number and its cost; repeats once, doubts told.
#[test]
fn guidance_has_a_source_a_price_and_doubts() {
    let says =
        |name: &str, lines: &[&str]| ToolSpec { guidance: lines.iter().map(|l| l.to_string()).collect(), ..tool(name) };
    let catalog = catalog(vec![
        says("a", &["Always search the archive before the web.", "Use `hidden_tool` for the rest."]),
        says("b", &["Always search the archive before the web.", "Never search the archive before the web."]),
        says("c", &[" ", "search the archive before the web!", "Then call the `gone_tool` tool with `limit=5`."]),
        says("hidden_tool", &["Nobody may read this."]),
        tool("web_search"),
    ]);
    let settings = enabling(&["web_search"]);
    let view = view(&settings, &catalog);
    let shown = |spec: &ToolSpec| spec.name != "hidden_tool";
    let guidance = Guidance::of(&view, catalog.iter().filter(|e| shown(&e.spec)));
    let report = guidance.report(&catalog, &Tiktoken::named("o200k_base"), shown);
    let line = |n: usize| &report.lines[n - 1];

    assert_eq!((line(1).tools.as_slice(), line(1).index), (&["a".to_string(), "b".into()][..], 1));
    assert_eq!((line(3).tools[0].as_str(), line(3).index, line(3).contradicts.as_slice()), ("b", 2, &[1][..]));
    assert_eq!((line(4).repeats, line(4).index), (Some(1), 2));
    assert_eq!(line(2).names_hidden, ["hidden_tool"]);
    assert_eq!((line(5).names_absent.as_slice(), line(5).names_hidden.len()), (&["gone_tool".to_string()][..], 0));
    assert_eq!(report.lines.len(), 7, "two lines of the core for web_search");
    assert_eq!(report.tokens, report.lines.iter().map(|l| l.tokens).sum::<u32>());
    assert!(report.lines.iter().all(|l| l.tokens > 3));
    let section = guidance.section();
    assert!(!section.contains("Nobody may read this"), "guidance of hidden tools stays out");
    assert_eq!(section.matches("Always search the archive").count(), 1);
}

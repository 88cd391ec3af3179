//! The main job of the window, from the first start to a restart.

use crate::support::App;

const CONTROL: &str = "\u{E009}";
const ENTER: &str = "\u{E007}";
const F5: &str = "\u{E035}";

/// W-10, W-03, W-01, V-05, K-05, O-10: first start → sample → plan the failing query → four drops with reasons → edit
/// a classification → graph and tokens change → run → results → restart → the run is still there.
#[test]
fn from_first_start_to_restart() {
    let home = tempfile::tempdir().unwrap();
    {
        let app = App::launch(home.path());
        app.click("start-0");
        for tool in ["grep_search", "jira_fetch", "confluence_fetch", "web_fetch"] {
            let call = format!("[data-testid=\"guard-call-{tool}\"][data-outcome=\"dropped\"]");
            app.find(&call);
            assert!(app.text(&call).contains("suggests only vector_search"), "{tool}: {}", app.text(&call));
        }
        app.find("[data-testid=\"guard-call-vector_search\"][data-outcome=\"kept\"]");
        app.find(&App::id("step-step-1"));

        let visible = || app.text(&App::id("tokens-visible-REASONING"));
        app.click("tab-tokens");
        let before = visible();
        app.click("rail-catalog");
        app.click("catalog-row-vector_search");
        app.choose("field-classification", "DESTRUCTIVE");
        app.wait_text("changes-chip", |t| t.chars().any(|c| c.is_ascii_digit()));
        app.click("rail-plan");
        app.find("[data-testid=\"guard-call-vector_search\"][data-outcome=\"dropped\"]");
        app.click("tab-tokens");
        assert_ne!(visible(), before, "a hidden tool leaves the prompt");
        assert!(!app.has(&App::id("step-step-1")), "the only step is gone");

        app.click("rail-catalog");
        app.click("catalog-row-vector_search");
        app.choose("field-classification", "SAFE");
        app.click("rail-plan");
        app.find(&App::id("step-step-1"));
        app.press(&[F5]);
        app.find("[data-testid=\"step-status-step-1\"][data-status=\"succeeded\"]");
        app.click("rail-runs");
        app.find("[data-testid=\"run-row-1\"][data-outcome-of-run=\"succeeded\"]");
    }
    let app = App::launch(home.path());
    app.click("rail-runs");
    app.find("[data-testid=\"run-row-1\"][data-outcome-of-run=\"succeeded\"]");
    let row = app.script("return document.querySelector('[data-testid=\"run-row-1\"]').textContent");
    assert!(row.as_str().is_some_and(|t| t.contains("Introduction里面没写什么？")), "{row}");
    app.click("run-row-1");
    app.find(&App::id("step-step-1"));
    let end = app.wait_text("event-position", |t| t.contains("of"));
    app.click("event-first");
    app.wait_text("event-position", |t| t != end);
}

/// The keyboard: Ctrl+Enter plans what is typed; an empty query says what is wrong and what to do.
#[test]
fn a_typed_query_is_planned_from_the_keyboard() {
    let home = tempfile::tempdir().unwrap();
    let app = App::launch(home.path());
    app.fill("query-input", "Compare the retry policy and the timeout policy");
    app.press(&[CONTROL, ENTER]);
    app.find(&App::id("step-step-3"));
    app.press(&[F5]);
    app.find("[data-testid=\"step-status-step-3\"][data-status=\"succeeded\"]");
}

/// S-01: the webview may call the commands of `permissions/app.toml` and no others.
#[test]
fn other_commands_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let app = App::launch(home.path());
    let refused = app.promise("window.__TAURI_INTERNALS__.invoke('plugin:shell|execute', {program: 'sh'})");
    assert!(refused["err"].as_str().is_some_and(|e| e.contains("not")), "{refused}");
    let unknown = app.promise("window.__TAURI_INTERNALS__.invoke('format_disk')");
    assert!(unknown["err"].is_string(), "{unknown}");
}

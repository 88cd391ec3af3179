//! Pictures of every view of the real window for `docs/images/`, taken by `make images`.

use crate::support::App;
use serde_json::json;
use std::path::PathBuf;

const ESCAPE: &str = "\u{E00C}";
const F5: &str = "\u{E035}";
const F9: &str = "\u{E039}";

/// Walks through the sample and pictures each view, light and dark, at two sizes. Runs only when asked, because it
/// writes into the repository.
#[test]
fn picture_every_view() {
    let Some(folder) = std::env::var_os("TOOLPLAN_IMAGES").map(PathBuf::from) else { return };
    std::fs::create_dir_all(&folder).unwrap();
    let home = tempfile::tempdir().unwrap();
    let app = App::launch(home.path());
    // Two frames: the layout settles, then it is painted.
    let settled = || {
        app.promise("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(r, 250))))");
    };
    let picture = |name: &str| {
        for theme in ["light", "dark"] {
            app.script(&format!("document.documentElement.dataset.theme = '{theme}'"));
            for (width, height) in [(1280, 800), (1920, 1080)] {
                app.resize(width, height);
                settled();
                app.screenshot(&folder.join(format!("{name}-{theme}-{width}.png")));
            }
        }
        app.resize(1280, 800);
        settled();
    };
    picture("start");
    app.click("start-0");
    app.find(&App::id("step-step-1"));
    picture("guard");
    app.click("tab-tokens");
    picture("tokens");
    app.click("tab-funnel");
    picture("funnel");
    app.click("samples-menu");
    app.click("sample-1");
    app.find(&App::id("step-step-3"));
    app.click("tab-events");
    app.press(&[F5]);
    app.find("[data-testid=\"step-status-step-3\"][data-status=\"succeeded\"]");
    app.click("step-step-3");
    picture("plan");
    app.click("rail-catalog");
    app.click("catalog-row-jira_transition");
    app.find(&App::id("inspector"));
    picture("catalog");
    // The inspector would stand in every later picture.
    app.press(&[ESCAPE]);
    app.click("page-tab-lints");
    app.find(&App::id("lint-list"));
    picture("lints");
    app.click("rail-visibility");
    app.find(&App::id("visible-count-REASONING"));
    picture("visibility");
    app.click("page-tab-session");
    app.find(&App::id("session-now"));
    picture("session");
    app.click("rail-discovery");
    app.fill("lab-query", "purge failed jobs");
    app.find(&App::id("lab-columns"));
    picture("lab");
    app.click("rail-capabilities");
    app.find(&App::id("extension-add"));
    picture("capabilities");
    app.click("rail-runs");
    app.click("run-row-1");
    app.find(&App::id("event-slider"));
    app.click("event-back");
    picture("run");
    app.click("event-back");
    app.click("event-back");
    app.click("run-tab-tools");
    app.click("then-combine_results");
    app.find(&App::id("tool-then"));
    picture("past");
    app.click("run-tab-timeline");
    app.find(&App::id("timeline-summary"));
    picture("timeline");
    app.click("rail-plan");
    app.click("step-step-2");
    app.press(&[F9]);
    app.press(&[F5]);
    app.find("[data-testid=\"pause-banner\"][data-reason=\"breakpoint\"]");
    picture("paused");
    app.press(&[F5]);
    app.find("[data-testid=\"step-status-step-3\"][data-status=\"succeeded\"]");
    app.press(&[F9]);
    app.click("rail-runs");
    app.click("run-row-2");
    app.find("[data-testid=\"run-outcome\"][data-outcome-of-run=\"succeeded\"]");
    app.click("run-fork");
    app.choose("fork-step", "step-1");
    app.write_json("fork-arguments", &json!({"query": "how often a job is tried again", "top_k": 1}));
    app.click("fork-policy");
    app.choose("policy-source-vector_search", "live");
    app.choose("policy-source-combine_results", "live");
    picture("fork");
    app.click("fork-start");
    app.find(&App::id("compare-divergence"));
    picture("compare");
    app.click("rail-settings");
    picture("settings");
    app.click("rail-plan");
    app.fill("query-input", " ");
    app.script("document.querySelector('[data-testid=\"plan-button\"]').click()");
    picture("problem");
}

//! Pictures of every view of the real window for `docs/images/`, taken by `make images`.

use crate::support::App;
use std::path::PathBuf;

const F5: &str = "\u{E035}";

/// Walks through the sample and pictures each view, light and dark, at two sizes. Runs only when asked, because it
/// writes into the repository.
#[test]
fn picture_every_view() {
    let Some(folder) = std::env::var_os("TOOLPLAN_IMAGES").map(PathBuf::from) else { return };
    std::fs::create_dir_all(&folder).unwrap();
    let home = tempfile::tempdir().unwrap();
    let app = App::launch(home.path());
    let picture = |name: &str| {
        for theme in ["light", "dark"] {
            app.script(&format!("document.documentElement.dataset.theme = '{theme}'"));
            for (width, height) in [(1280, 800), (1920, 1080)] {
                app.resize(width, height);
                // Two frames: the layout settles, then it is painted.
                app.promise(
                    "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(r, 250))))",
                );
                app.screenshot(&folder.join(format!("{name}-{theme}-{width}.png")));
            }
        }
        app.resize(1280, 800);
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
    app.click("rail-visibility");
    app.find(&App::id("visible-count-REASONING"));
    picture("visibility");
    app.click("rail-runs");
    app.click("run-row-1");
    app.find(&App::id("event-slider"));
    app.click("event-back");
    picture("run");
    app.click("rail-settings");
    picture("settings");
    app.click("rail-plan");
    app.fill("query-input", " ");
    app.script("document.querySelector('[data-testid=\"plan-button\"]').click()");
    picture("problem");
}

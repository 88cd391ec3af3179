//! Debugging in the window: stop before a step, change it, fork what ran, compare; and a plan of a thousand steps.

use crate::support::App;
use serde_json::{Value, json};
use std::{path::Path, sync::Arc};
use toolplan_workbench::{
    Options, Workbench,
    engine::{plan::PlanSpec, request::Request, run::RunOutcome},
};

const CONTROL: &str = "\u{E009}";
const ENTER: &str = "\u{E007}";
const F5: &str = "\u{E035}";
const F9: &str = "\u{E039}";

/// O-07, W-05, R-05, R-06: F9 before a step, F5 until there, other arguments for it, F5 to the end; then a fork from
/// the first stage with one change, and where the two runs part.
#[test]
fn break_change_fork_and_compare() {
    let home = tempfile::tempdir().unwrap();
    let app = App::launch(home.path());
    app.fill("query-input", "Compare the retry policy and the timeout policy");
    app.press(&[CONTROL, ENTER]);
    app.find(&App::id("step-step-3"));
    app.click("step-step-2");
    app.press(&[F9]);
    app.find("[data-testid=\"step-step-2\"] [data-breakpoint=\"on\"]");
    app.press(&[F5]);
    app.find("[data-testid=\"pause-banner\"][data-reason=\"breakpoint\"]");
    let banner = app.wait_text("pause-banner", |t| t.contains("before step-2"));
    assert!(banner.contains("Paused"), "{banner}");
    assert!(!app.has("[data-testid=\"step-status-step-2\"][data-status=\"succeeded\"]"), "it has not run");

    app.click("step-edit-arguments");
    app.write_json("edit-arguments", &json!({"query": "visibility timeout of a queue", "top_k": 2}));
    app.click("edit-save");
    app.find("[data-testid=\"step-step-2\"] .mark-rewritten");
    app.press(&[F5]);
    app.find("[data-testid=\"step-status-step-3\"][data-status=\"succeeded\"]");
    app.find("[data-testid=\"step-status-step-2\"][data-status=\"succeeded\"]");
    assert!(!app.has(&App::id("pause-banner")), "nothing waits any more");

    app.click("rail-runs");
    app.click("run-row-1");
    app.find("[data-testid=\"run-outcome\"][data-outcome-of-run=\"succeeded\"]");
    app.click("step-step-2");
    app.wait_text("inspector", |t| t.contains("visibility timeout of a queue"));
    app.click("run-fork");
    app.choose("fork-step", "step-1");
    app.write_json("fork-arguments", &json!({"query": "how often a job is tried again", "top_k": 1}));
    // Other arguments have no recorded answer, and neither has what is made of theirs.
    app.click("fork-policy");
    app.choose("policy-source-vector_search", "live");
    app.choose("policy-source-combine_results", "live");
    app.click("fork-start");
    app.find("[data-testid=\"run-row-2\"][data-outcome-of-run=\"succeeded\"]");
    app.wait_text("origin-banner", |t| t.contains("Fork of run 1"));
    let parted = app.wait_text("compare-divergence", |t| t.contains("step-1"));
    assert!(parted.contains("They part at call 1"), "{parted}");
    app.find("[data-testid=\"compare-step-1\"][data-first=\"true\"]");
    assert!(app.text(&App::id("compare")).contains("how often a job is tried again"));
}

/// W-01: a run of a thousand steps opens, is a thousand rows as a table, and its picture pans.
#[test]
fn a_thousand_steps_open_and_pan() {
    let home = tempfile::tempdir().unwrap();
    run_a_thousand(&home.path().join("toolplan"));
    let app = App::launch(home.path());
    app.click("rail-runs");
    app.find("[data-testid=\"run-row-1\"][data-outcome-of-run=\"succeeded\"]");
    assert!(app.text(&App::id("run-row-1")).contains("1,000 of 1,000 steps"), "{}", app.text(&App::id("run-row-1")));
    app.click("run-row-1");
    app.find("[data-testid=\"stage-graph\"][data-ready] canvas");
    let label = app.script("return document.querySelector('[data-testid=\"stage-graph\"]').ariaLabel");
    assert!(label.as_str().is_some_and(|l| l.contains("1,000 steps in 20 stages")), "{label}");

    let transform = || app.script("return document.querySelector('.react-flow__viewport').style.transform");
    let before = transform();
    app.script(
        "window.frames_ms = []; let last = performance.now(); \
         const tick = now => { window.frames_ms.push(now - last); last = now; requestAnimationFrame(tick) }; \
         requestAnimationFrame(tick)",
    );
    app.drag(&App::id("stage-graph"), (180, -60), 60);
    let frames = app.script("return window.frames_ms");
    assert_ne!(transform(), before, "the picture follows the mouse");
    println!("frames while panning a thousand steps: {}", summary(&frames));

    app.press(&["t"]);
    app.find("[role=\"grid\"][aria-label=\"Steps\"][aria-rowcount=\"1000\"]");
    app.find("[data-testid=\"step-status-s0\"][data-status=\"succeeded\"]");
}

/// Plans and runs 20 stages of 50 steps with a tool that only reads, in the database that the window opens next.
fn run_a_thousand(home: &Path) {
    let steps: Vec<Value> = (0..1000)
        .map(|n| {
            let after: Vec<String> = (n >= 50).then(|| format!("s{}", n - 50)).into_iter().collect();
            json!({"id": format!("s{n}"), "tool": "read_file", "arguments": {"file_path": "docs/en/guide/retries.md"}, "dependencies": after})
        })
        .collect();
    let spec: PlanSpec = serde_json::from_value(json!({"steps": steps})).unwrap();
    let home = home.display().to_string();
    let environment = Arc::new(move |name: &str| (name == "TOOLPLAN_HOME").then(|| home.clone()));
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let workbench = Workbench::open(Options { folder: None, environment }).await.unwrap();
        let request = Request { query: "Read docs/en/guide/retries.md a thousand times".into(), ..Request::default() };
        let view = workbench.plan_from(request, spec).unwrap();
        assert_eq!(view.planning.findings, [], "the plan is whole");
        let run = workbench.start_run(view.id).await.unwrap();
        let state = workbench.wait_run(run).await.unwrap();
        assert_eq!(state.outcome, Some(RunOutcome::Succeeded));
    });
}

fn summary(frames: &Value) -> String {
    let mut ms: Vec<f64> = frames.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    ms.sort_by(f64::total_cmp);
    let at = |part: f64| ms.get(((ms.len() as f64 - 1.0) * part) as usize).copied().unwrap_or(f64::NAN);
    format!("{} frames, p50 {:.1} ms, p95 {:.1} ms, most {:.1} ms", ms.len(), at(0.5), at(0.95), at(1.0))
}

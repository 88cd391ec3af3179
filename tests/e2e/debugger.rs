//! Debugging in the window: stop before a step, change it, fork what ran, compare; and a plan of a thousand steps.

use crate::support::App;
use serde_json::{Value, json};
use std::{path::Path, sync::Arc};
use toolplan_workbench::{
    Options, Workbench,
    engine::{plan::PlanSpec, request::Request, run::RunOutcome, tool::ToolSpec},
};

const CONTROL: &str = "\u{E009}";
const ENTER: &str = "\u{E007}";
const F5: &str = "\u{E035}";
const SHIFT: &str = "\u{E008}";
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
    // Other arguments have no recorded answer: it is told before that the tool itself is called.
    app.find("[data-testid=\"fork-call-step-1\"][data-answerer=\"tool\"]");
    app.wait_text("fork-call-step-1", |t| t.contains("vector_search is called"));
    app.click("fork-start");
    app.find("[data-testid=\"run-row-2\"][data-outcome-of-run=\"succeeded\"]");
    app.wait_text("origin-banner", |t| t.contains("Fork of run 1"));
    let parted = app.wait_text("compare-divergence", |t| t.contains("step-1"));
    assert!(parted.contains("They part at call 1"), "{parted}");
    app.find("[data-testid=\"compare-step-1\"][data-first=\"true\"]");
    assert!(app.text(&App::id("compare")).contains("how often a job is tried again"));
}

/// R-04, W-06: an early event of a run shows the guard's calls, the tokens and the catalog as they were then, marked and
/// read only; back at the end they are those of the end. The same in the plan view, for the run of its plan.
#[test]
fn an_instant_shows_verdicts_tokens_and_catalog() {
    let home = tempfile::tempdir().unwrap();
    run_with_discovery(&home.path().join("toolplan"));
    let app = App::launch(home.path());
    app.click("rail-runs");
    app.click("run-row-1");
    app.find("[data-testid=\"run-outcome\"][data-outcome-of-run=\"succeeded\"]");
    let rule = || app.script("return document.querySelector('[data-testid=\"then-verdict-late\"]')?.dataset.rule");
    let visible = || app.text(&App::id("tokens-visible-REQUEST"));
    let status = |status: &str| app.find(&format!("[data-testid=\"then-status-late\"][data-status=\"{status}\"]"));

    app.click("run-tab-tools");
    app.wait_text("then-status-late", |t| t.contains("Succeeded") && t.contains("activated"));
    assert_eq!((rule(), app.text(&App::id("then-calls-late"))), (json!("executed.succeeded"), "1".into()));
    app.click("run-tab-tokens");
    let at_the_end = visible();

    app.click("event-first");
    app.find("[data-testid=\"past-note\"][data-past]");
    app.wait_text("past-note", |t| t.contains("Run 1, event 1 of") && t.contains("read only"));
    let at_the_start = visible();
    let number = |text: &str| text.replace(',', "").parse::<u32>().unwrap();
    assert!(number(&at_the_start) < number(&at_the_end), "late is not in the prompt yet: {at_the_start}, {at_the_end}");
    app.click("run-tab-tools");
    status("pending");
    assert!(!app.text(&App::id("then-status-late")).contains("activated"));
    assert_ne!(rule(), json!("executed.succeeded"));
    assert_eq!(app.text(&App::id("then-calls-late")), "0");
    app.click("then-late");
    app.find("[data-testid=\"tool-then-status\"][data-status=\"pending\"]");
    assert!(!app.has("[data-testid=\"tool-then\"] input"), "nothing of the past can be edited");

    app.click("back-to-live");
    status("succeeded");
    app.find("[data-testid=\"tool-then-status\"][data-status=\"succeeded\"]");
    assert!(!app.has("[data-testid=\"past-note\"][data-past]"));
    app.click("run-tab-tokens");
    app.wait_text("tokens-visible-REQUEST", |t| t == at_the_end);

    app.click("rail-plan");
    app.fill("query-input", "Compare the retry policy and the timeout policy");
    app.press(&[CONTROL, ENTER]);
    app.find(&App::id("step-step-3"));
    app.press(&[F5]);
    app.find("[data-testid=\"step-status-step-3\"][data-status=\"succeeded\"]");
    let fate = |status: &str| format!("[data-testid=\"guard-fate-combine_results\"][data-status=\"{status}\"]");
    app.find(&fate("succeeded"));
    app.click("event-first");
    app.find(&fate("pending"));
    app.find("[data-testid=\"step-status-step-3\"][data-status=\"pending\"]");
    app.click("tab-tools");
    app.fill("then-find", "combine_results");
    app.find("[data-testid=\"then-status-combine_results\"][data-status=\"pending\"]");
    app.click("back-to-live");
    app.find(&fate("succeeded"));
    app.find("[data-testid=\"then-status-combine_results\"][data-status=\"succeeded\"]");
}

/// O-07, O-12, W-05: a run stops at every kind of breakpoint that is typed, faults strike while they are on, and a watched
/// value follows the scrubber.
#[test]
fn breakpoints_faults_and_watches() {
    let home = tempfile::tempdir().unwrap();
    let app = App::launch(home.path());
    let plan = |query: &str, step: &str| {
        app.click("rail-plan");
        app.fill("query-input", query);
        app.press(&[CONTROL, ENTER]);
        app.find(&App::id(step));
        app.click("tab-debug");
    };
    let stops = |text: &str, banner: &str| {
        app.fill("breakpoint-input", text);
        app.press(&[ENTER]);
        app.find(&App::id("breakpoint-1"));
        app.press(&[F5]);
        app.find("[data-testid=\"pause-banner\"][data-reason=\"breakpoint\"]");
        app.wait_text("pause-banner", |t| t.contains(banner));
        app.script("document.querySelector('[data-testid=\"breakpoint-1\"] .icon-button').click()");
        app.press(&[SHIFT, F5]);
        app.find("[data-testid=\"run-outcome\"][data-outcome-of-run=\"cancelled\"]");
        app.click("plan-button");
        app.find(&App::id("run-button"));
        assert!(!app.has(&App::id("pause-banner")));
    };
    plan("Compare the retry policy and the timeout policy", "step-step-3");
    stops("step:step-1:after", "after step-1");
    stops("tool:combine_results", "before any call of combine_results");
    stops("arguments /query contains \"timeout\"", "the arguments of any step: /query contains \"timeout\"");
    stops("result:step-1 /hits exists", "the result of step-1: /hits exists");

    app.click("add-fault");
    app.choose("fault-of-0", "step:step-1");
    app.choose("fault-kind-0", "delay");
    stops("duration>400", "an attempt longer than 400 ms");
    app.choose("fault-kind-0", "error");
    stops("error:transient", "a failure: transient");
    // Off, it strikes no more: the run goes through.
    app.script("document.querySelector('[data-testid=\"fault-0\"] input[type=checkbox]').click()");
    app.fill("watch-input", "step-3");
    app.press(&[ENTER]);
    app.wait_text("watch-step-3", |t| t.contains("no result yet"));
    app.press(&[F5]);
    app.find("[data-testid=\"step-status-step-3\"][data-status=\"succeeded\"]");
    app.wait_text("watch-step-3", |t| !t.contains("no result yet"));
    app.click("event-first");
    app.wait_text("watch-step-3", |t| t.contains("no result yet"));
    app.click("back-to-live");
    app.wait_text("watch-step-3", |t| !t.contains("no result yet"));

    app.click("samples-menu");
    app.click("sample-0");
    app.find("[data-testid=\"guard-call-grep_search\"][data-outcome=\"dropped\"]");
    stops("guard", "a drop by the guard");
}

/// W-12: the import of a long run tells how far it is; called off, nothing of it is there.
#[test]
fn an_import_is_called_off() {
    let home = tempfile::tempdir().unwrap();
    let app = App::launch(home.path());
    app.click("start-0");
    app.find(&App::id("step-step-1"));
    app.press(&[F5]);
    app.find("[data-testid=\"step-status-step-1\"][data-status=\"succeeded\"]");
    app.click("rail-runs");
    app.click("run-row-1");
    app.click("run-export");
    let exported = app.wait_text("exported", |t| t.contains("events written to"));
    let short = std::fs::read_to_string(exported.split("written to ").last().unwrap().trim()).unwrap();
    let lines: Vec<&str> = short.lines().collect();
    let started = lines.iter().position(|l| l.contains("\"type\":\"started\"")).unwrap();
    let header = lines[0].replacen("\"uid\":\"", "\"uid\":\"long", 1);
    let mut long = [&[header.as_str()], &lines[1..=started]].concat().join("\n") + "\n";
    for seq in started + 1..300_000 {
        let event = json!({"type": "retry_scheduled", "step": "step-1", "attempt": seq, "delay_ms": 5});
        long.push_str(&format!("{{\"seq\":{seq},\"at_ms\":1700000000000,\"event\":{event}}}\n"));
    }
    let path = home.path().join("long.jsonl");
    std::fs::write(&path, long).unwrap();
    app.click("import-runs");
    app.fill("import-path", &path.display().to_string());
    app.click("import-start");
    app.wait_text("work", |t| t.contains("Importing long.jsonl") && t.contains(" of "));
    // The status bar has one too, behind the dialog.
    app.script("document.querySelector('[data-testid=\"import-dialog\"] [data-testid=\"work-cancel\"]').click()");
    app.wait_text("import-dialog", |t| t.contains("was called off"));
    assert!(!app.has(&App::id("run-row-2")), "half a run is no run");
}

/// A run in the database that the window opens next: it looks for tools, and calls one that is deferred.
fn run_with_discovery(home: &Path) {
    let steps = json!([
        {"id": "step-1", "tool": "tool_search", "arguments": {"query": "late"}},
        {"id": "step-2", "tool": "late", "arguments": {}, "dependencies": ["step-1"]},
    ]);
    let spec: PlanSpec = serde_json::from_value(json!({"steps": steps})).unwrap();
    let late: ToolSpec = serde_json::from_value(json!({
        "name": "late", "description": "Answers late", "parameters": {"type": "object"}, "group": "search",
        "classification": "SAFE",
        "loading": "deferred", "binding": {"kind": "mock", "result": {"v": 1}, "delay_ms": 1},
    }))
    .unwrap();
    with_workbench(home, async |workbench| {
        let mut settings = workbench.info().settings;
        settings.discovery.enabled = true;
        workbench.save_settings(settings).unwrap();
        workbench.register_tools(vec![late], "test").unwrap();
        let request = Request { query: "Find a tool that answers late and call it".into(), ..Request::default() };
        run_plan(&workbench, request, spec).await;
    });
}

fn with_workbench(home: &Path, act: impl AsyncFnOnce(Workbench)) {
    let home = home.display().to_string();
    let environment = Arc::new(move |name: &str| (name == "TOOLPLAN_HOME").then(|| home.clone()));
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        act(Workbench::open(Options { folder: None, environment }).await.unwrap()).await;
    });
}

async fn run_plan(workbench: &Workbench, request: Request, spec: PlanSpec) {
    let view = workbench.plan_from(request, spec).unwrap();
    assert_eq!(view.planning.findings, [], "the plan is whole");
    let run = workbench.start_run(view.id).await.unwrap();
    let state = workbench.wait_run(run).await.unwrap();
    assert_eq!(state.outcome, Some(RunOutcome::Succeeded), "{:#?}", state.steps);
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
    with_workbench(home, async |workbench| {
        let request = Request { query: "Read docs/en/guide/retries.md a thousand times".into(), ..Request::default() };
        run_plan(&workbench, request, spec).await;
    });
}

fn summary(frames: &Value) -> String {
    let mut ms: Vec<f64> = frames.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    ms.sort_by(f64::total_cmp);
    let at = |part: f64| ms.get(((ms.len() as f64 - 1.0) * part) as usize).copied().unwrap_or(f64::NAN);
    format!("{} frames, p50 {:.1} ms, p95 {:.1} ms, most {:.1} ms", ms.len(), at(0.5), at(0.95), at(1.0))
}

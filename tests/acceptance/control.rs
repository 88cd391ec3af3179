//! A person at a real run, over a real journal: breakpoints, edits, interruptions, cached results.

use crate::bench::{self, Bench, asking, mock, open};
use serde_json::json;
use toolplan_workbench::{
    SettingSource, Workbench,
    engine::{
        plan::{PlanSpec, StepSpec},
        run::{Breakpoint, Go, RunId, RunOptions, RunOutcome, StepStatus},
        tool::{SideEffects, ToolSpec},
    },
};

fn step(id: &str, tool: &str, after: &[&str]) -> StepSpec {
    bench::step(id, tool, json!({}), after)
}

fn plan(workbench: &Workbench, steps: Vec<StepSpec>) -> u32 {
    workbench.plan_from(asking("x"), PlanSpec { steps, ..Default::default() }).unwrap().id
}

async fn until_paused(workbench: &Workbench, run: RunId) {
    while workbench.run_control_state(run).unwrap().paused.is_none() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

/// O-07, W-02, W-05: a breakpoint pauses the run, a result is given by hand, the run goes on, and its timeline says where
/// the time went.
#[tokio::test]
async fn a_run_is_debugged() {
    let bench = Bench::sample().await;
    let w = &bench.workbench;
    w.register_tools(vec![mock("fine", json!({"n": 1}), 20)], "test").unwrap();
    let id = plan(w, vec![step("a", "fine", &[]), step("b", "fine", &["a"]), step("c", "fine", &["b"])]);
    let breakpoint = Breakpoint { id: 1, on: toolplan_workbench::parse_breakpoint("step:b").unwrap(), enabled: true };
    let options = RunOptions { breakpoints: vec![breakpoint], ..Default::default() };
    let run = w.start_run_with(id, options).await.unwrap();
    until_paused(w, run).await;
    let state = w.run_control_state(run).unwrap();
    assert_eq!((state.live, state.resumable, state.queue), (true, false, vec!["b".to_string()]));
    assert_eq!(w.edit_result(run, "nobody".into(), json!(1)).await.unwrap_err().code, "run.unknown_step");
    w.edit_result(run, "b".into(), json!({"n": 2})).await.unwrap();
    w.step_run(run, Go::Continue).await.unwrap();
    let state = w.wait_run(run).await.unwrap();
    assert_eq!(state.outcome, Some(RunOutcome::Succeeded));
    assert_eq!((state.steps["b"].attempts.len(), state.steps["b"].edited_result), (0, true));
    let timeline = w.run_timeline(run).unwrap();
    assert_eq!(timeline.critical_path.last().map(String::as_str), Some("c"));
    assert!(timeline.sum_ms >= 40.0 && timeline.wall_ms >= timeline.critical_path_ms, "{timeline:?}");
    assert_eq!(w.pause_run(run).await.unwrap_err().code, "run.not_live");
    assert_eq!(w.resume_run(run, vec![], false).await.unwrap_err().code, "run.ended");
    let texts: Vec<String> = w.open_run(run).unwrap().events.into_iter().map(|e| e.text).collect();
    assert!(texts.iter().any(|t| t == "Attempt 1 hits the breakpoint step:b"), "{texts:?}");
}

/// O-10: a run whose process is gone opens as interrupted and goes on: the harmless call is made again, the other only
/// when a person confirms it.
#[test]
fn an_interrupted_run_goes_on_after_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let tool = |name: &str, side_effects| ToolSpec { side_effects, ..mock(name, json!(1), 60_000) };
    let first = runtime();
    let run = first.block_on(async {
        let w = open(home.path().into(), &[], None).await.unwrap();
        let tools =
            vec![tool("reads", SideEffects::Read), tool("writes", SideEffects::Write), mock("fine", json!(1), 0)];
        w.register_tools(tools, "test").unwrap();
        let id = plan(&w, vec![step("r", "reads", &[]), step("w", "writes", &[]), step("f", "fine", &["r", "w"])]);
        let run = w.start_run(id).await.unwrap();
        while w.run_at(run, u32::MAX).unwrap().state.steps.values().filter(|s| s.is_in_flight()).count() < 2 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        run
    });
    // Everything that was at work is gone, as when the process dies.
    first.shutdown_timeout(std::time::Duration::from_secs(5));

    runtime().block_on(async {
        let w = open(home.path().into(), &[], None).await.unwrap();
        assert_eq!(w.runs().unwrap()[0].outcome, Some(RunOutcome::Interrupted));
        let state = w.run_control_state(run).unwrap();
        assert_eq!((state.live, state.resumable, state.unconfirmed), (false, true, vec!["w".to_string()]));
        let quick = |name, effects| ToolSpec { side_effects: effects, ..mock(name, json!(2), 0) };
        w.register_tools(vec![quick("reads", SideEffects::Read), quick("writes", SideEffects::Write)], "test").unwrap();
        w.resume_run(run, vec![], false).await.unwrap();
        until_paused(&w, run).await;
        w.retry_step(run, "w".into()).await.unwrap();
        w.step_run(run, Go::Continue).await.unwrap();
        let state = w.wait_run(run).await.unwrap();
        assert_eq!(state.outcome, Some(RunOutcome::Succeeded));
        assert_eq!((state.steps["r"].attempts.len(), state.steps["w"].attempts.len()), (2, 2));
        assert!(state.steps["w"].attempts[0].unknown);
        assert_eq!(w.runs().unwrap()[0].outcome, Some(RunOutcome::Succeeded));
    });
}

/// O-08, K-03: a second run is answered from the cache, and its hits are no calls; a run can do without.
#[tokio::test]
async fn results_are_kept_for_the_next_run() {
    let bench = Bench::sample().await;
    let w = &bench.workbench;
    let kept = ToolSpec { side_effects: SideEffects::Read, ..mock("kept", json!(1), 30) };
    w.register_tools(vec![kept], "test").unwrap();
    let id = plan(w, vec![step("a", "kept", &[]), step("b", "kept", &[])]);
    let cached = async |options: RunOptions| {
        let run = w.start_run_with(id, options).await.unwrap();
        let state = w.wait_run(run).await.unwrap();
        assert!(state.steps.values().all(|s| s.status == StepStatus::Succeeded));
        state.steps.values().filter(|s| s.attempts[0].cached_ms.is_some()).count()
    };
    assert_eq!(cached(RunOptions::default()).await, 1, "two equal calls at the same time are one");
    assert_eq!(cached(RunOptions::default()).await, 2);
    assert_eq!(cached(RunOptions { no_cache: true, ..Default::default() }).await, 0);
    let stats = w.tool("kept", &asking("x"), None).unwrap().stats.unwrap();
    assert_eq!((stats.calls, stats.cache_hits), (3, 3));
}

/// O-13: the environment wins over the workspace, is shown with its name, and is not stored.
#[tokio::test]
async fn the_environment_decides_settings() {
    let bench = Bench::with(&[("TOOL_PARALLEL_LIMIT", "2"), ("TOOL_MAX_RETRIES", "many")]).await;
    let w = &bench.workbench;
    let mut settings = w.info().settings;
    assert_eq!((settings.run.parallel_limit, settings.run.retry.max_retries), (2, 3));
    assert!(w.info().workspace.notices.iter().any(|n| n.message.contains("TOOL_MAX_RETRIES")));
    settings.run.timeout_ms = 9000;
    w.save_settings(settings).unwrap();
    let origins = w.setting_origins();
    let of = |path: &str| {
        let row = origins.iter().find(|r| r.path == path).unwrap();
        (row.value.as_str(), row.source, row.variable.as_deref())
    };
    assert_eq!(of("run.parallel_limit"), ("2", SettingSource::Environment, Some("TOOL_PARALLEL_LIMIT")));
    assert_eq!(of("run.timeout_ms"), ("9000", SettingSource::Workspace, Some("TOOL_DEFAULT_TIMEOUT")));
    assert_eq!(of("run.cache.ttl_s"), ("300", SettingSource::Default, Some("TOOL_RESULT_CACHE_TTL")));
    assert_eq!(of("default_mode"), ("operator", SettingSource::Workspace, None));
    assert_eq!(of("guard.scan_thinking").1, SettingSource::Default);
    assert_eq!(origins.iter().filter(|r| r.variable.is_some()).count(), 9, "every name of source 001");
    let bench = bench.again().await;
    assert_eq!(bench.workbench.info().settings.run.parallel_limit, 5);
}

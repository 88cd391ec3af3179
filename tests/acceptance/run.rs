//! Running plans with the sample's real tools.

use crate::bench::{Bench, asking, mock, step};
use serde_json::json;
use toolplan_workbench::{
    engine::{
        plan::PlanSpec,
        ports::ErrorClass,
        request::{ExecutionState, Planner, Request},
        run::{RunOutcome, RunState, Skip, StepStatus},
        tool::{Binding, Category, Classification, RetryPolicy},
    },
    views::PlanView,
};

async fn run(bench: &Bench, view: &PlanView) -> RunState {
    let run = bench.workbench.start_run(view.id).await.unwrap();
    bench.workbench.wait_run(run).await.unwrap()
}

/// X-01, O-02, P-08, T1-6, T1-10: look-ups in the documents run in parallel and the last step gets both results.
#[tokio::test]
async fn a_comparison_runs_over_real_documents() {
    let bench = Bench::sample().await;
    let view = bench.plan(asking("Compare the retry policy and the timeout policy")).await;
    let state = run(&bench, &view).await;
    assert_eq!(state.outcome, Some(RunOutcome::Succeeded));
    assert_eq!(state.steps.len(), view.planning.plan.steps.len());
    assert!(state.steps.values().all(|s| s.status == StepStatus::Succeeded));
    let combined = state.steps["step-3"].result.as_ref().unwrap();
    assert!(combined.sources.iter().any(|s| s.contains("retries")), "{:?}", combined.sources);
    assert!(combined.sources.iter().any(|s| s.contains("timeouts")), "{:?}", combined.sources);
    let sent = &state.steps["step-3"].attempts[0].arguments["results"];
    assert!(sent[0]["hits"].is_array(), "references are resolved before the call leaves: {sent}");
}

/// X-01, W-10, G-10: ticket, wiki page and web page come from a real server on loopback.
#[tokio::test]
async fn references_are_fetched_over_http() {
    let bench = Bench::sample().await;
    let sample = bench.workbench.info().samples.into_iter().find(|s| s.request.query.contains("1234567890")).unwrap();
    let state = run(&bench, &bench.plan(sample.request).await).await;
    assert_eq!(state.outcome, Some(RunOutcome::Succeeded));
    let data = |tool: &str| {
        let step = state.steps.values().find(|s| s.attempts[0].tool == tool).unwrap();
        step.result.as_ref().unwrap().data.clone()
    };
    assert_eq!(data("jira_fetch")["key"], "TIDE-42");
    assert_eq!(data("confluence_fetch")["title"], "On-call handbook");
    assert_eq!(data("web_fetch")["status"], 200);
}

/// W-10: every sample query plans without findings, runs without key and network, and does what it promises.
#[tokio::test]
async fn every_sample_query_works() {
    let bench = Bench::sample().await;
    for sample in bench.workbench.info().samples {
        let view = bench.plan(sample.request.clone()).await;
        assert!(view.planning.findings.is_empty(), "{}: {:?}", sample.title, view.planning.findings);
        let state = run(&bench, &view).await;
        assert_eq!(state.outcome, Some(RunOutcome::Succeeded), "{}", sample.title);
    }
    assert_eq!(bench.workbench.runs().unwrap().len(), 6);
}

/// O-01, T1-5: independent steps run side by side, up to the limit; the others wait.
#[tokio::test]
async fn independent_steps_overlap() {
    let bench = Bench::sample().await;
    bench.workbench.register_tools(vec![mock("slow", json!("done"), 300)], "test").unwrap();
    let plan = PlanSpec {
        steps: (1..=7).map(|i| step(&format!("s{i}"), "slow", json!({}), &[])).collect(),
        ..Default::default()
    };
    let view = bench.workbench.plan_from(asking("seven at once"), plan).unwrap();
    let state = run(&bench, &view).await;
    let spans: Vec<(u64, u64)> = state
        .steps
        .values()
        .map(|s| (s.attempts[0].started_ms, s.attempts[0].started_ms + s.attempts[0].duration_ms.unwrap()))
        .collect();
    let at_once =
        spans.iter().map(|(start, _)| spans.iter().filter(|(from, to)| from <= start && start < to).count()).max();
    assert_eq!(at_once, Some(5), "the limit of source 001: {spans:?}");
}

/// O-06: a failed step skips its dependents and names the root; independent steps go on.
#[tokio::test]
async fn failures_skip_what_depends_on_them() {
    let bench = Bench::sample().await;
    bench.workbench.register_tools(vec![mock("fine", json!(1), 0)], "test").unwrap();
    let plan = PlanSpec {
        steps: vec![
            step("lost", "read_file", json!({"file_path": "docs/none.md"}), &[]),
            step("next", "fine", json!({}), &["lost"]),
            step("last", "fine", json!({}), &["next"]),
            step("other", "fine", json!({}), &[]),
        ],
        ..Default::default()
    };
    let state = run(&bench, &bench.workbench.plan_from(asking("x"), plan).unwrap()).await;
    assert_eq!(state.outcome, Some(RunOutcome::Partial));
    assert_eq!(state.steps["lost"].error.as_ref().unwrap().class, ErrorClass::NotFound);
    assert_eq!(state.steps["lost"].attempts.len(), 1, "a missing file is not worth a retry");
    assert_eq!(state.steps["last"].skip, Some(Skip::Dependency { root: "lost".into() }));
    assert_eq!(state.steps["other"].status, StepStatus::Succeeded);
}

/// V-07, S-02: a tool that becomes destructive after the plan was made is refused when its turn comes.
#[tokio::test]
async fn the_runtime_gate_sees_todays_catalog() {
    let bench = Bench::sample().await;
    let gated = mock("gated", json!(1), 0);
    bench.workbench.register_tools(vec![mock("slow", json!(1), 400), gated.clone()], "test").unwrap();
    let plan = PlanSpec {
        steps: vec![step("a", "slow", json!({}), &[]), step("b", "gated", json!({}), &["a"])],
        ..Default::default()
    };
    let view = bench.workbench.plan_from(asking("x"), plan).unwrap();
    let run = bench.workbench.start_run(view.id).await.unwrap();
    bench
        .workbench
        .save_tool(toolplan_workbench::engine::tool::ToolSpec { classification: Classification::Destructive, ..gated })
        .unwrap();
    let state = bench.workbench.wait_run(run).await.unwrap();
    assert_eq!(state.steps["b"].error.as_ref().unwrap().class, ErrorClass::Refused);
    assert_eq!(state.steps["b"].result, None);
}

/// O-04, O-03: a call that takes too long is cancelled and tried again; the error names the timeout.
#[tokio::test]
async fn a_slow_tool_times_out() {
    let bench = Bench::sample().await;
    let mut slow = mock("slow", json!(1), 60_000);
    slow.timeout_ms = Some(50);
    slow.retry = Some(RetryPolicy { max_retries: 1, base_ms: 10 });
    bench.workbench.register_tools(vec![slow.clone()], "test").unwrap();
    let mut only = step("s", "slow", json!({}), &[]);
    (only.timeout_ms, only.retry) = (slow.timeout_ms, slow.retry);
    let view = bench.workbench.plan_from(asking("x"), PlanSpec { steps: vec![only], ..Default::default() }).unwrap();
    let state = run(&bench, &view).await;
    assert_eq!((state.outcome, state.steps["s"].attempts.len()), (Some(RunOutcome::Failed), 2));
    assert!(state.steps["s"].error.as_ref().unwrap().message.contains("timeout"));
    let stats = bench.workbench.tool("slow", &asking("x"), None).unwrap().stats.unwrap();
    assert_eq!((stats.calls, stats.timeouts, stats.retries), (2, 2, 1), "K-03");
}

/// O-07 (cancel): a run stops when asked, and its journal says so.
#[tokio::test]
async fn a_run_can_be_cancelled() {
    let bench = Bench::sample().await;
    bench.workbench.register_tools(vec![mock("slow", json!(1), 60_000)], "test").unwrap();
    let plan = PlanSpec {
        steps: vec![step("a", "slow", json!({}), &[]), step("b", "slow", json!({}), &["a"])],
        ..Default::default()
    };
    let view = bench.workbench.plan_from(asking("x"), plan).unwrap();
    let run = bench.workbench.start_run(view.id).await.unwrap();
    bench.workbench.cancel_run(run).unwrap();
    let state = bench.workbench.wait_run(run).await.unwrap();
    assert_eq!(state.outcome, Some(RunOutcome::Cancelled));
    assert!(state.steps.values().all(|s| s.status == StepStatus::Cancelled));
    assert_eq!(bench.workbench.cancel_run(run).unwrap_err().code, "run.not_live");
}

/// O-10, R-04 (stepping): after a restart the run is there, and can be seen after each of its events.
#[tokio::test]
async fn runs_survive_a_restart_and_can_be_stepped() {
    let bench = Bench::sample().await;
    let request = Request { planner: Planner::Recorded, ..asking("Introduction里面没写什么？") };
    let before = run(&bench, &bench.plan(request).await).await;
    let bench = bench.again().await;
    let runs = bench.workbench.runs().unwrap();
    assert_eq!(
        (runs.len(), runs[0].outcome, runs[0].query.as_str()),
        (1, Some(RunOutcome::Succeeded), "Introduction里面没写什么？")
    );
    let detail = bench.workbench.open_run(runs[0].id).unwrap();
    assert_eq!(detail.state, before);
    assert_eq!(detail.state.planning.as_ref().unwrap().guard.calls.len(), 5, "the verdicts are in the journal");
    let mut done = 0;
    for event in &detail.events {
        let state = bench.workbench.run_at(runs[0].id, event.seq).unwrap().state;
        let now = state.steps.values().filter(|s| s.status.is_done()).count();
        assert!(now >= done, "event {}", event.seq);
        done = now;
    }
    let end = bench.workbench.run_at(runs[0].id, detail.events.len() as u32).unwrap().state;
    assert_eq!(end, RunState { planning: None, ..before });
}

/// S-02: no edit of a plan gets a destructive tool past the guard before an intent.
#[tokio::test]
async fn a_hand_made_plan_is_checked_too() {
    let bench = Bench::sample().await;
    let plan = PlanSpec {
        steps: vec![step("s", "purge_dead_letters", json!({"queue": "exports"}), &[])],
        ..Default::default()
    };
    let view = bench.workbench.plan_from(asking("purge"), plan.clone()).unwrap();
    assert_eq!(view.planning.findings[0].code, "plan.refused");
    assert_eq!(bench.workbench.start_run(view.id).await.unwrap_err().code, "plan.findings");
    let allowed = Request { state: ExecutionState::Action, intent: "REQ-OPS-2".into(), ..asking("purge") };
    let view = bench.workbench.plan_from(allowed, plan).unwrap();
    assert_eq!(run(&bench, &view).await.outcome, Some(RunOutcome::Succeeded));
}

/// A tool that is only described can be planned, not run, and says so.
#[tokio::test]
async fn an_unbound_tool_says_so() {
    let bench = Bench::sample().await;
    let mut spec = mock("described", json!(1), 0);
    (spec.binding, spec.category) = (Binding::None, Category::External);
    bench.workbench.register_tools(vec![spec], "test").unwrap();
    let plan = PlanSpec { steps: vec![step("s", "described", json!({}), &[])], ..Default::default() };
    let state = run(&bench, &bench.workbench.plan_from(asking("x"), plan).unwrap()).await;
    let error = state.steps["s"].error.clone().unwrap();
    assert_eq!(error.class, ErrorClass::Unbound);
    assert!(!error.hint.is_empty());
}

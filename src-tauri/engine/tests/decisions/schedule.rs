//! What a run does next, as a pure function of plan and state (O-01 to O-06).

use crate::{
    bench::Bench,
    lines::{breakpoints_of, checked, commands_of, plan_spec},
};
use expect_test::{Expect, expect};
use serde_json::json;
use toolplan_engine::{
    plan::{Plan, PlanSpec},
    ports::{ErrorClass, ToolError, ToolResult},
    run::{AttemptOutcome, JournalEntry, RunEvent, RunState, Skip},
    schedule::{Action, Frontier, next_actions},
    settings::RunSettings,
};

/// A run that has come as far as `said`: `a ready, b running, c ok, d fails, d failed`.
fn state_of(plan: &Plan, limit: u32, said: &str) -> RunState {
    let defaults = RunSettings::default();
    let mut events = vec![RunEvent::Started {
        plan: plan.spec().clone(),
        catalog_revision: 1,
        parallel_limit: limit,
        timeout_ms: defaults.timeout_ms,
        retry: defaults.retry,
    }];
    let mut attempts = std::collections::HashMap::<String, u32>::new();
    for word in said.split(',').map(str::trim).filter(|w| !w.is_empty()) {
        let (step, what) = word.split_once(' ').unwrap_or(("", word));
        let step = step.to_string();
        let attempt = attempts.entry(step.clone()).or_default();
        let mut call = |answer: Option<AttemptOutcome>| {
            *attempt += 1;
            events.push(RunEvent::AttemptStarted {
                step: step.clone(),
                attempt: *attempt,
                tool: step.clone(),
                arguments: Default::default(),
            });
            events.extend(answer.map(|outcome| RunEvent::AttemptFinished {
                step: step.clone(),
                attempt: *attempt,
                duration_ms: 1,
                outcome,
            }));
        };
        let answer = |confidence| AttemptOutcome::Succeeded {
            result: ToolResult { data: json!(1), confidence, sources: vec![] },
        };
        let failure = |class| ToolError::new(class, "it broke", "");
        match what {
            "ready" => events.push(RunEvent::StepReady { step }),
            "running" => call(None),
            "answers" => call(Some(answer(None))),
            "guesses" => call(Some(answer(Some(0.4)))),
            "fails" => call(Some(AttemptOutcome::Failed { error: failure(ErrorClass::Transient) })),
            "is refused" => call(Some(AttemptOutcome::Failed { error: failure(ErrorClass::Refused) })),
            "waits" => events.push(RunEvent::RetryScheduled { step, attempt: *attempt + 1, delay_ms: 1 }),
            "falls back" => events.push(RunEvent::FallbackStarted { step, tool: "x".into(), reason: String::new() }),
            "ok" => {
                call(Some(answer(None)));
                events.push(RunEvent::StepSucceeded { step });
            }
            "failed" => events.push(RunEvent::StepFailed { step, error: failure(ErrorClass::Internal) }),
            "skipped" => events.push(RunEvent::StepSkipped { step, reason: Skip::Dependency { root: "root".into() } }),
            "cancelled" => events.push(RunEvent::StepCancelled { step }),
            "CANCEL" => events.push(RunEvent::CancelRequested),
            other => panic!("a state says {other:?}"),
        }
    }
    let entries: Vec<_> =
        (1..).zip(events).map(|(seq, event)| JournalEntry { seq, at_ms: seq.into(), event }).collect();
    RunState::of(&entries)
}

fn show(plan: &Plan, action: &Action) -> String {
    let id = |step: &usize| plan.steps()[*step].spec.id.as_str();
    match action {
        Action::Ready { step } => format!("ready {}", id(step)),
        Action::Start { step, attempt } => format!("start {} #{attempt}", id(step)),
        Action::Retry { step, attempt, delay_ms } => format!("retry {} #{attempt} in {delay_ms}", id(step)),
        Action::FallBack { step, reason } => format!("fall back {} ({reason})", id(step)),
        Action::Succeed { step } => format!("succeed {}", id(step)),
        Action::Fail { step, error } => format!("fail {} ({})", id(step), error.message),
        Action::Skip { step, reason: Skip::Dependency { root } } => format!("skip {} (after {root})", id(step)),
        Action::Skip { step, reason: Skip::CriticalFailure { root } } => format!("skip {} (critical {root})", id(step)),
        Action::Skip { step, reason: Skip::ByHand } => format!("skip {} (by hand)", id(step)),
        Action::Break { step, attempt, breakpoints } => {
            format!("break {} #{attempt} {breakpoints:?}", step.as_ref().map_or("run", id))
        }
        Action::Pause { reason } => format!("pause {reason:?}"),
        Action::Cancel { step } => format!("cancel {}", id(step)),
        Action::Finish { outcome } => format!("finish {}", crate::desk::snake(outcome)),
    }
}

/// A plan, how far its run has come, and what is next.
#[track_caller]
fn check(line: &str, limit: u32, said: &[&str], expected: Expect) {
    let plan = checked(plan_spec(line)).unwrap();
    let lines: Vec<String> = said
        .iter()
        .map(|said| {
            let actions = next_actions(&plan, &state_of(&plan, limit, said));
            let shown: Vec<String> = actions.iter().map(|a| show(&plan, a)).collect();
            format!("{said} => {}", shown.join(", "))
        })
        .collect();
    expected.assert_eq(&lines.join("\n"));
}

/// O-01, O-02: a step is ready when its own dependencies are done, whatever else still runs.
#[test]
fn ready_when_the_dependencies_are_done() {
    check(
        "a, b, c <- a, d <- a b",
        5,
        &["", "a ready, b ready", "a running, b running", "a ok, b running", "a ok, b ok", "a ok, b ok, c ok, d ok"],
        expect![[r#"
             => ready a, ready b
            a ready, b ready => start a #1, start b #1
            a running, b running => 
            a ok, b running => ready c
            a ok, b ok => ready c, ready d
            a ok, b ok, c ok, d ok => finish succeeded"#]],
    );
}

/// O-01: at most the limit runs; the longest waiting goes first, retries included.
#[test]
fn the_limit_queues_the_rest() {
    check(
        "a, b, c, d",
        2,
        &[
            "a ready, b ready, c ready, d ready",
            "d ready, c ready, b ready, a ready",
            "a running, b ready, c ready, d ready",
            "a running, b running, c ready, d ready",
            "a running, b answers, c ready, d ready",
            "a running, b fails, b waits, c ready, d ready",
        ],
        expect![[r#"
            a ready, b ready, c ready, d ready => start a #1, start b #1
            d ready, c ready, b ready, a ready => start d #1, start c #1
            a running, b ready, c ready, d ready => start b #1
            a running, b running, c ready, d ready => 
            a running, b answers, c ready, d ready => succeed b, start c #1
            a running, b fails, b waits, c ready, d ready => start c #1"#]],
    );
    check("a, b", 0, &["a ready, b ready"], expect!["a ready, b ready => start a #1"]);
}

/// P-06: sequential steps run one at a time, in plan order; parallel ones pass them by.
#[test]
fn sequential_steps_take_turns() {
    check(
        "a~, b~, c, d~ <- c",
        5,
        &[
            "a ready, b ready, c ready",
            "a running, b ready, c running",
            "a fails, a waits, b ready, c ok",
            "a ok, b ready, c ok, d ready",
            "a ok, b ok, c ok, d ready",
            "a failed, b ready, c running",
        ],
        expect![[r#"
            a ready, b ready, c ready => start a #1, start c #1
            a running, b ready, c running => 
            a fails, a waits, b ready, c ok => ready d
            a ok, b ready, c ok, d ready => start b #1
            a ok, b ok, c ok, d ready => start d #1
            a failed, b ready, c running => start b #1"#]],
    );
}

/// P-06: a sequential step listed before the one it depends on does not block it.
#[test]
fn sequential_steps_in_any_order_of_listing() {
    check(
        "last~ <- middle, middle <- first, first~",
        5,
        &["first ready", "first ok", "first ok, middle ok, last ready"],
        expect![[r#"
            first ready => start first #1
            first ok => ready middle
            first ok, middle ok, last ready => start last #1"#]],
    );
}

/// O-03: after one, two and four seconds, and then no more.
#[test]
fn retries_double_and_end() {
    check(
        "a",
        5,
        &[
            "a fails",
            "a fails, a fails",
            "a fails, a fails, a fails",
            "a fails, a fails, a fails, a fails",
            "a fails, a waits",
            "a fails, a waits, a ready",
        ],
        expect![[r#"
            a fails => retry a #2 in 1000
            a fails, a fails => retry a #3 in 2000
            a fails, a fails, a fails => retry a #4 in 4000
            a fails, a fails, a fails, a fails => fail a (it broke)
            a fails, a waits => 
            a fails, a waits, a ready => start a #2"#]],
    );
    check("a tries:0", 5, &["a fails"], expect!["a fails => fail a (it broke)"]);
}

/// O-03: a refusal is final.
#[test]
fn refusals_are_not_retried() {
    check("a", 5, &["a is refused"], expect!["a is refused => fail a (it broke)"]);
    check("a or:b", 5, &["a is refused"], expect!["a is refused => fall back a (it broke)"]);
}

/// O-05: the fallback has retries of its own, and no fallback in turn.
#[test]
fn the_fallback_takes_over_once() {
    check(
        "a tries:1 or:b",
        5,
        &[
            "a fails",
            "a fails, a fails",
            "a fails, a fails, a falls back",
            "a fails, a fails, a falls back, a fails",
            "a fails, a fails, a falls back, a fails, a fails",
            "a fails, a fails, a falls back, a answers",
        ],
        expect![[r#"
            a fails => retry a #2 in 1000
            a fails, a fails => fall back a (it broke)
            a fails, a fails, a falls back => start a #3
            a fails, a fails, a falls back, a fails => retry a #4 in 1000
            a fails, a fails, a falls back, a fails, a fails => fail a (it broke)
            a fails, a fails, a falls back, a answers => succeed a"#]],
    );
}

/// O-05: low confidence is below the threshold, and only where the fallback asks for it.
#[test]
fn low_confidence_falls_back() {
    check(
        "a or:b<0.5",
        5,
        &["a guesses", "a answers", "a fails", "a guesses, a falls back, a guesses"],
        expect![[r#"
        a guesses => fall back a (confidence 0.40 is below 0.50)
        a answers => succeed a
        a fails => retry a #2 in 1000
        a guesses, a falls back, a guesses => succeed a"#]],
    );
    check("a or:b<0.4", 5, &["a guesses"], expect!["a guesses => succeed a"]);
    check("a or:b", 5, &["a guesses"], expect!["a guesses => succeed a"]);
}

/// O-06: dependents are skipped with the first cause, through any number of levels; the rest goes on.
#[test]
fn failures_reach_their_dependents_only() {
    check(
        "a, b <- a, c <- b, d",
        5,
        &["a failed, d running", "a failed, b skipped, d ok", "a failed, b skipped, c skipped, d ok", "a cancelled"],
        expect![[r#"
            a failed, d running => skip b (after a)
            a failed, b skipped, d ok => skip c (after root)
            a failed, b skipped, c skipped, d ok => finish partial
            a cancelled => skip b (after a), ready d"#]],
    );
}

/// O-06: a critical failure stops what runs and skips what does not.
#[test]
fn a_critical_failure_stops_the_run() {
    check(
        "a!, b, c, d <- b, e",
        5,
        &[
            "a failed, b running, c fails, c waits, e ok",
            "a failed, b cancelled, c cancelled, d skipped, e ok",
            "a fails, a fails, a fails, a fails",
        ],
        expect![[r#"
            a failed, b running, c fails, c waits, e ok => cancel b, cancel c, skip d (critical a)
            a failed, b cancelled, c cancelled, d skipped, e ok => finish failed
            a fails, a fails, a fails, a fails => fail a (it broke), ready b, ready c, ready e"#]],
    );
}

/// O-07: cancelling gives up every open step, and ends.
#[test]
fn cancelling_ends_everything_open() {
    check(
        "a, b, c <- b",
        5,
        &["a ok, b running, CANCEL", "a ok, b cancelled, c cancelled, CANCEL"],
        expect![[r#"
            a ok, b running, CANCEL => cancel b, cancel c
            a ok, b cancelled, c cancelled, CANCEL => finish cancelled"#]],
    );
}

/// O-06: how a run ends follows from its steps; one without steps has nothing left to do.
#[test]
fn outcomes() {
    check(
        "a, b",
        5,
        &["a ok, b ok", "a ok, b failed", "a failed, b failed", "a failed, b skipped"],
        expect![[r#"
            a ok, b ok => finish succeeded
            a ok, b failed => finish partial
            a failed, b failed => finish failed
            a failed, b skipped => finish failed"#]],
    );
    check("", 5, &[""], expect![" => finish succeeded"]);
}

/// The frontier that was kept event by event says the same as one that looks at every step.
pub fn frontier_is_the_scan(spec: &PlanSpec, entries: &[JournalEntry]) {
    let plan = checked(spec.clone()).expect("the plan ran");
    let (mut state, mut kept) = (RunState::default(), Frontier::default());
    for entry in entries {
        state.apply(entry);
        kept.apply(&plan, &state, &entry.event);
        assert_eq!(kept, Frontier::of(&plan, &state), "after {:?}", entry.event);
        assert_eq!(kept.actions(&plan, &state), Frontier::of(&plan, &state).actions(&plan, &state));
    }
}

#[tokio::test(start_paused = true)]
async fn the_frontier_follows_a_run() {
    let plan = "a, b~ <- a, c~ or:x, d! <- c, e <- d b";
    let ran = Bench::new(plan, "a: fail, ok | c: refused | d: validation")
        .but(|b| {
            b.options.breakpoints = breakpoints_of(&["error"]);
            b.commands = commands_of("9 retry a | 99 continue | 999 continue | 5000 continue | 6000 continue");
        })
        .run()
        .await;
    frontier_is_the_scan(&plan_spec(plan), &ran.entries);
}

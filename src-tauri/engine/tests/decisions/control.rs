//! A person at a run: pauses, breakpoints, steps, edits (O-07); going on after an interruption (O-10); faults (O-12);
//! cached results (O-08); timeouts from history (O-11).

use crate::bench::{Bench, Ran, Script, checked, plan_spec};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};
use toolplan_engine::{
    plan::{PlanSpec, StepSpec},
    ports::{CacheKey, Cached, ResultCache, ToolError, ToolResult},
    run::{
        BreakOn, Breakpoint, Command, FaultRule, Go, JournalEntry, Message, Operator, RunEvent, RunOutcome, RunState,
        StepStatus, timeout::CallHistory,
    },
    schedule::Frontier,
    tool::{Binding, SideEffects},
};

#[track_caller]
fn check(ran: &Ran, expected: Expect) {
    expected.assert_eq(&ran.transcript());
}

/// A run with breakpoints and commands, `400 continue | 500 to d`.
fn debugged(plan: &str, script: &str, breakpoints: &[&str], commands: &str) -> Bench {
    Bench::new(plan, script).but(|b| {
        b.options.breakpoints = breakpoints_of(breakpoints);
        b.commands = commands_of(commands);
    })
}

fn breakpoints_of(texts: &[&str]) -> Vec<Breakpoint> {
    let of = |(id, text): (u32, &&str)| Breakpoint { id, on: text.parse().unwrap(), enabled: true };
    (1..).zip(texts).map(of).collect()
}

fn commands_of(text: &str) -> Vec<(u64, Command)> {
    let command = |text: &str| {
        let (at, rest) = text.trim().split_once(' ').unwrap();
        let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let (step, value) = rest.split_once(' ').unwrap_or((rest, "null"));
        let (step, value) = (step.to_string(), || serde_json::from_str::<Value>(value).expect("JSON"));
        let command = match word {
            "pause" => Command::Pause,
            "continue" => Command::Resume { go: Go::Continue },
            "step" => Command::Resume { go: Go::Step },
            "stage" => Command::NextStage,
            "to" => Command::Resume { go: Go::To { step } },
            "cancel" => Command::CancelStep { step },
            "skip" => Command::Skip { step },
            "retry" => Command::Retry { step },
            "arguments" => Command::EditArguments { step, arguments: value().as_object().unwrap().clone() },
            "result" => Command::EditResult { step, data: value() },
            "break" => Command::SetBreakpoints { breakpoints: breakpoints_of(&[rest]) },
            other => panic!("a command says {other:?}"),
        };
        (at.parse().unwrap(), command)
    };
    text.split('|').filter(|c| !c.trim().is_empty()).map(command).collect()
}

/// O-07: while a run is paused, what is under way goes on and nothing follows from it.
#[tokio::test(start_paused = true)]
async fn a_pause_holds_everything_back() {
    let ran = debugged("a, b <- a, c", "a: ok 100 | c: ok 300", &[], "50 pause | 60 pause | 1000 continue").run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 3; a ready; c ready; a #1 calls a; c #1 calls c
        50 PAUSED by hand
        100 a #1 answers
        300 c #1 answers
        1000 GO; a ok; c ok; b ready; b #1 calls b; b #1 answers; b ok; end succeeded after 1000"#]],
    );
    assert!(ran.answers.iter().all(Result::is_ok));
    assert!(ran.shown.iter().any(|s| s.paused.is_some()), "the pause is seen");
}

/// O-07: one step at a time, then a stage, then to a step, then to the end.
#[tokio::test(start_paused = true)]
async fn stepping() {
    let plan = "a, b, c <- a, d <- c, e <- d";
    let bench = debugged(plan, "a: fail, ok 10", &[], "10 step | 3000 stage | 4000 to e | 5000 continue")
        .but(|b| b.options.step_mode = true);
    check(
        &bench.run().await,
        expect![[r#"
        0 start of 5; options; PAUSED at the start
        10 GO one step; a ready; b ready; a #1 calls a; a #1 fails (transient); a waits 1000 for #2
        1010 a ready; a #2 calls a
        1020 a #2 answers; a ok; c ready; PAUSED after a
        3000 GO to the end of stage 0; b #1 calls b; b #1 answers; b ok; PAUSED after stage 0
        4000 GO to e; c #1 calls c; c #1 answers; c ok; d ready; d #1 calls d; d #1 answers; d ok; e ready; PAUSED before e
        5000 GO; e #1 calls e; e #1 answers; e ok; end succeeded after 5000"#]],
    );
}

/// O-07: breakpoints on a step, a tool, an error, a cost, a duration and conditions, before and after.
#[tokio::test(start_paused = true)]
async fn breakpoints() {
    let go = "1000 continue | 2000 continue | 3000 continue | 4000 continue | 90000 continue";
    let one = |plan: &str, script: &str, text: &str| debugged(plan, script, &[text], go);
    check(
        &one("a, b <- a", "", "step:b").run().await,
        expect![[r#"
        0 start of 2; options; a ready; a #1 calls a; a #1 answers; a ok; b ready; b #1 hits step:b; PAUSED at breakpoint 1 b
        1000 GO; b #1 calls b; b #1 answers; b ok; end succeeded after 1000"#]],
    );
    check(
        &one("a, b <- a", "", "tool:b:after").run().await,
        expect![[r#"
        0 start of 2; options; a ready; a #1 calls a; a #1 answers; a ok; b ready; b #1 calls b; b #1 answers; b #1 hits tool:b:after; PAUSED at breakpoint 1 b
        1000 GO; b ok; end succeeded after 1000"#]],
    );
    check(
        &one("a", "a: fail, ok", "error").run().await,
        expect![[r#"
        0 start of 1; options; a ready; a #1 calls a; a #1 fails (transient); a #1 hits error; PAUSED at breakpoint 1 a
        1000 GO; a waits 1000 for #2
        2000 a ready; a #2 calls a; a #2 answers; a ok; end succeeded after 2000"#]],
    );
    check(
        &one("a", "a: fail, refused", "error:refused").run().await,
        expect![[r#"
        0 start of 1; options; a ready; a #1 calls a; a #1 fails (transient); a waits 1000 for #2
        1000 a ready; a #2 calls a; a #2 fails (refused); a #2 hits error:refused; PAUSED at breakpoint 1 a
        2000 GO; a FAILED (refused): a failed; end failed after 2000"#]],
    );
    check(
        &one("a, b", "a: ok 10 | b: ok 700", "duration>500").run().await,
        expect![[r#"
        0 start of 2; options; a ready; b ready; a #1 calls a; b #1 calls b
        10 a #1 answers; a ok
        700 b #1 answers; b #1 hits duration>500; PAUSED at breakpoint 1 b
        1000 GO; b ok; end succeeded after 1000"#]],
    );
    let script = r#"a: ok={"n":3}"#;
    check(
        &one("a, b from:a/n", script, "arguments /input > 2").run().await,
        expect![[r#"
        0 start of 2; options; a ready; a #1 calls a; a #1 answers; a ok; b ready; b #1 hits arguments /input > 2; PAUSED at breakpoint 1 b
        1000 GO; b #1 calls b; b #1 answers; b ok; end succeeded after 1000"#]],
    );
    check(
        &one("a, b from:a/n", script, "result:a /n == 3.0").run().await,
        expect![[r#"
        0 start of 2; options; a ready; a #1 calls a; a #1 answers; a #1 hits result:a /n == 3.0; PAUSED at breakpoint 1 a
        1000 GO; a ok; b ready; b #1 calls b; b #1 answers; b ok; end succeeded after 1000"#]],
    );
    check(
        &one("a, b from:a/n", script, "result:a /n > 3").run().await,
        expect![
            "0 start of 2; options; a ready; a #1 calls a; a #1 answers; a ok; b ready; b #1 calls b; b #1 answers; b ok; end succeeded after 0"
        ],
    );
    let mut costly = one("a, b <- a, c <- b", "", "cost>0.5");
    costly.spec.steps.iter_mut().for_each(|s| s.cost = Some(0.3));
    check(
        &costly.run().await,
        expect![[r#"
        0 start of 3; options; a ready; a #1 calls a; a #1 answers; a ok; b ready; b #1 calls b; b #1 answers; b #1 hits cost>0.5; PAUSED at breakpoint 1 b
        1000 GO; b ok; c ready; c #1 calls c; c #1 answers; c ok; end succeeded after 1000"#]],
    );
    let refused = one("a", "", "guard").but(|b| b.today.kill_switch = vec!["a".into()]);
    check(
        &refused.run().await,
        expect![[r#"
        0 start of 1; options; a ready; a #1 calls a; a #1 fails (refused); a #1 hits guard; PAUSED at breakpoint 1 a
        1000 GO; a FAILED (refused): a is hidden: switched off by the kill-switch; end failed after 1000"#]],
    );
}

/// O-07: a breakpoint set while the run goes on; several at one place; a disabled one.
#[tokio::test(start_paused = true)]
async fn breakpoints_come_and_go() {
    let ran = debugged("a, b <- a", "a: ok 100", &[], "50 break step:b | 200 continue").run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 2; a ready; a #1 calls a
        50 1 breakpoints
        100 a #1 answers; a ok; b ready; b #1 hits step:b; PAUSED at breakpoint 1 b
        200 GO; b #1 calls b; b #1 answers; b ok; end succeeded after 200"#]],
    );
    let ran = debugged("a, b", "", &["step:a", "tool:a", "step:b"], "10 continue").run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 2; options; a ready; b ready; a #1 hits step:a; a #1 hits tool:a; PAUSED at breakpoint 1 a; b #1 hits step:b
        10 GO; a #1 calls a; b #1 calls b; a #1 answers; b #1 answers; a ok; b ok; end succeeded after 10"#]],
    );
    let ran = debugged("a", "", &["step:a"], "").but(|b| b.options.breakpoints[0].enabled = false).run().await;
    assert_eq!(ran.state().outcome, Some(RunOutcome::Succeeded));
}

/// O-07: the hands of a person: other arguments, a result, a skip, one more try; each recorded.
#[tokio::test(start_paused = true)]
async fn edits_while_paused() {
    let commands = r#"10 arguments b {"input": 7} | 20 continue"#;
    let ran = debugged("a, b <- a", "", &["step:b"], commands).run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 2; options; a ready; a #1 calls a; a #1 answers; a ok; b ready; b #1 hits step:b; PAUSED at breakpoint 1 b
        10 b EDITED {"input":7}
        20 GO; b #1 calls b; b #1 answers; b ok; end succeeded after 20"#]],
    );
    assert_eq!(json!(ran.calls.last().unwrap().arguments), json!({"input": 7}));

    let ran = debugged("a, b from:a/n", "a: fail", &["error"], r#"10 result a {"n": 5} | 20 continue"#).run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 2; options; a ready; a #1 calls a; a #1 fails (transient); a #1 hits error; PAUSED at breakpoint 1 a
        10 a GIVEN {"n":5}
        20 GO; a ok; b ready; b #1 calls b; b #1 answers; b ok; end succeeded after 20"#]],
    );
    assert_eq!(json!(ran.calls.last().unwrap().arguments), json!({"input": 5}));

    let ran = debugged("a, b <- a, c", "", &["step:a"], "10 skip a | 20 continue").run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 3; options; a ready; c ready; a #1 hits step:a; PAUSED at breakpoint 1 a
        10 a skipped by hand
        20 GO; b skipped: a failed; c #1 calls c; c #1 answers; c ok; end partial after 20"#]],
    );

    // A step that has failed is tried again by hand, and what was skipped because of it runs after all.
    let ran =
        debugged("a, b <- a, c <- b, d", "a: refused, ok | d: ok 50", &["step:d:after"], "100 retry a | 200 continue")
            .run()
            .await;
    check(
        &ran,
        expect![[r#"
        0 start of 4; options; a ready; d ready; a #1 calls a; d #1 calls d; a #1 fails (refused); a FAILED (refused): a failed; b skipped: a failed; c skipped: a failed
        50 d #1 answers; d #1 hits step:d:after; PAUSED at breakpoint 1 d
        100 a AGAIN
        200 GO; d ok; a #2 calls a; a #2 answers; a ok; b ready; b #1 calls b; b #1 answers; b ok; c ready; c #1 calls c; c #1 answers; c ok; end succeeded after 200"#]],
    );
    assert_eq!(ran.state().outcome, Some(RunOutcome::Succeeded));
}

/// O-07, G-14, V-07: an edit passes the same checks as the plan, and what cannot be done is refused with its reason.
#[tokio::test(start_paused = true)]
async fn edits_are_checked() {
    let commands = r#"1 arguments b {"input": 1} | 5 skip a | 10 pause | 11 arguments b {"wrong": 1}
        | 12 arguments b {"input": {"$from": "c", "path": ""}} | 13 arguments b {"input": {"$from": "a", "path": ""}}
        | 14 arguments a {"input": 1} | 15 retry b | 16 result nobody 1 | 17 to nobody | 200 to a | 300 continue
        | 400 pause"#;
    let ran = debugged("a, b <- a, c <- b", "a: ok 100", &[], commands).run().await;
    let said: Vec<_> =
        ran.answers.iter().map(|a| a.as_ref().map_or_else(|p| p.code.clone(), |()| "ok".into())).collect();
    expect!["run.not_paused, run.step_busy, ok, plan.schema, plan.reference, ok, run.step_busy, run.step_done, run.unknown_step, run.unknown_step, ok, run.over, run.over"].assert_eq(&said.join(", "));
    assert_eq!(ran.state().outcome, Some(RunOutcome::Succeeded));
}

/// O-07: a step is cancelled, its work dropped, its dependents skipped; the others go on.
#[tokio::test(start_paused = true)]
async fn a_step_is_cancelled() {
    let ran =
        debugged("a, b <- a, c, d", "a: hang | c: ok 200 | d: fail", &[], "50 cancel a | 60 cancel d").run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 4; a ready; c ready; d ready; a #1 calls a; c #1 calls c; d #1 calls d; d #1 fails (transient); d waits 1000 for #2
        50 a cancelled; b skipped: a failed
        60 d cancelled
        200 c #1 answers; c ok; end partial after 200"#]],
    );
    assert_eq!((ran.dropped.as_slice(), ran.still_working), (&["a".to_string()][..], 0));
}

/// O-07: a paused run can be cancelled; one that nobody can resume any more says so instead of waiting for ever.
#[tokio::test(start_paused = true)]
async fn a_paused_run_ends() {
    let ran = debugged("a", "", &["step:a"], "").but(|b| b.cancel_after = Some(50)).run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 1; options; a ready; a #1 hits step:a; PAUSED at breakpoint 1 a
        50 CANCEL; a cancelled; end cancelled after 50"#]],
    );
    let ran = debugged("a", "", &["step:a"], "").run().await;
    assert_eq!(ran.result.unwrap_err().code, "run.stuck");
}

/// What is left in the journal when the process dies after so many entries.
fn killed(ran: &Ran, after: usize) -> Vec<JournalEntry> {
    let mut left = ran.entries[..after].to_vec();
    let (seq, at_ms) = left.last().map_or((1, 0), |last| (last.seq + 1, last.at_ms));
    left.push(JournalEntry {
        seq,
        at_ms,
        event: RunEvent::Finished { outcome: RunOutcome::Interrupted, duration_ms: at_ms },
    });
    left
}

/// O-10: killed after any event, a run goes on from there. Harmless calls are made again, others only when a person
/// confirms it; no step that was done is called twice.
#[tokio::test(start_paused = true)]
async fn an_interrupted_run_goes_on() {
    let bench = || {
        let mut bench =
            Bench::new("a, b <- a, c or:x, d <- c", "b: fail, ok | c: refused").but(|b| b.settings.parallel_limit = 1);
        for (tool, effects) in [("a", SideEffects::Read), ("b", SideEffects::Write), ("c", SideEffects::External)] {
            bench.tool(tool).side_effects = effects;
        }
        for tool in ["d", "x"] {
            bench.tool(tool).side_effects = SideEffects::Stateful;
        }
        bench.tool("x").idempotent = true;
        bench
    };
    let whole = bench().run().await;
    for after in 1..whole.entries.len() {
        let left = killed(&whole, after);
        let died = RunState::of(&left[..left.len() - 1]);
        let at_work: Vec<String> =
            died.steps.iter().filter(|(_, s)| s.is_in_flight()).map(|(id, _)| id.clone()).collect();
        let done: Vec<&String> = died.steps.iter().filter(|(_, s)| s.status.is_done()).map(|(id, _)| id).collect();
        if died.started_ms.is_none() || died.outcome.is_some() {
            continue;
        }
        let ran = bench().but(|b| (b.before, b.confirmed) = (left.clone(), at_work.clone())).run().await;
        assert_eq!(ran.state().outcome, Some(RunOutcome::Succeeded), "after {after}: {}", ran.transcript());
        assert!(ran.calls.iter().all(|c| !done.contains(&&c.step)), "after {after}: {}", ran.transcript());
        // Unconfirmed: the run pauses before anything is called, unless all calls under way were harmless.
        let harmless = at_work.iter().all(|id| {
            let tool = &died.steps[id].attempts.last().unwrap().tool;
            ["a", "x"].contains(&tool.as_str())
        });
        let ran = bench().but(|b| b.before = left).run().await;
        match harmless {
            true => assert_eq!(ran.state().outcome, Some(RunOutcome::Succeeded), "after {after}"),
            false => {
                assert_eq!(ran.calls.len(), 0, "after {after}: {}", ran.transcript());
                assert_eq!(ran.result.unwrap_err().code, "run.stuck", "nobody is there to say so");
            }
        }
    }
}

/// O-10: a person decides about each call whose outcome is unknown.
#[tokio::test(start_paused = true)]
async fn a_person_decides_about_unknown_outcomes() {
    let bench = || {
        let mut bench = Bench::new("a, b, c <- a, d <- b", "");
        for tool in ["a", "b"] {
            bench.tool(tool).side_effects = SideEffects::Write;
        }
        bench
    };
    let whole = bench().run().await;
    let at = whole.entries.iter().rposition(|e| matches!(e.event, RunEvent::AttemptStarted { .. })).unwrap();
    let first = whole.entries.iter().position(|e| matches!(e.event, RunEvent::AttemptFinished { .. })).unwrap();
    assert!(first < at);
    let left = killed(&whole, first);
    let ran = bench()
        .but(|b| (b.before, b.commands) = (left, commands_of("10 result a 1 | 20 skip b | 30 continue")))
        .run()
        .await;
    let since: Vec<_> = ran.transcript().lines().map(str::to_string).collect();
    expect![[r#"
        0 start of 4; a ready; b ready; a #1 calls a; b #1 calls b; end interrupted after 0; reopened; a #1 unknown; b #1 unknown; PAUSED to ask about a b
        10 a GIVEN 1
        20 b skipped by hand
        30 GO; a ok; d skipped: b failed; c ready; c #1 calls c; c #1 answers; c ok; end partial after 30"#]].assert_eq(&since.join("\n"));
}

/// O-12: faults strike as the rules say, and the same attempts for the same seed.
#[tokio::test(start_paused = true)]
async fn faults_strike_by_seed() {
    let faulty = |plan: &str, rules: &[&str]| {
        Bench::new(plan, "").but(|b| b.options.faults = rules.iter().map(|r| r.parse().unwrap()).collect())
    };
    check(
        &faulty("a", &["error:transient,attempts=2"]).run().await,
        expect![[r#"
        0 start of 1; options; a ready; a #1 calls a; a #1 struck by error transient; a #1 fails (transient); a waits 1000 for #2
        1000 a ready; a #2 calls a; a #2 struck by error transient; a #2 fails (transient); a waits 2000 for #3
        3000 a ready; a #3 calls a; a #3 answers; a ok; end succeeded after 3000"#]],
    );
    check(
        &faulty("a tries:0, b", &["hang tool=a", "delay:250 step=b"]).run().await,
        expect![[r#"
        0 start of 2; options; a ready; b ready; a #1 calls a; a #1 struck by no answer; b #1 calls b; b #1 struck by delay of 250 ms
        250 b #1 answers; b ok
        30000 a #1 fails (timeout); a FAILED (timeout): a did not answer within 30000 ms (timeout); end partial after 30000"#]],
    );
    check(
        &faulty("a, b from:a", &["malformed tool=a"]).run().await,
        expect![
            "0 start of 2; options; a ready; a #1 calls a; a #1 struck by malformed answer; a #1 answers; a ok; b ready; b #1 calls b; b #1 answers; b ok; end succeeded after 0"
        ],
    );
    check(
        &faulty("a", &["rate_limit:5000 attempts=1"]).run().await,
        expect![[r#"
        0 start of 1; options; a ready; a #1 calls a; a #1 struck by rate limit for 5000 ms; a #1 fails (rate_limited); a waits 5000 for #2
        5000 a ready; a #2 calls a; a #2 answers; a ok; end succeeded after 5000"#]],
    );
    let plan = (0..40).map(|i| format!("s{i}")).collect::<Vec<_>>().join(", ");
    let struck = async |seed| {
        let ran = faulty(&plan, &["error:transient p=0.3"]).but(|b| b.options.seed = seed).run().await;
        let struck = |e: &JournalEntry| matches!(e.event, RunEvent::FaultInjected { .. }).then(|| e.event.clone());
        ran.entries.iter().filter_map(struck).map(|e| format!("{e:?}")).collect::<Vec<_>>()
    };
    let (one, again, other) = (struck(1).await, struck(1).await, struck(2).await);
    assert_eq!(one, again);
    assert_ne!(one, other);
    assert!((8..30).contains(&one.len()), "about three in ten: {}", one.len());
}

/// O-03: with three in ten calls failing for a moment, retries bring failures down by far more than 95 %.
#[tokio::test(start_paused = true)]
async fn retries_absorb_transient_faults() {
    let mut failed = [0, 0];
    for seed in 0..25 {
        for (with_retries, failed) in failed.iter_mut().enumerate() {
            let plan = (0..40).map(|i| format!("s{i}")).collect::<Vec<_>>().join(", ");
            let ran = Bench::new(&plan, "")
                .but(|b| {
                    b.options.faults = vec!["error:transient p=0.3".parse().unwrap()];
                    b.options.seed = seed;
                    b.settings.retry.max_retries = if with_retries == 1 { 3 } else { 0 };
                })
                .run()
                .await;
            *failed += ran.state().steps.values().filter(|s| s.status == StepStatus::Failed).count();
        }
    }
    let [without, with] = failed;
    assert!((250..350).contains(&without), "{without} of 1,000");
    assert!(with * 20 <= without, "{with} of {without}");
}

/// O-03: jitter keeps to its bounds and to its seed; a rate limit's own pause is honoured.
#[tokio::test(start_paused = true)]
async fn pauses_jitter_within_bounds() {
    let delays = async |seed| {
        let ran =
            Bench::new("a", "a: fail").but(|b| (b.settings.jitter_percent, b.options.seed) = (20, seed)).run().await;
        let delay = |e: &JournalEntry| match e.event {
            RunEvent::RetryScheduled { delay_ms, .. } => Some(delay_ms),
            _ => None,
        };
        ran.entries.iter().filter_map(delay).collect::<Vec<_>>()
    };
    let (one, again, other) = (delays(1).await, delays(1).await, delays(2).await);
    assert_eq!(one, again);
    assert_ne!(one, other);
    for (delay, base) in one.iter().zip([1000.0, 2000.0, 4000.0]) {
        assert!((*delay as f64 - base).abs() <= base * 0.2, "{one:?}");
    }
}

/// O-05: the fallback's own arguments, timeout and retries.
#[tokio::test(start_paused = true)]
async fn a_fallback_states_its_own() {
    let mut bench = Bench::new("first, a or:b from:first", "a: refused | b: hang");
    let fallback = bench.spec.steps[1].fallback.as_mut().unwrap();
    let arguments = json!({"input": [{"$from": "first", "path": "/from"}, 1]});
    fallback.arguments = arguments.as_object().cloned();
    fallback.timeout_ms = Some(70);
    fallback.retry = Some(toolplan_engine::tool::RetryPolicy { max_retries: 1, base_ms: 5 });
    let ran = bench.run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 2; first ready; first #1 calls first; first #1 answers; first ok; a ready; a #1 calls a; a #1 fails (refused); a falls back to b: a failed; a #2 calls b
        70 a #2 fails (timeout); a waits 5 for #3
        75 a ready; a #3 calls b
        145 a #3 fails (timeout); a FAILED (timeout): b did not answer within 70 ms (timeout); end partial after 145"#]],
    );
    assert_eq!(json!(ran.calls.last().unwrap().arguments), json!({"input": ["first", 1]}));
    let mut taken = toolplan_engine::tool::Fallback::on_error("x");
    taken.arguments = json!({"q": {"$argument": "query"}, "n": {"$argument": "none"}, "k": 2}).as_object().cloned();
    let call = taken.call(json!({"query": "what"}).as_object().unwrap());
    assert_eq!(json!(call.arguments), json!({"q": "what", "k": 2}));
}

/// O-11: a timeout from history, bounded, with its reason; a step's own timeout wins.
#[tokio::test(start_paused = true)]
async fn timeouts_from_history() {
    let history = |p95_ms, calls| HashMap::from([("a".to_string(), CallHistory { calls, p95_ms })]);
    let ran = async |plan: &str, p95_ms, calls| {
        let bench = Bench::new(plan, "a: hang").but(|b| {
            b.settings.adaptive_timeout.enabled = true;
            b.history = history(p95_ms, calls);
        });
        bench.run().await
    };
    check(
        &ran("a tries:0", 500.0, 40).await,
        expect![[r#"
        0 start of 1; a ready; a #1 calls a; a #1 within 1500: 3 × the p95 of 500 ms over 40 calls, 1500 ms
        1500 a #1 fails (timeout); a FAILED (timeout): a did not answer within 1500 ms (timeout); end failed after 1500"#]],
    );
    check(
        &ran("a tries:0", 3.0, 40).await,
        expect![[r#"
        0 start of 1; a ready; a #1 calls a; a #1 within 1000: 3 × the p95 of 3 ms over 40 calls, at least 1000 ms
        1000 a #1 fails (timeout); a FAILED (timeout): a did not answer within 1000 ms (timeout); end failed after 1000"#]],
    );
    check(
        &ran("a tries:0", 5e6, 40).await,
        expect![[r#"
        0 start of 1; a ready; a #1 calls a; a #1 within 120000: 3 × the p95 of 5000000 ms over 40 calls, at most 120000 ms
        120000 a #1 fails (timeout); a FAILED (timeout): a did not answer within 120000 ms (timeout); end failed after 120000"#]],
    );
    check(
        &ran("a tries:0", 500.0, 19).await,
        expect![[r#"
        0 start of 1; a ready; a #1 calls a
        30000 a #1 fails (timeout); a FAILED (timeout): a did not answer within 30000 ms (timeout); end failed after 30000"#]],
    );
    check(
        &ran("a tries:0 in:100", 500.0, 40).await,
        expect![[r#"
        0 start of 1; a ready; a #1 calls a
        100 a #1 fails (timeout); a FAILED (timeout): a did not answer within 100 ms (timeout); end failed after 100"#]],
    );
}

/// Keeps results for ever and does not wait for calls under way.
#[derive(Default)]
struct Kept(Mutex<HashMap<CacheKey, ToolResult>>);

#[async_trait]
impl ResultCache for Kept {
    async fn get_or_call(
        &self,
        key: CacheKey,
        call: BoxFuture<'_, Result<ToolResult, ToolError>>,
    ) -> Result<(ToolResult, Option<Cached>), ToolError> {
        if let Some(kept) = self.0.lock().unwrap().get(&key) {
            return Ok((kept.clone(), Some(Cached { age_ms: 7 })));
        }
        let result = call.await?;
        self.0.lock().unwrap().insert(key, result.clone());
        Ok((result, None))
    }
}

/// O-08: only SAFE tools without side effects are answered from the cache, by tool, revision and normalised arguments;
/// a run without it calls every time.
#[tokio::test(start_paused = true)]
async fn cached_results() {
    let cache = Arc::new(Kept::default());
    let bench = |effects, value: Value| {
        let step = StepSpec {
            id: "a".into(),
            tool: "t".into(),
            arguments: json!({"input": value}).as_object().unwrap().clone(),
            ..Default::default()
        };
        let mut bench = Bench::of(PlanSpec { steps: vec![step], reasoning: String::new() }, Script::of("t: ok 100"));
        bench.tool("t").side_effects = effects;
        bench.tool("t").binding = Binding::Mock { result: json!(1), delay_ms: 0 };
        bench.cache = Some(cache.clone());
        bench
    };
    let calls = async |bench: Bench| bench.run().await.calls.len();
    assert_eq!(calls(bench(SideEffects::Read, json!("x"))).await, 1);
    let hit = bench(SideEffects::Read, json!(" x ")).run().await;
    check(
        &hit,
        expect!["0 start of 1; a ready; a #1 calls t; a #1 is cached (7); a #1 answers; a ok; end succeeded after 0"],
    );
    assert_eq!(hit.calls.len(), 0);
    assert_eq!(calls(bench(SideEffects::Read, json!("x")).but(|b| b.options.no_cache = true)).await, 1);
    assert_eq!(calls(bench(SideEffects::Read, json!("y"))).await, 1, "other arguments");
    assert_eq!(
        calls(bench(SideEffects::Read, json!("x")).but(|b| b.tool("t").description = "new".into())).await,
        1,
        "another revision"
    );
    for _ in 0..2 {
        assert_eq!(calls(bench(SideEffects::Write, json!("x"))).await, 1, "it changes something");
    }
}

/// O-02: tools learn the conversation, the metadata and the start of the run.
#[tokio::test(start_paused = true)]
async fn a_call_knows_its_run() {
    let said = Message { role: "user".into(), text: "hello".into() };
    let ran = Bench::new("a", "")
        .but(|b| {
            b.options.conversation = vec![said.clone()];
            b.options.metadata = json!({"locale": "de"}).as_object().unwrap().clone();
        })
        .run()
        .await;
    let context = &ran.contexts[0];
    assert_eq!((context.given.conversation.as_slice(), &context.given.metadata["locale"]), (&[said][..], &json!("de")));
    assert_eq!(Some(context.started_ms), ran.state().started_ms);
    assert_eq!(ran.state().options.metadata["locale"], json!("de"), "and so does the journal");
}

/// O-07: breakpoints are read as they are written, and what is none says what there is.
#[test]
fn breakpoints_as_text() {
    for text in [
        "step:s1",
        "step:s1:after",
        "tool:t",
        "tool:t:after",
        "error",
        "error:timeout",
        "guard",
        "guard:jira",
        "cost>0.5",
        "duration>2000",
        "arguments /q contains \"x\"",
        "result:s1 /items/0 == 3",
        "result /x exists",
        "result:s /n < 2.5",
    ] {
        let on: BreakOn = text.parse().unwrap();
        assert_eq!(on.to_string(), text);
        assert_eq!(serde_json::from_str::<BreakOn>(&serde_json::to_string(&on).unwrap()).unwrap(), on);
    }
    for text in ["", "step:", "stage:1", "cost>much", "error:bad", "result items == 1", "result /x is 1"] {
        assert!(text.parse::<BreakOn>().is_err(), "{text}");
    }
    for text in ["", "boom", "delay:soon", "error:x", "hang p=often", "hang tool"] {
        assert!(text.parse::<FaultRule>().is_err(), "{text}");
    }
}

/// O-07: operators of conditions.
#[test]
fn conditions() {
    let holds = |operator: Operator, found: Value, value: Value| operator.holds(Some(&found), &value);
    assert!(holds(Operator::Equals, json!(1), json!(1.0)) && !holds(Operator::Equals, json!("1"), json!(1)));
    assert!(holds(Operator::Differs, json!(1), json!(2)) && !Operator::Differs.holds(None, &json!(2)));
    assert!(holds(Operator::Above, json!(2), json!(1.5)) && !holds(Operator::Above, json!("2"), json!(1)));
    assert!(holds(Operator::Contains, json!("A Timeout"), json!("timeout")));
    assert!(
        holds(Operator::Contains, json!([1, 2]), json!(2)) && holds(Operator::Contains, json!({"k": 1}), json!("k"))
    );
    assert!(Operator::Missing.holds(None, &Value::Null) && !Operator::Exists.holds(None, &Value::Null));
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
    let ran = debugged(
        plan,
        "a: fail, ok | c: refused | d: validation",
        &["error"],
        "9 retry a | 99 continue | 999 continue | 5000 continue | 6000 continue",
    )
    .run()
    .await;
    frontier_is_the_scan(&plan_spec(plan), &ran.entries);
}

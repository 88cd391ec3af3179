//! A person at a run: pauses, breakpoints, steps, edits (O-07).

use crate::{
    bench::{Bench, check},
    lines::{breakpoints_of, commands_of},
};
use expect_test::expect;
use serde_json::{Value, json};
use toolplan_engine::run::{BreakOn, FaultRule, Operator, RunOutcome};

/// A run with breakpoints and commands, `400 continue | 500 to d`.
fn debugged(plan: &str, script: &str, breakpoints: &[&str], commands: &str) -> Bench {
    Bench::new(plan, script).but(|b| {
        b.options.breakpoints = breakpoints_of(breakpoints);
        b.commands = commands_of(commands);
    })
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
    let [a] = ran.state().steps["a"].attempts.as_slice() else { panic!("one attempt") };
    assert_eq!((a.given_up, a.duration_ms, a.outcome.is_none()), (true, Some(50), true), "it does not go on for ever");
    let [d] = ran.state().steps["d"].attempts.as_slice() else { panic!("one attempt") };
    assert!(!d.given_up && d.outcome.is_some(), "it had answered before");
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
    for text in ["", "boom", "delay:soon", "error:x", "hang p=often", "hang p=2", "hang p=NaN", "hang tool"] {
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

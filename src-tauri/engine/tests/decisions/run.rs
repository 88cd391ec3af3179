//! Plans at work: the driver over a journal in memory and scripted tools (O-01 to O-10, V-07).

use crate::bench::{Bench, check};
use expect_test::expect;
use serde_json::{Value, json};
use toolplan_engine::{
    ports::ErrorClass,
    run::{Message, RunEvent, RunOutcome, RunState, StepStatus},
    settings::RunSettings,
};

/// T1-5, O-01: three independent steps take as long as the longest, not their sum.
#[tokio::test(start_paused = true)]
async fn independent_steps_run_together() {
    let ran = Bench::new("a, b, c", "a: ok 300 | b: ok 200 | c: ok 100").run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 3; a ready; b ready; c ready; a #1 calls a; b #1 calls b; c #1 calls c
        100 c #1 answers; c ok
        200 b #1 answers; b ok
        300 a #1 answers; a ok; end succeeded after 300"#]],
    );
    assert_eq!(ran.most_at_once, 3);
    assert_eq!(ran.state().duration_ms, Some(300));
}

/// T1-6, O-02, P-08: B gets A's result through a reference, typed, and through the context; steps it does not depend
/// on are not in its context.
#[tokio::test(start_paused = true)]
async fn a_dependent_step_receives_the_result() {
    let ran = Bench::new("a, x, b from:a/items/0/id", r#"a: ok={"items":[{"id":42}]} 10"#).run().await;
    let b = ran.calls.iter().find(|c| c.step == "b").unwrap();
    assert_eq!(Value::from(b.arguments.clone()), json!({"input": 42}));
    assert_eq!(json!(b.previous), json!({"a": {"items": [{"id": 42}]}}));
    assert_eq!((b.query.as_str(), b.attempt), ("what is asked", 1));
    let journaled = ran.entries.iter().find_map(|e| match &e.event {
        RunEvent::AttemptStarted { step, arguments, .. } if step == "b" => Some(Value::from(arguments.clone())),
        _ => None,
    });
    assert_eq!(journaled, Some(json!({"input": 42})), "the journal holds the resolved arguments");
}

/// P-08: a path that holds nothing fails the step without calling its tool, and is not retried.
#[tokio::test(start_paused = true)]
async fn a_reference_to_nothing_fails_the_step() {
    let ran = Bench::new("a, b from:a/missing", "").run().await;
    check(
        &ran,
        expect![
            "0 start of 2; a ready; a #1 calls a; a #1 answers; a ok; b ready; b #1 calls b; b #1 fails (validation); b FAILED (validation): the argument input refers to /missing of a, and the result holds nothing there; end partial after 0"
        ],
    );
    assert!(ran.calls.iter().all(|c| c.tool == "a"));
}

/// P-08, G-15: a result that looks like a reference is data; it neither reaches a tool as one nor slips past the
/// schema.
#[tokio::test(start_paused = true)]
async fn a_result_is_not_a_reference() {
    let mut bench = Bench::new("a, b from:a/x", r#"a: ok={"x":{"$from":"a"}}"#);
    bench.tool("b").parameters = json!({"type": "object", "properties": {"input": {"type": "string"}}});
    let ran = bench.run().await;
    assert_eq!(ran.status("b"), StepStatus::Failed);
    assert_eq!(ran.state().steps["b"].error.as_ref().unwrap().class, ErrorClass::Validation);
    assert!(ran.calls.iter().all(|c| c.tool == "a"));
}

/// T1-7, T1-8, source 001: three retries after 1, 2 and 4 s, 30 s, five at once, results kept for 300 s, where nobody
/// says otherwise. The other tests of this file run with these.
#[test]
fn the_defaults_are_those_of_the_source() {
    let RunSettings { parallel_limit, timeout_ms, retry, backoff, cache, .. } = RunSettings::default();
    assert_eq!((parallel_limit, timeout_ms, retry.max_retries), (5, 30_000, 3));
    let pauses = [1, 2, 3].map(|tries| u64::from(retry.base_ms) * backoff.factor(tries));
    assert_eq!(pauses, [1_000, 2_000, 4_000]);
    assert_eq!((cache.enabled, cache.ttl_s), (true, 300));
}

/// T1-7, O-03: fail, fail, ok is a success after 1 s + 2 s, with every attempt in the journal.
#[tokio::test(start_paused = true)]
async fn two_failures_and_a_success() {
    let ran = Bench::new("a", "a: fail, fail, ok").run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 1; a ready; a #1 calls a; a #1 fails (transient); a waits 1000 for #2
        1000 a ready; a #2 calls a; a #2 fails (transient); a waits 2000 for #3
        3000 a ready; a #3 calls a; a #3 answers; a ok; end succeeded after 3000"#]],
    );
    assert_eq!(ran.state().outcome, Some(RunOutcome::Succeeded));
    assert_eq!(ran.state().steps["a"].attempts.len(), 3);
}

/// T1-7, O-03: three retries after 1, 2 and 4 s, then the failure; a step that waits for its retry leaves its slot to others.
#[tokio::test(start_paused = true)]
async fn retries_end() {
    let ran = Bench::new("a, b", "a: fail | b: ok 500").but(|b| b.settings.parallel_limit = 1).run().await;
    check(
        &ran,
        expect![[r#"
            0 start of 2; a ready; b ready; a #1 calls a; a #1 fails (transient); a waits 1000 for #2; b #1 calls b
            500 b #1 answers; b ok
            1000 a ready; a #2 calls a; a #2 fails (transient); a waits 2000 for #3
            3000 a ready; a #3 calls a; a #3 fails (transient); a waits 4000 for #4
            7000 a ready; a #4 calls a; a #4 fails (transient); a FAILED (transient): a failed; end partial after 7000"#]],
    );
}

/// O-03: errors that a repetition cannot mend are not repeated.
#[tokio::test(start_paused = true)]
async fn final_errors_are_not_retried() {
    for deed in ["refused", "validation", "client"] {
        let ran = Bench::new("a", &format!("a: {deed}")).run().await;
        assert_eq!((ran.calls.len(), ran.status("a")), (1, StepStatus::Failed), "{deed}");
        assert_eq!(ran.state().duration_ms, Some(0), "{deed}");
    }
}

/// T1-8, O-04: a tool that never answers fails at 30 s with "timeout", its work is dropped and told so, and a timeout
/// is retried.
#[tokio::test(start_paused = true)]
async fn a_silent_tool_times_out() {
    let ran = Bench::new("a tries:0", "a: hang").run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 1; a ready; a #1 calls a
        30000 a #1 fails (timeout); a FAILED (timeout): a did not answer within 30000 ms (timeout); end failed after 30000"#]],
    );
    assert_eq!(ran.dropped, ["a"]);
    assert!(ran.calls[0].cancel.is_cancelled());
    let ran = Bench::new("a in:500", "a: hang, ok").run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 1; a ready; a #1 calls a
        500 a #1 fails (timeout); a waits 1000 for #2
        1500 a ready; a #2 calls a; a #2 answers; a ok; end succeeded after 1500"#]],
    );
}

/// T1-9, O-05: the fallback answers for a tool that rejects, inherits its dependencies and has retries of its own.
#[tokio::test(start_paused = true)]
async fn a_fallback_on_error() {
    let ran =
        Bench::new("first, a or:plan_b from:first, c from:a", "a: refused | plan_b: fail, ok={\"x\":1}").run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 3; first ready; first #1 calls first; first #1 answers; first ok; a ready; a #1 calls a; a #1 fails (refused); a falls back to plan_b: a failed; a #2 calls plan_b; a #2 fails (transient); a waits 1000 for #3
        1000 a ready; a #3 calls plan_b; a #3 answers; a ok; c ready; c #1 calls c; c #1 answers; c ok; end succeeded after 1000"#]],
    );
    let fallback = ran.calls.iter().find(|c| c.tool == "plan_b").unwrap();
    assert_eq!(json!(fallback.previous), json!({"first": {"from": "first"}}));
    assert_eq!(Value::from(fallback.arguments.clone()), json!({"input": {"from": "first"}}));
    assert_eq!(Value::from(ran.calls.last().unwrap().arguments.clone()), json!({"input": {"x": 1}}));
}

/// O-04, O-05: the fallback has the timeout and the retries of its own tool, not those of the step it replaces.
#[tokio::test(start_paused = true)]
async fn a_fallback_has_its_own_timeout() {
    let mut bench = Bench::new("a in:100 tries:0 or:slow", "a: hang | slow: ok 5000");
    bench.tool("slow").timeout_ms = Some(10_000);
    let ran = bench.run().await;
    assert_eq!(ran.status("a"), StepStatus::Succeeded, "{}", ran.transcript());
    assert_eq!(ran.state().duration_ms, Some(5_100));
}

/// T1-9, O-05: … and for one that is unsure of its answer.
#[tokio::test(start_paused = true)]
async fn a_fallback_on_low_confidence() {
    let ran = Bench::new("a or:plan_b<0.7", "a: low=0.3 | plan_b: low=0.9").run().await;
    check(
        &ran,
        expect![
            "0 start of 1; a ready; a #1 calls a; a #1 answers; a falls back to plan_b: confidence 0.30 is below 0.70; a #2 calls plan_b; a #2 answers; a ok; end succeeded after 0"
        ],
    );
    assert_eq!(ran.state().steps["a"].result.as_ref().unwrap().confidence, Some(0.9));
    let ran = Bench::new("a or:plan_b<0.7", "a: low=0.7").run().await;
    assert_eq!(ran.calls.len(), 1, "0.7 is not below 0.7");
}

/// T1-10: every step of the plan has its result, in plan order.
#[tokio::test(start_paused = true)]
async fn every_step_has_its_result() {
    let ran = Bench::new("d <- b c, a, b <- a, c <- a", "").run().await;
    let steps: Vec<_> = ran.state().steps.iter().map(|(id, s)| (id.as_str(), s.status, s.result.is_some())).collect();
    let done = StepStatus::Succeeded;
    assert_eq!(steps, [("d", done, true), ("a", done, true), ("b", done, true), ("c", done, true)]);
    assert_eq!(ran.state().outcome, Some(RunOutcome::Succeeded));
}

/// O-01: five run at once, the others wait in the queue, visibly, and start as slots come free.
#[tokio::test(start_paused = true)]
async fn five_at_once() {
    let plan = "a, b, c, d, e, f, g";
    let ran =
        Bench::new(plan, "a: ok 100 | b: ok 200 | c: ok 300 | d: ok 400 | e: ok 500 | f: ok 50 | g: ok 50").run().await;
    check(
        &ran,
        expect![[r#"
            0 start of 7; a ready; b ready; c ready; d ready; e ready; f ready; g ready; a #1 calls a; b #1 calls b; c #1 calls c; d #1 calls d; e #1 calls e
            100 a #1 answers; a ok; f #1 calls f
            150 f #1 answers; f ok; g #1 calls g
            200 b #1 answers; g #1 answers; b ok; g ok
            300 c #1 answers; c ok
            400 d #1 answers; d ok
            500 e #1 answers; e ok; end succeeded after 500"#]],
    );
    assert_eq!(ran.most_at_once, 5);
    let queued = |s: &RunState| s.steps.values().filter(|s| s.status == StepStatus::Ready).count();
    assert!(
        ran.shown.iter().any(|s| s.steps["e"].status == StepStatus::Running && queued(s) == 2),
        "two are seen waiting"
    );
}

/// P-06: sequential steps take turns in plan order beside the parallel ones.
#[tokio::test(start_paused = true)]
async fn sequential_steps_take_turns() {
    let ran = Bench::new("a~, b, c~", "a: ok 100 | b: ok 150 | c: ok 100").run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 3; a ready; b ready; c ready; a #1 calls a; b #1 calls b
        100 a #1 answers; a ok; c #1 calls c
        150 b #1 answers; b ok
        200 c #1 answers; c ok; end succeeded after 200"#]],
    );
    // Listed before what it waits for, a sequential step does not block it.
    let ran = Bench::new("c~ <- b, b~ <- a, a~", "").run().await;
    assert_eq!(ran.state().outcome, Some(RunOutcome::Succeeded));
    let order: Vec<_> = ran.calls.iter().map(|c| c.step.as_str()).collect();
    assert_eq!(order, ["a", "b", "c"]);
}

/// O-06: a critical failure stops the run: what runs is dropped and told, what waits is skipped, what is done is kept.
#[tokio::test(start_paused = true)]
async fn a_critical_failure_stops_the_run() {
    let ran = Bench::new("a, b!, c, d <- c", "a: ok 10 | b: refused 50 | c: hang").run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 4; a ready; b ready; c ready; a #1 calls a; b #1 calls b; c #1 calls c
        10 a #1 answers; a ok
        50 b #1 fails (refused); b FAILED (refused): b failed; c cancelled; d skipped: critical b failed; end failed after 50"#]],
    );
    assert_eq!(ran.dropped, ["c"]);
    assert!(ran.calls.iter().find(|c| c.step == "c").unwrap().cancel.is_cancelled(), "its work hears of it");
    assert!(ran.state().steps["a"].result.is_some(), "partial results are kept");
}

/// O-06: any other failure lets the rest go on; its dependents name the root cause through two levels.
#[tokio::test(start_paused = true)]
async fn a_failure_skips_its_dependents_only() {
    let ran = Bench::new("a, b <- a, c <- b x, x, y <- x", "a: refused | x: ok 20").run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 5; a ready; x ready; a #1 calls a; x #1 calls x; a #1 fails (refused); a FAILED (refused): a failed; b skipped: a failed; c skipped: a failed
        20 x #1 answers; x ok; y ready; y #1 calls y; y #1 answers; y ok; end partial after 20"#]],
    );
}

/// O-07: cancelling drops running calls and waiting retries, skips nothing silently and ends the run.
#[tokio::test(start_paused = true)]
async fn a_cancelled_run_drops_its_calls() {
    let ran =
        Bench::new("a, b, c, d <- c", "a: ok 10 | b: fail 5 | c: hang").but(|b| b.cancel_after = Some(100)).run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 4; a ready; b ready; c ready; a #1 calls a; b #1 calls b; c #1 calls c
        5 b #1 fails (transient); b waits 1000 for #2
        10 a #1 answers; a ok
        100 CANCEL; b cancelled; c cancelled; d cancelled; end cancelled after 100"#]],
    );
    assert_eq!((ran.dropped.as_slice(), ran.still_working), (&["c".to_string()][..], 0));
    assert!(ran.calls.iter().find(|c| c.step == "c").unwrap().cancel.is_cancelled());
    assert_eq!(ran.calls.len(), 3, "nothing starts after the request");
}

/// O-07: a run that is cancelled before it begins calls nothing.
#[tokio::test(start_paused = true)]
async fn a_run_cancelled_at_once_calls_nothing() {
    let ran = Bench::new("a, b <- a", "").but(|b| b.cancel_after = Some(0)).run().await;
    check(&ran, expect!["0 start of 2; a ready; CANCEL; a cancelled; b cancelled; end cancelled after 0"]);
    assert_eq!(ran.calls.len(), 0);
}

/// S-03, O-06: a tool whose code panics is a failed step, and the rest of the run goes on.
#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failed_step() {
    let ran = Bench::new("a, b <- a, c", "a: panic 10 | c: ok 20").run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 3; a ready; c ready; a #1 calls a; c #1 calls c
        10 a #1 fails (internal); a FAILED (internal): the tool's code panicked; b skipped: a failed
        20 c #1 answers; c ok; end partial after 20"#]],
    );
    let rescued = Bench::new("a or:b", "a: panic").run().await;
    assert_eq!(rescued.status("a"), StepStatus::Succeeded, "a fallback covers it");
}

/// V-07, G-14: what the workspace forbids by the time a call leaves is refused, journaled and never called.
#[tokio::test(start_paused = true)]
async fn the_gate_is_asked_again_at_run_time() {
    let ran = Bench::new("a, b <- a, c", "c: ok 5").but(|b| b.today.kill_switch = vec!["a".into()]).run().await;
    check(
        &ran,
        expect![[r#"
        0 start of 3; a ready; c ready; a #1 calls a; c #1 calls c; a #1 fails (refused); a FAILED (refused): a is hidden: switched off by the kill-switch; b skipped: a failed
        5 c #1 answers; c ok; end partial after 5"#]],
    );
    assert!(ran.calls.iter().all(|c| c.tool == "c"), "a refused tool is not called");
    assert_eq!(ran.state().steps["a"].error.as_ref().unwrap().class, ErrorClass::Refused);
}

/// V-07, G-14: the gate covers fallbacks, and holds resolved arguments against the schema.
#[tokio::test(start_paused = true)]
async fn the_gate_covers_fallbacks_and_resolved_arguments() {
    let ran = Bench::new("a or:b", "a: refused").but(|b| b.today.policy.denied = vec!["b".into()]).run().await;
    assert!(ran.calls.iter().all(|c| c.tool == "a"), "the fallback is denied by now");
    assert_eq!(ran.status("a"), StepStatus::Failed);

    let mut bench = Bench::new("a, b from:a/n", r#"a: ok={"n":"seven"}"#);
    bench.tool("b").parameters = json!({"type": "object", "properties": {"input": {"type": "integer"}}});
    let ran = bench.run().await;
    let error = ran.state().steps["b"].error.clone().unwrap();
    assert_eq!((error.class, ran.calls.len()), (ErrorClass::Validation, 1), "{}", error.message);
}

/// O-10: when the journal cannot be written, the run ends with its error, running calls are dropped and no call leaves
/// that the journal does not hold. Tried with room for every possible number of entries.
#[tokio::test(start_paused = true)]
async fn a_full_journal_stops_the_run() {
    let bench = || Bench::new("a, b, c <- a", "a: ok 10 | b: hang").but(|b| b.cancel_after = Some(1000));
    let whole = bench().run().await.entries.len();
    for room in 0..=whole {
        let ran = bench().but(|b| b.journal_room = room).run().await;
        let journaled = ran.entries.iter().filter(|e| matches!(e.event, RunEvent::AttemptStarted { .. })).count();
        assert_eq!(ran.calls.len(), journaled, "with room for {room}");
        assert_eq!(ran.still_working, 0, "with room for {room}");
        let code = ran.result.err().map(|problem| problem.code);
        assert_eq!(code.as_deref(), (room < whole).then_some("store.full"), "with room for {room} of {whole}");
    }
}

/// O-10, R-04: every prefix of a journal folds to the state that was shown then; a whole journal opens by itself.
#[tokio::test(start_paused = true)]
async fn every_prefix_is_the_state_shown_then() {
    let ran = Bench::new("a, b or:x <- a, c! <- b, d <- c", "a: fail, ok 10 | b: refused | x: low=0.9 | c: validation")
        .run()
        .await;
    for state in &ran.shown {
        assert_eq!(&RunState::of(&ran.entries[..state.seq as usize]), state);
    }
    assert_eq!(ran.shown.last(), Some(ran.state()));
    assert_eq!(ran.state().outcome, Some(RunOutcome::Failed));
}

/// O-10: events about steps that the plan does not have are passed over: a damaged journal still opens.
#[tokio::test(start_paused = true)]
async fn a_damaged_journal_opens() {
    let ran = Bench::new("a", "").run().await;
    let mut entries = ran.entries.clone();
    for entry in &mut entries {
        if let RunEvent::StepSucceeded { step } = &mut entry.event {
            *step = "nobody".into();
        }
    }
    entries.remove(1);
    let state = RunState::of(&entries);
    assert_eq!(state.steps.len(), 1);
    assert_eq!(state.outcome, Some(RunOutcome::Succeeded));
}

/// A plan without steps ends at once.
#[tokio::test(start_paused = true)]
async fn an_empty_plan_ends() {
    check(&Bench::new("", "").run().await, expect!["0 start of 0; end succeeded after 0"]);
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

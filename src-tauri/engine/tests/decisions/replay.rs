//! Replays and forks out of a record (R-02, R-05).

use crate::bench::{Bench, Ran};
use serde_json::{Value, json};
use std::{sync::Arc, time::Instant};
use toolplan_engine::{
    ports::ToolResult,
    replay::{LiveCall, Progress, Replay, conclude, preview, verify},
    run::{
        AnswerSource, AttemptOutcome, BreakOn, Breakpoint, Command, FaultRule, ForkChange, Go, JournalEntry, Origin,
        ReplayPolicy, RunEvent, RunOptions, RunOutcome, RunState, Skip,
    },
};

pub fn record(ran: &Ran) -> Arc<[JournalEntry]> {
    ran.entries.clone().into()
}

pub fn origin(at: u32, change: Option<ForkChange>) -> Origin {
    Origin { run: 1, uid: "u".into(), at, change: change.map(Box::new), policy: ReplayPolicy::default() }
}

fn policy(tools: &[(&str, AnswerSource)]) -> ReplayPolicy {
    ReplayPolicy { tools: tools.iter().map(|(t, s)| (t.to_string(), s.clone())).collect() }
}

/// All that a replay does. Live calls are answered by `live`.
pub fn play(mut replay: Replay, mut live: impl FnMut(&LiveCall) -> Value) -> (Vec<JournalEntry>, Replay) {
    let mut made = replay.prefix();
    let mut fold = RunState::of(&made);
    loop {
        match replay.advance() {
            Progress::Entries { entries, calls } => {
                for entry in &entries {
                    fold.apply(entry);
                }
                assert_eq!(&fold, replay.state(), "the fold of the journal is the live state");
                made.extend(entries);
                for call in calls {
                    let result = ToolResult { data: live(&call), confidence: None, sources: vec![] };
                    replay.answer(&call.step, call.attempt, AttemptOutcome::Succeeded { result }, 7);
                }
            }
            Progress::Waits => panic!("every live call was answered"),
            Progress::Ended => return (made, replay),
        }
    }
}

pub fn never(call: &LiveCall) -> Value {
    panic!("a live call: {call:?}")
}

/// `kind step` of each event.
fn shown(entries: &[JournalEntry]) -> Vec<String> {
    entries.iter().map(|e| format!("{} {}", e.event.kind(), e.event.step().unwrap_or("–"))).collect()
}

fn result_of(entries: &[JournalEntry], step: &str) -> Option<Value> {
    RunState::of(entries).steps[step].result.as_ref().map(|r| r.data.clone())
}

/// R-02: a replay of an unchanged record is faithful: the same events at the same distances, marked as a replay.
#[tokio::test(start_paused = true)]
async fn an_unchanged_replay_is_faithful() {
    let ran = Bench::new("a, b or:spare, c! from:a, d~, e~ <- b", "a: fail 5, ok=7 20 | b: refused 30 | spare: ok 4")
        .run()
        .await;
    let entries = record(&ran);
    let replay = Replay::new(entries.clone(), origin(0, None), ReplayPolicy::default(), 1_000_000).unwrap();
    let (made, replay) = play(replay, never);
    assert!(replay.is_following() && replay.divergence().is_none());
    let ours: Vec<_> = made.iter().filter(|e| !matches!(e.event, RunEvent::Derived { .. })).collect();
    assert_eq!(ours.len(), entries.len());
    for (mine, theirs) in ours.iter().zip(entries.iter()) {
        assert_eq!(mine.event, theirs.event);
        assert_eq!(mine.at_ms - 1_000_000, theirs.at_ms - entries[0].at_ms);
    }
    assert!(matches!(conclude(&replay, &entries, &made), RunEvent::Compared { faithful: true, .. }));
    assert!(RunState::of(&made).origin.is_some());
}

/// R-02: a record that no scheduler of ours could have written is not faithful, and the first decision is named.
#[tokio::test(start_paused = true)]
async fn another_decision_is_named() {
    let mut entries = Bench::new("a, b <- a", "").run().await.entries;
    let at = entries.iter().position(|e| matches!(&e.event, RunEvent::StepSucceeded { step } if step == "a")).unwrap();
    let skipped = RunEvent::StepSkipped { step: "a".into(), reason: Skip::Dependency { root: "x".into() } };
    let seq = entries[at].seq;
    entries[at].event = skipped;
    let found = verify(entries.into()).unwrap();
    assert!(!found.faithful);
    let sentence = found.divergence.unwrap().sentence;
    assert_eq!(sentence, format!("Event {seq}: the origin decided step_skipped a, the replay step_succeeded a"));
}

/// R-02: a value in place of a tool, and a call that then was never recorded: the replay fails and says where.
#[tokio::test(start_paused = true)]
async fn a_miss_fails_the_replay() {
    let ran = Bench::new("a, b from:a or:spare, c", r#"a: ok=1 10 | b: ok=2 10 | c: ok=3 500"#).run().await;
    let given = policy(&[("a", AnswerSource::Static { value: json!(9) })]);
    let replay = Replay::new(record(&ran), origin(0, None), given, 0).unwrap();
    let (made, replay) = play(replay, never);
    let state = RunState::of(&made);
    assert_eq!(state.outcome, Some(RunOutcome::Failed));
    assert_eq!(state.steps["a"].result.as_ref().unwrap().data, json!(9));
    let error = state.steps["b"].error.clone().unwrap();
    assert!(error.message.contains("no answer for b in b, attempt 1"), "{error}");
    assert_eq!(state.steps["b"].attempts.len(), 1, "no retry and no fallback in place of the missing answer");
    let sentence = &replay.divergence().unwrap().sentence;
    assert!(sentence.contains("no answer for b in b"), "{sentence}");
}

/// R-02: only the named tool is live; the others answer from the record, matched by tool and arguments.
#[tokio::test(start_paused = true)]
async fn only_named_tools_are_live() {
    let ran = Bench::new("a, b, c <- a b, d from:b", "a: ok=1 10 | b: ok=2 7 | c: ok=3 5").run().await;
    let live = policy(&[("b", AnswerSource::Live)]);
    let mut calls = vec![];
    let replay = Replay::new(record(&ran), origin(0, None), live, 0).unwrap();
    let (made, replay) = play(replay, |call| {
        calls.push(call.step.clone());
        json!(2)
    });
    assert_eq!(calls, ["b"]);
    assert_eq!(RunState::of(&made).outcome, Some(RunOutcome::Succeeded));
    assert_eq!(result_of(&made, "d"), result_of(&ran.entries, "d"));
    let RunEvent::Compared { faithful, divergence } = conclude(&replay, &ran.entries, &made) else { panic!() };
    assert!(faithful, "the tool gave the same: {divergence:?}");
}

/// R-05: a fork takes over the events up to its point, carries the change, and goes on out of the record.
#[tokio::test(start_paused = true)]
async fn a_fork_goes_on_from_its_point() {
    let ran = Bench::new("a, b, c from:a, d <- b", "a: ok=1 10 | b: ok=2 300 | c: ok=3 5 | d: ok=4 5").run().await;
    let at = ran
        .entries
        .iter()
        .find(|e| matches!(&e.event, RunEvent::AttemptFinished { step, .. } if step == "a"))
        .unwrap()
        .seq
        - 1;
    let change = ForkChange::Result { step: "a".into(), value: json!("new") };
    let edit = RunEvent::ResultEdited {
        step: "a".into(),
        result: ToolResult { data: json!("new"), confidence: None, sources: vec![] },
    };
    let live = policy(&[("c", AnswerSource::Live)]);
    let replay = Replay::fork(record(&ran), origin(at, Some(change)), vec![edit], live, 0).unwrap();
    let (made, _) = play(replay, |call| {
        assert_eq!(Value::from(call.arguments.clone()), json!({"input": "new"}));
        json!("seen")
    });
    assert_eq!(
        made[..at as usize].iter().map(|e| &e.event).collect::<Vec<_>>(),
        ran.entries[..at as usize].iter().map(|e| &e.event).collect::<Vec<_>>()
    );
    assert_eq!(shown(&made)[at as usize..at as usize + 3], ["derived –", "result_edited a", "step_succeeded a"]);
    assert_eq!(result_of(&made, "c"), Some(json!("seen")));
    assert_eq!(result_of(&made, "b"), Some(json!(2)), "b was under way at the fork and answers from the record");
    assert_eq!(result_of(&made, "d"), Some(json!(4)));
    assert_eq!(RunState::of(&made).outcome, Some(RunOutcome::Succeeded));
}

/// R-05: other arguments and skipped steps.
#[tokio::test(start_paused = true)]
async fn forks_change_arguments_and_skip() {
    let ran = Bench::new("a, b <- a, c <- b", "").run().await;
    let before = |kind: &str, step: &str| {
        ran.entries.iter().find(|e| e.event.kind() == kind && e.event.step() == Some(step)).unwrap().seq - 1
    };
    let at = before("step_ready", "b");
    let skip = vec![RunEvent::StepSkipped { step: "b".into(), reason: Skip::ByHand }];
    let (made, _) =
        play(Replay::fork(record(&ran), origin(at, None), skip, ReplayPolicy::default(), 0).unwrap(), never);
    assert_eq!(RunState::of(&made).outcome, Some(RunOutcome::Partial));

    let at = before("attempt_started", "b");
    let arguments = json!({"x": 1}).as_object().cloned().unwrap();
    let edit = || vec![RunEvent::ArgumentsEdited { step: "b".into(), arguments: arguments.clone() }];
    let (made, _) =
        play(Replay::fork(record(&ran), origin(at, None), edit(), ReplayPolicy::default(), 0).unwrap(), never);
    assert_eq!(RunState::of(&made).outcome, Some(RunOutcome::Failed), "the record holds no such call");
    let live = policy(&[("b", AnswerSource::Live)]);
    let (made, _) = play(Replay::fork(record(&ran), origin(at, None), edit(), live, 0).unwrap(), |call| {
        assert_eq!(call.arguments, arguments);
        json!(1)
    });
    assert_eq!(RunState::of(&made).outcome, Some(RunOutcome::Succeeded));
}

/// R-05: the tool is asked only for calls that the record does not hold, the journal marks them, and the preview tells
/// them before, with what rests on their answers.
#[tokio::test(start_paused = true)]
async fn the_tool_answers_where_the_record_is_silent() {
    let ran = Bench::new("a, b from:a, c from:b, d from:c, e <- b", "a: ok=1 9 | b: ok=2 9 | c: ok=3 9 | d: ok=4 9")
        .run()
        .await;
    let at =
        ran.entries.iter().find(|e| e.event.kind() == "attempt_started" && e.event.step() == Some("b")).unwrap().seq;
    let arguments = json!({"input": 9}).as_object().cloned().unwrap();
    let fork = |tools: &[(&str, AnswerSource)]| {
        let edit = vec![RunEvent::ArgumentsEdited { step: "b".into(), arguments: arguments.clone() }];
        Replay::fork(record(&ran), origin(at - 1, None), edit, policy(tools), 0).unwrap()
    };
    let told = |tools: &[(&str, AnswerSource)]| -> Vec<String> {
        let calls = preview(fork(tools)).into_iter();
        calls.map(|c| format!("{} {:?} {:?} {:?}", c.step, c.answerer, c.rests_on, c.otherwise)).collect()
    };
    let or_live = AnswerSource::RecordedOrLive;
    let tools = [("b", or_live.clone()), ("c", or_live.clone()), ("e", or_live.clone())];
    let mut shown = told(&tools);
    shown.sort();
    assert_eq!(
        shown,
        [r#"b Tool [] None"#, r#"c Record ["b"] Some(Tool)"#, r#"d Record ["b"] Some(Nobody)"#, r#"e Record [] None"#]
    );
    assert_eq!(told(&[])[0], "b Nobody [] None");

    let mut asked = vec![];
    let (made, _) = play(fork(&tools), |call| {
        asked.push(call.step.clone());
        json!(2)
    });
    assert_eq!(
        (asked, result_of(&made, "d")),
        (vec!["b".to_string()], Some(json!(4))),
        "b gave the same: the rest is recorded"
    );
    let state = RunState::of(&made);
    assert_eq!(
        state.steps.values().map(|s| s.attempts[0].live).collect::<Vec<_>>(),
        [false, true, false, false, false]
    );
    assert!(verify(made.into()).unwrap().faithful, "a fork with live calls is a journal like any other");
    let mut asked = vec![];
    let (made, _) = play(fork(&tools), |call| {
        asked.push(call.step.clone());
        json!(8)
    });
    assert_eq!(asked, ["b", "c"]);
    assert_eq!(RunState::of(&made).outcome, Some(RunOutcome::Failed), "nobody answers d");
}

/// R-02, O-07, O-10: runs that were paused, edited, struck by faults, cancelled or killed replay faithfully too, and a
/// replay that leaves their record does not wait for a person.
#[tokio::test(start_paused = true)]
async fn what_people_did_is_replayed() {
    let breakpoint = |text: &str| Breakpoint { id: 1, on: text.parse::<BreakOn>().unwrap(), enabled: true };
    let bench = || Bench::new("a, b <- a, c <- a, d", "a: ok=1 10 | b: fail 10, ok 10 | d: ok 900");
    let resume = Command::Resume { go: Go::Continue };
    let paused = bench().but(|b| {
        b.options = RunOptions { breakpoints: vec![breakpoint("step:b")], ..Default::default() };
        let data = json!(5);
        b.commands = vec![
            (100, Command::EditResult { step: "c".into(), data }),
            (200, resume.clone()),
            (300, Command::CancelStep { step: "d".into() }),
        ];
    });
    let faults = bench().but(|b| {
        let rule = |text: &str| text.parse::<FaultRule>().unwrap();
        b.options =
            RunOptions { faults: vec![rule("error:transient tool=a attempts=1")], seed: 3, ..Default::default() };
    });
    let stepped = bench().but(|b| {
        b.options = RunOptions { step_mode: true, ..Default::default() };
        b.commands = vec![(5, Command::Resume { go: Go::Step }), (500, resume.clone())];
    });
    let cancelled = bench().but(|b| b.cancel_after = Some(15));
    for bench in [paused, faults, stepped, cancelled] {
        let ran = bench.run().await;
        let found = verify(record(&ran)).unwrap();
        assert!(found.faithful, "{:?}\n{}", found.divergence, ran.transcript());
        // The same with a record that breaks off anywhere, as after a kill.
        for length in 1..ran.entries.len() {
            let found = verify(ran.entries[..length].to_vec().into()).unwrap();
            assert!(found.faithful, "first {length}: {:?}\n{}", found.divergence, ran.transcript());
        }
        let given = policy(&[("a", AnswerSource::Static { value: json!(1) })]);
        let (made, _) = play(Replay::new(record(&ran), origin(0, None), given, 0).unwrap(), never);
        assert!(RunState::of(&made).outcome.is_some());
    }
}

/// R-02: a thousand replays of a run of ten steps (a second when optimised; here only far from a minute).
#[tokio::test(start_paused = true)]
async fn replays_are_quick() {
    let ran = Bench::new("a, b, c, d <- a b c, e <- d, f <- d, g <- e f, h <- g, i <- h, j <- i", "").run().await;
    let entries = record(&ran);
    let began = Instant::now();
    for _ in 0..100 {
        assert!(verify(entries.clone()).unwrap().faithful);
    }
    let took = began.elapsed();
    assert!(took.as_secs() < 5, "100 replays took {took:?}");
}

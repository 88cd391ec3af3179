//! Going on with a run whose process died (O-10).

use crate::{
    bench::{Bench, Ran},
    lines::commands_of,
};
use expect_test::expect;
use toolplan_engine::{
    run::{JournalEntry, RunEvent, RunOutcome, RunState},
    tool::SideEffects,
};

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

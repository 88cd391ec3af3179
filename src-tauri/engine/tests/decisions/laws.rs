//! What must hold of any run, whatever the plan, its tools, the faults that strike and the people at it (O-01 to O-12),
//! and the law that every journal can be replayed.
//!
//! The cases are the same at every run, as those of [`crate::properties`].

use crate::{
    bench::{Bench, Kept, Ran},
    lines::{Deed, Script},
    properties::config,
    replay::{never, origin, play, record},
    schedule::frontier_is_the_scan,
};
use proptest::{
    collection::{btree_set, vec},
    prelude::*,
    sample::select,
    strategy::ValueTree,
    test_runner::TestRunner,
};
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use toolplan_engine::{
    plan::{ExecutionMode, PlanSpec, StepSpec},
    ports::ErrorClass,
    replay::{Replay, verify},
    run::{
        AttemptOutcome, BreakOn, Breakpoint, Command, FaultRule, Go, ReplayPolicy, RunEvent, RunOutcome, RunState,
        StepStatus, When,
    },
    tool::{Binding, Fallback, FallbackCondition, RetryPolicy, SideEffects},
};

#[derive(Debug, Clone)]
struct AnyRun {
    spec: PlanSpec,
    deeds: Vec<(String, Vec<(Deed, u64)>)>,
    limit: u32,
    cancel_after: Option<u64>,
    /// The gate refuses this tool when its calls leave.
    killed: Option<usize>,
    faults: Vec<FaultRule>,
    seed: u32,
    jitter: u32,
    /// Answers are kept.
    cached: bool,
    /// It waits for a person before its first step.
    stepping: bool,
    /// What a person does.
    commands: Vec<(u64, Command)>,
}

impl AnyRun {
    fn ran(&self) -> Ran {
        let mut script = Script::default();
        self.deeds.iter().for_each(|(tool, deeds)| script.set(tool, deeds.clone()));
        let bench = Bench::of(self.spec.clone(), script).but(|b| {
            b.settings.parallel_limit = self.limit;
            b.settings.jitter_percent = self.jitter;
            b.cancel_after = self.cancel_after;
            b.today.kill_switch = self.killed.iter().map(|k| format!("s{k}")).collect();
            (b.options.faults, b.options.seed) = (self.faults.clone(), self.seed);
            (b.options.step_mode, b.commands) = (self.stepping, self.commands.clone());
            if self.cached {
                b.cache = Some(Arc::new(Kept::default()));
                for tool in b.every_tool() {
                    tool.side_effects = SideEffects::Read;
                    tool.binding = Binding::Mock { result: json!(1), delay_ms: 0 };
                }
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(bench.run())
    }
}

/// The tool that several steps may share, so that one finds the other's answer in the cache.
const COMMON: &str = "common";

fn any_deeds() -> impl Strategy<Value = Vec<(Deed, u64)>> {
    let class = select(vec![ErrorClass::Transient, ErrorClass::Timeout, ErrorClass::Refused, ErrorClass::Internal]);
    let deed = prop_oneof![
        5 => proptest::option::of(0.0f32..1.0).prop_map(|confidence| Deed::Answer { data: None, confidence }),
        3 => class.prop_map(Deed::Fail),
        1 => Just(Deed::Hang),
    ];
    vec((deed, select(vec![0, 0, 1, 10, 500])), 1..4)
}

fn any_faults() -> impl Strategy<Value = Vec<FaultRule>> {
    let rules = [
        "error:transient p=0.4",
        "error:refused p=0.2 attempts=1",
        "delay:30 p=0.5",
        "hang p=0.2",
        "malformed p=0.3",
        "rate_limit:700 p=0.3",
    ];
    let rule = select(rules.to_vec()).prop_map(|rule| rule.parse().expect("a fault"));
    prop_oneof![2 => Just(vec![]), 1 => vec(rule, 1..3)]
}

type StepParts = ((BTreeSet<usize>, BTreeSet<usize>, bool), bool, bool, u32, Option<f32>, bool, u32);

/// A plan without cycles whose steps are listed in any order, over tools that do anything; nobody is at it.
fn any_run() -> impl Strategy<Value = AnyRun> {
    let step = (
        (btree_set(0usize..8, 0..3), btree_set(0usize..8, 0..2), proptest::bool::weighted(0.3)),
        proptest::bool::weighted(0.15),
        proptest::bool::weighted(0.3),
        0u32..3,
        proptest::option::weighted(0.3, 0.0f32..1.0),
        any::<bool>(),
        select(vec![0u32, 20, 2000]),
    );
    let of_run = (vec(step, 1..9), vec(any_deeds(), 10), 1u32..5, any::<u64>());
    let around = (any_faults(), any::<u32>(), select(vec![0u32, 0, 20]), any::<bool>());
    let ends = (proptest::option::weighted(0.2, 0u64..3000), proptest::option::weighted(0.2, 0usize..8));
    (of_run, around, ends).prop_map(|(of_run, (faults, seed, jitter, cached), (cancel_after, killed))| {
        let (steps, deeds, limit, order) = of_run;
        let count = steps.len();
        let mut listed: Vec<StepSpec> = steps.into_iter().enumerate().map(|(at, parts)| step_of(at, parts)).collect();
        listed.rotate_left((order % count as u64) as usize);
        if order & 64 == 0 {
            listed.reverse();
        }
        let names = (0..8).map(|i| format!("s{i}")).chain(["spare".to_string(), COMMON.to_string()]);
        AnyRun {
            spec: PlanSpec { steps: listed, reasoning: String::new() },
            deeds: names.zip(deeds).collect(),
            limit,
            cancel_after,
            killed: killed.filter(|k| *k < count),
            faults,
            seed,
            jitter,
            cached,
            stepping: false,
            commands: vec![],
        }
    })
}

/// Step number `at` depends on steps of lower numbers only.
fn step_of(at: usize, parts: StepParts) -> StepSpec {
    let ((after, from, shares), critical, sequential, tries, threshold, on_error, timeout) = parts;
    let condition = if on_error { FallbackCondition::OnError } else { FallbackCondition::OnLowConfidence };
    let from: Vec<Value> =
        from.into_iter().filter(|d| *d < at).map(|d| json!({"$from": format!("s{d}"), "path": ""})).collect();
    StepSpec {
        id: format!("s{at}"),
        tool: if shares { COMMON.into() } else { format!("s{at}") },
        arguments: Map::from_iter([("input".to_string(), Value::from(from))]),
        dependencies: after.into_iter().filter(|d| *d < at).map(|d| format!("s{d}")).collect(),
        mode: if sequential { ExecutionMode::Sequential } else { ExecutionMode::Parallel },
        timeout_ms: Some(timeout).filter(|t| *t > 0),
        retry: Some(RetryPolicy { max_retries: tries, base_ms: 100 }),
        fallback: threshold.map(|t| Fallback { condition, threshold: Some(t), ..Fallback::on_error("spare") }),
        critical,
        ..Default::default()
    }
}

/// The same with a person at it, who does anything at any moment and lets go in the end.
fn any_handled_run() -> impl Strategy<Value = AnyRun> {
    let hands = vec((0_u64..3000, 0_usize..11, 0_usize..8), 1..12);
    (any_run(), hands, any::<bool>()).prop_map(|(run, hands, stepping)| {
        let steps: Vec<&String> = run.spec.steps.iter().map(|s| &s.id).collect();
        let mut commands: Vec<(u64, Command)> =
            hands.into_iter().map(|(at, what, which)| (at, hand(what, steps[which % steps.len()]))).collect();
        commands.sort_by_key(|(at, _)| *at);
        commands.push((5_000_000, Command::SetBreakpoints { breakpoints: vec![] }));
        commands.push((5_000_001, Command::Resume { go: Go::Continue }));
        AnyRun { stepping, commands, ..run }
    })
}

fn hand(what: usize, step: &str) -> Command {
    let step = step.to_string();
    match what {
        0 => Command::Pause,
        1 => Command::Resume { go: Go::Continue },
        2 => Command::Resume { go: Go::Step },
        3 => Command::NextStage,
        4 => Command::Resume { go: Go::To { step } },
        5 => Command::CancelStep { step },
        6 => Command::EditResult { step, data: json!({"items": [1]}) },
        7 => Command::Skip { step },
        8 => Command::Retry { step },
        9 => Command::EditArguments { step, arguments: Map::from_iter([("input".to_string(), json!([]))]) },
        _ => {
            let on = BreakOn::Step { step, when: When::Before };
            Command::SetBreakpoints { breakpoints: vec![Breakpoint { id: 1, on, enabled: true }] }
        }
    }
}

/// What a step needs before it starts, as its plan says.
fn needs(spec: &StepSpec) -> impl Iterator<Item = &str> {
    let referred = spec.arguments["input"].as_array().unwrap().iter().map(|r| r["$from"].as_str().unwrap());
    spec.dependencies.iter().map(String::as_str).chain(referred)
}

proptest! {
    #![proptest_config(config())]

    /// O-01 to O-12, R-04: any plan over any tools ends; the bench checks that the journal comes first and that the
    /// fold of the journal is the live state, at every event. No step starts before its dependencies have succeeded,
    /// no more run than the limit allows, sequential steps never overlap, and every step ends in one way.
    #[test]
    fn any_run_ends_and_keeps_its_laws(run in any_run()) {
        let ran = run.ran();
        prop_assert!(ran.result.is_ok(), "{:?}\n{}", ran.result, ran.transcript());
        let state = ran.state();
        prop_assert!(state.outcome.is_some());
        prop_assert!(state.steps.values().all(|s| s.status.is_done()), "{}", ran.transcript());
        prop_assert!(ran.most_at_once <= run.limit as usize);
        prop_assert_eq!(ran.still_working, 0);

        let mut now = RunState::default();
        let mut ended = BTreeSet::new();
        for entry in &ran.entries {
            if let RunEvent::AttemptStarted { step, .. } = &entry.event {
                let spec = run.spec.steps.iter().find(|s| s.id == *step).unwrap();
                for needed in needs(spec) {
                    prop_assert_eq!(now.steps[needed].status, StepStatus::Succeeded, "{} before {}", step, needed);
                }
                prop_assert!(!now.cancelling, "{} starts after the cancellation", step);
            }
            if let RunEvent::StepSucceeded { step } | RunEvent::StepFailed { step, .. } | RunEvent::StepSkipped { step, .. } | RunEvent::StepCancelled { step } = &entry.event {
                prop_assert!(ended.insert(step.clone()), "{} ends twice", step);
            }
            now.apply(entry);
            let active = |s: &&StepSpec| now.steps.get(&s.id).is_some_and(|s| s.is_in_flight());
            let running: Vec<_> = run.spec.steps.iter().filter(active).collect();
            prop_assert!(running.len() <= run.limit as usize, "{}", ran.transcript());
            prop_assert!(running.iter().filter(|s| s.mode == ExecutionMode::Sequential).count() <= 1, "{}", ran.transcript());
        }
        let open = |s: &toolplan_engine::run::StepState| s.attempts.iter().any(|a| a.duration_ms.is_none());
        prop_assert!(!now.steps.values().any(open), "no attempt is left open\n{}", ran.transcript());
        if let Some(killed) = run.killed {
            prop_assert!(ran.calls.iter().all(|c| c.tool != format!("s{killed}")), "a refused tool is called");
        }
        let finished = matches!(ran.entries.last().unwrap().event, RunEvent::Finished { .. });
        prop_assert!(finished, "{}", ran.transcript());
        frontier_is_the_scan(&run.spec, &ran.entries);
    }

    /// O-07, O-01, O-02: whatever a person does to a run, at whatever moment, it ends; no step starts while one of its
    /// attempts is under way, before its dependencies have succeeded, while the run is paused, or beyond the limit.
    #[test]
    fn any_hands_keep_the_laws(run in any_handled_run()) {
        let ran = run.ran();
        prop_assert!(ran.result.is_ok(), "{:?}\n{}", ran.result, ran.transcript());
        prop_assert!(ran.most_at_once <= run.limit as usize);
        prop_assert_eq!(ran.still_working, 0);
        let mut now = RunState::default();
        for entry in &ran.entries {
            if let RunEvent::AttemptStarted { step, .. } = &entry.event {
                prop_assert!(now.paused.is_none(), "{} starts in a pause\n{}", step, ran.transcript());
                prop_assert!(!now.steps[step].is_in_flight(), "{} starts twice\n{}", step, ran.transcript());
                prop_assert!(!now.steps[step].status.is_done(), "{} starts after its end\n{}", step, ran.transcript());
                let spec = run.spec.steps.iter().find(|s| s.id == *step).unwrap();
                for needed in &spec.dependencies {
                    prop_assert_eq!(now.steps[needed].status, StepStatus::Succeeded, "{} before {}", step, needed);
                }
            }
            now.apply(entry);
        }
        prop_assert!(now.outcome.is_some(), "{}", ran.transcript());
        prop_assert!(now.steps.values().all(|s| s.status.is_done()), "{}", ran.transcript());
        frontier_is_the_scan(&run.spec, &ran.entries);
    }

    /// The replay law: over any plan, any tools, any faults and any hands, the journal's fold is the live
    /// state, every recorded decision is made again, and a replay is the origin event by event. A fork at any event
    /// ends, and where the record held all of its calls its own journal replays as well.
    #[test]
    fn every_journal_replays(run in prop_oneof![any_run(), any_handled_run()], cut in 0usize..200) {
        let ran = run.ran();
        let entries = record(&ran);
        let found = verify(entries.clone()).unwrap();
        prop_assert!(found.faithful, "{:?}\n{}", found.divergence, ran.transcript());
        let (made, replay) = play(Replay::new(entries.clone(), origin(0, None), ReplayPolicy::default(), 0).unwrap(), never);
        prop_assert!(replay.is_following());
        prop_assert_eq!(made.len(), entries.len() + 1);

        let started = entries.iter().position(|e| matches!(e.event, RunEvent::Started { .. })).unwrap();
        let at = entries[(started + cut % (entries.len() - started)).min(entries.len() - 1).max(started)].seq;
        if at < entries.last().unwrap().seq {
            let (forked, fork) = play(Replay::fork(entries.clone(), origin(at, None), vec![], ReplayPolicy::default(), 0).unwrap(), never);
            let state = RunState::of(&forked);
            prop_assert!(state.outcome.is_some(), "forked at {at}\n{}", ran.transcript());
            prop_assert!(state.steps.values().all(|s| s.status.is_done()));
            let found = verify(forked.into()).unwrap();
            prop_assert!(found.faithful || fork.divergence().is_some(), "forked at {at}: {:?}\n{}", found.divergence, ran.transcript());
        }
    }
}

/// The laws are about something: among the runs that they are held against, everything happens that can happen to a
/// run while one process drives it.
#[test]
fn the_laws_see_everything() {
    let mut runner = TestRunner::new(config());
    let runs = prop_oneof![any_run(), any_handled_run()];
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..300 {
        let ran = runs.new_tree(&mut runner).unwrap().current().ran();
        let mut told: BTreeSet<String> = ran.entries.iter().map(|e| e.event.kind().to_string()).collect();
        for entry in &ran.entries {
            told.extend(
                match &entry.event {
                    RunEvent::FallbackStarted { reason, .. } if reason.starts_with("confidence") => {
                        Some("low confidence")
                    }
                    RunEvent::FallbackStarted { .. } => Some("fallback on error"),
                    RunEvent::AttemptFinished { outcome: AttemptOutcome::Failed { error }, .. } => match error.class {
                        ErrorClass::Timeout => Some("timeout"),
                        ErrorClass::Refused => Some("refused"),
                        ErrorClass::RateLimited => Some("rate limit"),
                        _ => None,
                    },
                    RunEvent::Finished { outcome, .. } => Some(match outcome {
                        RunOutcome::Succeeded => "ends well",
                        RunOutcome::Partial => "ends in part",
                        RunOutcome::Failed => "fails",
                        RunOutcome::Cancelled => "ends cancelled",
                        RunOutcome::Interrupted => "dies",
                    }),
                    _ => None,
                }
                .map(str::to_string),
            );
        }
        told.into_iter().for_each(|kind| *seen.entry(kind).or_default() += 1);
    }
    for wanted in [
        "attempt_finished",
        "attempt_started",
        "arguments_edited",
        "breakpoint_hit",
        "breakpoints_set",
        "cache_hit",
        "cancel_requested",
        "configured",
        "ends cancelled",
        "ends in part",
        "ends well",
        "fails",
        "fallback on error",
        "fault_injected",
        "finished",
        "low confidence",
        "paused",
        "rate limit",
        "refused",
        "result_edited",
        "resumed",
        "retry_requested",
        "retry_scheduled",
        "started",
        "step_cancelled",
        "step_failed",
        "step_ready",
        "step_skipped",
        "step_succeeded",
        "timeout",
    ] {
        assert!(seen.get(wanted).is_some_and(|runs| *runs >= 3), "{wanted} hardly ever happens: {seen:?}");
    }
}

//! What goes wrong on purpose, and what a run does about it: faults (O-12), the pauses of retries (O-03), fallbacks
//! (O-05), timeouts from history (O-11), results from the cache (O-08).

use crate::{
    bench::{Bench, Kept, check},
    lines::Script,
};
use expect_test::expect;
use serde_json::{Value, json};
use std::{collections::HashMap, sync::Arc};
use toolplan_engine::{
    plan::{PlanSpec, StepSpec},
    run::{JournalEntry, RunEvent, StepStatus, timeout::CallHistory},
    tool::{Binding, SideEffects},
};

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

//! How many events a second the store takes in, from one run and from many at once, and how it groups them.

use crate::{
    Options, runs,
    table::{Table, percentile, row},
};
use serde_json::{Map, json};
use std::{sync::Arc, time::Instant};
use toolplan_store::Store;
use toolplan_workbench::engine::{
    plan::PlanSpec,
    ports::{Journal, ToolResult},
    run::{AttemptOutcome, RunEvent, RunId},
    tool::RetryPolicy,
};

pub(crate) fn tables(options: &Options) -> Vec<Table> {
    let mut table = Table::new(
        "Journal: bursts of events of runs under way, secrets taken out",
        &[
            "appenders",
            "events an append",
            "with a secret",
            "events",
            "events/s",
            "events/s, into the tables",
            "transactions",
            "append p50, µs",
            "p99, µs",
        ],
    );
    let total = if options.quick { 2_000 } else { 40_000 };
    for (appenders, burst, secret) in
        [(1, 1, false), (1, 10, false), (10, 1, false), (10, 10, false), (100, 10, false), (10, 10, true)]
    {
        let mut passes: Vec<Measured> = (0..if options.quick { 1 } else { 5 })
            .map(|_| {
                let store = Arc::new(Store::temporary().expect("a temporary folder can be written"));
                runs::block_on(appended(store, appenders, total / appenders / burst, burst, secret))
            })
            .collect();
        passes.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let measured = &passes[passes.len() / 2];
        let events = (measured.waits.len() * burst) as f64;
        table.add(row![
            appenders,
            burst,
            if secret { "1 in 8" } else { "none" },
            events,
            events / measured.seconds,
            events / measured.seconds_stored,
            measured.transactions as f64,
            percentile(&measured.waits, 0.5),
            percentile(&measured.waits, 0.99),
        ]);
    }
    table.note(
        "Every appender is a run that hands over its next events when the last ones are durable: the four events of a \
         step in turn, with the statistics of its tool. An append's time is what its run waits. *Into the tables* is \
         until the last event can be read. Every event is looked at for secrets. The pass of median duration is shown, \
         each into a new file.",
    );
    vec![table]
}

struct Measured {
    /// Until the last event is durable, and until it is in the tables.
    seconds: f64,
    seconds_stored: f64,
    transactions: u64,
    /// Microseconds of each append.
    waits: Vec<f64>,
}

async fn appended(store: Arc<Store>, appenders: usize, appends: usize, burst: usize, secret: bool) -> Measured {
    let mut ids = vec![];
    for _ in 0..appenders {
        let run = store.journal().create_run("burst", "bench", 1).await.expect("the store can be written");
        // From here on its events go through the log, as those of every run that is driven.
        store.append(run, vec![started()]).await.expect("the store can be written");
        ids.push(run);
    }
    let before = store.transactions();
    let began = Instant::now();
    let appender = |run| tokio::spawn(appender(store.clone(), run, appends, burst, secret));
    let tasks: Vec<_> = ids.iter().copied().map(appender).collect();
    let mut waits = vec![];
    for task in tasks {
        waits.extend(task.await.expect("no appender panics"));
    }
    let seconds = began.elapsed().as_secs_f64();
    // A reader waits until what is in the log is in the tables.
    store.journal().run(ids[0]).expect("the run is stored");
    let seconds_stored = began.elapsed().as_secs_f64();
    Measured { seconds, seconds_stored, transactions: store.transactions() - before, waits }
}

async fn appender(store: Arc<Store>, run: RunId, appends: usize, burst: usize, secret: bool) -> Vec<f64> {
    let mut waits = Vec::with_capacity(appends);
    for append in 0..appends {
        let events = (append * burst..(append + 1) * burst).map(|i| event(i, secret)).collect();
        let began = Instant::now();
        store.append(run, events).await.expect("the store can be written");
        waits.push(began.elapsed().as_secs_f64() * 1e6);
    }
    waits
}

fn started() -> RunEvent {
    let retry = RetryPolicy::default();
    RunEvent::Started { plan: PlanSpec::default(), catalog_revision: 1, parallel_limit: 5, timeout_ms: 30_000, retry }
}

/// The `i`-th event of a run without end; with `secret` every second call carries a key.
fn event(i: usize, secret: bool) -> RunEvent {
    let step = format!("step-{}", i / 4 + 1);
    match i % 4 {
        0 => RunEvent::StepReady { step },
        1 => {
            let mut arguments = Map::new();
            let question = match secret && (i / 4).is_multiple_of(2) {
                true => "is sk-live-0123456789abcdef0123 still valid?",
                false => "what an ordinary question looks like",
            };
            arguments.insert("query".into(), json!(question));
            RunEvent::AttemptStarted { step, attempt: 1, tool: "vector_search".into(), arguments }
        }
        2 => {
            let result = ToolResult { data: json!({"ok": true}), confidence: Some(0.9), sources: vec![] };
            RunEvent::AttemptFinished {
                step,
                attempt: 1,
                duration_ms: 12,
                outcome: AttemptOutcome::Succeeded { result },
            }
        }
        _ => RunEvent::StepSucceeded { step },
    }
}

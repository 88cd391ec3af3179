//! How many events a second the store takes in, from one run and from many at once, and how it groups them.

use crate::{
    Options, runs,
    table::{Table, percentile, row},
};
use serde_json::{Map, json};
use std::{sync::Arc, time::Instant};
use toolplan_store::Store;
use toolplan_workbench::engine::{
    ports::{Journal, ToolResult},
    run::{AttemptOutcome, RunEvent, RunId},
};

pub(crate) fn tables(options: &Options) -> Vec<Table> {
    let mut table = Table::new(
        "Journal: bursts of events into SQLite",
        &[
            "appenders",
            "events an append",
            "events",
            "events/s",
            "transactions",
            "events a transaction",
            "append p50, µs",
            "p99, µs",
        ],
    );
    let total = if options.quick { 2_000 } else { 40_000 };
    for appenders in [1, 10, 100] {
        for burst in [1, 10] {
            let mut passes: Vec<Measured> = (0..if options.quick { 1 } else { 5 })
                .map(|_| {
                    let store = Arc::new(Store::temporary().expect("a temporary folder can be written"));
                    runs::block_on(appended(store, appenders, total / appenders / burst, burst))
                })
                .collect();
            passes.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
            let measured = &passes[passes.len() / 2];
            let events = (measured.waits.len() * burst) as f64;
            table.add(row![
                appenders,
                burst,
                events,
                events / measured.seconds,
                measured.transactions as f64,
                events / measured.transactions as f64,
                percentile(&measured.waits, 0.5),
                percentile(&measured.waits, 0.99),
            ]);
        }
    }
    table.note(
        "Every appender is a run that hands over its next events when the last ones are committed: the four events of a \
         step in turn, with the statistics of its tool. An append's time is what its run waits. The pass of median \
         duration is shown, each into a new file; passes differ by what else the disk has to do.",
    );
    vec![table]
}

struct Measured {
    seconds: f64,
    transactions: u64,
    /// Microseconds of each append.
    waits: Vec<f64>,
}

async fn appended(store: Arc<Store>, appenders: usize, appends: usize, burst: usize) -> Measured {
    let mut ids = vec![];
    for _ in 0..appenders {
        ids.push(store.journal().create_run("burst", "bench", 1).await.expect("the store can be written"));
    }
    let before = store.transactions();
    let began = Instant::now();
    let tasks: Vec<_> = ids.into_iter().map(|run| tokio::spawn(appender(store.clone(), run, appends, burst))).collect();
    let mut waits = vec![];
    for task in tasks {
        waits.extend(task.await.expect("no appender panics"));
    }
    Measured { seconds: began.elapsed().as_secs_f64(), transactions: store.transactions() - before, waits }
}

async fn appender(store: Arc<Store>, run: RunId, appends: usize, burst: usize) -> Vec<f64> {
    let mut waits = Vec::with_capacity(appends);
    for append in 0..appends {
        let events = (append * burst..(append + 1) * burst).map(event).collect();
        let began = Instant::now();
        store.append(run, events).await.expect("the store can be written");
        waits.push(began.elapsed().as_secs_f64() * 1e6);
    }
    waits
}

/// The `i`-th event of a run without end.
fn event(i: usize) -> RunEvent {
    let step = format!("step-{}", i / 4 + 1);
    match i % 4 {
        0 => RunEvent::StepReady { step },
        1 => {
            let mut arguments = Map::new();
            arguments.insert("query".into(), json!("what an ordinary question looks like"));
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

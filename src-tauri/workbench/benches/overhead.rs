//! What a step costs when its tool does nothing, beside Python's asyncio and LangGraph on the same shapes.

use crate::{
    Options,
    peers::Peers,
    runs::{self, Bench, Forgetful, Graph, Waiting},
    table::{Table, median, percentile, row},
};
use std::{sync::Arc, time::Duration};
use toolplan_store::Store;

/// The shapes: name, graph, parallel limit where it is not the number of steps.
const SHAPES: [(&str, Graph, Option<u32>); 3] =
    [("parallel", Graph::Parallel, None), ("parallel_5", Graph::Parallel, Some(5)), ("chain", Graph::Chain, None)];

pub(crate) fn tables(options: &Options) -> Vec<Table> {
    let repeat = if options.quick { 3 } else { 11 };
    let peers = Peers::measure(options, repeat);
    let mut beside = Table::new(
        "Overhead per no-op step (µs, wall time / steps)",
        &[
            "steps",
            "shape",
            "Toolplan, SQLite",
            "Toolplan, no journal",
            "asyncio",
            "LangGraph",
            "LangGraph, SQLite",
            "× asyncio",
            "LangGraph ÷ ours",
            "LangGraph, SQLite ÷ ours",
        ],
    );
    let mut journaled = Table::new(
        "The journaled runs in detail",
        &[
            "steps",
            "shape",
            "runs",
            "best, µs/step",
            "median",
            "worst",
            "events",
            "transactions",
            "steps a transaction",
        ],
    );
    let store = Arc::new(Store::temporary().expect("a temporary folder can be written"));
    for steps in [100, 1_000] {
        for (shape, graph, limit) in SHAPES {
            let limit = limit.unwrap_or(1_000);
            let bench = Bench::new(runs::spec(graph, steps), limit, Waiting(Duration::ZERO));
            let (stored, transactions, bare) = runs::block_on(async {
                bench.run_stored(&store).await;
                let before = store.transactions();
                let mut stored = vec![];
                for _ in 0..repeat {
                    stored.push(bench.run_stored(&store).await * 1000.0 / steps as f64);
                }
                // Creating the run is a transaction of its own, outside the time taken.
                let transactions = (store.transactions() - before) as f64 / repeat as f64 - 1.0;
                let journal = Arc::new(Forgetful::default());
                bench.run(journal.clone(), 0).await;
                let mut bare = vec![];
                for run in 1..=repeat {
                    bare.push(bench.run(journal.clone(), run as u32).await * 1000.0 / steps as f64);
                }
                (stored, transactions, bare)
            });
            let peer = |who: &str| peers.get(who, shape, steps);
            let ours = median(&stored);
            beside.add(row![
                steps,
                shape,
                ours,
                median(&bare),
                peer("asyncio"),
                peer("langgraph"),
                peer("langgraph_sqlite"),
                peer("asyncio").map(|us| ours / us),
                peer("langgraph").map(|us| us / ours),
                peer("langgraph_sqlite").map(|us| us / ours),
            ]);
            journaled.add(row![
                steps,
                shape,
                repeat,
                percentile(&stored, 0.0),
                median(&stored),
                percentile(&stored, 1.0),
                events_of_last_run(&store),
                transactions,
                steps as f64 / transactions,
            ]);
        }
    }
    beside.note(format!(
        "Medians of {repeat} runs after one to warm up; the last three columns compare the journaled runs. `parallel` starts all steps at once, `parallel_5` at most five, \
         `chain` one after the other. {}",
        peers.about()
    ));
    vec![beside, journaled]
}

fn events_of_last_run(store: &Store) -> Option<f64> {
    let run = store.journal().runs(1, None).ok()?.first()?.id;
    Some(store.journal().events(run).ok()?.0.len() as f64)
}

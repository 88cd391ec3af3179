//! Many runs at once, real graphs, failing tools and repeated questions.

use crate::{
    Options,
    runs::{self, Bench, Forgetful, Graph, Waiting},
    table::{Table, median, percentile, row},
};
use async_trait::async_trait;
use serde_json::{Map, Value, json};
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};
use toolplan_store::Store;
use toolplan_workbench::{
    adapters::cache::MemoryCache,
    engine::{
        plan::{PlanSpec, StepSpec, critical_path},
        ports::{CallContext, ToolError, ToolResult, ToolRuntime},
        run::StepStatus,
        settings::CacheSettings,
        tool::ToolSpec,
    },
    eval::{self, plans},
};

pub(crate) fn tables(options: &Options) -> Vec<Table> {
    vec![many(options), graphs(options), failures(options), repeated(options)]
}

/// 1,000 runs of 10 steps, all at once.
fn many(options: &Options) -> Table {
    let mut table = Table::new(
        "Runs at once, 10 steps each that answer after 5 ms, journaled",
        &["runs", "shape", "wall time, ms", "runs/s", "events/s", "transactions", "a run p50, ms", "p99, ms"],
    );
    let runs = if options.quick { 100 } else { 1_000 };
    for (shape, graph) in [("parallel", Graph::Parallel), ("chain", Graph::Chain)] {
        let store = Arc::new(Store::temporary().expect("a temporary folder can be written"));
        let bench = Arc::new(Bench::new(runs::spec(graph, 10), 5, Waiting(Duration::from_millis(5))));
        let (wall, times, events) = runs::block_on(async {
            let began = Instant::now();
            let tasks: Vec<_> = (0..runs)
                .map(|_| {
                    let (bench, store) = (bench.clone(), store.clone());
                    tokio::spawn(async move { bench.run_stored(&store).await })
                })
                .collect();
            let mut times = vec![];
            for task in tasks {
                times.push(task.await.expect("no run panics"));
            }
            // The last events are in the log; a reader waits until they are in the tables.
            let events: usize =
                (1..=runs).map(|run| store.journal().events(run).map_or(0, |(events, _)| events.len())).sum();
            (began.elapsed().as_secs_f64(), times, events)
        });
        table.add(row![
            runs as usize,
            shape,
            wall * 1000.0,
            f64::from(runs) / wall,
            events as f64 / wall,
            store.transactions() as f64,
            percentile(&times, 0.5),
            percentile(&times, 0.99),
        ]);
    }
    table.note("From the first run's creation until every event can be read from the tables.");
    table
}

/// A tool that takes as long as its step says.
struct Timed(HashMap<String, Duration>);

#[async_trait]
impl ToolRuntime for Timed {
    async fn call(
        &self,
        _tool: &ToolSpec,
        _arguments: &Map<String, Value>,
        context: &CallContext,
    ) -> Result<ToolResult, ToolError> {
        tokio::time::sleep(self.0.get(&context.step).copied().unwrap_or_default()).await;
        Ok(ToolResult { data: Value::Null, confidence: None, sources: vec![] })
    }
}

/// Labelled graphs whose durations are scaled so that the longest path takes a fifth of a second.
fn graphs(options: &Options) -> Table {
    const PATH_MS: f64 = 500.0;
    let mut table = Table::new(
        "Wall time of real graphs against their longest path (scaled to 500 ms), journaled",
        &["file", "graphs", "within 5 %", "excess p50, %", "p99, %", "sum / wall time, mean"],
    );
    let Some(folder) = options.data.as_ref().map(|data| data.join("plans")) else {
        table.note("No data given (--data DIR).");
        return table;
    };
    let mut files: Vec<_> = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|f| f.path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "jsonl"));
    files.sort();
    let store = Arc::new(Store::temporary().expect("a temporary folder can be written"));
    for file in files {
        let Ok(read) = eval::read_cases::<plans::Case>(&file) else { continue };
        let limit = if options.quick { 5 } else { 100 };
        let (mut excess, mut speed_up) = (vec![], vec![]);
        for case in read.cases.iter().filter(|c| c.optimal_seconds.is_some_and(|s| s > 0.0)).take(limit) {
            let Some((spec, seconds)) = spec_of(case) else { continue };
            let durations: Vec<f64> = seconds.iter().map(|(_, s)| *s).collect();
            let Some((path, _)) = critical_path(&spec.dependency_indexes(), &durations).filter(|(s, _)| *s > 0.0)
            else {
                continue;
            };
            // Milliseconds of the benchmark for a second of the graph.
            let scale = PATH_MS / path;
            let times = seconds.iter().map(|(id, s)| (id.clone(), Duration::from_secs_f64(s * scale / 1000.0)));
            let bench = Bench::new(spec, 1_000, Timed(times.collect()));
            let wall = runs::block_on(bench.run_stored(&store));
            excess.push((wall / PATH_MS - 1.0) * 100.0);
            speed_up.push(seconds.iter().map(|(_, s)| s).sum::<f64>() * scale / wall);
        }
        if excess.is_empty() {
            continue;
        }
        table.add(row![
            read.name,
            excess.len(),
            excess.iter().filter(|e| **e <= 5.0).count(),
            median(&excess),
            percentile(&excess, 0.99),
            speed_up.iter().sum::<f64>() / speed_up.len() as f64,
        ]);
    }
    table.note(
        "No parallel limit. The timer's grain is a millisecond, so a path of ten steps is up to 2 % longer by itself.",
    );
    table
}

/// The case as a plan of no-op steps, and the seconds of each.
fn spec_of(case: &plans::Case) -> Option<(PlanSpec, Vec<(String, f64)>)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let nodes = case.nodes.as_ref()?;
    let seconds: Option<Vec<_>> = nodes.iter().map(|n| Some((text(&n.id), n.seconds?))).collect();
    let steps = nodes.iter().map(|node| {
        let id = text(&node.id);
        let before = case.edges.iter().flatten().filter(|(from, to)| text(to) == id && text(from) != "START");
        StepSpec {
            dependencies: before.map(|(from, _)| text(from)).collect(),
            tool: runs::TOOL.into(),
            id,
            ..StepSpec::default()
        }
    });
    Some((PlanSpec { steps: steps.collect(), reasoning: String::new() }, seconds?))
}

/// Three calls in ten fail for a moment.
fn failures(options: &Options) -> Table {
    let mut table = Table::new(
        "Failed steps when 30 % of the attempts fail for a moment (seeded)",
        &["retries", "steps", "failed", "failed, %", "fewer than without, %", "attempts a step"],
    );
    let mut without = 0.0;
    let seeds = if options.quick { 3 } else { 50 };
    for retries in [0, 1, 2, 3] {
        let (mut failed, mut steps, mut attempts) = (0, 0, 0);
        for seed in 0..seeds {
            let bench =
                Bench::new(runs::spec(Graph::Parallel, 100), 100, Waiting(Duration::ZERO)).with(move |driver| {
                    driver.options.faults = vec!["error:transient p=0.3".parse().expect("a fault")];
                    driver.options.seed = seed;
                    driver.settings.retry.max_retries = retries;
                    driver.settings.retry.base_ms = 1;
                });
            let state = runs::block_on(bench.end(Arc::new(Forgetful::default()), seed + 1));
            steps += state.steps.len();
            failed += state.steps.values().filter(|s| s.status == StepStatus::Failed).count();
            attempts += state.steps.values().map(|s| s.attempts.len()).sum::<usize>();
        }
        let share = failed as f64 * 100.0 / steps as f64;
        if retries == 0 {
            without = share;
        }
        let fewer = (1.0 - share / without) * 100.0;
        table.add(row![retries as usize, steps, failed, share, fewer, attempts as f64 / steps as f64]);
    }
    table
}

/// Questions as people ask them: a few over and over, many once.
fn repeated(options: &Options) -> Table {
    let mut table = Table::new(
        "The result cache on a repeated workload (1,000 calls of 2 ms in 100 runs, question n asked in proportion to 1/n)",
        &["cache", "calls", "answered from the cache", "hit rate, %", "wall time, ms"],
    );
    let runs = if options.quick { 10 } else { 100 };
    for on in [false, true] {
        let cache = Arc::new(MemoryCache::new(&CacheSettings::default()));
        let (mut hits, mut calls) = (0, 0);
        let began = Instant::now();
        runs::block_on(async {
            for run in 0..runs {
                let mut spec = runs::spec(Graph::Parallel, 10);
                for (i, step) in spec.steps.iter_mut().enumerate() {
                    step.arguments.insert("query".into(), json!(format!("question {}", question(run * 10 + i as u32))));
                }
                let (cache, journal) = (cache.clone(), Arc::new(Forgetful::default()));
                let bench = Bench::new(spec, 10, Waiting(Duration::from_millis(2))).with(move |driver| {
                    driver.cache = on.then(|| cache.clone() as _);
                });
                let state = bench.end(journal.clone(), run + 1).await;
                let all = state.steps.values().flat_map(|s| &s.attempts);
                calls += all.clone().count();
                hits += all.filter(|a| a.cached_ms.is_some()).count();
            }
        });
        let state = if on { "on" } else { "off" };
        table.add(row![state, calls, hits, hits as f64 * 100.0 / calls as f64, began.elapsed().as_secs_f64() * 1000.0]);
    }
    table
}

/// The `i`-th of a fixed sequence of question numbers: 1 of 500, drawn in proportion to 1/n.
fn question(i: u32) -> u32 {
    let mut state = u64::from(i).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d;
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let dice = ((state ^ (state >> 27)) >> 11) as f64 / (1_u64 << 53) as f64;
    // The inverse of the harmonic sum, near enough.
    500_f64.powf(dice).round() as u32
}

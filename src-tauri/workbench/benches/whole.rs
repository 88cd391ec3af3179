//! The same no-op steps through the whole application: a workspace folder, mock bindings, the runtime gate with its
//! catalog and settings of the moment, and a follower, as the window is one.

use crate::{
    Options, data,
    runs::{self, Graph},
    table::{Table, median, row},
};
use serde_json::json;
use std::{sync::Arc, time::Instant};
use toolplan_workbench::{
    Options as WorkbenchOptions, Workbench,
    engine::{
        Problem,
        request::Request,
        run::RunEvent,
        settings::{CacheSettings, RunSettings, Settings},
        tool::{Binding, ToolSpec},
    },
};

pub(crate) fn tables(options: &Options) -> Vec<Table> {
    let mut table = Table::new(
        "Overhead per mock step through the Workbench (µs, wall time / steps)",
        &["tools", "steps", "parallel limit", "shape", "µs a step", "ms a run"],
    );
    let repeat = if options.quick { 1 } else { 5 };
    for tools in [10, 1_000, 20_000] {
        let specs = data::tools(options, tools);
        let measured = runs::block_on(async {
            let mut rows = vec![];
            for (shape, graph, steps, limit) in [
                // What a run costs beside its steps: the planning, its place in the journal, its beginning and its end.
                ("chain", Graph::Chain, 1, 5),
                ("parallel", Graph::Parallel, 100, 5),
                ("parallel", Graph::Parallel, 1_000, 1_000),
                ("chain", Graph::Chain, 100, 5),
                ("chain", Graph::Chain, 1_000, 5),
            ] {
                let us = steps_through(specs.clone(), graph, steps, limit, repeat).await?;
                rows.push(row![tools, steps, limit as usize, shape, us, us * steps as f64 / 1000.0]);
            }
            Ok::<_, Problem>(rows)
        });
        match measured {
            Ok(rows) => rows.into_iter().for_each(|row| table.add(row)),
            Err(problem) => table.note(format!("{tools} tools: {} ({})", problem.message, problem.hint)),
        }
    }
    table.note(format!(
        "Medians of {repeat} runs, from `start_run` to the follower's last event. The run's first event is its whole \
         planning."
    ));
    vec![table]
}

async fn steps_through(
    mut specs: Vec<ToolSpec>,
    graph: Graph,
    steps: usize,
    parallel_limit: u32,
    repeat: usize,
) -> Result<f64, Problem> {
    let folder = tempfile::tempdir().expect("a temporary folder can be written");
    let workbench =
        Workbench::open(WorkbenchOptions { folder: Some(folder.path().into()), environment: Arc::new(|_| None) })
            .await?;
    specs.push(ToolSpec { binding: Binding::Mock { result: json!({"ok": true}), delay_ms: 0 }, ..runs::tool() });
    workbench.register_tools(specs, "benchmark")?;
    // Else all but the first of these equal calls would be answered from the cache.
    let cache = CacheSettings { enabled: false, ..CacheSettings::default() };
    let run = RunSettings { parallel_limit, cache, ..RunSettings::default() };
    workbench.save_settings(Settings { run, ..Settings::default() })?;
    let request = Request { query: "do nothing".into(), ..Request::default() };
    let plan = workbench.plan_from(request, runs::spec(graph, steps))?.id;
    let mut updates = workbench.follow();
    let mut times = vec![];
    for _ in 0..=repeat {
        let began = Instant::now();
        workbench.start_run(plan).await?;
        while let Some(update) = updates.recv().await {
            if update.entries.iter().any(|entry| matches!(entry.event, RunEvent::Finished { .. })) {
                break;
            }
        }
        times.push(began.elapsed().as_secs_f64() * 1e6 / steps as f64);
    }
    // The first run warms up.
    Ok(median(&times[1..]))
}

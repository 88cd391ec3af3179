//! Looking into runs: replaying them, comparing them, filtering the log of a large one and going to any instant of it.

use crate::{
    Options,
    runs::{self, Bench, Graph, Waiting},
    table::{Cell, Table, median, percentile, row, timed},
};
use serde_json::json;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use toolplan_store::Store;
use toolplan_workbench::{
    Options as WorkbenchOptions, Workbench,
    engine::{
        Problem,
        compare::{self, Record},
        plan::PlanSpec,
        replay::{Progress, Replay, verify},
        request::Request,
        run::{JournalEntry, Origin, ReplayPolicy, RunEvent, RunId},
        settings::{CacheSettings, RunSettings, Settings},
        tool::{Binding, ToolSpec},
    },
};

pub(crate) fn tables(options: &Options) -> Vec<Table> {
    vec![replays(options), through(options)]
}

/// The journal of a run of no-op steps.
fn recorded(steps: usize) -> Arc<[JournalEntry]> {
    let store = Arc::new(Store::temporary().expect("a temporary folder can be written"));
    let bench = Bench::new(runs::spec(Graph::Chain, steps), 5, Waiting(Duration::ZERO));
    runs::block_on(bench.run_stored(&store));
    store.journal().events(1).expect("the run is stored").0.into()
}

fn replays(options: &Options) -> Table {
    let mut table = Table::new(
        "Replays, in memory (runs/s)",
        &["steps", "events", "checked only", "replayed", "fold, events/s", "diff, ms"],
    );
    let seconds = if options.quick { 0.05 } else { 1.0 };
    for steps in [10, 100, 1_000] {
        let entries = recorded(steps);
        let checked = rate(seconds, || {
            assert!(verify(entries.clone()).expect("the run was started").faithful, "it is our own record");
        });
        let replayed = rate(seconds, || replay(entries.clone()));
        let folded = rate(seconds, || {
            std::hint::black_box(Record::of(&*entries));
        });
        let (a, b) = (Record::of(&*entries), Record::of(&changed(&entries)));
        let diffs: Vec<f64> =
            (0..if options.quick { 3 } else { 25 }).map(|_| timed(|| compare::runs(&a, &b)).1).collect();
        let events = entries.len();
        table.add(row![steps, events, checked, replayed, folded * events as f64, median(&diffs)]);
    }
    table.note(
        "*Checked*: every decision is made again and held against the record. *Replayed*: a run of its own, event by \
         event, out of the record. *Diff*: every second result is another one.",
    );
    table
}

/// How often a second, on one thread.
fn rate(seconds: f64, mut work: impl FnMut()) -> f64 {
    let (began, mut times) = (Instant::now(), 0);
    while began.elapsed().as_secs_f64() < seconds {
        work();
        times += 1;
    }
    f64::from(times) / began.elapsed().as_secs_f64()
}

fn replay(entries: Arc<[JournalEntry]>) {
    let origin = Origin { run: 1, uid: String::new(), at: 0, change: None, policy: ReplayPolicy::default() };
    let mut replay = Replay::new(entries, origin, ReplayPolicy::default(), 0).expect("the run was started");
    while let Progress::Entries { entries, .. } = replay.advance() {
        std::hint::black_box(entries);
    }
    assert!(replay.is_following(), "it is our own record");
}

/// The same run, every second answer another one.
fn changed(entries: &[JournalEntry]) -> Vec<JournalEntry> {
    let mut entries = entries.to_vec();
    let answers = entries.iter_mut().filter_map(|entry| match &mut entry.event {
        RunEvent::AttemptFinished { outcome, .. } => Some(outcome),
        _ => None,
    });
    for (i, outcome) in answers.enumerate() {
        if i % 2 == 0
            && let toolplan_workbench::engine::run::AttemptOutcome::Succeeded { result } = outcome
        {
            result.data = json!({"ok": i, "text": ["another", "answer"]});
        }
    }
    entries
}

/// The same through the Workbench, with the store.
fn through(options: &Options) -> Table {
    let mut table =
        Table::new("Past runs through the Workbench (ms)", &["what", "events", "first", "p50", "p99", "max"]);
    let steps = if options.quick { 1_000 } else { 25_000 };
    match runs::block_on(looked_into(options, steps)) {
        Ok(rows) => rows.into_iter().for_each(|row| table.add(row)),
        Err(problem) => table.note(format!("{} ({})", problem.message, problem.hint)),
    }
    table.note(
        "*First*: the journal is read, folded and indexed by it. The filters let nothing, a few and half of the events \
         through; a page of 100 rows is made.",
    );
    table
}

async fn looked_into(options: &Options, steps: usize) -> Result<Vec<Vec<Cell>>, Problem> {
    let folder = tempfile::tempdir().expect("a temporary folder can be written");
    let workbench =
        Workbench::open(WorkbenchOptions { folder: Some(folder.path().into()), environment: Arc::new(|_| None) })
            .await?;
    let no_op = ToolSpec { binding: Binding::Mock { result: json!({"ok": true}), delay_ms: 0 }, ..runs::tool() };
    workbench.register_tools(vec![no_op], "benchmark")?;
    let cache = CacheSettings { enabled: false, ..CacheSettings::default() };
    let run = RunSettings { parallel_limit: 100, cache, ..RunSettings::default() };
    workbench.save_settings(Settings { run, ..Settings::default() })?;
    let repeat = if options.quick { 5 } else { 200 };
    let mut rows = vec![];

    let (small, other) = (ran(&workbench, 1_000).await?, ran(&workbench, 1_000).await?);
    let ten = ran(&workbench, 10).await?;
    let count = |run: RunId| workbench.run_events(run, "", 0, 0).map(|page| page.events as usize);
    rows.push(measured("diff of two runs of 1,000 steps", count(small)?, repeat / 10, |_| {
        workbench.diff_runs(small, other).map(|_| ())
    })?);
    rows.push(measured("check of a run of 10 steps", count(ten)?, repeat, |_| workbench.verify_run(ten).map(|_| ()))?);

    let large = ran(&workbench, steps).await?;
    let (_, opened) = timed(|| workbench.run_at(large, 1));
    let events = count(large)?;
    let seq = |i: usize| (i * 7_919 % events) as u32 + 1;
    let mut scrubbed = measured("any instant of it", events, repeat, |i| workbench.run_at(large, seq(i)).map(|_| ()))?;
    scrubbed[2] = opened.into();
    rows.push(scrubbed);
    for filter in ["nothing like this", "step:step-77", "tool:no_op status:succeeded -kind:step_succeeded dur:<2s"] {
        rows.push(measured(&format!("filter `{filter}`"), events, repeat / 4, |_| {
            workbench.run_events(large, filter, 0, 100).map(|_| ())
        })?);
    }
    Ok(rows)
}

/// A run of independent no-op steps, to its end.
async fn ran(workbench: &Workbench, steps: usize) -> Result<RunId, Problem> {
    let request = Request { query: "do nothing".into(), ..Request::default() };
    let spec: PlanSpec = runs::spec(Graph::Parallel, steps);
    let run = workbench.start_run(workbench.plan_from(request, spec)?.id).await?;
    workbench.wait_run(run).await?;
    Ok(run)
}

fn measured(
    what: &str,
    events: usize,
    repeat: usize,
    mut work: impl FnMut(usize) -> Result<(), Problem>,
) -> Result<Vec<Cell>, Problem> {
    let mut times = vec![];
    for i in 0..=repeat.max(1) {
        let (result, ms) = timed(|| work(i));
        result?;
        times.push(ms);
    }
    let rest = &times[1..];
    Ok(row![what, events, times[0], median(rest), percentile(rest, 0.99), percentile(rest, 1.0)])
}

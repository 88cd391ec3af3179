//! What is done with runs that were: replay, fork, plan again, compare, files, storage.

use crate::{
    arguments::{Answers, ForkAt, RunsCommand},
    commands::{read_json, show},
    print,
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    future::Future,
    path::PathBuf,
    pin::pin,
    time::{Duration, Instant},
};
use toolplan_workbench::{
    Problem, Workbench,
    engine::{
        compare::{PlanDiff, RunDiff, ValueDiff},
        replay::Answerer,
        run::{AnswerSource, ForkChange, ReplayPolicy, RunId, RunOutcome},
    },
    long::{LongWork, WorkKind},
    views::{Fork, RunDetail, Storage},
};

/// Replays and says whether it was faithful.
pub async fn replay(workbench: &Workbench, run: RunId, answers: &Answers, json: bool) -> Result<bool, Problem> {
    let id = workbench.replay_run(run, policy(answers)?, answers.speed).await?;
    let detail = ended(workbench, id).await?;
    show(json, &detail, || {
        print::run(&detail);
        match (detail.state.faithful, &detail.state.divergence) {
            (Some(true), _) => println!("Faithful: run {id} made every decision of run {run} again."),
            (_, Some(divergence)) => println!("Not faithful: {}", divergence.sentence),
            _ => println!("Not compared: the replay did not come to its end."),
        }
    });
    Ok(detail.state.faithful == Some(true))
}

/// Whether today's scheduler makes every decision again; nothing is stored.
pub fn check(workbench: &Workbench, run: RunId, json: bool) -> Result<bool, Problem> {
    let found = workbench.verify_run(run)?;
    let told = serde_json::json!({"run": run, "faithful": found.faithful, "divergence": found.divergence, "events": found.decisions});
    show(json, &told, || match &found.divergence {
        None => println!("Faithful: {} events of run {run} follow again.", found.decisions),
        Some(divergence) => println!("Not faithful: {}", divergence.sentence),
    });
    Ok(found.faithful)
}

pub async fn fork(
    workbench: &Workbench,
    run: RunId,
    fork: Fork,
    policy: ReplayPolicy,
    speed: Option<f64>,
    json: bool,
) -> Result<bool, Problem> {
    let id = workbench.fork_run(run, fork, policy, speed).await?;
    let detail = ended(workbench, id).await?;
    show(json, &detail, || print::run(&detail));
    Ok(detail.summary.outcome == Some(RunOutcome::Succeeded))
}

/// What a fork would do; false when a call of it would fail.
pub fn preview(
    workbench: &Workbench,
    run: RunId,
    fork: Fork,
    policy: ReplayPolicy,
    json: bool,
) -> Result<bool, Problem> {
    let told = workbench.fork_preview(run, fork, policy)?;
    show(json, &told, || {
        match told.at {
            0 => println!("The query of run {run} is planned again."),
            at => println!("Takes over {at} events of run {run}. Not called again: {}", list(&told.kept)),
        }
        for call in &told.calls {
            println!("  {:<12} {:<20} {}", call.call.step, call.call.tool, call.text);
        }
    });
    Ok(told.calls.iter().all(|call| call.refused.is_none() && call.call.answerer != Answerer::Nobody))
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "nothing".into() } else { names.join(", ") }
}

pub fn fork_of(workbench: &Workbench, run: RunId, at: &ForkAt) -> Result<Fork, Problem> {
    Ok(Fork { change: change(workbench, run, at)?, at: at.event })
}

pub fn fork_policy(answers: &Answers, recorded: Vec<String>) -> Result<ReplayPolicy, Problem> {
    let mut policy = policy(answers)?;
    policy.tools.extend(recorded.into_iter().map(|tool| (tool, AnswerSource::Recorded)));
    Ok(policy)
}

fn change(workbench: &Workbench, run: RunId, at: &ForkAt) -> Result<ForkChange, Problem> {
    if let Some(file) = &at.tool {
        return Ok(ForkChange::Tool { spec: read_json(file)? });
    }
    if let Some(file) = &at.settings {
        return Ok(ForkChange::Settings { settings: read_json(file)? });
    }
    let needs = |what: &str, hint: &str| Problem::new("fork.change", what, hint);
    let step = at.at.clone().ok_or_else(|| needs("a fork needs a step", "name it with --at"))?;
    if at.skip {
        return Ok(ForkChange::Skip { step });
    }
    if let Some(result) = &at.result {
        return Ok(ForkChange::Result { step, value: value(result) });
    }
    if at.set.is_empty() {
        return Err(needs(
            "a fork changes one thing",
            "use --set ARG=JSON, --result JSON, --skip, --tool or --settings",
        ));
    }
    let state = workbench.open_run(run)?.state;
    let planned = state.plan.steps.iter().find(|s| s.id == step);
    let planned = planned.ok_or_else(|| {
        let ids: Vec<&str> = state.plan.steps.iter().map(|s| s.id.as_str()).collect();
        Problem::new(
            "run.unknown_step",
            format!("the plan has no step {step}"),
            format!("choose one of {}", ids.join(", ")),
        )
    })?;
    let mut arguments = planned.arguments.clone();
    for (name, given) in pairs(&at.set, "--set")? {
        arguments.insert(name, given);
    }
    Ok(ForkChange::Arguments { step, arguments })
}

pub fn replan(workbench: &Workbench, run: RunId, json: bool) -> Result<bool, Problem> {
    let replanned = workbench.replan_run(run)?;
    show(json, &replanned, || {
        print::plan(&replanned.view);
        println!("\nAgainst run {run}");
        plan_diff(&replanned.diff);
    });
    Ok(replanned.diff.is_same())
}

pub fn diff(workbench: &Workbench, a: &str, b: &str, json: bool) -> Result<bool, Problem> {
    let diff = workbench.diff(a, b)?;
    show(json, &diff, || run_diff(&diff, a, b));
    Ok(diff.same)
}

pub async fn export(
    workbench: &Workbench,
    run: RunId,
    out: Option<PathBuf>,
    redact: Vec<String>,
    json: bool,
) -> Result<bool, Problem> {
    let exported = telling(workbench, workbench.export_run(run, out, redact)).await?;
    show(json, &exported, || println!("{} events, {} bytes: {}", exported.events, exported.bytes, exported.path));
    Ok(true)
}

pub async fn import(workbench: &Workbench, files: Vec<PathBuf>, json: bool) -> Result<bool, Problem> {
    let imported = telling(workbench, workbench.import_runs(files)).await;
    show(json, &imported, || {
        for file in &imported {
            match file.run {
                Some(run) if file.already => println!("{}: here already, as run {run}", file.path),
                Some(run) => println!("{}: {} events, now run {run}", file.path, file.events),
                None => println!("{}: nothing was taken", file.path),
            }
            if let Some(problem) = &file.problem {
                println!("  {} ({})", problem.message, problem.hint);
            }
        }
    });
    Ok(imported.iter().all(|file| file.problem.is_none()))
}

/// Waits for long work, tells on standard error how far it is, and calls it off at Ctrl-C: then nothing half done stays.
async fn telling<T>(workbench: &Workbench, work: impl Future<Output = T>) -> T {
    let began = Instant::now();
    let mut work = pin!(work);
    let mut told = 0;
    loop {
        tokio::select! {
            done = &mut work => return done,
            _ = tokio::signal::ctrl_c() => workbench.long_work().iter().for_each(|work| workbench.cancel_work(work.id)),
            _ = tokio::time::sleep(TICK) => {}
        }
        let Some(LongWork { kind, done, total, .. }) = workbench.long_work().into_iter().next() else { continue };
        let percent = done * 100 / total.max(1);
        if began.elapsed() > SOON && percent / 10 > told {
            told = percent / 10;
            eprintln!("{}: {percent} %", if kind == WorkKind::Import { "taking in" } else { "writing" });
        }
    }
}

/// How often long work is looked at, and how long it may take without being told of.
const TICK: Duration = Duration::from_millis(100);
const SOON: Duration = Duration::from_secs(1);

pub async fn runs(
    workbench: &Workbench,
    command: Option<RunsCommand>,
    meter: bool,
    json: bool,
) -> Result<bool, Problem> {
    let done = |what: String| show(json, &serde_json::json!({"done": what}), || println!("{what}"));
    match command {
        Some(RunsCommand::Prune) => {
            let pruned = workbench.prune_runs().await?;
            show(json, &pruned, || {
                println!("{} runs with {} events removed, {} bytes", pruned.runs, pruned.events, pruned.bytes)
            });
        }
        Some(RunsCommand::Pin { run }) => {
            workbench.pin_run(run, true)?;
            done(format!("Run {run} is kept"));
        }
        Some(RunsCommand::Unpin { run }) => {
            workbench.pin_run(run, false)?;
            done(format!("Run {run} is kept as the settings say"));
        }
        Some(RunsCommand::Delete { run }) => {
            workbench.delete_run(run).await?;
            done(format!("Run {run} is removed"));
        }
        Some(RunsCommand::Tree { run }) => {
            let tree = workbench.run_tree(run)?;
            show(json, &tree, || {
                for row in &tree.runs {
                    let from = row.origin.as_ref().map(|o| match o.change.as_str() {
                        "" => format!(" replays {}", o.run.map_or("?".into(), |r| r.to_string())),
                        change => format!(
                            " forks {} after event {}: {change}",
                            o.run.map_or("?".into(), |r| r.to_string()),
                            o.at
                        ),
                    });
                    println!("{}{}", row.id, from.unwrap_or_default());
                }
            });
        }
        None if meter => {
            let storage = workbench.storage()?;
            show(json, &storage, || print_storage(&storage));
        }
        None => {
            let runs = workbench.runs()?;
            show(json, &runs, || print::runs(&runs));
        }
    }
    Ok(true)
}

fn print_storage(storage: &Storage) {
    println!("{} bytes on disk, {} of them free", storage.file_bytes, storage.free_bytes);
    println!("{} runs, {} pinned", storage.runs, storage.pinned);
    for kind in &storage.kinds {
        println!("  {:<12} {:>9} rows {:>12} bytes", kind.kind, kind.rows, kind.bytes);
    }
}

async fn ended(workbench: &Workbench, run: RunId) -> Result<RunDetail, Problem> {
    workbench.wait_run(run).await?;
    workbench.open_run(run)
}

fn policy(answers: &Answers) -> Result<ReplayPolicy, Problem> {
    let mut tools: BTreeMap<String, AnswerSource> =
        answers.live.iter().map(|tool| (tool.clone(), AnswerSource::Live)).collect();
    for (tool, value) in pairs(&answers.given, "--static")? {
        tools.insert(tool, AnswerSource::Static { value });
    }
    Ok(ReplayPolicy { tools })
}

/// `NAME=JSON`; what is no JSON is text.
fn pairs(given: &[String], option: &str) -> Result<Vec<(String, Value)>, Problem> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, json)) if !name.is_empty() => Ok((name.to_string(), value(json))),
        _ => Err(Problem::new("pair", format!("{option} {text} is no NAME=JSON"), "write it as NAME=JSON")),
    };
    given.iter().map(pair).collect()
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|_| json.into())
}

fn run_diff(diff: &RunDiff, a: &str, b: &str) {
    if diff.same {
        println!("Nothing differs between {a} and {b} but times.");
        return;
    }
    match &diff.divergence {
        Some(divergence) => println!("First divergence: {}", divergence.sentence),
        None => println!("Every tool call is the same."),
    }
    plan_diff(&diff.plan);
    for step in &diff.steps {
        let id = step.id.a.as_deref().or(step.id.b.as_deref()).unwrap_or_default();
        let tool = step.tool.a.as_deref().or(step.tool.b.as_deref()).unwrap_or_default();
        if step.status.a != step.status.b {
            println!("Step {id} ({tool}): {} → {}", status(&step.status.a), status(&step.status.b));
        }
        if step.attempts.a != step.attempts.b {
            println!("Step {id} ({tool}): {} → {} attempts", step.attempts.a, step.attempts.b);
        }
        values(&format!("Step {id}"), &step.changed);
    }
    let ms = |ms: Option<u64>| ms.map_or("unknown".to_string(), |ms| format!("{ms} ms"));
    println!(
        "Calls: {} → {}. Time: {} → {}.",
        diff.calls.a,
        diff.calls.b,
        ms(diff.duration_ms.a),
        ms(diff.duration_ms.b)
    );
}

fn status(status: &impl serde::Serialize) -> String {
    serde_json::to_value(status).ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_else(|| "missing".into())
}

fn plan_diff(diff: &PlanDiff) {
    for fact in &diff.facts {
        println!("{}: {:?} → {:?}", fact.name, fact.a, fact.b);
    }
    for step in &diff.steps {
        match (&step.id.a, &step.id.b) {
            (Some(a), None) => {
                println!("Plan: only the first has {a} ({})", step.tool.a.as_deref().unwrap_or_default())
            }
            (None, Some(b)) => {
                println!("Plan: only the second has {b} ({})", step.tool.b.as_deref().unwrap_or_default())
            }
            (a, _) => values(&format!("Plan, {}", a.as_deref().unwrap_or_default()), &step.changed),
        }
    }
    for verdict in &diff.verdicts {
        let end = |end: &Option<toolplan_workbench::engine::compare::VerdictEnd>| {
            end.as_ref().map_or("not in the catalog".to_string(), |e| format!("{} ({})", e.reason, e.rule))
        };
        println!("Verdict on {}: {} → {}", verdict.tool, end(&verdict.a), end(&verdict.b));
    }
    for tokens in &diff.tokens {
        println!("Tokens in {}: {} → {} visible", tokens.state, tokens.visible.a, tokens.visible.b);
    }
    if diff.is_same() {
        println!("The plan is the same.");
    }
}

fn values(what: &str, changed: &[ValueDiff]) {
    let side = |value: &Option<Value>| {
        let text = value.as_ref().map_or("nothing".into(), Value::to_string);
        toolplan_workbench::engine::text::middle_truncate(&text, 80)
    };
    for diff in changed {
        println!("{what}, {}: {} → {}", diff.path.trim_start_matches('/'), side(&diff.a), side(&diff.b));
    }
}

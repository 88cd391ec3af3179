//! A paused run at the terminal: says where it is, and takes a word a line.

use serde_json::Value;
use std::io::Write;
use tokio::sync::mpsc::UnboundedReceiver;
use toolplan_workbench::{
    Problem, RunUpdate, Workbench,
    engine::run::{Go, RunEvent, RunId},
    views::Timeline,
};

const HELP: &str = "continue, step, stage, to STEP, skip STEP, retry STEP, cancel STEP, arguments STEP JSON, \
                    result STEP JSON, quit";

/// Follows the run to its end. At every pause it reads commands until one of them lets the run go on; when the input
/// ends, the run goes on to its end without breakpoints.
pub async fn attend(
    workbench: &Workbench,
    run: RunId,
    mut updates: UnboundedReceiver<RunUpdate>,
) -> Result<(), Problem> {
    while let Some(update) = updates.recv().await {
        if update.run != run {
            continue;
        }
        let ended = |event: &RunEvent| matches!(event, RunEvent::Finished { .. });
        if update.entries.iter().any(|entry| ended(&entry.event)) {
            break;
        }
        if update.entries.iter().any(|entry| matches!(entry.event, RunEvent::Paused { .. })) {
            ask(workbench, run).await?;
        }
    }
    Ok(())
}

async fn ask(workbench: &Workbench, run: RunId) -> Result<(), Problem> {
    let state = workbench.run_control_state(run)?;
    eprintln!("Paused: {}", state.pause_text);
    if !state.queue.is_empty() {
        eprintln!("Next: {}", state.queue.join(", "));
    }
    loop {
        eprint!("> ");
        let _ = std::io::stderr().flush();
        let Some(line) = line().await else {
            eprintln!("(end of input: goes on)");
            workbench.set_breakpoints(run, vec![]).await?;
            return workbench.step_run(run, Go::Continue).await;
        };
        match said(workbench, run, line.trim()).await {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(problem) => eprintln!("{} ({})", problem.message, problem.hint),
        }
    }
}

/// Carries a line out. True: the run goes on.
async fn said(workbench: &Workbench, run: RunId, line: &str) -> Result<bool, Problem> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (step, value) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    let (name, json) = (step.to_string(), || {
        serde_json::from_str::<Value>(value)
            .map_err(|error| Problem::new("input.malformed", format!("{value:?} is not JSON: {error}"), "write JSON"))
    });
    match word {
        "continue" | "c" => workbench.step_run(run, Go::Continue).await?,
        "step" | "s" => workbench.step_run(run, Go::Step).await?,
        "stage" | "n" => workbench.next_stage(run).await?,
        "to" => workbench.run_to(run, name).await?,
        "quit" | "q" => workbench.cancel_run(run)?,
        "skip" => return workbench.skip_step(run, name).await.map(|()| false),
        "retry" => return workbench.retry_step(run, name).await.map(|()| false),
        "cancel" => return workbench.cancel_step(run, name).await.map(|()| false),
        "result" => return workbench.edit_result(run, name, json()?).await.map(|()| false),
        "arguments" => {
            let Value::Object(arguments) = json()? else {
                return Err(Problem::new("input.malformed", "arguments are a JSON object", r#"write {"name": value}"#));
            };
            return workbench.edit_arguments(run, name, arguments).await.map(|()| false);
        }
        _ => {
            eprintln!("{HELP}");
            return Ok(false);
        }
    }
    Ok(true)
}

async fn line() -> Option<String> {
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).ok().filter(|bytes| *bytes > 0).map(|_| line)
    });
    read.await.ok().flatten()
}

/// A line per step: when it was ready, how long it waited and worked, and its attempts.
pub fn timeline(timeline: &Timeline) {
    for step in &timeline.steps {
        let mark = if step.on_critical_path { "*" } else { " " };
        let queue = step.queue_ms.unwrap_or_default();
        let attempts: Vec<String> = step
            .attempts
            .iter()
            .map(|a| {
                let end = a.end_ms.map_or("?".to_string(), |end| format!("{end:.0}"));
                let how = match (a.cached, a.error.is_empty()) {
                    (true, _) => " cached",
                    (false, true) => "",
                    (false, false) => " failed",
                };
                format!("{} {:.0}–{end}{how}", a.tool, a.start_ms)
            })
            .collect();
        println!(
            "{mark} {:<12} waited {queue:>5.0} ms, worked {:>6.0} ms  {}",
            step.step,
            step.work_ms,
            attempts.join(", ")
        );
    }
    let speed_up = timeline.speed_up.map_or(String::new(), |times| format!(", speed-up {times:.2}"));
    println!(
        "Longest path {:.0} ms (*), wall time {:.0} ms, sum of the steps {:.0} ms{speed_up}",
        timeline.critical_path_ms, timeline.wall_ms, timeline.sum_ms
    );
}

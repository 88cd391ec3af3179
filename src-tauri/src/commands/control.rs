//! A person's word to a run under way, and what there is to see of it.

use serde_json::{Map, Value};
use tauri::State;
use toolplan_workbench::{
    Problem, Workbench,
    engine::run::{BreakOn, Breakpoint, Go, RunId},
    views::{RunControlState, Timeline},
};

#[tauri::command]
#[specta::specta]
pub async fn pause_run(workbench: State<'_, Workbench>, run: RunId) -> Result<(), Problem> {
    workbench.pause_run(run).await
}

/// Goes on with a paused run: to the next breakpoint, for one step, to the end of a stage, or to a step.
#[tauri::command]
#[specta::specta]
pub async fn step_run(workbench: State<'_, Workbench>, run: RunId, go: Go) -> Result<(), Problem> {
    workbench.step_run(run, go).await
}

/// Goes on to the end of the first stage that is not done.
#[tauri::command]
#[specta::specta]
pub async fn next_stage(workbench: State<'_, Workbench>, run: RunId) -> Result<(), Problem> {
    workbench.next_stage(run).await
}

/// Goes on until the step is about to start.
#[tauri::command]
#[specta::specta]
pub async fn run_to(workbench: State<'_, Workbench>, run: RunId, step: String) -> Result<(), Problem> {
    workbench.run_to(run, step).await
}

/// Gives a step other arguments for its next call; the guard checks them.
#[tauri::command]
#[specta::specta]
pub async fn edit_arguments(
    workbench: State<'_, Workbench>,
    run: RunId,
    step: String,
    arguments: Map<String, Value>,
) -> Result<(), Problem> {
    workbench.edit_arguments(run, step, arguments).await
}

/// Gives a step a result, in place of its call's or of a call.
#[tauri::command]
#[specta::specta]
pub async fn edit_result(
    workbench: State<'_, Workbench>,
    run: RunId,
    step: String,
    data: Value,
) -> Result<(), Problem> {
    workbench.edit_result(run, step, data).await
}

#[tauri::command]
#[specta::specta]
pub async fn skip_step(workbench: State<'_, Workbench>, run: RunId, step: String) -> Result<(), Problem> {
    workbench.skip_step(run, step).await
}

#[tauri::command]
#[specta::specta]
pub async fn retry_step(workbench: State<'_, Workbench>, run: RunId, step: String) -> Result<(), Problem> {
    workbench.retry_step(run, step).await
}

#[tauri::command]
#[specta::specta]
pub async fn cancel_step(workbench: State<'_, Workbench>, run: RunId, step: String) -> Result<(), Problem> {
    workbench.cancel_step(run, step).await
}

#[tauri::command]
#[specta::specta]
pub async fn set_breakpoints(
    workbench: State<'_, Workbench>,
    run: RunId,
    breakpoints: Vec<Breakpoint>,
) -> Result<(), Problem> {
    workbench.set_breakpoints(run, breakpoints).await
}

/// Goes on with an interrupted run. `confirmed` names the steps that may be called again although nobody knows whether
/// their call took effect.
#[tauri::command]
#[specta::specta]
pub async fn resume_run(
    workbench: State<'_, Workbench>,
    run: RunId,
    confirmed: Vec<String>,
    paused: bool,
) -> Result<(), Problem> {
    workbench.resume_run(run, confirmed, paused).await
}

#[tauri::command]
#[specta::specta]
pub async fn run_control_state(workbench: State<'_, Workbench>, run: RunId) -> Result<RunControlState, Problem> {
    workbench.run_control_state(run)
}

#[tauri::command]
#[specta::specta]
pub async fn run_timeline(workbench: State<'_, Workbench>, run: RunId) -> Result<Timeline, Problem> {
    workbench.run_timeline(run)
}

/// Reads a breakpoint as it is typed: `step:step-2`, `error:timeout`, `cost>0.5`, `result /items/0/id == 3`.
#[tauri::command]
#[specta::specta]
pub async fn parse_breakpoint(text: String) -> Result<BreakOn, Problem> {
    toolplan_workbench::parse_breakpoint(&text)
}

//! Running plans and looking at runs.

use tauri::State;
use toolplan_workbench::{
    Problem, Workbench,
    engine::run::{RunId, RunOptions},
    views::{RunDetail, RunSummary},
};

/// Runs the planning `plan`; null options choose nothing. Progress arrives as `RunAdvanced` events.
#[tauri::command]
#[specta::specta]
pub async fn start_run(
    workbench: State<'_, Workbench>,
    plan: u32,
    options: Option<RunOptions>,
) -> Result<RunId, Problem> {
    workbench.start_run_with(plan, options.unwrap_or_default()).await
}

#[tauri::command]
#[specta::specta]
pub async fn cancel_run(workbench: State<'_, Workbench>, run: RunId) -> Result<(), Problem> {
    workbench.cancel_run(run)
}

/// All runs, newest first.
#[tauri::command]
#[specta::specta]
pub async fn runs(workbench: State<'_, Workbench>) -> Result<Vec<RunSummary>, Problem> {
    workbench.runs()
}

#[tauri::command]
#[specta::specta]
pub async fn open_run(workbench: State<'_, Workbench>, run: RunId) -> Result<RunDetail, Problem> {
    workbench.open_run(run)
}

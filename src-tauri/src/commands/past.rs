//! Runs that were: look into them, compare, replay, fork, plan again, export, import, keep and remove.

use tauri::State;
use toolplan_workbench::{
    Problem, Workbench,
    engine::{
        compare::RunDiff,
        run::{ReplayPolicy, RunId},
    },
    long::LongWork,
    views::{
        EventPage, Exported, Fork, ForkPreview, Imported, Pruned, Replanned, RunAt, RunMarks, RunTree, Storage,
        ToolThen, ToolsAt,
    },
};

/// The run as it was after the event `seq`; 0 is before the first.
#[tauri::command]
#[specta::specta]
pub async fn run_at(workbench: State<'_, Workbench>, run: RunId, seq: u32) -> Result<RunAt, Problem> {
    workbench.run_at(run, seq)
}

/// Tools of the catalog as it was at the run, each as it stood after the event `seq`; `text` are words of the name.
#[tauri::command]
#[specta::specta]
pub async fn run_tools(
    workbench: State<'_, Workbench>,
    run: RunId,
    seq: u32,
    text: String,
    offset: u32,
    limit: u32,
) -> Result<ToolsAt, Problem> {
    workbench.run_tools(run, seq, &text, offset, limit)
}

/// One of them.
#[tauri::command]
#[specta::specta]
pub async fn run_tool(
    workbench: State<'_, Workbench>,
    run: RunId,
    seq: u32,
    name: String,
) -> Result<ToolThen, Problem> {
    workbench.run_tool(run, seq, &name)
}

/// All long work that is under way; `work_advanced` tells when it goes on.
#[tauri::command]
#[specta::specta]
pub async fn long_work(workbench: State<'_, Workbench>) -> Result<Vec<LongWork>, Problem> {
    Ok(workbench.long_work())
}

/// Calls long work off.
#[tauri::command]
#[specta::specta]
pub async fn cancel_work(workbench: State<'_, Workbench>, id: u32) -> Result<(), Problem> {
    workbench.cancel_work(id);
    Ok(())
}

/// Rows of the log that the filter lets through; see `docs/journal.md` for its language.
#[tauri::command]
#[specta::specta]
pub async fn run_events(
    workbench: State<'_, Workbench>,
    run: RunId,
    filter: String,
    offset: u32,
    limit: u32,
) -> Result<EventPage, Problem> {
    workbench.run_events(run, &filter, offset, limit)
}

/// The event nearest to `seq`, after it or before it, that the filter lets through.
#[tauri::command]
#[specta::specta]
pub async fn find_event(
    workbench: State<'_, Workbench>,
    run: RunId,
    filter: String,
    seq: u32,
    backwards: bool,
) -> Result<Option<u32>, Problem> {
    workbench.find_event(run, &filter, seq, backwards)
}

#[tauri::command]
#[specta::specta]
pub async fn run_marks(workbench: State<'_, Workbench>, run: RunId) -> Result<RunMarks, Problem> {
    workbench.run_marks(run)
}

#[tauri::command]
#[specta::specta]
pub async fn diff_runs(workbench: State<'_, Workbench>, a: RunId, b: RunId) -> Result<RunDiff, Problem> {
    workbench.diff_runs(a, b)
}

/// Starts a replay. `speed` 1 takes the time that the run took, 2 half of it; null takes none.
#[tauri::command]
#[specta::specta]
pub async fn replay_run(
    workbench: State<'_, Workbench>,
    run: RunId,
    policy: ReplayPolicy,
    speed: Option<f64>,
) -> Result<RunId, Problem> {
    workbench.replay_run(run, policy, speed).await
}

#[tauri::command]
#[specta::specta]
pub async fn replan_run(workbench: State<'_, Workbench>, run: RunId) -> Result<Replanned, Problem> {
    workbench.replan_run(run)
}

#[tauri::command]
#[specta::specta]
pub async fn fork_run(
    workbench: State<'_, Workbench>,
    run: RunId,
    fork: Fork,
    policy: ReplayPolicy,
    speed: Option<f64>,
) -> Result<RunId, Problem> {
    workbench.fork_run(run, fork, policy, speed).await
}

/// What [`fork_run`] would do: which calls leave, and who answers them.
#[tauri::command]
#[specta::specta]
pub async fn fork_preview(
    workbench: State<'_, Workbench>,
    run: RunId,
    fork: Fork,
    policy: ReplayPolicy,
) -> Result<ForkPreview, Problem> {
    workbench.fork_preview(run, fork, policy)
}

#[tauri::command]
#[specta::specta]
pub async fn run_tree(workbench: State<'_, Workbench>, run: RunId) -> Result<RunTree, Problem> {
    workbench.run_tree(run)
}

/// Writes the run to a file; null takes a name in the workspace's folder of exports. `redact` are more patterns of
/// text to leave out.
#[tauri::command]
#[specta::specta]
pub async fn export_run(
    workbench: State<'_, Workbench>,
    run: RunId,
    path: Option<String>,
    redact: Vec<String>,
) -> Result<Exported, Problem> {
    workbench.export_run(run, path.map(Into::into), redact).await
}

#[tauri::command]
#[specta::specta]
pub async fn import_runs(workbench: State<'_, Workbench>, paths: Vec<String>) -> Result<Vec<Imported>, Problem> {
    Ok(workbench.import_runs(paths.into_iter().map(Into::into).collect()).await)
}

#[tauri::command]
#[specta::specta]
pub async fn storage(workbench: State<'_, Workbench>) -> Result<Storage, Problem> {
    workbench.storage()
}

/// Removes the runs that the settings do not keep.
#[tauri::command]
#[specta::specta]
pub async fn prune_runs(workbench: State<'_, Workbench>) -> Result<Pruned, Problem> {
    workbench.prune_runs().await
}

#[tauri::command]
#[specta::specta]
pub async fn pin_run(workbench: State<'_, Workbench>, run: RunId, pinned: bool) -> Result<(), Problem> {
    workbench.pin_run(run, pinned)
}

/// Removes the run and its journal for good.
#[tauri::command]
#[specta::specta]
pub async fn delete_run(workbench: State<'_, Workbench>, run: RunId) -> Result<(), Problem> {
    workbench.delete_run(run).await
}

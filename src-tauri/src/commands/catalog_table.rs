//! The catalog table: pages, bulk edits, undo, history.

use tauri::State;
use toolplan_workbench::{
    Problem, Workbench,
    engine::tool::Revision,
    views::catalog::{
        BulkDone, BulkPreview, CatalogDiff, CatalogHistory, CatalogPage, CatalogQuery, ClassificationSuggestion,
        Selection, ToolDiff, ToolPatch, Undone,
    },
};

/// A page of the catalog with counts for its filters.
#[tauri::command]
#[specta::specta]
pub async fn catalog_query(workbench: State<'_, Workbench>, query: CatalogQuery) -> Result<CatalogPage, Problem> {
    workbench.catalog_query(&query)
}

/// What the edit would change, also in the planning `plan`.
#[tauri::command]
#[specta::specta]
pub async fn bulk_preview(
    workbench: State<'_, Workbench>,
    selection: Selection,
    patch: ToolPatch,
    plan: Option<u32>,
) -> Result<BulkPreview, Problem> {
    workbench.bulk_preview(&selection, &patch, plan)
}

/// The same edit for many tools, as one revision.
#[tauri::command]
#[specta::specta]
pub async fn bulk_edit(
    workbench: State<'_, Workbench>,
    selection: Selection,
    patch: ToolPatch,
) -> Result<BulkDone, Problem> {
    workbench.bulk_edit(&selection, &patch)
}

/// Takes the last edit of the catalog back, as a new revision.
#[tauri::command]
#[specta::specta]
pub async fn undo(workbench: State<'_, Workbench>) -> Result<Undone, Problem> {
    workbench.undo()
}

/// Makes the edit again that was taken back last.
#[tauri::command]
#[specta::specta]
pub async fn redo(workbench: State<'_, Workbench>) -> Result<Undone, Problem> {
    workbench.redo()
}

/// Revisions of the catalog, newest first.
#[tauri::command]
#[specta::specta]
pub async fn catalog_history(
    workbench: State<'_, Workbench>,
    offset: u32,
    limit: u32,
) -> Result<CatalogHistory, Problem> {
    workbench.catalog_history(offset, limit)
}

/// How a tool differs between two revisions; without `to`, from then to now.
#[tauri::command]
#[specta::specta]
pub async fn tool_diff(
    workbench: State<'_, Workbench>,
    name: String,
    from: Revision,
    to: Option<Revision>,
) -> Result<ToolDiff, Problem> {
    workbench.tool_diff(&name, from, to)
}

/// How the catalog differs between two revisions; without `to`, from then to now.
#[tauri::command]
#[specta::specta]
pub async fn catalog_diff(
    workbench: State<'_, Workbench>,
    from: Revision,
    to: Option<Revision>,
    offset: u32,
    limit: u32,
) -> Result<CatalogDiff, Problem> {
    workbench.catalog_diff(from, to, offset, limit)
}

/// Makes the whole catalog what it was at `revision`, as a new revision.
#[tauri::command]
#[specta::specta]
pub async fn revert_catalog(workbench: State<'_, Workbench>, revision: Revision) -> Result<Revision, Problem> {
    workbench.revert_catalog(revision)
}

/// What the unclassified tools of the selection seem to be.
#[tauri::command]
#[specta::specta]
pub async fn suggest_classification(
    workbench: State<'_, Workbench>,
    selection: Selection,
) -> Result<Vec<ClassificationSuggestion>, Problem> {
    workbench.suggest_classification(&selection)
}

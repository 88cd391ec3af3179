//! The catalog and the inspector of a tool.

use tauri::State;
use toolplan_workbench::{
    Problem, Workbench,
    engine::{
        request::Request,
        tool::{Revision, ToolSpec},
    },
    views::{CatalogRow, ToolDetail},
};

/// All tools in the context of the request, with where each one's way ended in the planning `plan`.
#[tauri::command]
#[specta::specta]
pub async fn catalog(
    workbench: State<'_, Workbench>,
    request: Request,
    plan: Option<u32>,
) -> Result<Vec<CatalogRow>, Problem> {
    workbench.catalog(&request, plan)
}

/// One tool with its trail, history and statistics.
#[tauri::command]
#[specta::specta]
pub async fn tool(
    workbench: State<'_, Workbench>,
    name: String,
    request: Request,
    plan: Option<u32>,
) -> Result<ToolDetail, Problem> {
    workbench.tool(&name, &request, plan)
}

/// Stores the tool as a new revision of the catalog.
#[tauri::command]
#[specta::specta]
pub async fn save_tool(workbench: State<'_, Workbench>, spec: ToolSpec) -> Result<Revision, Problem> {
    workbench.save_tool(spec)
}

/// Stores the tool as it was at `revision`, as a new revision.
#[tauri::command]
#[specta::specta]
pub async fn revert_tool(
    workbench: State<'_, Workbench>,
    name: String,
    revision: Revision,
) -> Result<Revision, Problem> {
    workbench.revert_tool(&name, revision)
}

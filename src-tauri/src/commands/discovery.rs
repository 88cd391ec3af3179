//! The search lab, the directory and what sessions have activated.

use tauri::State;
use toolplan_workbench::{
    Problem, Workbench,
    engine::{
        discovery::{Directory, SearchQuery, lab::SearchLab},
        request::Request,
    },
};

/// One query searched in every way, side by side. `hidden`: also the tools that the session does not see.
#[tauri::command]
#[specta::specta]
pub async fn search_lab(
    workbench: State<'_, Workbench>,
    request: Request,
    query: SearchQuery,
    hidden: bool,
) -> Result<SearchLab, Problem> {
    workbench.search_lab(&request, &query, hidden)
}

/// The groups of tools as the model would see them.
#[tauri::command]
#[specta::specta]
pub async fn tool_directory(workbench: State<'_, Workbench>, request: Request) -> Result<Directory, Problem> {
    workbench.tool_directory(&request)
}

/// The deferred tools that the session has activated.
#[tauri::command]
#[specta::specta]
pub async fn activated_tools(workbench: State<'_, Workbench>, session: String) -> Result<Vec<String>, Problem> {
    Ok(workbench.activated_tools(&session))
}

/// Takes an activation back, or all of the session's where no tool is named.
#[tauri::command]
#[specta::specta]
pub async fn deactivate_tools(
    workbench: State<'_, Workbench>,
    session: String,
    tool: Option<String>,
) -> Result<(), Problem> {
    workbench.deactivate_tools(&session, tool.as_deref());
    Ok(())
}

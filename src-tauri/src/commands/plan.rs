//! Planning a query.

use tauri::State;
use toolplan_workbench::{Problem, Workbench, engine::request::Request, long::WorkKind, views::PlanView};

/// Plans the request; `previous` names the planning to compare with.
#[tauri::command]
#[specta::specta]
pub async fn plan(
    workbench: State<'_, Workbench>,
    request: Request,
    previous: Option<u32>,
) -> Result<PlanView, Problem> {
    let query = request.query.clone();
    workbench.cancellable(WorkKind::Plan, &query, workbench.plan(request, previous)).await
}

//! Sessions: their state and intent.

use tauri::State;
use toolplan_workbench::{
    Problem, Workbench,
    engine::{request::Request, session::SessionEvent},
    long::WorkKind,
    sessions::{SessionPlan, SessionView},
};

/// The session called `id`; a new one begins in REQUEST.
#[tauri::command]
#[specta::specta]
pub async fn session(workbench: State<'_, Workbench>, id: String) -> Result<SessionView, Problem> {
    workbench.session(&id)
}

/// A message, a selection, a reset or a recovery; a refusal is in the view.
#[tauri::command]
#[specta::specta]
pub async fn session_event(
    workbench: State<'_, Workbench>,
    id: String,
    event: SessionEvent,
) -> Result<SessionView, Problem> {
    workbench.session_event(&id, event)
}

/// Plans the request in the session's state and intent.
#[tauri::command]
#[specta::specta]
pub async fn plan_in_session(
    workbench: State<'_, Workbench>,
    id: String,
    request: Request,
    previous: Option<u32>,
) -> Result<SessionPlan, Problem> {
    let query = request.query.clone();
    workbench.cancellable(WorkKind::Plan, &query, workbench.plan_in_session(&id, request, previous)).await
}

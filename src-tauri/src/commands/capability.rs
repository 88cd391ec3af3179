//! What extensions stand for, and what is wrong with tools and settings.

use tauri::State;
use toolplan_workbench::{
    Problem, Workbench,
    engine::capability::PlanningView,
    views::catalog::{FixesApplied, LintPage, LintQuery},
};

/// The planning view of the extensions, or of those that the settings enable.
#[tauri::command]
#[specta::specta]
pub async fn planning_view(
    workbench: State<'_, Workbench>,
    extensions: Option<Vec<String>>,
) -> Result<PlanningView, Problem> {
    workbench.planning_view(extensions)
}

#[tauri::command]
#[specta::specta]
pub async fn lints(workbench: State<'_, Workbench>, query: LintQuery) -> Result<LintPage, Problem> {
    workbench.lints(&query)
}

/// Applies the fixes of the lints that the query finds, all pages of them.
#[tauri::command]
#[specta::specta]
pub async fn apply_lint_fix(workbench: State<'_, Workbench>, query: LintQuery) -> Result<FixesApplied, Problem> {
    workbench.apply_fixes(&query)
}

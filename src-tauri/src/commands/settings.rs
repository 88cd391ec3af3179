//! The workspace and its settings.

use tauri::State;
use toolplan_workbench::{Problem, Workbench, engine::settings::Settings, views::AppInfo};

#[tauri::command]
#[specta::specta]
pub async fn info(workbench: State<'_, Workbench>) -> Result<AppInfo, Problem> {
    Ok(workbench.info())
}

#[tauri::command]
#[specta::specta]
pub async fn save_settings(workbench: State<'_, Workbench>, settings: Settings) -> Result<(), Problem> {
    workbench.save_settings(settings)
}

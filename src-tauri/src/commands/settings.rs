//! The workspace and its settings.

use tauri::State;
use toolplan_workbench::{Problem, SettingOrigin, Workbench, engine::settings::Settings, views::AppInfo};

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

/// Every setting with its value and who decides it: environment, workspace or default.
#[tauri::command]
#[specta::specta]
pub async fn setting_origins(workbench: State<'_, Workbench>) -> Result<Vec<SettingOrigin>, Problem> {
    Ok(workbench.setting_origins())
}

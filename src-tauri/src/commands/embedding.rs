//! The local embedding model.

use std::path::Path;
use tauri::State;
use toolplan_workbench::{Problem, Workbench, views::ModelInfo};

/// Whether a model is installed, and how many tools it has read.
#[tauri::command]
#[specta::specta]
pub async fn embedding_model(workbench: State<'_, Workbench>) -> Result<ModelInfo, Problem> {
    Ok(workbench.embedding_model())
}

/// Installs the model at `path`, a folder or a package file, and starts to read the catalog with it.
#[tauri::command]
#[specta::specta]
pub async fn add_embedding_model(workbench: State<'_, Workbench>, path: String) -> Result<ModelInfo, Problem> {
    workbench.add_embedding_model(Path::new(&path)).await
}

/// Removes the model from this computer.
#[tauri::command]
#[specta::specta]
pub async fn remove_embedding_model(workbench: State<'_, Workbench>) -> Result<ModelInfo, Problem> {
    workbench.remove_embedding_model()
}

/// Reads the tools that the model has not read yet, in the background; `embedding_model` tells how far it is.
#[tauri::command]
#[specta::specta]
pub async fn index_embeddings(workbench: State<'_, Workbench>) -> Result<ModelInfo, Problem> {
    workbench.index_embeddings()
}

/// Stops reading; what is read stays.
#[tauri::command]
#[specta::specta]
pub async fn cancel_index_embeddings(workbench: State<'_, Workbench>) -> Result<ModelInfo, Problem> {
    Ok(workbench.cancel_index_embeddings())
}

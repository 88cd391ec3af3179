//! The local embedding model: installing it, making the vectors of the catalog, and telling how far that is.

use crate::{Workbench, views::ModelInfo};
use std::path::Path;
use toolplan_engine::Problem;

impl Workbench {
    /// How tools are found now.
    pub fn embedding_model(&self) -> ModelInfo {
        ModelInfo {
            installed: false,
            label: "words only".into(),
            note: "No embedding model is installed: tools are found by words.".into(),
            indexed: 0,
            total: self.tools().catalog.len() as u32,
            indexing: false,
            in_use: false,
            problem: None,
        }
    }

    /// Installs the model of a folder or a package file for all workspaces, and starts to make vectors.
    pub async fn add_embedding_model(&self, _path: &Path) -> Result<ModelInfo, Problem> {
        Err(Problem::new("model.missing", "no embedding model is installed", "`toolplan model add`"))
    }

    /// Removes the model; tools are found by words alone.
    pub fn remove_embedding_model(&self) -> Result<ModelInfo, Problem> {
        Err(Problem::new("model.missing", "no embedding model is installed", "`toolplan model add`"))
    }

    /// Starts to make the vectors that are missing, in the background.
    pub fn index_embeddings(&self) -> Result<ModelInfo, Problem> {
        Err(Problem::new("model.missing", "no embedding model is installed", "`toolplan model add`"))
    }

    /// Stops making vectors; those that are made stay.
    pub fn cancel_index_embeddings(&self) -> ModelInfo {
        self.embedding_model()
    }
}

//! Where workspaces live on disk, and how a folder becomes one.
//!
//! A workspace is a folder of documents and one SQLite file. The sample's lie in the data folder of the person; a
//! folder that somebody opens keeps its file in `.toolplan/`, out of the way of its documents.

use std::path::{Path, PathBuf};
use toolplan_engine::Problem;

/// The two places of a workspace.
#[derive(Debug, Clone)]
pub struct Place {
    /// The folder that file tools may read.
    pub root: PathBuf,
    pub database: PathBuf,
    pub is_sample: bool,
}

impl Place {
    /// The sample workspace below the data folder.
    pub fn sample(get: impl Fn(&str) -> Option<String>) -> Result<Self, Problem> {
        let home = data(get)?;
        Ok(Self { root: home.join("sample"), database: home.join("sample.db"), is_sample: true })
    }

    /// The workspace of a folder that exists.
    pub fn folder(root: &Path) -> Result<Self, Problem> {
        if !root.is_dir() {
            return Err(Problem::new(
                "workspace.missing",
                format!("there is no folder {}", root.display()),
                "check the path, or leave it out to open the sample",
            ));
        }
        let root = root.canonicalize().map_err(|e| unusable(root, &e))?;
        let database = root.join(".toolplan/workspace.db");
        Ok(Self { root, database, is_sample: false })
    }

    /// Makes the folders that the workspace needs.
    pub fn prepare(&self) -> Result<(), Problem> {
        for folder in [Some(self.root.as_path()), self.database.parent()].into_iter().flatten() {
            std::fs::create_dir_all(folder).map_err(|e| unusable(folder, &e))?;
        }
        Ok(())
    }

    pub fn name(&self) -> String {
        if self.is_sample {
            return "Tidewater sample".into();
        }
        self.root.file_name().map_or_else(|| self.root.display().to_string(), |n| n.to_string_lossy().into_owned())
    }
}

/// The data folder of the person: `TOOLPLAN_HOME`, else `$XDG_DATA_HOME/toolplan`, else `~/.local/share/toolplan`.
pub fn data(get: impl Fn(&str) -> Option<String>) -> Result<PathBuf, Problem> {
    let set = |name: &str| get(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    set("TOOLPLAN_HOME")
        .or_else(|| set("XDG_DATA_HOME").map(|d| d.join("toolplan")))
        .or_else(|| set("APPDATA").map(|d| d.join("toolplan")))
        .or_else(|| set("HOME").map(|d| d.join(".local/share/toolplan")))
        .ok_or_else(|| {
            Problem::new(
                "home.unknown",
                "there is no folder for data",
                "set TOOLPLAN_HOME to a folder that may be written",
            )
        })
}

pub fn unusable(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(
        "workspace.unusable",
        format!("{} cannot be used: {error}", path.display()),
        "choose a folder that you may write, or free some space",
    )
}

//! What works here and what does not: the answers of `toolplan doctor`.

use crate::{SettingSource, Workbench};
use serde::Serialize;

/// One thing that was looked at.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    pub name: &'static str,
    pub ok: bool,
    pub detail: String,
    /// What to do about it; empty when nothing is wrong.
    pub hint: String,
}

impl Workbench {
    /// Looks at the folder, the database, the catalog, the model and the sample's server.
    pub fn doctor(&self) -> Vec<Check> {
        let info = self.info();
        let root = &self.inner.place.root;
        let readable = std::fs::read_dir(root);
        let faults = self.integrity().unwrap_or_else(|problem| vec![problem.message]);
        let mut checks = vec![
            Check {
                name: "folder",
                ok: readable.is_ok(),
                detail: root.display().to_string(),
                hint: readable
                    .err()
                    .map(|e| format!("{e}: check that the folder exists and may be read"))
                    .unwrap_or_default(),
            },
            Check {
                name: "database",
                ok: faults.is_empty(),
                detail: info.workspace.database.clone(),
                hint: faults.first().map(|fault| format!("{fault}: put back a copy of the file")).unwrap_or_default(),
            },
            Check {
                name: "catalog",
                ok: info.workspace.tools > 0,
                detail: format!("{} tools at revision {}", info.workspace.tools, info.revision),
                hint: if info.workspace.tools == 0 { "register tools first".into() } else { String::new() },
            },
            Check {
                name: "model",
                ok: true,
                detail: info.provider.label.clone(),
                hint: if info.provider.configured { String::new() } else { info.provider.note.clone() },
            },
        ];
        let embedding = &info.embedding_model;
        checks.push(Check {
            name: "embedding model",
            ok: embedding.problem.as_ref().is_none_or(|_| embedding.in_use),
            detail: if embedding.installed {
                format!("{}, {} of {} tools read", embedding.label, embedding.indexed, embedding.total)
            } else {
                embedding.label.clone()
            },
            hint: if embedding.in_use { String::new() } else { embedding.note.clone() },
        });
        if info.workspace.is_sample {
            let server = self.inner.server.as_ref();
            checks.push(Check {
                name: "sample server",
                ok: server.is_some(),
                detail: server.map(|s| s.url()).unwrap_or_default(),
                hint: if server.is_none() {
                    "tickets and pages of the sample are not available".into()
                } else {
                    String::new()
                },
            });
        }
        // The others are the settings page's; these can be decided from outside.
        for row in self.setting_origins() {
            let Some(variable) = row.variable else { continue };
            let source = match row.source {
                SettingSource::Environment => "environment",
                SettingSource::Workspace => "workspace",
                SettingSource::Default => "default",
            };
            checks.push(Check {
                name: "setting",
                ok: true,
                detail: format!("{} = {} ({source}; {variable})", row.path, row.value),
                hint: String::new(),
            });
        }
        for notice in &info.workspace.notices {
            checks.push(Check { name: "notice", ok: false, detail: notice.message.clone(), hint: notice.hint.clone() });
        }
        checks
    }
}

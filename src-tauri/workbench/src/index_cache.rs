//! The search index between two starts: one file per workspace in a folder that many workspaces share (D-05).
//!
//! The file is only ever a shortcut. What it says is compared with the catalog tool by tool, so that an old one costs
//! the differences and a damaged one a rebuild; no workspace touches the file of another.

use crate::{Environment, home::Place};
use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};
use toolplan_engine::{
    Problem,
    discovery::{Index, Synced, Unusable},
    settings::DiscoverySettings,
    tool::Catalog,
};

/// Where the index of a workspace is kept.
#[derive(Debug, Clone)]
pub(crate) struct IndexCache {
    /// `None` where there is no folder to keep it in.
    path: Option<PathBuf>,
}

/// After so many differences the file is written again; fewer are taken in at the next start.
const WORTH_WRITING: u32 = 100;

impl IndexCache {
    /// The folder is that of the settings, else `TOOLPLAN_HOME/index`, `$XDG_CACHE_HOME/toolplan`, `LOCALAPPDATA` or
    /// `~/.cache/toolplan`.
    pub(crate) fn of(place: &Place, settings: &DiscoverySettings, environment: &Environment) -> Self {
        let set = |name: &str| environment(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let folder = match settings.cache_dir.trim() {
            "" => set("TOOLPLAN_HOME")
                .map(|home| home.join("index"))
                .or_else(|| set("XDG_CACHE_HOME").or_else(|| set("LOCALAPPDATA")).map(|d| d.join("toolplan")))
                .or_else(|| set("HOME").map(|d| d.join(".cache/toolplan"))),
            folder => Some(place.root.join(folder)),
        };
        let database = place.database.canonicalize().unwrap_or_else(|_| place.database.clone());
        // FNV-1a of the database's path: the same in every build.
        let key = database
            .to_string_lossy()
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Self { path: folder.map(|folder| folder.join(format!("{key:016x}.index"))) }
    }

    pub(crate) fn path(&self) -> String {
        self.path.as_ref().map(|p| p.display().to_string()).unwrap_or_default()
    }

    /// The index of the catalog: from the file as far as it fits, else built. Trouble with the file is a notice.
    pub(crate) fn open(&self, catalog: &Catalog, settings: &DiscoverySettings) -> (Index, Vec<Problem>) {
        let mut notices = vec![];
        let stored = if settings.rebuild_index_on_open { None } else { self.read(&mut notices) };
        let mut unchanged = false;
        let fitting = stored.and_then(|mut index| {
            unchanged = index.sync(catalog).is_unchanged();
            // Not incremental: only an index that fits as it is spares the rebuild.
            (unchanged || settings.enable_incremental_index).then_some(index)
        });
        let index = fitting.unwrap_or_else(|| Index::of(catalog));
        if !unchanged {
            notices.extend(self.write(&index));
        }
        (index, notices)
    }

    /// Takes the catalog in after an edit, and writes the file when much has changed.
    pub(crate) fn sync(&self, index: &mut Index, catalog: &Catalog) -> Option<Problem> {
        let Synced { added, changed, removed } = index.sync(catalog);
        if added + changed + removed < WORTH_WRITING { None } else { self.write(index) }
    }

    fn read(&self, notices: &mut Vec<Problem>) -> Option<Index> {
        let path = self.path.as_deref()?;
        let notice = |code: &str, error: &str| {
            Problem::new(
                code,
                format!("the stored index {} {error}", path.display()),
                "it was built anew; nothing is lost",
            )
        };
        match std::fs::read(path) {
            Ok(bytes) => match Index::from_bytes(&bytes) {
                Ok(index) => Some(index),
                Err(Unusable::Damaged) => {
                    notices.push(notice("index.damaged", "is damaged"));
                    None
                }
                // Another version's index is no trouble.
                Err(Unusable::Foreign) if bytes.starts_with(b"tplindex") => None,
                Err(Unusable::Foreign) => {
                    notices.push(notice("index.damaged", "is no index"));
                    None
                }
            },
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                notices.push(notice("index.unreadable", &format!("cannot be read: {error}")));
                None
            }
        }
    }

    /// Replaces the file as a whole: a reader sees the old one or the new one.
    fn write(&self, index: &Index) -> Option<Problem> {
        let path = self.path.as_deref()?;
        let written = replace(path, &index.to_bytes());
        written.err().map(|error| {
            Problem::new(
                "index.unwritable",
                format!("the index cannot be kept in {}: {error}", path.display()),
                "searching works; the next start takes longer. Set discovery.cache_dir to a folder that can be written",
            )
        })
    }
}

fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let replaced = std::fs::write(&new, bytes).and_then(|()| std::fs::rename(&new, path));
    if replaced.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    replaced
}

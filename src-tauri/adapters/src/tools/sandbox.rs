//! The one folder that file tools may read, and the only code of the tools that opens files (S-01).
//!
//! A path is checked after it was resolved: links, `..` and absolute paths cannot lead out, and what is opened is the
//! resolved path that was checked. Walks see what ripgrep sees: hidden and ignored files are left out, links are not
//! followed. Knows nothing of what the files mean.

use super::{arguments::invalid, blocking::Stop};
use ignore::WalkBuilder;
use serde::Serialize;
use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Component, Path, PathBuf},
    time::SystemTime,
};
use toolplan_engine::{
    ports::{ErrorClass, ToolError},
    text::middle_truncate,
};

/// Bytes above which a file is not read.
pub(super) const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Files above which a walk ends.
pub(super) const MAX_FILES: usize = 20_000;
/// Bytes of a name above which it is shortened in messages and compared with no other.
const MAX_NAME: usize = 300;
/// Skipped files that a result names; the rest are counted.
const MAX_NOTES: usize = 50;

/// The folder that a person chose, before anything is known about it.
#[derive(Debug, Clone)]
pub(super) struct Workspace {
    root: PathBuf,
}

/// The folder, found and resolved: what a call works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Folder {
    root: PathBuf,
}

/// Something inside the folder that exists: the outcome of a passed check. Only `Folder` makes one.
#[derive(Debug, Clone)]
pub(super) struct Place {
    path: PathBuf,
    /// From the root, with `/` between names; empty for the root itself.
    pub(super) relative: String,
    pub(super) is_folder: bool,
}

/// A file that a walk met.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) place: Place,
    pub(super) size: u64,
    pub(super) modified: Option<SystemTime>,
}

/// A file that was met and not read, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Skipped {
    pub(super) path: String,
    pub(super) reason: String,
}

/// What a walk left out; part of the result, so that "nothing found" is never more than it says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Notes {
    pub(super) skipped: Vec<Skipped>,
    /// Files skipped beyond those listed.
    pub(super) more_skipped: usize,
    /// Files read although they are not valid UTF-8: some characters are replaced.
    pub(super) lossy: Vec<String>,
    /// What was not even looked at.
    pub(super) left_out: Option<String>,
}

impl Notes {
    pub(super) fn skip(&mut self, path: &str, reason: impl Into<String>) {
        if self.skipped.len() < MAX_NOTES {
            self.skipped.push(Skipped { path: path.into(), reason: reason.into() });
        } else {
            self.more_skipped += 1;
        }
    }

    pub(super) fn lossy(&mut self, path: &str) {
        if self.lossy.len() < MAX_NOTES {
            self.lossy.push(path.into());
        }
    }

    /// The fields that every search result carries.
    pub(super) fn into_fields(self, data: &mut serde_json::Value) {
        let fields = [
            ("skipped", serde_json::json!(self.skipped)),
            ("more_skipped", self.more_skipped.into()),
            ("read_lossily", self.lossy.into()),
            ("left_out", self.left_out.into()),
        ];
        for (name, value) in fields {
            let is_said = !(value.is_null() || value == 0 || value.as_array().is_some_and(Vec::is_empty));
            if is_said || name == "skipped" {
                data[name] = value;
            }
        }
    }
}

impl Workspace {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// The folder as it is now.
    pub(super) fn open(&self) -> Result<Folder, ToolError> {
        let shown = self.root.display();
        let root = fs::canonicalize(&self.root).map_err(|e| {
            ToolError::new(
                ErrorClass::NotFound,
                format!("the workspace folder {shown} cannot be opened: {e}"),
                "choose an existing folder for the workspace",
            )
        })?;
        if !root.is_dir() {
            return Err(ToolError::new(
                ErrorClass::NotFound,
                format!("the workspace {shown} is a file, not a folder"),
                "choose the folder that holds it",
            ));
        }
        Ok(Folder { root })
    }
}

impl Folder {
    /// The folder itself.
    pub(super) fn root_place(&self) -> Place {
        Place { path: self.root.clone(), relative: String::new(), is_folder: true }
    }

    /// Finds `relative` inside the folder. Everything that lies or leads outside is refused.
    pub(super) fn resolve(&self, relative: &str, stop: &Stop) -> Result<Place, ToolError> {
        let trimmed = relative.trim();
        if trimmed.contains('\0') {
            return Err(invalid("the path holds a NUL character", "give a plain relative path"));
        }
        let named = middle_truncate(trimmed, MAX_NAME);
        let mut plain = PathBuf::new();
        for component in Path::new(trimmed).components() {
            match component {
                Component::Normal(name) => plain.push(name),
                Component::CurDir => {}
                Component::ParentDir => return Err(refused(&named, "goes up with ..")),
                Component::RootDir | Component::Prefix(_) => return Err(refused(&named, "is absolute")),
            }
        }
        let resolved = fs::canonicalize(self.root.join(&plain)).map_err(|e| self.cannot_open(&named, &e, stop))?;
        let Ok(inside) = resolved.strip_prefix(&self.root) else {
            return Err(refused(&named, "is or passes a link that leads outside"));
        };
        let relative = shown(inside);
        let kind = fs::metadata(&resolved).map_err(|e| self.cannot_open(&named, &e, stop))?;
        if !kind.is_file() && !kind.is_dir() {
            return Err(ToolError::new(
                ErrorClass::Refused,
                format!("{named} is neither a file nor a folder"),
                "devices, pipes and sockets are never opened; name a regular file",
            ));
        }
        Ok(Place { path: resolved, relative, is_folder: kind.is_dir() })
    }

    /// Reads a file whole, up to the size limit.
    ///
    /// The path is resolved once more first: between the walk and now, a folder of it may have become a link.
    pub(super) fn read(&self, place: &Place) -> Result<Vec<u8>, String> {
        let path = fs::canonicalize(&place.path).map_err(|e| plainly(&e))?;
        if !path.starts_with(&self.root) {
            return Err("leads outside the workspace folder".into());
        }
        // Asked before opening, since opening a pipe would wait for its writer.
        if !fs::metadata(&path).map_err(|e| plainly(&e))?.is_file() {
            return Err("is not a regular file".into());
        }
        let file = File::open(&path).map_err(|e| plainly(&e))?;
        let mut bytes = vec![];
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|e| plainly(&e))?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(too_large());
        }
        Ok(bytes)
    }

    /// All readable files at and below `place`, in the order of their names.
    pub(super) fn walk(&self, place: &Place, stop: &Stop, notes: &mut Notes) -> Result<Vec<Found>, ToolError> {
        let mut found = vec![];
        // Only rules inside the folder count: the same folder gives the same files on every machine.
        let walk = WalkBuilder::new(&place.path)
            .follow_links(false)
            .parents(false)
            .git_global(false)
            .require_git(false)
            .sort_by_file_name(std::ffi::OsStr::cmp)
            .build();
        for entry in walk {
            stop.check()?;
            let entry = match entry {
                Ok(entry) => entry,
                Err(problem) => {
                    notes.skip(&self.without_root(&problem.to_string()), "cannot be listed");
                    continue;
                }
            };
            if !entry.file_type().is_some_and(|t| t.is_file()) {
                continue;
            }
            let Ok(inside) = entry.path().strip_prefix(&self.root) else { continue };
            let relative = shown(inside);
            let Ok(metadata) = entry.metadata() else {
                notes.skip(&relative, "cannot be read");
                continue;
            };
            if metadata.len() > MAX_FILE_BYTES {
                notes.skip(&relative, too_large());
                continue;
            }
            if found.len() == MAX_FILES {
                notes.left_out =
                    Some(format!("everything from {relative} on: the folder holds more than {MAX_FILES} files"));
                break;
            }
            let place = Place { path: entry.into_path(), relative, is_folder: false };
            found.push(Found { place, size: metadata.len(), modified: metadata.modified().ok() });
        }
        Ok(found)
    }

    /// An error about `relative` that names what is near it.
    fn cannot_open(&self, relative: &str, error: &io::Error, stop: &Stop) -> ToolError {
        if error.kind() != io::ErrorKind::NotFound && error.kind() != io::ErrorKind::NotADirectory {
            return ToolError::new(
                ErrorClass::Refused,
                format!("{relative} cannot be opened: {}", plainly(error)),
                "check the permissions of the file",
            );
        }
        let mut notes = Notes::default();
        let names = self.walk(&self.root_place(), stop, &mut notes).unwrap_or_default();
        let near = near_names(relative, names.iter().map(|f| f.place.relative.as_str()));
        let hint = match near.as_slice() {
            [] => "paths are relative to the workspace folder; search for the file first".to_string(),
            near => format!("did you mean {}?", near.join(" or ")),
        };
        ToolError::new(ErrorClass::NotFound, format!("the workspace holds no {relative}"), hint)
    }

    fn without_root(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.root.display()), "").replace(&self.root.display().to_string(), ".")
    }
}

/// Text of a file, and whether characters had to be replaced; or why it is not text.
pub(super) fn decode(bytes: &[u8]) -> Result<(String, bool), String> {
    let (bytes, encoding) = match encoding_rs::Encoding::for_bom(bytes) {
        Some((encoding, length)) => (&bytes[length..], encoding),
        None if bytes.iter().take(8192).any(|b| *b == 0) => return Err("is binary".into()),
        None => (bytes, encoding_rs::UTF_8),
    };
    let (text, lossy) = encoding.decode_without_bom_handling(bytes);
    Ok((text.into_owned(), lossy))
}

/// Up to three of `names` that a person may have meant by `wanted`, nearest first.
pub(super) fn near_names<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    // Nobody mistyped that: comparing takes the product of both lengths.
    let is_short = |name: &str| name.len() <= MAX_NAME;
    if !is_short(&wanted) {
        return vec![];
    }
    let last = wanted.rsplit('/').next().unwrap_or(&wanted);
    let mut near: Vec<(f64, &str)> = names
        .filter(|name| is_short(name))
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let file = lower.rsplit('/').next().unwrap_or(&lower);
            let score = strsim::jaro_winkler(&wanted, &lower).max(strsim::jaro_winkler(last, file));
            (score > 0.8).then_some((score, name))
        })
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    near.into_iter().take(3).map(|(_, name)| name.to_string()).collect()
}

fn refused(path: &str, what: &str) -> ToolError {
    ToolError::new(
        ErrorClass::Refused,
        format!("the path {path} {what}; file tools stay inside the workspace folder"),
        "name the file by its path from the workspace folder, or choose another folder",
    )
}

fn too_large() -> String {
    format!("is larger than {} MB", MAX_FILE_BYTES / 1024 / 1024)
}

/// The kind of the error without the path, which may lie outside of what a result should tell.
fn plainly(error: &io::Error) -> String {
    error.kind().to_string()
}

fn shown(relative: &Path) -> String {
    relative.components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

//! Finding a model's files in what somebody has: a folder, a package (`.whl`, `.zip`), or the file itself.
//!
//! A package may come from anywhere: of its entries only those of the wanted names are opened, no entry's path is ever
//! used on the disk, and no more is read than such a file can sensibly have.

use super::install::{FILES, Wanted};
use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};
use toolplan_engine::Problem;
use zip::ZipArchive;

/// Files looked at in a folder. A model's folder has a handful; a home folder is a mistake.
const MAX_LISTED: usize = 1000;
/// Entries of a package. The largest of the kind hold a few thousand.
const MAX_ENTRIES: usize = 100_000;

/// Where a wanted file was found.
pub(super) struct Found {
    pub wanted: &'static Wanted,
    pub place: Place,
}

pub(super) enum Place {
    File(PathBuf),
    Entry { package: PathBuf, index: usize, name: String },
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Entry { package, name, .. } => write!(f, "{name:?} in {}", package.display()),
        }
    }
}

/// The wanted files of one source; a folder's packages count as sources too.
pub(super) fn look_into(source: &Path) -> Result<Vec<Found>, Problem> {
    if !source.is_dir() {
        return of_file(source);
    }
    let unreadable = |e: std::io::Error| unusable(source, &e.to_string());
    let mut files: Vec<PathBuf> = vec![];
    for entry in std::fs::read_dir(source).map_err(unreadable)?.take(MAX_LISTED) {
        let path = entry.map_err(unreadable)?.path();
        if path.is_file() && (is_package(&path) || wanted(&path.to_string_lossy()).is_some()) {
            files.push(path);
        }
    }
    files.sort();
    let mut found = vec![];
    for file in files {
        found.extend(of_file(&file)?);
    }
    Ok(found)
}

/// The bytes, at most as many as the wanted file may have.
pub(super) fn read(found: &Found, mut take: impl FnMut(&[u8]) -> std::io::Result<()>) -> Result<u64, Problem> {
    let failed = |e: &dyn std::fmt::Display| unusable(Path::new(&found.place.to_string()), &e.to_string());
    let mut copy = |from: &mut dyn Read| -> Result<u64, Problem> {
        let (mut buffer, mut size) = (vec![0; 1 << 16], 0u64);
        loop {
            let read = from.read(&mut buffer).map_err(|e| failed(&e))?;
            if read == 0 {
                return Ok(size);
            }
            size += read as u64;
            if size > found.wanted.max_bytes {
                return Err(too_large(found));
            }
            take(&buffer[..read]).map_err(|e| failed(&e))?;
        }
    };
    match &found.place {
        Place::File(path) => copy(&mut File::open(path).map_err(|e| failed(&e))?),
        Place::Entry { package, index, .. } => {
            let mut archive = open(package)?;
            copy(&mut archive.by_index(*index).map_err(|e| failed(&e))?)
        }
    }
}

fn of_file(path: &Path) -> Result<Vec<Found>, Problem> {
    if is_package(path) {
        return of_package(path);
    }
    if !path.is_file() {
        return Err(unusable(path, "there is no such file or folder"));
    }
    match wanted(&path.to_string_lossy()) {
        Some(wanted) => Ok(vec![Found { wanted, place: Place::File(path.to_path_buf()) }]),
        None => Err(unusable(path, "it is neither a package nor a file of a model")),
    }
}

fn of_package(package: &Path) -> Result<Vec<Found>, Problem> {
    let mut archive = open(package)?;
    if archive.len() > MAX_ENTRIES {
        return Err(unusable(package, &format!("it has {} entries", archive.len())));
    }
    let mut found = vec![];
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|e| unusable(package, &e.to_string()))?;
        let Some(wanted) = wanted(entry.name()).filter(|_| entry.is_file()) else { continue };
        let place = Place::Entry { package: package.to_path_buf(), index, name: entry.name().to_string() };
        let one = Found { wanted, place };
        // What the package says of itself; reading holds it to that.
        if entry.size() > wanted.max_bytes {
            return Err(too_large(&one));
        }
        found.push(one);
    }
    Ok(found)
}

fn open(package: &Path) -> Result<ZipArchive<File>, Problem> {
    let file = File::open(package).map_err(|e| unusable(package, &e.to_string()))?;
    ZipArchive::new(file).map_err(|e| unusable(package, &format!("it is no readable package: {e}")))
}

fn is_package(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("whl") || e.eq_ignore_ascii_case("zip"))
}

/// Which file of a model has this name.
fn wanted(path: &str) -> Option<&'static Wanted> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    // Libraries carry their version behind the name: libonnxruntime.so.1.31.1.
    let version = |rest: &str| rest.starts_with('.') && rest.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    FILES.iter().find(|wanted| match name.strip_prefix(wanted.name) {
        Some(rest) => rest.is_empty() || (wanted.has_version && version(rest)),
        None => false,
    })
}

fn too_large(found: &Found) -> Problem {
    let megabytes = found.wanted.max_bytes >> 20;
    unusable(
        Path::new(&found.place.to_string()),
        &format!("it is larger than {megabytes} MB, too large for such a file"),
    )
}

pub(super) fn unusable(path: &Path, why: &str) -> Problem {
    Problem::new(
        "model.source",
        format!("{}: {why}", path.display()),
        "give a folder or packages that hold model.onnx, tokenizer.json and the library of ONNX Runtime; nothing was changed",
    )
}

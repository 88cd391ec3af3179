//! Where the embedding model and the vectors it made are, for every workspace of a person.

use crate::home;
use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{Arc, Mutex},
};
use tokio_util::sync::CancellationToken;
use toolplan_adapters::embedding::{self, Consent, Installed, LIBRARY_VARIABLE, OnnxEmbedder};
use toolplan_engine::{Problem, discovery::semantic::Vector, ports::Embedder};
use toolplan_store::VectorCache;

/// The variable that names another folder for the model than the one below the data folder.
pub const FOLDER_VARIABLE: &str = "TOOLPLAN_MODEL_DIR";

/// Texts that are read between two looks at whether to stop.
const CHUNK: usize = 64;
/// Vectors that are asked of the cache together.
const LOOK_UP: usize = 500;

/// The places.
#[derive(Debug, Clone)]
pub struct Models {
    folder: PathBuf,
    vectors: PathBuf,
    /// ONNX Runtime, where the environment names it.
    library: Option<PathBuf>,
}

impl Models {
    pub fn of(get: impl Fn(&str) -> Option<String>) -> Result<Self, Problem> {
        let set = |name: &str| get(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let (folder, library) = (set(FOLDER_VARIABLE), set(LIBRARY_VARIABLE));
        let data = home::data(get)?;
        let folder = folder.unwrap_or_else(|| data.join("models/embedding"));
        Ok(Self { folder, vectors: data.join("vectors.db"), library })
    }

    /// With the process's environment.
    pub fn from_env() -> Result<Self, Problem> {
        Self::of(|name| std::env::var(name).ok())
    }

    pub fn installed(&self) -> Result<Option<Installed>, Problem> {
        Installed::find(&self.folder)
    }

    /// Installs the model that the files and folders hold, in place of the present one.
    pub fn install(&self, sources: &[PathBuf], consent: &Consent) -> Result<Installed, Problem> {
        embedding::install::install(sources, &self.folder, consent, self.library.as_deref())
    }

    /// False: there was none.
    pub fn remove(&self) -> Result<bool, Problem> {
        embedding::install::remove(&self.folder)
    }

    /// Loads the installed model; none where nothing is installed. The second value tells of a cache that had to be made
    /// anew.
    pub fn load(&self) -> Result<Option<(Reader, Option<Problem>)>, Problem> {
        let Some(installed) = self.installed()? else { return Ok(None) };
        let embedder = OnnxEmbedder::load(&installed, self.library.as_deref())?;
        if let Some(parent) = self.vectors.parent() {
            std::fs::create_dir_all(parent).map_err(|e| home::unusable(parent, &e))?;
        }
        let (cache, notice) = VectorCache::open(&self.vectors)?;
        Ok(Some((Reader { embedder: Arc::new(Remembering::new(embedder)), cache: Arc::new(cache) }, notice)))
    }
}

/// A loaded model with the vectors that it has made before.
#[derive(Clone)]
pub struct Reader {
    pub embedder: Arc<dyn Embedder>,
    cache: Arc<VectorCache>,
}

impl Reader {
    /// The vectors of the texts that were read before, in order.
    pub fn known(&self, texts: &[String]) -> Result<Vec<Option<Vector>>, Problem> {
        let mut known = Vec::with_capacity(texts.len());
        for texts in texts.chunks(LOOK_UP) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let stored = self.cache.get(self.embedder.id(), &texts)?;
            let width = self.embedder.dimensions();
            known.extend(stored.into_iter().map(|bytes| Vector::from_bytes(&bytes?, width)));
        }
        Ok(known)
    }

    /// Reads texts and keeps their vectors, telling how many are done, until the end or until `stop`.
    pub fn read(
        &self,
        texts: &[String],
        stop: &CancellationToken,
        mut tell: impl FnMut(usize),
    ) -> Result<Vec<Option<Vector>>, Problem> {
        let mut vectors = vec![None; texts.len()];
        // Texts of one length together, as the model likes them.
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|i| texts[*i].len());
        let mut done = 0;
        for chunk in order.chunks(CHUNK) {
            if stop.is_cancelled() {
                break;
            }
            let chunk_texts: Vec<&str> = chunk.iter().map(|i| texts[*i].as_str()).collect();
            let made: Vec<Vector> = self.embedder.embed(&chunk_texts)?.iter().map(|v| Vector::of(v)).collect();
            let rows: Vec<(&str, Vec<u8>)> =
                chunk_texts.iter().copied().zip(made.iter().map(Vector::to_bytes)).collect();
            self.cache.put(self.embedder.id(), &rows)?;
            for (i, vector) in chunk.iter().zip(made) {
                vectors[*i] = Some(vector);
            }
            done += chunk.len();
            tell(done);
        }
        Ok(vectors)
    }

    /// The vectors of all texts: from before where there are, else read now.
    pub fn all(&self, texts: &[String], mut tell: impl FnMut(usize, usize)) -> Result<Vec<Vector>, Problem> {
        let mut vectors = self.known(texts)?;
        let missing: Vec<usize> = (0..texts.len()).filter(|i| vectors[*i].is_none()).collect();
        if !missing.is_empty() {
            let before = texts.len() - missing.len();
            let unread: Vec<String> = missing.iter().map(|i| texts[*i].clone()).collect();
            let made = self.read(&unread, &CancellationToken::new(), |done| tell(before + done, texts.len()))?;
            for (i, vector) in missing.into_iter().zip(made) {
                vectors[i] = vector;
            }
        }
        Ok(vectors.into_iter().flatten().collect())
    }
}

/// The model, which does not read the same query twice in a row: one planning searches for it several times.
struct Remembering {
    model: OnnxEmbedder,
    recent: Mutex<VecDeque<(String, Vec<f32>)>>,
}

/// Texts that are remembered. A planning asks for the query, its sentences and its parts.
const RECENT: usize = 64;

impl Remembering {
    fn new(model: OnnxEmbedder) -> Self {
        Self { model, recent: Mutex::default() }
    }
}

impl Embedder for Remembering {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn label(&self) -> &str {
        self.model.label()
    }

    fn dimensions(&self) -> usize {
        self.model.dimensions()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Problem> {
        // Whole catalogs pass through without leaving a trace.
        if texts.len() >= CHUNK {
            return self.model.embed(texts);
        }
        texts
            .iter()
            .map(|text| {
                let recall = |recent: &VecDeque<(String, Vec<f32>)>| {
                    recent.iter().find(|(t, _)| t == text).map(|(_, vector)| vector.clone())
                };
                if let Some(vector) = recall(&self.recent.lock().expect("no holder panics")) {
                    return Ok(vector);
                }
                // One by one: what else is asked must not change the last bits of a vector.
                let vector = self.model.embed(&[text])?.swap_remove(0);
                let mut recent = self.recent.lock().expect("no holder panics");
                if recent.len() >= RECENT {
                    recent.pop_front();
                }
                recent.push_back((text.to_string(), vector.clone()));
                Ok(vector)
            })
            .collect()
    }
}

//! Finding tools by meaning: the model, how far it has read the catalog, and the index that uses it (D-04).
//!
//! The model is loaded behind the opening of a workspace, and a few unread tools are read at once; reading a whole
//! catalog is a job that the window starts by itself and that `toolplan model index` does for the command line. Until
//! every tool is read, tools are found by words alone, so that a plan never depends on how far a job has come.

mod models;

pub use models::{FOLDER_VARIABLE, Models, Reader};
pub use toolplan_adapters::embedding::{Consent, Installed};

use crate::{Environment, Tools, Workbench, views::ModelInfo};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolplan_engine::{
    Problem,
    discovery::{
        Index,
        semantic::{self, Vector},
    },
    tool::Catalog,
};

/// So many unread tools are read on the spot, in less time than a person notices.
const FEW: usize = 32;

/// What the workbench holds of the model.
pub(crate) struct Meaning {
    models: Option<Models>,
    state: Mutex<State>,
    /// True once the installed model is loaded, or is known not to be.
    settled: watch::Sender<bool>,
    /// Tools that the job under way has read, beyond those that were read before.
    done: AtomicU32,
    /// Whether unread tools are read without being asked for each time.
    reads_on: AtomicBool,
}

#[derive(Default)]
struct State {
    reader: Option<Reader>,
    problem: Option<Problem>,
    /// The job under way.
    job: Option<CancellationToken>,
}

impl Meaning {
    pub fn new(environment: &Environment) -> Self {
        let models = Models::of(|name| environment(name)).ok();
        Self {
            models,
            state: Mutex::default(),
            settled: watch::Sender::new(false),
            done: AtomicU32::new(0),
            reads_on: AtomicBool::new(false),
        }
    }

    fn reader(&self) -> Option<Reader> {
        self.state.lock().expect("no holder panics").reader.clone()
    }

    fn fail(&self, problem: Problem) {
        tracing::warn!(%problem, hint = problem.hint, "tools are found by words alone");
        self.state.lock().expect("no holder panics").problem = Some(problem);
    }
}

impl Workbench {
    /// How tools are found now.
    pub fn embedding_model(&self) -> ModelInfo {
        let meaning = &self.inner.meaning;
        let tools = self.tools();
        let (reader, problem, indexing) = {
            let state = meaning.state.lock().expect("no holder panics");
            (state.reader.clone(), state.problem.clone(), state.job.is_some())
        };
        let total = tools.catalog.len() as u32;
        let known = tools.catalog.specs().filter(|s| tools.index.knows(&s.name)).count() as u32;
        let indexed = (known + if indexing { meaning.done.load(Ordering::Relaxed) } else { 0 }).min(total);
        let in_use = tools.index.uses_meaning();
        let installed =
            reader.is_some() || meaning.models.as_ref().is_some_and(|m| m.installed().is_ok_and(|i| i.is_some()));
        let label = reader.as_ref().map_or_else(|| "words only".into(), |r| r.embedder.label().to_string());
        let note = match (&problem, installed, in_use) {
            (_, _, true) => format!("Tools are found by words and by meaning ({label})."),
            (Some(problem), ..) => format!("Tools are found by words: {} ({}).", problem.message, problem.hint),
            (None, false, _) => "Tools are found by words. With an embedding model they are found by meaning too; \
                 “toolplan model add” installs one."
                .into(),
            (None, true, _) if indexing => format!("Tools are found by words until {label} has read all of them."),
            (None, true, _) => format!(
                "Tools are found by words: {label} has read {indexed} of {total}. `toolplan model index` reads the rest."
            ),
        };
        ModelInfo { installed, label, note, indexed, total, indexing, in_use, problem }
    }

    /// Waits until the installed model is loaded, if there is one. Reading the catalog is not waited for.
    pub async fn settle_model(&self) {
        let mut settled = self.inner.meaning.settled.subscribe();
        // The sender lives as long as the workbench.
        let _ = settled.wait_for(|settled| *settled).await;
    }

    /// Installs the model of a folder or a package file for all workspaces, and starts to read the catalog. Only known
    /// files are taken; the command line takes others, where the person says so.
    pub async fn add_embedding_model(&self, path: &Path) -> Result<ModelInfo, Problem> {
        self.cancel_index_embeddings();
        let models = self.models()?;
        let sources: Vec<PathBuf> = vec![path.to_path_buf()];
        let workbench = self.clone();
        let work = move || {
            models.install(&sources, &Consent::default())?;
            workbench.load_model();
            workbench.index_embeddings()
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|failure| {
            Err(Problem::new("model.load", format!("the model cannot be loaded: {failure}"), "report this"))
        })
    }

    /// Removes the model from this computer; tools are found by words alone.
    pub fn remove_embedding_model(&self) -> Result<ModelInfo, Problem> {
        self.cancel_index_embeddings();
        self.models()?.remove()?;
        *self.inner.meaning.state.lock().expect("no holder panics") = State::default();
        self.refresh_index()?;
        Ok(self.embedding_model())
    }

    /// Starts to read the tools that are not read yet, in the background, and from now on those that change.
    pub fn index_embeddings(&self) -> Result<ModelInfo, Problem> {
        let meaning = &self.inner.meaning;
        meaning.reads_on.store(true, Ordering::Relaxed);
        if meaning.reader().is_none() {
            return match self.embedding_model() {
                ModelInfo { problem: Some(problem), .. } => Err(problem),
                _ => Err(Problem::new(
                    "model.missing",
                    "no embedding model is installed",
                    "`toolplan model add` installs one from files that you have",
                )),
            };
        }
        self.start_job();
        Ok(self.embedding_model())
    }

    pub(crate) fn is_indexing(&self) -> bool {
        self.inner.meaning.state.lock().expect("no holder panics").job.is_some()
    }

    /// Stops reading; what is read stays.
    pub fn cancel_index_embeddings(&self) -> ModelInfo {
        let meaning = &self.inner.meaning;
        meaning.reads_on.store(false, Ordering::Relaxed);
        if let Some(job) = meaning.state.lock().expect("no holder panics").job.take() {
            job.cancel();
        }
        self.embedding_model()
    }

    /// The index by meaning too, as far as vectors are at hand or quickly made.
    fn index_of(&self, words: &Index, catalog: &Catalog) -> Index {
        let index = words.clone();
        let Some(reader) = self.inner.meaning.reader() else { return index.without_model() };
        let mut index = index.with_model(reader.embedder.clone());
        if let Err(problem) = learn(&reader, &mut index, catalog) {
            self.inner.meaning.fail(problem);
        }
        index
    }

    /// Takes what is at hand of what an edit left unread, and reads the rest: a few tools at once, more in the background where the person wants that.
    pub(crate) fn read_on(&self) {
        let Some(reader) = self.inner.meaning.reader() else { return };
        let tools = self.tools();
        let unread: Vec<(String, String)> = tools
            .catalog
            .specs()
            .filter(|s| !tools.index.knows(&s.name))
            .map(|s| (s.name.clone(), semantic::text(s)))
            .collect();
        // Let go of the index: changed in place, it need not be copied.
        drop(tools);
        let texts: Vec<String> = unread.iter().map(|(_, text)| text.clone()).collect();
        let known = match reader.known(&texts) {
            Ok(known) => known,
            Err(problem) => return self.inner.meaning.fail(problem),
        };
        let (at_hand, missing): (Vec<_>, Vec<_>) = unread.into_iter().zip(known).partition(|(_, v)| v.is_some());
        self.take_in_vectors(at_hand.into_iter().filter_map(|(tool, vector)| Some((tool, vector?))));
        if missing.len() <= FEW {
            let texts: Vec<String> = missing.iter().map(|((_, text), _)| text.clone()).collect();
            match reader.all(&texts, |_, _| {}) {
                Ok(vectors) => self.take_in_vectors(missing.into_iter().map(|(tool, _)| tool).zip(vectors)),
                Err(problem) => self.inner.meaning.fail(problem),
            }
        } else if self.inner.meaning.reads_on.load(Ordering::Relaxed) {
            self.start_job();
        }
    }

    /// Vectors of tools that may have changed again since they were read.
    fn take_in_vectors(&self, vectors: impl Iterator<Item = ((String, String), Vector)>) {
        let mut tools = self.inner.tools.write().expect("no writer panics");
        let Tools { catalog, index } = &mut *tools;
        let index = Arc::make_mut(index);
        for ((name, text), vector) in vectors {
            if catalog.spec(&name).is_some_and(|spec| semantic::text(spec) == text) {
                index.learn(&name, &vector);
            }
        }
    }

    /// Loads the installed model behind the opening of the workspace.
    pub(crate) fn load_model_soon(&self) {
        let installed = self.inner.meaning.models.as_ref().map_or(Ok(None), Models::installed);
        match installed {
            Ok(Some(_)) => {
                let workbench = self.clone();
                thread::spawn(move || workbench.load_model());
            }
            Ok(None) => drop(self.inner.meaning.settled.send_replace(true)),
            Err(problem) => {
                self.inner.meaning.fail(problem);
                self.inner.meaning.settled.send_replace(true);
            }
        }
    }

    fn models(&self) -> Result<Models, Problem> {
        self.inner.meaning.models.clone().ok_or_else(|| {
            Problem::new(
                "home.unknown",
                "there is no folder for data",
                "set TOOLPLAN_HOME to a folder that may be written",
            )
        })
    }

    fn load_model(&self) {
        let meaning = &self.inner.meaning;
        let loaded = meaning.models.as_ref().map_or(Ok(None), Models::load);
        match loaded {
            Ok(Some((reader, notice))) => {
                *meaning.state.lock().expect("no holder panics") =
                    State { reader: Some(reader), problem: notice, job: None };
                if let Err(problem) = self.refresh_index() {
                    meaning.fail(problem);
                }
            }
            Ok(None) => {}
            Err(problem) => meaning.fail(problem),
        }
        meaning.settled.send_replace(true);
    }

    /// Gives the index what the model knows, and once more if the catalog changed meanwhile.
    fn refresh_index(&self) -> Result<(), Problem> {
        loop {
            let before = self.tools();
            let index = Arc::new(self.index_of(&before.index, &before.catalog));
            let mut tools = self.inner.tools.write().expect("no writer panics");
            if tools.catalog.is_same(&before.catalog) {
                tools.index = index;
                return Ok(());
            }
        }
    }

    fn start_job(&self) {
        let meaning = &self.inner.meaning;
        let stop = CancellationToken::new();
        {
            let mut state = meaning.state.lock().expect("no holder panics");
            if state.job.is_some() {
                return;
            }
            state.job = Some(stop.clone());
        }
        meaning.done.store(0, Ordering::Relaxed);
        let workbench = self.clone();
        thread::spawn(move || {
            let result = workbench.read_all(&stop);
            let meaning = &workbench.inner.meaning;
            if let Err(problem) = result {
                meaning.fail(problem);
            }
            // A cancelled job has left already, and another one may have come.
            if !stop.is_cancelled() {
                meaning.state.lock().expect("no holder panics").job = None;
            }
        });
    }

    /// Reads until nothing is unread, however the catalog changes meanwhile.
    fn read_all(&self, stop: &CancellationToken) -> Result<(), Problem> {
        let meaning = &self.inner.meaning;
        while let Some(reader) = meaning.reader().filter(|_| !stop.is_cancelled()) {
            let tools = self.tools();
            let unread: Vec<String> =
                tools.catalog.specs().filter(|s| !tools.index.knows(&s.name)).map(semantic::text).collect();
            if unread.is_empty() {
                break;
            }
            let known = reader.known(&unread)?;
            let unread: Vec<String> =
                unread.into_iter().zip(known).filter(|(_, known)| known.is_none()).map(|(text, _)| text).collect();
            reader.read(&unread, stop, |done| meaning.done.store(done as u32, Ordering::Relaxed))?;
            self.refresh_index()?;
            meaning.done.store(0, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Gives the index the vectors that are at hand, and reads what is missing if it is little.
fn learn(reader: &Reader, index: &mut Index, catalog: &Catalog) -> Result<(), Problem> {
    let names: Vec<&str> = catalog.specs().map(|s| s.name.as_str()).collect();
    let texts: Vec<String> = catalog.specs().map(semantic::text).collect();
    let mut vectors = reader.known(&texts)?;
    let missing: Vec<usize> = (0..texts.len()).filter(|i| vectors[*i].is_none()).collect();
    if missing.len() <= FEW {
        let unread: Vec<String> = missing.iter().map(|i| texts[*i].clone()).collect();
        let made = reader.read(&unread, &CancellationToken::new(), |_| {})?;
        for (i, vector) in missing.into_iter().zip(made) {
            vectors[i] = vector;
        }
    }
    for (name, vector) in names.into_iter().zip(vectors) {
        if let Some(vector) = vector {
            index.learn(name, &vector);
        }
    }
    Ok(())
}

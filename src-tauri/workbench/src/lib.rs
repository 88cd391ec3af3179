//! The use cases of Toolplan, one method each. The window, the CLI and the tests are thin shells around [`Workbench`].
//!
//! Knows nothing of windows and command lines. Holds no decision of its own: it brings the engine what the store and
//! the adapters know, and writes down what the engine decides.

mod catalog;
mod changes;
mod control;
mod describe;
mod discovery;
mod doctor;
mod edits;
mod environment;
pub mod eval;
mod files;
mod forks;
mod graph;
mod home;
mod import;
mod index_cache;
mod keep;
mod lints;
pub mod long;
pub mod meaning;
mod past;
mod plans;
pub mod policy;
mod replays;
mod runs;
mod sample;
pub mod sessions;
mod table;
mod then;
mod timeline;
pub mod views;
pub mod visibility;

pub use control::{parse_breakpoint, parse_fault};
pub use describe::skip as skip_reason;
pub use doctor::Check;
pub use environment::{SettingOrigin, SettingSource};
pub use runs::RunUpdate;
pub use toolplan_adapters as adapters;
pub use toolplan_engine as engine;
pub use toolplan_engine::Problem;

use home::Place;
use index_cache::IndexCache;
use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, RwLock},
};
use tokio::sync::mpsc;
use toolplan_adapters::{
    cache::MemoryCache,
    models::{ProviderConfig, Recorded},
    tools::{Secrets, Toolbox, builtin_specs},
};
use toolplan_engine::{
    discovery::Index,
    lint::Linter,
    ports::ChatModel,
    settings::{CacheSettings, Settings},
    tokens::Tiktoken,
    tool::{Catalog, validate},
};
use toolplan_store::Store;
use views::{AppInfo, ProviderInfo, SampleQuery, WorkspaceInfo};

/// Reads an environment variable. Tests bring their own.
pub type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What a workbench is opened with.
#[derive(Clone)]
pub struct Options {
    /// A folder to open as the workspace; none opens the sample.
    pub folder: Option<PathBuf>,
    pub environment: Environment,
}

impl Default for Options {
    /// The sample, with the process's environment.
    fn default() -> Self {
        Self { folder: None, environment: Arc::new(|name| std::env::var(name).ok()) }
    }
}

/// An open workspace. Cheap to clone; clones are the same workbench.
#[derive(Clone)]
pub struct Workbench {
    inner: Arc<Inner>,
}

struct Inner {
    place: Place,
    store: Arc<Store>,
    tools: RwLock<Tools>,
    index_cache: IndexCache,
    settings: RwLock<Settings>,
    model: Option<Arc<dyn ChatModel>>,
    /// From the environment; win over the settings.
    overrides: environment::Overrides,
    provider: ProviderInfo,
    recordings: Recorded,
    samples: Vec<SampleQuery>,
    server: Option<sample::Server>,
    plans: Mutex<plans::Plans>,
    /// Held while a session is read, moved and stored.
    sessions: Mutex<()>,
    runs: Mutex<HashMap<u32, runs::Live>>,
    followers: Mutex<Vec<mpsc::UnboundedSender<RunUpdate>>>,
    activations: discovery::Activations,
    toolbox: Mutex<Option<(toolplan_engine::settings::NetworkSettings, Toolbox)>>,
    cache: Mutex<Option<(CacheSettings, Arc<MemoryCache>)>>,
    notices: Vec<Problem>,
    /// Held while the catalog is edited: an edit reads what it changes.
    editing: Mutex<()>,
    linter: Mutex<Linter>,
    table: Mutex<table::Table>,
    environment: Environment,
    shelf: past::Shelf,
    works: long::Works,
    meaning: meaning::Meaning,
}

/// The catalog with its search index, replaced together.
#[derive(Clone)]
struct Tools {
    catalog: Catalog,
    index: Arc<Index>,
}

impl Workbench {
    /// Opens the workspace, and makes it at the first start.
    pub async fn open(options: Options) -> Result<Self, Problem> {
        let Options { folder, environment } = options;
        let place = match &folder {
            Some(folder) => Place::folder(folder)?,
            None => Place::sample(|name| environment(name))?,
        };
        place.prepare()?;
        let mut notices = vec![];
        let mut server = None;
        if place.is_sample {
            sample::unpack(&place.root)?;
            match sample::Server::start().await {
                Ok(started) => server = Some(started),
                Err(problem) => notices.push(problem),
            }
        }
        let store = Arc::new(Store::open(&place.database)?);
        if store.registry().newest()? == 0 {
            first_start(&store, &place)?;
        }
        let (mut settings, problems) = store.settings().load()?;
        notices.extend(problems);
        notices.extend(settings.discovery.problems());
        if settings.discovery.enabled {
            discovery::register(&store)?;
        }
        let stored = store.registry().load()?;
        notices.extend(stored.problems);
        let (catalog, problems) = Catalog::new(stored.revision, stored.specs);
        notices.extend(problems);
        let (redactor, problems) = keep::redactor(&environment, &settings);
        store.redact_with(redactor);
        notices.extend(problems);
        let address = server.as_ref().map(sample::Server::url).unwrap_or_default();
        if place.is_sample {
            // The sample's server listens on another port at every start.
            settings.network.jira_url = address.clone();
            settings.network.confluence_url = address.clone();
        }
        store.set_durability(settings.run.durability);
        let (model, provider) = provider(&environment, &mut notices);
        let overrides = environment::Overrides::read(|name| environment(name), &mut notices);
        let index_cache = IndexCache::of(&place, &settings.discovery, &environment);
        let (index, problems) = index_cache.open(&catalog, &settings.discovery);
        notices.extend(problems);
        let (samples, recordings) = if place.is_sample {
            (sample::queries(&address), sample::recordings(&address))
        } else {
            Default::default()
        };
        let inner = Inner {
            place,
            store,
            tools: RwLock::new(Tools { catalog, index: Arc::new(index) }),
            index_cache,
            settings: RwLock::new(settings),
            model,
            overrides,
            provider,
            recordings: Recorded::new(recordings),
            samples,
            server,

            plans: Mutex::default(),
            sessions: Mutex::default(),
            runs: Mutex::default(),
            followers: Mutex::default(),
            activations: Default::default(),
            toolbox: Mutex::default(),
            cache: Mutex::default(),
            notices,
            editing: Mutex::default(),
            linter: Mutex::default(),
            table: Mutex::default(),
            meaning: meaning::Meaning::new(&environment),
            environment,
            shelf: past::Shelf::default(),
            works: Default::default(),
        };
        let workbench = Self { inner: Arc::new(inner) };
        workbench.load_model_soon();
        workbench.prune_soon();
        Ok(workbench)
    }

    /// What the window shows before the first query.
    pub fn info(&self) -> AppInfo {
        let inner = &self.inner;
        let catalog = self.tools().catalog;
        AppInfo {
            version: env!("CARGO_PKG_VERSION").into(),
            workspace: WorkspaceInfo {
                name: inner.place.name(),
                root: inner.place.root.display().to_string(),
                database: inner.place.database.display().to_string(),
                is_sample: inner.place.is_sample,
                tools: catalog.len() as u32,
                notices: inner.notices.clone(),
            },
            provider: inner.provider.clone(),
            embedding_model: self.embedding_model(),
            settings: self.settings(),
            revision: catalog.revision(),
            samples: inner.samples.clone(),
        }
    }

    /// Stores the settings; they hold from the next planning and the next call on.
    pub fn save_settings(&self, mut settings: Settings) -> Result<(), Problem> {
        settings.check()?;
        let (redactor, problems) = keep::redactor(&self.inner.environment, &settings);
        if let Some(problem) = problems.into_iter().next() {
            return Err(problem);
        }
        self.inner.overrides.keep_own(&mut settings, &self.inner.settings.read().expect("no writer panics"));
        self.inner.store.settings().save(&settings)?;
        if settings.discovery.enabled && discovery::register(&self.inner.store)? {
            self.reload()?;
        }
        self.inner.store.redact_with(redactor);
        self.inner.store.set_durability(settings.run.durability);
        *self.inner.settings.write().expect("no writer panics") = settings;
        Ok(())
    }

    /// The workspace's settings, with those of the environment over them (O-13).
    fn settings(&self) -> Settings {
        let mut settings = self.inner.settings.read().expect("no writer panics").clone();
        self.inner.overrides.apply(&mut settings);
        settings
    }

    fn tools(&self) -> Tools {
        self.inner.tools.read().expect("no writer panics").clone()
    }

    fn editing(&self) -> std::sync::MutexGuard<'_, ()> {
        self.inner.editing.lock().expect("no edit panics")
    }

    fn counter(&self, settings: &Settings) -> Tiktoken {
        Tiktoken::named(&settings.planner.encoding)
    }

    /// The tools that run, made anew when the network settings change.
    fn toolbox(&self) -> Toolbox {
        let network = self.settings().network;
        let mut cached = self.inner.toolbox.lock().expect("no holder panics");
        match &*cached {
            Some((for_network, toolbox)) if *for_network == network => toolbox.clone(),
            _ => {
                let toolbox = Toolbox::new(self.inner.place.root.clone(), network.clone(), Secrets::from_env())
                    .with_model(self.inner.model.clone());
                *cached = Some((network, toolbox.clone()));
                toolbox
            }
        }
    }

    /// The results of harmless calls, shared by all runs; made anew, and empty, when its settings change (O-08).
    fn cache(&self) -> Option<Arc<MemoryCache>> {
        let settings = self.settings().run.cache;
        if !settings.enabled || settings.ttl_s == 0 {
            return None;
        }
        let mut kept = self.inner.cache.lock().expect("no holder panics");
        match &*kept {
            Some((of, cache)) if *of == settings => Some(cache.clone()),
            _ => {
                let cache = Arc::new(MemoryCache::new(&settings));
                *kept = Some((settings, cache.clone()));
                Some(cache)
            }
        }
    }
}

/// Registers the built-in tools and, for the sample, its own; stores the sample's settings.
fn first_start(store: &Store, place: &Place) -> Result<(), Problem> {
    let mut specs = builtin_specs();
    if place.is_sample {
        specs.extend(sample::tools());
        store.settings().save(&sample::settings())?;
    }
    specs.iter().try_for_each(validate)?;
    store.registry().register(&specs, "toolplan", "first start")?;
    Ok(())
}

/// The model that the environment configures. Trouble with it is a notice: planning goes on
/// offline.
fn provider(environment: &Environment, notices: &mut Vec<Problem>) -> (Option<Arc<dyn ChatModel>>, ProviderInfo) {
    let offline = |note: String| (None, ProviderInfo { configured: false, label: "offline".into(), note });
    let config = match ProviderConfig::from_env(|name| environment(name)) {
        Ok(Some(config)) => config,
        Ok(None) => {
            return offline(
                "No model is configured: the offline planner plans. Set TOOL_PLANNER_LLM and a key to use one.".into(),
            );
        }
        Err(problem) => {
            let note = format!("{}: {}", problem.message, problem.hint);
            notices.push(problem);
            return offline(note);
        }
    };
    match config.build() {
        Ok(model) => {
            let label = model.label();
            let note = format!("{label} plans when the planner is set to model, and writes and judges answers in runs");
            (Some(model), ProviderInfo { configured: true, label, note })
        }
        Err(problem) => {
            let note = format!("{}: {}", problem.message, problem.hint);
            notices.push(problem);
            offline(note)
        }
    }
}

//! One SQLite file per workspace: the registry and its revisions, the journal of runs, the statistics of tools and
//! the settings.
//!
//! Each table stands in one module with its `CREATE` statements, its rows and the handle that reads and writes it:
//! [`registry`], [`journal`], [`stats`], [`settings`]. [`Store`] owns the file and its three connections: one reads,
//! one takes the edits of a person, one belongs to the journal's writer thread, so that a large import never holds up
//! a reader and a reader never holds up a run.
//!
//! This crate keeps what it is given and decides nothing: it knows nothing of planning, of tools running, of adapters,
//! of the workbench or of windows.

mod failure;
pub mod journal;
mod migrations;
mod process;
pub mod registry;
pub mod settings;
pub mod stats;
pub mod vectors;

pub use journal::{Journal, NewRun, RawEvent, Removed, RowOrigin, RunRow, Usage};
pub use registry::{Registry, StoredCatalog, ToolRevision};
pub use settings::SettingTable;
pub use stats::{CallStats, Stats};
pub use vectors::VectorCache;

use failure::{Failure, as_problem};
use journal::writer::Writer;
use process::Owner;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use toolplan_engine::{Problem, redact::Redactor, settings::Durability};

/// An open workspace file. Closing (dropping) it waits until every append that was handed over is written.
///
/// The methods of the handles block on the disk, those of the journal's writing side excepted; an asynchronous caller
/// moves the long ones (an import) to a blocking thread.
pub struct Store {
    path: PathBuf,
    reads: Mutex<Connection>,
    edits: Mutex<Connection>,
    writer: Writer,
    owner: Owner,
    redactor: RwLock<Arc<Redactor>>,
    /// Dropped last, when all connections are closed.
    _folder: Option<TemporaryFolder>,
}

impl Store {
    /// Opens the workspace at `path`, creating the file where there is none, brings its tables up to date and closes
    /// the runs of processes that died ([`Journal::mark_interrupted`]).
    ///
    /// Errors: `store.open` (no permission, no such folder, not a database, damaged), `store.foreign` (a database of
    /// another program, left untouched), `store.newer` (written by a newer Toolplan, left untouched).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Problem> {
        Self::open_in(path.as_ref(), None)
    }

    /// A store in a folder of its own under the system's temporary folder, removed when the store is dropped. For
    /// tests and trials; it behaves like any other in all else.
    pub fn temporary() -> Result<Self, Problem> {
        let folder = TemporaryFolder::new().map_err(|error| {
            Problem::new(
                "store.open",
                format!("cannot make a folder in {}: {error}", std::env::temp_dir().display()),
                "free some space there, or set TMPDIR to a folder that can be written",
            )
        })?;
        Self::open_in(&folder.0.join("workspace.toolplan"), Some(folder))
    }

    fn open_in(path: &Path, folder: Option<TemporaryFolder>) -> Result<Self, Problem> {
        let edits = migrations::open_and_migrate(path)?;
        let connect = || connect(path).map_err(|error| as_problem("store.open", "open", path, &error));
        let reads = connect()?;
        reads
            .pragma_update(None, "query_only", true)
            .map_err(|error| as_problem("store.open", "open", path, &error))?;
        let owner = Owner::claim(path);
        let store = Self {
            path: path.to_owned(),
            reads: Mutex::new(reads),
            edits: Mutex::new(edits),
            writer: Writer::start(connect()?, path, owner.mark())?,
            owner,
            redactor: RwLock::default(),
            _folder: folder,
        };
        // A workspace on a full or read-only disk still opens: what it holds can be read.
        if let Err(problem) = store.journal().mark_interrupted() {
            tracing::warn!(%problem, hint = problem.hint, "interrupted runs could not be marked");
        }
        if let Err(problem) = store.journal().finish_removals() {
            tracing::warn!(%problem, hint = problem.hint, "removed runs still take space");
        }
        Ok(store)
    }

    /// The workspace file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// From now on nothing that this redactor finds gets into the journal (S-01). Until it is set, the shapes of keys
    /// and credentials and the fields that hold them are left out.
    pub fn redact_with(&self, redactor: Redactor) {
        *self.redactor.write().expect("no writer panics") = Arc::new(redactor);
    }

    pub(crate) fn redactor(&self) -> Arc<Redactor> {
        self.redactor.read().expect("no writer panics").clone()
    }

    /// Tools and their revisions.
    pub fn registry(&self) -> Registry<'_> {
        Registry(self)
    }

    /// Runs and their events. The store itself is the engine's port for appending
    /// ([`toolplan_engine::ports::Journal`]).
    pub fn journal(&self) -> Journal<'_> {
        Journal(self)
    }

    /// What calls of tools have taken and how they ended.
    pub fn stats(&self) -> CallStats<'_> {
        CallStats(self)
    }

    /// What an event survives once it was acknowledged (O-10); [`Durability::Process`] until this is called.
    pub fn set_durability(&self, durability: Durability) {
        self.writer.set_durability(durability);
    }

    /// The settings, and small things under a key.
    pub fn settings(&self) -> SettingTable<'_> {
        SettingTable(self)
    }

    /// What SQLite finds wrong with the file; empty when nothing is. Reads all of it.
    pub fn integrity(&self) -> Result<Vec<String>, Problem> {
        self.read(|db| {
            let mut query = db.prepare("PRAGMA integrity_check")?;
            let found = query.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
            Ok(found.into_iter().filter(|said| said != "ok").collect())
        })
    }

    /// How many transactions the journal's writer has committed since the store was opened; with the number of
    /// appends this tells how well they were grouped.
    pub fn transactions(&self) -> u64 {
        self.writer.transactions()
    }

    /// Runs `query` on one consistent state of the file.
    fn read<T>(&self, query: impl FnOnce(&Connection) -> Result<T, Failure>) -> Result<T, Problem> {
        // What cannot be stored now is in the log; what is stored can be read.
        let _ = self.writer.drain();
        let mut connection = self.reads.lock().expect("no query panics");
        let result = connection.transaction().map_err(Failure::from).and_then(|state| query(&state));
        result.map_err(|failure| failure.into_problem("store.read", "read", &self.path))
    }

    /// Runs `change` as one transaction: all of it is on disk when this returns, or none of it.
    fn edit<T>(&self, change: impl FnOnce(&Transaction) -> Result<T, Failure>) -> Result<T, Problem> {
        self.writer.drain()?;
        let mut connection = self.edits.lock().expect("no edit panics");
        let run = || {
            // Immediate: a transaction that reads first and writes later cannot wait for another writer, it fails.
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = change(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        run().map_err(|failure: Failure| failure.into_problem("store.write", "write to", &self.path))
    }
}

/// Opens one more connection to a workspace whose tables are there.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    configure(&connection)?;
    Ok(connection)
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(32);
    connection.pragma_update(None, "foreign_keys", true)?;
    // Edits are rare and a person's work: each is synced to the disk. The journal's writer sets its own.
    connection.pragma_update(None, "synchronous", "FULL")?;
    // An import of 20,000 tools leaves a large log; cut it when the next checkpoint is done.
    connection.pragma_update(None, "journal_size_limit", 16 << 20)
}

/// Milliseconds since 1970-01-01 UTC.
fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn new() -> std::io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolplan-{}-{}-{number}", std::process::id(), now_ms());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, folder = %self.0.display(), "a temporary workspace was left behind");
        }
    }
}

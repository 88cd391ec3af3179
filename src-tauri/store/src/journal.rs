//! The durable record of runs (O-10): every run a row, every event a row, nothing ever changed; taken away only whole.
//!
//! Events go in through one writer thread (`writer.rs`), in order and without gaps. The columns of a run beyond its
//! query are a summary of its events, written with them, so that a list of runs needs no fold. What the events mean
//! is the engine's business.

pub(crate) mod facts;
pub(crate) mod keeping;
pub(crate) mod log;
mod transfer;
pub(crate) mod writer;

pub use keeping::{Removed, Usage};
pub use transfer::{NewRun, RawEvent};

use crate::{
    Store,
    failure::{Failure, as_io_problem},
};
use async_trait::async_trait;
use facts::Encoded;
use log::Logged;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;
use toolplan_engine::{
    Problem, ports,
    run::{JournalEntry, RunEvent, RunId, RunOutcome},
    tool::Revision,
};
use writer::Work;

pub(crate) const TABLES: &str = "
CREATE TABLE run(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    query TEXT NOT NULL,
    planner TEXT NOT NULL,
    catalog_revision INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    started_ms INTEGER, -- NULL: only planned
    finished_ms INTEGER,
    outcome TEXT,
    steps INTEGER NOT NULL DEFAULT 0,
    succeeded INTEGER NOT NULL DEFAULT 0,
    owner TEXT NOT NULL -- see process.rs
) STRICT;
CREATE INDEX run_unfinished ON run(id) WHERE started_ms IS NOT NULL AND outcome IS NULL;
CREATE TABLE event(
    run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE RESTRICT,
    seq INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    version INTEGER NOT NULL,
    body_json TEXT NOT NULL,
    PRIMARY KEY(run_id, seq)
) STRICT, WITHOUT ROWID;
";

/// Reads and writes the runs of a workspace.
pub struct Journal<'a>(pub(crate) &'a Store);

/// A run as a list shows it. Times are milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunRow {
    pub id: RunId,
    pub query: String,
    /// For people: `offline`, `anthropic/claude-sonnet-4`.
    pub planner: String,
    pub catalog_revision: Revision,
    pub created_ms: u64,
    /// `None`: only planned.
    pub started_ms: Option<u64>,
    pub finished_ms: Option<u64>,
    /// `None`: only planned, or not finished yet.
    pub outcome: Option<RunOutcome>,
    /// Steps of the plan, and how many of them have succeeded so far.
    pub steps: u32,
    pub succeeded: u32,
    /// Its name in any workspace.
    pub uid: String,
    pub pinned: bool,
    /// The file that it came from.
    pub source: Option<String>,
    /// Of a replay or fork.
    pub origin: Option<RowOrigin>,
    /// Of a replay that was held against its origin.
    pub faithful: Option<bool>,
    /// Events, and the bytes of their texts.
    pub events: u32,
    pub bytes: u64,
}

/// Where a derived run comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RowOrigin {
    pub uid: String,
    /// The last event taken over.
    pub at: u32,
    /// In words; empty for a replay.
    pub change: String,
}

#[async_trait]
impl ports::Journal for Store {
    /// Appends events to the end of a run and returns them with their numbers and times. They are durable when this
    /// returns, all of them or none: in the log of a run that this store drives, else in the tables
    /// ([`Store::set_durability`] says what that means).
    ///
    /// Once called, the events are stored even if the future is dropped. Errors: `journal.write` (no space, no
    /// permission; nothing of this append is stored and the next one may succeed), `journal.unknown_run`.
    async fn append(&self, run: RunId, events: Vec<RunEvent>) -> Result<Vec<JournalEntry>, Problem> {
        if events.is_empty() {
            return Ok(vec![]);
        }
        let (events, mut encoded) = Encoded::all(events, &self.redactor())?;
        let begins = encoded.iter().any(Encoded::begins_run) && !encoded.iter().any(Encoded::ends_run);
        let (first_seq, at_ms) = loop {
            encoded = match self.writer.log.append(run, encoded)? {
                Logged::Stored { first_seq, at_ms, file, tell_writer } => {
                    if tell_writer {
                        self.writer.gather()?;
                    }
                    if self.writer.syncs() {
                        self.sync(file).await?;
                    }
                    break (first_seq, at_ms);
                }
                Logged::NotHere(encoded) => {
                    let work = Work::Append { run, events: encoded, owner: self.owner.mark() };
                    let written = self.writer.submit(work).await?;
                    if begins {
                        self.writer.log.begin(run, written.first_seq + events.len() as u32 - 1, written.at_ms);
                    }
                    break (written.first_seq, written.at_ms);
                }
                Logged::Blocked(encoded) => {
                    self.writer.drain()?;
                    encoded
                }
            };
        };
        Ok((first_seq..).zip(events).map(|(seq, event)| JournalEntry { seq, at_ms, event }).collect())
    }
}

impl Store {
    async fn sync(&self, file: std::sync::Arc<std::fs::File>) -> Result<(), Problem> {
        let synced = tokio::task::spawn_blocking(move || file.sync_data()).await;
        let error = match synced {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error,
            Err(error) => std::io::Error::other(error),
        };
        Err(as_io_problem("journal.write", "sync the journal of", &self.path, &error))
    }
}

impl Journal<'_> {
    /// Makes an empty run and returns its number. `planner` is the label of who plans. Error: `journal.write`.
    pub async fn create_run(&self, query: &str, planner: &str, catalog_revision: Revision) -> Result<RunId, Problem> {
        let (query, planner) = (query.to_owned(), planner.to_owned());
        self.create(NewRun { query, planner, catalog_revision, ..NewRun::default() }).await
    }

    /// Runs that were started or imported, newest first: at most `limit`, and only those older than the run `before`.
    pub fn runs(&self, limit: u32, before: Option<RunId>) -> Result<Vec<RunRow>, Problem> {
        // What came out of a broken file is shown even where it breaks off before the start.
        self.list("(started_ms IS NOT NULL OR source IS NOT NULL)", limit, before)
    }

    /// Like [`Journal::runs`], with those that were only planned.
    pub fn runs_and_plannings(&self, limit: u32, before: Option<RunId>) -> Result<Vec<RunRow>, Problem> {
        self.list("TRUE", limit, before)
    }

    fn list(&self, which: &str, limit: u32, before: Option<RunId>) -> Result<Vec<RunRow>, Problem> {
        self.0.read(|db| {
            let sql =
                format!("SELECT {COLUMNS} FROM run WHERE id < ? AND NOT removed AND {which} ORDER BY id DESC LIMIT ?");
            let before = before.map_or(i64::MAX, i64::from);
            let mut query = db.prepare_cached(&sql)?;
            Ok(query.query_map(params![before, limit], run_row)?.collect::<Result<_, _>>()?)
        })
    }

    /// One run. Error: `journal.unknown_run`.
    pub fn run(&self, run: RunId) -> Result<RunRow, Problem> {
        self.0.read(|db| {
            let mut query = db.prepare_cached(&format!("SELECT {COLUMNS} FROM run WHERE id = ? AND NOT removed"))?;
            Ok(query.query_row([run], run_row).optional()?.ok_or_else(|| unknown_run(run))?)
        })
    }

    /// All events of a run in order, and a `journal.damaged` for each that cannot be read and is left out. Error:
    /// `journal.unknown_run`.
    pub fn events(&self, run: RunId) -> Result<(Vec<JournalEntry>, Vec<Problem>), Problem> {
        self.events_from(run, 0)
    }

    /// Like [`Journal::events`], only those after the event `after_seq`.
    pub fn events_from(&self, run: RunId, after_seq: u32) -> Result<(Vec<JournalEntry>, Vec<Problem>), Problem> {
        self.0.read(|db| {
            if !db.prepare_cached("SELECT 1 FROM run WHERE id = ? AND NOT removed")?.exists([run])? {
                return Err(unknown_run(run).into());
            }
            let mut query =
                db.prepare_cached("SELECT seq, at_ms, body_json FROM event WHERE run_id = ? AND seq > ? ORDER BY seq")?;
            let mut rows = query.query(params![run, after_seq])?;
            let (mut entries, mut problems) = (vec![], vec![]);
            while let Some(row) = rows.next()? {
                let (seq, at_ms) = (row.get(0)?, row.get::<_, i64>(1)? as u64);
                // Bytes, not text: a body that is not even UTF-8 is damaged as well and must not stop the whole query.
                match RunEvent::from_json(row.get_ref(2)?.as_bytes().map_err(rusqlite::Error::from)?) {
                    Ok(event) => entries.push(JournalEntry { seq, at_ms, event }),
                    Err(error) => problems.push(Problem::new(
                        "journal.damaged",
                        format!("event {seq} of run {run} cannot be read: {error}"),
                        "the run is shown without it; if a newer Toolplan has written it, update this one",
                    )),
                }
            }
            Ok((entries, problems))
        })
    }

    /// Ends each run that was started and has no end and whose process, or store in this process, is gone: appends a
    /// `Finished` with the outcome `interrupted`, at the time of the run's last event, since nothing happened after
    /// it. Runs of living processes are left alone. [`Store::open`] calls this. Returns the runs that were ended.
    pub fn mark_interrupted(&self) -> Result<Vec<RunId>, Problem> {
        self.take_in_orphaned_logs()?;
        // Looks first and writes only if it must: most of the time there is nothing to do.
        let orphans = self.0.read(|db| self.orphans(db))?;
        if orphans.is_empty() {
            return Ok(vec![]);
        }
        self.0.edit(|db| {
            // Once more, now that nobody else can write: another process may have ended them meanwhile.
            let orphans = self.orphans(db)?;
            for &run in &orphans {
                let (started_ms, last_ms) = db.query_row(
                    "SELECT started_ms,
                         coalesce((SELECT at_ms FROM event WHERE run_id = id ORDER BY seq DESC LIMIT 1), started_ms)
                     FROM run WHERE id = ?",
                    [run],
                    |row| Ok((row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64)),
                )?;
                let duration_ms = last_ms.saturating_sub(started_ms);
                let end = RunEvent::Finished { outcome: RunOutcome::Interrupted, duration_ms };
                let (_, end) = Encoded::new(end, &self.0.redactor())?;
                writer::append(db, run, last_ms, &self.0.owner.mark(), &[end])??;
            }
            Ok(orphans)
        })
    }

    /// Puts the events of dead stores into the tables: those that they had acknowledged and not stored there yet.
    fn take_in_orphaned_logs(&self) -> Result<(), Problem> {
        for (path, lines) in log::orphaned(&self.0.path, |mark| self.0.owner.is_gone(mark)) {
            self.0.edit(|db| {
                let mut last = std::collections::HashMap::new();
                for line in &lines {
                    let last = match last.entry(line.run) {
                        std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
                        std::collections::hash_map::Entry::Vacant(unknown) => unknown.insert(last_seq(db, line.run)?),
                    };
                    // Stored before its owner died, or its run was deleted since.
                    if last.is_none_or(|last| line.seq != last + 1) {
                        continue;
                    }
                    let Ok(event) = RunEvent::from_json(line.body.as_bytes()) else { break };
                    let (_, event) = Encoded::new(event, &self.0.redactor())?;
                    let place = writer::Place { run: line.run, seq: line.seq, at_ms: line.at_ms, owner: "" };
                    writer::insert(db, &place, &[event])?;
                    *last = Some(line.seq);
                }
                Ok(())
            })?;
            if let Err(error) = std::fs::remove_file(&path) {
                tracing::warn!(%error, path = %path.display(), "a log that was taken in could not be removed");
            }
        }
        Ok(())
    }

    fn orphans(&self, db: &Connection) -> Result<Vec<RunId>, Failure> {
        let mut query = db.prepare_cached(
            "SELECT id, owner FROM run WHERE started_ms IS NOT NULL AND outcome IS NULL AND NOT removed",
        )?;
        let mut rows = query.query([])?;
        let mut orphans = vec![];
        while let Some(row) = rows.next()? {
            if self.0.owner.is_gone(&row.get::<_, String>(1)?) {
                orphans.push(row.get(0)?);
            }
        }
        Ok(orphans)
    }
}

/// The number of the run's last event, 0 when it has none; `None` when there is no such run.
fn last_seq(db: &Connection, run: RunId) -> rusqlite::Result<Option<u32>> {
    if !db.prepare_cached("SELECT 1 FROM run WHERE id = ? AND NOT removed")?.exists([run])? {
        return Ok(None);
    }
    db.prepare_cached("SELECT coalesce(max(seq), 0) FROM event WHERE run_id = ?")?.query_row([run], |row| row.get(0))
}

const COLUMNS: &str = "id, query, planner, catalog_revision, created_ms, started_ms, finished_ms, outcome, steps,
    succeeded, uid, pinned, source, origin_uid, origin_at, origin_change, faithful, events, bytes";

fn run_row(row: &Row) -> rusqlite::Result<RunRow> {
    let ms = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(|ms| ms as u64));
    Ok(RunRow {
        id: row.get(0)?,
        query: row.get(1)?,
        planner: row.get(2)?,
        catalog_revision: row.get(3)?,
        created_ms: row.get::<_, i64>(4)? as u64,
        started_ms: ms(5)?,
        finished_ms: ms(6)?,
        outcome: row.get::<_, Option<String>>(7)?.and_then(|name| outcome_named(&name)),
        steps: row.get(8)?,
        succeeded: row.get(9)?,
        uid: row.get(10)?,
        pinned: row.get(11)?,
        source: row.get(12)?,
        origin: match row.get::<_, Option<String>>(13)? {
            Some(uid) => Some(RowOrigin { uid, at: row.get(14)?, change: row.get(15)? }),
            None => None,
        },
        faithful: row.get(16)?,
        events: row.get(17)?,
        bytes: row.get::<_, i64>(18)? as u64,
    })
}

/// As in JSON; [`outcome_named`] reads it.
fn outcome_name(outcome: RunOutcome) -> &'static str {
    match outcome {
        RunOutcome::Succeeded => "succeeded",
        RunOutcome::Partial => "partial",
        RunOutcome::Failed => "failed",
        RunOutcome::Cancelled => "cancelled",
        RunOutcome::Interrupted => "interrupted",
    }
}

fn outcome_named(name: &str) -> Option<RunOutcome> {
    serde_json::from_value(name.into()).ok()
}

fn unknown_run(run: RunId) -> Problem {
    Problem::new(
        "journal.unknown_run",
        format!("the workspace holds no run {run}"),
        "look the run up in the list of runs; its number belongs to one workspace",
    )
}

#[cfg(test)]
mod tests;

//! Runs that come from elsewhere or go there: raw events in order, and entries that are stored as they are.

use super::{Encoded, Journal, RunRow, Work, keeping::ARRIVING, run_row, unknown_run};
use rusqlite::{OptionalExtension, params};
use toolplan_engine::{
    Problem,
    run::{JournalEntry, RunEvent, RunId},
    tool::Revision,
};

/// A run to make ([`Journal::create`]).
#[derive(Debug, Clone, Default)]
pub struct NewRun {
    pub query: String,
    /// Label of who planned.
    pub planner: String,
    pub catalog_revision: Revision,
    /// `None`: a fresh one.
    pub uid: Option<String>,
    /// `None`: now. Milliseconds since 1970-01-01 UTC.
    pub created_ms: Option<u64>,
    /// The file that it comes from.
    pub source: Option<String>,
    /// Nobody sees it before [`Journal::arrived`]; until then [`Journal::discard`] leaves nothing of it, and so does the
    /// end of this process.
    pub arriving: bool,
}

/// An event as its row holds it, readable or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawEvent {
    pub seq: u32,
    pub at_ms: u64,
    pub kind: String,
    pub body: Vec<u8>,
}

impl Journal<'_> {
    /// Makes an empty run and returns its number. Error: `journal.write`.
    pub async fn create(&self, new: NewRun) -> Result<RunId, Problem> {
        let query = self.0.redactor().text(&new.query).into_owned();
        let work = Work::Create { new: NewRun { query, ..new }, owner: self.0.owner.mark() };
        Ok(self.0.writer.submit(work).await?.run)
    }

    /// Stores entries with the numbers and times that they have; the statistics of tools do not count them. The numbers
    /// must grow. Errors: those of `append`, and `journal.order`.
    pub async fn write(&self, run: RunId, entries: Vec<JournalEntry>) -> Result<Vec<JournalEntry>, Problem> {
        if entries.is_empty() {
            return Ok(vec![]);
        }
        let redactor = self.0.redactor();
        let (mut stored, mut events) = (Vec::with_capacity(entries.len()), Vec::with_capacity(entries.len()));
        for JournalEntry { seq, at_ms, event } in entries {
            let (event, encoded) = Encoded::new(event, &redactor)?;
            stored.push(JournalEntry { seq, at_ms, event });
            events.push((seq, at_ms, encoded));
        }
        self.0.writer.submit(Work::Write { run, events, owner: self.0.owner.mark() }).await?;
        Ok(stored)
    }

    /// All of an arriving run is there: from now on it is seen.
    pub fn arrived(&self, run: RunId) -> Result<(), Problem> {
        self.0.edit(|db| {
            Ok(db.execute("UPDATE run SET removed = 0 WHERE id = ? AND removed = ?", params![run, ARRIVING])?)
        })?;
        Ok(())
    }

    /// Leaves nothing of an arriving run.
    pub fn discard(&self, run: RunId) -> Result<(), Problem> {
        let leave = "UPDATE run SET removed = 1, query = '' WHERE id = ? AND removed = ?";
        match self.0.edit(|db| Ok(db.execute(leave, params![run, ARRIVING])?))? {
            0 => Ok(()),
            _ => self.clear(run).map(drop),
        }
    }

    /// At most `limit` events after `after_seq`, as they are stored. Error: `journal.unknown_run`.
    pub fn raw(&self, run: RunId, after_seq: u32, limit: u32) -> Result<Vec<RawEvent>, Problem> {
        self.0.read(|db| {
            if !db.prepare_cached("SELECT 1 FROM run WHERE id = ? AND NOT removed")?.exists([run])? {
                return Err(unknown_run(run).into());
            }
            let mut query = db.prepare_cached(
                "SELECT seq, at_ms, kind, body_json FROM event WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?",
            )?;
            let raw = |row: &rusqlite::Row| {
                Ok(RawEvent {
                    seq: row.get(0)?,
                    at_ms: row.get::<_, i64>(1)? as u64,
                    kind: row.get(2)?,
                    body: row.get_ref(3)?.as_bytes()?.to_vec(),
                })
            };
            Ok(query.query_map(params![run, after_seq, limit], raw)?.collect::<Result<_, _>>()?)
        })
    }

    /// The first event of a kind. Events that cannot be read count as missing.
    pub fn first(&self, run: RunId, kind: &str) -> Result<Option<RunEvent>, Problem> {
        self.0.read(|db| {
            let mut query =
                db.prepare_cached("SELECT body_json FROM event WHERE run_id = ? AND kind = ? ORDER BY seq LIMIT 1")?;
            let body =
                query.query_row(params![run, kind], |row| Ok(row.get_ref(0)?.as_bytes()?.to_vec())).optional()?;
            Ok(body.and_then(|body| RunEvent::from_json(&body).ok()))
        })
    }

    /// The run with this name, if it is here; of several the newest.
    pub fn run_named(&self, uid: &str) -> Result<Option<RunRow>, Problem> {
        self.0.read(|db| {
            let sql = format!("SELECT {} FROM run WHERE uid = ? AND NOT removed ORDER BY id DESC", super::COLUMNS);
            Ok(db.prepare_cached(&sql)?.query_row([uid], run_row).optional()?)
        })
    }

    /// The runs that were made from the run with this name, oldest first.
    pub fn derived_from(&self, uid: &str) -> Result<Vec<RunRow>, Problem> {
        self.0.read(|db| {
            let sql = format!("SELECT {} FROM run WHERE origin_uid = ? AND NOT removed ORDER BY id", super::COLUMNS);
            Ok(db.prepare_cached(&sql)?.query_map([uid], run_row)?.collect::<Result<_, _>>()?)
        })
    }
}

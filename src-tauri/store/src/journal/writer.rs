//! The one thread that writes the journal, and how it groups what waits.
//!
//! While a commit is under way, appends of other runs queue up; the next transaction takes all of them. So a lone run
//! never waits for company, and many runs share the cost of a commit. The thread keeps nothing in memory between
//! transactions: what a run's next number is, it asks the file, so a failed transaction leaves nothing to take back.
//!
//! How durable is a commit? In WAL mode with `synchronous=NORMAL` the events are in the operating system's hands when
//! `append` returns: they survive `kill -9` of this process at any moment, but a power cut may take the last instants.
//! A transaction that ends a run is committed with `synchronous=FULL`: SQLite then syncs the log file to the disk
//! before COMMIT returns, and since a sync covers the whole file, every earlier event of the log with it. The
//! alternative, `wal_checkpoint(FULL)`, would sync too but first copy all pages into the database, and it does not
//! complete while a reader is at work.

use super::NewRun;
use crate::{failure::as_problem, now_ms, stats};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
};
use tokio::sync::oneshot;
use toolplan_engine::{
    Problem,
    redact::Redactor,
    run::{JournalEntry, RunEvent, RunId},
};

/// How many events are enough for one transaction. An append is never split.
const GROUP: usize = 512;

/// What `event.version` says of the shapes written today.
const VERSION: u32 = 1;

/// The writing side of the journal. Dropping it waits until everything handed over is written.
pub(crate) struct Writer {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    transactions: Arc<AtomicU64>,
    path: PathBuf,
}

struct Job {
    work: Work,
    reply: oneshot::Sender<Result<Written, Problem>>,
}

pub(crate) enum Work {
    Create {
        new: NewRun,
        owner: String,
    },
    Append {
        run: RunId,
        /// With number and time where they are given.
        events: Vec<(Option<(u32, u64)>, Encoded)>,
        owner: String,
        /// Whether the statistics of tools take them in.
        counts: bool,
    },
    /// Lets the file grow to so many pages and no further, like a full disk.
    #[cfg(test)]
    LimitPages(u32),
}

/// What was stored.
#[derive(Clone)]
pub(crate) struct Written {
    pub(crate) run: RunId,
    pub(crate) entries: Vec<JournalEntry>,
}

/// An event and its JSON, encoded by the caller so that the one writer has less to do.
pub(crate) struct Encoded {
    event: RunEvent,
    body: String,
}

impl Encoded {
    pub(crate) fn new(event: RunEvent, redactor: &Redactor) -> Result<Self, Problem> {
        let (event, body) = redactor.event(event).map_err(|error| {
            Problem::new(
                "journal.write",
                format!("an event cannot be written as JSON: {error}"),
                "report this with the message",
            )
        })?;
        Ok(Self { event, body })
    }
}

impl Writer {
    pub(crate) fn start(connection: Connection, path: &Path) -> Result<Self, Problem> {
        let (jobs, queue) = mpsc::channel();
        let transactions = Arc::new(AtomicU64::new(0));
        let journal = File { connection, path: path.to_owned(), transactions: transactions.clone(), synced: true };
        let thread = thread::Builder::new()
            .name("toolplan-journal".into())
            .spawn(move || journal.write_all(&queue))
            .map_err(|error| {
                Problem::new(
                    "store.open",
                    format!("cannot start the thread that writes the journal: {error}"),
                    "close other programs and try again",
                )
            })?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread), transactions, path: path.to_owned() })
    }

    /// Hands work over and waits until it is committed. Work that was handed over is done even if the caller stops
    /// waiting.
    pub(crate) async fn submit(&self, work: Work) -> Result<Written, Problem> {
        let (reply, answer) = oneshot::channel();
        let stopped = || {
            Problem::new(
                "journal.write",
                format!("the writer of the journal in {} has stopped", self.path.display()),
                "start Toolplan again; what was stored is kept",
            )
        };
        let jobs = self.jobs.as_ref().ok_or_else(stopped)?;
        jobs.send(Job { work, reply }).map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }

    pub(crate) fn transactions(&self) -> u64 {
        self.transactions.load(Ordering::Relaxed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!(path = %self.path.display(), "the writer of the journal panicked");
        }
    }
}

/// What the thread owns.
struct File {
    connection: Connection,
    path: PathBuf,
    transactions: Arc<AtomicU64>,
    /// Whether `synchronous` is FULL at the moment.
    synced: bool,
}

impl File {
    fn write_all(mut self, queue: &mpsc::Receiver<Job>) {
        while let Ok(first) = queue.recv() {
            let mut events = first.work.events();
            let mut group = vec![first];
            while events < GROUP
                && let Ok(job) = queue.try_recv()
            {
                events += job.work.events();
                group.push(job);
            }
            let (work, replies): (Vec<_>, Vec<_>) = group.into_iter().map(|job| (job.work, job.reply)).unzip();
            let answers = self.commit(work).unwrap_or_else(|error| {
                let problem = as_problem("journal.write", "write the journal to", &self.path, &error);
                vec![Err(problem); replies.len()]
            });
            for (reply, answer) in replies.into_iter().zip(answers) {
                // A caller that stopped waiting needs no answer.
                let _ = reply.send(answer);
            }
        }
    }

    /// Does all the work in one transaction. The outer error means that none of it is stored.
    fn commit(&mut self, group: Vec<Work>) -> rusqlite::Result<Vec<Result<Written, Problem>>> {
        self.sync_commits(group.iter().any(Work::ends_run))?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let now = now_ms();
        let answers = group.into_iter().map(|work| perform(&transaction, now, work)).collect::<Result<_, _>>()?;
        transaction.commit()?;
        self.transactions.fetch_add(1, Ordering::Relaxed);
        Ok(answers)
    }

    fn sync_commits(&mut self, on: bool) -> rusqlite::Result<()> {
        if self.synced != on {
            self.connection.pragma_update(None, "synchronous", if on { "FULL" } else { "NORMAL" })?;
            self.synced = on;
        }
        Ok(())
    }
}

impl Work {
    fn events(&self) -> usize {
        match self {
            Self::Append { events, .. } => events.len(),
            _ => 1,
        }
    }

    fn ends_run(&self) -> bool {
        matches!(self, Self::Append { events, .. }
            if events.iter().any(|(_, encoded)| matches!(encoded.event, RunEvent::Finished { .. })))
    }
}

/// Does one piece of work. The inner error concerns this piece alone; the outer one the whole transaction.
fn perform(db: &Transaction, now: u64, work: Work) -> rusqlite::Result<Result<Written, Problem>> {
    match work {
        Work::Create { new, owner } => {
            let created_ms = new.created_ms.unwrap_or(now) as i64;
            db.prepare_cached(
                "INSERT INTO run(query, planner, catalog_revision, created_ms, owner, source, uid)
                 VALUES (?, ?, ?, ?, ?, ?, coalesce(?, lower(hex(randomblob(16)))))",
            )?
            .execute(params![
                new.query,
                new.planner,
                new.catalog_revision,
                created_ms,
                owner,
                new.source,
                new.uid
            ])?;
            Ok(Ok(Written { run: db.last_insert_rowid() as RunId, entries: vec![] }))
        }
        Work::Append { run, events, owner, counts } => append(db, run, now, &owner, events, counts),
        #[cfg(test)]
        Work::LimitPages(pages) => {
            db.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
            Ok(Ok(Written { run: 0, entries: vec![] }))
        }
    }
}

/// Numbers, stamps and stores events at the end of a run, together with what they say about the run and, where it
/// `counts`, about its tools.
pub(super) fn append(
    db: &Transaction,
    run: RunId,
    now: u64,
    owner: &str,
    events: Vec<(Option<(u32, u64)>, Encoded)>,
    counts: bool,
) -> rusqlite::Result<Result<Written, Problem>> {
    let last = db
        .prepare_cached("SELECT seq, at_ms FROM event WHERE run_id = ? ORDER BY seq DESC LIMIT 1")?
        .query_row([run], |row| Ok((row.get::<_, u32>(0)?, row.get::<_, i64>(1)? as u64)))
        .optional()?;
    if !db.prepare_cached("SELECT 1 FROM run WHERE id = ? AND NOT removed")?.exists([run])? {
        return Ok(Err(super::unknown_run(run)));
    }
    let (mut seq, mut at_ms) = last.unwrap_or_default();
    // Before anything is written: what is refused must leave no trace in the transaction of the others.
    let mut number = seq;
    for (given, _) in &events {
        match given {
            Some((given, _)) if *given <= number => return Ok(Err(out_of_order(run, *given, number))),
            Some((given, _)) => number = *given,
            None => number += 1,
        }
    }
    let mut insert =
        db.prepare_cached("INSERT INTO event(run_id, seq, at_ms, kind, version, body_json) VALUES (?, ?, ?, ?, ?, ?)")?;
    let mut entries = Vec::with_capacity(events.len());
    let (count, mut bytes) = (events.len() as i64, 0);
    for (given, Encoded { event, body }) in events {
        let (number, time) = given.unwrap_or((seq + 1, now));
        seq = number;
        at_ms = at_ms.max(time);
        bytes += body.len() as i64;
        insert.execute(params![run, seq, at_ms as i64, event.kind(), VERSION, body])?;
        summarise(db, run, at_ms, owner, &event)?;
        if counts {
            stats::record(db, run, at_ms, &event)?;
        }
        entries.push(JournalEntry { seq, at_ms, event });
    }
    db.prepare_cached("UPDATE run SET events = events + ?, bytes = bytes + ? WHERE id = ?")?
        .execute(params![count, bytes, run])?;
    Ok(Ok(Written { run, entries }))
}

fn out_of_order(run: RunId, number: u32, last: u32) -> Problem {
    Problem::new(
        "journal.order",
        format!("event {number} of run {run} comes after event {last}"),
        "the numbers of a run's events grow; what stands before this event is kept",
    )
}

/// Keeps the run's row in step with its events.
fn summarise(db: &Transaction, run: RunId, at_ms: u64, owner: &str, event: &RunEvent) -> rusqlite::Result<()> {
    match event {
        RunEvent::Planned { planning } => db
            .prepare_cached("UPDATE run SET steps = ?, catalog_revision = ? WHERE id = ?")?
            .execute(params![planning.plan.steps.len() as i64, planning.revision, run])?,
        // A plan may be started by another process than the one that made it, and again after it ended.
        RunEvent::Started { plan, catalog_revision, .. } => db
            .prepare_cached(
                "UPDATE run SET started_ms = ?, finished_ms = NULL, outcome = NULL, steps = ?, succeeded = 0,
                     catalog_revision = ?, owner = ? WHERE id = ?",
            )?
            .execute(params![at_ms as i64, plan.steps.len() as i64, catalog_revision, owner, run])?,
        // Somebody goes on with it: it is theirs now, and not at its end.
        RunEvent::Reopened { .. } => db
            .prepare_cached("UPDATE run SET finished_ms = NULL, outcome = NULL, owner = ? WHERE id = ?")?
            .execute(params![owner, run])?,
        RunEvent::StepSucceeded { .. } => {
            db.prepare_cached("UPDATE run SET succeeded = succeeded + 1 WHERE id = ?")?.execute([run])?
        }
        RunEvent::Finished { outcome, .. } => db
            .prepare_cached("UPDATE run SET finished_ms = ?, outcome = ? WHERE id = ?")?
            .execute(params![at_ms as i64, super::outcome_name(*outcome), run])?,
        RunEvent::Derived { origin } => {
            let change = origin.change.as_ref().map(|c| c.to_string()).unwrap_or_default();
            db.prepare_cached("UPDATE run SET origin_uid = ?, origin_at = ?, origin_change = ? WHERE id = ?")?
                .execute(params![origin.uid, origin.at, change, run])?
        }
        RunEvent::Compared { faithful, .. } => {
            db.prepare_cached("UPDATE run SET faithful = ? WHERE id = ?")?.execute(params![faithful, run])?
        }
        _ => 0,
    };
    Ok(())
}

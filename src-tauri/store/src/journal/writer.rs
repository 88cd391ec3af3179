//! The one thread that writes the journal's tables, and how it groups what waits.
//!
//! Events of runs under way come through the log ([`super::log`]), a little later and many at once. Everything else
//! comes as a job whose caller waits for the commit: new runs, first events, events of runs that nobody drives. While a
//! commit is under way, jobs queue up; the next transaction takes all of them. The thread keeps nothing in memory
//! between transactions: what a run's next number is, it asks the file, so a failed transaction leaves nothing to take
//! back.
//!
//! How durable is a commit? In WAL mode with `synchronous=NORMAL` the events are in the operating system's hands when
//! `append` returns: they survive `kill -9` of this process at any moment, but a power cut may take the last instants.
//! A transaction that ends a run is committed with `synchronous=FULL`: SQLite then syncs its own log to the disk
//! before COMMIT returns, and since a sync covers the whole file, every earlier event with it. With
//! [`Durability::Power`] every event is synced before `append` returns.

use super::{
    NewRun,
    facts::{Encoded, Facts},
    keeping::ARRIVING,
    log::Log,
};
use crate::{failure::as_problem, now_ms, stats};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::Duration,
};
use tokio::sync::oneshot;
use toolplan_engine::{Problem, run::RunId, settings::Durability};

/// How long events wait in the log for company.
const GATHER: Duration = Duration::from_millis(20);

/// How many events are enough for one transaction. An append is never split.
const GROUP: usize = 512;

/// What `event.version` says of the shapes written today.
const VERSION: u32 = 1;

/// The writing side of the journal. Dropping it waits until everything handed over is written.
pub(crate) struct Writer {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    transactions: Arc<AtomicU64>,
    /// Whether every event is synced before it is acknowledged.
    syncs: Arc<AtomicBool>,
    pub(crate) log: Arc<Log>,
    path: PathBuf,
}

enum Job {
    Work {
        work: Work,
        reply: oneshot::Sender<Result<Written, Problem>>,
    },
    /// Something waits in the log.
    Gather,
    /// Put into the tables what waits in the log, now.
    Drain {
        reply: mpsc::SyncSender<Result<(), Problem>>,
    },
}

pub(crate) enum Work {
    Create {
        new: NewRun,
        owner: String,
    },
    /// Events with numbers and times of their own; the statistics of tools do not count them.
    Write {
        run: RunId,
        events: Vec<(u32, u64, Encoded)>,
        owner: String,
    },
    Append {
        run: RunId,
        events: Vec<Encoded>,
        owner: String,
    },
    /// Lets the file grow to so many pages and no further, like a full disk.
    #[cfg(test)]
    LimitPages(u32),
}

/// What was stored: a run, and where its events stand.
#[derive(Clone, Copy)]
pub(crate) struct Written {
    pub(crate) run: RunId,
    pub(crate) first_seq: u32,
    pub(crate) at_ms: u64,
}

impl Writer {
    pub(crate) fn start(connection: Connection, path: &Path, mark: String) -> Result<Self, Problem> {
        let (jobs, queue) = mpsc::channel();
        let transactions = Arc::new(AtomicU64::new(0));
        let syncs = Arc::new(AtomicBool::new(false));
        let log = Arc::new(Log::new(path, mark.clone()));
        let journal = File {
            connection,
            path: path.to_owned(),
            transactions: transactions.clone(),
            syncs: syncs.clone(),
            synced: true,
            log: log.clone(),
            mark,
        };
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
        Ok(Self { jobs: Some(jobs), thread: Some(thread), transactions, syncs, log, path: path.to_owned() })
    }

    pub(crate) fn set_durability(&self, durability: Durability) {
        self.syncs.store(durability == Durability::Power, Ordering::Relaxed);
    }

    pub(crate) fn syncs(&self) -> bool {
        self.syncs.load(Ordering::Relaxed)
    }

    /// Hands work over and waits until it is committed. Work that was handed over is done even if the caller stops
    /// waiting.
    pub(crate) async fn submit(&self, work: Work) -> Result<Written, Problem> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Work { work, reply })?;
        answer.await.map_err(|_| self.stopped())?
    }

    /// Something waits in the log.
    pub(crate) fn gather(&self) -> Result<(), Problem> {
        self.send(Job::Gather)
    }

    /// Waits until everything in the log is in the tables. Blocks for a transaction, and not at all when nothing waits.
    pub(crate) fn drain(&self) -> Result<(), Problem> {
        if !self.log.has_waiting() {
            return Ok(());
        }
        let (reply, answer) = mpsc::sync_channel(1);
        self.send(Job::Drain { reply })?;
        answer.recv().map_err(|_| self.stopped())?
    }

    fn send(&self, job: Job) -> Result<(), Problem> {
        self.jobs.as_ref().and_then(|jobs| jobs.send(job).ok()).ok_or_else(|| self.stopped())
    }

    fn stopped(&self) -> Problem {
        Problem::new(
            "journal.write",
            format!("the writer of the journal in {} has stopped", self.path.display()),
            "start Toolplan again; what was stored is kept",
        )
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
        self.log.close();
    }
}

/// What the thread owns.
struct File {
    connection: Connection,
    path: PathBuf,
    transactions: Arc<AtomicU64>,
    syncs: Arc<AtomicBool>,
    /// Whether `synchronous` is FULL at the moment.
    synced: bool,
    log: Arc<Log>,
    mark: String,
}

impl File {
    fn write_all(mut self, queue: &mpsc::Receiver<Job>) {
        let mut next = queue.recv().ok();
        while let Some(first) = next.take() {
            let first = match first {
                Job::Gather => match queue.recv_timeout(GATHER) {
                    Ok(job) => job,
                    Err(_) => {
                        let _ = self.drain_log();
                        next = queue.recv().ok();
                        continue;
                    }
                },
                job => job,
            };
            let (mut work, mut replies, mut drains, mut events) = (vec![], vec![], vec![], 0);
            let mut job = Some(first);
            while let Some(taken) = job.take() {
                match taken {
                    Job::Work { work: piece, reply } => {
                        events += piece.events();
                        work.push(piece);
                        replies.push(reply);
                    }
                    Job::Drain { reply } => drains.push(reply),
                    Job::Gather => {}
                }
                if events < GROUP {
                    job = queue.try_recv().ok();
                }
            }
            #[cfg(test)]
            for piece in &work {
                if let Work::LimitPages(pages) = piece {
                    let _ = self.connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()));
                }
            }
            // First what came first: a job may be about a run whose last events are still in the log.
            let drained = self.drain_log();
            for reply in drains {
                let _ = reply.send(drained.clone());
            }
            if !work.is_empty() {
                let answers = match drained {
                    Ok(()) => self.commit(work).unwrap_or_else(|error| {
                        let problem = as_problem("journal.write", "write the journal to", &self.path, &error);
                        vec![Err(problem); replies.len()]
                    }),
                    Err(problem) => vec![Err(problem); replies.len()],
                };
                for (reply, answer) in replies.into_iter().zip(answers) {
                    // A caller that stopped waiting needs no answer.
                    let _ = reply.send(answer);
                }
            }
            next = queue.recv().ok();
        }
        let _ = self.drain_log();
    }

    /// Does all the work in one transaction. The outer error means that none of it is stored.
    fn commit(&mut self, group: Vec<Work>) -> rusqlite::Result<Vec<Result<Written, Problem>>> {
        self.sync_commits(self.syncs.load(Ordering::Relaxed) || group.iter().any(Work::ends_run))?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let now = now_ms();
        let answers = group.into_iter().map(|work| perform(&transaction, now, work)).collect::<Result<_, _>>()?;
        transaction.commit()?;
        self.transactions.fetch_add(1, Ordering::Relaxed);
        Ok(answers)
    }

    /// Puts what waits in the log into the tables, in one transaction. On failure it goes on waiting.
    fn drain_log(&mut self) -> Result<(), Problem> {
        let (batches, will_empty) = self.log.take();
        if batches.is_empty() {
            return Ok(());
        }
        let mut work = || {
            let ends = batches.iter().any(|batch| batch.events.iter().any(Encoded::ends_run));
            self.sync_commits(will_empty || ends)?;
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for batch in &batches {
                let place = Place { run: batch.run, seq: batch.first_seq, at_ms: batch.at_ms, owner: &self.mark };
                insert(&transaction, &place, &batch.events)?;
            }
            transaction.commit()
        };
        match work() {
            Ok(()) => {
                self.transactions.fetch_add(1, Ordering::Relaxed);
                self.log.taken();
                Ok(())
            }
            Err(error) => {
                let problem = as_problem("journal.write", "write the journal to", &self.path, &error);
                tracing::warn!(%problem, "the journal waits in its log");
                self.log.put_back(batches);
                Err(problem)
            }
        }
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
            Self::Write { events, .. } => events.len(),
            _ => 1,
        }
    }

    fn ends_run(&self) -> bool {
        match self {
            Self::Append { events, .. } => events.iter().any(Encoded::ends_run),
            Self::Write { events, .. } => events.iter().any(|(_, _, event)| event.ends_run()),
            _ => false,
        }
    }
}

/// Does one piece of work. The inner error concerns this piece alone; the outer one the whole transaction.
fn perform(db: &Transaction, now: u64, work: Work) -> rusqlite::Result<Result<Written, Problem>> {
    match work {
        Work::Create { new, owner } => {
            let created_ms = new.created_ms.unwrap_or(now) as i64;
            db.prepare_cached(
                "INSERT INTO run(query, planner, catalog_revision, created_ms, owner, source, uid, removed)
                 VALUES (?, ?, ?, ?, ?, ?, coalesce(?, lower(hex(randomblob(16)))), ?)",
            )?
            .execute(params![
                new.query,
                new.planner,
                new.catalog_revision,
                created_ms,
                owner,
                new.source,
                new.uid,
                if new.arriving { ARRIVING } else { 0 },
            ])?;
            Ok(Ok(Written { run: db.last_insert_rowid() as RunId, first_seq: 0, at_ms: now }))
        }
        Work::Append { run, events, owner } => append(db, run, now, &owner, &events),
        Work::Write { run, events, owner } => write(db, run, &owner, &events),
        #[cfg(test)]
        Work::LimitPages(_) => {
            // Done before the transaction.
            Ok(Ok(Written { run: 0, first_seq: 0, at_ms: now }))
        }
    }
}

/// Numbers, stamps and stores events at the end of a run, together with what they say about the run and its tools.
pub(super) fn append(
    db: &Transaction,
    run: RunId,
    now: u64,
    owner: &str,
    events: &[Encoded],
) -> rusqlite::Result<Result<Written, Problem>> {
    let Some((last_seq, last_ms)) = last_event(db, run)? else { return Ok(Err(super::unknown_run(run))) };
    let at_ms = now.max(last_ms);
    insert(db, &Place { run, seq: last_seq + 1, at_ms, owner }, events)?;
    Ok(Ok(Written { run, first_seq: last_seq + 1, at_ms }))
}

/// Number and time of the run's last event, zero when it has none; `None` when there is no such run.
fn last_event(db: &Transaction, run: RunId) -> rusqlite::Result<Option<(u32, u64)>> {
    // Also of a run that is arriving: its events come before anybody sees it.
    if !db.prepare_cached("SELECT 1 FROM run WHERE id = ? AND removed <> 1")?.exists([run])? {
        return Ok(None);
    }
    let last = db
        .prepare_cached("SELECT seq, at_ms FROM event WHERE run_id = ? ORDER BY seq DESC LIMIT 1")?
        .query_row([run], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))
        .optional()?;
    Ok(Some(last.unwrap_or_default()))
}

/// Stores events at the end of a run as they are. Their numbers must grow; time that runs backwards stands still.
fn write(
    db: &Transaction,
    run: RunId,
    owner: &str,
    events: &[(u32, u64, Encoded)],
) -> rusqlite::Result<Result<Written, Problem>> {
    let Some((last_seq, last_ms)) = last_event(db, run)? else { return Ok(Err(super::unknown_run(run))) };
    // Before anything is written: what is refused must leave no trace in the transaction of the others.
    let mut before = last_seq;
    for (seq, ..) in events {
        if *seq <= before {
            return Ok(Err(Problem::new(
                "journal.order",
                format!("event {seq} of run {run} comes after event {before}"),
                "the numbers of a run's events grow; what stands before this event is kept",
            )));
        }
        before = *seq;
    }
    let first_seq = events.first().map_or(last_seq, |(seq, ..)| *seq);
    let mut now = last_ms;
    for (seq, at_ms, event) in events {
        now = now.max(*at_ms);
        insert_uncounted(db, &Place { run, seq: *seq, at_ms: now, owner }, std::slice::from_ref(event))?;
    }
    Ok(Ok(Written { run, first_seq, at_ms: now }))
}

/// Where events go: the number of the first of them, their time, and who drives the run.
pub(super) struct Place<'a> {
    pub(super) run: RunId,
    pub(super) seq: u32,
    pub(super) at_ms: u64,
    pub(super) owner: &'a str,
}

/// Stores events that have their number and their time, and counts what they say of tools.
pub(super) fn insert(db: &Transaction, place: &Place, events: &[Encoded]) -> rusqlite::Result<()> {
    insert_uncounted(db, place, events)?;
    events.iter().try_for_each(|event| stats::record(db, place.run, place.at_ms, &event.facts))
}

fn insert_uncounted(db: &Transaction, place: &Place, events: &[Encoded]) -> rusqlite::Result<()> {
    let &Place { run, seq, at_ms, owner } = place;
    let mut insert =
        db.prepare_cached("INSERT INTO event(run_id, seq, at_ms, kind, version, body_json) VALUES (?, ?, ?, ?, ?, ?)")?;
    let (mut succeeded, mut bytes) = (0, 0);
    for (seq, event) in (seq..).zip(events) {
        insert.execute(params![run, seq, at_ms as i64, event.kind, VERSION, event.body])?;
        succeeded += u32::from(matches!(event.facts, Facts::StepSucceeded));
        summarise(db, run, at_ms, owner, &event.facts)?;
        bytes += event.body.len() as i64;
    }
    let counted = "UPDATE run SET succeeded = succeeded + ?, events = events + ?, bytes = bytes + ? WHERE id = ?";
    db.prepare_cached(counted)?.execute(params![succeeded, events.len() as i64, bytes, run])?;
    Ok(())
}

/// Keeps the run's row in step with its events.
fn summarise(db: &Transaction, run: RunId, at_ms: u64, owner: &str, facts: &Facts) -> rusqlite::Result<()> {
    match facts {
        Facts::Planned { steps, revision } => db
            .prepare_cached("UPDATE run SET steps = ?, catalog_revision = ? WHERE id = ?")?
            .execute(params![*steps as i64, revision, run])?,
        // A plan may be started by another process than the one that made it, and again after it ended.
        Facts::Started { steps, revision } => db
            .prepare_cached(
                "UPDATE run SET started_ms = ?, finished_ms = NULL, outcome = NULL, steps = ?, succeeded = 0,
                     catalog_revision = ?, owner = ? WHERE id = ?",
            )?
            .execute(params![at_ms as i64, *steps as i64, revision, owner, run])?,
        // Somebody goes on with it: it is theirs now, and not at its end.
        Facts::Reopened => db
            .prepare_cached("UPDATE run SET finished_ms = NULL, outcome = NULL, owner = ? WHERE id = ?")?
            .execute(params![owner, run])?,
        Facts::Finished { outcome } => db
            .prepare_cached("UPDATE run SET finished_ms = ?, outcome = ? WHERE id = ?")?
            .execute(params![at_ms as i64, super::outcome_name(*outcome), run])?,
        Facts::Derived { uid, at, change } => db
            .prepare_cached("UPDATE run SET origin_uid = ?, origin_at = ?, origin_change = ? WHERE id = ?")?
            .execute(params![uid, at, change, run])?,
        Facts::Compared { faithful } => {
            db.prepare_cached("UPDATE run SET faithful = ? WHERE id = ?")?.execute(params![faithful, run])?
        }
        _ => 0,
    };
    Ok(())
}

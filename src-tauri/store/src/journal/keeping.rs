//! Which runs stay: pins, removal, what the retention asks for, and what everything takes on the disk.
//!
//! A run is removed in small transactions, so that nobody waits long for it, and a crash in between is made good at
//! the next opening. Its row stays without the query, because the statistics of tools hang on it.

use super::{Journal, unknown_run};
use crate::{failure::Failure, now_ms};
use rusqlite::{Connection, OptionalExtension, params};
use toolplan_engine::{Problem, run::RunId, settings::RetentionSettings};

pub(crate) const COLUMNS: &str = "
ALTER TABLE run ADD COLUMN uid TEXT NOT NULL DEFAULT ''; -- the run's name in any workspace
UPDATE run SET uid = lower(hex(randomblob(16)));
ALTER TABLE run ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN removed INTEGER NOT NULL DEFAULT 0; -- its events are gone, or about to go
ALTER TABLE run ADD COLUMN source TEXT; -- the file that it came from
ALTER TABLE run ADD COLUMN origin_uid TEXT; -- of a replay or fork
ALTER TABLE run ADD COLUMN origin_at INTEGER;
ALTER TABLE run ADD COLUMN origin_change TEXT; -- in words; empty for a replay
ALTER TABLE run ADD COLUMN faithful INTEGER; -- of a replay that was held against its origin
ALTER TABLE run ADD COLUMN events INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0; -- of the events' texts
UPDATE run SET (events, bytes) =
    (SELECT count(*), coalesce(sum(length(CAST(body_json AS BLOB))), 0) FROM event WHERE run_id = run.id);
CREATE INDEX run_uid ON run(uid);
CREATE INDEX run_origin ON run(origin_uid) WHERE origin_uid IS NOT NULL;
";

/// What `run.removed` says of a run that is being taken in: it is out of sight like one that is removed, until all of it
/// is there.
pub(crate) const ARRIVING: u8 = 2;

/// Events that one transaction removes.
const BITE: u32 = 2_000;

/// What the workspace holds and takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// The database and its log.
    pub file_bytes: u64,
    /// Pages in the file that are free for what comes.
    pub free_bytes: u64,
    /// Name, rows and bytes of the contents.
    pub kinds: Vec<(&'static str, u32, u64)>,
    pub runs: u32,
    pub pinned: u32,
    /// When the oldest run was made.
    pub oldest_ms: Option<u64>,
}

/// What a removal took away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Removed {
    pub runs: u32,
    pub events: u32,
    pub bytes: u64,
}

impl Journal<'_> {
    /// Keeps the run whatever the retention says, or no longer. Error: `journal.unknown_run`.
    pub fn pin(&self, run: RunId, pinned: bool) -> Result<(), Problem> {
        self.0.edit(|db| {
            match db.execute("UPDATE run SET pinned = ? WHERE id = ? AND NOT removed", params![pinned, run])? {
                0 => Err(unknown_run(run).into()),
                _ => Ok(()),
            }
        })
    }

    /// Removes a run for good: its events, its query, its name. Errors: `journal.unknown_run`, `journal.live` when it
    /// is under way.
    pub fn remove(&self, run: RunId) -> Result<Removed, Problem> {
        let live = Problem::new("journal.live", format!("run {run} is under way"), "stop it first");
        self.0.edit(|db| {
            let found = db
                .query_row(
                    "SELECT started_ms IS NOT NULL AND outcome IS NULL FROM run WHERE id = ? AND NOT removed",
                    [run],
                    |r| r.get(0),
                )
                .optional()?;
            match found {
                None => Err(unknown_run(run).into()),
                Some(true) => Err(live.into()),
                Some(false) => Ok(db.execute("UPDATE run SET removed = 1, query = '' WHERE id = ?", [run])?),
            }
        })?;
        self.clear(run)
    }

    /// The runs that the retention does not keep, oldest first. Pinned runs and runs without an end are never among
    /// them.
    pub fn surplus(&self, keep: &RetentionSettings) -> Result<Vec<RunId>, Problem> {
        if *keep == RetentionSettings::default() {
            return Ok(vec![]);
        }
        let limit = |value: u32| if value == 0 { i64::MAX } else { i64::from(value) };
        let oldest = match keep.max_age_days {
            0 => i64::MIN,
            days => now_ms() as i64 - i64::from(days) * 86_400_000,
        };
        let most_bytes = if keep.max_megabytes == 0 { i64::MAX } else { i64::from(keep.max_megabytes) << 20 };
        self.0.read(|db| {
            // Counted from the newest on, pinned ones with the others.
            let mut query = db.prepare_cached(
                "SELECT id FROM (
                     SELECT id, created_ms, pinned OR (started_ms IS NOT NULL AND outcome IS NULL) AS stays,
                         row_number() OVER newest AS place, sum(bytes) OVER newest AS total
                     FROM run WHERE NOT removed WINDOW newest AS (ORDER BY id DESC))
                 WHERE NOT stays AND (place > ?1 OR created_ms < ?2 OR total > ?3) ORDER BY id",
            )?;
            Ok(query
                .query_map(params![limit(keep.max_runs), oldest, most_bytes], |r| r.get(0))?
                .collect::<Result<_, _>>()?)
        })
    }

    /// Goes on with removals that a crash cut short, and removes what had only half arrived when its process died.
    pub(crate) fn finish_removals(&self) -> Result<(), Problem> {
        let left: Vec<(RunId, u8, String)> = self.0.read(|db| {
            let mut query =
                db.prepare("SELECT id, removed, owner FROM run WHERE removed AND (events > 0 OR removed = ?)")?;
            Ok(query.query_map([ARRIVING], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?.collect::<Result<_, _>>()?)
        })?;
        for (run, removed, owner) in left {
            match removed {
                ARRIVING if self.0.owner.is_gone(&owner) => self.discard(run)?,
                ARRIVING => {}
                _ => self.clear(run).map(drop)?,
            }
        }
        Ok(())
    }

    /// Removes the events of a run that is marked, a bite at a time.
    pub(super) fn clear(&self, run: RunId) -> Result<Removed, Problem> {
        let mut gone = Removed { runs: 1, ..Removed::default() };
        loop {
            let (events, bytes) = self.0.edit(|db| {
                let (last, bytes): (Option<u32>, u64) = db.query_row(
                    "SELECT max(seq), coalesce(sum(length(CAST(body_json AS BLOB))), 0)
                     FROM (SELECT seq, body_json FROM event WHERE run_id = ? ORDER BY seq LIMIT ?)",
                    params![run, BITE],
                    |r| Ok((r.get(0)?, r.get::<_, i64>(1)? as u64)),
                )?;
                let events = db.execute("DELETE FROM event WHERE run_id = ? AND seq <= ?", params![run, last])?;
                let left = "UPDATE run SET events = max(events - ?, 0), bytes = max(bytes - ?, 0) WHERE id = ?";
                db.execute(left, params![events as i64, bytes as i64, run])?;
                Ok((events as u32, bytes))
            })?;
            gone.events += events;
            gone.bytes += bytes;
            if events < BITE {
                let done = |db: &rusqlite::Transaction| {
                    Ok(db.execute("UPDATE run SET events = 0, bytes = 0 WHERE id = ?", [run])?)
                };
                self.0.edit(done)?;
                return Ok(gone);
            }
        }
    }

    /// What the workspace takes on the disk.
    pub fn usage(&self) -> Result<Usage, Problem> {
        let size = |suffix: &str| {
            let mut name = self.0.path.as_os_str().to_owned();
            name.push(suffix);
            std::fs::metadata(name).map_or(0, |m| m.len())
        };
        let file_bytes = size("") + size("-wal");
        self.0.read(|db| {
            let one = |sql: &str| -> Result<u64, Failure> { Ok(db.query_row(sql, [], |r| r.get::<_, i64>(0))? as u64) };
            let (runs, pinned, oldest_ms, events, bytes) = db.query_row(
                "SELECT count(*), count(*) FILTER (WHERE pinned), min(created_ms), coalesce(sum(events), 0),
                     coalesce(sum(bytes), 0) FROM run WHERE NOT removed",
                [],
                |r| {
                    let oldest = r.get::<_, Option<i64>>(2)?.map(|ms| ms as u64);
                    Ok((r.get(0)?, r.get(1)?, oldest, r.get::<_, u32>(3)?, r.get::<_, i64>(4)? as u64))
                },
            )?;
            let mut kinds = vec![("events", events, bytes)];
            for (kind, tables) in [("tools", TOOLS), ("statistics", &["tool_call"][..]), ("settings", &["setting"])] {
                let (mut rows, mut bytes) = (0, 0);
                for table in tables.iter().filter(|table| exists(db, table).unwrap_or(false)) {
                    rows += one(&format!("SELECT count(*) FROM {table}"))? as u32;
                    bytes += table_bytes(db, table)?;
                }
                kinds.push((kind, rows, bytes));
            }
            let free_bytes = one("PRAGMA freelist_count")? * one("PRAGMA page_size")?;
            Ok(Usage { file_bytes, free_bytes, kinds, runs, pinned, oldest_ms })
        })
    }
}

/// Tables of the registry.
const TOOLS: &[&str] = &["revision", "tool_version"];

fn exists(db: &Connection, table: &str) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")?.exists([table])
}

/// Bytes of all columns of a table as text.
fn table_bytes(db: &Connection, table: &str) -> rusqlite::Result<u64> {
    let mut columns = db.prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))?;
    let names: Vec<String> = columns.query_map([], |r| r.get(0))?.collect::<Result<_, _>>()?;
    let lengths: Vec<String> =
        names.iter().map(|name| format!("coalesce(length(CAST(\"{name}\" AS BLOB)), 0)")).collect();
    let sql = format!("SELECT coalesce(sum({}), 0) FROM {table}", lengths.join(" + "));
    db.query_row(&sql, [], |r| r.get::<_, i64>(0)).map(|n| n as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewRun, Store};
    use serde_json::json;
    use toolplan_engine::{
        ports::{Journal as _, ToolResult},
        redact::Redactor,
        run::{AttemptOutcome, JournalEntry, Origin, ReplayPolicy, RunEvent, RunOutcome},
        settings::RedactionSettings,
    };

    fn finished() -> RunEvent {
        RunEvent::Finished { outcome: RunOutcome::Succeeded, duration_ms: 1 }
    }

    async fn run_of(store: &Store, events: usize) -> RunId {
        let run = store.journal().create_run("what?", "offline", 1).await.unwrap();
        let mut all = vec![RunEvent::StepReady { step: "s".repeat(100) }; events];
        all.push(finished());
        store.append(run, all).await.unwrap();
        store.edit(|db| Ok(db.execute("UPDATE run SET started_ms = created_ms WHERE id = ?", [run])?)).unwrap();
        run
    }

    /// W-12: what is kept follows the settings; pinned runs and runs without an end stay; removal is for good.
    #[tokio::test]
    async fn retention_removes_the_oldest() {
        let store = Store::temporary().unwrap();
        let journal = store.journal();
        let mut runs = vec![];
        for _ in 0..6 {
            runs.push(run_of(&store, 3000).await);
        }
        journal.pin(runs[0], true).unwrap();
        let open = journal.create_run("open", "offline", 1).await.unwrap();
        store.append(open, vec![RunEvent::StepReady { step: "a".into() }]).await.unwrap();
        store.edit(|db| Ok(db.execute("UPDATE run SET started_ms = 1 WHERE id = ?", [open])?)).unwrap();

        let keep = |max_runs, max_age_days, max_megabytes| RetentionSettings { max_runs, max_age_days, max_megabytes };
        assert_eq!(journal.surplus(&keep(0, 0, 0)).unwrap(), [0; 0]);
        assert_eq!(journal.surplus(&keep(3, 0, 0)).unwrap(), runs[1..4]);
        assert_eq!(journal.surplus(&keep(1, 0, 0)).unwrap(), runs[1..6]);
        assert_eq!(journal.surplus(&keep(0, 0, 1)).unwrap(), runs[1..4], "a run has about 400 kB");
        store.edit(|db| Ok(db.execute("UPDATE run SET created_ms = 5 WHERE id = ?", [runs[2]])?)).unwrap();
        assert_eq!(journal.surplus(&keep(0, 30, 0)).unwrap(), [runs[2]]);

        let before = journal.usage().unwrap();
        let gone = journal.remove(runs[1]).unwrap();
        assert_eq!((gone.runs, gone.events), (1, 3001));
        assert!(gone.bytes > 300_000);
        let after = journal.usage().unwrap();
        assert_eq!((before.runs, after.runs, after.pinned), (7, 6, 1));
        assert_eq!(before.kinds[0].2 - after.kinds[0].2, gone.bytes, "the meter counts what is there");
        assert_eq!(journal.remove(runs[1]).unwrap_err().code, "journal.unknown_run");
        assert_eq!(journal.run(runs[1]).unwrap_err().code, "journal.unknown_run");
        assert_eq!(journal.events(runs[1]).unwrap_err().code, "journal.unknown_run");
        assert!(journal.runs(10, None).unwrap().iter().all(|r| r.id != runs[1]));
        assert_eq!(store.append(runs[1], vec![finished()]).await.unwrap_err().code, "journal.unknown_run");
        assert_eq!(journal.remove(open).unwrap_err().code, "journal.live");
        assert_eq!(journal.pin(99, true).unwrap_err().code, "journal.unknown_run");
    }

    /// W-12: a removal that a crash cut short is finished at the next opening.
    #[tokio::test]
    async fn a_removal_is_finished_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.toolplan");
        let store = Store::open(&path).unwrap();
        let run = run_of(&store, 10).await;
        store.edit(|db| Ok(db.execute("UPDATE run SET removed = 1 WHERE id = ?", [run])?)).unwrap();
        drop(store);
        let store = Store::open(&path).unwrap();
        let left: u32 = store.read(|db| Ok(db.query_row("SELECT count(*) FROM event", [], |r| r.get(0))?)).unwrap();
        assert_eq!((left, store.journal().usage().unwrap().runs), (0, 0));
    }

    /// W-12: a run that arrives is out of sight until all of it is there; what had only half arrived is gone after a
    /// cancel, and after the death of its process.
    #[tokio::test]
    async fn half_of_a_run_is_never_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.toolplan");
        let store = Store::open(&path).unwrap();
        let entry = |seq| JournalEntry { seq, at_ms: 5, event: RunEvent::StepReady { step: "a".into() } };
        let arriving = |uid: &str| NewRun { uid: Some(uid.into()), arriving: true, ..NewRun::default() };
        let journal = store.journal();
        let mut runs = vec![];
        for uid in ["whole", "called off", "died", "alive"] {
            let run = journal.create(arriving(uid)).await.unwrap();
            journal.write(run, vec![entry(1), entry(2)]).await.unwrap();
            assert_eq!(journal.run(run).unwrap_err().code, "journal.unknown_run");
            assert!(journal.run_named(uid).unwrap().is_none());
            runs.push(run);
        }
        journal.arrived(runs[0]).unwrap();
        journal.discard(runs[1]).unwrap();
        journal.discard(runs[0]).unwrap();
        let gone = "UPDATE run SET started_ms = 1, owner = 'boot/1/none#9' WHERE id = ?";
        store.edit(|db| Ok(db.execute(gone, [runs[2]])?)).unwrap();
        let _other = Store::open(&path).unwrap();
        let left = |run: RunId| {
            let events = "SELECT count(*) FROM event WHERE run_id = ?";
            store.read(|db| Ok(db.query_row(events, [run], |r| r.get::<_, u32>(0))?)).unwrap()
        };
        assert_eq!(runs.iter().map(|run| left(*run)).collect::<Vec<_>>(), [2, 0, 0, 2], "a living process goes on");
        assert_eq!(journal.run_named("whole").unwrap().unwrap().events, 2);
        assert_eq!(journal.usage().unwrap().runs, 1);
    }

    /// S-01: no byte of a known secret, of a header, of a key or of URL credentials reaches a file: database, its log,
    /// the journal's log, while the run is under way and after.
    #[tokio::test]
    async fn secrets_reach_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("w.toolplan")).unwrap();
        let secrets = ["correct-horse-77", "hunter2hunter2", "sk-live1234567890abcdef", "root:toor99"];
        let known = [("MAIL_PASSWORD".to_string(), secrets[0].to_string())];
        store.redact_with(Redactor::new(&RedactionSettings::default(), known).0);
        let run = store.journal().create_run(&format!("log in with {}", secrets[0]), "offline", 1).await.unwrap();
        let data = json!({"headers": {"Authorization": secrets[1]}, "text": secrets[2], "url": format!("http://{}@h/", secrets[3])});
        let result = ToolResult { data, confidence: None, sources: vec![] };
        let arguments = json!({"q": secrets[0]}).as_object().cloned().unwrap();
        let events = vec![
            RunEvent::Started {
                plan: Default::default(),
                catalog_revision: 1,
                parallel_limit: 1,
                timeout_ms: 1,
                retry: Default::default(),
            },
            RunEvent::AttemptStarted { step: "s".into(), attempt: 1, tool: "t".into(), arguments },
        ];
        store.append(run, events).await.unwrap();
        let outcome = AttemptOutcome::Succeeded { result };
        let event = RunEvent::AttemptFinished { step: "s".into(), attempt: 1, duration_ms: 1, outcome };
        let stored = store.append(run, vec![event.clone()]).await.unwrap();
        assert!(!format!("{stored:?}").contains(secrets[2]), "followers see what is stored");
        let clean = |when: &str| {
            for file in std::fs::read_dir(folder.path()).unwrap().flatten() {
                let bytes = std::fs::read(file.path()).unwrap();
                for secret in secrets {
                    let found = bytes.windows(secret.len()).any(|w| w == secret.as_bytes());
                    assert!(!found, "{when}: {secret} is in {}", file.path().display());
                }
            }
        };
        let logs = std::fs::read_dir(folder.path())
            .unwrap()
            .flatten()
            .filter(|f| f.file_name().to_string_lossy().contains("-log-"));
        assert_eq!(logs.count(), 1);
        clean("under way");
        store.journal().write(run, vec![JournalEntry { seq: 90, at_ms: 5, event }]).await.unwrap();
        store.append(run, vec![finished()]).await.unwrap();
        let marked: String = store.read(|db| Ok(db.query_row("SELECT query FROM run", [], |r| r.get(0))?)).unwrap();
        assert_eq!(marked, "log in with [redacted: MAIL_PASSWORD]");
        clean("ended");
        drop(store);
        clean("closed");
    }

    /// R-01, R-05: entries keep their numbers and times, tools are not counted, and derived runs are found.
    #[tokio::test]
    async fn entries_are_written_as_they_are() {
        let store = Store::temporary().unwrap();
        let journal = store.journal();
        let new = NewRun {
            query: "q".into(),
            uid: Some("abc".into()),
            created_ms: Some(7),
            source: Some("f".into()),
            ..NewRun::default()
        };
        let run = journal.create(new).await.unwrap();
        let entry = |seq, at_ms, event| JournalEntry { seq, at_ms, event };
        let origin = Origin { run: 9, uid: "origin".into(), at: 4, change: None, policy: ReplayPolicy::default() };
        let called =
            RunEvent::AttemptStarted { step: "s".into(), attempt: 1, tool: "t".into(), arguments: Default::default() };
        let outcome =
            AttemptOutcome::Succeeded { result: ToolResult { data: json!(1), confidence: None, sources: vec![] } };
        let answered = RunEvent::AttemptFinished { step: "s".into(), attempt: 1, duration_ms: 1, outcome };
        let newer = RunEvent::from_json(br#"{"type":"from_the_future","x":1}"#).unwrap();
        let entries = vec![
            entry(3, 100, RunEvent::Derived { origin: origin.into() }),
            entry(5, 90, called),
            entry(6, 120, answered),
            entry(7, 130, newer),
            entry(8, 140, RunEvent::Compared { faithful: true, divergence: None }),
        ];
        journal.write(run, entries.clone()).await.unwrap();
        let mut stored = entries.clone();
        stored[1].at_ms = 100;
        assert_eq!(journal.events(run).unwrap(), (stored, vec![]), "time that runs backwards stands still");
        assert_eq!(journal.raw(run, 5, 2).unwrap()[1].body, br#"{"type":"from_the_future","x":1}"#);
        assert_eq!(journal.write(run, entries[..1].to_vec()).await.unwrap_err().code, "journal.order");
        assert_eq!(store.stats().all().unwrap().len(), 0);
        let row = journal.run_named("abc").unwrap().unwrap();
        assert_eq!((row.id, row.faithful, row.events, row.source.as_deref()), (run, Some(true), 5, Some("f")));
        assert_eq!(journal.derived_from("origin").unwrap()[0].origin.as_ref().unwrap().at, 4);
        assert!(matches!(journal.first(run, "derived").unwrap(), Some(RunEvent::Derived { .. })));
        assert_eq!(journal.first(run, "started").unwrap(), None);
    }
}

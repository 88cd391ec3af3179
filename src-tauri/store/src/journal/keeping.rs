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

    /// Goes on with removals that a crash cut short.
    pub(crate) fn finish_removals(&self) -> Result<(), Problem> {
        let left: Vec<RunId> = self.0.read(|db| {
            let mut query = db.prepare("SELECT id FROM run WHERE removed AND events > 0")?;
            Ok(query.query_map([], |r| r.get(0))?.collect::<Result<_, _>>()?)
        })?;
        left.into_iter().try_for_each(|run| self.clear(run).map(drop))
    }

    /// Removes the events of a run that is marked, a bite at a time.
    fn clear(&self, run: RunId) -> Result<Removed, Problem> {
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

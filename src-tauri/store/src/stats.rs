//! What the calls of each tool have taken and how they ended (K-03), for planning and for the catalog.
//!
//! The rows are written by the journal's writer in the transaction that stores the events, so they never say anything
//! that the journal does not. Knows nothing of why a call was made.

use crate::{Store, journal::facts::Facts};
use rusqlite::{Connection, Row, params};
use serde::Serialize;
use std::collections::HashMap;
use toolplan_engine::{Problem, run::RunId};

/// A row comes with the start of an attempt and is completed by its end, so that no process needs to remember which
/// tool an attempt called. An attempt that never ended keeps `outcome` NULL and counts nowhere.
pub(crate) const TABLES: &str = "
CREATE TABLE tool_call(
    run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE RESTRICT,
    step TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    tool TEXT NOT NULL,
    at_ms INTEGER NOT NULL, -- the start
    retry INTEGER NOT NULL,
    duration_ms INTEGER,
    outcome TEXT CHECK (outcome IN ('ok', 'error', 'timeout')),
    confidence REAL,
    PRIMARY KEY(run_id, step, attempt)
) STRICT, WITHOUT ROWID;
-- Holds all that a summary reads.
CREATE INDEX tool_call_ended ON tool_call(tool, at_ms, duration_ms, outcome, retry, confidence)
    WHERE outcome IS NOT NULL;
";

/// Answers from the result cache, in the place of calls (O-08).
pub(crate) const CACHE_TABLES: &str = "
CREATE TABLE cache_hit(
    tool TEXT NOT NULL,
    run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    step TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY(tool, run_id, step, attempt)
) STRICT, WITHOUT ROWID;
";

/// How many of a tool's latest calls a [`Stats`] looks at.
pub const WINDOW: usize = 1000;

/// Reads the statistics of calls.
pub struct CallStats<'a>(pub(crate) &'a Store);

/// The last [`WINDOW`] calls of a tool that ended, retries included.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stats {
    pub calls: u32,
    /// Calls that ended in an error, timeouts included.
    pub failures: u32,
    /// Calls that repeated an earlier call of the same tool in the same step.
    pub retries: u32,
    pub timeouts: u32,
    /// Milliseconds, over all calls whatever their end; so are the percentiles (nearest rank).
    pub average_ms: f64,
    pub p50_ms: u64,
    pub p95_ms: u64,
    /// `failures / calls`, 0..1.
    pub failure_rate: f64,
    /// 0..1, over the calls that told one.
    pub average_confidence: Option<f64>,
}

impl CallStats<'_> {
    /// How often the tool was answered from the result cache.
    pub fn cache_hits(&self, tool: &str) -> Result<u32, Problem> {
        self.0.read(|db| {
            let mut query = db.prepare_cached("SELECT count(*) FROM cache_hit WHERE tool = ?")?;
            Ok(query.query_row([tool], |row| row.get(0))?)
        })
    }

    /// One tool; `None` when no call of it has ended.
    pub fn summary(&self, tool: &str) -> Result<Option<Stats>, Problem> {
        self.0.read(|db| Ok(summary(db, tool)?))
    }

    /// Every tool that was called, by name.
    pub fn all(&self) -> Result<HashMap<String, Stats>, Problem> {
        self.0.read(|db| {
            // Jumps from name to name along the index; DISTINCT would read every call ever made.
            let mut query = db.prepare_cached(
                "WITH RECURSIVE called(tool) AS (
                     SELECT min(tool) FROM tool_call WHERE outcome IS NOT NULL
                     UNION ALL
                     SELECT (SELECT min(tool) FROM tool_call WHERE outcome IS NOT NULL AND tool > called.tool)
                     FROM called WHERE called.tool IS NOT NULL)
                 SELECT tool FROM called WHERE tool IS NOT NULL",
            )?;
            let tools = query.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
            let mut all = HashMap::with_capacity(tools.len());
            for tool in tools {
                if let Some(stats) = summary(db, &tool)? {
                    all.insert(tool, stats);
                }
            }
            Ok(all)
        })
    }
}

/// Takes in one event of a run, in the transaction that stores it.
pub(crate) fn record(db: &Connection, run: RunId, at_ms: u64, facts: &Facts) -> rusqlite::Result<()> {
    match facts {
        Facts::AttemptStarted { step, attempt, tool } => {
            // Attempts count on through a fallback, whose first call repeats nothing.
            let retry = *attempt > 1
                && db
                    .prepare_cached(
                        "SELECT 1 FROM tool_call WHERE run_id = ? AND step = ? AND attempt < ? AND tool = ?",
                    )?
                    .exists(params![run, step, attempt, tool])?;
            db.prepare_cached(
                "INSERT OR REPLACE INTO tool_call(run_id, step, attempt, tool, at_ms, retry) VALUES (?, ?, ?, ?, ?, ?)",
            )?
            .execute(params![run, step, attempt, tool, at_ms as i64, retry])?;
        }
        Facts::AttemptFinished { step, attempt, duration_ms, ended, confidence } => {
            db.prepare_cached(
                "UPDATE tool_call SET duration_ms = ?, outcome = ?, confidence = ?
                 WHERE run_id = ? AND step = ? AND attempt = ?",
            )?
            .execute(params![*duration_ms as i64, ended, confidence, run, step, attempt])?;
        }
        // No call was made: it says nothing about how long the tool takes, and how it ends.
        Facts::CacheHit { step, attempt } => {
            db.prepare_cached(
                "INSERT OR IGNORE INTO cache_hit(tool, run_id, step, attempt, at_ms)
                 SELECT tool, run_id, step, attempt, ?4 FROM tool_call WHERE run_id = ?1 AND step = ?2 AND attempt = ?3",
            )?
            .execute(params![run, step, attempt, at_ms as i64])?;
            db.prepare_cached("DELETE FROM tool_call WHERE run_id = ? AND step = ? AND attempt = ?")?
                .execute(params![run, step, attempt])?;
        }
        _ => {}
    }
    Ok(())
}

struct Call {
    duration_ms: u64,
    outcome: String,
    retry: bool,
    confidence: Option<f64>,
}

fn summary(db: &Connection, tool: &str) -> rusqlite::Result<Option<Stats>> {
    let mut query = db.prepare_cached(
        "SELECT duration_ms, outcome, retry, confidence FROM tool_call
         WHERE tool = ? AND outcome IS NOT NULL ORDER BY at_ms DESC LIMIT ?",
    )?;
    let call = |row: &Row| {
        Ok(Call {
            duration_ms: row.get::<_, i64>(0)? as u64,
            outcome: row.get(1)?,
            retry: row.get(2)?,
            confidence: row.get(3)?,
        })
    };
    let calls = query.query_map(params![tool, WINDOW as i64], call)?.collect::<Result<Vec<_>, _>>()?;
    Ok(summarise(&calls))
}

fn summarise(calls: &[Call]) -> Option<Stats> {
    if calls.is_empty() {
        return None;
    }
    let count = |which: fn(&Call) -> bool| calls.iter().filter(|call| which(call)).count() as u32;
    let mut durations: Vec<u64> = calls.iter().map(|call| call.duration_ms).collect();
    durations.sort_unstable();
    let percentile = |percent: usize| durations[(durations.len() * percent).div_ceil(100).max(1) - 1];
    let confidences: Vec<f64> = calls.iter().filter_map(|call| call.confidence).collect();
    let average = |sum: f64, of: usize| sum / of as f64;
    let failures = count(|call| call.outcome != "ok");
    Some(Stats {
        calls: calls.len() as u32,
        failures,
        retries: count(|call| call.retry),
        timeouts: count(|call| call.outcome == "timeout"),
        average_ms: average(durations.iter().map(|ms| *ms as f64).sum(), durations.len()),
        p50_ms: percentile(50),
        p95_ms: percentile(95),
        failure_rate: average(failures.into(), calls.len()),
        average_confidence: (!confidences.is_empty()).then(|| average(confidences.iter().sum(), confidences.len())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, Value};
    use toolplan_engine::{
        ports::{ErrorClass, Journal, ToolError, ToolResult},
        run::{AttemptOutcome, RunEvent},
    };

    /// An attempt as two events. `end` is a confidence (`0.5`), `ok`, or the class of an error.
    fn attempt(step: &str, attempt: u32, tool: &str, duration_ms: u64, end: &str) -> [RunEvent; 2] {
        let step = step.to_owned();
        let failed = |class| AttemptOutcome::Failed { error: ToolError::new(class, "", "") };
        let outcome = match end {
            "timeout" => failed(ErrorClass::Timeout),
            "transient" => failed(ErrorClass::Transient),
            other => AttemptOutcome::Succeeded {
                result: ToolResult { data: Value::Null, confidence: other.parse().ok(), sources: vec![] },
            },
        };
        [
            RunEvent::AttemptStarted { step: step.clone(), attempt, tool: tool.into(), arguments: Map::new() },
            RunEvent::AttemptFinished { step, attempt, duration_ms, outcome },
        ]
    }

    #[tokio::test]
    async fn sums_up_the_calls_of_each_tool() {
        let store = Store::temporary().unwrap();
        assert_eq!(store.stats().summary("search").unwrap(), None);
        let run = store.journal().create_run("q", "offline", 1).await.unwrap();
        let mut events: Vec<_> = [
            attempt("s1", 1, "search", 10, "transient"),
            attempt("s1", 2, "search", 20, "timeout"),
            attempt("s1", 3, "search", 30, "0.5"),
            // The fallback's first call repeats nothing.
            attempt("s1", 4, "mirror", 5, "ok"),
            attempt("s2", 1, "search", 100, "1"),
        ]
        .into_iter()
        .flatten()
        .collect();
        // Neither the end nor the start alone counts.
        events.push(attempt("s3", 1, "search", 0, "ok")[0].clone());
        events.push(attempt("s4", 1, "search", 0, "ok")[1].clone());
        // An attempt may end in a later append than the one it began in.
        for event in events {
            store.append(run, vec![event]).await.unwrap();
        }

        let search = Stats {
            calls: 4,
            failures: 2,
            retries: 2,
            timeouts: 1,
            average_ms: 40.0,
            p50_ms: 20,
            p95_ms: 100,
            failure_rate: 0.5,
            average_confidence: Some(0.75),
        };
        assert_eq!(store.stats().summary("search").unwrap().as_ref(), Some(&search));
        let all = store.stats().all().unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!(all["search"], search);
        assert_eq!((all["mirror"].calls, all["mirror"].retries, all["mirror"].average_confidence), (1, 0, None));
    }

    #[tokio::test]
    async fn looks_at_the_last_thousand_calls() {
        let store = Store::temporary().unwrap();
        // Of an earlier time: 500 failures.
        let old = store.journal().create_run("q", "offline", 1).await.unwrap();
        let events = (0..500).flat_map(|i| attempt(&format!("s{i}"), 1, "search", 9999, "transient")).collect();
        store.append(old, events).await.unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
        let new = store.journal().create_run("q", "offline", 1).await.unwrap();
        let events = (1..=1000).rev().flat_map(|ms| attempt(&format!("s{ms}"), 1, "search", ms, "ok")).collect();
        store.append(new, events).await.unwrap();

        let stats = store.stats().summary("search").unwrap().unwrap();
        assert_eq!((stats.calls, stats.failures), (1000, 0));
        assert_eq!((stats.p50_ms, stats.p95_ms, stats.average_ms), (500, 950, 500.5));
    }
}

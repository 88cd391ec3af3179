//! Vectors of texts, kept so that a text is read by a model once, however many workspaces hold it (D-04).
//!
//! A file of its own beside the workspaces, shared by all processes: a text is known by its SHA-256 together with the
//! model's id. It holds nothing that could not be made again, so a damaged file is replaced by an empty one.

use crate::failure::as_problem;
use rusqlite::{Connection, ErrorCode, OptionalExtension, TransactionBehavior, params};
use sha2::{Digest, Sha256};
use std::{
    path::{Path, PathBuf},
    sync::Mutex,
    time::Duration,
};
use toolplan_engine::Problem;

/// In the header of the file: "tplV".
const APPLICATION_ID: i32 = 0x7470_6c56;
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS vectors (
        model TEXT NOT NULL,
        text BLOB NOT NULL,
        vector BLOB NOT NULL,
        PRIMARY KEY (model, text)
    ) WITHOUT ROWID, STRICT;
    PRAGMA application_id = 0x74706c56;";

/// The open cache.
pub struct VectorCache {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl VectorCache {
    /// Opens the cache at `path`, and makes it where there is none. The second value says that the file was damaged and
    /// is empty now.
    ///
    /// Errors: `vectors.open`, `vectors.foreign` (a database of another program, left untouched).
    pub fn open(path: &Path) -> Result<(Self, Option<Problem>), Problem> {
        let failed = |error: &rusqlite::Error| as_problem("vectors.open", "open", path, error);
        let (connection, notice) = match connect(path) {
            Ok(connection) => (connection, None),
            Err(Trouble::Foreign) => {
                return Err(Problem::new(
                    "vectors.foreign",
                    format!("{} is a database of another program", path.display()),
                    "move it away; it was not changed",
                ));
            }
            Err(Trouble::Sqlite(error)) if is_damage(&error) => {
                discard(path);
                let connection = connect(path).map_err(|trouble| match trouble {
                    Trouble::Sqlite(error) => failed(&error),
                    Trouble::Foreign => failed(&error),
                })?;
                let notice = Problem::new(
                    "vectors.rebuilt",
                    format!("{} was damaged and is empty now: {error}", path.display()),
                    "nothing is lost; the model reads the tools again",
                );
                (connection, Some(notice))
            }
            Err(Trouble::Sqlite(error)) => return Err(failed(&error)),
        };
        Ok((Self { path: path.to_path_buf(), connection: Mutex::new(connection) }, notice))
    }

    /// The stored vectors of `texts`, in order.
    pub fn get(&self, model: &str, texts: &[&str]) -> Result<Vec<Option<Vec<u8>>>, Problem> {
        let connection = self.connection.lock().expect("no query panics");
        let read = || -> rusqlite::Result<Vec<Option<Vec<u8>>>> {
            let mut query = connection.prepare_cached("SELECT vector FROM vectors WHERE model = ?1 AND text = ?2")?;
            texts.iter().map(|text| query.query_row(params![model, hash(text)], |row| row.get(0)).optional()).collect()
        };
        read().map_err(|error| as_problem("vectors.read", "read", &self.path, &error))
    }

    /// Stores vectors, all of them or none.
    pub fn put(&self, model: &str, vectors: &[(&str, Vec<u8>)]) -> Result<(), Problem> {
        let mut connection = self.connection.lock().expect("no query panics");
        let mut write = || {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            {
                let mut insert = transaction
                    .prepare_cached("INSERT OR REPLACE INTO vectors (model, text, vector) VALUES (?1, ?2, ?3)")?;
                for (text, vector) in vectors {
                    insert.execute(params![model, hash(text), vector])?;
                }
            }
            transaction.commit()
        };
        write().map_err(|error: rusqlite::Error| as_problem("vectors.write", "write to", &self.path, &error))
    }

    /// How many vectors of the model there are.
    pub fn count(&self, model: &str) -> Result<u32, Problem> {
        let connection = self.connection.lock().expect("no query panics");
        connection
            .query_row("SELECT count(*) FROM vectors WHERE model = ?1", [model], |row| row.get(0))
            .map_err(|error| as_problem("vectors.read", "read", &self.path, &error))
    }
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

enum Trouble {
    Sqlite(rusqlite::Error),
    Foreign,
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

fn connect(path: &Path) -> Result<Connection, Trouble> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    let id: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: u32 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if id != APPLICATION_ID && (id != 0 || tables > 0) {
        return Err(Trouble::Foreign);
    }
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    // What a crash loses is read again.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.execute_batch(TABLES)?;
    // A page in the middle may be damaged too; looking at all of them takes a second for 100,000 vectors, once.
    let sound: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if sound != "ok" {
        let code = rusqlite::ffi::Error { code: ErrorCode::DatabaseCorrupt, extended_code: 11 };
        return Err(Trouble::Sqlite(rusqlite::Error::SqliteFailure(code, Some(sound))));
    }
    Ok(connection)
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

fn discard(path: &Path) {
    for ending in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        // What cannot be removed shows when the file is opened again.
        let _ = std::fs::remove_file(PathBuf::from(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(cache: &VectorCache, text: &str) -> Option<Vec<u8>> {
        cache.get("m", &[text]).unwrap().remove(0)
    }

    /// D-04: two processes share the file; a model's vectors are its own.
    #[test]
    fn what_one_stores_another_finds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors.db");
        let (one, notice) = VectorCache::open(&path).unwrap();
        assert!(notice.is_none());
        let (other, _) = VectorCache::open(&path).unwrap();
        one.put("m", &[("a", vec![1]), ("b", vec![2])]).unwrap();
        other.put("m", &[("b", vec![3])]).unwrap();
        assert_eq!((get(&other, "a"), get(&one, "b"), get(&one, "c")), (Some(vec![1]), Some(vec![3]), None));
        assert_eq!(one.get("n", &["a"]).unwrap(), [None]);
        assert_eq!(one.count("m").unwrap(), 2);
    }

    /// S-03: a damaged file is said to be so and replaced; another program's is left alone.
    #[test]
    fn a_damaged_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors.db");
        std::fs::write(&path, "no database at all ".repeat(100)).unwrap();
        let (cache, notice) = VectorCache::open(&path).unwrap();
        assert_eq!(notice.unwrap().code, "vectors.rebuilt");
        let many: Vec<(String, Vec<u8>)> = (0..2000).map(|i| (i.to_string(), vec![7; 300])).collect();
        let many: Vec<(&str, Vec<u8>)> = many.iter().map(|(t, v)| (t.as_str(), v.clone())).collect();
        cache.put("m", &many).unwrap();
        drop(cache);
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..].fill(0xff);
        std::fs::write(&path, bytes).unwrap();
        let (cache, notice) = VectorCache::open(&path).unwrap();
        assert_eq!(notice.unwrap().code, "vectors.rebuilt");
        assert_eq!(cache.count("m").unwrap(), 0);

        let foreign = folder.path().join("foreign.db");
        Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
        assert_eq!(VectorCache::open(&foreign).err().unwrap().code, "vectors.foreign");
    }
}

//! From SQLite's errors to what a person can do about them.

use rusqlite::{ErrorCode, Row};
use serde::de::DeserializeOwned;
use std::path::Path;
use toolplan_engine::Problem;

/// Why a query or an edit did not happen: the database said no, or we did.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Problem(#[from] Problem),
}

impl Failure {
    pub(crate) fn into_problem(self, code: &str, verb: &str, path: &Path) -> Problem {
        match self {
            Self::Sqlite(error) => as_problem(code, verb, path, &error),
            Self::Problem(problem) => problem,
        }
    }
}

/// Says that `verb`ing the file failed, why, and what helps.
pub(crate) fn as_problem(code: &str, verb: &str, path: &Path, error: &rusqlite::Error) -> Problem {
    let hint = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "free some space on its disk and try again; nothing stored before is lost",
        Some(ErrorCode::SystemIoFailure) => {
            "check that its disk is connected and has free space, then try again; nothing stored before is lost"
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            "check that the folder exists and that you may write to it and to the file"
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another program is writing to it; wait for that to end or close it, then try again"
        }
        Some(ErrorCode::NotADatabase) => "choose another file: this one is not a workspace of Toolplan",
        Some(ErrorCode::DatabaseCorrupt) => "the file is damaged; put back a copy of it",
        _ => "try again; if it stays, report it with this message",
    };
    Problem::new(code, format!("cannot {verb} {}: {error}", path.display()), hint)
}

/// The same for a file that is not SQLite's.
pub(crate) fn as_io_problem(code: &str, verb: &str, path: &Path, error: &std::io::Error) -> Problem {
    use std::io::ErrorKind;
    let hint = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "free some space on its disk and try again; nothing stored before is lost"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::NotFound => {
            "check that the folder exists and that you may write to it"
        }
        _ => "try again; if it stays, report it with this message",
    };
    Problem::new(code, format!("cannot {verb} {}: {error}", path.display()), hint)
}

/// A JSON column. The inner error says that the text is damaged; such a row is reported and the others are kept.
pub(crate) fn json_column<T: DeserializeOwned>(row: &Row, column: usize) -> rusqlite::Result<serde_json::Result<T>> {
    // Bytes, not text: a column that is not even UTF-8 is damaged as well and must not stop the whole query.
    Ok(serde_json::from_slice(row.get_ref(column)?.as_bytes()?))
}

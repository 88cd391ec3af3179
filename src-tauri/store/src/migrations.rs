//! Bringing a workspace file to the tables of this version.
//!
//! Steps are only ever added at the end of [`migrations`]; a step that was released never changes.

use crate::{configure, failure::as_problem, journal, registry, settings, stats};
use rusqlite::Connection;
use rusqlite_migration::{Error, M, MigrationDefinitionError, Migrations};
use std::{path::Path, thread, time::Duration};
use toolplan_engine::Problem;

/// In the header of the file, so that no other program's database is taken for a workspace: "tplN".
const APPLICATION_ID: i32 = 0x7470_6c4e;

/// How often the tables are tried to be made, 10 ms apart.
const TRIES: u32 = 20;

fn migrations() -> Migrations<'static> {
    Migrations::new(vec![
        M::up("PRAGMA application_id = 0x74706c4e"),
        M::up(registry::TABLES),
        M::up(journal::TABLES),
        M::up(stats::TABLES),
        M::up(settings::TABLES),
        M::up(journal::keeping::COLUMNS),
    ])
}

/// Opens the file, new or old, and returns a connection on which all tables are there.
pub(crate) fn open_and_migrate(path: &Path) -> Result<Connection, Problem> {
    let failed = |error: &rusqlite::Error| as_problem("store.open", "open", path, error);
    let mut connection = Connection::open(path).map_err(|e| failed(&e))?;
    connection.busy_timeout(Duration::from_secs(10)).map_err(|e| failed(&e))?;
    if is_foreign(&connection).map_err(|e| failed(&e))? {
        return Err(Problem::new(
            "store.foreign",
            format!("{} is a database of another program", path.display()),
            "choose another file for the workspace; this one was not changed",
        ));
    }
    // Several processes may create one workspace at once: the switch to WAL does not wait for the others as everything
    // else does, and a migration may find done what it was about to do. Whoever comes second tries again.
    let mut tries = 0;
    while let Err(error) = prepare(&mut connection) {
        tries += 1;
        if tries == TRIES || matches!(error, Error::MigrationDefinition(_)) {
            return Err(match error {
                Error::RusqliteError { err, .. } => failed(&err),
                Error::MigrationDefinition(MigrationDefinitionError::DatabaseTooFarAhead) => Problem::new(
                    "store.newer",
                    format!("{} was written by a newer version of Toolplan", path.display()),
                    "update Toolplan, or open another workspace; the file was not changed",
                ),
                other => Problem::new(
                    "store.open",
                    format!("cannot bring {} up to date: {other}", path.display()),
                    "report this with the message; the file was not changed",
                ),
            });
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(connection)
}

fn prepare(connection: &mut Connection) -> Result<(), Error> {
    let migrations = migrations();
    if connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))? == 0 {
        // Stays set in the file. Readers go on while a run writes, and a commit appends instead of rewriting.
        connection.pragma_update(None, "journal_mode", "WAL")?;
    }
    configure(connection)?;
    migrations.to_latest(connection)
}

/// Whether the file holds tables that are not ours. Counts them first: a process that creates the workspace right now
/// sets both in one transaction.
fn is_foreign(connection: &Connection) -> rusqlite::Result<bool> {
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let id: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    Ok(tables > 0 && id != APPLICATION_ID)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    #[test]
    fn the_migrations_are_sound() {
        migrations().validate().unwrap();
    }

    #[test]
    fn other_files_are_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let code = |path: &Path| Store::open(path).err().unwrap().code;

        let text = folder.path().join("notes.txt");
        std::fs::write(&text, "not a database, but long enough to have a header ".repeat(30)).unwrap();
        let before = std::fs::read(&text).unwrap();
        assert_eq!(code(&text), "store.open");
        assert_eq!(std::fs::read(&text).unwrap(), before);

        let foreign = folder.path().join("mail.db");
        Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE mail(id)").unwrap();
        let before = std::fs::read(&foreign).unwrap();
        assert_eq!(code(&foreign), "store.foreign");
        assert_eq!(std::fs::read(&foreign).unwrap(), before);

        let newer = folder.path().join("newer.toolplan");
        drop(Store::open(&newer).unwrap());
        Connection::open(&newer).unwrap().pragma_update(None, "user_version", 99).unwrap();
        assert_eq!(code(&newer), "store.newer");

        assert_eq!(code(&folder.path().join("missing/new.toolplan")), "store.open");
    }

    #[test]
    fn many_may_create_one_workspace_at_once() {
        let folder = tempfile::tempdir().unwrap();
        for round in 0..5 {
            let path = folder.path().join(format!("{round}.toolplan"));
            std::thread::scope(|scope| {
                let openers: Vec<_> = (0..8).map(|_| scope.spawn(|| Store::open(&path).map(drop))).collect();
                for opener in openers {
                    opener.join().unwrap().unwrap();
                }
            });
        }
    }
}

//! The tools of a workspace and everything they ever were (K-01, K-04).
//!
//! A tool is never overwritten: each edit adds a row with the next revision, and the catalog at a revision is the
//! latest row of each tool up to it. Whether a tool is a good one is not judged here.

pub(crate) mod revisions;

pub use revisions::{Differences, RevisionInfo, Stacks};

use crate::{
    Store,
    failure::{Failure, json_column},
    now_ms,
};
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use std::collections::HashSet;
use toolplan_engine::{
    Problem,
    tool::{Revision, ToolSpec},
};

pub(crate) const TABLES: &str = "
CREATE TABLE revision(
    number INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    author TEXT NOT NULL,
    note TEXT NOT NULL
) STRICT;
CREATE TABLE tool_version(
    name TEXT NOT NULL,
    revision INTEGER NOT NULL REFERENCES revision(number),
    spec_json TEXT, -- NULL: removed
    position INTEGER NOT NULL,
    PRIMARY KEY(name, revision)
) STRICT;
CREATE INDEX tool_version_position ON tool_version(position);
";

/// Reads and edits the tools of a workspace.
pub struct Registry<'a>(pub(crate) &'a Store);

/// The tools at a revision.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredCatalog {
    /// 0 before anything was registered.
    pub revision: Revision,
    /// In registration order.
    pub specs: Vec<ToolSpec>,
    /// A `registry.damaged` for each tool whose row cannot be read and is missing from `specs`.
    pub problems: Vec<Problem>,
}

/// One edit of one tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolRevision {
    pub revision: Revision,
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    pub author: String,
    /// What the revision was for; empty for a plain edit.
    pub note: String,
    /// `None`: the tool was removed.
    pub spec: Option<ToolSpec>,
}

impl Registry<'_> {
    /// The newest catalog.
    pub fn load(&self) -> Result<StoredCatalog, Problem> {
        self.0.read(|db| {
            let revision = newest(db)?;
            catalog(db, revision)
        })
    }

    /// The newest revision; 0 before anything was registered.
    pub fn newest(&self) -> Result<Revision, Problem> {
        self.0.read(|db| Ok(newest(db)?))
    }

    /// Whether the newest catalog holds a tool of the name, readable or damaged.
    pub fn holds(&self, name: &str) -> Result<bool, Problem> {
        self.0.read(|db| Ok(latest(db, name, newest(db)?)?.is_some_and(|version| version.spec_json.is_some())))
    }

    /// The catalog as it was at `revision`. Error: `registry.unknown_revision`.
    pub fn at(&self, revision: Revision) -> Result<StoredCatalog, Problem> {
        self.0.read(|db| {
            let newest = newest(db)?;
            if revision > newest {
                return Err(unknown_revision(format!("the catalog has no revision {revision}"), newest).into());
            }
            catalog(db, revision)
        })
    }

    /// Stores many tools as one revision. Known tools keep their place, new ones join at the end; of several with one
    /// name the first counts. When no tool differs from what is stored, there is no new revision.
    ///
    /// Returns the revision at which the catalog now stands.
    pub fn register(&self, specs: &[ToolSpec], author: &str, note: &str) -> Result<Revision, Problem> {
        let mut seen = HashSet::with_capacity(specs.len());
        let changes = specs
            .iter()
            .filter(|spec| seen.insert(spec.name.as_str()))
            .map(|spec| Ok(Change { name: &spec.name, spec_json: Some(text(spec)?), place: Place::Usual }))
            .collect::<Result<Vec<_>, Problem>>()?;
        self.0.edit(|db| apply(db, changes, author, note))
    }

    /// Stores one edit. An identical spec makes no revision. Returns the revision at which the catalog now stands.
    pub fn save(&self, spec: &ToolSpec, author: &str) -> Result<Revision, Problem> {
        self.register(std::slice::from_ref(spec), author, "")
    }

    /// Takes a tool out of the catalog; its history stays. Error: `registry.unknown_tool`.
    pub fn remove(&self, name: &str, author: &str) -> Result<Revision, Problem> {
        self.0.edit(|db| match latest(db, name, newest(db)?)? {
            Some(Version { spec_json: Some(_), .. }) => {
                apply(db, vec![Change { name, spec_json: None, place: Place::Usual }], author, "removed")
            }
            _ => Err(unknown_tool(name).into()),
        })
    }

    /// Every revision of one tool, oldest first, and a `registry.damaged` for each one that cannot be read. Empty for
    /// a tool that never was.
    pub fn history(&self, name: &str) -> Result<(Vec<ToolRevision>, Vec<Problem>), Problem> {
        self.0.read(|db| {
            let mut query = db.prepare_cached(
                "SELECT number, at_ms, author, note, spec_json IS NULL, spec_json
                 FROM tool_version JOIN revision ON number = revision WHERE name = ? ORDER BY number",
            )?;
            let mut rows = query.query([name])?;
            let (mut history, mut problems) = (vec![], vec![]);
            while let Some(row) = rows.next()? {
                let revision = row.get(0)?;
                let removed: bool = row.get(4)?;
                let spec = if removed { Ok(None) } else { json_column(row, 5)?.map(Some) };
                match spec {
                    Ok(spec) => history.push(ToolRevision {
                        revision,
                        at_ms: row.get::<_, i64>(1)? as u64,
                        author: row.get(2)?,
                        note: row.get(3)?,
                        spec,
                    }),
                    Err(error) => problems.push(damaged(name, revision, &error)),
                }
            }
            Ok((history, problems))
        })
    }

    /// Makes a tool what it was at `revision`, as a new revision; a tool that was removed since returns to its place.
    ///
    /// Errors: `registry.unknown_tool`, `registry.unknown_revision` (the tool did not exist then),
    /// `registry.damaged` (what was stored then cannot be read).
    pub fn revert(&self, name: &str, revision: Revision, author: &str) -> Result<Revision, Problem> {
        self.0.edit(|db| {
            let newest = newest(db)?;
            let Some(now) = latest(db, name, newest)? else { return Err(unknown_tool(name).into()) };
            let then = latest(db, name, revision)?
                .filter(|_| revision <= newest)
                .ok_or_else(|| unknown_revision(format!("the tool {name} has no revision {revision}"), newest))?;
            if let Some(json) = &then.spec_json {
                serde_json::from_str::<ToolSpec>(json).map_err(|error| damaged(name, revision, &error))?;
            }
            let change = Change { name, spec_json: then.spec_json, place: Place::At(now.position) };
            apply(db, vec![change], author, &format!("back to revision {revision}"))
        })
    }
}

/// What a tool becomes.
struct Change<'a> {
    name: &'a str,
    spec_json: Option<String>,
    place: Place,
}

enum Place {
    /// Where the tool stands, or at the end when it joins.
    Usual,
    At(i64),
}

/// A tool's row.
struct Version {
    spec_json: Option<String>,
    position: i64,
}

/// Writes the changes that change something as one revision and returns the newest revision.
fn apply(db: &Connection, changes: Vec<Change>, author: &str, note: &str) -> Result<Revision, Failure> {
    let newest = newest(db)?;
    let next = newest + 1;
    let mut end = None;
    let mut insert =
        db.prepare_cached("INSERT INTO tool_version(name, revision, spec_json, position) VALUES (?, ?, ?, ?)")?;
    for Change { name, spec_json, place } in changes {
        let stored = latest(db, name, newest)?;
        let before = stored.as_ref().and_then(|stored| stored.spec_json.as_deref());
        if stored.is_some() && is_same(before, spec_json.as_deref()) {
            continue;
        }
        let position = match (place, &stored) {
            (Place::At(position), _) => position,
            (Place::Usual, Some(Version { spec_json: Some(_), position })) => *position,
            (Place::Usual, _) => {
                let position = match end {
                    Some(end) => end + 1,
                    None => {
                        db.query_row("SELECT coalesce(max(position), 0) + 1 FROM tool_version", [], |r| r.get(0))?
                    }
                };
                end = Some(position);
                position
            }
        };
        // The revision comes into being with the first tool that differs.
        db.prepare_cached("INSERT OR IGNORE INTO revision(number, at_ms, author, note) VALUES (?, ?, ?, ?)")?
            .execute(params![next, now_ms() as i64, author, note])?;
        insert.execute(params![name, next, spec_json, position])?;
    }
    Ok(self::newest(db)?)
}

/// Whether two stored specs mean the same. A spec stored by an earlier version may lack fields that have a default
/// now; the order of an argument schema's keys counts, since the model sees it.
fn is_same(stored: Option<&str>, new: Option<&str>) -> bool {
    let (Some(stored), Some(new)) = (stored, new) else { return stored == new };
    stored == new
        || serde_json::from_str::<ToolSpec>(stored)
            .and_then(|spec| serde_json::to_string(&spec))
            .is_ok_and(|stored| stored == new)
}

fn newest(db: &Connection) -> rusqlite::Result<Revision> {
    db.prepare_cached("SELECT coalesce(max(number), 0) FROM revision")?.query_row([], |row| row.get(0))
}

/// A tool as of `revision`; `None` when it did not exist yet.
fn latest(db: &Connection, name: &str, revision: Revision) -> rusqlite::Result<Option<Version>> {
    db.prepare_cached(
        "SELECT spec_json, position FROM tool_version WHERE name = ? AND revision <= ? ORDER BY revision DESC LIMIT 1",
    )?
    .query_row(params![name, revision], |row| {
        // Damaged text is still text here: it differs from any good spec and is replaced by it.
        let spec_json = row.get_ref(0)?.as_bytes_or_null()?.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        Ok(Version { spec_json, position: row.get(1)? })
    })
    .optional()
}

fn catalog(db: &Connection, revision: Revision) -> Result<StoredCatalog, Failure> {
    // With max(), SQLite takes the other columns from the row that holds the maximum (lang_select.html, "bare
    // columns"): one walk along the primary key, no subquery per tool.
    let mut query = db.prepare_cached(
        "SELECT name, max(revision), position, spec_json IS NULL, spec_json FROM tool_version
         WHERE revision <= ? GROUP BY name",
    )?;
    let mut rows = query.query([revision])?;
    let mut stored = vec![];
    while let Some(row) = rows.next()? {
        if !row.get::<_, bool>(3)? {
            let json = row.get_ref(4)?.as_bytes().map_err(rusqlite::Error::from)?.to_vec();
            stored.push(StoredTool { name: row.get(0)?, revision: row.get(1)?, position: row.get(2)?, json });
        }
    }
    let (mut found, mut problems) = (Vec::with_capacity(stored.len()), vec![]);
    for (tool, spec) in stored.iter().zip(parsed(&stored)) {
        match spec {
            Ok(spec) => found.push((tool.position, spec)),
            Err(error) => problems.push(damaged(&tool.name, tool.revision, &error)),
        }
    }
    found.sort_by_key(|(position, _)| *position);
    Ok(StoredCatalog { revision, specs: found.into_iter().map(|(_, spec)| spec).collect(), problems })
}

/// A tool as it lies in the file.
struct StoredTool {
    name: String,
    revision: Revision,
    position: i64,
    json: Vec<u8>,
}

/// Fewer tools are parsed before another thread has begun.
const SHARED_AMONG_THREADS: usize = 2000;

/// The specs in the order of the rows. Parsing is most of the time that opening a large catalog takes, so it is shared
/// among the processors.
fn parsed(stored: &[StoredTool]) -> Vec<serde_json::Result<ToolSpec>> {
    let parse = |tools: &[StoredTool]| tools.iter().map(|tool| serde_json::from_slice(&tool.json)).collect::<Vec<_>>();
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
    if stored.len() < SHARED_AMONG_THREADS || threads == 1 {
        return parse(stored);
    }
    std::thread::scope(|scope| {
        let parts: Vec<_> =
            stored.chunks(stored.len().div_ceil(threads)).map(|part| scope.spawn(move || parse(part))).collect();
        parts.into_iter().flat_map(|part| part.join().expect("parsing does not panic")).collect()
    })
}

fn text(spec: &ToolSpec) -> Result<String, Problem> {
    serde_json::to_string(spec).map_err(|error| {
        Problem::new(
            "registry.unwritable",
            format!("the tool {} cannot be written as JSON: {error}", spec.name),
            "correct the tool's fields and try again",
        )
    })
}

fn damaged(name: &str, revision: Revision, error: &serde_json::Error) -> Problem {
    Problem::new(
        "registry.damaged",
        format!("what is stored of the tool {name} at revision {revision} cannot be read: {error}"),
        "register the tool again, or take it back to an earlier revision; all other tools are loaded",
    )
}

fn unknown_tool(name: &str) -> Problem {
    Problem::new(
        "registry.unknown_tool",
        format!("the catalog holds no tool called {name}"),
        "look the name up in the catalog; names are exact",
    )
}

fn unknown_revision(message: String, newest: Revision) -> Problem {
    Problem::new("registry.unknown_revision", message, format!("the newest revision of the catalog is {newest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, description: &str) -> ToolSpec {
        ToolSpec { name: name.into(), description: description.into(), ..ToolSpec::default() }
    }

    /// `name: description` of each tool, in catalog order.
    fn listed(catalog: &StoredCatalog) -> Vec<String> {
        catalog.specs.iter().map(|t| format!("{}: {}", t.name, t.description)).collect()
    }

    #[test]
    fn every_edit_is_a_revision_that_can_be_seen_and_taken_back() {
        let store = Store::temporary().unwrap();
        let registry = store.registry();
        assert_eq!(registry.load().unwrap(), StoredCatalog { revision: 0, specs: vec![], problems: vec![] });

        let import = [tool("search", "v1"), tool("fetch", "v1"), tool("search", "a second one of the name")];
        assert_eq!(registry.register(&import, "ann", "import of tools.json").unwrap(), 1);
        assert_eq!(registry.save(&tool("search", "v2"), "bob").unwrap(), 2);
        assert_eq!(registry.remove("search", "bob").unwrap(), 3);
        assert_eq!(registry.save(&tool("rank", "v1"), "ann").unwrap(), 4);
        assert_eq!(listed(&registry.load().unwrap()), ["fetch: v1", "rank: v1"]);
        assert_eq!(registry.revert("search", 1, "ann").unwrap(), 5);

        assert_eq!(listed(&registry.at(0).unwrap()), [] as [&str; 0]);
        assert_eq!(listed(&registry.at(1).unwrap()), ["search: v1", "fetch: v1"]);
        assert_eq!(listed(&registry.at(2).unwrap()), ["search: v2", "fetch: v1"]);
        assert_eq!(listed(&registry.at(3).unwrap()), ["fetch: v1"]);
        assert_eq!(listed(&registry.load().unwrap()), ["search: v1", "fetch: v1", "rank: v1"], "back in its place");

        let (history, problems) = registry.history("search").unwrap();
        let history: Vec<_> = history
            .iter()
            .map(|r| (r.revision, r.author.as_str(), r.note.as_str(), r.spec.as_ref().map(|s| s.description.as_str())))
            .collect();
        assert_eq!(
            history,
            [
                (1, "ann", "import of tools.json", Some("v1")),
                (2, "bob", "", Some("v2")),
                (3, "bob", "removed", None),
                (5, "ann", "back to revision 1", Some("v1")),
            ]
        );
        assert_eq!(problems, []);

        let code = |result: Result<Revision, Problem>| result.unwrap_err().code;
        assert_eq!(code(registry.remove("nothing", "ann")), "registry.unknown_tool");
        assert_eq!(code(registry.revert("nothing", 1, "ann")), "registry.unknown_tool");
        assert_eq!(code(registry.revert("rank", 1, "ann")), "registry.unknown_revision");
        assert_eq!(code(registry.revert("rank", 9, "ann")), "registry.unknown_revision");
        assert_eq!(registry.at(6).unwrap_err().code, "registry.unknown_revision");
        assert_eq!(registry.load().unwrap().revision, 5, "a refused edit makes no revision");
    }

    #[test]
    fn what_changes_nothing_makes_no_revision() {
        let store = Store::temporary().unwrap();
        let registry = store.registry();
        let specs = [tool("search", "v1"), tool("fetch", "v1")];
        assert_eq!(registry.register(&specs, "ann", "").unwrap(), 1);
        assert_eq!(registry.register(&specs, "ann", "again").unwrap(), 1);
        assert_eq!(registry.save(&specs[1], "ann").unwrap(), 1);
        assert_eq!(registry.revert("fetch", 1, "ann").unwrap(), 1);

        // A spec as a version without most of the fields would have stored it.
        let old = r#"{"name": "fetch", "description": "v1"}"#;
        let update = "UPDATE tool_version SET spec_json = ? WHERE name = 'fetch'";
        store.edit(|db| Ok(db.execute(update, [old])?)).unwrap();
        assert_eq!(registry.save(&specs[1], "ann").unwrap(), 1, "missing fields have their defaults");

        let mut mixed = specs.to_vec();
        mixed[0].description = "v2".into();
        assert_eq!(registry.register(&mixed, "ann", "").unwrap(), 2);
        assert_eq!(registry.history("fetch").unwrap().0.len(), 1, "only the tool that differs has a new version");
    }

    #[test]
    fn a_damaged_tool_is_reported_and_the_others_load() {
        let store = Store::temporary().unwrap();
        let registry = store.registry();
        registry.register(&[tool("a", ""), tool("b", ""), tool("c", ""), tool("d", "")], "ann", "").unwrap();
        store
            .edit(|db| {
                db.execute("UPDATE tool_version SET spec_json = '{\"name\": ' WHERE name = 'b'", [])?;
                Ok(db.execute("UPDATE tool_version SET spec_json = CAST(x'22ff22' AS TEXT) WHERE name = 'c'", [])?)
            })
            .unwrap();

        let catalog = registry.load().unwrap();
        assert_eq!(listed(&catalog), ["a: ", "d: "]);
        let codes: Vec<_> = catalog.problems.iter().map(|p| p.code.as_str()).collect();
        assert_eq!(codes, ["registry.damaged"; 2]);
        assert!(catalog.problems[0].message.contains("the tool b at revision 1"), "{}", catalog.problems[0]);
        assert_eq!(registry.history("c").unwrap().1.len(), 1);
        assert_eq!(registry.revert("b", 1, "ann").unwrap_err().code, "registry.damaged");

        registry.save(&tool("b", "repaired"), "ann").unwrap();
        registry.save(&tool("c", "repaired"), "ann").unwrap();
        assert_eq!(listed(&registry.load().unwrap()), ["a: ", "b: repaired", "c: repaired", "d: "]);
    }

    #[test]
    fn imports_twenty_thousand_tools_at_once() {
        let store = Store::temporary().unwrap();
        let specs: Vec<_> =
            (0..20_000).map(|i| tool(&format!("tool_{i}"), &"words of a description ".repeat(20))).collect();
        let begin = std::time::Instant::now();
        assert_eq!(store.registry().register(&specs, "ann", "").unwrap(), 1);
        let imported = begin.elapsed();
        let loaded = store.registry().load().unwrap();
        println!("20,000 tools: import {imported:?}, load {:?}", begin.elapsed() - imported);
        assert_eq!(loaded.specs, specs);
        assert!(imported.as_secs() < 20, "one transaction, even in a debug build on a busy machine: {imported:?}");
    }
}

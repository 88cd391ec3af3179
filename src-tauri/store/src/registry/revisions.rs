//! The revisions of the whole catalog: listing them, comparing them, going back to one, undo and redo (K-04, W-07).
//!
//! Nothing is ever taken out of the history: an undo is a revision that says which one it takes back. What can be undone
//! follows from the list of revisions alone, so it survives a restart. What somebody else wrote, Toolplan's own first
//! start for one, is a floor under the stack.

use super::{Change, Place, Registry, apply, damaged, is_same, latest, newest, unknown_revision};
use crate::{Failure, now_ms};
use rusqlite::{Connection, params};
use serde::Serialize;
use std::collections::HashMap;
use toolplan_engine::{
    Problem,
    tool::{Revision, ToolSpec},
};

pub(crate) const TABLES: &str = "
ALTER TABLE revision ADD COLUMN undoes INTEGER REFERENCES revision(number);
ALTER TABLE revision ADD COLUMN redoes INTEGER REFERENCES revision(number);
CREATE INDEX tool_version_revision ON tool_version(revision);
";

/// One revision of the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RevisionInfo {
    pub revision: Revision,
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    pub author: String,
    pub note: String,
    pub undoes: Option<Revision>,
    pub redoes: Option<Revision>,
    /// How many tools it changed, and the first of them by name, at most 5.
    pub tools: u32,
    pub examples: Vec<String>,
}

/// How the tools differ between two revisions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Differences {
    pub added: u32,
    pub removed: u32,
    pub changed: u32,
    /// Name, before and after, by name: the page that was asked for. What cannot be read is missing on its side.
    pub page: Vec<(String, Option<ToolSpec>, Option<ToolSpec>)>,
}

/// Edits that can be taken back or made again, the next one last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stacks {
    pub undo: Vec<Revision>,
    pub redo: Vec<Revision>,
}

impl Registry<'_> {
    /// Revisions of the catalog, newest first, and how many there are.
    pub fn revisions(&self, offset: u32, limit: u32) -> Result<(Vec<RevisionInfo>, u32), Problem> {
        self.0.read(|db| {
            let total = db.query_row("SELECT count(*) FROM revision", [], |row| row.get(0))?;
            let mut query = db.prepare_cached("SELECT number FROM revision ORDER BY number DESC LIMIT ? OFFSET ?")?;
            let numbers = query.query_map([limit, offset], |row| row.get(0))?.collect::<Result<Vec<Revision>, _>>()?;
            let rows = numbers.into_iter().map(|number| info(db, number)).collect::<Result<Vec<_>, _>>()?;
            Ok((rows, total))
        })
    }

    /// One revision. Error: `registry.unknown_revision`.
    pub fn revision(&self, number: Revision) -> Result<RevisionInfo, Problem> {
        self.0.read(|db| {
            known(db, number)?;
            Ok(info(db, number)?)
        })
    }

    /// The revision that changed each tool last, and when.
    pub fn last_changes(&self) -> Result<HashMap<String, (Revision, u64)>, Problem> {
        self.0.read(|db| {
            let mut query = db.prepare_cached(
                "SELECT name, number, at_ms
                 FROM (SELECT name, max(revision) AS number FROM tool_version GROUP BY name) JOIN revision USING (number)",
            )?;
            let rows = query.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get::<_, i64>(2)? as u64))))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// What differs from one revision to the other, with `limit` tools from `offset` on. Error:
    /// `registry.unknown_revision`.
    pub fn differences(&self, from: Revision, to: Revision, offset: u32, limit: u32) -> Result<Differences, Problem> {
        self.0.read(|db| {
            [from, to].into_iter().try_for_each(|number| known(db, number))?;
            let mut found = Differences::default();
            for name in touched(db, from.min(to) + 1, from.max(to))? {
                let before = latest(db, &name, from)?.and_then(|version| version.spec_json);
                let after = latest(db, &name, to)?.and_then(|version| version.spec_json);
                match (&before, &after) {
                    _ if is_same(before.as_deref(), after.as_deref()) => continue,
                    (None, _) => found.added += 1,
                    (_, None) => found.removed += 1,
                    _ => found.changed += 1,
                }
                let number = found.added + found.removed + found.changed;
                if number > offset && found.page.len() < limit as usize {
                    let read = |json: Option<String>| json.and_then(|json| serde_json::from_str(&json).ok());
                    found.page.push((name, read(before), read(after)));
                }
            }
            Ok(found)
        })
    }

    /// Makes every tool what it was at `revision`, as one new revision. Errors: `registry.unknown_revision`,
    /// `registry.damaged`.
    pub fn revert_all(&self, revision: Revision, author: &str) -> Result<Revision, Problem> {
        self.0.edit(|db| {
            known(db, revision)?;
            let names = touched(db, revision + 1, newest(db)?)?;
            restore(db, &names, revision, author, &format!("catalog back to revision {revision}"))
        })
    }

    /// What `author` can undo and redo now.
    pub fn stacks(&self, author: &str) -> Result<Stacks, Problem> {
        self.0.read(|db| Ok(stacks(db, author)?))
    }

    /// Takes the last edit of `author` back, all of its tools in one new revision. Returns the edit and the revision.
    /// Error: `registry.nothing_to_undo`.
    pub fn undo(&self, author: &str) -> Result<(Revision, Revision), Problem> {
        self.0.edit(|db| {
            let edit = stacks(db, author)?.undo.pop().ok_or_else(|| nothing("undo"))?;
            Ok((edit, step(db, edit, edit - 1, "undo", author)?))
        })
    }

    /// Makes the edit again that was taken back last. Returns the edit and the revision. Error:
    /// `registry.nothing_to_undo`.
    pub fn redo(&self, author: &str) -> Result<(Revision, Revision), Problem> {
        self.0.edit(|db| {
            let edit = stacks(db, author)?.redo.pop().ok_or_else(|| nothing("redo"))?;
            Ok((edit, step(db, edit, edit, "redo", author)?))
        })
    }
}

fn info(db: &Connection, number: Revision) -> rusqlite::Result<RevisionInfo> {
    let examples = db
        .prepare_cached("SELECT name FROM tool_version WHERE revision = ? ORDER BY name LIMIT 5")?
        .query_map([number], |row| row.get(0))?
        .collect::<Result<Vec<String>, _>>()?;
    db.prepare_cached(
        "SELECT at_ms, author, note, undoes, redoes, (SELECT count(*) FROM tool_version WHERE revision = number)
         FROM revision WHERE number = ?",
    )?
    .query_row([number], |row| {
        Ok(RevisionInfo {
            revision: number,
            at_ms: row.get::<_, i64>(0)? as u64,
            author: row.get(1)?,
            note: row.get(2)?,
            undoes: row.get(3)?,
            redoes: row.get(4)?,
            tools: row.get(5)?,
            examples,
        })
    })
}

/// Revision 0 is the empty catalog before the first.
fn known(db: &Connection, number: Revision) -> Result<(), Failure> {
    let newest = newest(db)?;
    match number <= newest {
        true => Ok(()),
        false => Err(unknown_revision(format!("the catalog has no revision {number}"), newest).into()),
    }
}

/// The tools that the revisions from `first` to `last` changed, by name.
fn touched(db: &Connection, first: Revision, last: Revision) -> rusqlite::Result<Vec<String>> {
    db.prepare_cached("SELECT DISTINCT name FROM tool_version WHERE revision BETWEEN ? AND ? ORDER BY name")?
        .query_map([first, last], |row| row.get(0))?
        .collect()
}

/// Makes the tools what they were at `revision`. What was stored then must be readable.
fn restore(
    db: &Connection,
    names: &[String],
    revision: Revision,
    author: &str,
    note: &str,
) -> Result<Revision, Failure> {
    let mut changes = Vec::with_capacity(names.len());
    for name in names {
        let then = latest(db, name, revision)?;
        if let Some(json) = then.as_ref().and_then(|then| then.spec_json.as_ref()) {
            serde_json::from_str::<ToolSpec>(json).map_err(|error| damaged(name, revision, &error))?;
        }
        // Each tool returns to the place that it had.
        let place = match (&then, latest(db, name, newest(db)?)?) {
            (Some(then), _) => Place::At(then.position),
            (None, Some(now)) => Place::At(now.position),
            (None, None) => Place::Usual,
        };
        changes.push(Change { name, spec_json: then.and_then(|then| then.spec_json), place });
    }
    apply(db, changes, author, note)
}

/// Makes the tools of `edit` what they were at `then` and writes down what that was for. A step that changes nothing is
/// a revision all the same, or the next one would try it again.
fn step(db: &Connection, edit: Revision, then: Revision, what: &str, author: &str) -> Result<Revision, Failure> {
    let before = newest(db)?;
    let note = format!("{what} of revision {edit}");
    let mut revision = restore(db, &touched(db, edit, edit)?, then, author, &note)?;
    if revision == before {
        revision += 1;
        db.execute(
            "INSERT INTO revision(number, at_ms, author, note) VALUES (?, ?, ?, ?)",
            params![revision, now_ms() as i64, author, note],
        )?;
    }
    db.execute(&format!("UPDATE revision SET {what}es = ? WHERE number = ?"), params![edit, revision])?;
    Ok(revision)
}

fn stacks(db: &Connection, author: &str) -> rusqlite::Result<Stacks> {
    let mut query = db.prepare_cached("SELECT number, author = ?, undoes, redoes FROM revision ORDER BY number")?;
    let mut rows = query.query([author])?;
    let mut stacks = Stacks::default();
    while let Some(row) = rows.next()? {
        let (number, own): (Revision, bool) = (row.get(0)?, row.get(1)?);
        let (undoes, redoes): (Option<Revision>, Option<Revision>) = (row.get(2)?, row.get(3)?);
        match (undoes, redoes) {
            _ if !own => stacks = Stacks::default(),
            (Some(edit), _) => {
                stacks.undo.pop();
                stacks.redo.push(edit);
            }
            (_, Some(edit)) => {
                stacks.redo.pop();
                stacks.undo.push(edit);
            }
            _ => {
                stacks.undo.push(number);
                stacks.redo.clear();
            }
        }
    }
    Ok(stacks)
}

fn nothing(what: &str) -> Problem {
    Problem::new(
        "registry.nothing_to_undo",
        format!("there is nothing to {what} in the catalog"),
        "every edit of the catalog can be undone, back to the first start; each undo can be redone until the next edit",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    fn tool(name: &str, description: &str) -> ToolSpec {
        ToolSpec { name: name.into(), description: description.into(), ..ToolSpec::default() }
    }

    fn listed(store: &Store) -> String {
        let specs = store.registry().load().unwrap().specs;
        specs.iter().map(|t| format!("{}={}", t.name, t.description)).collect::<Vec<_>>().join(" ")
    }

    /// W-07: undo and redo of whole revisions, across a restart, cut off by a new edit and floored by the first start.
    #[test]
    fn edits_are_taken_back_and_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.db");
        let store = Store::open(&path).unwrap();
        let registry = store.registry();
        registry.register(&[tool("a", "1"), tool("b", "1")], "toolplan", "first start").unwrap();
        assert_eq!(registry.undo("you").unwrap_err().code, "registry.nothing_to_undo");
        registry.register(&[tool("a", "2"), tool("b", "2"), tool("c", "2")], "you", "bulk").unwrap();
        registry.save(&tool("b", "3"), "you").unwrap();
        assert_eq!(listed(&store), "a=2 b=3 c=2");
        assert_eq!(registry.undo("you").unwrap(), (3, 4));
        assert_eq!(listed(&store), "a=2 b=2 c=2");
        assert_eq!(registry.undo("you").unwrap(), (2, 5));
        assert_eq!(listed(&store), "a=1 b=1", "one step, three tools; the new one is gone");
        assert_eq!(registry.undo("you").unwrap_err().code, "registry.nothing_to_undo");
        drop(store);

        let store = Store::open(&path).unwrap();
        let registry = store.registry();
        assert_eq!(registry.stacks("you").unwrap(), Stacks { undo: vec![], redo: vec![3, 2] });
        assert_eq!(registry.redo("you").unwrap(), (2, 6));
        assert_eq!(listed(&store), "a=2 b=2 c=2");
        assert_eq!(registry.redo("you").unwrap(), (3, 7));
        assert_eq!(listed(&store), "a=2 b=3 c=2");
        assert_eq!(registry.redo("you").unwrap_err().code, "registry.nothing_to_undo");
        registry.undo("you").unwrap();
        registry.save(&tool("a", "4"), "you").unwrap();
        assert_eq!(registry.redo("you").unwrap_err().code, "registry.nothing_to_undo", "a new edit cuts off the redo");
        registry.undo("you").unwrap();
        assert_eq!(registry.undo("you").unwrap().0, 2, "under it lies the bulk edit");
        assert_eq!(listed(&store), "a=1 b=1");

        let (rows, total) = registry.revisions(0, 2).unwrap();
        assert_eq!((rows[0].undoes, rows[0].tools, total), (Some(2), 3, rows[0].revision));
        assert_eq!(registry.revision(2).unwrap().examples, ["a", "b", "c"]);
    }

    /// K-04: any two revisions can be compared, and any can be gone back to.
    #[test]
    fn revisions_are_compared_and_gone_back_to() {
        let store = Store::temporary().unwrap();
        let registry = store.registry();
        registry.register(&[tool("a", "1"), tool("b", "1")], "you", "").unwrap();
        registry.save(&tool("a", "2"), "you").unwrap();
        registry.save(&tool("c", "1"), "you").unwrap();
        registry.remove("b", "you").unwrap();
        let found = registry.differences(1, 4, 0, 10).unwrap();
        assert_eq!((found.added, found.removed, found.changed), (1, 1, 1));
        let names: Vec<_> = found.page.iter().map(|(n, b, a)| (n.as_str(), b.is_some(), a.is_some())).collect();
        assert_eq!(names, [("a", true, true), ("b", true, false), ("c", false, true)]);
        assert_eq!(registry.differences(4, 1, 1, 1).unwrap().page[0].0, "b", "backwards, one page");
        assert_eq!(registry.differences(2, 9, 0, 1).unwrap_err().code, "registry.unknown_revision");
        assert_eq!(registry.last_changes().unwrap()["a"].0, 2);

        assert_eq!(registry.revert_all(1, "you").unwrap(), 5);
        assert_eq!(listed(&store), "a=1 b=1");
        assert_eq!(registry.differences(1, 5, 0, 9).unwrap(), Differences::default());
        assert_eq!(registry.revert_all(9, "you").unwrap_err().code, "registry.unknown_revision");
        registry.undo("you").unwrap();
        assert_eq!(listed(&store), "a=2 c=1");
    }
}

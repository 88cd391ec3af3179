//! The settings of a workspace and other small things, each a JSON text under a key.
//!
//! Knows nothing of what a setting means.

use crate::{Store, failure::json_column, now_ms};
use rusqlite::{OptionalExtension, params};
use serde_json::Value;
use toolplan_engine::{Problem, settings::Settings};

pub(crate) const TABLES: &str = "
CREATE TABLE setting(
    key TEXT PRIMARY KEY,
    value_json TEXT NOT NULL
) STRICT;
";

/// Where the [`Settings`] stand.
const SETTINGS: &str = "settings";

/// Reads and writes the settings of a workspace.
pub struct SettingTable<'a>(pub(crate) &'a Store);

impl SettingTable<'_> {
    /// The settings; the defaults in a new workspace.
    ///
    /// Settings that cannot be read give the defaults and a `settings.damaged`, and their text is copied to a key of
    /// its own (`settings.damaged.…`), so that the next [`SettingTable::save`] does not destroy it.
    pub fn load(&self) -> Result<(Settings, Vec<Problem>), Problem> {
        let stored = self.read(SETTINGS)?;
        let error = match stored {
            None => return Ok((Settings::default(), vec![])),
            Some(Ok(settings)) => return Ok((settings, vec![])),
            Some(Err(error)) => error,
        };
        let copy = format!("settings.damaged.{}", now_ms());
        self.0.edit(|db| {
            Ok(db.execute(
                "INSERT OR IGNORE INTO setting(key, value_json)
                 SELECT ?1, value_json FROM setting AS damaged WHERE key = ?2 AND NOT EXISTS (
                     SELECT * FROM setting WHERE key GLOB 'settings.damaged.*' AND value_json = damaged.value_json)",
                params![copy, SETTINGS],
            )?)
        })?;
        let problem = Problem::new(
            "settings.damaged",
            format!("the settings of {} cannot be read: {error}", self.0.path.display()),
            "the defaults hold until you change a setting; the damaged text is kept in the file, in the table \
             `setting` under a key that begins with `settings.damaged.`",
        );
        Ok((Settings::default(), vec![problem]))
    }

    /// Stores the settings.
    pub fn save(&self, settings: &Settings) -> Result<(), Problem> {
        let value = serde_json::to_value(settings).map_err(|error| {
            Problem::new(
                "settings.unwritable",
                format!("the settings cannot be written as JSON: {error}"),
                "correct the setting that was changed last and try again",
            )
        })?;
        self.set(SETTINGS, &value)
    }

    /// The value under `key`. Error: `settings.damaged` when it is not JSON.
    pub fn get(&self, key: &str) -> Result<Option<Value>, Problem> {
        self.read(key)?.transpose().map_err(|error| {
            Problem::new(
                "settings.damaged",
                format!("the value {key:?} in {} cannot be read: {error}", self.0.path.display()),
                "set it again",
            )
        })
    }

    /// Stores a value under `key`, in place of any earlier one.
    pub fn set(&self, key: &str, value: &Value) -> Result<(), Problem> {
        self.0.edit(|db| {
            db.prepare_cached("INSERT OR REPLACE INTO setting(key, value_json) VALUES (?, ?)")?
                .execute(params![key, value.to_string()])?;
            Ok(())
        })
    }

    fn read<T: serde::de::DeserializeOwned>(&self, key: &str) -> Result<Option<serde_json::Result<T>>, Problem> {
        self.0.read(|db| {
            let mut query = db.prepare_cached("SELECT value_json FROM setting WHERE key = ?")?;
            Ok(query.query_row([key], |row| json_column(row, 0)).optional()?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_and_values_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("workspace.toolplan");
        let store = Store::open(&path).unwrap();
        assert_eq!(store.settings().load().unwrap(), (Settings::default(), vec![]));

        let settings = Settings { default_mode: "read".into(), kill_switch: vec!["rm".into()], ..Settings::default() };
        store.settings().save(&settings).unwrap();
        store.settings().set("workspace name", &json!("Zürich")).unwrap();
        store.settings().set("samples", &json!(["first", "second"])).unwrap();
        store.settings().set("samples", &json!(["third"])).unwrap();
        drop(store);

        let store = Store::open(&path).unwrap();
        assert_eq!(store.settings().load().unwrap(), (settings, vec![]));
        assert_eq!(store.settings().get("workspace name").unwrap(), Some(json!("Zürich")));
        assert_eq!(store.settings().get("samples").unwrap(), Some(json!(["third"])));
        assert_eq!(store.settings().get("missing").unwrap(), None);
    }

    #[test]
    fn damaged_settings_give_the_defaults_and_are_kept() {
        let store = Store::temporary().unwrap();
        let damage = r#"{"run": {"parallel_limit": "five"}}"#;
        store.settings().save(&Settings::default()).unwrap();
        store.edit(|db| Ok(db.execute("UPDATE setting SET value_json = ?", [damage])?)).unwrap();

        for _ in 0..2 {
            let (settings, problems) = store.settings().load().unwrap();
            assert_eq!(settings, Settings::default());
            assert_eq!(problems.len(), 1);
            assert_eq!(problems[0].code, "settings.damaged");
        }
        store.settings().save(&Settings::default()).unwrap();
        assert_eq!(store.settings().load().unwrap().1, []);
        let kept: Vec<String> = store
            .read(|db| {
                let mut query = db.prepare("SELECT value_json FROM setting WHERE key GLOB 'settings.damaged.*'")?;
                Ok(query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
            })
            .unwrap();
        assert_eq!(kept, [damage], "once, however often it was read");
    }
}

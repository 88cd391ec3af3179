//! Policy files: who sees what, as a JSON file that is taken into the settings whole or not at all (V-01 to V-03).

use crate::{Workbench, views::FieldChange};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashSet;
use toolplan_engine::{
    Problem,
    settings::{Intent, Mode, SessionSettings, Settings, ToolPolicy, VisibilityRule},
};

/// The parts of the settings that a policy file may hold; what it leaves out stays as it is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
struct PolicyFile {
    policy: Option<ToolPolicy>,
    visibility: Option<Vec<VisibilityRule>>,
    kill_switch: Option<Vec<String>>,
    modes: Option<Vec<Mode>>,
    default_mode: Option<String>,
    handshake_tools: Option<Vec<String>>,
    intents: Option<Vec<Intent>>,
    tenants: Option<Vec<String>>,
    session: Option<SessionSettings>,
}

/// What a policy file changed, or would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PolicyImport {
    /// False: it was only tried.
    pub stored: bool,
    /// The parts of the settings that differ, as JSON before and after.
    pub changed: Vec<FieldChange>,
    /// Names in the file that no tool of the catalog has.
    pub notices: Vec<Problem>,
}

impl Workbench {
    /// Takes a policy file's text into the settings. Anything wrong with it is an error, and nothing is changed then.
    /// `try_only` says what would change.
    pub fn import_policy(&self, text: &str, try_only: bool) -> Result<PolicyImport, Problem> {
        let before = self.settings();
        let after = with_policy(&before, text)?;
        let catalog = self.tools().catalog;
        let mut notices = vec![];
        let lists = [
            ("policy.allowed", after.policy.allowed.as_deref().unwrap_or_default()),
            ("policy.denied", &after.policy.denied),
            ("kill_switch", &after.kill_switch),
        ];
        for (list, names) in lists {
            for name in names.iter().filter(|n| !n.ends_with('*')) {
                let known = catalog.spec(name).is_some() || catalog.specs().any(|t| t.aliases.contains(name));
                if !known {
                    notices.push(Problem::new(
                        "policy.no_such_tool",
                        format!("{list} names {name}, which is no tool of the catalog"),
                        "correct the name, or leave it for a tool to come",
                    ));
                }
            }
        }
        let changed = changes(&before, &after);
        if !try_only {
            self.save_settings(after)?;
        }
        Ok(PolicyImport { stored: !try_only, changed, notices })
    }
}

/// The settings with the file's parts in place of their own.
fn with_policy(settings: &Settings, text: &str) -> Result<Settings, Problem> {
    let malformed = |message: String, hint: &str| Problem::new("policy.malformed", message, hint);
    let value: Value = serde_json::from_str(text).map_err(|e| {
        malformed(format!("the policy file is not JSON: {e}"), "correct it at that line; nothing was changed")
    })?;
    if !value.is_object() {
        return Err(malformed("the policy file is no JSON object".into(), "docs/cli.md shows the form"));
    }
    let file = PolicyFile::deserialize(&value).map_err(|e| {
        malformed(format!("the policy file is not understood: {e}"), "docs/cli.md shows the form; nothing was changed")
    })?;
    let understood = serde_json::to_value(&file).unwrap_or_default();
    if let Some(key) = unknown_key(&value, &understood, "") {
        return Err(malformed(
            format!("the policy file has {key}, which nobody reads"),
            "correct the name or remove it; nothing was changed",
        ));
    }
    let mut next = settings.clone();
    fn put<T>(part: Option<T>, to: &mut T) {
        if let Some(part) = part {
            *to = part;
        }
    }
    put(file.policy, &mut next.policy);
    put(file.visibility, &mut next.visibility);
    put(file.kill_switch, &mut next.kill_switch);
    put(file.modes, &mut next.modes);
    put(file.default_mode, &mut next.default_mode);
    put(file.handshake_tools, &mut next.handshake_tools);
    put(file.intents, &mut next.intents);
    put(file.tenants, &mut next.tenants);
    put(file.session, &mut next.session);
    next.check()?;
    Ok(next)
}

/// The path of a key that is in the file and in nothing that was read from it.
fn unknown_key(given: &Value, understood: &Value, path: &str) -> Option<String> {
    match (given, understood) {
        (Value::Object(given), Value::Object(understood)) => given.iter().find_map(|(key, value)| {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            match understood.get(key) {
                None => Some(path),
                Some(known) => unknown_key(value, known, &path),
            }
        }),
        (Value::Array(given), Value::Array(understood)) => {
            let mut pairs = given.iter().zip(understood).enumerate();
            pairs.find_map(|(at, (a, b))| unknown_key(a, b, &format!("{path}[{at}]")))
        }
        // Lists stand for objects in no place of the form.
        (Value::Array(_), Value::Object(_)) => Some(format!("a list at {path}")),
        _ => None,
    }
}

fn changes(before: &Settings, after: &Settings) -> Vec<FieldChange> {
    let parts = |settings: &Settings| match serde_json::to_value(settings) {
        Ok(Value::Object(parts)) => parts,
        _ => Default::default(),
    };
    let (before, after) = (parts(before), parts(after));
    let keys: HashSet<&String> = before.keys().chain(after.keys()).collect();
    let mut keys: Vec<&String> = keys.into_iter().filter(|key| before.get(*key) != after.get(*key)).collect();
    keys.sort();
    let text = |value: Option<&Value>| value.map(Value::to_string).unwrap_or_default();
    keys.into_iter()
        .map(|key| FieldChange { field: key.clone(), before: text(before.get(key)), after: text(after.get(key)) })
        .collect()
}

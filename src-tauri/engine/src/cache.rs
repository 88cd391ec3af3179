//! Which results may be kept, and under which key (O-08). Keeping them is an adapter's work.

use crate::{
    ports::CacheKey,
    tool::{Binding, Category, Entry, SideEffects},
};
use serde_json::{Map, Value};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The key of a call whose result may be kept: SAFE, changes nothing, and depends on nothing but its arguments. Tools
/// that work on the results of other steps depend on those.
pub fn key(entry: &Entry, arguments: &Map<String, Value>) -> Option<CacheKey> {
    let spec = &entry.spec;
    let keeps = spec.classification.is_safe()
        && matches!(spec.side_effects, SideEffects::Pure | SideEffects::Read)
        && !matches!(spec.category, Category::Synthesis | Category::Validation)
        && spec.binding != Binding::None;
    keeps.then(|| format!("{} {:016x} {}", spec.name, revision(entry), normalised(entry, arguments)))
}

/// Changes with every edit of the tool.
fn revision(entry: &Entry) -> u64 {
    *entry.fingerprint.get_or_init(|| {
        let mut hasher = DefaultHasher::new();
        serde_json::to_string(&entry.spec).unwrap_or_default().hash(&mut hasher);
        hasher.finish()
    })
}

/// The arguments in one form: names sorted, defaults of the schema filled in, nulls left out, whole numbers without a
/// decimal point, no space around texts.
fn normalised(entry: &Entry, arguments: &Map<String, Value>) -> String {
    let mut all: Vec<(&String, Value)> = arguments.iter().map(|(name, value)| (name, plain(value))).collect();
    for (name, schema) in entry.spec.properties().into_iter().flatten() {
        if let Some(default) = schema.get("default")
            && arguments.get(name).is_none_or(Value::is_null)
        {
            all.retain(|(known, _)| *known != name);
            all.push((name, plain(default)));
        }
    }
    all.retain(|(_, value)| !value.is_null());
    all.sort_by_key(|(name, _)| *name);
    let fields: Vec<String> = all.iter().map(|(name, value)| format!("{name:?}:{value}")).collect();
    fields.join(",")
}

fn plain(value: &Value) -> Value {
    match value {
        Value::String(text) => text.trim().into(),
        Value::Number(number) => match number.as_f64() {
            Some(n) if n.fract() == 0.0 && n.abs() < 9e15 => (n as i64).into(),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(map) => {
            let mut fields: Vec<_> = map.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            fields.into_iter().map(|(name, value)| (name.clone(), plain(value))).collect()
        }
        plain => plain.clone(),
    }
}

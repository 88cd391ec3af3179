//! JSON merge patches on tools and settings (RFC 7396).

use crate::Problem;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// `value` with the patch applied. Error: `lint.patch` when what comes out is no longer of its type.
pub fn patched<T: Serialize + DeserializeOwned>(value: &T, patch: &Value) -> Result<T, Problem> {
    let wrong = |error: serde_json::Error| {
        Problem::new(
            "lint.patch",
            format!("the fix does not fit: {error}"),
            "look at the tool or the settings again: they may have changed since the lint was found",
        )
    };
    let mut json = serde_json::to_value(value).map_err(wrong)?;
    merge(&mut json, patch);
    serde_json::from_value(json).map_err(wrong)
}

/// Objects merge, null removes, everything else replaces.
pub fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Default::default());
    }
    let Value::Object(fields) = target else { return };
    for (key, change) in changes {
        match change {
            Value::Null => drop(fields.shift_remove(key)),
            _ => merge(fields.entry(key).or_insert(Value::Null), change),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn patches_merge_remove_and_replace() {
        let mut target = json!({"a": {"b": 1, "c": 2}, "list": [1, 2], "x": "y"});
        merge(&mut target, &json!({"a": {"b": null, "d": {"e": 3}}, "list": [], "x": null}));
        assert_eq!(target, json!({"a": {"c": 2, "d": {"e": 3}}, "list": []}));
    }
}

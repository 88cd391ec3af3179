//! Where two JSON values differ.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One difference; null where a side has nothing there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ValueDiff {
    /// JSON Pointer; empty for the whole.
    pub path: String,
    pub a: Option<Value>,
    pub b: Option<Value>,
}

/// How many differences are told; a table that changed in every cell needs no more.
const MOST: usize = 100;

/// The smallest parts in which the two differ, in the order of `a` and then of what only `b` has; at most 100.
pub fn value_diffs(a: &Value, b: &Value) -> Vec<ValueDiff> {
    let mut found = vec![];
    walk(&mut String::new(), Some(a), Some(b), &mut found);
    found
}

fn walk(path: &mut String, a: Option<&Value>, b: Option<&Value>, found: &mut Vec<ValueDiff>) {
    if a == b || found.len() >= MOST {
        return;
    }
    let mut at = |key: &str, a: Option<&Value>, b: Option<&Value>, found: &mut Vec<ValueDiff>| {
        let length = path.len();
        path.push('/');
        path.push_str(&key.replace('~', "~0").replace('/', "~1"));
        walk(path, a, b, found);
        path.truncate(length);
    };
    match (a, b) {
        (Some(Value::Object(ma)), Some(Value::Object(mb))) => {
            for (key, value) in ma {
                at(key, Some(value), mb.get(key), found);
            }
            for (key, value) in mb.iter().filter(|(key, _)| !ma.contains_key(*key)) {
                at(key, None, Some(value), found);
            }
        }
        (Some(Value::Array(la)), Some(Value::Array(lb))) => {
            for i in 0..la.len().max(lb.len()) {
                at(&i.to_string(), la.get(i), lb.get(i), found);
            }
        }
        _ => found.push(ValueDiff { path: path.clone(), a: a.cloned(), b: b.cloned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// R-06: differences are named by JSON path, at any depth, on either side.
    #[test]
    fn paths_name_the_smallest_parts() {
        let show = |a: Value, b: Value| {
            let told: Vec<String> = value_diffs(&a, &b)
                .iter()
                .map(|d| {
                    let side = |v: &Option<Value>| v.as_ref().map_or("–".to_string(), Value::to_string);
                    format!("{} {}→{}", d.path, side(&d.a), side(&d.b))
                })
                .collect();
            told.join(", ")
        };
        assert_eq!(show(json!({"a": 1}), json!({"a": 1})), "");
        assert_eq!(show(json!({"a": {"b": [1, 2]}}), json!({"a": {"b": [1, 3, 4]}})), "/a/b/1 2→3, /a/b/2 –→4");
        assert_eq!(show(json!({"x/y": 1, "k": 2}), json!({"k": 2, "n~": 3})), "/x~1y 1→–, /n~0 –→3");
        assert_eq!(show(json!([1]), json!({"0": 1})), r#" [1]→{"0":1}"#);
        let long = |n: i32| json!((0..n).collect::<Vec<_>>());
        assert_eq!(value_diffs(&long(0), &long(5000)).len(), MOST);
    }
}

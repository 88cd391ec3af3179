//! Which step of one plan is which step of another.

use crate::plan::StepSpec;
use serde_json::Value;
use std::{
    collections::{HashMap, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
};

/// Tables larger than this are not filled: steps are then matched by id alone.
const MOST_CELLS: usize = 16_000_000;

/// Pairs of indexes into `a` and `b`: the alignment of the greatest weight that keeps the order of both. A step of
/// the same tool may stand for another, the more so with the same arguments or id; a step of another tool only under
/// the same id. Steps without a partner stand at their place with `None` on the other side.
pub fn align(a: &[StepSpec], b: &[StepSpec]) -> Vec<(Option<usize>, Option<usize>)> {
    let (ka, kb): (Vec<Key>, Vec<Key>) = (a.iter().map(Key::of).collect(), b.iter().map(Key::of).collect());
    // Steps that are the same at both ends need no table.
    let start = ka.iter().zip(&kb).take_while(|(x, y)| x == y).count();
    let (ra, rb) = (&ka[start..], &kb[start..]);
    let end = ra.iter().rev().zip(rb.iter().rev()).take_while(|(x, y)| x == y).count();
    let (ra, rb) = (&ra[..ra.len() - end], &rb[..rb.len() - end]);
    let middle = if ra.len().saturating_mul(rb.len()) > MOST_CELLS { by_id(ra, rb) } else { by_weight(ra, rb) };

    let mut pairs: Vec<(Option<usize>, Option<usize>)> = (0..start).map(|i| (Some(i), Some(i))).collect();
    pairs.extend(middle.into_iter().map(|(x, y)| (x.map(|i| i + start), y.map(|j| j + start))));
    let (ta, tb) = (a.len() - end, b.len() - end);
    pairs.extend((0..end).map(|i| (Some(ta + i), Some(tb + i))));
    pairs
}

/// What the alignment looks at, cheap to compare.
#[derive(PartialEq)]
struct Key<'a> {
    id: &'a str,
    tool: &'a str,
    arguments: u64,
    /// Of each argument: its name with its value.
    parts: Vec<u64>,
}

impl<'a> Key<'a> {
    fn of(step: &'a StepSpec) -> Self {
        let mut parts: Vec<u64> = step.arguments.iter().map(|(k, v)| hash(&(k, v.to_string()))).collect();
        parts.sort_unstable();
        Self { id: &step.id, tool: &step.tool, arguments: hash(&normalised(&step.arguments)), parts }
    }

    fn weight(&self, other: &Self) -> u32 {
        let same_id = u32::from(self.id == other.id);
        if self.tool != other.tool {
            return same_id;
        }
        if self.arguments == other.arguments {
            return 9 + same_id;
        }
        let shared = self.parts.iter().filter(|p| other.parts.binary_search(p).is_ok()).count();
        let all = self.parts.len().max(other.parts.len()).max(1);
        4 + (4 * shared / all) as u32 + same_id
    }
}

/// Arguments with their names in order, as text: what two calls must share to be the same call.
pub(crate) fn normalised(arguments: &serde_json::Map<String, Value>) -> String {
    fn write(value: &Value, out: &mut String) {
        match value {
            Value::Object(map) => write_map(map, out),
            Value::Array(items) => {
                out.push('[');
                for item in items {
                    write(item, out);
                    out.push(',');
                }
                out.push(']');
            }
            plain => out.push_str(&plain.to_string()),
        }
    }
    fn write_map(map: &serde_json::Map<String, Value>, out: &mut String) {
        let mut keys: Vec<&String> = map.keys().collect();
        keys.sort_unstable();
        out.push('{');
        for key in keys {
            out.push_str(&Value::from(key.as_str()).to_string());
            out.push(':');
            write(&map[key], out);
            out.push(',');
        }
        out.push('}');
    }
    let mut out = String::new();
    write_map(arguments, &mut out);
    out
}

fn hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

fn by_weight(a: &[Key], b: &[Key]) -> Vec<(Option<usize>, Option<usize>)> {
    let width = b.len() + 1;
    // best[i][j]: the weight of the best alignment of the rests from i and j.
    let mut best = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            let weight = a[i].weight(&b[j]);
            let skip = best[(i + 1) * width + j].max(best[i * width + j + 1]);
            let paired = if weight > 0 { weight + best[(i + 1) * width + j + 1] } else { 0 };
            best[i * width + j] = skip.max(paired);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = vec![];
    while i < a.len() && j < b.len() {
        let here = best[i * width + j];
        let weight = a[i].weight(&b[j]);
        let (skip_a, skip_b) = (best[(i + 1) * width + j], best[i * width + j + 1]);
        if weight > 0 && weight + best[(i + 1) * width + j + 1] == here {
            pairs.push((Some(i), Some(j)));
            (i, j) = (i + 1, j + 1);
        } else if skip_a == here && (skip_b != here || name(&a[i]) <= name(&b[j])) {
            // Either way is as good: what the steps are called decides, not which side they are on.
            pairs.push((Some(i), None));
            i += 1;
        } else {
            pairs.push((None, Some(j)));
            j += 1;
        }
    }
    pairs.extend((i..a.len()).map(|i| (Some(i), None)));
    pairs.extend((j..b.len()).map(|j| (None, Some(j))));
    pairs
}

fn name<'k>(key: &'k Key) -> (&'k str, &'k str, u64) {
    (key.tool, key.id, key.arguments)
}

/// Steps with the same id, as far as both sides have them in the same order.
fn by_id(a: &[Key], b: &[Key]) -> Vec<(Option<usize>, Option<usize>)> {
    let place: HashMap<&str, usize> = b.iter().enumerate().map(|(j, key)| (key.id, j)).collect();
    let mut pairs = vec![];
    let mut next = 0;
    for (i, key) in a.iter().enumerate() {
        match place.get(key.id) {
            Some(&j) if j >= next => {
                pairs.extend((next..j).map(|j| (None, Some(j))));
                pairs.push((Some(i), Some(j)));
                next = j + 1;
            }
            _ => pairs.push((Some(i), None)),
        }
    }
    pairs.extend((next..b.len()).map(|j| (None, Some(j))));
    pairs
}

//! What the results of the search tools have in common.

use super::index::Snapshot;

/// Characters of a passage that a hit shows.
const SNIPPET: usize = 400;

/// The distinct files of the passages, in their order.
pub(super) fn sources(snapshot: &Snapshot, ids: impl Iterator<Item = usize>) -> Vec<String> {
    let mut sources: Vec<String> = vec![];
    for id in ids {
        let path = &snapshot.get(id).0.path;
        if !sources.contains(path) {
            sources.push(path.clone());
        }
    }
    sources
}

/// Three decimals: more would claim a precision that is not there.
pub(super) fn round(score: f32) -> f64 {
    (f64::from(score) * 1000.0).round() / 1000.0
}

/// The start of a passage on one line.
pub(super) fn snippet(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(SNIPPET) {
        Some((end, _)) => format!("{}…", &flat[..end]),
        None => flat,
    }
}

//! Passages ranked by the words that they share with a query: BM25, and how much of the query a passage covers.
//!
//! Knows nothing of files on disk; it reads a snapshot of the index.

use super::{
    arguments::Arguments,
    blocking::Stop,
    index::{Snapshot, hash},
    sandbox::Folder,
    words::{Term, query_terms},
};
use toolplan_engine::ports::ToolError;

const K1: f32 = 1.2;
const B: f32 = 0.75;
/// Words of a query that count; a pasted document is no question.
const MAX_TERMS: usize = 64;

/// Which files of the folder a search is about.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    /// A file, or a folder, by its relative path.
    below: Option<String>,
    prefix: Option<String>,
}

impl Scope {
    /// Reads `path` and `filename_prefix`.
    pub(super) fn of(arguments: &Arguments, folder: &Folder, stop: &Stop) -> Result<Self, ToolError> {
        let below = match arguments.optional("path")?.filter(|p| !p.trim().is_empty()) {
            Some(path) => Some(folder.resolve(path, stop)?.relative).filter(|p| !p.is_empty()),
            None => None,
        };
        let prefix = arguments.optional("filename_prefix")?.filter(|p| !p.is_empty()).map(str::to_lowercase);
        Ok(Self { below, prefix })
    }

    pub(super) fn holds(&self, path: &str) -> bool {
        let is_below = self
            .below
            .as_deref()
            .is_none_or(|below| path.strip_prefix(below).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
        let is_prefixed = self.prefix.as_deref().is_none_or(|prefix| {
            let path = path.to_lowercase();
            path.starts_with(prefix) || path.rsplit('/').next().is_some_and(|name| name.starts_with(prefix))
        });
        is_below && is_prefixed
    }
}

/// The words of a query with their weights in one snapshot.
pub(super) struct WeightedQuery {
    terms: Vec<(Term, u32, f32)>,
}

/// A passage that shares words with the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hit {
    /// In the snapshot.
    pub(super) id: usize,
    pub(super) score: f32,
    /// See [`WeightedQuery::coverage`].
    pub(super) coverage: f32,
}

impl WeightedQuery {
    /// Weighs each word by how few passages hold it.
    pub(super) fn new(query: &str, snapshot: &Snapshot, stop: &Stop) -> Result<Self, ToolError> {
        let mut terms: Vec<(Term, u32, f32)> = query_terms(query)
            .into_iter()
            .take(MAX_TERMS)
            .map(|t| (hash(&t.text), t))
            .map(|(h, t)| (t, h, 0.0))
            .collect();
        let mut holders = vec![0_u32; terms.len()];
        for id in 0..snapshot.len() {
            if id % 4096 == 0 {
                stop.check()?;
            }
            let (_, passage) = snapshot.get(id);
            for (holder, (_, term, _)) in holders.iter_mut().zip(&terms) {
                *holder += u32::from(passage.count(*term) > 0);
            }
        }
        let passages = snapshot.len() as f32;
        for (holders, (_, _, weight)) in holders.into_iter().zip(&mut terms) {
            let holders = holders as f32;
            *weight = (1.0 + (passages - holders + 0.5) / (holders + 0.5)).ln();
        }
        Ok(Self { terms })
    }

    /// The `top` best passages in the scope, best first; the earlier one of equals.
    pub(super) fn rank(
        &self,
        snapshot: &Snapshot,
        scope: &Scope,
        top: usize,
        stop: &Stop,
    ) -> Result<Vec<Hit>, ToolError> {
        let mut hits = vec![];
        for id in 0..snapshot.len() {
            if id % 4096 == 0 {
                stop.check()?;
            }
            let (file, passage) = snapshot.get(id);
            let length = K1 * (1.0 - B + B * passage.length as f32 / snapshot.average_length);
            let score: f32 = self
                .terms
                .iter()
                .map(|(_, term, weight)| (passage.count(*term) as f32, weight))
                .map(|(count, weight)| weight * count * (K1 + 1.0) / (count + length))
                .sum();
            if score > 0.0 && scope.holds(&file.path) {
                hits.push(Hit { id, score, coverage: self.coverage(|_, term| passage.count(term) > 0) });
            }
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        hits.truncate(top);
        Ok(hits)
    }

    /// The share of the query, by weight, that `holds` tells to be there: 0 for nothing, 1 for every word. A word that
    /// stands nowhere in the folder weighs most, so a question about something else stays low.
    ///
    /// Of a run of Chinese, a pair between two pairs that are there is not asked for: it joins the end of one word and
    /// the start of the next.
    pub(super) fn coverage(&self, holds: impl Fn(&str, u32) -> bool) -> f32 {
        let held: Vec<bool> = self.terms.iter().map(|(term, hash, _)| holds(&term.text, *hash)).collect();
        let (mut covered, mut all) = (0.0, 0.0);
        for (at, (term, _, weight)) in self.terms.iter().enumerate() {
            if held[at] {
                covered += weight;
                all += weight;
            } else if !(term.is_cjk && self.is_joint(at, &held)) {
                all += weight;
            }
        }
        if all > 0.0 { covered / all } else { 0.0 }
    }

    fn is_joint(&self, at: usize, held: &[bool]) -> bool {
        let is_held_neighbour = |other: Option<usize>| {
            other.is_some_and(|o| held.get(o).copied().unwrap_or(false) && self.terms[o].0.run == self.terms[at].0.run)
        };
        is_held_neighbour(at.checked_sub(1)) && is_held_neighbour(Some(at + 1))
    }

    /// The summed weight of the words that `text` holds, by their normal form.
    pub(super) fn weight_in(&self, text: &str) -> (f32, f32) {
        let mut found = std::collections::HashSet::new();
        super::words::for_each_term(text, |term| {
            found.insert(hash(term));
        });
        let weight = self.terms.iter().filter(|(_, term, _)| found.contains(term)).map(|(_, _, w)| w).sum();
        (weight, self.coverage(|_, term| found.contains(&term)))
    }
}

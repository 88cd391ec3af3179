//! `hybrid_search`: word ranks and vector ranks joined by reciprocal rank fusion.

use super::{
    arguments::Arguments,
    blocking::Stop,
    bm25::{Scope, WeightedQuery},
    index::FolderIndex,
    results::{snippet, sources},
    sandbox::Workspace,
    vectors,
};
use serde_json::json;
use std::collections::BTreeMap;
use toolplan_engine::ports::{ToolError, ToolResult};

/// The constant of reciprocal rank fusion, as its authors chose it (Cormack, Clarke, Büttcher 2009).
const K: f32 = 60.0;
/// Hits of each list that take part.
const DEPTH: usize = 50;

/// A passage's ranks in the two lists, from 1.
#[derive(Debug, Clone, Copy, Default)]
struct Ranks {
    bm25: Option<usize>,
    vector: Option<usize>,
}

impl Ranks {
    fn fused(self) -> f32 {
        [self.bm25, self.vector].into_iter().flatten().map(|rank| 1.0 / (K + rank as f32)).sum()
    }
}

pub(super) fn call(
    workspace: &Workspace,
    index: &FolderIndex,
    arguments: &Arguments,
    stop: &Stop,
) -> Result<ToolResult, ToolError> {
    let query = arguments.required("query")?;
    let top = arguments.count("top_k", 8, DEPTH)?;
    let folder = workspace.open()?;
    let scope = Scope::of(arguments, &folder, stop)?;
    let snapshot = index.snapshot(&folder, stop)?;
    let weighted = WeightedQuery::new(query, &snapshot, stop)?;
    let by_words = weighted.rank(&snapshot, &scope, DEPTH, stop)?;
    let by_vectors = snapshot.vectors(stop)?.nearest(query, &snapshot, &scope, DEPTH, stop)?;

    let mut ranks: BTreeMap<usize, Ranks> = BTreeMap::new();
    for (at, hit) in by_words.iter().enumerate() {
        ranks.entry(hit.id).or_default().bm25 = Some(at + 1);
    }
    for (at, (id, _)) in by_vectors.iter().enumerate() {
        ranks.entry(*id).or_default().vector = Some(at + 1);
    }
    let mut fused: Vec<(usize, Ranks)> = ranks.into_iter().collect();
    fused.sort_by(|a, b| b.1.fused().total_cmp(&a.1.fused()).then(a.0.cmp(&b.0)));
    fused.truncate(top);

    let hits: Vec<_> = fused
        .iter()
        .map(|&(id, ranks)| {
            let (file, indexed) = snapshot.get(id);
            json!({
                "path": file.path,
                "heading": indexed.passage.heading,
                "start_line": indexed.passage.start_line,
                "end_line": indexed.passage.end_line,
                // Five decimals: neighbours differ by a fraction of 1/60.
                "score": (f64::from(ranks.fused()) * 1e5).round() / 1e5,
                "bm25_rank": ranks.bm25,
                "vector_rank": ranks.vector,
                "snippet": snippet(&indexed.passage.text),
            })
        })
        .collect();
    let mut data = json!({"method": "reciprocal rank fusion, k = 60", "vectors": vectors::DESCRIPTION, "hits": hits});
    snapshot.describe(&mut data);
    // As for local_file_qa: the share of the query that the best of the shown passages covers.
    let covered = |(id, _): &(usize, Ranks)| by_words.iter().find(|hit| hit.id == *id).map_or(0.0, |hit| hit.coverage);
    let confidence = fused.iter().map(covered).fold(0.0, f32::max);
    Ok(ToolResult { data, confidence: Some(confidence), sources: sources(&snapshot, fused.iter().map(|(id, _)| *id)) })
}

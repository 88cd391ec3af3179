//! `local_file_qa`: the passages of the folder that answer a question, and the sentence that answers it best.
//!
//! Nothing is generated: what it gives stands in a file.

use super::{
    arguments::Arguments,
    blocking::Stop,
    bm25::{Hit, Scope, WeightedQuery},
    index::{FolderIndex, Snapshot},
    results::{round, sources},
    sandbox::Workspace,
    words::sentences,
};
use serde_json::json;
use toolplan_engine::{
    ports::{ToolError, ToolResult},
    text::middle_truncate,
};

/// Share of the question, by the weight of its words, below which a passage is no answer.
const FLOOR: f32 = 0.25;
/// The same for the extracted sentence.
const SENTENCE_FLOOR: f32 = 0.35;

pub(super) fn call(
    workspace: &Workspace,
    index: &FolderIndex,
    arguments: &Arguments,
    stop: &Stop,
) -> Result<ToolResult, ToolError> {
    let query = arguments.required("query")?;
    let top = arguments.count("top_k", 5, 50)?;
    let folder = workspace.open()?;
    let scope = Scope::of(arguments, &folder, stop)?;
    let snapshot = index.snapshot(&folder, stop)?;
    let weighted = WeightedQuery::new(query, &snapshot, stop)?;
    let mut hits = weighted.rank(&snapshot, &scope, top, stop)?;
    hits.retain(|hit| hit.coverage >= FLOOR);

    let passages: Vec<_> = hits
        .iter()
        .map(|hit| {
            let (file, indexed) = snapshot.get(hit.id);
            let passage = &indexed.passage;
            json!({
                "path": file.path,
                "start_line": passage.start_line,
                "end_line": passage.end_line,
                "heading": passage.heading,
                "text": passage.text,
                "score": round(hit.score),
            })
        })
        .collect();
    let mut data = json!({
        "answer": answer(&weighted, &snapshot, &hits),
        "passages": passages,
        "method": "bm25 passages, extractive",
    });
    snapshot.describe(&mut data);
    Ok(ToolResult { data, confidence: Some(confidence(&hits)), sources: sources(&snapshot, hits.iter().map(|h| h.id)) })
}

/// How much of the question the best passage covers: the weight of the question's words that it holds by the weight
/// of all of them, so 1 when every word is there and 0 without a passage. Rare words weigh more than common ones, and
/// words that the folder lacks weigh most. It says how likely the passage is about the question, not whether it is
/// right.
fn confidence(hits: &[Hit]) -> f32 {
    hits.first().map_or(0.0, |best| best.coverage)
}

/// The sentence of the best passages that holds most of the question. Of equals the one of the better passage.
fn answer(query: &WeightedQuery, snapshot: &Snapshot, hits: &[Hit]) -> Option<String> {
    let mut best: Option<(f32, &str)> = None;
    for hit in hits.iter().take(3) {
        for sentence in sentences(&snapshot.get(hit.id).1.passage.text) {
            let is_decoration = sentence.starts_with('#') || sentence.starts_with("```");
            let (weight, coverage) = query.weight_in(sentence);
            if !is_decoration && coverage >= SENTENCE_FLOOR && best.is_none_or(|(most, _)| weight > most) {
                best = Some((weight, sentence));
            }
        }
    }
    best.map(|(_, sentence)| middle_truncate(sentence, 600))
}

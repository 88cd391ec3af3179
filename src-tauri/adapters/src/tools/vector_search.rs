//! `vector_search`: the passages of the folder that are written most like the query.

use super::{
    arguments::Arguments,
    blocking::Stop,
    bm25::Scope,
    index::FolderIndex,
    results::{round, snippet, sources},
    sandbox::Workspace,
    vectors,
};
use serde_json::json;
use toolplan_engine::ports::{ToolError, ToolResult};

pub(super) fn call(
    workspace: &Workspace,
    index: &FolderIndex,
    arguments: &Arguments,
    stop: &Stop,
) -> Result<ToolResult, ToolError> {
    let query = arguments.required("query")?;
    let top = arguments.count("top_k", 8, 50)?;
    let folder = workspace.open()?;
    let scope = Scope::of(arguments, &folder, stop)?;
    let snapshot = index.snapshot(&folder, stop)?;
    let nearest = snapshot.vectors(stop)?.nearest(query, &snapshot, &scope, top, stop)?;
    let hits: Vec<_> = nearest
        .iter()
        .map(|&(id, cosine)| {
            let (file, indexed) = snapshot.get(id);
            json!({
                "path": file.path,
                "heading": indexed.passage.heading,
                "start_line": indexed.passage.start_line,
                "score": round(cosine),
                "snippet": snippet(&indexed.passage.text),
            })
        })
        .collect();
    let mut data = json!({"vectors": vectors::DESCRIPTION, "hits": hits});
    snapshot.describe(&mut data);
    // A cosine of hashed n-grams is no probability: only "nothing" is certain.
    let confidence = nearest.is_empty().then_some(0.0);
    Ok(ToolResult { data, confidence, sources: sources(&snapshot, nearest.iter().map(|(id, _)| *id)) })
}

//! Ranking against labelled cases: a query in, the keys of the tools out, over a catalog of any size.

use super::read_cases;
use crate::meaning::{Models, Reader};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    time::Instant,
};
use toolplan_engine::{
    Problem,
    discovery::{Index, semantic},
    tool::{ToolSpec, validate},
};

/// One labelled case.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    pub id: String,
    pub query: String,
    /// Keys of the tools that answer it.
    #[serde(default)]
    pub relevant: Vec<String>,
}

/// A tool as catalogs and cases state it.
#[derive(Debug, Clone, Deserialize)]
pub struct StatedTool {
    /// Namespace and name; the name alone where it is missing.
    #[serde(default)]
    pub key: Option<String>,
    pub name: String,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub parameters: Value,
    #[serde(default)]
    pub namespace: Option<String>,
    #[serde(default)]
    pub tags: Option<Vec<String>>,
}

impl StatedTool {
    /// The tool under the name `name`. A schema that is none counts as no parameters.
    pub fn spec(self, name: String) -> ToolSpec {
        let mut spec = ToolSpec {
            name,
            description: self.description.unwrap_or_default(),
            namespace: self.namespace.unwrap_or_default(),
            tags: self.tags.unwrap_or_default(),
            ..ToolSpec::default()
        };
        if self.parameters.is_object() {
            spec.parameters = self.parameters;
        }
        spec
    }
}

/// What was found for a case.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    pub id: String,
    pub ranked: Vec<String>,
    pub ms: f64,
}

/// Means over the cases that have a relevant tool in the catalog.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Score {
    pub cases: usize,
    /// Cases none of whose relevant tools is in the catalog.
    pub left_out: usize,
    pub recall_1: f64,
    pub recall_5: f64,
    pub recall_10: f64,
    /// Binary relevance; the ideal has every relevant tool in front.
    pub ndcg_10: f64,
    /// Share of cases whose first tool is a relevant one.
    pub top_1: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
}

/// Scores by set, and their unweighted mean.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub tools: usize,
    pub index_ms: f64,
    pub sets: Vec<(String, Score)>,
    #[serde(rename = "macro")]
    pub mean: Score,
}

/// A catalog read for searching.
pub struct Searchable {
    pub index: Index,
    pub keys: HashSet<String>,
    pub index_ms: f64,
    /// Lines that are no tools, and members that no file has.
    pub problems: Vec<Problem>,
}

/// The installed model. Fails where there is none.
pub fn require_model(models: &Models) -> Result<Reader, Problem> {
    let (reader, notice) = models.load()?.ok_or_else(|| {
        Problem::new(
            "semantic.no_model",
            "--semantic on needs an embedding model, and none is installed",
            "`toolplan model add` installs one; --semantic off ranks by words",
        )
    })?;
    if let Some(notice) = notice {
        tracing::warn!(%notice, "vectors are made anew");
    }
    Ok(reader)
}

/// An index of the tools, by meaning too where there is a model. `tell` hears how many tools of how many are read.
pub(super) fn index_of<'a>(
    specs: impl Iterator<Item = &'a ToolSpec> + Clone,
    reader: Option<&Reader>,
    tell: impl FnMut(usize, usize),
) -> Result<Index, Problem> {
    let mut index = Index::default();
    specs.clone().for_each(|spec| index.upsert(spec));
    let Some(reader) = reader else { return Ok(index) };
    let texts: Vec<String> = specs.clone().map(semantic::text).collect();
    let vectors = reader.all(&texts, tell)?;
    let mut index = index.with_model(reader.embedder.clone());
    specs.zip(vectors).for_each(|(spec, vector)| index.learn(&spec.name, &vector));
    Ok(index)
}

/// Reads every `*.jsonl` file of `folder`; with `members`, only the tools whose keys that file lists. With a model, its
/// vectors are made where they are not kept; `tell` hears how far that is.
pub fn read_catalog(
    folder: &Path,
    members: Option<&Path>,
    reader: Option<&Reader>,
    tell: impl FnMut(usize, usize),
) -> Result<Searchable, Problem> {
    let members = members.map(read_members).transpose()?;
    let mut specs: Vec<ToolSpec> = vec![];
    let mut problems = vec![];
    let mut keys = HashSet::new();
    for file in catalog_files(folder)? {
        let read = read_cases::<StatedTool>(&file)?;
        problems.extend(read.problems);
        for tool in read.cases {
            let key = tool.key.clone().unwrap_or_else(|| tool.name.clone());
            if members.as_ref().is_some_and(|m| !m.contains(&key)) {
                continue;
            }
            let spec = tool.spec(key.clone());
            match validate(&spec) {
                Err(problem) => problems.push(problem),
                Ok(()) if !keys.insert(key.clone()) => problems.push(Problem::new(
                    "eval.duplicate",
                    format!("{} holds {key} a second time", file.display()),
                    "the first one is kept",
                )),
                Ok(()) => specs.push(spec),
            }
        }
    }
    let missing = members.iter().flatten().filter(|m| !keys.contains(*m)).count();
    if missing > 0 {
        problems.push(Problem::new(
            "eval.members",
            format!("{missing} members are in no file of {}", folder.display()),
            "check --catalog and --members; the rest is used",
        ));
    }
    let start = Instant::now();
    let index = index_of(specs.iter(), reader, tell)?;
    Ok(Searchable { index, keys, index_ms: start.elapsed().as_secs_f64() * 1e3, problems })
}

fn read_members(path: &Path) -> Result<HashSet<String>, Problem> {
    let text = std::fs::read_to_string(path).map_err(|e| {
        Problem::new(
            "eval.unreadable",
            format!("{} cannot be read: {e}", path.display()),
            "check the path given to --members: a text file with one key a line",
        )
    })?;
    Ok(text.lines().map(str::trim).filter(|l| !l.is_empty()).map(String::from).collect())
}

fn catalog_files(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let problem = |why: String| {
        Problem::new(
            "eval.catalog",
            format!("{}: {why}", folder.display()),
            "give --catalog a folder with *.jsonl files, one tool a line",
        )
    };
    let entries = std::fs::read_dir(folder).map_err(|e| problem(e.to_string()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(problem("there is no *.jsonl file".into()));
    }
    Ok(files)
}

/// Searches for every case.
pub fn run(catalog: &Searchable, cases: &[Case], limit: usize) -> Vec<Row> {
    cases
        .iter()
        .map(|case| {
            let start = Instant::now();
            let hits = catalog.index.search(&case.query, limit, |_| true);
            let ms = start.elapsed().as_secs_f64() * 1e3;
            Row { id: case.id.clone(), ranked: hits.into_iter().map(|h| h.tool).collect(), ms }
        })
        .collect()
}

pub fn score(keys: &HashSet<String>, cases: &[Case], rows: &[Row]) -> Score {
    let mut score = Score::default();
    let mut times = vec![];
    for (case, row) in cases.iter().zip(rows) {
        times.push(row.ms);
        let relevant: HashSet<&str> = case.relevant.iter().map(String::as_str).collect();
        if !relevant.iter().any(|key| keys.contains(*key)) {
            score.left_out += 1;
            continue;
        }
        let hits: Vec<bool> = row.ranked.iter().map(|key| relevant.contains(key.as_str())).collect();
        let found = |k: usize| hits.iter().take(k).filter(|hit| **hit).count() as f64 / relevant.len() as f64;
        score.cases += 1;
        score.recall_1 += found(1);
        score.recall_5 += found(5);
        score.recall_10 += found(10);
        score.ndcg_10 += ndcg(&hits, relevant.len(), 10);
        score.top_1 += f64::from(u8::from(hits.first() == Some(&true)));
    }
    times.sort_by(f64::total_cmp);
    let cases = score.cases.max(1) as f64;
    Score {
        recall_1: score.recall_1 / cases,
        recall_5: score.recall_5 / cases,
        recall_10: score.recall_10 / cases,
        ndcg_10: score.ndcg_10 / cases,
        top_1: score.top_1 / cases,
        p50_ms: percentile(&times, 0.50),
        p99_ms: percentile(&times, 0.99),
        ..score
    }
}

/// Normalised discounted cumulative gain of the first `k` places.
fn ndcg(hits: &[bool], relevant: usize, k: usize) -> f64 {
    let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
    let gained: f64 = hits.iter().take(k).enumerate().filter(|(_, hit)| **hit).map(|(place, _)| gain(place)).sum();
    let ideal: f64 = (0..relevant.min(k)).map(gain).sum();
    if ideal > 0.0 { gained / ideal } else { 0.0 }
}

/// The smallest value that this share of the sorted values does not exceed.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

/// The mean over the sets that have cases, every set counting the same.
pub fn mean(sets: &[(String, Score)]) -> Score {
    let counted: Vec<&Score> = sets.iter().map(|(_, s)| s).filter(|s| s.cases > 0).collect();
    let of = |value: fn(&Score) -> f64| counted.iter().map(|s| value(s)).sum::<f64>() / counted.len().max(1) as f64;
    Score {
        cases: sets.iter().map(|(_, s)| s.cases).sum(),
        left_out: sets.iter().map(|(_, s)| s.left_out).sum(),
        recall_1: of(|s| s.recall_1),
        recall_5: of(|s| s.recall_5),
        recall_10: of(|s| s.recall_10),
        ndcg_10: of(|s| s.ndcg_10),
        top_1: of(|s| s.top_1),
        p50_ms: of(|s| s.p50_ms),
        p99_ms: of(|s| s.p99_ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(relevant: &[&str]) -> Case {
        Case { id: "c".into(), query: String::new(), relevant: relevant.iter().map(|r| r.to_string()).collect() }
    }

    fn row(ranked: &[&str], ms: f64) -> Row {
        Row { id: "c".into(), ranked: ranked.iter().map(|r| r.to_string()).collect(), ms }
    }

    /// By hand: places 1 and 3 of three, with two relevant, gain 1 + 1/2 of 1 + 1/log2(3).
    #[test]
    fn metrics_equal_hand_computed_values() {
        let keys = ["a", "b", "c"].map(String::from).into();
        let cases = [case(&["a", "b"]), case(&["c"]), case(&["not here"])];
        let rows = [row(&["a", "x", "b"], 1.0), row(&[], 3.0), row(&["a"], 2.0)];
        let score = score(&keys, &cases, &rows);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
        assert_eq!((score.cases, score.left_out), (2, 1));
        close(score.recall_1, 0.25);
        close(score.recall_5, 0.5);
        close(score.top_1, 0.5);
        close(score.ndcg_10, 1.5 / (1.0 + 1.0 / 3f64.log2()) / 2.0);
        close(score.p50_ms, 2.0);
        close(score.p99_ms, 3.0);
    }

    #[test]
    fn the_mean_passes_over_empty_sets() {
        let set = |cases, ndcg_10| ("s".to_string(), Score { cases, ndcg_10, ..Score::default() });
        assert!((mean(&[set(10, 0.4), set(1, 0.8), set(0, 0.0)]).ndcg_10 - 0.6).abs() < 1e-9);
    }

    /// D-03: a bad line and an absent member are told, and the rest is found.
    #[test]
    fn a_catalog_is_read_from_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let line = |name: &str| format!(r#"{{"key":"files/{name}","name":"{name}","namespace":"files"}}"#);
        let text = format!("{}\n{}\nno tool\n{}\n", line("read_file"), line("write_file"), line("read_file"));
        std::fs::write(folder.path().join("a.jsonl"), text).unwrap();
        let members = folder.path().join("some.keys");
        std::fs::write(&members, "files/read_file\nfiles/other\n").unwrap();
        let catalog = read_catalog(folder.path(), Some(&members), None, |_, _| {}).unwrap();
        let codes: Vec<&str> = catalog.problems.iter().map(|p| p.code.as_str()).collect();
        assert_eq!(codes, ["eval.line", "eval.duplicate", "eval.members"]);
        let cases = [Case { id: "1".into(), query: "read a file".into(), relevant: vec!["files/read_file".into()] }];
        assert_eq!(run(&catalog, &cases, 10)[0].ranked, ["files/read_file"]);
        assert_eq!(read_catalog(folder.path(), None, None, |_, _| {}).unwrap().keys.len(), 2);
        let none = |name: &str| (name == "TOOLPLAN_HOME").then(|| folder.path().display().to_string());
        assert_eq!(require_model(&Models::of(none).unwrap()).err().unwrap().code, "semantic.no_model");
    }
}

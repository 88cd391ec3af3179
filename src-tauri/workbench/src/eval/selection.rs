//! Choosing among given tools: a query and its candidates in, the candidates in order out, and whether none fits.

use super::{
    read_cases,
    retrieval::{StatedTool, index_of},
    share,
};
use crate::meaning::Reader;
use serde::{Deserialize, Serialize};
use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
};
use toolplan_engine::{
    Problem,
    discovery::{FITS, Index, semantic},
    tool::{ToolSpec, validate},
};

/// One labelled case.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    pub id: String,
    pub query: String,
    #[serde(default)]
    pub candidates: Candidates,
    /// The tools to call, the first one first. None: no candidate fits.
    #[serde(default)]
    pub expected: Vec<Expected>,
    #[serde(default)]
    pub note: String,
}

/// The note of a case that some candidate fits, nobody says which.
const SOME_FITS: &str = "at_least_one_call";

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Candidates {
    Inline(Vec<StatedTool>),
    /// The catalog file that holds them.
    File(PathBuf),
}

impl Default for Candidates {
    fn default() -> Self {
        Self::Inline(vec![])
    }
}

#[derive(Debug, Clone, Deserialize)]
pub struct Expected {
    pub tool: String,
}

/// What was chosen for a case.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    pub id: String,
    /// All candidates, best first; those that share nothing with the query in the order given.
    pub ranked: Vec<String>,
    /// No candidate fits well enough to be called.
    pub none: bool,
    /// What speaks for the candidate that most speaks for.
    #[serde(skip)]
    pub evidence: f32,
}

/// Shares over the cases that have candidates.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Score {
    pub cases: usize,
    /// Cases that name tools, the share of them that an expected tool ranks first in, and the share that the first
    /// expected tool ranks first in.
    pub answerable: usize,
    pub top_1: f64,
    pub first_1: f64,
    /// Share of the n expected tools among the first n, over cases that expect several.
    pub several: usize,
    pub set_recall: f64,
    /// Cases that no candidate fits, and the share of them that were told apart.
    pub unanswerable: usize,
    pub none_found: f64,
    /// Share of the other cases that were wrongly said to have no fitting tool.
    pub none_wrong: f64,
    /// Mean of the shares of answerable and unanswerable cases told right; null without cases of both kinds.
    pub balanced_accuracy: Option<f64>,
    /// Chance that an answerable case scores above an unanswerable one; null without cases of both kinds.
    pub auroc: Option<f64>,
}

/// An index of each case's candidates; files are read once.
pub struct Shelf {
    folder: Option<PathBuf>,
    reader: Option<Reader>,
    files: HashMap<PathBuf, Arc<Stock>>,
    pub problems: Vec<Problem>,
}

struct Stock {
    index: Index,
    names: Vec<String>,
}

impl Shelf {
    /// Case files name catalogs by path; only the last part counts, so that no case can reach outside `folder`.
    pub fn new(folder: Option<&Path>) -> Self {
        Self { folder: folder.map(Path::to_path_buf), reader: None, files: HashMap::new(), problems: vec![] }
    }

    /// Ranks by meaning too.
    pub fn with_model(self, reader: Option<Reader>) -> Self {
        Self { reader, ..self }
    }

    /// With a model: makes the vectors of what the cases give to choose from. `tell` hears how many of how many.
    pub fn read_ahead(&self, cases: &[Case], tell: impl FnMut(usize, usize)) -> Result<(), Problem> {
        let Some(reader) = &self.reader else { return Ok(()) };
        let given = cases.iter().filter_map(|case| match &case.candidates {
            Candidates::Inline(tools) => Some(tools),
            Candidates::File(_) => None,
        });
        let mut texts: Vec<String> =
            given.flatten().map(|tool| semantic::text(&tool.clone().spec(tool.name.clone()))).collect();
        texts.sort_unstable();
        texts.dedup();
        reader.all(&texts, tell).map(|_| ())
    }

    fn stock(&mut self, candidates: &Candidates) -> Result<Arc<Stock>, Problem> {
        let file = match candidates {
            Candidates::Inline(tools) => return Ok(Arc::new(self.build(tools.clone())?)),
            Candidates::File(file) => file,
        };
        let (Some(folder), Some(name)) = (&self.folder, file.file_name()) else {
            return Err(Problem::new(
                "eval.catalog",
                format!("the candidates of a case stand in {}", file.display()),
                "give the folder of that file with --catalog",
            ));
        };
        let path = folder.join(name);
        if let Some(stock) = self.files.get(&path) {
            return Ok(stock.clone());
        }
        let read = read_cases::<StatedTool>(&path)?;
        self.problems.extend(read.problems);
        let stock = Arc::new(self.build(read.cases)?);
        self.files.insert(path, stock.clone());
        Ok(stock)
    }

    fn build(&mut self, tools: Vec<StatedTool>) -> Result<Stock, Problem> {
        let mut specs: Vec<ToolSpec> = vec![];
        let mut names: HashSet<String> = HashSet::new();
        for tool in tools {
            let name = tool.name.clone();
            let spec = tool.spec(name);
            match validate(&spec) {
                Ok(()) if !names.insert(spec.name.clone()) => {}
                Ok(()) => specs.push(spec),
                Err(problem) => self.problems.push(problem),
            }
        }
        let index = index_of(specs.iter(), self.reader.as_ref(), |_, _| {})?;
        Ok(Stock { index, names: specs.into_iter().map(|s| s.name).collect() })
    }
}

/// Ranks the candidates of every case. Fails when a case names a catalog that is not there.
pub fn run(shelf: &mut Shelf, cases: &[Case]) -> Result<Vec<Row>, Problem> {
    cases.iter().map(|case| Ok(choose(&*shelf.stock(&case.candidates)?, case))).collect()
}

fn choose(stock: &Stock, case: &Case) -> Row {
    let hits = stock.index.search(&case.query, stock.names.len(), |_| true);
    let evidence = hits.iter().map(|h| h.evidence).fold(0.0, f32::max);
    let mut ranked: Vec<String> = hits.into_iter().map(|h| h.tool).collect();
    let rest: Vec<String> = stock.names.iter().filter(|n| !ranked.contains(n)).cloned().collect();
    ranked.extend(rest);
    Row { id: case.id.clone(), ranked, none: evidence < FITS, evidence }
}

/// Scores the rows; cases without candidates leave nothing to choose and are left out.
pub fn score(cases: &[Case], rows: &[Row]) -> Score {
    let mut score = Score::default();
    let (mut top, mut first, mut found, mut none_right, mut none_wrong) = (0, 0, 0.0, 0, 0);
    let (mut fitting, mut unfitting) = (vec![], vec![]);
    for (case, row) in cases.iter().zip(rows).filter(|(_, row)| !row.ranked.is_empty()) {
        score.cases += 1;
        let Some(wanted) = case.expected.first() else {
            if case.note == SOME_FITS {
                none_wrong += usize::from(row.none);
                fitting.push(row.evidence);
                continue;
            }
            score.unanswerable += 1;
            none_right += usize::from(row.none);
            unfitting.push(row.evidence);
            continue;
        };
        score.answerable += 1;
        first += usize::from(row.ranked[0] == wanted.tool);
        top += usize::from(case.expected.iter().any(|e| row.ranked[0] == e.tool));
        none_wrong += usize::from(row.none);
        fitting.push(row.evidence);
        let mut expected: Vec<&str> = case.expected.iter().map(|e| e.tool.as_str()).collect();
        expected.sort_unstable();
        expected.dedup();
        if expected.len() > 1 {
            score.several += 1;
            let chosen = row.ranked.iter().take(expected.len()).filter(|t| expected.contains(&t.as_str())).count();
            found += share(chosen, expected.len());
        }
    }
    let both = !fitting.is_empty() && score.unanswerable > 0;
    let of = |part: usize, whole: usize| if whole == 0 { 0.0 } else { share(part, whole) };
    score.top_1 = of(top, score.answerable);
    score.first_1 = of(first, score.answerable);
    score.set_recall = if score.several == 0 { 0.0 } else { found / score.several as f64 };
    score.none_found = of(none_right, score.unanswerable);
    score.none_wrong = of(none_wrong, fitting.len());
    score.balanced_accuracy = both.then(|| (score.none_found + 1.0 - score.none_wrong) / 2.0);
    score.auroc = both.then(|| auroc(&fitting, &mut unfitting));
    score
}

/// Ties count half.
fn auroc(positives: &[f32], negatives: &mut [f32]) -> f64 {
    negatives.sort_by(f32::total_cmp);
    let wins: f64 = positives
        .iter()
        .map(|p| {
            let below = negatives.partition_point(|n| n < p);
            let not_above = negatives.partition_point(|n| n <= p);
            (below + not_above) as f64 / 2.0
        })
        .sum();
    wins / (positives.len() * negatives.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn case(value: Value) -> Case {
        serde_json::from_value(value).unwrap()
    }

    fn tools() -> Value {
        json!([
            {"name": "get_weather", "description": "Current weather of a city"},
            {"name": "send_email", "description": "Send an email to a person"},
        ])
    }

    #[test]
    fn candidates_are_ranked_and_refused() {
        let cases = [
            case(
                json!({"id": "1", "query": "email Ann about the weather in a city", "candidates": tools(), "expected": [{"tool": "send_email"}, {"tool": "get_weather"}]}),
            ),
            case(json!({"id": "2", "query": "integrate the polynomial", "candidates": tools(), "expected": []})),
            case(json!({"id": "3", "query": "nothing to choose from", "candidates": [], "expected": []})),
        ];
        let rows = run(&mut Shelf::new(None), &cases).unwrap();
        assert_eq!((rows[1].none, rows[1].ranked.len()), (true, 2));
        assert!(!rows[0].none);
        let score = score(&cases, &rows);
        assert_eq!((score.cases, score.answerable, score.unanswerable, score.several), (2, 1, 1, 1));
        assert_eq!((score.set_recall, score.none_found, score.balanced_accuracy), (1.0, 1.0, Some(1.0)));
    }

    /// A case cannot name a file outside the given folder.
    #[test]
    fn catalogs_are_looked_up_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("few.jsonl"), r#"{"name": "get_weather"}"#).unwrap();
        let named = |file: &str| [case(json!({"id": "1", "query": "weather", "candidates": file}))];
        let mut shelf = Shelf::new(Some(folder.path()));
        assert_eq!(run(&mut shelf, &named("../../few.jsonl")).unwrap()[0].ranked, ["get_weather"]);
        assert!(run(&mut shelf, &named("/etc/passwd")).is_err());
        assert_eq!(run(&mut Shelf::new(None), &named("few.jsonl")).unwrap_err().code, "eval.catalog");
    }

    /// By hand: of the six pairs, 0.9 wins three; 0.4 wins one, ties one and loses one.
    #[test]
    fn auroc_counts_pairs() {
        assert!((auroc(&[0.9, 0.4], &mut [0.1, 0.4, 0.5]) - 4.5 / 6.0).abs() < 1e-9);
    }
}

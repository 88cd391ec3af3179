//! Catalogs and queries: real ones from a folder of cases, or synthetic ones that need nothing.

use crate::Options;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};
use toolplan_workbench::{
    engine::tool::{Classification, ToolSpec},
    eval::read_cases,
};

/// A query, and the tools that it is about where that is known.
#[derive(Clone, Deserialize)]
pub(crate) struct Query {
    pub(crate) query: String,
    #[serde(default)]
    pub(crate) relevant: Vec<String>,
}

#[derive(Deserialize)]
struct Line {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: Value,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    annotations: Map<String, Value>,
}

/// `count` tools with names of their own, taken evenly from all catalogs.
pub(crate) fn tools(options: &Options, count: usize) -> Vec<ToolSpec> {
    let mut specs: Vec<ToolSpec> = match &options.data {
        Some(folder) => lines::<Line>(&folder.join("catalogs"), "").into_iter().map(spec).collect(),
        None => (0..count).map(synthetic).collect(),
    };
    let mut seen = HashSet::new();
    specs.retain(|spec| seen.insert(spec.name.clone()));
    evenly(specs, count)
}

/// Queries taken evenly from all retrieval cases.
pub(crate) fn queries(options: &Options, count: usize) -> Vec<Query> {
    let queries: Vec<Query> = match &options.data {
        Some(folder) => lines(&folder.join("selection"), "retrieval_"),
        None => (0..count).map(synthetic_query).collect(),
    };
    evenly(queries, count)
}

/// All `.jsonl` files of a folder whose names begin with `prefix`, in the order of their names.
pub(crate) fn files(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let wanted = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(prefix) && name.ends_with(".jsonl")
    };
    let mut files: Vec<PathBuf> = entries.filter(wanted).collect();
    files.sort();
    files
}

fn lines<T: DeserializeOwned>(folder: &Path, prefix: &str) -> Vec<T> {
    let mut all = vec![];
    for path in files(folder, prefix) {
        match read_cases::<T>(&path) {
            Ok(read) => all.extend(read.cases),
            Err(problem) => eprintln!("{}", problem.message),
        }
    }
    all
}

/// `count` items with equal distances between them, or all where there are fewer.
fn evenly<T>(items: Vec<T>, count: usize) -> Vec<T> {
    let total = items.len();
    let chosen = |i: usize| i * count / total != (i + 1) * count / total;
    items.into_iter().enumerate().filter(|(i, _)| count >= total || chosen(*i)).map(|(_, item)| item).collect()
}

fn spec(line: Line) -> ToolSpec {
    let read_only = line.annotations.get("readOnlyHint").and_then(Value::as_bool) == Some(true);
    ToolSpec {
        name: format!("{}/{}", line.namespace, line.name),
        description: line.description,
        parameters: if line.parameters.is_object() { line.parameters } else { json!({"type": "object"}) },
        namespace: line.namespace,
        tags: line.tags,
        classification: if read_only { Classification::Safe } else { Classification::Unclassified },
        ..ToolSpec::default()
    }
}

const VERBS: [&str; 10] = ["list", "get", "create", "delete", "update", "search", "export", "verify", "book", "count"];
#[rustfmt::skip]
const THINGS: [&str; 30] = [
    "invoices", "tickets", "flights", "users", "reports", "pages", "orders", "rooms", "songs", "recipes", "payments",
    "issues", "branches", "alarms", "metrics", "patients", "lectures", "parcels", "contracts", "photos", "meetings",
    "stocks", "vehicles", "sensors", "articles", "customers", "backups", "clusters", "invitations", "surveys",
];
#[rustfmt::skip]
const PLACES: [&str; 20] = [
    "billing", "travel", "library", "clinic", "warehouse", "studio", "kitchen", "harbour", "campus", "archive",
    "market", "garage", "theatre", "museum", "factory", "airport", "bank", "hotel", "court", "farm",
];

/// The `i`-th combination of a verb, a thing and a place.
fn words(i: usize) -> (&'static str, &'static str, &'static str) {
    let (verbs, things) = (VERBS.len(), THINGS.len());
    (VERBS[i % verbs], THINGS[i / verbs % things], PLACES[i / verbs / things % PLACES.len()])
}

fn synthetic(i: usize) -> ToolSpec {
    let (verb, thing, place) = words(i);
    let read_only = matches!(verb, "list" | "get" | "search" | "count");
    ToolSpec {
        name: format!("{place}{}/{verb}_{thing}", i / 6000),
        description: format!(
            "{verb} {thing} of the {place}. Takes a filter and a limit, and answers with the {thing} that match, \
             newest first, together with who changed them last."
        ),
        parameters: json!({
            "type": "object",
            "properties": {
                "filter": {"type": "string", "description": format!("Words that the {thing} must hold")},
                "limit": {"type": "integer", "description": "How many at most", "minimum": 1},
                "since": {"type": "string", "description": "Only changes after this date, as YYYY-MM-DD"},
            },
        }),
        namespace: place.into(),
        tags: vec![thing.into()],
        classification: if read_only { Classification::Safe } else { Classification::Unclassified },
        ..ToolSpec::default()
    }
}

fn synthetic_query(i: usize) -> Query {
    let ((verb, thing, place), (other_verb, other_thing, _)) = (words(i * 37), words(i * 53 + 11));
    let query = format!("Please {verb} the {thing} of the {place} from last week, and then {other_verb} {other_thing}");
    Query { query, relevant: vec![] }
}

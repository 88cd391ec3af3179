//! Searching the tools: by words, with a model, and SQLite's FTS5 on the same tools and queries.

use crate::{
    Options, data,
    table::{Table, percentile, row, timed},
};
use rusqlite::Connection;
use std::{collections::HashMap, hint::black_box};
use toolplan_workbench::{
    engine::{
        discovery::{Index, semantic},
        tool::ToolSpec,
    },
    meaning::{Models, Reader},
};

const SIZES: [usize; 3] = [1_000, 5_000, 20_000];

pub(crate) fn tables(options: &Options) -> Vec<Table> {
    let queries: Vec<String> =
        data::queries(options, if options.quick { 20 } else { 300 }).into_iter().map(|q| q.query).collect();
    let home = tempfile::tempdir().expect("there is a temporary folder");
    let reader = model(home.path());
    let mut searches = Table::new("Searching tools, ms a query", &["tools", "engine", "index ms", "p50", "p99"]);
    let mut reading = Table::new("Reading tools with the model", &["tools", "seconds", "tools a second"]);
    for size in SIZES {
        let specs = data::tools(options, if options.quick { size / 20 } else { size });
        let (index, ms) = timed(|| {
            let mut index = Index::default();
            specs.iter().for_each(|spec| index.upsert(spec));
            index
        });
        let found = times(&queries, |query| index.search(query, 10, |_| true).len());
        searches.add(row![specs.len(), "Toolplan, words", ms, percentile(&found, 0.5), percentile(&found, 0.99)]);
        if let Some(reader) = &reader {
            let texts: Vec<String> = specs.iter().map(semantic::text).collect();
            let (vectors, ms) = timed(|| reader.all(&texts, |_, _| {}).expect("the model reads the tools"));
            reading.add(row![specs.len(), ms / 1e3, specs.len() as f64 / (ms / 1e3)]);
            let mut index = index.with_model(reader.embedder.clone());
            let (_, ms) = timed(|| specs.iter().zip(&vectors).for_each(|(spec, v)| index.learn(&spec.name, v)));
            let found = times(&queries, |query| index.search(query, 10, |_| true).len());
            searches.add(row![
                specs.len(),
                "Toolplan, words and model",
                ms,
                percentile(&found, 0.5),
                percentile(&found, 0.99)
            ]);
        }
        let (fts, ms) = timed(|| fts(&specs));
        let found = times(&queries, |query| search_fts(&fts, query));
        searches.add(row![specs.len(), "SQLite FTS5", ms, percentile(&found, 0.5), percentile(&found, 0.99)]);
    }
    searches.note("With the model, a search reads the query first; the index time is that of taking vectors in.");
    match &reader {
        Some(reader) => {
            reading.note(format!("{}; later sizes hold tools that were read before.", reader.embedder.label()))
        }
        None => reading.note("not at hand: `make model`, then TOOLPLAN_TEST_MODEL"),
    }
    vec![searches, reading]
}

/// The model of `make model`, with a cache of its own.
fn model(home: &std::path::Path) -> Option<Reader> {
    let folder = std::env::var("TOOLPLAN_TEST_MODEL").ok()?;
    let variables: HashMap<&str, String> =
        [("TOOLPLAN_MODEL_DIR", folder), ("TOOLPLAN_HOME", home.display().to_string())].into();
    let loaded = Models::of(|name| variables.get(name).cloned()).and_then(|models| models.load());
    loaded.inspect_err(|problem| eprintln!("{}", problem.message)).ok().flatten().map(|(reader, _)| reader)
}

fn times(queries: &[String], mut search: impl FnMut(&str) -> usize) -> Vec<f64> {
    queries.iter().map(|query| timed(|| black_box(search(query))).1).collect()
}

/// Name, description and parameters in three columns, stemmed.
fn fts(specs: &[ToolSpec]) -> Connection {
    let connection = Connection::open_in_memory().expect("SQLite opens a database in memory");
    connection
        .execute_batch("CREATE VIRTUAL TABLE tools USING fts5(name, description, parameters, tokenize = 'porter unicode61'); BEGIN")
        .expect("FTS5 is built in");
    {
        let mut insert = connection.prepare("INSERT INTO tools VALUES (?1, ?2, ?3)").expect("the table is there");
        for spec in specs {
            let name = spec.name.replace(['_', '.', '/', '-'], " ");
            insert.execute((name, &spec.description, spec.parameters.to_string())).expect("a row can be inserted");
        }
    }
    connection.execute_batch("COMMIT").expect("the rows are kept");
    connection
}

fn search_fts(connection: &Connection, query: &str) -> usize {
    let words: Vec<String> =
        query.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(|w| format!("\"{w}\"")).collect();
    let mut select = connection
        .prepare_cached("SELECT rowid FROM tools WHERE tools MATCH ?1 ORDER BY bm25(tools, 3.0, 1.0, 0.5) LIMIT 10")
        .expect("the statement is right");
    let rows = select.query_map([words.join(" OR ")], |row| row.get::<_, i64>(0));
    rows.map_or(0, |rows| rows.filter_map(Result::ok).count())
}

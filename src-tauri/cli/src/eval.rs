//! Scoring labelled cases; needs no workspace.

use crate::{
    arguments::{Cases, Eval, Switch},
    commands::show,
    model, print,
};
use serde::{Serialize, de::DeserializeOwned};
use std::path::Path;
use toolplan_workbench::{
    Problem,
    eval::{self, classification, guard, plans, retrieval, selection},
    meaning::{Models, Reader},
};

pub fn eval(command: Eval, json: bool) -> Result<bool, Problem> {
    match command {
        Eval::Guard(cases) => scored(&cases, json, guard::run, guard::score, print::guard_scores),
        Eval::Plans(cases) => scored(&cases, json, |c| Ok(plans::run(c)), plans::score, print::plan_scores),
        Eval::Classification(cases) => {
            let run = |cases: &[classification::Case]| Ok(classification::run(cases));
            scored(&cases, json, run, classification::score, print::classification_scores)
        }
        Eval::Retrieval { cases, catalog, members, limit, semantic } => {
            ranked(&cases, &catalog, members.as_deref(), limit, reader(semantic)?.as_ref(), json)
        }
        Eval::Selection { cases, catalog, semantic } => selected(&cases, catalog.as_deref(), reader(semantic)?, json),
    }
}

/// Runs the cases file by file, writes the rows, and shows the scores.
fn scored<Case: DeserializeOwned, Row: Serialize, Score: Serialize>(
    cases: &Cases,
    json: bool,
    run: impl Fn(&[Case]) -> Result<Vec<Row>, Problem>,
    score: impl Fn(&[Case], &[Row]) -> Score,
    print: impl FnOnce(&[(String, Score)]),
) -> Result<bool, Problem> {
    let (mut rows, mut scores) = (vec![], vec![]);
    for file in &cases.cases {
        let read = eval::read_cases::<Case>(file)?;
        read.problems.iter().for_each(print::problem);
        let mine = run(&read.cases)?;
        scores.push((read.name, score(&read.cases, &mine)));
        rows.extend(mine);
    }
    write(cases, &rows)?;
    show(json, &scores, || print(&scores));
    Ok(true)
}

fn write(cases: &Cases, rows: &[impl Serialize]) -> Result<(), Problem> {
    cases.out.as_ref().map_or(Ok(()), |out| eval::write_rows(out, rows))
}

/// The installed model, where one is asked for.
fn reader(semantic: Switch) -> Result<Option<Reader>, Problem> {
    match semantic {
        Switch::On => retrieval::require_model(&Models::from_env()?).map(Some),
        Switch::Off => Ok(None),
    }
}

fn ranked(
    cases: &Cases,
    folder: &Path,
    members: Option<&Path>,
    limit: usize,
    reader: Option<&Reader>,
    json: bool,
) -> Result<bool, Problem> {
    let catalog = retrieval::read_catalog(folder, members, reader, model::progress)?;
    catalog.problems.iter().for_each(print::problem);
    let (mut rows, mut sets) = (vec![], vec![]);
    for file in &cases.cases {
        let read = eval::read_cases::<retrieval::Case>(file)?;
        read.problems.iter().for_each(print::problem);
        let mine = retrieval::run(&catalog, &read.cases, limit);
        sets.push((read.name, retrieval::score(&catalog.keys, &read.cases, &mine)));
        rows.extend(mine);
    }
    write(cases, &rows)?;
    let mean = retrieval::mean(&sets);
    let report = retrieval::Report { tools: catalog.keys.len(), index_ms: catalog.index_ms, sets, mean };
    show(json, &report, || print::retrieval_scores(&report));
    Ok(true)
}

fn selected(cases: &Cases, folder: Option<&Path>, reader: Option<Reader>, json: bool) -> Result<bool, Problem> {
    let mut shelf = selection::Shelf::new(folder).with_model(reader);
    let (mut all_cases, mut rows, mut scores) = (vec![], vec![], vec![]);
    for file in &cases.cases {
        let read = eval::read_cases::<selection::Case>(file)?;
        read.problems.iter().for_each(print::problem);
        shelf.read_ahead(&read.cases, model::progress)?;
        let mine = selection::run(&mut shelf, &read.cases)?;
        scores.push((read.name, selection::score(&read.cases, &mine)));
        all_cases.extend(read.cases);
        rows.extend(mine);
    }
    shelf.problems.iter().for_each(print::problem);
    write(cases, &rows)?;
    if scores.len() > 1 {
        scores.push(("all".into(), selection::score(&all_cases, &rows)));
    }
    show(json, &scores, || print::selection_scores(&scores));
    Ok(true)
}

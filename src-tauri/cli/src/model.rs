//! `toolplan model`: the local embedding model.

use crate::{arguments::Model, commands::show};
use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
    time::Duration,
};
use toolplan_workbench::{
    Problem, Workbench,
    meaning::{Consent, Models},
    views::ModelInfo,
};

/// How often the progress line changes.
const TICK: Duration = Duration::from_millis(200);

/// What needs no workspace. None: the command needs one.
pub fn without_workspace(command: &Model, json: bool) -> Option<Result<bool, Problem>> {
    match command {
        Model::Add { paths, sha256, trust } => Some(add(paths, sha256, *trust, json)),
        Model::Remove => Some(remove(json)),
        Model::List | Model::Index => None,
    }
}

/// What is about the open workspace.
pub async fn with_workspace(workbench: &Workbench, command: &Model, json: bool) -> Result<bool, Problem> {
    if let Model::Index = command {
        return index(workbench, json).await;
    }
    let info = workbench.embedding_model();
    show(json, &info, || print(&info));
    Ok(true)
}

fn add(paths: &[PathBuf], sha256: &[String], trust: bool, json: bool) -> Result<bool, Problem> {
    let mut consent = Consent { trust, ..Consent::default() };
    for given in sha256 {
        let (file, hash) = given.split_once('=').filter(|(_, h)| h.len() == 64).ok_or_else(|| {
            Problem::new(
                "model.hash",
                format!("{given:?} is not FILE=HASH"),
                "give a file name such as model.onnx and its SHA-256 in 64 hexadecimal digits",
            )
        })?;
        consent.hashes.insert(file.into(), hash.into());
    }
    let models = Models::from_env()?;
    let installed = models.install(paths, &consent)?;
    let shown = serde_json::json!({
        "label": installed.label,
        "folder": installed.folder.display().to_string(),
        "files": installed.files,
    });
    show(json, &shown, || {
        println!("{} is installed in {}", installed.label, installed.folder.display());
        for (file, hash) in &installed.files {
            println!("  {file}  {hash}");
        }
        println!("It has read a sentence. `toolplan model index` lets it read the tools of a workspace.");
    });
    Ok(true)
}

fn remove(json: bool) -> Result<bool, Problem> {
    let removed = Models::from_env()?.remove()?;
    show(json, &serde_json::json!({ "removed": removed }), || {
        println!("{}", if removed { "The model is removed." } else { "No model is installed." });
    });
    Ok(true)
}

async fn index(workbench: &Workbench, json: bool) -> Result<bool, Problem> {
    workbench.index_embeddings()?;
    let mut stopped = false;
    let info = loop {
        let info = workbench.embedding_model();
        if !info.indexing {
            break info;
        }
        progress(info.indexed as usize, info.total as usize);
        tokio::select! {
            _ = tokio::time::sleep(TICK) => {}
            _ = tokio::signal::ctrl_c() => {
                stopped = true;
                break workbench.cancel_index_embeddings();
            }
        }
    };
    end_progress();
    show(json, &info, || {
        if stopped {
            println!("Stopped. The next `toolplan model index` goes on from here.");
        }
        print(&info);
    });
    match info.problem {
        Some(problem) if !info.in_use => Err(problem),
        _ => Ok(info.in_use),
    }
}

fn print(info: &ModelInfo) {
    println!("{}", info.note);
    println!("{} of {} tools are read", info.indexed, info.total);
}

/// How many tools are read: one line that changes on a terminal, a line now and then elsewhere.
pub fn progress(done: usize, all: usize) {
    let mut err = std::io::stderr();
    if err.is_terminal() {
        let _ = write!(err, "\rreading tools: {done} of {all} ");
        let _ = err.flush();
    } else if done.is_multiple_of(64 * 16) || done == all {
        let _ = writeln!(err, "reading tools: {done} of {all}");
    }
}

/// Leaves the line of [`progress`].
pub fn end_progress() {
    if std::io::stderr().is_terminal() {
        eprintln!();
    }
}

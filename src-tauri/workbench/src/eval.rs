//! Scoring the engine on labelled cases that somebody brings: `toolplan eval …`.
//!
//! The formats are described in `docs/evaluation.md`. Cases are data: nothing in them is ever executed, and a line
//! that cannot be read is reported and passed over.

pub mod classification;
pub mod guard;
pub mod plans;
pub mod retrieval;
pub mod selection;

use serde::{Serialize, de::DeserializeOwned};
use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
};
use toolplan_engine::Problem;

/// The cases of one file.
pub struct CaseFile<T> {
    /// The file's name without its folder and ending.
    pub name: String,
    pub cases: Vec<T>,
    /// Lines that are no cases.
    pub problems: Vec<Problem>,
}

/// Reads one JSON object a line. Empty lines are passed over.
pub fn read_cases<T: DeserializeOwned>(path: &Path) -> Result<CaseFile<T>, Problem> {
    let file = File::open(path).map_err(|e| {
        Problem::new(
            "eval.unreadable",
            format!("{} cannot be read: {e}", path.display()),
            "check the path given to --cases",
        )
    })?;
    let name = path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let mut read = CaseFile { name, cases: vec![], problems: vec![] };
    let bad = |line: usize, why: String| {
        Problem::new(
            "eval.line",
            format!("{} line {line}: {why}", path.display()),
            "the line is passed over; correct it or remove it",
        )
    };
    for (number, line) in BufReader::new(file).split(b'\n').enumerate() {
        let line = match line {
            Ok(line) => line,
            Err(error) => {
                read.problems.push(bad(number + 1, error.to_string()));
                break;
            }
        };
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice(&line) {
            Ok(case) => read.cases.push(case),
            Err(error) => read.problems.push(bad(number + 1, error.to_string())),
        }
    }
    Ok(read)
}

/// Writes one row a line.
pub fn write_rows<T: Serialize>(path: &PathBuf, rows: &[T]) -> Result<(), Problem> {
    let mut text = String::new();
    for row in rows {
        text.push_str(&serde_json::to_string(row).map_err(|e| Problem::new("eval.row", e.to_string(), "report this"))?);
        text.push('\n');
    }
    std::fs::write(path, text).map_err(|e| {
        Problem::new("eval.out", format!("{} cannot be written: {e}", path.display()), "choose another path for --out")
    })
}

/// `part` of `whole` as a share; 1 for nothing of nothing.
pub fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

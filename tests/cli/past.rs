//! Past runs: files, replays, forks, comparisons.

use crate::Cli;
use serde_json::json;
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

/// R-01 to R-06: a run is exported, taken in, replayed, forked, compared, planned again, kept and removed; the exit code
/// says whether anything differs.
#[test]
fn past_runs_are_worked_with() {
    let cli = Cli::new();
    cli.text(0, &["run", "--sample", "1"]);
    let file = cli.home.path().join("run.jsonl").display().to_string();
    assert!(cli.text(0, &["export", "1", "--out", &file]).contains("events"));
    assert!(cli.text(0, &["replay", "1"]).contains("Faithful: run 2"));
    assert!(cli.text(0, &["replay", "1", "--check"]).contains("Faithful"));
    assert!(cli.text(0, &["diff", "1", "2"]).contains("Nothing differs"));
    assert!(cli.text(0, &["diff", "1", &file]).contains("Nothing differs"));
    assert!(cli.text(0, &["replan", "1"]).contains("The plan is the same."));
    let given = ["--static", r#"vector_search={"hits": []}"#];
    let fork = cli.json(0, &["fork", "1", "--at", "step-1", "--result", "{}", given[0], given[1], "--format", "json"]);
    assert_eq!(fork["summary"]["origin"]["kind"], "fork");
    assert!(cli.text(1, &["diff", "1", "3"]).contains("First divergence: Call 1"));
    assert!(cli.text(0, &["runs", "tree", "3"]).contains("3 forks 1 after event"));
    cli.text(0, &["runs", "pin", "1"]);
    assert_eq!(cli.json(0, &["runs", "--format", "json"])[2]["pinned"], true);
    assert!(cli.text(0, &["runs", "--storage"]).contains("3 runs, 1 pinned"));
    cli.text(0, &["runs", "delete", "3"]);
    assert!(cli.text(3, &["show", "3"]).contains("no run 3"));
    let rows = cli.text(0, &["show", "1", "--filter", "kind:attempt_*"]);
    assert!(rows.contains("Attempt 1 succeeded") && !rows.contains("Waits for a free slot"), "{rows}");
    assert!(cli.text(3, &["show", "1", "--filter", "kin:x"]).contains("at character 1 of the filter"));
    let already = cli.json(0, &["import", &file, "--format", "json"]);
    assert_eq!((&already[0]["already"], &already[0]["run"]), (&true.into(), &1.into()));
    let broken = cli.file("broken.jsonl", &std::fs::read(&file).unwrap()[..3000]);
    assert!(cli.text(1, &["import", &broken]).contains("line "));
    assert!(cli.text(3, &["fork", "1", "--at", "step-1"]).contains("--set ARG=JSON"));
    cli.text(2, &["fork", "1", "--at", "step-1", "--skip", "--result", "1"]);
    assert!(cli.text(3, &["diff", "1", "nowhere.jsonl"]).contains("nowhere.jsonl"));
    assert!(cli.text(3, &["replay", "77"]).contains("no run 77"));
    assert!(cli.text(3, &["export", "77"]).contains("no run 77"));
    assert!(cli.text(3, &["replay", "1", "--speed", "0"]).contains("above zero"));
}

/// R-05: a fork tells which calls would leave before it starts; SAFE tools are asked for what the record does not hold,
/// unless they may not be.
#[test]
fn forks_are_told_first() {
    let cli = Cli::new();
    cli.text(0, &["run", "--plan", &cli.file("plan.json", PLAN), "two steps"]);
    let fork = |code, more: &[&str]| {
        cli.text(
            code,
            &[&["fork", "1", "--at", "find", "--set", r#"query="timeout""#, "--format", "json"], more].concat(),
        )
    };
    let told: serde_json::Value = serde_json::from_str(&fork(0, &["--preview"])).unwrap();
    let calls = |told: &serde_json::Value| -> Vec<String> {
        let calls = told["calls"].as_array().unwrap().iter();
        calls.map(|c| format!("{} {} {}", c["step"], c["answerer"], c["otherwise"]).replace('"', "")).collect()
    };
    assert_eq!(calls(&told), ["find tool null", "read record tool"]);
    assert_eq!(cli.json(0, &["runs", "--format", "json"]).as_array().unwrap().len(), 1, "nothing was started");
    let told: serde_json::Value =
        serde_json::from_str(&fork(1, &["--preview", "--recorded", "vector_search"])).unwrap();
    assert_eq!(calls(&told), ["find nobody null"]);
    let made: serde_json::Value = serde_json::from_str(&fork(0, &[])).unwrap();
    assert_eq!(made["state"]["steps"]["find"]["attempts"][0]["live"], true);
    assert_eq!(made["summary"]["outcome"], "succeeded");
    fork(1, &["--recorded", "vector_search"]);
    let rows = cli.text(0, &["show", "2", "--filter", "kind:called_live"]);
    assert!(rows.contains("Attempt 1 calls the tool itself"), "{rows}");
}

/// A search whose first file is read.
const PLAN: &[u8] = br#"{"steps": [
    {"id": "find", "tool": "vector_search", "arguments": {"query": "retry", "top_k": 1}},
    {"id": "read", "tool": "read_file", "arguments": {"file_path": {"$from": "find", "path": "/hits/0/path"}}}]}"#;

/// W-12: Ctrl-C ends long work so that nothing half done stays: no run, and no file but the one that was there before.
#[test]
fn ctrl_c_leaves_nothing_half_done() {
    let cli = Cli::new();
    cli.text(0, &["run", "--sample", "1"]);
    let out = cli.home.path().join("run.jsonl").display().to_string();
    cli.text(0, &["export", "1", "--out", &out]);
    let whole = std::fs::read_to_string(&out).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let started = lines.iter().position(|l| l.contains("\"type\":\"started\"")).unwrap();
    let header = lines[0].replacen("\"uid\":\"", "\"uid\":\"long", 1);
    let mut text = [&[header.as_str()], &lines[1..=started]].concat().join("\n") + "\n";
    for seq in started as u32 + 1..200_000 {
        let event = json!({"type": "retry_scheduled", "step": "step-1", "attempt": seq, "delay_ms": 5});
        let at_ms = 1_700_000_000_000u64 + u64::from(seq);
        text.push_str(&format!("{{\"seq\":{seq},\"at_ms\":{at_ms},\"event\":{event}}}\n"));
    }
    let long = cli.file("long.jsonl", text.as_bytes());
    // Progress is told on standard error; the first line of it is the moment to press the keys.
    let interrupted = |arguments: &[&str]| {
        let mut child = cli.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut told = String::new();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        while !told.contains('%') && lines.read_line(&mut told).unwrap() > 0 {}
        assert!(told.contains('%'), "{arguments:?} was over before it told how far it is: {told}");
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        (output.status.code(), told, String::from_utf8(output.stdout).unwrap())
    };
    let (code, told, said) = interrupted(&["import", &long]);
    assert_eq!(code, Some(1), "{told}{said}");
    assert!(told.contains("taking in: ") && said.contains("called off"), "{told}{said}");
    assert_eq!(cli.json(0, &["runs", "--format", "json"]).as_array().unwrap().len(), 1);
    assert!(cli.text(0, &["runs", "--storage"]).contains("1 runs, 0 pinned"));
}

//! A run under a person's hands: breakpoints, commands on standard input, faults.

use crate::Cli;
use serde_json::Value;

/// One search.
const PLAN: &[u8] = br#"{"steps": [
    {"id": "find", "tool": "vector_search", "arguments": {"query": "retry", "top_k": 1},
     "retry": {"max_retries": 1, "base_ms": 1}}]}"#;

fn run(cli: &Cli, options: &[&str], input: &str) -> (Option<i32>, Value, String) {
    let plan = cli.file("plan.json", PLAN);
    let arguments = [&["run", "one step", "--plan", &plan, "--format", "json"], options].concat();
    let (code, out, err) = cli.told(&arguments, input);
    (code, serde_json::from_str(&out).unwrap_or(Value::Null), err)
}

fn kinds(run: &Value) -> Vec<&str> {
    run["events"].as_array().unwrap().iter().map(|e| e["kind"].as_str().unwrap()).collect()
}

/// O-07, X-04: a run pauses where it is told to, standard input says what to do, and standard output stays one JSON
/// answer; at the end of the input the run goes on.
#[test]
fn breakpoints_are_answered_by_lines() {
    let cli = Cli::new();
    let (code, done, said) = run(&cli, &["--break", "step:find"], "nonsense\nstep\n");
    assert_eq!((code, &done["state"]["outcome"]), (Some(0), &"succeeded".into()), "{said}");
    assert!(said.contains("Paused: ") && said.contains("Next: find") && said.contains("continue, step"), "{said}");
    let kinds = kinds(&done);
    let at = |kind: &str| kinds.iter().position(|k| *k == kind).unwrap_or_else(|| panic!("no {kind} in {kinds:?}"));
    assert!(
        at("breakpoint_hit") < at("paused") && at("paused") < at("resumed") && at("resumed") < at("attempt_started")
    );

    let (code, done, said) = run(&cli, &["--break", "tool:vector_search"], "");
    assert_eq!((code, &done["state"]["outcome"]), (Some(0), &"succeeded".into()), "{said}");
    assert!(said.contains("end of input"), "{said}");

    let edited = "arguments find [1]\narguments find {\"query\": \"timeout\", \"top_k\": 1}\ncontinue\n";
    let (code, done, said) = run(&cli, &["--step"], edited);
    assert_eq!(
        (code, &done["state"]["steps"]["find"]["attempts"][0]["arguments"]["query"]),
        (Some(0), &"timeout".into())
    );
    assert!(said.contains("arguments are a JSON object"), "{said}");

    let (code, done, _) = run(&cli, &["--break", "step:find"], "result find {\"hits\": []}\ncontinue\n");
    assert_eq!((code, &done["state"]["steps"]["find"]["edited_result"]), (Some(0), &true.into()));
    let (code, done, _) = run(&cli, &["--break", "step:find"], "skip find\ncontinue\n");
    assert_eq!((code, &done["state"]["steps"]["find"]["status"]), (Some(1), &"skipped".into()));
    let (code, done, _) = run(&cli, &["--break", "step:find"], "quit\n");
    assert_eq!((code, &done["state"]["outcome"]), (Some(1), &"cancelled".into()));
    assert_eq!(cli.json(0, &["runs", "--format", "json"])[0]["outcome"], "cancelled", "it is in the journal");
}

/// O-12, O-03: a fault strikes the attempts that it names and is in the journal; a retry comes after it, and an error
/// that no retry mends ends the run.
#[test]
fn faults_strike() {
    let cli = Cli::new();
    let fault = "error:transient tool=vector_search attempts=1";
    let (code, done, said) = run(&cli, &["--fault", fault, "--seed", "7", "--jitter", "0"], "");
    let attempts = done["state"]["steps"]["find"]["attempts"].as_array().unwrap();
    assert_eq!((code, attempts.len()), (Some(0), 2), "{said}");
    assert_eq!(
        (&attempts[0]["outcome"]["kind"], &attempts[1]["outcome"]["kind"]),
        (&"failed".into(), &"succeeded".into())
    );
    assert!(attempts[0]["fault"].is_object() && attempts[1]["fault"].is_null());
    let rows = cli.text(0, &["show", "1", "--filter", "kind:fault_injected"]);
    assert!(rows.contains("Attempt 1 gets a fault"), "{rows}");
    assert!(cli.text(0, &["timeline", "1"]).contains("vector_search"));

    let (code, done, _) = run(&cli, &["--fault", "error:validation step=find"], "");
    assert_eq!((code, &done["state"]["outcome"]), (Some(1), &"failed".into()));
    assert_eq!(done["state"]["steps"]["find"]["error"]["class"], "validation");
    let (code, done, _) = run(&cli, &["--fault", "error:transient tool=read_file"], "");
    assert_eq!((code, &done["state"]["outcome"]), (Some(0), &"succeeded".into()), "another tool's fault");
}

/// R-09: what cannot be read is named with its code, and nothing runs.
#[test]
fn bad_breakpoints_and_faults_are_named() {
    let cli = Cli::new();
    let refused = |options: &[&str]| {
        let (code, _, err) = run(&cli, options, "");
        let line = err.lines().last().unwrap_or_default();
        let error: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {err}"));
        assert_eq!(code, Some(3), "{err}");
        assert!(!error["error"]["hint"].as_str().unwrap().is_empty(), "{err}");
        error["error"]["code"].as_str().unwrap().to_string()
    };
    assert_eq!(refused(&["--break", "somewhere"]), "run.breakpoint");
    assert_eq!(refused(&["--break", "duration>soon"]), "run.breakpoint");
    assert_eq!(refused(&["--fault", "error:nothing"]), "run.fault");
    assert_eq!(refused(&["--fault", "error:transient p=often"]), "run.fault");
    assert_eq!(cli.json(0, &["runs", "--format", "json"]).as_array().unwrap().len(), 0);
    assert_eq!(cli.told(&["run", "x", "--seed", "many"], "").0, Some(2));
    assert_eq!(cli.text(3, &["resume", "9"]).lines().count(), 2, "the thing and the remedy");
}

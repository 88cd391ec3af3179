//! Who sees what, on the command line: the matrix, reasons, sessions, policy files, token savings.

use crate::{Cli, fixture};

/// V-04, V-08: a session lasts from command to command; a refusal ends with 1 and changes nothing.
#[test]
fn a_session_lasts() {
    let cli = Cli::new();
    assert!(cli.text(1, &["session", "select", "REQ-OPS-2"]).contains("Cannot select intent in state REQUEST"));
    assert!(cli.text(0, &["session", "message", "purge exports"]).contains("Session cli · REASONING · no intent"));
    assert!(cli.text(1, &["session", "select", "REQ-NOBODY"]).contains("available: REQ-DOCS-1"));
    assert!(cli.text(0, &["session", "select", "REQ-OPS-2"]).contains("ACTION · REQ-OPS-2"));
    let call = ["plan", "--sample", "5", "--format", "json"];
    let steps = |more: &[&str]| {
        let view = cli.json(0, &[&call[..], more].concat());
        let steps = view["planning"]["plan"]["steps"].as_array().unwrap().clone();
        steps.iter().any(|s| s["tool"] == "purge_dead_letters")
    };
    assert!(!steps(&[]), "a request of its own is in its own state");
    assert!(steps(&["--session", "cli"]));
    let shown = cli.json(0, &["session", "show", "--format", "json"]);
    let refused = shown["session"]["log"].as_array().unwrap().iter().filter(|t| !t["refused"].is_null()).count();
    assert_eq!((refused, &shown["session"]["state"]), (2, &"ACTION".into()));
    assert!(cli.text(0, &["session", "--name", "other", "show"]).contains("Session other · REQUEST"));
    assert!(cli.text(0, &["session", "recover"]).contains("REASONING · no intent"));
    assert!(cli.text(0, &["session", "reset"]).contains("REQUEST · no intent"));
}

/// V-11: reasons, the matrix with its counts, and every gate that hides one tool.
#[test]
fn visibility_explains() {
    let cli = Cli::new();
    let rows = cli.json(0, &["visibility", "--tenant", "harbour", "--state", "action", "--format", "json"]);
    let email = rows.as_array().unwrap().iter().find(|r| r["tool"] == "send_email").unwrap();
    assert_eq!(
        email["states"],
        serde_json::json!([["ACTION", false, "Hidden by the rule harbour-no-outbound for this session"]])
    );
    let matrix = cli.text(0, &["visibility", "--matrix", "--only", "differs", "--limit", "2", "--offset", "1"]);
    assert!(matrix.contains("2 of ") && matrix.contains("– state.destructive"), "{matrix}");
    assert!(matrix.contains("REASONING 18 visible, 18 in the prompt"), "{matrix}");
    let why = cli.text(0, &["visibility", "--why", "send_email", "--all-modes", "--all-tenants"]);
    for part in ["visibility.harbour-no-outbound", "mode.group", "state.destructive", "lighthouse", "✓ visible"] {
        assert!(why.contains(part), "{part} is missing from\n{why}");
    }
    assert!(cli.text(3, &["visibility", "--tenant", "harbor"]).contains("no tenant called \"harbor\""));
    assert!(cli.text(3, &["visibility", "--mode", "nowhere"]).contains("no mode called"));
}

/// V-01 to V-03: a policy file is tried, taken, and refused whole.
#[test]
fn policies_are_imported() {
    let cli = Cli::new();
    let good = cli.file("good.json", br#"{"policy": {"denied": ["web_fetch"]}}"#);
    let bad = cli.file("bad.json", br#"{"policy": {"denied": ["jira_fetch"]}, "default_mode": "nowhere"}"#);
    let sees = |name: &str| cli.text(0, &["visibility", "--matrix", "--filter", name]).contains("policy.denied");
    assert!(cli.text(0, &["policy", "import", &good, "--try"]).contains("1 parts of the settings would change"));
    assert!(!sees("web_fetch"));
    assert!(cli.text(0, &["policy", "import", &good]).contains("1 parts of the settings changed"));
    assert!(sees("web_fetch"));
    assert!(cli.text(3, &["policy", "import", &bad]).contains("default mode \"nowhere\""));
    assert!(!sees("jira_fetch"), "nothing of a wrong file is taken");
}

/// V-10, W-04: gross, overhead and net of a recorded conversation; a planning without a model sent nothing.
#[test]
fn savings_are_told() {
    let cli = Cli::new();
    let out = cli.json(0, &["tokens", "--conversation", &fixture("conversation.json"), "--format", "json"]);
    let (gross, overhead, net) =
        (out["gross"].as_f64().unwrap(), out["overhead"].as_f64().unwrap(), out["net"].as_f64().unwrap());
    assert_eq!(out["rows"].as_array().unwrap().len(), 3);
    assert!(gross > 0.0 && overhead > 0.0 && (gross - overhead - net).abs() < 1e-6);
    let text = cli.text(0, &["tokens", "--conversation", &fixture("conversation.json")]);
    assert!(text.contains("o200k_base, estimated") && text.contains("lost cache") && text.contains("net"), "{text}");
    assert!(cli.text(0, &["tokens", "What is a tenant?"]).contains("No model was asked"));
    let broken = cli.file("broken.json", br#"{"turns": [{"tools": ["no_such_tool"]}]}"#);
    assert!(cli.text(3, &["tokens", "--conversation", &broken]).contains("no_such_tool"));
}

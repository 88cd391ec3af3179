//! The registry and live edits.

use crate::bench::{Bench, asking, mock, stages};
use serde_json::json;
use toolplan_workbench::{
    engine::{
        request::{Planner, Request},
        tool::{Classification, Loading, ToolSpec},
        verdict::{Gate, Outcome},
    },
    views::ChangeSubject,
};

fn spec(bench: &Bench, name: &str) -> ToolSpec {
    bench.workbench.tool_specs().into_iter().find(|t| t.name == name).unwrap()
}

/// K-02, T1-12: register, list, get, find by capability.
#[tokio::test]
async fn tools_are_found_by_capability() {
    let bench = Bench::sample().await;
    assert!(bench.workbench.tool_specs().len() >= 25);
    let names: Vec<String> =
        bench.workbench.tools_by_capability("Semantic Search").into_iter().map(|t| t.name).collect();
    assert!(names.contains(&"vector_search".to_string()), "{names:?}");
    assert!(bench.workbench.tools_by_capability("telepathy").is_empty());
    assert_eq!(bench.workbench.tool("nobody", &asking("x"), None).unwrap_err().code, "catalog.unknown");
}

/// K-04: each edit is a revision that can be looked at and reverted; a run records the one it used.
#[tokio::test]
async fn edits_are_revisions() {
    let bench = Bench::sample().await;
    let original = spec(&bench, "vector_search");
    let first = bench.workbench.info().revision;
    let edited = ToolSpec { description: "Finds by meaning".into(), loading: Loading::Deferred, ..original.clone() };
    let second = bench.workbench.save_tool(edited.clone()).unwrap();
    assert_eq!(second, first + 1);
    assert_eq!(bench.workbench.save_tool(edited).unwrap(), second, "the same once more is no revision");
    let history = bench.workbench.tool("vector_search", &asking("x"), None).unwrap().history;
    let changed: Vec<&str> = history[1].changed.iter().map(|c| c.field.as_str()).collect();
    assert_eq!(changed, ["description", "loading"]);
    let third = bench.workbench.revert_tool("vector_search", first).unwrap();
    assert_eq!((third, spec(&bench, "vector_search")), (second + 1, original));
    let bench = bench.again().await;
    assert_eq!(bench.workbench.info().revision, third, "revisions survive a restart");
}

/// K-05: an edit changes the open query at once, and the differences are named.
#[tokio::test]
async fn a_live_edit_replans_and_says_what_changed() {
    let bench = Bench::sample().await;
    let request = Request { planner: Planner::Recorded, ..asking("Introduction里面没写什么？") };
    let before = bench.plan(request.clone()).await;
    assert_eq!(stages(&before), [["grep_search", "vector_search"]]);
    bench
        .workbench
        .save_tool(ToolSpec { classification: Classification::Destructive, ..spec(&bench, "grep_search") })
        .unwrap();
    let after = bench.workbench.plan(request, Some(before.id)).await.unwrap();
    assert_eq!(stages(&after), [["vector_search"]]);
    let named = |subject, name: &str| after.changes.iter().any(|c| c.subject == subject && c.name == name);
    assert!(named(ChangeSubject::Step, "grep_search"), "{:?}", after.changes);
    assert!(named(ChangeSubject::Verdict, "grep_search") && named(ChangeSubject::Tokens, "REASONING"));
    let row = bench
        .workbench
        .catalog(&after.planning.request, Some(after.id))
        .unwrap()
        .into_iter()
        .find(|r| r.name == "grep_search")
        .unwrap();
    assert_eq!((row.gate, row.outcome), (Gate::State, Outcome::Hidden));
}

/// K-14 and the limits of trails: with many tools every tool still has its trail when asked.
#[tokio::test]
async fn every_tool_has_a_trail_at_any_size() {
    let bench = Bench::sample().await;
    let many = (0..2_000).map(|i| mock(&format!("filler_{i}"), json!(i), 0)).collect();
    bench.workbench.register_tools(many, "test").unwrap();
    let view = bench.plan(asking("PROJ-123的状态是什么？")).await;
    let left: u32 = view.planning.funnel.last().unwrap().left;
    let lost: u32 = view.planning.funnel.iter().map(|r| r.lost).sum();
    assert_eq!(left + lost, bench.workbench.tool_specs().len() as u32);
    assert_eq!(left, 1, "one tool is planned");
    let why = |name: &str| bench.workbench.tool(name, &view.planning.request, Some(view.id)).unwrap().trail;
    assert_eq!(why("filler_1999").decided().unwrap().gate, Gate::Retrieved);
    assert!(why("jira_fetch").passes());
    assert_eq!(why("send_email").decided().unwrap().gate, Gate::State);
}

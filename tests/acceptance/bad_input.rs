//! Bad input: a clear error with a remedy, and nothing that is stored is lost. (A full disk: the store's own tests.)

use crate::bench::{Bench, asking, mock, open};
use serde_json::json;
use toolplan_workbench::engine::{
    plan::{PlanSpec, StepSpec},
    ports::ErrorClass,
    run::RunState,
    tool::ToolSpec,
};

async fn call(bench: &Bench, tool: &str, arguments: serde_json::Value) -> RunState {
    let only = StepSpec {
        id: "s".into(),
        tool: tool.into(),
        arguments: arguments.as_object().cloned().unwrap(),
        ..Default::default()
    };
    let mut plan = PlanSpec { steps: vec![only], ..Default::default() };
    plan.steps[0].retry = Some(toolplan_workbench::engine::tool::RetryPolicy { max_retries: 0, base_ms: 0 });
    let view = bench.workbench.plan_from(asking("x"), plan).unwrap();
    let run = bench.workbench.start_run(view.id).await.unwrap();
    bench.workbench.wait_run(run).await.unwrap()
}

/// S-03: a query of a megabyte is refused by size, with the size.
#[tokio::test]
async fn a_huge_query_is_refused() {
    let bench = Bench::sample().await;
    let problem = bench.workbench.plan(asking(&"查".repeat(400_000)), None).await.unwrap_err();
    assert_eq!(problem.code, "query.too_long");
    assert!(problem.message.contains("1200000") && !problem.hint.is_empty());
}

/// S-03: a folder that is not there, and a file where a folder should be.
#[tokio::test]
async fn a_missing_folder_is_named() {
    let home = tempfile::tempdir().unwrap();
    let missing = home.path().join("nowhere");
    let problem = open(home.path().into(), &[], Some(missing.clone())).await.err().unwrap();
    assert_eq!(problem.code, "workspace.missing");
    assert!(problem.message.contains("nowhere"));
    std::fs::write(&missing, "a file").unwrap();
    assert_eq!(open(home.path().into(), &[], Some(missing)).await.err().unwrap().code, "workspace.missing");
}

/// S-03: a file that is no database is left alone and named.
#[tokio::test]
async fn a_foreign_database_is_not_touched() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("work");
    std::fs::create_dir_all(folder.join(".toolplan")).unwrap();
    let database = folder.join(".toolplan/workspace.db");
    std::fs::write(&database, "this is no database, but somebody's notes").unwrap();
    let problem = open(home.path().into(), &[], Some(folder)).await.err().unwrap();
    assert!(problem.message.contains("workspace.db") && !problem.hint.is_empty(), "{problem:?}");
    assert_eq!(std::fs::read_to_string(&database).unwrap(), "this is no database, but somebody's notes");
}

/// S-03: of a catalog with unusable tools the others are taken in, and each reject has its reason.
#[tokio::test]
async fn a_bad_tool_does_not_stop_the_others() {
    let bench = Bench::sample().await;
    let before = bench.workbench.tool_specs().len();
    let unnamed = ToolSpec::default();
    let no_object = ToolSpec { name: "odd".into(), parameters: json!([1]), ..Default::default() };
    let (_, problems) =
        bench.workbench.register_tools(vec![unnamed, mock("good", json!(1), 0), no_object], "import").unwrap();
    assert_eq!(problems.len(), 2);
    assert!(problems.iter().all(|p| !p.hint.is_empty()));
    assert_eq!(bench.workbench.tool_specs().len(), before + 1);
    let invalid = ToolSpec { parameters: json!({"type": "objekt"}), ..mock("good", json!(1), 0) };
    assert_eq!(bench.workbench.save_tool(invalid).unwrap_err().code, "catalog.schema");
}

/// S-03, X-01: a file that is not UTF-8 is read with a note; the search goes on.
#[tokio::test]
async fn an_invalid_file_is_reported_and_passed() {
    let bench = Bench::sample().await;
    let docs = bench.home.path().join("toolplan/sample/docs/en");
    std::fs::write(docs.join("broken.md"), b"retry \xff\xfe\xfa policy zebra").unwrap();
    let state = call(&bench, "grep_search", json!({"query": "zebra"})).await;
    let data = state.steps["s"].result.as_ref().unwrap().data.to_string();
    assert!(data.contains("broken.md"), "{data}");
}

/// S-01: file tools stay in the folder.
#[tokio::test]
async fn files_outside_the_folder_are_refused() {
    let bench = Bench::sample().await;
    for path in ["../../../etc/passwd", "/etc/passwd"] {
        let state = call(&bench, "read_file", json!({"file_path": path})).await;
        assert_eq!(state.steps["s"].error.as_ref().unwrap().class, ErrorClass::Refused, "{path}");
    }
}

/// S-01, S-03: a private address is refused unless the workspace allows it; an unreachable host is named.
#[tokio::test]
async fn unreachable_and_private_hosts_are_named() {
    let bench = Bench::sample().await;
    // A port of loopback on which nobody listens.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/x");
    let error = call(&bench, "web_fetch", json!({"url": url})).await.steps["s"].error.clone().unwrap();
    assert_eq!(error.class, ErrorClass::Transient);
    assert!(error.message.contains("127.0.0.1") && !error.hint.is_empty(), "{error:?}");
    let mut settings = bench.workbench.info().settings;
    settings.network.allow_private = false;
    bench.workbench.save_settings(settings).unwrap();
    let error = call(&bench, "web_fetch", json!({"url": url})).await.steps["s"].error.clone().unwrap();
    assert_eq!(error.class, ErrorClass::Refused);
}

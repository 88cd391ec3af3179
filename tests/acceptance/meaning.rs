//! The local embedding model, as far as it is at hand: `make model`, and its folder in `TOOLPLAN_TEST_MODEL`.

use crate::bench::{asking, mock, open};
use serde_json::json;
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use toolplan_workbench::{Workbench, engine::tool::ToolSpec, views::ModelInfo};

/// The folder of the model, or a loud word that there is none.
fn model() -> Option<String> {
    let folder = std::env::var("TOOLPLAN_TEST_MODEL").ok().filter(|f| Path::new(f).join("model.json").is_file());
    if folder.is_none() {
        eprintln!("skipped: no model (`make model`, then TOOLPLAN_TEST_MODEL)");
    }
    folder
}

async fn opened(home: &Path, model: &str, folder: Option<PathBuf>) -> Workbench {
    let workbench = open(home.into(), &[("TOOLPLAN_MODEL_DIR", model)], folder).await.unwrap();
    workbench.settle_model().await;
    workbench
}

fn tool(name: &str, description: &str) -> ToolSpec {
    ToolSpec { description: description.into(), ..mock(name, json!(1), 0) }
}

/// Tools enough for a job of its own.
fn many(count: usize) -> Vec<ToolSpec> {
    let text = |i: usize| format!("Number {i} of many tools, this one about the letter {}", i % 26);
    (0..count).map(|i| tool(&format!("many_{i}"), &text(i))).collect()
}

/// Waits until `done` holds.
#[track_caller]
fn until(workbench: &Workbench, done: impl Fn(&ModelInfo) -> bool) -> ModelInfo {
    let began = Instant::now();
    loop {
        let info = workbench.embedding_model();
        if done(&info) {
            return info;
        }
        assert!(began.elapsed() < Duration::from_secs(240), "{info:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// D-04: without a model, tools are found by words, and everybody is told how to change that.
#[tokio::test]
async fn without_a_model_words_decide() {
    let home = tempfile::tempdir().unwrap();
    let workbench = open(home.path().into(), &[], None).await.unwrap();
    workbench.settle_model().await;
    let info = workbench.embedding_model();
    assert!(!info.installed && !info.in_use && info.problem.is_none(), "{info:?}");
    assert!(info.note.contains("toolplan model add"), "{}", info.note);
    assert_eq!(workbench.info().embedding_model, info);
    assert!(workbench.doctor().iter().any(|c| c.name == "embedding model" && c.ok && c.hint == info.note));
    assert_eq!(workbench.index_embeddings().unwrap_err().code, "model.missing");
    assert_eq!(workbench.add_embedding_model(&home.path().join("absent")).await.unwrap_err().code, "model.source");
    assert!(!workbench.remove_embedding_model().unwrap().installed);

    // A folder that only looks like a model is a trouble of its own, and planning goes on.
    let broken = home.path().join("broken");
    std::fs::create_dir(&broken).unwrap();
    std::fs::write(broken.join("model.json"), "{").unwrap();
    let workbench = opened(home.path(), &broken.display().to_string(), None).await;
    assert_eq!(workbench.embedding_model().problem.unwrap().code, "model.broken");
    assert!(!workbench.plan(asking("PROJ-123"), None).await.unwrap().planning.plan.steps.is_empty());
}

/// D-04: a tool is found by what it means, an edit counts at once, and a plan comes out the same twice.
#[tokio::test]
async fn meaning_finds_what_words_do_not() {
    let Some(model) = model() else { return };
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("mine");
    std::fs::create_dir(&folder).unwrap();
    let workbench = opened(home.path(), &model, Some(folder)).await;
    let tools = vec![tool("umbrella_advice", "Forecast of rain and showers"), tool("bread", "Bake a loaf in the oven")];
    workbench.register_tools(tools, "test").unwrap();
    let info = workbench.embedding_model();
    assert!(info.installed && info.in_use && info.indexed == info.total, "{info:?}");
    let first = |view: &toolplan_workbench::views::PlanView| view.planning.candidates.first().map(|c| c.tool.clone());
    let query = "Will I get wet outside this afternoon?";
    let view = workbench.plan(asking(query), None).await.unwrap();
    assert_eq!(first(&view).as_deref(), Some("umbrella_advice"));
    let again = workbench.plan(asking(query), None).await.unwrap();
    assert_eq!(again.planning.candidates, view.planning.candidates);

    workbench.save_tool(tool("umbrella_advice", "Counts how many umbrellas are in stock")).unwrap();
    workbench.save_tool(tool("bread", "Tells whether it is going to be wet or dry weather")).unwrap();
    assert!(workbench.embedding_model().in_use);
    let view = workbench.plan(asking(query), None).await.unwrap();
    assert_eq!(first(&view).as_deref(), Some("bread"));
}

/// D-04: reading can be stopped and goes on where it stopped; another workspace reads nothing again; a damaged cache is
/// made anew, and said to be.
#[tokio::test(flavor = "multi_thread")]
async fn reading_stops_resumes_and_is_shared() {
    let Some(model) = model() else { return };
    let home = tempfile::tempdir().unwrap();
    let workbench = opened(home.path(), &model, None).await;
    workbench.register_tools(many(600), "test").unwrap();
    let before = workbench.embedding_model();
    assert!(!before.in_use && !before.indexing && before.total >= 600, "{before:?}");
    workbench.index_embeddings().unwrap();
    let info = until(&workbench, |i| i.indexed > before.indexed);
    assert!(!info.in_use, "words alone decide until all is read");
    workbench.cancel_index_embeddings();
    // What was under way when it was told to stop is kept as well.
    std::thread::sleep(Duration::from_millis(500));
    drop(workbench);

    let workbench = opened(home.path(), &model, None).await;
    let resumed = workbench.embedding_model();
    assert!(resumed.indexed > before.indexed && resumed.indexed < resumed.total, "{resumed:?}");
    workbench.index_embeddings().unwrap();
    let info = until(&workbench, |i| i.in_use && !i.indexing);
    assert_eq!(info.indexed, info.total);

    let other = home.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let second = opened(home.path(), &model, Some(other)).await;
    second.register_tools(many(600), "test").unwrap();
    assert!(second.embedding_model().in_use, "every vector was at hand");
    drop((workbench, second));

    std::fs::write(home.path().join("toolplan/vectors.db"), "damaged ".repeat(5000)).unwrap();
    let _ = std::fs::remove_file(home.path().join("toolplan/vectors.db-wal"));
    let workbench = opened(home.path(), &model, None).await;
    let info = workbench.embedding_model();
    assert_eq!(info.problem.as_ref().map(|p| p.code.as_str()), Some("vectors.rebuilt"), "{info:?}");
    assert!(info.indexed < info.total && !info.in_use);
}

//! Discovery through a whole workspace: the tools in a run, activation, the journal, the index between two starts.

use crate::bench::{Bench, asking, mock, open};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use toolplan_workbench::{
    Workbench,
    engine::{
        discovery::{DiscoveryEvent, SearchQuery},
        plan::{PlanSpec, StepSpec},
        ports::ErrorClass,
        request::Request,
        run::{AttemptOutcome, RunState, StepStatus},
        settings::{ActivationScope, DiscoverySettings, Settings},
        tool::{Loading, ToolSpec},
        verdict::Gate,
    },
};

fn deferred(name: &str, delay_ms: u32) -> ToolSpec {
    ToolSpec { loading: Loading::Deferred, ..mock(name, json!({"from": name}), delay_ms) }
}

fn settings(change: impl FnOnce(&mut DiscoverySettings)) -> Settings {
    let mut settings = Settings::default();
    settings.discovery.enabled = true;
    change(&mut settings.discovery);
    settings
}

/// The sample with discovery on and two deferred tools.
async fn bench(change: impl FnOnce(&mut DiscoverySettings)) -> Bench {
    let bench = Bench::sample().await;
    bench.workbench.save_settings(settings(change)).unwrap();
    bench.workbench.register_tools(vec![deferred("late", 0), deferred("later", 0)], "test").unwrap();
    bench
}

fn steps(calls: &[(&str, Value, &[&str])]) -> PlanSpec {
    let step = |(i, (tool, arguments, after)): (usize, &(&str, Value, &[&str]))| StepSpec {
        id: format!("step-{}", i + 1),
        tool: tool.to_string(),
        arguments: arguments.as_object().unwrap().clone(),
        dependencies: after.iter().map(|d| d.to_string()).collect(),
        ..Default::default()
    };
    PlanSpec { steps: calls.iter().enumerate().map(step).collect(), ..Default::default() }
}

async fn run(workbench: &Workbench, request: Request, plan: PlanSpec) -> (RunState, Vec<(String, String)>) {
    let view = workbench.plan_from(request, plan).unwrap();
    let run = workbench.start_run(view.id).await.unwrap();
    let state = workbench.wait_run(run).await.unwrap();
    let events = workbench.open_run(run).unwrap().events;
    let told = events.into_iter().filter(|e| e.kind == "discovery").map(|e| (e.step, e.text)).collect();
    (state, told)
}

fn of_steps(told: Vec<(String, String)>) -> Vec<String> {
    told.into_iter().filter(|(step, _)| !step.is_empty()).map(|(step, text)| format!("{step}: {text}")).collect()
}

/// D-02: switching discovery on registers its tools, in workspaces that exist as well; switching it off hides them.
#[tokio::test]
async fn discovery_tools_come_with_discovery() {
    let bench = Bench::sample().await;
    let has = |w: &Workbench| w.tool_specs().iter().filter(|t| t.group == "discovery").count();
    assert_eq!(has(&bench.workbench), 0);
    bench.workbench.save_settings(settings(|_| ())).unwrap();
    assert_eq!(has(&bench.workbench), 2);
    let revision = bench.workbench.info().revision;
    let bench = bench.again().await;
    assert_eq!((has(&bench.workbench), bench.workbench.info().revision), (2, revision), "registered once");
    bench.workbench.save_settings(Settings::default()).unwrap();
    let row =
        |w: &Workbench| w.catalog(&asking("x"), None).unwrap().into_iter().find(|r| r.name == "tool_get").unwrap();
    assert_eq!((row(&bench.workbench).visible, row(&bench.workbench).reason.as_str()), (false, "Discovery is off"));
    let wrong = settings(|d| d.hints.top_k = 0);
    assert_eq!(bench.workbench.save_settings(wrong).unwrap_err().code, "settings.discovery");
}

/// D-02, D-06, D-08: in one stage a plan searches, reads and calls deferred tools; each is activated once, before its
/// call, and the journal says which step did what.
#[tokio::test]
async fn a_run_searches_reads_and_activates() {
    let bench = bench(|_| ()).await;
    let plan = steps(&[
        ("tool_search", json!({"query": "late", "search_type": "regex"}), &[]),
        ("tool_get", json!({"names": ["late", "no_such_tool"]}), &[]),
        ("late", json!({}), &[]),
        ("late", json!({}), &[]),
        ("later", json!({}), &["step-1"]),
    ]);
    let (state, told) = run(&bench.workbench, asking("find and call"), plan).await;
    assert!(state.steps.values().all(|s| s.status == StepStatus::Succeeded), "{:#?}", state.steps);
    let data = |step: &str| state.steps[step].result.as_ref().unwrap().data.clone();
    let found: Vec<Value> = data("step-1")["tools"].as_array().unwrap().iter().map(|t| t["name"].clone()).collect();
    assert_eq!(found, ["late", "later"]);
    assert_eq!(data("step-2")["withheld"], json!(["no_such_tool"]));
    assert_eq!(data("step-5"), json!({"from": "later"}));
    assert_eq!(state.activated, ["late", "later"]);
    assert!(told[0].1.starts_with("Index ready: "), "of the planning: {told:?}");
    let mut told = of_steps(told);
    told.sort();
    assert_eq!(
        told,
        [
            "step-1: Searched tools for \"late\" by regex: 2 found",
            "step-2: Read the records of 1 tools; 1 withheld",
            "step-3: Activated late for the run: its first call",
            "step-5: Activated later for the run: its first call",
        ]
    );
    // A run's activations end with it.
    let prompt = bench.workbench.prompt(&asking("again")).unwrap();
    assert!(prompt.tools.iter().any(|t| t.name == "tool_search") && prompt.tools.iter().all(|t| t.name != "late"));
}

/// D-06: what is hidden by the time of its call is refused by name and gate, in a parallel stage too, and never called.
#[tokio::test]
async fn a_tool_hidden_meanwhile_is_refused() {
    let bench = bench(|_| ()).await;
    bench.workbench.register_tools(vec![mock("slow", json!({}), 400)], "test").unwrap();
    let plan = steps(&[("slow", json!({}), &[]), ("late", json!({}), &["step-1"]), ("later", json!({}), &["step-1"])]);
    let view = bench.workbench.plan_from(asking("q"), plan).unwrap();
    let run = bench.workbench.start_run(view.id).await.unwrap();
    let hiding = Settings { kill_switch: vec!["late".into()], ..settings(|_| ()) };
    bench.workbench.save_settings(hiding).unwrap();
    let state = bench.workbench.wait_run(run).await.unwrap();
    assert_eq!(state.steps["step-3"].status, StepStatus::Succeeded);
    let error = state.steps["step-2"].error.clone().unwrap();
    assert_eq!(error.class, ErrorClass::Refused);
    assert!(error.message.starts_with("late cannot be activated: the gate visibility hides it"), "{error:?}");
    assert_eq!(state.steps["step-2"].attempts.len(), 1);
    let outcome = state.steps["step-2"].attempts[0].outcome.clone();
    assert!(matches!(outcome, Some(AttemptOutcome::Failed { .. })), "{outcome:?}");
    let events = bench.workbench.open_run(run).unwrap().events;
    let denied: Vec<_> = events.iter().filter(|e| e.text.contains("was not activated")).collect();
    assert_eq!(denied.len(), 1, "{events:?}");
    assert_eq!(denied[0].step, "step-2");
    assert_eq!(state.activated, ["later"]);
}

/// D-06: for a session, an activation holds for its next plannings, until it is taken back; other sessions and made-up
/// claims see nothing of it.
#[tokio::test]
async fn a_session_keeps_its_activations() {
    let bench = bench(|d| d.activation_scope = ActivationScope::Session).await;
    let nobody = bench.workbench.plan(asking("late"), None).await.unwrap_err();
    assert_eq!(nobody.code, "session.id_missing");
    let of = |id: &str| {
        let mut request = asking("call the late tool");
        request.session.id = id.into();
        request.session.activated = vec!["later".into()];
        request
    };
    let offered = |id: &str| {
        let prompt = bench.workbench.prompt(&of(id)).unwrap();
        prompt.tools.into_iter().map(|t| t.name).filter(|n| n.starts_with("late")).collect::<Vec<_>>()
    };
    assert_eq!(offered("a"), Vec::<String>::new(), "what a caller claims is not taken");
    let view = bench.workbench.plan_from(of("a"), steps(&[("late", json!({}), &[])])).unwrap();
    let id = bench.workbench.start_run(view.id).await.unwrap();
    bench.workbench.wait_run(id).await.unwrap();
    assert_eq!((offered("a"), offered("b")), (vec!["late".to_string()], vec![]));
    assert_eq!(bench.workbench.activated_tools("a"), ["late"]);
    let row = |id: &str| bench.workbench.tool("late", &of(id), Some(view.id)).unwrap().trail;
    assert!(row("a").verdicts.iter().any(|v| v.gate == Gate::Planned), "the planning of then still speaks");
    let (_, told) = run(&bench.workbench, of("a"), steps(&[("late", json!({}), &[])])).await;
    assert_eq!(of_steps(told), Vec::<String>::new(), "activated once");
    bench.workbench.deactivate_tools("a", Some("late"));
    assert_eq!(offered("a"), Vec::<String>::new());
}

/// D-07, D-08: what was found out while planning stands in the planning and at the start of the run's journal.
#[tokio::test]
async fn planning_events_open_the_journal() {
    let bench = bench(|d| (d.hints.enabled, d.directory.enabled) = (true, true)).await;
    let view = bench.plan(asking("search the docs for the retry policy")).await;
    let kinds: Vec<&str> = view.planning.discovery.iter().map(DiscoveryEvent::kind).collect();
    assert_eq!(kinds, ["tool_search_cache_ready", "tool_directory_rendered", "tool_hints_generated"]);
    let run = bench.workbench.start_run(view.id).await.unwrap();
    bench.workbench.wait_run(run).await.unwrap();
    let events = bench.workbench.open_run(run).unwrap().events;
    let kinds: Vec<&str> = events.iter().take(5).map(|e| e.kind.as_str()).collect();
    assert_eq!(kinds, ["planned", "basis", "discovery", "discovery", "discovery"]);
    let system = bench.workbench.prompt(&view.planning.request).unwrap().system;
    assert!(view.planning.blocks.blocks.iter().all(|b| system.contains(&b.text)), "{system}");
}

/// The stored indexes below `home`.
fn stored(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    files
}

/// D-05: several workspaces share a folder and leave each other's index alone (W3-6); a damaged one is built anew, said
/// so; what changed since is found.
#[tokio::test]
async fn indexes_share_a_folder() {
    let home = tempfile::tempdir().unwrap();
    let folder = |name: &str| {
        let folder = home.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    };
    let (one, two) = (folder("one"), folder("two"));
    let opened = async |folder: &Path| open(home.path().into(), &[], Some(folder.into())).await.unwrap();
    let finds = |w: &Workbench, query: &str| {
        let query = SearchQuery { include_always_loaded: true, ..SearchQuery::of(query) };
        w.search_tools(&asking("x"), &query).unwrap().tools.first().map(|t| t.name.clone())
    };
    let a = opened(&one).await;
    a.register_tools(vec![mock("walrus", json!({}), 0)], "test").unwrap();
    let b = opened(&two).await;
    b.register_tools(vec![mock("pelican", json!({}), 0)], "test").unwrap();
    drop((a, b));
    let (a, b) = (opened(&one).await, opened(&two).await);
    assert_eq!((finds(&a, "walrus"), finds(&a, "pelican")), (Some("walrus".into()), None));
    assert_eq!((finds(&b, "pelican"), finds(&b, "walrus")), (Some("pelican".into()), None));
    drop((a, b));

    let index = home.path().join("toolplan/index");
    let files = stored(&index);
    assert_eq!(files.len(), 2, "{files:?}");
    let before: Vec<Vec<u8>> = files.iter().map(|f| std::fs::read(f).unwrap()).collect();
    assert!(opened(&one).await.info().workspace.notices.is_empty());
    assert_eq!(files.iter().map(|f| std::fs::read(f).unwrap()).collect::<Vec<_>>(), before, "unchanged: no work");

    let mut damaged = before[0].clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    std::fs::write(&files[0], &damaged).unwrap();
    let notices: Vec<_> = [opened(&one).await, opened(&two).await]
        .into_iter()
        .flat_map(|w| {
            assert!(finds(&w, "walrus").is_some() || finds(&w, "pelican").is_some());
            w.info().workspace.notices
        })
        .collect();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert_eq!(notices[0].code, "index.damaged");
    assert_eq!(stored(&index), files);
    assert!(opened(&one).await.info().workspace.notices.is_empty(), "repaired");
}

/// D-01, D-05: the folder is a setting; one that cannot be written is a notice, and searching works.
#[tokio::test]
async fn the_index_folder_is_a_setting() {
    let bench = bench(|d| d.cache_dir = "kept/here".into()).await;
    let bench = bench.again().await;
    let root = PathBuf::from(bench.workbench.info().workspace.root);
    assert_eq!(stored(&root.join("kept/here")).len(), 1);
    std::fs::write(root.join("a-file"), "no folder").unwrap();
    bench.workbench.save_settings(settings(|d| d.cache_dir = "a-file/below".into())).unwrap();
    let bench = bench.again().await;
    let notices = bench.workbench.info().workspace.notices;
    assert!(notices.iter().any(|n| n.code.starts_with("index.un")), "{notices:?}");
    let found = bench.workbench.search_tools(&asking("x"), &SearchQuery::of("later")).unwrap();
    assert_eq!(found.tools[0].name, "later");
}

/// D-09: the lab over the sample, with a faulty pattern beside the other rankings.
#[tokio::test]
async fn the_lab_searches_every_way() {
    let bench = Bench::sample().await;
    let lab = bench.workbench.search_lab(&asking("x"), &SearchQuery::of("send email ("), true).unwrap();
    let errors: Vec<bool> = lab.rankings.iter().map(|r| r.error.is_empty()).collect();
    assert_eq!(errors, [true, false, true, false], "{:?}", lab.rankings);
    let row = lab.rows.iter().find(|r| r.tool == "send_email").unwrap();
    assert_eq!((row.visible, row.gate), (false, Some(Gate::State)));
    assert!(row.lexical.is_some() && row.semantic.is_none() && !row.fields.is_empty());
    let visible = bench.workbench.search_lab(&asking("x"), &SearchQuery::of("send email"), false).unwrap();
    assert!(visible.rows.iter().all(|r| r.visible));
}

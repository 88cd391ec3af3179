mod stored_shapes;

use super::*;
use serde_json::{Map, Value, json};
use std::{path::Path, sync::Arc, time::Instant};
use toolplan_engine::{
    plan::{PlanSpec, StepSpec},
    ports::{Journal as _, ToolResult},
    run::{AttemptOutcome, RunState},
    tool::RetryPolicy,
};

fn started(steps: &[&str]) -> RunEvent {
    let steps = steps.iter().map(|id| StepSpec { id: id.to_string(), tool: "t".into(), ..StepSpec::default() });
    RunEvent::Started {
        plan: PlanSpec { steps: steps.collect(), reasoning: String::new() },
        catalog_revision: 7,
        parallel_limit: 5,
        timeout_ms: 1000,
        retry: RetryPolicy::default(),
    }
}

fn ready(step: &str) -> RunEvent {
    RunEvent::StepReady { step: step.into() }
}

fn succeeded(step: &str) -> RunEvent {
    RunEvent::StepSucceeded { step: step.into() }
}

fn finished(outcome: RunOutcome) -> RunEvent {
    RunEvent::Finished { outcome, duration_ms: 12 }
}

/// An event of about 1 kB.
fn large(step: &str) -> RunEvent {
    RunEvent::AttemptStarted {
        step: step.into(),
        attempt: 1,
        tool: "t".into(),
        arguments: Map::from_iter([("text".to_owned(), Value::from("x".repeat(1000)))]),
    }
}

/// `seq kind` of each event, read by a connection that has nothing to do with the store.
fn on_disk(path: &Path, run: RunId) -> Vec<String> {
    let db = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut query = db.prepare("SELECT seq || ' ' || kind FROM event WHERE run_id = ? ORDER BY seq").unwrap();
    query.query_map([run], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// `run seq kind` of each event in the logs beside the database.
fn in_logs(path: &Path) -> Vec<String> {
    let logs = log::orphaned(path, |_| true);
    let kind = |line: &log::Line| serde_json::from_str::<RunEvent>(&line.body).unwrap().kind().to_string();
    let said = |line: &log::Line| format!("{} {} {}", line.run, line.seq, kind(line));
    logs.iter().flat_map(|(_, lines)| lines.iter().map(said)).collect()
}

#[tokio::test]
async fn events_are_committed_when_append_returns() {
    let store = Store::temporary().unwrap();
    let run = store.journal().create_run("q", "offline", 7).await.unwrap();
    let first = store.append(run, vec![started(&["a"]), ready("a")]).await.unwrap();
    assert_eq!(on_disk(store.path(), run), ["1 started", "2 step_ready"]);
    // From here on the run is driven by this store: its events are in the log first.
    let second = store.append(run, vec![succeeded("a")]).await.unwrap();
    assert_eq!(in_logs(store.path()), ["1 3 step_succeeded"]);
    store.journal().events(run).unwrap();
    assert_eq!(on_disk(store.path(), run), ["1 started", "2 step_ready", "3 step_succeeded"], "a reader sees it all");

    let entries: Vec<_> = first.into_iter().chain(second).collect();
    assert_eq!(
        store.journal().events(run).unwrap(),
        (entries.clone(), vec![]),
        "what append returned is what is stored"
    );
    assert_eq!(store.journal().events_from(run, 2).unwrap().0, entries[2..]);
    assert!(entries.is_sorted_by_key(|e| e.at_ms));

    assert_eq!(store.append(run, vec![]).await.unwrap(), []);
    assert_eq!(store.append(99, vec![ready("a")]).await.unwrap_err().code, "journal.unknown_run");
    assert_eq!(store.journal().events(99).unwrap_err().code, "journal.unknown_run");
}

#[tokio::test]
async fn time_never_runs_backwards_in_a_run() {
    let store = Store::temporary().unwrap();
    let run = store.journal().create_run("q", "offline", 7).await.unwrap();
    store.append(run, vec![ready("a")]).await.unwrap();
    let ahead = crate::now_ms() + 3_600_000;
    store.edit(|db| Ok(db.execute("UPDATE event SET at_ms = ?", [ahead as i64])?)).unwrap();
    assert_eq!(store.append(run, vec![ready("a")]).await.unwrap()[0].at_ms, ahead, "the clock was set back");
}

#[tokio::test]
async fn the_list_sums_up_the_events() {
    let store = Store::temporary().unwrap();
    let journal = store.journal();
    let mut runs = vec![];
    for query in ["planned", "running", "partial"] {
        runs.push(journal.create_run(query, "offline", 3).await.unwrap());
    }
    store.append(runs[1], vec![started(&["a", "b"]), succeeded("a")]).await.unwrap();
    let events = vec![started(&["a", "b", "c"]), succeeded("a"), succeeded("c"), finished(RunOutcome::Partial)];
    store.append(runs[2], events).await.unwrap();

    let rows = journal.runs(10, None).unwrap();
    let row = |r: &RunRow| (r.id, r.outcome, r.succeeded, r.steps, r.started_ms.is_some(), r.finished_ms.is_some());
    assert_eq!(
        rows.iter().map(row).collect::<Vec<_>>(),
        [(runs[2], Some(RunOutcome::Partial), 2, 3, true, true), (runs[1], None, 1, 2, true, false)]
    );
    assert_eq!((rows[0].query.as_str(), rows[0].planner.as_str(), rows[0].catalog_revision), ("partial", "offline", 7));
    assert_eq!(journal.run(runs[2]).unwrap(), rows[0]);
    assert_eq!(journal.runs(1, None).unwrap(), rows[..1]);
    assert_eq!(journal.runs(10, Some(runs[2])).unwrap(), rows[1..]);
    assert_eq!(journal.runs_and_plannings(10, None).unwrap().len(), 3);
    assert_eq!(journal.run(99).unwrap_err().code, "journal.unknown_run");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_appenders_leave_no_gap() {
    let store = Arc::new(Store::temporary().unwrap());
    let mut runs = vec![];
    for _ in 0..5 {
        runs.push(store.journal().create_run("q", "offline", 1).await.unwrap());
    }
    // Ten appenders to each run, twenty appends each, of three events each.
    let appenders: Vec<_> = (0..50)
        .map(|i| {
            let (store, run) = (store.clone(), runs[i % runs.len()]);
            tokio::spawn(async move {
                for _ in 0..20 {
                    let entries = store.append(run, vec![ready("a"), ready("b"), ready("c")]).await.unwrap();
                    assert!(entries.windows(2).all(|pair| pair[1].seq == pair[0].seq + 1), "an append stays together");
                }
            })
        })
        .collect();
    for appender in appenders {
        appender.await.unwrap();
    }
    for run in runs {
        let (entries, _) = store.journal().events(run).unwrap();
        assert!(entries.iter().map(|e| e.seq).eq(1..=600), "from 1 without gaps");
        assert!(entries.is_sorted_by_key(|e| e.at_ms));
    }
}

/// Starts so many appends of a large event that all wait for the writer at the same time, and returns their results.
async fn append_together(store: &Arc<Store>, run: RunId, appends: usize) -> Vec<Result<Vec<JournalEntry>, Problem>> {
    let blocker = Connection::open(store.path()).unwrap();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    let tasks: Vec<_> = (0..appends)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.append(run, vec![large("a")]).await })
        })
        .collect();
    // On a runtime of one thread each turn lets at least one more task run up to where it waits.
    for _ in 0..appends {
        tokio::task::yield_now().await;
    }
    blocker.execute_batch("ROLLBACK").unwrap();
    let mut results = vec![];
    for task in tasks {
        results.push(task.await.unwrap());
    }
    results
}

#[tokio::test]
async fn what_waits_is_committed_together() {
    let store = Arc::new(Store::temporary().unwrap());
    let run = store.journal().create_run("q", "offline", 1).await.unwrap();
    let before = store.transactions();
    let stored = append_together(&store, run, 100).await;
    assert!(stored.iter().flat_map(|result| result.as_ref().unwrap()).map(|e| e.seq).eq(1..=100), "in the order asked");
    let transactions = store.transactions() - before;
    assert!(transactions <= 2, "what the writer had taken when it was blocked, and the rest: {transactions}");
}

#[tokio::test]
async fn a_bad_append_does_not_hurt_its_neighbours() {
    let store = Store::temporary().unwrap();
    let run = store.journal().create_run("q", "offline", 1).await.unwrap();
    let (good, bad) = tokio::join!(store.append(run, vec![ready("a")]), store.append(99, vec![ready("a")]));
    assert_eq!(good.unwrap()[0].seq, 1);
    assert_eq!(bad.unwrap_err().code, "journal.unknown_run");
}

/// Appends until there is no room; how many went in, and what was said then.
async fn append_until_full(store: &Store, run: RunId) -> (usize, Problem) {
    for stored in 0..1000 {
        if let Err(problem) = store.append(run, vec![large("a")]).await {
            assert_eq!(problem.code, "journal.write");
            assert!(problem.hint.contains("free some space"), "{}", problem.hint);
            return (stored, problem);
        }
        // What went into the log of a run under way goes on into the tables, or does not fit there.
        let _ = store.writer.drain();
    }
    panic!("the limit holds");
}

#[tokio::test]
async fn a_full_disk_loses_nothing_and_the_writer_goes_on() {
    let store = Arc::new(Store::temporary().unwrap());
    let limit = async |pages| store.writer.submit(Work::LimitPages(pages)).await.unwrap();
    let run = store.journal().create_run("q", "offline", 1).await.unwrap();
    store.append(run, vec![ready("a")]).await.unwrap();

    limit(40).await;
    let (more, problem) = append_until_full(&store, run).await;
    let stored = 1 + more;
    assert!(stored > 5);
    assert!(problem.message.contains(&store.path().display().to_string()), "{problem}");
    for waiting in append_together(&store, run, 20).await {
        assert_eq!(waiting.unwrap_err(), problem, "everyone who waited is told");
    }
    assert_eq!(store.journal().create_run(&"x".repeat(50_000), "offline", 1).await.unwrap_err().code, "journal.write");
    assert_eq!(on_disk(store.path(), run).len(), stored, "every event that was acknowledged, and no other");

    limit(1_000_000).await;
    let entries = store.append(run, vec![large("a"), finished(RunOutcome::Failed)]).await.unwrap();
    assert_eq!(entries[0].seq as usize, stored + 1, "no gap where the refused events would have been");
    let (entries, problems) = store.journal().events(run).unwrap();
    assert_eq!((entries.len(), problems), (stored + 2, vec![]));
    assert_eq!(store.journal().run(run).unwrap().outcome, Some(RunOutcome::Failed));
}

/// O-10: when the tables cannot take what the log holds, the run is told at its next append; nothing acknowledged is
/// lost, and when there is room again everything goes on.
#[tokio::test]
async fn a_full_disk_stops_a_run_and_keeps_its_log() {
    let store = Arc::new(Store::temporary().unwrap());
    let limit = async |pages| store.writer.submit(Work::LimitPages(pages)).await.unwrap();
    let run = store.journal().create_run("q", "offline", 1).await.unwrap();
    store.append(run, vec![started(&["a"])]).await.unwrap();
    limit(40).await;
    let stored = 1 + append_until_full(&store, run).await.0 as u32;
    assert!(store.journal().run(run).is_ok(), "what is in the tables can be read");

    limit_ok(&store).await;
    let entries = store.append(run, vec![finished(RunOutcome::Failed)]).await.unwrap();
    assert_eq!(entries[0].seq, stored + 1, "no gap where the refused event would have been");
    let (entries, problems) = store.journal().events(run).unwrap();
    assert_eq!((entries.len() as u32, problems), (stored + 1, vec![]));
    assert_eq!(store.journal().run(run).unwrap().outcome, Some(RunOutcome::Failed));
}

/// The disk has room again. The job itself waits behind the full log, so it is tried through the other connection.
async fn limit_ok(store: &Store) {
    let answer = store.writer.submit(Work::LimitPages(1_000_000)).await;
    assert!(answer.is_ok(), "{:?}", answer.err());
}

/// O-10: with `power` every event is on the disk before it is acknowledged; the log is emptied when it has grown, and
/// gone when the store is closed.
#[tokio::test]
async fn the_log_comes_and_goes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workspace.toolplan");
    let store = Store::open(&path).unwrap();
    store.set_durability(toolplan_engine::settings::Durability::Power);
    let files = || {
        std::fs::read_dir(folder.path())
            .unwrap()
            .flatten()
            .filter(|f| f.file_name().to_string_lossy().contains("-log-"))
            .map(|f| f.metadata().unwrap().len())
            .collect::<Vec<_>>()
    };
    let run = store.journal().create_run("q", "offline", 1).await.unwrap();
    assert_eq!(files(), [0; 0], "nothing runs yet");
    store.append(run, vec![started(&["a"])]).await.unwrap();
    for _ in 0..9 {
        store.append(run, vec![large("a"); 1000]).await.unwrap();
    }
    assert!(files()[0] > 9_000_000);
    assert_eq!(store.journal().events(run).unwrap().0.len(), 9001);
    assert!(files()[0] < 1000, "everything is in the tables");
    store.append(run, vec![finished(RunOutcome::Succeeded)]).await.unwrap();
    drop(store);
    assert_eq!(files(), [0; 0]);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.journal().run(1).unwrap().outcome, Some(RunOutcome::Succeeded));
    assert_eq!(store.journal().events(run).unwrap().0.len(), 9002);
}

/// O-10: a run goes on after its process died: its events continue its numbers, and it is no longer at its end.
#[tokio::test]
async fn an_interrupted_run_is_reopened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workspace.toolplan");
    let store = Store::open(&path).unwrap();
    let run = store.journal().create_run("q", "offline", 1).await.unwrap();
    store.append(run, vec![started(&["a", "b"]), succeeded("a")]).await.unwrap();
    drop(store);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.journal().run(run).unwrap().outcome, Some(RunOutcome::Interrupted));
    let reopened = RunEvent::Reopened { confirmed: vec![] };
    assert_eq!(store.append(run, vec![reopened]).await.unwrap()[0].seq, 4);
    store.append(run, vec![succeeded("b")]).await.unwrap();
    let row = store.journal().run(run).unwrap();
    assert_eq!((row.outcome, row.finished_ms, row.succeeded), (None, None, 2));
    assert_eq!(store.journal().mark_interrupted().unwrap(), [0; 0], "it is ours");
    store.append(run, vec![finished(RunOutcome::Succeeded)]).await.unwrap();
    let (entries, _) = store.journal().events(run).unwrap();
    assert!(entries.iter().map(|e| e.seq).eq(1..=6));
    assert_eq!(RunState::of(&entries).outcome, Some(RunOutcome::Succeeded));
}

#[tokio::test]
async fn runs_of_a_closed_store_are_interrupted_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workspace.toolplan");
    let living = Store::open(&path).unwrap();
    let dying = Store::open(&path).unwrap();
    let run = async |store: &Store, events| {
        let run = store.journal().create_run("q", "offline", 1).await.unwrap();
        store.append(run, events).await.unwrap();
        run
    };
    let mine = run(&living, vec![started(&["a"])]).await;
    let planned = run(&dying, vec![ready("a")]).await;
    let done = run(&dying, vec![started(&["a"]), finished(RunOutcome::Succeeded)]).await;
    let lost = run(&dying, vec![started(&["a"])]).await;
    std::thread::sleep(std::time::Duration::from_millis(5));
    dying.append(lost, vec![ready("a")]).await.unwrap();
    // A plan made by one and started by the other belongs to the other.
    let taken_over = run(&dying, vec![ready("a")]).await;
    living.append(taken_over, vec![started(&["a"])]).await.unwrap();
    drop(dying);

    let opened = Store::open(&path).unwrap();
    let outcome = |run| opened.journal().run(run).unwrap().outcome;
    assert_eq!(outcome(mine), None);
    assert_eq!(outcome(taken_over), None);
    assert_eq!(outcome(planned), None);
    assert_eq!(outcome(done), Some(RunOutcome::Succeeded));
    assert_eq!(outcome(lost), Some(RunOutcome::Interrupted));

    let (entries, _) = opened.journal().events(lost).unwrap();
    let [first, last, end] = entries.as_slice() else { panic!("{entries:?}") };
    let duration_ms = last.at_ms - first.at_ms;
    assert!(duration_ms >= 5);
    assert_eq!(end.event, RunEvent::Finished { outcome: RunOutcome::Interrupted, duration_ms });
    assert_eq!((end.seq, end.at_ms), (3, last.at_ms));
    assert_eq!(opened.journal().mark_interrupted().unwrap(), [] as [RunId; 0], "once");
}

/// Set in the process that [`a_killed_process_leaves_its_last_acknowledged_event`] starts and kills.
const VICTIM: &str = "TOOLPLAN_STORE_TEST_VICTIM";

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_killed_process_leaves_its_last_acknowledged_event() {
    use std::io::{BufRead, BufReader};

    if let Some(path) = std::env::var_os(VICTIM) {
        let store = Store::open(path).unwrap();
        let run = store.journal().create_run("q", "offline", 1).await.unwrap();
        store.append(run, vec![started(&["a"])]).await.unwrap();
        loop {
            let entries = store.append(run, vec![large("a")]).await.unwrap();
            println!("stored {}", entries[0].seq);
        }
    }

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workspace.toolplan");
    let mut victim = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "journal::tests::a_killed_process_leaves_its_last_acknowledged_event", "--nocapture"])
        .env(VICTIM, &path)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut acknowledged = 0;
    let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines().map_while(Result::ok);
    for line in lines.by_ref() {
        acknowledged = line.strip_prefix("stored ").map_or(acknowledged, |seq| seq.parse().unwrap());
        if acknowledged == 200 {
            break;
        }
    }
    let store = Store::open(&path).unwrap();
    assert_eq!(store.journal().run(1).unwrap().outcome, None, "its process lives");
    victim.kill().unwrap();
    victim.wait().unwrap();
    for line in lines {
        acknowledged = line.strip_prefix("stored ").map_or(acknowledged, |seq| seq.parse().unwrap());
    }

    assert_eq!(store.journal().mark_interrupted().unwrap(), [1]);
    let (entries, problems) = store.journal().events(1).unwrap();
    assert_eq!(problems, []);
    assert!(entries.iter().map(|e| e.seq).eq(1..=entries.len() as u32), "without gaps");
    // The interrupted end, and perhaps one event that was stored and not acknowledged any more.
    let extra = entries.len() - acknowledged;
    assert!((1..=2).contains(&extra), "{acknowledged} acknowledged, {} stored", entries.len());
    assert_eq!(RunState::of(&entries).outcome, Some(RunOutcome::Interrupted));
}

#[tokio::test]
async fn a_damaged_event_is_reported_and_left_out() {
    let store = Store::temporary().unwrap();
    let run = store.journal().create_run("q", "offline", 1).await.unwrap();
    store
        .append(run, vec![started(&["a"]), ready("a"), succeeded("a"), finished(RunOutcome::Succeeded)])
        .await
        .unwrap();
    store
        .edit(|db| {
            db.execute("UPDATE event SET body_json = substr(body_json, 1, 9) WHERE seq = 2", [])?;
            Ok(db.execute(r#"UPDATE event SET body_json = '{"type": "step_succeeded"}' WHERE seq = 3"#, [])?)
        })
        .unwrap();
    let (entries, problems) = store.journal().events(run).unwrap();
    assert_eq!(entries.iter().map(|e| e.seq).collect::<Vec<_>>(), [1, 4]);
    assert_eq!(problems.iter().map(|p| p.code.as_str()).collect::<Vec<_>>(), ["journal.damaged"; 2]);
    assert!(problems[1].message.contains("event 3 of run 1"), "{}", problems[1]);
    assert_eq!(store.append(run, vec![ready("a")]).await.unwrap()[0].seq, 5, "the damage keeps its number");
}

/// Not a benchmark, only the order of magnitude: `cargo test -p toolplan-store throughput -- --nocapture`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn throughput() {
    let attempt = |step: &str| {
        let arguments = Map::from_iter([("q".to_owned(), Value::from("x".repeat(200)))]);
        let result = ToolResult { data: "x".repeat(200).into(), confidence: Some(0.5), sources: vec![] };
        let step = step.to_owned();
        [
            RunEvent::AttemptStarted { step: step.clone(), attempt: 1, tool: "t".into(), arguments },
            RunEvent::AttemptFinished {
                step,
                attempt: 1,
                duration_ms: 5,
                outcome: AttemptOutcome::Succeeded { result },
            },
        ]
    };
    let store = Arc::new(Store::temporary().unwrap());
    for appenders in [1, 5, 50] {
        let (begin, before) = (Instant::now(), store.transactions());
        let appends_each = 2000 / appenders;
        let tasks: Vec<_> = (0..appenders)
            .map(|_| {
                let (store, attempt) = (store.clone(), attempt);
                tokio::spawn(async move {
                    let run = store.journal().create_run("q", "offline", 1).await.unwrap();
                    for i in 0..appends_each {
                        store.append(run, attempt(&format!("s{i}")).into()).await.unwrap();
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        println!(
            "{appenders} appenders: {:.0} events/s, {} transactions for {} appends",
            (2 * appends_each * appenders) as f64 / begin.elapsed().as_secs_f64(),
            store.transactions() - before,
            appends_each * appenders,
        );
    }
    let run = store.journal().create_run("q", "offline", 1).await.unwrap();
    let begin = Instant::now();
    for _ in 0..50 {
        store.append(run, vec![finished(RunOutcome::Succeeded)]).await.unwrap();
    }
    println!("a synced end of a run: {:?}", begin.elapsed() / 50);
}

//! A run whose process is killed at any moment (O-10): a real process, SIGKILL, a real server that counts.
//!
//! `TOOLPLAN_CRASHES` says how often; `make crash` kills 200 times.

use crate::Cli;
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    process::Stdio,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};
use toolplan_workbench::{
    Options, Workbench,
    engine::run::{Go, RunOutcome, StepStatus},
};

/// Counts requests by their path. Each answer takes a few milliseconds, so that calls are under way when a kill comes.
fn counting_server() -> (String, Arc<Mutex<HashMap<String, u32>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let counts: Arc<Mutex<HashMap<String, u32>>> = Arc::default();
    let shared = counts.clone();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let counts = shared.clone();
            thread::spawn(move || {
                let mut stream = stream;
                let mut head = vec![];
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
                    head.push(byte[0]);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let path = head.split(' ').nth(1).unwrap_or_default().to_string();
                // A connection may come without its request: the kill was in between.
                if !path.is_empty() {
                    *counts.lock().unwrap().entry(path).or_default() += 1;
                }
                thread::sleep(Duration::from_millis(8));
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\nconnection: close\r\n\r\n{\"ok\":true}");
            });
        }
    });
    (format!("http://{address}"), counts)
}

/// A plan of chains in which every other step writes.
fn plan(round: u32) -> Value {
    let mut steps = vec![];
    for chain in 0..4 {
        for link in 0..8 {
            let id = format!("s{chain}-{link}");
            let before = if link == 0 { vec![] } else { vec![format!("s{chain}-{}", link - 1)] };
            let (tool, arguments) = match link % 2 {
                0 => ("count", json!({"key": format!("{round}-{id}")})),
                _ => ("look", json!({"n": link})),
            };
            steps.push(json!({"id": id, "tool": tool, "arguments": arguments, "dependencies": before}));
        }
    }
    json!({"steps": steps})
}

fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// O-10: however a process dies, its runs open, nothing that was shown is lost, they can be gone on with and end, and
/// what must not run twice does not unless somebody says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_runs_lose_nothing() {
    let rounds: u32 = std::env::var("TOOLPLAN_CRASHES").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let (server, counts) = counting_server();
    let cli = Cli::new();
    let folder = cli.home.path().join("workspace");
    std::fs::create_dir(&folder).unwrap();
    let open = || Workbench::open(Options { folder: Some(folder.clone()), ..Options::default() });
    {
        let workbench = open().await.unwrap();
        let mut settings = workbench.info().settings;
        settings.network.allow_private = true;
        settings.run.retry.max_retries = 0;
        workbench.save_settings(settings).unwrap();
        let schema = |name: &str| json!({"type": "object", "properties": {name: {}}});
        let tools = json!([
            {"name": "count", "classification": "SAFE", "side_effects": "write", "parameters": schema("key"),
                "binding": {"kind": "http", "method": "POST", "url": format!("{server}/count/{{key}}")}},
            {"name": "look", "classification": "SAFE", "side_effects": "read", "parameters": schema("n"),
                "binding": {"kind": "mock", "result": {"fine": true}, "delay_ms": 3}},
        ]);
        let (_, problems) = workbench.register_tools(serde_json::from_value(tools).unwrap(), "test").unwrap();
        assert_eq!(problems, []);
    }
    let mut seed = 0x2545_f491_4f6c_dd1d;
    let (mut interrupted, mut asked, mut shown) = (0, 0, 0);
    for round in 0..rounds {
        let file = cli.file("plan.json", plan(round).to_string().as_bytes());
        let mut child = cli
            .command(&["run", "load", "--plan", &file, "--follow", "--workspace", &folder.display().to_string()])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = child.stdout.take().unwrap();
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let reader = thread::spawn({
            let lines = lines.clone();
            move || {
                let mut output = BufReader::new(output);
                let mut line = String::new();
                while output.read_line(&mut line).is_ok_and(|n| n > 0) {
                    if line.ends_with('\n') {
                        lines.lock().unwrap().push(std::mem::take(&mut line));
                    }
                    line.clear();
                }
            }
        });
        let began = Instant::now();
        while lines.lock().unwrap().len() < 3 && began.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_micros(random(&mut seed) % 150_000));
        child.kill().unwrap();
        child.wait().unwrap();
        reader.join().unwrap();

        let seen: Vec<Value> = lines.lock().unwrap().iter().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert!(!seen.is_empty(), "round {round}: the run never started");
        shown += seen.len();
        let run = seen[0]["run"].as_u64().unwrap() as u32;
        let workbench = open().await.unwrap();
        assert_eq!(workbench.integrity().unwrap(), [""; 0], "round {round}");
        let stored = workbench.run_events(run, "", 0, u32::MAX).unwrap().rows;
        assert!(stored.iter().map(|r| r.seq).eq(1..=stored.len() as u32), "round {round}: no gap");
        for (line, row) in seen.iter().zip(&stored) {
            let step = line["event"]["step"].as_str().unwrap_or_default();
            assert_eq!(
                (&line["seq"], &line["event"]["type"], step),
                (&row.seq.into(), &row.kind.as_str().into(), row.step.as_str()),
                "round {round}"
            );
        }
        assert!(stored.len() >= seen.len(), "round {round}: {} shown, {} stored", seen.len(), stored.len());

        let detail = workbench.open_run(run).unwrap();
        if detail.summary.outcome == Some(RunOutcome::Interrupted) {
            interrupted += 1;
            workbench.resume_run(run, vec![], false).await.unwrap();
            let began = Instant::now();
            loop {
                assert!(began.elapsed() < Duration::from_secs(30), "round {round}: it does not end");
                let now = workbench.run_control_state(run).unwrap();
                if !now.live {
                    break;
                }
                if now.paused.is_some() {
                    // Nobody knows whether these took effect, and nobody says "again".
                    for step in &now.unconfirmed {
                        asked += 1;
                        workbench.skip_step(run, step.clone()).await.unwrap();
                    }
                    workbench.step_run(run, Go::Continue).await.unwrap();
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        let state = workbench.wait_run(run).await.unwrap();
        // Where every step was under way, none may be left that succeeded.
        let ended = state.outcome.is_some_and(|outcome| outcome != RunOutcome::Interrupted);
        let told = || {
            let rows = workbench.run_events(run, "", 0, u32::MAX).unwrap().rows;
            rows.iter().map(|r| format!("{} {} {}", r.seq, r.step, r.text)).collect::<Vec<_>>().join("\n")
        };
        assert!(ended, "round {round}: {:?}, was {:?}\n{}", state.outcome, detail.summary, told());
        for (id, step) in &state.steps {
            let path = format!("/count/{round}-{id}");
            let calls = counts.lock().unwrap().get(&path).copied().unwrap_or_default();
            let writes = state.plan.steps.iter().any(|s| s.id == *id && s.tool == "count");
            if writes && step.status == StepStatus::Succeeded {
                assert_eq!(calls, 1, "round {round}: {id} has succeeded");
            }
        }
        assert_eq!(workbench.integrity().unwrap(), [""; 0], "round {round}, at the end");
        let replayed = workbench.verify_run(run).unwrap();
        assert!(replayed.faithful, "round {round}: {:?}", replayed.divergence);
    }
    let twice: Vec<_> =
        counts.lock().unwrap().iter().filter(|(_, n)| **n > 1).map(|(path, n)| format!("{path}: {n}")).collect();
    assert!(twice.is_empty(), "ran twice: {twice:?}");
    let written = counts.lock().unwrap().len();
    assert!(written > rounds as usize * 4, "the server was called at all: {written} steps of {rounds} rounds");
    assert!(asked > 0, "some kills come while a call is under way that must not be repeated");
    println!("{rounds} kills, {interrupted} interrupted runs, {shown} events shown, {asked} steps of unknown outcome");
    assert!(interrupted > rounds / 4, "the kills come while runs are under way: {interrupted} of {rounds}");
}

//! Runs that were: instants, log, replay, fork, comparison, files, retention.

use crate::bench::{Bench, asking, mock, step};
use serde_json::{Map, Value, json};
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use toolplan_workbench::{
    engine::{
        compare::DivergenceKind,
        plan::PlanSpec,
        ports::ErrorClass,
        run::{AnswerSource, ForkChange, ReplayPolicy, RunId, RunOutcome, StepStatus},
        settings::RetentionSettings,
        tool::{Classification, ToolSpec},
    },
    long::WorkKind,
    views::{Fork, OriginKind, RunDetail},
};

impl Bench {
    async fn done(&self, run: RunId) -> RunDetail {
        self.workbench.wait_run(run).await.unwrap();
        self.workbench.open_run(run).unwrap()
    }

    /// Runs a plan of mock tools: `a` and `b` beside one another, `c` with the result of `a`.
    async fn mocked(&self) -> RunId {
        let tools = vec![mock("one", json!({"v": 1}), 20), mock("two", json!(2), 40), mock("three", json!(3), 5)];
        self.workbench.register_tools(tools, "test").unwrap();
        let steps = vec![
            step("a", "one", json!({}), &[]),
            step("b", "two", json!({"k": "x"}), &[]),
            step("c", "three", json!({"from": {"$from": "a", "path": "/v"}}), &["b"]),
        ];
        let view = self.workbench.plan_from(asking("mocked"), PlanSpec { steps, ..Default::default() }).unwrap();
        assert_eq!(view.planning.findings, []);
        let run = self.workbench.start_run(view.id).await.unwrap();
        assert_eq!(self.done(run).await.summary.outcome, Some(RunOutcome::Succeeded));
        run
    }

    async fn replay(&self, run: RunId, policy: ReplayPolicy) -> RunDetail {
        let replayed = self.workbench.replay_run(run, policy, None).await.unwrap();
        self.done(replayed).await
    }

    /// The run as a file with twice so many events of retries behind its start; also, how many stand before those.
    async fn long_file(&self, run: RunId, pairs: u32) -> (PathBuf, usize) {
        let exported = self.workbench.export_run(run, None, vec![]).await.unwrap();
        let whole = lines(&exported.path);
        let mut text = whole[0].replacen("\"uid\":\"", "\"uid\":\"long", 1);
        let started = whole.iter().position(|l| l.contains("\"type\":\"started\"")).unwrap();
        for line in &whole[1..=started] {
            text = format!("{text}\n{line}");
        }
        let mut seq = started as u32;
        for i in 0..pairs {
            let n = i + 1;
            for event in [
                json!({"type": "attempt_started", "step": "a", "attempt": n, "tool": "one", "arguments": {"i": i}}),
                json!({"type": "retry_scheduled", "step": "a", "attempt": n, "delay_ms": 5}),
            ] {
                seq += 1;
                text.push_str(&format!(
                    "\n{{\"seq\":{seq},\"at_ms\":{},\"event\":{event}}}",
                    1_700_000_000_000u64 + u64::from(seq)
                ));
            }
        }
        let path = self.home.path().join("long.jsonl");
        std::fs::write(&path, text + "\n").unwrap();
        (path, started)
    }
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn policy(tool: &str, source: AnswerSource) -> ReplayPolicy {
    ReplayPolicy { tools: [(tool.to_string(), source)].into() }
}

/// R-02: every sample query replays faithfully without calling anything; tools that are gone today change nothing.
#[tokio::test]
async fn sample_runs_replay_faithfully() {
    let bench = Bench::sample().await;
    for sample in bench.workbench.info().samples {
        let view = bench.plan(sample.request).await;
        let run = bench.workbench.start_run(view.id).await.unwrap();
        bench.done(run).await;
        assert!(bench.workbench.verify_run(run).unwrap().faithful);
        let replay = bench.replay(run, ReplayPolicy::default()).await;
        assert_eq!(replay.summary.faithful, Some(true), "{:?}", replay.state.divergence);
        let origin = replay.summary.origin.unwrap();
        assert_eq!((origin.kind, origin.run), (OriginKind::Replay, Some(run)));
        let diff = bench.workbench.diff_runs(run, replay.summary.id).unwrap();
        assert!(diff.same, "{diff:?}");
    }
}

/// R-02: values in place of tools, live tools only through today's gate, misses that say where.
#[tokio::test]
async fn a_policy_answers_otherwise() {
    let bench = Bench::sample().await;
    let run = bench.mocked().await;
    let calls = |tool: &str| bench.workbench.tool(tool, &asking("x"), None).unwrap().stats.map_or(0, |s| s.calls);
    let before = calls("three");
    let replay = bench.replay(run, policy("two", AnswerSource::Static { value: json!("given") })).await;
    assert_eq!(replay.state.steps["b"].result.as_ref().unwrap().data, json!("given"));
    assert_eq!(replay.summary.outcome, Some(RunOutcome::Succeeded));
    assert_eq!(replay.state.divergence.unwrap().kind, DivergenceKind::Answer);
    assert_eq!(calls("three"), before, "nothing was called, and nothing is counted");

    let replay = bench.replay(run, policy("one", AnswerSource::Static { value: json!({"v": 9}) })).await;
    assert_eq!(replay.summary.outcome, Some(RunOutcome::Failed));
    let sentence = replay.state.divergence.unwrap().sentence;
    assert!(sentence.contains("no answer for three in c, attempt 1"), "{sentence}");

    let replay = bench.replay(run, policy("three", AnswerSource::Live)).await;
    assert_eq!(replay.summary.outcome, Some(RunOutcome::Succeeded));
    let unsafe_today = ToolSpec { classification: Classification::Destructive, ..mock("three", json!(3), 5) };
    bench.workbench.register_tools(vec![unsafe_today], "test").unwrap();
    let replay = bench.replay(run, policy("three", AnswerSource::Live)).await;
    let error = replay.state.steps["c"].error.clone().unwrap();
    assert_eq!(replay.state.steps["c"].status, StepStatus::Failed, "the gate of today refuses it: {error}");
    let replay = bench.replay(run, ReplayPolicy::default()).await;
    assert_eq!(replay.summary.faithful, Some(true), "the record needs no gate");
}

/// R-05: forks of one run and of its forks: arguments, results, skipped steps; the tree holds them together.
#[tokio::test]
async fn forks_make_a_tree() {
    let bench = Bench::sample().await;
    let run = bench.mocked().await;
    let fork = async |run, change, policy| {
        let fork = bench.workbench.fork_run(run, Fork { change, at: None }, policy, None).await.unwrap();
        bench.done(fork).await
    };
    let result = ForkChange::Result { step: "a".into(), value: json!({"v": 7}) };
    let first = fork(run, result, policy("three", AnswerSource::Live)).await;
    assert_eq!(first.summary.outcome, Some(RunOutcome::Succeeded), "{:?}", first.state);
    assert_eq!(Value::from(first.state.steps["c"].attempts[0].arguments.clone()), json!({"from": 7}));
    assert_eq!(first.state.steps["b"].result.as_ref().unwrap().data, json!(2), "b answers from the record");
    let link = first.summary.origin.clone().unwrap();
    assert_eq!((link.kind, link.run, link.change.as_str()), (OriginKind::Fork, Some(run), r#"a gives {"v":7}"#));

    let skip = fork(first.summary.id, ForkChange::Skip { step: "c".into() }, ReplayPolicy::default()).await;
    assert_eq!(skip.state.steps["c"].status, StepStatus::Skipped);
    let change = || ForkChange::Arguments { step: "c".into(), arguments: object(json!({"from": 5})) };
    let asked = fork(run, change(), ReplayPolicy::default()).await;
    assert_eq!(asked.summary.outcome, Some(RunOutcome::Succeeded), "a SAFE tool is asked");
    let live = |detail: &RunDetail, step: &str| detail.state.steps[step].attempts[0].live;
    assert_eq!((live(&asked, "b"), live(&asked, "c")), (false, true), "and the journal says which call left");
    let missed = fork(run, change(), policy("three", AnswerSource::Recorded)).await;
    assert_eq!(missed.summary.outcome, Some(RunOutcome::Failed));
    let again = bench.replay(asked.summary.id, ReplayPolicy::default()).await;
    assert_eq!((again.summary.faithful, live(&again, "c")), (Some(true), false), "a replay of the fork calls nothing");

    let tree = bench.workbench.run_tree(skip.summary.id).unwrap();
    let ids: Vec<RunId> = tree.runs.iter().map(|r| r.id).collect();
    let made = [&first, &skip, &asked, &again, &missed].map(|detail| detail.summary.id);
    assert_eq!((tree.root, ids), (run, [&[run], &made[..]].concat()));

    let refused = async |change, at| {
        bench.workbench.fork_run(run, Fork { change, at }, ReplayPolicy::default(), None).await.unwrap_err().code
    };
    assert_eq!(refused(ForkChange::Skip { step: "zzz".into() }, None).await, "run.unknown_step");
    assert_eq!(refused(ForkChange::Skip { step: "a".into() }, Some(1)).await, "fork.early");
    assert_eq!(refused(ForkChange::Skip { step: "a".into() }, Some(900)).await, "fork.late");
}

/// R-05: before a fork starts it is told which calls leave and who answers them. A SAFE tool is called for what the
/// record does not hold, any other only where it is chosen and today's gate admits it.
#[tokio::test]
async fn a_fork_is_told_before_it_starts() {
    let bench = Bench::sample().await;
    let run = bench.mocked().await;
    let told = |step: &str, arguments: Value, policy| {
        let change = ForkChange::Arguments { step: step.into(), arguments: object(arguments) };
        let told = bench.workbench.fork_preview(run, Fork { change, at: None }, policy).unwrap();
        let calls = told.calls.iter().map(|c| (c.call.step.as_str(), c.call.answerer, c.call.otherwise));
        (calls.map(|(step, by, otherwise)| format!("{step} {by:?} {otherwise:?}")).collect::<Vec<_>>(), told)
    };
    let calls = || bench.workbench.tool("three", &asking("x"), None).unwrap().stats.map(|s| s.calls);
    let before = calls();
    let (shown, fork) = told("c", json!({"from": 5}), ReplayPolicy::default());
    assert_eq!((shown, fork.kept), (vec!["c Tool None".to_string()], vec!["a".to_string(), "b".to_string()]));
    assert_eq!(fork.policy.source("three"), &AnswerSource::RecordedOrLive);
    let (shown, _) = told("a", json!({"x": 1}), ReplayPolicy::default());
    assert_eq!(shown, ["a Tool None", "b Record None", "c Record Some(Tool)"], "c rests on what a gives");
    let (shown, fork) = told("c", json!({"from": 5}), policy("three", AnswerSource::Recorded));
    assert_eq!(shown, ["c Nobody None"]);
    assert!(fork.calls[0].text.contains("three is to be answered from the record alone"), "{}", fork.calls[0].text);
    let (shown, _) = told("c", json!({"from": 5}), policy("three", AnswerSource::Static { value: json!(1) }));
    assert_eq!(shown, ["c Value None"]);

    let destructive = ToolSpec { classification: Classification::Destructive, ..mock("three", json!(3), 5) };
    bench.workbench.register_tools(vec![destructive], "test").unwrap();
    let (shown, fork) = told("a", json!({"x": 1}), ReplayPolicy::default());
    assert_eq!(shown[2], "c Record Some(Nobody)");
    assert!(fork.calls[2].text.contains("called only where you choose it"), "{}", fork.calls[2].text);
    let (shown, fork) = told("c", json!({"from": 5}), policy("three", AnswerSource::Live));
    assert_eq!((shown, fork.calls[0].refused.is_some()), (vec!["c Tool None".to_string()], true), "the gate of today");
    assert_eq!(calls(), before, "telling calls nothing");
    assert_eq!(bench.workbench.runs().unwrap().len(), 1, "and stores nothing");

    let change = ForkChange::Arguments { step: "c".into(), arguments: object(json!({"from": 5})) };
    let fork = bench.workbench.fork_run(run, Fork { change, at: None }, ReplayPolicy::default(), None).await.unwrap();
    assert_eq!(bench.done(fork).await.summary.outcome, Some(RunOutcome::Failed), "what is not SAFE is never called");
    let error = bench.workbench.replay_run(run, ReplayPolicy::default(), Some(1e-300)).await;
    bench.workbench.cancel_run(error.unwrap()).unwrap();
}

/// R-02, R-05: a call whose reference finds nothing fails without reaching its tool, as in any run.
#[tokio::test]
async fn a_live_call_has_its_references() {
    let bench = Bench::sample().await;
    let run = bench.mocked().await;
    let change = ForkChange::Result { step: "a".into(), value: json!({}) };
    let live = policy("three", AnswerSource::Live);
    let fork = bench.workbench.fork_run(run, Fork { change, at: None }, live, None).await.unwrap();
    let detail = bench.done(fork).await;
    let c = &detail.state.steps["c"];
    assert_eq!((c.status, c.error.as_ref().unwrap().class), (StepStatus::Failed, ErrorClass::Validation));
    assert!(!c.attempts[0].live);
}

/// R-03, R-05: today's metadata and the recorded reply; a fork that begins with a changed tool.
#[tokio::test]
async fn the_recorded_reply_is_planned_again() {
    let bench = Bench::sample().await;
    let sample = bench.workbench.info().samples.into_iter().next().unwrap();
    let view = bench.plan(sample.request).await;
    let run = bench.workbench.start_run(view.id).await.unwrap();
    bench.done(run).await;
    let same = bench.workbench.replan_run(run).unwrap();
    assert!(same.diff.is_same(), "{:?}", same.diff);

    let tool = view.planning.plan.steps[0].tool.clone();
    let spec = bench.workbench.tool(&tool, &view.planning.request, None).unwrap().spec;
    let changed = ToolSpec { classification: Classification::Destructive, ..spec.clone() };
    let change = ForkChange::Tool { spec: changed.clone().into() };
    let hidden = bench.workbench.fork_run(run, Fork { change, at: None }, ReplayPolicy::default(), None).await;
    assert!(
        hidden.is_err() || bench.done(hidden.unwrap()).await.state.plan.steps.len() < view.planning.plan.steps.len()
    );

    bench.workbench.register_tools(vec![changed], "test").unwrap();
    let flipped = bench.workbench.replan_run(run).unwrap();
    assert!(
        flipped.diff.verdicts.iter().any(|v| v.tool == tool && v.b.as_ref().unwrap().rule.starts_with("state.")),
        "{:?}",
        flipped.diff.verdicts
    );
    assert_eq!(flipped.view.planning.reply, view.planning.reply);

    let other = ToolSpec { retry: Some(Default::default()), ..spec };
    let change = ForkChange::Tool { spec: other.into() };
    let fork = bench.workbench.fork_run(run, Fork { change, at: None }, ReplayPolicy::default(), None).await.unwrap();
    let fork = bench.done(fork).await;
    assert_eq!(fork.summary.outcome, Some(RunOutcome::Succeeded), "the recorded answers serve the new plan");
}

/// R-04, W-06: an instant has its own steps, verdicts and tokens; before the first event there is nothing. Playing has a
/// mark for each event.
#[tokio::test]
async fn an_instant_is_whole() {
    let bench = Bench::sample().await;
    let run = bench.mocked().await;
    let nothing = bench.workbench.run_at(run, 0).unwrap();
    assert!(nothing.state.steps.is_empty() && nothing.tokens.is_none());
    assert_eq!(bench.workbench.run_tools(run, 0, "three", 0, 9).unwrap().rows[0].verdict, None);
    let detail = bench.workbench.open_run(run).unwrap();
    let end = bench.workbench.run_at(run, u32::MAX).unwrap();
    assert_eq!(end.state.steps, detail.state.steps);
    assert!(end.tokens.is_some());
    let three = |at: u32| bench.workbench.run_tool(run, at, "three").unwrap();
    let rule = |at: u32| three(at).trail.verdicts.last().unwrap().rule.to_string();
    let answered = detail.events.iter().find(|e| e.kind == "attempt_started" && e.step == "c").unwrap().seq;
    assert!(!rule(answered - 1).starts_with("executed."));
    assert_eq!(rule(answered), "executed.running");
    assert_eq!(rule(detail.state.seq), "executed.succeeded");
    let used = |at: u32| (three(at).at.status, three(at).at.calls, three(at).at.verdict.unwrap().rule.to_string());
    assert_eq!(used(answered - 1).0, Some(StepStatus::Ready));
    assert_eq!(used(answered - 1).1, 0);
    assert_eq!(used(answered), (Some(StepStatus::Running), 1, "executed.running".into()));
    assert_eq!(used(detail.state.seq), (Some(StepStatus::Succeeded), 1, "executed.succeeded".into()));
    let all = bench.workbench.run_tools(run, answered, "", 0, 500).unwrap();
    let names: Vec<&str> = all.rows.iter().map(|t| t.name.as_str()).take(3).collect();
    assert_eq!(names, ["one", "two", "three"], "the tools of the plan stand first");
    assert_eq!((all.revision, all.rows.len() as u32), (detail.state.catalog_revision, all.all));
    assert!(all.rows.iter().skip(3).all(|t| t.status.is_none() && t.calls == 0 && t.verdict.is_some()));
    let page = bench.workbench.run_tools(run, answered, "THR", 0, 1).unwrap();
    assert_eq!((page.total, page.rows[0].name.as_str()), (1, "three"));
    assert!(three(answered).at.unchanged && three(answered).changed.is_empty());
    bench.workbench.register_tools(vec![mock("three", json!("new"), 1)], "test").unwrap();
    let then = three(answered);
    assert!(!then.at.unchanged && !then.at.removed && !then.changed.is_empty(), "the catalog of that instant");
    assert_eq!(bench.workbench.run_tool(run, 9, "nobody").unwrap_err().code, "run.unknown_tool");
    let marks = bench.workbench.run_marks(run).unwrap();
    assert_eq!((marks.marks.len(), marks.last_seq), (detail.events.len(), detail.state.seq));
}

/// W-05: the filter over the log of a run, with pages, and the search for the next and the previous failure.
#[tokio::test]
async fn the_log_is_filtered() {
    let bench = Bench::sample().await;
    let run = bench.mocked().await;
    let seqs = |filter: &str, offset, limit| -> Vec<u32> {
        let page = bench.workbench.run_events(run, filter, offset, limit).unwrap();
        page.rows.iter().map(|r| r.seq).collect()
    };
    let all = seqs("", 0, 1000);
    assert_eq!(all, (1..=all.len() as u32).collect::<Vec<_>>());
    assert_eq!(seqs("", 2, 3), [3, 4, 5]);
    let two = bench.workbench.run_events(run, "tool:two", 0, 1).unwrap();
    assert_eq!((two.rows.len(), two.total), (1, 4), "ready, started, finished, succeeded");
    assert_eq!(two.rows[0].step, "b");
    assert_eq!(seqs("step:c kind:attempt_*", 0, 10).len(), 2);
    assert_eq!(seqs("status:failed", 0, 10), [0; 0]);
    assert_eq!(bench.workbench.run_events(run, "nokey:x", 0, 1).unwrap_err().code, "filter.key");
    let first = bench.workbench.find_event(run, "kind:attempt_started", 0, false).unwrap().unwrap();
    assert_eq!(
        bench.workbench.find_event(run, "kind:attempt_started", first + 100, true).unwrap(),
        seqs("kind:attempt_started", 0, 10).last().copied()
    );
    assert_eq!(bench.workbench.find_event(run, "kind:attempt_started", first, true).unwrap(), None);
}

fn lines(path: &str) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(str::to_string).collect()
}

/// R-01: a run goes out and comes in elsewhere whole: list, log, instants, replay. The same file twice is one run.
#[tokio::test]
async fn a_run_travels_as_a_file() {
    let bench = Bench::sample().await;
    let run = bench.mocked().await;
    let exported = bench.workbench.export_run(run, None, vec![]).await.unwrap();
    let text = lines(&exported.path);
    assert_eq!(text.len() as u32, exported.events + 2);
    let header: Value = serde_json::from_str(&text[0]).unwrap();
    assert_eq!((&header["format"], &header["version"]), (&json!("toolplan-run"), &json!(1)));
    assert_eq!(header["tools"].as_array().unwrap().len(), 3);
    assert!(header["settings"]["run"]["parallel_limit"].is_number());

    let other = Bench::sample().await;
    other.mocked().await;
    let imported = other.workbench.import_runs(vec![exported.path.clone().into()]).await;
    assert_eq!((imported[0].problem.clone(), imported[0].run, imported[0].events), (None, Some(2), exported.events));
    let (here, there) = (bench.workbench.open_run(run).unwrap(), other.workbench.open_run(2).unwrap());
    assert!(there.summary.imported && !here.summary.imported);
    assert_eq!(here.state, there.state);
    assert_eq!(serde_json::to_value(&here.events).unwrap(), serde_json::to_value(&there.events).unwrap());
    assert_eq!(other.replay(2, ReplayPolicy::default()).await.summary.faithful, Some(true));
    assert_eq!(other.workbench.run_tools(2, 99, "", 0, 99).unwrap().all, 3, "the tools that came with it");
    let change = ForkChange::Arguments { step: "c".into(), arguments: object(json!({"from": 5})) };
    let fork = Fork { change, at: None };
    let told = other.workbench.fork_preview(2, fork.clone(), ReplayPolicy::default()).unwrap();
    assert!(told.calls[0].text.contains("the run comes from a file"), "{}", told.calls[0].text);
    let forked = other.workbench.fork_run(2, fork.clone(), ReplayPolicy::default(), None).await.unwrap();
    let state = other.done(forked).await.state;
    assert!(state.steps.values().flat_map(|s| &s.attempts).all(|a| !a.live), "files never widen what may run");
    let told = other.workbench.fork_preview(forked, fork, ReplayPolicy::default()).unwrap();
    assert!(told.policy.tools.is_empty(), "nor do their forks");
    let again = other.workbench.import_runs(vec![exported.path.clone().into()]).await;
    assert_eq!((again[0].already, again[0].run), (true, Some(2)));
    assert!(other.workbench.diff("2", &exported.path).unwrap().same);
    let back = other.workbench.export_run(2, Some(other.home.path().join("deep/er/back.jsonl")), vec![]).await.unwrap();
    assert!(lines(&back.path)[1..text.len() - 1] == text[1..text.len() - 1], "the events byte for byte");
}

/// R-01, S-03: files that are cut off, damaged, foreign, newer, huge, deep or no text are taken as far as they go, and
/// the line is named.
#[tokio::test]
async fn broken_files_open_as_far_as_they_go() {
    let bench = Bench::sample().await;
    let run = bench.mocked().await;
    let exported = bench.workbench.export_run(run, None, vec![]).await.unwrap();
    let whole = lines(&exported.path);
    let fresh = |lines: &[String]| {
        let mut lines = lines.to_vec();
        lines[0] = lines[0].replacen("\"uid\":\"", &format!("\"uid\":\"{}", uuid()), 1);
        lines.join("\n") + "\n"
    };
    let take = async |content: &[u8]| {
        let path = bench.home.path().join(format!("{}.jsonl", uuid()));
        std::fs::write(&path, content).unwrap();
        bench.workbench.import_runs(vec![path]).await.remove(0)
    };
    let said = |imported: &toolplan_workbench::views::Imported| {
        imported.problem.clone().map(|p| p.message).unwrap_or_default()
    };

    let cut = take(fresh(&whole[..8]).as_bytes()).await;
    assert_eq!(cut.events, 7);
    assert!(said(&cut).contains("line 9") && said(&cut).contains("cut off"), "{}", said(&cut));
    let detail = bench.workbench.open_run(cut.run.unwrap()).unwrap();
    assert_eq!(detail.summary.outcome, Some(RunOutcome::Interrupted), "it does not go on by itself");

    let mut half = fresh(&whole);
    half.truncate(half.len() - 400);
    let half = take(half.as_bytes()).await;
    assert!(half.events > 5 && said(&half).contains("line "), "{half:?}");

    let at = |n: usize, line: String| {
        let mut lines = whole.clone();
        lines[n] = line;
        fresh(&lines)
    };
    let deep = format!(r#"{{"seq":3,"at_ms":1,"event":{}1{}}}"#, "[".repeat(5000), "]".repeat(5000));
    for (line, content) in [
        (3, at(2, deep)),
        (4, at(3, "{\"seq\":".into())),
        (3, at(2, r#"{"seq":1,"at_ms":1,"event":{"type":"step_ready","step":"a"}}"#.into())),
        (3, at(2, r#"{"seq":3,"at_ms":1,"event":{"type":"step_ready"}}"#.into())),
    ] {
        let imported = take(content.as_bytes()).await;
        assert!(said(&imported).contains(&format!("line {line} of")), "{}", said(&imported));
        assert_eq!(imported.events, line - 2);
        let listed = bench.workbench.runs().unwrap();
        assert!(listed.iter().any(|r| Some(r.id) == imported.run), "what there is of it is found again");
    }
    let changed = fresh(&whole).replacen("\"mocked\"", "\"MOCKED\"", 1).replacen("\"k\":\"x\"", "\"k\":\"y\"", 1);
    assert!(said(&take(changed.as_bytes()).await).contains("checksum"));

    let mut newer = fresh(&whole[..4]);
    newer.push_str("{\"seq\":4,\"at_ms\":9999999999999,\"event\":{\"type\":\"dreamt\",\"step\":\"a\",\"of\":[1]}}\n");
    let newer = take(newer.as_bytes()).await;
    let detail = bench.workbench.open_run(newer.run.unwrap()).unwrap();
    let row = detail.events.iter().find(|e| e.kind == "dreamt").unwrap();
    assert!(row.text.contains("newer Toolplan") && row.step == "a");
    let kept = bench.workbench.export_run(newer.run.unwrap(), None, vec![]).await.unwrap();
    assert!(lines(&kept.path).iter().any(|l| l.contains(r#"{"type":"dreamt","step":"a","of":[1]}"#)));

    for (content, code) in [
        (b"".to_vec(), "run_file.foreign"),
        (b"\x00\xff\xfe".to_vec(), "run_file.foreign"),
        (b"{\"hello\": 1}\n".to_vec(), "run_file.foreign"),
        (whole[0].replacen("\"version\":1", "\"version\":2", 1).into_bytes(), "run_file.newer"),
        ([&b"{\"format\": \"toolplan-run\", \""[..], b"\xff\xfe", &[b'a'; 100]].concat(), "run_file.broken"),
        (vec![b'{'; 33 << 20], "run_file.broken"),
    ] {
        let imported = take(&content).await;
        assert_eq!((imported.run, imported.problem.unwrap().code.as_str()), (None, code));
    }
    let folder = bench.workbench.import_runs(vec![bench.home.path().into(), Path::new("/no/such").into()]).await;
    assert!(folder.iter().all(|i| i.problem.as_ref().unwrap().code == "file.unreadable"));
}

fn uuid() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("f{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// S-01: neither query nor result nor the exported file holds the secrets of the environment, of headers or of the
/// settings' patterns; export leaves out more on request.
#[tokio::test]
async fn secrets_stay_here() {
    let secret = "s3cr3t-of-the-env";
    let bench = Bench::with(&[("OPENAI_API_KEY", secret)]).await;
    let mut settings = bench.workbench.info().settings;
    settings.redaction.patterns = vec![toolplan_workbench::engine::settings::RedactionPattern {
        name: "customer".into(),
        pattern: r"CUST-\d+".into(),
    }];
    bench.workbench.save_settings(settings.clone()).unwrap();
    settings.redaction.patterns[0].pattern = "(".into();
    assert_eq!(bench.workbench.save_settings(settings).unwrap_err().code, "settings.redaction");

    let leak = json!({"authorization": "abc", "text": format!("x {secret} CUST-77"), "name": "Ada Lovelace"});
    bench.workbench.register_tools(vec![mock("leaky", leak, 1)], "test").unwrap();
    let plan = PlanSpec { steps: vec![step("a", "leaky", json!({"q": secret}), &[])], ..Default::default() };
    let view = bench.workbench.plan_from(asking(&format!("use {secret}")), plan).unwrap();
    let run = bench.workbench.start_run(view.id).await.unwrap();
    let detail = bench.done(run).await;
    assert_eq!(detail.summary.query, "use [redacted: OPENAI_API_KEY]");
    let data = &detail.state.steps["a"].result.as_ref().unwrap().data;
    assert_eq!(data["text"], "x [redacted: OPENAI_API_KEY] [redacted: customer]");
    let exported = bench.workbench.export_run(run, None, vec!["Ada.*?lace".into()]).await.unwrap();
    let text = std::fs::read_to_string(&exported.path).unwrap();
    assert!(
        !text.contains(secret)
            && !text.contains("CUST-77")
            && !text.contains("Lovelace")
            && text.contains("[redacted: left out]")
    );
    assert_eq!(bench.workbench.export_run(run, None, vec!["(".into()]).await.unwrap_err().code, "settings.redaction");
    for file in std::fs::read_dir(bench.home.path().join("toolplan")).unwrap().flatten().filter(|f| f.path().is_file())
    {
        let bytes = std::fs::read(file.path()).unwrap();
        let mut found = bytes.windows(secret.len()).filter(|w| *w == secret.as_bytes());
        // The registry holds what somebody wrote into a tool; the journal is the database's other tables.
        assert!(
            found.next().is_none() || file.file_name() == "sample.db" || file.file_name() == "sample.db-wal",
            "{:?}",
            file.path()
        );
    }
}

/// W-12: the settings prune by themselves; pinned runs stay; the meter says what is left.
#[tokio::test]
async fn old_runs_go() {
    let bench = Bench::sample().await;
    let first = bench.mocked().await;
    bench.workbench.pin_run(first, true).unwrap();
    for _ in 0..3 {
        bench.mocked().await;
    }
    assert_eq!(bench.workbench.storage().unwrap().runs, 4);
    let mut settings = bench.workbench.info().settings;
    settings.retention = RetentionSettings { max_runs: 2, ..Default::default() };
    bench.workbench.save_settings(settings).unwrap();
    let pruned = bench.workbench.prune_runs().await.unwrap();
    assert_eq!(pruned.runs, 1);
    let ids = |bench: &Bench| bench.workbench.runs().unwrap().iter().map(|r| (r.id, r.pinned)).collect::<Vec<_>>();
    assert_eq!(ids(&bench), [(4, false), (3, false), (1, true)]);
    bench.mocked().await;
    let until = Instant::now();
    while ids(&bench).len() > 3 {
        assert!(until.elapsed().as_secs() < 10, "a new run prunes in the background: {:?}", ids(&bench));
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    bench.workbench.run_at(1, 3).unwrap();
    bench.workbench.delete_run(1).await.unwrap();
    assert_eq!(bench.workbench.run_at(1, 3).unwrap_err().code, "journal.unknown_run");
    assert_eq!(bench.workbench.delete_run(1).await.unwrap_err().code, "journal.unknown_run");
    let bench = bench.again().await;
    assert!(bench.workbench.storage().unwrap().kinds.iter().any(|k| k.kind == "events" && k.bytes > 0));
}

/// R-02: a replay takes the run's time on demand, and can be stopped.
#[tokio::test]
async fn a_replay_keeps_time() {
    let bench = Bench::sample().await;
    let run = bench.mocked().await;
    let began = Instant::now();
    let replay = bench.workbench.replay_run(run, ReplayPolicy::default(), Some(0.5)).await.unwrap();
    assert_eq!(bench.done(replay).await.summary.faithful, Some(true));
    assert!(began.elapsed().as_millis() >= 80, "twice the 45 ms of the run: {:?}", began.elapsed());
    let slow = bench.workbench.replay_run(run, ReplayPolicy::default(), Some(0.0001)).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    bench.workbench.cancel_run(slow).unwrap();
    assert_eq!(bench.done(slow).await.summary.outcome, Some(RunOutcome::Cancelled));
    let refused = bench.workbench.replay_run(run, ReplayPolicy::default(), Some(-1.0)).await.unwrap_err();
    assert_eq!(refused.code, "replay.speed");
}

/// R-04, W-05: a journal of 100,000 events: instants and filters stay quick once it is open.
#[tokio::test]
async fn long_journals_stay_quick() {
    let bench = Bench::sample().await;
    let run = bench.mocked().await;
    let (path, started) = bench.long_file(run, 50_000).await;
    let imported = bench.workbench.import_runs(vec![path]).await.remove(0);
    let run = imported.run.unwrap();
    assert_eq!(imported.events, 100_000 + started as u32);
    bench.workbench.run_at(run, 1).unwrap();
    let began = Instant::now();
    for at in [5, 99_000, 50_000, 12_345, 70_001] {
        assert_eq!(bench.workbench.run_at(run, at).unwrap().state.seq, at);
    }
    println!("an instant of 100,000 events takes {:?}", began.elapsed() / 5);
    let began = Instant::now();
    let page = bench.workbench.run_events(run, "tool:one kind:attempt_started {\"i\":4 -step:b", 100, 50).unwrap();
    println!("a filter over 100,000 events takes {:?}, {} rows", began.elapsed(), page.total);
    assert_eq!(page.rows.len(), 50);
}

/// W-12: taking in and writing 100,000 events tell how far they are; called off, nothing of them is there: no run, no
/// file, no event in the database.
#[tokio::test(flavor = "multi_thread")]
async fn long_work_is_called_off() {
    let bench = Bench::sample().await;
    let run = bench.mocked().await;
    let (path, _) = bench.long_file(run, 50_000).await;
    let size = std::fs::metadata(&path).unwrap().len();
    let w = &bench.workbench;
    let under_way = async |kind: WorkKind| loop {
        let works = w.long_work();
        if let Some(work) = works.into_iter().find(|work| work.kind == kind && work.done > 0) {
            return work;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    };
    let rows = || w.storage().unwrap().kinds.iter().find(|k| k.kind == "events").unwrap().rows;
    let (before, ids) = (rows(), w.runs().unwrap().len());
    let second = bench.home.path().join("second.jsonl");
    std::fs::copy(&path, &second).unwrap();
    let import = tokio::spawn({
        let (w, paths) = (w.clone(), vec![path.clone(), second]);
        async move { w.import_runs(paths).await }
    });
    let work = under_way(WorkKind::Import).await;
    assert!(work.done < work.total && work.total == 2 * size, "{work:?}");
    assert_eq!(w.runs().unwrap().len(), ids, "out of sight until all of it is there");
    w.cancel_work(work.id);
    for told in import.await.unwrap() {
        assert_eq!((told.run, told.events), (None, 0));
        assert_eq!(told.problem.unwrap().code, "work.cancelled");
    }
    assert_eq!((rows(), w.runs().unwrap().len(), w.long_work()), (before, ids, vec![]));

    let whole = w.import_runs(vec![path]).await.remove(0);
    let out = bench.home.path().join("out.jsonl");
    std::fs::write(&out, "what was there before").unwrap();
    let export = tokio::spawn({
        let (w, out) = (w.clone(), out.clone());
        async move { w.export_run(whole.run.unwrap(), Some(out), vec![]).await }
    });
    let work = under_way(WorkKind::Export).await;
    // The end that was added to the run, which had none.
    assert!(work.done < work.total && work.total == u64::from(whole.events) + 1, "{work:?}");
    w.cancel_work(work.id);
    assert_eq!(export.await.unwrap().unwrap_err().code, "work.cancelled");
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "what was there before");
    assert!(!bench.home.path().join("out.jsonl.part").exists());
}

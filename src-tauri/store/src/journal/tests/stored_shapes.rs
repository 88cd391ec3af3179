//! Journals as earlier versions stored them: every kind of event stays readable.

use super::*;

/// One line per event, as version 0.1 stored them. Lines are added with each released shape and never changed.
const FIXTURE: &str = include_str!("../../../tests/fixtures/journal-0.1.jsonl");

/// What version 0.2 added: a person's word to a run, faults, cached results, interrupted runs that go on.
const FIXTURE_0_2: &str = include_str!("../../../tests/fixtures/journal-0.2.jsonl");

/// What stands on its own and what comes from another run: the basis, replays and forks (R-01, R-02, R-05), and the
/// rest of what a person can say.
const FIXTURE_DERIVED: &str = include_str!("../../../tests/fixtures/journal-derived.jsonl");

/// Every event that this version can write stands in a fixture, so that none can change its stored shape unseen.
#[test]
fn every_kind_of_event_stands_in_a_fixture() {
    let unknown = serde_json::from_str::<RunEvent>(r#"{"type": "?"}"#).unwrap_err().to_string();
    let (_, known) = unknown.split_once("expected one of ").expect("serde names the variants");
    let known: std::collections::BTreeSet<&str> = known.split('`').skip(1).step_by(2).collect();
    assert!(known.contains("basis") && known.len() > 25, "{known:?}");
    let lines = [FIXTURE, FIXTURE_0_2, FIXTURE_DERIVED, DISCOVERY].into_iter().flat_map(str::lines);
    let stored: std::collections::BTreeSet<String> =
        lines.map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned()).collect();
    let missing: Vec<_> = known.iter().filter(|kind| !stored.contains(**kind)).collect();
    assert!(missing.is_empty(), "no fixture holds {missing:?}");
}

/// R-01, R-02, R-05: what a run rests on and comes from is read back as it was stored, to the last field.
#[test]
fn derived_runs_stay_readable() {
    let mut state = RunState::default();
    for (i, line) in FIXTURE_DERIVED.lines().enumerate() {
        let event = RunEvent::from_json(line.as_bytes()).unwrap();
        if !matches!(event, RunEvent::Basis { .. }) {
            // Settings grow; everything else stays as it was.
            let again = serde_json::to_value(&event).unwrap();
            assert_eq!(again, serde_json::from_str::<Value>(line).unwrap(), "nothing is lost or renamed");
        }
        if let RunEvent::Basis { settings, tools } = &event {
            assert_eq!((tools[0].name.as_str(), settings.run.retry.max_retries), ("vector_search", 3));
        }
        state.apply(&JournalEntry { seq: i as u32 + 1, at_ms: 0, event });
    }
    assert_eq!(state.origin.as_ref().map(|o| (o.run, o.at)), Some((1, 2)));
    assert_eq!(state.faithful, Some(false));
    assert!(state.divergence.unwrap().sentence.starts_with("Event 7"));
    assert_eq!(state.paused, None);
}

/// A new run whose events are the lines.
async fn stored(store: &Store, lines: &str) -> RunId {
    let run = store.journal().create_run("q", "offline", 1).await.unwrap();
    store
        .edit(|db| {
            for (i, line) in lines.lines().enumerate() {
                let kind: Value = serde_json::from_str(line).unwrap();
                db.execute(
                    "INSERT INTO event(run_id, seq, at_ms, kind, version, body_json) VALUES (?, ?, ?, ?, 1, ?)",
                    params![run, i as i64 + 1, 1000 + i as i64, kind["type"].as_str().unwrap(), line],
                )?;
            }
            Ok(())
        })
        .unwrap();
    run
}

#[tokio::test]
async fn the_journal_of_version_0_2_stays_readable() {
    let store = Store::temporary().unwrap();
    let run = stored(&store, FIXTURE_0_2).await;
    let (entries, problems) = store.journal().events(run).unwrap();
    assert_eq!(problems, []);
    assert_eq!(entries.len(), FIXTURE_0_2.lines().count());
    let state = RunState::of(&entries);
    assert_eq!((state.outcome, state.options.seed), (Some(RunOutcome::Partial), 7));
    assert_eq!(state.steps["s1"].result.as_ref().unwrap().data, json!({"key": "PROJ-1"}));
    assert!(state.steps["s2"].attempts[0].unknown);
}

#[tokio::test]
async fn the_journal_of_every_version_stays_readable() {
    let store = Store::temporary().unwrap();
    let run = stored(&store, FIXTURE).await;
    let (entries, problems) = store.journal().events(run).unwrap();
    assert_eq!(problems, []);
    let kinds: std::collections::BTreeSet<_> =
        entries.iter().map(|e| serde_json::to_value(&e.event).unwrap()["type"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds.len(), 13, "every kind of event stands in the fixture: {kinds:?}");

    let state = RunState::of(&entries);
    assert_eq!(state.outcome, Some(RunOutcome::Partial));
    assert_eq!(state.planning.unwrap().request.query, "Compare PROJ-1 with the design page");
    assert_eq!(state.steps["s1"].result.as_ref().unwrap().data, json!({"key": "PROJ-1"}));
    assert_eq!(state.steps["s2"].attempts.len(), 2);
}

/// Events of discovery as they were first stored, one line for each kind.
const DISCOVERY: &str = include_str!("../../../tests/fixtures/journal-discovery.jsonl");

/// D-08: they stay readable, keep their fields, and a run that goes on knows what it had activated (D-06).
#[test]
fn discovery_events_stay_readable() {
    let (mut state, mut kinds) = (RunState::default(), std::collections::BTreeSet::new());
    for (i, line) in DISCOVERY.lines().enumerate() {
        let event: RunEvent = serde_json::from_str(line).unwrap();
        let (stored, again) = (serde_json::from_str::<Value>(line).unwrap(), serde_json::to_value(&event).unwrap());
        assert_eq!(again, stored, "nothing is lost or renamed");
        kinds.insert(stored["event"]["type"].as_str().unwrap().to_owned());
        state.apply(&JournalEntry { seq: i as u32 + 1, at_ms: 0, event });
    }
    assert_eq!(kinds.len(), 8, "{kinds:?}");
    assert_eq!(state.activated, ["jira_get"]);
}

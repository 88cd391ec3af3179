//! S-02: no destructive or unclassified tool passes the runtime gate outside ACTION with an intent, under any sequence
//! of events.

use crate::desk::tool;
use std::time::Instant;
use toolplan_engine::{
    guard::Guard,
    request::{ExecutionState, Request},
    session::{Actor, SessionEvent, SessionState},
    settings::{GuardMode, Intent, IntentStatus, Mode, OnMessage, Settings, VisibilityRule},
    tool::{Catalog, Classification, ToolCall, ToolSpec},
    visibility::Viewer,
};

const SEQUENCES: u64 = 1_000_000;

/// Tools whose classification an edit changes, each through all three.
const EDITED: [&str; 2] = ["read_file", "write_file"];

/// Names that calls use: tools, aliases, and names that nothing has.
const CALLED: [&str; 10] = [
    "read_file",
    "write_file",
    "drop_table",
    "mystery",
    "select_intent",
    "select_active_intent",
    "write_to_file",
    "cat",
    "no_such_tool",
    "DROP_TABLE",
];

const INTENTS: [&str; 7] = ["REQ-1", "REQ-2", "REQ-done", "REQ-blocked", "REQ-gone", "", "req-1"];

fn catalogs() -> Vec<Catalog> {
    let classes = [Classification::Safe, Classification::Destructive, Classification::Unclassified];
    let mut catalogs = vec![];
    for first in classes {
        for second in classes {
            let mut tools: Vec<ToolSpec> = [
                "read_file @read",
                "write_file @edit",
                "drop_table DESTRUCTIVE @edit",
                "mystery",
                "select_intent @modes",
                "select_active_intent SAFE @modes",
            ]
            .map(tool)
            .into();
            (tools[0].classification, tools[1].classification) = (first, second);
            tools[0].aliases = vec!["cat".into()];
            tools[1].aliases = vec!["write_to_file".into()];
            let (catalog, problems) = Catalog::new(catalogs.len() as u32 + 1, tools);
            assert_eq!(problems, []);
            catalogs.push(catalog);
        }
    }
    assert_eq!(catalogs.len(), classes.len().pow(EDITED.len() as u32));
    catalogs
}

fn settings() -> Vec<Settings> {
    let intent = |id: &str, status| Intent { id: id.into(), status, ..Intent::default() };
    let intents = vec![
        intent("REQ-1", IntentStatus::Open),
        intent("REQ-2", IntentStatus::Active),
        intent("REQ-done", IntentStatus::Completed),
        intent("REQ-blocked", IntentStatus::Blocked),
    ];
    let usual = Settings { intents, ..Settings::default() };
    let edits: [fn(&mut Settings); 10] = [
        |_| {},
        |s| s.policy.denied = vec!["write_to_file".into()],
        |s| s.policy.allowed = Some(vec!["drop_table".into(), "cat".into()]),
        |s| s.kill_switch = vec!["select_*".into()],
        |s| {
            s.modes = vec![Mode { name: "read".into(), groups: vec!["read".into()], ..Mode::default() }];
            s.default_mode = "read".into();
        },
        |s| s.handshake_tools = vec!["drop_table".into(), "mystery".into()],
        |s| s.intents.iter_mut().for_each(|i| i.status = IntentStatus::Completed),
        |s| s.session.on_message = OnMessage::Reconfirm,
        |s| s.guard.mode = GuardMode::Audit,
        |s| {
            s.session.intent_pattern = String::new();
            s.visibility = vec![VisibilityRule { hide: vec!["read*".into()], id: "r".into(), ..Default::default() }];
        },
    ];
    let edited = edits.map(|edit| {
        let mut settings = usual.clone();
        edit(&mut settings);
        settings
    });
    edited.into()
}

/// Numbers that look random and are the same on every run.
struct Dice(u64);

impl Dice {
    fn of(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % sides
    }

    fn among<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.of(list.len())]
    }
}

#[derive(Default)]
struct Counts {
    sequences: u64,
    events: u64,
    /// Admitted calls of tools that are not SAFE: the property must not hold because nothing is ever admitted.
    changes: u64,
    refused: u64,
}

fn sequences(count: u64, seed: u64) -> Counts {
    let (catalogs, settings) = (catalogs(), settings());
    let calls = CALLED.map(|name| ToolCall { tool: name.into(), arguments: Default::default() });
    let events = |dice: &mut Dice| match dice.of(8) {
        0 | 1 => SessionEvent::Message { text: String::new() },
        2..=4 => SessionEvent::SelectIntent { intent: dice.among(&INTENTS).into(), by: Actor::Model },
        5 => SessionEvent::SwitchIntent { intent: dice.among(&INTENTS).into() },
        6 => SessionEvent::Reset,
        _ => SessionEvent::Recover,
    };
    let mut dice = Dice(seed);
    let mut counts = Counts::default();
    for _ in 0..count {
        let mut session = SessionState::new("s");
        let (mut catalog, mut rules) = (&catalogs[dice.of(catalogs.len())], &settings[dice.of(settings.len())]);
        // By hand, what the session should be: REASONING begins with a message, and only a selection there opens.
        let (mut state, mut open) = (ExecutionState::Request, String::new());
        if dice.of(4) > 0 {
            session.on(SessionEvent::Message { text: String::new() }, rules, 0).unwrap();
            state = ExecutionState::Reasoning;
        }
        for _ in 0..=dice.of(5) {
            counts.events += 1;
            match dice.of(10) {
                0..=3 => {
                    let event = events(&mut dice);
                    let happened = session.on(event.clone(), rules, 0).is_ok();
                    match event {
                        _ if !happened => {}
                        SessionEvent::Reset => (state, open) = (ExecutionState::Request, String::new()),
                        SessionEvent::Message { .. } | SessionEvent::Recover => {
                            (state, open) = (ExecutionState::Reasoning, String::new());
                        }
                        SessionEvent::SelectIntent { intent, .. } => {
                            assert_eq!(state, ExecutionState::Reasoning, "selected elsewhere");
                            (state, open) = (ExecutionState::Action, intent);
                        }
                        SessionEvent::SwitchIntent { intent } => {
                            assert_eq!(state, ExecutionState::Action, "switched elsewhere");
                            open = intent;
                        }
                    }
                    assert_eq!((session.state(), session.intent()), (state, open.as_str()));
                    continue;
                }
                4 => {
                    catalog = &catalogs[dice.of(catalogs.len())];
                    continue;
                }
                5 => {
                    rules = &settings[dice.of(settings.len())];
                    continue;
                }
                _ => {}
            }
            // A request of the session, or one whose state somebody states by hand.
            let mut request = session.request(Request::default());
            if dice.of(4) == 0 {
                request.state = dice.among(&ExecutionState::ALL);
                request.intent = dice.among(&INTENTS).into();
            }
            let call = &calls[dice.of(calls.len())];
            let viewer = Viewer::new(rules, &request).unwrap();
            let Ok(admitted) = Guard::new(catalog, rules, viewer, &request, &[]).admit(call) else {
                counts.refused += 1;
                continue;
            };
            let spec = catalog.spec(&admitted.call().tool).expect("only tools of the catalog are admitted");
            let is_selection =
                spec.classification == Classification::Unclassified && rules.handshake_tools.contains(&spec.name);
            if spec.classification != Classification::Safe && !is_selection {
                counts.changes += 1;
                let listed = rules.intents.iter().find(|i| i.id == request.intent);
                let ended = listed.is_some_and(|i| !matches!(i.status, IntentStatus::Open | IntentStatus::Active));
                assert!(
                    request.state == ExecutionState::Action && !request.intent.is_empty() && !ended,
                    "{} in {:?} with {:?}",
                    spec.name,
                    request.state,
                    request.intent
                );
            }
        }
        counts.sequences += 1;
    }
    counts
}

/// S-02: a million sequences of messages, selections, switches, resets, recoveries, reclassifications, edits of the
/// settings and calls, of unknown and aliased names too.
#[test]
fn nothing_destructive_outside_action_with_an_intent() {
    let began = Instant::now();
    let threads = 4;
    let share = SEQUENCES / threads;
    let counts: Vec<Counts> = std::thread::scope(|scope| {
        let work = |seed: u64| scope.spawn(move || sequences(share, 0x9E37_79B9_7F4A_7C15 ^ (seed << 17 | 1)));
        let threads: Vec<_> = (1..=threads).map(work).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let sum = |of: fn(&Counts) -> u64| counts.iter().map(of).sum::<u64>();
    assert_eq!(sum(|c| c.sequences), SEQUENCES);
    assert!(sum(|c| c.events) > 2 * SEQUENCES);
    assert!(sum(|c| c.changes) > 20_000, "{} changes were admitted", sum(|c| c.changes));
    assert!(sum(|c| c.refused) > 100_000);
    println!("{} sequences, {} events in {:?}", SEQUENCES, sum(|c| c.events), began.elapsed());
}

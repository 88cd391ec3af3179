//! A place to run plans: a journal in memory and tools that do what a script says.
//!
//! Time is tokio's paused clock, so a run of minutes takes none and every journal is the same each time.

use crate::{
    desk::Desk,
    lines::{Deed, Script, plan_spec, tools_for, transcript},
};
use async_trait::async_trait;
use expect_test::Expect;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolplan_engine::{
    Problem,
    guard::Guard,
    plan::PlanSpec,
    ports::{CacheKey, Cached, CallContext, Journal, ResultCache, ToolError, ToolResult, ToolRuntime},
    run::{
        Command, Control, Driver, Gatekeeper, JournalEntry, RunEvent, RunId, RunOptions, RunState, StepStatus,
        timeout::CallHistory,
    },
    settings::{RunSettings, Settings},
    tool::ToolSpec,
    visibility::Viewer,
};

/// Appends to memory, and fails on demand.
pub struct MemoryJournal {
    entries: Mutex<Vec<JournalEntry>>,
    began: Instant,
    /// The number of entries that fit.
    room: usize,
}

impl MemoryJournal {
    fn with_room_for(room: usize) -> Self {
        Self { entries: Mutex::default(), began: Instant::now(), room }
    }

    pub fn entries(&self) -> Vec<JournalEntry> {
        self.entries.lock().unwrap().clone()
    }
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn append(&self, _: RunId, events: Vec<RunEvent>) -> Result<Vec<JournalEntry>, Problem> {
        let mut entries = self.entries.lock().unwrap();
        if entries.len() + events.len() > self.room {
            return Err(Problem::new("store.full", "the disk is full", "make room"));
        }
        let at_ms = self.began.elapsed().as_millis() as u64;
        let first = entries.len() as u32 + 1;
        let stored: Vec<_> = (first..).zip(events).map(|(seq, event)| JournalEntry { seq, at_ms, event }).collect();
        entries.extend(stored.clone());
        Ok(stored)
    }
}

/// Keeps results for ever and does not wait for calls under way.
#[derive(Default)]
pub struct Kept(Mutex<HashMap<CacheKey, ToolResult>>);

#[async_trait]
impl ResultCache for Kept {
    async fn get_or_call(
        &self,
        key: CacheKey,
        call: BoxFuture<'_, Result<ToolResult, ToolError>>,
    ) -> Result<(ToolResult, Option<Cached>), ToolError> {
        if let Some(kept) = self.0.lock().unwrap().get(&key) {
            return Ok((kept.clone(), Some(Cached { age_ms: 7 })));
        }
        let result = call.await?;
        self.0.lock().unwrap().insert(key, result.clone());
        Ok((result, None))
    }
}

/// One call as the tool saw it.
#[derive(Debug, Clone)]
pub struct Seen {
    pub tool: String,
    pub arguments: Map<String, Value>,
    pub step: String,
    pub attempt: u32,
    pub previous: BTreeMap<String, Value>,
    pub query: String,
    pub cancel: CancellationToken,
}

#[derive(Default)]
struct Observed {
    calls: Vec<Seen>,
    working: usize,
    most_at_once: usize,
    dropped: Vec<String>,
    contexts: Vec<CallContext>,
}

/// Tools that do what the script says, and notice what is done to them.
pub struct ScriptedTools {
    script: Script,
    observed: Arc<Mutex<Observed>>,
}

/// Notices when a call's future is dropped before its work is done.
struct Work {
    step: String,
    done: bool,
    observed: Arc<Mutex<Observed>>,
}

impl Drop for Work {
    fn drop(&mut self) {
        let mut observed = self.observed.lock().unwrap();
        observed.working -= 1;
        if !self.done && !std::thread::panicking() {
            observed.dropped.push(self.step.clone());
        }
    }
}

#[async_trait]
impl ToolRuntime for ScriptedTools {
    async fn call(
        &self,
        tool: &ToolSpec,
        arguments: &Map<String, Value>,
        context: &CallContext,
    ) -> Result<ToolResult, ToolError> {
        let (deed, ms) = {
            let mut observed = self.observed.lock().unwrap();
            let earlier = observed.calls.iter().filter(|c| c.tool == tool.name).count();
            observed.calls.push(Seen {
                tool: tool.name.clone(),
                arguments: arguments.clone(),
                step: context.step.clone(),
                attempt: context.attempt,
                previous: context.previous.iter().map(|(step, r)| (step.clone(), r.data.clone())).collect(),
                query: context.query.clone(),
                cancel: context.cancel.clone(),
            });
            observed.contexts.push(context.clone());
            observed.working += 1;
            observed.most_at_once = observed.most_at_once.max(observed.working);
            self.script.deed(&tool.name, earlier)
        };
        let mut work = Work { step: context.step.clone(), done: false, observed: self.observed.clone() };
        if ms > 0 {
            tokio::time::sleep(Duration::from_millis(ms)).await;
        }
        match deed {
            Deed::Answer { data, confidence } => {
                work.done = true;
                let data = data.unwrap_or_else(|| json!({"from": tool.name}));
                Ok(ToolResult { data, confidence, sources: vec![] })
            }
            Deed::Fail(class) => {
                work.done = true;
                Err(ToolError::new(class, format!("{} failed", tool.name), "try later"))
            }
            Deed::Hang => std::future::pending().await,
            Deed::Panic => panic!("the script of {} says so", tool.name),
        }
    }
}

/// A plan and the circumstances in which it runs.
pub struct Bench {
    pub spec: PlanSpec,
    pub script: Script,
    pub settings: RunSettings,
    /// Milliseconds after which the run is cancelled; 0 is before it begins.
    pub cancel_after: Option<u64>,
    pub journal_room: usize,
    /// The workspace as it is when calls leave, which may differ from when the plan was made.
    pub today: Settings,
    pub options: RunOptions,
    /// What the journal holds when the run begins.
    pub before: Vec<JournalEntry>,
    pub confirmed: Vec<String>,
    pub cache: Option<Arc<dyn ResultCache>>,
    pub history: HashMap<String, CallHistory>,
    /// Commands by the milliseconds at which they are given.
    pub commands: Vec<(u64, Command)>,
    tools: Vec<ToolSpec>,
}

/// What became of a run.
pub struct Ran {
    pub result: Result<RunState, Problem>,
    pub entries: Vec<JournalEntry>,
    pub calls: Vec<Seen>,
    pub most_at_once: usize,
    pub still_working: usize,
    /// Steps whose running call was dropped.
    pub dropped: Vec<String>,
    /// Every state that was shown, in order.
    pub shown: Vec<RunState>,
    /// What the commands were answered, in order.
    pub answers: Vec<Result<(), Problem>>,
    pub contexts: Vec<CallContext>,
}

impl Bench {
    pub fn new(plan: &str, script: &str) -> Self {
        Self::of(plan_spec(plan), Script::of(script))
    }

    pub fn of(spec: PlanSpec, script: Script) -> Self {
        let tools = tools_for(&spec);
        Self {
            spec,
            script,
            settings: RunSettings::default(),
            cancel_after: None,
            journal_room: usize::MAX,
            today: Settings::default(),
            options: RunOptions::default(),
            before: vec![],
            confirmed: vec![],
            cache: None,
            history: HashMap::new(),
            commands: vec![],
            tools,
        }
    }

    pub fn but(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub fn tool(&mut self, name: &str) -> &mut ToolSpec {
        self.tools.iter_mut().find(|t| t.name == name).expect("a tool of the plan")
    }

    pub fn every_tool(&mut self) -> impl Iterator<Item = &mut ToolSpec> {
        self.tools.iter_mut()
    }

    /// Runs the plan, and checks what must hold of every run: an event is in the journal before it is shown, and the
    /// shown state is the fold of the journal so far (O-10, R-04).
    pub async fn run(self) -> Ran {
        let desk = Desk::with_tools(self.tools).asks("what is asked");
        let plan = self.spec.check(|call| desk.guard().admit(call)).expect("a fixture's plan can run");
        let observed = Arc::new(Mutex::new(Observed::default()));
        let journal = Arc::new(MemoryJournal::with_room_for(self.journal_room));
        journal.entries.lock().unwrap().extend(self.before.clone());
        let (control, commands) = Control::new();
        if self.cancel_after == Some(0) {
            control.cancel();
        } else if let Some(ms) = self.cancel_after {
            let control = control.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                control.cancel();
            });
        }
        let given = self.commands;
        let giving = tokio::spawn(async move {
            let began = Instant::now();
            let mut answers = vec![];
            for (at, command) in given {
                tokio::time::sleep_until(began + Duration::from_millis(at)).await;
                answers.push(control.send(command).await);
            }
            // A run that nobody can say anything to any more does not wait for ever.
            drop(control);
            answers
        });
        let (catalog, request, today) = (desk.catalog.clone(), desk.request.clone(), self.today);
        let gate: Gatekeeper = Arc::new(move |call| {
            let viewer = Viewer::new(&today, &request).expect("the mode is known");
            Guard::new(&catalog, &today, viewer, &request, &[]).admit(call)
        });
        let runtime = Arc::new(ScriptedTools { script: self.script, observed: observed.clone() });
        let driver = Driver {
            query: desk.request.query.clone(),
            settings: self.settings,
            options: self.options,
            confirmed: self.confirmed.into_iter().collect(),
            cache: self.cache,
            history: self.history,
            ..Driver::new(7, plan, desk.catalog.clone(), runtime, journal.clone(), gate, commands)
        };
        let mut shown: Vec<RunState> = vec![];
        let mut folded = RunState::of(&self.before);
        let result = driver
            .drive(folded.clone(), |state, entries| {
                let written = journal.entries();
                assert_eq!(written[folded.seq as usize..], *entries, "what is shown is what was just written down");
                for entry in entries {
                    assert_eq!(entry.seq, folded.seq + 1, "without gaps");
                    folded.apply(entry);
                }
                assert_eq!(&folded, state, "the live state is the fold");
                shown.push(state.clone());
            })
            .await;
        // Aborted calls are dropped when the runtime next turns to them.
        tokio::task::yield_now().await;
        let answers = giving.await.expect("the giver does not panic");
        let entries = journal.entries();
        if let Ok(state) = &result {
            assert_eq!(&RunState::of(&entries), state, "folding the whole journal gives the final state");
            let stored: Vec<JournalEntry> =
                serde_json::from_str(&serde_json::to_string(&entries).unwrap()).expect("a journal reads back");
            assert_eq!(stored, entries, "a journal survives its file format");
        }
        let mut seen = observed.lock().unwrap();
        let seen = std::mem::take(&mut *seen);
        Ran {
            result,
            entries,
            calls: seen.calls,
            most_at_once: seen.most_at_once,
            still_working: seen.working,
            dropped: seen.dropped,
            shown,
            answers,
            contexts: seen.contexts,
        }
    }
}

impl Ran {
    pub fn state(&self) -> &RunState {
        self.result.as_ref().expect("the journal held")
    }

    pub fn status(&self, step: &str) -> StepStatus {
        self.state().steps[step].status
    }

    /// The journal, one line per moment: `1000 b ready; b #1 calls b`.
    pub fn transcript(&self) -> String {
        transcript(&self.entries)
    }
}

/// What a run's journal must say.
#[track_caller]
pub fn check(ran: &Ran, expected: Expect) {
    expected.assert_eq(&ran.transcript());
}

//! Plans from one line of text, and a place to run them: a journal in memory and tools that do what a script says.
//!
//! Time is tokio's paused clock, so a run of minutes takes none and every journal is the same each time.

use crate::desk::{Desk, tool};
use async_trait::async_trait;
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolplan_engine::{
    Problem,
    guard::Guard,
    plan::{ExecutionMode, Finding, Plan, PlanSpec, StepSpec},
    ports::{CallContext, ErrorClass, Journal, ResultCache, ToolError, ToolResult, ToolRuntime},
    run::{
        AttemptOutcome, Command, Control, Driver, Gatekeeper, Go, JournalEntry, PauseReason, RunEvent, RunId,
        RunOptions, RunState, Skip, StepStatus, timeout::CallHistory,
    },
    settings::{RunSettings, Settings},
    tool::{Fallback, FallbackCondition, RetryPolicy, ToolSpec},
    visibility::Viewer,
};

/// A plan as one line: `a, b <- a, c! <- a b`. A step calls the tool of its own name.
///
/// After the id: `!` critical, `~` sequential. Further words: `or:x` falls back to x on error, `or:x<0.5` on low
/// confidence, `in:500` has a timeout, `tries:1` has one retry, `takes:7` is expected to take 7 ms,
/// `from:a/path` takes the argument `input` from the result of `a`. Dependencies come after `<-`.
pub fn plan_spec(line: &str) -> PlanSpec {
    let steps = line.split(',').map(str::trim).filter(|s| !s.is_empty()).map(step_spec).collect();
    PlanSpec { steps, reasoning: String::new() }
}

fn step_spec(text: &str) -> StepSpec {
    let (head, dependencies) = text.split_once("<-").unwrap_or((text, ""));
    let mut words = head.split_whitespace();
    let name = words.next().expect("a step has an id");
    let id = name.trim_end_matches(['!', '~']);
    let mut step = StepSpec {
        id: id.into(),
        tool: id.into(),
        critical: name.contains('!'),
        mode: if name.contains('~') { ExecutionMode::Sequential } else { ExecutionMode::Parallel },
        dependencies: dependencies.split_whitespace().map(str::to_string).collect(),
        ..Default::default()
    };
    for word in words {
        let (key, value) = word.split_once(':').expect("a step's words are key:value");
        match key {
            "or" => {
                let (tool, threshold) = value.split_once('<').map_or((value, None), |(t, n)| (t, Some(n)));
                let condition = match threshold {
                    Some(_) => FallbackCondition::OnLowConfidence,
                    None => FallbackCondition::OnError,
                };
                let threshold = threshold.map(|n| n.parse().expect("a threshold is a number"));
                step.fallback = Some(Fallback { condition, threshold, ..Fallback::on_error(tool) });
            }
            "in" => step.timeout_ms = value.parse().ok(),
            "tries" => step.retry = Some(RetryPolicy { max_retries: value.parse().unwrap(), base_ms: 1000 }),
            "takes" => step.expected_ms = value.parse().ok(),
            "from" => {
                let (step_id, path) = value.find('/').map_or((value, ""), |at| value.split_at(at));
                step.arguments.insert("input".into(), json!({"$from": step_id, "path": path}));
            }
            other => panic!("a step says {other:?}"),
        }
    }
    step
}

/// A SAFE tool for every step and fallback of the plan, each with an optional argument `input`.
pub fn tools_for(spec: &PlanSpec) -> Vec<ToolSpec> {
    let fallbacks = spec.steps.iter().filter_map(|s| s.fallback.as_ref().map(|f| &f.tool));
    let names: BTreeSet<&String> = spec.steps.iter().map(|s| &s.tool).chain(fallbacks).collect();
    names
        .into_iter()
        .map(|name| {
            let mut spec = tool(&format!("{name} SAFE"));
            spec.parameters = json!({"type": "object", "properties": {"input": {}}, "additionalProperties": false});
            spec
        })
        .collect()
}

/// The plan of the line, checked by the real guard over a catalog of its tools.
pub fn checked(spec: PlanSpec) -> Result<Plan, Vec<Finding>> {
    let desk = Desk::with_tools(tools_for(&spec)).asks("what is asked");
    spec.check(|call| desk.guard().admit(call))
}

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

/// What a tool does at one call.
#[derive(Debug, Clone, PartialEq)]
pub enum Deed {
    Answer { data: Option<Value>, confidence: Option<f32> },
    Fail(ErrorClass),
    Hang,
    Panic,
}

/// Deeds by tool, in the order of its calls; the last one is repeated. A tool without a line answers at once.
#[derive(Debug, Clone, Default)]
pub struct Script(HashMap<String, Vec<(Deed, u64)>>);

impl Script {
    /// `a: fail, fail, ok 5000 | b: hang`: after a deed the milliseconds it takes. Deeds: `ok`, `ok=json`, `low=0.3`,
    /// `fail`, `refused`, `validation`, `client`, `hang`, `panic`.
    pub fn of(line: &str) -> Self {
        let tools = line.split('|').filter_map(|part| part.split_once(':'));
        Self(tools.map(|(name, deeds)| (name.trim().into(), deeds.split(',').map(deed).collect())).collect())
    }

    pub fn set(&mut self, tool: &str, deeds: Vec<(Deed, u64)>) {
        self.0.insert(tool.into(), deeds);
    }
}

fn deed(text: &str) -> (Deed, u64) {
    let mut words = text.split_whitespace();
    let what = words.next().expect("a deed has a name");
    let ms = words.next().map_or(0, |ms| ms.parse().expect("a deed takes milliseconds"));
    let deed = match what.split_once('=').unwrap_or((what, "")) {
        ("ok", "") => Deed::Answer { data: None, confidence: None },
        ("ok", json) => Deed::Answer { data: Some(serde_json::from_str(json).expect("JSON")), confidence: None },
        ("low", confidence) => Deed::Answer { data: None, confidence: Some(confidence.parse().expect("a number")) },
        ("fail", _) => Deed::Fail(ErrorClass::Transient),
        ("refused", _) => Deed::Fail(ErrorClass::Refused),
        ("validation", _) => Deed::Fail(ErrorClass::Validation),
        ("client", _) => Deed::Fail(ErrorClass::Client),
        ("hang", _) => Deed::Hang,
        ("panic", _) => Deed::Panic,
        (other, _) => panic!("a script says {other:?}"),
    };
    (deed, ms)
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
            let deeds = self.script.0.get(&tool.name);
            let usual = (Deed::Answer { data: None, confidence: None }, 0);
            deeds.and_then(|d| d.get(earlier).or(d.last())).cloned().unwrap_or(usual)
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
        let mut lines: Vec<(u64, Vec<String>)> = vec![];
        for entry in &self.entries {
            let said = show_event(&entry.event);
            match lines.last_mut() {
                Some((at, line)) if *at == entry.at_ms => line.push(said),
                _ => lines.push((entry.at_ms, vec![said])),
            }
        }
        lines.iter().map(|(at, said)| format!("{at} {}", said.join("; "))).collect::<Vec<_>>().join("\n")
    }
}

fn show_event(event: &RunEvent) -> String {
    match event {
        RunEvent::Planned { .. } => "planned".into(),
        RunEvent::Started { plan, .. } => format!("start of {}", plan.steps.len()),
        RunEvent::StepReady { step } => format!("{step} ready"),
        RunEvent::AttemptStarted { step, attempt, tool, .. } => format!("{step} #{attempt} calls {tool}"),
        RunEvent::AttemptFinished { step, attempt, outcome, .. } => match outcome {
            AttemptOutcome::Succeeded { .. } => format!("{step} #{attempt} answers"),
            AttemptOutcome::Failed { error } => format!("{step} #{attempt} fails ({})", class(error)),
        },
        RunEvent::RetryScheduled { step, attempt, delay_ms } => format!("{step} waits {delay_ms} for #{attempt}"),
        RunEvent::FallbackStarted { step, tool, reason } => format!("{step} falls back to {tool}: {reason}"),
        RunEvent::StepSucceeded { step } => format!("{step} ok"),
        RunEvent::StepFailed { step, error } => format!("{step} FAILED ({}): {}", class(error), error.message),
        RunEvent::StepSkipped { step, reason } => match reason {
            Skip::Dependency { root } => format!("{step} skipped: {root} failed"),
            Skip::CriticalFailure { root } => format!("{step} skipped: critical {root} failed"),
            Skip::ByHand => format!("{step} skipped by hand"),
        },
        RunEvent::StepCancelled { step } => format!("{step} cancelled"),
        RunEvent::CancelRequested => "CANCEL".into(),
        RunEvent::Finished { outcome, duration_ms } => {
            format!("end {} after {duration_ms}", crate::desk::snake(outcome))
        }
        RunEvent::Discovery { step, event } => format!("{} {}", step.as_deref().unwrap_or("planning"), event.says()),
        RunEvent::Basis { .. } | RunEvent::Derived { .. } | RunEvent::Compared { .. } | RunEvent::Unknown { .. } => {
            event.kind().into()
        }
        RunEvent::Configured { .. } => "options".into(),
        RunEvent::CacheHit { step, attempt, age_ms } => format!("{step} #{attempt} is cached ({age_ms})"),
        RunEvent::FaultInjected { step, attempt, fault } => format!("{step} #{attempt} struck by {fault}"),
        RunEvent::TimeoutChosen { step, attempt, timeout_ms, reason } => {
            format!("{step} #{attempt} within {timeout_ms}: {reason}")
        }
        RunEvent::BreakpointHit { step, attempt, text, .. } => format!("{step} #{attempt} hits {text}"),
        RunEvent::Paused { reason } => format!("PAUSED {}", pause(reason)),
        RunEvent::Resumed { go } => match go {
            Go::Continue => "GO".into(),
            Go::Step => "GO one step".into(),
            Go::Stage { stage } => format!("GO to the end of stage {stage}"),
            Go::To { step } => format!("GO to {step}"),
        },
        RunEvent::BreakpointsSet { breakpoints } => format!("{} breakpoints", breakpoints.len()),
        RunEvent::ArgumentsEdited { step, arguments } => {
            format!("{step} EDITED {}", Value::from(arguments.clone()))
        }
        RunEvent::ResultEdited { step, result } => format!("{step} GIVEN {}", result.data),
        RunEvent::RetryRequested { step } => format!("{step} AGAIN"),
        RunEvent::Reopened { .. } => "reopened".into(),
        RunEvent::OutcomeUnknown { step, attempt, again } => {
            format!("{step} #{attempt} unknown{}", if *again { ", again" } else { "" })
        }
    }
}

fn class(error: &ToolError) -> String {
    crate::desk::snake(&error.class)
}

fn pause(reason: &PauseReason) -> String {
    match reason {
        PauseReason::Start => "at the start".into(),
        PauseReason::ByHand => "by hand".into(),
        PauseReason::Breakpoint { breakpoint, step } => format!("at breakpoint {breakpoint} {step}").trim_end().into(),
        PauseReason::Stepped { step } => format!("after {step}"),
        PauseReason::Staged { stage } => format!("after stage {stage}"),
        PauseReason::Reached { step } => format!("before {step}"),
        PauseReason::UnknownOutcome { steps } => format!("to ask about {}", steps.join(" ")),
    }
}

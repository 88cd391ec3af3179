//! Replaying, forking and planning again out of the record of a run. What follows from the record
//! is the engine's business; here answers of live tools are fetched and events stored.

use crate::{
    Workbench,
    runs::Live,
    views::{Fork, PlanView, Replanned},
};
use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use tokio::{sync::watch, task::JoinSet};
use toolplan_engine::{
    Problem, compare,
    discovery::Index,
    planning::{self, Answer, Inputs, Planning},
    ports::{CallContext, ErrorClass, ToolError, ToolResult, ToolRuntime},
    replay::{LiveCall, Progress, Replay, Verified, conclude, verify},
    request::{Planner, Request},
    run::{
        AttemptOutcome, Control, ForkChange, JournalEntry, Origin, ReplayPolicy, RunEvent, RunId, RunOutcome, RunState,
        Skip,
    },
    settings::Settings,
    tool::{Catalog, ToolCall},
};
use toolplan_store::{NewRun, RunRow};

impl Workbench {
    /// Replays the run as a new one and returns its number at once. `speed` 1 takes the time that the run took, 2 half
    /// of it; `None` takes none. Answers come from the record unless the policy says otherwise for a tool; live calls
    /// pass the runtime gate of today.
    ///
    /// Errors: `journal.unknown_run`, `replay.not_started`, `replay.speed`.
    pub async fn replay_run(&self, run: RunId, policy: ReplayPolicy, speed: Option<f64>) -> Result<RunId, Problem> {
        let record = self.source(run)?;
        let started = record.entries.iter().position(|e| matches!(e.event, RunEvent::Started { .. })).unwrap_or(0);
        let at = record.entries[..started].last().map_or(0, |e| e.seq);
        let origin = record.origin(at, None, &policy);
        let replay = Replay::new(record.entries.clone(), origin, policy, record.base_ms(speed))?;
        self.start_replay(record, replay, speed, true).await
    }

    /// Whether today's scheduler makes every decision of the run again. Stores nothing.
    pub fn verify_run(&self, run: RunId) -> Result<Verified, Problem> {
        verify(self.source(run)?.entries)
    }

    /// Goes on from a point of the run with one change, as a new run; returns its number at once.
    ///
    /// Errors: those of [`Self::replay_run`], `run.unknown_step`, `fork.early`, `fork.late`, and `plan.findings` when
    /// the change gives a plan that cannot run.
    pub async fn fork_run(
        &self,
        run: RunId,
        fork: Fork,
        policy: ReplayPolicy,
        speed: Option<f64>,
    ) -> Result<RunId, Problem> {
        let record = self.source(run)?;
        let Fork { change, at } = fork;
        let changes = match &change {
            ForkChange::Arguments { step, arguments } => {
                vec![RunEvent::ArgumentsEdited { step: step.clone(), arguments: arguments.clone() }]
            }
            ForkChange::Skip { step } => vec![RunEvent::StepSkipped { step: step.clone(), reason: Skip::ByHand }],
            ForkChange::Result { step, value } => {
                let result = ToolResult { data: value.clone(), confidence: None, sources: vec![] };
                vec![RunEvent::ResultEdited { step: step.clone(), result }]
            }
            ForkChange::Tool { .. } | ForkChange::Settings { .. } => {
                return self.fork_planning(record, change, policy, speed).await;
            }
        };
        let at = record.fork_point(&change, at)?;
        let origin = record.origin(at, Some(change), &policy);
        let replay = Replay::fork(record.entries.clone(), origin, changes, policy, record.base_ms(speed))?;
        self.start_replay(record, replay, speed, false).await
    }

    /// Plans the run's query again from the recorded reply, with today's tools and settings.
    ///
    /// Errors: `journal.unknown_run`, `replay.no_planning`, `replay.no_reply`.
    pub fn replan_run(&self, run: RunId) -> Result<Replanned, Problem> {
        let before = self.recorded_planning(run)?;
        let view: PlanView = self.plan_from_record(&before)?;
        let diff = compare::plannings(&before, &view.planning);
        Ok(Replanned { view, diff })
    }

    fn recorded_planning(&self, run: RunId) -> Result<Box<Planning>, Problem> {
        let journal = self.inner.store.journal();
        journal.run(run)?;
        match journal.first(run, "planned")? {
            Some(RunEvent::Planned { planning }) => Ok(planning),
            _ => Err(no_planning(run)),
        }
    }

    /// The fork that begins with the planning: the same reply, another tool or other settings.
    async fn fork_planning(
        &self,
        record: Source,
        change: ForkChange,
        policy: ReplayPolicy,
        speed: Option<f64>,
    ) -> Result<RunId, Problem> {
        let state = RunState::of(record.entries.iter());
        let before = state.planning.clone().ok_or_else(|| no_planning(record.row.id))?;
        let basis = record.entries.iter().find_map(|e| match &e.event {
            RunEvent::Basis { settings, tools } => Some((settings, tools)),
            _ => None,
        });
        let mut settings: Settings = basis.map_or_else(|| self.settings(), |(settings, _)| (**settings).clone());
        let mut catalog = match self.inner.store.registry().at(before.revision) {
            Ok(stored) if record.row.source.is_none() => Catalog::new(before.revision, stored.specs).0,
            _ => Catalog::new(before.revision, basis.map(|(_, tools)| tools.clone()).unwrap_or_default()).0,
        };
        match &change {
            ForkChange::Tool { spec } => catalog = catalog.with(before.revision, (**spec).clone())?,
            ForkChange::Settings { settings: other } => settings = (**other).clone(),
            _ => {}
        }
        let planning = self.planned_with(&catalog, &settings, &before)?;
        if let Some(finding) = planning.findings.first() {
            let message = format!("the changed plan cannot run: {}", finding.message);
            return Err(Problem::new("plan.findings", message, finding.hint.clone()));
        }
        if planning.plan.steps.is_empty() {
            let hint = "change it otherwise, so that the plan has a step";
            return Err(Problem::new("plan.empty", "the changed plan has no steps", hint));
        }
        let plan = planning.plan.clone();
        let RunEvent::Basis { tools, .. } = self.basis(&plan, &catalog) else { unreachable!("it is made as one") };
        let opening = vec![
            RunEvent::Planned { planning: planning.into() },
            RunEvent::Basis { settings: settings.clone().into(), tools },
            RunEvent::Derived { origin: record.origin(0, Some(change), &policy).into() },
            RunEvent::Started {
                plan: plan.clone(),
                catalog_revision: catalog.revision(),
                parallel_limit: settings.run.parallel_limit,
                timeout_ms: settings.run.timeout_ms,
                retry: settings.run.retry,
            },
        ];
        let replay = Replay::with_plan(record.entries.clone(), &plan, opening, policy, record.base_ms(speed))?;
        self.start_replay(record, replay, speed, false).await
    }

    fn planned_with(&self, catalog: &Catalog, settings: &Settings, before: &Planning) -> Result<Planning, Problem> {
        let said = recorded_reply(before)?;
        let answer = match &said {
            Said::Nothing => Answer::Offline,
            Said::Reply(reply) => {
                Answer::Reply { reply, label: &before.planner.label, model_ms: before.planner.model_ms }
            }
            Said::Unavailable(reason) => Answer::Unavailable { reason },
        };
        planning::plan(&Inputs {
            catalog,
            index: &Index::of(catalog),
            settings,
            request: &before.request,
            counter: &self.counter(settings),
            counts_exactly: before.tokens.exact,
            history: &self.history()?,
            answer,
        })
    }

    fn source(&self, run: RunId) -> Result<Source, Problem> {
        let journal = self.inner.store.journal();
        let row = journal.run(run)?;
        let entries: Arc<[JournalEntry]> = journal.events(run)?.0.into();
        let request = entries.iter().find_map(|e| match &e.event {
            RunEvent::Planned { planning } => Some(planning.request.clone()),
            _ => None,
        });
        Ok(Source { row, entries, request: request.unwrap_or_default() })
    }

    /// Makes the run and lets the replay play in the background.
    async fn start_replay(
        &self,
        record: Source,
        replay: Replay,
        speed: Option<f64>,
        compared: bool,
    ) -> Result<RunId, Problem> {
        if speed.is_some_and(|speed| !(speed.is_finite() && speed > 0.0)) {
            return Err(Problem::new("replay.speed", "a speed is a number above zero", "1 is the run's own speed"));
        }
        let RunRow { query, planner, catalog_revision, .. } = record.row.clone();
        let journal = self.inner.store.journal();
        let run = journal.create(NewRun { query, planner, catalog_revision, ..NewRun::default() }).await?;
        let (control, commands) = Control::new();
        let cancelled = commands.into_cancel();
        let (ended, receiver) = watch::channel(None);
        self.inner.runs.lock().expect("no holder panics").insert(run, Live { control, ended: receiver });
        let workbench = self.clone();
        tokio::spawn(async move {
            let mut player = Player { workbench: workbench.clone(), run, record, speed, made: vec![], at_ms: None };
            let result = player.play(replay, cancelled, compared).await;
            if let Err(problem) = &result {
                tracing::error!(run, problem = %problem.message, "the replay stopped");
            }
            workbench.inner.runs.lock().expect("no holder panics").remove(&run);
            // Nobody may be waiting any more.
            let _ = ended.send(Some(result));
            workbench.prune_soon();
        });
        Ok(run)
    }
}

/// A run that another one is derived from.
struct Source {
    row: RunRow,
    entries: Arc<[JournalEntry]>,
    request: Request,
}

impl Source {
    fn origin(&self, at: u32, change: Option<ForkChange>, policy: &ReplayPolicy) -> Origin {
        let change = change.map(Box::new);
        Origin { run: self.row.id, uid: self.row.uid.clone(), at, change, policy: policy.clone() }
    }

    /// When the derived run begins. One that takes no time lies behind us, so that it ends now.
    fn base_ms(&self, speed: Option<f64>) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64);
        let took = match (self.entries.first(), self.entries.last()) {
            (Some(first), Some(last)) if speed.is_none() => last.at_ms.saturating_sub(first.at_ms),
            _ => 0,
        };
        now.saturating_sub(took)
    }

    /// The last event to take over, so that the change can still have its effect.
    fn fork_point(&self, change: &ForkChange, wanted: Option<u32>) -> Result<u32, Problem> {
        let step = change.step().unwrap_or_default();
        let last = RunState::of(self.entries.iter());
        if !last.steps.contains_key(step) {
            let message = format!("the plan of run {} has no step {step}", self.row.id);
            return Err(Problem::new("run.unknown_step", message, "name a step of this run's plan"));
        }
        let of_step = |e: &&JournalEntry| e.event.step() == Some(step);
        let first = |kind: &str| self.entries.iter().filter(of_step).find(|e| e.event.kind() == kind);
        let at = wanted.unwrap_or_else(|| {
            let entry = match change {
                ForkChange::Arguments { .. } => first("attempt_started"),
                ForkChange::Result { .. } => {
                    self.entries.iter().rev().filter(of_step).find(|e| e.event.kind() == "attempt_finished")
                }
                _ => None,
            };
            let entry = entry.or_else(|| self.entries.iter().find(of_step));
            let end = self.entries.iter().rev().find(|e| matches!(e.event, RunEvent::Finished { .. }));
            entry.or(end).map_or(last.seq, |e| e.seq - 1)
        });
        let state = RunState::of(self.entries.iter().take_while(|e| e.seq <= at));
        if state.started_ms.is_none() {
            let hint = format!("choose an event from {} on", self.started());
            return Err(Problem::new("fork.early", format!("at event {at} the plan does not run yet"), hint));
        }
        let s = &state.steps[step];
        let late = |why: &str| {
            let message = format!("at event {at} {step} {why}");
            Err(Problem::new("fork.late", message, "choose an earlier event, or leave it out"))
        };
        if s.status.is_done() || state.outcome.is_some() {
            return late("is done");
        }
        if s.is_in_flight() && !matches!(change, ForkChange::Result { .. }) {
            return late("is at work");
        }
        Ok(at)
    }

    fn started(&self) -> u32 {
        self.entries.iter().find(|e| matches!(e.event, RunEvent::Started { .. })).map_or(1, |e| e.seq)
    }
}

/// Stores what a replay does, at its pace, and makes its live calls.
struct Player {
    workbench: Workbench,
    run: RunId,
    record: Source,
    speed: Option<f64>,
    made: Vec<JournalEntry>,
    /// The time of the last event, in the replay's time.
    at_ms: Option<u64>,
}

type Answered = (LiveCall, AttemptOutcome, u64);

impl Player {
    async fn play(
        &mut self,
        mut replay: Replay,
        cancelled: tokio_util::sync::CancellationToken,
        compared: bool,
    ) -> Result<(), Problem> {
        self.store(replay.prefix()).await?;
        let mut calls: JoinSet<Answered> = JoinSet::new();
        loop {
            while let Some(Ok((call, outcome, took))) = calls.try_join_next() {
                replay.answer(&call.step, call.attempt, outcome, took);
            }
            if cancelled.is_cancelled() && !replay.state().cancelling && replay.state().outcome.is_none() {
                calls.abort_all();
                replay.cancel();
            }
            match replay.advance() {
                Progress::Entries { entries, calls: left } => {
                    self.wait(&entries, &cancelled).await;
                    self.store(entries).await?;
                    for call in left {
                        calls.spawn(live(
                            self.workbench.clone(),
                            self.run,
                            self.record.request.clone(),
                            call,
                            cancelled.clone(),
                        ));
                    }
                }
                Progress::Waits => {
                    tokio::select! {
                        joined = calls.join_next() => if let Some(Ok((call, outcome, took))) = joined {
                            replay.answer(&call.step, call.attempt, outcome, took);
                        },
                        () = cancelled.cancelled() => {}
                    }
                }
                Progress::Ended => break,
            }
        }
        let mut last = vec![];
        if replay.state().outcome.is_none() {
            // The record breaks off, and so does this.
            last.push(RunEvent::Finished { outcome: RunOutcome::Interrupted, duration_ms: 0 });
        }
        if compared {
            last.push(conclude(&replay, &self.record.entries, &self.made));
        }
        let (seq, at_ms) = (replay.state().seq, self.at_ms.unwrap_or_default());
        let last = (seq + 1..).zip(last).map(|(seq, event)| JournalEntry { seq, at_ms, event }).collect();
        self.store(last).await
    }

    /// Waits as long as the record says, at the replay's speed.
    async fn wait(&self, entries: &[JournalEntry], cancelled: &tokio_util::sync::CancellationToken) {
        if let (Some(speed), Some(before), Some(next)) = (self.speed, self.at_ms, entries.first()) {
            let pause = Duration::from_secs_f64(next.at_ms.saturating_sub(before) as f64 / 1000.0 / speed);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = cancelled.cancelled() => {}
            }
        }
    }

    async fn store(&mut self, entries: Vec<JournalEntry>) -> Result<(), Problem> {
        let stored = self.workbench.inner.store.journal().write(self.run, entries).await?;
        self.at_ms = stored.last().map(|e| e.at_ms).or(self.at_ms);
        self.workbench.tell_followers(self.run, &stored);
        self.made.extend(stored);
        Ok(())
    }
}

/// Makes a live call, if the gate of today admits it.
async fn live(
    workbench: Workbench,
    run: RunId,
    request: Request,
    call: LiveCall,
    cancelled: tokio_util::sync::CancellationToken,
) -> Answered {
    let began = Instant::now();
    let query = request.query.clone();
    let admitted =
        workbench.gatekeeper(request)(&ToolCall { tool: call.tool.clone(), arguments: call.arguments.clone() });
    let catalog = workbench.tools().catalog;
    let result = match (admitted, catalog.spec(&call.tool)) {
        (Ok(admitted), Some(spec)) => {
            let context = CallContext {
                run,
                step: call.step.clone(),
                attempt: call.attempt,
                query,
                previous: call.previous.clone(),
                timeout_ms: call.timeout_ms,
                cancel: cancelled.child_token(),
                ..CallContext::default()
            };
            let limit = Duration::from_millis(u64::from(call.timeout_ms));
            let runtime = workbench.toolbox();
            let _told_when_dropped = context.cancel.clone().drop_guard();
            match tokio::time::timeout(limit, runtime.call(spec, &admitted.call().arguments, &context)).await {
                Ok(result) => result,
                Err(_) => {
                    let message = format!("{} did not answer within {} ms (timeout)", call.tool, call.timeout_ms);
                    Err(ToolError::new(ErrorClass::Timeout, message, "answer it from the record"))
                }
            }
        }
        (Err(refused), _) => Err(ToolError::new(ErrorClass::Refused, refused.message, refused.hint)),
        (Ok(_), None) => {
            let message = format!("there is no tool called {}", call.tool);
            Err(ToolError::new(ErrorClass::Refused, message, "answer it from the record"))
        }
    };
    let outcome = match result {
        Ok(result) => AttemptOutcome::Succeeded { result },
        Err(error) => AttemptOutcome::Failed { error },
    };
    let took = began.elapsed().as_millis() as u64;
    (call, outcome, took)
}

/// Who proposed the calls of a recorded planning.
pub(crate) enum Said {
    Nothing,
    Reply(Box<toolplan_engine::select::Reply>),
    Unavailable(String),
}

/// What the model said when the run was planned.
pub(crate) fn recorded_reply(planning: &Planning) -> Result<Said, Problem> {
    if let Some(reply) = &planning.reply {
        return Ok(Said::Reply(reply.clone().into()));
    }
    if planning.planner.requested == Planner::Offline {
        return Ok(Said::Nothing);
    }
    if !planning.guard.model_text.is_empty() {
        // Journals of the first version keep the text alone.
        let text = planning.guard.model_text.clone();
        return Ok(Said::Reply(toolplan_engine::select::Reply { text, ..Default::default() }.into()));
    }
    if planning.planner.used == Planner::Offline {
        return Ok(Said::Unavailable(planning.planner.fallback_reason.clone()));
    }
    Err(Problem::new(
        "replay.no_reply",
        "the run does not hold the model's reply",
        "plan the query again with the model",
    ))
}

fn no_planning(run: RunId) -> Problem {
    Problem::new("replay.no_planning", format!("run {run} does not hold its planning"), "choose another run")
}

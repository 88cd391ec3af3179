//! Replaying and planning again out of the record of a run. What follows from the record is the engine's
//! business; here answers of live tools are fetched and events stored. `forks` goes on from a point of a record.

use crate::{Workbench, discovery::RunDiscovery, runs::Live, views::Replanned};
use futures::FutureExt;
use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use tokio::{sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;
use toolplan_engine::{
    Problem, compare,
    planning::Planning,
    ports::{CallContext, ErrorClass, ToolError, ToolResult},
    replay::{LiveCall, Progress, Replay, Verified, conclude, verify},
    request::Request,
    run::{AttemptOutcome, Control, ForkChange, JournalEntry, Origin, ReplayPolicy, RunEvent, RunId, RunOutcome},
    tool::ToolCall,
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

    /// Plans the run's query again from the recorded reply, with today's tools and settings.
    ///
    /// Errors: `journal.unknown_run`, `replay.no_planning`, `replay.no_reply`.
    pub fn replan_run(&self, run: RunId) -> Result<Replanned, Problem> {
        let before = self.recorded_planning(run)?;
        let view = self.plan_from_record(&before)?;
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

    pub(crate) fn source(&self, run: RunId) -> Result<Source, Problem> {
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
    pub(crate) async fn start_replay(
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
pub(crate) struct Source {
    pub(crate) row: RunRow,
    pub(crate) entries: Arc<[JournalEntry]>,
    pub(crate) request: Request,
}

impl Source {
    pub(crate) fn origin(&self, at: u32, change: Option<ForkChange>, policy: &ReplayPolicy) -> Origin {
        let change = change.map(Box::new);
        Origin { run: self.row.id, uid: self.row.uid.clone(), at, change, policy: policy.clone() }
    }

    /// When the derived run begins. One that takes no time lies behind us, so that it ends now.
    pub(crate) fn base_ms(&self, speed: Option<f64>) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64);
        let took = match (self.entries.first(), self.entries.last()) {
            (Some(first), Some(last)) if speed.is_none() => last.at_ms.saturating_sub(first.at_ms),
            _ => 0,
        };
        now.saturating_sub(took)
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
    async fn play(&mut self, mut replay: Replay, cancelled: CancellationToken, compared: bool) -> Result<(), Problem> {
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
                        let (workbench, request) = (self.workbench.clone(), self.record.request.clone());
                        calls.spawn(live(workbench, self.run, request, call, cancelled.clone()));
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
    async fn wait(&self, entries: &[JournalEntry], cancelled: &CancellationToken) {
        if let (Some(speed), Some(before), Some(next)) = (self.speed, self.at_ms, entries.first()) {
            let seconds = next.at_ms.saturating_sub(before) as f64 / 1000.0 / speed;
            let pause = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
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

/// Makes a live call, if the gate of today admits it. A tool that breaks down has answered too: the replay waits for it.
async fn live(
    workbench: Workbench,
    run: RunId,
    request: Request,
    call: LiveCall,
    cancelled: CancellationToken,
) -> Answered {
    let began = Instant::now();
    let outcome = match AssertUnwindSafe(ask_tool(&workbench, run, request, &call, &cancelled)).catch_unwind().await {
        Ok(Ok(result)) => AttemptOutcome::Succeeded { result },
        Ok(Err(error)) => AttemptOutcome::Failed { error },
        Err(_) => {
            let message = format!("{} broke down", call.tool);
            let error = ToolError::new(ErrorClass::Internal, message, "answer it from the record, or report it");
            AttemptOutcome::Failed { error }
        }
    };
    let took = began.elapsed().as_millis() as u64;
    (call, outcome, took)
}

async fn ask_tool(
    workbench: &Workbench,
    run: RunId,
    request: Request,
    call: &LiveCall,
    cancelled: &CancellationToken,
) -> Result<ToolResult, ToolError> {
    let asked = ToolCall { tool: call.tool.clone(), arguments: call.arguments.clone() };
    let admitted = workbench.gatekeeper(request.clone())(&asked)
        .map_err(|refused| ToolError::new(ErrorClass::Refused, refused.message, refused.hint))?;
    let catalog = workbench.tools().catalog;
    let spec = catalog.spec(&call.tool).ok_or_else(|| {
        let message = format!("there is no tool called {}", call.tool);
        ToolError::new(ErrorClass::Refused, message, "answer it from the record")
    })?;
    let context = CallContext {
        run,
        step: call.step.clone(),
        attempt: call.attempt,
        query: request.query.clone(),
        previous: call.previous.clone(),
        timeout_ms: call.timeout_ms,
        cancel: cancelled.child_token(),
        ..CallContext::default()
    };
    let _told_when_dropped = context.cancel.clone().drop_guard();
    // Discovery's own tools are answered in front of the toolbox, as in any run; its notes have no place in a replay.
    let runtime = RunDiscovery::new(workbench.clone(), request, vec![]).runtime(Arc::new(workbench.toolbox()));
    let limit = Duration::from_millis(u64::from(call.timeout_ms));
    let answered = tokio::time::timeout(limit, runtime.call(spec, &admitted.call().arguments, &context)).await;
    answered.unwrap_or_else(|_| {
        let message = format!("{} did not answer within {} ms (timeout)", call.tool, call.timeout_ms);
        Err(ToolError::new(ErrorClass::Timeout, message, "answer it from the record"))
    })
}

pub(crate) fn no_planning(run: RunId) -> Problem {
    Problem::new("replay.no_planning", format!("run {run} does not hold its planning"), "choose another run")
}

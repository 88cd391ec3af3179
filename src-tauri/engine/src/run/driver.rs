//! The driver: asks the scheduler what to do, does it, writes down what happened. It decides nothing.
//!
//! Every event is durable before anything else sees it (O-10): a call leaves for its tool only after the journal
//! holds that it left.

use super::{
    AttemptOutcome, JournalEntry, Noted, PauseReason, RunEvent, RunId, RunOptions, RunState, StepStatus,
    breakpoint::arguments_in_charge,
    control::{Ask, Commands, respond},
    fault::{Fault, strikes},
    timeout::{CallHistory, adaptive},
    written::write_down,
};
use crate::{
    Problem,
    guard::Admitted,
    plan::{Finding, Plan, references, resolve},
    ports::{
        CacheKey, Cached, CallContext, ErrorClass, Given, Journal, ResultCache, ToolError, ToolResult, ToolRuntime,
    },
    schedule::{Action, Frontier},
    settings::{Backoff, RunSettings},
    tool::{Catalog, Entry, ToolCall, ToolSpec},
};
use futures::FutureExt;
use serde_json::{Map, Value};
use std::{
    collections::{BTreeSet, HashMap},
    panic::AssertUnwindSafe,
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::oneshot,
    task::{AbortHandle, Id, JoinSet},
    time::Instant,
};

/// The runtime gate (V-07): the guard's word on a call with resolved arguments, asked before every attempt.
pub type Gatekeeper = Arc<dyn Fn(&ToolCall) -> Result<Admitted, Finding> + Send + Sync>;

/// Everything one run needs. [`Driver::new`] fills in what most runs leave alone.
pub struct Driver {
    pub run: RunId,
    pub plan: Plan,
    pub query: String,
    pub catalog: Catalog,
    pub settings: RunSettings,
    pub options: RunOptions,
    pub runtime: Arc<dyn ToolRuntime>,
    pub journal: Arc<dyn Journal>,
    pub gate: Gatekeeper,
    /// What gate and tools did beside their answers.
    pub noted: Noted,
    /// Results of harmless calls; `None` calls every time.
    pub cache: Option<Arc<dyn ResultCache>>,
    /// By tool, for timeouts.
    pub history: HashMap<String, CallHistory>,
    /// When going on with a run: the steps that may be called again although their outcome is unknown (O-10).
    pub confirmed: BTreeSet<String>,
    /// When going on with a run: pause before anything starts.
    pub paused: Option<PauseReason>,
    /// The other end of a [`Control`](super::Control).
    pub commands: Commands,
}

/// A run whose tools all answer at once lets others have their turn every so often.
const ROUNDS_WITHOUT_A_BREAK: u32 = 16;

/// What came back from a call or a pause.
enum Back {
    Answer { step: usize, attempt: u32, started: Instant, outcome: AttemptOutcome, cached: Option<Cached> },
    PauseOver { step: usize },
}

/// Where the driver is while it drives.
struct Drive {
    /// As the journal has it; this is what is shown.
    state: RunState,
    /// What the events lead to that are not durable yet. Decisions rest on it; nothing is shown of it.
    ahead: RunState,
    frontier: Frontier,
    began: Instant,
    tasks: JoinSet<Back>,
    /// Calls and pauses that were aborted and may not be gone yet.
    given_up: Vec<AbortHandle>,
    /// Calls that answered at once.
    at_once: Vec<Back>,
    calls: HashMap<Id, (usize, u32, Instant)>,
    /// By step: its call or its pause.
    handles: HashMap<usize, AbortHandle>,
    /// Who waits until what they asked for is durable.
    replies: Vec<oneshot::Sender<Result<(), Problem>>>,
    given: Arc<Given>,
}

impl Driver {
    /// A driver with the workspace's settings and nothing chosen for the run.
    pub fn new(
        run: RunId,
        plan: Plan,
        catalog: Catalog,
        runtime: Arc<dyn ToolRuntime>,
        journal: Arc<dyn Journal>,
        gate: Gatekeeper,
        commands: Commands,
    ) -> Self {
        Self {
            run,
            plan,
            query: String::new(),
            catalog,
            settings: RunSettings::default(),
            options: RunOptions::default(),
            runtime,
            journal,
            gate,
            noted: Noted::default(),
            cache: None,
            history: HashMap::new(),
            confirmed: BTreeSet::new(),
            paused: None,
            commands,
        }
    }

    /// Runs the plan to its end and returns the final state. `state` is what the journal already holds of the run:
    /// nothing or a planning, and the run starts; or a run that was started, whatever became of it, and it goes on
    /// from there (O-10). `watch` sees every state with the entries that led to it, after they are durable.
    ///
    /// Errors: when the journal cannot be written (nothing more is started and running calls are dropped), and
    /// `run.stuck` when the run is paused and nobody is left who could resume it.
    pub async fn drive(
        mut self,
        state: RunState,
        mut watch: impl FnMut(&RunState, &[JournalEntry]) + Send,
    ) -> Result<RunState, Problem> {
        let mut events = self.opening(&state);
        let ahead = RunState { planning: None, ..state.clone() };
        let options = if state.started_ms.is_some() { &state.options } else { &self.options };
        let given = Given { conversation: options.conversation.clone(), metadata: options.metadata.clone() };
        let mut drive = Drive {
            // The first event fills it.
            frontier: Frontier::default(),
            state,
            ahead,
            began: Instant::now(),
            tasks: JoinSet::new(),
            given_up: vec![],
            at_once: vec![],
            calls: HashMap::new(),
            handles: HashMap::new(),
            replies: vec![],
            given: given.into(),
        };
        // Until nobody can say anything any more.
        let mut listening = true;
        let mut rounds = 0_u32;
        let cancelled = self.commands.cancel.clone();
        loop {
            let (batch, starts) = self.decide(&mut drive, std::mem::take(&mut events));
            if !batch.is_empty() {
                let entries = self.journal.append(self.run, batch).await?;
                for entry in &entries {
                    drive.state.apply(entry);
                }
                watch(&drive.state, &entries);
                if !starts.is_empty() {
                    gone(&mut drive.given_up).await;
                }
                for prepared in starts {
                    self.leave(&mut drive, prepared);
                }
            }
            for reply in drive.replies.drain(..) {
                // Whoever asked may have gone.
                let _ = reply.send(Ok(()));
            }
            if drive.state.outcome.is_some() {
                return Ok(drive.state);
            }
            for back in std::mem::take(&mut drive.at_once) {
                if let Back::Answer { step, attempt, started, outcome, cached } = back {
                    events.extend(self.answered(&drive, step, attempt, started, outcome, cached));
                }
            }
            if !events.is_empty() {
                // Nothing has waited so far: let the others on this thread have their turn, and hear what they say.
                rounds += 1;
                if rounds.is_multiple_of(ROUNDS_WITHOUT_A_BREAK) {
                    tokio::task::yield_now().await;
                }
                while let Ok(ask) = self.commands.asks.try_recv() {
                    events.extend(self.answer(&mut drive, ask));
                }
                continue;
            }
            let is_hopeless = drive.state.paused.is_none() || !listening;
            if drive.tasks.is_empty() && is_hopeless && !self.commands.cancel.is_cancelled() {
                return Err(stuck(&drive.state));
            }
            tokio::select! {
                () = cancelled.cancelled(), if !drive.state.cancelling => events.push(RunEvent::CancelRequested),
                joined = drive.tasks.join_next_with_id(), if !drive.tasks.is_empty() => {
                    let mut next = joined;
                    while let Some(joined) = next {
                        events.extend(self.noted.take(None));
                        events.extend(self.back(&mut drive, joined));
                        next = drive.tasks.try_join_next_with_id();
                    }
                }
                ask = self.commands.asks.recv(), if listening => match ask {
                    Some(ask) => events.extend(self.answer(&mut drive, ask)),
                    None => listening = false,
                },
            }
        }
    }

    /// The first events: of a run that starts, or of one that goes on.
    fn opening(&self, state: &RunState) -> Vec<RunEvent> {
        let mut events = vec![];
        if state.started_ms.is_none() {
            events.push(RunEvent::Started {
                plan: self.plan.spec().clone(),
                catalog_revision: self.catalog.revision(),
                parallel_limit: self.settings.parallel_limit,
                timeout_ms: self.settings.timeout_ms,
                retry: self.settings.retry,
            });
            let mut options = self.options.clone();
            options.jitter_percent = options.jitter_percent.or(Some(self.settings.jitter_percent)).filter(|p| *p > 0);
            if options.backoff == Backoff::default() {
                options.backoff = self.settings.backoff;
            }
            options.faults.extend(self.settings.faults.iter().cloned());
            if options != RunOptions::default() {
                let step_mode = options.step_mode;
                events.push(RunEvent::Configured { options: options.into() });
                events.extend(step_mode.then_some(RunEvent::Paused { reason: PauseReason::Start }));
            }
            return events;
        }
        events.push(RunEvent::Reopened { confirmed: self.confirmed.iter().cloned().collect() });
        for (id, s) in &state.steps {
            let Some(attempt) = s.attempts.last().filter(|_| s.is_in_flight() || s.unknown) else {
                // What its pause was for is over by now.
                events.extend((s.status == StepStatus::Waiting).then(|| RunEvent::StepReady { step: id.clone() }));
                continue;
            };
            let harmless = self.catalog.spec(&attempt.tool).is_some_and(ToolSpec::is_repeatable);
            let again = harmless || self.confirmed.contains(id);
            events.push(RunEvent::OutcomeUnknown { step: id.clone(), attempt: attempt.number, again });
        }
        events.extend(self.paused.iter().map(|reason| RunEvent::Paused { reason: reason.clone() }));
        events
    }

    /// Decides until there is only waiting left. Returns all that happened, to be written down at once, and the calls
    /// that leave when it is.
    fn decide(&self, drive: &mut Drive, mut events: Vec<RunEvent>) -> (Vec<RunEvent>, Vec<Prepared>) {
        let mut batch = Vec::with_capacity(events.len() + 3);
        let mut starts = vec![];
        while !events.is_empty() {
            for event in std::mem::take(&mut events) {
                batch.push(self.take_in(drive, event));
            }
            let actions = drive.frontier.actions(&self.plan, &drive.ahead);
            let only_starts = actions.iter().all(|a| matches!(a, Action::Start { .. }));
            if only_starts && !actions.is_empty() && self.commands.cancel.is_cancelled() && !drive.ahead.cancelling {
                // The cancellation came while decisions were made: nothing leaves after it.
                events.push(RunEvent::CancelRequested);
                continue;
            }
            for action in actions {
                match action {
                    // Last of all: a start is decided when nothing else is, so that none is taken back.
                    Action::Start { step, attempt } if only_starts => {
                        let prepared = self.prepare(step, attempt, &drive.ahead);
                        events.extend(self.noted.take(Some(&self.id(step))));
                        events.extend(self.start_events(&prepared));
                        starts.push(prepared);
                    }
                    Action::Start { .. } => {}
                    other => self.record(drive, other, &mut events),
                }
            }
        }
        (batch, starts)
    }

    /// Folds an event that is not durable yet.
    fn take_in(&self, drive: &mut Drive, event: RunEvent) -> RunEvent {
        let entry = JournalEntry { seq: drive.ahead.seq + 1, at_ms: 0, event };
        drive.ahead.apply(&entry);
        drive.frontier.apply(&self.plan, &drive.ahead, &entry.event);
        match &entry.event {
            RunEvent::RetryScheduled { step, delay_ms, .. } => {
                if let Some(step) = drive.ahead.steps.get_index_of(step) {
                    let delay = Duration::from_millis(*delay_ms);
                    let handle = drive.tasks.spawn(async move {
                        tokio::time::sleep(delay).await;
                        Back::PauseOver { step }
                    });
                    drive.handles.insert(step, handle);
                }
            }
            // Whatever it was doing is given up.
            RunEvent::StepCancelled { step }
            | RunEvent::StepSkipped { step, .. }
            | RunEvent::RetryRequested { step }
            | RunEvent::ResultEdited { step, .. } => {
                let handle = drive.ahead.steps.get_index_of(step).and_then(|step| drive.handles.remove(&step));
                if let Some(handle) = handle {
                    handle.abort();
                    drive.given_up.push(handle);
                }
            }
            _ => {}
        }
        entry.event
    }

    /// The events that record an action which is nothing but its record.
    fn record(&self, drive: &Drive, action: Action, events: &mut Vec<RunEvent>) {
        write_down(&self.plan, &drive.ahead, action, drive.began.elapsed().as_millis() as u64, events);
    }

    fn start_events(&self, prepared: &Prepared) -> impl Iterator<Item = RunEvent> {
        let (step, attempt) = (self.id(prepared.step), prepared.attempt);
        let fault = prepared.fault.clone().map(|fault| RunEvent::FaultInjected { step: step.clone(), attempt, fault });
        let timeout = prepared.chosen_timeout.clone().map(|(timeout_ms, reason)| RunEvent::TimeoutChosen {
            step: step.clone(),
            attempt,
            timeout_ms,
            reason,
        });
        let started = RunEvent::AttemptStarted {
            step,
            attempt,
            tool: prepared.tool.clone(),
            arguments: prepared.arguments.clone(),
        };
        std::iter::once(started).chain(timeout).chain(fault)
    }

    /// Lets a call leave. Most wait for something and become a task of their own; the answer of one that does not is
    /// taken at once, since a task would cost more than the call.
    fn leave(&self, drive: &mut Drive, prepared: Prepared) {
        let (step, attempt, started) = (prepared.step, prepared.attempt, Instant::now());
        let mut work = Box::pin(self.call(started, prepared, drive));
        match std::panic::catch_unwind(AssertUnwindSafe(|| work.as_mut().now_or_never())) {
            Ok(None) => {}
            Ok(Some(back)) => return drive.at_once.push(back),
            Err(_) => {
                let outcome = AttemptOutcome::Failed { error: panicked() };
                return drive.at_once.push(Back::Answer { step, attempt, started, outcome, cached: None });
            }
        }
        let handle = drive.tasks.spawn(work);
        drive.calls.insert(handle.id(), (step, attempt, started));
        drive.handles.insert(step, handle);
    }

    fn answer(&self, drive: &mut Drive, ask: Ask) -> Vec<RunEvent> {
        match respond(&self.plan, &drive.state, ask.command, &self.gate) {
            Ok(events) => {
                drive.replies.push(ask.reply);
                events
            }
            Err(problem) => {
                let _ = ask.reply.send(Err(problem));
                vec![]
            }
        }
    }

    fn id(&self, step: usize) -> String {
        self.plan.steps()[step].spec.id.clone()
    }

    fn back(&self, drive: &mut Drive, joined: Result<(Id, Back), tokio::task::JoinError>) -> Vec<RunEvent> {
        let (step, attempt, started, outcome, cached) = match joined {
            Ok((_, Back::PauseOver { step })) => {
                let waits = drive.ahead.steps[step].status == StepStatus::Waiting;
                return if waits { vec![RunEvent::StepReady { step: self.id(step) }] } else { vec![] };
            }
            Ok((id, Back::Answer { step, attempt, started, outcome, cached })) => {
                drive.calls.remove(&id);
                (step, attempt, started, outcome, cached)
            }
            Err(error) => {
                let Some((step, attempt, started)) = drive.calls.remove(&error.id()) else { return vec![] };
                (step, attempt, started, AttemptOutcome::Failed { error: panicked() }, None)
            }
        };
        self.answered(drive, step, attempt, started, outcome, cached)
    }

    fn answered(
        &self,
        drive: &Drive,
        step: usize,
        attempt: u32,
        started: Instant,
        outcome: AttemptOutcome,
        cached: Option<Cached>,
    ) -> Vec<RunEvent> {
        let s = &drive.ahead.steps[step];
        if !s.is_in_flight() || s.attempts.last().is_none_or(|a| a.number != attempt) {
            // It was given up meanwhile, and its end is already written down.
            return vec![];
        }
        let step = self.id(step);
        let hit = cached.map(|cached| RunEvent::CacheHit { step: step.clone(), attempt, age_ms: cached.age_ms });
        let duration_ms = started.elapsed().as_millis() as u64;
        hit.into_iter().chain([RunEvent::AttemptFinished { step, attempt, duration_ms, outcome }]).collect()
    }

    /// The call with references resolved and admitted once more, or why it cannot leave.
    fn prepare(&self, step: usize, attempt: u32, state: &RunState) -> Prepared {
        let planned = &self.plan.steps()[step];
        let s = &state.steps[step];
        let tool = super::breakpoint::in_charge(planned, s).to_string();
        let mut prepared = Prepared {
            step,
            attempt,
            fault: strikes(&state.options.faults, state.options.seed, &planned.spec.id, &tool, attempt).cloned(),
            tool,
            arguments: Map::new(),
            ready: Err(ToolError::new(ErrorClass::Internal, "", "")),
            timeout_ms: state.timeout_ms,
            chosen_timeout: None,
            cache_key: None,
        };
        let (arguments, entry) = self.admitted(&prepared.tool, arguments_in_charge(planned, s), state);
        prepared.arguments = arguments;
        if let Ok(entry) = &entry {
            let fallback = planned.spec.fallback.as_ref().filter(|_| s.fallback.is_some());
            // A fallback has the timeout of its own, or of its tool (O-05).
            let own = match fallback {
                Some(fallback) => fallback.timeout_ms.or(entry.spec.timeout_ms),
                None => planned.spec.timeout_ms,
            };
            match (own, adaptive(&self.settings.adaptive_timeout, self.history.get(&prepared.tool))) {
                (Some(own), _) => prepared.timeout_ms = own,
                (None, Some(chosen)) => {
                    prepared.timeout_ms = chosen.timeout_ms;
                    prepared.chosen_timeout = Some((chosen.timeout_ms, chosen.reason));
                }
                (None, None) => {}
            }
            if self.cache.is_some() && !state.options.no_cache && prepared.fault.is_none() {
                prepared.cache_key = crate::cache::key(entry, &prepared.arguments);
            }
        }
        prepared.ready = entry;
        prepared
    }

    /// The arguments as they leave, or as far as they came; and the tool, or why the call does not leave.
    fn admitted(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        state: &RunState,
    ) -> (Map<String, Value>, Result<Arc<Entry>, ToolError>) {
        let result_of = |id: &str| state.steps.get(id).and_then(|s| s.result.as_ref()).map(|r| r.data.clone());
        let refuse =
            |class, message: String, hint: &str| (arguments.clone(), Err(ToolError::new(class, message, hint)));
        let resolved = match resolve(arguments, &result_of) {
            Ok(resolved) => resolved,
            Err(message) => {
                return refuse(ErrorClass::Validation, message, "check the path against the result of that step");
            }
        };
        if let Some((argument, reference)) = references(&resolved).into_iter().next() {
            // A result is data. Taken for a reference it would escape the schema.
            let from = reference.step;
            let message = format!("the argument {argument} got a result that looks like a reference to {from}");
            return refuse(ErrorClass::Validation, message, "refer to a value inside that result");
        }
        let Some(entry) = self.catalog.entry(tool) else {
            return refuse(ErrorClass::Refused, format!("there is no tool called {tool}"), "plan again");
        };
        let call = ToolCall { tool: tool.into(), arguments: resolved };
        match (self.gate)(&call) {
            Ok(_) => (call.arguments, Ok(entry)),
            Err(refused) => {
                let class = if refused.code == "plan.schema" { ErrorClass::Validation } else { ErrorClass::Refused };
                (call.arguments, Err(ToolError::new(class, refused.message, refused.hint)))
            }
        }
    }

    fn call(&self, started: Instant, prepared: Prepared, drive: &Drive) -> impl Future<Output = Back> + Send + 'static {
        let (step, attempt) = (prepared.step, prepared.attempt);
        let planned = &self.plan.steps()[step];
        let previous = planned
            .dependencies
            .iter()
            .filter_map(|&d| Some((self.id(d), drive.state.steps[d].result.clone()?)))
            .collect();
        let context = CallContext {
            run: self.run,
            step: self.id(step),
            attempt,
            query: self.query.clone(),
            previous,
            given: drive.given.clone(),
            started_ms: drive.state.started_ms.unwrap_or_default(),
            timeout_ms: prepared.timeout_ms,
            cancel: self.commands.cancel.child_token(),
        };
        let (runtime, cache) = (self.runtime.clone(), self.cache.clone());
        async move {
            // Work that went to another thread hears when this future is dropped, or has timed out (O-04).
            let _told_when_dropped = context.cancel.clone().drop_guard();
            let limit = Duration::from_millis(u64::from(prepared.timeout_ms));
            let result = match &prepared.ready {
                Ok(entry) => {
                    let spec = &entry.spec;
                    let work = made(spec, &prepared, &context, &*runtime, cache.as_deref());
                    match tokio::time::timeout(limit, work).await {
                        Ok(result) => result,
                        Err(_) => {
                            let timeout_ms = prepared.timeout_ms;
                            tracing::warn!(tool = %spec.name, step = %context.step, timeout_ms, "the tool took too long");
                            Err(timed_out(&spec.name, timeout_ms))
                        }
                    }
                }
                Err(error) => Err(error.clone()),
            };
            let (outcome, cached) = match result {
                Ok((result, cached)) => (AttemptOutcome::Succeeded { result }, cached),
                Err(error) => (AttemptOutcome::Failed { error }, None),
            };
            Back::Answer { step, attempt, started, outcome, cached }
        }
    }
}

/// A call on its way.
struct Prepared {
    step: usize,
    attempt: u32,
    tool: String,
    arguments: Map<String, Value>,
    ready: Result<Arc<Entry>, ToolError>,
    timeout_ms: u32,
    /// Where the timeout comes from, when not from the plan.
    chosen_timeout: Option<(u32, String)>,
    fault: Option<Fault>,
    cache_key: Option<CacheKey>,
}

/// Makes the call, with the fault that strikes it, or takes the result from the cache.
async fn made(
    spec: &ToolSpec,
    prepared: &Prepared,
    context: &CallContext,
    runtime: &dyn ToolRuntime,
    cache: Option<&dyn ResultCache>,
) -> Result<(ToolResult, Option<Cached>), ToolError> {
    let call = runtime.call(spec, &prepared.arguments, context);
    match (&prepared.fault, &prepared.cache_key, cache) {
        (None, Some(key), Some(cache)) => cache.get_or_call(key.clone(), call).await,
        (None, ..) => Ok((call.await?, None)),
        (Some(fault), ..) => Ok((struck(fault, call).await?, None)),
    }
}

async fn struck(
    fault: &Fault,
    call: impl Future<Output = Result<ToolResult, ToolError>>,
) -> Result<ToolResult, ToolError> {
    let injected = |class| ToolError::new(class, format!("injected fault: {fault}"), "faults are on for this run");
    match fault {
        Fault::Error { class } => Err(injected(*class)),
        Fault::RateLimit { retry_after_ms } => {
            Err(ToolError { retry_after_ms: Some(*retry_after_ms), ..injected(ErrorClass::RateLimited) })
        }
        Fault::Hang => std::future::pending().await,
        Fault::Delay { ms } => {
            tokio::time::sleep(Duration::from_millis(u64::from(*ms))).await;
            call.await
        }
        Fault::Malformed => {
            let result = call.await?;
            let text = result.data.to_string();
            let half = text.chars().take(text.chars().count() / 2).collect::<String>();
            Ok(ToolResult { data: half.into(), confidence: None, sources: vec![] })
        }
    }
}

/// Lets what was given up be dropped before others take its slots. Work that does not let go of its thread is not
/// waited for.
async fn gone(given_up: &mut Vec<AbortHandle>) {
    for handle in given_up.drain(..) {
        let mut turns = 0;
        while !handle.is_finished() && turns < 64 {
            tokio::task::yield_now().await;
            turns += 1;
        }
    }
}

/// A run that still waits when nothing can come would wait for ever.
fn stuck(state: &RunState) -> Problem {
    match state.paused {
        Some(_) => {
            Problem::new("run.stuck", "the run is paused and nobody can resume it", "resume it as an interrupted run")
        }
        None => Problem::new(
            "run.stuck",
            "the run has nothing left to wait for",
            "report this plan: its schedule has a fault",
        ),
    }
}

fn panicked() -> ToolError {
    ToolError::new(ErrorClass::Internal, "the tool's code panicked", "this is a fault in the tool's implementation")
}

fn timed_out(tool: &str, timeout_ms: u32) -> ToolError {
    ToolError::new(
        ErrorClass::Timeout,
        format!("{tool} did not answer within {timeout_ms} ms (timeout)"),
        "raise its timeout, or give the step a fallback",
    )
}

//! The driver: asks the scheduler what to do, does it, writes down what happened. It decides nothing.
//!
//! Every event is durable before anything else sees it (O-10): a call leaves for its tool only after the journal
//! holds that it left.

use super::{AttemptOutcome, JournalEntry, Noted, RunEvent, RunId, RunState};
use crate::{
    Problem,
    guard::Admitted,
    plan::{Finding, Plan, references, resolve},
    ports::{CallContext, ErrorClass, Journal, ToolError, ToolResult, ToolRuntime},
    schedule::{Action, next_actions},
    settings::RunSettings,
    tool::{Catalog, ToolCall, ToolSpec},
};
use serde_json::{Map, Value};
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::{
    task::{AbortHandle, Id, JoinSet},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

/// The runtime gate (V-07): the guard's word on a call with resolved arguments, asked before every attempt.
pub type Gatekeeper = Arc<dyn Fn(&ToolCall) -> Result<Admitted, Finding> + Send + Sync>;

/// Everything one run needs.
pub struct Driver {
    pub run: RunId,
    pub plan: Plan,
    pub query: String,
    pub catalog: Catalog,
    pub settings: RunSettings,
    pub runtime: Arc<dyn ToolRuntime>,
    pub journal: Arc<dyn Journal>,
    pub gate: Gatekeeper,
    /// What gate and tools did beside their answers.
    pub noted: Noted,
    pub cancel: CancellationToken,
}

/// What came back from a spawned task.
enum Back {
    Answer { step: usize, attempt: u32, started: Instant, outcome: AttemptOutcome },
    PauseOver { step: usize },
}

impl Driver {
    /// Runs the plan to its end and returns the final state. `watch` sees every state with the entries that led to
    /// it, after they are durable.
    ///
    /// Errors only when the journal cannot be written: then nothing more is started and running calls are dropped.
    pub async fn drive(
        self,
        mut state: RunState,
        mut watch: impl FnMut(&RunState, &[JournalEntry]) + Send,
    ) -> Result<RunState, Problem> {
        let began = Instant::now();
        let mut tasks: JoinSet<Back> = JoinSet::new();
        let mut calls: HashMap<Id, (usize, u32, Instant)> = HashMap::new();
        let mut handles: HashMap<usize, AbortHandle> = HashMap::new();
        let mut events = vec![RunEvent::Started {
            plan: self.plan.spec().clone(),
            catalog_revision: self.catalog.revision(),
            parallel_limit: self.settings.parallel_limit,
            timeout_ms: self.settings.timeout_ms,
            retry: self.settings.retry,
        }];
        // What the events lead to that are not durable yet. Decisions rest on it; nothing is shown of it.
        let mut ahead = RunState { planning: None, ..state.clone() };
        loop {
            // Decide until there is only waiting left, write all of it down at once, then let the calls leave.
            let mut batch = vec![];
            let mut starts = vec![];
            while !events.is_empty() {
                for event in std::mem::take(&mut events) {
                    let at_ms = began.elapsed().as_millis() as u64;
                    let entry = JournalEntry { seq: ahead.seq + 1, at_ms, event };
                    ahead.apply(&entry);
                    batch.push(entry.event);
                }
                let actions = next_actions(&self.plan, &ahead);
                let only_starts = actions.iter().all(|a| matches!(a, Action::Start { .. }));
                if only_starts && !actions.is_empty() && self.cancel.is_cancelled() && !ahead.cancelling {
                    // The cancellation came while decisions were made: nothing leaves after it.
                    events.push(RunEvent::CancelRequested);
                    continue;
                }
                for action in actions {
                    match action {
                        // Last of all: a start is decided when nothing else is, so that none is taken back.
                        Action::Start { step, attempt } if only_starts => {
                            let prepared = self.prepare(step, &ahead);
                            events.extend(self.noted.take(Some(&self.id(step))));
                            events.push(RunEvent::AttemptStarted {
                                step: self.id(step),
                                attempt,
                                tool: prepared.tool.clone(),
                                arguments: prepared.arguments.clone(),
                            });
                            starts.push((step, attempt, prepared));
                        }
                        Action::Start { .. } => {}
                        Action::Cancel { step } => {
                            if let Some(handle) = handles.remove(&step) {
                                handle.abort();
                            }
                            events.push(RunEvent::StepCancelled { step: self.id(step) });
                        }
                        Action::Retry { step, attempt, delay_ms } => {
                            let handle = tasks.spawn(async move {
                                tokio::time::sleep(Duration::from_millis(delay_ms)).await;
                                Back::PauseOver { step }
                            });
                            handles.insert(step, handle);
                            events.push(RunEvent::RetryScheduled { step: self.id(step), attempt, delay_ms });
                        }
                        other => events.extend(self.event(other, began)),
                    }
                }
            }
            if !batch.is_empty() {
                let entries = self.journal.append(self.run, batch).await?;
                for entry in &entries {
                    state.apply(entry);
                }
                watch(&state, &entries);
                for (step, attempt, prepared) in starts {
                    let started = Instant::now();
                    let handle = tasks.spawn(self.call(step, attempt, started, prepared, &state));
                    calls.insert(handle.id(), (step, attempt, started));
                    handles.insert(step, handle);
                }
            }
            if state.outcome.is_some() {
                return Ok(state);
            }
            tokio::select! {
                joined = tasks.join_next_with_id() => {
                    let mut next = joined;
                    while let Some(joined) = next {
                        events.extend(self.noted.take(None));
                        events.extend(self.back(joined, &mut calls));
                        next = tasks.try_join_next_with_id();
                    }
                    // A run whose tasks are all gone and that still waits would wait for ever.
                    if events.is_empty() && tasks.is_empty() && next_actions(&self.plan, &state).is_empty() {
                        return Err(Problem::new("run.stuck", "the run has nothing left to wait for", "report this plan: its schedule has a fault"));
                    }
                }
                () = self.cancel.cancelled(), if !state.cancelling => events.push(RunEvent::CancelRequested),
            }
        }
    }

    fn id(&self, step: usize) -> String {
        self.plan.steps()[step].spec.id.clone()
    }

    /// The event that records an action which is nothing but its record.
    fn event(&self, action: Action, began: Instant) -> Option<RunEvent> {
        Some(match action {
            Action::Ready { step } => RunEvent::StepReady { step: self.id(step) },
            Action::FallBack { step, reason } => {
                let tool = self.plan.steps()[step].fallback.as_ref()?.call().tool.clone();
                RunEvent::FallbackStarted { step: self.id(step), tool, reason }
            }
            Action::Succeed { step } => RunEvent::StepSucceeded { step: self.id(step) },
            Action::Fail { step, error } => RunEvent::StepFailed { step: self.id(step), error },
            Action::Skip { step, reason } => RunEvent::StepSkipped { step: self.id(step), reason },
            Action::Finish { outcome } => {
                RunEvent::Finished { outcome, duration_ms: began.elapsed().as_millis() as u64 }
            }
            Action::Start { .. } | Action::Cancel { .. } | Action::Retry { .. } => return None,
        })
    }

    fn back(
        &self,
        joined: Result<(Id, Back), tokio::task::JoinError>,
        calls: &mut HashMap<Id, (usize, u32, Instant)>,
    ) -> Option<RunEvent> {
        match joined {
            Ok((_, Back::PauseOver { step })) => Some(RunEvent::StepReady { step: self.id(step) }),
            Ok((id, Back::Answer { step, attempt, started, outcome })) => {
                calls.remove(&id);
                Some(self.finished(step, attempt, started, outcome))
            }
            Err(error) => {
                let (step, attempt, started) = calls.remove(&error.id())?;
                let failure = ToolError::new(
                    ErrorClass::Internal,
                    "the tool's code panicked",
                    "this is a fault in the tool's implementation",
                );
                // An aborted task belongs to a cancelled step, whose end is already written down.
                (!error.is_cancelled())
                    .then(|| self.finished(step, attempt, started, AttemptOutcome::Failed { error: failure }))
            }
        }
    }

    fn finished(&self, step: usize, attempt: u32, started: Instant, outcome: AttemptOutcome) -> RunEvent {
        RunEvent::AttemptFinished {
            step: self.id(step),
            attempt,
            duration_ms: started.elapsed().as_millis() as u64,
            outcome,
        }
    }

    /// The call with references resolved and admitted once more, or why it cannot leave.
    fn prepare(&self, step: usize, state: &RunState) -> Prepared {
        let planned = &self.plan.steps()[step];
        let admitted = match &planned.fallback {
            Some(fallback) if state.steps[step].fallback.is_some() => fallback,
            _ => &planned.call,
        };
        let call = admitted.call();
        let result_of = |id: &str| state.steps.get(id).and_then(|s| s.result.as_ref()).map(|r| r.data.clone());
        let refuse = |error| Prepared { tool: call.tool.clone(), arguments: call.arguments.clone(), ready: Err(error) };
        let arguments = match resolve(&call.arguments, &result_of) {
            Ok(arguments) => arguments,
            Err(message) => {
                return refuse(ToolError::new(
                    ErrorClass::Validation,
                    message,
                    "check the path against the result of that step",
                ));
            }
        };
        if let Some((argument, reference)) = references(&arguments).into_iter().next() {
            // A result is data. Taken for a reference it would escape the schema.
            return refuse(ToolError::new(
                ErrorClass::Validation,
                format!("the argument {argument} got a result that looks like a reference to {}", reference.step),
                "refer to a value inside that result",
            ));
        }
        let resolved = ToolCall { tool: call.tool.clone(), arguments };
        let Some(spec) = self.catalog.spec(&resolved.tool) else {
            return refuse(ToolError::new(
                ErrorClass::Refused,
                format!("there is no tool called {}", resolved.tool),
                "plan again",
            ));
        };
        let ready = match (self.gate)(&resolved) {
            Ok(_) => Ok(spec.clone()),
            Err(refused) => {
                let class = if refused.code == "plan.schema" { ErrorClass::Validation } else { ErrorClass::Refused };
                Err(ToolError::new(class, refused.message, refused.hint))
            }
        };
        Prepared { tool: resolved.tool, arguments: resolved.arguments, ready }
    }

    fn call(
        &self,
        step: usize,
        attempt: u32,
        started: Instant,
        prepared: Prepared,
        state: &RunState,
    ) -> impl Future<Output = Back> + Send + 'static {
        let planned = &self.plan.steps()[step];
        let previous = planned
            .dependencies
            .iter()
            .filter_map(|&d| Some((self.id(d), state.steps[d].result.as_ref()?.data.clone())))
            .collect();
        let context = CallContext {
            run: self.run,
            step: self.id(step),
            attempt,
            query: self.query.clone(),
            previous,
            cancel: self.cancel.child_token(),
        };
        // A fallback has the timeout of its own tool (O-05).
        let own = match (&prepared.ready, &state.steps[step].fallback) {
            (Ok(spec), Some(_)) => spec.timeout_ms,
            _ => planned.spec.timeout_ms,
        };
        let timeout_ms = own.unwrap_or(state.timeout_ms);
        let runtime = self.runtime.clone();
        async move {
            // Work that went to another thread hears when this future is dropped, or has timed out (O-04).
            let _told_when_dropped = context.cancel.clone().drop_guard();
            let result = match prepared.ready {
                Ok(spec) => {
                    let limit = Duration::from_millis(u64::from(timeout_ms));
                    match tokio::time::timeout(limit, runtime.call(&spec, &prepared.arguments, &context)).await {
                        Ok(result) => result,
                        Err(_) => {
                            tracing::warn!(tool = %spec.name, step = %context.step, timeout_ms, "the tool took too long");
                            Err(timed_out(&spec.name, timeout_ms))
                        }
                    }
                }
                Err(error) => Err(error),
            };
            Back::Answer { step, attempt, started, outcome: outcome(result) }
        }
    }
}

struct Prepared {
    tool: String,
    arguments: Map<String, Value>,
    ready: Result<ToolSpec, ToolError>,
}

fn outcome(result: Result<ToolResult, ToolError>) -> AttemptOutcome {
    match result {
        Ok(result) => AttemptOutcome::Succeeded { result },
        Err(error) => AttemptOutcome::Failed { error },
    }
}

fn timed_out(tool: &str, timeout_ms: u32) -> ToolError {
    ToolError::new(
        ErrorClass::Timeout,
        format!("{tool} did not answer within {timeout_ms} ms (timeout)"),
        "raise its timeout, or give the step a fallback",
    )
}

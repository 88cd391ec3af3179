//! One call of a run: its arguments and its timeout, whether it may leave, and what comes back.

use super::{Back, Drive, Driver};
use crate::{
    plan::{references, resolve},
    ports::{CacheKey, Cached, CallContext, ErrorClass, ResultCache, ToolError, ToolResult, ToolRuntime},
    run::{
        AttemptOutcome, RunEvent, RunState,
        breakpoint::{arguments_in_charge, in_charge},
        fault::{Fault, strikes},
        timeout::adaptive,
    },
    tool::{Entry, ToolCall, ToolSpec},
};
use serde_json::{Map, Value};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

/// A call on its way.
pub(super) struct Prepared {
    pub(super) step: usize,
    pub(super) attempt: u32,
    tool: String,
    arguments: Map<String, Value>,
    ready: Result<Arc<Entry>, ToolError>,
    timeout_ms: u32,
    /// Where the timeout comes from, when not from the plan.
    chosen_timeout: Option<(u32, String)>,
    fault: Option<Fault>,
    cache_key: Option<CacheKey>,
}

impl Driver {
    /// The call with references resolved and admitted once more, or why it cannot leave.
    pub(super) fn prepare(&self, step: usize, attempt: u32, state: &RunState) -> Prepared {
        let planned = &self.plan.steps()[step];
        let s = &state.steps[step];
        let tool = in_charge(planned, s).to_string();
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

    /// What the journal says of a call that leaves.
    pub(super) fn start_events(&self, prepared: &Prepared) -> impl Iterator<Item = RunEvent> {
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

    /// The call itself, with its timeout.
    pub(super) fn call(
        &self,
        started: Instant,
        prepared: Prepared,
        drive: &Drive,
    ) -> impl Future<Output = Back> + Send + 'static {
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

pub(super) fn panicked() -> ToolError {
    ToolError::new(ErrorClass::Internal, "the tool's code panicked", "this is a fault in the tool's implementation")
}

fn timed_out(tool: &str, timeout_ms: u32) -> ToolError {
    ToolError::new(
        ErrorClass::Timeout,
        format!("{tool} did not answer within {timeout_ms} ms (timeout)"),
        "raise its timeout, or give the step a fallback",
    )
}

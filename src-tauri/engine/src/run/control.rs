//! A person's word to a run under way (O-07): the handle that carries it, and what it leads to.
//!
//! What a command does is decided by [`respond`], purely, and stands in the journal like everything else; the driver
//! only asks. Cancelling the run is not a command but a token, which also reaches calls on other threads.

use super::{Breakpoint, Go, PauseReason, RunEvent, RunState, Skip, StepState, StepStatus, driver::Gatekeeper};
use crate::{
    Problem,
    plan::{Plan, references},
    ports::ToolResult,
    tool::ToolCall,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// What a person can ask of a run under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Command {
    Pause,
    Resume {
        go: Go,
    },
    /// To the end of the first stage that is not done.
    NextStage,
    CancelStep {
        step: String,
    },
    EditArguments {
        step: String,
        arguments: Map<String, Value>,
    },
    EditResult {
        step: String,
        data: Value,
    },
    Skip {
        step: String,
    },
    Retry {
        step: String,
    },
    SetBreakpoints {
        breakpoints: Vec<Breakpoint>,
    },
}

/// The person's end. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Control {
    asks: mpsc::UnboundedSender<Ask>,
    cancel: CancellationToken,
}

/// The run's end.
#[derive(Debug)]
pub struct Commands {
    pub(super) asks: mpsc::UnboundedReceiver<Ask>,
    pub(super) cancel: CancellationToken,
}

#[derive(Debug)]
pub(super) struct Ask {
    pub(super) command: Command,
    pub(super) reply: oneshot::Sender<Result<(), Problem>>,
}

impl Control {
    pub fn new() -> (Self, Commands) {
        let (sender, asks) = mpsc::unbounded_channel();
        let cancel = CancellationToken::new();
        (Self { asks: sender, cancel: cancel.clone() }, Commands { asks, cancel })
    }

    /// Stops the run; its running calls are dropped.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Asks, and waits until what follows from it is in the journal. Errors: `run.over`, and those of [`respond`].
    pub async fn send(&self, command: Command) -> Result<(), Problem> {
        let over = || Problem::new("run.over", "the run has ended", "start it again, or retry a step in a new run");
        let (reply, answer) = oneshot::channel();
        self.asks.send(Ask { command, reply }).map_err(|_| over())?;
        answer.await.map_err(|_| over())?
    }
}

/// The events that a command leads to. `gate` is asked about edited arguments.
///
/// Errors: `run.unknown_step`, `run.not_paused`, `run.paused`, `run.step_busy`, `run.step_done`, `run.stage`,
/// `plan.reference`, and what the gate says.
pub fn respond(plan: &Plan, state: &RunState, command: Command, gate: &Gatekeeper) -> Result<Vec<RunEvent>, Problem> {
    Ok(match command {
        Command::Pause if state.paused.is_some() => vec![],
        Command::Pause => vec![RunEvent::Paused { reason: PauseReason::ByHand }],
        Command::Resume { go } => {
            require_paused(state)?;
            if let Go::To { step } = &go {
                let s = find(state, step)?;
                if s.status.is_done() {
                    return Err(done(step));
                }
            }
            vec![RunEvent::Resumed { go }]
        }
        Command::NextStage => {
            require_paused(state)?;
            let open = plan.steps().iter().filter(|p| state.steps.get(&p.spec.id).is_some_and(|s| !s.status.is_done()));
            let stage = open
                .map(|p| p.stage)
                .min()
                .ok_or_else(|| Problem::new("run.stage", "every stage is done", "resume the run to let it end"))?;
            vec![RunEvent::Resumed { go: Go::Stage { stage: stage as u32 } }]
        }
        Command::CancelStep { step } => {
            if find(state, &step)?.status.is_done() {
                return Err(done(&step));
            }
            vec![RunEvent::StepCancelled { step }]
        }
        Command::Skip { step } => {
            open_and_idle(state, &step)?;
            vec![RunEvent::StepSkipped { step, reason: Skip::ByHand }]
        }
        Command::Retry { step } => {
            require_paused(state)?;
            let s = find(state, &step)?;
            if s.is_in_flight() {
                return Err(busy(&step));
            }
            if s.status == StepStatus::Succeeded || s.attempts.is_empty() && !s.status.is_done() {
                return Err(Problem::new(
                    "run.step_done",
                    format!("{step} has nothing to retry"),
                    "only a step that was called without success can be tried again; fork the run to repeat others",
                ));
            }
            vec![RunEvent::RetryRequested { step }]
        }
        Command::EditResult { step, data } => {
            require_paused(state)?;
            let s = find(state, &step)?;
            if s.is_in_flight() {
                return Err(busy(&step));
            }
            let result = ToolResult { data, confidence: None, sources: vec![] };
            vec![RunEvent::ResultEdited { step, result }]
        }
        Command::EditArguments { step, arguments } => {
            require_paused(state)?;
            open_and_idle(state, &step)?;
            check_arguments(plan, state, &step, &arguments, gate)?;
            vec![RunEvent::ArgumentsEdited { step, arguments }]
        }
        Command::SetBreakpoints { breakpoints } => vec![RunEvent::BreakpointsSet { breakpoints }],
    })
}

/// What the guard would say to the plan, it says to the edit: schema, visibility, and references to earlier steps only.
fn check_arguments(
    plan: &Plan,
    state: &RunState,
    step: &str,
    arguments: &Map<String, Value>,
    gate: &Gatekeeper,
) -> Result<(), Problem> {
    let index = plan.index(step).ok_or_else(|| unknown(step))?;
    let earlier = ancestors(plan, index);
    for (argument, reference) in references(arguments) {
        if plan.index(&reference.step).is_none_or(|i| !earlier[i]) {
            return Err(Problem::new(
                "plan.reference",
                format!("the argument {argument} refers to {}, which is no earlier step", reference.step),
                "refer to a step that this one depends on",
            ));
        }
    }
    let tool = super::breakpoint::in_charge(&plan.steps()[index], &state.steps[index]).to_string();
    match gate(&ToolCall { tool, arguments: arguments.clone() }) {
        Ok(_) => Ok(()),
        Err(refused) => Err(Problem::new(&refused.code, refused.message, refused.hint)),
    }
}

fn ancestors(plan: &Plan, of: usize) -> Vec<bool> {
    let mut found = vec![false; plan.steps().len()];
    let mut next = plan.steps()[of].dependencies.clone();
    while let Some(step) = next.pop() {
        if !std::mem::replace(&mut found[step], true) {
            next.extend(&plan.steps()[step].dependencies);
        }
    }
    found
}

fn find<'a>(state: &'a RunState, step: &str) -> Result<&'a StepState, Problem> {
    state.steps.get(step).ok_or_else(|| unknown(step))
}

fn open_and_idle(state: &RunState, step: &str) -> Result<(), Problem> {
    let s = find(state, step)?;
    if s.status.is_done() {
        Err(done(step))
    } else if s.is_in_flight() {
        Err(busy(step))
    } else {
        Ok(())
    }
}

fn require_paused(state: &RunState) -> Result<(), Problem> {
    match state.paused {
        Some(_) => Ok(()),
        None => Err(Problem::new("run.not_paused", "the run is not paused", "pause it first")),
    }
}

fn unknown(step: &str) -> Problem {
    Problem::new("run.unknown_step", format!("the plan has no step {step}"), "name a step of this run's plan")
}

fn done(step: &str) -> Problem {
    Problem::new("run.step_done", format!("{step} is done"), "fork the run to do it differently")
}

fn busy(step: &str) -> Problem {
    Problem::new("run.step_busy", format!("{step} is at work"), "wait for its answer, or cancel the step")
}

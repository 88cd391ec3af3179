//! A person's word to runs: pause, step, edit, resume (O-07, O-10). What it leads to is the engine's business.

use crate::{Workbench, views::RunControlState};
use serde_json::{Map, Value};
use toolplan_engine::{
    Problem,
    run::{BreakOn, Breakpoint, Command, Control, FaultRule, Go, RunId, RunState, StepStatus},
};

impl Workbench {
    pub async fn pause_run(&self, run: RunId) -> Result<(), Problem> {
        self.command(run, Command::Pause).await
    }

    /// Goes on with a paused run: to the next breakpoint, for one step, or to a step.
    pub async fn step_run(&self, run: RunId, go: Go) -> Result<(), Problem> {
        self.command(run, Command::Resume { go }).await
    }

    /// Goes on to the end of the first stage that is not done.
    pub async fn next_stage(&self, run: RunId) -> Result<(), Problem> {
        self.command(run, Command::NextStage).await
    }

    /// Goes on until the step is about to start.
    pub async fn run_to(&self, run: RunId, step: String) -> Result<(), Problem> {
        self.command(run, Command::Resume { go: Go::To { step } }).await
    }

    pub async fn edit_arguments(&self, run: RunId, step: String, arguments: Map<String, Value>) -> Result<(), Problem> {
        self.command(run, Command::EditArguments { step, arguments }).await
    }

    pub async fn edit_result(&self, run: RunId, step: String, data: Value) -> Result<(), Problem> {
        self.command(run, Command::EditResult { step, data }).await
    }

    pub async fn skip_step(&self, run: RunId, step: String) -> Result<(), Problem> {
        self.command(run, Command::Skip { step }).await
    }

    pub async fn retry_step(&self, run: RunId, step: String) -> Result<(), Problem> {
        self.command(run, Command::Retry { step }).await
    }

    pub async fn cancel_step(&self, run: RunId, step: String) -> Result<(), Problem> {
        self.command(run, Command::CancelStep { step }).await
    }

    pub async fn set_breakpoints(&self, run: RunId, breakpoints: Vec<Breakpoint>) -> Result<(), Problem> {
        self.command(run, Command::SetBreakpoints { breakpoints }).await
    }

    /// What can be done with the run now.
    pub fn run_control_state(&self, run: RunId) -> Result<RunControlState, Problem> {
        let state = self.state_of(run)?;
        let live = self.control(run).is_ok();
        Ok(RunControlState {
            run,
            live,
            resumable: !live && crate::runs::is_resumable(&state),
            paused: state.paused.clone().filter(|_| live),
            pause_text: state.paused.as_ref().map(crate::describe::pause).unwrap_or_default(),
            go: state.go.clone(),
            breakpoints: state.breakpoints.clone(),
            unconfirmed: self.unconfirmed(&state),
            queue: queue(&state),
        })
    }

    async fn command(&self, run: RunId, command: Command) -> Result<(), Problem> {
        let control = self.control(run)?;
        control.send(command).await
    }

    pub(crate) fn control(&self, run: RunId) -> Result<Control, Problem> {
        let runs = self.inner.runs.lock().expect("no holder panics");
        runs.get(&run).map(|live| live.control.clone()).ok_or_else(|| {
            Problem::new(
                "run.not_live",
                format!("run {run} is not running here"),
                "only a run that is under way can be told something; an interrupted one can be resumed",
            )
        })
    }
}

/// Reads a breakpoint as it is typed. Error: `run.breakpoint`.
pub fn parse_breakpoint(text: &str) -> Result<BreakOn, Problem> {
    text.parse().map_err(|said: String| Problem::new("run.breakpoint", said, "see `toolplan run --help`"))
}

/// Reads a fault as it is typed: `error:transient tool=web_fetch p=0.3`. Error: `run.fault`.
pub fn parse_fault(text: &str) -> Result<FaultRule, Problem> {
    text.parse().map_err(|said: String| Problem::new("run.fault", said, "see `toolplan run --help`"))
}

/// Steps that wait for a slot, the next one first.
fn queue(state: &RunState) -> Vec<String> {
    let mut ready: Vec<_> = state
        .steps
        .iter()
        .filter(|(_, s)| s.status == StepStatus::Ready)
        .map(|(id, s)| (s.ready_seq, id.clone()))
        .collect();
    ready.sort();
    ready.into_iter().map(|(_, id)| id).collect()
}

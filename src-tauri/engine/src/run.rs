//! Running a plan: the events, their only fold, and the driver.
//!
//! Everything a run does, planning included, is a [`RunEvent`]. [`RunState`] is the only fold over events; the live
//! view, an old run and a run seen at an earlier instant are all `RunState`. The [`driver`] asks
//! [`crate::schedule::next_actions`] what to do, does it, and writes down what happened; it decides nothing.

pub mod breakpoint;
pub mod control;
pub mod driver;
pub mod event;
pub mod fault;
pub mod options;
pub mod origin;
pub mod state;
pub mod timeout;

pub use breakpoint::{BreakOn, Breakpoint, Operator, When};
pub use control::{Command, Commands, Control};
pub use driver::{Driver, Gatekeeper};
pub use fault::{Fault, FaultRule};
pub use options::{Go, Message, PauseReason, RunOptions};

pub use event::{AttemptOutcome, JournalEntry, RunEvent, RunOutcome, Skip};
pub use origin::{AnswerSource, ForkChange, Origin, ReplayPolicy};
pub use state::{Attempt, ChosenTimeout, RunState, StepState, StepStatus};

/// Number of a run in its workspace, from 1.
pub type RunId = u32;

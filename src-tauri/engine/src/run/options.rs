//! What a person chooses for one run beside its plan: breakpoints, faults, the cache, stepping. Part of its journal.

use super::{breakpoint::Breakpoint, fault::FaultRule};
use crate::settings::Backoff;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Options of one run. The defaults change nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct RunOptions {
    pub breakpoints: Vec<Breakpoint>,
    /// Faults to inject (O-12).
    pub faults: Vec<FaultRule>,
    /// Answer nothing from the result cache (O-08).
    pub no_cache: bool,
    /// Pause before the first step (O-07).
    pub step_mode: bool,
    /// Of faults and of jitter: the same seed strikes the same attempts.
    pub seed: u32,
    /// How far a retry's pause may lie from its time, percent (O-03); unset means the setting.
    pub jitter_percent: Option<u32>,
    /// How the pauses of retries grow; the setting decides when it is not the default here.
    pub backoff: Backoff,
    /// What was said before the query, oldest first (O-02).
    pub conversation: Vec<Message>,
    /// Anything else that tools may want to know (O-02).
    pub metadata: Map<String, Value>,
}

/// One message of the conversation before the query (O-02).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Message {
    /// `user`, `assistant` …
    pub role: String,
    pub text: String,
}

/// How far a run that was paused goes on (O-07).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Go {
    /// To the next breakpoint or the end.
    #[default]
    Continue,
    /// One step, to its end.
    Step,
    /// Until every step of the stage, counted from 0, and of those before it is done.
    Stage { stage: u32 },
    /// Until the step is about to start.
    To { step: String },
}

/// Why a run is paused (O-07).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PauseReason {
    /// The run was started to go step by step.
    Start,
    ByHand,
    Breakpoint {
        breakpoint: u32,
        /// Empty: the run as a whole.
        step: String,
    },
    /// The one step is done.
    Stepped {
        step: String,
    },
    /// The stage, counted from 0, is done.
    Staged {
        stage: u32,
    },
    /// The step that the run was to go to is next.
    Reached {
        step: String,
    },
    /// Nobody knows whether the calls of these steps took effect: our process died meanwhile (O-10).
    UnknownOutcome {
        steps: Vec<String>,
    },
}

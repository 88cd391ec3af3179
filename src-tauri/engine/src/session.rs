//! Where a session stands: its state, its intent, and how it came there (V-04, V-08, source 004).
//!
//! One function moves it, [`SessionState::on`]: an event either happens or is refused, in which case state and intent
//! stay as they are; both are written into the log. An intent is selected in ACTION and in no other state, so that a
//! prompt that names an intent and a catalog that hides its tools never meet. Knows nothing of clocks, prompts or
//! storage.

use crate::{
    Problem, intent,
    request::{ExecutionState, Request},
    settings::{OnMessage, Settings},
    tool::Catalog,
    visibility::Viewer,
};
use serde::{Deserialize, Serialize};

/// A session between two messages.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct SessionState {
    id: String,
    state: ExecutionState,
    /// Empty outside ACTION.
    intent: String,
    /// The intent that was left last: offered to be selected again.
    last_intent: String,
    /// What happened and what was refused, oldest first; at most [`MAX_LOG`].
    log: Vec<Transition>,
}

/// How many entries a log keeps; the oldest go first.
pub const MAX_LOG: usize = 500;

/// What can happen to a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SessionEvent {
    /// The user says something: a new request.
    Message { text: String },
    /// An intent is selected; only in REASONING.
    SelectIntent { intent: String, by: Actor },
    /// A person takes up another intent in ACTION.
    SwitchIntent { intent: String },
    /// Back to the beginning.
    Reset,
    /// Out of any state, a stuck one too, to REASONING without an intent.
    Recover,
}

/// Who did it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    #[default]
    Person,
    Model,
}

/// One entry of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Transition {
    /// From 1, without gaps.
    pub seq: u32,
    /// Milliseconds since 1970-01-01 UTC, as the caller's clock has it.
    pub at_ms: u64,
    pub event: SessionEvent,
    pub from: ExecutionState,
    pub to: ExecutionState,
    /// The intent afterwards; empty for none.
    pub intent: String,
    /// Why nothing changed; null when it happened.
    pub refused: Option<Problem>,
    /// A sentence.
    pub text: String,
}

impl SessionState {
    /// A new session, in REQUEST.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }

    /// A session in the midst of a request: where its turns begin.
    pub(crate) fn of_request(request: &Request) -> Self {
        Self { state: request.state, intent: request.intent.clone(), ..Self::default() }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn state(&self) -> ExecutionState {
        self.state
    }

    /// Empty for none.
    pub fn intent(&self) -> &str {
        &self.intent
    }

    pub fn last_intent(&self) -> &str {
        &self.last_intent
    }

    pub fn log(&self) -> &[Transition] {
        &self.log
    }

    /// The request as this session asks it.
    pub fn request(&self, request: Request) -> Request {
        Request { state: self.state, intent: self.intent.clone(), ..request }
    }

    /// Lets the event happen, or says why not; either way it is in the log.
    pub fn on(&mut self, event: SessionEvent, settings: &Settings, at_ms: u64) -> Result<(), Problem> {
        let from = self.state;
        let (text, refused) = match self.next(&event, settings) {
            Ok((state, intent, text)) => {
                if !self.intent.is_empty() && self.intent != intent {
                    self.last_intent = std::mem::take(&mut self.intent);
                }
                let forgets = matches!(event, SessionEvent::Reset)
                    || matches!(event, SessionEvent::Message { .. }) && settings.session.on_message == OnMessage::Clear;
                if forgets {
                    self.last_intent.clear();
                }
                (self.state, self.intent) = (state, intent);
                (text, None)
            }
            Err(problem) => (format!("Refused: {}", problem.message), Some(problem)),
        };
        let seq = self.log.last().map_or(0, |t| t.seq) + 1;
        if self.log.len() >= MAX_LOG {
            self.log.drain(..=self.log.len() - MAX_LOG);
        }
        let to = self.state;
        let intent = self.intent.clone();
        self.log.push(Transition { seq, at_ms, event, from, to, intent, refused: refused.clone(), text });
        refused.map_or(Ok(()), Err)
    }

    /// State and intent after the event, and what to say of it.
    fn next(&self, event: &SessionEvent, settings: &Settings) -> Result<(ExecutionState, String, String), Problem> {
        use ExecutionState::{Action, Reasoning, Request};
        match event {
            SessionEvent::Message { .. } if self.state == Reasoning => {
                Ok((Reasoning, String::new(), "A new message; the state stays REASONING".into()))
            }
            SessionEvent::Message { .. } => {
                self.moves(Reasoning, "")?;
                let text = match (self.intent.as_str(), settings.session.on_message) {
                    ("", _) => "A new message begins a request".to_string(),
                    (intent, OnMessage::Clear) => format!("A new message begins a request; {intent} is cleared"),
                    (intent, OnMessage::Reconfirm) => {
                        format!("A new message begins a request; {intent} waits to be selected again")
                    }
                };
                Ok((Reasoning, String::new(), text))
            }
            SessionEvent::SelectIntent { intent, .. } => {
                if self.state != Reasoning {
                    let way = match self.state {
                        Action => "switch the intent by hand, or recover the session, and select it then",
                        _ => "send a message first: it begins a request",
                    };
                    let message =
                        format!("Cannot select intent in state {}. Must be in REASONING state.", self.state.name());
                    return Err(Problem::new("session.state", message, way));
                }
                let intent = intent::selectable(settings, intent)?;
                Ok((self.moves(Action, &intent.id)?, intent.id.clone(), format!("{} is selected", intent.id)))
            }
            SessionEvent::SwitchIntent { intent } => {
                if self.state != Action {
                    let message = format!("Cannot switch the intent in state {}. None is selected.", self.state.name());
                    return Err(Problem::new("session.state", message, "select an intent in REASONING"));
                }
                // Judged before anything moves: a refused one leaves the old one selected.
                let intent = intent::selectable(settings, intent)?;
                let through = self.moves(Reasoning, "")?;
                let state = through.transition(Action, &intent.id).map_err(invalid)?;
                let text = format!("{} instead of {}, by way of REASONING", intent.id, self.intent);
                Ok((state, intent.id.clone(), text))
            }
            SessionEvent::Reset if self.state == Request => Ok((Request, String::new(), "Reset".into())),
            SessionEvent::Reset => Ok((self.moves(Request, "")?, String::new(), "Reset to REQUEST".into())),
            SessionEvent::Recover if self.state == Reasoning => {
                Ok((Reasoning, String::new(), "Recovered; the state stays REASONING".into()))
            }
            SessionEvent::Recover => {
                let text = match self.intent.as_str() {
                    "" => "Recovered to REASONING".to_string(),
                    intent => format!("Recovered to REASONING; {intent} waits to be selected again"),
                };
                Ok((self.moves(Reasoning, "")?, String::new(), text))
            }
        }
    }

    fn moves(&self, to: ExecutionState, intent: &str) -> Result<ExecutionState, Problem> {
        self.state.transition(to, intent).map_err(invalid)
    }

    /// What is wrong with the session as it stands, for a person who wonders why tools stay hidden: an intent outside
    /// ACTION, ACTION without one, or an intent that no longer holds. [`SessionEvent::Recover`] cures each.
    pub fn trouble(&self, settings: &Settings) -> Option<Problem> {
        let stuck = |message: String| {
            Some(Problem::new("session.stuck", message, "recover the session, then select an intent again"))
        };
        match (self.state, self.intent.as_str()) {
            (ExecutionState::Action, "") => stuck("the session is in ACTION without an intent".into()),
            (ExecutionState::Action, id) if !intent::still_holds(settings, id) => {
                stuck(format!("{id} can no longer be worked on: destructive tools are hidden"))
            }
            (ExecutionState::Action, _) | (_, "") => None,
            (state, id) => stuck(format!("{id} is selected, but the state is {}", state.name())),
        }
    }
}

fn invalid(message: String) -> Problem {
    Problem::new("session.transition", message, "recover or reset the session")
}

/// Settings under which sessions cannot work: a handshake that nobody can make, or states that show nothing (W4-8).
/// One problem per mode and cause; the first is about the mode that holds when none is named.
pub fn deadlocks(catalog: &Catalog, settings: &Settings) -> Vec<Problem> {
    let mut problems = vec![];
    let mut modes = vec![settings.default_mode.clone()];
    modes.extend(settings.modes.iter().map(|m| m.name.clone()).filter(|name| *name != settings.default_mode));
    let named = |mode: &str| if mode.is_empty() { "without a mode".into() } else { format!("in the mode {mode}") };
    let mut gated_anywhere = false;
    for mode in &modes {
        let request = |state| Request { state, mode: mode.clone(), intent: "any".into(), ..Request::default() };
        let (before, after) = (request(ExecutionState::Reasoning), request(ExecutionState::Action));
        let (Ok(before), Ok(after)) = (Viewer::new(settings, &before), Viewer::new(settings, &after)) else {
            continue;
        };
        let is_handshake = |name: &String| settings.handshake_tools.contains(name);
        let gated = catalog.specs().any(|t| after.sees(t) && !before.sees(t));
        gated_anywhere |= gated;
        let handshake = catalog.specs().any(|t| is_handshake(&t.name) && before.in_prompt(t));
        if gated && !handshake {
            let why = settings.handshake_tools.iter().find_map(|name| {
                let tool = catalog.spec(name)?;
                Some(match before.trail(tool).decided() {
                    Some(verdict) => format!("{name}: {}", verdict.reason),
                    None => format!("{name} is deferred"),
                })
            });
            let why = why.unwrap_or_else(|| "the catalog has none of the handshake tools".into());
            problems.push(Problem::new(
                "session.no_handshake",
                format!("a model cannot select an intent {}: {why}", named(mode)),
                "show a handshake tool there, or select the intent by hand",
            ));
        }
        if !catalog.is_empty() && !catalog.specs().any(|t| !is_handshake(&t.name) && before.sees(t)) {
            problems.push(Problem::new(
                "session.nothing_safe",
                format!("before an intent no tool is shown {}", named(mode)),
                "classify the tools that only read as SAFE, or let the mode permit one",
            ));
        }
    }
    if gated_anywhere && intent::open(settings).next().is_none() {
        problems.push(Problem::new(
            "session.no_intent",
            "no intent can be selected, so destructive tools stay hidden",
            "add an intent to the settings, or open a blocked one",
        ));
    }
    problems
}

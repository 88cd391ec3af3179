//! Replaying a run out of its record and going on from a point of it with something changed.
//!
//! The events of a run are of two kinds. Inputs come from outside: answers of tools, pauses that are over, a person's
//! word. Decisions follow from them by the scheduler. A replay gives the recorded inputs to today's scheduler and
//! holds every decision against the recorded one: as long as all agree it follows the record event by event. Where
//! they part, or where a tool is answered otherwise by the policy, the replay goes its own way: calls are looked up in
//! the record by tool and arguments, a call that the record does not hold fails the replay, and time is the record's.
//!
//! Pure: no clock, and no call is ever made here. Calls that the policy lets live are handed out; whoever makes them
//! asks the runtime gate first.

mod book;
mod calls;
mod check;
mod follow;
mod inputs;
mod preview;

pub use calls::cannot_leave;
pub use check::{Verified, conclude, verify};
pub use inputs::is_input;
pub use preview::{Answerer, ForkCall, preview};

use crate::{
    Problem,
    compare::Divergence,
    guard::Admitted,
    plan::{Plan, PlanSpec, references, resolve},
    ports::ToolResult,
    run::{
        AttemptOutcome, Go, JournalEntry, Origin, PauseReason, ReplayPolicy, RunEvent, RunState, StepStatus,
        breakpoint::{arguments_in_charge, in_charge},
        written::write_down,
    },
    schedule::{Action, Frontier},
};
use book::{Answer, Book};
use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

/// A replay or fork under way.
pub struct Replay {
    plan: Plan,
    origin: Arc<[JournalEntry]>,
    policy: ReplayPolicy,
    book: Book,
    state: RunState,
    frontier: Frontier,
    /// The origin's next event, while it is followed.
    cursor: usize,
    following: bool,
    /// The record broke off in the middle of a decision.
    exhausted: bool,
    divergence: Option<Divergence>,
    /// Events that stand before anything is decided.
    opening: VecDeque<RunEvent>,
    /// Milliseconds since the origin's first event.
    now_ms: u64,
    /// Where the replay's time begins, milliseconds since 1970.
    base_ms: u64,
    /// What comes by itself, by its time and then in order.
    coming: BTreeMap<(u64, u64), Coming>,
    order: u64,
    live: Vec<LiveCall>,
    /// Live calls that were handed out and not answered.
    outstanding: usize,
    /// The calls that left the record, and who answers them.
    asked: Vec<preview::Asked>,
}

enum Coming {
    Answer { step: String, attempt: u32, answer: Answer },
    PauseOver { step: String },
}

/// A call that the policy lets live. Nobody has admitted it yet.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveCall {
    pub step: String,
    pub attempt: u32,
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// The results of the steps that this one depends on.
    pub previous: BTreeMap<String, ToolResult>,
    pub timeout_ms: u32,
}

/// What a replay does next.
#[derive(Debug)]
pub enum Progress {
    /// These happened, in this order; then the calls leave.
    Entries {
        entries: Vec<JournalEntry>,
        calls: Vec<LiveCall>,
    },
    /// It waits for a live call's [`Replay::answer`].
    Waits,
    Ended,
}

impl Replay {
    /// Replays a whole run. `base_ms` is when the replay begins, milliseconds since 1970.
    ///
    /// Error: `replay.not_started` when the record holds no start, or a plan that no run could have.
    pub fn new(
        origin: Arc<[JournalEntry]>,
        described: Origin,
        policy: ReplayPolicy,
        base_ms: u64,
    ) -> Result<Self, Problem> {
        let start = position(&origin, |e| matches!(e, RunEvent::Started { .. })).ok_or_else(not_started)?;
        let mut replay = Self::at(origin, start, policy, base_ms)?;
        replay.opening.push_back(RunEvent::Derived { origin: described.into() });
        Ok(replay)
    }

    /// Goes on from the event `described.at` of the run with `changes`, which follow it.
    ///
    /// Errors: `replay.not_started`.
    pub fn fork(
        origin: Arc<[JournalEntry]>,
        described: Origin,
        changes: Vec<RunEvent>,
        policy: ReplayPolicy,
        base_ms: u64,
    ) -> Result<Self, Problem> {
        let prefix = origin.iter().take_while(|e| e.seq <= described.at).count();
        let mut replay = Self::at(origin, prefix, policy, base_ms)?;
        replay.opening.push_back(RunEvent::Derived { origin: described.into() });
        replay.opening.extend(changes);
        replay.leave_the_record();
        Ok(replay)
    }

    /// Runs another plan with the answers of the run. `opening` ends with its `Started`.
    ///
    /// Error: `replay.not_started`.
    pub fn with_plan(
        origin: Arc<[JournalEntry]>,
        plan: &PlanSpec,
        opening: Vec<RunEvent>,
        policy: ReplayPolicy,
        base_ms: u64,
    ) -> Result<Self, Problem> {
        let mut replay = Self::empty(origin, recorded_plan(plan)?, policy, base_ms);
        replay.opening.extend(opening);
        replay.leave_the_record();
        Ok(replay)
    }

    fn empty(origin: Arc<[JournalEntry]>, plan: Plan, policy: ReplayPolicy, base_ms: u64) -> Self {
        Self {
            plan,
            book: Book::of(&origin),
            origin,
            policy,
            state: RunState::default(),
            frontier: Frontier::default(),
            cursor: 0,
            following: true,
            exhausted: false,
            divergence: None,
            opening: VecDeque::new(),
            now_ms: 0,
            base_ms,
            coming: BTreeMap::new(),
            order: 0,
            live: vec![],
            outstanding: 0,
            asked: vec![],
        }
    }

    /// Has taken over the first `prefix` events.
    fn at(origin: Arc<[JournalEntry]>, prefix: usize, policy: ReplayPolicy, base_ms: u64) -> Result<Self, Problem> {
        let plan = origin.iter().rev().find_map(|e| match &e.event {
            RunEvent::Started { plan, .. } => Some(plan),
            _ => None,
        });
        let plan = recorded_plan(plan.ok_or_else(not_started)?)?;
        let mut replay = Self::empty(origin.clone(), plan, policy, base_ms);
        replay.cursor = prefix;
        for entry in &origin[..prefix] {
            replay.now_ms = replay.after(entry);
            replay.state.apply(&JournalEntry { at_ms: base_ms + replay.now_ms, ..entry.clone() });
            if let RunEvent::AttemptFinished { step, attempt, .. } = &entry.event {
                replay.book.use_up(step, *attempt);
            }
        }
        if replay.state.started_ms.is_some() {
            replay.frontier = Frontier::of(&replay.plan, &replay.state);
        }
        Ok(replay)
    }

    /// The origin's events that were taken over, at the replay's time.
    pub fn prefix(&self) -> Vec<JournalEntry> {
        let taken = &self.origin[..self.cursor.min(self.origin.len())];
        let at = |e: &JournalEntry| JournalEntry { at_ms: self.base_ms + self.after(e), ..e.clone() };
        if self.state.seq == 0 { vec![] } else { taken.iter().map(at).collect() }
    }

    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// The first decision that was not the record's, or the call that it did not hold.
    pub fn divergence(&self) -> Option<&Divergence> {
        self.divergence.as_ref()
    }

    /// Whether every event so far was the record's.
    pub fn is_following(&self) -> bool {
        self.following
    }

    /// Goes on until there is only waiting left. The entries are to be stored before the next call of this.
    pub fn advance(&mut self) -> Progress {
        let mut entries = vec![];
        if !self.opening.is_empty() {
            let opening: Vec<_> = self.opening.drain(..).collect();
            opening.into_iter().for_each(|event| self.take_in(event, &mut entries));
        } else if self.state.outcome.is_some() && !(self.following && self.cursor < self.origin.len()) {
            return Progress::Ended;
        }
        self.decide(&mut entries);
        while entries.is_empty() {
            if self.following {
                if self.exhausted || self.cursor >= self.origin.len() {
                    return Progress::Ended;
                }
                self.follow_inputs(&mut entries);
            } else if let Some(((at_ms, _), coming)) = self.coming.pop_first() {
                self.now_ms = self.now_ms.max(at_ms);
                self.arrive(coming, &mut entries);
            } else if self.outstanding > 0 {
                return Progress::Waits;
            } else if self.state.outcome.is_some() {
                return Progress::Ended;
            } else {
                self.part("the replay has nothing left to wait for".into(), None);
                self.take_in(RunEvent::CancelRequested, &mut entries);
            }
            self.decide(&mut entries);
        }
        Progress::Entries { entries, calls: std::mem::take(&mut self.live) }
    }

    /// The outcome of a live call, and what it took.
    pub fn answer(&mut self, step: &str, attempt: u32, outcome: AttemptOutcome, duration_ms: u64) {
        self.outstanding = self.outstanding.saturating_sub(1);
        let coming =
            Coming::Answer { step: step.into(), attempt, answer: Answer { outcome, duration_ms, cached_ms: None } };
        self.expect(self.now_ms + duration_ms, coming);
    }

    /// Gives up: calls under way are not waited for.
    pub fn cancel(&mut self) {
        self.part("the replay was cancelled".into(), None);
        self.leave_the_record();
        self.coming.clear();
        self.live.clear();
        self.outstanding = 0;
        self.opening.push_back(RunEvent::CancelRequested);
    }

    /// Asks the scheduler until it is quiet.
    fn decide(&mut self, entries: &mut Vec<JournalEntry>) {
        if self.state.started_ms.is_none() {
            return;
        }
        loop {
            let actions = self.frontier.actions(&self.plan, &self.state);
            let only_starts = actions.iter().all(|a| matches!(a, Action::Start { .. }));
            let cancelled_first = only_starts && self.comes_next(|e| matches!(e, RunEvent::CancelRequested));
            if actions.is_empty() || cancelled_first || self.exhausted {
                return;
            }
            let mut events = vec![];
            for action in actions {
                match action {
                    Action::Start { step, attempt } if only_starts => events.push(self.start(step, attempt)),
                    Action::Start { .. } => {}
                    other => {
                        let taken = (self.base_ms + self.now_ms).saturating_sub(self.state.started_ms.unwrap_or(0));
                        write_down(&self.plan, &self.state, other, taken, &mut events);
                    }
                }
            }
            for event in events {
                // The origin is a fork, taken off before this was decided: its change comes first.
                if self.comes_next(|e| matches!(e, RunEvent::Derived { .. })) {
                    return;
                }
                if !self.exhausted {
                    self.decided(event, entries);
                }
            }
        }
    }

    /// Whether the record is followed, and its next event is such a one.
    fn comes_next(&self, such: impl Fn(&RunEvent) -> bool) -> bool {
        self.following && self.origin.get(self.cursor).is_some_and(|e| such(&e.event))
    }

    fn start(&self, step: usize, attempt: u32) -> RunEvent {
        let (planned, s) = (&self.plan.steps()[step], &self.state.steps[step]);
        let raw = arguments_in_charge(planned, s);
        let result_of = |id: &str| self.state.steps.get(id).and_then(|s| s.result.as_ref()).map(|r| r.data.clone());
        let arguments = match resolve(raw, &result_of) {
            Ok(resolved) if references(&resolved).is_empty() => resolved,
            _ => raw.clone(),
        };
        RunEvent::AttemptStarted {
            step: planned.spec.id.clone(),
            attempt,
            tool: in_charge(planned, s).into(),
            arguments,
        }
    }

    fn expect(&mut self, at_ms: u64, coming: Coming) {
        self.order += 1;
        self.coming.insert((at_ms, self.order), coming);
    }

    fn arrive(&mut self, coming: Coming, entries: &mut Vec<JournalEntry>) {
        match coming {
            Coming::PauseOver { step } => {
                if self.state.steps.get(&step).is_some_and(|s| s.status == StepStatus::Waiting) {
                    self.take_in(RunEvent::StepReady { step }, entries);
                }
            }
            Coming::Answer { step, attempt, answer } => {
                let s = self.state.steps.get(&step);
                if !s.is_some_and(|s| s.is_in_flight() && s.attempts.last().is_some_and(|a| a.number == attempt)) {
                    return;
                }
                if let Some(age_ms) = answer.cached_ms {
                    self.take_in(RunEvent::CacheHit { step: step.clone(), attempt, age_ms }, entries);
                }
                let Answer { outcome, duration_ms, .. } = answer;
                self.take_in(RunEvent::AttemptFinished { step, attempt, duration_ms, outcome }, entries);
            }
        }
    }

    fn take_in(&mut self, event: RunEvent, entries: &mut Vec<JournalEntry>) {
        let entry = JournalEntry { seq: self.state.seq + 1, at_ms: self.base_ms + self.now_ms, event };
        self.state.apply(&entry);
        self.frontier.apply(&self.plan, &self.state, &entry.event);
        match &entry.event {
            RunEvent::AttemptStarted { step, attempt, tool, arguments } => {
                let (step, attempt, tool, arguments) = (step.clone(), *attempt, tool.clone(), arguments.clone());
                entries.push(entry);
                return self.leave(step, attempt, tool, arguments, entries);
            }
            RunEvent::AttemptFinished { step, attempt, .. } if self.following => self.book.use_up(step, *attempt),
            RunEvent::RetryScheduled { step, delay_ms, .. } if !self.following => {
                let (at_ms, step) = (self.now_ms + delay_ms, step.clone());
                self.expect(at_ms, Coming::PauseOver { step });
            }
            RunEvent::Derived { .. } if !self.following => {
                entries.push(entry);
                return self.settle(entries);
            }
            // Nobody is there to go on.
            RunEvent::Paused { reason } if !self.following => {
                let unknown = match reason {
                    PauseReason::UnknownOutcome { steps } => steps.clone(),
                    _ => vec![],
                };
                entries.push(entry);
                for step in unknown {
                    self.take_in(RunEvent::StepCancelled { step }, entries);
                }
                return self.take_in(RunEvent::Resumed { go: Go::Continue }, entries);
            }
            _ => {}
        }
        entries.push(entry);
    }

    /// Milliseconds from the origin's first event to this one.
    fn after(&self, entry: &JournalEntry) -> u64 {
        entry.at_ms.saturating_sub(self.origin.first().map_or(0, |first| first.at_ms))
    }
}

fn position(entries: &[JournalEntry], which: impl Fn(&RunEvent) -> bool) -> Option<usize> {
    entries.iter().position(|e| which(&e.event))
}

/// A plan to schedule by. Its calls were admitted when they were recorded, if at all; here none ever leaves.
fn recorded_plan(spec: &PlanSpec) -> Result<Plan, Problem> {
    spec.clone().check(|call| Ok(Admitted::of_record(call.clone()))).map_err(|findings| {
        let why = findings.first().map(|f| f.message.clone()).unwrap_or_default();
        Problem::new("replay.not_started", format!("the recorded plan is damaged: {why}"), "choose another run")
    })
}

fn not_started() -> Problem {
    Problem::new("replay.not_started", "the run was planned and never started", "choose a run that was started")
}

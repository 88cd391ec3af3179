//! The steps of a run sorted by what they wait for, so that a decision looks only at those that an event has touched.

use super::{Action, when_answered, when_pending};
use crate::{
    plan::{ExecutionMode, Plan},
    run::{
        Go, PauseReason, RunEvent, RunOutcome, RunState, Skip, StepState, StepStatus, When,
        breakpoint::{hits, planning_hits},
    },
};
use std::collections::BTreeSet;

/// How the scheduler sees a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Pending,
    /// With its place in the queue.
    Ready(u32),
    InFlight,
    /// The last attempt has an outcome that nothing was made of yet.
    Answered,
    /// For its next attempt.
    Waiting,
    /// For a person's word.
    Unknown,
    /// Not done, and a person has given the result.
    Given,
    Succeeded,
    /// Failed, skipped or cancelled.
    Broken,
}

impl Class {
    fn of(s: &StepState) -> Self {
        match s.status {
            StepStatus::Succeeded => Self::Succeeded,
            StepStatus::Failed | StepStatus::Skipped | StepStatus::Cancelled => Self::Broken,
            _ if s.edited_result => Self::Given,
            StepStatus::Pending => Self::Pending,
            StepStatus::Ready => Self::Ready(s.ready_seq.unwrap_or_default()),
            StepStatus::Running if s.is_in_flight() => Self::InFlight,
            StepStatus::Running => Self::Answered,
            StepStatus::Waiting if s.unknown => Self::Unknown,
            StepStatus::Waiting => Self::Waiting,
        }
    }

    fn is_done(self) -> bool {
        matches!(self, Self::Succeeded | Self::Broken)
    }
}

/// The steps of a run sorted by what they wait for, kept up to date event by event.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Frontier {
    class: Vec<Class>,
    /// By step: the steps that depend on it.
    dependents: Vec<Vec<usize>>,
    /// By step: how many of its dependencies have succeeded, and how many never will.
    met: Vec<usize>,
    broken: Vec<usize>,
    /// Steps about which something is to be decided.
    due: BTreeSet<usize>,
    /// Parallel steps that wait for a slot, the longest waiting first.
    queue: BTreeSet<(u32, usize)>,
    /// Sequential steps that are not done, by stage and then in plan order: the first one has its turn, so that a step
    /// never waits for its dependents.
    lane: BTreeSet<(usize, usize)>,
    /// Critical steps that failed.
    fatal: BTreeSet<usize>,
    unknown: BTreeSet<usize>,
    in_flight: usize,
    waiting: usize,
    open: usize,
    succeeded: usize,
}

impl Frontier {
    /// Looks at every step.
    pub fn of(plan: &Plan, state: &RunState) -> Self {
        let steps = plan.steps();
        let mut dependents = vec![vec![]; steps.len()];
        for (step, planned) in steps.iter().enumerate() {
            planned.dependencies.iter().for_each(|&d| dependents[d].push(step));
        }
        let mut frontier = Self {
            class: vec![Class::Pending; steps.len()],
            dependents,
            met: vec![0; steps.len()],
            broken: vec![0; steps.len()],
            due: BTreeSet::new(),
            queue: BTreeSet::new(),
            lane: BTreeSet::new(),
            fatal: BTreeSet::new(),
            unknown: BTreeSet::new(),
            in_flight: 0,
            waiting: 0,
            open: steps.len(),
            succeeded: 0,
        };
        for step in 0..steps.len() {
            frontier.enter(plan, state, step, Class::Pending);
        }
        for step in 0..steps.len() {
            frontier.update(plan, state, step);
        }
        frontier
    }

    /// Takes in an event that `state` has taken in just before.
    pub fn apply(&mut self, plan: &Plan, state: &RunState, event: &RunEvent) {
        match event {
            // These change more than one step.
            RunEvent::Planned { .. }
            | RunEvent::Started { .. }
            | RunEvent::Reopened { .. }
            | RunEvent::RetryRequested { .. }
            | RunEvent::ResultEdited { .. } => *self = Self::of(plan, state),
            event => {
                if let Some(step) = event.step().and_then(|id| state.steps.get_index_of(id)) {
                    self.update(plan, state, step);
                }
            }
        }
    }

    fn update(&mut self, plan: &Plan, state: &RunState, step: usize) {
        let (before, after) = (self.class[step], Class::of(&state.steps[step]));
        if before == after {
            return;
        }
        self.leave(plan, step, before);
        self.enter(plan, state, step, after);
        let changes = |which: fn(Class) -> bool| i32::from(which(after)) - i32::from(which(before));
        let (met, broken) = (changes(|c| c == Class::Succeeded), changes(|c| c == Class::Broken));
        if met == 0 && broken == 0 {
            return;
        }
        let dependents = std::mem::take(&mut self.dependents[step]);
        for &dependent in &dependents {
            self.met[dependent] = self.met[dependent].wrapping_add_signed(met as isize);
            self.broken[dependent] = self.broken[dependent].wrapping_add_signed(broken as isize);
            if self.class[dependent] == Class::Pending {
                if self.pending_is_due(plan, dependent) {
                    self.due.insert(dependent);
                } else {
                    self.due.remove(&dependent);
                }
            }
        }
        self.dependents[step] = dependents;
    }

    fn pending_is_due(&self, plan: &Plan, step: usize) -> bool {
        self.broken[step] > 0 || self.met[step] == plan.steps()[step].dependencies.len()
    }

    fn leave(&mut self, plan: &Plan, step: usize, class: Class) {
        self.due.remove(&step);
        match class {
            Class::Ready(seq) => {
                self.queue.remove(&(seq, step));
            }
            Class::InFlight => self.in_flight -= 1,
            Class::Waiting => self.waiting -= 1,
            Class::Unknown => {
                self.unknown.remove(&step);
            }
            Class::Succeeded => self.succeeded -= 1,
            Class::Broken => {
                self.fatal.remove(&step);
            }
            Class::Pending | Class::Answered | Class::Given => {}
        }
        if class.is_done() {
            self.open += 1;
            if is_sequential(plan, step) {
                self.lane.insert((plan.steps()[step].stage, step));
            }
        }
    }

    fn enter(&mut self, plan: &Plan, state: &RunState, step: usize, class: Class) {
        self.class[step] = class;
        let planned = &plan.steps()[step];
        match class {
            Class::Pending if self.pending_is_due(plan, step) => {
                self.due.insert(step);
            }
            Class::Answered | Class::Given => {
                self.due.insert(step);
            }
            Class::Ready(seq) if !is_sequential(plan, step) => {
                self.queue.insert((seq, step));
            }
            Class::InFlight => self.in_flight += 1,
            Class::Waiting => self.waiting += 1,
            Class::Unknown => {
                self.unknown.insert(step);
            }
            Class::Succeeded => self.succeeded += 1,
            Class::Broken if state.steps[step].status == StepStatus::Failed && planned.spec.critical => {
                self.fatal.insert(step);
            }
            Class::Pending | Class::Ready(_) | Class::Broken => {}
        }
        let place = (planned.stage, step);
        if class.is_done() {
            self.open -= 1;
            self.lane.remove(&place);
        } else if is_sequential(plan, step) {
            self.lane.insert(place);
        }
    }

    /// What is to be done now. Starts are among the actions even when something else is; whoever carries them out asks
    /// again after the others.
    pub fn actions(&self, plan: &Plan, state: &RunState) -> Vec<Action> {
        if state.outcome.is_some() {
            return vec![];
        }
        if state.cancelling {
            let open: Vec<_> = self.open_steps().map(|step| Action::Cancel { step }).collect();
            return if open.is_empty() { vec![Action::Finish { outcome: RunOutcome::Cancelled }] } else { open };
        }
        if state.paused.is_some() {
            return vec![];
        }
        if let Some(&broken) = self.fatal.first() {
            return self.stop(state, &plan.steps()[broken].spec.id);
        }
        if !self.unknown.is_empty() && !state.told_unknown {
            return vec![self.ask_about_unknown(plan)];
        }
        let mut breaks = vec![];
        let mut actions = vec![];
        for &step in &self.due {
            let s = &state.steps[step];
            match self.class[step] {
                Class::Pending => actions.extend(when_pending(plan, state, step)),
                Class::Given => actions.push(Action::Succeed { step }),
                _ => {
                    let answered = s.attempts.last().and_then(|a| Some((a.number, a.outcome.as_ref()?)));
                    if let Some((attempt, outcome)) = answered {
                        let breakpoints = hits(&plan.steps()[step], state, s, When::After);
                        if !breakpoints.is_empty() {
                            breaks.push(Action::Break { step: Some(step), attempt, breakpoints });
                        }
                        actions.push(when_answered(plan, state, step, s, outcome));
                    }
                }
            }
        }
        if !breaks.is_empty() {
            return breaks;
        }
        let starts = self.starts(plan, state);
        if actions.is_empty() {
            if self.open == 0 {
                return vec![Action::Finish { outcome: self.outcome() }];
            }
            if let Some(stop) = self.stops_at(plan, state, &starts) {
                return stop;
            }
        }
        actions.extend(starts.into_iter().map(|step| Action::Start { step, attempt: next_attempt(state, step) }));
        actions
    }

    fn open_steps(&self) -> impl Iterator<Item = usize> {
        (0..self.class.len()).filter(|&step| !self.class[step].is_done())
    }

    /// A critical step failed (O-06).
    fn stop(&self, state: &RunState, root: &str) -> Vec<Action> {
        let stop = |step: usize| match state.steps[step].status {
            StepStatus::Running | StepStatus::Waiting => Action::Cancel { step },
            _ => Action::Skip { step, reason: Skip::CriticalFailure { root: root.into() } },
        };
        let open: Vec<_> = self.open_steps().map(stop).collect();
        if open.is_empty() { vec![Action::Finish { outcome: RunOutcome::Failed }] } else { open }
    }

    fn ask_about_unknown(&self, plan: &Plan) -> Action {
        let steps = self.unknown.iter().map(|&step| plan.steps()[step].spec.id.clone()).collect();
        Action::Pause { reason: PauseReason::UnknownOutcome { steps } }
    }

    fn outcome(&self) -> RunOutcome {
        match self.succeeded {
            n if n == self.class.len() => RunOutcome::Succeeded,
            0 => RunOutcome::Failed,
            _ => RunOutcome::Partial,
        }
    }

    /// The steps that may start now, in order.
    fn starts(&self, plan: &Plan, state: &RunState) -> Vec<usize> {
        let slots = (state.parallel_limit.max(1) as usize).saturating_sub(self.in_flight);
        if slots == 0 {
            return vec![];
        }
        let turn = self.lane.first().and_then(|&(_, step)| match self.class[step] {
            Class::Ready(seq) => Some((seq, step)),
            _ => None,
        });
        let mut starts = vec![];
        let mut turn = turn.into_iter().peekable();
        let mut queue = self.queue.iter().copied().peekable();
        let ordered = std::iter::from_fn(|| match (turn.peek(), queue.peek()) {
            (Some(a), Some(b)) if a < b => turn.next(),
            (_, Some(_)) => queue.next(),
            _ => turn.next(),
        });
        let mut stepping = state.stepping.as_ref().and_then(|id| state.steps.get_index_of(id));
        for (_, step) in ordered {
            let permitted = match &state.go {
                Go::Continue | Go::To { .. } => true,
                Go::Step => *stepping.get_or_insert(step) == step,
                Go::Stage { stage } => plan.steps()[step].stage <= *stage as usize,
            };
            if permitted {
                starts.push(step);
                if starts.len() == slots {
                    break;
                }
            }
        }
        starts
    }

    /// Why nothing more starts, where something could or all that was permitted is done.
    fn stops_at(&self, plan: &Plan, state: &RunState, starts: &[usize]) -> Option<Vec<Action>> {
        let pause = |reason| Some(vec![Action::Pause { reason }]);
        let guard = planning_hits(state);
        if !guard.is_empty() {
            return Some(vec![Action::Break { step: None, attempt: 0, breakpoints: guard }]);
        }
        match &state.go {
            Go::Step => {
                if let Some(id) = &state.stepping
                    && state.steps.get(id).is_some_and(|s| s.status.is_done())
                {
                    return pause(PauseReason::Stepped { step: id.clone() });
                }
            }
            Go::Stage { stage } => {
                if self.open_steps().all(|step| plan.steps()[step].stage > *stage as usize) {
                    return pause(PauseReason::Staged { stage: *stage });
                }
            }
            Go::To { step } => {
                if starts.iter().any(|&start| plan.steps()[start].spec.id == *step) {
                    return pause(PauseReason::Reached { step: step.clone() });
                }
            }
            Go::Continue => {}
        }
        let mut breaks = vec![];
        if !state.breakpoints.is_empty() {
            for &step in starts {
                let breakpoints = hits(&plan.steps()[step], state, &state.steps[step], When::Before);
                if !breakpoints.is_empty() {
                    breaks.push(Action::Break { step: Some(step), attempt: next_attempt(state, step), breakpoints });
                }
            }
        }
        if !breaks.is_empty() {
            return Some(breaks);
        }
        let idle = starts.is_empty() && self.in_flight == 0 && self.waiting == 0;
        (idle && !self.unknown.is_empty()).then(|| vec![self.ask_about_unknown(plan)])
    }
}

fn is_sequential(plan: &Plan, step: usize) -> bool {
    plan.steps()[step].spec.mode == ExecutionMode::Sequential
}

fn next_attempt(state: &RunState, step: usize) -> u32 {
    state.steps[step].attempts.len() as u32 + 1
}

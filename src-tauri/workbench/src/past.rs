//! Looking into runs: any instant, the filtered log (W-05), what differs, what comes from what.
//!
//! The journals that were looked into last stay in memory, with the state every so many events, so that going to an
//! instant folds a few events and not all of them.

use crate::{
    Workbench, describe,
    then::Then,
    views::{EventPage, EventRow, MOST_MARKS, Mark, RunAt, RunMarks, RunSummary, RunTree},
};
use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex},
};
use toolplan_engine::{
    Problem,
    compare::{self, Record, RunDiff},
    discovery::DiscoveryEvent,
    filter::{Facts, Filter},
    planning::Planning,
    run::{AttemptOutcome, JournalEntry, RunEvent, RunId, RunState},
    settings::Settings,
    tool::ToolSpec,
};

/// The journals that were looked into last, the latest first, and the catalog of the run whose tools were asked for
/// last: a large one is not kept for each.
#[derive(Default)]
pub(crate) struct Shelf(Mutex<VecDeque<Arc<Mutex<Opened>>>>, pub(crate) Mutex<Option<(RunId, Arc<Then>)>>);

/// How many journals stay in memory, and how many events the larger of them may have together.
const KEPT: usize = 4;
const KEPT_EVENTS: usize = 400_000;

/// How many states are kept of a journal.
const STATES: usize = 24;

/// A journal in memory.
pub(crate) struct Opened {
    pub(crate) run: RunId,
    pub(crate) entries: Vec<JournalEntry>,
    lines: Vec<Line>,
    /// States after so many events, without the planning.
    states: Vec<(usize, RunState)>,
    /// Events between two of them.
    stride: usize,
    /// The state after all events.
    last: RunState,
    /// With the number of its event.
    planning: Option<(u32, Box<Planning>)>,
    /// What held at its start, and the tools that its plan may call.
    pub(crate) basis: Option<(Box<Settings>, Vec<ToolSpec>)>,
    /// The tools that a reading of records brought up, with the numbers of the events.
    pub(crate) read: Vec<(u32, Vec<String>)>,
}

/// What the filter looks at, in small letters.
struct Line {
    kind: Box<str>,
    step: Box<str>,
    tool: Arc<str>,
    status: &'static str,
    attempt: Option<u32>,
    duration_ms: Option<u64>,
    text: Box<str>,
}

impl Workbench {
    /// The run as it was after the event `seq`; 0 is before the first. The planning stands in [`Self::open_run`].
    pub fn run_at(&self, run: RunId, seq: u32) -> Result<RunAt, Problem> {
        let opened = self.opened(run)?;
        let opened = opened.lock().expect("no reader panics");
        let state = opened.state_after(opened.count(seq));
        let tokens = opened.planning_at(seq).map(|planning| self.tokens_then(&opened, planning, &state));
        let cost = state.cost();
        Ok(RunAt { state, tokens, cost })
    }

    /// Rows of the log that the filter lets through. Errors: those of [`Filter::parse`].
    pub fn run_events(&self, run: RunId, filter: &str, offset: u32, limit: u32) -> Result<EventPage, Problem> {
        let filter = Filter::parse(filter)?;
        let opened = self.opened(run)?;
        let opened = opened.lock().expect("no reader panics");
        let mut total = 0;
        let mut rows = vec![];
        for (i, entry) in opened.entries.iter().enumerate() {
            if filter.is_empty() || filter.matches(&opened.facts(i)) {
                if total >= offset && rows.len() < limit as usize {
                    rows.push(EventRow::of(entry));
                }
                total += 1;
            }
        }
        Ok(EventPage { rows, total, events: opened.entries.len() as u32 })
    }

    /// The event nearest to `seq`, after it or before it, that the filter lets through.
    pub fn find_event(&self, run: RunId, filter: &str, seq: u32, backwards: bool) -> Result<Option<u32>, Problem> {
        let filter = Filter::parse(filter)?;
        let opened = self.opened(run)?;
        let opened = opened.lock().expect("no reader panics");
        let here = opened.entries.partition_point(|e| e.seq < seq);
        let fits = |i: &usize| opened.entries[*i].seq != seq && filter.matches(&opened.facts(*i));
        let found = match backwards {
            true => (0..here).rev().find(fits),
            false => (here..opened.entries.len()).find(fits),
        };
        Ok(found.map(|i| opened.entries[i].seq))
    }

    /// When the events happened, for playing the run.
    pub fn run_marks(&self, run: RunId) -> Result<RunMarks, Problem> {
        let opened = self.opened(run)?;
        let opened = opened.lock().expect("no reader panics");
        let first = opened.entries.first().map_or(0, |e| e.at_ms);
        let every = opened.entries.len().div_ceil(MOST_MARKS).max(1);
        let last = opened.entries.len().saturating_sub(1);
        let mut marks: Vec<Mark> = vec![];
        let mut failures = 0;
        for (i, entry) in opened.entries.iter().enumerate() {
            let failure = opened.lines[i].status == "failed";
            failures += u32::from(failure);
            let kept = i % every == 0 || i == last || failure && failures as usize <= MOST_MARKS;
            if kept {
                marks.push(Mark { seq: entry.seq, after_ms: entry.at_ms.saturating_sub(first), failure });
            }
        }
        Ok(RunMarks { marks, last_seq: opened.entries.last().map_or(0, |e| e.seq) })
    }

    /// What differs between two runs.
    pub fn diff_runs(&self, a: RunId, b: RunId) -> Result<RunDiff, Problem> {
        Ok(compare::runs(&self.record(a)?, &self.record(b)?))
    }

    /// What differs between two runs, each a number or an exported file.
    pub fn diff(&self, a: &str, b: &str) -> Result<RunDiff, Problem> {
        let record = |name: &str| match name.parse() {
            Ok(run) => self.record(run),
            Err(_) => Ok(Record::of(&crate::files::events_of(name.as_ref())?)),
        };
        Ok(compare::runs(&record(a)?, &record(b)?))
    }

    pub(crate) fn record(&self, run: RunId) -> Result<Record, Problem> {
        let journal = self.inner.store.journal();
        journal.run(run)?;
        Ok(Record::of(&journal.events(run)?.0))
    }

    /// The runs that come from one another.
    pub fn run_tree(&self, run: RunId) -> Result<RunTree, Problem> {
        let journal = self.inner.store.journal();
        let mut root = journal.run(run)?;
        let mut above = HashSet::from([root.uid.clone()]);
        while let Some(origin) = &root.origin
            && above.insert(origin.uid.clone())
            && let Some(row) = journal.run_named(&origin.uid)?
        {
            root = row;
        }
        let id = root.id;
        let mut seen = HashSet::from([id]);
        let mut next = vec![root];
        let mut runs: Vec<RunSummary> = vec![];
        while let Some(row) = next.pop() {
            let derived = journal.derived_from(&row.uid)?;
            runs.push(self.summary(row)?);
            // The oldest is looked at first.
            next.extend(derived.into_iter().rev().filter(|row| seen.insert(row.id)));
        }
        Ok(RunTree { root: id, runs })
    }

    /// The journal in memory, up to its newest event.
    pub(crate) fn opened(&self, run: RunId) -> Result<Arc<Mutex<Opened>>, Problem> {
        let journal = self.inner.store.journal();
        let known = {
            let mut shelf = self.inner.shelf.0.lock().expect("no holder panics");
            let at = shelf.iter().position(|o| o.lock().is_ok_and(|o| o.run == run));
            at.and_then(|at| shelf.remove(at)).inspect(|known| shelf.push_front(known.clone()))
        };
        if let Some(known) = known {
            let mut opened = known.lock().expect("no reader panics");
            match journal.events_from(run, opened.last.seq) {
                Ok((new, _)) => opened.extend(new),
                Err(problem) => {
                    drop(opened);
                    self.forget(run);
                    return Err(problem);
                }
            }
            drop(opened);
            return Ok(known);
        }
        let (entries, _) = journal.events(run)?;
        let mut opened = Opened::new(run, entries.len());
        opened.extend(entries);
        let opened = Arc::new(Mutex::new(opened));
        let mut shelf = self.inner.shelf.0.lock().expect("no holder panics");
        shelf.push_front(opened.clone());
        let size = |o: &Arc<Mutex<Opened>>| o.lock().map_or(0, |o| o.entries.len());
        while shelf.len() > KEPT || shelf.len() > 1 && shelf.iter().map(size).sum::<usize>() > KEPT_EVENTS {
            shelf.pop_back();
        }
        Ok(opened)
    }

    /// The run is gone.
    pub(crate) fn forget(&self, run: RunId) {
        let mut shelf = self.inner.shelf.0.lock().expect("no holder panics");
        shelf.retain(|o| o.lock().is_ok_and(|o| o.run != run));
    }
}

impl Opened {
    fn new(run: RunId, events: usize) -> Self {
        Self {
            run,
            entries: vec![],
            lines: vec![],
            states: vec![(0, RunState::default())],
            stride: (events / STATES).max(500),
            last: RunState::default(),
            planning: None,
            basis: None,
            read: vec![],
        }
    }

    fn extend(&mut self, new: Vec<JournalEntry>) {
        let mut tools: HashMap<Box<str>, Arc<str>> = HashMap::new();
        let nothing: Arc<str> = "".into();
        for entry in new {
            match &entry.event {
                RunEvent::Planned { planning } => self.planning = Some((entry.seq, planning.clone())),
                RunEvent::Basis { settings, tools } => self.basis = Some((settings.clone(), tools.clone())),
                RunEvent::Discovery { event: DiscoveryEvent::ToolGet { returned, .. }, .. } => {
                    self.read.push((entry.seq, returned.clone()));
                }
                _ => {}
            }
            apply(&mut self.last, &entry);
            let step = entry.event.step().unwrap_or_default();
            let named = match &entry.event {
                RunEvent::AttemptStarted { tool, .. } | RunEvent::FallbackStarted { tool, .. } => Some(tool.clone()),
                _ => None,
            };
            if let Some(named) = named {
                tools.insert(step.into(), named.to_lowercase().into());
            }
            let tool = match tools.get(step) {
                Some(tool) => tool.clone(),
                None if step.is_empty() => nothing.clone(),
                None => {
                    let tool: Arc<str> = tool_of(&self.last, step).to_lowercase().into();
                    tools.insert(step.into(), tool.clone());
                    tool
                }
            };
            self.lines.push(line(&entry, tool));
            self.entries.push(entry);
            let next = self.states.last().map_or(0, |(at, _)| at + self.stride);
            if self.entries.len() == next {
                self.states.push((next, self.last.clone()));
                if self.states.len() > 2 * STATES {
                    // A run that goes on and on: every other state is enough.
                    self.stride *= 2;
                    let stride = self.stride;
                    self.states.retain(|(at, _)| at % stride == 0);
                }
            }
        }
    }

    /// How many events there are up to `seq`.
    pub(crate) fn count(&self, seq: u32) -> usize {
        self.entries.partition_point(|e| e.seq <= seq)
    }

    /// The planning, once it was made.
    pub(crate) fn planning_at(&self, seq: u32) -> Option<&Planning> {
        self.planning.as_ref().filter(|(at, _)| *at <= seq).map(|(_, planning)| &**planning)
    }

    /// The state after the first `count` events, without the planning.
    pub(crate) fn state_after(&self, count: usize) -> RunState {
        if count >= self.entries.len() {
            return self.last.clone();
        }
        let near = self.states.partition_point(|(at, _)| *at <= count) - 1;
        let (from, state) = &self.states[near];
        let mut state = state.clone();
        self.entries[*from..count].iter().for_each(|entry| apply(&mut state, entry));
        state
    }

    fn facts(&self, i: usize) -> Facts<'_> {
        let (entry, line) = (&self.entries[i], &self.lines[i]);
        Facts {
            seq: entry.seq,
            after_ms: entry.at_ms.saturating_sub(self.entries[0].at_ms),
            kind: &line.kind,
            step: &line.step,
            tool: &line.tool,
            status: line.status,
            attempt: line.attempt,
            duration_ms: line.duration_ms,
            text: &line.text,
        }
    }
}

/// Folds, and leaves the planning out: it is large and does not change.
fn apply(state: &mut RunState, entry: &JournalEntry) {
    state.apply(entry);
    state.planning = None;
}

pub(crate) fn tool_of<'s>(state: &'s RunState, step: &str) -> &'s str {
    // The states stand in plan order, but for a damaged plan that has a step twice.
    let there = state.steps.get_index_of(step).and_then(|at| state.plan.steps.get(at)).filter(|s| s.id == step);
    there.or_else(|| state.plan.steps.iter().find(|s| s.id == step)).map_or("", |s| &s.tool)
}

fn line(entry: &JournalEntry, tool: Arc<str>) -> Line {
    let event = &entry.event;
    let (mut attempt, mut duration_ms) = (None, None);
    let status = match event {
        RunEvent::StepReady { .. } => "ready",
        RunEvent::AttemptStarted { attempt: n, .. } => {
            attempt = Some(*n);
            "running"
        }
        RunEvent::AttemptFinished { attempt: n, duration_ms: ms, outcome, .. } => {
            (attempt, duration_ms) = (Some(*n), Some(*ms));
            match outcome {
                AttemptOutcome::Succeeded { .. } => "succeeded",
                AttemptOutcome::Failed { .. } => "failed",
            }
        }
        RunEvent::RetryScheduled { attempt: n, .. } => {
            attempt = Some(*n);
            "waiting"
        }
        RunEvent::StepSucceeded { .. } => "succeeded",
        RunEvent::StepFailed { .. } => "failed",
        RunEvent::StepSkipped { .. } => "skipped",
        RunEvent::StepCancelled { .. } => "cancelled",
        RunEvent::Finished { outcome, duration_ms: ms } => {
            duration_ms = Some(*ms);
            outcome_status(*outcome)
        }
        _ => "",
    };
    let row = describe::event_row(entry);
    Line {
        kind: row.kind.to_lowercase().into(),
        step: row.step.to_lowercase().into(),
        tool,
        status,
        attempt,
        duration_ms,
        text: row.text.to_lowercase().into(),
    }
}

fn outcome_status(outcome: toolplan_engine::run::RunOutcome) -> &'static str {
    use toolplan_engine::run::RunOutcome::*;
    match outcome {
        Succeeded => "succeeded",
        Partial => "partial",
        Failed => "failed",
        Cancelled => "cancelled",
        Interrupted => "interrupted",
    }
}

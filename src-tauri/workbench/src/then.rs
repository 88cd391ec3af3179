//! The catalog and its tokens as they were at a run, and what had become of each tool after an event.

use crate::{
    Workbench, describe,
    past::{Opened, tool_of},
    views::{ToolAt, ToolThen, ToolsAt},
};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
};
use toolplan_engine::{
    Problem,
    planning::Planning,
    request::Request,
    run::{AttemptOutcome, RunId, RunState, Skip, StepState, StepStatus},
    settings::Settings,
    tokens::{TokenCost, TokenReport},
    tool::ToolSpec,
    verdict::{Gate, Outcome, Trail, Verdict},
    visibility::Viewer,
};

/// A catalog as it was.
pub(crate) struct Then {
    specs: Vec<ToolSpec>,
    /// Where each stands among them.
    places: HashMap<String, usize>,
}

impl Then {
    fn spec(&self, name: &str) -> Option<&ToolSpec> {
        self.places.get(name).map(|at| &self.specs[*at])
    }
}

/// The most rows of one answer.
const MOST_ROWS: u32 = 500;

impl Workbench {
    /// Tools of the catalog as it was at the run, each as it stood after the event `seq`; `text` are words of the name.
    pub fn run_tools(&self, run: RunId, seq: u32, text: &str, offset: u32, limit: u32) -> Result<ToolsAt, Problem> {
        let opened = self.opened(run)?;
        let opened = opened.lock().expect("no reader panics");
        let then = self.catalog_then(&opened);
        let view = self.instant(&opened, &then, seq);
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let fits = |name: &str| words.is_empty() || words.iter().all(|w| name.to_lowercase().contains(w));
        let named: Vec<&str> = view.order.iter().copied().filter(|name| then.spec(name).is_some()).collect();
        let first: HashSet<&str> = named.iter().copied().collect();
        let others = then.specs.iter().map(|s| s.name.as_str()).filter(|name| !first.contains(name));
        let found: Vec<&str> = named.iter().copied().chain(others).filter(|name| fits(name)).collect();
        let page = found.iter().skip(offset as usize).take(limit.min(MOST_ROWS) as usize);
        let rows = page.filter_map(|name| Some(view.row(self, then.spec(name)?))).collect();
        Ok(ToolsAt {
            revision: view.state.catalog_revision,
            all: then.specs.len() as u32,
            total: found.len() as u32,
            rows,
        })
    }

    /// One tool as it was at the run, after the event `seq`. Error: `run.unknown_tool`.
    pub fn run_tool(&self, run: RunId, seq: u32, name: &str) -> Result<ToolThen, Problem> {
        let opened = self.opened(run)?;
        let opened = opened.lock().expect("no reader panics");
        let then = self.catalog_then(&opened);
        let view = self.instant(&opened, &then, seq);
        let spec = then.spec(name).ok_or_else(|| {
            Problem::new(
                "run.unknown_tool",
                format!("the catalog of run {run} has no tool {name}"),
                "choose one of the tools that the run shows",
            )
        })?;
        let today = self.tools().catalog;
        let changed = today.spec(name).map(|now| describe::field_changes(spec, now)).unwrap_or_default();
        Ok(ToolThen {
            at: view.row(self, spec),
            cost: TokenCost::of(spec, &self.counter(&view.settings)),
            trail: view.trail(spec),
            spec: spec.clone(),
            changed,
        })
    }

    /// What the prompt's tools cost by then: those that the run has activated are part of it.
    pub(crate) fn tokens_then(&self, opened: &Opened, planning: &Planning, state: &RunState) -> TokenReport {
        let mut report = planning.tokens.clone();
        let Some((settings, tools)) = &opened.basis else { return report };
        let before = &planning.request;
        let mut after = before.clone();
        after.session.activated.extend(state.activated.iter().cloned());
        let (Ok(old), Ok(new)) = (Viewer::new(settings, before), Viewer::new(settings, &after)) else { return report };
        let counter = self.counter(settings);
        for spec in tools.iter().filter(|spec| state.activated.contains(&spec.name)) {
            let total = TokenCost::of(spec, &counter).total();
            for row in &mut report.states {
                let joins = new.in_state(row.state).in_prompt(spec) && !old.in_state(row.state).in_prompt(spec);
                if joins {
                    row.visible_tools += 1;
                    row.visible += total;
                    row.saved = row.full.saturating_sub(row.visible);
                }
            }
            if let Some(row) = report.tools.iter_mut().find(|row| row.tool == spec.name) {
                row.visible = new.in_prompt(spec);
            }
        }
        report
    }

    /// The catalog at the run's revision; of an imported run the tools that came with it.
    fn catalog_then(&self, opened: &Opened) -> Arc<Then> {
        let mut kept = self.inner.shelf.1.lock().expect("no holder panics");
        match &*kept {
            Some((run, then)) if *run == opened.run => return then.clone(),
            _ => {}
        }
        let revision = opened.state_after(usize::MAX).catalog_revision;
        let imported = self.inner.store.journal().run(opened.run).is_ok_and(|row| row.source.is_some());
        let stored = if imported { None } else { self.inner.store.registry().at(revision).ok().map(|c| c.specs) };
        let recorded = || opened.basis.as_ref().map(|(_, tools)| tools.clone());
        let specs: Vec<ToolSpec> = stored.or_else(recorded).unwrap_or_default();
        let places = specs.iter().enumerate().map(|(at, spec)| (spec.name.clone(), at)).collect();
        let then = Arc::new(Then { specs, places });
        // Before its start a run may still be planned anew.
        if opened.basis.is_some() {
            *kept = Some((opened.run, then.clone()));
        }
        then
    }

    fn instant<'o>(&self, opened: &'o Opened, then: &'o Then, seq: u32) -> Instant<'o> {
        let state = opened.state_after(opened.count(seq));
        let planning = opened.planning_at(seq);
        let settings = opened.basis.as_ref().map_or_else(|| self.settings(), |(settings, _)| (**settings).clone());
        let mut found: HashSet<String> = HashSet::new();
        found.extend(opened.read.iter().take_while(|(at, _)| *at <= seq).flat_map(|(_, names)| names.iter().cloned()));
        found.extend(state.steps.values().flat_map(searched));
        let mut request = planning.map(|p| p.request.clone()).unwrap_or_default();
        request.session.activated.extend(state.activated.iter().cloned());
        let trails = planning.iter().flat_map(|p| &p.trails).map(|t| (t.tool.as_str(), t)).collect();
        let mut order: Vec<&str> = vec![];
        let mut seen = HashSet::new();
        let proposed = planning.iter().flat_map(|p| p.guard.calls.iter().map(|c| c.call.tool.as_str()));
        let planned = planning.iter().flat_map(|p| p.plan.steps.iter().map(|s| s.tool.as_str()));
        let activated = then.specs.iter().map(|s| s.name.as_str());
        let activated = activated.filter(|name| state.activated.iter().any(|a| a == name) || found.contains(*name));
        order.extend(planned.chain(activated).chain(proposed).filter(|name| seen.insert(*name)));
        let uses = uses(&state);
        Instant {
            uses,
            executed: executed(&state),
            state,
            trails,
            found,
            request,
            settings,
            order,
            planned: planning.is_some(),
        }
    }
}

/// What a run says of its tools at one instant.
struct Instant<'o> {
    state: RunState,
    planned: bool,
    trails: HashMap<&'o str, &'o Trail>,
    found: HashSet<String>,
    request: Request,
    settings: Settings,
    /// The tools that the run has to do with.
    order: Vec<&'o str>,
    uses: HashMap<String, Use>,
    executed: HashMap<String, Verdict>,
}

/// What the steps of a tool come to.
#[derive(Default)]
struct Use {
    status: Option<StepStatus>,
    steps: u32,
    step: String,
    calls: u32,
    failures: u32,
}

impl Instant<'_> {
    fn row(&self, workbench: &Workbench, spec: &ToolSpec) -> ToolAt {
        let today = workbench.tools().catalog;
        let now = today.spec(&spec.name);
        let used = self.uses.get(&spec.name);
        ToolAt {
            name: spec.name.clone(),
            classification: spec.classification,
            unchanged: now == Some(spec),
            removed: now.is_none(),
            status: used.and_then(|u| u.status),
            steps: used.map_or(0, |u| u.steps),
            step: used.map(|u| u.step.clone()).unwrap_or_default(),
            calls: used.map_or(0, |u| u.calls),
            failures: used.map_or(0, |u| u.failures),
            found: self.found.contains(&spec.name),
            activated: self.state.activated.contains(&spec.name),
            verdict: if self.planned { self.verdict(spec) } else { None },
        }
    }

    fn verdict(&self, spec: &ToolSpec) -> Option<Verdict> {
        let trail = self.trail(spec);
        match self.executed.get(&spec.name) {
            Some(executed) => Some(executed.clone()),
            None => trail.decided().or(trail.verdicts.last()).cloned(),
        }
    }

    /// The planning's, or for a tool that it does not tell of the gates before it, and how the calls went so far.
    fn trail(&self, spec: &ToolSpec) -> Trail {
        let none = Trail { tool: spec.name.clone(), verdicts: vec![] };
        if !self.planned {
            return none;
        }
        let mut trail = match self.trails.get(spec.name.as_str()) {
            Some(trail) => (*trail).clone(),
            None => Viewer::new(&self.settings, &self.request).map_or(none, |viewer| viewer.trail(spec)),
        };
        trail.verdicts.extend(self.executed.get(&spec.name).cloned());
        trail
    }
}

/// The tool of a step by then: of its last call, or that of the plan.
fn called<'s>(state: &'s RunState, id: &str, step: &'s StepState) -> &'s str {
    step.attempts.last().map_or_else(|| tool_of(state, id), |attempt| &attempt.tool)
}

/// The names that a search has answered with.
fn searched(step: &StepState) -> Vec<String> {
    let search = step.attempts.last().is_some_and(|a| a.tool == "tool_search");
    let tools = step.result.as_ref().filter(|_| search).and_then(|r| r.data.get("tools")?.as_array());
    let names = tools.into_iter().flatten().filter_map(|tool| tool.get("name")?.as_str());
    names.map(str::to_string).collect()
}

fn uses(state: &RunState) -> HashMap<String, Use> {
    let mut uses: HashMap<String, Use> = HashMap::new();
    for (id, step) in &state.steps {
        let of = uses.entry(called(state, id, step).to_string()).or_default();
        if of.steps == 0 {
            of.step.clone_from(id);
        }
        of.steps += 1;
        if of.status.is_none_or(|known| telling(step.status) > telling(known)) {
            of.status = Some(step.status);
        }
        for attempt in &step.attempts {
            let of = uses.entry(attempt.tool.clone()).or_default();
            of.calls += 1;
            of.failures += u32::from(matches!(attempt.outcome, Some(AttemptOutcome::Failed { .. })));
        }
    }
    uses
}

/// Of several steps, the one with the highest number is told of.
fn telling(status: StepStatus) -> u8 {
    match status {
        StepStatus::Running => 7,
        StepStatus::Waiting => 6,
        StepStatus::Failed => 5,
        StepStatus::Cancelled => 4,
        StepStatus::Succeeded => 3,
        StepStatus::Skipped => 2,
        StepStatus::Ready => 1,
        StepStatus::Pending => 0,
    }
}

/// How the calls of each tool went so far. Of several the first that went wrong is told.
fn executed(state: &RunState) -> HashMap<String, Verdict> {
    let mut executed: HashMap<String, Verdict> = HashMap::new();
    for (id, step) in &state.steps {
        let verdict = |outcome, rule: &'static str, reason: String| Verdict::new(Gate::Executed, outcome, rule, reason);
        let said = match step.status {
            StepStatus::Succeeded => verdict(Outcome::Kept, "executed.succeeded", format!("{id} succeeded")),
            StepStatus::Running => verdict(Outcome::Kept, "executed.running", format!("{id} is at work")),
            StepStatus::Failed => {
                let why = step.error.as_ref().map(|e| e.message.as_str()).unwrap_or_default();
                verdict(Outcome::Dropped, "executed.failed", format!("{id} failed: {why}"))
            }
            StepStatus::Skipped => {
                let why: Cow<str> = step.skip.as_ref().map_or("".into(), |s: &Skip| describe::skip(s).into());
                verdict(Outcome::Dropped, "executed.skipped", format!("{id}: {why}"))
            }
            StepStatus::Cancelled => verdict(Outcome::Dropped, "executed.cancelled", format!("{id} was cancelled")),
            StepStatus::Pending | StepStatus::Ready | StepStatus::Waiting => continue,
        };
        let told = executed.entry(called(state, id, step).to_string()).or_insert_with(|| said.clone());
        if told.outcome == Outcome::Kept {
            *told = said;
        }
    }
    executed
}

//! Running plans, following them, and opening old runs.

use crate::{
    Workbench,
    discovery::RunDiscovery,
    graph,
    views::{EventRow, MOST_EVENTS, OriginKind, OriginLink, RunDetail, RunSummary},
};
use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    sync::Arc,
};
use tokio::sync::{mpsc, watch};
use toolplan_engine::{
    Problem,
    guard::Guard,
    plan::{Finding, Plan, PlanSpec},
    ports::{Journal, ResultCache},
    request::Request,
    run::{
        Commands, Control, Driver, Gatekeeper, JournalEntry, PauseReason, RunEvent, RunId, RunOptions, RunOutcome,
        RunState, timeout::CallHistory,
    },
    tool::{Catalog, ToolCall, ToolSpec},
    visibility::Viewer,
};
use toolplan_store::journal::RunRow;

/// New entries of a run's journal, already durable.
#[derive(Debug, Clone)]
pub struct RunUpdate {
    pub run: RunId,
    pub entries: Arc<[JournalEntry]>,
}

/// A run that this process drives.
pub(crate) struct Live {
    pub(crate) control: Control,
    /// How it ended, once it has.
    pub(crate) ended: watch::Receiver<Option<Result<(), Problem>>>,
}

/// How many runs the list shows.
const LISTED_RUNS: u32 = 500;

impl Workbench {
    /// [`Workbench::start_run_with`], nothing chosen.
    pub async fn start_run(&self, plan: u32) -> Result<RunId, Problem> {
        self.start_run_with(plan, RunOptions::default()).await
    }

    /// Starts the planning `plan` and returns at once. The plan is checked once more; then it and everything that was
    /// decided for it are the first event of the run's journal.
    pub async fn start_run_with(&self, plan: u32, options: RunOptions) -> Result<RunId, Problem> {
        let planned = self.planned(plan)?;
        let request = planned.planning.request.clone();
        let checked = self.checked(&planned.planning.plan, &planned.catalog, &request)?;
        if checked.steps().is_empty() {
            return Err(Problem::new(
                "plan.empty",
                "the plan has no steps",
                "change the query, the state or the tools until the plan has a step",
            ));
        }
        let store = &self.inner.store;
        let run = store
            .journal()
            .create_run(&request.query, &planned.planning.planner.label, planned.catalog.revision())
            .await?;
        let opening = RunEvent::Planned { planning: Box::new(planned.planning.clone()) };
        let tools = tools_of(&planned.planning.plan, &planned.catalog);
        let basis = RunEvent::Basis { tools, settings: self.settings().into() };
        let discovered = planned.planning.discovery.iter();
        let discovered = discovered.map(|event| RunEvent::Discovery { step: None, event: event.clone() });
        let entries = store.append(run, [opening, basis].into_iter().chain(discovered).collect()).await?;
        let state = RunState::of(&entries);
        let activated = state.activated.clone();
        self.tell_followers(run, &entries);
        self.drive(state, |control| {
            let driver = self.driver(run, checked, planned.catalog.clone(), request, activated, control)?;
            Ok(Driver { options, ..driver })
        })?;
        Ok(run)
    }

    /// Goes on with a run that was interrupted, from its last event (O-10). Calls that were under way are made again
    /// when they are harmless, or when `confirmed` names their step; at the others the run pauses. `paused`: it pauses
    /// before anything starts.
    ///
    /// Errors: `run.live`, `run.ended`, and `plan.findings` when today's catalog or settings refuse the plan.
    pub async fn resume_run(&self, run: RunId, confirmed: Vec<String>, paused: bool) -> Result<(), Problem> {
        if self.control(run).is_ok() {
            return Err(under_way(run));
        }
        let state = self.state_of(run)?;
        if !is_resumable(&state) {
            return Err(Problem::new(
                "run.ended",
                format!("run {run} has come to its end"),
                "only an interrupted run can be gone on with; start its plan again, or fork it",
            ));
        }
        if let Some(unknown) = confirmed.iter().find(|step| !state.steps.contains_key(*step)) {
            return Err(Problem::new(
                "run.unknown_step",
                format!("the plan has no step {unknown}"),
                "name a step of this run's plan",
            ));
        }
        let request = state.planning.as_ref().map(|p| p.request.clone()).unwrap_or_default();
        let catalog = self.tools().catalog;
        let checked = self.checked(&state.plan, &catalog, &request)?;
        let activated = state.activated.clone();
        self.drive(state, |control| {
            let driver = self.driver(run, checked, catalog, request, activated, control)?;
            let paused = paused.then_some(PauseReason::ByHand);
            Ok(Driver { confirmed: confirmed.into_iter().collect(), paused, ..driver })
        })
    }

    /// The steps of an interrupted run that are called again only when a person confirms it.
    pub(crate) fn unconfirmed(&self, state: &RunState) -> Vec<String> {
        let catalog = self.tools().catalog;
        let harmless = |tool: &str| catalog.spec(tool).is_some_and(ToolSpec::is_repeatable);
        let open = state.steps.iter().filter(|(_, s)| s.is_in_flight() && is_resumable(state) || s.unknown);
        open.filter(|(_, s)| s.attempts.last().is_some_and(|a| !harmless(&a.tool))).map(|(id, _)| id.clone()).collect()
    }

    /// The plan once more past the guard, with the settings of today.
    fn checked(&self, plan: &PlanSpec, catalog: &Catalog, request: &Request) -> Result<Plan, Problem> {
        let settings = self.settings();
        let viewer = Viewer::new(&settings, request)?;
        let guard = Guard::new(catalog, &settings, viewer, request, &[]);
        plan.clone().check(|call| guard.admit(call)).map_err(not_runnable)
    }

    fn driver(
        &self,
        run: RunId,
        plan: Plan,
        catalog: Catalog,
        request: Request,
        activated: Vec<String>,
        commands: Commands,
    ) -> Result<Driver, Problem> {
        let settings = self.settings();
        let query = request.query.clone();
        let discovery = RunDiscovery::new(self.clone(), request.clone(), activated);
        let runtime = discovery.runtime(Arc::new(self.toolbox()));
        let (journal, gate) = (self.inner.store.clone(), discovery.gate(self.gatekeeper(request)));
        let history = match settings.run.adaptive_timeout.enabled {
            true => {
                let stats = self.inner.store.stats().all()?;
                let history = |s: toolplan_store::Stats| CallHistory { calls: s.calls, p95_ms: s.p95_ms as f64 };
                stats.into_iter().map(|(tool, stats)| (tool, history(stats))).collect()
            }
            false => HashMap::new(),
        };
        Ok(Driver {
            query,
            settings: settings.run,
            noted: discovery.noted(),
            cache: self.cache().map(|cache| cache as Arc<dyn ResultCache>),
            history,
            ..Driver::new(run, plan, catalog, runtime, journal, gate, commands)
        })
    }

    /// Drives a run in the background from the state that its journal has led to.
    pub(crate) fn drive(
        &self,
        state: RunState,
        driver: impl FnOnce(Commands) -> Result<Driver, Problem>,
    ) -> Result<(), Problem> {
        let (control, commands) = Control::new();
        let driver = driver(commands)?;
        let run = driver.run;
        let (ended, receiver) = watch::channel(None);
        // Two words to go on may come at once; only one of them may drive.
        match self.inner.runs.lock().expect("no holder panics").entry(run) {
            Entry::Occupied(_) => return Err(under_way(run)),
            Entry::Vacant(place) => place.insert(Live { control, ended: receiver }),
        };
        let workbench = self.clone();
        tokio::spawn(async move {
            let result = driver.drive(state, |_, entries| workbench.tell_followers(run, entries)).await;
            if let Err(problem) = &result {
                tracing::error!(run, problem = %problem.message, "the run stopped");
            }
            workbench.inner.runs.lock().expect("no holder panics").remove(&run);
            // Nobody may be waiting any more.
            let _ = ended.send(Some(result.map(|_| ())));
            workbench.prune_soon();
        });
        Ok(())
    }

    /// Waits until a run that this process drives has ended, and returns its state. A run that has ended is read from
    /// the journal.
    pub async fn wait_run(&self, run: RunId) -> Result<RunState, Problem> {
        let ended = self.inner.runs.lock().expect("no holder panics").get(&run).map(|live| live.ended.clone());
        if let Some(mut ended) = ended
            && let Ok(end) = ended.wait_for(Option::is_some).await
            && let Some(Err(problem)) = end.clone()
        {
            return Err(problem);
        }
        let (entries, _) = self.inner.store.journal().events(run)?;
        Ok(RunState::of(&entries))
    }

    pub fn cancel_run(&self, run: RunId) -> Result<(), Problem> {
        self.control(run)?.cancel();
        Ok(())
    }

    /// The entries of all runs from now on, as they become durable.
    pub fn follow(&self) -> mpsc::UnboundedReceiver<RunUpdate> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.inner.followers.lock().expect("no holder panics").push(sender);
        receiver
    }

    /// All runs, newest first.
    pub fn runs(&self) -> Result<Vec<RunSummary>, Problem> {
        self.inner.store.journal().runs(LISTED_RUNS, None)?.into_iter().map(|row| self.summary(row)).collect()
    }

    /// The run as its journal describes it now.
    pub(crate) fn state_of(&self, run: RunId) -> Result<RunState, Problem> {
        Ok(RunState::of(&self.inner.store.journal().events(run)?.0))
    }

    pub fn open_run(&self, run: RunId) -> Result<RunDetail, Problem> {
        let journal = self.inner.store.journal();
        let row = journal.run(run)?;
        let (entries, _) = journal.events(run)?;
        let state = RunState::of(&entries);
        let catalog = self.tools().catalog;
        let report = state.planning.as_ref().map(|p| &p.guard).filter(|g| !g.calls.is_empty());
        let graph = graph::of(&state.plan, &state.plan.shape(), &catalog, report);
        Ok(RunDetail {
            summary: self.summary(row)?,
            graph,
            events: entries.iter().take(MOST_EVENTS).map(EventRow::of).collect(),
            event_count: entries.len() as u32,
            state,
        })
    }

    /// The row as the list shows it.
    pub(crate) fn summary(&self, row: RunRow) -> Result<RunSummary, Problem> {
        let origin = match &row.origin {
            None => None,
            Some(origin) => Some(OriginLink {
                kind: if origin.change.is_empty() { OriginKind::Replay } else { OriginKind::Fork },
                run: self.inner.store.journal().run_named(&origin.uid)?.map(|row| row.id),
                at: origin.at,
                change: origin.change.clone(),
            }),
        };
        Ok(RunSummary { origin, ..summary(row) })
    }

    /// The runtime gate: today's catalog and settings decide, whatever held when the plan was made (V-07).
    pub(crate) fn gatekeeper(&self, request: Request) -> Gatekeeper {
        let workbench = self.clone();
        Arc::new(move |call: &ToolCall| {
            let tools = workbench.tools();
            // Asked before every call: not worth a copy.
            let settings = workbench.inner.settings.read().expect("no writer panics");
            let viewer = Viewer::new(&settings, &request).map_err(|problem| Finding {
                code: problem.code,
                step: String::new(),
                message: problem.message,
                hint: problem.hint,
            })?;
            Guard::new(&tools.catalog, &settings, viewer, &request, &[]).admit(call)
        })
    }

    pub(crate) fn tell_followers(&self, run: RunId, entries: &[JournalEntry]) {
        let mut followers = self.inner.followers.lock().expect("no holder panics");
        if !followers.is_empty() {
            let entries: Arc<[JournalEntry]> = entries.into();
            followers.retain(|follower| follower.send(RunUpdate { run, entries: entries.clone() }).is_ok());
        }
    }
}

/// The tools that a plan may call, each once.
pub(crate) fn tools_of(plan: &PlanSpec, catalog: &Catalog) -> Vec<ToolSpec> {
    let mut seen = HashSet::new();
    let names = plan.steps.iter().flat_map(|s| [Some(&s.tool), s.fallback.as_ref().map(|f| &f.tool)]).flatten();
    names.filter(|name| seen.insert(*name)).filter_map(|name| catalog.spec(name).cloned()).collect()
}

/// Started, and without an end of its own.
pub(crate) fn is_resumable(state: &RunState) -> bool {
    state.started_ms.is_some() && matches!(state.outcome, None | Some(RunOutcome::Interrupted))
}

fn under_way(run: RunId) -> Problem {
    Problem::new("run.live", format!("run {run} is under way"), "pause or cancel it first")
}

fn not_runnable(findings: Vec<Finding>) -> Problem {
    let told: Vec<String> = findings
        .iter()
        .map(|f| if f.step.is_empty() { f.message.clone() } else { format!("{}: {}", f.step, f.message) })
        .collect();
    let hint = findings.first().map(|f| f.hint.clone()).unwrap_or_default();
    Problem::new("plan.findings", format!("the plan cannot run: {}", told.join("; ")), hint)
}

fn summary(row: RunRow) -> RunSummary {
    RunSummary {
        id: row.id,
        query: row.query,
        started_ms: row.started_ms.unwrap_or(row.created_ms),
        duration_ms: row.started_ms.zip(row.finished_ms).map(|(from, to)| to.saturating_sub(from)),
        outcome: row.outcome,
        steps: row.steps,
        succeeded: row.succeeded,
        catalog_revision: row.catalog_revision,
        planner: row.planner,
        pinned: row.pinned,
        imported: row.source.is_some(),
        origin: None,
        faithful: row.faithful,
    }
}

//! Running plans, following them, and opening old runs.

use crate::{
    Workbench, graph,
    views::{EventRow, MOST_EVENTS, RunDetail, RunSummary},
};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use toolplan_engine::{
    Problem,
    guard::Guard,
    plan::Finding,
    ports::Journal,
    run::{Driver, Gatekeeper, JournalEntry, RunEvent, RunId, RunState},
    tool::ToolCall,
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
    cancel: CancellationToken,
    /// How it ended, once it has.
    ended: watch::Receiver<Option<Result<(), Problem>>>,
}

/// How many runs the list shows.
const LISTED_RUNS: u32 = 500;

impl Workbench {
    /// Starts the planning `plan` and returns at once. The plan is checked once more; then it and everything that was
    /// decided for it are the first event of the run's journal.
    pub async fn start_run(&self, plan: u32) -> Result<RunId, Problem> {
        let planned = self.planned(plan)?;
        let settings = self.settings();
        let request = planned.planning.request.clone();
        let checked = {
            let viewer = Viewer::new(&settings, &request)?;
            let guard = Guard::new(&planned.catalog, &settings, viewer, &request, &[]);
            planned.planning.plan.clone().check(|call| guard.admit(call)).map_err(not_runnable)?
        };
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
        let entries = store.append(run, vec![opening]).await?;
        let state = RunState::of(&entries);
        self.tell_followers(run, &entries);
        let cancel = CancellationToken::new();
        let (ended, receiver) = watch::channel(None);
        self.inner.runs.lock().expect("no holder panics").insert(run, Live { cancel: cancel.clone(), ended: receiver });
        let driver = Driver {
            run,
            plan: checked,
            query: request.query.clone(),
            catalog: planned.catalog.clone(),
            settings: settings.run,
            runtime: Arc::new(self.toolbox()),
            journal: store.clone(),
            gate: self.gatekeeper(request),
            cancel,
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
        });
        Ok(run)
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
        match self.inner.runs.lock().expect("no holder panics").get(&run) {
            Some(live) => {
                live.cancel.cancel();
                Ok(())
            }
            None => Err(Problem::new(
                "run.not_live",
                format!("run {run} is not running here"),
                "only a run that is under way can be stopped",
            )),
        }
    }

    /// The entries of all runs from now on, as they become durable.
    pub fn follow(&self) -> mpsc::UnboundedReceiver<RunUpdate> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.inner.followers.lock().expect("no holder panics").push(sender);
        receiver
    }

    /// All runs, newest first.
    pub fn runs(&self) -> Result<Vec<RunSummary>, Problem> {
        Ok(self.inner.store.journal().runs(LISTED_RUNS, None)?.into_iter().map(summary).collect())
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
            summary: summary(row),
            graph,
            events: entries.iter().take(MOST_EVENTS).map(EventRow::of).collect(),
            event_count: entries.len() as u32,
            state,
        })
    }

    /// The runtime gate: today's catalog and settings decide, whatever held when the plan was made (V-07).
    fn gatekeeper(&self, request: toolplan_engine::request::Request) -> Gatekeeper {
        let workbench = self.clone();
        Arc::new(move |call: &ToolCall| {
            let (tools, settings) = (workbench.tools(), workbench.settings());
            let viewer = Viewer::new(&settings, &request).map_err(|problem| Finding {
                code: problem.code,
                step: String::new(),
                message: problem.message,
                hint: problem.hint,
            })?;
            Guard::new(&tools.catalog, &settings, viewer, &request, &[]).admit(call)
        })
    }

    fn tell_followers(&self, run: RunId, entries: &[JournalEntry]) {
        let mut followers = self.inner.followers.lock().expect("no holder panics");
        if !followers.is_empty() {
            let entries: Arc<[JournalEntry]> = entries.into();
            followers.retain(|follower| follower.send(RunUpdate { run, entries: entries.clone() }).is_ok());
        }
    }
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
        pinned: false,
        imported: false,
        origin: None,
        faithful: None,
    }
}

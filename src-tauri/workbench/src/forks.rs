//! Forks: what comes of a run when one thing in it is different. What follows from the record and the change is
//! the engine's business; here the two are put together, before the fork starts or only to tell what it would do.

use crate::{
    Workbench,
    plans::Said,
    replays::{Source, no_planning},
    views::{Fork, ForkPreview, PreviewedCall},
};
use toolplan_engine::{
    Problem,
    discovery::Index,
    plan::PlanSpec,
    planning::Planning,
    ports::ToolResult,
    replay::{Answerer, ForkCall, Replay, cannot_leave, preview},
    run::{
        AnswerSource, ForkChange, Gatekeeper, JournalEntry, ReplayPolicy, RunEvent, RunId, RunState, Skip, StepStatus,
    },
    settings::Settings,
    tool::{Catalog, Classification, ToolCall},
};
use toolplan_store::RunRow;

impl Workbench {
    /// Goes on from a point of the run with one change, as a new run; returns its number at once. Calls are answered as
    /// [`Workbench::fork_preview`] tells.
    ///
    /// Errors: those of [`Workbench::replay_run`], `run.unknown_step`, `fork.early`, `fork.late`, and `plan.findings`
    /// when the change gives a plan that cannot run.
    pub async fn fork_run(
        &self,
        run: RunId,
        fork: Fork,
        policy: ReplayPolicy,
        speed: Option<f64>,
    ) -> Result<RunId, Problem> {
        let Prepared { record, replay, .. } = self.fork(run, fork, policy, speed)?;
        self.start_replay(record, replay, speed, false).await
    }

    /// What [`Workbench::fork_run`] would do: what is taken over, which calls leave, and who answers them. The record
    /// answers what it holds. A call that it does not hold goes to the tool when `policy` does not name the tool, it is
    /// SAFE today, and the run is of this workspace; any other call is made only where `policy` says so. Nothing is called
    /// and nothing stored.
    ///
    /// Errors: those of [`Workbench::fork_run`].
    pub fn fork_preview(&self, run: RunId, fork: Fork, policy: ReplayPolicy) -> Result<ForkPreview, Problem> {
        let Prepared { record, replay, policy } = self.fork(run, fork, policy, None)?;
        let (at, steps) = (replay.state().seq, &replay.state().steps);
        let kept = steps.iter().filter(|(_, s)| s.status == StepStatus::Succeeded).map(|(id, _)| id.clone()).collect();
        let (gate, catalog) = (self.gatekeeper(record.request.clone()), self.tools().catalog);
        let from_file = self.comes_from_a_file(&record.row)?;
        let calls = preview(replay).into_iter().map(|call| {
            let refused = refused(&call, &catalog, &gate);
            let classification = catalog.spec(&call.tool).map(|tool| tool.classification);
            let unasked = from_file && !policy.tools.contains_key(&call.tool);
            let text = sentence(&call, classification, policy.source(&call.tool), unasked, refused.as_ref());
            PreviewedCall { call, classification, refused, text }
        });
        Ok(ForkPreview { at, kept, calls: calls.collect(), policy })
    }

    fn fork(
        &self,
        run: RunId,
        Fork { change, at }: Fork,
        policy: ReplayPolicy,
        speed: Option<f64>,
    ) -> Result<Prepared, Problem> {
        let record = self.source(run)?;
        let changes = match &change {
            ForkChange::Arguments { step, arguments } => {
                vec![RunEvent::ArgumentsEdited { step: step.clone(), arguments: arguments.clone() }]
            }
            ForkChange::Skip { step } => vec![RunEvent::StepSkipped { step: step.clone(), reason: Skip::ByHand }],
            ForkChange::Result { step, value } => {
                let result = ToolResult { data: value.clone(), confidence: None, sources: vec![] };
                vec![RunEvent::ResultEdited { step: step.clone(), result }]
            }
            ForkChange::Tool { .. } | ForkChange::Settings { .. } => {
                return self.fork_planning(record, change, policy, speed);
            }
        };
        let at = record.fork_point(&change, at)?;
        let policy = self.fork_policy(&record, &RunState::of(record.entries.iter()).plan, policy)?;
        let origin = record.origin(at, Some(change), &policy);
        let replay = Replay::fork(record.entries.clone(), origin, changes, policy.clone(), record.base_ms(speed))?;
        Ok(Prepared { record, replay, policy })
    }

    /// The fork that begins with the planning: the same reply, another tool or other settings.
    fn fork_planning(
        &self,
        record: Source,
        change: ForkChange,
        policy: ReplayPolicy,
        speed: Option<f64>,
    ) -> Result<Prepared, Problem> {
        let state = RunState::of(record.entries.iter());
        let before = state.planning.ok_or_else(|| no_planning(record.row.id))?;
        let basis = record.entries.iter().find_map(|e| match &e.event {
            RunEvent::Basis { settings, tools } => Some((settings, tools)),
            _ => None,
        });
        let mut settings: Settings = basis.map_or_else(|| self.settings(), |(settings, _)| (**settings).clone());
        let mut catalog = match self.inner.store.registry().at(before.revision) {
            Ok(stored) if record.row.source.is_none() => Catalog::new(before.revision, stored.specs).0,
            _ => Catalog::new(before.revision, basis.map(|(_, tools)| tools.clone()).unwrap_or_default()).0,
        };
        match &change {
            ForkChange::Tool { spec } => catalog = catalog.with(before.revision, (**spec).clone())?,
            ForkChange::Settings { settings: other } => settings = (**other).clone(),
            _ => {}
        }
        let planning = self.planned_anew(&catalog, &settings, &before)?;
        if let Some(finding) = planning.findings.first() {
            let message = format!("the changed plan cannot run: {}", finding.message);
            return Err(Problem::new("plan.findings", message, finding.hint.clone()));
        }
        if planning.plan.steps.is_empty() {
            let hint = "change it otherwise, so that the plan has a step";
            return Err(Problem::new("plan.empty", "the changed plan has no steps", hint));
        }
        let plan = planning.plan.clone();
        let policy = self.fork_policy(&record, &plan, policy)?;
        let opening = vec![
            RunEvent::Planned { planning: planning.into() },
            RunEvent::Basis { settings: settings.clone().into(), tools: crate::runs::tools_of(&plan, &catalog) },
            RunEvent::Derived { origin: record.origin(0, Some(change), &policy).into() },
            RunEvent::Started {
                plan: plan.clone(),
                catalog_revision: catalog.revision(),
                parallel_limit: settings.run.parallel_limit,
                timeout_ms: settings.run.timeout_ms,
                retry: settings.run.retry,
            },
        ];
        let replay = Replay::with_plan(record.entries.clone(), &plan, opening, policy.clone(), record.base_ms(speed))?;
        Ok(Prepared { record, replay, policy })
    }

    fn planned_anew(&self, catalog: &Catalog, settings: &Settings, before: &Planning) -> Result<Planning, Problem> {
        let said = Said::recorded(before)?;
        self.planning_of(catalog, &Index::of(catalog), settings, &before.request, before.tokens.exact, &said)
    }

    /// Who answers where `policy` does not say: for the plan's SAFE tools the record, else the tool. Arguments that come
    /// from a file reach no tool unasked.
    fn fork_policy(&self, record: &Source, plan: &PlanSpec, mut policy: ReplayPolicy) -> Result<ReplayPolicy, Problem> {
        if self.comes_from_a_file(&record.row)? {
            return Ok(policy);
        }
        let catalog = self.tools().catalog;
        for tool in crate::runs::tools_of(plan, &catalog).into_iter().filter(|tool| tool.classification.is_safe()) {
            policy.tools.entry(tool.name).or_insert(AnswerSource::RecordedOrLive);
        }
        Ok(policy)
    }

    /// Whether the run or one that it was derived from was imported. What it was derived from may be gone: then it counts
    /// as imported.
    fn comes_from_a_file(&self, row: &RunRow) -> Result<bool, Problem> {
        let journal = self.inner.store.journal();
        let mut row = row.clone();
        while let (None, Some(origin)) = (&row.source, &row.origin) {
            match journal.run_named(&origin.uid)? {
                Some(parent) => row = parent,
                None => return Ok(true),
            }
        }
        Ok(row.source.is_some())
    }
}

/// A fork that could start.
struct Prepared {
    record: Source,
    replay: Replay,
    /// With what holds for the tools that nobody named.
    policy: ReplayPolicy,
}

/// Why the tool itself will not get the call, as far as its arguments are known.
fn refused(call: &ForkCall, catalog: &Catalog, gate: &Gatekeeper) -> Option<Problem> {
    if call.answerer != Answerer::Tool || !call.rests_on.is_empty() {
        return None;
    }
    if let Some(error) = cannot_leave(&call.step, &call.tool, &call.arguments) {
        return Some(Problem::new("fork.cannot_leave", error.message, error.hint));
    }
    if catalog.spec(&call.tool).is_none() {
        let message = format!("there is no tool called {}", call.tool);
        return Some(Problem::new("catalog.unknown_tool", message, "answer it from the record"));
    }
    let asked = ToolCall { tool: call.tool.clone(), arguments: call.arguments.clone() };
    gate(&asked).err().map(|finding| Problem { code: finding.code, message: finding.message, hint: finding.hint })
}

fn sentence(
    call: &ForkCall,
    classification: Option<Classification>,
    source: &AnswerSource,
    unasked: bool,
    refused: Option<&Problem>,
) -> String {
    let (tool, others) = (&call.tool, call.rests_on.join(", "));
    let why_not = || match (classification, source) {
        (None, _) => format!("there is no tool called {tool} today"),
        (Some(class), _) if !class.is_safe() => format!("{tool} is not SAFE and is called only where you choose it"),
        _ if unasked => format!("the run comes from a file, so {tool} is called only where you choose it"),
        _ => format!("{tool} is to be answered from the record alone"),
    };
    match (call.answerer, call.otherwise) {
        (Answerer::Record, Some(Answerer::Tool)) => {
            format!("The record answers if {others} gives what it gave; otherwise {tool} is called")
        }
        (Answerer::Record, Some(_)) => {
            format!("The record answers if {others} gives what it gave; otherwise the fork fails here: {}", why_not())
        }
        (Answerer::Record, None) => "The record answers".into(),
        (Answerer::Value, _) => "The given value answers".into(),
        (Answerer::Tool, _) => match (refused, source) {
            (Some(refused), _) => format!("{tool} is not called, and the step fails: {}", refused.message),
            (None, AnswerSource::Live) => format!("{tool} is called, as chosen"),
            (None, _) if !others.is_empty() => format!("{tool} is called with what {others} gives"),
            (None, _) => format!("{tool} is called: the record holds no answer for these arguments"),
        },
        (Answerer::Nobody, _) => format!(
            "The fork fails here: the record holds no answer for {}, and {}",
            if others.is_empty() { "these arguments".into() } else { format!("what {others} gives") },
            why_not()
        ),
    }
}

impl Source {
    /// The last event to take over, so that the change can still have its effect.
    fn fork_point(&self, change: &ForkChange, wanted: Option<u32>) -> Result<u32, Problem> {
        let step = change.step().unwrap_or_default();
        let last = RunState::of(self.entries.iter());
        if !last.steps.contains_key(step) {
            let message = format!("the plan of run {} has no step {step}", self.row.id);
            return Err(Problem::new("run.unknown_step", message, "name a step of this run's plan"));
        }
        let of_step = |e: &&JournalEntry| e.event.step() == Some(step);
        let first = |kind: &str| self.entries.iter().filter(of_step).find(|e| e.event.kind() == kind);
        let at = wanted.unwrap_or_else(|| {
            let entry = match change {
                ForkChange::Arguments { .. } => first("attempt_started"),
                ForkChange::Result { .. } => {
                    self.entries.iter().rev().filter(of_step).find(|e| e.event.kind() == "attempt_finished")
                }
                _ => None,
            };
            let entry = entry.or_else(|| self.entries.iter().find(of_step));
            let end = self.entries.iter().rev().find(|e| matches!(e.event, RunEvent::Finished { .. }));
            entry.or(end).map_or(last.seq, |e| e.seq - 1)
        });
        let state = RunState::of(self.entries.iter().take_while(|e| e.seq <= at));
        if state.started_ms.is_none() {
            let hint = format!("choose an event from {} on", self.started());
            return Err(Problem::new("fork.early", format!("at event {at} the plan does not run yet"), hint));
        }
        let s = &state.steps[step];
        let late = |why: &str| {
            let message = format!("at event {at} {step} {why}");
            Err(Problem::new("fork.late", message, "choose an earlier event, or leave it out"))
        };
        if s.status.is_done() || state.outcome.is_some() {
            return late("is done");
        }
        if s.is_in_flight() && !matches!(change, ForkChange::Result { .. }) {
            return late("is at work");
        }
        Ok(at)
    }

    fn started(&self) -> u32 {
        self.entries.iter().find(|e| matches!(e.event, RunEvent::Started { .. })).map_or(1, |e| e.seq)
    }
}

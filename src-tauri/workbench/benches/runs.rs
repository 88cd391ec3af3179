//! Plans of equal steps, run by the engine's driver: what the sections on speed-up and overhead share.

use async_trait::async_trait;
use serde_json::{Map, json};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use toolplan_store::Store;
use toolplan_workbench::engine::{
    Problem,
    guard::Guard,
    plan::{Plan, PlanSpec, StepSpec},
    ports::{CallContext, Journal, ToolError, ToolResult, ToolRuntime},
    request::Request,
    run::{Control, Driver, JournalEntry, RunEvent, RunId, RunOutcome, RunState},
    settings::{RunSettings, Settings},
    tool::{Binding, Catalog, Classification, SideEffects, ToolCall, ToolSpec},
    visibility::Viewer,
};

/// The only tool of these plans.
pub(crate) const TOOL: &str = "no_op";

pub(crate) fn tool() -> ToolSpec {
    ToolSpec {
        name: TOOL.into(),
        description: "Does nothing".into(),
        classification: Classification::Safe,
        side_effects: SideEffects::Pure,
        binding: Binding::Mock { result: json!({"ok": true}), delay_ms: 0 },
        ..ToolSpec::default()
    }
}

/// How a plan hangs together.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Graph {
    /// All steps stand alone.
    Parallel,
    /// Each step needs the one before.
    Chain,
}

pub(crate) fn spec(graph: Graph, steps: usize) -> PlanSpec {
    let step = |i: usize| StepSpec {
        id: format!("step-{i}"),
        tool: TOOL.into(),
        dependencies: if graph == Graph::Chain && i > 1 { vec![format!("step-{}", i - 1)] } else { vec![] },
        ..StepSpec::default()
    };
    PlanSpec { steps: (1..=steps).map(step).collect(), reasoning: String::new() }
}

/// A tool that waits, or answers at once.
pub(crate) struct Waiting(pub(crate) Duration);

#[async_trait]
impl ToolRuntime for Waiting {
    async fn call(
        &self,
        _tool: &ToolSpec,
        _arguments: &Map<String, serde_json::Value>,
        _context: &CallContext,
    ) -> Result<ToolResult, ToolError> {
        if !self.0.is_zero() {
            tokio::time::sleep(self.0).await;
        }
        Ok(ToolResult { data: json!({"ok": true}), confidence: None, sources: vec![] })
    }
}

/// A journal that keeps nothing but the numbers: what is left is the engine's own cost.
#[derive(Default)]
pub(crate) struct Forgetful(Mutex<HashMap<RunId, u32>>);

#[async_trait]
impl Journal for Forgetful {
    async fn append(&self, run: RunId, events: Vec<RunEvent>) -> Result<Vec<JournalEntry>, Problem> {
        let mut numbers = self.0.lock().expect("no holder panics");
        let last = numbers.entry(run).or_default();
        let entry = |event| {
            *last += 1;
            JournalEntry { seq: *last, at_ms: 0, event }
        };
        Ok(events.into_iter().map(entry).collect())
    }
}

/// What is done to a driver before it drives.
type Change = Arc<dyn Fn(&mut Driver) + Send + Sync>;

/// Everything that repeated runs of one plan share.
pub(crate) struct Bench {
    plan: Plan,
    catalog: Catalog,
    settings: Arc<Settings>,
    request: Arc<Request>,
    runtime: Arc<dyn ToolRuntime>,
    change: Option<Change>,
}

impl Bench {
    pub(crate) fn new(spec: PlanSpec, parallel_limit: u32, runtime: impl ToolRuntime + 'static) -> Self {
        let (catalog, _) = Catalog::new(1, [tool()]);
        let settings =
            Settings { run: RunSettings { parallel_limit, ..RunSettings::default() }, ..Settings::default() };
        let request = Request { query: "do nothing".into(), ..Request::default() };
        let plan = spec.check(|call| admit(&catalog, &settings, &request, call)).expect("the tool is safe and known");
        Self {
            plan,
            catalog,
            settings: settings.into(),
            request: request.into(),
            runtime: Arc::new(runtime),
            change: None,
        }
    }

    /// Changes every driver before it drives.
    pub(crate) fn with(mut self, change: impl Fn(&mut Driver) + Send + Sync + 'static) -> Self {
        self.change = Some(Arc::new(change));
        self
    }

    /// Runs the plan once and returns the milliseconds from the first event to the last.
    pub(crate) async fn run(&self, journal: Arc<dyn Journal>, run: RunId) -> f64 {
        let (state, took) = self.driven(journal, run).await;
        assert_eq!(state.outcome, Some(RunOutcome::Succeeded), "a run that fails early would look fast");
        took
    }

    /// Runs the plan once and returns what became of it.
    pub(crate) async fn end(&self, journal: Arc<dyn Journal>, run: RunId) -> RunState {
        self.driven(journal, run).await.0
    }

    async fn driven(&self, journal: Arc<dyn Journal>, run: RunId) -> (RunState, f64) {
        let (catalog, settings, request) = (self.catalog.clone(), self.settings.clone(), self.request.clone());
        let gate = Arc::new(move |call: &ToolCall| admit(&catalog, &settings, &request, call));
        let (control, commands) = Control::new();
        let (plan, runtime) = (self.plan.clone(), self.runtime.clone());
        let mut driver = Driver {
            query: self.request.query.clone(),
            settings: self.settings.run.clone(),
            ..Driver::new(run, plan, self.catalog.clone(), runtime, journal, gate, commands)
        };
        if let Some(change) = &self.change {
            change(&mut driver);
        }
        // On a worker, as the workbench does it, and not on the thread that blocks.
        let timed = tokio::spawn(async move {
            let began = Instant::now();
            let state = driver.drive(RunState::default(), |_, _| ()).await;
            (state, began.elapsed())
        });
        let (state, took) = timed.await.expect("the driver does not panic");
        drop(control);
        (state.expect("the journal can be written"), took.as_secs_f64() * 1000.0)
    }

    /// Like [`Bench::run`], as a new run of the store.
    pub(crate) async fn run_stored(&self, store: &Arc<Store>) -> f64 {
        let run = store.journal().create_run("do nothing", "bench", 1).await.expect("the store can be written");
        self.run(store.clone(), run).await
    }
}

fn admit(
    catalog: &Catalog,
    settings: &Settings,
    request: &Request,
    call: &ToolCall,
) -> Result<toolplan_workbench::engine::guard::Admitted, toolplan_workbench::engine::plan::Finding> {
    let viewer = Viewer::new(settings, request).expect("the request names no mode");
    Guard::new(catalog, settings, viewer, request, &[]).admit(call)
}

/// The runtime of the application: as many workers as there are cores.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads can be started").block_on(work)
}

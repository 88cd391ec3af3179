//! A workbench in a folder of its own.

use serde_json::Value;
use std::{collections::HashMap, path::PathBuf, sync::Arc};
use tempfile::TempDir;
use toolplan_workbench::{
    Options, Problem, Workbench,
    engine::{
        plan::StepSpec,
        request::{ExecutionState, Request, RoutingPlan},
        tool::{Binding, Classification, ToolSpec},
    },
    views::PlanView,
};

/// Keeps the folder for as long as the workbench is used.
pub struct Bench {
    pub workbench: Workbench,
    pub home: TempDir,
}

impl Bench {
    /// The sample workspace, opened for the first time.
    pub async fn sample() -> Self {
        Self::with(&[]).await
    }

    /// The sample workspace with environment variables.
    pub async fn with(environment: &[(&str, &str)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let workbench = open(home.path().into(), environment, None).await.unwrap();
        Self { workbench, home }
    }

    /// The same workspace, opened again.
    pub async fn again(self) -> Self {
        let Self { workbench, home } = self;
        drop(workbench);
        let workbench = open(home.path().into(), &[], None).await.unwrap();
        Self { workbench, home }
    }

    pub async fn plan(&self, request: Request) -> PlanView {
        self.workbench.plan(request, None).await.unwrap()
    }
}

/// Opens the sample below `home`, or `folder`.
pub async fn open(home: PathBuf, environment: &[(&str, &str)], folder: Option<PathBuf>) -> Result<Workbench, Problem> {
    let mut variables: HashMap<String, String> =
        environment.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    variables.insert("TOOLPLAN_HOME".into(), home.join("toolplan").display().to_string());
    Workbench::open(Options { folder, environment: Arc::new(move |name| variables.get(name).cloned()) }).await
}

pub fn asking(query: &str) -> Request {
    Request { query: query.into(), state: ExecutionState::Reasoning, ..Default::default() }
}

/// A request with a whitelist.
pub fn suggesting(query: &str, tools: &[&str]) -> Request {
    let suggested_tools = Some(tools.iter().map(|t| t.to_string()).collect());
    Request { routing: RoutingPlan { suggested_tools, ..Default::default() }, ..asking(query) }
}

/// A tool that answers at once with a fixed value.
pub fn mock(name: &str, result: Value, delay_ms: u32) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        group: "search".into(),
        classification: Classification::Safe,
        binding: Binding::Mock { result, delay_ms },
        ..Default::default()
    }
}

/// A step of a plan by hand.
pub fn step(id: &str, tool: &str, arguments: Value, after: &[&str]) -> StepSpec {
    StepSpec {
        id: id.into(),
        tool: tool.into(),
        arguments: arguments.as_object().cloned().unwrap_or_default(),
        dependencies: after.iter().map(|s| s.to_string()).collect(),
        ..Default::default()
    }
}

/// The tools of a plan by stage.
pub fn stages(view: &PlanView) -> Vec<Vec<String>> {
    let tool = |id: &String| view.planning.plan.steps.iter().find(|s| s.id == *id).map(|s| s.tool.clone()).unwrap();
    view.planning.shape.stages.iter().map(|ids| ids.iter().map(tool).collect()).collect()
}

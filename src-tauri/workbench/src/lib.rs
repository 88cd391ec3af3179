//! The use cases of Toolplan, one method each. The window and the CLI are thin shells around [`Workbench`].

mod describe;
pub mod views;

pub use toolplan_engine as engine;
pub use toolplan_engine::Problem;

use std::sync::Arc;
use toolplan_engine::{request::Request, run::{RunId, RunState}, settings::Settings, tool::{Revision, ToolSpec}};
use views::*;

#[derive(Clone)]
pub struct Workbench { _inner: Arc<()> }

impl Workbench {
    pub async fn open() -> Result<Self, Problem> { todo!() }
    pub async fn info(&self) -> Result<AppInfo, Problem> { todo!() }
    pub async fn plan(&self, _request: Request, _previous: Option<u32>) -> Result<PlanView, Problem> { todo!() }
    pub async fn catalog(&self, _request: Request, _plan: Option<u32>) -> Result<Vec<CatalogRow>, Problem> { todo!() }
    pub async fn tool(&self, _name: String, _request: Request, _plan: Option<u32>) -> Result<ToolDetail, Problem> { todo!() }
    pub async fn save_tool(&self, _spec: ToolSpec) -> Result<Revision, Problem> { todo!() }
    pub async fn revert_tool(&self, _name: String, _revision: Revision) -> Result<Revision, Problem> { todo!() }
    pub async fn save_settings(&self, _settings: Settings) -> Result<(), Problem> { todo!() }
    pub async fn start_run(&self, _plan: u32) -> Result<RunId, Problem> { todo!() }
    pub async fn cancel_run(&self, _run: RunId) -> Result<(), Problem> { todo!() }
    pub async fn runs(&self) -> Result<Vec<RunSummary>, Problem> { todo!() }
    pub async fn open_run(&self, _run: RunId) -> Result<RunDetail, Problem> { todo!() }
    pub async fn run_at(&self, _run: RunId, _seq: u32) -> Result<RunState, Problem> { todo!() }
}

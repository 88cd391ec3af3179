//! Looking into runs that were.

use crate::{Workbench, views::*};
use std::path::PathBuf;
use toolplan_engine::{
    Problem,
    compare::RunDiff,
    run::{ReplayPolicy, RunId},
};

fn soon() -> Problem {
    Problem::new("unfinished", "this is not finished", "wait for the next version")
}

impl Workbench {
    pub fn run_at(&self, _run: RunId, _seq: u32) -> Result<RunAt, Problem> {
        Err(soon())
    }
    pub fn run_events(&self, _run: RunId, _filter: &str, _offset: u32, _limit: u32) -> Result<EventPage, Problem> {
        Err(soon())
    }
    pub fn find_event(&self, _r: RunId, _f: &str, _s: u32, _b: bool) -> Result<Option<u32>, Problem> {
        Err(soon())
    }
    pub fn run_marks(&self, _run: RunId) -> Result<RunMarks, Problem> {
        Err(soon())
    }
    pub fn diff_runs(&self, _a: RunId, _b: RunId) -> Result<RunDiff, Problem> {
        Err(soon())
    }
    pub async fn replay_run(&self, _r: RunId, _p: ReplayPolicy, _s: Option<f64>) -> Result<RunId, Problem> {
        Err(soon())
    }
    pub fn replan_run(&self, _run: RunId) -> Result<Replanned, Problem> {
        Err(soon())
    }
    pub async fn fork_run(&self, _r: RunId, _f: Fork, _p: ReplayPolicy, _s: Option<f64>) -> Result<RunId, Problem> {
        Err(soon())
    }
    pub fn run_tree(&self, _run: RunId) -> Result<RunTree, Problem> {
        Err(soon())
    }
    pub async fn export_run(&self, _r: RunId, _p: Option<PathBuf>, _x: Vec<String>) -> Result<Exported, Problem> {
        Err(soon())
    }
    pub async fn import_runs(&self, _paths: Vec<PathBuf>) -> Vec<Imported> {
        vec![]
    }
    pub fn storage(&self) -> Result<Storage, Problem> {
        Err(soon())
    }
    pub async fn prune_runs(&self) -> Result<Pruned, Problem> {
        Err(soon())
    }
    pub fn pin_run(&self, _run: RunId, _pinned: bool) -> Result<(), Problem> {
        Err(soon())
    }
    pub async fn delete_run(&self, _run: RunId) -> Result<(), Problem> {
        Err(soon())
    }
}

use crate::{Workbench, views::catalog::*};
use toolplan_engine::{Problem, capability::PlanningView, tool::Revision};
fn later<T>() -> Result<T, Problem> {
    Err(Problem::new("later", "not yet", "wait"))
}
impl Workbench {
    pub fn planning_view(&self, _e: Option<Vec<String>>) -> Result<PlanningView, Problem> {
        later()
    }
    pub fn lints(&self, _q: &LintQuery) -> Result<LintPage, Problem> {
        later()
    }
    pub fn apply_fixes(&self, _q: &LintQuery) -> Result<FixesApplied, Problem> {
        later()
    }
    pub fn catalog_query(&self, _q: &CatalogQuery) -> Result<CatalogPage, Problem> {
        later()
    }
    pub fn bulk_preview(&self, _s: &Selection, _p: &ToolPatch, _plan: Option<u32>) -> Result<BulkPreview, Problem> {
        later()
    }
    pub fn bulk_edit(&self, _s: &Selection, _p: &ToolPatch) -> Result<BulkDone, Problem> {
        later()
    }
    pub fn undo(&self) -> Result<Undone, Problem> {
        later()
    }
    pub fn redo(&self) -> Result<Undone, Problem> {
        later()
    }
    pub fn catalog_history(&self, _o: u32, _l: u32) -> Result<CatalogHistory, Problem> {
        later()
    }
    pub fn tool_diff(&self, _n: &str, _f: Revision, _t: Option<Revision>) -> Result<ToolDiff, Problem> {
        later()
    }
    pub fn catalog_diff(&self, _f: Revision, _t: Option<Revision>, _o: u32, _l: u32) -> Result<CatalogDiff, Problem> {
        later()
    }
    pub fn revert_catalog(&self, _r: Revision) -> Result<Revision, Problem> {
        later()
    }
    pub fn suggest_classification(&self, _s: &Selection) -> Result<Vec<ClassificationSuggestion>, Problem> {
        later()
    }
}

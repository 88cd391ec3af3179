//! The shapes of the catalog: its table, lints, bulk edits, history.

use super::{CatalogRow, Change, FieldChange, ToolStats};
use serde::{Deserialize, Serialize};
use toolplan_engine::{
    Problem,
    classify::Suggestion,
    lint::{Lint, Severity},
    request::Request,
    tokens::TokenCost,
    tool::{Category, Classification, Loading, Revision, SideEffects},
    verdict::Gate,
};

/// What the catalog table asks for.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct CatalogQuery {
    pub request: Request,
    /// The open planning: where each tool's way ended there.
    pub plan: Option<u32>,
    pub filter: CatalogFilter,
    pub sort: CatalogSort,
    pub descending: bool,
    pub offset: u32,
    /// At most 500; 0 asks for the counts alone.
    pub limit: u32,
}

/// Which tools count. Of one list any value will do, but for tags, which a tool must all have; empty lists let all
/// through.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct CatalogFilter {
    /// Words of name, title, description or tags, in any letter case; beside them, what the search index finds.
    pub text: String,
    pub namespaces: Vec<String>,
    pub groups: Vec<String>,
    pub categories: Vec<Category>,
    pub classifications: Vec<Classification>,
    pub loadings: Vec<Loading>,
    pub side_effects: Vec<SideEffects>,
    pub tags: Vec<String>,
    /// Where the tool's way ended.
    pub gates: Vec<Gate>,
    pub visible: Option<bool>,
    /// Codes of lints.
    pub lints: Vec<String>,
    pub ages: Vec<Age>,
}

/// When a tool was last changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Age {
    /// By the newest revision.
    Newest,
    /// Within a day.
    Day,
    /// Within a week.
    Week,
    Older,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum CatalogSort {
    /// Best match first where there is a text, else the order of registration.
    #[default]
    Relevance,
    Registration,
    Name,
    Namespace,
    Group,
    Category,
    Classification,
    Loading,
    SideEffects,
    Gate,
    Tokens,
    Changed,
    Calls,
    FailureRate,
    Duration,
    Lints,
}

/// A page of the catalog table.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CatalogPage {
    pub revision: Revision,
    /// Tools of the catalog.
    pub all: u32,
    /// Tools that the filter lets through.
    pub total: u32,
    pub offset: u32,
    pub rows: Vec<CatalogItem>,
    pub facets: Vec<Facet>,
    pub context_window: u32,
    pub undo: UndoState,
    pub took_ms: f64,
}

/// The values of one property with how many tools have each, were only this property's own filter lifted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Facet {
    pub name: FacetName,
    /// Most frequent first; at most 200.
    pub values: Vec<FacetValue>,
    /// How many values there are.
    pub distinct: u32,
}

/// The properties that the table is filtered by, named like the fields of [`CatalogFilter`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum FacetName {
    Namespaces,
    Groups,
    Categories,
    Classifications,
    Loadings,
    SideEffects,
    Tags,
    Gates,
    Visible,
    Lints,
    Ages,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct FacetValue {
    /// As the filter takes it.
    pub value: String,
    pub count: u32,
    pub selected: bool,
}

/// A row of the table.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CatalogItem {
    pub row: CatalogRow,
    pub description: String,
    pub capabilities: Vec<String>,
    pub cost: TokenCost,
    /// The definition's part of the context window, 0..1.
    pub share: f64,
    pub lints: Vec<LintMark>,
    /// For an unclassified tool: what it seems to be. Nothing happens until somebody accepts it (V-06).
    pub suggestion: Option<Suggestion>,
    pub stats: Option<ToolStats>,
    /// The revision that changed it last.
    pub changed_revision: Revision,
    /// Milliseconds since 1970-01-01 UTC.
    pub changed_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct LintMark {
    pub code: String,
    pub severity: Severity,
}

/// Which lints are asked for. Empty lists let all through.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct LintQuery {
    pub codes: Vec<String>,
    pub severities: Vec<Severity>,
    pub tools: Vec<String>,
    pub offset: u32,
    /// At most 1,000; 0 asks for the counts alone.
    pub limit: u32,
}

/// Lints, worst first, with how many there are of each kind.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct LintPage {
    pub revision: Revision,
    /// Lints that the query lets through.
    pub total: u32,
    pub errors: u32,
    pub warnings: u32,
    pub infos: u32,
    /// Over all lints, worst and most frequent first.
    pub codes: Vec<LintCount>,
    pub lints: Vec<Lint>,
    pub took_ms: f64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct LintCount {
    pub code: String,
    pub severity: Severity,
    pub count: u32,
    /// How many of them have a fix.
    pub fixable: u32,
}

/// What applying fixes did.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct FixesApplied {
    pub revision: Revision,
    /// Tools that changed.
    pub tools: u32,
    pub settings_changed: bool,
    /// Fixes that could not be applied, with the reason.
    pub problems: Vec<Problem>,
}

/// The tools that an edit is about.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Selection {
    Tools {
        names: Vec<String>,
    },
    /// Whatever the query finds, all pages of it.
    Filter {
        query: Box<CatalogQuery>,
    },
}

/// The same edit for many tools. What is null or empty stays as it is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct ToolPatch {
    pub classification: Option<Classification>,
    /// Give unclassified tools the classification that is suggested for each.
    pub accept_suggestions: bool,
    pub loading: Option<Loading>,
    pub category: Option<Category>,
    pub side_effects: Option<SideEffects>,
    pub group: Option<String>,
    pub namespace: Option<String>,
    pub critical: Option<bool>,
    /// 0 takes the tool's own timeout away.
    pub timeout_ms: Option<u32>,
    pub add_tags: Vec<String>,
    pub remove_tags: Vec<String>,
    pub add_capabilities: Vec<String>,
    pub remove_capabilities: Vec<String>,
    /// Lines that join the guidance of tools that do not have them.
    pub add_guidance: Vec<String>,
    pub remove_guidance: Vec<String>,
}

/// What a bulk edit would do.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct BulkPreview {
    /// Tools that are selected.
    pub selected: u32,
    /// Tools that would change.
    pub changed: u32,
    /// The first of those, at most 50.
    pub examples: Vec<ToolDiff>,
    /// What would differ in the open planning.
    pub changes: Vec<Change>,
    pub problems: Vec<Problem>,
}

/// What a bulk edit did. When nothing changed, the revision is the one that was.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct BulkDone {
    pub revision: Revision,
    pub changed: u32,
    pub label: String,
    pub undo: UndoState,
    pub problems: Vec<Problem>,
}

/// What can be undone and redone now.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct UndoState {
    pub undo: Option<UndoStep>,
    pub redo: Option<UndoStep>,
}

/// An edit that can be taken back, or made again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct UndoStep {
    pub revision: Revision,
    /// What the edit was: "3 tools: classification".
    pub label: String,
    /// Tools that it changed.
    pub tools: u32,
}

/// An edit was taken back, or made again, as a new revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Undone {
    pub revision: Revision,
    pub step: UndoStep,
    pub undo: UndoState,
}

/// The revisions of the catalog, newest first.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CatalogHistory {
    pub revisions: Vec<CatalogRevision>,
    pub total: u32,
    pub undo: UndoState,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CatalogRevision {
    pub revision: Revision,
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    pub author: String,
    pub label: String,
    /// Tools that it changed.
    pub tools: u32,
    /// The first of those, at most 5.
    pub examples: Vec<String>,
    /// The revision that this one took back.
    pub undoes: Option<Revision>,
    /// The revision that this one made again.
    pub redoes: Option<Revision>,
}

/// How one tool differs between two revisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ToolDiff {
    pub tool: String,
    pub kind: DiffKind,
    pub changed: Vec<FieldChange>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum DiffKind {
    Added,
    Removed,
    Changed,
    Same,
}

/// How the catalog differs between two revisions.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CatalogDiff {
    pub from: Revision,
    pub to: Revision,
    pub added: u32,
    pub removed: u32,
    pub changed: u32,
    /// By name; the page that was asked for.
    pub tools: Vec<ToolDiff>,
}

/// What an unclassified tool seems to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ClassificationSuggestion {
    pub tool: String,
    pub suggestion: Suggestion,
}

/// What became of a catalog file (K-13).
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ImportReport {
    pub revision: Revision,
    /// Tools of the file that are in the catalog now, as the file states them.
    pub taken: u32,
    /// Tools of the file that are not, with the reason.
    pub problems: Vec<Problem>,
    /// What was read otherwise than it stands there: a null list taken as empty.
    pub notes: Vec<Problem>,
}

//! Editing many tools at once, taking edits back, and comparing revisions (K-04, W-07).

use crate::{
    Workbench,
    catalog::{AUTHOR, unknown},
    changes, describe,
    views::catalog::{
        BulkDone, BulkPreview, CatalogDiff, CatalogHistory, CatalogRevision, ClassificationSuggestion, DiffKind,
        Selection, ToolDiff, ToolPatch, UndoState, UndoStep, Undone,
    },
};
use std::{collections::HashSet, sync::Arc};
use toolplan_engine::{
    Problem, classify,
    discovery::Index,
    tool::{Catalog, Classification, Revision, ToolSpec},
};

/// How many changed tools a preview shows.
const EXAMPLES: usize = 50;

/// From so many tools on, a new search index is sooner made than an old one is mended.
const MANY: usize = 200;

/// More tools than that are sooner loaded with the whole catalog.
const FOLLOWED: u32 = 5000;

/// The most rows of a page of history.
const MAX_ROWS: u32 = 500;

impl Workbench {
    /// What the edit would change: tools, and the planning `plan` where it is at hand.
    pub fn bulk_preview(
        &self,
        selection: &Selection,
        patch: &ToolPatch,
        plan: Option<u32>,
    ) -> Result<BulkPreview, Problem> {
        let tools = self.tools();
        let edit = self.edit_of(selection, patch, &tools.catalog)?;
        let diff = |spec: &ToolSpec| {
            let before = tools.catalog.spec(&spec.name);
            diff_of(&spec.name, before, Some(spec))
        };
        let examples = edit.specs.iter().take(EXAMPLES).map(diff).collect();
        let changes = match plan.and_then(|id| self.planned(id).ok()) {
            Some(planned) if !edit.specs.is_empty() => {
                let catalog = tools.catalog.with_all(tools.catalog.revision() + 1, edit.specs.iter().cloned())?;
                let index = index_after(&tools.index, &tools.catalog, &catalog, &edit.specs);
                changes::between(&planned.planning, &self.plan_with(&planned, &catalog, &index)?)
            }
            _ => vec![],
        };
        Ok(BulkPreview {
            selected: edit.selected,
            changed: edit.specs.len() as u32,
            examples,
            changes,
            problems: edit.problems,
        })
    }

    /// The same edit for many tools: one transaction, one revision. Tools that it does not change keep theirs.
    pub fn bulk_edit(&self, selection: &Selection, patch: &ToolPatch) -> Result<BulkDone, Problem> {
        let _alone = self.editing();
        let catalog = self.tools().catalog;
        let edit = self.edit_of(selection, patch, &catalog)?;
        let label = label(edit.specs.len(), patch);
        let changed = edit.specs.len() as u32;
        let revision = match changed {
            0 => catalog.revision(),
            _ => self.store_all(edit.specs, &label)?,
        };
        Ok(BulkDone { revision, changed, label, undo: self.undo_state()?, problems: edit.problems })
    }

    /// What the unclassified tools of the selection seem to be. Nothing changes (V-06).
    pub fn suggest_classification(&self, selection: &Selection) -> Result<Vec<ClassificationSuggestion>, Problem> {
        let catalog = self.tools().catalog;
        let names = self.selected(selection)?;
        let specs = names.iter().filter_map(|name| catalog.spec(name));
        let open = specs.filter(|spec| spec.classification == Classification::Unclassified);
        Ok(open
            .map(|spec| ClassificationSuggestion { tool: spec.name.clone(), suggestion: classify::suggest(spec) })
            .collect())
    }

    /// Takes the last edit of the catalog back, all of its tools at once, as a new revision. Error:
    /// `registry.nothing_to_undo`.
    pub fn undo(&self) -> Result<Undone, Problem> {
        let _alone = self.editing();
        let (edit, revision) = self.inner.store.registry().undo(AUTHOR)?;
        self.undone(edit, revision)
    }

    /// Makes the edit again that was taken back last, as a new revision. Error: `registry.nothing_to_undo`.
    pub fn redo(&self) -> Result<Undone, Problem> {
        let _alone = self.editing();
        let (edit, revision) = self.inner.store.registry().redo(AUTHOR)?;
        self.undone(edit, revision)
    }

    fn undone(&self, edit: Revision, revision: Revision) -> Result<Undone, Problem> {
        self.take_in_until(revision)?;
        Ok(Undone { revision, step: self.undo_step(edit)?, undo: self.undo_state()? })
    }

    /// What can be undone and redone now.
    pub(crate) fn undo_state(&self) -> Result<UndoState, Problem> {
        let stacks = self.inner.store.registry().stacks(AUTHOR)?;
        let step = |edits: &[Revision]| edits.last().map(|edit| self.undo_step(*edit)).transpose();
        Ok(UndoState { undo: step(&stacks.undo)?, redo: step(&stacks.redo)? })
    }

    fn undo_step(&self, edit: Revision) -> Result<UndoStep, Problem> {
        let row = row_of(self.inner.store.registry().revision(edit)?);
        Ok(UndoStep { revision: edit, label: row.label, tools: row.tools })
    }

    /// The revisions of the catalog, newest first.
    pub fn catalog_history(&self, offset: u32, limit: u32) -> Result<CatalogHistory, Problem> {
        let (rows, total) = self.inner.store.registry().revisions(offset, limit.min(MAX_ROWS))?;
        Ok(CatalogHistory { revisions: rows.into_iter().map(row_of).collect(), total, undo: self.undo_state()? })
    }

    /// How one tool differs between two revisions; without `to`, from then to now. Errors: `catalog.unknown`,
    /// `registry.unknown_revision`.
    pub fn tool_diff(&self, name: &str, from: Revision, to: Option<Revision>) -> Result<ToolDiff, Problem> {
        let to = to.unwrap_or_else(|| self.tools().catalog.revision());
        let registry = self.inner.store.registry();
        [from, to].into_iter().filter(|number| *number > 0).try_for_each(|n| registry.revision(n).map(drop))?;
        let (history, _) = registry.history(name)?;
        if history.is_empty() {
            return Err(unknown(&self.tools().catalog, name));
        }
        let at = |revision| history.iter().rfind(|r| r.revision <= revision).and_then(|r| r.spec.as_ref());
        Ok(diff_of(name, at(from), at(to)))
    }

    /// How the catalog differs between two revisions, `limit` tools from `offset` on; without `to`, from then to now.
    /// Error: `registry.unknown_revision`.
    pub fn catalog_diff(
        &self,
        from: Revision,
        to: Option<Revision>,
        offset: u32,
        limit: u32,
    ) -> Result<CatalogDiff, Problem> {
        let to = to.unwrap_or_else(|| self.tools().catalog.revision());
        let found = self.inner.store.registry().differences(from, to, offset, limit.min(MAX_ROWS))?;
        let tools = found.page.iter().map(|(name, before, after)| diff_of(name, before.as_ref(), after.as_ref()));
        Ok(CatalogDiff {
            from,
            to,
            added: found.added,
            removed: found.removed,
            changed: found.changed,
            tools: tools.collect(),
        })
    }

    /// Makes the whole catalog what it was at `revision`, as a new revision that can be undone. Errors:
    /// `registry.unknown_revision`, `registry.damaged`.
    pub fn revert_catalog(&self, revision: Revision) -> Result<Revision, Problem> {
        let _alone = self.editing();
        let next = self.inner.store.registry().revert_all(revision, AUTHOR)?;
        self.take_in_until(next)?;
        Ok(next)
    }

    /// Registers the specs as one revision and takes them in. The caller holds [`Workbench::editing`].
    pub(crate) fn store_all(&self, specs: Vec<ToolSpec>, note: &str) -> Result<Revision, Problem> {
        let revision = self.inner.store.registry().register(&specs, AUTHOR, note)?;
        self.take_in_all(revision, specs)?;
        Ok(revision)
    }

    fn take_in_all(&self, revision: Revision, specs: Vec<ToolSpec>) -> Result<(), Problem> {
        // Readers go on with the catalog that was while the new one is made.
        let tools = self.tools();
        let catalog = tools.catalog.with_all(revision, specs.iter().cloned())?;
        let index = index_after(&tools.index, &tools.catalog, &catalog, &specs);
        *self.inner.tools.write().expect("no writer panics") = crate::Tools { catalog, index };
        Ok(())
    }

    /// Takes in what the registry changed on its own between the catalog at hand and `revision`.
    fn take_in_until(&self, revision: Revision) -> Result<(), Problem> {
        let before = self.tools().catalog.revision();
        let found = self.inner.store.registry().differences(before, revision, 0, FOLLOWED)?;
        if found.added + found.removed > 0 || found.changed as usize > found.page.len() {
            return self.reload().map(drop);
        }
        self.take_in_all(revision, found.page.into_iter().filter_map(|(_, _, after)| after).collect())
    }

    fn selected(&self, selection: &Selection) -> Result<Vec<String>, Problem> {
        match selection {
            Selection::Tools { names } => Ok(names.clone()),
            Selection::Filter { query } => self.matching_tools(query),
        }
    }

    /// The selected tools that the patch changes, as they would be.
    fn edit_of(&self, selection: &Selection, patch: &ToolPatch, catalog: &Catalog) -> Result<Edit, Problem> {
        let mut edit = Edit::default();
        let mut seen = HashSet::new();
        for name in self.selected(selection)? {
            let Some(spec) = catalog.spec(&name) else {
                edit.problems.push(unknown(catalog, &name));
                continue;
            };
            if !seen.insert(name) {
                continue;
            }
            edit.selected += 1;
            let after = apply(patch, spec);
            if after != *spec {
                edit.specs.push(after);
            }
        }
        Ok(edit)
    }
}

#[derive(Default)]
struct Edit {
    selected: u32,
    specs: Vec<ToolSpec>,
    problems: Vec<Problem>,
}

fn apply(patch: &ToolPatch, spec: &ToolSpec) -> ToolSpec {
    let mut spec = spec.clone();
    if patch.accept_suggestions && spec.classification == Classification::Unclassified {
        spec.classification = classify::suggest(&spec).classification;
    }
    set(&mut spec.classification, patch.classification);
    set(&mut spec.loading, patch.loading);
    set(&mut spec.category, patch.category);
    set(&mut spec.side_effects, patch.side_effects);
    set(&mut spec.group, patch.group.clone());
    set(&mut spec.namespace, patch.namespace.clone());
    set(&mut spec.critical, patch.critical);
    if let Some(ms) = patch.timeout_ms {
        spec.timeout_ms = (ms > 0).then_some(ms);
    }
    change(&mut spec.tags, &patch.add_tags, &patch.remove_tags);
    change(&mut spec.capabilities, &patch.add_capabilities, &patch.remove_capabilities);
    change(&mut spec.guidance, &patch.add_guidance, &patch.remove_guidance);
    spec
}

fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

fn change(list: &mut Vec<String>, add: &[String], remove: &[String]) {
    list.retain(|item| !remove.iter().any(|r| r.trim() == item.trim()));
    for item in add.iter().map(|item| item.trim()).filter(|item| !item.is_empty()) {
        if list.iter().all(|known| known.trim() != item) {
            list.push(item.into());
        }
    }
}

/// "3 tools: classification, tags".
fn label(tools: usize, patch: &ToolPatch) -> String {
    let fields = [
        ("classification", patch.classification.is_some()),
        ("accepted suggestions", patch.accept_suggestions),
        ("loading", patch.loading.is_some()),
        ("category", patch.category.is_some()),
        ("side effects", patch.side_effects.is_some()),
        ("group", patch.group.is_some()),
        ("namespace", patch.namespace.is_some()),
        ("critical", patch.critical.is_some()),
        ("timeout", patch.timeout_ms.is_some()),
        ("tags", !patch.add_tags.is_empty() || !patch.remove_tags.is_empty()),
        ("capabilities", !patch.add_capabilities.is_empty() || !patch.remove_capabilities.is_empty()),
        ("guidance", !patch.add_guidance.is_empty() || !patch.remove_guidance.is_empty()),
    ];
    let named: Vec<&str> = fields.iter().filter(|(_, set)| *set).map(|(name, _)| *name).collect();
    format!("{tools} {}: {}", if tools == 1 { "tool" } else { "tools" }, named.join(", "))
}

/// The search index after an edit: the same where nothing searchable changed.
fn index_after(index: &Arc<Index>, before: &Catalog, after: &Catalog, specs: &[ToolSpec]) -> Arc<Index> {
    let searchable = |spec: &ToolSpec| {
        before.spec(&spec.name).is_none_or(|old| {
            old.title != spec.title
                || old.description != spec.description
                || old.namespace != spec.namespace
                || old.capabilities != spec.capabilities
                || old.aliases != spec.aliases
                || old.tags != spec.tags
                || old.parameters != spec.parameters
        })
    };
    let changed: Vec<&ToolSpec> = specs.iter().filter(|spec| searchable(spec)).collect();
    match changed.len() {
        0 => index.clone(),
        n if n > MANY => Arc::new(Index::of(after)),
        _ => {
            let mut index = index.clone();
            changed.into_iter().for_each(|spec| Arc::make_mut(&mut index).upsert(spec));
            index
        }
    }
}

fn diff_of(name: &str, before: Option<&ToolSpec>, after: Option<&ToolSpec>) -> ToolDiff {
    let (kind, changed) = match (before, after) {
        (None, None) => (DiffKind::Same, vec![]),
        (None, Some(_)) => (DiffKind::Added, vec![]),
        (Some(_), None) => (DiffKind::Removed, vec![]),
        (Some(before), Some(after)) if before == after => (DiffKind::Same, vec![]),
        (Some(before), Some(after)) => (DiffKind::Changed, describe::field_changes(before, after)),
    };
    ToolDiff { tool: name.into(), kind, changed }
}

fn row_of(row: toolplan_store::registry::RevisionInfo) -> CatalogRevision {
    let label = match (row.note.as_str(), row.examples.as_slice()) {
        ("", [tool]) => format!("edit of {tool}"),
        ("", tools) => format!("edit of {} tools", tools.len()),
        (note, [tool]) if row.tools == 1 && !note.contains(tool.as_str()) => format!("{tool}: {note}"),
        (note, _) => note.into(),
    };
    CatalogRevision {
        revision: row.revision,
        at_ms: row.at_ms,
        author: row.author,
        label,
        tools: row.tools,
        examples: row.examples,
        undoes: row.undoes,
        redoes: row.redoes,
    }
}

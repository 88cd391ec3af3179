//! The catalog: looking at tools, editing them, and asking why one is hidden.

use crate::{
    Workbench, describe,
    plans::Planned,
    views::{CatalogRow, RevisionRow, ToolDetail, ToolStats},
};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};
use toolplan_engine::{
    Problem, planning,
    ports::TokenCounter,
    request::Request,
    tool::{Binding, Catalog, Entry, Revision, ToolSpec},
    verdict::{Gate, Trail, Verdict},
    visibility::Viewer,
};
use toolplan_store::stats::Stats;

/// Who edits, in the registry's history.
pub(crate) const AUTHOR: &str = "you";

impl Workbench {
    /// Every tool in the context of `request`, with where its way ended: in the planning `plan` when that planning is
    /// of this very request, else at the gates that do not depend on the query.
    pub fn catalog(&self, request: &Request, plan: Option<u32>) -> Result<Vec<CatalogRow>, Problem> {
        let settings = self.settings();
        let catalog = self.tools().catalog;
        let counter = self.counter(&settings);
        let request = &self.activated_in(&settings, request.clone());
        let viewer = Viewer::new(&settings, request)?;
        let planned = self.planned_for(request, plan);
        let trails: HashMap<&str, &Trail> =
            planned.iter().flat_map(|p| &p.planning.trails).map(|t| (t.tool.as_str(), t)).collect();
        let rows = catalog.iter().map(|entry| {
            let spec = &entry.spec;
            row_of(entry, trails.get(spec.name.as_str()).copied(), &viewer, &counter)
        });
        Ok(rows.collect())
    }

    /// One tool with its trail, cost, history and statistics.
    pub fn tool(&self, name: &str, request: &Request, plan: Option<u32>) -> Result<ToolDetail, Problem> {
        let settings = self.settings();
        let catalog = self.tools().catalog;
        let entry = catalog.get(name).ok_or_else(|| unknown(&catalog, name))?;
        let request = &self.activated_in(&settings, request.clone());
        let trail = match self.planned_for(request, plan) {
            Some(planned) => planning::trail(&planned.planning, &settings, &entry.spec)?,
            None => Viewer::new(&settings, request)?.trail(&entry.spec),
        };
        Ok(ToolDetail {
            spec: entry.spec.clone(),
            cost: entry.token_cost(&self.counter(&settings)),
            trail,
            history: self.tool_history(name)?,
            stats: self.tool_stats(name)?,
        })
    }

    /// How the tool has behaved so far; null when no call of it has ended (K-03).
    pub(crate) fn tool_stats(&self, name: &str) -> Result<Option<ToolStats>, Problem> {
        let stats = self.inner.store.stats();
        let Some(summary) = stats.summary(name)? else { return Ok(None) };
        Ok(Some(tool_stats(summary, stats.cache_hits(name)?)))
    }

    /// Stores an edited or new tool as a new revision. The next planning uses it.
    pub fn save_tool(&self, spec: ToolSpec) -> Result<Revision, Problem> {
        toolplan_engine::tool::validate(&spec)?;
        if let Err(error) = jsonschema_of(&spec) {
            return Err(Problem::new(
                "catalog.schema",
                format!("the parameters of {} are no valid JSON Schema: {error}", spec.name),
                "correct the schema; the tool is unchanged until then",
            ));
        }
        let _alone = self.editing();
        let revision = self.inner.store.registry().save(&spec, AUTHOR)?;
        self.take_in(revision, spec)?;
        Ok(revision)
    }

    /// Stores the tool as it was at `revision`, as a new revision (K-04).
    pub fn revert_tool(&self, name: &str, revision: Revision) -> Result<Revision, Problem> {
        let _alone = self.editing();
        let registry = self.inner.store.registry();
        let next = registry.revert(name, revision, AUTHOR)?;
        self.reload()?;
        Ok(next)
    }

    /// Registers many tools at once, as one revision. Unusable ones are returned as problems; the others go in.
    pub fn register_tools(&self, specs: Vec<ToolSpec>, note: &str) -> Result<(Revision, Vec<Problem>), Problem> {
        let mut problems = vec![];
        let mut names = HashSet::new();
        let usable: Vec<ToolSpec> = specs
            .into_iter()
            .filter(|spec| match toolplan_engine::tool::validate(spec) {
                Ok(()) if names.insert(spec.name.clone()) => true,
                Ok(()) => {
                    problems.push(Problem::new(
                        "catalog.duplicate",
                        format!("there is a second tool called {}", spec.name),
                        "the first one is taken; rename the other",
                    ));
                    false
                }
                Err(problem) => {
                    problems.push(problem);
                    false
                }
            })
            .collect();
        let _alone = self.editing();
        let revision = self.inner.store.registry().register(&usable, AUTHOR, note)?;
        problems.extend(self.reload()?);
        Ok((revision, problems))
    }

    /// All tools as they are registered.
    pub fn tool_specs(&self) -> Vec<ToolSpec> {
        self.tools().catalog.specs().cloned().collect()
    }

    /// The tools with the capability, in catalog order (K-02).
    pub fn tools_by_capability(&self, capability: &str) -> Vec<ToolSpec> {
        self.tools().catalog.find_by_capability(capability).into_iter().cloned().collect()
    }

    fn take_in(&self, revision: Revision, spec: ToolSpec) -> Result<(), Problem> {
        let mut tools = self.inner.tools.write().expect("no writer panics");
        Arc::make_mut(&mut tools.index).upsert(&spec);
        tools.catalog = tools.catalog.with(revision, spec)?;
        drop(tools);
        self.read_on();
        Ok(())
    }

    pub(crate) fn reload(&self) -> Result<Vec<Problem>, Problem> {
        let stored = self.inner.store.registry().load()?;
        let (catalog, mut problems) = Catalog::new(stored.revision, stored.specs);
        problems.extend(stored.problems);
        let mut tools = self.inner.tools.write().expect("no writer panics");
        problems.extend(self.inner.index_cache.sync(Arc::make_mut(&mut tools.index), &catalog));
        tools.catalog = catalog;
        drop(tools);
        self.read_on();
        Ok(problems)
    }

    pub(crate) fn planned_for(&self, request: &Request, plan: Option<u32>) -> Option<Arc<Planned>> {
        let planned = self.planned(plan?).ok()?;
        // A run that activated tools since then changes nothing about what was planned.
        let same = |then: &Request| {
            let mut then = then.clone();
            then.session.activated.clone_from(&request.session.activated);
            then == *request
        };
        (same(&planned.asked) || same(&planned.planning.request)).then_some(planned)
    }

    fn tool_history(&self, name: &str) -> Result<Vec<RevisionRow>, Problem> {
        let (revisions, _) = self.inner.store.registry().history(name)?;
        let mut before: Option<ToolSpec> = None;
        let mut rows = vec![];
        for revision in revisions {
            let changed = match (&before, &revision.spec) {
                (Some(before), Some(after)) => describe::field_changes(before, after),
                _ => vec![],
            };
            rows.push(RevisionRow {
                revision: revision.revision,
                at_ms: revision.at_ms,
                author: revision.author,
                changed,
            });
            before = revision.spec;
        }
        Ok(rows)
    }
}

/// A tool's row of the table, by its way through the gates: in the planning where that tells of it, else by the
/// session alone.
pub(crate) fn row_of(entry: &Entry, told: Option<&Trail>, viewer: &Viewer, counter: &dyn TokenCounter) -> CatalogRow {
    let spec = &entry.spec;
    let end = told.and_then(|trail| trail.decided().or(trail.verdicts.last())).cloned();
    let Verdict { gate, outcome, reason, .. } = end.unwrap_or_else(|| viewer.end(spec));
    CatalogRow {
        name: spec.name.clone(),
        title: spec.title.clone(),
        namespace: spec.namespace.clone(),
        group: spec.group.clone(),
        category: spec.category,
        classification: spec.classification,
        loading: spec.loading,
        side_effects: spec.side_effects,
        tags: spec.tags.clone(),
        tokens: entry.token_cost(counter).total(),
        // The query's gates come after those that hide a tool from the model.
        visible: gate > Gate::State || !outcome.stops(),
        gate,
        outcome,
        reason: reason.into_owned(),
        runnable: !matches!(spec.binding, Binding::None | Binding::Mcp { .. }),
    }
}

fn jsonschema_of(spec: &ToolSpec) -> Result<(), String> {
    let (catalog, _) = Catalog::new(0, [spec.clone()]);
    catalog.get(&spec.name).map_or(Ok(()), |e| e.validator().map(|_| ()).map_err(str::to_string))
}

/// That the catalog has no such tool; the hint names the tools that call themselves so.
pub(crate) fn unknown(catalog: &Catalog, name: &str) -> Problem {
    let aliased = catalog.specs().filter(|t| t.aliases.iter().any(|alias| alias == name)).map(|t| t.name.as_str());
    let hint = match aliased.collect::<Vec<_>>().as_slice() {
        [] => "`toolplan tools list` shows all names".into(),
        names => format!("it is an alias of {}", names.join(", ")),
    };
    Problem::new("catalog.unknown", format!("there is no tool called {name}"), hint)
}

fn tool_stats(s: Stats, cache_hits: u32) -> ToolStats {
    ToolStats {
        calls: s.calls,
        failures: s.failures,
        retries: s.retries,
        timeouts: s.timeouts,
        average_ms: s.average_ms,
        p50_ms: s.p50_ms as f64,
        p95_ms: s.p95_ms as f64,
        failure_rate: s.failure_rate,
        average_confidence: s.average_confidence,
        cache_hits,
    }
}

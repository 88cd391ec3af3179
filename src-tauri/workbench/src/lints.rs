//! The planning view, the lints and their fixes.

use crate::{
    Workbench,
    views::catalog::{FixesApplied, LintCount, LintPage, LintQuery},
};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::Instant,
};
use toolplan_engine::{
    Problem,
    capability::{self, PlanningView},
    lint::{FixTarget, Lint, LintReport, Severity, patch::patched},
    settings::Settings,
    tool::{Catalog, ToolSpec, validate},
};

/// The most lints of a page.
const MAX_LINTS: u32 = 1000;

/// Fixes are found again after each round, because one fix may make another stale.
const ROUNDS: usize = 16;

impl Workbench {
    /// What the extensions stand for, or those that the settings enable (K-06).
    pub fn planning_view(&self, extensions: Option<Vec<String>>) -> Result<PlanningView, Problem> {
        let mut capabilities = self.settings().capabilities;
        if let Some(extensions) = extensions {
            capabilities.enabled_extensions = extensions;
        }
        Ok(capability::view(&capabilities, &self.tools().catalog))
    }

    /// A page of the lints, worst first, with counts of all (K-12).
    pub fn lints(&self, query: &LintQuery) -> Result<LintPage, Problem> {
        let began = Instant::now();
        let catalog = self.tools().catalog;
        let report = self.lint_report(&catalog, &self.settings());
        let mut counts: BTreeMap<(Severity, &str), (u32, u32)> = BTreeMap::new();
        for lint in &report.lints {
            let (count, fixable) = counts.entry((lint.severity, &lint.code)).or_default();
            *count += 1;
            *fixable += u32::from(lint.fix.is_some());
        }
        let mut codes: Vec<LintCount> = counts
            .into_iter()
            .map(|((severity, code), (count, fixable))| LintCount { code: code.into(), severity, count, fixable })
            .collect();
        codes.sort_by(|a, b| a.severity.cmp(&b.severity).then(b.count.cmp(&a.count)));
        let all = |severity| codes.iter().filter(|c| c.severity == severity).map(|c| c.count).sum();
        let found: Vec<&Arc<Lint>> = report.lints.iter().filter(|lint| asked(query, lint)).collect();
        let page = found.iter().skip(query.offset as usize).take(query.limit.min(MAX_LINTS) as usize);
        Ok(LintPage {
            revision: catalog.revision(),
            total: found.len() as u32,
            errors: all(Severity::Error),
            warnings: all(Severity::Warning),
            infos: all(Severity::Info),
            lints: page.map(|lint| (***lint).clone()).collect(),
            codes,
            took_ms: began.elapsed().as_secs_f64() * 1000.0,
        })
    }

    /// Applies the fixes of the lints that the query finds, whatever its page: tools as one revision, and the settings.
    pub fn apply_fixes(&self, query: &LintQuery) -> Result<FixesApplied, Problem> {
        let _alone = self.editing();
        let before = self.tools().catalog;
        let settings_before = self.settings();
        let (mut catalog, mut settings) = (before.clone(), settings_before.clone());
        let mut changed: HashMap<String, ToolSpec> = HashMap::new();
        let mut problems = vec![];
        for _ in 0..ROUNDS {
            let report = self.lint_report(&catalog, &settings);
            let lints: Vec<&Arc<Lint>> = report.lints.iter().filter(|lint| asked(query, lint)).collect();
            let round = fix_once(&lints, &catalog, &mut settings, &mut problems);
            if round.tools.is_empty() && !round.settings {
                break;
            }
            // The number tells this catalog of our own from the real one.
            catalog = catalog.with_all(catalog.revision() + 1, round.tools.iter().cloned())?;
            changed.extend(round.tools.into_iter().map(|spec| (spec.name.clone(), spec)));
        }
        let settings_changed = settings != settings_before;
        if settings_changed {
            self.save_settings(settings)?;
        }
        let specs: Vec<ToolSpec> = before.specs().filter_map(|spec| changed.get(&spec.name).cloned()).collect();
        let tools = specs.iter().filter(|spec| before.spec(&spec.name) != Some(spec)).count() as u32;
        let what = match query.codes.as_slice() {
            [] => "lints".into(),
            codes => codes.join(", "),
        };
        let revision = match specs.is_empty() {
            true => before.revision(),
            false if tools == 1 => self.store_all(specs, &format!("fix of {what}"))?,
            false => self.store_all(specs, &format!("fix of {what} in {tools} tools"))?,
        };
        Ok(FixesApplied { revision, tools, settings_changed, problems })
    }

    pub(crate) fn lint_report(&self, catalog: &Catalog, settings: &Settings) -> Arc<LintReport> {
        self.inner.linter.lock().expect("no linter panics").report(catalog, settings)
    }
}

fn asked(query: &LintQuery, lint: &Lint) -> bool {
    (query.codes.is_empty() || query.codes.iter().any(|code| *code == lint.code))
        && (query.severities.is_empty() || query.severities.contains(&lint.severity))
        && (query.tools.is_empty() || lint.tools.iter().any(|tool| query.tools.contains(tool)))
}

#[derive(Default)]
struct Round {
    tools: Vec<ToolSpec>,
    settings: bool,
}

/// Applies every fix that touches what no other fix of this round has touched.
fn fix_once(lints: &[&Arc<Lint>], catalog: &Catalog, settings: &mut Settings, problems: &mut Vec<Problem>) -> Round {
    let mut round = Round::default();
    let mut specs: HashMap<String, ToolSpec> = HashMap::new();
    let mut touched: HashSet<(String, String)> = HashSet::new();
    for fix in lints.iter().filter_map(|lint| lint.fix.as_ref()) {
        let name = match &fix.target {
            FixTarget::Tool { name } => name.clone(),
            FixTarget::Settings => String::new(),
        };
        let fields: Vec<(String, String)> =
            fix.patch.as_object().into_iter().flatten().map(|(field, _)| (name.clone(), field.clone())).collect();
        if fields.iter().any(|field| touched.contains(field)) {
            continue;
        }
        touched.extend(fields);
        match &fix.target {
            FixTarget::Settings => match patched(settings, &fix.patch) {
                Ok(fixed) if fixed == *settings => {}
                Ok(fixed) => {
                    *settings = fixed;
                    round.settings = true;
                }
                Err(problem) => problems.push(problem),
            },
            FixTarget::Tool { name } => {
                let Some(spec) = specs.get(name).or(catalog.spec(name)) else { continue };
                match patched(spec, &fix.patch).and_then(|fixed: ToolSpec| validate(&fixed).map(|()| fixed)) {
                    Ok(fixed) if fixed == *spec => {}
                    Ok(fixed) => drop(specs.insert(name.clone(), fixed)),
                    Err(problem) => problems.push(problem),
                }
            }
        }
    }
    round.tools = specs.into_values().collect();
    round
}

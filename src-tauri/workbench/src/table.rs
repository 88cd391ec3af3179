//! The catalog table: which tools match, in which order, with counts for every filter; a page at a time, so that a
//! catalog of any size crosses to the window in small pieces (K-14).

use crate::{
    Workbench,
    catalog::row_of,
    views::catalog::{
        Age, CatalogFilter, CatalogItem, CatalogPage, CatalogQuery, CatalogSort, Facet, FacetName, FacetValue, LintMark,
    },
};
use serde::Serialize;
use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
    hash::Hash,
    sync::Arc,
    time::{Instant, SystemTime, UNIX_EPOCH},
};
use toolplan_engine::{
    Problem, classify,
    lint::LintReport,
    request::Request,
    settings::Settings,
    tool::{Catalog, Classification, Entry, Revision, ToolSpec},
    verdict::{Gate, Trail},
    visibility::Viewer,
};

/// The most rows of a page.
const MAX_ROWS: u32 = 500;

/// The most values of a facet.
const MAX_VALUES: usize = 200;

/// What the table keeps between two questions.
#[derive(Default)]
pub struct Table {
    catalog: Catalog,
    tools: Arc<Vec<Shelved>>,
    changed: Arc<HashMap<String, (Revision, u64)>>,
    ways: Option<(Context, Arc<Vec<Way>>)>,
}

/// A tool with the text that it is searched by.
struct Shelved {
    entry: Arc<Entry>,
    /// Name, title, description and tags in lower case, a line each.
    text: Arc<str>,
}

/// What the ways were found with.
#[derive(PartialEq)]
struct Context {
    settings: Settings,
    request: Request,
    plan: Option<u32>,
}

/// Where a tool's way ended.
#[derive(Clone, Copy)]
struct Way {
    gate: Gate,
    visible: bool,
}

/// Everything that one question is answered from.
struct Desk {
    tools: Arc<Vec<Shelved>>,
    changed: Arc<HashMap<String, (Revision, u64)>>,
    ways: Arc<Vec<Way>>,
    lints: Arc<LintReport>,
    newest: Revision,
    now_ms: u64,
}

impl Workbench {
    /// A page of the catalog in the context of the query's request and planning. Error: an unknown mode.
    pub fn catalog_query(&self, query: &CatalogQuery) -> Result<CatalogPage, Problem> {
        let began = Instant::now();
        let settings = self.settings();
        let tools = self.tools();
        let counter = self.counter(&settings);
        let viewer = Viewer::new(&settings, &query.request)?;
        let desk = self.desk(&settings, query)?;
        let (mut found, facets) = desk.matching(&query.filter, &self.scores(&query.filter.text));
        let total = found.len() as u32;
        let stats = match query.sort {
            CatalogSort::Calls | CatalogSort::FailureRate | CatalogSort::Duration => self.inner.store.stats().all()?,
            _ => HashMap::new(),
        };
        desk.sort(&mut found, query, |entry| entry.token_cost(&counter).total(), |tool| stats.get(tool));
        let planned = self.planned_for(&query.request, query.plan);
        let trails: HashMap<&str, &Trail> =
            planned.iter().flat_map(|p| &p.planning.trails).map(|t| (t.tool.as_str(), t)).collect();
        let window = settings.planner.context_window.max(1);
        let page = found.iter().skip(query.offset as usize).take(query.limit.min(MAX_ROWS) as usize);
        let item = |found: &Found| -> Result<CatalogItem, Problem> {
            let entry = &desk.tools[found.at].entry;
            let spec = &entry.spec;
            let cost = entry.token_cost(&counter);
            let (changed_revision, changed_ms) = desk.changed.get(&spec.name).copied().unwrap_or_default();
            let mark =
                |lint: &toolplan_engine::lint::Lint| LintMark { code: lint.code.to_string(), severity: lint.severity };
            Ok(CatalogItem {
                row: row_of(entry, trails.get(spec.name.as_str()).copied(), &viewer, &counter),
                description: spec.description.clone(),
                capabilities: spec.capabilities.clone(),
                cost,
                share: f64::from(cost.total()) / f64::from(window),
                lints: desk.lints.of_tool(&spec.name).map(mark).collect(),
                suggestion: is_unclassified(spec).then(|| classify::suggest(spec)),
                stats: self.tool_stats(&spec.name)?,
                changed_revision,
                changed_ms,
            })
        };
        Ok(CatalogPage {
            revision: tools.catalog.revision(),
            all: desk.tools.len() as u32,
            total,
            offset: query.offset,
            rows: page.map(item).collect::<Result<_, _>>()?,
            facets,
            context_window: settings.planner.context_window,
            undo: self.undo_state()?,
            took_ms: began.elapsed().as_secs_f64() * 1000.0,
        })
    }

    /// The names of all tools that the query finds, in its order.
    pub(crate) fn matching_tools(&self, query: &CatalogQuery) -> Result<Vec<String>, Problem> {
        let settings = self.settings();
        let counter = self.counter(&settings);
        let desk = self.desk(&settings, query)?;
        let (mut found, _) = desk.matching(&query.filter, &self.scores(&query.filter.text));
        let plain = CatalogQuery { sort: CatalogSort::Registration, descending: false, ..query.clone() };
        desk.sort(&mut found, &plain, |entry| entry.token_cost(&counter).total(), |_| None);
        Ok(found.into_iter().map(|f| desk.tools[f.at].entry.spec.name.clone()).collect())
    }

    fn desk(&self, settings: &Settings, query: &CatalogQuery) -> Result<Desk, Problem> {
        let catalog = self.tools().catalog;
        let lints = self.lint_report(&catalog, settings);
        let mut table = self.inner.table.lock().expect("no reader panics");
        if !table.catalog.is_same(&catalog) {
            table.changed = Arc::new(self.inner.store.registry().last_changes()?);
            table.tools = Arc::new(shelved(&catalog, &table.tools));
            table.catalog = catalog.clone();
            table.ways = None;
        }
        let context = Context { settings: settings.clone(), request: query.request.clone(), plan: query.plan };
        let ways = match &table.ways {
            Some((of, ways)) if *of == context => ways.clone(),
            _ => {
                let ways = Arc::new(self.ways(settings, query, &table.tools)?);
                table.ways = Some((context, ways.clone()));
                ways
            }
        };
        Ok(Desk {
            tools: table.tools.clone(),
            changed: table.changed.clone(),
            ways,
            lints,
            newest: catalog.revision(),
            now_ms: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64),
        })
    }

    /// Where each tool's way ended: in the planning where it has a trail there, else at the gates before the query.
    fn ways(&self, settings: &Settings, query: &CatalogQuery, tools: &[Shelved]) -> Result<Vec<Way>, Problem> {
        let viewer = Viewer::new(settings, &query.request)?;
        let planned = self.planned_for(&query.request, query.plan);
        let trails: HashMap<&str, &Trail> =
            planned.iter().flat_map(|p| &p.planning.trails).map(|t| (t.tool.as_str(), t)).collect();
        let way = |tool: &Shelved| {
            let spec = &tool.entry.spec;
            let stopped = viewer.stopped_at(spec);
            let ended = trails.get(spec.name.as_str()).and_then(|t| t.decided().or(t.verdicts.last())).map(|v| v.gate);
            Way { gate: ended.or(stopped).unwrap_or(Gate::Loading), visible: stopped.is_none() }
        };
        Ok(tools.iter().map(way).collect())
    }

    /// What the search index finds for the text, with its scores.
    fn scores(&self, text: &str) -> HashMap<String, f32> {
        if text.trim().is_empty() {
            return HashMap::new();
        }
        self.tools().index.search(text, 1000, |_| true).into_iter().map(|hit| (hit.tool, hit.score)).collect()
    }
}

/// The tools of the catalog; texts of tools that did not change are taken over.
fn shelved(catalog: &Catalog, before: &[Shelved]) -> Vec<Shelved> {
    let known: HashMap<*const Entry, &Arc<str>> = before.iter().map(|s| (Arc::as_ptr(&s.entry), &s.text)).collect();
    let text = |spec: &ToolSpec| {
        let title = spec.title.as_deref().unwrap_or_default();
        format!("{}\n{title}\n{}\n{}", spec.name, spec.description, spec.tags.join("\n")).to_lowercase().into()
    };
    catalog
        .shared()
        .map(|entry| Shelved {
            text: known.get(&Arc::as_ptr(entry)).map_or_else(|| text(&entry.spec), |known| (*known).clone()),
            entry: entry.clone(),
        })
        .collect()
}

fn is_unclassified(spec: &ToolSpec) -> bool {
    spec.classification == Classification::Unclassified
}

/// A tool that the text finds.
struct Found {
    at: usize,
    /// How: 0 its whole name, 1 the beginning of its name, 2 a part of it, 3 the search index, 4 a part of other text.
    class: u8,
    score: f32,
}

/// One bit for each property that is filtered by.
type Missed = u16;

const FACETS: [FacetName; 11] = [
    FacetName::Namespaces,
    FacetName::Groups,
    FacetName::Categories,
    FacetName::Classifications,
    FacetName::Loadings,
    FacetName::SideEffects,
    FacetName::Tags,
    FacetName::Gates,
    FacetName::Visible,
    FacetName::Lints,
    FacetName::Ages,
];

fn bit(facet: FacetName) -> Missed {
    1 << FACETS.iter().position(|f| *f == facet).unwrap_or_default()
}

impl Desk {
    /// The tools that pass all filters, and the counts beside each filter.
    fn matching(&self, filter: &CatalogFilter, scores: &HashMap<String, f32>) -> (Vec<Found>, Vec<Facet>) {
        let text = filter.text.trim().to_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut found = vec![];
        let mut counts = Counts::default();
        for at in 0..self.tools.len() {
            let Some((class, score)) = self.class(at, &text, &words, scores) else { continue };
            let missed = self.missed(at, filter);
            if missed == 0 {
                found.push(Found { at, class, score });
            }
            // What misses one filter at most still counts beside that filter.
            if missed.count_ones() <= 1 {
                self.count(at, missed, &mut counts);
            }
        }
        (found, counts.facets(filter))
    }

    fn class(&self, at: usize, text: &str, words: &[&str], scores: &HashMap<String, f32>) -> Option<(u8, f32)> {
        if words.is_empty() {
            return Some((0, 0.0));
        }
        let Shelved { entry, text: all } = &self.tools[at];
        let name = all.lines().next().unwrap_or_default();
        let score = scores.get(&entry.spec.name).copied();
        let class = match () {
            () if name == text => 0,
            () if name.starts_with(text) => 1,
            () if name.contains(text) => 2,
            () if score.is_some() => 3,
            () if words.iter().all(|word| all.contains(word)) => 4,
            () => return None,
        };
        Some((class, score.unwrap_or(0.0)))
    }

    fn missed(&self, at: usize, filter: &CatalogFilter) -> Missed {
        let spec = &self.tools[at].entry.spec;
        let way = self.ways[at];
        let any = |list: &[String], value: &String| list.is_empty() || list.contains(value);
        let lints = || self.lints.of_tool(&spec.name).any(|lint| filter.lints.iter().any(|code| *code == lint.code));
        [
            (FacetName::Namespaces, any(&filter.namespaces, &spec.namespace)),
            (FacetName::Groups, any(&filter.groups, &spec.group)),
            (FacetName::Categories, one_of(&filter.categories, spec.category)),
            (FacetName::Classifications, one_of(&filter.classifications, spec.classification)),
            (FacetName::Loadings, one_of(&filter.loadings, spec.loading)),
            (FacetName::SideEffects, one_of(&filter.side_effects, spec.side_effects)),
            (FacetName::Tags, filter.tags.iter().all(|tag| spec.tags.contains(tag))),
            (FacetName::Gates, one_of(&filter.gates, way.gate)),
            (FacetName::Visible, filter.visible.is_none_or(|visible| visible == way.visible)),
            (FacetName::Lints, filter.lints.is_empty() || lints()),
            (FacetName::Ages, filter.ages.is_empty() || self.ages(&spec.name).any(|age| filter.ages.contains(&age))),
        ]
        .into_iter()
        .filter(|(_, passes)| !passes)
        .fold(0, |all, (facet, _)| all | bit(facet))
    }

    /// The newest revision lies within a day and a week, too.
    fn ages(&self, tool: &str) -> impl Iterator<Item = Age> {
        const DAY: u64 = 24 * 3600 * 1000;
        let (revision, at_ms) = self.changed.get(tool).copied().unwrap_or_default();
        let age = self.now_ms.saturating_sub(at_ms);
        [
            (Age::Newest, revision == self.newest),
            (Age::Day, age <= DAY),
            (Age::Week, age <= 7 * DAY),
            (Age::Older, age > 7 * DAY),
        ]
        .into_iter()
        .filter_map(|(age, holds)| holds.then_some(age))
    }

    fn count<'a>(&'a self, at: usize, missed: Missed, counts: &mut Counts<'a>) {
        let spec = &self.tools[at].entry.spec;
        let way = self.ways[at];
        let open = |facet| missed & !bit(facet) == 0;
        if open(FacetName::Namespaces) {
            add(&mut counts.namespaces, spec.namespace.as_str());
        }
        if open(FacetName::Groups) {
            add(&mut counts.groups, spec.group.as_str());
        }
        if open(FacetName::Categories) {
            add(&mut counts.categories, spec.category);
        }
        if open(FacetName::Classifications) {
            add(&mut counts.classifications, spec.classification);
        }
        if open(FacetName::Loadings) {
            add(&mut counts.loadings, spec.loading);
        }
        if open(FacetName::SideEffects) {
            add(&mut counts.side_effects, spec.side_effects);
        }
        // A further tag narrows what the others left, so here nothing is lifted.
        if missed == 0 {
            spec.tags.iter().collect::<HashSet<_>>().into_iter().for_each(|tag| add(&mut counts.tags, tag.as_str()));
        }
        if open(FacetName::Gates) {
            add(&mut counts.gates, way.gate);
        }
        if open(FacetName::Visible) {
            add(&mut counts.visible, way.visible);
        }
        if open(FacetName::Lints) {
            let codes: HashSet<&str> = self.lints.of_tool(&spec.name).map(|lint| lint.code.as_ref()).collect();
            codes.into_iter().for_each(|code| add(&mut counts.lints, code));
        }
        if open(FacetName::Ages) {
            self.ages(&spec.name).for_each(|age| add(&mut counts.ages, age));
        }
    }

    fn sort<'s>(
        &self,
        found: &mut [Found],
        query: &CatalogQuery,
        tokens: impl Fn(&Entry) -> u32,
        stats: impl Fn(&str) -> Option<&'s toolplan_store::Stats>,
    ) {
        let spec = |f: &Found| &self.tools[f.at].entry.spec;
        let lower = |text: &str| text.to_lowercase();
        // Equal ones stay in the order of registration.
        match query.sort {
            CatalogSort::Relevance => {
                found.sort_by(|a, b| a.class.cmp(&b.class).then(b.score.total_cmp(&a.score)).then(a.at.cmp(&b.at)))
            }
            CatalogSort::Registration => found.sort_by_key(|f| f.at),
            CatalogSort::Name => found.sort_by_cached_key(|f| lower(&spec(f).name)),
            CatalogSort::Namespace => found.sort_by_cached_key(|f| (lower(&spec(f).namespace), lower(&spec(f).name))),
            CatalogSort::Group => found.sort_by_cached_key(|f| (lower(&spec(f).group), lower(&spec(f).name))),
            CatalogSort::Category => found.sort_by_key(|f| spec(f).category as u8),
            CatalogSort::Classification => found.sort_by_key(|f| spec(f).classification as u8),
            CatalogSort::Loading => found.sort_by_key(|f| spec(f).loading as u8),
            CatalogSort::SideEffects => found.sort_by_key(|f| spec(f).side_effects as u8),
            CatalogSort::Gate => found.sort_by_key(|f| self.ways[f.at].gate),
            CatalogSort::Tokens => found.sort_by_cached_key(|f| tokens(&self.tools[f.at].entry)),
            CatalogSort::Changed => found.sort_by_cached_key(|f| self.changed.get(&spec(f).name).copied()),
            CatalogSort::Calls => found.sort_by_cached_key(|f| stats(&spec(f).name).map_or(0, |s| s.calls)),
            // Tools that were never called come last, whichever way the rest is sorted.
            CatalogSort::FailureRate => {
                found.sort_by_cached_key(|f| stats(&spec(f).name).map(|s| (s.failure_rate * 1e6) as u32))
            }
            CatalogSort::Duration => found.sort_by_cached_key(|f| stats(&spec(f).name).map(|s| s.p95_ms)),
            CatalogSort::Lints => found.sort_by_cached_key(|f| {
                let worst = self.lints.of_tool(&spec(f).name).map(|lint| lint.severity as u8);
                let (worst, count) = worst.fold((u8::MAX, 0), |(worst, n), severity| (worst.min(severity), n + 1));
                (worst, Reverse(count))
            }),
        }
        if query.descending {
            found.reverse();
        }
        if matches!(query.sort, CatalogSort::FailureRate | CatalogSort::Duration) {
            found.sort_by_key(|f| stats(&spec(f).name).is_none());
        }
    }
}

fn one_of<T: PartialEq>(list: &[T], value: T) -> bool {
    list.is_empty() || list.contains(&value)
}

/// How many tools have each value.
#[derive(Default)]
struct Counts<'a> {
    namespaces: HashMap<&'a str, u32>,
    groups: HashMap<&'a str, u32>,
    categories: HashMap<toolplan_engine::tool::Category, u32>,
    classifications: HashMap<Classification, u32>,
    loadings: HashMap<toolplan_engine::tool::Loading, u32>,
    side_effects: HashMap<toolplan_engine::tool::SideEffects, u32>,
    tags: HashMap<&'a str, u32>,
    gates: HashMap<Gate, u32>,
    visible: HashMap<bool, u32>,
    lints: HashMap<&'a str, u32>,
    ages: HashMap<Age, u32>,
}

fn add<K: Hash + Eq>(counts: &mut HashMap<K, u32>, key: K) {
    *counts.entry(key).or_default() += 1;
}

impl Counts<'_> {
    fn facets(self, filter: &CatalogFilter) -> Vec<Facet> {
        let visible: Vec<bool> = filter.visible.into_iter().collect();
        vec![
            facet(FacetName::Namespaces, self.namespaces, &filter.namespaces),
            facet(FacetName::Groups, self.groups, &filter.groups),
            facet(FacetName::Categories, self.categories, &filter.categories),
            facet(FacetName::Classifications, self.classifications, &filter.classifications),
            facet(FacetName::Loadings, self.loadings, &filter.loadings),
            facet(FacetName::SideEffects, self.side_effects, &filter.side_effects),
            facet(FacetName::Tags, self.tags, &filter.tags),
            facet(FacetName::Gates, self.gates, &filter.gates),
            facet(FacetName::Visible, self.visible, &visible),
            facet(FacetName::Lints, self.lints, &filter.lints),
            facet(FacetName::Ages, self.ages, &filter.ages),
        ]
    }
}

/// The word for a value, as it is written in JSON.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

fn facet<K: Serialize, S: Serialize>(name: FacetName, counts: HashMap<K, u32>, selected: &[S]) -> Facet {
    let selected: HashSet<String> = selected.iter().map(word).collect();
    let distinct = counts.len() as u32;
    let mut values: Vec<FacetValue> = counts
        .into_iter()
        .map(|(value, count)| {
            let value = word(&value);
            FacetValue { selected: selected.contains(&value), value, count }
        })
        .collect();
    // What is selected stays in sight, even when nothing has it.
    for value in &selected {
        if values.iter().all(|v| v.value != *value) {
            values.push(FacetValue { value: value.clone(), count: 0, selected: true });
        }
    }
    values.sort_by(|a, b| (!a.selected).cmp(&!b.selected).then(b.count.cmp(&a.count)).then(a.value.cmp(&b.value)));
    values.truncate(MAX_VALUES);
    values.sort_by(|a, b| b.count.cmp(&a.count).then(a.value.cmp(&b.value)));
    Facet { name, values, distinct }
}

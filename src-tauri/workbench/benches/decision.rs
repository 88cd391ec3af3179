//! How long a decision takes: visibility, retrieval, selection, guard and plan, as `engine::planning::plan` makes it.
//! No model is asked: its reply is given.

use crate::{
    Options,
    data::{self, Query},
    table::{Table, median, percentile, row, timed},
};
use std::{
    collections::{HashMap, HashSet},
    hint::black_box,
    time::{Duration, Instant},
};
use toolplan_workbench::engine::{
    discovery::Index,
    planning::{self, Answer, Inputs},
    ports::TokenCounter,
    request::{ExecutionState, Planner, Request},
    select::{Reply, offline, reply},
    settings::Settings,
    tokens::Tiktoken,
    tool::{Catalog, ToolSpec},
    visibility::{self, Viewer},
};

const SIZES: [usize; 2] = [1_000, 20_000];

/// A catalog with everything that a planning rests on.
struct Bench {
    catalog: Catalog,
    index: Index,
    settings: Settings,
    counter: Tiktoken,
}

pub(crate) fn tables(options: &Options) -> Vec<Table> {
    let queries = data::queries(options, if options.quick { 20 } else { 400 });
    let (counter, load_ms) = timed(|| {
        let counter = Tiktoken::named("o200k_base");
        black_box(counter.count("the first count builds the tables"));
        counter
    });
    drop(counter);
    let mut decisions = Table::new(
        "Decision time (ms)",
        &["tools", "state", "planner", "tools seen", "queries", "p50", "p99", "max", "steps, mean"],
    );
    let mut parts = Table::new(
        "Where a decision's time goes (ms, medians, ACTION)",
        &["tools", "visible set", "ranking", "offline selection", "reading a reply", "plan, offline", "plan, reply"],
    );
    let mut once = Table::new(
        "What is done once for a catalog (ms)",
        &["tools", "catalog", "index", "token counts", "first planning, counted cold", "a copy of the catalog"],
    );
    let mut edits = Table::new(
        "One live edit: a tool's description changes (ms, medians)",
        &["tools", "new catalog", "index", "planning", "altogether", "index when it is shared"],
    );
    for size in SIZES {
        let specs = data::tools(options, size);
        let (bench, cold) = Bench::measured(specs, &queries[0]);
        once.add(row![bench.catalog.len(), cold.catalog, cold.index, cold.tokens, cold.planning, cold.copy]);
        for state in [ExecutionState::Action, ExecutionState::Reasoning] {
            for planner in [Planner::Offline, Planner::Model] {
                decisions.add(bench.decisions(options, &queries, state, planner));
            }
        }
        parts.add(bench.parts(&queries, if options.quick { 5 } else { 60 }));
        edits.add(bench.edits(&queries[0], if options.quick { 3 } else { 15 }));
    }
    decisions.note(
        "Token costs were counted before. `offline` is the planner without a model; `reply` reads a free text that names \
         five tools. A row ends early after two minutes.",
    );
    parts.note("The first four are parts of the last two; what is left is guard, plan, tokens, funnel and trails.");
    once.note(format!(
        "Loading the tokenizer, once a process: {load_ms:.0} ms. The copy is `Catalog::clone`, which the runtime gate \
         of the workbench makes before every call."
    ));
    edits.note("The index is changed in place, unless a planning holds it at that moment: then a copy is made first.");
    vec![decisions, parts, once, edits]
}

struct Cold {
    catalog: f64,
    index: f64,
    tokens: f64,
    planning: f64,
    copy: f64,
}

impl Bench {
    /// Builds everything and says how long it took.
    fn measured(specs: Vec<ToolSpec>, query: &Query) -> (Self, Cold) {
        let counter = Tiktoken::named("o200k_base");
        let again = specs.clone();
        let ((catalog, problems), catalog_ms) = timed(|| Catalog::new(1, specs));
        for problem in problems {
            eprintln!("{}", problem.message);
        }
        let (index, index_ms) = timed(|| Index::of(&catalog));
        let bench = Self { catalog, index, settings: Settings::default(), counter };
        let (_, tokens_ms) = timed(|| bench.count_tokens());
        // A catalog that nobody has counted yet.
        let cold = Self { catalog: Catalog::new(1, again).0, ..bench };
        let request = cold.request(query, ExecutionState::Action, Planner::Offline);
        let (_, planning_ms) = timed(|| cold.plan(&request, Answer::Offline));
        let copies: Vec<f64> = (0..15).map(|_| timed(|| cold.catalog.clone()).1).collect();
        let figures = Cold {
            catalog: catalog_ms,
            index: index_ms,
            tokens: tokens_ms,
            planning: planning_ms,
            copy: median(&copies),
        };
        (cold, figures)
    }

    fn count_tokens(&self) -> u32 {
        self.catalog.iter().map(|entry| entry.token_cost(&self.counter).total()).sum()
    }

    fn request(&self, query: &Query, state: ExecutionState, planner: Planner) -> Request {
        Request { query: query.query.clone(), state, intent: "measure".into(), planner, ..Request::default() }
    }

    /// The number of steps of the plan.
    fn plan(&self, request: &Request, answer: Answer) -> usize {
        let planning = planning::plan(&Inputs {
            catalog: &self.catalog,
            index: &self.index,
            settings: &self.settings,
            request,
            counter: &self.counter,
            counts_exactly: false,
            history: &HashMap::new(),
            answer,
        });
        planning.map_or(0, |planning| black_box(planning).plan.steps.len())
    }

    fn decisions(
        &self,
        options: &Options,
        queries: &[Query],
        state: ExecutionState,
        planner: Planner,
    ) -> Vec<crate::table::Cell> {
        let limit = Duration::from_secs(if options.quick { 3 } else { 120 });
        let began = Instant::now();
        let (mut times, mut steps) = (vec![], 0);
        for (at, query) in queries.iter().enumerate() {
            let request = self.request(query, state, planner);
            let reply = self.reply(query, at);
            let answer = match planner {
                Planner::Offline => Answer::Offline,
                _ => Answer::Reply { reply: &reply, label: "given", model_ms: None },
            };
            let (planned, ms) = timed(|| self.plan(&request, answer));
            times.push(ms);
            steps += planned;
            if began.elapsed() > limit {
                break;
            }
        }
        let request = self.request(&queries[0], state, planner);
        let viewer = Viewer::new(&self.settings, &request).expect("the request names no mode");
        let label = if planner == Planner::Offline { "offline" } else { "reply" };
        row![
            self.catalog.len(),
            state.name(),
            label,
            visibility::visible(&self.catalog, &viewer).len(),
            times.len(),
            percentile(&times, 0.5),
            percentile(&times, 0.99),
            percentile(&times, 1.0),
            steps as f64 / times.len() as f64,
        ]
    }

    /// A free text that names five tools: those that the query is about, then others.
    fn reply(&self, query: &Query, at: usize) -> Reply {
        let known: HashSet<&str> = self.catalog.specs().map(|s| s.name.as_str()).collect();
        let others = (0..5).filter_map(|i| {
            let place = (at * 131 + i * 977) % self.catalog.len();
            self.catalog.specs().nth(place).map(|s| s.name.as_str())
        });
        let relevant = query.relevant.iter().map(String::as_str).filter(|name| known.contains(name));
        let mut names: Vec<&str> = vec![];
        for name in relevant.chain(others) {
            if !names.contains(&name) && names.len() < 5 {
                names.push(name);
            }
        }
        let text = format!(
            "The question has several parts. I will first call {} to see what there is. Then {} should help, and with \
             its result I can use {}. If that is not enough, I would also try {}. At last I will check everything with \
             {} and answer in a few sentences.",
            names[0], names[1], names[2], names[3], names[4]
        );
        Reply { text, ..Reply::default() }
    }

    fn parts(&self, queries: &[Query], count: usize) -> Vec<crate::table::Cell> {
        let mut times: [Vec<f64>; 6] = Default::default();
        for (at, query) in queries.iter().take(count).enumerate() {
            let request = self.request(query, ExecutionState::Action, Planner::Offline);
            let viewer = Viewer::new(&self.settings, &request).expect("the request names no mode");
            let (visible, ms) = timed(|| visibility::visible(&self.catalog, &viewer));
            times[0].push(ms);
            let sees = |name: &str| self.catalog.spec(name).is_some_and(|spec| viewer.sees(spec));
            times[1].push(timed(|| self.index.search(&request.query, 20, sees)).1);
            let decomposition = planning::decomposition(&request);
            let tools = visible.iter().map(|entry| &entry.spec).collect();
            let choice = offline::Choice { tools, index: &self.index, settings: &self.settings };
            times[2].push(timed(|| offline::select(&choice, &decomposition)).1);
            let said = self.reply(query, at);
            let read = || {
                let names: Vec<&str> = self.catalog.specs().map(|s| s.name.as_str()).collect();
                reply::read(&said, &names, &self.settings.guard)
            };
            times[3].push(timed(read).1);
            times[4].push(timed(|| self.plan(&request, Answer::Offline)).1);
            let request = self.request(query, ExecutionState::Action, Planner::Model);
            let answer = Answer::Reply { reply: &said, label: "given", model_ms: None };
            times[5].push(timed(|| self.plan(&request, answer)).1);
        }
        let mut row = row![self.catalog.len()];
        row.extend(times.iter().map(|times| median(times).into()));
        row
    }

    /// Changes tools all over the catalog, one at a time, and plans after each change.
    fn edits(mut self, query: &Query, count: usize) -> Vec<crate::table::Cell> {
        let said = self.reply(query, 0);
        let mut times: [Vec<f64>; 5] = Default::default();
        for i in 0..count {
            let place = i * 997 % self.catalog.len();
            let mut spec = self.catalog.specs().nth(place).cloned().expect("the place is inside the catalog");
            spec.description.push_str(" Changed a moment ago.");
            let revision = self.catalog.revision() + 1;
            let (catalog, new_catalog) = timed(|| self.catalog.with(revision, spec.clone()));
            self.catalog = catalog.expect("the tool was valid before");
            let (_, shared) = timed(|| {
                let mut copy = self.index.clone();
                copy.upsert(&spec);
                copy
            });
            let (_, upsert) = timed(|| self.index.upsert(&spec));
            let request = self.request(query, ExecutionState::Action, Planner::Model);
            let answer = Answer::Reply { reply: &said, label: "given", model_ms: None };
            let (_, planning) = timed(|| self.plan(&request, answer));
            for (times, ms) in
                times.iter_mut().zip([new_catalog, upsert, planning, new_catalog + upsert + planning, shared])
            {
                times.push(ms);
            }
        }
        let mut row = row![self.catalog.len()];
        row.extend(times.iter().map(|times| median(times).into()));
        row
    }
}

//! Planning a query, and planning it again after an edit.

use crate::{
    Workbench, changes, graph,
    views::{GraphView, PlanView},
};
use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};
use toolplan_engine::{
    Problem,
    guard::{Guard, GuardReport},
    plan::PlanSpec,
    planning::{self, Answer, Inputs, Planning, ToolHistory},
    ports::TokenCounter,
    request::{Planner, Request},
    select::{Prompt, Reply},
    settings::Settings,
    tool::Catalog,
    visibility::Viewer,
};

/// A planning with what it rests on: a run uses the very catalog that was planned with.
pub struct Planned {
    pub planning: Planning,
    pub catalog: Catalog,
    settings: Settings,
    /// The model's reply, so that an edit replans without asking again (K-05).
    reply: Option<(Reply, String, Option<u32>)>,
}

/// The latest plannings by number.
#[derive(Default)]
pub struct Plans {
    next: u32,
    kept: VecDeque<(u32, Arc<Planned>)>,
}

/// How many plannings are remembered.
const KEPT: usize = 50;

impl Plans {
    fn keep(&mut self, planned: Planned) -> (u32, Arc<Planned>) {
        self.next += 1;
        let planned = Arc::new(planned);
        self.kept.push_back((self.next, planned.clone()));
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
        (self.next, planned)
    }

    fn get(&self, id: u32) -> Option<Arc<Planned>> {
        self.kept.iter().find(|(i, _)| *i == id).map(|(_, p)| p.clone())
    }
}

/// What the model said, or why it said nothing.
enum Said {
    Nothing,
    Reply { reply: Reply, label: String, model_ms: Option<u32> },
    Unavailable(String),
}

impl Workbench {
    /// Plans the request. `previous` is the planning to compare with. When the very same request was planned there and
    /// only the catalog or the settings have changed since, the model's reply of then is used again; the same request
    /// with nothing changed asks the model anew.
    pub async fn plan(&self, request: Request, previous: Option<u32>) -> Result<PlanView, Problem> {
        let settings = self.settings();
        planning::validate(&settings, &request)?;
        let before = previous.and_then(|id| self.planned(id).ok());
        let said = self.ask(&settings, &request, before.as_deref()).await?;
        self.decide(settings, request, said, before.as_deref())
    }

    /// Checks and shows a plan that somebody wrote by hand or edited. Nothing is proposed; the guard admits each step.
    pub fn plan_from(&self, request: Request, spec: PlanSpec) -> Result<PlanView, Problem> {
        let settings = self.settings();
        let mut view = self.decide(settings.clone(), request, Said::Nothing, None)?;
        let catalog = self.tools().catalog;
        let request = view.planning.request.clone();
        let viewer = Viewer::new(&settings, &request)?;
        let guard = Guard::new(&catalog, &settings, viewer, &request, &[]);
        let planning = &mut view.planning;
        planning.findings = spec.clone().check(|call| guard.admit(call)).err().unwrap_or_default();
        planning.shape = spec.shape();
        planning.plan = spec;
        planning.guard = Default::default();
        planning.planner.label = "by hand".into();
        view.graph = graph::of(&planning.plan, &planning.shape, &catalog, None);
        let (id, _) =
            self.keep(Planned { planning: planning.clone(), catalog: catalog.clone(), settings, reply: None });
        view.id = id;
        Ok(view)
    }

    /// What the guard makes of a model's text for the request, without planning.
    pub fn check_guard(&self, request: Request, text: &str) -> Result<GuardReport, Problem> {
        let reply = Reply { text: text.into(), ..Default::default() };
        let said = Said::Reply { reply, label: "given text".into(), model_ms: None };
        Ok(self.decide(self.settings(), request, said, None)?.planning.guard)
    }

    /// The prompt that a model would get (V-09).
    pub fn prompt(&self, request: &Request) -> Result<Prompt, Problem> {
        planning::prompt(&self.tools().catalog, &self.settings(), request)
    }

    pub(crate) fn planned(&self, id: u32) -> Result<Arc<Planned>, Problem> {
        let plans = self.inner.plans.lock().expect("no holder panics");
        plans
            .get(id)
            .ok_or_else(|| Problem::new("plan.gone", format!("plan {id} is no longer at hand"), "plan the query again"))
    }

    fn keep(&self, planned: Planned) -> (u32, Arc<Planned>) {
        self.inner.plans.lock().expect("no holder panics").keep(planned)
    }

    async fn ask(&self, settings: &Settings, request: &Request, before: Option<&Planned>) -> Result<Said, Problem> {
        match request.planner {
            Planner::Offline => Ok(Said::Nothing),
            Planner::Recorded => Ok(match self.inner.recordings.reply_for(request.query.trim()) {
                Some(reply) => Said::Reply { reply, label: "recorded reply".into(), model_ms: None },
                None => Said::Unavailable("there is no recorded reply for this query".into()),
            }),
            Planner::Model => {
                let edited =
                    |b: &&Planned| b.planning.revision != self.tools().catalog.revision() || b.settings != *settings;
                let same = before.filter(|b| b.planning.request == *request).filter(edited);
                if let Some((reply, label, model_ms)) = same.and_then(|b| b.reply.clone()) {
                    return Ok(Said::Reply { reply, label, model_ms });
                }
                let Some(model) = &self.inner.model else {
                    return Ok(Said::Unavailable("no model is configured".into()));
                };
                let prompt = self.prompt(request)?;
                let limit = Duration::from_millis(u64::from(settings.planner.timeout_ms));
                let asked = Instant::now();
                Ok(match tokio::time::timeout(limit, model.complete(&prompt)).await {
                    Ok(Ok(reply)) => {
                        Said::Reply { reply, label: model.label(), model_ms: Some(asked.elapsed().as_millis() as u32) }
                    }
                    Ok(Err(problem)) => Said::Unavailable(format!("{} ({})", problem.message, problem.hint)),
                    Err(_) => {
                        Said::Unavailable(format!("{} did not answer within {} ms", model.label(), limit.as_millis()))
                    }
                })
            }
        }
    }

    fn decide(
        &self,
        settings: Settings,
        request: Request,
        said: Said,
        before: Option<&Planned>,
    ) -> Result<PlanView, Problem> {
        let tools = self.tools();
        let counter = self.counter(&settings);
        let history = self.history()?;
        let answer = match &said {
            Said::Nothing => Answer::Offline,
            Said::Reply { reply, label, model_ms } => Answer::Reply { reply, label, model_ms: *model_ms },
            Said::Unavailable(reason) => Answer::Unavailable { reason },
        };
        let began = Instant::now();
        let planning = planning::plan(&Inputs {
            catalog: &tools.catalog,
            index: &tools.index,
            settings: &settings,
            request: &request,
            counter: &counter,
            counts_exactly: matches!(said, Said::Reply { .. })
                && request.planner == Planner::Model
                && counter.encoding() == "o200k_base"
                && self.inner.model.as_ref().is_some_and(|m| m.counts_exactly()),
            history: &history,
            answer,
        })?;
        let decided_in_ms = began.elapsed().as_secs_f64() * 1000.0;
        let changes = before.map(|b| changes::between(&b.planning, &planning)).unwrap_or_default();
        let graph: GraphView = graph::of(&planning.plan, &planning.shape, &tools.catalog, Some(&planning.guard));
        let reply = match said {
            Said::Reply { reply, label, model_ms } => Some((reply, label, model_ms)),
            _ => None,
        };
        let (id, planned) = self.keep(Planned { planning, catalog: tools.catalog, settings, reply });
        Ok(PlanView { id, planning: planned.planning.clone(), graph, changes, decided_in_ms })
    }

    /// Plans the query of a recorded planning again, from the same reply, with the tools and settings of now.
    pub(crate) fn plan_from_record(&self, before: &Planning) -> Result<PlanView, Problem> {
        let said = match crate::replays::recorded_reply(before)? {
            crate::replays::Said::Nothing => Said::Nothing,
            crate::replays::Said::Unavailable(reason) => Said::Unavailable(reason),
            crate::replays::Said::Reply(reply) => {
                let (label, model_ms) = (before.planner.label.clone(), before.planner.model_ms);
                Said::Reply { reply: *reply, label, model_ms }
            }
        };
        self.decide(self.settings(), before.request.clone(), said, None)
    }

    pub(crate) fn history(&self) -> Result<HashMap<String, ToolHistory>, Problem> {
        let stats = self.inner.store.stats().all()?;
        Ok(stats.into_iter().map(|(tool, s)| (tool, ToolHistory { p50_ms: s.p50_ms as f64 })).collect())
    }
}

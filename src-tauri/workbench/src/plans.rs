//! Planning a query, and planning it again after an edit.

use crate::{Tools, Workbench, changes, graph, views::PlanView};
use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};
use toolplan_engine::{
    Problem,
    discovery::{DiscoveryEvent, Index},
    guard::{Guard, GuardReport},
    plan::PlanSpec,
    planning::{self, Answer, Inputs, Planning, ToolHistory},
    ports::{ChatModel, TokenCounter},
    request::{Planner, Request},
    savings,
    select::{Prompt, Reply},
    session::SessionEvent,
    settings::Settings,
    tool::Catalog,
    turns::{Dialogue, Next, TurnRecord},
    visibility::Viewer,
};

/// A planning with what it rests on: a run uses the very catalog that was planned with.
pub struct Planned {
    pub planning: Planning,
    pub catalog: Catalog,
    /// The request as it was asked; that of the planning has the intent that the model selected.
    pub(crate) asked: Request,
    /// What the model selected while it was asked, refused selections too.
    pub(crate) selections: Vec<SessionEvent>,
    settings: Settings,
    /// So that an edit replans without asking again (K-05).
    said: Said,
    /// Milliseconds that the decision took.
    decided_in_ms: f64,
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
    fn keep(&mut self, planned: Planned) -> u32 {
        self.next += 1;
        self.kept.push_back((self.next, Arc::new(planned)));
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
        self.next
    }

    fn get(&self, id: u32) -> Option<Arc<Planned>> {
        self.kept.iter().find(|(i, _)| *i == id).map(|(_, p)| p.clone())
    }
}

/// What a model said, turn by turn.
#[derive(Clone)]
pub(crate) struct Heard {
    label: String,
    /// With the milliseconds that each took.
    replies: Vec<(Reply, Option<u32>)>,
}

/// What the model said, or why it said nothing.
pub(crate) enum Said {
    /// Nobody asked it.
    Nothing,
    Heard(Heard),
    Unavailable(String),
}

impl Said {
    /// What was said when the recorded planning was made. Error: `replay.no_reply`.
    pub(crate) fn recorded(planning: &Planning) -> Result<Self, Problem> {
        let heard = |reply: Reply| {
            let (label, model_ms) = (planning.planner.label.clone(), planning.planner.model_ms);
            Ok(Self::Heard(Heard { label, replies: vec![(reply, model_ms)] }))
        };
        if let Some(reply) = &planning.reply {
            return heard(reply.clone());
        }
        if planning.planner.requested == Planner::Offline {
            return Ok(Self::Nothing);
        }
        if !planning.guard.model_text.is_empty() {
            // Journals of the first version keep the text alone.
            return heard(Reply { text: planning.guard.model_text.clone(), ..Default::default() });
        }
        if planning.planner.used == Planner::Offline {
            return Ok(Self::Unavailable(planning.planner.fallback_reason.clone()));
        }
        Err(Problem::new(
            "replay.no_reply",
            "the run does not hold the model's reply",
            "plan the query again with the model",
        ))
    }

    /// The last reply is the proposal; those before it asked for something.
    fn answer(&self) -> Answer<'_> {
        match self {
            Self::Nothing => Answer::Offline,
            Self::Heard(Heard { label, replies }) => match replies.last() {
                Some((reply, model_ms)) => Answer::Reply { reply, label, model_ms: *model_ms },
                None => Answer::Unavailable { reason: "nothing was said" },
            },
            Self::Unavailable(reason) => Answer::Unavailable { reason },
        }
    }
}

/// What came of asking: with the turns, the request as they left it, and the selections made.
struct Asked {
    said: Said,
    request: Request,
    turns: Vec<TurnRecord>,
    selections: Vec<SessionEvent>,
    discovered: Vec<DiscoveryEvent>,
}

impl Asked {
    fn without_turns(said: Said, request: Request) -> Self {
        Self { said, request, turns: vec![], selections: vec![], discovered: vec![] }
    }
}

impl Workbench {
    /// Plans the request. `previous` is the planning to compare with. When the very same request was planned there and
    /// only the catalog or the settings have changed since, the model's reply of then is used again; the same request
    /// with nothing changed asks the model anew.
    pub async fn plan(&self, request: Request, previous: Option<u32>) -> Result<PlanView, Problem> {
        let settings = self.settings();
        let request = self.activated_in(&settings, request);
        planning::validate(&settings, &request)?;
        self.settle_model().await;
        let before = previous.and_then(|id| self.planned(id).ok());
        let tools = self.tools();
        let asked = self.ask(&tools, &settings, &request, before.as_deref()).await?;
        let planned = self.decide(tools, settings, request, asked)?;
        Ok(self.keep(planned, before.as_deref()))
    }

    /// Checks and shows a plan that somebody wrote by hand or edited. Nothing is proposed; the guard admits each step.
    pub fn plan_from(&self, request: Request, spec: PlanSpec) -> Result<PlanView, Problem> {
        let settings = self.settings();
        let request = self.activated_in(&settings, request);
        let asked = Asked::without_turns(Said::Nothing, request.clone());
        let mut planned = self.decide(self.tools(), settings, request, asked)?;
        let (settings, request) = (&planned.settings, &planned.asked);
        let guard = Guard::new(&planned.catalog, settings, Viewer::new(settings, request)?, request, &[]);
        let findings = spec.clone().check(|call| guard.admit(call)).err().unwrap_or_default();
        let planning = &mut planned.planning;
        planning.findings = findings;
        planning.shape = spec.shape();
        planning.plan = spec;
        planning.guard = Default::default();
        planning.planner.label = "by hand".into();
        Ok(self.keep(planned, None))
    }

    /// What the guard makes of a model's text for the request, without planning.
    pub fn check_guard(&self, request: Request, text: &str) -> Result<GuardReport, Problem> {
        let request = self.activated_in(&self.settings(), request);
        let reply = Reply { text: text.into(), ..Default::default() };
        let said = Said::Heard(Heard { label: "given text".into(), replies: vec![(reply, None)] });
        let asked = Asked::without_turns(said, request.clone());
        Ok(self.decide(self.tools(), self.settings(), request, asked)?.planning.guard)
    }

    /// The prompt that a model would get (V-09).
    pub fn prompt(&self, request: &Request) -> Result<Prompt, Problem> {
        let (tools, settings) = (self.tools(), self.settings());
        let request = self.activated_in(&settings, request.clone());
        planning::prompt(&tools.catalog, &tools.index, &settings, &request)
    }

    pub(crate) fn planned(&self, id: u32) -> Result<Arc<Planned>, Problem> {
        let plans = self.inner.plans.lock().expect("no holder panics");
        plans
            .get(id)
            .ok_or_else(|| Problem::new("plan.gone", format!("plan {id} is no longer at hand"), "plan the query again"))
    }

    /// Remembers the planning under a number of its own, and shows it beside the one before.
    fn keep(&self, planned: Planned, before: Option<&Planned>) -> PlanView {
        let Planned { planning, catalog, decided_in_ms, .. } = &planned;
        let changes = before.map(|b| changes::between(&b.planning, planning)).unwrap_or_default();
        let graph = graph::of(&planning.plan, &planning.shape, catalog, Some(&planning.guard));
        let (planning, decided_in_ms) = (planning.clone(), *decided_in_ms);
        let id = self.inner.plans.lock().expect("no holder panics").keep(planned);
        PlanView { id, planning, graph, changes, decided_in_ms }
    }

    async fn ask(
        &self,
        tools: &Tools,
        settings: &Settings,
        request: &Request,
        before: Option<&Planned>,
    ) -> Result<Asked, Problem> {
        let unavailable =
            |reason: &str| Ok(Asked::without_turns(Said::Unavailable(reason.to_string()), request.clone()));
        match request.planner {
            Planner::Offline => Ok(Asked::without_turns(Said::Nothing, request.clone())),
            Planner::Recorded => match self.inner.recordings.reply_for(request.query.trim()) {
                Some(reply) => {
                    let heard = Heard { label: "recorded reply".into(), replies: vec![(reply, None)] };
                    self.converse(tools, settings, request, Some(heard), None).await
                }
                None => unavailable("there is no recorded reply for this query"),
            },
            Planner::Model => {
                let edited = |b: &&Planned| b.planning.revision != tools.catalog.revision() || b.settings != *settings;
                let same = before.filter(|b| b.asked == *request).filter(edited);
                if let Some(Said::Heard(heard)) = same.map(|b| &b.said) {
                    return self.converse(tools, settings, request, Some(heard.clone()), None).await;
                }
                match &self.inner.model {
                    Some(model) => self.converse(tools, settings, request, None, Some(model.clone())).await,
                    None => unavailable("no model is configured"),
                }
            }
        }
    }

    /// Asks until a reply is the proposal: the replies of then in their order, else the model. Every turn has the whole
    /// time limit. A model that fails leaves the request as it was asked.
    async fn converse(
        &self,
        tools: &Tools,
        settings: &Settings,
        request: &Request,
        heard: Option<Heard>,
        model: Option<Arc<dyn ChatModel>>,
    ) -> Result<Asked, Problem> {
        let counter = self.counter(settings);
        let mut dialogue = Dialogue::new(&tools.catalog, &tools.index, settings, &counter, request)?;
        let label = match (&heard, &model) {
            (Some(heard), _) => heard.label.clone(),
            (None, Some(model)) => model.label(),
            (None, None) => String::new(),
        };
        let mut earlier = heard.map(|h| h.replies).unwrap_or_default().into_iter();
        let mut replies: Vec<(Reply, Option<u32>)> = vec![];
        let limit = Duration::from_millis(u64::from(settings.planner.timeout_ms));
        loop {
            let prompt = dialogue.prompt()?;
            let (reply, model_ms) = match (earlier.next(), &model) {
                (Some(reply), _) => reply,
                (None, None) => break,
                (None, Some(model)) => {
                    let asked = Instant::now();
                    let failure = match tokio::time::timeout(limit, model.complete(&prompt)).await {
                        Ok(Ok(reply)) => Ok((reply, Some(asked.elapsed().as_millis() as u32))),
                        Ok(Err(problem)) => Err(format!("{} ({})", problem.message, problem.hint)),
                        Err(_) => Err(format!("{label} did not answer within {} ms", limit.as_millis())),
                    };
                    match failure {
                        Ok(reply) => reply,
                        Err(reason) => {
                            let discovered = dialogue.discovered().to_vec();
                            let turns = dialogue.into_records();
                            let said = Said::Unavailable(reason);
                            return Ok(Asked { said, request: request.clone(), turns, selections: vec![], discovered });
                        }
                    }
                }
            };
            let next = dialogue.take(&prompt, &reply, model_ms);
            replies.push((reply, model_ms));
            if next == Next::Done {
                break;
            }
        }
        Ok(Asked {
            said: Said::Heard(Heard { label, replies }),
            request: dialogue.request().clone(),
            selections: dialogue.session().log().iter().map(|t| t.event.clone()).collect(),
            discovered: dialogue.discovered().to_vec(),
            turns: dialogue.into_records(),
        })
    }

    fn decide(&self, tools: Tools, settings: Settings, wanted: Request, asked: Asked) -> Result<Planned, Problem> {
        let Asked { said, request, turns, selections, discovered } = asked;
        let counter = self.counter(&settings);
        let counts_exactly = matches!(said, Said::Heard(_))
            && request.planner == Planner::Model
            && counter.encoding() == "o200k_base"
            && self.inner.model.as_ref().is_some_and(|m| m.counts_exactly());
        let began = Instant::now();
        let mut planning =
            self.planning_of(&tools.catalog, &tools.index, &settings, &request, counts_exactly, &said)?;
        let tokens: Vec<_> = turns.iter().map(|turn| turn.tokens).collect();
        let full = planning.tokens.states.first().map_or((0, 0), |s| (s.full_tools, s.full));
        planning.savings = savings::of(&tokens, full, &counter, counts_exactly, &settings.savings);
        planning.turns = turns;
        if settings.discovery.enabled {
            let ready = self.index_ready(&tools, &settings, &request)?;
            planning.discovery.insert(0, ready);
            planning.discovery.extend(discovered);
        }
        let decided_in_ms = began.elapsed().as_secs_f64() * 1000.0;
        Ok(Planned { planning, catalog: tools.catalog, asked: wanted, selections, settings, said, decided_in_ms })
    }

    /// What comes of what was said, by this catalog and these settings.
    pub(crate) fn planning_of(
        &self,
        catalog: &Catalog,
        index: &Index,
        settings: &Settings,
        request: &Request,
        counts_exactly: bool,
        said: &Said,
    ) -> Result<Planning, Problem> {
        planning::plan(&Inputs {
            catalog,
            index,
            settings,
            request,
            counter: &self.counter(settings),
            counts_exactly,
            history: &self.history()?,
            answer: said.answer(),
        })
    }

    /// What the planning would be with another catalog: the same request, the same reply of the model, today's settings.
    pub(crate) fn plan_with(&self, before: &Planned, catalog: &Catalog, index: &Index) -> Result<Planning, Problem> {
        let Planning { request, tokens, .. } = &before.planning;
        self.planning_of(catalog, index, &self.settings(), request, tokens.exact, &before.said)
    }

    /// Plans the query of a recorded planning again, from the same reply, with the tools and settings of now.
    pub(crate) fn plan_from_record(&self, before: &Planning) -> Result<PlanView, Problem> {
        let asked = Asked::without_turns(Said::recorded(before)?, before.request.clone());
        let planned = self.decide(self.tools(), self.settings(), before.request.clone(), asked)?;
        Ok(self.keep(planned, None))
    }

    pub(crate) fn history(&self) -> Result<HashMap<String, ToolHistory>, Problem> {
        let stats = self.inner.store.stats().all()?;
        Ok(stats.into_iter().map(|(tool, s)| (tool, ToolHistory { p50_ms: s.p50_ms as f64 })).collect())
    }
}

//! The turns of one planning: a model that selects an intent or searches for tools is answered and asked again.
//!
//! A [`Dialogue`] says what the next prompt holds and what to make of a reply; nothing here waits, and nothing but the
//! planning calls is ever carried out. A selection goes through the session's own rules, so that a destructive tool
//! enters the prompt only after an intent was selected (V-08, V-09).

use crate::{
    Problem,
    discovery::{self, DiscoveryEvent, Index, Within},
    planning,
    ports::TokenCounter,
    request::{ExecutionState, Request},
    savings::{Pieces, TurnTokens},
    select::{Exchange, ExchangeCall, Prompt, Reply, ReplyPath, prompt, reply},
    session::{Actor, SessionEvent, SessionState},
    settings::Settings,
    tool::{Catalog, Entry, ToolCall},
    visibility::{self, Viewer},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// One prompt and its reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct TurnRecord {
    /// From 1.
    pub number: u32,
    /// The state that the prompt was built in.
    pub state: ExecutionState,
    pub intent: String,
    /// Tools that the model was shown with their schema.
    pub visible: u32,
    /// What the reply says beside its calls.
    pub text: String,
    pub calls: Vec<TurnCall>,
    pub tokens: TurnTokens,
    /// As the provider counts them.
    pub input_tokens: Option<u32>,
    pub output_tokens: Option<u32>,
    /// Milliseconds that the model took.
    pub model_ms: Option<u32>,
    /// After the calls were answered.
    pub state_after: ExecutionState,
    pub intent_after: String,
    /// Deferred tools that the next prompt shows.
    pub activated: Vec<String>,
}

/// A call of a turn and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct TurnCall {
    pub call: ToolCall,
    /// Null for a call that goes to the guard.
    pub result: Option<Value>,
    pub is_error: bool,
}

/// The answer to a planning call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answered {
    pub result: Value,
    pub is_error: bool,
    /// Deferred tools whose schemas the next prompt holds; those that are hidden stay out of it all the same.
    pub activated: Vec<String>,
}

impl Answered {
    fn error(problem: &Problem) -> Self {
        let result = json!({"error": problem.message, "hint": problem.hint});
        Self { result, is_error: true, activated: vec![] }
    }
}

/// What to do after a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Ask with [`Dialogue::prompt`] again.
    Ask,
    /// The reply is the proposal.
    Done,
}

/// A planning's prompts and replies so far.
pub struct Dialogue<'a> {
    catalog: &'a Catalog,
    index: &'a Index,
    settings: &'a Settings,
    counter: &'a dyn TokenCounter,
    /// With the state and the intent as the turns have made them.
    request: Request,
    session: SessionState,
    exchanges: Vec<Exchange>,
    activated: Vec<String>,
    records: Vec<TurnRecord>,
    discovered: Vec<DiscoveryEvent>,
    before: Option<Pieces>,
}

/// Whether the tool is answered while planning and is no step of a plan.
pub fn is_planning_tool(settings: &Settings, name: &str) -> bool {
    is_handshake(settings, name) || settings.discovery.discovery_tools.iter().any(|t| t == name)
}

fn is_handshake(settings: &Settings, name: &str) -> bool {
    settings.handshake_tools.iter().any(|t| t == name)
}

impl<'a> Dialogue<'a> {
    /// Errors when the request itself is unusable.
    pub fn new(
        catalog: &'a Catalog,
        index: &'a Index,
        settings: &'a Settings,
        counter: &'a dyn TokenCounter,
        request: &Request,
    ) -> Result<Self, Problem> {
        planning::validate(settings, request)?;
        Ok(Self {
            catalog,
            index,
            settings,
            counter,
            session: SessionState::of_request(request),
            request: request.clone(),
            exchanges: vec![],
            activated: vec![],
            records: vec![],
            discovered: vec![],
            before: None,
        })
    }

    /// The next prompt: the tools that are visible now, and the turns so far.
    pub fn prompt(&self) -> Result<Prompt, Problem> {
        let viewer = Viewer::new(self.settings, &self.request)?;
        let mut tools = visibility::in_prompt(self.catalog, &viewer);
        // At the end, so that the beginning of the prompt stays what the provider has in its cache.
        tools.extend(self.loaded(&viewer));
        let mut prompt = planning::prompt_for(&self.within(&viewer), self.settings, &self.request, &tools);
        prompt.turns.clone_from(&self.exchanges);
        Ok(prompt)
    }

    fn within<'v>(&'v self, viewer: &'v Viewer<'v>) -> Within<'v> {
        Within { catalog: self.catalog, index: self.index, settings: &self.settings.discovery, viewer }
    }

    fn loaded(&self, viewer: &Viewer) -> Vec<&'a Entry> {
        let catalog = self.catalog;
        let activated = self.activated.iter().filter_map(|name| catalog.get(name));
        activated.filter(|entry| viewer.sees(&entry.spec) && !viewer.in_prompt(&entry.spec)).collect()
    }

    /// Takes the reply to `prompt`: answers its planning calls, and says whether to ask again.
    pub fn take(&mut self, prompt: &Prompt, reply: &Reply, model_ms: Option<u32>) -> Next {
        let (calls, native) = self.calls_of(reply);
        let number = self.records.len() as u32 + 1;
        let (state, intent) = (self.request.state, self.request.intent.clone());
        let planning_calls = calls.iter().filter(|c| is_planning_tool(self.settings, &c.tool)).count();
        let asks_again = planning_calls > 0 && number < self.settings.planner.max_turns.max(1);
        let mut activated = vec![];
        let mut exchange = Exchange { text: reply.text.clone(), native, calls: vec![] };
        let mut told = vec![];
        for (at, call) in calls.into_iter().enumerate() {
            let answer = if is_planning_tool(self.settings, &call.tool) {
                let answered = self.answer(&call);
                activated.extend(answered.activated.iter().filter(|t| !self.activated.contains(t)).cloned());
                Some((answered.result, answered.is_error))
            } else if asks_again {
                let waits = "not run: tools run after planning. Name this call again if it is still wanted";
                Some((json!({"status": waits}), false))
            } else {
                None
            };
            if let Some((result, is_error)) = &answer {
                exchange.calls.push(ExchangeCall {
                    id: format!("call{:02}{:03}", number % 100, at % 1000),
                    call: call.clone(),
                    result: result.clone(),
                    is_error: *is_error,
                });
            }
            let (result, is_error) = answer.map_or((None, false), |(result, is_error)| (Some(result), is_error));
            told.push(TurnCall { call, result, is_error });
        }
        let only_planning = !told.is_empty() && told.iter().all(|c| is_planning_tool(self.settings, &c.call.tool));
        let tokens = self.measure(prompt, &told, asks_again && only_planning);
        self.activated.extend(activated.iter().cloned());
        self.records.push(TurnRecord {
            number,
            state,
            intent,
            visible: prompt.tools.len() as u32,
            text: reply.text.clone(),
            calls: told,
            tokens,
            input_tokens: reply.input_tokens,
            output_tokens: reply.output_tokens,
            model_ms,
            state_after: self.request.state,
            intent_after: self.request.intent.clone(),
            activated,
        });
        if !asks_again {
            return Next::Done;
        }
        self.exchanges.push(exchange);
        Next::Ask
    }

    /// The calls that the reply states, and whether they came by the provider's own protocol. Prose states none.
    fn calls_of(&self, reply: &Reply) -> (Vec<ToolCall>, bool) {
        if !reply.native_calls.is_empty() {
            return (reply.native_calls.clone(), true);
        }
        let planning_tools = self.settings.handshake_tools.iter().chain(&self.settings.discovery.discovery_tools);
        if !planning_tools.into_iter().any(|name| reply.text.contains(name.as_str())) {
            return (vec![], false);
        }
        let names: Vec<&str> = self.catalog.specs().map(|s| s.name.as_str()).collect();
        let proposal = reply::read(reply, &names, &self.settings.guard);
        if proposal.path != ReplyPath::Json {
            return (vec![], false);
        }
        let call = |c: reply::Proposed| ToolCall { tool: c.tool, arguments: c.arguments.unwrap_or_default() };
        (proposal.calls.into_iter().map(call).collect(), false)
    }

    /// Carries out a planning call. It may not do more than the model may see (V-07).
    fn answer(&mut self, call: &ToolCall) -> Answered {
        let Some(entry) = self.catalog.get(&call.tool) else {
            return Answered::error(&Problem::new(
                "tool.unknown",
                format!("there is no tool called {}", call.tool),
                "call only tools that are offered",
            ));
        };
        let hidden = match Viewer::new(self.settings, &self.request) {
            Ok(viewer) => viewer.trail(&entry.spec).decided().map(|v| v.reason.to_string()),
            Err(problem) => Some(problem.message),
        };
        if let Some(reason) = hidden {
            return Answered::error(&Problem::new("tool.hidden", format!("{}: {reason}", call.tool), "do without it"));
        }
        if is_handshake(self.settings, &call.tool) {
            self.select_intent(entry, &call.arguments)
        } else {
            self.discover(call)
        }
    }

    fn select_intent(&mut self, entry: &Entry, arguments: &Map<String, Value>) -> Answered {
        let wanted = intent_argument(entry, arguments);
        let event = SessionEvent::SelectIntent { intent: wanted, by: Actor::Model };
        if let Err(problem) = self.session.on(event, self.settings, 0) {
            return Answered::error(&problem);
        }
        self.request = self.session.request(self.request.clone());
        let intent = self.settings.intents.iter().find(|i| i.id == self.request.intent);
        let result = json!({
            "selected": self.request.intent,
            "state": self.request.state.name(),
            "title": intent.map(|i| &i.title),
            "constraints": intent.map(|i| &i.constraints),
            "scope": intent.map(|i| &i.scope),
            "acceptance": intent.map(|i| &i.acceptance),
            "next": "the tools of this intent are offered now",
        });
        Answered { result, ..Default::default() }
    }

    /// A search or a look-up of tools. What it returns stands in the next prompt, since a provider takes calls only of
    /// tools that it was given.
    fn discover(&mut self, call: &ToolCall) -> Answered {
        let viewer = match Viewer::new(self.settings, &self.request) {
            Ok(viewer) => viewer,
            Err(problem) => return Answered::error(&problem),
        };
        let Some(answer) = discovery::answer(call, &self.within(&viewer)) else {
            let message = format!("{} is not answered while planning", call.tool);
            return Answered::error(&Problem::new("discovery.unavailable", message, "choose among the offered tools"));
        };
        let (event, result) = (answer.event, answer.result);
        self.discovered.extend(event);
        match result {
            Ok(result) => Answered { activated: tools_of(&result), result, is_error: false },
            Err(error) => Answered::error(&Problem::new("discovery.refused", error.message, error.hint)),
        }
    }

    /// What the discovery tools did in these turns.
    pub fn discovered(&self) -> &[DiscoveryEvent] {
        &self.discovered
    }

    /// The request as the turns have left it: with the intent that the model selected.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The selections of these turns, refused ones too.
    pub fn session(&self) -> &SessionState {
        &self.session
    }

    pub fn records(&self) -> &[TurnRecord] {
        &self.records
    }

    pub fn into_records(self) -> Vec<TurnRecord> {
        self.records
    }

    fn measure(&mut self, prompt: &Prompt, calls: &[TurnCall], extra: bool) -> TurnTokens {
        let counter = self.counter;
        let cost = |name: &str| self.catalog.get(name).map_or(0, |e| e.token_cost(counter).total());
        let tools: Vec<(String, u32)> = prompt.tools.iter().map(|t| (t.name.clone(), cost(&t.name))).collect();
        let shown: Vec<&Entry> = prompt.tools.iter().filter_map(|t| self.catalog.get(&t.name)).collect();
        // The request has moved on; what the prompt says of tools was built before.
        let about = prompt.system.rfind(prompt::ABOUT_TOOLS).map_or("", |at| &prompt.system[at..]);
        let mut texts = vec![prompt.system.clone(), prompt.user.clone()];
        let earlier: Vec<String> = prompt.turns.iter().map(Exchange::to_text).collect();
        let carried = earlier.iter().map(|t| counter.count(t)).sum();
        texts.extend(earlier);
        let pieces = Pieces { tools, texts };
        let blocks = counter.count(about);
        let whole = counter.count(&prompt.system) + counter.count(&prompt.user);
        let made = calls.iter().filter(|c| c.result.is_some());
        let tokens = TurnTokens {
            tools: shown.len() as u32,
            definitions: pieces.tools.iter().map(|(_, tokens)| tokens).sum(),
            base: whole.saturating_sub(blocks),
            blocks,
            carried,
            calls: made.map(|c| counter.count(&Value::from(c.call.arguments.clone()).to_string())).sum(),
            prefix: self.before.as_ref().map_or(0, |before| pieces.common(before, counter)),
            extra,
        };
        self.before = Some(pieces);
        tokens
    }
}

/// The names of the tools in the answer of a discovery tool.
fn tools_of(result: &Value) -> Vec<String> {
    let tools = result.get("tools").and_then(Value::as_array);
    tools.into_iter().flatten().filter_map(|tool| Some(tool.get("name")?.as_str()?.to_string())).collect()
}

/// The id that a selection names: the argument that is called so, else the only text among the arguments.
fn intent_argument(entry: &Entry, arguments: &Map<String, Value>) -> String {
    let required = entry.spec.required();
    let names = required.into_iter().chain(["intent_id", "intent", "id"]);
    let by_name = names.filter_map(|name| arguments.get(name)).find_map(Value::as_str);
    by_name.unwrap_or_default().to_string()
}

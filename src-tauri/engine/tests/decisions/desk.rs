//! Tools, requests and plannings from one-line descriptions.

use serde_json::{Map, Value, json};
use std::collections::HashMap;
use toolplan_engine::{
    Problem,
    discovery::Index,
    guard::{Guard, GuardedCall},
    planning::{Answer, Inputs, Planning, plan},
    ports::TokenCounter,
    request::{ExecutionState, Planner, Request},
    select::{Prompt, Reply},
    settings::Settings,
    text::Span,
    tool::{
        Applicability, Catalog, Category, Classification, Fallback, Loading, Needs, SideEffects, ToolCall, ToolSpec,
    },
    visibility::Viewer,
};

/// The nine tools of source 000 and what they need.
pub const SOURCE_000: &[&str] = &[
    "grep_search SAFE @read search text:query",
    "vector_search SAFE @read search text:query",
    "hybrid_search SAFE @read search text:query",
    "local_file_qa SAFE @read search text:query",
    "read_file SAFE @read path:file_path",
    "graph_related SAFE @read entity:entity_id",
    "jira_fetch SAFE @tickets issue_key:issue_key",
    "confluence_fetch SAFE @read page_id:page_id",
    "web_fetch SAFE @web url:url",
];

/// The catalogue of build-tools.spec (SYSTEMS 4.2).
pub const BUILD_TOOLS: &[&str] = &[
    "read_file SAFE @read path:file_path",
    "write_to_file DESTRUCTIVE @edit path!string content!string",
    "execute_command DESTRUCTIVE @command command!string",
    "select_active_intent SAFE @modes intent_id!string",
];

/// A tool: its name, then in any order `SAFE`, `DESTRUCTIVE`, `@group`, `#tag`, a category, `deferred`, `writes`,
/// `critical`, `fallback=other`, a rule `needs:argument` (`pattern:argument=regex`) and arguments `name!type`
/// (required) or `name?type`.
pub fn tool(line: &str) -> ToolSpec {
    let mut words = line.split_whitespace();
    let name = words.next().expect("a tool has a name");
    let mut spec = ToolSpec {
        name: name.into(),
        description: format!("{name} describes itself"),
        side_effects: SideEffects::External,
        ..Default::default()
    };
    let mut required = vec![];
    let mut properties = Map::new();
    let mut property = |name: &str, kind: &str| {
        let text = format!("the {name} that {} takes", spec.name);
        properties.insert(name.into(), json!({"type": kind, "description": text}));
    };
    for word in words {
        if let Some(group) = word.strip_prefix('@') {
            spec.group = group.into();
        } else if let Some(tag) = word.strip_prefix('#') {
            spec.tags.push(tag.into());
        } else if let Some(tool) = word.strip_prefix("fallback=") {
            spec.fallback = Some(Fallback::on_error(tool));
        } else if let Some((needs, argument)) = word.split_once(':') {
            let (argument, regex) = argument.split_once('=').unwrap_or((argument, ""));
            property(argument, "string");
            required.push(argument);
            spec.applicability = Some(Applicability { needs: needs_of(needs, regex), argument: argument.into() });
        } else if let Some((argument, kind)) = word.split_once('!') {
            property(argument, kind);
            required.push(argument);
        } else if let Some((argument, kind)) = word.split_once('?') {
            property(argument, kind);
        } else {
            match word {
                "SAFE" => (spec.classification, spec.side_effects) = (Classification::Safe, SideEffects::Read),
                "DESTRUCTIVE" => {
                    (spec.classification, spec.side_effects) = (Classification::Destructive, SideEffects::Write)
                }
                "writes" => spec.side_effects = SideEffects::Write,
                "critical" => spec.critical = true,
                "deferred" => spec.loading = Loading::Deferred,
                "search" => spec.category = Category::Search,
                "synthesis" => spec.category = Category::Synthesis,
                "validation" => spec.category = Category::Validation,
                other => panic!("a tool's line says {other:?}"),
            }
        }
    }
    spec.parameters = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false
    });
    spec
}

fn needs_of(name: &str, regex: &str) -> Needs {
    match name {
        "text" => Needs::Text,
        "issue_key" => Needs::IssueKey,
        "url" => Needs::Url,
        "page_id" => Needs::PageId,
        "path" => Needs::Path,
        "entity" => Needs::Entity,
        "pattern" => Needs::Pattern { regex: regex.into() },
        other => panic!("a tool's rule needs {other:?}"),
    }
}

/// A catalog, its settings and one request. Starts in REASONING, with the rule that adds tools switched off.
#[derive(Debug, Clone)]
pub struct Desk {
    pub catalog: Catalog,
    pub settings: Settings,
    pub request: Request,
}

impl Desk {
    pub fn of(lines: &[&str]) -> Self {
        Self::with_tools(lines.iter().map(|line| tool(line)))
    }

    pub fn with_tools(tools: impl IntoIterator<Item = ToolSpec>) -> Self {
        let (catalog, problems) = Catalog::new(1, tools);
        assert_eq!(problems, [], "a fixture's catalog is sound");
        let mut settings = Settings::default();
        settings.guard.add_by_rule = false;
        let request = Request { state: ExecutionState::Reasoning, ..Default::default() };
        Self { catalog, settings, request }
    }

    pub fn source_000() -> Self {
        Self::of(SOURCE_000)
    }

    pub fn but(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub fn asks(self, query: &str) -> Self {
        self.but(|d| d.request.query = query.into())
    }

    pub fn in_action(self, intent: &str) -> Self {
        self.but(|d| {
            d.request.state = ExecutionState::Action;
            d.request.intent = intent.into();
        })
    }

    pub fn suggests(self, tools: &[&str]) -> Self {
        self.but(|d| d.request.routing.suggested_tools = Some(tools.iter().map(|t| t.to_string()).collect()))
    }

    pub fn adds_by_rule(self) -> Self {
        self.but(|d| d.settings.guard.add_by_rule = true)
    }

    pub fn viewer(&self) -> Viewer<'_> {
        Viewer::new(&self.settings, &self.request).expect("the mode is known")
    }

    pub fn guard(&self) -> Guard<'_> {
        Guard::new(&self.catalog, &self.settings, self.viewer(), &self.request, &[])
    }

    pub fn visible(&self) -> Vec<&str> {
        let viewer = self.viewer();
        self.catalog.specs().filter(|t| viewer.sees(t)).map(|t| t.name.as_str()).collect()
    }

    pub fn prompt(&self) -> Prompt {
        toolplan_engine::planning::prompt(&self.catalog, &self.settings, &self.request).expect("the request is usable")
    }

    pub fn try_plan(&self, answer: Answer) -> Result<Planning, Problem> {
        plan(&Inputs {
            catalog: &self.catalog,
            index: &Index::of(&self.catalog),
            settings: &self.settings,
            request: &self.request,
            counter: &Letters,
            counts_exactly: false,
            history: &HashMap::new(),
            answer,
        })
    }

    /// Plans with a model's reply.
    pub fn plan(&self, reply: &Reply) -> Planning {
        let desk = self.clone().but(|d| d.request.planner = Planner::Model);
        let answer = Answer::Reply { reply, label: "scripted", model_ms: None };
        desk.try_plan(answer).expect("the request is usable")
    }

    pub fn plan_offline(&self) -> Planning {
        self.try_plan(Answer::Offline).expect("the request is usable")
    }
}

/// Counts characters: a tokenizer whose sums can be checked by hand.
pub struct Letters;

impl TokenCounter for Letters {
    fn encoding(&self) -> &str {
        "letters"
    }

    fn count(&self, text: &str) -> u32 {
        text.chars().count() as u32
    }
}

/// A reply of prose.
pub fn says(text: &str) -> Reply {
    Reply { text: text.into(), ..Default::default() }
}

/// A reply of native calls.
pub fn calls(calls: &[(&str, Value)]) -> Reply {
    let native_calls = calls
        .iter()
        .map(|(tool, arguments)| ToolCall { tool: (*tool).into(), arguments: arguments.as_object().cloned().unwrap() })
        .collect();
    Reply { native_calls, ..Default::default() }
}

/// What JavaScript's `text.slice(span.start, span.end)` gives.
pub fn slice_utf16(text: &str, span: Span) -> String {
    let units: Vec<u16> = text.encode_utf16().collect();
    String::from_utf16(&units[span.start as usize..span.end as usize]).expect("a span does not split a character")
}

pub fn snake(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_string()
}

/// `kept vector_search {"query":"…"}`, or `dropped … at whitelist: reason`.
pub fn show_call(call: &GuardedCall) -> String {
    let arguments = Value::from(call.call.arguments.clone());
    let head = format!("{} {} {arguments}", snake(&call.outcome), call.call.tool);
    let audit = if call.would_drop { " (would drop)" } else { "" };
    if call.goes_on() {
        format!("{head}{audit}")
    } else {
        format!("{head} at {}: {}", snake(&call.verdict.gate), call.verdict.reason)
    }
}

/// The calls that go on, on one line: `vector_search {"query":"…"}`.
pub fn show_kept(planning: &Planning) -> String {
    let kept = planning.plan.steps.iter().map(|s| format!("{} {}", s.tool, Value::from(s.arguments.clone())));
    kept.collect::<Vec<_>>().join(" ; ")
}

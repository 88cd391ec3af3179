//! Tools, and the catalog that holds them at a revision.
//!
//! A [`ToolSpec`] is plain data: what a catalog file holds, what the inspector edits and what a run records. The
//! [`Catalog`] adds what is computed once per tool (token cost, compiled schema) and never changes under a reader:
//! an edit makes a new catalog that shares every other entry.
//!
//! Knows nothing of where tools come from or how they run.

use crate::{Problem, tokens::TokenCost};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::{Arc, OnceLock};

/// What a tool is for (source 001, `ToolInfo.category`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Category {
    Search,
    Validation,
    Synthesis,
    #[default]
    External,
}

/// What a call changes (source 003, `NodeSpec.side_effects`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum SideEffects {
    Pure,
    Read,
    Write,
    #[default]
    External,
    Stateful,
}

/// Whether a tool may be shown before an intent is selected (source 004).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub enum Classification {
    #[serde(rename = "SAFE")]
    Safe,
    #[serde(rename = "DESTRUCTIVE")]
    Destructive,
    /// Nobody has said: treated as destructive (V-06).
    #[default]
    #[serde(rename = "unclassified")]
    Unclassified,
}

impl Classification {
    /// Only what somebody called SAFE counts as safe (V-06).
    pub fn is_safe(self) -> bool {
        self == Self::Safe
    }
}

/// Whether the tool's schema stands in the prompt from the start (source 003).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Loading {
    #[default]
    Always,
    Deferred,
}

/// One worked example (source 001, `ToolExample`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolExample {
    pub query: String,
    #[serde(default)]
    pub parameters: Map<String, Value>,
    #[serde(default)]
    pub expected_result: String,
}

/// What the query must hold for a tool to apply, and the argument it fills. Rules are data (G-12): the built-in tools
/// use the same form as the user's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Applicability {
    pub needs: Needs,
    /// The argument that receives what was found.
    pub argument: String,
}

/// The kinds of reference that a query can hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Needs {
    /// Any text at all: the sub-question, else the query (G-08, G-09).
    Text,
    /// A Jira issue key (G-05).
    IssueKey,
    /// An http or https URL (G-06).
    Url,
    /// A Confluence page (G-07).
    PageId,
    /// A file path.
    Path,
    /// Something with a name of its own: a path, an issue key or a text in quotation marks.
    Entity,
    /// The user's own pattern; group 1 where it has one, else the whole match.
    Pattern { regex: String },
}

/// What to call instead when a step fails (source 001, `IToolStep.fallback`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Fallback {
    pub tool: String,
    #[serde(default)]
    pub condition: FallbackCondition,
    /// Confidence in 0..1 below which `on_low_confidence` applies; unset means 0.7.
    #[serde(default)]
    pub threshold: Option<f32>,
    /// Its own arguments; unset means the step's. A value `{"$argument": "name"}` takes that argument of the step.
    #[serde(default)]
    pub arguments: Option<Map<String, Value>>,
    /// Milliseconds of one of its attempts; unset means its tool's, then the workspace's.
    #[serde(default)]
    pub timeout_ms: Option<u32>,
    /// Unset means the step's.
    #[serde(default)]
    pub retry: Option<RetryPolicy>,
}

impl Fallback {
    /// On any error, with the step's arguments.
    pub fn on_error(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            condition: FallbackCondition::OnError,
            threshold: None,
            arguments: None,
            timeout_ms: None,
            retry: None,
        }
    }

    /// The call that takes over from a step with these arguments.
    pub fn call(&self, arguments: &Map<String, Value>) -> ToolCall {
        let taken = |value: &Value| {
            let name = value.as_object().filter(|o| o.len() == 1)?.get("$argument")?.as_str()?;
            Some(arguments.get(name).cloned())
        };
        let own = self.arguments.as_ref().map(|own| {
            own.iter()
                .filter_map(|(name, value)| Some((name.clone(), taken(value).unwrap_or_else(|| Some(value.clone()))?)))
                .collect()
        });
        ToolCall { tool: self.tool.clone(), arguments: own.unwrap_or_else(|| arguments.clone()) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum FallbackCondition {
    #[default]
    OnError,
    OnLowConfidence,
}

/// How a failed attempt is repeated (O-03). Delays double: `base_ms`, 2 × `base_ms`, 4 × `base_ms` …
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RetryPolicy {
    /// Attempts after the first.
    pub max_retries: u32,
    /// Milliseconds before the first retry.
    pub base_ms: u32,
}

impl Default for RetryPolicy {
    /// Source 001: up to three retries after 1, 2 and 4 seconds.
    fn default() -> Self {
        Self { max_retries: 3, base_ms: 1000 }
    }
}

/// What happens when the tool is called.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Binding {
    /// Known only by its description: it can be planned, not run.
    #[default]
    None,
    /// One of Toolplan's own tools, by its built-in name.
    Builtin { name: String },
    /// An HTTP call; `{argument}` in the URL is replaced, the remaining arguments are the query or the JSON body.
    Http { method: String, url: String },
    /// A tool of an MCP server.
    Mcp { server: String, tool: String },
    /// A fixed answer, for demonstrations and experiments; never presented as a real result.
    Mock {
        result: Value,
        #[serde(default)]
        delay_ms: u32,
    },
}

/// Everything known about one tool (K-01).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct ToolSpec {
    /// The exact callable name; unique in a catalog.
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    /// Empty for tools without one.
    pub namespace: String,
    /// The tool group that modes permit (V-03), such as `read` or `tickets`.
    pub group: String,
    pub category: Category,
    /// JSON Schema of the arguments: an object schema.
    pub parameters: Value,
    /// JSON Schema of the result, where known.
    pub returns: Option<Value>,
    pub examples: Vec<ToolExample>,
    pub capabilities: Vec<String>,
    pub limitations: Vec<String>,
    pub tags: Vec<String>,
    pub side_effects: SideEffects,
    /// Calling it twice with the same arguments does what calling it once does (O-10).
    pub idempotent: bool,
    pub classification: Classification,
    pub loading: Loading,
    /// Lines of discipline guidance for the prompt (source 002).
    pub guidance: Vec<String>,
    pub aliases: Vec<String>,
    pub auth_scopes: Vec<String>,
    /// Cost of one call in US dollars, where known.
    pub cost_hint: Option<f64>,
    /// Expected milliseconds of one call, where known.
    pub latency_hint_ms: Option<u32>,
    pub safety_notes: String,
    pub applicability: Option<Applicability>,
    /// Milliseconds before an attempt is cancelled; unset means the workspace's default.
    pub timeout_ms: Option<u32>,
    pub retry: Option<RetryPolicy>,
    pub fallback: Option<Fallback>,
    /// A critical step's failure stops the run (O-06).
    pub critical: bool,
    pub binding: Binding,
}

impl Default for ToolSpec {
    fn default() -> Self {
        Self {
            name: String::new(),
            title: None,
            description: String::new(),
            namespace: String::new(),
            group: String::new(),
            category: Category::default(),
            parameters: json!({"type": "object", "properties": {}}),
            returns: None,
            examples: vec![],
            capabilities: vec![],
            limitations: vec![],
            tags: vec![],
            side_effects: SideEffects::default(),
            idempotent: false,
            classification: Classification::default(),
            loading: Loading::default(),
            guidance: vec![],
            aliases: vec![],
            auth_scopes: vec![],
            cost_hint: None,
            latency_hint_ms: None,
            safety_notes: String::new(),
            applicability: None,
            timeout_ms: None,
            retry: None,
            fallback: None,
            critical: false,
            binding: Binding::None,
        }
    }
}

impl ToolSpec {
    /// Whether a call may be made again when nobody knows whether it took effect (O-10).
    pub fn is_repeatable(&self) -> bool {
        self.idempotent || matches!(self.side_effects, SideEffects::Pure | SideEffects::Read)
    }

    /// The names of the required arguments, in schema order.
    pub fn required(&self) -> Vec<&str> {
        self.parameters
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default()
    }

    /// The schemas of the arguments by name.
    pub fn properties(&self) -> Option<&Map<String, Value>> {
        self.parameters.get("properties").and_then(Value::as_object)
    }
}

/// One call of a tool, as proposed, admitted or executed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ToolCall {
    pub tool: String,
    pub arguments: Map<String, Value>,
}

impl ToolCall {
    pub fn new(tool: impl Into<String>, argument: &str, value: impl Into<Value>) -> Self {
        let mut arguments = Map::new();
        arguments.insert(argument.into(), value.into());
        Self { tool: tool.into(), arguments }
    }
}

/// Number of a catalog revision; grows by one with every edit (K-04).
pub type Revision = u32;

/// A tool and what is computed once from it.
#[derive(Debug)]
pub struct Entry {
    pub spec: ToolSpec,
    pub(crate) cost: OnceLock<TokenCost>,
    pub(crate) validator: OnceLock<Result<jsonschema::Validator, String>>,
    /// Of the specification, for cached results.
    pub(crate) fingerprint: OnceLock<u64>,
}

impl Entry {
    fn new(spec: ToolSpec) -> Arc<Self> {
        Arc::new(Self { spec, cost: OnceLock::new(), validator: OnceLock::new(), fingerprint: OnceLock::new() })
    }

    /// The compiled argument schema, or why it does not compile.
    pub fn validator(&self) -> Result<&jsonschema::Validator, &str> {
        self.validator
            .get_or_init(|| jsonschema::validator_for(&self.spec.parameters).map_err(|e| e.to_string()))
            .as_ref()
            .map_err(String::as_str)
    }
}

/// All tools of a workspace at one revision, in registration order. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    revision: Revision,
    entries: Arc<IndexMap<String, Arc<Entry>>>,
}

impl Catalog {
    /// Builds a catalog; of several tools with one name the first is kept and the others are returned as problems.
    pub fn new(revision: Revision, specs: impl IntoIterator<Item = ToolSpec>) -> (Self, Vec<Problem>) {
        let mut catalog = Self { revision, entries: Arc::default() };
        let mut problems = vec![];
        for spec in specs {
            if let Err(problem) = validate(&spec) {
                problems.push(problem);
            } else if catalog.entries.contains_key(&spec.name) {
                problems.push(Problem::new(
                    "catalog.duplicate",
                    format!("the catalog holds two tools called {}", spec.name),
                    "the first one is kept; rename the other",
                ));
            } else {
                Arc::make_mut(&mut catalog.entries).insert(spec.name.clone(), Entry::new(spec));
            }
        }
        (catalog, problems)
    }

    pub fn revision(&self) -> Revision {
        self.revision
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name).map(Arc::as_ref)
    }

    /// The tool as this catalog has it, for as long as somebody needs it.
    pub fn entry(&self, name: &str) -> Option<Arc<Entry>> {
        self.entries.get(name).cloned()
    }

    pub fn spec(&self, name: &str) -> Option<&ToolSpec> {
        self.get(name).map(|e| &e.spec)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values().map(Arc::as_ref)
    }

    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.iter().map(|e| &e.spec)
    }

    /// A catalog at `revision` in which `spec` replaces the tool of its name, or joins at the end. Every other entry
    /// is shared with this one.
    pub fn with(&self, revision: Revision, spec: ToolSpec) -> Result<Self, Problem> {
        validate(&spec)?;
        let mut next = self.clone();
        next.revision = revision;
        Arc::make_mut(&mut next.entries).insert(spec.name.clone(), Entry::new(spec));
        Ok(next)
    }

    /// The tools that offer `capability`: a case-insensitive match on the declared capabilities (K-02).
    pub fn find_by_capability(&self, capability: &str) -> Vec<&ToolSpec> {
        let wanted = capability.trim().to_lowercase();
        self.specs().filter(|t| t.capabilities.iter().any(|c| c.to_lowercase() == wanted)).collect()
    }
}

/// What a tool must satisfy to be registered at all.
pub fn validate(spec: &ToolSpec) -> Result<(), Problem> {
    let name = spec.name.trim();
    if name.is_empty() || name != spec.name {
        return Err(Problem::new(
            "catalog.name",
            format!("a tool has the name {:?}", spec.name),
            "give every tool a name without spaces around it",
        ));
    }
    if !spec.parameters.is_object() {
        return Err(Problem::new(
            "catalog.parameters",
            format!("the parameters of {name} are not a JSON Schema object"),
            r#"write at least {"type": "object", "properties": {}}"#,
        ));
    }
    Ok(())
}

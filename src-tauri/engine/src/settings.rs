//! The configuration of a workspace: plain data, stored as one JSON document, edited in the window and by hand.
//!
//! Every verdict that a setting decides names it by its path here (`policy.denied`, `guard.noise_prefixes`).

mod discovery;

pub use discovery::{
    ActivationScope, DirectorySettings, DiscoverySettings, ExampleSettings, HintSettings, MAX_LIMIT, SearchType,
    TaskType, ToolGroup,
};

use crate::{Problem, run::FaultRule, tool::RetryPolicy};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{BTreeMap, HashSet};

/// Everything a workspace can set. Missing parts take the defaults of the sources.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct Settings {
    pub policy: ToolPolicy,
    pub visibility: Vec<VisibilityRule>,
    /// Tools that nobody sees, whatever else is set (V-02).
    pub kill_switch: Vec<String>,
    pub modes: Vec<Mode>,
    /// The mode of a request that names none; empty means no mode filter.
    pub default_mode: String,
    /// Tools that stay visible before an intent is selected, because they select it (V-05).
    pub handshake_tools: Vec<String>,
    pub intents: Vec<Intent>,
    /// The tenants that there are; a session of any other is refused. Empty: any may be named.
    pub tenants: Vec<String>,
    pub discovery: DiscoverySettings,
    pub guard: GuardSettings,
    pub planner: PlannerSettings,
    pub run: RunSettings,
    pub network: NetworkSettings,
    pub session: SessionSettings,
    pub savings: SavingsSettings,
    pub capabilities: CapabilitySettings,
    pub redaction: RedactionSettings,
    pub retention: RetentionSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            policy: ToolPolicy::default(),
            visibility: vec![],
            kill_switch: vec![],
            modes: vec![],
            default_mode: String::new(),
            handshake_tools: vec!["select_intent".into(), "select_active_intent".into()],
            intents: vec![],
            tenants: vec![],
            discovery: DiscoverySettings::default(),
            guard: GuardSettings::default(),
            planner: PlannerSettings::default(),
            run: RunSettings::default(),
            network: NetworkSettings::default(),
            session: SessionSettings::default(),
            savings: SavingsSettings::default(),
            capabilities: CapabilitySettings::default(),
            redaction: RedactionSettings::default(),
            retention: RetentionSettings::default(),
        }
    }
}

impl Settings {
    /// What cannot be stored: names that nothing has or that several have, a pattern that does not compile.
    pub fn check(&self) -> Result<(), Problem> {
        if !self.default_mode.is_empty() && self.modes.iter().all(|m| m.name != self.default_mode) {
            return Err(Problem::new(
                "settings.default_mode",
                format!("the default mode {:?} is not one of the modes", self.default_mode),
                "choose one of the modes, or leave it empty",
            ));
        }
        let named = [
            ("modes", self.modes.iter().map(|m| m.name.as_str()).collect::<Vec<_>>()),
            ("visibility", self.visibility.iter().map(|r| r.id.as_str()).collect()),
            ("intents", self.intents.iter().map(|i| i.id.as_str()).collect()),
        ];
        for (part, names) in named {
            let mut seen = HashSet::new();
            if let Some(name) = names.into_iter().find(|name| name.is_empty() || !seen.insert(*name)) {
                let message = match name {
                    "" => format!("an entry of {part} has no name"),
                    name => format!("{part} has two entries called {name}"),
                };
                return Err(Problem::new("settings.names", message, "give each a name of its own"));
            }
        }
        if let Err(error) = regex::Regex::new(&self.session.intent_pattern) {
            let why = crate::intent::last_line(&error.to_string());
            return Err(Problem::new(
                "settings.intent_pattern",
                format!("session.intent_pattern does not compile: {why}"),
                "correct the regular expression, or leave it empty",
            ));
        }
        self.run.check()?;
        self.discovery.problems().into_iter().next().map_or(Ok(()), Err)
    }
}

/// Which tools exist at all for this workspace (V-01).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct ToolPolicy {
    /// Names; `*` at the end of one matches any rest. Null: no allow-list. Empty: nothing is allowed, but the discovery
    /// and handshake tools.
    pub allowed: Option<Vec<String>>,
    /// Wins over `allowed`. Written the same way; a tool is meant by its aliases too.
    pub denied: Vec<String>,
    /// A tool must carry all of these.
    pub require_tags: Vec<String>,
}

/// Hides tools from some sessions; rules only narrow (V-02). A rule applies to a session that matches every
/// condition it states.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct VisibilityRule {
    pub id: String,
    /// Tenants that the rule is about; empty means all.
    pub tenants: Vec<String>,
    /// Tenants that the rule spares.
    pub except_tenants: Vec<String>,
    /// Users that the rule is about; empty means all.
    pub users: Vec<String>,
    /// The rule holds while this flag is off; empty means always.
    pub unless_flag: String,
    /// Tool names that it hides; `*` at the end matches any rest.
    pub hide: Vec<String>,
    /// Tags whose tools it hides.
    pub hide_tags: Vec<String>,
}

/// A set of tool groups that may be used together (V-03).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct Mode {
    pub name: String,
    pub title: String,
    pub groups: Vec<String>,
    /// Single tools permitted beside the groups.
    pub tools: Vec<String>,
}

/// Something that a session can commit to before destructive tools are shown (source 004).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct Intent {
    pub id: String,
    pub title: String,
    pub status: IntentStatus,
    /// Rules that hold while the intent is worked on; they stand in the prompt.
    pub constraints: Vec<String>,
    /// Path patterns that the work keeps to; a pattern that fits nearly everything is refused.
    pub scope: Vec<String>,
    /// When the intent is met.
    pub acceptance: Vec<String>,
}

/// How far an intent is. Open and active ones can be selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum IntentStatus {
    #[default]
    Open,
    Active,
    Completed,
    Abandoned,
    /// Waits for a person.
    Blocked,
}

/// How sessions move between the states (source 004).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct SessionSettings {
    /// A regular expression that ids of intents match; empty lets every id pass.
    pub intent_pattern: String,
    pub on_message: OnMessage,
    /// How many path patterns an intent's scope may have.
    pub max_scope: u32,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self { intent_pattern: "^REQ-[A-Za-z0-9-]+$".into(), on_message: OnMessage::default(), max_scope: 20 }
    }
}

/// What a new message does to the selected intent (V-08). Either way the session leaves ACTION.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum OnMessage {
    /// The intent is gone.
    #[default]
    Clear,
    /// The intent is offered again, to be selected again.
    Reconfirm,
}

/// What tokens that the provider has cached cost, for the savings (V-10).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct SavingsSettings {
    /// Price of a cached input token as a part of a fresh one's, 0..1; 1 means that nothing is cached.
    pub cached_price: f32,
    /// Tokens that a prompt's unchanged beginning must have to be cached at all.
    pub min_cached: u32,
}

impl Default for SavingsSettings {
    fn default() -> Self {
        Self { cached_price: 0.1, min_cached: 1024 }
    }
}

/// Whether the guard acts or only reports (G-13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum GuardMode {
    #[default]
    Enforce,
    /// The whitelist and the applicability rules report what they would have dropped and keep it. Visibility, state
    /// and schema are never relaxed (G-15).
    Audit,
}

/// The guard's switches and lists (source 000).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct GuardSettings {
    pub mode: GuardMode,
    /// Read tool mentions inside thinking text too (G-04).
    pub scan_thinking: bool,
    /// Add the matching tool when the query names a key or URL that the model forgot (G-10).
    pub add_by_rule: bool,
    /// Prefixes of key-shaped words that are no Jira keys (G-05).
    pub noise_prefixes: Vec<String>,
    /// Project keys that may occur; empty means any but the noise (G-05).
    pub projects: Vec<String>,
}

impl Default for GuardSettings {
    fn default() -> Self {
        Self {
            mode: GuardMode::Enforce,
            scan_thinking: true,
            add_by_rule: true,
            noise_prefixes: crate::guard::NOISE_PREFIXES.iter().map(|p| p.to_string()).collect(),
            projects: vec![],
        }
    }
}

/// How plans are made (source 001).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct PlannerSettings {
    /// Milliseconds for each reply of the model; after that the offline planner answers (P-11).
    pub timeout_ms: u32,
    pub temperature: f32,
    /// Encoding that counts tokens, such as `o200k_base`.
    pub encoding: String,
    /// How often a model is asked for one planning while it only selects an intent or searches for tools; at least 1.
    pub max_turns: u32,
    /// Tokens that the model takes in at once; a tool's cost is shown as a share of it.
    pub context_window: u32,
}

impl Default for PlannerSettings {
    fn default() -> Self {
        Self {
            timeout_ms: 2000,
            temperature: 0.3,
            encoding: "o200k_base".into(),
            max_turns: 4,
            context_window: 200_000,
        }
    }
}

/// How plans are run (source 001).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct RunSettings {
    /// Steps that run at once; the others wait in a queue (O-01).
    pub parallel_limit: u32,
    /// Milliseconds of one attempt, unless the tool says otherwise (O-04).
    pub timeout_ms: u32,
    pub retry: RetryPolicy,
    /// How the pauses of retries grow (O-03).
    pub backoff: Backoff,
    /// How far a retry's pause may lie from its time, percent (O-03); 0 means exactly on time.
    pub jitter_percent: u32,
    pub adaptive_timeout: AdaptiveTimeout,
    pub cache: CacheSettings,
    /// Faults to inject into every run (O-12).
    pub faults: Vec<FaultRule>,
    pub durability: Durability,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            parallel_limit: 5,
            timeout_ms: 30_000,
            retry: RetryPolicy::default(),
            backoff: Backoff::default(),
            jitter_percent: 0,
            adaptive_timeout: AdaptiveTimeout::default(),
            cache: CacheSettings::default(),
            faults: vec![],
            durability: Durability::default(),
        }
    }
}

impl RunSettings {
    /// A run without a place or without time would stand still.
    fn check(&self) -> Result<(), Problem> {
        let wrong = |name: &str, value: &dyn std::fmt::Display, hint: &str| {
            Err(Problem::new("settings.run", format!("run.{name} is {value}"), hint))
        };
        if !(1..=1000).contains(&self.parallel_limit) {
            return wrong("parallel_limit", &self.parallel_limit, "choose a number from 1 to 1000");
        }
        if self.timeout_ms == 0 {
            return wrong("timeout_ms", &self.timeout_ms, "give attempts at least a millisecond");
        }
        match self.faults.iter().position(|f| !(0.0..=1.0).contains(&f.probability)) {
            Some(at) => {
                let name = format!("faults[{at}].probability");
                wrong(&name, &self.faults[at].probability, "choose a number from 0 to 1")
            }
            None => Ok(()),
        }
    }
}

/// How the pauses between attempts grow (source 001, `TOOL_RETRY_BACKOFF`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Backoff {
    /// 1, 2, 4 times the base.
    #[default]
    Exponential,
    /// 1, 2, 3 times the base.
    Linear,
    /// The base every time.
    Fixed,
}

impl Backoff {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Exponential, "exponential"), (Self::Linear, "linear"), (Self::Fixed, "fixed")];

    /// As in JSON.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(backoff, _)| *backoff == self).map_or("", |(_, name)| name)
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|(backoff, _)| *backoff)
    }

    /// The factor of the pause before retry number `retry`, from 1.
    pub fn factor(self, retry: u32) -> u64 {
        match self {
            Self::Exponential => 1 << retry.saturating_sub(1).min(20),
            Self::Linear => u64::from(retry.max(1)),
            Self::Fixed => 1,
        }
    }
}

/// Timeouts from a tool's history, where neither step nor tool states one (O-11).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct AdaptiveTimeout {
    pub enabled: bool,
    /// Times the 95th percentile of the tool's durations.
    pub factor: f32,
    /// Bounds, milliseconds.
    pub min_ms: u32,
    pub max_ms: u32,
    /// Calls before which the history says nothing.
    pub min_calls: u32,
}

impl Default for AdaptiveTimeout {
    fn default() -> Self {
        Self { enabled: false, factor: 3.0, min_ms: 1000, max_ms: 120_000, min_calls: 20 }
    }
}

/// The cache of results (O-08).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct CacheSettings {
    pub enabled: bool,
    /// Seconds that a result stays.
    pub ttl_s: u32,
    /// Results that are kept at most.
    pub max_entries: u32,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self { enabled: true, ttl_s: 300, max_entries: 10_000 }
    }
}

/// What an event of a run survives once it was shown (O-10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// The end of this process, `kill -9` included; a power cut may take the last moments.
    #[default]
    Process,
    /// A power cut too: every event is synced to the disk first.
    Power,
}

/// Where the fetching tools go. Tokens are not here: they come from the environment (S-01).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct NetworkSettings {
    pub jira_url: String,
    pub confluence_url: String,
    /// Let fetches reach private and loopback addresses (S-01).
    pub allow_private: bool,
    /// Bytes of a response after which reading stops.
    pub max_bytes: u32,
}

impl Default for NetworkSettings {
    fn default() -> Self {
        Self { jira_url: String::new(), confluence_url: String::new(), allow_private: false, max_bytes: 2_000_000 }
    }
}

/// Which extensions are enabled and what their ids mean (source 002).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct CapabilitySettings {
    /// Ids of extensions: names of the core catalog, aliases, namespaces or tools. Empty, or null in a file: none, and
    /// the planning view is empty (K-06).
    #[serde(deserialize_with = "lenient")]
    #[cfg_attr(feature = "specta", specta(type = Vec<String>))]
    pub enabled_extensions: Vec<String>,
    /// The bundled entries, aliases, implications and matchers.
    pub use_core_catalog: bool,
    /// More groups of ids that mean one extension; the first of a group is its canonical id.
    pub aliases: Vec<Vec<String>>,
    /// What an extension brings along, one way.
    pub implications: BTreeMap<String, Vec<String>>,
    /// Suggest capabilities for a query by patterns (K-11).
    pub suggest: bool,
    /// More patterns beside the core's.
    pub matchers: Vec<RequestMatcher>,
}

impl Default for CapabilitySettings {
    fn default() -> Self {
        Self {
            enabled_extensions: vec![],
            use_core_catalog: true,
            aliases: vec![],
            implications: BTreeMap::new(),
            suggest: false,
            matchers: vec![],
        }
    }
}

/// Phrases in a query that call for a capability (K-11).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct RequestMatcher {
    pub capability: String,
    pub patterns: Vec<String>,
    /// Only for queries that hold a URL.
    pub require_literal_url: bool,
    /// Only for queries without one.
    pub forbid_literal_url: bool,
    /// Capabilities that usually go along: who searches the web reads what was found.
    pub along: Vec<String>,
}

/// A list of texts as people write it: null is empty, blanks and what is no text fall away (K-07).
fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(crate::capability::strings(&value).0)
}

/// What never gets into the journal, beside the secrets that are known and the shapes that are built in (S-01).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct RedactionSettings {
    /// Names of fields whose text is left out, in any letter case; `-` and `_` are the same.
    pub fields: Vec<String>,
    pub patterns: Vec<RedactionPattern>,
}

/// Text that is left out wherever it stands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct RedactionPattern {
    /// What it is; stands in the place of the text, as in `[redacted: customer number]`.
    pub name: String,
    /// A regular expression.
    pub pattern: String,
}

/// Which runs are kept; zero means without limit. Pinned runs and runs under way always are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct RetentionSettings {
    pub max_runs: u32,
    pub max_age_days: u32,
    /// Megabytes of the runs' events.
    pub max_megabytes: u32,
}

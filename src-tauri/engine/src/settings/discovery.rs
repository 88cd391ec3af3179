//! The knobs of discovery (D-01): what waits for its first call, how tools are found, and what the prompt says of it.

use crate::{Problem, text::glob, tool::Loading};
use serde::{Deserialize, Serialize};

/// Deferred loading, search and the prompt's aids (source 003).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct DiscoverySettings {
    /// While off, deferred tools are shown like all others and the discovery tools are hidden.
    pub enabled: bool,
    /// Names that survive the allow-list, the required tags and every mode.
    pub discovery_tools: Vec<String>,
    /// How a tool loads that declares nothing.
    pub default_loading: Loading,
    /// Names that load from the start whatever they declare: `*` is any text, `?` any one character.
    pub always_loaded_patterns: Vec<String>,
    pub activation_scope: ActivationScope,
    /// Namespaces whose tools rank a little higher, the most preferred first.
    pub preferred_namespaces: Vec<String>,
    /// Look for the words' letters anywhere in a tool when no tool ranks.
    pub fts_fallback_to_regex: bool,
    /// Take only the differences into the stored index; else any difference builds it anew.
    pub enable_incremental_index: bool,
    /// Build the index anew whenever the workspace is opened.
    pub rebuild_index_on_open: bool,
    /// The most that one search finds; 0 means 10.
    pub max_search_results: u32,
    /// Folder of the stored indexes, from the workspace's folder; empty means the person's cache folder.
    pub cache_dir: String,
    pub hints: HintSettings,
    pub directory: DirectorySettings,
    pub examples: ExampleSettings,
}

impl Default for DiscoverySettings {
    fn default() -> Self {
        Self {
            enabled: false,
            discovery_tools: vec!["tool_search".into(), "tool_get".into()],
            default_loading: Loading::Always,
            always_loaded_patterns: ["tasks.*", "tool_search", "tool_get", "finish"].map(String::from).into(),
            activation_scope: ActivationScope::Run,
            preferred_namespaces: vec![],
            fts_fallback_to_regex: true,
            enable_incremental_index: true,
            rebuild_index_on_open: false,
            max_search_results: 10,
            cache_dir: String::new(),
            hints: HintSettings::default(),
            directory: DirectorySettings::default(),
            examples: ExampleSettings::default(),
        }
    }
}

/// How long an activated tool stays in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ActivationScope {
    #[default]
    Run,
    /// For the session's id, until it is taken back or the program ends.
    Session,
}

/// The ways to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum SearchType {
    /// Ranked by words, in the index of our own.
    #[default]
    Fts,
    Regex,
    Exact,
}

/// A shortlist for the query in the prompt (D-07).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct HintSettings {
    pub enabled: bool,
    /// 1 to 20.
    pub top_k: u32,
    pub include_always_loaded: bool,
    pub search_type: SearchType,
}

impl Default for HintSettings {
    fn default() -> Self {
        Self { enabled: false, top_k: 5, include_always_loaded: false, search_type: SearchType::Fts }
    }
}

/// The groups of tools in the prompt (D-07).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct DirectorySettings {
    pub enabled: bool,
    /// 1 to 100.
    pub max_groups: u32,
    /// Names shown of each group, 0 to 50.
    pub max_tools_per_group: u32,
    pub include_tool_counts: bool,
    /// A group of each namespace for the tools that no group of `groups` takes.
    pub include_default_groups: bool,
    pub groups: Vec<ToolGroup>,
}

impl Default for DirectorySettings {
    fn default() -> Self {
        Self {
            enabled: false,
            max_groups: 20,
            max_tools_per_group: 6,
            include_tool_counts: true,
            include_default_groups: true,
            groups: vec![],
        }
    }
}

/// A group of the directory: a tool belongs to the first group that takes it, for any of the reasons.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct ToolGroup {
    pub name: String,
    pub title: Option<String>,
    /// When to look here, in a few words.
    pub trigger: Option<String>,
    pub task_type: Option<TaskType>,
    pub match_namespaces: Vec<String>,
    pub match_tags: Vec<String>,
    /// `*` is any text, `?` any one character.
    pub match_name_patterns: Vec<String>,
    pub tool_names: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum TaskType {
    Browser,
    Api,
    Code,
    Domain,
    Unknown,
}

/// Examples in what `tool_get` returns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct ExampleSettings {
    pub enabled: bool,
    /// 1 to 10.
    pub max_examples_per_tool: u32,
    /// The example's query and expected result beside its arguments.
    pub include_descriptions: bool,
}

impl Default for ExampleSettings {
    fn default() -> Self {
        Self { enabled: true, max_examples_per_tool: 3, include_descriptions: true }
    }
}

/// The most that a search may be asked for.
pub const MAX_LIMIT: u32 = 20;

impl DiscoverySettings {
    /// What is out of range, one problem each.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = vec![];
        let mut within = |key: &str, value: u32, least: u32, most: u32| {
            if !(least..=most).contains(&value) {
                problems.push(Problem::new(
                    "settings.discovery",
                    format!("discovery.{key} is {value}"),
                    format!("set it to a number from {least} to {most}"),
                ));
            }
        };
        within("hints.top_k", self.hints.top_k, 1, MAX_LIMIT);
        within("directory.max_groups", self.directory.max_groups, 1, 100);
        within("directory.max_tools_per_group", self.directory.max_tools_per_group, 0, 50);
        within("examples.max_examples_per_tool", self.examples.max_examples_per_tool, 1, 10);
        within("max_search_results", self.max_search_results, 0, 1000);
        let mut seen = std::collections::HashSet::new();
        for group in &self.directory.groups {
            if group.name.trim().is_empty() || !seen.insert(group.name.trim()) {
                problems.push(Problem::new(
                    "settings.discovery",
                    format!("discovery.directory.groups has a group called {:?}", group.name),
                    "give every group a name of its own",
                ));
            }
        }
        problems
    }

    /// The pattern that loads the tool from the start, if one does.
    pub fn pattern_for(&self, tool: &str) -> Option<&str> {
        self.always_loaded_patterns.iter().map(String::as_str).find(|pattern| glob(pattern, tool))
    }

    /// The most that one search finds.
    pub fn most_results(&self) -> u32 {
        if self.max_search_results == 0 { 10 } else { self.max_search_results }
    }
}

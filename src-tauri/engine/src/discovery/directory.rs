//! The groups of tools that a session may find (D-07).

use super::{Within, blocks::one_line, query::namespace};
use crate::{
    settings::{TaskType, ToolGroup},
    text::glob,
    tool::ToolSpec,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The groups in the order of the settings, then those of the namespaces.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Directory {
    pub groups: Vec<DirectoryGroup>,
    /// Groups beyond `discovery.directory.max_groups`.
    pub left_out: u32,
    /// What the model sees of it.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct DirectoryGroup {
    pub name: String,
    pub title: Option<String>,
    pub trigger: Option<String>,
    pub task_type: Option<TaskType>,
    /// How many tools it holds.
    pub tools: u32,
    /// The shortest names.
    pub examples: Vec<String>,
}

/// The group of the tools without a namespace.
const CORE: &str = "core";

/// Groups the tools that the session may call, the discovery tools aside.
pub fn directory(within: &Within) -> Directory {
    let settings = &within.settings.directory;
    let mut explicit: Vec<Vec<&ToolSpec>> = vec![vec![]; settings.groups.len()];
    let mut by_namespace: BTreeMap<&str, Vec<&ToolSpec>> = BTreeMap::new();
    for tool in within.catalog.specs() {
        if within.is_discovery_tool(&tool.name) || !within.viewer.sees(tool) {
            continue;
        }
        match settings.groups.iter().position(|group| takes(group, tool)) {
            Some(place) => explicit[place].push(tool),
            None => by_namespace.entry(namespace(tool)).or_default().push(tool),
        }
    }
    let shown = settings.max_tools_per_group.min(50) as usize;
    let mut groups: Vec<DirectoryGroup> = settings
        .groups
        .iter()
        .zip(explicit)
        .filter(|(_, tools)| !tools.is_empty())
        .map(|(group, tools)| DirectoryGroup {
            name: group.name.clone(),
            title: group.title.clone(),
            trigger: group.trigger.clone(),
            task_type: group.task_type,
            tools: tools.len() as u32,
            examples: shortest(tools, shown),
        })
        .collect();
    if settings.include_default_groups {
        // The empty namespace sorts first, and so does its group.
        groups.extend(by_namespace.into_iter().map(|(namespace, tools)| DirectoryGroup {
            name: if namespace.is_empty() { CORE.into() } else { namespace.into() },
            title: None,
            trigger: Some(match (namespace, tools[0].tags.iter().any(|t| t == "mcp")) {
                ("", _) => "Built-in tools".into(),
                (name, true) => format!("{name} MCP tools"),
                (name, false) => format!("{name} tools"),
            }),
            task_type: None,
            tools: tools.len() as u32,
            examples: shortest(tools, shown),
        }));
    }
    let most = settings.max_groups.clamp(1, 100) as usize;
    let left_out = groups.len().saturating_sub(most) as u32;
    groups.truncate(most);
    let text = render(&groups, settings.include_tool_counts);
    Directory { groups, left_out, text }
}

fn takes(group: &ToolGroup, tool: &ToolSpec) -> bool {
    let own = namespace(tool);
    group.tool_names.contains(&tool.name)
        || group.match_name_patterns.iter().any(|pattern| glob(pattern, &tool.name))
        || group.match_namespaces.iter().any(|n| {
            !n.is_empty() && own.strip_prefix(n.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
        || group.match_tags.iter().any(|tag| tool.tags.contains(tag))
}

fn shortest(tools: Vec<&ToolSpec>, most: usize) -> Vec<String> {
    let mut names: Vec<&String> = tools.into_iter().map(|t| &t.name).collect();
    names.sort_by_key(|name| (name.chars().count(), *name));
    names.into_iter().take(most).cloned().collect()
}

fn render(groups: &[DirectoryGroup], counts: bool) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let mut text = String::from("<tool_directory>\nGroups of tools that can be found and called:\n");
    for group in groups {
        let mut parts = vec![one_line(&group.name, 80)];
        parts.extend(group.title.iter().filter(|t| **t != group.name).map(|t| one_line(t, 120)));
        parts.extend(group.trigger.iter().map(|t| one_line(t, 120)));
        if counts {
            parts.push(format!("{} tool{}", group.tools, if group.tools == 1 { "" } else { "s" }));
        }
        text.push_str(&format!("- {}\n", parts.join(" — ")));
        if !group.examples.is_empty() {
            text.push_str(&format!("  e.g. {}\n", group.examples.join(", ")));
        }
    }
    text.push_str("</tool_directory>\n");
    text
}

//! What discovery adds to the prompt, as the model will see it (D-07).

use super::{DiscoveryEvent, GET, SEARCH, Within, directory::directory, hints::hints};
use crate::{ports::TokenCounter, tool::Binding};
use serde::{Deserialize, Serialize};

/// The blocks of a planning's prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PromptBlocks {
    /// In the order of the prompt.
    pub blocks: Vec<PromptBlock>,
    /// Tokens of all of them.
    pub tokens: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PromptBlock {
    pub kind: BlockKind,
    /// The very text.
    pub text: String,
    pub tokens: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// How to find what is not shown.
    Discovery,
    Directory,
    Hints,
}

/// The blocks for a query, without token counts, and what is written down of them. The hints come last: what changes
/// with every query stands behind what stays, so that a provider's prompt cache holds.
pub fn blocks(within: &Within, query: &str) -> (Vec<(BlockKind, String)>, Vec<DiscoveryEvent>) {
    let (mut blocks, mut events) = (vec![], vec![]);
    if !within.settings.enabled {
        return (blocks, events);
    }
    if let Some(text) = guidance(within) {
        blocks.push((BlockKind::Discovery, text));
    }
    if within.settings.directory.enabled {
        let directory = directory(within);
        events.push(DiscoveryEvent::DirectoryRendered { group_count: directory.groups.len() as u32 });
        blocks.push((BlockKind::Directory, directory.text));
    }
    if within.settings.hints.enabled {
        let (text, event) = hints(within, query);
        events.push(event);
        blocks.push((BlockKind::Hints, text));
    }
    blocks.retain(|(_, text)| !text.is_empty());
    (blocks, events)
}

impl PromptBlocks {
    pub fn counted(blocks: Vec<(BlockKind, String)>, counter: &dyn TokenCounter) -> Self {
        let blocks: Vec<PromptBlock> =
            blocks.into_iter().map(|(kind, text)| PromptBlock { kind, tokens: counter.count(&text), text }).collect();
        Self { tokens: blocks.iter().map(|b| b.tokens).sum(), blocks }
    }
}

/// Says how to search, where the session can and there is something to find.
fn guidance(within: &Within) -> Option<String> {
    let named = |builtin: &str| {
        let bound = |b: &Binding| matches!(b, Binding::Builtin { name } if name == builtin);
        let tool = within.catalog.specs().find(|t| bound(&t.binding) && within.viewer.in_prompt(t))?;
        Some(tool.name.clone())
    };
    let search = named(SEARCH)?;
    let get = match named(GET) {
        Some(get) => format!(" {get} shows the arguments and examples of up to ten tools by name."),
        None => String::new(),
    };
    let waits = |t: &crate::tool::ToolSpec| within.viewer.sees(t) && !within.viewer.in_prompt(t);
    within.catalog.specs().any(waits).then(|| {
        format!(
            "<tool_discovery>\nMore tools exist than are offered here. Call {search} with what you need in plain \
             words to find them.{get} Then call the tool by its exact name.\n</tool_discovery>\n"
        )
    })
}

/// A text on one line, cut to `most` characters: nothing in it can end or begin a block.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ").replace(['<', '>'], " ");
    match joined.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", joined[..at].trim_end()),
        None => joined,
    }
}

//! Finding tools: searching and reading them as a model does, activating them, and what the prompt says of them.

pub mod activation;
mod answer;
mod blocks;
mod directory;
mod event;
mod get;
mod hints;
mod index;
pub mod lab;
mod query;
mod rank;
mod rows;
pub mod semantic;
mod specs;
mod stored;
#[cfg(test)]
mod tests;
mod vocabulary;
mod words;

pub use answer::{Answer, answer};
pub use blocks::{BlockKind, PromptBlock, PromptBlocks, blocks};
pub use directory::{Directory, DirectoryGroup, directory};
pub use event::DiscoveryEvent;
pub use get::{GetAnswer, GetQuery, MAX_NAMES, ToolRecord, get};
pub use hints::hints;
pub use index::Index;
pub use query::{SearchAnswer, SearchQuery, ToolHit, search};
pub use rank::{FITS, Hit};
pub use specs::specs;
pub use stored::{Synced, Unusable};
pub(crate) use words::plain_words;

use crate::{
    settings::DiscoverySettings,
    tool::{Catalog, ToolSpec},
    verdict::Gate,
    visibility::{Viewer, is_own_discovery_tool},
};
use index::{key, own_name};

/// The built-in names of the discovery tools.
pub const SEARCH: &str = "tool_search";
pub const GET: &str = "tool_get";

/// What one session searches in, and as whom.
#[derive(Clone, Copy)]
pub struct Within<'a> {
    pub catalog: &'a Catalog,
    pub index: &'a Index,
    pub settings: &'a DiscoverySettings,
    pub viewer: &'a Viewer<'a>,
}

impl Within<'_> {
    /// Whether the name is that of a discovery tool of our own.
    fn is_discovery_tool(&self, name: &str) -> bool {
        self.catalog.spec(name).is_some_and(is_own_discovery_tool)
    }
}

/// What the policy removes from the catalog, if it removes anything (D-08).
pub fn policy_filtered(within: &Within) -> Option<DiscoveryEvent> {
    let removed: Vec<&ToolSpec> =
        within.catalog.specs().filter(|t| within.viewer.stopped_at(t) == Some(Gate::Policy)).collect();
    let original_count = within.catalog.len() as u32;
    (!removed.is_empty()).then(|| DiscoveryEvent::PolicyFiltered {
        filtered_count: original_count - removed.len() as u32,
        removed: removed.iter().take(50).map(|t| t.name.clone()).collect(),
        original_count,
    })
}

/// That the index is at hand, stored at `path` or nowhere (D-08).
pub fn index_ready(within: &Within, path: &str) -> DiscoveryEvent {
    let count = |of: &dyn Fn(&ToolSpec) -> bool| within.catalog.specs().filter(|t| of(t)).count() as u32;
    DiscoveryEvent::IndexReady {
        db_path: path.into(),
        tool_count: within.index.len() as u32,
        fts_available: true,
        execution_tool_count: count(&|t| within.viewer.stopped_at(t) != Some(Gate::Policy)),
        visible_tool_count: count(&|t| within.viewer.in_prompt(t)),
    }
}

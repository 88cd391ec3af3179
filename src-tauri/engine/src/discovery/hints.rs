//! The shortlist for the query in the prompt (D-07).

use super::{DiscoveryEvent, SearchQuery, Within, blocks::one_line, query};
use crate::settings::MAX_LIMIT;

/// The block, empty when nothing is found, and the event, which is written either way. `query` is what the person said
/// last.
pub fn hints(within: &Within, query: &str) -> (String, DiscoveryEvent) {
    let settings = &within.settings.hints;
    let top_k = settings.top_k.clamp(1, MAX_LIMIT);
    let asked = SearchQuery {
        search_type: settings.search_type,
        limit: top_k,
        include_always_loaded: settings.include_always_loaded,
        ..SearchQuery::of(query)
    };
    let mut answer = query::search(within, &asked);
    answer.tools.retain(|hit| !within.is_discovery_tool(&hit.name));
    let event = DiscoveryEvent::HintsGenerated {
        query: query.into(),
        requested_search_type: answer.requested_search_type,
        effective_search_type: answer.effective_search_type,
        count: answer.tools.len() as u32,
        top_k,
    };
    if answer.tools.is_empty() {
        return (String::new(), event);
    }
    let mut text = format!("<tool_hints>\nTools that may serve \"{}\":\n", one_line(query, 200));
    for hit in &answer.tools {
        text.push_str(&format!("- {} — {}\n", hit.name, one_line(&hit.description, 160)));
    }
    text.push_str("</tool_hints>\n");
    (text, event)
}

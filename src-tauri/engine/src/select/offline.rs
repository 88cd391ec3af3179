//! The offline selector: proposes calls without a model, the same for the same input (P-04).
//!
//! A reference in the query decides first, then a tool that the query describes well, then a general search tool. The
//! proposals pass the same guard as a model's.

use super::{Proposal, Proposed, ReplyPath};
use crate::{
    discovery::{Hit, Index},
    guard::reference,
    request::{Decomposition, SubQuery},
    settings::Settings,
    tool::{Category, Needs, SideEffects, ToolSpec},
};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// What the selector may choose from: the tools that are visible and, where there is one, on the whitelist.
pub struct Choice<'a> {
    pub tools: Vec<&'a ToolSpec>,
    pub index: &'a Index,
    pub settings: &'a Settings,
}

/// A tool is chosen by description alone when the query gives this share of the evidence its own text gives, and at
/// least two words match.
const STRONG_SHARE: f32 = 0.45;

/// Proposes calls for every part of the decomposition, and says why.
pub fn select(choice: &Choice, decomposition: &Decomposition) -> Proposal {
    let mut calls: Vec<Proposed> = vec![];
    let mut served: Vec<(&str, Vec<u32>)> = vec![];
    let mut reasons = vec![decomposition.reasoning.clone()];
    for part in &decomposition.sub_queries {
        let after: Vec<u32> = served
            .iter()
            .filter(|(id, _)| part.dependencies.iter().any(|d| d == id))
            .flat_map(|(_, calls)| calls.clone())
            .collect();
        let start = calls.len() as u32;
        for (tool, arguments, reason) in choice.for_part(part, &after) {
            reasons.push(format!("{}: {} {reason}", part.id, tool.name));
            calls.push(Proposed {
                tool: tool.name.clone(),
                arguments,
                sub_query: part.id.clone(),
                after: after.clone(),
                ..Default::default()
            });
        }
        served.push((&part.id, (start..calls.len() as u32).collect()));
    }
    reasons.retain(|r| !r.is_empty());
    let path_reason = if calls.is_empty() {
        "No visible tool fits the query"
    } else {
        "Chosen without a model, by rules and ranking"
    };
    Proposal {
        path: ReplyPath::Offline,
        path_reason: path_reason.into(),
        calls,
        mentions: vec![],
        declined: vec![],
        reasoning: reasons.join(". "),
    }
}

type Chosen<'a> = (&'a ToolSpec, Option<Map<String, Value>>, String);

impl<'a> Choice<'a> {
    fn for_part(&self, part: &SubQuery, after: &[u32]) -> Vec<Chosen<'a>> {
        let combine = match part.purpose.as_str() {
            "compare" | "apply" | "synthesize" => Some(Category::Synthesis),
            "validate" => Some(Category::Validation),
            _ => None,
        };
        if let Some(category) = combine {
            let fit = self.tools.iter().filter(|t| t.category == category && t.applicability.is_none());
            let mut combined = fit.filter_map(|t| Some((*t, over_results(t, &part.query, after)?)));
            if let Some((tool, arguments)) = combined.next() {
                return vec![(tool, Some(arguments), format!("works on the results of {} earlier calls", after.len()))];
            }
            // Nothing to compare with: the look-ups stand for themselves. Other parts are looked up as a whole.
            if part.purpose == "compare" {
                return vec![];
            }
        }
        let by_reference = self.by_reference(&part.query);
        if !by_reference.is_empty() {
            return by_reference;
        }
        self.by_description(&part.query).or_else(|| self.general(&part.query)).into_iter().collect()
    }

    /// Tools whose reference the text states.
    fn by_reference(&self, text: &str) -> Vec<Chosen<'a>> {
        let mut chosen: Vec<Chosen> = vec![];
        for tool in &self.tools {
            let Some(rule) = tool.applicability.as_ref().filter(|_| tool.classification.is_safe()) else { continue };
            let leads = match rule.needs {
                Needs::Text | Needs::Entity => false,
                Needs::Path => matches!(tool.side_effects, SideEffects::Pure | SideEffects::Read),
                _ => true,
            };
            if !leads {
                continue;
            }
            // A pattern that does not compile leads nowhere; the guard says so when the tool is proposed.
            let found = reference::of(&rule.needs, text, &self.settings.guard).map(|r| r.found).unwrap_or_default();
            if let Some(first) = found.first() {
                chosen.push((tool, None, format!("because the query names {}", first.value)));
            }
        }
        // A wiki or ticket URL is fetched by the tool that knows it, not once more as a page.
        let specific = chosen.iter().any(|(t, _, _)| !needs_url(t));
        if specific {
            let only_urls_of_it = reference::urls(text).found.iter().all(|u| {
                !reference::issue_keys(&u.value, &self.settings.guard).found.is_empty()
                    || !reference::page_ids(&u.value).found.is_empty()
            });
            chosen.retain(|(t, _, _)| !needs_url(t) || !only_urls_of_it);
        }
        chosen
    }

    /// The best tool that is no general search, when the query describes it well.
    fn by_description(&self, text: &str) -> Option<Chosen<'a>> {
        let names: HashSet<&str> = self
            .tools
            .iter()
            .filter(|t| t.applicability.is_none() && t.category == Category::External)
            .map(|t| t.name.as_str())
            .collect();
        let eligible = |name: &str| names.contains(name);
        let best = self.index.search(text, 1, eligible).into_iter().next()?;
        let tool = self.tools.iter().find(|t| t.name == best.tool)?;
        let own_name = self.index.search(&format!("{} {}", tool.name, tool.description), 1, |n| n == tool.name);
        let share = own_name.first().map_or(0.0, |own: &Hit| best.evidence / own.evidence);
        (share >= STRONG_SHARE && best.matched.len() >= 2)
            .then(|| (*tool, None, format!("because the query says {}", best.matched.join(", "))))
    }

    /// A general search tool: by words for something quoted or written like code, by meaning for a question, by both
    /// when the text is of both kinds.
    fn general(&self, text: &str) -> Option<Chosen<'a>> {
        let exact =
            !reference::quoted(text).found.is_empty() || text.contains(['_', '{', '=', '(']) || text.contains("::");
        let question = text.contains(['?', '？']) || text.split_whitespace().count() > 3;
        let order: &[&str] = match (exact, question) {
            (true, false) => &["exact search", "hybrid search", "semantic search"],
            (true, true) => &["hybrid search", "exact search", "semantic search"],
            _ => &["semantic search", "hybrid search", "exact search"],
        };
        let searches: Vec<&&ToolSpec> =
            self.tools.iter().filter(|t| t.category == Category::Search && takes_text(t)).collect();
        let by_capability = order.iter().find_map(|wanted| {
            searches.iter().find(|t| t.capabilities.iter().any(|c| c == wanted)).map(|t| (**t, *wanted))
        });
        match by_capability {
            Some((tool, capability)) => Some((tool, None, format!("for its {capability}"))),
            None => searches.first().map(|t| (**t, None, "as the general search tool".to_string())),
        }
    }
}

fn needs_url(tool: &ToolSpec) -> bool {
    tool.applicability.as_ref().is_some_and(|a| a.needs == Needs::Url)
}

fn takes_text(tool: &ToolSpec) -> bool {
    tool.applicability.as_ref().is_some_and(|a| a.needs == Needs::Text)
}

/// Arguments for a tool that works on earlier results: its array argument gets references to the calls `after`, its
/// text argument the question. None when the tool needs anything else, such as an answer to judge, or when there is
/// nothing to work on.
fn over_results(tool: &ToolSpec, question: &str, after: &[u32]) -> Option<Map<String, Value>> {
    if after.is_empty() {
        return None;
    }
    let properties = tool.properties()?;
    let is = |name: &str, wanted: &str| {
        properties.get(name).and_then(|s| s.get("type")).and_then(Value::as_str) == Some(wanted)
    };
    let (arrays, others): (Vec<&str>, Vec<&str>) = tool.required().into_iter().partition(|name| is(name, "array"));
    if others.iter().any(|name| !is(name, "string")) {
        return None;
    }
    // A tool that would take the results of the steps before it by itself still shows them in the plan.
    let optional = properties.keys().map(String::as_str).find(|name| arrays.is_empty() && is(name, "array"));
    let mut arguments: Map<String, Value> = others.iter().map(|name| (name.to_string(), question.into())).collect();
    for name in arrays.into_iter().chain(optional) {
        arguments.insert(name.into(), after.iter().map(|call| json!({"$from": call_reference(*call)})).collect());
    }
    arguments.values().any(Value::is_array).then_some(arguments)
}

/// How a proposed call refers to the result of another one, before the calls are steps.
pub fn call_reference(call: u32) -> String {
    format!("#{call}")
}

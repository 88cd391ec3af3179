//! `tool_search`: finding tools by words, by a regular expression or exactly (D-02, D-03).
//!
//! A search finds what the session could call and nothing else. It never fails on its text: plain words are never
//! operators, and a pattern that does not compile is searched for as words, said so.

use super::{Within, words};
use crate::{
    ports::{ErrorClass, ToolError},
    settings::{MAX_LIMIT, SearchType},
    tool::{Loading, SideEffects, ToolSpec},
};
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

/// The arguments of `tool_search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(deny_unknown_fields)]
pub struct SearchQuery {
    pub query: String,
    #[serde(default)]
    pub search_type: SearchType,
    /// 1 to 20.
    #[serde(default = "usual_limit")]
    pub limit: u32,
    /// Also what stands in the prompt from the start.
    #[serde(default)]
    pub include_always_loaded: bool,
    /// The tool must carry all of them.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The namespace or one below it.
    #[serde(default)]
    pub namespace: Option<String>,
}

fn usual_limit() -> u32 {
    8
}

impl SearchQuery {
    pub fn of(query: &str) -> Self {
        Self {
            query: query.into(),
            search_type: SearchType::Fts,
            limit: usual_limit(),
            include_always_loaded: false,
            tags: vec![],
            namespace: None,
        }
    }

    /// Whether the arguments are in range.
    pub fn check(&self) -> Result<(), ToolError> {
        if (1..=MAX_LIMIT).contains(&self.limit) {
            return Ok(());
        }
        Err(ToolError::new(
            ErrorClass::Validation,
            format!("limit is {}; it must be 1 to {MAX_LIMIT}", self.limit),
            "ask for fewer tools, or narrow the search with tags or a namespace",
        ))
    }

    /// Whether the filters let the tool through.
    pub fn fits(&self, tool: &ToolSpec) -> bool {
        let below = |wanted: &str, have: &str| {
            have.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let wanted = self.namespace.as_deref().map(str::trim).filter(|n| !n.is_empty());
        self.tags.iter().map(|t| t.trim()).filter(|t| !t.is_empty()).all(|tag| tool.tags.iter().any(|t| t == tag))
            && wanted.is_none_or(|n| below(n, &tool.name) || below(n, &tool.namespace))
    }
}

/// What `tool_search` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct SearchAnswer {
    /// Best first.
    pub tools: Vec<ToolHit>,
    pub requested_search_type: SearchType,
    pub effective_search_type: SearchType,
    /// Why the effective type is not the requested one; empty when it is.
    pub fallback_reason: String,
}

/// A tool that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ToolHit {
    pub name: String,
    pub description: String,
    /// 0..1
    pub score: f64,
    /// How it was found; `exact` for a tool that the query calls by its name.
    pub match_type: SearchType,
    pub loading_mode: Loading,
}

/// A tool with its place among those found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scored<'c> {
    pub tool: &'c ToolSpec,
    pub score: f64,
    pub match_type: SearchType,
}

/// What one way of searching found, in no order, and how it searched in the end.
pub(super) struct Found<'c> {
    pub tools: Vec<Scored<'c>>,
    pub effective: SearchType,
    pub fallback_reason: String,
}

/// The most bytes of a pattern, and of its compiled form. The engine of `regex` takes linear time, so that no pattern
/// hangs a search; these bound the time to compile one.
const MAX_PATTERN: usize = 500;
const MAX_COMPILED: usize = 1 << 20;

/// How far a tool of the most preferred namespace moves towards the full score.
const PREFERRED: f64 = 0.1;

/// Searches as the model does: among the tools that it may call.
pub fn search(within: &Within, query: &SearchQuery) -> SearchAnswer {
    let limit = query.limit.clamp(1, within.settings.most_results()) as usize;
    let counts = |tool: &ToolSpec| {
        query.fits(tool)
            && within.viewer.sees(tool)
            && (query.include_always_loaded || !within.viewer.loads_from_start(tool))
    };
    let found = find(within, &query.query, query.search_type, limit, &counts);
    let mut tools = found.tools;
    rank(&mut tools, &within.settings.preferred_namespaces);
    tools.truncate(limit);
    let hit = |s: Scored| ToolHit {
        name: s.tool.name.clone(),
        description: s.tool.description.clone(),
        score: s.score,
        match_type: s.match_type,
        loading_mode: within.viewer.loads(s.tool),
    };
    SearchAnswer {
        tools: tools.into_iter().map(hit).collect(),
        requested_search_type: query.search_type,
        effective_search_type: found.effective,
        fallback_reason: found.fallback_reason,
    }
}

/// The tools that `counts` accepts and the query finds, at least the best `limit` of them.
pub(super) fn find<'c>(
    within: &Within<'c>,
    query: &str,
    search_type: SearchType,
    limit: usize,
    counts: &dyn Fn(&ToolSpec) -> bool,
) -> Found<'c> {
    let query = query.trim();
    let found = |tools, effective, reason: &str| Found { tools, effective, fallback_reason: reason.into() };
    if query.is_empty() {
        return found(vec![], search_type, "");
    }
    match search_type {
        SearchType::Exact => found(exact(within, query, counts), SearchType::Exact, ""),
        SearchType::Regex => match compile(query) {
            Ok(pattern) => found(by_pattern(within, query, &pattern, counts), SearchType::Regex, ""),
            Err(reason) => {
                let reason = format!("not a regular expression ({reason}): searched for its words instead");
                found(lexical(within, query, limit, counts), SearchType::Fts, &reason)
            }
        },
        SearchType::Fts => {
            let ranked = lexical(within, query, limit, counts);
            if !ranked.is_empty() || !within.settings.fts_fallback_to_regex {
                return found(ranked, SearchType::Fts, "");
            }
            let literal = by_letters(within, query, counts);
            if literal.is_empty() {
                return found(literal, SearchType::Fts, "");
            }
            found(literal, SearchType::Regex, "no tool ranks for the words: searched for their letters instead")
        }
    }
}

/// Best first: score with the preference for namespaces, then namespace, side effects, shorter name, name.
pub(super) fn rank(tools: &mut [Scored], preferred: &[String]) {
    let place = |tool: &ToolSpec| {
        let own = namespace(tool);
        preferred.iter().position(|p| p == own).unwrap_or(preferred.len())
    };
    for scored in tools.iter_mut() {
        let place = place(scored.tool);
        let weight = 1.0 - place as f64 / preferred.len().max(1) as f64;
        if place < preferred.len() && scored.score < 1.0 {
            scored.score = (scored.score + PREFERRED * weight * (1.0 - scored.score)).min(0.9999);
        }
        scored.score = (scored.score * 1e4).round() / 1e4;
    }
    let effects = |tool: &ToolSpec| match tool.side_effects {
        SideEffects::Pure => 0,
        SideEffects::Read => 1,
        SideEffects::Write => 2,
        SideEffects::External => 3,
        SideEffects::Stateful => 4,
    };
    let order = |s: &Scored| (place(s.tool), effects(s.tool), s.tool.name.chars().count());
    tools.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| order(a).cmp(&order(b))).then_with(|| a.tool.name.cmp(&b.tool.name))
    });
}

/// The declared namespace, else what stands before the first point of the name.
pub(super) fn namespace(tool: &ToolSpec) -> &str {
    if !tool.namespace.is_empty() {
        return &tool.namespace;
    }
    tool.name.split_once('.').map_or("", |(namespace, _)| namespace)
}

/// Compiles a person's or a model's pattern, ignoring letter case, or says why not.
pub(super) fn compile(pattern: &str) -> Result<Regex, String> {
    if pattern.len() > MAX_PATTERN {
        return Err(format!("it has {} bytes; at most {MAX_PATTERN} are read", pattern.len()));
    }
    let compiled = RegexBuilder::new(pattern).case_insensitive(true).size_limit(MAX_COMPILED).nest_limit(50).build();
    compiled.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "it is too large".into(),
        other => other.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_string(),
    })
}

fn lexical<'c>(within: &Within<'c>, query: &str, limit: usize, counts: &dyn Fn(&ToolSpec) -> bool) -> Vec<Scored<'c>> {
    // A preferred namespace may lift a tool from below the last place.
    let wanted = if within.settings.preferred_namespaces.is_empty() { limit } else { limit * 4 };
    scored(within, query, within.index.search(query, wanted, |name| within.catalog.spec(name).is_some_and(counts)))
}

/// Hits of the index with the exact name first.
pub(super) fn scored<'c>(within: &Within<'c>, query: &str, hits: Vec<super::Hit>) -> Vec<Scored<'c>> {
    let whole = query.to_lowercase();
    let scored = |hit: super::Hit| {
        let tool = within.catalog.spec(&hit.tool)?;
        let named = tool.name.to_lowercase() == whole;
        let match_type = if named { SearchType::Exact } else { SearchType::Fts };
        Some(Scored { tool, score: if named { 1.0 } else { f64::from(hit.score).min(0.9999) }, match_type })
    };
    hits.into_iter().filter_map(scored).collect()
}

fn exact<'c>(within: &Within<'c>, query: &str, counts: &dyn Fn(&ToolSpec) -> bool) -> Vec<Scored<'c>> {
    let whole = query.to_lowercase();
    let same = |text: &String| text.trim().to_lowercase() == whole;
    let score = |tool: &ToolSpec| {
        if same(&tool.name) {
            Some(1.0)
        } else if tool.aliases.iter().any(same) || super::own_name(tool).to_lowercase() == whole {
            Some(0.95)
        } else if tool.title.as_ref().is_some_and(same) {
            Some(0.9)
        } else if tool.tags.iter().chain(&tool.capabilities).any(same) {
            Some(0.8)
        } else if same(&tool.description) {
            Some(0.75)
        } else {
            None
        }
    };
    all(within, counts, SearchType::Exact, score)
}

fn by_pattern<'c>(
    within: &Within<'c>,
    query: &str,
    pattern: &Regex,
    counts: &dyn Fn(&ToolSpec) -> bool,
) -> Vec<Scored<'c>> {
    let whole = query.to_lowercase();
    let mut tools = all(within, counts, SearchType::Regex, |tool| {
        let others = || tool.tags.iter().chain(&tool.capabilities).chain(&tool.aliases).chain(&tool.title);
        if tool.name.to_lowercase() == whole {
            return Some(1.0);
        }
        if let Some(found) = pattern.find(&tool.name) {
            let all = found.len() == tool.name.len();
            return Some(if all {
                0.95
            } else if found.start() == 0 {
                0.9
            } else {
                0.85
            });
        }
        (pattern.is_match(&tool.description) || others().any(|text| pattern.is_match(text))).then_some(0.75)
    });
    for scored in tools.iter_mut().filter(|s| s.score == 1.0) {
        scored.match_type = SearchType::Exact;
    }
    tools
}

/// The tools that hold the letters of every word of the query. Short words must be whole, so that "or" is not found in
/// "forecast".
fn by_letters<'c>(within: &Within<'c>, query: &str, counts: &dyn Fn(&ToolSpec) -> bool) -> Vec<Scored<'c>> {
    let wanted: Vec<String> =
        words::asked(query).into_iter().filter(|a| !a.compound).take(32).map(|a| a.word.lower).collect();
    if wanted.is_empty() {
        return vec![];
    }
    all(within, counts, SearchType::Regex, |tool| {
        let name = tool.name.to_lowercase();
        if wanted.iter().all(|word| holds(&name, word)) {
            return Some(0.85);
        }
        let others = tool.tags.iter().chain(&tool.capabilities).chain(&tool.aliases).chain(&tool.title);
        let texts: Vec<String> =
            std::iter::once(&tool.description).chain(others).map(|t| t.to_lowercase()).chain([name]).collect();
        wanted.iter().all(|word| texts.iter().any(|text| holds(text, word))).then_some(0.75)
    })
}

fn holds(text: &str, word: &str) -> bool {
    let bare = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(word).any(|(at, _)| {
        word.len() >= 4
            || (bare(text[..at].chars().next_back())
                && (word.len() == 3 || bare(text[at + word.len()..].chars().next())))
    })
}

fn all<'c>(
    within: &Within<'c>,
    counts: &dyn Fn(&ToolSpec) -> bool,
    match_type: SearchType,
    score: impl Fn(&ToolSpec) -> Option<f64>,
) -> Vec<Scored<'c>> {
    let tools = within.catalog.specs().filter(|tool| counts(tool));
    tools.filter_map(|tool| Some(Scored { tool, score: score(tool)?, match_type })).collect()
}

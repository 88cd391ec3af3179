//! The search lab: one query, every way of searching side by side, with what matched where (D-09).
//!
//! For a person: it also finds what is hidden from the session, and says which gate hides it.

use super::{SearchQuery, Within, key, query, words};
use crate::{
    settings::SearchType,
    text::{Span, Spans},
    tool::{Loading, ToolSpec},
    verdict::Gate,
};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// One query in the lab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct SearchLab {
    pub rankings: Vec<LabRanking>,
    /// Every tool that one of the rankings found; by the best rank in any of them.
    pub rows: Vec<LabRow>,
}

/// What one way of searching did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct LabRanking {
    pub method: LabMethod,
    /// Tools found, of which the rows hold the best.
    pub found: u32,
    pub duration_ms: f64,
    /// Why it could not search: an invalid pattern, no model. Empty when it could.
    pub error: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum LabMethod {
    Exact,
    Regex,
    Lexical,
    /// By meaning; needs a model.
    Semantic,
}

/// A tool in the lab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct LabRow {
    pub tool: String,
    pub namespace: String,
    pub exact: Option<LabPlace>,
    pub regex: Option<LabPlace>,
    pub lexical: Option<LabPlace>,
    pub semantic: Option<LabPlace>,
    /// Where the query's words, or its pattern, stand.
    pub fields: Vec<MatchedField>,
    pub loading: Loading,
    pub visible: bool,
    /// The gate that hides it.
    pub gate: Option<Gate>,
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct LabPlace {
    /// From 1.
    pub rank: u32,
    /// 0..1
    pub score: f64,
}

/// A field of a tool that the query matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct MatchedField {
    /// `name`, `title`, `description`, `tags` …
    pub field: String,
    pub text: String,
    /// In the order of the text, without overlaps.
    pub spans: Vec<Span>,
}

/// A method's tools, best first, by name.
pub type Ranked = Vec<(String, f64)>;

/// Ranks by one method. `hidden`: also what the session does not see. Errors with what is wrong with the query as a
/// pattern, and for [`LabMethod::Semantic`] where no model has read the tools.
pub fn rank(within: &Within, asked: &SearchQuery, method: LabMethod, hidden: bool) -> Result<Ranked, String> {
    let counts = |tool: &ToolSpec| asked.fits(tool) && (hidden || within.viewer.sees(tool));
    let named = |name: &str| within.catalog.spec(name).is_some_and(counts);
    let mut found = match method {
        LabMethod::Exact => query::find(within, &asked.query, SearchType::Exact, MOST_RANKED, &counts).tools,
        LabMethod::Regex => {
            query::compile(asked.query.trim())?;
            query::find(within, &asked.query, SearchType::Regex, MOST_RANKED, &counts).tools
        }
        // By words alone, whatever a model adds elsewhere, and without falling back to letters.
        LabMethod::Lexical => {
            query::scored(within, asked.query.trim(), within.index.by_words(&asked.query, MOST_RANKED, named))
        }
        LabMethod::Semantic if !within.index.uses_meaning() => {
            return Err("no model that searches by meaning is at hand".into());
        }
        LabMethod::Semantic => {
            query::scored(within, asked.query.trim(), within.index.by_meaning(&asked.query, MOST_RANKED, named))
        }
    };
    query::rank(&mut found, &within.settings.preferred_namespaces);
    Ok(found.into_iter().map(|s| (s.tool.name.clone(), s.score)).collect())
}

/// The lexical ranking looks no further than this.
const MOST_RANKED: usize = 200;

/// The rows of the best `limit` of each ranking.
pub fn rows(within: &Within, query: &str, rankings: &[(LabMethod, Ranked)], limit: usize) -> Vec<LabRow> {
    let mut places: HashMap<&str, Vec<(LabMethod, LabPlace)>> = HashMap::new();
    for (method, ranked) in rankings {
        for (place, (tool, score)) in ranked.iter().enumerate() {
            let place = LabPlace { rank: place as u32 + 1, score: *score };
            places.entry(tool).or_default().push((*method, place));
        }
    }
    let best = |places: &[(LabMethod, LabPlace)]| places.iter().map(|(_, p)| p.rank).min().unwrap_or(u32::MAX);
    let mut shown: Vec<_> = places.into_iter().filter(|(_, p)| best(p) as usize <= limit).collect();
    shown.sort_by(|a, b| best(&a.1).cmp(&best(&b.1)).then_with(|| a.0.cmp(b.0)));
    let marks = Marks::of(query);
    let row = |(tool, places): (&str, Vec<(LabMethod, LabPlace)>)| {
        let spec = within.catalog.spec(tool)?;
        let place = |method| places.iter().find(|(m, _)| *m == method).map(|(_, p)| *p);
        let trail = within.viewer.trail(spec);
        let hidden = trail.decided();
        Some(LabRow {
            tool: spec.name.clone(),
            namespace: query::namespace(spec).into(),
            exact: place(LabMethod::Exact),
            regex: place(LabMethod::Regex),
            lexical: place(LabMethod::Lexical),
            semantic: place(LabMethod::Semantic),
            fields: marks.fields(spec),
            loading: within.viewer.loads(spec),
            visible: hidden.is_none(),
            gate: hidden.map(|v| v.gate),
            reason: hidden.map(|v| v.reason.to_string()).unwrap_or_default(),
        })
    };
    shown.into_iter().filter_map(row).collect()
}

/// What is marked in a tool's fields.
struct Marks {
    stems: HashSet<u64>,
    pattern: Option<Regex>,
}

/// A longer field is not shown whole.
const MOST_MARKS: usize = 100;

impl Marks {
    fn of(query: &str) -> Self {
        let stems = words::asked(query).into_iter().map(|a| key(&a.word.stem)).collect();
        // A pattern that is only words marks the same as the words do.
        let pattern = query::compile(query.trim()).ok().filter(|_| !query.trim().is_empty());
        Self { stems, pattern }
    }

    fn fields(&self, tool: &ToolSpec) -> Vec<MatchedField> {
        let mut fields = vec![];
        let mut field = |name: &str, text: &str| {
            let spans = self.spans(text);
            if !spans.is_empty() {
                fields.push(MatchedField { field: name.into(), text: text.into(), spans });
            }
        };
        field("name", &tool.name);
        tool.title.iter().for_each(|t| field("title", t));
        field("description", &tool.description);
        field("namespace", &tool.namespace);
        tool.capabilities.iter().for_each(|t| field("capabilities", t));
        tool.tags.iter().for_each(|t| field("tags", t));
        tool.aliases.iter().for_each(|t| field("aliases", t));
        for (name, schema) in tool.properties().into_iter().flatten() {
            field("parameters", name);
            if let Some(text) = schema.get("description").and_then(serde_json::Value::as_str) {
                field("parameters", text);
            }
        }
        fields
    }

    fn spans(&self, text: &str) -> Vec<Span> {
        let words = words::words(text).into_iter().filter(|w| self.stems.contains(&key(&w.stem)));
        let mut ranges: Vec<_> = words.map(|w| w.at..w.at + w.original.len()).collect();
        if let Some(pattern) = &self.pattern {
            ranges.extend(pattern.find_iter(text).map(|m| m.range()).filter(|r| !r.is_empty()).take(MOST_MARKS));
        }
        ranges.sort_by_key(|r| (r.start, r.end));
        let mut joined: Vec<std::ops::Range<usize>> = vec![];
        for range in ranges {
            match joined.last_mut().filter(|last| range.start < last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => joined.push(range),
            }
        }
        let mut spans = Spans::in_order(text);
        joined.into_iter().take(MOST_MARKS).map(|range| spans.next(range)).collect()
    }
}

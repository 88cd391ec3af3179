//! Finding tools: searching and reading them as a model does, activating them, and what the prompt says of them.
//!
//! This file ranks: an inverted index with BM25F over the tools' fields, and with a model also what they mean (D-04).
//!
//! A query is read sentence by sentence: a tool ranks by how much of the whole query it answers and by how well it
//! answers its best sentence, so that a request for three things finds three tools. Lengths are measured against a
//! typical tool instead of this catalog's average, so an edit never changes another tool's entry, and an edited index
//! equals a new one. The index knows nothing of visibility; callers say which tools count.

pub mod activation;
mod answer;
mod blocks;
mod directory;
mod event;
mod get;
mod hints;
pub mod lab;
mod query;
mod rows;
pub mod semantic;
mod specs;
mod stored;
mod vocabulary;
mod words;

pub use answer::{Answer, answer};
pub use blocks::{BlockKind, PromptBlock, PromptBlocks, blocks};
pub use directory::{Directory, DirectoryGroup, directory};
pub use event::DiscoveryEvent;
pub use get::{GetAnswer, GetQuery, MAX_NAMES, ToolRecord, get};
pub use hints::hints;
pub use query::{SearchAnswer, SearchQuery, ToolHit, search};
pub use specs::specs;
pub use stored::{Synced, Unusable};
pub(crate) use words::plain_words;

use crate::{
    ports::Embedder,
    settings::DiscoverySettings,
    tool::{Catalog, ToolSpec},
    verdict::Gate,
    visibility::{Viewer, is_own_discovery_tool},
};
use rows::Rows;
use semantic::{Meaning, Vector};
use serde_json::Value;
use std::{
    cell::RefCell,
    collections::HashMap,
    sync::{Arc, LazyLock},
};
use vocabulary::{Act, COMMON, GROUPS, act};
use words::{Asked, Word, asked, beginning, under_way, words};

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

/// A tool that ranks for a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub tool: String,
    /// From 0 to 1. 1 is the tool's own name and nothing else. Otherwise: the share of the query's weight (its words by
    /// rarity) that the best tools account for, sentence by sentence, times this tool's standing against the best one.
    pub score: f32,
    /// How many rare words' worth speaks for the tool, however much else the query says; see [`FITS`]. With a model,
    /// words and likeness on the same scale.
    pub evidence: f32,
    /// The words of the query that matched, as the person wrote them.
    pub matched: Vec<String>,
}

/// Below this score, or this share of the best score, a tool shares a stray word with the query and is not found.
const FLOOR: f32 = 0.05;
const FLOOR_SHARE: f32 = 0.2;

/// With less evidence than this, even the best tool only shares words with the query, and none should be called.
pub const FITS: f32 = 0.7;

/// A field of a tool: what its words count for, how much a long text dilutes them, and what length is usual.
struct Field {
    weight: f32,
    dilution: f32,
    usual: f32,
    /// Whether neighbouring words also count as one.
    phrases: bool,
}

const NAME: Field = Field { weight: 3.0, dilution: 0.5, usual: 3.0, phrases: true };
const CAPABILITY: Field = Field { weight: 2.0, dilution: 0.5, usual: 3.0, phrases: true };
const NAMESPACE: Field = Field { weight: 1.0, dilution: 0.5, usual: 3.0, phrases: true };
const DESCRIPTION: Field = Field { weight: 1.0, dilution: 0.7, usual: 20.0, phrases: true };
const TAG: Field = Field { weight: 0.5, dilution: 0.5, usual: 3.0, phrases: true };
const PARAMETER_NAME: Field = Field { weight: 0.6, dilution: 0.5, usual: 5.0, phrases: true };
const PARAMETER_DESCRIPTION: Field = Field { weight: 0.4, dilution: 0.5, usual: 25.0, phrases: false };

/// BM25's saturation: how soon more of the same word stops to count.
const SATURATION: f32 = 1.2;

/// What counts less than a plain word of the query.
const QUOTED: f32 = 0.3;
const NUMBER: f32 = 0.7;
const PHRASE: f32 = 0.3;
const SYNONYM: f32 = 0.2;

/// How much the best sentence decides where there are several; the rest is the query as a whole.
const BEST_SENTENCE: f32 = 0.6;

/// Of a longer sentence, no tool is expected to answer more than this many words.
const LONG: f32 = 8.0;

/// A tool that does something else than the query asks for: `delete_issue` when somebody lists issues.
const OTHER_ACT: f32 = 0.85;

/// With a model, what a unit of the matched words' weight counts beside the likeness of query and tool, from 0 to 1.
const WORDS: f32 = 0.055;

/// How much of the best other tool of its namespace counts for a tool: servers come with tools that work together.
const SIBLING: f32 = 0.1;

/// What likeness and words together make a tool fit, and below what, or what share of the best, it is not found.
const LIKE_FITS: f32 = 0.39;
const LIKE_FLOOR: f32 = 0.2;
const LIKE_FLOOR_SHARE: f32 = 0.4;

/// A small catalog says little about which words are common: this many imagined tools vote along, [`COMMON`] words
/// standing in one of five of them.
const IMAGINED: f32 = 40.0;
const IMAGINED_COMMON: f32 = 8.0;
const IMAGINED_RARE: f32 = 0.2;

/// Searchable words of a set of tools.
#[derive(Debug, Clone, Default)]
pub struct Index {
    slots: HashMap<String, u32>,
    documents: Vec<Option<Document>>,
    /// By slot, sorted.
    document_terms: Rows<u32>,
    free: Vec<u32>,
    /// Terms by the hash of their text. What a tool is called is a term as well, of a kind of its own ([`called`]).
    terms: HashMap<u64, u32>,
    postings: Rows<Posting>,
    /// With a model: what the tools mean.
    meaning: Option<Meaning>,
}

#[derive(Debug, Clone, Copy)]
struct Posting {
    slot: u32,
    /// Below 1: how much the tool is about the term.
    impact: f32,
}

#[derive(Debug, Clone)]
struct Document {
    tool: String,
    namespace: u64,
    act: Option<Act>,
    /// What of the tool was read ([`stored::record_of`]).
    record: u64,
}

impl Index {
    pub fn of(catalog: &Catalog) -> Self {
        let mut index = Self::default();
        for spec in catalog.specs() {
            index.upsert(spec);
        }
        index
    }

    /// How many tools it holds.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Adds the tool or replaces the one of its name.
    pub fn upsert(&mut self, spec: &ToolSpec) {
        self.remove(&spec.name);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.documents.push(None);
            self.documents.len() as u32 - 1
        });
        let read = Reading::of(spec);
        let mut terms = Vec::with_capacity(read.frequencies.len() + read.called.len());
        let names = read.called.iter().map(|name| (called(name), 0.0));
        for (key, frequency) in read.frequencies.into_iter().chain(names) {
            let next = self.postings.len() as u32;
            let term = *self.terms.entry(key).or_insert(next);
            self.postings.edit(term).push(Posting { slot, impact: frequency / (frequency + SATURATION) });
            terms.push(term);
        }
        terms.sort_unstable();
        *self.document_terms.edit(slot) = terms;
        self.slots.insert(spec.name.clone(), slot);
        self.documents[slot as usize] = Some(Document {
            tool: spec.name.clone(),
            namespace: key(&spec.namespace),
            act: read.act,
            record: stored::record_of(spec),
        });
    }

    pub fn remove(&mut self, tool: &str) {
        let Some(slot) = self.slots.remove(tool) else { return };
        self.documents[slot as usize] = None;
        if let Some(meaning) = &mut self.meaning {
            meaning.forget(slot);
        }
        for term in std::mem::take(self.document_terms.edit(slot)) {
            self.postings.edit(term).retain(|p| p.slot != slot);
        }
        self.free.push(slot);
    }

    /// From now on tools are also found by meaning, as soon as the vector of each is known.
    pub fn with_model(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.meaning = Some(Meaning::new(embedder));
        self
    }

    /// From now on tools are found by words alone.
    pub fn without_model(mut self) -> Self {
        self.meaning = None;
        self
    }

    /// Takes the vector of a tool, made of [`semantic::text`]. A tool that changes needs a new one.
    pub fn learn(&mut self, tool: &str, vector: &Vector) {
        if let (Some(slot), Some(meaning)) = (self.slots.get(tool), &mut self.meaning) {
            meaning.put(*slot, vector);
        }
    }

    /// Whether the tool's vector is known.
    pub fn knows(&self, tool: &str) -> bool {
        self.slots.get(tool).is_some_and(|slot| self.meaning.as_ref().is_some_and(|m| m.knows(*slot)))
    }

    /// Whether tools are found by meaning too: with a model, and every tool known to it. A half-known catalog would rank
    /// by how far the reading has come.
    pub fn uses_meaning(&self) -> bool {
        self.meaning.as_ref().is_some_and(|m| m.known() == self.slots.len())
    }

    /// The best `limit` tools for `query` among those that `counts` accepts, best first; equal scores by name. By words
    /// and meaning where [`Self::uses_meaning`], else by words.
    pub fn search(&self, query: &str, limit: usize, counts: impl Fn(&str) -> bool) -> Vec<Hit> {
        newest_first(query, |query| {
            let asked = asked(query);
            let likeness = self.likeness(query, &asked);
            let found = SCRATCH.with_borrow_mut(|scratch| match likeness {
                Some(likeness) => self.fuse(&asked, &likeness, scratch),
                None => self.rank(&asked, scratch),
            });
            self.best(query, &asked, found, limit, &counts)
        })
    }

    /// As [`Self::search`], by words alone.
    pub fn by_words(&self, query: &str, limit: usize, counts: impl Fn(&str) -> bool) -> Vec<Hit> {
        newest_first(query, |query| {
            let asked = asked(query);
            let found = SCRATCH.with_borrow_mut(|scratch| self.rank(&asked, scratch));
            self.best(query, &asked, found, limit, &counts)
        })
    }

    /// By meaning alone; nothing where meaning is not used or the query is in a language that models here do not know.
    pub fn by_meaning(&self, query: &str, limit: usize, counts: impl Fn(&str) -> bool) -> Vec<Hit> {
        let asked = asked(query);
        let Some(likeness) = self.likeness(query, &asked) else { return vec![] };
        let found = likeness
            .iter()
            .enumerate()
            .map(|(slot, likeness)| Found { slot: slot as u32, score: likeness.clamp(0.0, 1.0), evidence: *likeness })
            .filter(|f| f.score >= LIKE_FLOOR && self.documents[f.slot as usize].is_some())
            .collect();
        self.first(found, &asked, limit, counts)
    }

    fn best(
        &self,
        query: &str,
        asked: &[Asked],
        mut found: Vec<Found>,
        limit: usize,
        counts: impl Fn(&str) -> bool,
    ) -> Vec<Hit> {
        self.put_named_first(query, &mut found);
        self.first(found, asked, limit, counts)
    }

    fn first(&self, mut found: Vec<Found>, asked: &[Asked], limit: usize, counts: impl Fn(&str) -> bool) -> Vec<Hit> {
        let best_first =
            |a: &Found, b: &Found| b.score.total_cmp(&a.score).then_with(|| self.name(a.slot).cmp(self.name(b.slot)));
        let mut hits = vec![];
        // Callers want a handful of thousands: sort no more than they look at.
        let mut rest = found.as_mut_slice();
        let mut step = limit.saturating_mul(2).max(32);
        while !rest.is_empty() && hits.len() < limit {
            let head = step.min(rest.len());
            if head < rest.len() {
                rest.select_nth_unstable_by(head - 1, best_first);
            }
            let (front, back) = rest.split_at_mut(head);
            front.sort_unstable_by(best_first);
            hits.extend(front.iter().filter(|f| counts(self.name(f.slot))).copied());
            rest = back;
            step *= 4;
        }
        hits.truncate(limit);
        hits.into_iter()
            .map(|Found { slot, score, evidence }| Hit {
                tool: self.name(slot).into(),
                score,
                evidence,
                matched: self.matched(slot, asked),
            })
            .collect()
    }

    /// The query's likeness to each slot, where meaning is used and the query says something that a model can read.
    fn likeness(&self, query: &str, asked: &[Asked]) -> Option<Vec<f32>> {
        let meaning = self.meaning.as_ref().filter(|_| !asked.is_empty() && self.uses_meaning())?;
        match meaning.likeness(query)? {
            Ok(likeness) => Some(likeness),
            Err(problem) => {
                tracing::warn!(%problem, hint = problem.hint, "a query is ranked by words alone");
                None
            }
        }
    }

    fn name(&self, slot: u32) -> &str {
        self.documents[slot as usize].as_ref().map_or("", |d| &d.tool)
    }

    /// What shares enough words with the query, in no order.
    fn rank(&self, asked: &[Asked], scratch: &mut Scratch) -> Vec<Found> {
        let quality = self.add_up(asked, scratch);
        let several = asked.iter().any(|a| a.sentence > 0);
        let best_sentence = if several { BEST_SENTENCE } else { 0.0 };
        let acts = acts(asked);
        let most = scratch.touched.iter().map(|s| scratch.total[*s as usize]).fold(f32::MIN_POSITIVE, f32::max);
        let score = |slot: u32| {
            let standing = (1.0 - best_sentence) * scratch.total[slot as usize] / most
                + best_sentence * scratch.best[slot as usize];
            quality * standing * self.agreement(slot, &acts)
        };
        let rare = self.rarity_of(IMAGINED_RARE);
        let found =
            |slot: &u32| Found { slot: *slot, score: score(*slot), evidence: scratch.total[*slot as usize] / rare };
        let all: Vec<Found> = scratch.touched.iter().map(found).collect();
        let best = all.iter().map(|f| f.score).fold(0.0, f32::max);
        let floor = FLOOR.max(FLOOR_SHARE * best);
        all.into_iter().filter(|f| f.score >= floor).collect()
    }

    /// What is like the query or shares words with it, in no order.
    ///
    /// Likeness and matched weight are added, the weight in its own unit and not as a share of the best tool's: one rare
    /// word in a large catalog says more than one among five candidates, and that is just what its rarity says.
    fn fuse(&self, asked: &[Asked], likeness: &[f32], scratch: &mut Scratch) -> Vec<Found> {
        self.add_up(asked, scratch);
        let acts = acts(asked);
        let mut found: Vec<Found> = vec![];
        // The best two of each namespace.
        let mut namespaces: HashMap<u64, [f32; 2]> = HashMap::new();
        for (slot, document) in self.documents.iter().enumerate() {
            let Some(document) = document else { continue };
            let sum = likeness.get(slot).unwrap_or(&0.0) + WORDS * scratch.total[slot];
            let fit = sum.max(0.0) * self.agreement(slot as u32, &acts);
            let [first, second] = namespaces.entry(document.namespace).or_default();
            if fit > *first {
                (*second, *first) = (*first, fit);
            } else if fit > *second {
                *second = fit;
            }
            found.push(Found { slot: slot as u32, score: fit, evidence: fit * FITS / LIKE_FITS });
        }
        for one in &mut found {
            let namespace = self.documents[one.slot as usize].as_ref().map_or(0, |d| d.namespace);
            let [first, second] = namespaces.get(&namespace).copied().unwrap_or_default();
            let sibling = if one.score >= first { second } else { first };
            one.score += SIBLING * sibling;
        }
        let best = found.iter().map(|f| f.score).fold(0.0, f32::max);
        let floor = LIKE_FLOOR.max(LIKE_FLOOR_SHARE * best);
        found.retain(|f| f.score >= floor);
        // Below what a tool gets that is called by its name.
        found.iter_mut().for_each(|f| f.score = 0.89 * (1.0 - (-1.5 * f.score).exp()));
        found
    }

    /// Sums the words' weights up in `scratch` and returns the share of the query that the best tools account for.
    fn add_up(&self, asked: &[Asked], scratch: &mut Scratch) -> f32 {
        scratch.clear(self.documents.len());
        let sentences = asked.iter().map(|a| a.sentence + 1).max().unwrap_or(0);
        let (mut weight, mut covered) = (0.0, 0.0);
        for sentence in 0..sentences {
            let terms = self.terms_of(asked.iter().filter(|a| a.sentence == sentence));
            weight += terms.weight * (LONG / terms.keys.len().max(1) as f32).min(1.0);
            for (term, term_weight) in &terms.weights {
                scratch.add(self.postings.get(*term), *term_weight);
            }
            covered += scratch.end_sentence();
        }
        (covered / weight.max(f32::MIN_POSITIVE)).min(0.99)
    }

    /// Less than 1 for a tool that does something else than is asked for.
    fn agreement(&self, slot: u32, acts: &[Act]) -> f32 {
        let does = self.documents[slot as usize].as_ref().and_then(|d| d.act);
        let other = does.is_some_and(|does| does != Act::Read && !acts.is_empty() && !acts.contains(&does));
        if other { OTHER_ACT } else { 1.0 }
    }

    /// The terms that a sentence is searched by, each with its weight.
    fn terms_of<'a>(&self, sentence: impl Iterator<Item = &'a Asked<'a>>) -> Sought {
        let mut sought = Sought::default();
        let mut previous: Option<(&Word, f32)> = None;
        for Asked { word, quoted, number, compound, .. } in sentence {
            let weight = (if *quoted { QUOTED } else { 1.0 }) * (if *number { NUMBER } else { 1.0 });
            let key = key(&word.stem);
            let rarity = self.rarity(key);
            if !compound {
                if sought.seen(key) {
                    previous = Some((word, weight));
                    continue;
                }
                sought.weight += weight * rarity;
            }
            sought.raise(self.terms.get(&key), weight * rarity);
            for synonym in SYNONYMS.get(&key).into_iter().flatten() {
                sought.raise(self.terms.get(synonym), SYNONYM * weight * rarity.min(self.rarity(*synonym)));
            }
            if !compound {
                if let Some((before, before_weight)) = previous {
                    let phrase = phrase(before, word);
                    sought.raise(self.terms.get(&phrase), PHRASE * weight.min(before_weight) * self.rarity(phrase));
                }
                previous = Some((word, weight));
            }
        }
        sought
    }

    /// Inverse document frequency.
    fn rarity(&self, key: u64) -> f32 {
        let holders = self.terms.get(&key).map_or(0, |term| self.postings.get(*term).len()) as f32;
        self.rarity_of(if COMMON_KEYS.contains(&key) { holders + IMAGINED_COMMON } else { holders + IMAGINED_RARE })
    }

    fn rarity_of(&self, holders: f32) -> f32 {
        let all = self.slots.len() as f32 + IMAGINED;
        (1.0 + (all - holders + 0.5) / (holders + 0.5)).ln()
    }

    /// A tool that the query calls by its name is the first one, whatever the words say.
    fn put_named_first(&self, query: &str, found: &mut Vec<Found>) {
        let whole = beginning(query).trim().to_lowercase();
        let mut put = |slot: u32, at_least: f32| {
            let place = found.iter().position(|f| f.slot == slot).unwrap_or_else(|| {
                found.push(Found { slot, score: 0.0, evidence: 0.0 });
                found.len() - 1
            });
            let Found { score, evidence, .. } = &mut found[place];
            *score = if at_least < 1.0 { at_least + 0.09 * *score } else { 1.0 };
            *evidence = evidence.max(1.0);
        };
        let mut named: Vec<(u32, f32)> = vec![];
        for slot in self.called(&whole) {
            let full = self.name(slot).to_lowercase() == whole;
            named.push((slot, if full { 1.0 } else { 0.9 }));
        }
        let identifier = |word: &str| word.contains(['_', '.', '-', '/', ':']);
        let mark = |c: char| !c.is_alphanumeric() && c != '_';
        for word in whole.split_whitespace().map(|w| w.trim_matches(mark)).filter(|w| identifier(w)).take(64) {
            named.extend(self.called(word).map(|slot| (slot, 0.9)));
        }
        named.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        named.dedup_by_key(|(slot, _)| *slot);
        named.into_iter().for_each(|(slot, at_least)| put(slot, at_least));
    }

    /// The tools that are called so, in lower case.
    fn called(&self, name: &str) -> impl Iterator<Item = u32> {
        let term = self.terms.get(&called(name));
        term.into_iter().flat_map(|term| self.postings.get(*term)).map(|p| p.slot)
    }

    fn matched(&self, slot: u32, asked: &[Asked]) -> Vec<String> {
        let terms = self.document_terms.get(slot);
        let mut matched: Vec<String> = vec![];
        let mut seen = vec![];
        for Asked { word, .. } in asked {
            let Some(term) = self.terms.get(&key(&word.stem)) else { continue };
            if terms.binary_search(term).is_ok() && !seen.contains(&word.stem.as_str()) {
                seen.push(&word.stem);
                matched.push(word.original.to_string());
            }
        }
        matched
    }
}

/// Searches for what a transcript leaves to be done; for all of it, as for other queries, where that says too little by
/// itself: "and the other one?"
fn newest_first(query: &str, search: impl Fn(&str) -> Vec<Hit>) -> Vec<Hit> {
    let open = under_way(query).map(&search);
    open.filter(|hits| hits.iter().any(|h| h.evidence >= FITS)).unwrap_or_else(|| search(query))
}

/// What the query asks to be done.
fn acts(asked: &[Asked]) -> Vec<Act> {
    asked.iter().filter_map(|a| act(&a.word.stem)).collect()
}

#[derive(Clone, Copy)]
struct Found {
    slot: u32,
    score: f32,
    evidence: f32,
}

/// What a sentence is searched by.
#[derive(Default)]
struct Sought {
    /// In the order of the query, so that sums never depend on how the index came about.
    weights: Vec<(u32, f32)>,
    keys: Vec<u64>,
    /// What a tool would get that is about every word, known or not.
    weight: f32,
}

impl Sought {
    /// Whether the word was there already; now it is.
    fn seen(&mut self, key: u64) -> bool {
        let seen = self.keys.contains(&key);
        if !seen {
            self.keys.push(key);
        }
        seen
    }

    fn raise(&mut self, term: Option<&u32>, weight: f32) {
        let Some(term) = term else { return };
        match self.weights.iter_mut().find(|(t, _)| t == term) {
            Some((_, present)) => *present = present.max(weight),
            None => self.weights.push((*term, weight)),
        }
    }
}

thread_local! {
    /// Kept between searches: zeroing what was touched is cheaper than allocating for every tool.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Sums by slot.
#[derive(Default)]
struct Scratch {
    /// Of the sentence under way.
    now: Vec<f32>,
    now_touched: Vec<u32>,
    /// Over all sentences.
    total: Vec<f32>,
    /// The best sentence's sum as a share of the best tool's.
    best: Vec<f32>,
    touched: Vec<u32>,
}

impl Scratch {
    fn clear(&mut self, slots: usize) {
        for slot in self.touched.drain(..).chain(self.now_touched.drain(..)) {
            let slot = slot as usize;
            (self.now[slot], self.total[slot], self.best[slot]) = (0.0, 0.0, 0.0);
        }
        if self.now.len() < slots {
            self.now.resize(slots, 0.0);
            self.total.resize(slots, 0.0);
            self.best.resize(slots, 0.0);
        }
    }

    fn add(&mut self, postings: &[Posting], weight: f32) {
        for Posting { slot, impact } in postings {
            let sum = &mut self.now[*slot as usize];
            if *sum == 0.0 {
                self.now_touched.push(*slot);
            }
            *sum += weight * impact;
        }
    }

    /// Closes the sentence and tells the best tool's sum.
    fn end_sentence(&mut self) -> f32 {
        let most = self.now_touched.iter().map(|s| self.now[*s as usize]).fold(0.0, f32::max);
        for slot in self.now_touched.drain(..) {
            let i = slot as usize;
            if self.total[i] == 0.0 {
                self.touched.push(slot);
            }
            self.total[i] += self.now[i];
            self.best[i] = self.best[i].max(self.now[i] / most);
            self.now[i] = 0.0;
        }
        most
    }
}

/// What the index takes from a tool.
struct Reading {
    /// Weighted frequencies by the terms' keys.
    frequencies: HashMap<u64, f32>,
    act: Option<Act>,
    called: Vec<String>,
}

impl Reading {
    fn of(spec: &ToolSpec) -> Self {
        let own = own_name(spec);
        let mut called: Vec<String> = [spec.name.as_str(), own]
            .into_iter()
            .chain(spec.title.as_deref())
            .chain(spec.aliases.iter().map(String::as_str))
            .map(|name| name.trim().to_lowercase())
            .filter(|name| !name.is_empty())
            .collect();
        called.sort_unstable();
        called.dedup();
        let name = words(own);
        let description = words(&spec.description);
        let act = name.iter().chain(description.first()).find_map(|w| act(&w.stem));
        let mut reading = Self { frequencies: HashMap::new(), act, called };
        let mut named = vec![own.to_string()];
        named.extend(spec.title.clone());
        reading.field(&NAME, &named);
        reading.field(&CAPABILITY, &[spec.capabilities.as_slice(), &spec.aliases].concat());
        reading.field(&NAMESPACE, std::slice::from_ref(&spec.namespace));
        reading.add(&DESCRIPTION, &[description]);
        reading.field(&TAG, &spec.tags);
        let (mut names, mut descriptions) = (vec![], vec![]);
        for (name, schema) in spec.properties().into_iter().flatten() {
            names.push(name.clone());
            descriptions.extend(schema.get("description").and_then(Value::as_str).map(str::to_string));
        }
        reading.field(&PARAMETER_NAME, &names);
        reading.field(&PARAMETER_DESCRIPTION, &descriptions);
        reading
    }

    fn field(&mut self, field: &Field, texts: &[String]) {
        let texts: Vec<Vec<Word>> = texts.iter().map(|t| words(t)).collect();
        self.add(field, &texts);
    }

    fn add(&mut self, field: &Field, texts: &[Vec<Word>]) {
        let length: usize = texts.iter().map(Vec::len).sum();
        let each = field.weight / (1.0 - field.dilution + field.dilution * length as f32 / field.usual);
        for text in texts {
            for word in text {
                *self.frequencies.entry(key(&word.stem)).or_default() += each;
            }
            for pair in text.windows(2).filter(|_| field.phrases) {
                *self.frequencies.entry(phrase(&pair[0], &pair[1])).or_default() += each;
            }
        }
    }
}

/// The name without the namespace that it may begin with.
fn own_name(spec: &ToolSpec) -> &str {
    let rest = spec.name.strip_prefix(&spec.namespace).filter(|_| !spec.namespace.is_empty());
    let own = rest.map(|r| r.trim_start_matches(['.', '/', '_', '-', ':'])).filter(|own| !own.is_empty());
    match (rest, own) {
        (Some(rest), Some(own)) if own.len() < rest.len() => own,
        _ => &spec.name,
    }
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a: terms are kept by their hash, since nothing ever shows their text.
fn fold(start: u64, text: &str) -> u64 {
    text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn key(stem: &str) -> u64 {
    fold(FNV_START, stem)
}

/// What a tool is called: name, name without namespace, title, aliases; in lower case.
fn called(name: &str) -> u64 {
    fold(fold(FNV_START, "\0called\0"), name)
}

/// Two neighbours as one term, the same as when they are written as one word: "time zone" is `timezone`, of which the
/// stemmer leaves `timezon`.
fn phrase(first: &Word, second: &Word) -> u64 {
    fold(fold(FNV_START, &first.lower), second.stem.strip_suffix('e').unwrap_or(&second.stem))
}

/// The other words of a word's group.
static SYNONYMS: LazyLock<HashMap<u64, Vec<u64>>> = LazyLock::new(|| {
    let mut synonyms: HashMap<u64, Vec<u64>> = HashMap::new();
    for group in GROUPS {
        let keys: Vec<u64> = words(group).iter().map(|w| key(&w.stem)).collect();
        for one in &keys {
            let others = synonyms.entry(*one).or_default();
            others.extend(keys.iter().filter(|k| *k != one));
            others.sort_unstable();
            others.dedup();
        }
    }
    synonyms
});

static COMMON_KEYS: LazyLock<std::collections::HashSet<u64>> =
    LazyLock::new(|| COMMON.iter().flat_map(|w| words(w)).map(|w| key(&w.stem)).collect());

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tool(name: &str, description: &str) -> ToolSpec {
        ToolSpec { name: name.into(), description: description.into(), ..Default::default() }
    }

    fn index(specs: &[ToolSpec]) -> Index {
        let mut index = Index::default();
        specs.iter().for_each(|spec| index.upsert(spec));
        index
    }

    fn desk() -> Vec<ToolSpec> {
        vec![
            tool("jira.search_issues", "Find issues by text"),
            tool("jira.create_issue", "File a new bug or ticket"),
            tool("jira.delete_issue", "Delete an issue for good"),
            tool("weather.forecast", "Forecast for a city. Mentions an issue once among many other long words"),
            tool("slack.post_message", "Post a message to a channel"),
            tool("translate", "翻译文本 into another language"),
            tool("summarize", "总结一篇文章"),
        ]
    }

    /// The names found in `tools`, best first.
    #[track_caller]
    fn check(tools: &[ToolSpec], query: &str, expected: &[&str]) {
        let hits = index(tools).search(query, 3, |_| true);
        let names: Vec<&str> = hits.iter().map(|h| h.tool.as_str()).collect();
        assert_eq!(names, expected, "{query}: {hits:?}");
        assert!(hits.iter().all(|h| (0.0..=1.0).contains(&h.score)), "{query}: {hits:?}");
        assert!(hits.is_sorted_by(|a, b| a.score >= b.score), "{query}: {hits:?}");
    }

    /// D-04: relevance decides, in English and in Chinese.
    #[test]
    fn better_matches_come_first() {
        let issues = &["jira.search_issues", "jira.create_issue", "jira.delete_issue"];
        check(&desk(), "search the issue", issues);
        check(&desk(), "post into the slack channel", &["slack.post_message"]);
        check(&desk(), "请翻译这个", &["translate"]);
        check(&desk(), "帮我总结 this article and then 翻译", &["summarize", "translate"]);
    }

    /// D-04: what fits nothing finds nothing, and a stray word is not enough.
    #[test]
    fn no_answer_is_an_answer() {
        check(&desk(), "quantum chromodynamics", &[]);
        check(&desk(), "", &[]);
        check(&desk(), "the of and", &[]);
        let hits = index(&desk()).search("create a ticket for the bug issue", 5, |_| true);
        assert_eq!(hits[0].tool, "jira.create_issue");
        assert!(hits.iter().all(|h| h.tool != "weather.forecast" && h.tool != "slack.post_message"), "{hits:?}");
        let stray = index(&desk()).search("integrate a polynomial of some city", 1, |_| true);
        assert!(stray.iter().all(|h| h.evidence < FITS), "{stray:?}");
        assert!(hits[0].evidence >= FITS, "{hits:?}");
    }

    /// D-04: a tool called by its name is first, with the full score where nothing else is asked.
    #[test]
    fn the_exact_name_is_first() {
        let mut tools = desk();
        tools.push(tool("issues", "issues issues jira search issues find issues"));
        tools.push(ToolSpec { namespace: "github".into(), ..tool("github.get", "") });
        let index = index(&tools);
        for spec in &tools {
            let hits = index.search(&spec.name, 2, |_| true);
            assert_eq!((hits[0].tool.as_str(), hits[0].score), (spec.name.as_str(), 1.0));
            assert!(hits.get(1).is_none_or(|second| second.score < 1.0), "{hits:?}");
        }
        assert_eq!(index.search("get", 1, |_| true)[0].tool, "github.get");
        check(
            &tools,
            "find issues about search, not with jira.delete_issue",
            &["jira.delete_issue", "jira.search_issues", "issues"],
        );
    }

    /// D-03: plain text never acts as operators (W3-2).
    #[test]
    fn operators_are_plain_words() {
        for query in ["issue NOT jira", "issue OR", "\"issue", "issue*", "issue AND (", "name:issue NEAR/2 ^jira -x"] {
            let hits = index(&desk()).search(query, 5, |_| true);
            assert!(hits.iter().any(|h| h.tool.starts_with("jira.")), "{query}: {hits:?}");
            assert!(hits.iter().all(|h| h.tool != "slack.post_message"), "{query}: {hits:?}");
        }
    }

    /// A request for two things finds both before more of the first.
    #[test]
    fn every_sentence_counts() {
        let tools = [
            tool("weather_today", "Current weather of a city"),
            tool("weather_week", "Weather of a city for a week"),
            tool("weather_alerts", "Weather warnings of a city"),
            tool("book_table", "Reserve a table in a restaurant"),
        ];
        let hits =
            index(&tools).search("How is the weather in the city today? Reserve a restaurant table.", 2, |_| true);
        let mut names: Vec<&str> = hits.iter().map(|h| h.tool.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["book_table", "weather_today"]);
    }

    #[test]
    fn neighbours_synonyms_and_acts_count() {
        let clocks = [tool("list_zones", "Zones, and the time of each"), tool("timezone", "Offset of a place")];
        check(&clocks, "time zone", &["list_zones", "timezone"]);
        check(&clocks, "timezone", &["timezone"]);
        check(&[tool("find_movies", "Movies by genre")], "any film", &["find_movies"]);
        check(&[tool("delete_user", ""), tool("list_user", "")], "list every user", &["list_user", "delete_user"]);
    }

    #[test]
    fn ties_go_by_name_and_only_what_counts_is_found() {
        let same = ["c", "a", "d", "b"].map(|n| tool(&format!("copy_{n}"), "Copy of a photo"));
        check(&same, "photo", &["copy_a", "copy_b", "copy_c"]);
        let hits = index(&same).search("photo", 10, |name| name > "copy_b");
        assert_eq!(hits.iter().map(|h| h.tool.as_str()).collect::<Vec<_>>(), ["copy_c", "copy_d"]);
        assert!(index(&same).search("photo", 0, |_| true).is_empty());
    }

    #[test]
    fn matched_words_are_the_persons_own() {
        let hits = index(&desk()).search("Search the Issues", 1, |_| true);
        assert_eq!(hits[0].matched, ["Search", "Issues"]);
    }

    /// Huge and odd queries end soon and break nothing.
    #[test]
    fn hostile_queries_are_bounded() {
        let index = index(&desk());
        for query in
            ["\"a' <b".repeat(200_000), "issue ".repeat(200_000), "翻译。".repeat(200_000), "\u{0}\u{301}'s".repeat(9)]
        {
            assert!(index.search(&query, 3, |_| true).len() <= 3);
        }
    }

    fn any_tool() -> impl Strategy<Value = ToolSpec> {
        let word =
            prop::sample::select(vec!["issue", "city", "list", "delete", "time", "zone", "timezone", "翻译", "photo"]);
        ("[a-d]", prop::collection::vec(word, 0..6)).prop_map(|(name, words)| tool(&name, &words.join(" ")))
    }

    /// Puts texts of one subject on one axis, as a model does with every subject there is.
    struct Subjects;

    impl Embedder for Subjects {
        fn id(&self) -> &str {
            "subjects"
        }

        fn label(&self) -> &str {
            "subjects"
        }

        fn dimensions(&self) -> usize {
            4
        }

        fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, crate::Problem> {
            const SUBJECTS: [&[&str]; 3] =
                [&["issue", "bug", "broken"], &["weather", "forecast", "umbrella"], &["slack", "colleagues"]];
            let axis =
                |text: &str, words: &[&str]| f32::from(u8::from(words.iter().any(|w| text.to_lowercase().contains(w))));
            Ok(texts.iter().map(|t| SUBJECTS.map(|words| axis(t, words)).into_iter().chain([0.2]).collect()).collect())
        }
    }

    fn with_meaning(tools: &[ToolSpec]) -> Index {
        let mut index = index(tools).with_model(Arc::new(Subjects));
        for spec in tools {
            let vector = Subjects.embed(&[&semantic::text(spec)]).unwrap().remove(0);
            index.learn(&spec.name, &Vector::of(&vector));
        }
        index
    }

    fn names(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|h| h.tool.as_str()).collect()
    }

    /// D-04: with a model, what means the same is found without a common word; names stay first, nothing stays nothing,
    /// and Chinese is left to the words.
    #[test]
    fn meaning_joins_the_words() {
        let index = with_meaning(&desk());
        assert!(index.uses_meaning());
        assert!(index.by_words("Do I need an umbrella", 5, |_| true).is_empty());
        assert_eq!(index.search("Do I need an umbrella", 5, |_| true)[0].tool, "weather.forecast");
        assert_eq!(names(&index.by_meaning("umbrella please take", 1, |_| true)), ["weather.forecast"]);
        for spec in desk() {
            let hits = index.search(&spec.name, 2, |_| true);
            assert_eq!((hits[0].tool.as_str(), hits[0].score), (spec.name.as_str(), 1.0));
            assert!(hits.get(1).is_none_or(|second| second.score < 0.9));
        }
        let hits = index.search("tell my colleagues about jira.delete_issue", 5, |_| true);
        assert_eq!(names(&hits)[0], "jira.delete_issue");
        assert!(names(&hits).contains(&"slack.post_message"), "{hits:?}");
        assert!(hits.is_sorted_by(|a, b| a.score >= b.score) && hits.iter().all(|h| (0.0..=1.0).contains(&h.score)));
        assert!(index.search("", 5, |_| true).is_empty() && index.search("the of and", 5, |_| true).is_empty());
        assert_eq!(index.search("请翻译这个", 5, |_| true), index.by_words("请翻译这个", 5, |_| true));
    }

    /// As long as one tool is unread, the words decide alone; an edit makes a tool unread.
    #[test]
    fn a_half_read_catalog_is_ranked_by_words() {
        let mut index = with_meaning(&desk());
        let edited = tool("weather.forecast", "Pressure and wind");
        index.upsert(&edited);
        assert!(!index.uses_meaning() && !index.knows("weather.forecast") && index.knows("translate"));
        assert!(index.search("Do I need an umbrella", 5, |_| true).is_empty());
        assert!(index.by_meaning("Do I need an umbrella", 5, |_| true).is_empty());
        index.remove("weather.forecast");
        assert!(index.uses_meaning());
        index.upsert(&edited);
        index.learn("weather.forecast", &Vector::of(&[0.0, 0.0, 1.0, 0.0]));
        assert!(index.uses_meaning());
        index.learn("weather.forecast", &Vector::of(&[1.0]));
        assert!(index.uses_meaning(), "a vector of another model is not taken");
    }

    proptest! {
        /// K-05: after any edits, the index answers as a new one does, to the last bit.
        #[test]
        fn edits_equal_a_rebuild(edits in prop::collection::vec((any_tool(), any::<bool>()), 0..12), query in "(issue |city |list |time zone |翻译 |a ){0,5}") {
            let mut edited = Index::default();
            let mut left: Vec<ToolSpec> = vec![];
            for (spec, keep) in edits {
                left.retain(|s| s.name != spec.name);
                if keep {
                    edited.upsert(&spec);
                    left.insert(0, spec);
                } else {
                    edited.remove(&spec.name);
                }
            }
            prop_assert_eq!(edited.search(&query, 10, |_| true), index(&left).search(&query, 10, |_| true));
        }
    }
}

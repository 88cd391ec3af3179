//! Ranking: BM25F over the tools' fields, and with a model also what they mean (D-04).
//!
//! A query is read sentence by sentence: a tool ranks by how much of the whole query it answers and by how well it
//! answers its best sentence, so that a request for three things finds three tools. Ranking knows nothing of visibility;
//! callers say which tools count.

use super::{
    index::{Index, Posting, called, key, phrase},
    vocabulary::{Act, COMMON, GROUPS, act},
    words::{Asked, Word, asked, beginning, under_way, words},
};
use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

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

impl Index {
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

static COMMON_KEYS: LazyLock<HashSet<u64>> =
    LazyLock::new(|| COMMON.iter().flat_map(|w| words(w)).map(|w| key(&w.stem)).collect());

//! Whether the results support a sentence, by its words alone.
//!
//! The sentence is compared with the sentences of the results that share most words with it, one at a time and two
//! neighbours together. `docs/answers.md` says the rules in prose.

use super::{
    super::blocking::Stop,
    align::{Agreed, swapped},
    facts::{Exact, Fact},
    reading::{Reading, bare},
    statement::{Statement, asked, root, words},
};
use regex::Regex;
use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};
use toolplan_engine::ports::ToolError;

/// The share of its words that a sentence must have in the results.
const SUPPORT: f32 = 0.75;
/// The share from which two sentences speak of the same, so that a difference between them contradicts.
pub(super) const SAME_SUBJECT: f32 = 0.59;
/// Sentences of the results that a claim is compared with.
const COMPARED: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Grade {
    Supported,
    Unsupported,
    Contradicted,
}

impl Grade {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Unsupported => "unsupported",
            Self::Contradicted => "contradicted",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Supported, Self::Unsupported, Self::Contradicted].into_iter().find(|grade| grade.name() == name)
    }
}

/// What became of one sentence.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    pub(super) grade: Grade,
    /// How sure the grade is, 0..1.
    pub(super) confidence: f32,
    pub(super) reason: String,
    /// The sentences of the results that it rests on or differs from.
    pub(super) at: Option<(usize, usize)>,
}

/// The results, prepared for many claims.
pub(super) struct Evidence {
    pub(super) reading: Reading,
    /// By word, the sentences that hold it.
    holders: HashMap<String, Vec<usize>>,
    whole: HashMap<String, usize>,
    /// Words that stand somewhere with a small first letter: no names.
    small: HashSet<String>,
}

impl Evidence {
    pub(super) fn new(reading: Reading, stop: &Stop) -> Result<Self, ToolError> {
        let (mut holders, mut whole, mut small) = (HashMap::new(), HashMap::new(), HashSet::new());
        for (at, sentence) in reading.sentences.iter().enumerate() {
            if at % 1000 == 0 {
                stop.check()?;
            }
            for word in words(&sentence.text) {
                holders.entry(word).or_insert_with(Vec::new).push(at);
            }
            whole.entry(plain(&sentence.text)).or_insert(at);
            let latin = sentence.text.split(|c: char| !c.is_alphanumeric());
            small.extend(latin.filter(|w| w.starts_with(|c: char| c.is_ascii_lowercase())).map(str::to_string));
        }
        Ok(Self { reading, holders, whole, small })
    }

    /// What the results say of the claim. `only` names the results that count; `about` is a question whose words a
    /// short answer is read with.
    pub(super) fn judge(&self, claim: &str, only: Option<&HashSet<usize>>, about: Option<&str>) -> Finding {
        if self.reading.is_empty() {
            return finding(Grade::Unsupported, 1.0, "the results hold no text", None);
        }
        let counts = |s: &usize| only.is_none_or(|only| only.contains(&self.reading.result_of(*s)));
        if let Some(&at) = self.whole.get(&plain(claim)).filter(|s| counts(s)) {
            return finding(Grade::Supported, 1.0, "it stands in the results word for word", Some((at, at)));
        }
        let own = words(claim);
        let claimed = match about.filter(|_| own.len() < 3) {
            Some(about) => Statement::of(&format!("{} {claim}", about.trim_end_matches(['?', '？']))),
            None => Statement::of(claim),
        };
        let parts = clauses(claim);
        let whole = self.best(&claimed, &counts);
        if whole.grade == Grade::Unsupported && parts.len() > 1 {
            // Two things said at once may stand in two places.
            let parts: Vec<Finding> = parts.iter().map(|part| self.best(&Statement::of(part), &counts)).collect();
            let worst =
                parts.into_iter().max_by(|a, b| a.grade.cmp(&b.grade).then(b.confidence.total_cmp(&a.confidence)));
            if let Some(worst) = worst.filter(|w| w.grade != Grade::Unsupported) {
                return worst;
            }
        }
        whole
    }

    fn best(&self, claim: &Statement, counts: &impl Fn(&usize) -> bool) -> Finding {
        let mut best: Option<(u32, Finding)> = None;
        // Sentences that say nearly the same of something else: with their neighbours they would seem to say it.
        let mut near = HashSet::new();
        let (single, more): (Vec<_>, Vec<_>) =
            self.places(claim, counts).into_iter().partition(|(from, to)| from == to);
        for (from, to) in single.into_iter().chain(more) {
            if (from..=to).any(|s| near.contains(&s)) || self.mixes(claim, from, to) {
                continue;
            }
            let (found, differs) = self.compare(claim, from, to);
            if differs && from == to {
                near.insert(from);
            }
            // Support anywhere wins; among the others the closest, a contradiction before a mere lack.
            let rank = match found.grade {
                Grade::Supported => 3000,
                Grade::Contradicted => 1000,
                Grade::Unsupported => 200 * u32::from(differs),
            } + (found.confidence * 100.0) as u32;
            if best.as_ref().is_none_or(|(r, _)| rank > *r) {
                best = Some((rank, found));
            }
        }
        best.map_or_else(|| self.nowhere(claim), |(_, found)| found)
    }

    /// Whether two neighbours say like things of different subjects: each holds the same word of the claim, so that
    /// together they would seem to say what neither says. "Alice owns billing. Bob owns search."
    fn mixes(&self, claim: &Statement, from: usize, to: usize) -> bool {
        let prose = !self.reading.units[self.reading.sentences[from].unit].fields;
        let in_both = |word: &String| {
            let holders = self.holders.get(word).map_or(&[][..], Vec::as_slice);
            [from, to].iter().all(|s| holders.binary_search(s).is_ok())
        };
        from != to && prose && claim.words.iter().any(in_both)
    }

    /// The sentences and pairs of neighbours that share most with the claim.
    fn places(&self, claim: &Statement, counts: &impl Fn(&usize) -> bool) -> Vec<(usize, usize)> {
        let mut shared: HashMap<usize, usize> = HashMap::new();
        for word in &claim.words {
            self.holders
                .get(word)
                .into_iter()
                .flatten()
                .filter(|s| counts(s))
                .for_each(|s| *shared.entry(*s).or_default() += 1);
        }
        if shared.is_empty() && claim.words.is_empty() {
            // Nothing but a number: where does it stand?
            let all = (0..self.reading.sentences.len()).filter(|s| counts(s)).take(2000);
            shared.extend(all.map(|s| (s, 1)));
        }
        let mut ranked: Vec<(usize, usize)> = shared.into_iter().collect();
        ranked.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let few = if claim.words.is_empty() { usize::MAX } else { COMPARED };
        let mut places = vec![];
        for (at, _) in ranked.into_iter().take(few) {
            places.push((at, at));
            let unit = &self.reading.units[self.reading.sentences[at].unit];
            let own = &unit.sentences;
            if unit.fields {
                // The fields of one object belong together.
                places.push((own.start.max(at.saturating_sub(20)), (own.end - 1).min(at + 20)));
                continue;
            }
            if at > own.start {
                places.push((at - 1, at));
            }
            if at + 1 < own.end {
                places.push((at, at + 1));
            }
        }
        let mut seen = HashSet::new();
        places.retain(|place| seen.insert(*place));
        places
    }

    /// The claim beside some sentences of one unit; true when they say nearly the same of something else.
    fn compare(&self, claim: &Statement, from: usize, to: usize) -> (Finding, bool) {
        let (said, context) = (Statement::of(&self.text(from, to)), Statement::of(self.context(from)));
        let agreed = Agreed::of(claim, &said);
        let missing: Vec<&String> =
            claim.words.iter().filter(|w| !said.has(w) && !context.has(w) && !agreed.words.contains(*w)).collect();
        let cover = 1.0 - missing.len() as f32 / claim.words.len().max(1) as f32;
        let fields = self.reading.units[self.reading.sentences[from].unit].fields;
        let at = Some((from, to));
        let absent: Vec<&Fact> = claim.facts.iter().filter(|f| !said.states(f) && !context.states(f)).collect();
        if from == to || fields {
            // Numbers and names are words too: without them, do both speak of the same?
            let exact: HashSet<String> = absent.iter().flat_map(|f| words(&f.text)).collect();
            let rest = claim.words.iter().filter(|w| !exact.contains(*w)).count();
            let lacking = missing.iter().filter(|w| !exact.contains(**w)).count();
            let same = if rest == 0 { 0.0 } else { 1.0 - lacking as f32 / rest as f32 };
            if same >= SAME_SUBJECT
                && let Some(reason) = self.difference(claim, &said, &absent, &agreed)
            {
                return (finding(Grade::Contradicted, same, &reason, at), true);
            }
        }
        let lacks = |reason: String| finding(Grade::Unsupported, 1.0 - cover / 2.0, &reason, at);
        let swap = swapped(claim, &said, &agreed).filter(|_| !fields);
        if let Some(fact) = absent.first() {
            return (lacks(format!("the {} {} does not stand there", fact.kind(), fact.text)), swap.is_some());
        }
        if let Some((own, its)) = swap {
            return (lacks(format!("it says {own:?} where the result says {its:?}")), true);
        }
        let elsewhere = |w: &&&String| w.is_ascii() && self.holders.contains_key(**w);
        if let Some(word) = missing.iter().find(elsewhere) {
            return (lacks(format!("the results say {word:?} of something else")), false);
        }
        if cover < SUPPORT {
            let (lack, all) = (missing.len(), claim.words.len());
            return (lacks(format!("{lack} of its {all} words do not stand there")), false);
        }
        // A number by itself stands in many places.
        let confidence = if claim.words.is_empty() { 0.5 } else { cover };
        (finding(Grade::Supported, confidence, "its words and facts stand together in a result", at), false)
    }

    /// In what a sentence of the results says otherwise, where both speak of the same.
    fn difference(&self, claim: &Statement, said: &Statement, absent: &[&Fact], agreed: &Agreed) -> Option<String> {
        for fact in absent {
            let rival =
                said.facts.iter().find(|other| fact.rivals(other) && !claim.facts.iter().any(|f| f.is_in(other)));
            if let Some(rival) = rival {
                return Some(format!("it says the {} {}, the result {}", fact.kind(), fact.text, rival.text));
            }
        }
        if let Some((own, its)) = swapped(claim, said, agreed)
            && self.is_name(claim, &own)
            && self.is_name(said, &its)
        {
            return Some(format!("it names {own}, the result {its}"));
        }
        if let Some(word) = claim.denial(said) {
            return Some(format!("one of the two denies {word:?} and the other does not"));
        }
        let (own, its) = claim.opposite(said)?;
        Some(format!("it says {own:?}, the result {its:?}"))
    }

    /// Whether the word names somebody or something in this sentence. A first word does when it never stands with a
    /// small letter; of Chinese names, those of people are known by their surname.
    fn is_name(&self, of: &Statement, word: &str) -> bool {
        let lower = word.to_lowercase();
        let known = of.facts.iter().any(|f| matches!(&f.value, Exact::Name(name) if *name == lower));
        let first = of.first.as_deref() == Some(lower.as_str()) && !self.small.contains(&lower);
        let length = word.chars().count();
        let person = (2..=3).contains(&length) && word.starts_with(|c| SURNAMES.contains(c));
        known || first || person
    }

    fn nowhere(&self, claim: &Statement) -> Finding {
        let reason = match claim.facts.first() {
            Some(fact) => format!("no result speaks of it; the {} {} stands nowhere", fact.kind(), fact.text),
            None => "no result speaks of it".into(),
        };
        finding(Grade::Unsupported, 1.0, &reason, None)
    }

    /// Whether nothing exact in the claim differs from these sentences of the results: for evidence that somebody else
    /// found.
    pub(super) fn objection(&self, claim: &str, from: usize, to: usize) -> Option<String> {
        let claim = Statement::of(claim);
        let (said, context) = (Statement::of(&self.text(from, to)), Statement::of(self.context(from)));
        let absent: Vec<&Fact> = claim.facts.iter().filter(|f| !said.states(f) && !context.states(f)).collect();
        let shared = claim.words.iter().any(|w| said.has(w) || context.has(w)) || claim.words.is_empty();
        match absent.first() {
            Some(fact) => Some(format!("the {} {} does not stand there", fact.kind(), fact.text)),
            None if !shared => Some("the quoted sentence shares no word with it".into()),
            None => self.difference(&claim, &said, &[], &Agreed::of(&claim, &said)),
        }
    }

    /// The sentences as one text.
    pub(super) fn text(&self, from: usize, to: usize) -> String {
        let sentences: Vec<&str> = self.reading.sentences[from..=to].iter().map(|s| s.text.as_str()).collect();
        let fields = self.reading.units[self.reading.sentences[from].unit].fields;
        sentences.join(if fields { "\n" } else { " " })
    }

    fn context(&self, sentence: usize) -> &str {
        &self.reading.units[self.reading.sentences[sentence].unit].context
    }
}

fn finding(grade: Grade, confidence: f32, reason: &str, at: Option<(usize, usize)>) -> Finding {
    Finding { grade, confidence, reason: reason.into(), at }
}

/// A sentence without spaces, marks at its ends and letter case.
fn plain(text: &str) -> String {
    let text = bare(text).to_lowercase();
    text.trim_matches(|c: char| !c.is_alphanumeric()).to_string()
}

/// The parts of a sentence that state something each.
fn clauses(text: &str) -> Vec<&str> {
    static JOINT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new("; |, (?:and|but|while) | (?:and|while) |；|，(?:而|但|并且)?").expect("a pattern of ours compiles")
    });
    let parts: Vec<&str> = JOINT.split(text).collect();
    // Less than this is no statement: "the billing and search services".
    if parts.iter().all(|part| words(part).len() >= 3) { parts } else { vec![text] }
}

/// The share of a question's words that stand in a text or in these sentences of the results, and the others.
pub(super) fn coverage(
    question: &str,
    reading: &Reading,
    answer: &str,
    rests_on: &[(usize, usize)],
) -> (f32, Vec<String>) {
    let asked = asked(question);
    let mut said: HashSet<String> = words(answer).into_iter().collect();
    for &(from, to) in rests_on {
        reading.sentences[from..=to].iter().for_each(|s| said.extend(words(&s.text)));
        said.extend(words(&reading.units[reading.sentences[from].unit].context));
    }
    let latin =
        |word: &str| word.split(|c: char| !c.is_alphanumeric()).map(|w| root(&w.to_lowercase())).collect::<Vec<_>>();
    let missing: Vec<String> = asked.iter().filter(|w| !said.contains(*w)).cloned().collect();
    let share = 1.0 - missing.len() as f32 / asked.len().max(1) as f32;
    // As the question writes them.
    let spelled = |word: &String| {
        let own = question.split_whitespace().find(|q| latin(q).contains(word));
        own.map_or(word.clone(), |q| q.trim_matches(|c: char| !c.is_alphanumeric()).to_string())
    };
    (share, missing.iter().map(spelled).collect())
}

/// The commonest Chinese surnames.
const SURNAMES: &str = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤";

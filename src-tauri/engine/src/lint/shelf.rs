//! What the linter remembers of each tool, and what the tools of a catalog are to one another: near-duplicates, shared
//! guidance, claimed aliases.

use super::{
    FixTarget, Lint, Severity,
    similar::{NEAR, Signature, hash},
    tool,
};
use crate::{
    capability::guidance::{Said, has_word, named},
    discovery::plain_words,
    tool::{Catalog, Entry},
};
use rust_stemmers::{Algorithm, Stemmer};
use serde_json::json;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

#[derive(Debug, Default)]
pub struct Shelf {
    tools: HashMap<Arc<str>, Facts>,
    names: Groups,
    descriptions: Groups,
    guidance: Groups,
    aliases: Groups,
    capabilities: BTreeMap<String, u32>,
    /// Capabilities with another that differs by one letter; made anew when the set of capabilities changes.
    twins: Option<Vec<(String, String)>>,
}

/// Tools by a hash of something that they may share.
#[derive(Debug, Default)]
struct Groups(HashMap<u64, Vec<Arc<str>>>);

impl Groups {
    fn add(&mut self, key: u64, tool: &Arc<str>) {
        self.0.entry(key).or_default().push(tool.clone());
    }

    fn remove(&mut self, key: u64, tool: &Arc<str>) {
        if let Some(tools) = self.0.get_mut(&key) {
            tools.retain(|t| t != tool);
            if tools.is_empty() {
                self.0.remove(&key);
            }
        }
    }

    fn get(&self, key: u64) -> &[Arc<str>] {
        self.0.get(&key).map_or(&[], Vec::as_slice)
    }
}

#[derive(Debug)]
struct Facts {
    entry: Arc<Entry>,
    lints: Vec<Arc<Lint>>,
    name: u64,
    description: Signature,
    /// Tools that were there before and said nearly the same; whether they still do is looked at again.
    like: Vec<Arc<str>>,
    /// By line: a hash of the words that carry its meaning.
    guidance: Vec<u64>,
    aliases: Vec<u64>,
    /// What the lines name as tools: the line and the name.
    named: Vec<(usize, String)>,
}

/// With so many tools of one kind, a few tell the story.
const LIKE: usize = 16;

impl Shelf {
    /// Reads the tools that are new or changed, forgets those that are gone.
    pub fn read(&mut self, catalog: &Catalog) {
        let gone: Vec<Arc<str>> = self.tools.keys().filter(|name| catalog.get(name).is_none()).cloned().collect();
        gone.iter().for_each(|name| self.forget(name));
        for entry in catalog.shared() {
            match self.tools.get_key_value(entry.spec.name.as_str()) {
                Some((_, facts)) if Arc::ptr_eq(&facts.entry, entry) => {}
                Some((name, _)) => {
                    let name = name.clone();
                    self.forget(&name);
                    self.learn(entry);
                }
                None => self.learn(entry),
            }
        }
    }

    fn learn(&mut self, entry: &Arc<Entry>) {
        let spec = &entry.spec;
        let name: Arc<str> = spec.name.as_str().into();
        let lines = spec.guidance.iter().map(|line| Said::of(line).key()).collect::<Vec<_>>();
        let facts = Facts {
            entry: entry.clone(),
            lints: tool::lints(spec).into_iter().map(Arc::new).collect(),
            name: name_key(&spec.name),
            description: Signature::of(&spec.description),
            like: vec![],
            guidance: lines.iter().map(|(_, words)| hash(words)).collect(),
            aliases: spec.aliases.iter().map(|alias| hash(&alias.trim().to_lowercase())).collect(),
            named: spec
                .guidance
                .iter()
                .enumerate()
                .flat_map(|(i, line)| named(line).into_iter().filter(|n| n.as_tool).map(move |n| (i, n.text.into())))
                .collect(),
        };
        let mut like: Vec<Arc<str>> = vec![];
        for band in &facts.description.bands {
            for other in self.descriptions.get(*band).iter().take(LIKE) {
                if !like.contains(other) && self.overlap(other, &facts.description) >= NEAR {
                    like.push(other.clone());
                }
            }
            self.descriptions.add(*band, &name);
        }
        self.names.add(facts.name, &name);
        facts.guidance.iter().for_each(|key| self.guidance.add(*key, &name));
        facts.aliases.iter().for_each(|key| self.aliases.add(*key, &name));
        for capability in &spec.capabilities {
            let count = self.capabilities.entry(capability.trim().into()).or_default();
            *count += 1;
            if *count == 1 {
                self.twins = None;
            }
        }
        self.tools.insert(name, Facts { like, ..facts });
    }

    fn overlap(&self, tool: &Arc<str>, description: &Signature) -> f32 {
        self.tools.get(tool).map_or(0.0, |facts| facts.description.overlap(description))
    }

    fn forget(&mut self, name: &Arc<str>) {
        let Some(facts) = self.tools.remove(name) else { return };
        facts.description.bands.iter().for_each(|band| self.descriptions.remove(*band, name));
        self.names.remove(facts.name, name);
        facts.guidance.iter().for_each(|key| self.guidance.remove(*key, name));
        facts.aliases.iter().for_each(|key| self.aliases.remove(*key, name));
        for capability in &facts.entry.spec.capabilities {
            if let Some(count) = self.capabilities.get_mut(capability.trim()) {
                *count -= 1;
                if *count == 0 {
                    self.capabilities.remove(capability.trim());
                    self.twins = None;
                }
            }
        }
    }

    /// All lints about tools, in catalog order.
    pub fn lints(&mut self, catalog: &Catalog) -> Vec<Arc<Lint>> {
        let twins = self.twins.take().unwrap_or_else(|| twins(&self.capabilities));
        let odd: HashMap<&str, &str> = twins.iter().map(|(odd, usual)| (odd.as_str(), usual.as_str())).collect();
        let mut found: Vec<Arc<Lint>> = vec![];
        let mut seen: HashSet<(&str, u64)> = HashSet::new();
        let mut paired: HashSet<(&str, &str)> = HashSet::new();
        for entry in catalog.shared() {
            let spec = &entry.spec;
            let Some((name, facts)) = self.tools.get_key_value(spec.name.as_str()) else { continue };
            found.extend(facts.lints.iter().cloned());
            let mut add = |lint: Lint| found.push(Arc::new(lint));
            let this = || FixTarget::Tool { name: spec.name.clone() };

            let alike = self.names.get(facts.name);
            if alike.len() > 1 && seen.insert(("name", facts.name)) {
                let message = format!("{} tools have names that say the same: {}", alike.len(), listed(alike));
                add(Lint::new("name.near_duplicate", Severity::Info, "name", message).of(alike.iter().map(|t| &**t)));
            }
            let like: Vec<(&Arc<str>, f32)> = facts
                .like
                .iter()
                .map(|other| (other, self.overlap(other, &facts.description)))
                .filter(|(_, overlap)| *overlap >= NEAR)
                .filter(|(other, _)| paired.insert(if ***other < **name { (other, name) } else { (name, other) }))
                .collect();
            if let Some((first, overlap)) = like.first() {
                let (severity, how) = match *overlap >= 1.0 {
                    true => (Severity::Warning, "the same"),
                    false => (Severity::Info, "nearly the same"),
                };
                let message = format!("{name} describes itself in {how} words as {first}");
                let tools = [&**name].into_iter().chain(like.iter().map(|(other, _)| &***other));
                add(Lint::new("description.near_duplicate", severity, "description", message).of(tools));
            }
            for (i, key) in facts.guidance.iter().enumerate() {
                let sharing = self.guidance.get(*key);
                if sharing.len() > 1 && seen.insert(("guidance", *key)) {
                    found.extend(self.shared_line(&spec.guidance[i], *key, sharing).map(Arc::new));
                }
            }
            let mut add = |lint: Lint| found.push(Arc::new(lint));
            for (line, phantom) in &facts.named {
                if catalog.get(phantom).is_none() && !has_word(spec, phantom) {
                    let message = format!("the guidance of {name} names {phantom}, which the catalog does not hold");
                    let lint = Lint::new("guidance.phantom", Severity::Warning, "guidance", message).of([&**name]);
                    add(tool::without_line(lint, spec, *line));
                }
            }
            for (alias, key) in spec.aliases.iter().zip(&facts.aliases) {
                let other = match catalog.get(alias.trim()) {
                    Some(other) if other.spec.name != spec.name => Some(other.spec.name.as_str()),
                    // The first to claim it keeps it.
                    _ => self
                        .aliases
                        .get(*key)
                        .iter()
                        .map(|t| &**t)
                        .find(|t| *t != &**name)
                        .filter(|other| before(catalog, other, name)),
                };
                if let Some(other) = other {
                    let rest: Vec<&String> = spec.aliases.iter().filter(|a| *a != alias).collect();
                    let message = format!("the alias {alias} of {name} also means {other}");
                    let lint = Lint::new("alias.ambiguous", Severity::Warning, "aliases", message);
                    let lint = lint.of([&**name, other]);
                    add(lint.fixed_by(format!("Remove the alias {alias}"), this(), json!({"aliases": rest})));
                }
            }
            for capability in &spec.capabilities {
                if let Some(usual) = odd.get(capability.trim()) {
                    let rest: Vec<&str> =
                        spec.capabilities.iter().map(|c| if c == capability { *usual } else { c.as_str() }).collect();
                    let message = format!("the capability {capability} of {name} differs by a letter from {usual}");
                    let lint = Lint::new("capability.similar", Severity::Info, "capabilities", message).of([&**name]);
                    add(lint.fixed_by(format!("Call it {usual}"), this(), json!({"capabilities": rest})));
                }
            }
            if let Some(fallback) = spec.fallback.as_ref().filter(|f| catalog.get(&f.tool).is_none()) {
                let message = format!("{name} falls back to {}, which the catalog does not hold", fallback.tool);
                let lint = Lint::new("fallback.unknown", Severity::Warning, "fallback", message).of([&**name]);
                add(lint.fixed_by("Remove the fallback", this(), json!({"fallback": null})));
            }
        }
        self.twins = Some(twins);
        found
    }

    /// What there is to say of a line that several tools share in meaning.
    fn shared_line(&self, line: &str, key: u64, sharing: &[Arc<str>]) -> Option<Lint> {
        let words = Said::of(line).key().1;
        let mut tools: Vec<&Arc<str>> = sharing.iter().collect();
        tools.dedup();
        // Lines of one tool are compared where the tool is read; short ones mean too many things.
        if tools.len() < 2 || words.split(' ').count() < 3 && !words.chars().any(crate::text::is_cjk) {
            return None;
        }
        let lines: Vec<&String> = tools
            .iter()
            .take(super::MAX_TOOLS)
            .filter_map(|tool| self.tools.get(&***tool))
            .flat_map(|facts| facts.entry.spec.guidance.iter().zip(&facts.guidance))
            .filter(|(_, k)| **k == key)
            .map(|(line, _)| line)
            .collect();
        let opposed = lines.iter().any(|l| Said::of(l).denies) && lines.iter().any(|l| !Said::of(l).denies);
        let same = lines.iter().all(|l| l.trim() == line.trim());
        let (code, severity, what) = match (opposed, same) {
            (true, _) => ("guidance.contradictory", Severity::Warning, "say opposite things of the same"),
            (_, true) => {
                ("guidance.duplicate", Severity::Info, "share a line of guidance, which the prompt holds once")
            }
            _ => ("guidance.near_duplicate", Severity::Info, "say nearly the same, and the prompt holds both"),
        };
        let message = format!("{} tools {what}: {line}", tools.len());
        Some(Lint::new(code, severity, "guidance", message).of(tools.iter().map(|t| &***t)))
    }
}

/// Whether the catalog lists `a` before `b`.
fn before(catalog: &Catalog, a: &str, b: &str) -> bool {
    catalog.position(a) < catalog.position(b)
}

fn listed(tools: &[Arc<str>]) -> String {
    let named: Vec<&str> = tools.iter().take(5).map(|t| &**t).collect();
    let more = if tools.len() > 5 { " …" } else { "" };
    format!("{}{more}", named.join(", "))
}

/// The words of a name, stemmed and sorted: `listIssues` and `issue_list` say the same.
fn name_key(name: &str) -> u64 {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut words: Vec<String> = plain_words(name).iter().map(|word| stemmer.stem(word).into_owned()).collect();
    words.sort();
    match words.is_empty() {
        true => hash(name),
        false => hash(&words.join(" ")),
    }
}

/// Capabilities that one letter tells apart, the rarer one first.
fn twins(capabilities: &BTreeMap<String, u32>) -> Vec<(String, String)> {
    let core = crate::capability::CORE.entries.iter().flat_map(|e| &e.capabilities);
    let mut counts: BTreeMap<&str, u32> = capabilities.iter().map(|(c, n)| (c.as_str(), *n)).collect();
    // A capability of the core catalog is no typo.
    core.for_each(|capability| *counts.entry(capability).or_default() += 1_000_000);
    let mut without: HashMap<u64, Vec<&str>> = HashMap::new();
    for capability in counts.keys().filter(|c| c.chars().count() >= 6) {
        let lower = capability.to_lowercase();
        without.entry(hash(&lower)).or_default().push(capability);
        for (at, c) in lower.char_indices().filter(|(_, c)| !c.is_ascii_digit()) {
            let key = hash(&format!("{}{}", &lower[..at], &lower[at + c.len_utf8()..]));
            let others = without.entry(key).or_default();
            if others.last() != Some(capability) {
                others.push(capability);
            }
        }
    }
    let mut found: BTreeMap<&str, &str> = BTreeMap::new();
    for group in without.values().filter(|group| group.len() > 1) {
        let Some(usual) = group.iter().max_by_key(|c| (counts[**c], std::cmp::Reverse(**c))) else { continue };
        for odd in group.iter().filter(|c| counts[**c] < counts[usual] && near(c, usual)) {
            found.insert(odd, usual);
        }
    }
    found.into_iter().map(|(odd, usual)| (odd.to_string(), usual.to_string())).collect()
}

/// Equal but for one letter. Digits tell things apart on purpose, and an ending does too: `issue` and `issues`.
fn near(a: &str, b: &str) -> bool {
    let digits = |s: &str| s.chars().filter(char::is_ascii_digit).collect::<String>();
    digits(a) == digits(b)
        && a.to_lowercase() != b.to_lowercase().trim_end_matches('s')
        && b.to_lowercase() != a.to_lowercase().trim_end_matches('s')
}

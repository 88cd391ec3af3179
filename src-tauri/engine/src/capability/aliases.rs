//! Ids of extensions: which of them mean the same, and which bring others along (K-08).
//!
//! Known ids are compared without letter case; unknown ones are kept as they are given. Every search ends, whatever the
//! tables hold: an id is visited once.

use super::CORE;
use crate::settings::CapabilitySettings;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// The alias groups and implications in force: the core's, where they are used, and the workspace's own.
#[derive(Debug, Clone, Default)]
pub struct Aliases {
    groups: Vec<Vec<String>>,
    group_of: HashMap<String, usize>,
    implied: BTreeMap<String, Vec<String>>,
    known: HashSet<String>,
    ambiguous: Vec<Ambiguous>,
}

/// An id that two groups claim; it stays with the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Ambiguous {
    pub id: String,
    /// The canonical id that it belongs to.
    pub kept: String,
    /// The canonical id that claims it in vain.
    pub other: String,
}

/// How an id came into the expanded set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Came {
    /// Enabled under this very name.
    Enabled,
    /// Another name of an enabled extension, or of the same family.
    Alias,
    /// An enabled extension implies it.
    Implied,
}

/// An id of the expanded set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ExpandedId {
    pub id: String,
    pub came: Came,
    /// The enabled id that it came from, as it was given.
    pub from: String,
}

impl Aliases {
    pub fn of(settings: &CapabilitySettings) -> Self {
        let mut aliases = Self::default();
        if settings.use_core_catalog {
            CORE.aliases.iter().for_each(|group| aliases.add_group(group));
            CORE.implications.iter().for_each(|(id, implied)| aliases.add_implication(id, implied));
            aliases.known.extend(CORE.entries.iter().map(|e| e.extension.clone()));
        }
        settings.aliases.iter().for_each(|group| aliases.add_group(group));
        settings.implications.iter().for_each(|(id, implied)| aliases.add_implication(id, implied));
        aliases
    }

    /// Joins the group of the first id where there is one.
    fn add_group(&mut self, group: &[String]) {
        let group = super::normalise(group.iter().map(String::as_str));
        let mut ids = group.iter().map(|id| id.to_lowercase());
        let Some(canonical) = ids.next() else { return };
        let place = *self.group_of.entry(canonical.clone()).or_insert_with(|| {
            self.groups.push(vec![canonical.clone()]);
            self.groups.len() - 1
        });
        self.known.insert(canonical.clone());
        for id in ids {
            match self.group_of.get(&id) {
                None => {
                    self.group_of.insert(id.clone(), place);
                    self.groups[place].push(id.clone());
                    self.known.insert(id);
                }
                Some(other) if *other != place => {
                    let (kept, other) = (self.groups[*other][0].clone(), self.groups[place][0].clone());
                    self.ambiguous.push(Ambiguous { id, kept, other });
                }
                Some(_) => {}
            }
        }
    }

    fn add_implication(&mut self, id: &str, implied: &[String]) {
        let normal = |id: &str| id.trim().to_lowercase();
        let id = normal(id);
        let implied: Vec<String> = implied.iter().map(|i| normal(i)).filter(|i| !i.is_empty()).collect();
        if !id.is_empty() {
            self.known.extend(implied.iter().cloned().chain([id.clone()]));
            self.implied.entry(id).or_default().extend(implied);
        }
    }

    /// Ids that two groups claim.
    pub fn ambiguous(&self) -> &[Ambiguous] {
        &self.ambiguous
    }

    /// Whether some table names the id, in any letter case.
    pub fn knows(&self, id: &str) -> bool {
        self.known.contains(&id.trim().to_lowercase())
    }

    /// Every id that some table names.
    pub fn known(&self) -> impl Iterator<Item = &str> {
        self.known.iter().map(String::as_str)
    }

    /// The one name of an extension: the first of its group for a known id, else the id itself without the spaces
    /// around it. Blank is empty.
    pub fn canonical(&self, id: &str) -> String {
        let trimmed = id.trim();
        match self.group_of.get(&trimmed.to_lowercase()) {
            Some(group) => self.groups[*group][0].clone(),
            None => self.plain(trimmed),
        }
    }

    fn plain(&self, trimmed: &str) -> String {
        let lower = trimmed.to_lowercase();
        if self.known.contains(&lower) { lower } else { trimmed.to_string() }
    }

    /// Everything that the enabled ids stand for, breadth first from each: the whole group of an id and what it implies.
    /// Blanks and repeats fall away; no id comes twice.
    pub fn expand<'a>(&self, enabled: impl IntoIterator<Item = &'a str>) -> Vec<ExpandedId> {
        let mut found: Vec<ExpandedId> = vec![];
        let mut seen: HashSet<String> = HashSet::new();
        let mut queue: VecDeque<ExpandedId> = VecDeque::new();
        let enabled: Vec<&str> = enabled.into_iter().map(str::trim).filter(|id| !id.is_empty()).collect();
        // What was enabled by name says so, whatever else leads to it.
        for id in enabled {
            let own = self.plain(id);
            if seen.insert(own.clone()) {
                queue.push_back(ExpandedId { id: own, came: Came::Enabled, from: id.to_string() });
            }
        }
        while let Some(next) = queue.pop_front() {
            let family = self.group_of.get(&next.id).map_or(&[][..], |group| &self.groups[*group]);
            let implied = self.implied.get(&next.id).into_iter().flatten();
            let came = |id: &String, came| ExpandedId { id: id.clone(), came, from: next.from.clone() };
            let more = family.iter().map(|id| came(id, Came::Alias));
            for id in more.chain(implied.map(|id| came(id, Came::Implied))) {
                if seen.insert(id.id.clone()) {
                    queue.push_back(id);
                }
            }
            found.push(next);
        }
        found
    }

    /// Whether `id`, as it is given, in lower case or by its canonical name, is among what the enabled ids stand for.
    pub fn matches<'a>(&self, enabled: impl IntoIterator<Item = &'a str>, id: &str) -> bool {
        let id = id.trim();
        let (lower, canonical) = (id.to_lowercase(), self.canonical(id));
        !id.is_empty() && self.expand(enabled).iter().any(|e| e.id == id || e.id == lower || e.id == canonical)
    }
}

//! The planning view: what the enabled extensions offer (K-06, K-07).

use super::{
    Aliases, CORE,
    aliases::{Came, ExpandedId},
    normalise,
};
use crate::{
    settings::CapabilitySettings,
    tool::{Catalog, ToolSpec},
};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// What a list of enabled extensions stands for. Nothing enabled, nothing in it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PlanningView {
    /// The enabled extensions by their canonical ids, sorted: names of extensions, not of tools.
    pub display_ids: Vec<String>,
    /// Everything they stand for, sorted.
    pub expanded_ids: Vec<String>,
    /// How each of those came in, in the order of the search.
    pub ids: Vec<ExpandedId>,
    /// The core's entries by extension, then the catalog's tools in catalog order; one entry a tool.
    pub entries: Vec<PlanningEntry>,
    /// Lines of all entries, without repeats.
    pub guidance: Vec<String>,
    pub capabilities: Vec<CapabilityTools>,
    /// The exact names that can be called: tools of entries that are in the catalog, sorted.
    pub callable: Vec<String>,
    /// Tools of entries that are not in the catalog: described, not callable.
    pub phantoms: Vec<String>,
    /// Enabled ids that neither a table nor the catalog knows.
    pub unknown: Vec<UnknownId>,
    /// What enabling brings along beyond what was asked for, and changes something (W2-1).
    pub overreach: Vec<Overreach>,
    /// Tools that belong to an enabled extension and describe nothing.
    pub undescribed: Vec<String>,
}

/// A tool of an enabled extension.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PlanningEntry {
    /// The exact name.
    pub tool: String,
    /// The expanded id that the entry belongs to.
    pub extension: String,
    pub came: Came,
    pub source: EntrySource,
    pub capabilities: Vec<String>,
    pub guidance: Vec<String>,
    /// Whether the catalog holds the tool.
    pub registered: bool,
}

/// Who describes a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum EntrySource {
    /// The bundled core catalog.
    Core,
    /// The tool's own metadata.
    Tool,
    /// The core catalog and the tool's own metadata.
    Both,
}

/// A capability with the tools that have it, in the order of the entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CapabilityTools {
    pub capability: String,
    pub tools: Vec<String>,
}

/// An enabled id that nothing knows, and what may have been meant (W2-6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct UnknownId {
    pub id: String,
    pub meant: Option<String>,
}

/// A tool that is not known to be safe and that came along with another id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Overreach {
    /// The enabled id.
    pub enabled: String,
    pub tool: String,
    pub came: Came,
}

impl PlanningView {
    /// The tools with the capability in the order of the entries; none is an empty list.
    pub fn tools_for_capability(&self, capability: &str) -> &[String] {
        let found = self.capabilities.iter().find(|c| c.capability == capability.trim());
        found.map_or(&[], |c| c.tools.as_slice())
    }

    /// The tool to begin with: the first that can be called, else the first (W2-5).
    pub fn first_tool_for_capability(&self, capability: &str) -> Option<&str> {
        let tools = self.tools_for_capability(capability);
        let callable = tools.iter().find(|tool| self.callable.binary_search(tool).is_ok());
        callable.or(tools.first()).map(String::as_str)
    }
}

/// The planning view of the settings' enabled extensions over a catalog.
///
/// A tool of the catalog belongs to the extensions named like its namespace or like itself. Where the core describes a
/// tool that describes itself too, there is one entry: the capabilities of both, and the tool's own guidance where it has
/// some (W2-3).
pub fn view(settings: &CapabilitySettings, catalog: &Catalog) -> PlanningView {
    let enabled = normalise(settings.enabled_extensions.iter().map(String::as_str));
    if enabled.is_empty() {
        return PlanningView::default();
    }
    let aliases = Aliases::of(settings);
    let ids = aliases.expand(enabled.iter().map(String::as_str));
    let mut display_ids =
        normalise(enabled.iter().map(|id| aliases.canonical(id)).collect::<Vec<_>>().iter().map(|s| s.as_str()));
    display_ids.sort();
    let mut expanded_ids: Vec<String> = ids.iter().map(|e| e.id.clone()).collect();
    expanded_ids.sort();

    let by_id: HashMap<&str, &ExpandedId> = ids.iter().map(|e| (e.id.as_str(), e)).collect();
    let mut entries: Vec<PlanningEntry> = vec![];
    let mut described: HashSet<&str> = HashSet::new();
    if settings.use_core_catalog {
        for id in &expanded_ids {
            for core in CORE.entries.iter().filter(|core| core.extension == *id) {
                let spec = catalog.spec(&core.tool);
                let own = spec.map(|spec| (own(&spec.capabilities), own(&spec.guidance))).unwrap_or_default();
                let source = match own.0.is_empty() && own.1.is_empty() {
                    true => EntrySource::Core,
                    false => EntrySource::Both,
                };
                described.insert(core.tool.as_str());
                entries.push(PlanningEntry {
                    tool: core.tool.clone(),
                    extension: id.clone(),
                    came: by_id[id.as_str()].came,
                    source,
                    capabilities: normalise(core.capabilities.iter().chain(&own.0).map(String::as_str)),
                    guidance: if own.1.is_empty() { core.guidance.clone() } else { own.1 },
                    registered: spec.is_some(),
                });
            }
        }
    }
    let mut of_catalog: HashSet<&str> = HashSet::new();
    let mut undescribed = vec![];
    let mut overreach = vec![];
    for spec in catalog.specs() {
        let Some(id) = extension_of(spec).find_map(|id| by_id.get(id)) else { continue };
        of_catalog.insert(id.id.as_str());
        if id.came != Came::Enabled && !spec.classification.is_safe() {
            overreach.push(Overreach { enabled: id.from.clone(), tool: spec.name.clone(), came: id.came });
        }
        if described.contains(spec.name.as_str()) {
            continue;
        }
        let (capabilities, guidance) = (own(&spec.capabilities), own(&spec.guidance));
        if capabilities.is_empty() && guidance.is_empty() {
            undescribed.push(spec.name.clone());
            continue;
        }
        entries.push(PlanningEntry {
            tool: spec.name.clone(),
            extension: id.id.clone(),
            came: id.came,
            source: EntrySource::Tool,
            capabilities,
            guidance,
            registered: true,
        });
    }

    let guidance = normalise(entries.iter().flat_map(|e| &e.guidance).map(String::as_str));
    let mut callable: Vec<String> = entries.iter().filter(|e| e.registered).map(|e| e.tool.clone()).collect();
    callable.sort();
    callable.dedup();
    let phantoms = normalise(entries.iter().filter(|e| !e.registered).map(|e| e.tool.as_str()));
    let unknown = enabled
        .iter()
        .filter(|id| !aliases.knows(id) && !of_catalog.contains(id.as_str()))
        .map(|id| UnknownId { id: id.clone(), meant: meant(id, &aliases, catalog) })
        .collect();
    let capabilities = by_capability(&entries);
    PlanningView {
        display_ids,
        expanded_ids,
        ids,
        entries,
        guidance,
        capabilities,
        callable,
        phantoms,
        unknown,
        overreach,
        undescribed,
    }
}

/// The ids that enable a tool of the catalog.
fn extension_of(spec: &ToolSpec) -> impl Iterator<Item = &str> {
    [spec.name.as_str(), spec.namespace.as_str()].into_iter().filter(|id| !id.is_empty())
}

fn own(strings: &[String]) -> Vec<String> {
    normalise(strings.iter().map(String::as_str))
}

fn by_capability(entries: &[PlanningEntry]) -> Vec<CapabilityTools> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut found: Vec<CapabilityTools> = vec![];
    let mut seen: HashSet<(&str, &str)> = HashSet::new();
    for entry in entries {
        for capability in &entry.capabilities {
            if !seen.insert((capability, &entry.tool)) {
                continue;
            }
            let place = *places.entry(capability).or_insert_with(|| {
                found.push(CapabilityTools { capability: capability.clone(), tools: vec![] });
                found.len() - 1
            });
            found[place].tools.push(entry.tool.clone());
        }
    }
    found
}

/// The known id or name that differs least from `id`: in letter case or separators, or by one letter in a longer one.
fn meant(id: &str, aliases: &Aliases, catalog: &Catalog) -> Option<String> {
    let names = catalog.specs().flat_map(extension_of);
    nearest(id, aliases.known().chain(names))
}

/// The candidate closest to `word`: equal but for letter case and separators, else one edit away. The alphabet decides
/// between equals.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let bare = |text: &str| -> Vec<char> { text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect() };
    let wanted = bare(word);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates.filter(|c| *c != word) {
        // Lengths first: most candidates need no closer look.
        if candidate.len().abs_diff(word.len()) > 4 {
            continue;
        }
        let other = bare(candidate);
        let distance = match () {
            () if other == wanted => 0,
            () if wanted.len() >= 5 && one_edit(&wanted, &other) => 1,
            () => continue,
        };
        if best.is_none_or(|(d, b)| (distance, candidate) < (d, b)) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate.to_string())
}

/// Whether one letter inserted, removed, changed or swapped with its neighbour makes `a` into `b`.
fn one_edit(a: &[char], b: &[char]) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if long.len() - short.len() > 1 {
        return false;
    }
    let same = short.iter().zip(long).take_while(|(x, y)| x == y).count();
    if same == short.len() {
        return true;
    }
    if short.len() < long.len() {
        return short[same..] == long[same + 1..];
    }
    let swapped = same + 1 < short.len()
        && short[same] == long[same + 1]
        && short[same + 1] == long[same]
        && short[same + 2..] == long[same + 2..];
    short[same + 1..] == long[same + 1..] || swapped
}

//! The index as bytes, and bringing a stored one up to the catalog (D-05).
//!
//! The form is flat arrays of numbers, little-endian, so that reading it is copying. It says which build of the program
//! reads tools the same way, and holds a checksum; bytes that do not fit are refused and never half read.

use super::{
    index::{Document, Index, Posting},
    rows::Rows,
    vocabulary::{act_number, act_of},
};
use crate::tool::{Catalog, ToolSpec};
use serde_json::{Value, json};
use std::sync::LazyLock;

/// Changes with the layout below. Changes in how tools are read are noticed by themselves ([`BUILD`]).
const VERSION: u32 = 2;

const MAGIC: &[u8; 8] = b"tplindex";

/// Why bytes are not taken as an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    /// Written by another version of the program, or no index at all.
    Foreign,
    /// Cut off or altered.
    Damaged,
}

/// What [`Index::sync`] had to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Synced {
    pub added: u32,
    pub changed: u32,
    pub removed: u32,
}

impl Synced {
    pub fn is_unchanged(self) -> bool {
        self == Self::default()
    }
}

/// Of more differences than one tool in this many, building anew is the shorter way.
const MOST_DIFFERENCES: usize = 8;

impl Index {
    /// Takes in what differs from the catalog: changed, added and vanished tools only.
    pub fn sync(&mut self, catalog: &Catalog) -> Synced {
        let mut synced = Synced::default();
        let mut differ: Vec<&ToolSpec> = vec![];
        let mut present = 0;
        for spec in catalog.specs() {
            match self.record(&spec.name) {
                Some(record) => {
                    present += 1;
                    if record != record_of(spec) {
                        synced.changed += 1;
                        differ.push(spec);
                    }
                }
                None => {
                    synced.added += 1;
                    differ.push(spec);
                }
            }
        }
        let mut vanished: Vec<String> = vec![];
        if present < self.len() {
            vanished = self.slots.keys().filter(|name| catalog.spec(name).is_none()).cloned().collect();
            synced.removed = vanished.len() as u32;
        }
        if (synced.changed + synced.removed) as usize > self.len() / MOST_DIFFERENCES {
            *self = Self::of(catalog);
            return synced;
        }
        vanished.iter().for_each(|name| self.remove(name));
        differ.into_iter().for_each(|spec| self.upsert(spec));
        synced
    }

    /// The index without gaps and with the checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = [MAGIC.as_slice(), &VERSION.to_le_bytes(), &BUILD.to_le_bytes(), &[0; 8]].concat();
        self.write(&mut bytes);
        let sum = checksum(&bytes[HEAD..]);
        bytes[HEAD - 8..HEAD].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads what [`Index::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Unusable> {
        let head = bytes.get(..HEAD).ok_or(Unusable::Foreign)?;
        let (start, sum) = head.split_at(HEAD - 8);
        if start != [MAGIC.as_slice(), &VERSION.to_le_bytes(), &BUILD.to_le_bytes()].concat() {
            return Err(Unusable::Foreign);
        }
        if sum != checksum(&bytes[HEAD..]).to_le_bytes() {
            return Err(Unusable::Damaged);
        }
        Self::read(&mut Reader(&bytes[HEAD..])).ok_or(Unusable::Damaged)
    }

    fn record(&self, tool: &str) -> Option<u64> {
        let slot = self.slots.get(tool)?;
        self.documents[*slot as usize].as_ref().map(|d| d.record)
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        let live: Vec<(u32, &Document)> =
            (0u32..).zip(&self.documents).filter_map(|(slot, d)| Some((slot, d.as_ref()?))).collect();
        let mut new_slot = vec![u32::MAX; self.documents.len()];
        (0u32..).zip(&live).for_each(|(new, (old, _))| new_slot[*old as usize] = new);
        let mut keys: Vec<(u32, u64)> = self.terms.iter().map(|(key, term)| (*term, *key)).collect();
        keys.retain(|(term, _)| !self.postings.get(*term).is_empty());
        keys.sort_unstable();
        let mut new_term = vec![u32::MAX; self.postings.len()];
        (0u32..).zip(&keys).for_each(|(new, (old, _))| new_term[*old as usize] = new);

        let names: String = live.iter().map(|(_, d)| d.tool.as_str()).collect();
        array(bytes, names.bytes().map(|b| [b]));
        array(bytes, ends(live.iter().map(|(_, d)| d.tool.len())));
        array(bytes, live.iter().map(|(_, d)| [act_number(d.act)]));
        array(bytes, live.iter().map(|(_, d)| d.namespace.to_le_bytes()));
        array(bytes, live.iter().map(|(_, d)| d.record.to_le_bytes()));
        let of = |slot: &u32| self.document_terms.get(*slot);
        array(bytes, ends(live.iter().map(|(slot, _)| of(slot).len())));
        array(bytes, live.iter().flat_map(|(slot, _)| of(slot)).map(|term| new_term[*term as usize].to_le_bytes()));
        array(bytes, keys.iter().map(|(_, key)| key.to_le_bytes()));
        array(bytes, ends(keys.iter().map(|(term, _)| self.postings.get(*term).len())));
        let postings = || keys.iter().flat_map(|(term, _)| self.postings.get(*term));
        array(bytes, postings().map(|p| new_slot[p.slot as usize].to_le_bytes()));
        array(bytes, postings().map(|p| p.impact.to_le_bytes()));
    }

    fn read(reader: &mut Reader) -> Option<Self> {
        let names = std::str::from_utf8(reader.section()?).ok()?;
        let name_ends = reader.numbers(u32::from_le_bytes)?;
        let acts = reader.section()?;
        let namespaces = reader.numbers(u64::from_le_bytes)?;
        let records = reader.numbers(u64::from_le_bytes)?;
        let term_ends = reader.numbers(u32::from_le_bytes)?;
        let terms = reader.numbers(u32::from_le_bytes)?;
        let keys = reader.numbers(u64::from_le_bytes)?;
        let posting_ends = reader.numbers(u32::from_le_bytes)?;
        let slots = reader.numbers(u32::from_le_bytes)?;
        let impacts = reader.numbers(f32::from_le_bytes)?;
        let count = name_ends.len();
        let fits = [acts.len(), namespaces.len(), records.len(), term_ends.len()].iter().all(|n| *n == count)
            && keys.len() == posting_ends.len()
            && slots.len() == impacts.len()
            && slots.iter().all(|slot| (*slot as usize) < count)
            && terms.iter().all(|term| (*term as usize) < keys.len());
        if !fits || !reader.0.is_empty() {
            return None;
        }
        let mut index = Self {
            terms: keys.into_iter().zip(0u32..).collect(),
            document_terms: Rows::of(terms, &term_ends)?,
            postings: Rows::of(
                slots.into_iter().zip(impacts).map(|(slot, impact)| Posting { slot, impact }).collect(),
                &posting_ends,
            )?,
            slots: std::collections::HashMap::with_capacity(count),
            documents: Vec::with_capacity(count),
            free: vec![],
            meaning: None,
        };
        let mut start = 0;
        for (slot, end) in name_ends.into_iter().enumerate() {
            let tool = names.get(start..end as usize)?.to_string();
            start = end as usize;
            index.slots.insert(tool.clone(), slot as u32);
            let (namespace, act) = (namespaces[slot], act_of(acts[slot]));
            index.documents.push(Some(Document { tool, namespace, act, record: records[slot] }));
        }
        (index.slots.len() == count).then_some(index)
    }
}

/// Where the arrays begin: magic, version, build, checksum.
const HEAD: usize = 8 + 4 + 8 + 8;

/// An array with its length in bytes before it.
fn array<const N: usize>(bytes: &mut Vec<u8>, items: impl Iterator<Item = [u8; N]>) {
    let at = bytes.len();
    bytes.extend_from_slice(&[0; 8]);
    items.for_each(|item| bytes.extend_from_slice(&item));
    let length = (bytes.len() - at - 8) as u64;
    bytes[at..at + 8].copy_from_slice(&length.to_le_bytes());
}

fn ends(lengths: impl Iterator<Item = usize>) -> impl Iterator<Item = [u8; 4]> {
    lengths.scan(0u32, |end, length| {
        *end += length as u32;
        Some(end.to_le_bytes())
    })
}

struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn section(&mut self) -> Option<&'b [u8]> {
        let (length, rest) = self.0.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (section, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(section)
    }

    fn numbers<const N: usize, T>(&mut self, of: impl Fn([u8; N]) -> T) -> Option<Vec<T>> {
        let (chunks, rest) = self.section()?.as_chunks::<N>();
        rest.is_empty().then(|| chunks.iter().map(|chunk| of(*chunk)).collect())
    }
}

/// What of a tool the index rests on: equal numbers mean that there is nothing to take in.
pub(super) fn record_of(spec: &ToolSpec) -> u64 {
    let mut mix = Mix::default();
    mix.text(&spec.name);
    mix.text(spec.title.as_deref().unwrap_or_default());
    mix.text(&spec.description);
    mix.text(&spec.namespace);
    for list in [&spec.capabilities, &spec.aliases, &spec.tags] {
        list.iter().for_each(|text| mix.text(text));
        mix.end();
    }
    for (name, schema) in spec.properties().into_iter().flatten() {
        mix.text(name);
        mix.text(schema.get("description").and_then(Value::as_str).unwrap_or_default());
    }
    mix.0
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut mix = Mix::default();
    mix.bytes(bytes);
    mix.0
}

/// A fast 64-bit hash that is the same on every machine. Against accidents, not against enemies.
struct Mix(u64);

impl Default for Mix {
    fn default() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }
}

impl Mix {
    fn word(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x9fb2_1c65_1e98_df25);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.word(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
        self.word(bytes.len() as u64);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn end(&mut self) {
        self.word(u64::MAX);
    }
}

/// What this build makes of a tool that has a bit of everything. Another build that reads tools in another way does not
/// take this one's index.
static BUILD: LazyLock<u64> = LazyLock::new(|| {
    let probe = ToolSpec {
        name: "desk.listHTMLPages_v2".into(),
        title: Some("Listing the readers' pages".into()),
        description: "Finds \"time zones\" and 翻译文本 of running services; deletes nothing, twice.".into(),
        namespace: "desk".into(),
        capabilities: vec!["page listing".into()],
        aliases: vec!["ls-pages".into()],
        tags: vec!["reports".into()],
        parameters: json!({"properties": {"pageCount": {"description": "how many pages are counted"}}}),
        ..ToolSpec::default()
    };
    let mut index = Index::default();
    index.upsert(&probe);
    let mut terms: Vec<(u64, u32)> =
        index.terms.iter().map(|(key, term)| (*key, index.postings.get(*term)[0].impact.to_bits())).collect();
    terms.sort_unstable();
    let mut mix = Mix::default();
    for (key, impact) in terms {
        mix.word(key);
        mix.word(u64::from(impact));
    }
    mix.word(record_of(&probe));
    mix.word(act_number(index.documents[0].as_ref().and_then(|d| d.act)).into());
    mix.0
});

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn tool(name: &str, description: &str) -> ToolSpec {
        ToolSpec { name: name.into(), description: description.into(), ..Default::default() }
    }

    fn catalog(specs: &[ToolSpec]) -> Catalog {
        let (catalog, problems) = Catalog::new(1, specs.iter().cloned());
        assert_eq!(problems, []);
        catalog
    }

    fn some() -> Vec<ToolSpec> {
        vec![tool("jira.search", "Find issues"), tool("translate", "翻译 a text"), tool("clock", "Time zones")]
    }

    /// D-05: unchanged ⇒ no work; changed, added and vanished tools only.
    #[test]
    fn only_differences_are_taken_in() {
        let mut index = Index::of(&catalog(&some()));
        let before = index.to_bytes();
        assert!(index.sync(&catalog(&some())).is_unchanged());
        assert_eq!(index.to_bytes(), before);

        let many = |edit: &dyn Fn(&mut Vec<ToolSpec>)| {
            let mut specs: Vec<ToolSpec> = (0..40).map(|i| tool(&format!("t{i}"), "one of many")).collect();
            edit(&mut specs);
            catalog(&specs)
        };
        let mut index = Index::of(&many(&|_| ()));
        let synced = index.sync(&many(&|specs| {
            specs.remove(3);
            specs[0].description = "weather".into();
            specs[1].cost_hint = Some(1.0);
            specs.push(tool("new", "forecast"));
        }));
        assert_eq!(synced, Synced { added: 1, changed: 1, removed: 1 }, "a field that is not searched changes nothing");
        assert_eq!(index.search("weather", 2, |_| true)[0].tool, "t0");
        assert_eq!(index.search("forecast", 2, |_| true)[0].tool, "new");
        assert!(index.search("t3", 2, |_| true).iter().all(|h| h.tool != "t3"));
    }

    /// D-05: bytes that were cut off or altered are refused, wherever that was.
    #[test]
    fn damage_is_noticed() {
        let bytes = Index::of(&catalog(&some())).to_bytes();
        assert!(Index::from_bytes(&bytes).is_ok());
        for end in 0..bytes.len() {
            assert!(Index::from_bytes(&bytes[..end]).is_err(), "cut at {end}");
        }
        for at in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[at] ^= 0x10;
            assert!(Index::from_bytes(&altered).is_err(), "altered at {at}");
        }
        let mut newer = bytes.clone();
        newer[8] = VERSION as u8 + 1;
        assert_eq!(Index::from_bytes(&newer).err(), Some(Unusable::Foreign));
        assert_eq!(Index::from_bytes(b"SQLite format 3").err(), Some(Unusable::Foreign));
    }

    /// Even with a checksum that fits, numbers that point nowhere are refused and never followed.
    #[test]
    fn wild_numbers_are_refused() {
        let bytes = Index::of(&catalog(&some())).to_bytes();
        for at in HEAD..bytes.len() {
            for value in [0, 0x7f, 0xff] {
                let mut wild = bytes.clone();
                wild[at] = value;
                let sum = checksum(&wild[HEAD..]).to_le_bytes();
                wild[HEAD - 8..HEAD].copy_from_slice(&sum);
                if let Ok(mut index) = Index::from_bytes(&wild) {
                    index.search("find time zones 翻译 jira.search", 5, |_| true);
                    index.sync(&catalog(&some()[1..]));
                }
            }
        }
    }

    fn any_tool() -> impl Strategy<Value = ToolSpec> {
        let word = prop::sample::select(vec!["issue", "city", "list", "delete", "time", "zone", "翻译", "photo"]);
        ("[a-f]", prop::collection::vec(word, 0..6)).prop_map(|(name, words)| tool(&name, &words.join(" ")))
    }

    fn unique(specs: Vec<ToolSpec>) -> Vec<ToolSpec> {
        let mut seen = HashSet::new();
        specs.into_iter().filter(|s| seen.insert(s.name.clone())).collect()
    }

    proptest! {
        /// D-05: stored, read, brought up to date and edited, the index answers as a new one does, to the last bit.
        #[test]
        fn stored_and_synced_equals_new(
            before in prop::collection::vec(any_tool(), 0..8),
            after in prop::collection::vec(any_tool(), 0..8),
            edits in prop::collection::vec(any_tool(), 0..3),
            query in "(issue |city |list |time zone |翻译 |a ){0,5}",
        ) {
            let (before, after) = (catalog(&unique(before)), unique(after));
            let mut index = Index::from_bytes(&Index::of(&before).to_bytes()).unwrap();
            prop_assert_eq!(index.search(&query, 10, |_| true), Index::of(&before).search(&query, 10, |_| true));
            index.sync(&catalog(&after));
            let mut now = after;
            for edit in edits {
                index.upsert(&edit);
                now.retain(|s| s.name != edit.name);
                now.push(edit);
            }
            let new = Index::of(&catalog(&now));
            prop_assert_eq!(index.search(&query, 10, |_| true), new.search(&query, 10, |_| true));
            let again = Index::from_bytes(&index.to_bytes()).unwrap();
            prop_assert_eq!(again.search(&query, 10, |_| true), new.search(&query, 10, |_| true));
        }
    }
}

//! Tool names as providers accept them.
//!
//! Both protocols refuse a tool name outside `^[a-zA-Z0-9_-]{1,64}$`, while a catalog's name may hold dots, slashes or
//! Chinese. A name that fits travels unchanged. Any other travels as what is left of it and a hash of the whole, such as
//! `fs_read_5be0cd19`, and is turned back in the reply: in native calls, and as a whole word in the text. The hash
//! keeps the wire name the same whatever other tools are offered, and keeps it from being a word of any prose.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};
use toolplan_engine::select::ToolDefinition;

const MAX_NAME: usize = 64;

/// The wire names of one prompt's tools.
pub(super) struct WireNames {
    /// In the order of the tools.
    wire: Vec<String>,
    /// Wire name → catalog name, where they differ.
    original: HashMap<String, String>,
}

impl WireNames {
    pub(super) fn new(tools: &[ToolDefinition]) -> Self {
        let mut taken: HashSet<String> = tools.iter().map(|t| &t.name).filter(|n| is_safe(n)).cloned().collect();
        let mut original = HashMap::new();
        let wire = tools
            .iter()
            .map(|tool| {
                if is_safe(&tool.name) {
                    return tool.name.clone();
                }
                let mut hash = fnv1a(&tool.name);
                let wire = loop {
                    let candidate = format!("{}_{hash:08x}", stem(&tool.name));
                    if taken.insert(candidate.clone()) {
                        break candidate;
                    }
                    hash = hash.wrapping_add(1);
                };
                original.insert(wire.clone(), tool.name.clone());
                wire
            })
            .collect();
        Self { wire, original }
    }

    /// Each tool with its wire name.
    pub(super) fn zip<'a>(
        &'a self,
        tools: &'a [ToolDefinition],
    ) -> impl Iterator<Item = (&'a str, &'a ToolDefinition)> {
        self.wire.iter().map(String::as_str).zip(tools)
    }

    /// The wire name of a tool, of one that is offered no longer too: an earlier turn may have called it.
    pub(super) fn wire<'a>(&'a self, name: &'a str) -> Cow<'a, str> {
        if is_safe(name) {
            return Cow::Borrowed(name);
        }
        let offered = self.original.iter().find(|(_, original)| original.as_str() == name);
        match offered {
            Some((wire, _)) => Cow::Borrowed(wire),
            None => Cow::Owned(format!("{}_{:08x}", stem(name), fnv1a(name))),
        }
    }

    /// The catalog's name for a name in a reply. A name that nobody offered comes back as it is: that is for the guard.
    pub(super) fn original<'a>(&'a self, wire: &'a str) -> &'a str {
        self.original.get(wire).map_or(wire, String::as_str)
    }

    /// `text` with every wire name turned back, so that calls written as JSON or prose name the catalog's tools.
    pub(super) fn original_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.original.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            match self.original.get(&rest[..word]) {
                // Inside a JSON string such a name would break the JSON.
                Some(name) if !name.contains(|c: char| c == '"' || c == '\\' || c.is_control()) => out.push_str(name),
                _ => out.push_str(&rest[..word]),
            }
            rest = &rest[word..];
            let gap = rest.find(is_word).unwrap_or(rest.len());
            out.push_str(&rest[..gap]);
            rest = &rest[gap..];
        }
        Cow::Owned(out)
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn is_safe(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && name.chars().all(is_word)
}

/// The readable part of a wire name; `tool` when nothing of the name can stay.
fn stem(name: &str) -> String {
    let mut stem = String::new();
    for c in name.chars() {
        if is_word(c) {
            stem.push(c);
        } else if !stem.ends_with('_') {
            stem.push('_');
        }
        if stem.len() == MAX_NAME - 9 {
            break;
        }
    }
    match stem.trim_matches('_') {
        "" => "tool".into(),
        kept => kept.into(),
    }
}

/// 32-bit FNV-1a: the same on every machine and in every version, so that recorded requests stay comparable.
fn fnv1a(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

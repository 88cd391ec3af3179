//! `graph_related`: the files that a file, ticket or heading is linked with, up to two hops away.
//!
//! The edges are what files write about each other (`references`); nothing is inferred from similar content.

use super::{
    arguments::Arguments,
    blocking::Stop,
    index::{FolderIndex, Snapshot},
    references::{Kind, Reference, is_ticket_key},
    sandbox::{Workspace, near_names},
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use toolplan_engine::{
    ports::{ErrorClass, ToolError, ToolResult},
    text::middle_truncate,
};

/// Entries of one list in the result.
const MAX_LISTED: usize = 100;

/// A file by its place in the snapshot, or a ticket that has no file of its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Node {
    File(usize),
    Ticket(String),
}

struct Edge<'a> {
    from: Node,
    to: Node,
    reference: &'a Reference,
}

pub(super) fn call(
    workspace: &Workspace,
    index: &FolderIndex,
    arguments: &Arguments,
    stop: &Stop,
) -> Result<ToolResult, ToolError> {
    let entity = arguments.required("entity_id")?.trim();
    let folder = workspace.open()?;
    let snapshot = index.snapshot(&folder, stop)?;
    let graph = Graph::new(&snapshot, stop)?;
    let (node, resolved_as) = graph.find(entity)?;

    let outgoing: Vec<&Edge> = graph.edges.iter().filter(|e| e.from == node).collect();
    let incoming: Vec<&Edge> = graph.edges.iter().filter(|e| e.to == node).collect();
    let first: HashSet<&Node> =
        outgoing.iter().map(|e| &e.to).chain(incoming.iter().map(|e| &e.from)).chain([&node]).collect();
    let mut second: BTreeMap<&Node, (&Node, &Reference)> = BTreeMap::new();
    for edge in &graph.edges {
        for (near, far) in [(&edge.from, &edge.to), (&edge.to, &edge.from)] {
            if *near != node && first.contains(near) && !first.contains(far) {
                second.entry(far).or_insert((near, edge.reference));
            }
        }
    }

    let truncated = [outgoing.len(), incoming.len(), second.len()].into_iter().any(|n| n > MAX_LISTED);
    let list = |edges: &[&Edge], far: fn(&Edge) -> Node| -> Vec<Value> {
        edges.iter().take(MAX_LISTED).map(|e| graph.entry(&far(e), e.reference)).collect()
    };
    let second: Vec<Value> = second
        .into_iter()
        .take(MAX_LISTED)
        .map(|(far, (near, reference))| {
            let mut entry = graph.entry(far, reference);
            entry["via"] = graph.name(near).into();
            entry
        })
        .collect();
    let mut data = json!({
        "node": graph.name(&node),
        "resolved_as": resolved_as,
        "outgoing": list(&outgoing, |e| e.to.clone()),
        "incoming": list(&incoming, |e| e.from.clone()),
        "second_hop": second,
        "truncated": truncated,
    });
    snapshot.describe(&mut data);
    let mut sources: Vec<String> =
        first.into_iter().filter(|n| matches!(n, Node::File(_))).map(|n| graph.name(n)).collect();
    sources.sort();
    Ok(ToolResult { data, confidence: None, sources })
}

/// The links of a snapshot.
struct Graph<'a> {
    snapshot: &'a Snapshot,
    /// Files by lower-case path, by lower-case name, by lower-case name without its extension, and by heading.
    by_path: HashMap<String, usize>,
    by_name: HashMap<String, Vec<usize>>,
    by_stem: HashMap<String, Vec<usize>>,
    by_heading: HashMap<String, usize>,
    edges: Vec<Edge<'a>>,
}

impl<'a> Graph<'a> {
    fn new(snapshot: &'a Snapshot, stop: &Stop) -> Result<Self, ToolError> {
        let mut graph = Self {
            snapshot,
            by_path: HashMap::new(),
            by_name: HashMap::new(),
            by_stem: HashMap::new(),
            by_heading: HashMap::new(),
            edges: vec![],
        };
        for (at, file) in snapshot.files.iter().enumerate() {
            let path = file.path.to_lowercase();
            let name = path.rsplit('/').next().unwrap_or(&path).to_string();
            let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem).to_string();
            graph.by_path.insert(path, at);
            graph.by_name.entry(name).or_default().push(at);
            graph.by_stem.entry(stem).or_default().push(at);
            for passage in &file.passages {
                let heading = passage.passage.heading.rsplit(" › ").next().unwrap_or_default().to_lowercase();
                if !heading.is_empty() {
                    graph.by_heading.entry(heading).or_insert(at);
                }
            }
        }
        for (at, file) in snapshot.files.iter().enumerate() {
            stop.check()?;
            // One edge per pair: a link says more than the file name inside it.
            let mut targets: BTreeMap<Node, &Reference> = BTreeMap::new();
            for reference in &file.references {
                if let Some(target) = graph.target(&file.path, reference).filter(|t| *t != Node::File(at)) {
                    let kept = targets.entry(target).or_insert(reference);
                    if kept.kind == Kind::FileName {
                        *kept = reference;
                    }
                }
            }
            graph.edges.extend(targets.into_iter().map(|(to, reference)| Edge { from: Node::File(at), to, reference }));
        }
        Ok(graph)
    }

    /// What the reference of the file at `from` points at, where that exists.
    fn target(&self, from: &str, reference: &Reference) -> Option<Node> {
        let wanted = percent_encoding::percent_decode_str(&reference.target).decode_utf8_lossy().to_lowercase();
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder).to_lowercase();
        let beside = |path: &str| join(&folder, path).and_then(|path| self.path(&path));
        let file = match reference.kind {
            Kind::Link => match wanted.strip_prefix('/') {
                Some(rooted) => self.path(rooted),
                None => beside(&wanted),
            },
            Kind::WikiLink => self.path(&wanted).or_else(|| beside(&wanted)).or_else(|| self.named(&wanted)),
            Kind::FileName => {
                beside(&wanted).or_else(|| self.path(&wanted)).or_else(|| only(self.by_name.get(&wanted)))
            }
            Kind::Ticket => {
                let own_file = only(self.by_stem.get(&wanted)).map(Node::File);
                return Some(own_file.unwrap_or_else(|| Node::Ticket(reference.target.clone())));
            }
        };
        file.map(Node::File)
    }

    fn path(&self, path: &str) -> Option<usize> {
        let path = join("", path)?;
        self.by_path.get(&path).or_else(|| self.by_path.get(&format!("{path}.md"))).copied()
    }

    /// By name, with or without extension, or by heading.
    fn named(&self, name: &str) -> Option<usize> {
        let by_file = only(self.by_name.get(name)).or_else(|| only(self.by_stem.get(name)));
        by_file.or_else(|| self.by_heading.get(name).copied())
    }

    fn find(&self, entity: &str) -> Result<(Node, &'static str), ToolError> {
        let wanted = entity.to_lowercase();
        if let Some(file) = self.path(&wanted) {
            return Ok((Node::File(file), "file"));
        }
        if is_ticket_key(&entity.to_uppercase()) {
            let key = entity.to_uppercase();
            if let Some(file) = only(self.by_stem.get(&wanted)) {
                return Ok((Node::File(file), "file of the ticket"));
            }
            if self.edges.iter().any(|e| e.to == Node::Ticket(key.clone())) {
                return Ok((Node::Ticket(key), "ticket"));
            }
        }
        if let Some(file) = only(self.by_name.get(&wanted)).or_else(|| only(self.by_stem.get(&wanted))) {
            return Ok((Node::File(file), "file name"));
        }
        if let Some(file) = self.by_heading.get(&wanted) {
            return Ok((Node::File(*file), "heading"));
        }
        let tickets = self.edges.iter().filter_map(|e| match &e.to {
            Node::Ticket(key) => Some(key.as_str()),
            Node::File(_) => None,
        });
        let names =
            self.snapshot.files.iter().map(|f| f.path.as_str()).chain(self.by_heading.keys().map(String::as_str));
        let mut near = near_names(entity, names.chain(tickets.collect::<HashSet<_>>()));
        near.dedup();
        let hint = match near.as_slice() {
            [] => "name a file by its path, a ticket key that a file mentions, or a heading".to_string(),
            near => format!("did you mean {}?", near.join(" or ")),
        };
        let message = format!("nothing in the workspace is called {}", middle_truncate(entity, 200));
        Err(ToolError::new(ErrorClass::NotFound, message, hint))
    }

    fn name(&self, node: &Node) -> String {
        match node {
            Node::File(file) => self.snapshot.files[*file].path.clone(),
            Node::Ticket(key) => key.clone(),
        }
    }

    /// A ticket has no path: nothing that reads files could open it.
    fn entry(&self, node: &Node, reference: &Reference) -> Value {
        let mut entry = json!({"path": null, "kind": reference.kind.as_str(), "text": reference.text});
        match node {
            Node::File(_) => entry["path"] = self.name(node).into(),
            Node::Ticket(key) => entry["ticket"] = key.as_str().into(),
        }
        entry
    }
}

/// The path `relative` to `folder`, without `.` and `..`; none where it goes above the root.
fn join(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The file, where there is one and not several of the name.
fn only(files: Option<&Vec<usize>>) -> Option<usize> {
    match files.map(Vec::as_slice) {
        Some([file]) => Some(*file),
        _ => None,
    }
}

//! Names that providers refuse, there and back.

use crate::models::names::WireNames;
use serde_json::json;
use std::collections::HashSet;
use toolplan_engine::select::ToolDefinition;

fn tools(names: &[&str]) -> Vec<ToolDefinition> {
    let tool = |name: &&str| ToolDefinition { name: (*name).into(), description: String::new(), parameters: json!({}) };
    names.iter().map(tool).collect()
}

#[test]
fn every_name_fits_is_unique_and_comes_back() {
    let long = "x".repeat(65);
    let names =
        ["a_b", "a.b", "a/b", "a b", "搜索", "检索", "…", "über", &long, "UPPER-case_9", "emoji🙂", "-", "a.b."];
    let tools = tools(&names);
    let wire_names = WireNames::new(&tools);
    let mut seen = HashSet::new();
    for (wire, tool) in wire_names.zip(&tools) {
        let fits =
            (1..=64).contains(&wire.len()) && wire.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        assert!(fits, "{wire}");
        assert!(seen.insert(wire), "{wire} twice");
        assert_eq!(wire_names.original(wire), tool.name);
    }
    assert_eq!(seen.len(), names.len());
    assert!(seen.contains("a_b") && seen.contains("UPPER-case_9"), "a name that fits travels unchanged");
}

#[test]
fn a_wire_name_does_not_depend_on_the_other_tools() {
    let alone = tools(&["fs.read"]);
    let among = tools(&["fs_read", "fs/read", "fs.read"]);
    let name = |tools: &[ToolDefinition]| {
        let names = WireNames::new(tools);
        names.zip(tools).find(|(_, tool)| tool.name == "fs.read").map(|(wire, _)| wire.to_owned())
    };
    assert_eq!(name(&alone), name(&among));
}

#[test]
fn a_taken_wire_name_is_not_given_twice() {
    let plain = tools(&["a.b"]);
    let names = WireNames::new(&plain);
    let wire = names.zip(&plain).next().unwrap().0.to_owned();
    let tools = tools(&["a.b", &wire]);
    let names = WireNames::new(&tools);
    let both: Vec<_> = names.zip(&tools).map(|(wire, tool)| (wire.to_owned(), tool.name.clone())).collect();
    assert_ne!(both[0].0, both[1].0);
    assert_eq!(names.original(&both[0].0), "a.b");
    assert_eq!(names.original(&wire), wire);
}

#[test]
fn names_in_text_are_turned_back_as_whole_words() {
    let tools = tools(&["fs.read", "safe", "quo\"te"]);
    let names = WireNames::new(&tools);
    let wire: Vec<_> = names.zip(&tools).map(|(wire, _)| wire).collect();
    let (read, quote) = (wire[0], wire[2]);
    let text = format!("Für „{read}“: {{\"tool\": \"{read}\"}}, nicht {read}s, safe, {quote}.");
    assert_eq!(
        names.original_text(&text),
        format!("Für „fs.read“: {{\"tool\": \"fs.read\"}}, nicht {read}s, safe, {quote}."),
    );
    assert_eq!(names.original("never_offered"), "never_offered");
}

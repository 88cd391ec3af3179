//! Suggesting whether a tool is safe, from what it says about itself. A suggestion never changes a tool: somebody
//! accepts it, or nothing happens (V-06).
//!
//! It errs on one side. SAFE needs a reading verb that leads the name, and nothing in name, description, parameters or
//! declared effects that speaks of writing, sending or executing; everything else is DESTRUCTIVE.

use crate::{
    discovery::plain_words,
    tool::{Classification, SideEffects, ToolSpec},
};
use serde::Serialize;
use serde_json::Value;

/// What a tool seems to be, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Suggestion {
    /// SAFE or DESTRUCTIVE.
    pub classification: Classification,
    pub reason: String,
    /// The word that decided; empty where none was found.
    pub evidence: String,
}

/// Verbs that leave everything as it was.
const READ: &[&str] = &[
    "browse", "check", "count", "describe", "display", "explain", "fetch", "find", "get", "inspect", "list", "lookup",
    "peek", "query", "read", "retrieve", "search", "show", "view",
];

/// Verbs that change something, wherever they stand in a name.
const WRITE: &[&str] = &[
    "accept",
    "activate",
    "add",
    "append",
    "apply",
    "approve",
    "archive",
    "assign",
    "attach",
    "authorize",
    "ban",
    "block",
    "book",
    "buy",
    "cancel",
    "checkout",
    "clear",
    "click",
    "clone",
    "close",
    "commit",
    "configure",
    "connect",
    "convert",
    "copy",
    "create",
    "deactivate",
    "decline",
    "delete",
    "deploy",
    "destroy",
    "detach",
    "disable",
    "disconnect",
    "drag",
    "drop",
    "duplicate",
    "edit",
    "empty",
    "enable",
    "enqueue",
    "erase",
    "exec",
    "execute",
    "fill",
    "flush",
    "follow",
    "fork",
    "format",
    "grant",
    "increment",
    "init",
    "insert",
    "install",
    "invite",
    "invoke",
    "kill",
    "launch",
    "lock",
    "login",
    "logout",
    "mark",
    "merge",
    "modify",
    "move",
    "mutate",
    "navigate",
    "overwrite",
    "patch",
    "pause",
    "pay",
    "pop",
    "press",
    "prune",
    "publish",
    "purchase",
    "purge",
    "push",
    "put",
    "reboot",
    "register",
    "reject",
    "remove",
    "rename",
    "renew",
    "replace",
    "reply",
    "reset",
    "restart",
    "restore",
    "resume",
    "revert",
    "revoke",
    "rewrite",
    "rollback",
    "run",
    "save",
    "schedule",
    "sell",
    "send",
    "set",
    "shutdown",
    "spawn",
    "star",
    "start",
    "stop",
    "submit",
    "subscribe",
    "swap",
    "sync",
    "terminate",
    "toggle",
    "transfer",
    "trash",
    "trigger",
    "truncate",
    "type",
    "uninstall",
    "unlock",
    "unpublish",
    "unsubscribe",
    "untag",
    "update",
    "upgrade",
    "upload",
    "upsert",
    "wipe",
    "withdraw",
    "write",
];

/// Of these, the ones that are as often things as deeds: after a reading verb they name what is read ("list type
/// mappings"), unless a joining word comes before them.
const ALSO_NOUNS: &[&str] = &[
    "archive",
    "ban",
    "block",
    "book",
    "clone",
    "commit",
    "copy",
    "drop",
    "duplicate",
    "empty",
    "fork",
    "format",
    "grant",
    "init",
    "invite",
    "launch",
    "lock",
    "login",
    "mark",
    "merge",
    "move",
    "patch",
    "press",
    "purchase",
    "push",
    "register",
    "reply",
    "run",
    "schedule",
    "set",
    "star",
    "start",
    "swap",
    "sync",
    "transfer",
    "trash",
    "trigger",
    "type",
    "update",
    "upgrade",
    "upload",
];

/// Words that join a second deed to the first one, or announce one.
const JOINING: &[&str] = &["and", "or", "then", "also", "will", "can", "may", "optionally", "automatically"];

/// Parameters that hold something to carry out.
const CARRIED_OUT: &[&str] = &["command", "commands", "cmd", "script", "code", "sql", "statement", "shell"];

pub fn suggest(spec: &ToolSpec) -> Suggestion {
    if matches!(spec.side_effects, SideEffects::Write | SideEffects::Stateful) {
        return destructive("its declared side effects change something", "");
    }
    let local = spec.name.rsplit(['.', '/']).find(|part| !part.is_empty()).unwrap_or(&spec.name);
    let name = plain_words(local);
    let description = plain_words(&spec.description);
    let Some(at) = name.iter().position(|word| READ.contains(&word.as_str())) else {
        let evidence = name.iter().find(|word| WRITE.contains(&word.as_str())).map_or("", String::as_str);
        return destructive("no reading verb leads its name", evidence);
    };
    let verb = name[at].as_str();
    if verb == "check" && name.get(at + 1).is_some_and(|next| next == "in" || next == "out") {
        return destructive("its name checks something in or out", verb);
    }
    // `mark_as_read`, `send_list`: what comes before the reading verb does the deed. A plain noun may stand there when
    // the description begins with reading, too.
    let told = description.iter().find(|word| !word.ends_with("ly"));
    let confirmed = told.is_some_and(|word| READ.iter().chain(&["return"]).any(|read| is_form(word, read)));
    if at > 0 && !confirmed {
        return destructive("its name does not begin with a reading verb", &name[0]);
    }
    if let Some(word) = name[..at].iter().find(|word| WRITE.contains(&word.as_str())) {
        return destructive("a changing verb comes first in its name", word);
    }
    if let Some(word) = deed(&name[at + 1..]) {
        return destructive("its name speaks of changing something, too", word);
    }
    if let Some(word) = told_deed(&description) {
        return destructive("its description speaks of changing something", word);
    }
    if let Some(word) = parameter_deed(spec) {
        return destructive("a parameter says what to carry out", &word);
    }
    Suggestion {
        classification: Classification::Safe,
        reason: "a reading verb leads its name, and nothing speaks of changing anything".into(),
        evidence: verb.into(),
    }
}

fn destructive(reason: &str, evidence: &str) -> Suggestion {
    Suggestion { classification: Classification::Destructive, reason: reason.into(), evidence: evidence.into() }
}

/// A changing verb in the rest of a name.
fn deed(words: &[String]) -> Option<&str> {
    words.iter().enumerate().find_map(|(i, word)| {
        let joined = i > 0 && JOINING.contains(&words[i - 1].as_str());
        let verb = WRITE.contains(&word.as_str()) && (joined || !ALSO_NOUNS.contains(&word.as_str()));
        verb.then_some(word.as_str())
    })
}

/// A changing verb that a description says of the tool: at its beginning, or behind a joining word. Others describe
/// what is read: "the branch to merge", "deleted users".
fn told_deed(words: &[String]) -> Option<&str> {
    words.iter().enumerate().find_map(|(i, word)| {
        let told = i == 0 || JOINING.contains(&words[i - 1].as_str());
        let verb = WRITE.iter().any(|write| is_form(word, write));
        (told && verb).then_some(word.as_str())
    })
}

/// A parameter that holds something to carry out, or that offers a changing verb as a choice.
fn parameter_deed(spec: &ToolSpec) -> Option<String> {
    spec.properties().into_iter().flatten().find_map(|(name, schema)| {
        if CARRIED_OUT.contains(&name.to_lowercase().as_str()) {
            return Some(name.clone());
        }
        let choices = schema.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let deeds =
            |choice: &str| plain_words(choice).first().is_some_and(|first| WRITE_CHOICES.contains(&first.as_str()));
        choices.into_iter().find(|choice| deeds(choice)).map(str::to_string)
    })
}

/// Choices that say what a tool does. Others, such as a sort order "update", say what is read.
const WRITE_CHOICES: &[&str] = &[
    "create",
    "delete",
    "execute",
    "insert",
    "modify",
    "overwrite",
    "patch",
    "post",
    "put",
    "remove",
    "send",
    "write",
];

/// `word` is the verb, or its third person: gets, fetches, retries.
fn is_form(word: &str, verb: &str) -> bool {
    word == verb
        || word.strip_suffix('s').is_some_and(|stem| {
            stem == verb
                || stem.strip_suffix('e') == Some(verb)
                || stem.strip_suffix("ie").is_some_and(|stem| verb.strip_suffix('y') == Some(stem))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(name: &str, description: &str, expected: &str) {
        let spec = ToolSpec { name: name.into(), description: description.into(), ..ToolSpec::default() };
        let Suggestion { classification, evidence, .. } = suggest(&spec);
        assert_eq!(format!("{classification:?} {evidence}"), expected, "{name}: {description}");
    }

    /// V-06: SAFE only where nothing at all speaks against it.
    #[test]
    fn only_plain_reading_is_safe() {
        check("get_issue", "Gets an issue.", "Safe get");
        check("jira.search_issues", "", "Safe search");
        check("projects.locations.batchGet", "Atomically gets several", "Safe get");
        check("projects.locations.batchGet", "", "Destructive batch");
        check("batchList", "Lists what was deleted", "Safe list");
        check("list_update_types", "", "Safe list");
        check("delete_issue", "Deletes an issue", "Destructive delete");
        check("mark_all_read", "Mark all notifications as read", "Destructive mark");
        check("get_or_create_user", "", "Destructive create");
        check("list_and_run", "", "Destructive run");
        check("get_queue_item", "Returns the next item and removes it", "Destructive removes");
        check("read_mail", "Reads a mail. Also marks it", "Destructive marks");
        check("check_out", "", "Destructive check");
        check("frobnicate", "Gets nothing", "Destructive ");
        check("", "", "Destructive ");
    }

    #[test]
    fn effects_and_parameters_speak_against_it() {
        let with = |properties: Value| ToolSpec {
            name: "query_database".into(),
            parameters: json!({"type": "object", "properties": properties}),
            ..ToolSpec::default()
        };
        assert_eq!(suggest(&with(json!({"text": {"type": "string"}}))).classification, Classification::Safe);
        assert_eq!(suggest(&with(json!({"sql": {"type": "string"}}))).evidence, "sql");
        assert_eq!(suggest(&with(json!({"method": {"enum": ["GET", "DELETE"]}}))).evidence, "DELETE");
        let writes = ToolSpec { side_effects: SideEffects::Write, ..with(json!({})) };
        assert_eq!(suggest(&writes).classification, Classification::Destructive);
    }
}

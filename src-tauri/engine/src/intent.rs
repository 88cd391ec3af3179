//! Intents: which may be selected, and which scopes are too broad to be one (source 004).
//!
//! Pure rules over the settings. Knows nothing of sessions, of the file system or of who selects.

use crate::{
    Problem,
    settings::{Intent, IntentStatus, Settings},
};
use regex::Regex;
use std::cell::RefCell;

/// The intent called `id`, if it may be selected now; else why not, with the intents that may.
pub fn selectable<'s>(settings: &'s Settings, id: &str) -> Result<&'s Intent, Problem> {
    let refused = |code: &str, message: String| Problem::new(code, message, available(settings));
    let pattern = &settings.session.intent_pattern;
    match matches_pattern(pattern, id) {
        Ok(true) if !id.trim().is_empty() => {}
        Ok(_) => {
            let form = if pattern.is_empty() { "an id".to_string() } else { format!("the form {pattern}") };
            return Err(refused("intent.id", format!("{id:?} is no id of an intent: it needs {form}")));
        }
        Err(error) => {
            return Err(Problem::new(
                "intent.pattern",
                format!("no intent can be selected: the pattern of their ids does not compile ({error})"),
                "correct session.intent_pattern in the settings",
            ));
        }
    }
    let Some(intent) = settings.intents.iter().find(|i| i.id == id) else {
        return Err(refused("intent.unknown", format!("there is no intent called {id}")));
    };
    match intent.status {
        IntentStatus::Open | IntentStatus::Active => {}
        IntentStatus::Completed => return Err(refused("intent.completed", format!("{id} is completed"))),
        IntentStatus::Abandoned => return Err(refused("intent.abandoned", format!("{id} is abandoned"))),
        IntentStatus::Blocked => {
            return Err(refused("intent.blocked", format!("{id} is blocked until a person unblocks it")));
        }
    }
    check_scope(&intent.scope, settings.session.max_scope)
        .map_err(|why| refused("intent.scope", format!("{id} cannot be selected: {why}")))?;
    Ok(intent)
}

/// Whether an intent that was selected earlier still holds. An id that the settings do not list was chosen by hand and
/// holds; a listed one must still be selectable.
pub fn still_holds(settings: &Settings, id: &str) -> bool {
    match settings.intents.iter().find(|i| i.id == id) {
        Some(intent) => matches!(intent.status, IntentStatus::Open | IntentStatus::Active),
        None => true,
    }
}

/// The intents that may be selected now, in the order of the settings.
pub fn open(settings: &Settings) -> impl Iterator<Item = &Intent> {
    settings.intents.iter().filter(|intent| selectable_quietly(settings, intent))
}

fn selectable_quietly(settings: &Settings, intent: &Intent) -> bool {
    matches!(intent.status, IntentStatus::Open | IntentStatus::Active)
        && matches_pattern(&settings.session.intent_pattern, &intent.id) == Ok(true)
        && check_scope(&intent.scope, settings.session.max_scope).is_ok()
}

/// `available: REQ-1 (Improve the page), …`, for the model and the person.
pub fn available(settings: &Settings) -> String {
    let open: Vec<String> = open(settings)
        .map(|i| if i.title.is_empty() { i.id.clone() } else { format!("{} ({})", i.id, i.title) })
        .collect();
    match open.is_empty() {
        true => "no intent can be selected: add one to the settings, or open a blocked one".into(),
        false => format!("available: {}", open.join(", ")),
    }
}

/// Whether the id fits the pattern; an error says why the pattern does not compile. The pattern is anchored by
/// whoever writes it.
fn matches_pattern(pattern: &str, id: &str) -> Result<bool, String> {
    // Compiling takes far longer than matching, and a workspace has one pattern.
    thread_local! {
        static LAST: RefCell<Option<(String, Result<Regex, String>)>> = const { RefCell::new(None) };
    }
    if pattern.is_empty() {
        return Ok(true);
    }
    LAST.with_borrow_mut(|last| {
        if last.as_ref().is_none_or(|(known, _)| known != pattern) {
            let compiled = Regex::new(pattern).map_err(|e| last_line(&e.to_string()));
            *last = Some((pattern.into(), compiled));
        }
        match last.as_ref().map(|(_, compiled)| compiled) {
            Some(Ok(regex)) => Ok(regex.is_match(id)),
            Some(Err(error)) => Err(error.clone()),
            None => Ok(false),
        }
    })
}

/// The line of a pattern's error that says what is wrong; those before it draw the place.
pub(crate) fn last_line(error: &str) -> String {
    error.lines().last().unwrap_or_default().trim().to_string()
}

/// What is wrong with a scope, in a sentence without its subject. An intent without a scope says nothing about files.
pub fn check_scope(scope: &[String], max: u32) -> Result<(), String> {
    if scope.len() > max as usize {
        return Err(format!("its scope has {} patterns, at most {max} are taken", scope.len()));
    }
    for pattern in scope {
        if let Some(why) = too_broad(pattern) {
            return Err(format!("its scope pattern {pattern:?} {why}"));
        }
    }
    Ok(())
}

/// Why a path pattern is no scope: it leaves the workspace, or it fixes too little of the paths that it fits. A
/// pattern is judged by what it fits, not by its spelling: `./**/*`, `app/**` and `{src,lib}/**` are as broad as `**`.
///
/// A pattern that goes down any number of folders must fix two names of the path, any other must fix one.
pub fn too_broad(pattern: &str) -> Option<&'static str> {
    let text = pattern.trim().replace('\\', "/");
    if let Some(excluded) = text.strip_prefix('!') {
        // It only takes away.
        return if excluded.is_empty() { Some("is empty") } else { None };
    }
    let segments: Vec<&str> = text.split('/').filter(|s| !s.is_empty() && *s != ".").collect();
    if segments.contains(&"..") {
        return Some("leaves the workspace");
    }
    let wild = |segment: &str| segment.contains(['*', '?', '[', '{']);
    let fixed = segments.iter().filter(|s| !wild(s)).count();
    // A name with a fixed stem (`invoice_*.rs`) narrows like a whole name; an ending alone (`*.rs`) does not.
    let stem = segments.last().is_some_and(|last| wild(last) && !last.starts_with(['*', '?', '[', '{']));
    let any_depth = segments.iter().any(|s| s.contains("**")) || text.ends_with('/');
    let needed = if any_depth { 2 } else { 1 };
    (fixed + usize::from(stem) < needed).then_some("fits nearly every file; name the folder that is meant")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SYSTEMS 4.1 and weakness W4-6: broad by meaning, not by a list of spellings.
    #[test]
    fn broad_scopes() {
        for broad in [
            "",
            ".",
            "/",
            "*",
            "**",
            "**/*",
            "./**/*",
            "*/**",
            "src/**/*",
            "src/**",
            "src/",
            "app/**",
            "./app//**",
            "**/*.ts",
            "**/*.{js,jsx}",
            "{src,app}/**",
            "[a-z]*/**",
            "*.md",
            "?*",
            "src\\**",
            "**/src/**",
            "../x/y",
            "a/../../b/c",
        ] {
            assert!(too_broad(broad).is_some(), "{broad:?} is too broad");
        }
        for narrow in [
            "src/billing/**",
            "src/**/billing/*.rs",
            "docs/guide.md",
            "README.md",
            "src/*.rs",
            "./src/auth/**/*.ts",
            "invoice_*.rs",
            "!src/**",
            "src/billing/",
        ] {
            assert_eq!(too_broad(narrow), None, "{narrow:?} is a scope");
        }
    }

    #[test]
    fn scopes_have_a_size() {
        let many: Vec<String> = (0..21).map(|i| format!("src/part{i}/**")).collect();
        assert!(check_scope(&many, 20).unwrap_err().contains("21 patterns"));
        assert_eq!(check_scope(&many[..20], 20), Ok(()));
    }
}

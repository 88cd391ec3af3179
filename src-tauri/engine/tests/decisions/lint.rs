//! Lints: what is found, what the fixes do, and how fast.

use serde_json::{Value, json};
use std::time::Instant;
use toolplan_engine::{
    lint::{FixTarget, Lint, Linter, Severity, patch::patched},
    settings::{CapabilitySettings, DiscoverySettings, Mode, Settings, ToolPolicy},
    tool::{Catalog, Classification, Fallback, Loading, ToolSpec},
};

/// A tool without a fault.
fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: format!("Does what {name} does"),
        capabilities: vec!["testing".into()],
        classification: Classification::Safe,
        ..Default::default()
    }
}

fn with(name: &str, change: impl FnOnce(&mut ToolSpec)) -> ToolSpec {
    let mut spec = tool(name);
    change(&mut spec);
    spec
}

fn found(specs: &[ToolSpec], settings: &Settings) -> Vec<Lint> {
    let (catalog, problems) = Catalog::new(1, specs.to_vec());
    assert_eq!(problems, []);
    Linter::default().report(&catalog, settings).lints.iter().map(|lint| (**lint).clone()).collect()
}

fn codes(specs: &[ToolSpec], settings: &Settings) -> Vec<String> {
    let mut codes: Vec<String> = found(specs, settings).into_iter().map(|lint| lint.code.to_string()).collect();
    codes.sort();
    codes.dedup();
    codes
}

/// Finds `code` about `tool` (nothing: the settings), once; where there is a fix, applying it makes the lint go away.
#[track_caller]
fn check(code: &str, tool: &str, specs: &[ToolSpec], settings: &Settings) -> Lint {
    let all = found(specs, settings);
    let mine: Vec<&Lint> = all.iter().filter(|lint| lint.code == code).collect();
    assert_eq!(mine.len(), 1, "{code}: {all:#?}");
    let lint = mine[0].clone();
    assert_eq!(lint.tools.first().map_or("", String::as_str), tool, "{lint:?}");
    assert!(!lint.message.is_empty() && !lint.field.is_empty());
    if let Some(fix) = &lint.fix {
        let (mut specs, mut settings) = (specs.to_vec(), settings.clone());
        match &fix.target {
            FixTarget::Settings => settings = patched(&settings, &fix.patch).unwrap(),
            FixTarget::Tool { name } => {
                let spec = specs.iter_mut().find(|s| s.name == *name).unwrap();
                *spec = patched(spec, &fix.patch).unwrap();
            }
        }
        assert!(!codes(&specs, &settings).contains(&code.to_string()), "{code} is still there after {fix:?}");
    }
    lint
}

#[track_caller]
fn check_tool(code: &str, fixable: bool, specs: &[ToolSpec]) -> Lint {
    let lint = check(code, &specs[0].name, specs, &Settings::default());
    assert_eq!(lint.fix.is_some(), fixable, "{lint:?}");
    lint
}

fn says(name: &str, lines: &[&str]) -> ToolSpec {
    with(name, |t| t.guidance = lines.iter().map(|l| l.to_string()).collect())
}

/// K-12: a tool without a fault has no lint.
#[test]
fn nothing_is_said_of_what_is_right() {
    let schema = json!({"type": "object", "properties": {"q": {"type": "string", "description": "What to look for"}}, "required": ["q"]});
    let good = with("search_docs", |t| {
        t.parameters = schema;
        t.guidance = vec!["Use `search_docs` with a whole question in `q`.".into(), "Never ask twice.".into()];
    });
    assert_eq!(found(&[good, tool("fetch_page")], &Settings::default()), []);
}

/// K-12: faults of one tool, each with its fix.
#[test]
fn faults_of_a_tool() {
    let lint =
        check_tool("tool.unclassified", true, &[with("get_x", |t| t.classification = Classification::Unclassified)]);
    assert_eq!(lint.fix.unwrap().patch, json!({"classification": "SAFE"}), "a suggestion; nobody applied it");
    check_tool("description.missing", false, &[with("a", |t| t.description = " ".into())]);
    check_tool("planning.missing", false, &[with("a", |t| t.capabilities = vec!["".into()])]);
    let falls = |to: &str| Some(Fallback::on_error(to));
    check_tool("fallback.itself", true, &[with("a", |t| t.fallback = falls("a"))]);
    check_tool("fallback.unknown", true, &[with("a", |t| t.fallback = falls("gone"))]);

    let parameters = |schema: Value| with("a", |t| t.parameters = schema);
    let lint = check_tool(
        "schema.required_unknown",
        true,
        &[parameters(json!({"type": "object", "properties": {"q": {"title": "Q"}}, "required": ["q", "limit"]}))],
    );
    assert_eq!(lint.severity, Severity::Error);
    check_tool("schema.malformed", true, &[parameters(json!({"type": "string"}))]);
    check_tool("schema.malformed", false, &[parameters(json!({"type": "object", "properties": []}))]);
    check_tool("schema.malformed", false, &[parameters(json!({"type": "object", "required": "q"}))]);
    let lint = check_tool(
        "parameter.undocumented",
        false,
        &[parameters(json!({"properties": {"q": {"type": "string"}, "k": {"enum": [1]}}}))],
    );
    assert!(lint.message.ends_with("describe q"), "{}", lint.message);
    assert!(
        !codes(&[parameters(json!({"required": ["x"], "anyOf": []}))], &Settings::default())
            .contains(&"schema.required_unknown".into())
    );
}

/// K-12, W2-3: guidance that repeats, contradicts, or names what is not there.
#[test]
fn faults_of_guidance() {
    let line = "Search the archive before the web.";
    check_tool("guidance.duplicate", true, &[says("a", &[line, " Search the archive before the web. "])]);
    check_tool("guidance.near_duplicate", true, &[says("a", &[line, "Always search the web before the archive!"])]);
    check_tool("guidance.contradictory", false, &[says("a", &[line, "Do not search the archive before the web"])]);
    check_tool("guidance.contradictory", false, &[says("a", &["先查询数据库。", "不要先查询数据库。"])]);
    check_tool("guidance.duplicate", false, &[says("a", &[line]), says("b", &[line])]);
    check_tool(
        "guidance.contradictory",
        false,
        &[says("a", &[line]), says("b", &["Never search the archive before the web."])],
    );
    let lint = check_tool("guidance.phantom", true, &[says("a", &["Fine.", "Then use `send_report` for the rest."])]);
    assert!(lint.message.contains("send_report"), "{}", lint.message);
    // Arguments, actions and wildcards are no tools.
    let fine = with("files", |t| {
        t.parameters = json!({"properties": {"action": {"description": "what to do", "enum": ["list_all"]}, "dir_path": {"title": "Folder"}}});
        t.guidance = vec![
            "Use `dir_path` for the folder, and call `list_all` first.".into(),
            "Use the `get_status` action, not `poll_status`.".into(),
            "Prefer the direct `manage_*` tools.".into(),
            "Write some_thing with care.".into(),
            "Then use `fetch_page`.".into(),
        ];
    });
    assert!(!codes(&[fine, tool("fetch_page")], &Settings::default()).contains(&"guidance.phantom".to_string()));
}

/// K-12: tools that cannot be told apart.
#[test]
fn near_duplicates_and_ambiguous_names() {
    check_tool("name.near_duplicate", false, &[tool("list_issues"), tool("issueList")]);
    let text =
        "Lists all open issues of a repository with their labels, their assignees and the date of the last change";
    let describe = |name: &str, text: &str| with(name, |t| t.description = text.into());
    let twins = [describe("c", text), describe("a", "Other words"), describe("b", text)];
    let lint = check("description.near_duplicate", "b", &twins, &Settings::default());
    assert_eq!((lint.severity, lint.tools), (Severity::Warning, vec!["b".to_string(), "c".into()]));
    let near = text.replace("repository", "project");
    assert!(
        near != text
            && codes(
                &[describe("a", text), describe("b", &near.replace("project", "repository!"))],
                &Settings::default()
            )
            .contains(&"description.near_duplicate".into())
    );
    assert_eq!(
        codes(
            &[describe("a", text), describe("b", "Deletes one open issue of a project for good")],
            &Settings::default()
        ),
        [] as [&str; 0]
    );

    check_tool("alias.ambiguous", true, &[with("a", |t| t.aliases = vec!["b".into(), "x".into()]), tool("b")]);
    check(
        "alias.ambiguous",
        "b",
        &[with("a", |t| t.aliases = vec!["Find".into()]), with("b", |t| t.aliases = vec!["find".into()])],
        &Settings::default(),
    );
    let cap = |name: &str, cap: &str| with(name, |t| t.capabilities = vec![cap.into()]);
    let lint = check(
        "capability.similar",
        "b",
        &[cap("a", "semantic search"), cap("b", "semantc search"), cap("c", "semantic search")],
        &Settings::default(),
    );
    assert_eq!(lint.fix.unwrap().patch, json!({"capabilities": ["semantic search"]}));
    check("capability.similar", "a", &[cap("a", "reserch.search")], &Settings::default());
    assert_eq!(
        codes(&[cap("a", "stage 1"), cap("b", "stage 2"), cap("c", "issues"), cap("d", "issue")], &Settings::default()),
        [] as [&str; 0]
    );
}

/// K-12: lists in the settings that allow nothing or name nobody.
#[test]
fn faults_of_lists() {
    let tools = [tool("search_docs")];
    let policy = |policy: ToolPolicy| Settings { policy, ..Default::default() };
    check("settings.empty_list", "", &tools, &policy(ToolPolicy { allowed: Some(vec![]), ..Default::default() }));
    let lint = check(
        "settings.unknown_tool",
        "",
        &tools,
        &policy(ToolPolicy { denied: vec!["searchDocs".into()], ..Default::default() }),
    );
    assert!(lint.message.ends_with("search_docs may be meant"), "{}", lint.message);
    check("settings.unknown_tool", "", &tools, &Settings { kill_switch: vec!["gone".into()], ..Default::default() });
    check(
        "settings.unknown_tag",
        "",
        &tools,
        &policy(ToolPolicy { require_tags: vec!["approved".into()], ..Default::default() }),
    );
}

/// K-12, W3-8: deferred tools that nobody can find.
#[test]
fn faults_of_discovery() {
    let discovery =
        DiscoverySettings { enabled: true, discovery_tools: vec!["tool_search".into()], ..Default::default() };
    let settings = Settings { discovery, ..Default::default() };
    let deferred = with("rare", |t| t.loading = Loading::Deferred);
    check("deferred.unreachable", "rare", std::slice::from_ref(&deferred), &settings);
    let tools = [deferred.clone(), tool("tool_search")];
    assert_eq!(codes(&tools, &settings), [] as [&str; 0]);
    let denied = ToolPolicy { denied: vec!["tool_search".into()], ..Default::default() };
    check("discovery.filtered", "tool_search", &tools, &Settings { policy: denied, ..settings.clone() });
    check(
        "discovery.filtered",
        "tool_search",
        &tools,
        &Settings { kill_switch: vec!["tool_search".into()], ..settings.clone() },
    );
    let modes =
        vec![Mode { name: "m".into(), groups: vec!["g".into()], tools: vec!["rare".into()], ..Default::default() }];
    let in_mode = codes(&tools, &Settings { modes, ..settings.clone() });
    assert!(!in_mode.iter().any(|code| code == "discovery.filtered"), "they survive every mode: {in_mode:?}");
    let unsafe_search = with("tool_search", |t| t.classification = Classification::Destructive);
    check("discovery.filtered", "tool_search", &[deferred, unsafe_search], &settings);
}

/// K-12, W4-8: no way to select an intent, and modes that show nothing.
#[test]
fn faults_of_the_handshake_and_of_modes() {
    let destructive = with("purge", |t| t.classification = Classification::Destructive);
    check("handshake.missing", "purge", std::slice::from_ref(&destructive), &Settings::default());
    let tools = [destructive.clone(), with("select_intent", |t| t.group = "handshake".into())];
    assert_eq!(codes(&tools, &Settings::default()), [] as [&str; 0]);
    check(
        "handshake.deadlock",
        "select_intent",
        &tools,
        &Settings { kill_switch: vec!["select_intent".into()], ..Default::default() },
    );
    let taken = with("select_intent", |t| t.classification = Classification::Destructive);
    check("handshake.deadlock", "select_intent", &[destructive.clone(), taken], &Settings::default());
    let modes = vec![Mode { name: "ops".into(), groups: vec!["ops".into()], ..Default::default() }];
    let settings = Settings { modes, ..Default::default() };
    let in_ops = ToolSpec { group: "ops".into(), ..destructive };
    check("mode.no_safe_tool", "", &[in_ops, tools[1].clone()], &settings);
    check("mode.unknown_group", "", &[tool("a")], &settings);
}

/// K-12, W2-1, W2-5, W2-6: extensions that bring too much or nothing.
#[test]
fn faults_of_extensions() {
    let enabling = |ids: &[&str]| Settings {
        capabilities: CapabilitySettings {
            enabled_extensions: ids.iter().map(|id| id.to_string()).collect(),
            ..Default::default()
        },
        ..Default::default()
    };
    let delete = with("delete_file", |t| t.classification = Classification::Destructive);
    check(
        "alias.overreach",
        "delete_file",
        &[tool("read_file"), tool("select_intent"), delete],
        &enabling(&["read_file"]),
    );
    check("capability.no_tool", "", &[tool("a")], &enabling(&["email"]));
    let lint = check("extension.unknown", "", &[tool("a")], &enabling(&["browsr"]));
    assert_eq!(lint.fix.unwrap().title, "Enable browser");
    check("extension.unknown", "", &[tool("a")], &enabling(&["frobnicator"]));
    let mut settings = enabling(&[]);
    settings.capabilities.aliases = vec![vec!["mine".into(), "web_search".into()]];
    check("alias.overlap", "", &[tool("a")], &settings);
}

/// Enough to tell reading one tool from reading all, and soon read without optimisation.
const TOOLS: usize = 3000;

fn many(count: usize) -> Vec<ToolSpec> {
    let verbs = ["get", "list", "create", "update", "delete", "search"];
    (0..count)
        .map(|i| ToolSpec {
            name: format!("service{}.{}_object{i}", i % 97, verbs[i % 6]),
            namespace: format!("service{}", i % 97),
            description: format!("Works on object number {i} of the service {}: it can {} entries by their id, name, owner and date, with paging, sorting and filters for the state {}", i % 97, verbs[i % 6], i * 7919 % 10007),
            capabilities: vec![format!("capability of kind {}", (b'a' + (i % 26) as u8) as char)],
            guidance: vec![format!("Call it with the id {i} and the state {} at once.", i * 31)],
            parameters: json!({"type": "object", "properties": {"id": {"type": "string"}, "state": {"type": "string", "description": "of the object"}}, "required": ["id", "missing"]}),
            ..Default::default()
        })
        .collect()
}

/// K-12: an edit reads the edited tool only; the report equals that of a new linter.
#[test]
fn an_edit_reads_one_tool_again() {
    let (catalog, _) = Catalog::new(1, many(TOOLS));
    let settings = Settings::default();
    let mut linter = Linter::default();
    let began = Instant::now();
    let before = linter.report(&catalog, &settings);
    let first = began.elapsed();
    let mut edited = catalog.specs().nth(700).unwrap().clone();
    edited.classification = Classification::Safe;
    edited.parameters = json!({"type": "object", "properties": {}});
    edited.description = catalog.specs().nth(3).unwrap().description.clone();
    let after = catalog.with(2, edited.clone()).unwrap();
    let began = Instant::now();
    let report = linter.report(&after, &settings);
    let again = began.elapsed();
    println!("{TOOLS} tools: {} lints in {first:?}, after an edit {again:?}", before.lints.len());
    let fresh = Linter::default().report(&after, &settings);
    let shown = |lints: &[std::sync::Arc<Lint>]| {
        let mut all: Vec<String> = lints.iter().map(|l| format!("{} {:?}", l.code, l.tools.first())).collect();
        all.sort();
        all
    };
    // Which of two alike tools is named first depends on which was read last.
    let about = |lints: &[std::sync::Arc<Lint>]| {
        shown(&lints.iter().filter(|l| l.code != "description.near_duplicate").cloned().collect::<Vec<_>>())
    };
    assert_eq!(about(&report.lints), about(&fresh.lints));
    assert!(report.of_tool(&edited.name).any(|l| l.code == "description.near_duplicate"));
    assert!(report.of_tool(&edited.name).all(|l| l.code != "tool.unclassified" && l.code != "schema.required_unknown"));
    assert!(again < first / 2, "{again:?} of {first:?}");
    assert!(std::sync::Arc::ptr_eq(&report, &linter.report(&after, &settings)), "nothing changed, nothing is done");
}

//! The catalog table, lints with their fixes, bulk edits, undo, history, imports.

use crate::bench::{Bench, asking, mock, stages};
use serde_json::json;
use std::time::Instant;
use toolplan_workbench::{
    engine::{
        lint::Severity,
        request::{Planner, Request},
        tool::{Classification, Loading, ToolSpec},
        verdict::Gate,
    },
    views::{
        ChangeSubject,
        catalog::{
            Age, CatalogFilter, CatalogPage, CatalogQuery, CatalogSort, DiffKind, FacetName, LintQuery, Selection,
            ToolPatch,
        },
    },
};

fn query(filter: CatalogFilter) -> CatalogQuery {
    CatalogQuery { request: asking("x"), filter, limit: 100, ..Default::default() }
}

fn names(page: &CatalogPage) -> Vec<&str> {
    page.rows.iter().map(|r| r.row.name.as_str()).collect()
}

fn count(page: &CatalogPage, facet: FacetName, value: &str) -> u32 {
    let facet = page.facets.iter().find(|f| f.name == facet).unwrap();
    facet.values.iter().find(|v| v.value == value).map_or(0, |v| v.count)
}

fn spec(bench: &Bench, name: &str) -> ToolSpec {
    bench.workbench.tool_specs().into_iter().find(|t| t.name == name).unwrap()
}

fn these(names: &[&str]) -> Selection {
    Selection::Tools { names: names.iter().map(|n| n.to_string()).collect() }
}

/// K-14, W-07: a page, its counts, its order; each count is what selecting the value would show.
#[tokio::test]
async fn the_table_filters_counts_and_pages() {
    let bench = Bench::sample().await;
    let ask = |filter| bench.workbench.catalog_query(&query(filter)).unwrap();
    let all = ask(CatalogFilter::default());
    assert_eq!((all.total, all.all), (all.rows.len() as u32, bench.workbench.tool_specs().len() as u32));
    for facet in &all.facets {
        assert!(facet.values.iter().all(|v| v.count <= all.all && !v.selected), "{facet:?}");
    }
    let safe = ask(CatalogFilter { classifications: vec![Classification::Safe], ..Default::default() });
    assert_eq!(safe.total, count(&all, FacetName::Classifications, "SAFE"));
    assert_eq!(
        count(&safe, FacetName::Classifications, "DESTRUCTIVE"),
        count(&all, FacetName::Classifications, "DESTRUCTIVE"),
        "its own filter is lifted"
    );
    assert!(count(&safe, FacetName::Gates, "state") < count(&all, FacetName::Gates, "state"));
    let hidden = ask(CatalogFilter { visible: Some(false), ..Default::default() });
    assert_eq!(hidden.total, count(&all, FacetName::Visible, "false"));
    assert!(hidden.rows.iter().all(|r| !r.row.visible && r.row.gate <= Gate::Loading));
    let marked = ask(CatalogFilter { lints: vec!["tool.unclassified".into()], ..Default::default() });
    assert_eq!(marked.total, count(&all, FacetName::Lints, "tool.unclassified"));
    assert!(marked.total > 0 && marked.rows.iter().all(|r| r.suggestion.is_some()));
    assert!(
        all.rows
            .iter()
            .filter(|r| r.row.classification != Classification::Unclassified)
            .all(|r| r.suggestion.is_none())
    );
    let tags = ask(CatalogFilter { tags: vec!["tidewater".into(), "read".into()], ..Default::default() });
    assert!(
        tags.total > 0
            && tags
                .rows
                .iter()
                .all(|r| r.row.tags.contains(&"tidewater".into()) && r.row.tags.contains(&"read".into()))
    );
    assert_eq!(ask(CatalogFilter { ages: vec![Age::Older], ..Default::default() }).total, 0);

    let paged = CatalogQuery { offset: 3, limit: 2, sort: CatalogSort::Name, ..query(CatalogFilter::default()) };
    let page = bench.workbench.catalog_query(&paged).unwrap();
    let mut sorted: Vec<&str> = names(&all);
    sorted.sort_by_key(|n| n.to_lowercase());
    assert_eq!((page.total, names(&page)), (all.total, sorted[3..5].to_vec()));
    let dearest = CatalogQuery { sort: CatalogSort::Tokens, descending: true, ..query(CatalogFilter::default()) };
    let dearest = bench.workbench.catalog_query(&dearest).unwrap();
    assert!(dearest.rows.is_sorted_by(|a, b| a.row.tokens >= b.row.tokens));
    let first = &dearest.rows[0];
    assert_eq!(first.cost.total(), first.row.tokens);
    assert!((first.share - f64::from(first.row.tokens) / 200_000.0).abs() < 1e-9);
    for sort in [CatalogSort::Calls, CatalogSort::Duration, CatalogSort::Lints, CatalogSort::Changed, CatalogSort::Gate]
    {
        let sorted = bench.workbench.catalog_query(&CatalogQuery { sort, ..query(CatalogFilter::default()) }).unwrap();
        assert_eq!(sorted.rows.len(), all.rows.len());
    }
}

/// K-14: a text finds names first, then what the index ranks, then any mention; in any language.
#[tokio::test]
async fn the_table_is_searched() {
    let bench = Bench::sample().await;
    let tagged = ToolSpec { tags: vec!["Straßenbahn".into()], ..mock("tram", json!(1), 0) };
    bench.workbench.register_tools(vec![tagged], "test").unwrap();
    let find = |text: &str| {
        let page =
            bench.workbench.catalog_query(&query(CatalogFilter { text: text.into(), ..Default::default() })).unwrap();
        names(&page).into_iter().map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(find("Jira_Fetch")[0], "jira_fetch");
    assert!(find("jira").iter().take(2).all(|n| n.starts_with("jira")));
    assert_eq!(find("straßenb"), ["tram"], "a part of a tag");
    assert!(find("search by meaning").contains(&"vector_search".to_string()));
    assert_eq!(find("zzqqxx"), [] as [&str; 0]);
}

/// W-07, W-09: one edit of many tools is one revision, told beforehand, and undone and redone in one step by its name.
#[tokio::test]
async fn a_bulk_edit_is_one_step() {
    let bench = Bench::sample().await;
    let request = Request { planner: Planner::Recorded, ..asking("Introduction里面没写什么？") };
    let plan = bench.plan(request.clone()).await;
    assert_eq!(stages(&plan), [["grep_search", "vector_search"]]);
    let before = bench.workbench.info().revision;
    let patch = ToolPatch {
        classification: Some(Classification::Destructive),
        add_tags: vec!["held".into(), " ".into()],
        timeout_ms: Some(0),
        ..Default::default()
    };
    let both = these(&["grep_search", "read_file", "grep_search", "nobody"]);
    let preview = bench.workbench.bulk_preview(&both, &patch, Some(plan.id)).unwrap();
    assert_eq!((preview.selected, preview.changed, preview.problems.len()), (2, 2, 1));
    let fields: Vec<&str> = preview.examples[0].changed.iter().map(|c| c.field.as_str()).collect();
    assert_eq!(fields, ["tags", "classification"]);
    assert!(preview.changes.iter().any(|c| c.subject == ChangeSubject::Step && c.name == "grep_search"));
    assert_eq!(bench.workbench.info().revision, before, "a preview changes nothing");

    let done = bench.workbench.bulk_edit(&both, &patch).unwrap();
    assert_eq!((done.revision, done.changed), (before + 1, 2));
    assert_eq!(done.undo.undo.as_ref().unwrap().label, "2 tools: classification, timeout, tags");
    assert_eq!(stages(&bench.plan(request.clone()).await), [["vector_search"]]);
    assert_eq!(bench.workbench.bulk_edit(&both, &patch).unwrap().revision, before + 1, "twice is once");

    let undone = bench.workbench.undo().unwrap();
    assert_eq!((undone.revision, undone.step.revision, undone.step.tools), (before + 2, before + 1, 2));
    assert_eq!(stages(&bench.plan(request.clone()).await), [["grep_search", "vector_search"]]);
    assert!(!spec(&bench, "read_file").tags.contains(&"held".to_string()));
    let bench = bench.again().await;
    let redone = bench.workbench.redo().unwrap();
    assert_eq!((redone.step.revision, redone.undo.redo), (before + 1, None));
    assert_eq!(stages(&bench.plan(request).await), [["vector_search"]]);
    bench.workbench.undo().unwrap();
    assert_eq!(bench.workbench.undo().unwrap_err().code, "registry.nothing_to_undo", "the first start stays");

    let filter = CatalogFilter { tags: vec!["read".into()], ..Default::default() };
    let by_filter = Selection::Filter { query: Box::new(query(filter.clone())) };
    let total = bench.workbench.catalog_query(&query(filter)).unwrap().total;
    let patch =
        ToolPatch { loading: Some(Loading::Deferred), add_guidance: vec!["Read once.".into()], ..Default::default() };
    assert_eq!(bench.workbench.bulk_edit(&by_filter, &patch).unwrap().changed, total);
    let new = mock("brand_new", json!(1), 0);
    bench.workbench.save_tool(new).unwrap();
    bench.workbench.undo().unwrap();
    assert!(bench.workbench.tool_specs().iter().all(|t| t.name != "brand_new"), "a tool that joined leaves again");
}

/// V-06, W-07: suggestions stand beside unclassified tools; they hold when somebody accepts them, for one or for many.
#[tokio::test]
async fn suggestions_are_accepted_never_assumed() {
    let bench = Bench::sample().await;
    let open = |name: &str, description: &str| ToolSpec {
        classification: Classification::Unclassified,
        description: description.into(),
        ..mock(name, json!(1), 0)
    };
    bench
        .workbench
        .register_tools(vec![open("get_thing", "Gets a thing"), open("drop_thing", "Drops it")], "test")
        .unwrap();
    let both = these(&["get_thing", "drop_thing", "vector_search"]);
    let suggested = bench.workbench.suggest_classification(&both).unwrap();
    let said: Vec<_> = suggested.iter().map(|s| (s.tool.as_str(), s.suggestion.classification)).collect();
    assert_eq!(said, [("get_thing", Classification::Safe), ("drop_thing", Classification::Destructive)]);
    assert_eq!(spec(&bench, "get_thing").classification, Classification::Unclassified);
    let accept = ToolPatch { accept_suggestions: true, ..Default::default() };
    assert_eq!(bench.workbench.bulk_edit(&both, &accept).unwrap().changed, 2);
    assert_eq!(spec(&bench, "get_thing").classification, Classification::Safe);
    assert_eq!(spec(&bench, "vector_search").classification, Classification::Safe, "classified ones keep theirs");
}

/// K-04: the history of the catalog, what differs between any two revisions, and going back.
#[tokio::test]
async fn the_catalog_has_a_history() {
    let bench = Bench::sample().await;
    let first = bench.workbench.info().revision;
    bench.workbench.save_tool(ToolSpec { description: "Other words".into(), ..spec(&bench, "read_file") }).unwrap();
    bench.workbench.register_tools(vec![mock("added", json!(1), 0)], "an import").unwrap();
    let history = bench.workbench.catalog_history(0, 2).unwrap();
    let rows: Vec<_> = history.revisions.iter().map(|r| (r.revision, r.label.as_str(), r.tools)).collect();
    assert_eq!(rows, [(first + 2, "added: an import", 1), (first + 1, "edit of read_file", 1)]);
    assert_eq!(history.total, first + 2);

    let diff = bench.workbench.catalog_diff(first, None, 0, 10).unwrap();
    assert_eq!((diff.added, diff.removed, diff.changed), (1, 0, 1));
    let tools: Vec<_> = diff.tools.iter().map(|t| (t.tool.as_str(), t.kind, t.changed.len())).collect();
    assert_eq!(tools, [("added", DiffKind::Added, 0), ("read_file", DiffKind::Changed, 1)]);
    let back = bench.workbench.tool_diff("read_file", first + 1, Some(first)).unwrap();
    assert_eq!((back.kind, back.changed[0].before.as_str()), (DiffKind::Changed, "Other words"));
    assert_eq!(bench.workbench.tool_diff("added", first, Some(first + 1)).unwrap().kind, DiffKind::Same);
    assert_eq!(bench.workbench.tool_diff("nobody", first, None).unwrap_err().code, "catalog.unknown");
    assert_eq!(bench.workbench.tool_diff("added", 99, None).unwrap_err().code, "registry.unknown_revision");

    bench.workbench.revert_catalog(first).unwrap();
    assert_eq!(bench.workbench.catalog_diff(first, None, 0, 10).unwrap().tools, []);
    assert!(bench.workbench.tool("added", &asking("x"), None).is_err());
    bench.workbench.undo().unwrap();
    assert_eq!(spec(&bench, "read_file").description, "Other words");
    assert_eq!(bench.workbench.revert_catalog(99).unwrap_err().code, "registry.unknown_revision");
}

/// K-12: fixes become one revision, also where several touch the same field, and are undone like any edit.
#[tokio::test]
async fn fixes_are_applied_as_one_revision() {
    let bench = Bench::sample().await;
    let line = "Search the archive before the web.";
    let broken = ToolSpec {
        parameters: json!({"type": "object", "properties": {}, "required": ["a", "b"]}),
        guidance: vec![line.into(), "Keep.".into(), line.into(), line.into()],
        ..mock("broken", json!(1), 0)
    };
    bench.workbench.register_tools(vec![broken.clone()], "test").unwrap();
    let mut settings = bench.workbench.info().settings;
    settings.kill_switch = vec!["gone_one".into(), "gone_two".into()];
    bench.workbench.save_settings(settings).unwrap();
    let about = |codes: &[&str]| LintQuery {
        codes: codes.iter().map(|c| c.to_string()).collect(),
        limit: 50,
        ..Default::default()
    };
    let page = bench.workbench.lints(&about(&["schema.required_unknown"])).unwrap();
    assert_eq!((page.total, page.lints[0].severity, page.errors > 0), (1, Severity::Error, true));
    assert!(page.codes.iter().any(|c| c.code == "guidance.duplicate" && c.fixable == 2));

    let before = bench.workbench.info().revision;
    let all = about(&["schema.required_unknown", "guidance.duplicate", "settings.unknown_tool"]);
    let applied = bench.workbench.apply_fixes(&all).unwrap();
    assert_eq!((applied.revision, applied.tools, applied.settings_changed), (before + 1, 1, true));
    assert_eq!(applied.problems, []);
    let fixed = spec(&bench, "broken");
    assert_eq!(
        (fixed.guidance.as_slice(), &fixed.parameters["required"]),
        (&[line.to_string(), "Keep.".into()][..], &json!([]))
    );
    assert_eq!(bench.workbench.info().settings.kill_switch, [] as [&str; 0]);
    assert_eq!(bench.workbench.lints(&all).unwrap().total, 0);
    assert_eq!(bench.workbench.apply_fixes(&all).unwrap().revision, before + 1, "nothing left to fix");
    bench.workbench.undo().unwrap();
    assert_eq!(spec(&bench, "broken"), broken);
}

/// K-06, K-10, K-11: enabled extensions reach the prompt by exact name, with guidance; suggestions show when wanted.
#[tokio::test]
async fn extensions_reach_the_prompt() {
    let bench = Bench::sample().await;
    let request = asking("summarize https://example.com/a");
    let plain = bench.workbench.prompt(&request).unwrap();
    assert!(!plain.system.contains("Enabled tools"));
    let mut settings = bench.workbench.info().settings;
    settings.capabilities.enabled_extensions = vec!["web".into(), "email".into()];
    settings.capabilities.suggest = true;
    bench.workbench.save_settings(settings).unwrap();
    let prompt = bench.workbench.prompt(&request).unwrap();
    assert!(prompt.system.contains("Enabled tools, by exact name: `web_fetch`.\n"), "{}", prompt.system);
    assert!(!prompt.system.contains("web_search") && !prompt.system.contains("`email`"));
    let planning = bench.plan(request).await.planning;
    assert!(planning.guidance.lines.iter().any(|l| l.tools == ["web_fetch"] && l.tokens > 0));
    assert_eq!(planning.suggestions[0].capability, "research.fetch");
    assert_eq!(planning.suggestions[0].tools, ["web_fetch"], "only what is registered and seen");
    let view = bench.workbench.planning_view(Some(vec!["memory".into()])).unwrap();
    assert_eq!(view.phantoms, ["memory_tool"]);
}

/// K-14, K-12: 20,000 tools are listed, searched, linted and edited at once. Debug builds get ten times the time.
#[tokio::test]
async fn twenty_thousand_tools_stay_usable() {
    let bench = Bench::sample().await;
    let many = (0..20_000)
        .map(|i| ToolSpec {
            namespace: format!("ns{}", i % 50),
            description: format!("Handles case {i} of the kind {} for people who need it", i % 331),
            tags: vec![format!("t{}", i % 20)],
            ..mock(&format!("ns{}.tool_{i}", i % 50), json!(i), 0)
        })
        .collect();
    bench.workbench.register_tools(many, "test").unwrap();
    let timed = |what: &str, run: &mut dyn FnMut()| {
        let began = Instant::now();
        run();
        let took = began.elapsed();
        println!("20,000 tools, {what}: {took:?}");
        took
    };
    let page =
        |filter: CatalogFilter| bench.workbench.catalog_query(&CatalogQuery { limit: 60, ..query(filter) }).unwrap();
    timed("first page, linting all", &mut || drop(page(CatalogFilter::default())));
    let again = timed("next page", &mut || drop(page(CatalogFilter::default())));
    let search = timed("text", &mut || {
        let found = page(CatalogFilter { text: "tool_777".into(), ..Default::default() });
        assert!(found.total >= 11 && found.rows[0].row.name.contains("tool_777"), "{}", found.total);
    });
    timed("one edit", &mut || {
        let spec = ToolSpec { critical: true, ..spec(&bench, "ns7.tool_7") };
        bench.workbench.save_tool(spec).unwrap();
    });
    let edited = timed("lints after the edit", &mut || drop(bench.workbench.lints(&LintQuery::default()).unwrap()));
    let selection = Selection::Filter {
        query: Box::new(query(CatalogFilter { namespaces: vec!["ns3".into()], ..Default::default() })),
    };
    let patch = ToolPatch { loading: Some(Loading::Deferred), ..Default::default() };
    timed("bulk edit of 400", &mut || assert_eq!(bench.workbench.bulk_edit(&selection, &patch).unwrap().changed, 400));
    timed("undo of 400", &mut || assert_eq!(bench.workbench.undo().unwrap().step.tools, 400));
    for (what, took) in [("page", again), ("text", search), ("lints", edited)] {
        assert!(took.as_millis() < 4_000, "{what}: {took:?}");
    }
}

/// S-03, K-07: each bad tool of a file costs itself only, and is named with its reason.
#[tokio::test]
async fn bad_tools_of_a_file_are_named() {
    let bench = Bench::sample().await;
    let file = bench.home.path().join("catalog.json");
    let import = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        bench.workbench.import_catalog(&file, &mut |_, _| {})
    };
    let deep = "[".repeat(500) + &"]".repeat(500);
    let mut text = format!(
        r#"[{{"name": "one", "tags": null, "capabilities": ["a", 5, " a "], "timeout_ms": null}},
        {{"name": "one"}}, {{"name": ""}}, {{"name": "wrong", "critical": "yes"}}, 7, null, "text",
        {{"name": "deep", "parameters": {{"x": {deep}}}}}, {{"name": "list", "tags": "read"}},
        {{"name": "tricky \"]}}, {{", "description": "a \\"}},
        {{"name": "bad"#
    )
    .into_bytes();
    text.extend(b"\xff\xfe\"}, {\"name\": \"two\"}]\n ");
    let report = import(&text).unwrap();
    assert_eq!(report.taken, 4, "{:?}", report.problems);
    assert!(
        ["one", "list", "two", "tricky \"]}, {"].iter().all(|name| bench
            .workbench
            .tool_specs()
            .iter()
            .any(|t| t.name == *name))
    );
    let reasons: Vec<&str> = report.problems.iter().map(|p| p.message.as_str()).collect();
    assert_eq!(reasons.len(), 8, "{reasons:#?}");
    assert!(reasons[0].starts_with("tool 2 (line 2): there was a tool called one before"), "{}", reasons[0]);
    assert!(reasons[6].contains("recursion limit") && reasons[7].contains("not UTF-8"), "{reasons:#?}");
    assert_eq!(report.notes.len(), 2, "a number among the capabilities, a text for a list: {:?}", report.notes);
    assert_eq!(spec(&bench, "one").capabilities, ["a"]);

    let before = bench.workbench.info().revision;
    for broken in
        [&b"{\"name\": \"a\"}"[..], b"", b"[", b"[{\"name\": \"a\"}", b"[{\"name\": \"a\"},]", b"[] x", b"[{]", b"[\"a"]
    {
        assert_eq!(import(broken).unwrap_err().code, "file.malformed", "{:?}", String::from_utf8_lossy(broken));
    }
    assert_eq!(import(b"\xEF\xBB\xBF[]").unwrap().taken, 0);
    assert_eq!(import(&b"[".repeat(50_000)).unwrap_err().code, "file.malformed");
    let missing = bench.home.path().join("missing.json");
    assert_eq!(bench.workbench.import_catalog(&missing, &mut |_, _| {}).unwrap_err().code, "file.unreadable");
    assert_eq!(bench.workbench.info().revision, before);
}

/// S-03: a hundred megabytes of catalog: read in pieces, with progress, the giant element left out.
#[tokio::test]
async fn a_huge_file_is_read_in_pieces() {
    use std::io::Write;
    let bench = Bench::sample().await;
    let path = bench.home.path().join("huge.json");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    let text = "x".repeat(20_000);
    write!(file, "[").unwrap();
    for i in 0..500 {
        writeln!(file, r#"{{"name": "huge_{i}", "safety_notes": "{text}"}},"#).unwrap();
    }
    writeln!(file, r#"{{"name": "giant", "description": "{}"}}]"#, "y".repeat(90_000_000)).unwrap();
    file.flush().unwrap();
    let began = Instant::now();
    let mut heard = vec![];
    let report = bench.workbench.import_catalog(&path, &mut |done, all| heard.push(done as f64 / all as f64)).unwrap();
    println!("{} MB: {:?}", std::fs::metadata(&path).unwrap().len() >> 20, began.elapsed());
    assert_eq!((report.taken, report.problems.len()), (500, 1));
    assert!(report.problems[0].message.contains("more than 4 MB"));
    assert!(heard.len() > 50 && heard.is_sorted() && heard.last() == Some(&1.0));
}

//! `tools search` and `tools directory`: asking and printing.

use crate::{
    arguments::{Context, Search, SearchBy},
    commands::{apply, show},
    print::{number, table},
};
use comfy_table::Cell;
use toolplan_workbench::{
    Problem, Workbench,
    engine::{
        discovery::{
            SearchAnswer, SearchQuery,
            lab::{LabMethod, LabPlace, SearchLab},
        },
        request::{ExecutionState, Request},
        settings::SearchType,
        text::middle_truncate,
        tool::Loading,
    },
};

pub fn search(workbench: &Workbench, asked: &Search, json: bool) -> Result<(), Problem> {
    let request = request(&asked.context);
    let query = SearchQuery {
        query: asked.query.clone(),
        search_type: match asked.search_type {
            SearchBy::Fts => SearchType::Fts,
            SearchBy::Regex => SearchType::Regex,
            SearchBy::Exact => SearchType::Exact,
        },
        limit: asked.limit,
        include_always_loaded: !asked.deferred,
        tags: asked.tags.iter().filter(|t| !t.is_empty()).cloned().collect(),
        namespace: asked.namespace.clone(),
    };
    if asked.compare {
        let lab = workbench.search_lab(&request, &query, asked.hidden)?;
        show(json, &lab, || compared(&lab));
    } else {
        let answer = workbench.search_tools(&request, &query)?;
        show(json, &answer, || found(&answer));
    }
    Ok(())
}

pub fn directory(workbench: &Workbench, context: &Context, json: bool) -> Result<(), Problem> {
    let directory = workbench.tool_directory(&request(context))?;
    show(json, &directory, || {
        print!("{}", directory.text);
        if directory.left_out > 0 {
            println!("{} more groups (discovery.directory.max_groups)", directory.left_out);
        }
    });
    Ok(())
}

fn request(context: &Context) -> Request {
    let mut request = Request { state: ExecutionState::Reasoning, ..Request::default() };
    apply(context, &mut request);
    request
}

fn found(answer: &SearchAnswer) {
    let mut rows = table(&["tool", "score", "match", "loading", "description"]);
    for hit in &answer.tools {
        rows.add_row(vec![
            Cell::new(&hit.name),
            number(format!("{:.3}", hit.score)),
            Cell::new(search_type(hit.match_type)),
            Cell::new(if hit.loading_mode == Loading::Deferred { "deferred" } else { "always" }),
            Cell::new(middle_truncate(&hit.description.replace('\n', " "), 80)),
        ]);
    }
    println!("{rows}");
    let effective = search_type(answer.effective_search_type);
    match answer.fallback_reason.as_str() {
        "" => println!("{} tools by {effective}", answer.tools.len()),
        reason => println!("{} tools by {effective}: {reason}", answer.tools.len()),
    }
}

fn compared(lab: &SearchLab) {
    let mut rows = table(&["tool", "exact", "regex", "lexical", "semantic", "matched", "hidden by"]);
    let place =
        |place: Option<LabPlace>| number(place.map_or(String::new(), |p| format!("{} ({:.2})", p.rank, p.score)));
    for row in &lab.rows {
        let mut fields: Vec<&str> = row.fields.iter().map(|f| f.field.as_str()).collect();
        fields.dedup();
        rows.add_row(vec![
            Cell::new(&row.tool),
            place(row.exact),
            place(row.regex),
            place(row.lexical),
            place(row.semantic),
            Cell::new(fields.join(", ")),
            Cell::new(row.gate.map_or("", |gate| gate.name())),
        ]);
    }
    println!("{rows}");
    for ranking in &lab.rankings {
        let method = match ranking.method {
            LabMethod::Exact => "exact",
            LabMethod::Regex => "regex",
            LabMethod::Lexical => "lexical",
            LabMethod::Semantic => "semantic",
        };
        match ranking.error.as_str() {
            "" => println!("{method}: {} found in {:.1} ms", ranking.found, ranking.duration_ms),
            error => println!("{method}: {error}"),
        }
    }
}

fn search_type(search_type: SearchType) -> &'static str {
    match search_type {
        SearchType::Fts => "fts",
        SearchType::Regex => "regex",
        SearchType::Exact => "exact",
    }
}

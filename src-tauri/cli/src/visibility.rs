//! Who sees what: the matrix, why a tool is hidden, sessions, policy files, token savings.

use crate::{
    arguments::{Only, Session, Visibility},
    commands::{apply, show},
    print::{number, table},
};
use comfy_table::Cell;
use serde::Serialize;
use toolplan_workbench::{
    Problem, Workbench,
    engine::{
        request::{ExecutionState, Request},
        savings::Savings,
        session::{Actor, SessionEvent},
        verdict::Verdict,
    },
    policy::PolicyImport,
    sessions::SessionView,
    visibility::{MAX_PAGE, MatrixOnly, MatrixPage, MatrixQuery, WhyQuery, WhyRow},
};

/// A tool's visibility in each state.
#[derive(Serialize)]
struct Row {
    tool: String,
    /// State, visible or not, why.
    states: Vec<(&'static str, bool, String)>,
}

pub(crate) fn visibility(workbench: &Workbench, wanted: &Visibility, json: bool) -> Result<bool, Problem> {
    let mut request = Request::default();
    apply(&wanted.context, &mut request);
    let states = match &wanted.context.state {
        Some(state) => vec![ExecutionState::parse_closed(state)],
        None => ExecutionState::ALL.to_vec(),
    };
    if let Some(tool) = &wanted.why {
        return why(workbench, tool, wanted, request, states, json);
    }
    let page = page(workbench, wanted, request)?;
    if wanted.matrix {
        show(json, &page, || print_matrix(&page, &states));
        return Ok(true);
    }
    let rows: Vec<Row> = page
        .rows
        .into_iter()
        .map(|row| {
            let cells = row.cells.into_iter().filter(|cell| states.contains(&cell.state));
            Row { tool: row.tool, states: cells.map(|c| (c.state.name(), c.visible, c.reason)).collect() }
        })
        .collect();
    show(json, &rows, || print_rows(&rows, &states));
    Ok(true)
}

/// The wanted rows, from as many pages as they take.
fn page(workbench: &Workbench, wanted: &Visibility, request: Request) -> Result<MatrixPage, Problem> {
    let mut left = wanted.limit.unwrap_or(u32::MAX);
    let mut query = MatrixQuery {
        session: request.session,
        mode: request.mode,
        filter: wanted.filter.clone(),
        only: match wanted.only {
            Only::All => MatrixOnly::All,
            Only::Differs => MatrixOnly::Differs,
            Only::Hidden => MatrixOnly::Hidden,
            Only::Unclassified => MatrixOnly::Unclassified,
        },
        offset: wanted.offset,
        limit: left.min(MAX_PAGE),
    };
    let mut whole = workbench.visibility_matrix(&query)?;
    loop {
        let had = whole.rows.len() as u32;
        left = wanted.limit.unwrap_or(u32::MAX) - had;
        query.offset = wanted.offset + had;
        query.limit = left.min(MAX_PAGE);
        if left == 0 || query.offset >= whole.matching {
            return Ok(whole);
        }
        let more = workbench.visibility_matrix(&query)?.rows;
        if more.is_empty() {
            return Ok(whole);
        }
        whole.rows.extend(more);
    }
}

fn why(
    workbench: &Workbench,
    tool: &str,
    wanted: &Visibility,
    request: Request,
    states: Vec<ExecutionState>,
    json: bool,
) -> Result<bool, Problem> {
    let settings = workbench.info().settings;
    let query = WhyQuery {
        states,
        modes: match wanted.all_modes {
            true => settings.modes.into_iter().map(|m| m.name).collect(),
            false => vec![request.mode],
        },
        tenants: match wanted.all_tenants {
            true => settings.tenants,
            false => vec![request.session.tenant],
        },
        user: request.session.user,
        flags: request.session.flags,
    };
    let rows = workbench.why_hidden(tool, &query)?;
    show(json, &rows, || print_why(tool, &rows));
    Ok(true)
}

/// Carries out what is asked of a session. False: it was refused.
pub(crate) fn session(workbench: &Workbench, name: &str, command: Session, json: bool) -> Result<bool, Problem> {
    let event = match command {
        Session::Show => None,
        Session::Message { text } => Some(SessionEvent::Message { text }),
        Session::Select { intent } => Some(SessionEvent::SelectIntent { intent, by: Actor::Person }),
        Session::Switch { intent } => Some(SessionEvent::SwitchIntent { intent }),
        Session::Reset => Some(SessionEvent::Reset),
        Session::Recover => Some(SessionEvent::Recover),
    };
    let view = match event {
        Some(event) => workbench.session_event(name, event)?,
        None => workbench.session(name)?,
    };
    show(json, &view, || print_session(&view));
    Ok(view.refused.is_none())
}

fn print_rows(rows: &[Row], states: &[ExecutionState]) {
    let mut head = vec!["tool"];
    head.extend(states.iter().map(|state| state.name()));
    let mut shown = table(&head);
    for row in rows {
        let cells =
            row.states.iter().map(|(_, visible, reason)| if *visible { "✓".to_string() } else { reason.clone() });
        shown.add_row(std::iter::once(row.tool.clone()).chain(cells).collect::<Vec<_>>());
    }
    println!("{shown}");
}

fn print_matrix(page: &MatrixPage, states: &[ExecutionState]) {
    let mut head = vec!["tool", "group", "classification", "tokens"];
    head.extend(states.iter().map(|state| state.name()));
    let mut shown = table(&head);
    for row in &page.rows {
        let cells = row.cells.iter().filter(|cell| states.contains(&cell.state));
        let marks = cells.map(|cell| match (cell.visible, cell.in_prompt) {
            (true, true) => Cell::new("✓"),
            (true, false) => Cell::new("✓ deferred"),
            (false, _) => Cell::new(format!("– {}", cell.rule)),
        });
        let classification = format!("{:?}", row.classification).to_uppercase();
        let first = [Cell::new(&row.tool), Cell::new(&row.group), Cell::new(classification), number(row.tokens)];
        shown.add_row(first.into_iter().chain(marks).collect::<Vec<_>>());
    }
    println!("{shown}");
    println!("{} of {} matching tools, {} in the catalog", page.rows.len(), page.matching, page.tools);
    for state in page.states.iter().filter(|s| states.contains(&s.state)) {
        let (visible, shown, tokens) = (state.visible, state.in_prompt, state.tokens);
        println!("{:<9} {visible} visible, {shown} in the prompt, {tokens} tokens", state.state.name());
    }
}

fn print_why(tool: &str, rows: &[WhyRow]) {
    println!("{tool}");
    let mut shown = table(&["state", "mode", "tenant", "", "decided by", "what else would hide it"]);
    let named = |verdict: &Verdict| format!("{}: {}", verdict.rule, verdict.reason);
    let or_default = |text: &str| if text.is_empty() { "–".to_string() } else { text.to_string() };
    for row in rows {
        let mark = match (row.visible, row.in_prompt) {
            (true, true) => "✓ visible",
            (true, false) => "✓ deferred",
            (false, _) => "✗ hidden",
        };
        shown.add_row(vec![
            row.state.name().to_string(),
            or_default(&row.mode),
            or_default(&row.tenant),
            mark.to_string(),
            row.decided.as_ref().map(named).unwrap_or_default(),
            row.also.iter().map(named).collect::<Vec<_>>().join("\n"),
        ]);
    }
    println!("{shown}");
}

fn print_session(view: &SessionView) {
    let session = &view.session;
    let intent = if session.intent().is_empty() { "no intent" } else { session.intent() };
    println!("Session {} · {} · {intent}", session.id(), session.state().name());
    if !session.last_intent().is_empty() {
        println!("{} was selected before", session.last_intent());
    }
    for problem in view.refused.iter().chain(&view.trouble).chain(&view.deadlocks) {
        println!("! {}: {} ({})", problem.code, problem.message, problem.hint);
    }
    let mut intents = table(&["intent", "title", "status", "can be selected"]);
    for view in &view.intents {
        let can = view.why_not.as_ref().map_or("yes".to_string(), |problem| format!("no: {}", problem.message));
        let status = format!("{:?}", view.intent.status).to_lowercase();
        intents.add_row(vec![view.intent.id.clone(), view.intent.title.clone(), status, can]);
    }
    println!("{intents}");
    for entry in session.log() {
        println!("{:>4} {:<9} {}", entry.seq, entry.to.name(), entry.text);
    }
}

pub(crate) fn print_import(import: &PolicyImport) {
    for change in &import.changed {
        println!("{}\n  before {}\n  after  {}", change.field, change.before, change.after);
    }
    let would = if import.stored { "changed" } else { "would change" };
    println!("{} parts of the settings {would}", import.changed.len());
}

pub(crate) fn print_savings(savings: &Savings) {
    let how = if savings.exact { "exact" } else { "estimated" };
    println!("{} tools, {} tokens in all ({}, {how})", savings.full_tools, savings.full, savings.encoding);
    if savings.rows.is_empty() {
        println!("No model was asked, so nothing was sent.");
        return;
    }
    let head = ["turn", "tools", "prompt", "gross", "blocks", "searches", "extra turn", "lost cache", "net", "stable"];
    let mut shown = table(&head);
    let whole = |value: f64| number(format!("{value:.0}"));
    for row in &savings.rows {
        shown.add_row(vec![
            number(row.turn),
            number(row.tokens.tools),
            number(row.prompt),
            whole(row.gross),
            whole(row.blocks),
            whole(row.searches),
            whole(row.extra_turn),
            whole(row.lost_cache),
            whole(row.net),
            number(row.stability.map_or("–".into(), |s| format!("{:.0} %", 100.0 * s))),
        ]);
    }
    println!("{shown}");
    println!("gross {:.0} · overhead {:.0} · net {:.0}", savings.gross, savings.overhead, savings.net);
}

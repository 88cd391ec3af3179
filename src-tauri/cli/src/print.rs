//! Answers as text for people.

use comfy_table::{Cell, CellAlignment, Table, presets::UTF8_HORIZONTAL_ONLY};
use serde_json::Value;
use std::io::Write;
use toolplan_workbench::{
    Check, Problem, RunUpdate,
    engine::{
        guard::GuardReport,
        request::Planner,
        run::{AttemptOutcome, StepStatus},
        text::middle_truncate,
        tool::{Classification, ToolSpec},
        verdict::{Outcome, Trail},
    },
    eval,
    views::{EventRow, PlanView, RunDetail, RunSummary, ToolDetail},
};

pub(crate) fn table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_HORIZONTAL_ONLY).set_header(head.to_vec());
    if let Some(width) = std::env::var("COLUMNS").ok().and_then(|w| w.parse().ok()) {
        table.set_width(width).set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
    }
    table
}

pub(crate) fn number(value: impl ToString) -> Cell {
    Cell::new(value.to_string()).set_alignment(CellAlignment::Right)
}

fn one_line(arguments: &serde_json::Map<String, Value>) -> String {
    middle_truncate(&Value::from(arguments.clone()).to_string(), 70)
}

fn milliseconds(ms: Option<f64>) -> String {
    ms.map_or("unknown".into(), |ms| format!("{ms:.0} ms"))
}

pub fn plan(view: &PlanView) {
    let planning = &view.planning;
    let request = &planning.request;
    println!("Query      {}", middle_truncate(&request.query.replace('\n', " "), 160));
    let mode = if request.mode.is_empty() { "default mode" } else { &request.mode };
    let intent = if request.intent.is_empty() { "no intent" } else { &request.intent };
    println!("Context    {} · {mode} · {intent} · catalog r{}", request.state.name(), planning.revision);
    let fallback = match planning.planner.fallback_reason.as_str() {
        "" if planning.planner.used == Planner::Offline => " (no model is asked)".to_string(),
        "" => String::new(),
        reason => format!(" (instead of {:?}: {reason})", planning.planner.requested),
    };
    println!("Planner    {}{fallback}", planning.planner.label);
    if planning.decomposition.sub_queries.len() > 1 {
        for part in &planning.decomposition.sub_queries {
            println!("Part       {} {}", part.id, part.query);
        }
    }
    println!("\nVerdicts");
    guard(&planning.guard);
    println!("\nStage graph");
    graph(view);
    println!(
        "\nTokens of the tool definitions ({}, {})",
        planning.tokens.encoding,
        if planning.tokens.exact { "exact" } else { "estimated" }
    );
    let mut tokens = table(&["state", "tools", "visible", "full", "prompt", "saved", "%"]);
    for state in &planning.tokens.states {
        let percent = if state.full == 0 { 0.0 } else { 100.0 * f64::from(state.saved) / f64::from(state.full) };
        tokens.add_row(vec![
            Cell::new(state.state.name()),
            number(state.full_tools),
            number(state.visible_tools),
            number(state.full),
            number(state.visible),
            number(state.saved),
            number(format!("{percent:.0}")),
        ]);
    }
    println!("{tokens}");
    for block in &planning.blocks.blocks {
        println!("Block {:?} of the prompt: {} tokens", block.kind, block.tokens);
    }
    for finding in &planning.findings {
        println!("! {} {}: {} ({})", finding.code, finding.step, finding.message, finding.hint);
    }
}

pub fn guard(report: &GuardReport) {
    if !report.path_reason.is_empty() {
        println!("{}", report.path_reason);
    }
    if report.calls.is_empty() {
        println!("No call was proposed.");
        return;
    }
    let mut calls = table(&["", "tool", "arguments", "rule", "reason"]);
    for call in &report.calls {
        calls.add_row(vec![
            outcome(call.outcome).to_string(),
            call.call.tool.clone(),
            one_line(&call.call.arguments),
            call.verdict.rule.to_string(),
            call.verdict.reason.to_string(),
        ]);
    }
    println!("{calls}");
    let kept = report.calls.iter().filter(|c| c.goes_on()).count();
    println!("{} proposed or added, {kept} in the plan", report.calls.len());
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Kept => "✓ kept",
        Outcome::Hidden => "– hidden",
        Outcome::Dropped => "✗ dropped",
        Outcome::Added => "+ added",
        Outcome::Rewritten => "~ rewritten",
        Outcome::Deferred => "… deferred",
        Outcome::NotChosen => "· not chosen",
    }
}

fn graph(view: &PlanView) {
    if view.graph.stages.is_empty() {
        println!("The plan has no steps.");
    }
    for stage in &view.graph.stages {
        let bound = stage.bound_ms.map_or("unknown".to_string(), |ms| format!("≤ {ms:.0} ms"));
        let steps = if stage.steps.len() == 1 { "step" } else { "steps" };
        println!("Stage {} · {} {steps} · {bound}", stage.number, stage.steps.len());
        for step in view.graph.steps.iter().filter(|s| s.stage == stage.number) {
            let from: Vec<&str> =
                view.graph.edges.iter().filter(|e| e.to == step.id && !e.implied).map(|e| e.from.as_str()).collect();
            let arrow = if from.is_empty() { String::new() } else { format!("  ⟵ {}", from.join(", ")) };
            println!(
                "  {} {} [{}] {}{arrow}",
                step.id,
                step.tool,
                classification(step.classification),
                step.key_argument
            );
        }
    }
    println!("Estimated {} on the critical path", milliseconds(view.planning.shape.duration_ms));
}

fn classification(classification: Classification) -> &'static str {
    match classification {
        Classification::Safe => "SAFE",
        Classification::Destructive => "DESTRUCTIVE",
        Classification::Unclassified => "unclassified",
    }
}

pub fn run(detail: &RunDetail) {
    let outcome = detail.state.outcome.map_or("under way".to_string(), |o| format!("{o:?}").to_lowercase());
    println!(
        "\nRun {} · {outcome} · {}",
        detail.summary.id,
        detail.state.duration_ms.map_or("unknown".into(), |ms| format!("{ms} ms"))
    );
    let mut steps = table(&["step", "tool", "status", "tries", "ms", "result"]);
    for spec in &detail.state.plan.steps {
        let Some(step) = detail.state.steps.get(&spec.id) else { continue };
        let last = step.attempts.last();
        let said = match (&step.result, &step.error, &step.skip) {
            (Some(result), _, _) if step.status == StepStatus::Succeeded => {
                let note = if result.sources.iter().any(|s| s == "mock") { "(mock) " } else { "" };
                format!("{note}{}", middle_truncate(&result.data.to_string(), 90))
            }
            (_, Some(error), _) => format!("{} ({})", error.message, error.hint),
            (_, _, Some(skip)) => toolplan_workbench::skip_reason(skip),
            _ => match last.and_then(|a| a.outcome.as_ref()) {
                Some(AttemptOutcome::Failed { error }) => error.message.clone(),
                _ => String::new(),
            },
        };
        steps.add_row(vec![
            Cell::new(&spec.id),
            Cell::new(last.map_or(&spec.tool, |a| &a.tool)),
            Cell::new(format!("{:?}", step.status).to_lowercase()),
            number(step.attempts.len()),
            number(last.and_then(|a| a.duration_ms).map_or(String::new(), |ms| ms.to_string())),
            Cell::new(said),
        ]);
    }
    println!("{steps}");
    crate::answer::print(&detail.state);
}

pub fn events(events: &[EventRow]) {
    let Some(first) = events.first() else { return };
    let mut rows = table(&["#", "+ms", "event", "step", ""]);
    for event in events {
        rows.add_row(vec![
            number(event.seq),
            number(event.at_ms.saturating_sub(first.at_ms)),
            Cell::new(&event.kind),
            Cell::new(&event.step),
            Cell::new(&event.text),
        ]);
    }
    println!("{rows}");
}

pub fn runs(runs: &[RunSummary]) {
    if runs.is_empty() {
        println!("No run yet. `toolplan run --sample 1` makes one.");
        return;
    }
    let mut rows = table(&["run", "outcome", "steps", "ms", "catalog", "planner", "query"]);
    for run in runs {
        rows.add_row(vec![
            number(run.id),
            Cell::new(run.outcome.map_or("under way".into(), |o| format!("{o:?}").to_lowercase())),
            Cell::new(format!("{}/{}", run.succeeded, run.steps)),
            number(run.duration_ms.map_or(String::new(), |ms| ms.to_string())),
            Cell::new(format!("r{}", run.catalog_revision)),
            Cell::new(&run.planner),
            Cell::new(middle_truncate(&run.query, 60)),
        ]);
    }
    println!("{rows}");
}

pub fn tools(specs: &[ToolSpec]) {
    let mut rows = table(&["tool", "group", "classification", "category", "capabilities"]);
    for spec in specs {
        rows.add_row(vec![
            spec.name.clone(),
            spec.group.clone(),
            classification(spec.classification).into(),
            format!("{:?}", spec.category).to_lowercase(),
            spec.capabilities.join(", "),
        ]);
    }
    println!("{rows}");
    println!("{} tools", specs.len());
}

pub fn tool(detail: &ToolDetail) {
    let spec = &detail.spec;
    println!("{}  {}\n{}\n", spec.name, classification(spec.classification), spec.description);
    let cost = detail.cost;
    println!(
        "Tokens     {} (name {}, description {}, schema {})",
        cost.total(),
        cost.name,
        cost.description,
        cost.schema
    );
    if let Some(stats) = &detail.stats {
        println!(
            "History    {} calls, {:.0} ms on average, {:.0} % failed",
            stats.calls,
            stats.average_ms,
            stats.failure_rate * 100.0
        );
    }
    for row in &detail.history {
        let fields: Vec<&str> = row.changed.iter().map(|c| c.field.as_str()).collect();
        println!(
            "r{:<9} by {}{}",
            row.revision,
            row.author,
            if fields.is_empty() { String::new() } else { format!(": {}", fields.join(", ")) }
        );
    }
    println!("\n{}", serde_json::to_string_pretty(&spec.parameters).unwrap_or_default());
}

pub fn trail(trail: &Trail) {
    let mut rows = table(&["gate", "", "rule", "reason", "set by"]);
    for verdict in &trail.verdicts {
        rows.add_row(vec![
            format!("{:?}", verdict.gate).to_lowercase(),
            outcome(verdict.outcome).into(),
            verdict.rule.to_string(),
            verdict.reason.to_string(),
            verdict.config_key.as_deref().unwrap_or_default().into(),
        ]);
    }
    println!("{}\n{rows}", trail.tool);
    if let Some(verdict) = trail.decided() {
        println!("Decided by {}: {}", verdict.rule, verdict.reason);
    }
}

pub fn checks(checks: &[Check]) {
    for check in checks {
        println!("{} {:<14} {}", if check.ok { "✓" } else { "✗" }, check.name, check.detail);
        if !check.hint.is_empty() {
            println!("  {:<14} {}", "", check.hint);
        }
    }
}

pub fn problem(problem: &Problem) {
    eprintln!("note: {} ({})", problem.message, problem.hint);
}

pub fn guard_scores(scores: &[(String, eval::guard::Score)]) {
    let mut rows = table(&["set", "category", "cases", "strict", "lenient"]);
    for (name, score) in scores {
        rows.add_row(vec![
            Cell::new(name),
            Cell::new("all"),
            number(score.cases),
            number(format!("{:.3}", score.strict)),
            number(format!("{:.3}", score.lenient)),
        ]);
        for (category, c) in &score.categories {
            rows.add_row(vec![
                Cell::new(""),
                Cell::new(category),
                number(c.cases),
                number(format!("{:.3}", eval::share(c.strict, c.cases))),
                number(format!("{:.3}", eval::share(c.lenient, c.cases))),
            ]);
        }
    }
    println!("{rows}");
    for (name, score) in scores {
        if !score.wrong.is_empty() {
            println!("{name}, wrong: {}", score.wrong.join(", "));
        }
    }
}

pub fn plan_scores(scores: &[(String, eval::plans::Score)]) {
    let mut rows = table(&["set", "cases", "optimum known", "equal", "edges", "respected"]);
    for (name, score) in scores {
        rows.add_row(vec![
            Cell::new(name),
            number(score.cases),
            number(score.with_optimum),
            number(score.equal_optimum),
            number(score.edges),
            number(score.edges_respected),
        ]);
    }
    println!("{rows}");
    for (name, score) in scores {
        for (what, ids) in [("estimate differs", &score.unequal), ("edges cannot be kept", &score.broken)] {
            if !ids.is_empty() {
                println!("{name}, {what}: {}", ids.join(", "));
            }
        }
    }
}

pub fn retrieval_scores(report: &eval::retrieval::Report) {
    let head =
        ["set", "cases", "left out", "nDCG@10", "top-1", "recall@1", "recall@5", "recall@10", "p50 ms", "p99 ms"];
    let mut rows = table(&head);
    let mean = ("macro".to_string(), report.mean.clone());
    for (name, score) in report.sets.iter().chain([&mean]) {
        let mut cells = vec![Cell::new(name), number(score.cases), number(score.left_out)];
        let shares = [score.ndcg_10, score.top_1, score.recall_1, score.recall_5, score.recall_10];
        cells.extend(shares.iter().map(|share| number(format!("{share:.3}"))));
        cells.extend([score.p50_ms, score.p99_ms].iter().map(|ms| number(format!("{ms:.2}"))));
        rows.add_row(cells);
    }
    println!("{rows}");
    println!("{} tools, indexed in {:.0} ms", report.tools, report.index_ms);
}

pub fn selection_scores(scores: &[(String, eval::selection::Score)]) {
    let head = [
        "set",
        "cases",
        "answerable",
        "top-1",
        "first one first",
        "several",
        "set recall",
        "no tool fits",
        "found",
        "wrongly said",
        "balanced",
        "AUROC",
    ];
    let mut rows = table(&head);
    let share = |value: f64, cases: usize| number(if cases == 0 { String::new() } else { format!("{value:.3}") });
    let known = |value: Option<f64>| number(value.map_or(String::new(), |v| format!("{v:.3}")));
    for (name, score) in scores {
        rows.add_row(vec![
            Cell::new(name),
            number(score.cases),
            number(score.answerable),
            share(score.top_1, score.answerable),
            share(score.first_1, score.answerable),
            number(score.several),
            share(score.set_recall, score.several),
            number(score.unanswerable),
            share(score.none_found, score.unanswerable),
            share(score.none_wrong, score.answerable),
            known(score.balanced_accuracy),
            known(score.auroc),
        ]);
    }
    println!("{rows}");
}

pub fn classification_scores(scores: &[(String, eval::classification::Score)]) {
    let mut rows = table(&["set", "cases", "accuracy", "destructive called SAFE", "safe called DESTRUCTIVE"]);
    for (name, score) in scores {
        rows.add_row(vec![
            Cell::new(name),
            number(score.cases),
            number(format!("{:.3}", score.accuracy)),
            number(score.unsafe_called_safe.len()),
            number(score.safe_called_unsafe.len()),
        ]);
    }
    println!("{rows}");
    for (name, score) in scores {
        for (what, ids) in
            [("called SAFE", &score.unsafe_called_safe), ("called DESTRUCTIVE", &score.safe_called_unsafe)]
        {
            if !ids.is_empty() {
                println!("{name}, wrongly {what}: {}", ids.join(", "));
            }
        }
    }
}

/// Prints entries as JSON lines until there are no more to come.
pub fn follow(mut updates: tokio::sync::mpsc::UnboundedReceiver<RunUpdate>) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        while let Some(update) = updates.recv().await {
            let mut out = std::io::stdout().lock();
            for entry in update.entries.iter() {
                let Ok(event) = entry.event.to_json() else { continue };
                let line =
                    format!(r#"{{"run":{},"seq":{},"at_ms":{},"event":{event}}}"#, update.run, entry.seq, entry.at_ms);
                // Whoever reads this may have gone.
                let _ = writeln!(out, "{line}").and_then(|()| out.flush());
            }
            if update.entries.iter().any(|e| e.event.kind() == "finished") {
                return;
            }
        }
    })
}

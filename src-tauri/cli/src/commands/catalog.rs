//! The commands about the catalog as a whole: lints, capabilities, revisions.

use super::show;
use crate::arguments::Lint;
use toolplan_workbench::{
    Problem, Workbench,
    engine::lint::Severity,
    views::catalog::{DiffKind, LintQuery, ToolDiff, Undone},
};

/// Prints the lints that are left after the fixes. False: there are errors among them.
pub fn lint(workbench: &Workbench, arguments: &Lint, json: bool) -> Result<bool, Problem> {
    let Lint { code, tool, fix, limit } = arguments;
    if !fix.is_empty() {
        let query = LintQuery { codes: fix.clone(), tools: tool.clone(), ..Default::default() };
        let applied = workbench.apply_fixes(&query)?;
        for problem in &applied.problems {
            eprintln!("not fixed: {} ({})", problem.message, problem.hint);
        }
        let settings = if applied.settings_changed { ", and the settings" } else { "" };
        eprintln!("{}{settings} changed at revision {}", tools(applied.tools), applied.revision);
    }
    let query = LintQuery { codes: code.clone(), tools: tool.clone(), limit: *limit, ..Default::default() };
    let page = workbench.lints(&query)?;
    show(json, &page, || {
        for lint in &page.lints {
            let mark = match lint.severity {
                Severity::Error => "✗ error  ",
                Severity::Warning => "! warning",
                Severity::Info => "· info   ",
            };
            println!("{mark} {:<27} {}", lint.code, lint.message);
            if let Some(fix) = &lint.fix {
                println!("{:>38} fix: {}", "", fix.title);
            }
        }
        if page.total as usize > page.lints.len() {
            println!("… and {} more", page.total as usize - page.lints.len());
        }
        println!("{} errors, {} warnings, {} hints", page.errors, page.warnings, page.infos);
    });
    Ok(page.errors == 0)
}

/// Prints the planning view, or the tools with a capability. False: no tool has it.
pub fn capabilities(
    workbench: &Workbench,
    extensions: Option<Vec<String>>,
    tool_for: Option<&str>,
    json: bool,
) -> Result<bool, Problem> {
    let view = workbench.planning_view(extensions)?;
    for unknown in &view.unknown {
        let meant = unknown.meant.as_ref().map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
        eprintln!("note: the extension {} is unknown{meant}", unknown.id);
    }
    if let Some(capability) = tool_for {
        let tools = view.tools_for_capability(capability);
        let first = view.first_tool_for_capability(capability);
        let answer = serde_json::json!({"capability": capability, "first": first, "tools": tools});
        show(json, &answer, || {
            let others = tools.iter().map(String::as_str).filter(|tool| Some(*tool) != first);
            first.into_iter().chain(others).for_each(|tool| println!("{tool}"));
        });
        return Ok(!tools.is_empty());
    }
    show(json, &view, || {
        println!("Extensions  {}", view.display_ids.join(", "));
        println!("Stand for   {}", view.expanded_ids.join(", "));
        for entry in &view.entries {
            let mark = if entry.registered { "✓" } else { "–" };
            println!(" {mark} {:<24} {}", entry.tool, entry.capabilities.join(", "));
            entry.guidance.iter().for_each(|line| println!("     {line}"));
        }
        for over in &view.overreach {
            println!(" ! {} comes along with {} and is not known to be SAFE", over.tool, over.enabled);
        }
        let (callable, described) = (view.callable.len(), view.entries.len());
        println!("{described} tools are described, {callable} of them are in the catalog");
    });
    Ok(true)
}

pub fn history(workbench: &Workbench, limit: u32, json: bool) -> Result<(), Problem> {
    let history = workbench.catalog_history(0, limit)?;
    show(json, &history, || {
        for row in &history.revisions {
            println!("r{:<6} {:>12}  {:<10} {}", row.revision, tools(row.tools), row.author, row.label);
        }
        if let Some(step) = &history.undo.undo {
            println!("undo would take back r{}: {}", step.revision, step.label);
        }
        if let Some(step) = &history.undo.redo {
            println!("redo would make again r{}: {}", step.revision, step.label);
        }
    });
    Ok(())
}

pub fn diff(workbench: &Workbench, from: u32, to: Option<u32>, tool: Option<&str>, json: bool) -> Result<(), Problem> {
    if let Some(name) = tool {
        let diff = workbench.tool_diff(name, from, to)?;
        show(json, &diff, || print(&diff));
        return Ok(());
    }
    let diff = workbench.catalog_diff(from, to, 0, 100)?;
    show(json, &diff, || {
        diff.tools.iter().for_each(print);
        println!(
            "r{} → r{}: {} added, {} removed, {} changed",
            diff.from, diff.to, diff.added, diff.removed, diff.changed
        );
    });
    Ok(())
}

fn print(diff: &ToolDiff) {
    let mark = match diff.kind {
        DiffKind::Added => "+",
        DiffKind::Removed => "-",
        DiffKind::Changed => "~",
        DiffKind::Same => "=",
    };
    println!("{mark} {}", diff.tool);
    for field in &diff.changed {
        println!("    {}: {} → {}", field.field, field.before, field.after);
    }
}

pub fn undone(undone: &Undone, what: &str, json: bool) {
    show(json, undone, || {
        println!("r{} is {what}: {} ({})", undone.step.revision, undone.step.label, tools(undone.step.tools));
        println!("the catalog stands at revision {}", undone.revision);
    });
}

fn tools(count: u32) -> String {
    format!("{count} {}", if count == 1 { "tool" } else { "tools" })
}

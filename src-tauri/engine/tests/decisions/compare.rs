//! Comparing plans and runs (R-06).

use serde_json::{Value, json};
use std::time::Instant;
use toolplan_engine::{
    compare::{self, DivergenceKind, Record, RunDiff, align},
    plan::{PlanSpec, StepSpec},
    ports::{ErrorClass, ToolError, ToolResult},
    run::{AttemptOutcome, JournalEntry, RunEvent, RunOutcome},
    tool::RetryPolicy,
};

/// `id tool key=value`.
fn step(line: &str) -> StepSpec {
    let mut words = line.split(' ');
    let (id, tool) = (words.next().unwrap(), words.next().unwrap());
    let arguments = words.map(|w| w.split_once('=').unwrap()).map(|(k, v)| (k.to_string(), Value::from(v))).collect();
    StepSpec { id: id.into(), tool: tool.into(), arguments, ..StepSpec::default() }
}

fn steps(lines: &[&str]) -> Vec<StepSpec> {
    lines.iter().map(|l| step(l)).collect()
}

#[track_caller]
fn aligned(a: &[&str], b: &[&str], expected: &str) {
    let show = |pairs: Vec<(Option<usize>, Option<usize>)>| {
        let side = |i: Option<usize>| i.map_or("–".to_string(), |i| i.to_string());
        pairs.into_iter().map(|(i, j)| format!("{}{}", side(i), side(j))).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(show(align(&steps(a), &steps(b))), expected);
    let pairs = |x, y| align(x, y).into_iter().filter(|(i, j)| i.is_some() && j.is_some()).collect::<Vec<_>>();
    let (a, b) = (steps(a), steps(b));
    let turned: Vec<_> = pairs(&b, &a).into_iter().map(|(i, j)| (j, i)).collect();
    assert_eq!(turned, pairs(&a, &b), "the sides swapped give the same pairs");
}

/// R-06: by id, then by tool and arguments, in the order of both.
#[test]
fn steps_are_aligned() {
    aligned(&["s1 a k=1", "s2 b"], &["s1 a k=1", "s2 b"], "00 11");
    aligned(&["s1 a k=1", "s2 b"], &["s1 n", "s2 a k=1", "s3 b"], "–0 01 12");
    aligned(&["s1 a k=1", "s2 b", "s3 c"], &["s1 a k=1", "s2 c"], "00 1– 21");
    aligned(&["s1 a k=1 x=1", "s2 a k=2 x=1"], &["s1 a k=2 x=1"], "0– 10");
    aligned(&["s1 a"], &["s1 b"], "00");
    aligned(&["s1 a"], &["s2 b"], "0– –0");
    aligned(&["s1 x", "s2 y"], &["s1 y", "s2 x"], "0– 10 –1");
    aligned(&[], &["s1 a"], "–0");
}

/// `a: starts`, `a= value`, `a! error`, `.outcome`: a journal of one-letter steps.
fn record(plan: &[&str], lines: &[&str]) -> Record {
    let plan = PlanSpec { steps: steps(plan), reasoning: String::new() };
    let mut events = vec![RunEvent::Started {
        plan: plan.clone(),
        catalog_revision: 1,
        parallel_limit: 5,
        timeout_ms: 1,
        retry: RetryPolicy::default(),
    }];
    let mut attempts = std::collections::HashMap::new();
    for line in lines {
        let id = line[..1].to_string();
        let rest = line[1..].to_string();
        let spec = plan.steps.iter().find(|s| s.id == id);
        let attempt = *attempts.entry(id.clone()).or_insert(0);
        match (line.chars().nth(1), spec) {
            (None, Some(spec)) => {
                attempts.insert(id.clone(), attempt + 1);
                let (tool, arguments) = (spec.tool.clone(), spec.arguments.clone());
                events.push(RunEvent::AttemptStarted { step: id, attempt: attempt + 1, tool, arguments });
            }
            (Some(sign), Some(_)) => {
                let outcome = if sign == '=' {
                    let result = ToolResult { data: json!({"v": rest[1..]}), confidence: None, sources: vec![] };
                    AttemptOutcome::Succeeded { result }
                } else {
                    AttemptOutcome::Failed { error: ToolError::new(ErrorClass::Internal, rest[1..].to_string(), "") }
                };
                let failed = matches!(outcome, AttemptOutcome::Failed { .. });
                events.push(RunEvent::AttemptFinished { step: id.clone(), attempt, duration_ms: 5, outcome });
                if !failed {
                    events.push(RunEvent::StepSucceeded { step: id });
                }
            }
            _ => events.push(RunEvent::Finished {
                outcome: serde_json::from_value(rest.into()).unwrap_or(RunOutcome::Failed),
                duration_ms: 9,
            }),
        }
    }
    let entries: Vec<_> =
        (1..).zip(events).map(|(seq, event)| JournalEntry { seq, at_ms: 1000 + u64::from(seq), event }).collect();
    Record::of(&entries)
}

#[track_caller]
fn parts(a: &Record, b: &Record, kind: DivergenceKind, sentence: &str) -> RunDiff {
    let diff = compare::runs(a, b);
    let found = diff.divergence.clone().expect("they part");
    assert_eq!((found.kind, found.sentence.as_str()), (kind, sentence));
    assert!(!diff.same);
    diff
}

/// R-06: the first divergence is named by its tool call, in the order of the run.
#[test]
fn the_first_divergence_is_a_tool_call() {
    let plan = &["a jira key=A-1", "b web url=u"];
    let whole = &["a", "b", "a=1", "b=2", ".succeeded"];
    let origin = record(plan, whole);
    assert!(compare::runs(&origin, &origin).same);
    let with = |plan: &[&str], lines: &[&str]| record(plan, lines);
    let diff = parts(
        &origin,
        &with(&["a jira key=A-2", "b web url=u"], whole),
        DivergenceKind::Arguments,
        r#"Call 1 (jira in a): the argument key is "A-1" in one run and "A-2" in the other"#,
    );
    assert_eq!(diff.plan.steps[0].changed[0].path, "/arguments/key");
    assert_eq!(diff.steps[0].changed[0].path, "/arguments/key");
    parts(
        &origin,
        &with(plan, &["a", "b", "a=1", "b=3", ".succeeded"]),
        DivergenceKind::Answer,
        r#"Call 2 (web in b): the result at /v is "2" in one run and "3" in the other"#,
    );
    parts(
        &origin,
        &with(&["a jira key=A-1", "b web url=w"], &["a", "b", "b!gone", ".failed"]),
        DivergenceKind::Arguments,
        r#"Call 2 (web in b): the argument url is "u" in one run and "w" in the other"#,
    );
    parts(
        &origin,
        &with(plan, &["a", "a!gone", ".failed"]),
        DivergenceKind::Answer,
        r#"Call 1 (jira in a): one run got a result, the other the error "gone""#,
    );
    parts(
        &origin,
        &with(plan, &["a", "a=1", ".partial"]),
        DivergenceKind::Missing,
        "Call 2: only the first run called web in b",
    );
    parts(&with(plan, &["a", "a=1"]), &origin, DivergenceKind::Extra, "Call 2: only the second run called web in b");
    parts(
        &origin,
        &with(&["a jira key=A-1", "c mail to=x"], &["a", "c", "a=1", "c=2", ".succeeded"]),
        DivergenceKind::Tool,
        "Call 2: one run called web in b, the other mail in c",
    );
    parts(
        &origin,
        &with(plan, &["b", "a", "a=1", "b=2", ".succeeded"]),
        DivergenceKind::Order,
        "Call 1: jira in a left in one run, web in b in the other; the calls are the same, their order is not",
    );
    parts(
        &origin,
        &with(plan, &["a", "b", "a=1", "b=2", ".partial"]),
        DivergenceKind::End,
        "The tool calls are the same; one run ended as succeeded, the other ended as partial",
    );
    parts(
        &with(plan, &["a", "a!x", "a", "a=1"]),
        &with(plan, &["a", "a!x"]),
        DivergenceKind::Missing,
        "Call 2: only the first run called jira in a, attempt 2",
    );
}

/// R-06: dependencies and references are compared under the names that the steps have on the other side.
#[test]
fn a_new_step_in_front_changes_nothing_behind_it() {
    let two = |first: &str, second: &str| {
        let mut last = step(&format!("{second} b"));
        last.dependencies = vec![first.into()];
        last.arguments.insert("x".into(), json!({"$from": first, "path": "/v"}));
        vec![step(&format!("{first} a k=1")), last]
    };
    let mut longer = vec![step("step-1 new")];
    longer.extend(two("step-2", "step-3"));
    let record = |steps| Record {
        state: toolplan_engine::run::RunState { plan: PlanSpec { steps, ..Default::default() }, ..Default::default() },
        calls: vec![],
    };
    let diff = compare::runs(&record(two("step-1", "step-2")), &record(longer));
    assert_eq!(diff.plan.steps.len(), 1, "{:?}", diff.plan.steps);
    assert_eq!(diff.plan.steps[0].tool.b.as_deref(), Some("new"));
}

/// R-06: two plans of 1,000 steps that share no beginning and no end.
#[test]
fn a_thousand_steps_are_compared_quickly() {
    let plan = |shift: usize| -> Vec<String> {
        (0..1000).map(|i| format!("s{} t{} k={}", i + shift, (i + shift) % 7, i + shift)).collect()
    };
    let (a, b) = (plan(0), plan(3));
    let as_steps = |lines: &[String]| lines.iter().map(|l| step(l)).collect::<Vec<_>>();
    let (a, b) = (as_steps(&a), as_steps(&b));
    let began = Instant::now();
    let pairs = align(&a, &b);
    let took = began.elapsed();
    assert_eq!(pairs.iter().filter(|(i, j)| i.is_some() && j.is_some()).count(), 997);
    // Optimised it takes a tenth of this.
    assert!(took.as_millis() < 1000, "{took:?}");
}

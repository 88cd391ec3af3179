//! Plans as data: stages, findings, references, estimates (P-06 to P-10).

use crate::{
    desk::Desk,
    lines::{checked, plan_spec},
};
use expect_test::{Expect, expect};
use serde_json::{Map, Value, json};
use toolplan_engine::plan::{PlanSpec, StepSpec, references, resolve};

fn show_stages(stages: &[Vec<String>]) -> String {
    stages.iter().map(|s| s.join(" ")).collect::<Vec<_>>().join(" | ")
}

/// A plan line and its stages.
#[track_caller]
fn check_stages(lines: &[&str], expected: Expect) {
    let shown: Vec<String> =
        lines.iter().map(|line| format!("{line} => {}", show_stages(&plan_spec(line).shape().stages))).collect();
    expected.assert_eq(&shown.join("\n"));
}

/// P-06: stage 1 has no dependencies, stage N has all of them in earlier stages; the order of the steps is free, and a
/// reference is a dependency.
#[test]
fn stages_are_levels() {
    check_stages(
        &[
            "",
            "a",
            "a, b, c",
            "a, b <- a, c <- b",
            "a, b <- a, c <- a, d <- b c",
            "d <- c a, c <- b, b <- a, a",
            "a, b from:a/x, c from:b <- a",
            "a, b <- a a, c <- a b, d",
            "a <- b, b <- a, c",
        ],
        expect![[r#"
             => 
            a => a
            a, b, c => a b c
            a, b <- a, c <- b => a | b | c
            a, b <- a, c <- a, d <- b c => a | b c | d
            d <- c a, c <- b, b <- a, a => a | b | c | d
            a, b from:a/x, c from:b <- a => a | b | c
            a, b <- a a, c <- a b, d => a d | b | c
            a <- b, b <- a, c => "#]],
    );
}

/// P-06: a checked plan knows each step's stage and dependencies by index.
#[test]
fn a_checked_plan_is_bound() {
    let plan = checked(plan_spec("c <- b, b from:a, a")).unwrap();
    let bound: Vec<_> = plan.steps().iter().map(|s| (s.spec.id.as_str(), s.stage, s.dependencies.clone())).collect();
    assert_eq!(bound, [("c", 2, vec![1]), ("b", 1, vec![2]), ("a", 0, vec![])]);
    assert_eq!((plan.index("a"), plan.index("z")), (Some(2), None));
}

/// P-10: the expected duration is the critical path. Stages' maxima would say more, their sum more still.
#[test]
fn duration_is_the_critical_path() {
    let shape = |line: &str| {
        let shape = plan_spec(line).shape();
        (shape.duration_ms, shape.critical_path.join(" "))
    };
    // Stage maxima add up to 100 + 100; no path is that long.
    assert_eq!(shape("a takes:100, b takes:10, c takes:100 <- b, d takes:5 <- a"), (Some(110.0), "b c".into()));
    assert_eq!(shape("a takes:1, b takes:2 <- a, c takes:3 <- b"), (Some(6.0), "a b c".into()));
    assert_eq!(shape("a takes:7, b takes:9"), (Some(9.0), "b".into()));
    // What is unknown is unknown, not zero.
    assert_eq!(shape("a takes:100, b"), (None, String::new()));
    assert_eq!(shape("a takes:1 <- b, b takes:1 <- a"), (None, String::new()));
    assert_eq!(shape(""), (None, String::new()));
}

/// P-10: the cost is the sum where every step's is known.
#[test]
fn cost_is_the_sum() {
    let mut spec = plan_spec("a, b <- a");
    spec.steps[0].cost = Some(0.5);
    assert_eq!(spec.shape().cost, None);
    spec.steps[1].cost = Some(0.25);
    assert_eq!(spec.shape().cost, Some(0.75));
}

/// The findings of a plan over the catalog of `desk`, one per line.
#[track_caller]
fn check_findings(desk: &Desk, spec: PlanSpec, expected: Expect) {
    let findings = spec.check(|call| desk.guard().admit(call)).err().unwrap_or_default();
    let lines: Vec<String> =
        findings.iter().map(|f| format!("{} {}: {} ({})", f.code, f.step, f.message, f.hint)).collect();
    expected.assert_eq(&lines.join("\n"));
}

fn desk() -> Desk {
    Desk::of(&[
        "search SAFE text:query limit?integer",
        "other SAFE text:query",
        "write_to_file DESTRUCTIVE path!string",
    ])
    .asks("x")
}

fn step(id: &str, tool: &str, arguments: Value) -> StepSpec {
    StepSpec {
        id: id.into(),
        tool: tool.into(),
        arguments: arguments.as_object().cloned().unwrap(),
        ..Default::default()
    }
}

fn after(mut step: StepSpec, dependencies: &[&str]) -> StepSpec {
    step.dependencies = dependencies.iter().map(|d| d.to_string()).collect();
    step
}

fn plan(steps: Vec<StepSpec>) -> PlanSpec {
    PlanSpec { steps, reasoning: String::new() }
}

/// P-07: every kind of fault in one plan, all reported together, each with its step and remedy.
#[test]
fn all_findings_are_reported_together() {
    let ok = json!({"query": "x"});
    let mut falls_back_to_itself = step("self", "search", ok.clone());
    falls_back_to_itself.fallback = plan_spec("s or:search").steps[0].fallback.clone();
    let mut hidden_fallback = step("fb", "search", ok.clone());
    hidden_fallback.fallback = plan_spec("s or:write_to_file").steps[0].fallback.clone();
    check_findings(
        &desk(),
        plan(vec![
            step("a", "search", ok.clone()),
            step("a", "other", ok.clone()),
            step("", "other", ok.clone()),
            after(step("b", "search", ok.clone()), &["nowhere"]),
            after(step("c", "search", ok.clone()), &["c"]),
            after(step("d", "search", ok.clone()), &["e"]),
            after(step("e", "search", ok.clone()), &["d"]),
            step("f", "serach", ok.clone()),
            step("g", "write_to_file", json!({"path": "a"})),
            step("h", "search", json!({"query": "x", "limit": "ten"})),
            step("i", "search", json!({"query": {"$from": "nowhere"}})),
            step("j", "search", json!({"query": {"$from": "j"}})),
            step("k", "search", json!({"query": {"$from": "a", "path": "items/0"}})),
            falls_back_to_itself,
            hidden_fallback,
        ]),
        expect![[r#"
            plan.duplicate a: two steps have the id "a" (give every step an id of its own)
            plan.duplicate : a step that calls other has no id (give every step an id of its own)
            plan.dangling b: it depends on nowhere, which is not in the plan (remove the dependency or add the step)
            plan.cycle c: it depends on itself (remove the dependency)
            plan.reference i: the argument query refers to nowhere, which is no earlier step (refer to a step that this one depends on)
            plan.reference j: the argument query refers to j, which is no earlier step (refer to a step that this one depends on)
            plan.reference k: the argument query has the path "items/0" (a path is a JSON Pointer such as /items/0/id)
            plan.fallback self: it falls back to search, which is the tool itself (choose another tool or remove the fallback)
            plan.cycle : these steps wait for one another: c, d, e, j (remove one of the dependencies between them)
            plan.unknown_tool f: there is no tool called serach (choose a tool of the catalog)
            plan.refused g: write_to_file is hidden: hidden in REASONING: DESTRUCTIVE until an intent is selected (change the state, mode or policy, or remove the step)
            plan.schema h: the arguments of search do not fit its schema: "ten" is not of type "integer" at /limit (correct the arguments or the tool's parameters)
            plan.refused fb: its fallback: write_to_file is hidden: hidden in REASONING: DESTRUCTIVE until an intent is selected (change the state, mode or policy, or remove the step)"#]],
    );
}

/// P-07: a cycle through a reference, and what lies behind a cycle.
#[test]
fn cycles_are_found_through_references() {
    check_findings(
        &desk(),
        plan(vec![
            step("a", "search", json!({"query": {"$from": "b"}})),
            after(step("b", "search", json!({"query": "x"})), &["a"]),
            after(step("behind", "search", json!({"query": "x"})), &["b"]),
            step("free", "search", json!({"query": "x"})),
        ]),
        expect![
            "plan.cycle : these steps wait for one another: a, b, behind (remove one of the dependencies between them)"
        ],
    );
}

/// P-07, G-01: the whitelist holds for plans written by hand as well.
#[test]
fn the_whitelist_holds_for_plans_by_hand() {
    check_findings(
        &desk().suggests(&["search"]),
        plan(vec![step("a", "other", json!({"query": "x"}))]),
        expect![
            "plan.refused a: other is refused: the routing plan suggests only search (change the routing plan or remove the step)"
        ],
    );
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

/// The arguments with references resolved against the result of step `a`, or what is wrong.
#[track_caller]
fn check_resolved(arguments: Value, expected: Expect) {
    let result = json!({"items": [{"id": 7, "tags": ["x", null]}, {"id": "8"}], "n": 1.5, "a/b": true, "": "blank"});
    let result_of = |step: &str| (step == "a").then(|| result.clone());
    let shown = match resolve(&object(arguments), &result_of) {
        Ok(resolved) => Value::from(resolved).to_string(),
        Err(message) => message,
    };
    expected.assert_eq(&shown);
}

/// P-08: a value keeps its JSON type, whatever it is and wherever the reference stands.
#[test]
fn references_keep_their_type() {
    check_resolved(
        json!({
            "number": {"$from": "a", "path": "/items/0/id"},
            "text": {"$from": "a", "path": "/items/1/id"},
            "null": {"$from": "a", "path": "/items/0/tags/1"},
            "list": {"$from": "a", "path": "/items/0/tags"},
            "escaped": {"$from": "a", "path": "/a~1b"},
            "blank": {"$from": "a", "path": "/"},
            "plain": "{\"$from\": \"a\"}",
        }),
        expect![[
            r#"{"number":7,"text":"8","null":null,"list":["x",null],"escaped":true,"blank":"blank","plain":"{\"$from\": \"a\"}"}"#
        ]],
    );
    check_resolved(
        json!({"all": {"$from": "a"}}),
        expect![[r#"{"all":{"items":[{"id":7,"tags":["x",null]},{"id":"8"}],"n":1.5,"a/b":true,"":"blank"}}"#]],
    );
    check_resolved(
        json!({"nested": {"deep": [{"x": [{"$from": "a", "path": "/n"}, 2]}]}, "items": [{"$from": "a", "path": "/n"}]}),
        expect![[r#"{"nested":{"deep":[{"x":[1.5,2]}]},"items":[1.5]}"#]],
    );
}

/// P-08: a reference that finds nothing names its argument, its step and its path.
#[test]
fn a_reference_to_nothing_says_so() {
    check_resolved(
        json!({"key": {"$from": "a", "path": "/items/2/id"}}),
        expect!["the argument key refers to /items/2/id of a, and the result holds nothing there"],
    );
    check_resolved(
        json!({"key": [{"$from": "a", "path": "/n/x"}]}),
        expect!["the argument key refers to /n/x of a, and the result holds nothing there"],
    );
    check_resolved(
        json!({"key": {"in": {"$from": "b"}}}),
        expect!["the argument key refers to b, which has no result"],
    );
}

/// P-08: what only looks like a reference is a plain value.
#[test]
fn near_references_are_plain_values() {
    let plain = json!({
        "other_key": {"$from": "a", "path": "/n", "as": "text"},
        "number": {"$from": 1},
        "bad_path": {"$from": "a", "path": 3},
        "path_only": {"path": "/n"},
    });
    assert_eq!(references(&object(plain.clone())), []);
    let never = |_: &str| panic!("nothing to look up");
    assert_eq!(Value::from(resolve(&object(plain.clone()), &never).unwrap()), plain);
}

/// P-08: references are found at any depth, with the argument they stand in.
#[test]
fn references_are_found_at_any_depth() {
    let arguments = json!({"a": {"$from": "s1"}, "b": [{"c": [{"$from": "s2", "path": "/x"}]}], "d": 1});
    let found: Vec<_> =
        references(&object(arguments)).into_iter().map(|(name, r)| format!("{name} {} {}", r.step, r.path)).collect();
    assert_eq!(found, ["a s1 ", "b s2 /x"]);
}

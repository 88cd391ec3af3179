//! The filter of the event log (W-05).

use toolplan_engine::filter::{Facts, Filter};

const EVENTS: &[Facts] = &[
    Facts { seq: 1, kind: "planned", text: "planned by offline", ..EMPTY },
    Facts {
        seq: 2,
        kind: "attempt_started",
        step: "step-3",
        tool: "jira_fetch",
        status: "running",
        attempt: Some(1),
        text: "attempt 1: jira_fetch {\"key\":\"a-1\"}",
        after_ms: 10,
        ..EMPTY
    },
    Facts {
        seq: 3,
        kind: "attempt_finished",
        step: "step-3",
        tool: "jira_fetch",
        status: "failed",
        attempt: Some(1),
        duration_ms: Some(700),
        text: "attempt 1 failed: no such ticket",
        after_ms: 710,
    },
    Facts {
        seq: 4,
        kind: "attempt_finished",
        step: "step-30",
        tool: "web_fetch",
        status: "succeeded",
        attempt: Some(2),
        duration_ms: Some(500),
        text: "attempt 2 succeeded after 500 ms",
        after_ms: 1500,
    },
    Facts { seq: 5, kind: "finished", status: "failed", text: "run failed after 1600 ms", after_ms: 1600, ..EMPTY },
];

const EMPTY: Facts =
    Facts { seq: 0, after_ms: 0, kind: "", step: "", tool: "", status: "", attempt: None, duration_ms: None, text: "" };

#[track_caller]
fn check(filter: &str, seqs: &[u32]) {
    let filter = Filter::parse(filter).unwrap();
    let found: Vec<u32> = EVENTS.iter().filter(|e| filter.matches(e)).map(|e| e.seq).collect();
    assert_eq!(found, seqs);
}

#[track_caller]
fn refused(filter: &str, expected: &str) {
    let problem = Filter::parse(filter).unwrap_err();
    assert_eq!(format!("{} {}", problem.code, problem.message), expected);
    assert!(!problem.hint.is_empty());
}

/// W-05: keys, alternatives, stars, ranges, text and their negation.
#[test]
fn terms_filter() {
    check("", &[1, 2, 3, 4, 5]);
    check("tool:jira", &[2, 3]);
    check("TOOL:Jira Status:FAILED dur:>500ms step:step-3 kind:attempt_finished", &[3]);
    check("step:step-3", &[2, 3]);
    check("step:step-3*", &[2, 3, 4]);
    check("kind:attempt_*", &[2, 3, 4]);
    check("kind:*ed", &[1, 2, 3, 4, 5]);
    check("kind:planned,finished", &[1, 5]);
    check("status:failed -kind:finished", &[3]);
    check("-status:failed", &[1, 2, 4]);
    check("dur:500", &[4]);
    check("dur:>=0.5s", &[3, 4]);
    check("dur:<=500ms", &[4]);
    check("dur:0.6s..1s", &[3]);
    check("after:>1s", &[4, 5]);
    check("attempt:>1", &[4]);
    check("seq:2..4", &[2, 3, 4]);
    check("seq:4..", &[4, 5]);
    check("\"no such\"", &[3]);
    check("-\"after 500\" after", &[5]);
    check("ticket", &[3]);
    check("tool:\"jira_fetch\"", &[2, 3]);
    check("A-1", &[2]);
    check("http://x", &[]);
    check("   tool:web   ", &[4]);
}

/// W-05: what cannot be read is named with its place.
#[test]
fn errors_name_the_place() {
    refused("tool:jira stat:failed", "filter.key at character 11 of the filter: there is no key \"stat\"");
    refused("dur:fast", "filter.value at character 5 of the filter: dur: does not understand \"fast\"");
    refused("Ü dur:>", "filter.value at character 7 of the filter: dur: does not understand \">\"");
    refused("tool:", "filter.value at character 6 of the filter: tool: has no value");
    refused("status:gone", "filter.value at character 8 of the filter: there is no status \"gone\"");
    refused("say \"hello", "filter.quote at character 5 of the filter: the quote has no end");
    refused("seq:9..2", "filter.value at character 5 of the filter: seq: does not understand \"9..2\"");
    assert_eq!(Filter::parse(&"a ".repeat(5000)).unwrap_err().code, "filter.too_long");
}

proptest::proptest! {
    /// S-03: no text makes the reader stumble, and what it read can be asked.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
        if let Ok(filter) = Filter::parse(&text) {
            EVENTS.iter().for_each(|e| { filter.matches(e); });
        }
    }
}

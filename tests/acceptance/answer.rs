//! Answers made of accumulated results, and their judges, in runs of the sample (O-09).

use crate::{
    bench::{Bench, asking, mock},
    model::Provider,
};
use serde_json::{Value, json};
use std::time::Duration;
use toolplan_workbench::engine::{
    plan::{PlanSpec, StepSpec},
    run::{ReplayPolicy, RunId, RunOutcome, RunState},
    tool::Fallback,
};

const QUESTION: &str = "What does the retry policy say happens after an attempt has failed?";

fn step(id: &str, tool: &str, arguments: Value) -> StepSpec {
    let arguments = arguments.as_object().cloned().unwrap();
    StepSpec { id: id.into(), tool: tool.into(), arguments, ..StepSpec::default() }
}

/// Search, combine, validate, check.
fn whole_way() -> Vec<StepSpec> {
    let answer = json!({"$from": "answer", "path": "/answer"});
    vec![
        step("find", "vector_search", json!({"query": "the retry policy, after an attempt has failed"})),
        step("answer", "combine_results", json!({"question": QUESTION, "results": [{"$from": "find"}]})),
        step(
            "valid",
            "validate_answer",
            json!({"question": QUESTION, "answer": answer, "results": [{"$from": "find"}]}),
        ),
        step("check", "check_hallucination", json!({"answer": answer, "results": [{"$from": "find"}]})),
    ]
}

async fn run(bench: &Bench, steps: Vec<StepSpec>) -> (RunId, RunState) {
    let plan = PlanSpec { steps, ..PlanSpec::default() };
    let view = bench.workbench.plan_from(asking(QUESTION), plan).unwrap();
    assert_eq!(view.planning.findings, []);
    let run = bench.workbench.start_run(view.id).await.unwrap();
    (run, bench.workbench.wait_run(run).await.unwrap())
}

fn data<'a>(state: &'a RunState, step: &str) -> &'a Value {
    &state.steps[step].result.as_ref().unwrap_or_else(|| panic!("{step}: {:?}", state.steps[step].error)).data
}

/// O-09: without a model, from a search to a checked answer; every sentence has its file.
#[tokio::test]
async fn an_answer_is_made_and_checked_without_a_model() {
    let bench = Bench::sample().await;
    let (_, state) = run(&bench, whole_way()).await;
    assert_eq!(state.outcome, Some(RunOutcome::Succeeded), "{:?}", state.steps);
    let answer = data(&state, "answer");
    assert_eq!((&answer["method"], &answer["why"]), (&json!("extractive"), &json!("no model is configured")));
    assert_eq!(answer["read"][0]["step"], "find", "results come with their step: {answer}");
    assert!(state.steps["answer"].result.as_ref().unwrap().sources.iter().any(|s| s.contains("retries")));
    let valid = data(&state, "valid");
    assert_eq!(valid["verdict"], "valid", "{valid}");
    assert!(valid["sentences"].as_array().unwrap().iter().all(|s| s["source"].is_string()));
    let check = data(&state, "check");
    assert_eq!((&check["hallucinated"], &check["contradicted"]), (&json!(false), &json!(0)), "{check}");

    let made_up = "A lease lasts 30 seconds and is extended by a heartbeat every 90 seconds.";
    let (_, state) = run(
        &bench,
        vec![
            step("read", "read_file", json!({"file_path": "docs/en/guide/timeouts.md"})),
            step("check", "check_hallucination", json!({"answer": made_up, "results": [{"$from": "read"}]})),
        ],
    )
    .await;
    let claim = &data(&state, "check")["claims"][0];
    assert_eq!(
        (&claim["grade"], &claim["source"]),
        (&json!("contradicted"), &json!("docs/en/guide/timeouts.md")),
        "{claim}"
    );
    assert!(claim["evidence"].as_str().unwrap().contains("every 10 seconds"), "{claim}");
}

/// O-09, R-02: the model of the planner writes; what it took is in the journal, and a replay does not ask it again.
#[tokio::test]
async fn a_model_answers_and_a_replay_does_not_ask_it() {
    let said = json!({"sentences": [{"text": "A failed attempt is followed by another one.", "citations": [1]},
        {"text": "There are 77 of them.", "citations": [1]}]});
    let provider = Provider::saying(&said.to_string(), Duration::ZERO).await;
    let bench = provider.bench().await;
    let (id, state) = run(&bench, whole_way()[..2].to_vec()).await;
    let answer = data(&state, "answer").clone();
    assert_eq!((&answer["method"], &answer["model"]["label"]), (&json!("model"), &json!("openai/test-model")));
    assert_eq!(answer["model"]["calls"], 1);
    assert!(answer["unsupported"].to_string().contains("77"), "{answer}");
    assert!(!answer.to_string().contains("sk-secret"), "S-01");
    let asked = provider.sent.lock().unwrap().len();
    let replayed = bench.workbench.replay_run(id, ReplayPolicy::default(), None).await.unwrap();
    let again = bench.workbench.wait_run(replayed).await.unwrap();
    assert_eq!(data(&again, "answer"), &answer);
    assert_eq!(provider.sent.lock().unwrap().len(), asked, "nobody asks the model in a replay");
}

/// O-05: an answer that the results hardly bear out makes way for the fallback.
#[tokio::test]
async fn an_unsure_answer_falls_back() {
    let bench = Bench::sample().await;
    bench.workbench.register_tools(vec![mock("ask_a_person", json!({"answer": "Kim knows."}), 0)], "test").unwrap();
    let fallback: Fallback = serde_json::from_value(
        json!({"tool": "ask_a_person", "condition": "on_low_confidence", "threshold": 0.7, "arguments": {}}),
    )
    .unwrap();
    let question = "Which zebra paints the moon at midnight in Antarctica?";
    let mut unsure = step("answer", "combine_results", json!({"question": question, "results": [{"$from": "find"}]}));
    unsure.fallback = Some(fallback.clone());
    let (_, state) = run(&bench, vec![whole_way().remove(0), unsure]).await;
    assert_eq!(data(&state, "answer"), &json!({"answer": "Kim knows."}));
    let tools: Vec<&str> = state.steps["answer"].attempts.iter().map(|a| a.tool.as_str()).collect();
    assert_eq!(tools, ["combine_results", "ask_a_person"]);

    let mut sure = whole_way();
    sure[1].fallback = Some(fallback);
    let (_, state) = run(&bench, sure[..2].to_vec()).await;
    assert_eq!(state.steps["answer"].attempts.len(), 1, "{}", data(&state, "answer"));
}

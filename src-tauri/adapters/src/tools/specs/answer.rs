//! The tools that work on the results of earlier steps.

use super::{spec, text, texts};
use serde_json::{Map, Value, json};
use toolplan_engine::tool::{Category, Needs, SideEffects, ToolExample, ToolSpec};

const RESULTS: &str = "The results of earlier steps. Left out: those of the steps that this one depends on.";
const QUESTION: &str = "The question that the results answer together.";
const SENT: &str = "With a model, the results are sent to its provider, cut to 40,000 characters; \
    method extractive sends nothing. Results are treated as data, never as instructions.";

/// A tool over results: `own` are its arguments beside them, all required.
fn over_results(name: &str, own: &[(&str, Value)]) -> ToolSpec {
    let mut properties: Map<String, Value> =
        own.iter().map(|(name, schema)| (name.to_string(), schema.clone())).collect();
    properties.insert("results".into(), json!({"type": "array", "minItems": 1, "description": RESULTS}));
    let required: Vec<&str> = own.iter().map(|(name, _)| *name).collect();
    ToolSpec {
        group: "synthesis".into(),
        side_effects: SideEffects::Pure,
        applicability: None,
        tags: texts(&["local"]),
        latency_hint_ms: Some(20),
        ..spec(name, properties, &required, Needs::Text, "question")
    }
}

/// The same with a choice of who does the work.
fn by_model_or_words(name: &str, own: &[(&str, Value)]) -> ToolSpec {
    let mut tool = over_results(name, own);
    tool.parameters["properties"]["method"] = json!({
        "type": "string",
        "enum": ["auto", "extractive", "model"],
        "description": "auto: the configured model, else the words of the results. extractive: the words alone. model: \
            the model, or an error. Default auto.",
    });
    // With a model it is not local any more.
    ToolSpec { tags: texts(&["model"]), safety_notes: SENT.into(), ..tool }
}

fn answer() -> Value {
    json!({
        "type": ["string", "null"],
        "description": "The answer to check, such as {\"$from\": \"step-2\", \"path\": \"/answer\"} of combine_results.",
    })
}

fn example(query: &str, parameters: Value, expected_result: &str) -> ToolExample {
    ToolExample {
        query: query.into(),
        parameters: parameters.as_object().cloned().unwrap_or_default(),
        expected_result: expected_result.into(),
    }
}

pub(super) fn combine_results() -> ToolSpec {
    ToolSpec {
        title: Some("Combine results".into()),
        description:
            "Combines the results of earlier steps into one answer, each sentence with the results and sources \
            that it rests on, and a confidence. Use it after look-ups that belong together."
                .into(),
        category: Category::Synthesis,
        capabilities: texts(&["synthesis", "comparison", "summarisation"]),
        limitations: texts(&[
            "knows only what the results say",
            "without a model it repeats sentences of the results and writes none",
        ]),
        examples: vec![
            example(
                "Compare the retry policy and the timeout policy",
                json!({
                    "question": "Compare the retry policy and the timeout policy",
                    "results": [{"$from": "step-1"}, {"$from": "step-2"}],
                }),
                "What the two earlier results say about the question, with sources.",
            ),
            example(
                "总结这两份文档对超时的说明",
                json!({"question": "总结这两份文档对超时的说明", "results": [{"$from": "step-1"}, {"$from": "step-2"}], "method": "extractive"}),
                "Sentences of both documents about 超时, word for word.",
            ),
        ],
        ..by_model_or_words("combine_results", &[("question", text(QUESTION))])
    }
}

pub(super) fn check_coverage() -> ToolSpec {
    ToolSpec {
        title: Some("Check coverage".into()),
        description:
            "Says which words of the question the results of earlier steps do not speak of. Use it last, to see \
            whether something was missed."
                .into(),
        category: Category::Validation,
        capabilities: texts(&["validation"]),
        limitations: texts(&["compares words, not meaning"]),
        examples: vec![example(
            "Compare the retry policy and the timeout policy",
            json!({
                "question": "Compare the retry policy and the timeout policy",
                "results": [{"$from": "step-1"}, {"$from": "step-2"}],
            }),
            "The share of the question's words that the results hold, and the words that they lack.",
        )],
        ..over_results("check_coverage", &[("question", text(QUESTION))])
    }
}

pub(super) fn validate_answer() -> ToolSpec {
    ToolSpec {
        title: Some("Validate an answer".into()),
        description:
            "Says whether an answer is valid, incomplete or unsupported: whether it answers the question, and \
            for each of its sentences which result and source support it. Use it after combine_results, on the same \
            results."
                .into(),
        category: Category::Validation,
        capabilities: texts(&["answer validation", "source checking", "fact checking"]),
        limitations: texts(&[
            "knows only what the results say, not what is true",
            "without a model a sentence put in other words counts as unsupported",
        ]),
        examples: vec![example(
            "How many attempts does the retry policy allow? Make sure of it",
            json!({
                "question": "How many attempts does the retry policy allow?",
                "answer": "The retry policy allows five attempts.",
                "results": [{"$from": "step-1"}],
            }),
            "The verdict with reasons, and each sentence with its evidence.",
        )],
        ..by_model_or_words(
            "validate_answer",
            &[("question", text("The question that was asked.")), ("answer", answer())],
        )
    }
}

pub(super) fn check_hallucination() -> ToolSpec {
    ToolSpec {
        title: Some("Check for hallucinations".into()),
        description:
            "Grades each sentence of an answer as supported, unsupported or contradicted by the results, with \
            the evidence word for word and its source. Numbers, dates, versions, names, keys and negations must agree. \
            Use it last, on the results that the answer was made from."
                .into(),
        category: Category::Validation,
        capabilities: texts(&["hallucination detection", "fact checking"]),
        limitations: texts(&[
            "knows only what the results say, not what is true",
            "without a model a sentence put in other words counts as unsupported",
            "a model grades the first 20 sentences; the others go by words",
        ]),
        examples: vec![example(
            "检查这个回答有没有编造",
            json!({"answer": "重试策略允许五次尝试。", "results": [{"$from": "step-1"}]}),
            "Whether anything is made up, and each sentence with its grade and evidence.",
        )],
        ..by_model_or_words("check_hallucination", &[("answer", answer())])
    }
}

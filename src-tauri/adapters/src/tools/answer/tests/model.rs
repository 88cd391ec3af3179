//! Judging with a model: what it says counts only where the results bear it out.

use super::*;
use crate::models::{
    Provider,
    tests::{KEY, Server, model, plain as response},
};
use axum::response::Response;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use toolplan_engine::ports::ErrorClass;

pub(super) const TEXT: &str = "The retry policy allows five attempts. The journal does not keep secrets.";

/// A model's text in the provider's own form, with its tokens.
pub(super) fn said(provider: Provider, text: &str) -> Response {
    let body = match provider {
        Provider::Anthropic => json!({"id": "m", "type": "message", "role": "assistant", "stop_reason": "end_turn",
            "usage": {"input_tokens": 100, "output_tokens": 20}, "content": [{"type": "text", "text": text}]}),
        _ => json!({"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20}}),
    };
    response(200, "application/json", body.to_string())
}

/// A provider that says these texts one after another, and the tools that ask it.
pub(super) async fn saying(provider: Provider, texts: &[String]) -> (Server, Toolbox) {
    let (texts, asked) = (texts.to_vec(), Arc::new(AtomicUsize::new(0)));
    let server = Server::start(move || {
        let turn = asked.fetch_add(1, Ordering::SeqCst);
        said(provider, &texts[turn.min(texts.len() - 1)])
    })
    .await;
    let tools = toolbox(Some(model(provider, &server.url)));
    (server, tools)
}

pub(super) const BOTH: [Provider; 2] = [Provider::Anthropic, Provider::OpenAi];

fn judged(claims: Value) -> String {
    json!({"claims": claims}).to_string()
}

async fn checked(tools: &Toolbox, answer: &str) -> Value {
    let arguments = json!({"answer": answer, "results": [hits("a.md", TEXT)]});
    call(tools, "check_hallucination", arguments, &CallContext::default()).await.unwrap().data
}

/// O-09: a model knows other words; its quote is looked up. Both protocols, no tools, and what it took is told.
#[tokio::test]
async fn a_model_judges_by_what_it_quotes() {
    for provider in BOTH {
        let reply = judged(json!([
            {"claim": 1, "grade": "supported", "result": 1, "quote": "allows five\n attempts", "reason": "says so"},
            {"claim": 2, "grade": "contradicted", "result": 1, "quote": "The journal does not keep secrets.", "reason": "the opposite"},
            {"claim": 3, "grade": "unsupported", "result": null, "quote": null, "reason": "nothing of it"},
        ]));
        let (server, tools) = saying(provider, &[reply]).await;
        let data =
            checked(&tools, "A failed retry gets five attempts. Secrets end up in the journal. It is blue.").await;
        let grades: Vec<&str> =
            data["claims"].as_array().unwrap().iter().map(|c| c["grade"].as_str().unwrap()).collect();
        assert_eq!(grades, ["supported", "contradicted", "unsupported"], "{data}");
        assert_eq!(data["claims"][0]["evidence"], "allows five\n attempts");
        assert_eq!((&data["claims"][0]["source"], &data["claims"][0]["by"]), (&json!("a.md"), &json!("model")));
        assert_eq!((&data["method"], data.get("why")), (&json!("model"), None));
        let label = format!("{}/test-model", provider.name());
        assert_eq!(data["model"], json!({"label": label, "calls": 1, "input_tokens": 100, "output_tokens": 20}));
        let sent = server.seen.lock().unwrap()[0].json();
        assert_eq!(sent.get("tools"), None, "no tool is offered");
        assert!(!data.to_string().contains(KEY));
    }
}

/// An invented quote, one of another result, or one that says something else exactly: the words decide.
#[tokio::test]
async fn evidence_that_does_not_stand_there_does_not_count() {
    let with = |quote: &str, result: u32| {
        judged(json!([{"claim": 1, "grade": "supported", "result": result, "quote": quote, "reason": "surely"}]))
    };
    for (quote, result, why) in [
        ("The retry policy allows nine attempts.", 1, "does not stand in result 1"),
        ("The retry policy allows five attempts.", 2, "names no result"),
        ("The retry policy allows five attempts.", 1, "the number nine"),
        ("", 1, "quotes nothing"),
        ("five", 1, "too short"),
    ] {
        let (_server, tools) = saying(Provider::OpenAi, &[with(quote, result)]).await;
        let data = checked(&tools, "The retry policy allows nine attempts.").await;
        let claim = &data["claims"][0];
        assert_eq!((&claim["grade"], &claim["by"]), (&json!("contradicted"), &json!("words")), "{data}");
        assert!(claim["reason"].as_str().unwrap().contains(why), "{quote}: {claim}");
    }
    // It may doubt more than the words do, and never less.
    let doubt = judged(json!([{"claim": 1, "grade": "unsupported", "reason": "hm"}]));
    let (_server, tools) = saying(Provider::OpenAi, &[doubt]).await;
    let data = checked(&tools, "The retry policy allows five attempts.").await;
    assert_eq!((&data["hallucinated"], &data["claims"][0]["confidence"]), (&json!(true), &json!(0.5)));
}

/// The answer is asked for once more with what was wrong; after that the words decide, and the result says why.
#[tokio::test]
async fn malformed_answers_are_mended_once() {
    let good = judged(json!([{"claim": 1, "grade": "supported", "result": 1, "quote": "allows five attempts"}]));
    let odd = judged(json!([{"claim": 1, "grade": "maybe"}]));
    let twice = judged(json!([{"claim": 1, "grade": "supported"}, {"claim": 1, "grade": "supported"}]));
    for provider in BOTH {
        for bad in ["Sure! All good.", "{\"claims\": [", "{\"claims\": []}", odd.as_str(), twice.as_str()] {
            let (server, tools) = saying(provider, &[bad.to_string(), good.clone()]).await;
            let data = checked(&tools, "Each retry policy allows five attempts.").await;
            assert_eq!((&data["method"], &data["model"]["calls"]), (&json!("model"), &json!(2)), "{bad}: {data}");
            assert_eq!(data["model"]["input_tokens"], 200);
            let again = server.seen.lock().unwrap()[1].json()["messages"].to_string();
            assert!(again.contains("It cannot be used"), "{again}");
        }
        let (server, tools) = saying(provider, &["no".to_string()]).await;
        let data = checked(&tools, "The retry policy allows five attempts.").await;
        assert_eq!((&data["method"], &data["hallucinated"]), (&json!("extractive"), &json!(false)));
        assert!(data["why"].as_str().unwrap().contains("no usable answer, twice: it is no JSON object"), "{data}");
        assert_eq!((&data["model"]["calls"], server.seen.lock().unwrap().len()), (&json!(2), 2));
    }
}

/// A model that fails gives way to the words; `method: model` is an error then, of a class that says whether to retry.
#[tokio::test]
async fn a_failing_model_gives_way() {
    for (status, class) in [(500, ErrorClass::Transient), (429, ErrorClass::RateLimited), (401, ErrorClass::Refused)] {
        let server =
            Server::start(move || response(status, "application/json", format!("{{\"error\": \"{KEY}\"}}"))).await;
        let tools = toolbox(Some(model(Provider::OpenAi, &server.url)));
        let data = checked(&tools, "The retry policy allows five attempts.").await;
        assert_eq!(data["method"], "extractive");
        assert!(data["why"].as_str().unwrap().contains(&status.to_string()), "{data}");
        assert!(!data.to_string().contains(&KEY[..10]), "S-01: {data}");
        let arguments = json!({"answer": "It allows five attempts.", "results": [TEXT], "method": "model"});
        let error = call(&tools, "check_hallucination", arguments, &CallContext::default()).await.unwrap_err();
        assert_eq!(error.class, class, "{error:?}");
        assert!(!format!("{error:?}").contains(&KEY[..10]));
    }
    let arguments = json!({"answer": "Five.", "results": [TEXT], "method": "model"});
    let error = call(&toolbox(None), "check_hallucination", arguments, &CallContext::default()).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Unbound);
    assert!(error.message.contains("no model is configured") && error.hint.contains("TOOL_PLANNER_LLM"), "{error:?}");
}

/// O-04: a slow model leaves time for the words, and a call that is dropped closes its connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_model_is_left_in_time() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let closed = Arc::new(AtomicUsize::new(0));
    let count = closed.clone();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let count = count.clone();
            tokio::spawn(async move {
                // Reads what is asked and says nothing, until the other side hangs up.
                let mut sink = tokio::io::sink();
                let _ = tokio::io::copy(&mut stream, &mut sink).await;
                count.fetch_add(1, Ordering::SeqCst);
            });
        }
    });
    let tools = toolbox(Some(model(Provider::OpenAi, &url)));
    let arguments = json!({"answer": "The retry policy allows five attempts.", "results": [TEXT]});
    let context = CallContext { timeout_ms: 500, ..CallContext::default() };
    let started = Instant::now();
    let data = call(&tools, "check_hallucination", arguments.clone(), &context).await.unwrap().data;
    assert!(started.elapsed() >= Duration::from_millis(400));
    assert!(data["why"].as_str().unwrap().contains("did not answer within 400 ms"), "{data}");
    let context = CallContext::default();
    let work = call(&tools, "check_hallucination", arguments, &context);
    assert!(tokio::time::timeout(Duration::from_millis(300), work).await.is_err(), "it still waits");
    let both = async {
        while closed.load(Ordering::SeqCst) < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), both).await.expect("the connections are closed");
}

/// O-09: a model says whether the question is answered.
#[tokio::test]
async fn a_model_validates() {
    for (answers, verdict, confidence) in
        [("yes", "valid", 1.0), ("partly", "incomplete", 0.5), ("no", "incomplete", 0.0)]
    {
        let reply = json!({"claims": [{"claim": 1, "grade": "supported", "result": 1, "quote": "allows five attempts"}],
            "answers": answers, "missing": if answers == "yes" { json!([]) } else { json!(["the pauses"]) }});
        let (server, tools) = saying(Provider::Anthropic, &[reply.to_string()]).await;
        let arguments =
            json!({"question": "How often?", "answer": "The policy allows five attempts.", "results": [TEXT]});
        let result = call(&tools, "validate_answer", arguments, &CallContext::default()).await.unwrap();
        assert_eq!(
            (result.data["verdict"].as_str(), result.confidence),
            (Some(verdict), Some(confidence)),
            "{result:?}"
        );
        assert_eq!(result.data["reasons"].to_string().contains("the pauses"), answers != "yes");
        assert!(server.seen.lock().unwrap()[0].json()["messages"].to_string().contains("How often?"));
    }
}

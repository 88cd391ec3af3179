//! Recorded replies.

use super::engine_prompt;
use crate::models::Recorded;
use std::{collections::HashMap, time::Duration};
use toolplan_engine::{ports::ChatModel, select::Reply};

fn recorded(queries: &[&str]) -> Recorded {
    let reply = |query: &&str| (query.to_string(), Reply { text: format!("to {query}"), ..Reply::default() });
    Recorded::new(queries.iter().map(reply).collect::<HashMap<_, _>>())
}

async fn check(queries: &[&str], user: &str, expected: &str) {
    let mut prompt = engine_prompt(&["find"]);
    prompt.user = user.into();
    let shown = match recorded(queries).complete(&prompt).await {
        Ok(reply) => reply.text,
        Err(problem) => problem.code,
    };
    assert_eq!(shown, expected, "for {user:?}");
}

#[tokio::test]
async fn answers_the_exact_query() {
    let model = recorded(&["tidy up", "tidy"]);
    assert_eq!(
        model.complete(&engine_prompt(&["find"])).await.unwrap().text,
        "to tidy up",
        "in the engine's own prompt"
    );
    assert_eq!(model.reply_for("tidy").unwrap().text, "to tidy");
    assert_eq!(model.reply_for("Tidy"), None);

    let typed = |query: &str| format!("Query: {query}\nQuery type: SimpleLookup\nParts:\n- q1: x\n");
    check(&["a"], &typed("a"), "to a").await;
    check(&["a"], &typed("a b"), "model.unrecorded").await;
    check(&["a"], &typed("a\nb"), "model.unrecorded").await;
    check(&["a", "a\nb"], &typed("a\nb"), "to a\nb").await;
    check(&["b"], &typed("a\nQuery: b"), "model.unrecorded").await;
    check(&["a"], "Context.\nQuery: a\nAnswer now.", "to a").await;
    check(&["a"], "no query at all", "model.unrecorded").await;
}

#[tokio::test]
async fn a_delayed_reply_comes_late() {
    let model = recorded(&["tidy up"]).with_delay(Duration::from_millis(80));
    let prompt = engine_prompt(&["find"]);
    assert!(tokio::time::timeout(Duration::from_millis(10), model.complete(&prompt)).await.is_err());
    assert!(tokio::time::timeout(Duration::from_secs(10), model.complete(&prompt)).await.unwrap().is_ok());
}

//! Plans without a model: the cases of the planning tickets.

use crate::bench::{Bench, asking, stages};
use toolplan_workbench::engine::request::{Decomposition, Planner, QueryType, SubQuery};

/// P-15, T1-1: a simple question is one step of vector search.
#[tokio::test]
async fn a_simple_question_is_one_step() {
    let view = Bench::sample().await.plan(asking("What is a terminator's toughness?")).await;
    assert_eq!(view.planning.decomposition.query_type, QueryType::SimpleLookup);
    assert_eq!(stages(&view), [["vector_search"]]);
    assert_eq!(view.planning.planner.used, Planner::Offline);
}

/// P-15, T1-2: a comparison is exactly two parallel look-ups, and then a step over both results.
#[tokio::test]
async fn a_comparison_is_two_parallel_steps() {
    let view = Bench::sample().await.plan(asking("Terminator vs Dreadnought")).await;
    assert_eq!(view.planning.decomposition.query_type, QueryType::Comparative);
    assert_eq!(stages(&view), [vec!["vector_search", "vector_search"], vec!["combine_results"]]);
    let combined = &view.planning.plan.steps[2];
    assert_eq!(combined.arguments["results"], serde_json::json!([{"$from": "step-1"}, {"$from": "step-2"}]));
}

/// P-15, T1-3: a rule applied to a case is at least three parts in sequence.
#[tokio::test]
async fn a_rule_applied_to_a_case_is_a_chain() {
    let view = Bench::sample().await.plan(asking("Can my terminators deep strike turn 1?")).await;
    assert_eq!(view.planning.decomposition.query_type, QueryType::MultiHop);
    assert!(view.planning.decomposition.sub_queries.len() >= 3);
    assert_eq!(stages(&view).len(), 3);
    assert!(stages(&view).iter().all(|stage| stage.len() == 1), "sequential");
}

/// P-15, T1-4: building a list is constraints, selection, validation.
#[tokio::test]
async fn building_a_list_has_three_stages() {
    let view = Bench::sample().await.plan(asking("Build 2000pt list")).await;
    assert_eq!(view.planning.decomposition.query_type, QueryType::ListBuilding);
    assert_eq!(stages(&view), [["vector_search"], ["vector_search"], ["check_coverage"]]);
}

/// P-15, T1-11: an empty query is an error with a remedy, not a crash.
#[tokio::test]
async fn an_empty_query_is_refused() {
    let bench = Bench::sample().await;
    for query in ["", "  \n"] {
        let problem = bench.workbench.plan(asking(query), None).await.unwrap_err();
        assert_eq!(problem.code, "query.empty");
        assert!(!problem.hint.is_empty());
    }
}

/// P-02: a decomposition from outside is used as it is.
#[tokio::test]
async fn a_given_decomposition_is_used() {
    let part = |id: &str, query: &str, after: &[&str]| SubQuery {
        id: id.into(),
        query: query.into(),
        dependencies: after.iter().map(|s| s.to_string()).collect(),
        priority: 1,
        purpose: "lookup".into(),
    };
    let mut request = asking("anything");
    request.decomposition = Some(Decomposition {
        query_type: QueryType::MultiHop,
        sub_queries: vec![part("a", "PROJ-7", &[]), part("b", "who owns the queue", &["a"])],
        confidence: 0.8,
        ..Default::default()
    });
    let view = Bench::sample().await.plan(request).await;
    assert_eq!(stages(&view), [["jira_fetch"], ["vector_search"]]);
}

/// P-04: the same request gives the same plan.
#[tokio::test]
async fn offline_plans_are_deterministic() {
    let bench = Bench::sample().await;
    let plan =
        || async { bench.plan(asking("Compare the retry policy and the timeout policy of TIDE-42")).await.planning };
    assert_eq!(plan().await, plan().await);
}

/// P-04: references in the query lead to their tools without a model.
#[tokio::test]
async fn references_choose_their_tools() {
    let bench = Bench::sample().await;
    assert_eq!(stages(&bench.plan(asking("PROJ-123的状态是什么？")).await), [["jira_fetch"]]);
    assert_eq!(stages(&bench.plan(asking("Summarise wiki page 1234567890")).await), [["confluence_fetch"]]);
    assert_eq!(stages(&bench.plan(asking("read docs/en/faq.md")).await), [["read_file"]]);
    assert_eq!(stages(&bench.plan(asking("thanks!")).await), Vec::<Vec<String>>::new());
}

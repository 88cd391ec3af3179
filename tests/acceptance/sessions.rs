//! Sessions that outlive the process, policy files, the matrix, and why a tool is hidden.

use crate::bench::{Bench, asking, mock};
use serde_json::json;
use toolplan_workbench::{
    engine::{
        request::{ExecutionState, Request, Session},
        savings::Conversation,
        session::{Actor, SessionEvent},
        tool::Classification,
        verdict::Gate,
    },
    visibility::{MAX_PAGE, MatrixOnly, MatrixQuery, WhyQuery},
};

fn select(intent: &str) -> SessionEvent {
    SessionEvent::SelectIntent { intent: intent.into(), by: Actor::Person }
}

fn message() -> SessionEvent {
    SessionEvent::Message { text: "hello".into() }
}

/// V-08: refusals are part of the answer, and everything is still there after a restart.
#[tokio::test]
async fn a_session_outlives_the_process() {
    let bench = Bench::sample().await;
    let refused = bench.workbench.session_event("w", select("REQ-DOCS-1")).unwrap();
    assert_eq!(refused.refused.unwrap().message, "Cannot select intent in state REQUEST. Must be in REASONING state.");
    assert_eq!(refused.session.state(), ExecutionState::Request);
    bench.workbench.session_event("w", message()).unwrap();
    let view = bench.workbench.session_event("w", select("REQ-DOCS-1")).unwrap();
    assert!(view.refused.is_none() && view.trouble.is_none() && view.deadlocks.is_empty(), "{view:?}");
    assert_eq!(view.intents.iter().filter(|i| i.why_not.is_none()).count(), 2);
    let bench = bench.again().await;
    let view = bench.workbench.session("w").unwrap();
    assert_eq!((view.session.state(), view.session.intent()), (ExecutionState::Action, "REQ-DOCS-1"));
    let told: Vec<bool> = view.session.log().iter().map(|t| t.refused.is_some()).collect();
    assert_eq!(told, [true, false, false]);
    assert!(view.session.log().iter().all(|t| t.at_ms > 1_600_000_000_000));
    let plan = bench.workbench.plan_in_session("w", asking("What is a tenant?"), None).await.unwrap();
    assert_eq!(plan.plan.planning.request.state, ExecutionState::Action);
    for event in [SessionEvent::Recover, SessionEvent::Reset] {
        assert_eq!(bench.workbench.session_event("w", event).unwrap().session.intent(), "");
    }
    assert_eq!(bench.workbench.session("").unwrap_err().code, "session.id");
}

/// V-01 to V-03: a policy file is taken whole or not at all, and only what it names changes.
#[tokio::test]
async fn a_policy_file_is_taken_whole() {
    let bench = Bench::sample().await;
    let before = bench.workbench.info().settings;
    let wrong = [
        ("{", "policy.malformed", "not JSON"),
        ("[]", "policy.malformed", "no JSON object"),
        (r#"{"policy": []}"#, "policy.malformed", "a list at policy"),
        (r#"{"policy": {"denied": "x"}}"#, "policy.malformed", "not understood"),
        (r#"{"polizy": {}}"#, "policy.malformed", "polizy"),
        (r#"{"modes": [{"name": "a", "groupz": []}]}"#, "policy.malformed", "modes[0].groupz"),
        (r#"{"default_mode": "nowhere"}"#, "settings.default_mode", "nowhere"),
        (r#"{"modes": [{"name": "a"}, {"name": "a"}], "default_mode": "a"}"#, "settings.names", "two entries called a"),
        (r#"{"visibility": [{"hide": ["x"]}]}"#, "settings.names", "no name"),
        (r#"{"session": {"intent_pattern": "("}}"#, "settings.intent_pattern", "does not compile"),
        (r#"{"intents": [{"id": "REQ-1", "status": "lost"}]}"#, "policy.malformed", "lost"),
    ];
    for (text, code, part) in wrong {
        let problem = bench.workbench.import_policy(text, false).unwrap_err();
        assert_eq!(problem.code, code, "{text}");
        assert!(problem.message.contains(part), "{text}: {}", problem.message);
        assert_eq!(bench.workbench.info().settings, before, "{text} changed nothing");
    }
    let text = r#"{"policy": {"denied": ["web_fetch", "ghost"]}, "kill_switch": ["jira_*"]}"#;
    let tried = bench.workbench.import_policy(text, true).unwrap();
    assert_eq!((tried.stored, bench.workbench.info().settings), (false, before.clone()));
    let fields: Vec<&str> = tried.changed.iter().map(|c| c.field.as_str()).collect();
    assert_eq!(fields, ["kill_switch", "policy"]);
    assert!(tried.notices.iter().any(|n| n.message.contains("ghost")) && tried.notices.len() == 1);
    assert!(bench.workbench.import_policy(text, false).unwrap().stored);
    let after = bench.workbench.info().settings;
    assert_eq!((&after.modes, &after.visibility), (&before.modes, &before.visibility));
    let hidden = |name: &str| {
        let rows = bench.workbench.why_hidden(name, &WhyQuery::default()).unwrap();
        rows.iter().all(|r| !r.visible)
    };
    assert!(hidden("web_fetch") && hidden("jira_fetch") && !hidden("vector_search"));
}

/// V-02: a tenant that nobody listed is refused, so that a misspelt one does not slip past the rules about it.
#[tokio::test]
async fn an_unknown_tenant_is_refused() {
    let bench = Bench::sample().await;
    let tenant = |tenant: &str| Session { tenant: tenant.into(), ..Session::default() };
    let of = |session: Session| Request { session, ..asking("What is a tenant?") };
    let problem = bench.workbench.plan(of(tenant("harbor")), None).await.unwrap_err();
    assert_eq!(problem.code, "tenant.unknown");
    assert!(problem.hint.contains("lighthouse, harbour"), "{}", problem.hint);
    bench.workbench.plan(of(tenant("harbour")), None).await.unwrap();
    let mut settings = bench.workbench.info().settings;
    settings.tenants.clear();
    bench.workbench.save_settings(settings).unwrap();
    bench.workbench.plan(of(tenant("harbor")), None).await.unwrap();
}

/// V-11: one call says of a tool in every state, mode and tenant what hides it, and what else would.
#[tokio::test]
async fn why_a_tool_is_hidden() {
    let bench = Bench::sample().await;
    let query = WhyQuery {
        modes: vec!["operator".into(), "docs".into()],
        tenants: vec!["lighthouse".into(), "harbour".into()],
        ..WhyQuery::default()
    };
    let rows = bench.workbench.why_hidden("send_email", &query).unwrap();
    assert_eq!(rows.len(), 12);
    let of = |state, mode: &str, tenant: &str| {
        let row = rows.iter().find(|r| r.state == state && r.mode == mode && r.tenant == tenant).unwrap();
        let gates = row.decided.iter().chain(&row.also).map(|v| v.gate).collect::<Vec<_>>();
        assert_eq!(row.visible, gates.is_empty());
        gates
    };
    use ExecutionState::{Action, Reasoning};
    assert_eq!(of(Action, "operator", "lighthouse"), []);
    assert_eq!(of(Action, "operator", "harbour"), [Gate::Visibility]);
    assert_eq!(of(Reasoning, "docs", "harbour"), [Gate::Visibility, Gate::Mode, Gate::State]);
    assert_eq!(of(Reasoning, "operator", "lighthouse"), [Gate::State]);
    assert_eq!(bench.workbench.why_hidden("nobody", &query).unwrap_err().code, "catalog.unknown");
    let endless = WhyQuery { modes: vec!["docs".into(); 400], ..WhyQuery::default() };
    assert_eq!(bench.workbench.why_hidden("send_email", &endless).unwrap_err().code, "why.too_many");
}

/// V-11, K-14: the matrix of a large catalog comes in pages, and its pages and counts agree with the whole.
#[tokio::test]
async fn the_matrix_comes_in_pages() {
    let bench = Bench::sample().await;
    let many = (0..3000).map(|i| {
        let mut tool = mock(&format!("extra_{i:04}"), json!(1), 0);
        tool.classification = [Classification::Safe, Classification::Destructive, Classification::Unclassified][i % 3];
        tool
    });
    bench.workbench.register_tools(many.collect(), "many").unwrap();
    let ask = |query: MatrixQuery| bench.workbench.visibility_matrix(&query).unwrap();
    let count = ask(MatrixQuery::default());
    assert_eq!((count.rows.len(), count.matching, count.tools), (0, count.tools, 3028));
    let extra = |offset, limit| MatrixQuery { filter: "EXTRA_".into(), offset, limit, ..MatrixQuery::default() };
    let whole: Vec<_> = (0..4).flat_map(|page| ask(extra(page * 1000, 5000)).rows).collect();
    assert_eq!((whole.len(), ask(extra(0, 5000)).rows.len()), (3000, MAX_PAGE as usize));
    let names: Vec<&str> = whole.iter().map(|r| r.tool.as_str()).collect();
    assert!(names.is_sorted() && names[2999] == "extra_2999");
    assert_eq!(ask(extra(2990, 100)).rows.len(), 10);
    assert_eq!(ask(extra(9999, 100)).rows.len(), 0);
    let only = |only| ask(MatrixQuery { only, ..extra(0, 1) }).matching;
    assert_eq!((only(MatrixOnly::Differs), only(MatrixOnly::Hidden), only(MatrixOnly::Unclassified)), (2000, 0, 1000));
    for state in &count.states {
        let request = Request { state: state.state, intent: "REQ-X".into(), ..Request::default() };
        let rows = bench.workbench.catalog(&request, None).unwrap();
        let seen: Vec<_> = rows.iter().filter(|r| r.visible).collect();
        assert_eq!(state.visible as usize, seen.len(), "{:?}", state.state);
        assert_eq!(state.tokens, seen.iter().map(|r| r.tokens).sum::<u32>(), "{:?}", state.state);
    }
    let cell = |name: &str, at: usize| {
        let row = whole.iter().find(|r| r.tool == name).unwrap();
        (row.cells[at].visible, row.cells[at].rule.clone())
    };
    assert_eq!(cell("extra_0001", 1), (false, "state.destructive".into()));
    assert_eq!(cell("extra_0001", 2), (true, "loading.always".into()));
    let unknown = MatrixQuery { mode: "nowhere".into(), ..MatrixQuery::default() };
    assert_eq!(bench.workbench.visibility_matrix(&unknown).unwrap_err().code, "mode.unknown");
}

/// V-10: a conversation of elsewhere is measured with the catalog's own tokens.
#[tokio::test]
async fn a_conversation_is_measured() {
    let bench = Bench::sample().await;
    let conversation: Conversation = serde_json::from_value(json!({"turns": [
        {"tools": ["vector_search"], "blocks": [{"name": "system", "text": "You choose tools."}]}
    ]}))
    .unwrap();
    let savings = bench.workbench.conversation_savings(&conversation).unwrap();
    let report = bench.plan(asking("What is a tenant?")).await.planning.tokens;
    assert_eq!((savings.full, savings.encoding.as_str()), (report.states[0].full, "o200k_base"));
    let tool = bench.workbench.tool("vector_search", &Request::default(), None).unwrap();
    assert_eq!(savings.gross, f64::from(savings.full - tool.cost.total()));
}

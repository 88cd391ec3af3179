//! What hiding saved: gross, overhead, net (V-10), by hand-checked figures.

use crate::desk::{BUILD_TOOLS, Desk, Letters, calls, says};
use expect_test::{Expect, expect};
use serde_json::json;
use toolplan_engine::{
    discovery::Index,
    savings::{self, Conversation, Savings, TurnTokens, of, of_conversation},
    settings::{Intent, SavingsSettings},
    tool::Catalog,
    turns::Dialogue,
};

const PRICES: SavingsSettings = SavingsSettings { cached_price: 0.1, min_cached: 100 };

/// A line per turn, then the sums.
#[track_caller]
fn check(savings: &Savings, expected: Expect) {
    let mut lines: Vec<String> = savings
        .rows
        .iter()
        .map(|r| {
            format!(
                "{}: {} of {} in {}, gross {}, blocks {}, searches {}, extra {}, cache {:.1}, net {:.1}, cached {} ({})",
                r.turn, r.tokens.definitions, savings.full, r.prompt, r.gross, r.blocks, r.searches, r.extra_turn,
                r.lost_cache, r.net, r.cached, r.stability.map_or("first".into(), |s| format!("{s:.2} stable")),
            )
        })
        .collect();
    lines.push(format!("gross {:.1} overhead {:.1} net {:.1}", savings.gross, savings.overhead, savings.net));
    expected.assert_eq(&lines.join("\n"));
}

/// V-10: a search turn, its result, and an activation that changes the tools, against one that does not.
#[test]
fn overhead_counts_searches_and_the_lost_cache() {
    let first =
        TurnTokens { tools: 3, definitions: 300, base: 200, blocks: 50, calls: 20, extra: true, ..Default::default() };
    let appended = TurnTokens {
        tools: 4,
        definitions: 400,
        base: 200,
        blocks: 50,
        carried: 120,
        prefix: 300,
        ..Default::default()
    };
    let kept = TurnTokens { prefix: 550, definitions: 300, tools: 3, ..appended };
    check(
        &of(&[first, appended], (100, 10_000), &Letters, false, &PRICES),
        expect![[r#"
            1: 300 of 10000 in 550, gross 0, blocks 50, searches 20, extra 500, cache 0.0, net -570.0, cached 0 (first)
            2: 400 of 10000 in 770, gross 9600, blocks 50, searches 120, extra 0, cache 225.0, net 9205.0, cached 300 (0.55 stable)
            gross 9600.0 overhead 965.0 net 8635.0"#]],
    );
    check(
        &of(&[first, kept], (100, 10_000), &Letters, false, &PRICES),
        expect![[r#"
            1: 300 of 10000 in 550, gross 0, blocks 50, searches 20, extra 500, cache 0.0, net -570.0, cached 0 (first)
            2: 300 of 10000 in 670, gross 9700, blocks 50, searches 120, extra 0, cache 0.0, net 9530.0, cached 550 (1.00 stable)
            gross 9700.0 overhead 740.0 net 8960.0"#]],
    );
}

/// V-10: hiding little and searching much loses; a beginning below the provider's least is not cached, so not lost.
#[test]
fn net_may_be_negative() {
    let search = TurnTokens { tools: 3, definitions: 90, base: 200, calls: 20, extra: true, ..Default::default() };
    let answer = TurnTokens { tools: 4, definitions: 100, base: 200, carried: 200, prefix: 90, ..Default::default() };
    let savings = of(&[search, answer], (5, 120), &Letters, false, &SavingsSettings { min_cached: 1024, ..PRICES });
    assert_eq!((savings.gross, savings.overhead, savings.net), (20.0, 510.0, -490.0));
    let none = of(&[], (5, 120), &Letters, true, &PRICES);
    assert_eq!((none.rows.len(), none.net, none.exact, none.full), (0, 0.0, true, 120));
}

/// V-10: the turns of a handshake, measured with the prompts themselves.
#[test]
fn a_handshake_is_measured() {
    let desk = Desk::of(BUILD_TOOLS)
        .asks("x")
        .but(|d| d.settings.intents = vec![Intent { id: "REQ-1".into(), ..Intent::default() }]);
    let index = Index::of(&desk.catalog);
    let mut dialogue = Dialogue::new(&desk.catalog, &index, &desk.settings, &Letters, &desk.request).unwrap();
    let first = dialogue.prompt().unwrap();
    dialogue.take(&first, &calls(&[("select_active_intent", json!({"intent_id": "REQ-1"}))]), None);
    let second = dialogue.prompt().unwrap();
    dialogue.take(&second, &says("done"), None);
    let tokens: Vec<TurnTokens> = dialogue.records().iter().map(|r| r.tokens).collect();
    let report = desk.plan_offline().tokens;
    let visible = |at: usize| report.states[at].visible;
    assert_eq!((tokens[0].definitions, tokens[1].definitions), (visible(1), visible(2)));
    let letters = |text: &str| text.chars().count() as u32;
    let about = first.system.find("About the tools:").unwrap();
    assert_eq!(tokens[0].blocks, letters(&first.system[about..]));
    assert_eq!(tokens[0].base, letters(&first.system[..about]) + letters(&first.user));
    assert_eq!(tokens[1].carried, letters(&second.turns[0].to_text()));
    // The tools differ after read_file: nothing behind it can come from the cache.
    let read = &report.tools.iter().find(|t| t.tool == "read_file").unwrap().total;
    assert_eq!(tokens[1].prefix, *read);
    let savings = of(&tokens, (4, report.states[0].full), &Letters, false, &PRICES);
    assert_eq!(savings.net, savings.gross - savings.overhead);
    assert_eq!(savings.gross, f64::from(report.states[2].saved));
}

fn conversation(text: &str) -> Conversation {
    serde_json::from_str(text).unwrap()
}

/// V-10: a conversation from a file, with the tokens that it states and those of the catalog.
#[test]
fn a_conversation_from_a_file() {
    let recorded = conversation(
        r#"{"definitions": {"a": 400, "b": 300, "c": 300}, "all_tools": ["a", "b", "c"], "turns": [
            {"tools": ["a"], "blocks": [{"name": "system", "tokens": 100}, {"name": "hints", "tokens": 30, "overhead": true}],
             "calls": [{"tool": "tool_search", "call": 10, "result": 90}]},
            {"tools": ["a"], "blocks": [{"name": "system", "tokens": 100}, {"name": "hints", "tokens": 30, "overhead": true}],
             "calls": [{"tool": "tool_get", "call": 5, "result": 45}]},
            {"tools": ["a", "c"], "blocks": [{"name": "system", "tokens": 100}]}]}"#,
    );
    let savings = of_conversation(&recorded, &Catalog::default(), &Letters, false, &PRICES).unwrap();
    check(
        &savings,
        expect![[r#"
            1: 400 of 1000 in 530, gross 0, blocks 30, searches 10, extra 500, cache 0.0, net -540.0, cached 0 (first)
            2: 400 of 1000 in 630, gross 0, blocks 30, searches 105, extra 500, cache 0.0, net -635.0, cached 530 (1.00 stable)
            3: 700 of 1000 in 950, gross 300, blocks 0, searches 150, extra 0, cache 207.0, net -57.0, cached 400 (0.63 stable)
            gross 300.0 overhead 1532.0 net -1232.0"#]],
    );
}

/// V-10, S-03: a tool without tokens and a word that nobody reads are errors that name them.
#[test]
fn a_conversation_says_what_is_wrong() {
    let unknown = conversation(r#"{"turns": [{"tools": ["ghost"]}]}"#);
    let problem = of_conversation(&unknown, &Catalog::default(), &Letters, false, &PRICES).unwrap_err();
    assert_eq!(problem.code, "conversation.tool");
    assert!(problem.message.contains("ghost"));
    let misspelt = serde_json::from_str::<savings::Conversation>(r#"{"turns": [{"tool": ["a"]}]}"#).unwrap_err();
    assert!(misspelt.to_string().contains("unknown field `tool`"), "{misspelt}");
}

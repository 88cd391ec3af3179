use serde_json::{Value, json};
use toolplan_engine::{guard::*, request::*, select::*, settings::*, tool::*, visibility::*, *};
fn main() {
    let t = |n: &str, needs, arg: &str| ToolSpec {
        name: n.into(),
        classification: Classification::Safe,
        side_effects: SideEffects::Read,
        applicability: Some(Applicability { needs, argument: arg.into() }),
        parameters: json!({"type":"object","properties":{arg:{"type":"string"}},"required":[arg]}),
        ..Default::default()
    };
    let specs = vec![
        t("grep_search", Needs::Text, "query"),
        t("vector_search", Needs::Text, "query"),
        t("hybrid_search", Needs::Text, "query"),
        t("local_file_qa", Needs::Text, "query"),
        t("read_file", Needs::Path, "file_path"),
        t("graph_related", Needs::Entity, "entity_id"),
        t("web_fetch", Needs::Url, "url"),
        t("jira_fetch", Needs::IssueKey, "issue_key"),
        t("confluence_fetch", Needs::PageId, "page_id"),
    ];
    let (cat, _) = Catalog::new(1, specs);
    let mut settings = Settings::default();
    settings.guard.add_by_rule = false;
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&file).unwrap();
        let (mut n, mut strict, mut len) = (0, 0, 0);
        for l in text.lines() {
            let c: Value = serde_json::from_str(l).unwrap();
            let sub: Vec<SubQuery> = c["sub_questions"]
                .as_array()
                .map(|a| {
                    a.iter()
                        .enumerate()
                        .map(|(i, q)| SubQuery {
                            id: format!("q{i}"),
                            query: q.as_str().unwrap().into(),
                            dependencies: vec![],
                            priority: 1,
                            purpose: String::new(),
                        })
                        .collect()
                })
                .unwrap_or_default();
            let request = Request {
                query: c["query"].as_str().unwrap().into(),
                state: ExecutionState::Reasoning,
                routing: RoutingPlan {
                    suggested_tools: serde_json::from_value(c["suggested_tools"].clone()).unwrap(),
                    sub_questions: vec![],
                },
                ..Default::default()
            };
            let g = Guard::new(&cat, &settings, Viewer::new(&settings, &request).unwrap(), &request, &sub);
            let llm = c["llm_text"].as_str().unwrap();
            let p = reply::read(
                &Reply { text: llm.into(), ..Default::default() },
                &cat.specs().map(|s| s.name.as_str()).collect::<Vec<_>>(),
                &settings.guard,
            );
            let r = g.review(p, llm);
            let key = |v: &Value| {
                let mut x: Vec<String> =
                    v.as_array().unwrap().iter().map(|c| format!("{}{}", c["tool"], c["arguments"])).collect();
                x.sort();
                x.dedup();
                x
            };
            let got: Value = r
                .calls
                .iter()
                .filter(|c| c.goes_on())
                .map(|c| json!({"tool":c.call.tool,"arguments":c.call.arguments}))
                .collect::<Vec<_>>()
                .into();
            let ok = key(&got) == key(&c["expected_calls"]);
            let lok = ok || c["also_ok"].as_array().map_or(false, |a| a.iter().any(|x| key(x) == key(&got)));
            n += 1;
            strict += ok as u32;
            len += lok as u32;
            if !ok {
                println!(
                    "{} {} q={:?} llm={:?} got={:?} want={:?}",
                    if lok { "lenient" } else { "WRONG" },
                    c["id"],
                    c["query"].as_str().unwrap(),
                    llm,
                    key(&got),
                    key(&c["expected_calls"])
                );
            }
        }
        println!("{file}: {n} strict {:.3} lenient {:.3}", strict as f64 / n as f64, len as f64 / n as f64);
    }
}

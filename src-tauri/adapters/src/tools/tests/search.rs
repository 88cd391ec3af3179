//! The tools that share the index: `local_file_qa`, `vector_search`, `hybrid_search`, `graph_related`.

use super::*;

fn library() -> Bench {
    Bench::new(&[
        (
            "docs/runs.md",
            "# Runs\n\nA run executes the steps of a plan.\n\n## Retries\n\nA failed step is retried three times. \
             The delay doubles with every attempt.\n\n## Timeouts\n\nA step is cancelled after 30 seconds.\n",
        ),
        ("docs/cache.md", "# Cache\n\nResults are kept for five minutes, then they expire.\n"),
        (
            "docs/部署.md",
            "# 部署指南\n\n先构建镜像，再推送到仓库。\n\n## 回滚\n\n如果发布失败，执行回滚脚本恢复上一个版本。\n\n## 监控\n\n监控面板显示请求的延迟。\n",
        ),
        ("notes/garden.txt", "Tomatoes like sun and water. Carrots do not mind shade.\n"),
    ])
}

#[tokio::test]
async fn qa_quotes_the_sentence_that_answers() {
    let bench = library();
    let result =
        bench.call("local_file_qa", json!({"query": "How many times is a failed step retried?"})).await.unwrap();
    assert_eq!(result.data["answer"], "A failed step is retried three times.");
    let best = &result.data["passages"][0];
    assert_eq!(
        (&best["path"], &best["heading"], &best["start_line"]),
        (&json!("docs/runs.md"), &json!("Runs › Retries"), &json!(5))
    );
    assert_eq!(result.data["method"], "bm25 passages, extractive");
    assert_eq!(result.sources[0], "docs/runs.md");
    assert!(result.confidence.unwrap() > 0.7, "{:?}", result.confidence);

    let result = bench.call("local_file_qa", json!({"query": "发布失败后怎么回滚？"})).await.unwrap();
    assert_eq!(result.data["answer"], "如果发布失败，执行回滚脚本恢复上一个版本。");
    assert!(result.confidence.unwrap() > 0.7, "{:?}", result.confidence);
}

#[tokio::test]
async fn qa_says_when_nothing_answers() {
    let bench = library();
    for query in ["quantum chromodynamics lattice", "量子计算机价格", "?!"] {
        let result = bench.call("local_file_qa", json!({"query": query})).await.unwrap();
        assert_eq!((&result.data["answer"], &result.data["passages"]), (&Value::Null, &json!([])), "{query}");
        assert_eq!((result.confidence, result.sources.len()), (Some(0.0), 0), "{query}");
    }
}

#[tokio::test]
async fn searches_stay_in_their_scope() {
    let bench = library();
    let data = bench.data("local_file_qa", json!({"query": "step", "path": "notes"})).await;
    assert_eq!(data["passages"], json!([]));
    let data = bench.data("local_file_qa", json!({"query": "results step plan", "filename_prefix": "cach"})).await;
    assert!(column(&data["passages"], "path").iter().all(|p| *p == "docs/cache.md"), "{data}");
    let data = bench.data("hybrid_search", json!({"query": "延迟", "path": "docs/部署.md"})).await;
    assert!(!data["hits"].as_array().unwrap().is_empty());
    assert!(column(&data["hits"], "path").iter().all(|p| *p == "docs/部署.md"), "{data}");
    assert_eq!(bench.error("vector_search", json!({"query": "x", "path": "nowhere"})).await.0, ErrorClass::NotFound);
}

#[tokio::test]
async fn vectors_find_other_forms_of_words_and_say_what_they_are() {
    let bench = library();
    for (query, path, heading) in [
        ("retrying failures", "docs/runs.md", "Runs › Retries"),
        ("expiring cached result", "docs/cache.md", "Cache"),
        ("回滚版本", "docs/部署.md", "部署指南 › 回滚"),
        ("tomatos", "notes/garden.txt", ""),
    ] {
        let result = bench.call("vector_search", json!({"query": query})).await.unwrap();
        let best = &result.data["hits"][0];
        assert_eq!((&best["path"], &best["heading"]), (&json!(path), &json!(heading)), "{query}: {}", result.data);
        assert!(result.data["vectors"].as_str().unwrap().contains("no neural model"));
        assert_eq!(result.confidence, None);
    }
    let none = bench.call("vector_search", json!({"query": "ξψω"})).await.unwrap();
    assert_eq!((none.data["hits"].clone(), none.confidence), (json!([]), Some(0.0)));
}

#[tokio::test]
async fn hybrid_hits_show_both_ranks() {
    let bench = library();
    let result = bench.call("hybrid_search", json!({"query": "retried step delay", "top_k": 3})).await.unwrap();
    let best = &result.data["hits"][0];
    assert_eq!((&best["path"], &best["heading"]), (&json!("docs/runs.md"), &json!("Runs › Retries")));
    assert_eq!((&best["bm25_rank"], &best["vector_rank"]), (&json!(1), &json!(1)));
    assert_eq!(best["score"], 0.03279, "2 / (60 + 1)");
    assert!(result.confidence.unwrap() > 0.5);
    // Found by vectors alone: no word is the same.
    let data = bench.data("hybrid_search", json!({"query": "tomatos"})).await;
    let best = &data["hits"][0];
    assert_eq!(
        (&best["bm25_rank"], &best["vector_rank"], &best["path"]),
        (&Value::Null, &json!(1), &json!("notes/garden.txt"))
    );
}

#[tokio::test]
async fn the_index_follows_the_folder() {
    let bench = Bench::new(&[("a.md", "alpha zebra")]);
    let paths = async |query: &str| {
        column(&bench.data("hybrid_search", json!({"query": query})).await["hits"], "path").join(" ")
    };
    assert_eq!(paths("zebra").await, "a.md");
    bench.write("b.md", b"another zebra");
    assert_eq!(paths("another zebra").await, "b.md a.md");
    bench.write("a.md", b"something else entirely");
    assert_eq!(paths("zebra").await, "b.md");
    fs::remove_file(bench.folder.path().join("b.md")).unwrap();
    let data = bench.data("local_file_qa", json!({"query": "zebra"})).await;
    assert_eq!((&data["passages"], &data["files_searched"]), (&json!([]), &json!(1)));
}

#[tokio::test]
async fn calls_at_once_share_one_index() {
    let bench = library();
    let calls = (0..8).map(|_| bench.call("hybrid_search", json!({"query": "retries"})));
    let results = futures::future::join_all(calls).await;
    assert!(results.iter().all(|r| r.as_ref().unwrap() == results[0].as_ref().unwrap()), "every caller sees the same");
}

fn linked() -> Bench {
    Bench::new(&[
        ("README.md", "# Project\n\nStart at [the guide](docs/guide.md).\n"),
        ("docs/guide.md", "# Guide\n\nSee [[Design Notes]] and [code](../src/main.rs#L3), PROJ-12.\n"),
        ("docs/design.md", "# Design Notes\n\n参见 guide.md。\n"),
        ("src/main.rs", "// PROJ-12: done\nfn main() {}\n"),
        ("work/log.md", "Fixed PROJ-12 and UTF-8 output.\n"),
        ("far.md", "[log](work/log.md) [gone](missing.md) [up](../../etc/passwd)\n"),
    ])
}

#[tokio::test]
async fn the_graph_shows_links_in_both_directions() {
    let bench = linked();
    let result = bench.call("graph_related", json!({"entity_id": "docs/guide.md"})).await.unwrap();
    let data = &result.data;
    assert_eq!((&data["node"], &data["resolved_as"]), (&json!("docs/guide.md"), &json!("file")));
    assert_eq!(column(&data["outgoing"], "path"), ["docs/design.md", "src/main.rs", "-"]);
    assert_eq!(column(&data["outgoing"], "kind"), ["wiki link", "markdown link", "ticket"]);
    assert_eq!(data["outgoing"][2]["ticket"], "PROJ-12");
    assert_eq!(column(&data["incoming"], "path"), ["README.md", "docs/design.md"]);
    assert_eq!(column(&data["incoming"], "kind"), ["markdown link", "file name"]);
    assert_eq!(column(&data["second_hop"], "path"), ["work/log.md"], "by way of the ticket");
    assert_eq!(data["second_hop"][0]["via"], "PROJ-12");
}

#[tokio::test]
async fn the_graph_resolves_tickets_headings_and_names() {
    let bench = linked();
    let ticket = bench.data("graph_related", json!({"entity_id": "proj-12"})).await;
    assert_eq!(ticket["resolved_as"], "ticket");
    assert_eq!(column(&ticket["incoming"], "path"), ["docs/guide.md", "src/main.rs", "work/log.md"]);
    let heading = bench.data("graph_related", json!({"entity_id": "design notes"})).await;
    assert_eq!((&heading["node"], &heading["resolved_as"]), (&json!("docs/design.md"), &json!("heading")));
    assert_eq!(bench.data("graph_related", json!({"entity_id": "main.rs"})).await["resolved_as"], "file name");
    let far = bench.data("graph_related", json!({"entity_id": "far.md"})).await;
    assert_eq!(column(&far["outgoing"], "path"), ["work/log.md"], "what does not exist is no link");
    let (class, message, hint) = bench.error("graph_related", json!({"entity_id": "docs/giude.md"})).await;
    assert_eq!((class, message.as_str()), (ErrorClass::NotFound, "nothing in the workspace is called docs/giude.md"));
    assert!(hint.starts_with("did you mean docs/guide.md"), "{hint}");
}

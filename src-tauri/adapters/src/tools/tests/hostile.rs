//! S-03 for the file tools: hostile files give a clear result and lose nothing; O-04: dropped calls stop.

use super::*;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn files_that_are_no_text_are_reported() {
    let bench = Bench::new(&[("good.md", "needle in a good file\n")]);
    bench.write("bad.md", b"needle \xff\xfe\xfd broken\n");
    bench.write("image.png", b"\x89PNG\0\0needle");
    bench.write("utf16.txt", &[0xff, 0xfe, b'n', 0, b'e', 0, b'e', 0, b'd', 0, b'l', 0, b'e', 0]);
    bench.write("huge.log", &vec![b'x'; 5 * 1024 * 1024]);
    for tool in ["grep_search", "local_file_qa"] {
        let data = bench.data(tool, json!({"query": "needle"})).await;
        let hits = if tool == "grep_search" { &data["matches"] } else { &data["passages"] };
        let mut paths = column(hits, "path");
        paths.sort();
        assert_eq!(paths, ["bad.md", "good.md", "utf16.txt"], "{tool}");
        let mut skipped: Vec<(&str, &str)> =
            column(&data["skipped"], "path").into_iter().zip(column(&data["skipped"], "reason")).collect();
        skipped.sort();
        assert_eq!(skipped, [("huge.log", "is larger than 4 MB"), ("image.png", "is binary")], "{tool}");
        assert_eq!((&data["read_lossily"], &data["files_searched"]), (&json!(["bad.md"]), &json!(3)), "{tool}");
    }
    let (class, message, _) = bench.error("read_file", json!({"file_path": "huge.log"})).await;
    assert_eq!((class, message.as_str()), (ErrorClass::Refused, "huge.log is larger than 4 MB"));
    assert_eq!(bench.error("read_file", json!({"file_path": "image.png"})).await.0, ErrorClass::Refused);
    assert!(bench.data("read_file", json!({"file_path": "bad.md"})).await["read_lossily"].is_string());
}

#[tokio::test]
async fn a_huge_line_gives_a_small_match() {
    let line = format!("{}needle{}", "长".repeat(600_000), "x".repeat(1_500_000));
    let bench = Bench::new(&[("min.js", &line)]);
    let data = bench.data("grep_search", json!({"query": "needle"})).await;
    let found = &data["matches"][0];
    assert_eq!(found["column"], 600_001);
    assert!(found["text"].as_str().unwrap().contains("needle") && found["text"].as_str().unwrap().len() < 400);
    for tool in ["local_file_qa", "vector_search", "hybrid_search"] {
        let result = bench.call(tool, json!({"query": "长长 needle"})).await.unwrap();
        assert!(result.data.to_string().len() < 60_000, "{tool}");
    }
    let data = bench.data("read_file", json!({"file_path": "min.js"})).await;
    assert!(data["truncated"] == true && data["text"].as_str().unwrap().len() <= 200_001);
    // A million hits on one line.
    bench.write("a.txt", "a".repeat(1_000_000).as_bytes());
    let data = bench.data("grep_search", json!({"query": "a|aa|a{1,9}", "regex": true, "path": "a.txt"})).await;
    assert_eq!(data["matches"].as_array().unwrap().len(), 1);
}

/// Text that is made to be large once it is cut up.
#[tokio::test]
async fn headings_and_names_stay_small() {
    let bench = Bench::new(&[("a-title.md", &format!("# {}\n{}", "标题".repeat(300_000), "text ".repeat(200_000)))]);
    bench.write("headings.md", "# a\n".repeat(100_000).as_bytes());
    bench.write("more.md", "# b\n".repeat(100_000).as_bytes());
    bench.write("links.md", "[x](a-title.md) PROJ-1 ".repeat(40_000).as_bytes());
    let data = bench.data("local_file_qa", json!({"query": "text"})).await;
    assert!(data["passages"][0]["heading"].as_str().unwrap().chars().count() <= 200);
    assert!(data["left_out"].as_str().unwrap().starts_with("everything from more.md on"), "{}", data["left_out"]);
    let long = "n".repeat(100_000);
    let (class, message, _) = bench.error("read_file", json!({"file_path": &long})).await;
    assert!(class == ErrorClass::Refused && message.len() < 1000, "{message}");
    let (class, message, _) = bench.error("graph_related", json!({"entity_id": &long})).await;
    assert!(class == ErrorClass::NotFound && message.len() < 1000, "{message}");
}

#[tokio::test]
async fn expressions_cannot_hang_or_eat_memory() {
    let bench = Bench::new(&[("a.txt", &"a".repeat(1_000_000))]);
    let started = Instant::now();
    let _ = bench.call("grep_search", json!({"query": "(a+)+$", "regex": true})).await;
    let (class, ..) = bench.error("grep_search", json!({"query": "((a{1000}){1000}){1000}", "regex": true})).await;
    assert_eq!(class, ErrorClass::Validation);
    // Many states on text that keeps them all alive.
    let slow = "[a-z]{1,900}[a-z]{1,900}[a-z]{1,900}!";
    let _ = bench.call("grep_search", json!({"query": slow, "regex": true})).await;
    let deep = format!("{}a{}", "(".repeat(900), ")".repeat(900));
    assert_eq!(bench.error("grep_search", json!({"query": deep, "regex": true})).await.0, ErrorClass::Validation);
    assert_eq!(bench.error("grep_search", json!({"query": "x".repeat(5000)})).await.0, ErrorClass::Validation);
    assert!(started.elapsed() < Duration::from_secs(20));
    // A pasted document as a question.
    bench.call("hybrid_search", json!({"query": "word ".repeat(100_000)})).await.unwrap();
}

/// Files that take seconds to search, so that stopping early shows.
fn large() -> Bench {
    let bench = Bench::new(&[]);
    let text = "some words about retries and timeouts in a long file\n".repeat(20_000);
    (0..40).for_each(|n| bench.write(&format!("{n}.md"), text.as_bytes()));
    bench
}

#[tokio::test]
async fn a_dropped_call_stops_and_the_next_one_works() {
    let bench = large();
    let arguments = json!({"query": "timeouts"});
    let dropped = tokio::time::timeout(Duration::from_millis(30), bench.call("vector_search", arguments)).await;
    assert!(dropped.is_err(), "indexing 40 MB takes longer than 30 ms");
    // The index is free again soon: the abandoned call holds it for one file at most.
    let started = Instant::now();
    while bench.tools.files.index.is_busy() {
        assert!(started.elapsed() < Duration::from_secs(5), "the dropped call still works on the index");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_cancelled_call_says_so() {
    let bench = large();
    let spec = builtin_specs().into_iter().find(|s| s.name == "local_file_qa").unwrap();
    let context = CallContext { cancel: CancellationToken::new(), ..CallContext::default() };
    let cancel = context.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(30)).await;
        cancel.cancel();
    });
    let error = bench.tools.call(&spec, &object(json!({"query": "timeouts"})), &context).await.unwrap_err();
    assert_eq!(error.message, "the call was cancelled");
    assert!(!error.class.is_retryable());
}

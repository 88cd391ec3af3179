//! `read_file`, `grep_search` and the sandbox.

use super::*;
use std::path::PathBuf;

#[tokio::test]
async fn read_file_gives_lines_and_says_how_many_there_are() {
    let bench = Bench::new(&[("docs/指南.md", "一\n二\n三\n四\n")]);
    let data = bench.data("read_file", json!({"file_path": "./docs/指南.md", "start_line": 2, "max_lines": 2})).await;
    let expected = json!({
        "path": "docs/指南.md", "start_line": 2, "lines": 2, "text": "二\n三\n", "truncated": true, "total_lines": 4,
    });
    assert_eq!(data, expected);
    let (class, message, _) = bench.error("read_file", json!({"file_path": "docs/指南.md", "start_line": 9})).await;
    assert_eq!(
        (class, message.as_str()),
        (ErrorClass::Validation, "docs/指南.md has 4 lines; line 9 lies behind its end")
    );
    bench.write("empty.txt", b"");
    assert_eq!(bench.data("read_file", json!({"file_path": "empty.txt"})).await["total_lines"], 0);
}

#[tokio::test]
async fn a_missing_file_is_answered_with_near_names() {
    let bench = Bench::new(&[("docs/guide.md", "x"), ("src/main.rs", "x")]);
    let (class, message, hint) = bench.error("read_file", json!({"file_path": "docs/giude.md"})).await;
    assert_eq!(class, ErrorClass::NotFound);
    assert_eq!(
        (message.as_str(), hint.as_str()),
        ("the workspace holds no docs/giude.md", "did you mean docs/guide.md?")
    );
    assert_eq!(bench.error("read_file", json!({"file_path": "docs"})).await.0, ErrorClass::Validation);
    assert_eq!(bench.error("read_file", json!({"file_path": "docs/guide.md/x"})).await.0, ErrorClass::NotFound);
}

/// S-01: every way out of the folder is refused, and the message names the path.
#[cfg(unix)]
#[tokio::test]
async fn paths_cannot_leave_the_folder() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.txt"), "secret").unwrap();
    let bench = Bench::new(&[("inside.txt", "inside"), ("sub/deep.txt", "deep")]);
    let root = bench.folder.path();
    symlink("/etc", root.join("etc")).unwrap();
    symlink(outside.path().join("secret.txt"), root.join("link.txt")).unwrap();
    symlink(outside.path(), root.join("sub/linked")).unwrap();
    symlink("inside.txt", root.join("alias.txt")).unwrap();

    let absolute = outside.path().join("secret.txt").display().to_string();
    let escapes = [
        "../x",
        "sub/../../x",
        "..",
        "/etc/passwd",
        &absolute,
        "etc/passwd",
        "etc",
        "link.txt",
        "sub/linked/secret.txt",
        "sub/../inside.txt",
    ];
    for path in escapes {
        for tool in ["read_file", "grep_search", "local_file_qa", "vector_search"] {
            let (class, message, hint) =
                bench.error(tool, json!({"path": path, "file_path": path, "query": "secret"})).await;
            assert_eq!(class, ErrorClass::Refused, "{tool} {path}: {message}");
            assert!(message.contains(path) && !hint.is_empty(), "{tool} {path}: {message}");
        }
    }
    assert_eq!(bench.error("read_file", json!({"file_path": "a\0b"})).await.0, ErrorClass::Validation);
    bench.write(".env", b"TOKEN=secret");
    assert_eq!(bench.error("read_file", json!({"file_path": ".env"})).await.0, ErrorClass::Refused);
    // A link that stays inside is a file like any other, shown by where it leads.
    assert_eq!(bench.data("read_file", json!({"file_path": "alias.txt"})).await["path"], "inside.txt");
    // Walks do not follow links at all.
    let data = bench.data("grep_search", json!({"query": "secret"})).await;
    assert_eq!((data["matches"].clone(), data["files_searched"].clone()), (json!([]), json!(2)));
    let data = bench.data("local_file_qa", json!({"query": "secret"})).await;
    assert_eq!((data["passages"].clone(), data["files_searched"].clone()), (json!([]), json!(2)));
}

#[cfg(unix)]
#[tokio::test]
async fn pipes_are_never_opened() {
    let bench = Bench::new(&[("a.txt", "a")]);
    let made = std::process::Command::new("mkfifo").arg(bench.folder.path().join("pipe")).status().unwrap();
    assert!(made.success());
    let (class, message, _) = bench.error("read_file", json!({"file_path": "pipe"})).await;
    assert_eq!((class, message.as_str()), (ErrorClass::Refused, "pipe is neither a file nor a folder"));
    assert_eq!(bench.data("grep_search", json!({"query": "a"})).await["files_searched"], 1);
}

#[tokio::test]
async fn a_root_behind_a_link_works_and_a_missing_one_is_named() {
    let bench = Bench::new(&[("a.txt", "hello")]);
    let missing = bench.folder.path().join("gone");
    let tools = Toolbox::new(missing.clone(), NetworkSettings::default(), Secrets::default());
    let (class, message, hint) = parts(call(&tools, "grep_search", json!({"query": "x"})).await.unwrap_err());
    assert_eq!(class, ErrorClass::NotFound);
    assert!(message.contains("gone") && hint.contains("existing folder"), "{message}");
    // The folder may come later.
    fs::create_dir(&missing).unwrap();
    for tool in ["grep_search", "local_file_qa", "vector_search", "hybrid_search"] {
        let result = call(&tools, tool, json!({"query": "x"})).await.unwrap();
        assert_eq!((result.data["files_searched"].clone(), result.confidence), (json!(0), Some(0.0)), "{tool}");
    }
    #[cfg(unix)]
    {
        let link: PathBuf = bench.folder.path().join("link");
        std::os::unix::fs::symlink(&missing, &link).unwrap();
        fs::write(missing.join("b.txt"), "found").unwrap();
        let tools = Toolbox::new(link, NetworkSettings::default(), Secrets::default());
        assert_eq!(call(&tools, "read_file", json!({"file_path": "b.txt"})).await.unwrap().data["text"], "found\n");
    }
}

#[tokio::test]
async fn grep_finds_literals_in_both_languages() {
    let bench = Bench::new(&[
        ("src/lib.rs", "fn retry_policy() {}\n// 中文 Retry_Policy\n"),
        ("docs/日志.md", "最近的错误日志：连接超时\n"),
        (".hidden.md", "retry_policy"),
        (".gitignore", "target/\n"),
        ("target/out.txt", "retry_policy"),
    ]);
    let result = bench.call("grep_search", json!({"query": "retry_policy"})).await.unwrap();
    let expected = json!({
        "mode": "literal",
        "matches": [
            {"path": "src/lib.rs", "line": 1, "column": 4, "text": "fn retry_policy() {}", "matched": ["retry_policy"]},
            {"path": "src/lib.rs", "line": 2, "column": 7, "text": "// 中文 Retry_Policy", "matched": ["Retry_Policy"]},
        ],
        "files_searched": 2,
        "truncated": false,
        "skipped": [],
    });
    assert_eq!(result.data, expected);
    assert_eq!((result.confidence, result.sources), (Some(1.0), vec!["src/lib.rs".to_string()]));
    let data = bench.data("grep_search", json!({"query": "连接超时", "path": "docs"})).await;
    assert_eq!((&data["mode"], &data["matches"][0]["column"]), (&json!("literal"), &json!(9)));
    // A dot is a dot.
    assert_eq!(bench.data("grep_search", json!({"query": "retry.policy()"})).await["mode"], "words");
}

#[tokio::test]
async fn grep_falls_back_to_words_and_says_so() {
    let bench = Bench::new(&[
        ("a.md", "the timeout is long\n"),
        ("b.md", "configure the retry timeout here\n"),
        ("c.md", "日志里有错误\n查看日志中的连接超时错误\n"),
    ]);
    let result = bench.call("grep_search", json!({"query": "how do I configure a timeout?"})).await.unwrap();
    assert_eq!(result.data["mode"], "words");
    assert_eq!(result.data["words"], json!(["configure", "timeout"]));
    assert_eq!(column(&result.data["matches"], "path"), ["b.md", "a.md"], "more words come first");
    assert_eq!(result.data["matches"][0]["matched"], json!(["configure", "timeout"]));
    assert_eq!(result.confidence, Some(1.0));
    let data = bench.data("grep_search", json!({"query": "如何查看连接超时的日志"})).await;
    assert_eq!(data["matches"][0]["line"], 2, "{data}");
    // The best line is found behind any number of weaker ones.
    bench.write("aa.md", "a timeout\n".repeat(20_000).as_bytes());
    let data = bench.data("grep_search", json!({"query": "configure timeout", "max_results": 2})).await;
    assert_eq!((column(&data["matches"], "path"), &data["truncated"]), (vec!["b.md", "a.md"], &json!(true)));
    let none = bench.call("grep_search", json!({"query": "zebra"})).await.unwrap();
    assert_eq!((none.confidence, none.data["matches"].clone()), (Some(0.0), json!([])));
}

#[tokio::test]
async fn grep_reads_regular_expressions_and_bounds_its_results() {
    let text = (1..=100).map(|n| format!("line {n}\n")).collect::<String>();
    let bench = Bench::new(&[("n.txt", &text)]);
    let data = bench.data("grep_search", json!({"query": r"^LINE \d0$", "regex": true})).await;
    assert_eq!((&data["mode"], data["matches"].as_array().unwrap().len()), (&json!("regex"), 9));
    let data = bench.data("grep_search", json!({"query": "line", "max_results": 7})).await;
    assert_eq!((data["matches"].as_array().unwrap().len(), &data["truncated"]), (7, &json!(true)));
    let (class, message, hint) = bench.error("grep_search", json!({"query": "a(", "regex": true})).await;
    assert_eq!(class, ErrorClass::Validation);
    assert!(message.contains("regular expression") && !hint.is_empty(), "{message}");
    assert_eq!(bench.data("grep_search", json!({"query": "line 1\nline 2"})).await["mode"], "words");
}

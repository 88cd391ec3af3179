//! `web_fetch` and HTTP bindings against real servers on loopback, and the address rules between them.

use super::*;
use axum::{
    Router,
    body::Body,
    extract::{Path, Query},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Redirect},
    routing::{any, get},
};
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinHandle;

/// A server on loopback that ends with the test.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    task: JoinHandle<()>,
}

impl Server {
    pub(super) async fn start(router: Router) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, task }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(super) fn tools(network: NetworkSettings) -> Toolbox {
    Toolbox::new("/nowhere".into(), network, Secrets::default())
}

fn open() -> Toolbox {
    tools(NetworkSettings { allow_private: true, max_bytes: 10_000, ..NetworkSettings::default() })
}

#[tokio::test]
async fn pages_are_fetched_and_made_readable() {
    let router = Router::new()
        .route("/page", get(|| async { axum::response::Html("<title>T</title><h1>Hi</h1><p>text &amp; more") }))
        .route("/old", get(|| async { Redirect::temporary("/page") }))
        .route("/json", get(|| async { axum::Json(json!({"a": 1})) }))
        .route("/png", get(|| async { ([("content-type", "image/png")], vec![1_u8, 0, 2]) }))
        .route(
            "/gbk",
            get(|| async { ([("content-type", "text/html; charset=gbk")], b"<p>\xc4\xe3\xba\xc3".to_vec()) }),
        )
        .route("/empty", get(|| async { StatusCode::NO_CONTENT }));
    let server = Server::start(router).await;
    let tools = open();
    let result = call(&tools, "web_fetch", json!({"url": server.url("/old")})).await.unwrap();
    let expected = json!({
        "url": server.url("/old"), "final_url": server.url("/page"), "status": 200,
        "content_type": "text/html; charset=utf-8", "title": "T", "text": "# Hi\n\ntext & more", "truncated": false,
    });
    assert_eq!((result.data, result.sources), (expected, vec![server.url("/page")]));
    let fetch = async |path: &str| call(&tools, "web_fetch", json!({"url": server.url(path)})).await.unwrap();
    assert_eq!(fetch("/json").await.data["text"], "{\"a\":1}");
    assert_eq!(fetch("/gbk").await.data["text"], "你好");
    let png = fetch("/png").await;
    assert_eq!((png.data["text"].clone(), png.confidence), (Value::Null, Some(0.0)));
    assert_eq!(fetch("/empty").await.data["text"], "");
}

#[tokio::test]
async fn statuses_become_classes() {
    let status =
        |Path(code): Path<u16>| async move { (StatusCode::from_u16(code).unwrap(), [("retry-after", "7")], "body") };
    let server = Server::start(Router::new().route("/{code}", any(status))).await;
    let tools = open();
    for (code, class) in [
        (401, ErrorClass::Refused),
        (403, ErrorClass::Refused),
        (404, ErrorClass::NotFound),
        (410, ErrorClass::NotFound),
        (418, ErrorClass::Client),
        (304, ErrorClass::Client),
        (429, ErrorClass::RateLimited),
        (500, ErrorClass::Transient),
        (503, ErrorClass::Transient),
    ] {
        let url = server.url(&format!("/{code}?secret=1"));
        let (found, message, hint) = parts(call(&tools, "web_fetch", json!({"url": url})).await.unwrap_err());
        assert_eq!(found, class, "{code}");
        assert!(message.contains(&code.to_string()) && !message.contains("secret") && !hint.is_empty(), "{message}");
        assert!(code != 429 || hint.contains("7 s"), "{hint}");
    }
    let gone = server.url("/");
    drop(server);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let (class, message, _) = parts(call(&tools, "web_fetch", json!({"url": gone})).await.unwrap_err());
    assert_eq!(class, ErrorClass::Transient, "{message}");
}

#[tokio::test]
async fn private_addresses_and_odd_urls_are_refused() {
    let server = Server::start(Router::new().route("/", get(|| async { "inside" }))).await;
    let port = server.address.port();
    let closed = tools(NetworkSettings::default());
    for host in ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "[::1]", "0"] {
        let url = format!("http://{host}:{port}/");
        let (class, message, hint) = parts(call(&closed, "web_fetch", json!({"url": url})).await.unwrap_err());
        assert_eq!(class, ErrorClass::Refused, "{url}: {message}");
        assert!(
            message.contains("which is not a public address") && hint.contains("Settings → network"),
            "{message} {hint}"
        );
    }
    for url in ["file:///etc/passwd", "ftp://example.org/", "http://user:pw@example.org/"] {
        let (class, message, _) = parts(call(&closed, "web_fetch", json!({"url": url})).await.unwrap_err());
        assert!(class == ErrorClass::Refused && !message.contains("pw"), "{url}: {message}");
    }
    for url in ["not a url", "https://", "/relative"] {
        assert_eq!(
            call(&closed, "web_fetch", json!({"url": url})).await.unwrap_err().class,
            ErrorClass::Validation,
            "{url}"
        );
    }
    // Allowed, the same address answers, by name as well.
    let url = format!("http://localhost:{port}/");
    assert_eq!(call(&open(), "web_fetch", json!({"url": url})).await.unwrap().data["text"], "inside");
}

#[tokio::test]
async fn redirects_are_counted_and_checked() {
    let router = Router::new()
        .route("/loop", get(|| async { Redirect::to("/loop") }))
        .route(
            "/{n}",
            get(|Path(n): Path<u32>| async move {
                if n == 0 { "end".into_response() } else { Redirect::to(&format!("/{}", n - 1)).into_response() }
            }),
        )
        .route("/to/file", get(|| async { (StatusCode::FOUND, [("location", "file:///etc/passwd")]) }))
        .route("/to/user", get(|| async { (StatusCode::FOUND, [("location", "http://a:b@127.0.0.1/")]) }))
        .route("/to/bad", get(|| async { (StatusCode::FOUND, [("location", "http://[")]) }));
    let server = Server::start(router).await;
    let tools = open();
    let fetch = async |path: &str| call(&tools, "web_fetch", json!({"url": server.url(path)})).await;
    assert_eq!(fetch("/5").await.unwrap().data["text"], "end");
    assert_eq!(fetch("/6").await.unwrap_err().class, ErrorClass::Client);
    assert!(fetch("/loop").await.unwrap_err().message.contains("redirects more than 5 times"));
    assert_eq!(fetch("/to/file").await.unwrap_err().class, ErrorClass::Refused);
    assert_eq!(fetch("/to/user").await.unwrap_err().class, ErrorClass::Refused);
    assert_eq!(fetch("/to/bad").await.unwrap_err().class, ErrorClass::Client);
}

#[tokio::test]
async fn bodies_are_bounded_and_never_unpacked() {
    let endless = || async {
        let chunks = futures::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b'x'; 1000]));
        ([("content-type", "text/plain")], Body::from_stream(chunks))
    };
    let bomb = || async { ([("content-type", "text/plain"), ("content-encoding", "gzip")], vec![0x1f_u8, 0x8b]) };
    let accepts = |headers: HeaderMap| async move { headers["accept-encoding"].to_str().unwrap().to_string() };
    let router =
        Router::new().route("/endless", get(endless)).route("/bomb", get(bomb)).route("/accepts", get(accepts));
    let server = Server::start(router).await;
    let tools = open();
    let fetch = async |path: &str| call(&tools, "web_fetch", json!({"url": server.url(path)})).await;
    let data = fetch("/endless").await.unwrap().data;
    assert_eq!((data["text"].as_str().unwrap().len(), &data["truncated"]), (10_000, &json!(true)));
    let error = fetch("/bomb").await.unwrap_err();
    assert!(error.message.contains("compressed (gzip)"), "{error}");
    assert_eq!(fetch("/accepts").await.unwrap().data["text"], "identity");
}

/// O-04: dropping the future closes the connection.
#[tokio::test]
async fn a_dropped_fetch_hangs_up() {
    struct SetOnDrop(Arc<AtomicBool>);
    impl Drop for SetOnDrop {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let hung_up = Arc::new(AtomicBool::new(false));
    let arrived = Arc::new(tokio::sync::Notify::new());
    let (seen, here) = (hung_up.clone(), arrived.clone());
    let slow = move || async move {
        let _guard = SetOnDrop(seen);
        here.notify_one();
        tokio::time::sleep(Duration::from_secs(60)).await;
        "late"
    };
    let server = Server::start(Router::new().route("/slow", get(slow))).await;
    let (tools, started) = (open(), Instant::now());
    // Dropped when the request is with the server, however long it took to get there.
    tokio::select! {
        answer = call(&tools, "web_fetch", json!({"url": server.url("/slow")})) => panic!("answered: {answer:?}"),
        () = arrived.notified() => {}
    }
    while !hung_up.load(Ordering::SeqCst) {
        assert!(started.elapsed() < Duration::from_secs(30), "the server still waits for its client");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // A tool's own time limit gives an error that can be retried.
    let binding = Binding::Http { method: "GET".into(), url: server.url("/slow") };
    let spec = ToolSpec { name: "slow".into(), binding, timeout_ms: Some(50), ..ToolSpec::default() };
    let error = tools.call(&spec, &Map::new(), &CallContext::default()).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Timeout);
}

#[tokio::test]
async fn http_bindings_send_arguments_where_they_belong() {
    let echo = |method: axum::http::Method,
                Path(id): Path<String>,
                Query(query): Query<BTreeMap<String, String>>,
                body: String| async move {
        axum::Json(json!({"method": method.as_str(), "id": id, "query": query, "body": body}))
    };
    let moved = || async { Redirect::temporary("http://127.0.0.2:1/") };
    let router = Router::new()
        .route("/items/{id}", any(echo))
        .route("/text", get(|| async { "plain" }))
        .route("/moved", any(moved))
        .route("/seen", any(|| async { (StatusCode::SEE_OTHER, [("location", "/text")]) }));
    let server = Server::start(router).await;
    let tools = open();
    let run = async |method: &str, path: &str, arguments: Value| {
        let binding = Binding::Http { method: method.into(), url: server.url(path) };
        let spec = ToolSpec { name: "t".into(), binding, ..ToolSpec::default() };
        tools.call(&spec, &object(arguments), &CallContext::default()).await
    };
    let arguments = json!({"id": "a/b", "n": 2, "on": true});
    let result = run("get", "/items/{id}", arguments.clone()).await.unwrap();
    assert_eq!(result.data, json!({"method": "GET", "id": "a/b", "query": {"n": "2", "on": "true"}, "body": ""}));
    assert_eq!(result.sources, [server.url("/items/a%2Fb")]);
    let posted = run("POST", "/items/{id}", arguments).await.unwrap().data;
    assert_eq!(posted["body"], r#"{"n":2,"on":true}"#);
    assert_eq!(run("GET", "/text", json!({})).await.unwrap().data["text"], "plain");
    assert_eq!(run("HEAD", "/text", json!({})).await.unwrap().data["status"], 200);
    assert_eq!(run("GET", "/missing", json!({})).await.unwrap_err().class, ErrorClass::NotFound);
    // A redirect may turn a POST into a GET, and never carries the data of a call to somebody else.
    assert_eq!(run("POST", "/seen", json!({"a": 1})).await.unwrap().data["text"], "plain");
    assert_eq!(run("POST", "/moved", json!({"a": 1})).await.unwrap_err().class, ErrorClass::Refused);
    let binding = Binding::Http { method: "GET".into(), url: server.url("/text") };
    let spec = ToolSpec { name: "t".into(), binding, ..ToolSpec::default() };
    let closed = super::network::tools(NetworkSettings::default());
    let error = closed.call(&spec, &Map::new(), &CallContext::default()).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Refused, "HTTP bindings follow the address rules");
}

//! `jira_fetch` and `confluence_fetch` against real servers on loopback, and what happens to their tokens.

use super::{network::Server, *};
use axum::{
    Json, Router,
    extract::Path,
    http::{HeaderMap, StatusCode},
    response::Redirect,
    routing::get,
};
use std::sync::{Arc, Mutex};

const TOKEN: &str = "s3cr3t-token";

fn network(base: &str) -> NetworkSettings {
    NetworkSettings { jira_url: base.into(), confluence_url: base.into(), ..NetworkSettings::default() }
}

fn secrets() -> Secrets {
    Secrets { jira_token: Some(TOKEN.into()), confluence_token: Some(TOKEN.into()), ..Secrets::default() }
}

fn tools(network: NetworkSettings, secrets: Secrets) -> Toolbox {
    Toolbox::new("/nowhere".into(), network, secrets)
}

fn jira() -> Router {
    let issue = |Path(key): Path<String>, headers: HeaderMap| async move {
        let authorization = headers.get("authorization").and_then(|v| v.to_str().ok()).unwrap_or("none").to_string();
        Json(json!({
            "key": key,
            "fields": {
                "summary": "登录失败", "status": {"name": "Open"}, "assignee": {"displayName": "Ada"}, "priority": null,
                "issuetype": {"name": "Bug"}, "updated": "2026-01-02", "description": authorization, "labels": ["auth"],
                "issuelinks": [
                    {"type": {"inward": "is blocked by", "outward": "blocks"}, "inwardIssue": {"key": "PROJ-2", "fields": {"summary": "s", "status": {"name": "Done"}}}},
                    {"type": {"inward": "is blocked by", "outward": "blocks"}, "outwardIssue": {"key": "PROJ-3"}},
                ],
                "comment": {"comments": [{"author": {"name": "bob"}, "created": "2026-01-01", "body": "first"}]},
            },
        }))
    };
    Router::new().route("/jira/rest/api/2/issue/{key}", get(issue))
}

/// The configured host may be private although private addresses are not allowed.
#[tokio::test]
async fn an_issue_is_fetched_with_its_fields() {
    let server = Server::start(jira()).await;
    let base = server.url("/jira/");
    let result = call(&tools(network(&base), secrets()), "jira_fetch", json!({"issue_key": "PROJ-1"})).await.unwrap();
    let expected = json!({
        "key": "PROJ-1", "summary": "登录失败", "status": "Open", "assignee": "Ada", "priority": null, "type": "Bug",
        "updated": "2026-01-02", "description": format!("Bearer {TOKEN}"), "labels": ["auth"],
        "links": [
            {"type": "is blocked by", "key": "PROJ-2", "summary": "s", "status": "Done"},
            {"type": "blocks", "key": "PROJ-3", "summary": null, "status": null},
        ],
        "comments": [{"author": "bob", "created": "2026-01-01", "body": "first"}],
        "url": server.url("/jira/browse/PROJ-1"),
    });
    assert_eq!((result.data, result.sources), (expected, vec![server.url("/jira/browse/PROJ-1")]));

    let description = async |secrets: Secrets| {
        let tools = tools(network(&base), secrets);
        call(&tools, "jira_fetch", json!({"issue_key": "PROJ-1"})).await.unwrap().data["description"].clone()
    };
    assert_eq!(description(Secrets::default()).await, "none");
    let basic = Secrets { jira_user: Some("ada".into()), jira_token: Some("t".into()), ..Secrets::default() };
    assert_eq!(description(basic).await, "Basic YWRhOnQ=");
}

#[tokio::test]
async fn a_page_is_fetched_and_made_readable() {
    let page = || async {
        Json(json!({
            "id": "42", "title": "部署", "space": {"key": "OPS", "name": "Operations"},
            "version": {"number": 7, "when": "2026-01-02", "by": {"displayName": "Ada"}},
            "body": {"storage": {"value": "<h1>步骤</h1><p>先<b>构建</b></p>"}}, "_links": {"webui": "/display/OPS/x"},
        }))
    };
    let server = Server::start(Router::new().route("/wiki/rest/api/content/42", get(page))).await;
    let tools = tools(network(&server.url("/wiki")), secrets());
    let result = call(&tools, "confluence_fetch", json!({"page_id": "42"})).await.unwrap();
    let expected = json!({
        "id": "42", "title": "部署", "space": {"key": "OPS", "name": "Operations"}, "version": 7, "updated": "2026-01-02",
        "updated_by": "Ada", "text": "# 步骤\n\n先构建", "url": server.url("/wiki/display/OPS/x"),
    });
    assert_eq!(result.data, expected);
}

#[tokio::test]
async fn wrong_arguments_and_missing_settings_are_named() {
    let tools = tools(NetworkSettings::default(), secrets());
    for key in ["proj-1", "PROJ-0", "PROJ", "../../x-1", "PROJ-1/../2", "PROJ-1\n"] {
        let outcome = call(&tools, "jira_fetch", json!({"issue_key": key})).await.unwrap_err();
        let expected = if key.ends_with('\n') { ErrorClass::Unbound } else { ErrorClass::Validation };
        assert_eq!(outcome.class, expected, "{key:?}");
    }
    for id in ["12a", "../1", "1/2"] {
        let outcome = call(&tools, "confluence_fetch", json!({"page_id": id})).await.unwrap_err();
        assert_eq!(outcome.class, ErrorClass::Validation, "{id:?}");
    }
    let (class, _, hint) = parts(call(&tools, "jira_fetch", json!({"issue_key": "PROJ-1"})).await.unwrap_err());
    assert_eq!((class, hint.as_str()), (ErrorClass::Unbound, "set the Jira base URL in Settings → network"));
    let (class, message, _) = parts(call(&tools, "confluence_fetch", json!({"page_id": "1"})).await.unwrap_err());
    assert_eq!((class, message.as_str()), (ErrorClass::Unbound, "no Confluence is configured"));
}

#[tokio::test]
async fn failures_name_the_thing_and_never_the_token() {
    let status = |Path(key): Path<String>| async move {
        let code: u16 = key.trim_start_matches("S-").parse().unwrap();
        (StatusCode::from_u16(code).unwrap(), if code == 200 { "<html>login</html>" } else { TOKEN })
    };
    let server = Server::start(Router::new().route("/rest/api/2/issue/{key}", get(status))).await;
    let tools = tools(network(&server.url("")), secrets());
    for (code, class) in [
        (401, ErrorClass::Refused),
        (403, ErrorClass::Refused),
        (404, ErrorClass::NotFound),
        (400, ErrorClass::Client),
        (429, ErrorClass::RateLimited),
        (502, ErrorClass::Transient),
        (200, ErrorClass::Client),
    ] {
        let error = call(&tools, "jira_fetch", json!({"issue_key": format!("S-{code}")})).await.unwrap_err();
        assert_eq!(error.class, class, "{code}: {error}");
        assert!(!format!("{error:?}").contains(TOKEN), "{error:?}");
        assert!(code == 200 || error.message.contains(&format!("the Jira issue S-{code}")), "{error}");
    }
    let broken = Secrets { jira_token: Some("two\nlines".into()), ..Secrets::default() };
    let tools = super::services::tools(network(&server.url("")), broken);
    let error = call(&tools, "jira_fetch", json!({"issue_key": "S-200"})).await.unwrap_err();
    assert!(error.class == ErrorClass::Validation && !format!("{error:?}").contains("two"), "{error:?}");
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_no_half_issue() {
    let server = Server::start(jira()).await;
    let network = NetworkSettings { max_bytes: 100, ..network(&server.url("/jira")) };
    let (class, message, hint) =
        parts(call(&tools(network, secrets()), "jira_fetch", json!({"issue_key": "PROJ-1"})).await.unwrap_err());
    assert_eq!(class, ErrorClass::Refused);
    assert!(message.contains("larger than the limit of 100 bytes") && hint.contains("max_bytes"), "{message} {hint}");
}

/// S-01: redirects are checked again, and a token goes to the origin that it belongs to and to no other.
#[tokio::test]
async fn tokens_do_not_follow_redirects_to_others() {
    let seen: Arc<Mutex<Vec<bool>>> = Arc::default();
    let record = {
        let seen = seen.clone();
        move |headers: HeaderMap| async move {
            seen.lock().unwrap().push(headers.contains_key("authorization"));
            StatusCode::UNAUTHORIZED
        }
    };
    let other = Server::start(Router::new().fallback(record)).await;
    let by_name = format!("http://localhost:{}/", other.address.port());
    let targets = [other.url("/"), by_name, "/own".to_string()];
    let redirecting = |Path(key): Path<String>| async move {
        let at: usize = key.trim_start_matches("R-").parse().unwrap();
        Redirect::temporary(&targets[at - 1])
    };
    let own = |headers: HeaderMap| async move {
        let ok = headers.contains_key("authorization");
        Json(json!({"key": "R-3", "fields": {"summary": ok}}))
    };
    let router = Router::new().route("/rest/api/2/issue/{key}", get(redirecting)).route("/own", get(own));
    let server = Server::start(router).await;
    let fetch = async |allow_private: bool, key: &str| {
        let network = NetworkSettings { allow_private, ..network(&server.url("")) };
        call(&tools(network, secrets()), "jira_fetch", json!({"issue_key": key})).await
    };

    // Another private host is out of reach for a redirect: neither asked nor told.
    let error = fetch(false, "R-2").await.unwrap_err();
    assert!(error.class == ErrorClass::Refused && error.message.contains("localhost"), "{error}");
    assert!(seen.lock().unwrap().is_empty(), "the other host was not contacted");
    // The configured host on another port is reached, without the token; so is another host where it is allowed.
    let error = fetch(false, "R-1").await.unwrap_err();
    assert!(error.hint.contains("another origin"), "{error:?}");
    fetch(true, "R-2").await.unwrap_err();
    assert_eq!(*seen.lock().unwrap(), [false, false]);
    // On the same origin the token stays.
    assert_eq!(fetch(false, "R-3").await.unwrap().data["summary"], true);
}

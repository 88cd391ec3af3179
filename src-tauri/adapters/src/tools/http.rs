//! HTTP bindings: a user's own tool as one call of an HTTP API.
//!
//! The template's host is fixed: arguments fill its path and query and can neither change the host nor climb out of
//! their place in the path. The address rules are those of `web_fetch`.

use super::{
    arguments::invalid,
    fetch::{Answer, Fetcher, Request, parse_url, shown_host, status_error},
    service::json_of,
    web_fetch::decode,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use regex::Regex;
use reqwest::Method;
use serde_json::{Map, Value, json};
use std::{sync::LazyLock, time::Duration};
use toolplan_engine::ports::{ErrorClass, ToolError, ToolResult};
use url::Url;

/// Everything but RFC 3986's unreserved characters is encoded.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

static PLACEHOLDER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{([A-Za-z_][A-Za-z0-9_.\-]*)\}").expect("the pattern compiles; a test uses it"));

pub(super) async fn call(
    fetcher: &Fetcher,
    method: &str,
    template: &str,
    arguments: &Map<String, Value>,
    time_limit: Duration,
) -> Result<ToolResult, ToolError> {
    let method = read_method(method)?;
    let (mut url, rest) = fill(template, arguments)?;
    let mut body = None;
    if matches!(method, Method::GET | Method::HEAD | Method::DELETE) {
        add_query(&mut url, &rest);
    } else {
        body = Some(Value::Object(rest));
    }
    let source = format!("{}{}", url.origin().ascii_serialization(), url.path());
    let request =
        Request { method, body, time_limit, ..Request::get(url, "application/json, text/*;q=0.9, */*;q=0.5") };
    let answer = fetcher.send(request).await?;
    let refused_hint = "the service wants a login, which HTTP bindings do not give";
    if let Some(error) =
        status_error(&answer, &source, refused_hint, "check the URL of the tool's binding and its arguments")
    {
        return Err(error);
    }
    Ok(ToolResult { data: read(&answer)?, confidence: None, sources: vec![source] })
}

fn read_method(method: &str) -> Result<Method, ToolError> {
    let upper = method.trim().to_uppercase();
    match upper.as_str() {
        "GET" | "HEAD" | "DELETE" | "POST" | "PUT" | "PATCH" => {
            Ok(Method::from_bytes(upper.as_bytes()).unwrap_or(Method::GET))
        }
        _ => Err(ToolError::new(
            ErrorClass::Unbound,
            format!("the tool's HTTP method {method:?} is not supported"),
            "use GET, HEAD, DELETE, POST, PUT or PATCH in the tool's binding",
        )),
    }
}

/// The URL with arguments in the place of `{argument}`, and the arguments that have no place in it.
fn fill(template: &str, arguments: &Map<String, Value>) -> Result<(Url, Map<String, Value>), ToolError> {
    let mut rest = arguments.clone();
    let mut filled = String::new();
    let mut end = 0;
    for found in PLACEHOLDER.captures_iter(template) {
        let Some(whole) = found.get(0) else { continue };
        let name = &found[1];
        rest.shift_remove(name);
        let value = match arguments.get(name) {
            None | Some(Value::Null) => {
                let hint = format!("call the tool with {name}");
                return Err(invalid(format!("the argument {name}, which the URL holds, is missing"), hint));
            }
            Some(value) => plain(value),
        };
        filled.push_str(&template[end..whole.start()]);
        filled.extend(utf8_percent_encode(&value, ENCODED));
        end = whole.end();
    }
    filled.push_str(&template[end..]);

    let url = parse_url(&filled)?;
    // With harmless values in place, the template shows which host and how many segments are meant.
    let meant = parse_url(&PLACEHOLDER.replace_all(template, "x"))?;
    let segments = |url: &Url| url.path().split('/').count();
    if url.origin() != meant.origin() || segments(&url) != segments(&meant) {
        return Err(invalid(
            format!("an argument would change where the URL of {} leads", shown_host(&meant)),
            "give a plain value; . and .. are not accepted, and a placeholder cannot stand for the host",
        ));
    }
    Ok((url, rest))
}

fn add_query(url: &mut Url, arguments: &Map<String, Value>) {
    if arguments.values().all(Value::is_null) {
        return;
    }
    let mut pairs = url.query_pairs_mut();
    for (name, value) in arguments {
        match value {
            Value::Null => {}
            Value::Array(items) => {
                pairs.extend_pairs(items.iter().map(|item| (name, plain(item))));
            }
            value => {
                pairs.append_pair(name, &plain(value));
            }
        }
    }
}

/// A string as it is, anything else as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// JSON as it is; text with what is to be known about it.
fn read(answer: &Answer) -> Result<Value, ToolError> {
    let essence = answer.content_type.split(';').next().unwrap_or_default().trim().to_lowercase();
    let is_json = essence.ends_with("/json") || essence.ends_with("+json");
    if is_json && !answer.body.is_empty() {
        return json_of(answer, &shown_host(&answer.url));
    }
    Ok(json!({
        "status": answer.status,
        "content_type": answer.content_type,
        "text": decode(answer),
        "truncated": answer.truncated,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str, arguments: Value) -> Result<String, String> {
        let (mut url, rest) = fill(template, arguments.as_object().unwrap()).map_err(|e| e.message)?;
        add_query(&mut url, &rest);
        Ok(url.to_string())
    }

    #[test]
    fn arguments_fill_the_url() {
        let template = "https://api.example.org/repos/{owner}/issues/{number}?state={state}";
        let arguments =
            json!({"owner": "a/b 中", "number": 7, "state": "open&x=1", "labels": ["a", "b"], "page": null});
        assert_eq!(
            filled(template, arguments).unwrap(),
            "https://api.example.org/repos/a%2Fb%20%E4%B8%AD/issues/7?state=open%26x%3D1&labels=a&labels=b"
        );
        assert_eq!(
            filled("https://h.org/{a}", json!({})).unwrap_err(),
            "the argument a, which the URL holds, is missing"
        );
    }

    #[test]
    fn arguments_stay_in_their_place() {
        for value in ["..", ".", "%2e%2e"] {
            let outcome = filled("https://h.org/v1/{id}/items", json!({"id": value}));
            assert!(
                outcome.as_ref().is_err_and(|e| e.contains("change where")) || value.contains('%'),
                "{value}: {outcome:?}"
            );
        }
        assert_eq!(filled("https://h.org/{id}/x", json!({"id": "%2e%2e"})).unwrap(), "https://h.org/%252e%252e/x");
        assert!(
            filled("https://{host}/x", json!({"host": "127.0.0.1"})).is_err(),
            "the host is not an argument's to choose"
        );
        assert!(filled("https://h.org{tail}", json!({"tail": ".evil.org"})).is_err());
    }
}

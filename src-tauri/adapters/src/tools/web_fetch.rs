//! `web_fetch`: the readable text of one public web page.

use super::{
    arguments::Arguments,
    blocking,
    fetch::{Answer, Fetcher, Request, parse_url, status_error},
    html,
};
use encoding_rs::Encoding;
use regex::Regex;
use serde_json::json;
use std::sync::LazyLock;
use toolplan_engine::ports::{CallContext, ToolError, ToolResult};

static CHARSET: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?i)charset\s*=\s*["']?([\w\-]+)"#).expect("the pattern compiles; a test uses it"));

pub(super) async fn call(
    fetcher: &Fetcher,
    arguments: &Arguments,
    context: &CallContext,
) -> Result<ToolResult, ToolError> {
    let url = parse_url(arguments.required("url")?)?;
    let accept = "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.9, */*;q=0.5";
    let answer = fetcher.send(Request::get(url.clone(), accept)).await?;
    let refused_hint = "the page wants a login, which web_fetch cannot give; use a public page";
    let thing = format!("the page {}{}", super::fetch::shown_host(&url), url.path());
    if let Some(error) = status_error(&answer, &thing, refused_hint, "check the address") {
        return Err(error);
    }
    let final_url = answer.url.to_string();
    let mut data = json!({
        "url": url.as_str(),
        "final_url": final_url,
        "status": answer.status,
        "content_type": answer.content_type,
        "title": null,
        "text": null,
        "truncated": answer.truncated,
    });
    let kind = kind_of(&answer);
    let mut confidence = None;
    match kind {
        Kind::Html => {
            let page = blocking::run(context, move |stop| {
                let page = html::read_page(&decode(&answer), || stop.is_set());
                stop.check().map(|()| page)
            })
            .await?;
            data["title"] = page.title.into();
            data["text"] = page.text.into();
        }
        Kind::Text => data["text"] = decode(&answer).into(),
        Kind::Other => {
            data["note"] = json!("the answer is not text; web_fetch reads HTML, text and JSON");
            confidence = Some(0.0);
        }
    }
    Ok(ToolResult { data, confidence, sources: vec![final_url] })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Html,
    Text,
    Other,
}

fn kind_of(answer: &Answer) -> Kind {
    let essence = answer.content_type.split(';').next().unwrap_or_default().trim().to_lowercase();
    match essence.as_str() {
        "text/html" | "application/xhtml+xml" => Kind::Html,
        // Without a type: the start of the body tells.
        "" if answer.body.trim_ascii_start().starts_with(b"<") => Kind::Html,
        "" if !answer.body.contains(&0) => Kind::Text,
        other if other.starts_with("text/") || other.ends_with("json") || other.ends_with("xml") => Kind::Text,
        "application/javascript" | "application/yaml" | "application/x-yaml" | "application/toml" => Kind::Text,
        _ => Kind::Other,
    }
}

/// Text in the encoding of the byte order mark, else of the header, else of the page itself, else UTF-8.
pub(super) fn decode(answer: &Answer) -> String {
    let label = |text: &str| CHARSET.captures(text).and_then(|found| Encoding::for_label(found[1].as_bytes()));
    let start = String::from_utf8_lossy(&answer.body[..answer.body.len().min(2048)]);
    let encoding = label(&answer.content_type).or_else(|| label(&start)).unwrap_or(encoding_rs::UTF_8);
    encoding.decode(&answer.body).0.into_owned()
}

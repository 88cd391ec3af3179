//! `confluence_fetch`: one page over Confluence's REST API (Server, Data Center and Cloud).

use super::{
    Secrets,
    arguments::{Arguments, invalid},
    blocking,
    fetch::{Credential, Fetcher, Request, status_error},
    html,
    service::{base_url, below, json_of},
};
use serde_json::{Value, json};
use toolplan_engine::{
    ports::{CallContext, ToolError, ToolResult},
    settings::NetworkSettings,
};

pub(super) async fn call(
    fetcher: &Fetcher,
    settings: &NetworkSettings,
    secrets: &Secrets,
    arguments: &Arguments,
    context: &CallContext,
) -> Result<ToolResult, ToolError> {
    let id = arguments.required("page_id")?.trim();
    if id.len() > 32 || !id.bytes().all(|b| b.is_ascii_digit()) {
        let shown = toolplan_engine::text::middle_truncate(id, 60);
        let hint = "page ids are digits; they stand in the page's address, as in pageId=123456 or /pages/123456";
        return Err(invalid(format!("{shown} is no Confluence page id"), hint));
    }
    let base = base_url(&settings.confluence_url, "Confluence")?;
    let mut url = below(&base, &["rest", "api", "content", id])?;
    url.query_pairs_mut().append_pair("expand", "body.storage,version,space");
    let request = Request {
        credential: Credential::of(secrets.confluence_user.as_ref(), secrets.confluence_token.as_ref()),
        is_configured: true,
        ..Request::get(url, "application/json")
    };
    let answer = fetcher.send(request).await?;
    let refused_hint = match secrets.confluence_token {
        None => "set CONFLUENCE_API_TOKEN (and CONFLUENCE_USER for Atlassian Cloud) in the environment",
        Some(_) => "check CONFLUENCE_API_TOKEN and CONFLUENCE_USER, and that the account may see the page",
    };
    let missing_hint = "check the page id; Confluence says the same of pages that the account may not see";
    if let Some(error) = status_error(&answer, &format!("the Confluence page {id}"), refused_hint, missing_hint) {
        return Err(error);
    }
    let page = json_of(&answer, "Confluence")?;
    let storage = page["body"]["storage"]["value"].as_str().unwrap_or_default().to_string();
    let text = blocking::run(context, move |stop| {
        let text = html::read_storage(&storage, || stop.is_set());
        stop.check().map(|()| text)
    })
    .await?;
    // Confluence's own links start with its own idea of its address, which may be an internal one.
    let shown = match page["_links"]["webui"].as_str() {
        Some(path) if path.starts_with('/') => format!("{}{path}", base.as_str().trim_end_matches('/')),
        _ => format!("{}/pages/viewpage.action?pageId={id}", base.as_str().trim_end_matches('/')),
    };
    let data = json!({
        "id": page["id"].as_str().unwrap_or(id),
        "title": page["title"],
        "space": {"key": page["space"]["key"], "name": page["space"]["name"]},
        "version": page["version"]["number"],
        "updated": page["version"]["when"],
        "updated_by": page["version"]["by"]["displayName"],
        "text": Value::from(text),
        "url": shown,
    });
    Ok(ToolResult { data, confidence: Some(1.0), sources: vec![shown] })
}

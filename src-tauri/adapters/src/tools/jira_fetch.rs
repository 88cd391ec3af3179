//! `jira_fetch`: one issue over Jira's REST API, version 2 (Server, Data Center and Cloud).

use super::{
    Secrets,
    arguments::{Arguments, invalid},
    fetch::{Credential, Fetcher, Request, status_error},
    service::{base_url, below, json_of},
};
use regex::Regex;
use serde_json::{Value, json};
use std::sync::LazyLock;
use toolplan_engine::{
    ports::{ToolError, ToolResult},
    settings::NetworkSettings,
};

static KEY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[A-Z][A-Z0-9_]*-[1-9][0-9]*$").expect("the pattern compiles; a test uses it"));

const FIELDS: &str = "summary,status,assignee,priority,issuetype,updated,description,labels,issuelinks,comment";

pub(super) async fn call(
    fetcher: &Fetcher,
    settings: &NetworkSettings,
    secrets: &Secrets,
    arguments: &Arguments,
) -> Result<ToolResult, ToolError> {
    let key = arguments.required("issue_key")?.trim();
    if !KEY.is_match(key) || key.len() > 64 {
        let shown = toolplan_engine::text::middle_truncate(key, 60);
        return Err(invalid(format!("{shown} is no Jira issue key"), "keys look like PROJ-123, in capital letters"));
    }
    let base = base_url(&settings.jira_url, "Jira")?;
    let mut url = below(&base, &["rest", "api", "2", "issue", key])?;
    url.query_pairs_mut().append_pair("fields", FIELDS);
    let request = Request {
        credential: Credential::of(secrets.jira_user.as_ref(), secrets.jira_token.as_ref()),
        is_configured: true,
        ..Request::get(url, "application/json")
    };
    let answer = fetcher.send(request).await?;
    let refused_hint = match secrets.jira_token {
        None => "set JIRA_API_TOKEN (and JIRA_USER for Atlassian Cloud) in the environment",
        Some(_) => "check JIRA_API_TOKEN and JIRA_USER, and that the account may see the issue",
    };
    let missing_hint = "check the key; Jira says the same of issues that the account may not see";
    if let Some(error) = status_error(&answer, &format!("the Jira issue {key}"), refused_hint, missing_hint) {
        return Err(error);
    }
    let issue = json_of(&answer, "Jira")?;
    let page = below(&base, &["browse", key])?.to_string();
    Ok(ToolResult { data: describe(key, &issue, &page), confidence: Some(1.0), sources: vec![page] })
}

fn describe(key: &str, issue: &Value, page: &str) -> Value {
    let fields = &issue["fields"];
    let person = |value: &Value| [&value["displayName"], &value["name"]].into_iter().find(|v| v.is_string()).cloned();
    let links: Vec<Value> = list(&fields["issuelinks"])
        .map(|link| {
            let (direction, other) = match &link["outwardIssue"] {
                Value::Null => ("inward", &link["inwardIssue"]),
                other => ("outward", other),
            };
            json!({
                "type": link["type"][direction],
                "key": other["key"],
                "summary": other["fields"]["summary"],
                "status": other["fields"]["status"]["name"],
            })
        })
        .collect();
    let comments: Vec<Value> = list(&fields["comment"]["comments"])
        .map(|c| json!({"author": person(&c["author"]), "created": c["created"], "body": c["body"]}))
        .collect();
    json!({
        "key": issue["key"].as_str().unwrap_or(key),
        "summary": fields["summary"],
        "status": fields["status"]["name"],
        "assignee": person(&fields["assignee"]),
        "priority": fields["priority"]["name"],
        "type": fields["issuetype"]["name"],
        "updated": fields["updated"],
        "description": fields["description"],
        "labels": fields["labels"],
        "links": links,
        "comments": comments,
        "url": page,
    })
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

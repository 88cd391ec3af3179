//! The sample workspace: its documents, tools, settings and recorded replies travel inside the program, and a small
//! server on loopback answers for its tickets, wiki pages and web pages. No key, no network.

use crate::{home::unusable, views::SampleQuery};
use axum::{
    Json, Router,
    extract::{Path as UrlPath, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use include_dir::{Dir, include_dir};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{collections::HashMap, net::SocketAddr, path::Path, sync::Arc};
use tokio::task::JoinHandle;
use toolplan_engine::{Problem, select::Reply, settings::Settings, tool::ToolSpec};

static SAMPLE: Dir = include_dir!("$CARGO_MANIFEST_DIR/sample");

/// Stands in the sample's texts where the address of its server belongs, which is known only when it runs.
const SERVER: &str = "{server}";

fn file(name: &str) -> &'static str {
    SAMPLE.get_file(name).and_then(|f| f.contents_utf8()).unwrap_or_else(|| panic!("the sample has no {name}"))
}

fn parsed<T: for<'de> Deserialize<'de>>(name: &str) -> T {
    serde_json::from_str(file(name)).unwrap_or_else(|e| panic!("the sample's {name} is malformed: {e}"))
}

/// The sample's own tools, beside the built-in ones.
pub fn tools() -> Vec<ToolSpec> {
    parsed("catalog.json")
}

pub fn settings() -> Settings {
    parsed("settings.json")
}

/// The sample queries, with the server's address filled in.
pub fn queries(server: &str) -> Vec<SampleQuery> {
    let mut queries: Vec<SampleQuery> = parsed("queries.json");
    for query in &mut queries {
        query.request.query = query.request.query.replace(SERVER, server);
    }
    queries
}

/// The recorded replies by query.
pub fn recordings(server: &str) -> HashMap<String, Reply> {
    #[derive(Deserialize)]
    struct Recording {
        query: String,
        reply: Reply,
    }
    let recordings: Vec<Recording> = parsed("recordings.json");
    recordings.into_iter().map(|r| (r.query.replace(SERVER, server), r.reply)).collect()
}

/// Writes the documents below `root`. Files that exist are left as they are.
pub fn unpack(root: &Path) -> Result<(), Problem> {
    fn write(dir: &Dir, root: &Path) -> Result<(), Problem> {
        for file in dir.files() {
            let path = root.join(file.path());
            if !path.exists() {
                let folder = path.parent().unwrap_or(root);
                std::fs::create_dir_all(folder).map_err(|e| unusable(folder, &e))?;
                std::fs::write(&path, file.contents()).map_err(|e| unusable(&path, &e))?;
            }
        }
        dir.dirs().try_for_each(|inner| write(inner, root))
    }
    let documents = SAMPLE.get_dir("docs").expect("the sample has documents");
    write(documents, root)
}

/// The server behind the sample's fetching tools; it stops when this is dropped.
pub struct Server {
    pub address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Listens on a free port of the loopback interface.
    pub async fn start() -> Result<Self, Problem> {
        let refused = |e: std::io::Error| {
            Problem::new(
                "sample.server",
                format!("the sample's server cannot listen on 127.0.0.1: {e}"),
                "tickets and pages of the sample are not available; the rest works",
            )
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let by = |file: &str, key: &str| -> HashMap<String, Value> {
            let items: Vec<Value> = parsed(file);
            items.into_iter().filter_map(|item| Some((item.get(key)?.as_str()?.to_string(), item))).collect()
        };
        let content = Arc::new(Content { tickets: by("tickets.json", "key"), pages: by("wiki.json", "id") });
        let router = Router::new()
            .route("/rest/api/2/issue/{key}", get(ticket))
            .route("/rest/api/content/{id}", get(page))
            .route("/web/{name}", get(web))
            .with_state(content);
        let task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(%error, "the sample's server stopped");
            }
        });
        Ok(Self { address, task })
    }
}

struct Content {
    tickets: HashMap<String, Value>,
    pages: HashMap<String, Value>,
}

fn found(item: Option<&Value>, what: &str) -> Response {
    match item {
        Some(item) => Json(item.clone()).into_response(),
        None => {
            (StatusCode::NOT_FOUND, Json(json!({"errorMessages": [format!("{what} does not exist")]}))).into_response()
        }
    }
}

async fn ticket(State(content): State<Arc<Content>>, UrlPath(key): UrlPath<String>) -> Response {
    found(content.tickets.get(&key), &key)
}

async fn page(State(content): State<Arc<Content>>, UrlPath(id): UrlPath<String>) -> Response {
    found(content.pages.get(&id), &id)
}

async fn web(UrlPath(name): UrlPath<String>) -> Response {
    match SAMPLE.get_file(format!("web/{name}")).and_then(|f| f.contents_utf8()) {
        Some(html) => ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// W-10: everything that is compiled in can be read, and every recording answers a sample query.
    #[test]
    fn the_sample_is_whole() {
        assert!(tools().len() >= 15);
        assert!(!settings().modes.is_empty());
        let queries = queries("http://127.0.0.1:1");
        for query in recordings("http://127.0.0.1:1").keys() {
            assert!(queries.iter().any(|q| q.request.query == *query), "no sample query for {query}");
        }
        let folder = tempfile::tempdir().unwrap();
        unpack(folder.path()).unwrap();
        assert!(folder.path().join("docs/zh/introduction.md").is_file());
    }
}

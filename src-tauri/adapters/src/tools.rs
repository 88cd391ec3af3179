//! Tools that really run: the built-in ones, HTTP calls and mocks, behind the engine's `ToolRuntime` port.
//!
//! One [`Toolbox`] serves one folder. A call is dispatched by the tool's binding; each built-in tool is one file below
//! `tools/`. File tools see that folder and nothing else (`sandbox`), network tools reach public addresses and the
//! configured Jira and Confluence and nothing else (`address`). Work that blocks runs on a blocking thread and stops
//! soon after its future is dropped (`blocking`).
//!
//! Knows nothing of plans, guards, retries or journals: who may call a tool, and what happens after it failed, is
//! decided before and after.

mod address;
mod answer;
mod arguments;
mod blocking;
mod bm25;
mod confluence_fetch;
mod fetch;
mod graph_related;
mod grep_search;
mod html;
mod http;
mod hybrid_search;
mod index;
mod jira_fetch;
mod local_file_qa;
mod passages;
mod read_file;
mod references;
mod results;
mod sandbox;
mod secrets;
mod service;
mod specs;
mod vector_search;
mod vectors;
mod web_fetch;
mod words;

#[cfg(test)]
mod tests;

pub use secrets::Secrets;
pub use specs::builtin_specs;

use arguments::Arguments;
use async_trait::async_trait;
use fetch::Fetcher;
use index::FolderIndex;
use sandbox::Workspace;
use serde_json::{Map, Value};
use std::{path::PathBuf, sync::Arc, time::Duration};
use toolplan_engine::{
    ports::{CallContext, ChatModel, ErrorClass, ToolError, ToolResult, ToolRuntime},
    settings::NetworkSettings,
    tool::{Binding, ToolSpec},
};

/// The tools of one folder and one network configuration. Cheap to clone; clones share the search index.
#[derive(Clone)]
pub struct Toolbox {
    files: Files,
    web: Arc<Web>,
    /// Writes and judges answers; without one that goes by words.
    model: Option<Arc<dyn ChatModel>>,
}

/// What the file tools work on.
#[derive(Clone)]
struct Files {
    workspace: Workspace,
    index: Arc<FolderIndex>,
}

/// What the network tools work with.
struct Web {
    fetcher: Fetcher,
    settings: NetworkSettings,
    secrets: Secrets,
}

impl Toolbox {
    /// Tools over the folder `root`. Nothing is opened until a tool is called: a folder that is missing now may exist
    /// by then.
    pub fn new(root: PathBuf, network: NetworkSettings, secrets: Secrets) -> Self {
        let fetcher = Fetcher::new(network.allow_private, network.max_bytes as usize);
        Self {
            files: Files { workspace: Workspace::new(root), index: Arc::default() },
            web: Arc::new(Web { fetcher, settings: network, secrets }),
            model: None,
        }
    }

    /// The same tools with a model that writes and judges answers (O-09).
    pub fn with_model(self, model: Option<Arc<dyn ChatModel>>) -> Self {
        Self { model, ..self }
    }

    async fn builtin(&self, name: &str, arguments: Arguments, context: &CallContext) -> Result<ToolResult, ToolError> {
        let Files { workspace, index } = self.files.clone();
        let web = &self.web;
        match name {
            "grep_search" => blocking::run(context, move |stop| grep_search::call(&workspace, &arguments, stop)).await,
            "read_file" => blocking::run(context, move |stop| read_file::call(&workspace, &arguments, stop)).await,
            "local_file_qa" => {
                blocking::run(context, move |stop| local_file_qa::call(&workspace, &index, &arguments, stop)).await
            }
            "vector_search" => {
                blocking::run(context, move |stop| vector_search::call(&workspace, &index, &arguments, stop)).await
            }
            "hybrid_search" => {
                blocking::run(context, move |stop| hybrid_search::call(&workspace, &index, &arguments, stop)).await
            }
            "graph_related" => {
                blocking::run(context, move |stop| graph_related::call(&workspace, &index, &arguments, stop)).await
            }
            "web_fetch" => web_fetch::call(&web.fetcher, &arguments, context).await,
            "jira_fetch" => jira_fetch::call(&web.fetcher, &web.settings, &web.secrets, &arguments).await,
            "confluence_fetch" => {
                confluence_fetch::call(&web.fetcher, &web.settings, &web.secrets, &arguments, context).await
            }
            "combine_results" => answer::combine(self.model.as_ref(), &arguments, context).await,
            "check_coverage" => answer::check_coverage(&arguments, context).await,
            "validate_answer" => answer::validate(self.model.as_ref(), &arguments, context).await,
            "check_hallucination" => answer::check_hallucination(self.model.as_ref(), &arguments, context).await,
            _ => Err(ToolError::new(
                ErrorClass::Unbound,
                format!("there is no built-in tool called {name}"),
                format!("bind the tool to one of {}", specs::NAMES.join(", ")),
            )),
        }
    }
}

#[async_trait]
impl ToolRuntime for Toolbox {
    async fn call(
        &self,
        tool: &ToolSpec,
        arguments: &Map<String, Value>,
        context: &CallContext,
    ) -> Result<ToolResult, ToolError> {
        match &tool.binding {
            Binding::Builtin { name } => self.builtin(name, Arguments::new(arguments.clone()), context).await,
            Binding::Http { method, url } => {
                let bound = tool.timeout_ms.map_or(fetch::TIME_LIMIT, |ms| Duration::from_millis(ms.into()));
                http::call(&self.web.fetcher, method, url, arguments, bound).await
            }
            Binding::Mock { result, delay_ms } => {
                // The timer's shortest pause is a millisecond; no delay means none.
                if *delay_ms > 0 {
                    tokio::time::sleep(Duration::from_millis((*delay_ms).into())).await;
                }
                Ok(ToolResult { data: result.clone(), confidence: None, sources: vec!["mock".into()] })
            }
            Binding::Mcp { server, .. } => Err(ToolError::new(
                ErrorClass::Unbound,
                format!("{} belongs to the MCP server {server}, which is not connected", tool.name),
                "this version does not connect MCP servers; give the tool a mock or an HTTP binding to run it",
            )),
            Binding::None => Err(ToolError::new(
                ErrorClass::Unbound,
                format!("{} is known only by its description; there is nothing to run", tool.name),
                "give the tool a binding in the catalog: a built-in tool, an HTTP call or a mock",
            )),
        }
    }
}

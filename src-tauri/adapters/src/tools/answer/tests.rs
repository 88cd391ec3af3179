//! Answers and their judges, by words and with models behind real HTTP servers on loopback.

mod inputs;
mod judged;
mod model;
mod written;

use super::super::{Secrets, Toolbox, builtin_specs, tests::object};
use serde_json::{Value, json};
use toolplan_engine::{
    ports::{CallContext, ChatModel, ToolError, ToolResult, ToolRuntime},
    settings::NetworkSettings,
};

async fn call(tools: &Toolbox, tool: &str, arguments: Value, context: &CallContext) -> Result<ToolResult, ToolError> {
    let spec = builtin_specs().into_iter().find(|s| s.name == tool).unwrap();
    tools.call(&spec, &object(arguments), context).await
}

fn toolbox(model: Option<std::sync::Arc<dyn ChatModel>>) -> Toolbox {
    Toolbox::new("/nowhere".into(), NetworkSettings::default(), Secrets::default()).with_model(model)
}

async fn plain(tool: &str, arguments: Value) -> ToolResult {
    call(&toolbox(None), tool, arguments, &CallContext::default()).await.unwrap()
}

/// A result of a search tool.
fn hits(path: &str, text: &str) -> Value {
    json!({"hits": [{"path": path, "heading": null, "start_line": 1, "score": 0.5, "snippet": text}], "vectors": "hashed"})
}

//! The one entry for calls of the discovery tools, in a run and between the turns of a planning.

use super::{DiscoveryEvent, GET, GetQuery, SEARCH, SearchQuery, Within, get, query};
use crate::{
    ports::{ErrorClass, ToolError},
    tool::{Binding, ToolCall, ToolSpec},
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// What a discovery tool answered, and what the journal says of it. An error has no event.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub result: Result<Value, ToolError>,
    pub event: Option<DiscoveryEvent>,
}

/// Answers a call of `tool_search` or `tool_get`; `None` for every other tool. The tool is known by its binding, and a
/// session that does not see it is refused.
pub fn answer(call: &ToolCall, within: &Within) -> Option<Answer> {
    let tool = within.catalog.spec(&call.tool)?;
    let name = bound(tool)?;
    let failed = |error| Some(Answer { result: Err(error), event: None });
    if let Some(verdict) = within.viewer.trail(tool).decided() {
        return failed(ToolError::new(
            ErrorClass::Refused,
            format!("{} is not configured: {}", tool.name, verdict.reason),
            "switch discovery on in the settings, and see that policy and visibility let its tools through",
        ));
    }
    let answered = if name == SEARCH { search(call, within) } else { records(call, within) };
    match answered {
        Ok((value, event)) => Some(Answer { result: Ok(value), event: Some(event) }),
        Err(error) => failed(error),
    }
}

/// Which discovery tool the tool is bound to, if any.
fn bound(tool: &ToolSpec) -> Option<&str> {
    match &tool.binding {
        Binding::Builtin { name } if name == SEARCH || name == GET => Some(name),
        _ => None,
    }
}

fn search(call: &ToolCall, within: &Within) -> Result<(Value, DiscoveryEvent), ToolError> {
    let asked: SearchQuery = read(&call.arguments)?;
    asked.check()?;
    let answer = query::search(within, &asked);
    let event = DiscoveryEvent::SearchQuery {
        query: asked.query,
        requested_search_type: answer.requested_search_type,
        effective_search_type: answer.effective_search_type,
        results_count: answer.tools.len() as u32,
        tags: asked.tags,
        namespace: asked.namespace,
    };
    Ok((written(&answer)?, event))
}

fn records(call: &ToolCall, within: &Within) -> Result<(Value, DiscoveryEvent), ToolError> {
    let asked: GetQuery = read(&call.arguments)?;
    asked.check()?;
    let answer = get::get(within, &asked)?;
    let event = DiscoveryEvent::ToolGet {
        requested: answer.requested.clone(),
        returned: answer.returned.clone(),
        withheld: answer.withheld.clone(),
        include_schemas: asked.include_schemas,
        include_examples: asked.include_examples,
    };
    Ok((written(&answer)?, event))
}

fn read<T: DeserializeOwned>(arguments: &Map<String, Value>) -> Result<T, ToolError> {
    serde_json::from_value(Value::Object(arguments.clone())).map_err(|error| {
        ToolError::new(ErrorClass::Validation, format!("the arguments do not fit: {error}"), "correct the arguments")
    })
}

fn written(answer: &impl serde::Serialize) -> Result<Value, ToolError> {
    serde_json::to_value(answer)
        .map_err(|error| ToolError::new(ErrorClass::Internal, error.to_string(), "report this query"))
}

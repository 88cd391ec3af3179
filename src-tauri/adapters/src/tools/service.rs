//! Services that a person configured: their addresses and their JSON.

use super::{
    arguments::invalid,
    fetch::{Answer, parse_url},
};
use serde_json::Value;
use toolplan_engine::ports::{ErrorClass, ToolError};
use url::Url;

/// The configured address of a service.
pub(super) fn base_url(configured: &str, service: &str) -> Result<Url, ToolError> {
    if configured.trim().is_empty() {
        return Err(ToolError::new(
            ErrorClass::Unbound,
            format!("no {service} is configured"),
            format!("set the {service} base URL in Settings → network"),
        ));
    }
    parse_url(configured).map_err(|e| {
        let hint = format!("mend the {service} base URL in Settings → network: {}", e.hint);
        ToolError::new(ErrorClass::Unbound, format!("the {service} base URL is wrong: {}", e.message), hint)
    })
}

/// The address with the segments behind the path of `base`, and without its query.
pub(super) fn below(base: &Url, segments: &[&str]) -> Result<Url, ToolError> {
    let mut url = base.clone();
    url.set_query(None);
    url.set_fragment(None);
    match url.path_segments_mut() {
        Ok(mut path) => {
            path.pop_if_empty().extend(segments);
        }
        Err(()) => return Err(invalid(format!("{base} cannot hold a path"), "use an http or https URL")),
    }
    Ok(url)
}

/// The JSON of an answer; half of it is an error, since fields would be missing silently.
pub(super) fn json_of(answer: &Answer, service: &str) -> Result<Value, ToolError> {
    if answer.truncated {
        let message = format!("the answer of {service} is larger than the limit of {} bytes", answer.body.len());
        return Err(ToolError::new(ErrorClass::Refused, message, "raise max_bytes in Settings → network"));
    }
    serde_json::from_slice(&answer.body).map_err(|e| {
        let message = format!("the answer of {service} is no JSON ({e}); its type is {:?}", answer.content_type);
        ToolError::new(ErrorClass::Client, message, "check the configured URL: it may lead to a login page")
    })
}

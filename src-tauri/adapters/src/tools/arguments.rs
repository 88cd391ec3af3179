//! The arguments of one call, read by name with errors that name the argument.
//!
//! The engine has checked them against the schema already; this is what keeps a tool right when it is called without
//! that check.

use serde_json::{Map, Value};
use toolplan_engine::ports::{ErrorClass, ToolError};

pub(super) struct Arguments(Map<String, Value>);

impl Arguments {
    pub(super) fn new(map: Map<String, Value>) -> Self {
        Self(map)
    }

    /// A string that must be there and hold more than blanks.
    pub(super) fn required(&self, name: &str) -> Result<&str, ToolError> {
        match self.optional(name)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            Some(_) => Err(invalid(format!("the argument {name} is empty"), format!("give {name} some text"))),
            None => Err(invalid(format!("the argument {name} is missing"), format!("call the tool with {name}"))),
        }
    }

    /// A string that may be absent; `null` counts as absent.
    pub(super) fn optional(&self, name: &str) -> Result<Option<&str>, ToolError> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_type(name, "a string", other)),
        }
    }

    /// Whether there is a value; `null` is none.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_null())
    }

    /// A string that must be given and may be `null`, as the result of an earlier step may be.
    pub(super) fn nullable(&self, name: &str) -> Result<Option<&str>, ToolError> {
        match self.0.contains_key(name) {
            true => self.optional(name),
            false => self.required(name).map(Some),
        }
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, ToolError> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(wrong_type(name, "true or false", other)),
        }
    }

    /// A list that must be there.
    pub(super) fn list(&self, name: &str) -> Result<&[Value], ToolError> {
        match self.0.get(name) {
            Some(Value::Array(items)) => Ok(items),
            None | Some(Value::Null) => {
                Err(invalid(format!("the argument {name} is missing"), format!("call the tool with {name}")))
            }
            Some(other) => Err(wrong_type(name, "a list", other)),
        }
    }

    /// A whole number of at least 1, or `default`; above `most` it counts as `most`.
    pub(super) fn count(&self, name: &str, default: usize, most: usize) -> Result<usize, ToolError> {
        let Some(value) = self.0.get(name).filter(|v| !v.is_null()) else { return Ok(default) };
        // Models write 5.0 where they mean 5.
        let number =
            value.as_u64().or_else(|| value.as_f64().filter(|f| f.fract() == 0.0 && *f >= 0.0).map(|f| f as u64));
        match number {
            Some(n) if n >= 1 => Ok(usize::try_from(n).unwrap_or(most).min(most)),
            _ => Err(wrong_type(name, "a whole number of at least 1", value)),
        }
    }
}

pub(super) fn invalid(message: impl Into<String>, hint: impl Into<String>) -> ToolError {
    ToolError::new(ErrorClass::Validation, message, hint)
}

fn wrong_type(name: &str, expected: &str, found: &Value) -> ToolError {
    let found = toolplan_engine::text::middle_truncate(&found.to_string(), 60);
    invalid(format!("the argument {name} must be {expected}, not {found}"), format!("give {name} as {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn arguments(value: Value) -> Arguments {
        Arguments::new(value.as_object().cloned().expect("the fixture is an object"))
    }

    #[test]
    fn errors_name_the_argument() {
        let given = arguments(json!({"query": " ", "path": 7, "top_k": 2.5}));
        assert_eq!(given.required("query").unwrap_err().message, "the argument query is empty");
        assert_eq!(given.required("url").unwrap_err().message, "the argument url is missing");
        assert_eq!(given.optional("path").unwrap_err().message, "the argument path must be a string, not 7");
        assert!(given.count("top_k", 1, 9).unwrap_err().message.contains("at least 1, not 2.5"));
    }

    #[test]
    fn counts_are_bounded_and_floats_without_fraction_are_counts() {
        let given = arguments(json!({"a": 1000, "b": 5.0, "c": null, "d": 0}));
        assert_eq!(given.count("a", 1, 50).unwrap(), 50);
        assert_eq!(given.count("b", 1, 50).unwrap(), 5);
        assert_eq!(given.count("c", 3, 50).unwrap(), 3);
        assert!(given.count("d", 3, 50).is_err());
    }
}

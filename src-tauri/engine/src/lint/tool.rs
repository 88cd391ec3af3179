//! What one tool says about itself that is likely wrong. Looks at nothing but the tool.

use super::{FixTarget, Lint, Severity};
use crate::{
    capability::guidance::Said,
    classify,
    tool::{Classification, ToolSpec},
};
use serde_json::{Value, json};

pub fn lints(spec: &ToolSpec) -> Vec<Lint> {
    let mut found = vec![];
    if spec.classification == Classification::Unclassified {
        let suggestion = classify::suggest(spec);
        let name = match suggestion.classification {
            Classification::Safe => "SAFE",
            _ => "DESTRUCTIVE",
        };
        found.push(
            Lint::new(
                "tool.unclassified",
                Severity::Warning,
                "classification",
                format!(
                    "{} is unclassified and counts as destructive; it seems {name}: {}",
                    spec.name, suggestion.reason
                ),
            )
            .fixed_by(format!("Classify it as {name}"), this(spec), json!({"classification": name})),
        );
    }
    if spec.description.trim().is_empty() {
        found.push(Lint::new(
            "description.missing",
            Severity::Warning,
            "description",
            format!("{} has no description: no model knows what it is for", spec.name),
        ));
    }
    if blank(&spec.capabilities) && blank(&spec.guidance) {
        found.push(Lint::new(
            "planning.missing",
            Severity::Info,
            "capabilities",
            format!("{} states neither capabilities nor guidance", spec.name),
        ));
    }
    if spec.fallback.as_ref().is_some_and(|f| f.tool == spec.name) {
        found.push(
            Lint::new("fallback.itself", Severity::Error, "fallback", format!("{} falls back to itself", spec.name))
                .fixed_by("Remove the fallback", this(spec), json!({"fallback": null})),
        );
    }
    schema(spec, &mut found);
    guidance(spec, &mut found);
    found.into_iter().map(|lint| lint.of([spec.name.as_str()])).collect()
}

fn this(spec: &ToolSpec) -> FixTarget {
    FixTarget::Tool { name: spec.name.clone() }
}

fn blank(strings: &[String]) -> bool {
    strings.iter().all(|s| s.trim().is_empty())
}

fn schema(spec: &ToolSpec, found: &mut Vec<Lint>) {
    let malformed = |what: &str| {
        let message = format!("the parameters of {}: {what}", spec.name);
        Lint::new("schema.malformed", Severity::Error, "parameters", message)
    };
    let kind = spec.parameters.get("type");
    if kind.is_some_and(|kind| kind != "object") {
        found.push(malformed(r#"their type is not "object""#).fixed_by(
            "Make it an object",
            this(spec),
            json!({"parameters": {"type": "object"}}),
        ));
    }
    if spec.parameters.get("properties").is_some_and(|p| !p.is_object()) {
        found.push(malformed("`properties` is no object"));
        return;
    }
    let required = match spec.parameters.get("required") {
        None => &[][..],
        Some(Value::Array(names)) if names.iter().all(Value::is_string) => names,
        Some(_) => {
            found.push(malformed("`required` is not a list of names"));
            &[]
        }
    };
    let known = |name: &str| spec.properties().is_some_and(|p| p.contains_key(name));
    let unknown: Vec<&str> = required.iter().filter_map(Value::as_str).filter(|name| !known(name)).collect();
    // With additional or pattern properties, an argument may be required that no property names.
    let open =
        ["patternProperties", "$ref", "allOf", "anyOf", "oneOf"].iter().any(|k| spec.parameters.get(k).is_some());
    if !unknown.is_empty() && !open {
        let rest: Vec<&Value> = required.iter().filter(|n| n.as_str().is_some_and(known)).collect();
        found.push(
            Lint::new(
                "schema.required_unknown",
                Severity::Error,
                "parameters.required",
                format!("{} requires {}, which its properties do not describe", spec.name, unknown.join(", ")),
            )
            .fixed_by(
                format!("Take {} out of the required arguments", unknown.join(", ")),
                this(spec),
                json!({"parameters": {"required": rest}}),
            ),
        );
    }
    let silent = |schema: &Value| {
        let told = |key: &str| schema.get(key).is_some_and(|v| v.as_str().is_none_or(|s| !s.trim().is_empty()));
        !["description", "title", "enum", "const", "$ref"].iter().any(|key| told(key))
    };
    let silent: Vec<&str> =
        spec.properties().into_iter().flatten().filter(|(_, s)| silent(s)).map(|(name, _)| name.as_str()).collect();
    if !silent.is_empty() {
        found.push(Lint::new(
            "parameter.undocumented",
            Severity::Info,
            "parameters.properties",
            format!("{} does not describe {}", spec.name, silent.join(", ")),
        ));
    }
}

/// Lines of one tool that repeat or contradict one another.
fn guidance(spec: &ToolSpec, found: &mut Vec<Lint>) {
    let said: Vec<Said> = spec.guidance.iter().map(|line| Said::of(line)).collect();
    for (i, line) in spec.guidance.iter().enumerate() {
        for j in 0..i {
            let (code, severity, what) = match () {
                () if spec.guidance[j].trim() == line.trim() => ("guidance.duplicate", Severity::Info, "repeats"),
                () if !said[i].about(&said[j]) => continue,
                () if said[i].denies != said[j].denies => ("guidance.contradictory", Severity::Warning, "contradicts"),
                () => ("guidance.near_duplicate", Severity::Info, "nearly repeats"),
            };
            let message = format!("line {} of the guidance of {} {what} line {}: {line}", i + 1, spec.name, j + 1);
            let lint = Lint::new(code, severity, "guidance", message);
            // Which of two lines that contradict each other is wrong, only a person knows.
            let fixed = match severity {
                Severity::Info => without_line(lint, spec, i),
                _ => lint,
            };
            found.push(fixed);
            break;
        }
    }
}

/// The fix that takes one line out of a tool's guidance.
pub fn without_line(lint: Lint, spec: &ToolSpec, line: usize) -> Lint {
    let rest: Vec<&String> = spec.guidance.iter().enumerate().filter(|(i, _)| *i != line).map(|(_, l)| l).collect();
    lint.fixed_by(format!("Remove line {}", line + 1), this(spec), json!({"guidance": rest}))
}

//! Breakpoints: where a run stops by itself (O-07). Pure: whether one is hit follows from plan and state.

use super::{AttemptOutcome, RunState, StepState};
use crate::{
    plan::{Step, resolve},
    ports::ErrorClass,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A place to stop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Breakpoint {
    /// Names it among the run's breakpoints.
    pub id: u32,
    pub on: BreakOn,
    #[serde(default = "yes")]
    pub enabled: bool,
}

fn yes() -> bool {
    true
}

/// Before an attempt starts, or after it has ended and before anything follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum When {
    #[default]
    Before,
    After,
}

/// What a breakpoint is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BreakOn {
    Step {
        step: String,
        #[serde(default)]
        when: When,
    },
    Tool {
        tool: String,
        #[serde(default)]
        when: When,
    },
    /// An attempt failed; of this class where one is named.
    Error {
        #[serde(default)]
        class: Option<ErrorClass>,
    },
    /// The guard dropped a call when the plan was made (before the first step), or refused one at run time. `rule` is
    /// part of the rule's id or of the tool's name; empty means any.
    Guard {
        #[serde(default)]
        rule: String,
    },
    /// The calls made so far cost more than so many US dollars.
    Cost { above: f64 },
    /// An attempt took longer.
    Duration { above_ms: u32 },
    Condition {
        /// Empty means every step.
        #[serde(default)]
        step: String,
        /// Before: of the arguments. After: of the result.
        #[serde(default)]
        when: When,
        /// JSON Pointer into the arguments or the result's data.
        path: String,
        operator: Operator,
        #[serde(default)]
        value: Value,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    Exists,
    Missing,
    Equals,
    Differs,
    Above,
    Below,
    /// Of a text: a part, in any letter case. Of a list: an element. Of an object: a key.
    Contains,
}

/// A breakpoint that was hit at an attempt; it is not hit there again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Hit {
    pub breakpoint: u32,
    pub attempt: u32,
}

impl BreakOn {
    fn when(&self) -> When {
        match self {
            Self::Step { when, .. } | Self::Tool { when, .. } | Self::Condition { when, .. } => *when,
            Self::Guard { .. } | Self::Cost { .. } | Self::Duration { .. } | Self::Error { .. } => When::After,
        }
    }

    /// Whether the attempt is about to start as the breakpoint says.
    fn before(&self, step: &Step, state: &RunState, s: &StepState) -> bool {
        let tool = in_charge(step, s);
        match self {
            Self::Step { step: id, .. } => *id == step.spec.id,
            Self::Tool { tool: name, .. } => name == tool,
            Self::Condition { step: id, path, operator, value, .. } => {
                (id.is_empty() || *id == step.spec.id) && {
                    let result = |id: &str| Some(state.steps.get(id)?.result.as_ref()?.data.clone());
                    let arguments = arguments_in_charge(step, s);
                    let arguments = resolve(arguments, &result).unwrap_or_else(|_| arguments.clone());
                    operator.holds(Value::from(arguments).pointer(path), value)
                }
            }
            _ => false,
        }
    }

    /// Whether the attempt has ended as the breakpoint says.
    fn after(&self, step: &Step, state: &RunState, s: &StepState) -> bool {
        let Some(attempt) = s.attempts.last() else { return false };
        match (self, &attempt.outcome) {
            (Self::Step { step: id, .. }, _) => *id == step.spec.id,
            (Self::Tool { tool, .. }, _) => *tool == attempt.tool,
            (Self::Error { class }, Some(AttemptOutcome::Failed { error })) => class.is_none_or(|c| c == error.class),
            (Self::Guard { rule }, Some(AttemptOutcome::Failed { error })) => {
                error.class == ErrorClass::Refused && (rule.is_empty() || attempt.tool.contains(rule.as_str()))
            }
            (Self::Duration { above_ms }, _) => attempt.duration_ms.is_some_and(|ms| ms > u64::from(*above_ms)),
            // Only the attempt that carries the sum over the line.
            (Self::Cost { above }, _) => {
                let now = state.cost();
                now > *above && now - step.spec.cost.unwrap_or(0.0) <= *above
            }
            (Self::Condition { step: id, path, operator, value, .. }, Some(AttemptOutcome::Succeeded { result })) => {
                (id.is_empty() || *id == step.spec.id) && operator.holds(result.data.pointer(path), value)
            }
            _ => false,
        }
    }
}

/// The tool that the step calls next.
pub(crate) fn in_charge<'a>(step: &'a Step, s: &StepState) -> &'a str {
    match &step.fallback {
        Some(fallback) if s.fallback.is_some() => &fallback.call().tool,
        _ => &step.call.call().tool,
    }
}

/// The arguments of the step's next call, references in place: those of the plan, or a person's.
pub(crate) fn arguments_in_charge<'a>(step: &'a Step, s: &'a StepState) -> &'a serde_json::Map<String, Value> {
    match (&s.edited_arguments, &step.fallback) {
        (Some(arguments), _) => arguments,
        (None, Some(fallback)) if s.fallback.is_some() => &fallback.call().arguments,
        (None, _) => &step.call.call().arguments,
    }
}

/// The breakpoints that the step hits now and has not hit at this attempt. `Before`: it is about to start.
pub(crate) fn hits(step: &Step, state: &RunState, s: &StepState, when: When) -> Vec<u32> {
    if state.breakpoints.is_empty() {
        return vec![];
    }
    let attempt = s.attempts.len() as u32 + u32::from(when == When::Before);
    let hit = |b: &&Breakpoint| match when {
        _ if !b.enabled || b.on.when() != when => false,
        When::Before => b.on.before(step, state, s),
        When::After => b.on.after(step, state, s),
    };
    let new = |b: &&Breakpoint| !s.hits.contains(&Hit { breakpoint: b.id, attempt });
    state.breakpoints.iter().filter(hit).filter(new).map(|b| b.id).collect()
}

/// The breakpoints on the guard that the planning hits, before anything starts.
pub(crate) fn planning_hits(state: &RunState) -> Vec<u32> {
    let hit = |b: &&Breakpoint| match &b.on {
        BreakOn::Guard { rule } => b.enabled && state.dropped.iter().any(|d| rule.is_empty() || d.contains(rule)),
        _ => false,
    };
    state.breakpoints.iter().filter(hit).filter(|b| !state.hits.contains(&b.id)).map(|b| b.id).collect()
}

impl Operator {
    /// `found` is what stands at the path.
    pub fn holds(self, found: Option<&Value>, value: &Value) -> bool {
        let numbers = || Some((found?.as_f64()?, value.as_f64()?));
        match self {
            Self::Exists => found.is_some(),
            Self::Missing => found.is_none(),
            Self::Equals => found.is_some_and(|found| equal(found, value)),
            Self::Differs => found.is_some_and(|found| !equal(found, value)),
            Self::Above => numbers().is_some_and(|(found, value)| found > value),
            Self::Below => numbers().is_some_and(|(found, value)| found < value),
            Self::Contains => match (found, value) {
                (Some(Value::String(found)), Value::String(part)) => {
                    found.to_lowercase().contains(&part.to_lowercase())
                }
                (Some(Value::Array(items)), value) => items.iter().any(|item| equal(item, value)),
                (Some(Value::Object(map)), Value::String(key)) => map.contains_key(key),
                _ => false,
            },
        }
    }
}

/// Numbers by their value: 1 is 1.0.
fn equal(a: &Value, b: &Value) -> bool {
    a == b || a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| a == b)
}

impl std::fmt::Display for BreakOn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let after = |when: &When| if *when == When::After { ":after" } else { "" };
        match self {
            Self::Step { step, when } => write!(f, "step:{step}{}", after(when)),
            Self::Tool { tool, when } => write!(f, "tool:{tool}{}", after(when)),
            Self::Error { class: None } => write!(f, "error"),
            Self::Error { class: Some(class) } => write!(f, "error:{}", class.name()),
            Self::Guard { rule } if rule.is_empty() => write!(f, "guard"),
            Self::Guard { rule } => write!(f, "guard:{rule}"),
            Self::Cost { above } => write!(f, "cost>{above}"),
            Self::Duration { above_ms } => write!(f, "duration>{above_ms}"),
            Self::Condition { step, when, path, operator, value } => {
                let what = if *when == When::After { "result" } else { "arguments" };
                let of = if step.is_empty() { String::new() } else { format!(":{step}") };
                match operator {
                    Operator::Exists | Operator::Missing => write!(f, "{what}{of} {path} {}", operator.word()),
                    _ => write!(f, "{what}{of} {path} {} {value}", operator.word()),
                }
            }
        }
    }
}

impl Operator {
    const ALL: [(Self, &'static str); 7] = [
        (Self::Exists, "exists"),
        (Self::Missing, "missing"),
        (Self::Equals, "=="),
        (Self::Differs, "!="),
        (Self::Above, ">"),
        (Self::Below, "<"),
        (Self::Contains, "contains"),
    ];

    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(operator, _)| *operator == self).map_or("", |(_, word)| word)
    }
}

impl std::str::FromStr for BreakOn {
    type Err = String;

    /// What [`Display`](std::fmt::Display) writes: `step:step-2`, `tool:web_fetch:after`, `error`, `error:timeout`,
    /// `guard`, `cost>0.5`, `duration>2000`, `arguments /query contains "x"`, `result:step-2 /items/0/id == 3`.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let number = |name: &str, text: &str| {
            text.trim().parse::<f64>().map_err(|_| format!("{name} is compared with a number, not with {text:?}"))
        };
        if let Some(above) = text.strip_prefix("cost>") {
            return Ok(Self::Cost { above: number("cost", above)? });
        }
        if let Some(above) = text.strip_prefix("duration>") {
            return Ok(Self::Duration { above_ms: number("duration", above)? as u32 });
        }
        let (head, rest) = text.split_once(' ').unwrap_or((text, ""));
        let (kind, name) = head.split_once(':').unwrap_or((head, ""));
        let (named, when) = match name.strip_suffix(":after") {
            Some(named) => (named, When::After),
            None => (name, When::Before),
        };
        match kind {
            "step" if !named.is_empty() => Ok(Self::Step { step: named.into(), when }),
            "tool" if !named.is_empty() => Ok(Self::Tool { tool: named.into(), when }),
            "error" if name.is_empty() => Ok(Self::Error { class: None }),
            "error" => Ok(Self::Error { class: Some(ErrorClass::named(name)?) }),
            "guard" => Ok(Self::Guard { rule: name.into() }),
            "arguments" | "result" => {
                let mut words = rest.trim().splitn(3, ' ');
                let path = words.next().unwrap_or_default();
                if !path.is_empty() && !path.starts_with('/') {
                    return Err(format!("{path:?} is no JSON Pointer such as /items/0/id"));
                }
                let word = words.next().unwrap_or("exists");
                let (operator, _) = *Operator::ALL
                    .iter()
                    .find(|(_, known)| *known == word)
                    .ok_or_else(|| format!("{word:?} is none of exists, missing, ==, !=, >, <, contains"))?;
                let value = words.next().unwrap_or_default().trim();
                let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
                let when = if kind == "result" { When::After } else { When::Before };
                Ok(Self::Condition { step: name.into(), when, path: path.into(), operator, value })
            }
            _ => Err(format!(
                "{text:?} is no breakpoint; write step:ID, tool:NAME, error, error:CLASS, guard, cost>N, duration>MS, \
                 arguments /path operator value, or result /path operator value"
            )),
        }
    }
}

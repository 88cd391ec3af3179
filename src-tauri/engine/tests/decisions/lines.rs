//! Plans, scripts, commands and breakpoints from one line of text, and a journal as lines again.

use crate::desk::{Desk, snake, tool};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use toolplan_engine::{
    plan::{ExecutionMode, Finding, Plan, PlanSpec, StepSpec},
    ports::{ErrorClass, ToolError},
    run::{AttemptOutcome, Breakpoint, Command, Go, JournalEntry, PauseReason, RunEvent, Skip},
    tool::{Fallback, FallbackCondition, RetryPolicy, ToolSpec},
};

/// A plan as one line: `a, b <- a, c! <- a b`. A step calls the tool of its own name.
///
/// After the id: `!` critical, `~` sequential. Further words: `or:x` falls back to x on error, `or:x<0.5` on low
/// confidence, `in:500` has a timeout, `tries:1` has one retry, `takes:7` is expected to take 7 ms,
/// `from:a/path` takes the argument `input` from the result of `a`. Dependencies come after `<-`.
pub fn plan_spec(line: &str) -> PlanSpec {
    let steps = line.split(',').map(str::trim).filter(|s| !s.is_empty()).map(step_spec).collect();
    PlanSpec { steps, reasoning: String::new() }
}

fn step_spec(text: &str) -> StepSpec {
    let (head, dependencies) = text.split_once("<-").unwrap_or((text, ""));
    let mut words = head.split_whitespace();
    let name = words.next().expect("a step has an id");
    let id = name.trim_end_matches(['!', '~']);
    let mut step = StepSpec {
        id: id.into(),
        tool: id.into(),
        critical: name.contains('!'),
        mode: if name.contains('~') { ExecutionMode::Sequential } else { ExecutionMode::Parallel },
        dependencies: dependencies.split_whitespace().map(str::to_string).collect(),
        ..Default::default()
    };
    for word in words {
        let (key, value) = word.split_once(':').expect("a step's words are key:value");
        match key {
            "or" => {
                let (tool, threshold) = value.split_once('<').map_or((value, None), |(t, n)| (t, Some(n)));
                let condition = match threshold {
                    Some(_) => FallbackCondition::OnLowConfidence,
                    None => FallbackCondition::OnError,
                };
                let threshold = threshold.map(|n| n.parse().expect("a threshold is a number"));
                step.fallback = Some(Fallback { condition, threshold, ..Fallback::on_error(tool) });
            }
            "in" => step.timeout_ms = value.parse().ok(),
            "tries" => step.retry = Some(RetryPolicy { max_retries: value.parse().unwrap(), base_ms: 1000 }),
            "takes" => step.expected_ms = value.parse().ok(),
            "from" => {
                let (step_id, path) = value.find('/').map_or((value, ""), |at| value.split_at(at));
                step.arguments.insert("input".into(), json!({"$from": step_id, "path": path}));
            }
            other => panic!("a step says {other:?}"),
        }
    }
    step
}

/// A SAFE tool for every step and fallback of the plan, each with an optional argument `input`.
pub fn tools_for(spec: &PlanSpec) -> Vec<ToolSpec> {
    let fallbacks = spec.steps.iter().filter_map(|s| s.fallback.as_ref().map(|f| &f.tool));
    let names: BTreeSet<&String> = spec.steps.iter().map(|s| &s.tool).chain(fallbacks).collect();
    names
        .into_iter()
        .map(|name| {
            let mut spec = tool(&format!("{name} SAFE"));
            spec.parameters = json!({"type": "object", "properties": {"input": {}}, "additionalProperties": false});
            spec
        })
        .collect()
}

/// The plan of the line, checked by the real guard over a catalog of its tools.
pub fn checked(spec: PlanSpec) -> Result<Plan, Vec<Finding>> {
    let desk = Desk::with_tools(tools_for(&spec)).asks("what is asked");
    spec.check(|call| desk.guard().admit(call))
}

/// What a tool does at one call.
#[derive(Debug, Clone, PartialEq)]
pub enum Deed {
    Answer { data: Option<Value>, confidence: Option<f32> },
    Fail(ErrorClass),
    Hang,
    Panic,
}

/// Deeds by tool, in the order of its calls; the last one is repeated. A tool without a line answers at once.
#[derive(Debug, Clone, Default)]
pub struct Script(HashMap<String, Vec<(Deed, u64)>>);

impl Script {
    /// `a: fail, fail, ok 5000 | b: hang`: after a deed the milliseconds it takes. Deeds: `ok`, `ok=json`, `low=0.3`,
    /// `fail`, `refused`, `validation`, `client`, `hang`, `panic`.
    pub fn of(line: &str) -> Self {
        let tools = line.split('|').filter_map(|part| part.split_once(':'));
        Self(tools.map(|(name, deeds)| (name.trim().into(), deeds.split(',').map(deed).collect())).collect())
    }

    /// What the tool does at its call after `earlier` others, and how long it takes.
    pub fn deed(&self, tool: &str, earlier: usize) -> (Deed, u64) {
        let usual = (Deed::Answer { data: None, confidence: None }, 0);
        self.0.get(tool).and_then(|deeds| deeds.get(earlier).or(deeds.last())).cloned().unwrap_or(usual)
    }

    pub fn set(&mut self, tool: &str, deeds: Vec<(Deed, u64)>) {
        self.0.insert(tool.into(), deeds);
    }
}

fn deed(text: &str) -> (Deed, u64) {
    let mut words = text.split_whitespace();
    let what = words.next().expect("a deed has a name");
    let ms = words.next().map_or(0, |ms| ms.parse().expect("a deed takes milliseconds"));
    let deed = match what.split_once('=').unwrap_or((what, "")) {
        ("ok", "") => Deed::Answer { data: None, confidence: None },
        ("ok", json) => Deed::Answer { data: Some(serde_json::from_str(json).expect("JSON")), confidence: None },
        ("low", confidence) => Deed::Answer { data: None, confidence: Some(confidence.parse().expect("a number")) },
        ("fail", _) => Deed::Fail(ErrorClass::Transient),
        ("refused", _) => Deed::Fail(ErrorClass::Refused),
        ("validation", _) => Deed::Fail(ErrorClass::Validation),
        ("client", _) => Deed::Fail(ErrorClass::Client),
        ("hang", _) => Deed::Hang,
        ("panic", _) => Deed::Panic,
        (other, _) => panic!("a script says {other:?}"),
    };
    (deed, ms)
}

/// Breakpoints as they are written, numbered from 1.
pub fn breakpoints_of(texts: &[&str]) -> Vec<Breakpoint> {
    let of = |(id, text): (u32, &&str)| Breakpoint { id, on: text.parse().unwrap(), enabled: true };
    (1..).zip(texts).map(of).collect()
}

/// Commands by the milliseconds at which they are given: `400 continue | 500 to d`.
pub fn commands_of(text: &str) -> Vec<(u64, Command)> {
    let command = |text: &str| {
        let (at, rest) = text.trim().split_once(' ').unwrap();
        let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let (step, value) = rest.split_once(' ').unwrap_or((rest, "null"));
        let (step, value) = (step.to_string(), || serde_json::from_str::<Value>(value).expect("JSON"));
        let command = match word {
            "pause" => Command::Pause,
            "continue" => Command::Resume { go: Go::Continue },
            "step" => Command::Resume { go: Go::Step },
            "stage" => Command::NextStage,
            "to" => Command::Resume { go: Go::To { step } },
            "cancel" => Command::CancelStep { step },
            "skip" => Command::Skip { step },
            "retry" => Command::Retry { step },
            "arguments" => Command::EditArguments { step, arguments: value().as_object().unwrap().clone() },
            "result" => Command::EditResult { step, data: value() },
            "break" => Command::SetBreakpoints { breakpoints: breakpoints_of(&[rest]) },
            other => panic!("a command says {other:?}"),
        };
        (at.parse().unwrap(), command)
    };
    text.split('|').filter(|c| !c.trim().is_empty()).map(command).collect()
}

/// The journal, one line per moment: `1000 b ready; b #1 calls b`.
pub fn transcript(entries: &[JournalEntry]) -> String {
    let mut lines: Vec<(u64, Vec<String>)> = vec![];
    for entry in entries {
        let said = show_event(&entry.event);
        match lines.last_mut() {
            Some((at, line)) if *at == entry.at_ms => line.push(said),
            _ => lines.push((entry.at_ms, vec![said])),
        }
    }
    lines.iter().map(|(at, said)| format!("{at} {}", said.join("; "))).collect::<Vec<_>>().join("\n")
}

fn show_event(event: &RunEvent) -> String {
    match event {
        RunEvent::Planned { .. } => "planned".into(),
        RunEvent::Started { plan, .. } => format!("start of {}", plan.steps.len()),
        RunEvent::StepReady { step } => format!("{step} ready"),
        RunEvent::AttemptStarted { step, attempt, tool, .. } => format!("{step} #{attempt} calls {tool}"),
        RunEvent::AttemptFinished { step, attempt, outcome, .. } => match outcome {
            AttemptOutcome::Succeeded { .. } => format!("{step} #{attempt} answers"),
            AttemptOutcome::Failed { error } => format!("{step} #{attempt} fails ({})", class(error)),
        },
        RunEvent::RetryScheduled { step, attempt, delay_ms } => format!("{step} waits {delay_ms} for #{attempt}"),
        RunEvent::FallbackStarted { step, tool, reason } => format!("{step} falls back to {tool}: {reason}"),
        RunEvent::StepSucceeded { step } => format!("{step} ok"),
        RunEvent::StepFailed { step, error } => format!("{step} FAILED ({}): {}", class(error), error.message),
        RunEvent::StepSkipped { step, reason } => match reason {
            Skip::Dependency { root } => format!("{step} skipped: {root} failed"),
            Skip::CriticalFailure { root } => format!("{step} skipped: critical {root} failed"),
            Skip::ByHand => format!("{step} skipped by hand"),
        },
        RunEvent::StepCancelled { step } => format!("{step} cancelled"),
        RunEvent::CancelRequested => "CANCEL".into(),
        RunEvent::Finished { outcome, duration_ms } => {
            format!("end {} after {duration_ms}", snake(outcome))
        }
        RunEvent::Discovery { step, event } => format!("{} {}", step.as_deref().unwrap_or("planning"), event.says()),
        RunEvent::Basis { .. } | RunEvent::Derived { .. } | RunEvent::Compared { .. } | RunEvent::Unknown { .. } => {
            event.kind().into()
        }
        RunEvent::Configured { .. } => "options".into(),
        RunEvent::CacheHit { step, attempt, age_ms } => format!("{step} #{attempt} is cached ({age_ms})"),
        RunEvent::CalledLive { step, attempt } => format!("{step} #{attempt} is live"),
        RunEvent::FaultInjected { step, attempt, fault } => format!("{step} #{attempt} struck by {fault}"),
        RunEvent::TimeoutChosen { step, attempt, timeout_ms, reason } => {
            format!("{step} #{attempt} within {timeout_ms}: {reason}")
        }
        RunEvent::BreakpointHit { step, attempt, text, .. } => format!("{step} #{attempt} hits {text}"),
        RunEvent::Paused { reason } => format!("PAUSED {}", pause(reason)),
        RunEvent::Resumed { go } => match go {
            Go::Continue => "GO".into(),
            Go::Step => "GO one step".into(),
            Go::Stage { stage } => format!("GO to the end of stage {stage}"),
            Go::To { step } => format!("GO to {step}"),
        },
        RunEvent::BreakpointsSet { breakpoints } => format!("{} breakpoints", breakpoints.len()),
        RunEvent::ArgumentsEdited { step, arguments } => {
            format!("{step} EDITED {}", Value::from(arguments.clone()))
        }
        RunEvent::ResultEdited { step, result } => format!("{step} GIVEN {}", result.data),
        RunEvent::RetryRequested { step } => format!("{step} AGAIN"),
        RunEvent::Reopened { .. } => "reopened".into(),
        RunEvent::OutcomeUnknown { step, attempt, again } => {
            format!("{step} #{attempt} unknown{}", if *again { ", again" } else { "" })
        }
    }
}

fn class(error: &ToolError) -> String {
    snake(&error.class)
}

fn pause(reason: &PauseReason) -> String {
    match reason {
        PauseReason::Start => "at the start".into(),
        PauseReason::ByHand => "by hand".into(),
        PauseReason::Breakpoint { breakpoint, step } => format!("at breakpoint {breakpoint} {step}").trim_end().into(),
        PauseReason::Stepped { step } => format!("after {step}"),
        PauseReason::Staged { stage } => format!("after stage {stage}"),
        PauseReason::Reached { step } => format!("before {step}"),
        PauseReason::UnknownOutcome { steps } => format!("to ask about {}", steps.join(" ")),
    }
}

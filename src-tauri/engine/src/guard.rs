//! The guard of source 000: which proposed calls may run, with which arguments, and why the others may not.
//!
//! Every proposal passes here, whichever way it was found (G-03). A call that comes out is [`Admitted`]; nothing else
//! in the program can make one. The guard reads the query, the model's text and the catalog; what the model or the
//! query says can narrow what runs and never widen it (G-15).

mod arguments;
mod fill;
pub mod mention;
mod noise;
pub mod reference;

pub use noise::NOISE_PREFIXES;

use crate::{
    plan::{Finding, as_reference, finding},
    request::{Request, SubQuery},
    select::{Proposal, Proposed, ReplyPath, offline::call_reference},
    settings::{GuardMode, Settings},
    text::Span,
    tool::{Catalog, Entry, Needs, SideEffects, ToolCall, ToolSpec},
    turns::is_planning_tool,
    verdict::{Evidence, Gate, Outcome, Source, Text, Verdict},
    visibility::Viewer,
};
use fill::{named, rule_id};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A call that passed the guard. The only way to make one is [`Guard::admit`]; a replay schedules by calls that were
/// recorded, and none of those ever leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct Admitted {
    call: ToolCall,
}

impl Admitted {
    pub(crate) fn of_record(call: ToolCall) -> Self {
        Self { call }
    }

    pub fn call(&self) -> &ToolCall {
        &self.call
    }
}

/// One call and what the guard said of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct GuardedCall {
    /// For a dropped call: with the arguments it would have had unguarded.
    pub call: ToolCall,
    /// `kept`, `dropped`, `added` or `rewritten`.
    pub outcome: Outcome,
    /// The verdict that decided.
    pub verdict: Verdict,
    /// All verdicts on this call, in the order of the gates.
    pub verdicts: Vec<Verdict>,
    /// Id of the sub-query that the call serves; empty for the whole query.
    pub sub_query: String,
    /// Audit mode: enforced, the call would have been dropped.
    pub would_drop: bool,
    /// Indexes of calls in this report whose results it waits for.
    pub after: Vec<u32>,
}

impl GuardedCall {
    /// Whether the call goes on to the plan.
    pub fn goes_on(&self) -> bool {
        !self.outcome.stops()
    }
}

/// A place in the model's text that names a tool (G-04).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Mention {
    pub tool: String,
    pub span: Span,
    pub negated: bool,
    /// It stands inside thinking text.
    pub thinking: bool,
}

/// What the guard made of one reply.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct GuardReport {
    pub path: ReplyPath,
    pub path_reason: String,
    /// The text that was read; empty without a model.
    pub model_text: String,
    pub mentions: Vec<Mention>,
    /// In the order of mention; added calls last.
    pub calls: Vec<GuardedCall>,
}

/// The guard for one request.
pub struct Guard<'a> {
    catalog: &'a Catalog,
    settings: &'a Settings,
    viewer: Viewer<'a>,
    request: &'a Request,
    /// What search tools ask: the sub-questions, else nothing and they ask the query (G-09).
    parts: &'a [SubQuery],
}

impl<'a> Guard<'a> {
    pub fn new(
        catalog: &'a Catalog,
        settings: &'a Settings,
        viewer: Viewer<'a>,
        request: &'a Request,
        parts: &'a [SubQuery],
    ) -> Self {
        Self { catalog, settings, viewer, request, parts }
    }

    /// Judges every proposed call and adds those that the query asks for by name (G-10).
    pub fn review(&self, proposal: Proposal, model_text: &str) -> GuardReport {
        let mut report = GuardReport {
            path: proposal.path,
            path_reason: proposal.path_reason,
            model_text: model_text.to_string(),
            mentions: proposal.mentions,
            calls: vec![],
        };
        // One proposal may become several calls: `after` is carried over to the indexes of the calls.
        let mut first_and_last: Vec<(u32, u32)> = vec![];
        for proposed in &proposal.calls {
            let start = report.calls.len();
            for mut call in self.judge(proposed, proposal.path) {
                let repeated = report
                    .calls
                    .iter()
                    .any(|c| c.goes_on() && call.goes_on() && c.call == call.call && proposed.after.is_empty());
                if repeated {
                    continue;
                }
                call.call.arguments = with_call_indexes(&call.call.arguments, &first_and_last);
                call.after = proposed
                    .after
                    .iter()
                    .filter_map(|&p| first_and_last.get(p as usize))
                    .flat_map(|&(from, to)| from..to)
                    .filter(|&i| report.calls[i as usize].goes_on())
                    .collect();
                report.calls.push(call);
            }
            first_and_last.push((start as u32, report.calls.len() as u32));
        }
        if self.settings.guard.add_by_rule {
            self.add_by_rule(&proposal.declined, &mut report.calls);
        }
        report
    }

    /// The gates from `proposed` to `schema` for one proposed call. A tool that needs a reference gives one call per
    /// reference.
    fn judge(&self, proposed: &Proposed, path: ReplyPath) -> Vec<GuardedCall> {
        let mut verdicts = vec![self.proposed_verdict(proposed, path)];
        let Some(entry) = self.catalog.get(&proposed.tool) else {
            verdicts.push(dropped(
                Gate::Registered,
                "tool.unknown",
                format!("There is no tool called {}; unknown names are refused, never rewritten", proposed.tool),
            ));
            return vec![self.stopped(proposed, None, verdicts)];
        };
        let tool = &entry.spec;
        if proposed.declined {
            verdicts.push(
                dropped(Gate::Proposed, "proposed.declined", "The model's text says not to use it")
                    .because(self.mention_evidence(proposed)),
            );
            return vec![self.stopped(proposed, Some(tool), verdicts)];
        }
        if let Some(verdict) = self.viewer.hides(tool) {
            let reason = format!("State violation: {}", lower_first(&verdict.reason));
            let reason = if verdict.gate == Gate::State { reason } else { verdict.reason.to_string() };
            verdicts.push(Verdict { outcome: Outcome::Dropped, reason: reason.into(), ..verdict });
            return vec![self.stopped(proposed, Some(tool), verdicts)];
        }
        if is_planning_tool(self.settings, &tool.name) {
            verdicts.push(dropped(
                Gate::Proposed,
                "proposed.planning",
                "It is answered while planning and is no step of a plan",
            ));
            return vec![self.stopped(proposed, Some(tool), verdicts)];
        }
        let mut would_drop = false;
        let whitelist = self.whitelist_verdict(&tool.name);
        let refused = whitelist.outcome.stops();
        verdicts.push(self.relax(whitelist, &mut would_drop));
        if refused && !would_drop {
            // What else would have stopped it: the later gates speak too, though the first decides.
            verdicts.extend(self.fill(proposed, tool).err().unwrap_or_default());
            return vec![self.stopped(proposed, Some(tool), verdicts)];
        }
        match self.fill(proposed, tool) {
            Ok(filled) => filled
                .into_iter()
                .map(|f| {
                    let mut verdicts = verdicts.clone();
                    verdicts.extend(f.verdicts);
                    self.finish(entry, f.call, f.sub_query, verdicts, would_drop)
                })
                .collect(),
            Err(missing) => {
                let audited = self.settings.guard.mode == GuardMode::Audit
                    && missing.last().is_some_and(|v| v.gate == Gate::Applicability);
                for verdict in missing {
                    verdicts.push(if audited { self.relax(verdict, &mut would_drop) } else { verdict });
                }
                if audited {
                    let call = self.unguarded_call(proposed, Some(tool));
                    return vec![self.finish(entry, call, String::new(), verdicts, would_drop)];
                }
                vec![self.stopped(proposed, Some(tool), verdicts)]
            }
        }
    }

    fn proposed_verdict(&self, proposed: &Proposed, path: ReplyPath) -> Verdict {
        let (rule, reason) = match path {
            ReplyPath::Native => ("proposed.native", "The model called it"),
            ReplyPath::Json => ("proposed.json", "The model's JSON calls it"),
            ReplyPath::FreeText => ("proposed.text", "The model's text names it"),
            ReplyPath::Fallback | ReplyPath::Offline => ("proposed.offline", "The offline planner chose it"),
        };
        Verdict::kept(Gate::Proposed, rule, reason).because(self.mention_evidence(proposed))
    }

    fn mention_evidence(&self, proposed: &Proposed) -> Option<Evidence> {
        proposed.mention.map(|span| Evidence { source: Source::ModelText, span, text: proposed.tool.clone() })
    }

    fn whitelist_verdict(&self, tool: &str) -> Verdict {
        match self.request.routing.whitelist() {
            None => Verdict::kept(
                Gate::Whitelist,
                "whitelist.none",
                "The routing plan suggests no tools, so none is excluded",
            ),
            Some(list) if list.iter().any(|t| t == tool) => {
                Verdict::kept(Gate::Whitelist, "whitelist.listed", "The routing plan suggests it")
            }
            Some(list) => dropped(
                Gate::Whitelist,
                "whitelist.not_listed",
                format!("The routing plan suggests only {}", list.join(", ")),
            ),
        }
        .set_by("routing.suggested_tools")
    }

    /// In audit mode a refusal of the whitelist or of a rule is only reported (G-13).
    fn relax(&self, verdict: Verdict, would_drop: &mut bool) -> Verdict {
        if verdict.outcome.stops() && self.settings.guard.mode == GuardMode::Audit {
            *would_drop = true;
            let reason = format!("Audit: would be dropped. {}", verdict.reason);
            return Verdict { outcome: Outcome::Kept, reason: reason.into(), ..verdict };
        }
        verdict
    }

    /// The schema gate, and the call that comes out.
    fn finish(
        &self,
        entry: &Entry,
        call: ToolCall,
        sub_query: String,
        mut verdicts: Vec<Verdict>,
        would_drop: bool,
    ) -> GuardedCall {
        let problems = schema_problems(entry, &call.arguments);
        if problems.is_empty() {
            verdicts.push(Verdict::kept(Gate::Schema, "schema.valid", "The arguments fit the schema"));
        } else {
            verdicts.push(
                dropped(
                    Gate::Schema,
                    "schema.mismatch",
                    format!("The arguments do not fit the schema: {}", problems.join("; ")),
                )
                .set_by("parameters"),
            );
        }
        let rewritten = verdicts.iter().find(|v| v.outcome == Outcome::Rewritten);
        let decided = verdicts.iter().find(|v| v.outcome.stops()).or(rewritten).or_else(|| telling(&verdicts));
        let verdict = decided.cloned().unwrap_or_else(|| verdicts[0].clone());
        GuardedCall { call, outcome: verdict.outcome, verdict, verdicts, sub_query, would_drop, after: vec![] }
    }

    fn stopped(&self, proposed: &Proposed, tool: Option<&ToolSpec>, verdicts: Vec<Verdict>) -> GuardedCall {
        let verdict = verdicts.iter().find(|v| v.outcome.stops()).unwrap_or(&verdicts[0]).clone();
        GuardedCall {
            call: self.unguarded_call(proposed, tool),
            outcome: verdict.outcome,
            verdict,
            verdicts,
            sub_query: self.known_part(&proposed.sub_query),
            would_drop: false,
            after: vec![],
        }
    }

    /// The call as it would run without a guard: the model's arguments, else the raw query in the tool's argument.
    fn unguarded_call(&self, proposed: &Proposed, tool: Option<&ToolSpec>) -> ToolCall {
        let arguments = proposed.arguments.clone().unwrap_or_else(|| {
            let name = tool.and_then(|t| {
                t.applicability.as_ref().map(|a| a.argument.as_str()).or_else(|| t.required().first().copied())
            });
            name.map(|name| Map::from_iter([(name.to_string(), Value::from(self.request.query.trim()))]))
                .unwrap_or_default()
        });
        ToolCall { tool: proposed.tool.clone(), arguments }
    }

    /// Calls for references that the query states and no kept call uses (G-10). Only SAFE tools without lasting
    /// effects are ever added, and never one that the model declined.
    fn add_by_rule(&self, declined: &[String], calls: &mut Vec<GuardedCall>) {
        let rules = self.catalog.iter().filter_map(|e| Some((e, e.spec.applicability.as_ref()?)));
        // Issue keys and pages before URLs: a URL whose key or page is fetched needs no second fetch.
        let mut rules: Vec<_> =
            rules.filter(|(_, rule)| !matches!(rule.needs, Needs::Text | Needs::Path | Needs::Entity)).collect();
        rules.sort_by_key(|(_, rule)| rule.needs == Needs::Url);
        for (entry, rule) in rules {
            let tool = &entry.spec;
            let harmless = tool.classification.is_safe()
                && matches!(tool.side_effects, SideEffects::Pure | SideEffects::Read | SideEffects::External);
            let listed = !self.whitelist_verdict(&tool.name).outcome.stops();
            if !harmless || !listed || declined.contains(&tool.name) || !self.viewer.sees(tool) {
                continue;
            }
            let asked = self.whole_query();
            let Ok(references) = self.references(&rule.needs, asked.text) else { continue };
            for found in references.found {
                let stands_in =
                    |c: &GuardedCall| c.call.arguments.values().filter_map(Value::as_str).any(|v| v == found.value);
                let covered = rule.needs == Needs::Url
                    && calls.iter().any(|c| {
                        c.goes_on()
                            && c.call.tool != tool.name
                            && c.verdicts
                                .iter()
                                .flat_map(|v| &v.evidence)
                                .any(|e| e.source == Source::Query && found.value.contains(&e.text))
                    });
                if covered || calls.iter().any(|c| c.goes_on() && c.call.tool == tool.name && stands_in(c)) {
                    continue;
                }
                let evidence = Evidence {
                    source: Source::Query,
                    span: self.span_in_source(&asked, &found),
                    text: found.value.clone(),
                };
                let added = Verdict::new(
                    Gate::Proposed,
                    Outcome::Added,
                    "rule.added",
                    format!("Added by rule: the query names {}", found.value),
                )
                .because([evidence.clone()])
                .set_by("guard.add_by_rule");
                let applicable =
                    Verdict::kept(Gate::Applicability, rule_id(&rule.needs), named(&rule.needs, &found.value))
                        .because([evidence]);
                let call = ToolCall::new(&tool.name, &rule.argument, found.value);
                let verdicts = vec![
                    added.clone(),
                    self.whitelist_verdict(&tool.name),
                    applicable,
                    Verdict::kept(
                        Gate::Arguments,
                        "arguments.extracted",
                        format!("{} comes from the query", rule.argument),
                    ),
                ];
                let mut judged = self.finish(entry, call, String::new(), verdicts, false);
                if judged.goes_on() {
                    judged.outcome = Outcome::Added;
                    judged.verdict = added;
                    calls.push(judged);
                }
            }
        }
    }

    /// The guard's last word on a call, when a plan is checked and again right before it runs with resolved arguments
    /// (G-14, V-07): known, visible in this state, on the whitelist, fitting its schema.
    ///
    /// References to earlier results are not held against the schema until they are resolved.
    pub fn admit(&self, call: &ToolCall) -> Result<Admitted, Finding> {
        let Some(entry) = self.catalog.get(&call.tool) else {
            return Err(finding(
                "plan.unknown_tool",
                "",
                format!("there is no tool called {}", call.tool),
                "choose a tool of the catalog",
            ));
        };
        if let Some(verdict) = self.viewer.hides(&entry.spec) {
            return Err(finding(
                "plan.refused",
                "",
                format!("{} is hidden: {}", call.tool, lower_first(&verdict.reason)),
                "change the state, mode or policy, or remove the step",
            ));
        }
        let whitelist = self.whitelist_verdict(&call.tool);
        if whitelist.outcome.stops() && self.settings.guard.mode == GuardMode::Enforce {
            return Err(finding(
                "plan.refused",
                "",
                format!("{} is refused: {}", call.tool, lower_first(&whitelist.reason)),
                "change the routing plan or remove the step",
            ));
        }
        let problems = schema_problems(entry, &call.arguments);
        if !problems.is_empty() {
            return Err(finding(
                "plan.schema",
                "",
                format!("the arguments of {} do not fit its schema: {}", call.tool, problems.join("; ")),
                "correct the arguments or the tool's parameters",
            ));
        }
        Ok(Admitted { call: call.clone() })
    }
}

/// References to proposed calls as references to the calls that came of them: one list item for each.
fn with_call_indexes(arguments: &Map<String, Value>, first_and_last: &[(u32, u32)]) -> Map<String, Value> {
    let calls_of = |value: &Value| {
        let proposal: usize = value.get("$from")?.as_str()?.strip_prefix('#')?.parse().ok()?;
        first_and_last
            .get(proposal)
            .map(|&(from, to)| (from..to).map(|i| serde_json::json!({"$from": call_reference(i)})))
    };
    let renamed = |value: &Value| match value {
        Value::Array(items) => items
            .iter()
            .flat_map(|item| calls_of(item).map_or_else(|| vec![item.clone()], |calls| calls.collect()))
            .collect(),
        single => calls_of(single).and_then(|mut calls| calls.next()).unwrap_or_else(|| single.clone()),
    };
    arguments.iter().map(|(name, value)| (name.clone(), renamed(value))).collect()
}

/// The verdict worth showing for a call that passed: the first with evidence in the query, else the last.
fn telling(verdicts: &[Verdict]) -> Option<&Verdict> {
    verdicts
        .iter()
        .find(|v| v.gate == Gate::Applicability && !v.evidence.is_empty())
        .or_else(|| verdicts.iter().find(|v| v.gate == Gate::Arguments))
}

/// What is wrong with the arguments, one sentence each. Arguments that refer to earlier results are left out.
fn schema_problems(entry: &Entry, arguments: &Map<String, Value>) -> Vec<String> {
    let validator = match entry.validator() {
        Ok(validator) => validator,
        Err(error) => return vec![format!("the schema itself is invalid: {error}")],
    };
    let pending: Vec<&String> = arguments.iter().filter(|(_, v)| holds_reference(v)).map(|(k, _)| k).collect();
    let known: Map<String, Value> =
        arguments.iter().filter(|(k, _)| !pending.contains(k)).map(|(k, v)| (k.clone(), v.clone())).collect();
    let instance = Value::Object(known);
    let mut problems: Vec<String> = validator
        .iter_errors(&instance)
        .filter(|error| match error.kind() {
            jsonschema::error::ValidationErrorKind::Required { property } => {
                !pending.iter().any(|p| property.as_str() == Some(p))
            }
            _ => true,
        })
        .map(|error| {
            let at = error.instance_path().to_string();
            if at.is_empty() { error.to_string() } else { format!("{error} at {at}") }
        })
        .collect();
    problems.truncate(8);
    problems
}

fn holds_reference(value: &Value) -> bool {
    as_reference(value).is_some()
        || match value {
            Value::Array(items) => items.iter().any(holds_reference),
            Value::Object(map) => map.values().any(holds_reference),
            _ => false,
        }
}

fn dropped(gate: Gate, rule: &'static str, reason: impl Into<Text>) -> Verdict {
    Verdict::new(gate, Outcome::Dropped, rule, reason)
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        // Words in capitals (DESTRUCTIVE, SAFE) stay as they are.
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(chars).collect(),
        _ => text.to_string(),
    }
}

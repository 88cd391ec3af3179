//! The guard of source 000: which proposed calls may run, with which arguments, and why the others may not.
//!
//! Every proposal passes here, whichever way it was found (G-03). A call that comes out is [`Admitted`]; nothing else
//! in the program can make one. The guard reads the query, the model's text and the catalog; what the model or the
//! query says can narrow what runs and never widen it (G-15).

mod arguments;
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
    tool::{Applicability, Catalog, Entry, Needs, SideEffects, ToolCall, ToolSpec},
    verdict::{Evidence, Gate, Outcome, Source, Text, Verdict},
    visibility::Viewer,
};
use reference::References;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A call that passed the guard. The only way to make one is [`Guard::admit`].
#[derive(Debug, Clone, PartialEq)]
pub struct Admitted {
    call: ToolCall,
}

impl Admitted {
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

/// A text of the request with its place in the evidence.
struct Asked<'a> {
    text: &'a str,
    source: Source,
    sub_query: &'a str,
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
        if let Some(verdict) = self.viewer.trail(tool).decided() {
            let reason = format!("State violation: {}", lower_first(&verdict.reason));
            let reason = if verdict.gate == Gate::State { reason } else { verdict.reason.to_string() };
            verdicts.push(Verdict { outcome: Outcome::Dropped, reason: reason.into(), ..verdict.clone() });
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

    /// The texts that a call may be about: the sub-query it serves, else all parts, else the query.
    fn asked(&self, sub_query: &str) -> Vec<Asked<'_>> {
        let part = |(index, part): (usize, &'a SubQuery)| Asked {
            text: part.query.trim(),
            source: Source::SubQuestion { index: index as u32 },
            sub_query: &part.id,
        };
        let parts = self.parts.iter().enumerate();
        let named: Vec<_> = parts
            .clone()
            .filter(|(_, p)| !sub_query.is_empty() && (p.id == sub_query || p.query == sub_query))
            .map(part)
            .collect();
        if !named.is_empty() {
            return named;
        }
        let all: Vec<_> =
            parts.filter(|(_, p)| p.dependencies.is_empty()).map(part).filter(|a| !a.text.is_empty()).collect();
        if all.is_empty() { vec![self.whole_query()] } else { all }
    }

    fn whole_query(&self) -> Asked<'_> {
        Asked { text: self.request.query.trim(), source: Source::Query, sub_query: "" }
    }

    /// Applicability and arguments: the calls, or the verdicts that leave it out.
    fn fill(&self, proposed: &Proposed, tool: &ToolSpec) -> Result<Vec<Filled>, Vec<Verdict>> {
        match &tool.applicability {
            Some(rule) if rule.needs == Needs::Text => self.fill_text(proposed, tool, &rule.argument),
            Some(rule) => self.fill_reference(proposed, tool, rule),
            None => self.fill_schema(proposed, tool),
        }
    }

    fn fill_text(&self, proposed: &Proposed, tool: &ToolSpec, argument: &str) -> Result<Vec<Filled>, Vec<Verdict>> {
        let applicable = Verdict::kept(Gate::Applicability, "applies.always", "Applies to any query");
        let own = proposed.arguments.as_ref().filter(|a| a.get(argument).is_some_and(is_stated));
        if let Some(arguments) = own {
            let verdict =
                Verdict::kept(Gate::Arguments, "arguments.stated", format!("The proposal states its {argument}"));
            let call = ToolCall { tool: tool.name.clone(), arguments: arguments.clone() };
            return Ok(vec![Filled {
                call,
                sub_query: self.known_part(&proposed.sub_query),
                verdicts: vec![applicable, verdict],
            }]);
        }
        let (stated, unknown) = known_arguments(proposed, tool);
        let asked = self.asked(&proposed.sub_query);
        if asked.iter().all(|a| a.text.is_empty()) {
            return Err(vec![
                applicable,
                dropped(Gate::Arguments, "arguments.empty", "The query is empty: there is nothing to ask"),
            ]);
        }
        let filled = asked.into_iter().map(|asked| {
            let mut arguments = stated.clone();
            arguments.insert(argument.to_string(), asked.text.into());
            let what = if asked.source == Source::Query { "whole query" } else { "sub-question" };
            let verdict = Verdict::kept(Gate::Arguments, "arguments.text", format!("Its {argument} is the {what}"));
            Filled {
                call: ToolCall { tool: tool.name.clone(), arguments },
                sub_query: asked.sub_query.to_string(),
                verdicts: [applicable.clone(), verdict].into_iter().chain(unknown.clone()).collect(),
            }
        });
        Ok(filled.collect())
    }

    fn fill_reference(
        &self,
        proposed: &Proposed,
        tool: &ToolSpec,
        rule: &Applicability,
    ) -> Result<Vec<Filled>, Vec<Verdict>> {
        let needs = &rule.needs;
        let stated = proposed.arguments.as_ref().and_then(|a| a.get(&rule.argument));
        if let Some(value) = stated.filter(|v| as_reference(v).is_some()) {
            let verdicts = vec![
                Verdict::kept(Gate::Applicability, rule_id(needs), "Applies to the result of an earlier step"),
                Verdict::kept(
                    Gate::Arguments,
                    "arguments.reference",
                    format!("{} comes from an earlier step: {value}", rule.argument),
                ),
            ];
            let call = ToolCall { tool: tool.name.clone(), arguments: proposed.arguments.clone().unwrap_or_default() };
            return Ok(vec![Filled { call, sub_query: self.known_part(&proposed.sub_query), verdicts }]);
        }
        let mut near = vec![];
        // The parts are read together; the whole query only where they hold nothing.
        let parts = self.asked(&proposed.sub_query);
        let whole = [self.whole_query()];
        let differ = parts.iter().any(|p| p.source != Source::Query);
        for texts in [parts.as_slice(), if differ { &whole } else { &[] }] {
            let mut found = vec![];
            for asked in texts {
                let references = self.references(needs, asked.text)?;
                near.extend(references.near.into_iter().map(|n| (asked, n)));
                found.extend(references.found.into_iter().map(|f| (asked, f)));
            }
            if !found.is_empty() {
                return Ok(self.reference_calls(proposed, tool, rule, stated, found));
            }
        }
        Err(self.no_reference(tool, needs, &near))
    }

    fn reference_calls(
        &self,
        proposed: &Proposed,
        tool: &ToolSpec,
        rule: &Applicability,
        stated: Option<&Value>,
        found: Vec<(&Asked<'_>, reference::Found)>,
    ) -> Vec<Filled> {
        let stated_text = stated.and_then(Value::as_str);
        // A model that asks for one of the references gets that one; any other value gives way to the query's.
        let only = found.iter().position(|(_, f)| Some(f.value.as_str()) == stated_text);
        let mut seen: Vec<&str> = vec![];
        let mut calls = vec![];
        for (at, (asked, reference)) in found.iter().enumerate() {
            if only.is_some_and(|only| only != at) || seen.contains(&reference.value.as_str()) {
                continue;
            }
            seen.push(&reference.value);
            let evidence = Evidence {
                source: asked.source.clone(),
                span: self.span_in_source(asked, reference),
                text: reference.value.clone(),
            };
            let applicable =
                Verdict::kept(Gate::Applicability, rule_id(&rule.needs), named(&rule.needs, &reference.value))
                    .because([evidence]);
            let (mut arguments, unknown) = known_arguments(proposed, tool);
            let replaced = arguments.insert(rule.argument.clone(), reference.value.clone().into());
            let verdict = match replaced.filter(|old| old.as_str() != Some(&reference.value)) {
                Some(old) => Verdict::new(
                    Gate::Arguments,
                    Outcome::Rewritten,
                    "arguments.replaced",
                    format!(
                        "{} was {old}, which the query does not name; it is {} now",
                        rule.argument, reference.value
                    ),
                ),
                None => Verdict::kept(
                    Gate::Arguments,
                    "arguments.extracted",
                    format!("{} comes from the query", rule.argument),
                ),
            };
            calls.push(Filled {
                call: ToolCall { tool: tool.name.clone(), arguments },
                sub_query: asked.sub_query.to_string(),
                verdicts: [applicable, verdict].into_iter().chain(unknown).collect(),
            });
        }
        calls
    }

    /// The span of a reference in the text as the person wrote it: the parts and the query are trimmed for searching.
    fn span_in_source(&self, asked: &Asked<'_>, found: &reference::Found) -> Span {
        let whole = match &asked.source {
            Source::SubQuestion { index } => self.parts[*index as usize].query.as_str(),
            _ => self.request.query.as_str(),
        };
        let offset = whole.len() - whole.trim_start().len();
        Span::of(whole, found.range.start + offset..found.range.end + offset)
    }

    fn no_reference(&self, tool: &ToolSpec, needs: &Needs, near: &[(&Asked<'_>, reference::NearMiss)]) -> Vec<Verdict> {
        let key = config_key(needs);
        let evidence = near.iter().map(|(asked, near)| Evidence {
            source: asked.source.clone(),
            span: self.span_in_source(asked, &near.found),
            text: near.found.value.clone(),
        });
        if *needs == Needs::PageId
            && let Some(word) = reference::names_wiki(&self.request.query)
        {
            let span = Span::of(&self.request.query, word.clone());
            let evidence = Evidence { source: Source::Query, span, text: self.request.query[word].into() };
            return vec![
                Verdict::kept(Gate::Applicability, rule_id(needs), "The query names the wiki").because([evidence]),
                dropped(
                    Gate::Arguments,
                    "arguments.page_id",
                    "The query names the wiki but no page id, and the id is required",
                )
                .set_by(key),
            ];
        }
        let because = near.first().map(|(_, n)| format!(" ({}: {})", n.found.value, n.reason)).unwrap_or_default();
        let reason = format!("The query has no {}{because}", noun(needs));
        if matches!(needs, Needs::Path | Needs::Entity) {
            // Reading tools always apply (G-08); it is the argument that is missing.
            return vec![
                Verdict::kept(Gate::Applicability, "applies.always", "Applies to any query"),
                dropped(Gate::Arguments, "arguments.missing", format!("{reason}, which {} requires", tool.name)),
            ];
        }
        vec![dropped(Gate::Applicability, rule_id(needs), reason).because(evidence).set_by(key)]
    }

    fn fill_schema(&self, proposed: &Proposed, tool: &ToolSpec) -> Result<Vec<Filled>, Vec<Verdict>> {
        let applicable = Verdict::kept(Gate::Applicability, "applies.no_rule", "No rule restricts it");
        if let Some(arguments) = &proposed.arguments {
            let verdict = Verdict::kept(Gate::Arguments, "arguments.stated", "The proposal states its arguments");
            let call = ToolCall { tool: tool.name.clone(), arguments: arguments.clone() };
            return Ok(vec![Filled {
                call,
                sub_query: self.known_part(&proposed.sub_query),
                verdicts: vec![applicable, verdict],
            }]);
        }
        let asked = self.asked(&proposed.sub_query);
        let first = asked.first().map_or("", |a| a.text);
        let whole = self.request.query.trim();
        let filled = arguments::from_schema(tool, first).or_else(|_| arguments::from_schema(tool, whole));
        match filled {
            Ok(arguments) => {
                let verdict = Verdict::kept(
                    Gate::Arguments,
                    "arguments.schema",
                    "The arguments come from the query, by the schema",
                );
                let call = ToolCall { tool: tool.name.clone(), arguments };
                Ok(vec![Filled {
                    call,
                    sub_query: self.known_part(&proposed.sub_query),
                    verdicts: vec![applicable, verdict],
                }])
            }
            Err(reason) => Err(vec![applicable, dropped(Gate::Arguments, "arguments.missing", reason)]),
        }
    }

    fn references(&self, needs: &Needs, text: &str) -> Result<References, Vec<Verdict>> {
        Ok(match needs {
            Needs::Text => References::default(),
            Needs::IssueKey => reference::issue_keys(text, &self.settings.guard),
            Needs::Url => reference::urls(text),
            Needs::PageId => reference::page_ids(text),
            Needs::Path => reference::paths(text),
            Needs::Entity => {
                let kinds = [
                    reference::paths(text),
                    reference::issue_keys(text, &self.settings.guard),
                    reference::quoted(text),
                ];
                kinds.into_iter().find(|k| !k.found.is_empty()).unwrap_or_default()
            }
            Needs::Pattern { regex } => reference::matches(text, regex).map_err(|error| {
                let first_line = error.lines().last().unwrap_or_default().to_string();
                vec![
                    dropped(
                        Gate::Applicability,
                        "applies.bad_pattern",
                        format!("Its pattern does not compile: {first_line}"),
                    )
                    .set_by("applicability"),
                ]
            })?,
        })
    }

    /// The id of the sub-query that a proposal names by id or by text; empty where there is none.
    fn known_part(&self, sub_query: &str) -> String {
        self.parts.iter().find(|p| p.id == sub_query || p.query == sub_query).map(|p| p.id.clone()).unwrap_or_default()
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
        if let Some(verdict) = self.viewer.trail(&entry.spec).decided() {
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

/// One filled-in call with the verdicts of the gates `applicability` and `arguments`.
struct Filled {
    call: ToolCall,
    sub_query: String,
    verdicts: Vec<Verdict>,
}

/// The proposed arguments that the tool's schema knows, and a verdict on those that it does not. Only the argument
/// that a rule fills is needed; a model that calls it by another name loses nothing.
fn known_arguments(proposed: &Proposed, tool: &ToolSpec) -> (Map<String, Value>, Option<Verdict>) {
    let mut known = proposed.arguments.clone().unwrap_or_default();
    let Some(properties) = tool.properties() else { return (known, None) };
    if tool.parameters.get("additionalProperties") != Some(&Value::Bool(false)) {
        return (known, None);
    }
    let unknown: Vec<String> = known.keys().filter(|k| !properties.contains_key(*k)).cloned().collect();
    known.retain(|name, _| properties.contains_key(name));
    let verdict = (!unknown.is_empty()).then(|| {
        let reason = format!("Left out, because its schema has no such argument: {}", unknown.join(", "));
        Verdict::new(Gate::Arguments, Outcome::Rewritten, "arguments.unknown", reason)
    });
    (known, verdict)
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

fn is_stated(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Null => false,
        _ => true,
    }
}

fn dropped(gate: Gate, rule: &'static str, reason: impl Into<Text>) -> Verdict {
    Verdict::new(gate, Outcome::Dropped, rule, reason)
}

fn rule_id(needs: &Needs) -> &'static str {
    match needs {
        Needs::Text => "applies.always",
        Needs::IssueKey => "applies.issue_key",
        Needs::Url => "applies.url",
        Needs::PageId => "applies.page_id",
        Needs::Path => "applies.path",
        Needs::Entity => "applies.entity",
        Needs::Pattern { .. } => "applies.pattern",
    }
}

fn noun(needs: &Needs) -> &'static str {
    match needs {
        Needs::Text => "text",
        Needs::IssueKey => "Jira key",
        Needs::Url => "http or https URL",
        Needs::PageId => "page reference",
        Needs::Path => "file path",
        Needs::Entity => "path, key or quoted name",
        Needs::Pattern { .. } => "match of the tool's pattern",
    }
}

fn named(needs: &Needs, value: &str) -> String {
    match needs {
        Needs::Pattern { .. } => format!("The query matches the tool's pattern: {value}"),
        _ => format!("The query names the {} {value}", noun(needs)),
    }
}

fn config_key(needs: &Needs) -> &'static str {
    match needs {
        Needs::IssueKey => "guard.noise_prefixes",
        _ => "applicability",
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        // Words in capitals (DESTRUCTIVE, SAFE) stay as they are.
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(chars).collect(),
        _ => text.to_string(),
    }
}

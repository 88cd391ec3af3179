//! Applicability and arguments: what a call is about, found in the query and never invented (G-05 to G-09).

use super::{Guard, arguments, dropped, reference};
use crate::{
    plan::as_reference,
    request::SubQuery,
    select::Proposed,
    text::Span,
    tool::{Applicability, Needs, ToolCall, ToolSpec},
    verdict::{Evidence, Gate, Outcome, Source, Verdict},
};
use reference::References;
use serde_json::{Map, Value};

/// A text of the request with its place in the evidence.
pub(super) struct Asked<'a> {
    pub(super) text: &'a str,
    pub(super) source: Source,
    pub(super) sub_query: &'a str,
}

/// One filled-in call with the verdicts of the gates `applicability` and `arguments`.
pub(super) struct Filled {
    pub(super) call: ToolCall,
    pub(super) sub_query: String,
    pub(super) verdicts: Vec<Verdict>,
}

impl<'a> Guard<'a> {
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

    pub(super) fn whole_query(&self) -> Asked<'_> {
        Asked { text: self.request.query.trim(), source: Source::Query, sub_query: "" }
    }

    /// Applicability and arguments: the calls, or the verdicts that leave it out.
    pub(super) fn fill(&self, proposed: &Proposed, tool: &ToolSpec) -> Result<Vec<Filled>, Vec<Verdict>> {
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
    pub(super) fn span_in_source(&self, asked: &Asked<'_>, found: &reference::Found) -> Span {
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

    pub(super) fn references(&self, needs: &Needs, text: &str) -> Result<References, Vec<Verdict>> {
        reference::of(needs, text, &self.settings.guard).map_err(|error| {
            let first_line = error.lines().last().unwrap_or_default().to_string();
            let reason = format!("Its pattern does not compile: {first_line}");
            vec![dropped(Gate::Applicability, "applies.bad_pattern", reason).set_by("applicability")]
        })
    }

    /// The id of the sub-query that a proposal names by id or by text; empty where there is none.
    pub(super) fn known_part(&self, sub_query: &str) -> String {
        self.parts.iter().find(|p| p.id == sub_query || p.query == sub_query).map(|p| p.id.clone()).unwrap_or_default()
    }
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

fn is_stated(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Null => false,
        _ => true,
    }
}

pub(super) fn rule_id(needs: &Needs) -> &'static str {
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

pub(super) fn named(needs: &Needs, value: &str) -> String {
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

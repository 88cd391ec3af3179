//! Tools that make an answer of earlier results and judge it (O-09): `combine_results` writes it, `validate_answer` and
//! `check_hallucination` check it, `check_coverage` says what the results leave out.
//!
//! With a model the answer is written and judged by it; without one, or when it fails or is too late, sentences of the
//! results are chosen and compared by their words. Either way the result says which, and why. What a model says counts
//! only where the results bear it out: [`support`] and [`facts`] decide that without a model. `docs/answers.md` says how
//! support is judged and what the confidences mean.
//!
//! Results are data. They go to the model in a form that none of their text can leave, no tool is offered with them, and
//! nothing in them changes what runs.

mod align;
mod ask;
mod extract;
mod facts;
mod judge;
mod prompt;
mod reading;
mod statement;
mod support;
#[cfg(test)]
mod tests;
mod write;

use super::{
    arguments::{Arguments, invalid},
    blocking,
    results::round,
};
use ask::{Method, Usage, ask};
use judge::{Answers, Judged};
use reading::Reading;
use serde_json::{Value, json};
use std::{collections::HashSet, sync::Arc};
use support::{Evidence, Grade, coverage};
use toolplan_engine::ports::{CallContext, ChatModel, ToolError, ToolResult};

/// The share of a question's words from which an answer counts as complete, where no model says so.
const COMPLETE: f32 = 0.6;

/// One answer to the question from the results.
pub(super) async fn combine(
    model: Option<&Arc<dyn ChatModel>>,
    arguments: &Arguments,
    context: &CallContext,
) -> Result<ToolResult, ToolError> {
    let question = arguments.required("question")?.to_string();
    let method = method(arguments)?;
    let evidence = evidence(arguments, context, None).await?;
    let reading = &evidence.reading;
    let heard = match reading.is_empty() && (method != Method::Model || model.is_some()) {
        true => Err(ask::Refused { why: "the results hold no text".into(), usage: None }),
        false => ask(model, method, context, || prompt::write(&question, reading), write::complete).await?,
    };
    let (told, usage) = match heard {
        Ok(told) => told,
        Err(refused) => return extracted(question, evidence.clone(), refused, context).await,
    };
    let checked = evidence.clone();
    let written = blocking::run(context, move |_| Ok(write::check(told, &checked))).await?;
    let answer: Vec<&str> = written.iter().map(|w| w.text.as_str()).collect();
    let rests_on: Vec<(usize, usize)> =
        written.iter().filter(|w| w.finding.grade == Grade::Supported).filter_map(|w| w.finding.at).collect();
    let supported = written.iter().filter(|w| w.finding.grade == Grade::Supported).count();
    let support = supported as f32 / written.len().max(1) as f32;
    let (covered, _) = coverage(&question, reading, &answer.join("\n"), &rests_on);
    let covered = if written.is_empty() { 0.0 } else { covered };
    let cited: Vec<usize> = written.iter().flat_map(|w| w.citations.iter().map(|(result, _)| *result)).collect();
    let cited_once: HashSet<usize> = cited.iter().copied().collect();
    let sentences: Vec<Value> = written
        .iter()
        .map(|w| {
            let at = w.finding.at.map(|(from, _)| from);
            let citations = w.citations.iter().map(|(result, quote)| citation(reading, *result, at, quote.as_deref()));
            json!({
                "text": w.text,
                "result": w.citations.first().map(|(result, _)| result + 1),
                "source": at.and_then(|at| reading.source_of(at)).or(w.citations.first().and_then(|(r, _)| source(reading, *r))),
                "citations": citations.collect::<Vec<_>>(),
                "grade": w.finding.grade.name(),
                "confidence": round(w.finding.confidence),
                "reason": w.finding.reason,
            })
        })
        .collect();
    let unsupported: Vec<Value> = written
        .iter()
        .filter(|w| w.finding.grade != Grade::Supported)
        .map(|w| json!({"text": w.text, "grade": w.finding.grade.name(), "reason": w.finding.reason}))
        .collect();
    let mut data = json!({
        "answer": if answer.is_empty() { Value::Null } else { answer.join(" ").into() },
        "sentences": sentences,
        "unsupported": unsupported,
        "coverage": round(covered),
        "support": round(support),
    });
    let why = if written.is_empty() { "the model finds no answer in the results" } else { "" };
    describe(&mut data, "model", why, Some(&usage), reading);
    let mut sources = reading.sources(rests_on.iter().map(|(from, _)| *from));
    for source in cited.iter().filter_map(|r| source(reading, *r)) {
        if !sources.iter().any(|known| known == source) {
            sources.push(source.to_string());
        }
    }
    Ok(ToolResult { data, confidence: Some(covered * support * trusted(reading, &cited_once)), sources })
}

/// The answer made of sentences of the results, with the reason why no model wrote it.
async fn extracted(
    question: String,
    evidence: Arc<Evidence>,
    refused: ask::Refused,
    context: &CallContext,
) -> Result<ToolResult, ToolError> {
    let read = evidence.clone();
    let extract = blocking::run(context, move |stop| extract::extract(&question, &read.reading, stop)).await?;
    let reading = &evidence.reading;
    let text = |s: usize| reading.sentences[s].text.as_str();
    let sentences: Vec<Value> = extract
        .sentences
        .iter()
        .map(|&s| {
            let result = reading.result_of(s);
            json!({
                "text": text(s),
                "result": result + 1,
                "source": reading.source_of(s),
                "citations": [citation(reading, result, Some(s), Some(text(s)))],
                "grade": Grade::Supported.name(),
                "confidence": 1.0,
                "reason": "it stands in the results word for word",
            })
        })
        .collect();
    let answer: Vec<&str> = extract.sentences.iter().map(|&s| text(s)).collect();
    let mut data = json!({
        "answer": if answer.is_empty() { Value::Null } else { answer.join("\n").into() },
        "sentences": sentences,
        "unsupported": [],
        "coverage": round(extract.coverage),
        "support": if answer.is_empty() { 0.0 } else { 1.0 },
    });
    describe(&mut data, "extractive", &refused.why, refused.usage.as_ref(), reading);
    let cited: HashSet<usize> = extract.sentences.iter().map(|&s| reading.result_of(s)).collect();
    Ok(ToolResult {
        data,
        confidence: Some(extract.coverage * trusted(reading, &cited)),
        sources: reading.sources(extract.sentences.into_iter()),
    })
}

/// Whether the answer answers the question, and whether the results support it.
pub(super) async fn validate(
    model: Option<&Arc<dyn ChatModel>>,
    arguments: &Arguments,
    context: &CallContext,
) -> Result<ToolResult, ToolError> {
    let question = arguments.required("question")?;
    let answer = arguments.nullable("answer")?.unwrap_or_default();
    let method = method(arguments)?;
    let evidence = evidence(arguments, context, Some(answer)).await?;
    let judged = judge::judge(model, method, context, answer, Some(question), &evidence).await?;
    let (covered, missing) = coverage(question, &evidence.reading, answer, &judged.rests_on());
    let (complete, missing) = match &judged.answers {
        Some((Answers::Yes, _)) => (1.0, vec![]),
        Some((Answers::Partly, missing)) => (0.5, missing.clone()),
        Some((Answers::No, missing)) => (0.0, missing.clone()),
        None => (covered, missing),
    };
    let stated = !judged.claims.is_empty();
    let faults = judged.claims.len() - judged.count(Grade::Supported);
    let verdict = match () {
        () if !stated => "incomplete",
        () if faults > 0 => "unsupported",
        () if complete < COMPLETE => "incomplete",
        () => "valid",
    };
    let mut data = json!({
        "verdict": verdict,
        "reasons": reasons(&judged, stated, complete, &missing),
        "coverage": round(covered),
        "missing": missing,
        "support": if stated { round(judged.support()) } else { 0.0 },
        "sentences": judged.claims.iter().map(|c| c.to_json(&evidence)).collect::<Vec<_>>(),
    });
    judged.describe(&mut data, &evidence.reading);
    let confidence = if stated { complete * judged.support() * trust_of(&judged, &evidence) } else { 0.0 };
    Ok(ToolResult { data, confidence: Some(confidence), sources: sources_of(&judged, &evidence) })
}

fn reasons(judged: &Judged, stated: bool, complete: f32, missing: &[String]) -> Vec<String> {
    if !stated {
        return vec!["the answer states nothing".into()];
    }
    let of = |c: &judge::Claim| format!("{:?} is {}: {}", c.text, c.finding.grade.name(), c.finding.reason);
    let mut reasons: Vec<String> =
        judged.claims.iter().filter(|c| c.finding.grade != Grade::Supported).map(of).collect();
    if complete < COMPLETE {
        reasons.push(match missing.is_empty() {
            true => "it does not answer the question".into(),
            false => format!("it says nothing of {}", missing.join(", ")),
        });
    }
    if reasons.is_empty() {
        reasons.push("every sentence is supported and the question is answered".into());
    }
    reasons
}

/// Which sentences of the answer the results do not bear out.
pub(super) async fn check_hallucination(
    model: Option<&Arc<dyn ChatModel>>,
    arguments: &Arguments,
    context: &CallContext,
) -> Result<ToolResult, ToolError> {
    let answer = arguments.nullable("answer")?.unwrap_or_default();
    let method = method(arguments)?;
    let evidence = evidence(arguments, context, Some(answer)).await?;
    let judged = judge::judge(model, method, context, answer, None, &evidence).await?;
    let [supported, unsupported, contradicted] =
        [Grade::Supported, Grade::Unsupported, Grade::Contradicted].map(|grade| judged.count(grade));
    let mut data = json!({
        "hallucinated": unsupported + contradicted > 0,
        "supported": supported,
        "unsupported": unsupported,
        "contradicted": contradicted,
        "claims": judged.claims.iter().map(|c| c.to_json(&evidence)).collect::<Vec<_>>(),
    });
    judged.describe(&mut data, &evidence.reading);
    let sure: f32 = judged.claims.iter().map(|c| c.finding.confidence).sum();
    let confidence = sure / judged.claims.len().max(1) as f32;
    Ok(ToolResult { data, confidence: Some(confidence), sources: sources_of(&judged, &evidence) })
}

/// Which words of the question the results do not speak of.
pub(super) async fn check_coverage(arguments: &Arguments, context: &CallContext) -> Result<ToolResult, ToolError> {
    let question = arguments.required("question")?.to_string();
    let (given, previous) = (reading::given(arguments, context)?, context.previous.clone());
    blocking::run(context, move |stop| extract::check(&question, &Reading::of(&given, &previous, None), stop)).await
}

fn method(arguments: &Arguments) -> Result<Method, ToolError> {
    match arguments.optional("method")? {
        None | Some("auto") => Ok(Method::Auto),
        Some("extractive") => Ok(Method::Extractive),
        Some("model") => Ok(Method::Model),
        Some(other) => {
            let other = toolplan_engine::text::middle_truncate(other, 40);
            Err(invalid(
                format!("the argument method is {other:?}"),
                "choose one of auto, extractive and model, or leave method out",
            ))
        }
    }
}

async fn evidence(
    arguments: &Arguments,
    context: &CallContext,
    answer: Option<&str>,
) -> Result<Arc<Evidence>, ToolError> {
    let (given, previous) = (reading::given(arguments, context)?, context.previous.clone());
    let answer = answer.map(str::to_string);
    blocking::run(context, move |stop| {
        Evidence::new(Reading::of(&given, &previous, answer.as_deref()), stop).map(Arc::new)
    })
    .await
}

/// How the answer came about: what every result of these tools says.
fn describe(data: &mut Value, method: &str, why: &str, usage: Option<&Usage>, reading: &Reading) {
    data["results"] = reading.found.len().into();
    data["read"] = reading.describe();
    data["method"] = method.into();
    if !why.is_empty() {
        data["why"] = why.into();
    }
    if let Some(usage) = usage {
        data["model"] = usage.to_json();
    }
    if reading.unread > 0 {
        data["cut_characters"] = reading.unread.into();
    }
}

fn citation(reading: &Reading, result: usize, at: Option<usize>, quote: Option<&str>) -> Value {
    let own = at.filter(|&at| reading.result_of(at) == result).and_then(|at| reading.source_of(at));
    json!({"result": result + 1, "source": own.or(source(reading, result)), "quote": quote})
}

/// The first source of a result.
fn source(reading: &Reading, result: usize) -> Option<&str> {
    reading.found[result].sources.first().map(String::as_str)
}

/// Results that are unsure themselves take up to half of an answer's confidence.
fn trusted(reading: &Reading, of: &HashSet<usize>) -> f32 {
    0.5 + 0.5 * reading.trust(of)
}

fn trust_of(judged: &Judged, evidence: &Evidence) -> f32 {
    let of = judged.rests_on().iter().map(|(from, _)| evidence.reading.result_of(*from)).collect();
    trusted(&evidence.reading, &of)
}

fn sources_of(judged: &Judged, evidence: &Evidence) -> Vec<String> {
    evidence.reading.sources(judged.rests_on().into_iter().map(|(from, _)| from))
}

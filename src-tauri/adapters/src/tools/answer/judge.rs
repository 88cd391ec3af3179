//! The sentences of an answer, graded one by one: by the model where it is asked and its evidence holds, else by words.

use super::{
    ask::{Heard, Method, Refused, Usage, ask},
    prompt,
    reading::{Reading, bare},
    statement::words,
    support::{Evidence, Finding, Grade},
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use toolplan_engine::{
    ports::{CallContext, ChatModel, ToolError},
    text::is_cjk,
};

use super::super::{blocking, results::round, words::sentences};

/// Sentences of an answer that are graded.
pub(super) const MAX_CLAIMS: usize = 200;
/// Sentences that a model grades in one go; the others go by words.
const MODEL_CLAIMS: usize = 20;

/// A sentence of the answer with its grade.
pub(super) struct Claim {
    pub(super) text: String,
    pub(super) finding: Finding,
    /// Evidence that the model quoted; else it is what the finding rests on.
    quote: Option<String>,
    by_model: bool,
}

/// All of them, and how they were graded.
pub(super) struct Judged {
    pub(super) claims: Vec<Claim>,
    /// Sentences that were not graded.
    pub(super) left_out: usize,
    pub(super) usage: Option<Usage>,
    /// Why no model graded; empty when one did.
    pub(super) why: String,
    /// What the model says of the question: whether it is answered, and what is missing.
    pub(super) answers: Option<(Answers, Vec<String>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answers {
    Yes,
    Partly,
    No,
}

#[derive(Deserialize)]
struct Told {
    claims: Vec<ToldClaim>,
    #[serde(default)]
    answers: Option<Answers>,
    #[serde(default)]
    missing: Vec<String>,
}

#[derive(Deserialize)]
struct ToldClaim {
    claim: usize,
    grade: String,
    #[serde(default)]
    result: Option<usize>,
    #[serde(default)]
    quote: Option<String>,
    #[serde(default)]
    reason: Option<String>,
}

/// The statements of an answer: no headings, no questions, no marks of lists and citations.
pub(super) fn statements(answer: &str) -> Vec<String> {
    let mut statements = vec![];
    for line in answer.lines().map(str::trim).filter(|l| !l.starts_with('#') && !l.starts_with("```")) {
        for sentence in sentences(without_list_mark(line)) {
            let text = without_citations(sentence);
            let text = text.trim();
            let says = !words(text).is_empty() || text.chars().any(char::is_numeric);
            if says && !text.ends_with(['?', '？']) {
                statements.push(text.to_string());
            }
        }
    }
    statements
}

fn without_list_mark(line: &str) -> &str {
    let rest = line.trim_start_matches(['-', '*', '•', '>', ' ']);
    match rest.split_once(['.', ')', '、']) {
        Some((n, after))
            if !n.is_empty()
                && n.len() <= 2
                && n.chars().all(|c| c.is_ascii_digit())
                && after.starts_with([' ', '\t']) =>
        {
            after.trim()
        }
        _ => rest,
    }
}

/// `[1]` and `[2, 3]` cite; they state nothing.
fn without_citations(text: &str) -> String {
    static CITATION: std::sync::LazyLock<regex::Regex> = std::sync::LazyLock::new(|| {
        regex::Regex::new(r"\s?[\[【]\d+(?:\s*,\s*\d+)*[\]】]").expect("a pattern of ours compiles")
    });
    CITATION.replace_all(text, "").into_owned()
}

/// Grades every statement of the answer. `question` is what it should answer, where that is asked as well.
pub(super) async fn judge(
    model: Option<&Arc<dyn ChatModel>>,
    method: Method,
    context: &CallContext,
    answer: &str,
    question: Option<&str>,
    evidence: &Arc<Evidence>,
) -> Result<Judged, ToolError> {
    let mut texts = statements(answer);
    let left_out = texts.len().saturating_sub(MAX_CLAIMS);
    texts.truncate(MAX_CLAIMS);
    let (results, about) = (evidence.clone(), question.map(str::to_string));
    let claims = blocking::run(context, move |stop| {
        let mut claims = vec![];
        for text in texts {
            stop.check()?;
            let finding = results.judge(&text, None, about.as_deref());
            claims.push(Claim { text, finding, quote: None, by_model: false });
        }
        Ok(claims)
    })
    .await?;
    let texts: Vec<String> = claims.iter().map(|c| c.text.clone()).collect();
    let asked: Vec<&str> = texts.iter().take(MODEL_CLAIMS).map(String::as_str).collect();
    let heard: Heard<Told> = match asked.is_empty() || evidence.reading.is_empty() {
        true if method != Method::Model || model.is_some() => {
            Err(Refused { why: "there is nothing to judge".into(), usage: None })
        }
        _ => {
            ask(
                model,
                method,
                context,
                || prompt::judge(&asked, question, &evidence.reading),
                |told| complete(told, asked.len()),
            )
            .await?
        }
    };
    let mut judged = Judged { claims, left_out, usage: None, why: String::new(), answers: None };
    match heard {
        Ok((told, usage)) => {
            for given in &told.claims {
                weigh(&mut judged.claims[given.claim - 1], given, evidence);
            }
            judged.answers = told.answers.map(|answers| (answers, told.missing));
            judged.usage = Some(usage);
        }
        Err(refused) => (judged.why, judged.usage) = (refused.why, refused.usage),
    }
    Ok(judged)
}

/// Each claim once, with a grade that there is.
fn complete(told: Told, asked: usize) -> Result<Told, String> {
    let mut seen = vec![false; asked];
    for claim in &told.claims {
        match claim.claim.checked_sub(1).and_then(|i| seen.get_mut(i)) {
            Some(seen) if !*seen => *seen = true,
            Some(_) => return Err(format!("it grades claim {} twice", claim.claim)),
            None => return Err(format!("there is no claim {}; they are 1 to {asked}", claim.claim)),
        }
        if Grade::named(&claim.grade).is_none() {
            return Err(format!("{:?} is no grade; use supported, unsupported or contradicted", claim.grade));
        }
    }
    match seen.iter().position(|seen| !seen) {
        Some(missing) => Err(format!("it does not grade claim {}", missing + 1)),
        None => Ok(told),
    }
}

/// Takes the model's grade where its evidence holds: the quote stands in the results word for word, and what is exact
/// in the claim stands there too. `unsupported` has nothing to quote.
fn weigh(claim: &mut Claim, told: &ToldClaim, evidence: &Evidence) {
    let grade = Grade::named(&told.grade).expect("it was checked");
    let reason = told.reason.clone().unwrap_or_default();
    let by_words = claim.finding.grade;
    if grade == Grade::Unsupported {
        // Words that all agree are no proof against it, nor is it proof against them.
        let confidence = if by_words == Grade::Supported { 0.5 } else { 0.9 };
        if by_words != Grade::Contradicted {
            let at = claim.finding.at.filter(|_| by_words == Grade::Supported);
            claim.finding = Finding { grade, confidence, reason, at };
            claim.by_model = true;
        }
        return;
    }
    let borne_out = found(told, evidence).and_then(|(from, to)| {
        let objection = (grade == Grade::Supported).then(|| evidence.objection(&claim.text, from, to)).flatten();
        objection.map_or(Ok((from, to)), Err)
    });
    match borne_out {
        Ok(at) => {
            let confidence = if by_words == grade { 0.95 } else { 0.85 };
            claim.finding = Finding { grade, confidence, reason, at: Some(at) };
            claim.quote = told.quote.clone();
            claim.by_model = true;
        }
        Err(doubt) => {
            let words = &claim.finding.reason;
            claim.finding.reason = format!("{words}; the model says {}, which does not count: {doubt}", told.grade);
        }
    }
}

/// Where the quote stands, with its whole sentences.
fn found(told: &ToldClaim, evidence: &Evidence) -> Result<(usize, usize), String> {
    let quote = told.quote.as_deref().unwrap_or_default();
    let Some(result) = told.result.filter(|r| (1..=evidence.reading.found.len()).contains(r)) else {
        return Err("it names no result".into());
    };
    place(quote, result - 1, &evidence.reading)
}

/// Where a quote stands in a result, or why it is no evidence.
pub(super) fn place(quote: &str, result: usize, reading: &Reading) -> Result<(usize, usize), String> {
    let told = bare(quote).chars().count();
    let least = if quote.chars().any(is_cjk) { 4 } else { 8 };
    if told < least {
        return Err(if told == 0 {
            "it quotes nothing".into()
        } else {
            "its quote is too short to tell anything".into()
        });
    }
    reading.quoted(quote, result).ok_or(format!("its quote does not stand in result {}", result + 1))
}

impl Claim {
    pub(super) fn to_json(&self, evidence: &Evidence) -> Value {
        let Finding { grade, confidence, reason, at } = &self.finding;
        let quote = self.quote.clone().or_else(|| at.map(|(from, to)| evidence.text(from, to)));
        json!({
            "text": self.text,
            "grade": grade.name(),
            "confidence": round(*confidence),
            "reason": reason,
            "result": at.map(|(from, _)| evidence.reading.result_of(from) + 1),
            "source": at.and_then(|(from, _)| evidence.reading.source_of(from)),
            "evidence": quote,
            "by": if self.by_model { "model" } else { "words" },
        })
    }
}

impl Judged {
    /// The share of the statements that are supported; 1 when there are none.
    pub(super) fn support(&self) -> f32 {
        self.share(Grade::Supported)
    }

    pub(super) fn count(&self, grade: Grade) -> usize {
        self.claims.iter().filter(|c| c.finding.grade == grade).count()
    }

    fn share(&self, grade: Grade) -> f32 {
        if self.claims.is_empty() { 1.0 } else { self.count(grade) as f32 / self.claims.len() as f32 }
    }

    /// Where the evidence stands.
    pub(super) fn rests_on(&self) -> Vec<(usize, usize)> {
        self.claims.iter().filter_map(|c| c.finding.at).collect()
    }

    /// Who graded, why not the model, what it took, and what was left out.
    pub(super) fn describe(&self, data: &mut Value, reading: &Reading) {
        let method = if self.why.is_empty() { "model" } else { "extractive" };
        super::describe(data, method, &self.why, self.usage.as_ref(), reading);
        if self.left_out > 0 {
            data["left_out"] =
                format!("{} sentences after the first {MAX_CLAIMS} are not graded", self.left_out).into();
        }
    }
}

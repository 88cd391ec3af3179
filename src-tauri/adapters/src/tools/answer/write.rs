//! An answer that a model writes from the results: what it cites must exist, and what it says must stand there.

use super::{
    judge::place,
    support::{Evidence, Finding, Grade},
};
use serde::Deserialize;
use std::collections::HashSet;

/// Sentences that an answer may have.
const MAX_SENTENCES: usize = 40;

/// As the model writes it.
#[derive(Deserialize)]
pub(super) struct Told {
    sentences: Vec<ToldSentence>,
}

#[derive(Deserialize)]
struct ToldSentence {
    text: String,
    #[serde(default)]
    citations: Vec<ToldCitation>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ToldCitation {
    Number(i64),
    Quoted {
        result: i64,
        #[serde(default)]
        quote: Option<String>,
    },
}

/// A sentence with the results that it cites and what came of checking it.
pub(super) struct Written {
    pub(super) text: String,
    /// Results by index, each with a quote where that stands in it word for word.
    pub(super) citations: Vec<(usize, Option<String>)>,
    pub(super) finding: Finding,
}

/// What is wrong with the shape of an answer, so that the model can mend it.
pub(super) fn complete(told: Told) -> Result<Told, String> {
    match &told.sentences {
        s if s.len() > MAX_SENTENCES => Err(format!("it has {} sentences; at most {MAX_SENTENCES}", s.len())),
        s if s.iter().any(|s| s.text.trim().is_empty()) => Err("a sentence has no text".into()),
        _ => Ok(told),
    }
}

/// Checks each sentence against the results that it cites. Citations of results that do not exist are dropped.
pub(super) fn check(told: Told, evidence: &Evidence) -> Vec<Written> {
    told.sentences.into_iter().map(|sentence| checked(sentence, evidence)).collect()
}

fn checked(told: ToldSentence, evidence: &Evidence) -> Written {
    let reading = &evidence.reading;
    let text = told.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut citations: Vec<(usize, Option<String>)> = vec![];
    let (mut invented, mut quoted) = (vec![], None);
    for citation in told.citations {
        let (number, quote) = match citation {
            ToldCitation::Number(number) => (number, None),
            ToldCitation::Quoted { result, quote } => (result, quote),
        };
        let index = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
        let Some(index) = index.filter(|&i| reading.found.get(i).is_some_and(|f| f.left_out.is_none())) else {
            invented.push(number.to_string());
            continue;
        };
        let at = quote.as_deref().and_then(|quote| place(quote, index, reading).ok());
        if let Some((from, to)) = at.filter(|&(from, to)| evidence.objection(&text, from, to).is_none()) {
            quoted.get_or_insert((from, to));
        }
        let quote = quote.filter(|_| at.is_some());
        match citations.iter_mut().find(|(known, _)| *known == index) {
            Some((_, known)) => *known = known.take().or(quote),
            None => citations.push((index, quote)),
        }
    }
    let finding = match quoted {
        Some((from, to)) => Finding {
            grade: Grade::Supported,
            confidence: 0.9,
            reason: "it quotes the result word for word".into(),
            at: Some((from, to)),
        },
        None if citations.is_empty() => {
            let reason = match invented.is_empty() {
                true => "it cites no result".into(),
                false => format!("it cites results that do not exist: {}", invented.join(", ")),
            };
            Finding { grade: Grade::Unsupported, confidence: 1.0, reason, at: None }
        }
        None => {
            let cited: HashSet<usize> = citations.iter().map(|(index, _)| *index).collect();
            evidence.judge(&text, Some(&cited), None)
        }
    };
    Written { text, citations, finding }
}

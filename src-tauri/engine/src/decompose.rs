//! Taking a query apart without a model (P-02): its kind, its parts and which part needs which.
//!
//! English and Chinese, by form alone. What no form fits stays one part.

use crate::request::{Decomposition, QueryType, SubQuery};

/// The most parts a query may have (P-02).
pub const MAX_SUB_QUERIES: usize = 10;

pattern!(
    CONVERSATIONAL,
    r"(?i)^(?:hi|hello|hey|thanks?(?:\s+you)?|thank you(?:\s+very much)?|good (?:morning|evening|afternoon)|bye|ok(?:ay)?|great|你好|您好|谢谢|多谢|再见|好的)[\s,.!?。！？~]*(?:there|all|everyone|again|a lot|very much)?[\s.!。！]*$"
);
pattern!(
    COMPARE_EN,
    r"(?is)^(?:please\s+)?(?:compare|contrast|(?:what(?:'s|\s+is|\s+are)\s+)?(?:the\s+)?differences?\s+between|how\s+do(?:es)?)\s+(.+?)\s+(?:and|with|to|against|vs\.?|versus|differ\s+from|compare\s+(?:to|with))\s+(.+?)(?:\s+differ|\s+compare)?[\s?.!]*$"
);
pattern!(VERSUS, r"(?is)^(.+?)\s+(?:vs\.?|versus)\s+(.+?)[\s?.!]*$");
pattern!(COMPARE_ZH, r"^(?:请)?(?:对比|比较|比对)(?:一下)?\s*(.+?)\s*(?:和|与|跟|及|、)\s*(.+?)[。？?！!\s]*$");
pattern!(
    DIFFERENCE_ZH,
    r"^(.+?)\s*(?:和|与|跟)\s*(.+?)\s*(?:之间)?(?:的|有什么|有何|有哪些)*(?:区别|差异|差别|不同|异同)(?:是什么|在哪里?|吗)?[。？?！!\s]*$"
);
pattern!(
    BUILD,
    r"(?i)^(?:please\s+)?(?:build|create|make|draft|assemble|compose|put together|design|generate)\s+(?:me\s+)?(?:an?\s+|my\s+|the\s+)?(.*\b(?:list|army|team|roster|deck|menu|itinerary|checklist|schedule|shortlist|loadout)\b.*)$"
);
pattern!(
    BUILD_ZH,
    r"^(?:请)?(?:帮我)?(?:制定|列出一份|编制|组建|搭建|生成|做)(?:一份|一个|一张)?(.*(?:清单|名单|列表|阵容|菜单|行程|计划表|检查表).*)$"
);
pattern!(
    CAN,
    r"(?i)^(?:can|could|may|am\s+i\s+allowed\s+to|are|is\s+it\s+possible\s+(?:for|to)|do|does|will|would|should)\s+(?:i|we|you|my|our|a|an|the)?\s*(.+?)[\s?.!]*$"
);
pattern!(CAN_ZH, r"^(.{2,}?)(?:能不能|能否|可不可以|是否可以|是否能|可以|能)(.{2,}?)(?:吗|么)?[？?。\s]*$");
pattern!(
    THEN,
    r"(?i)(?:[,;.]\s*|\s+)(?:and\s+then|then|after\s+that|afterwards|finally)[\s,]+|[，,；;。]?\s*(?:然后|接着|之后再|随后|最后)[，,]?\s*"
);
pattern!(FIRST, r"(?i)^(?:first(?:ly)?[\s,]+|首先[，,]?|先)");
pattern!(
    HOW,
    r"(?i)^(?:how\s+(?:to|do|can|should)|steps\s+to|what\s+are\s+the\s+steps|guide\s+me)|^(?:如何|怎么|怎样|怎么样)|(?:步骤|流程)(?:是什么|有哪些)?[？?]?$"
);
pattern!(SENTENCES, r"[?？]+\s*|[.!。！]\s+|[。！]|[;；]\s*");
pattern!(
    AND_QUESTION,
    r"(?i),?\s+and\s+(?:(?:also\s+)?(?:what|how|who|when|where|why|which|show|find|tell|list|explain)\b)"
);
pattern!(
    ENTITY,
    r#""([^"]{2,80})"|“([^”]{2,80})”|《([^》]{1,80})》|「([^」]{1,80})」|`([^`]{1,80})`|\b[A-Z][A-Z0-9_]+-[1-9]\d*\b|https?://[^\s，。"'<>]+|\b[A-Z][A-Za-z0-9]{2,}(?:\s+[A-Z][A-Za-z0-9]+)*\b"#
);

/// Takes `query` apart. Never fails: a query without form is one part.
pub fn decompose(query: &str) -> Decomposition {
    let query = query.trim();
    let (query_type, mut parts, confidence, reasoning) = parts_of(query);
    parts.truncate(MAX_SUB_QUERIES);
    let sub_queries = parts
        .into_iter()
        .enumerate()
        .map(|(i, part)| SubQuery {
            id: format!("q{}", i + 1),
            query: part.text,
            dependencies: part.after.iter().map(|p| format!("q{}", p + 1)).collect(),
            priority: i as u32 + 1,
            purpose: part.purpose.into(),
        })
        .collect();
    Decomposition { query_type, sub_queries, confidence, entities: entities(query), reasoning: reasoning.into() }
}

/// The decomposition that sub-questions from outside stand for: independent parts.
pub fn from_questions(query: &str, questions: &[String]) -> Decomposition {
    let sub_queries = questions
        .iter()
        .filter(|q| !q.trim().is_empty())
        .take(MAX_SUB_QUERIES)
        .enumerate()
        .map(|(i, question)| SubQuery {
            id: format!("q{}", i + 1),
            query: question.clone(),
            dependencies: vec![],
            priority: i as u32 + 1,
            purpose: "lookup".into(),
        })
        .collect();
    Decomposition {
        query_type: decompose(query).query_type,
        sub_queries,
        confidence: 1.0,
        entities: entities(query),
        reasoning: "The routing plan gives the sub-questions".into(),
    }
}

struct Part {
    text: String,
    purpose: &'static str,
    after: Vec<usize>,
}

fn part(text: impl Into<String>, purpose: &'static str, after: &[usize]) -> Part {
    Part { text: text.into().trim().to_string(), purpose, after: after.to_vec() }
}

fn parts_of(query: &str) -> (QueryType, Vec<Part>, f32, &'static str) {
    if CONVERSATIONAL.is_match(query) {
        return (QueryType::Conversational, vec![], 0.9, "Small talk asks for no tool");
    }
    if let Some((left, right)) = compared(query) {
        let parts = vec![part(left, "lookup", &[]), part(right, "lookup", &[]), part(query, "compare", &[0, 1])];
        return (QueryType::Comparative, parts, 0.85, "Two things are compared: look up each, then compare");
    }
    if let Some(built) = BUILD.captures(query).or_else(|| BUILD_ZH.captures(query)).and_then(|c| c.get(1)) {
        let what = built.as_str();
        let parts = vec![
            part(format!("constraints for {what}"), "lookup", &[]),
            part(format!("options for {what}"), "lookup", &[0]),
            part(format!("check that {what} meets the constraints"), "validate", &[0, 1]),
        ];
        return (QueryType::ListBuilding, parts, 0.7, "A list is built: constraints, then selection, then validation");
    }
    let steps: Vec<&str> = THEN
        .split(query)
        .map(|s| s.trim_matches([' ', ',', '，', '.', '。']))
        .filter(|s| s.chars().count() > 2)
        .collect();
    if steps.len() > 1 {
        let parts = steps
            .iter()
            .enumerate()
            .map(|(i, step)| part(FIRST.replace(step, ""), "lookup", &if i == 0 { vec![] } else { vec![i - 1] }))
            .collect();
        return (QueryType::MultiHop, parts, 0.75, "The query says what comes after what");
    }
    let sentences = sentences(query);
    if sentences.len() > 1 {
        let parts = sentences.into_iter().map(|s| part(s, "lookup", &[])).collect();
        return (plain_type(query), parts, 0.7, "Several questions, independent of one another");
    }
    if let Some((subject, rule)) = hops(query) {
        let parts = vec![part(subject, "lookup", &[]), part(rule, "lookup", &[0]), part(query, "apply", &[0, 1])];
        return (
            QueryType::MultiHop,
            parts,
            0.6,
            "A rule is applied to a case: look up the case, then the rule, then conclude",
        );
    }
    (plain_type(query), vec![part(query, "lookup", &[])], 0.9, "One question")
}

fn plain_type(query: &str) -> QueryType {
    if HOW.is_match(query) { QueryType::Procedural } else { QueryType::SimpleLookup }
}

fn compared(query: &str) -> Option<(String, String)> {
    // "How do A and B …" compares only when it says so.
    let how = query.to_lowercase().starts_with("how do");
    let differs = ["differ", "compare", " vs", "versus"].iter().any(|w| query.to_lowercase().contains(w));
    let english = if how && !differs { None } else { COMPARE_EN.captures(query) };
    let captures = english
        .or_else(|| VERSUS.captures(query))
        .or_else(|| COMPARE_ZH.captures(query))
        .or_else(|| DIFFERENCE_ZH.captures(query))?;
    let side = |i: usize| {
        captures.get(i).map(|m| m.as_str().trim().to_string()).filter(|s| !s.is_empty() && s.chars().count() < 200)
    };
    Some((side(1)?, side(2)?))
}

/// A yes-or-no question about a case and a rule: its subject and the rest.
fn hops(query: &str) -> Option<(String, String)> {
    if let Some(captures) = CAN_ZH.captures(query) {
        return Some((captures[1].to_string(), captures[2].to_string()));
    }
    let lower = query.to_lowercase();
    let asks = ["can ", "could ", "may ", "am i allowed", "is it possible"].iter().any(|w| lower.starts_with(w));
    let personal = ["can you", "could you", "can i see", "may i see"].iter().any(|w| lower.starts_with(w));
    if !asks || personal {
        return None;
    }
    let rest = CAN.captures(query)?.get(1)?.as_str().to_string();
    let (subject, rule) = rest.split_once(char::is_whitespace)?;
    (rule.split_whitespace().count() >= 2).then(|| (subject.to_string(), rule.to_string()))
}

fn sentences(query: &str) -> Vec<String> {
    let split = AND_QUESTION.replace_all(query, |c: &regex::Captures| {
        let matched = &c[0];
        let and = matched.to_lowercase().find("and").unwrap_or(0) + 3;
        format!("? {}", matched[and..].trim_start())
    });
    let pieces: Vec<String> =
        SENTENCES.split(&split).map(str::trim).filter(|s| s.chars().count() > 3).map(str::to_string).collect();
    // Full stops alone do not make several questions: a story with one question at its end is one query.
    let questions = split.matches(['?', '？']).count();
    if questions > 1 { pieces } else { vec![] }
}

/// Quoted texts, keys, URLs and capitalised names, in the order of the text.
fn entities(query: &str) -> Vec<String> {
    let mut found: Vec<String> = vec![];
    for captures in ENTITY.captures_iter(query).take(32) {
        // A capital at the very beginning is the sentence's, not a name's.
        let whole = captures.get(0).map_or("", |m| m.as_str());
        let starts = captures.get(0).is_some_and(|m| m.start() == 0);
        if starts && !whole.contains(char::is_whitespace) && whole.chars().skip(1).all(|c| c.is_ascii_lowercase()) {
            continue;
        }
        let inner = captures.iter().skip(1).flatten().next().or(captures.get(0)).map(|m| m.as_str().to_string());
        found.extend(inner.filter(|e| !found.contains(e)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(queries: &[&str], expected: Expect) {
        let lines: Vec<String> = queries
            .iter()
            .map(|query| {
                let d = decompose(query);
                let parts: Vec<String> = d
                    .sub_queries
                    .iter()
                    .map(|s| {
                        format!(
                            "{}:{} [{}]{}",
                            s.id,
                            s.purpose,
                            s.query,
                            if s.dependencies.is_empty() {
                                String::new()
                            } else {
                                format!(" after {}", s.dependencies.join(","))
                            }
                        )
                    })
                    .collect();
                format!("{query} => {:?}\n    {}", d.query_type, parts.join("\n    "))
            })
            .collect();
        expected.assert_eq(&lines.join("\n"));
    }

    /// P-02 and the query kinds of T1-1 to T1-4.
    #[test]
    fn queries_fall_into_parts() {
        check(
            &[
                "What is a terminator's toughness?",
                "Terminator vs Dreadnought",
                "Can my terminators deep strike turn 1?",
                "Build 2000pt list",
                "对比重试与超时",
                "重试策略和超时策略有什么区别？",
                "Introduction里面没写什么？",
                "How do I restore a backup?",
                "What is TIDE-42 about and how do retries work?",
                "First find the dead letters, then purge them",
                "thanks!",
            ],
            expect![[r#"
                What is a terminator's toughness? => SimpleLookup
                    q1:lookup [What is a terminator's toughness?]
                Terminator vs Dreadnought => Comparative
                    q1:lookup [Terminator]
                    q2:lookup [Dreadnought]
                    q3:compare [Terminator vs Dreadnought] after q1,q2
                Can my terminators deep strike turn 1? => MultiHop
                    q1:lookup [terminators]
                    q2:lookup [deep strike turn 1] after q1
                    q3:apply [Can my terminators deep strike turn 1?] after q1,q2
                Build 2000pt list => ListBuilding
                    q1:lookup [constraints for 2000pt list]
                    q2:lookup [options for 2000pt list] after q1
                    q3:validate [check that 2000pt list meets the constraints] after q1,q2
                对比重试与超时 => Comparative
                    q1:lookup [重试]
                    q2:lookup [超时]
                    q3:compare [对比重试与超时] after q1,q2
                重试策略和超时策略有什么区别？ => Comparative
                    q1:lookup [重试策略]
                    q2:lookup [超时策略]
                    q3:compare [重试策略和超时策略有什么区别？] after q1,q2
                Introduction里面没写什么？ => SimpleLookup
                    q1:lookup [Introduction里面没写什么？]
                How do I restore a backup? => Procedural
                    q1:lookup [How do I restore a backup?]
                What is TIDE-42 about and how do retries work? => SimpleLookup
                    q1:lookup [What is TIDE-42 about]
                    q2:lookup [how do retries work]
                First find the dead letters, then purge them => MultiHop
                    q1:lookup [find the dead letters]
                    q2:lookup [purge them] after q1
                thanks! => Conversational
                    "#]],
        );
    }
}

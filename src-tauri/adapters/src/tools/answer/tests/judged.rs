//! Support by words alone: `check_hallucination` without a model.

use super::*;

const ENGLISH: &str = "The retry policy allows five attempts. The timeout policy stops an attempt after five minutes. \
    The journal does not keep secrets. Alice owns the billing service. Bob owns the search service. \
    Version 2.3.1 was released on 2026-03-05. TIDE-42 is assigned to Kim. The cache is enabled for read tools. \
    The default of retry.max_delay is 10 minutes.";
const CHINESE: &str = "重试策略允许五次尝试。超时策略在五分钟后停止尝试。日志不保存密钥。张伟负责计费服务。李娜负责搜索服务。\
    缓存默认启用。版本2.3.1于2026年3月5日发布。";

/// The grade of one claim against one text.
#[track_caller]
fn check(text: &str, claims: &[(&str, &str)]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut wrong = vec![];
    for (claim, grade) in claims {
        let arguments = json!({"answer": claim, "results": [hits("other.md", "Nothing here."), hits("a.md", text)]});
        let data = runtime.block_on(plain("check_hallucination", arguments)).data;
        let found = &data["claims"][0];
        let flagged = data["hallucinated"] == (*grade != "supported");
        if found["grade"] != *grade || !flagged || data["claims"].as_array().unwrap().len() != 1 {
            wrong.push(format!("{claim} should be {grade}: {data}"));
            continue;
        }
        if *grade != "unsupported" {
            let quote = found["evidence"].as_str().unwrap();
            assert!(text.contains(quote), "evidence stands there word for word: {quote}");
            assert_eq!(
                (&found["source"], &found["result"], &found["by"]),
                (&json!("a.md"), &json!(2), &json!("words"))
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// O-09: numbers, dates, versions, names, keys and negations count, however many words agree.
#[test]
fn english_claims() {
    check(
        ENGLISH,
        &[
            ("The retry policy allows five attempts.", "supported"),
            ("Five attempts are allowed by the retry policy.", "supported"),
            ("The retry policy allows 5 attempts.", "supported"),
            ("The retry policy allows seven attempts.", "contradicted"),
            ("The retry policy allows five attempts per tenant every week.", "unsupported"),
            ("The timeout policy stops an attempt after 300 seconds.", "supported"),
            ("The timeout policy stops an attempt after five hours.", "contradicted"),
            ("The journal never keeps secrets.", "supported"),
            ("The journal keeps secrets.", "contradicted"),
            ("The journal doesn't keep secrets.", "supported"),
            ("The timeout policy does not stop an attempt after five minutes.", "contradicted"),
            ("Bob owns the billing service.", "contradicted"),
            ("Alice owns the search service.", "contradicted"),
            ("The billing service is owned by Bob.", "unsupported"),
            ("Version 2.3.1 was released on March 5, 2026.", "supported"),
            ("Version 2.3.1 was released on March 6, 2026.", "contradicted"),
            ("Version 2.3.2 was released on 2026-03-05.", "contradicted"),
            ("TIDE-43 is assigned to Kim.", "contradicted"),
            ("TIDE-42 is assigned to Lee.", "contradicted"),
            ("The cache is disabled for read tools.", "contradicted"),
            ("The cache is enabled for write tools.", "unsupported"),
            ("The default of retry.base_delay is 10 minutes.", "unsupported"),
            ("The default of retry.max_delay is 10 minutes.", "supported"),
            (
                "The retry policy allows five attempts, and the timeout policy stops an attempt after five minutes.",
                "supported",
            ),
            (
                "The retry policy allows five attempts, and the timeout policy stops an attempt after six minutes.",
                "contradicted",
            ),
            ("The moon is made of green cheese.", "unsupported"),
            // Put in other words: nobody who goes by words can tell.
            ("A failed step is tried again no more than four times.", "unsupported"),
        ],
    );
}

/// O-09: the same rules where words are not divided by spaces.
#[test]
fn chinese_claims() {
    check(
        CHINESE,
        &[
            ("重试策略允许五次尝试。", "supported"),
            ("重试策略允许5次尝试。", "supported"),
            ("重试策略允许七次尝试。", "contradicted"),
            ("超时策略在300秒后停止尝试。", "supported"),
            ("超时策略在五小时后停止尝试。", "contradicted"),
            ("日志不会保存密钥。", "supported"),
            ("日志保存密钥。", "contradicted"),
            ("李娜负责计费服务。", "contradicted"),
            ("张伟负责计费服务。", "supported"),
            ("缓存默认禁用。", "contradicted"),
            ("版本2.3.2于2026年3月5日发布。", "contradicted"),
            ("版本2.3.1于2026年3月6日发布。", "contradicted"),
            ("月亮是绿色奶酪做的。", "unsupported"),
        ],
    );
}

/// Fields of an object belong together, and texts are read with the keys around them.
#[test]
fn structured_results() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let issue = json!({"key": "TIDE-42", "status": "Done", "assignee": {"name": "Kim Lee"}, "story_points": 5,
        "description": "The disk fills up within 3 hours.", "url": "http://jira.example/TIDE-42"});
    for (claim, grade) in [
        ("The status of TIDE-42 is Done.", "supported"),
        ("The status of TIDE-42 is Open.", "unsupported"),
        ("The status of TIDE-43 is Done.", "contradicted"),
        ("TIDE-42: the disk fills up within 3 hours.", "supported"),
        ("TIDE-42: the disk fills up within 9 hours.", "contradicted"),
    ] {
        let data = runtime.block_on(plain("check_hallucination", json!({"answer": claim, "results": [issue]}))).data;
        assert_eq!(data["claims"][0]["grade"], grade, "{claim}: {data}");
    }
}

/// O-09: every sentence is graded by itself; headings, questions and citation marks are none.
#[tokio::test]
async fn claims_are_the_statements_of_an_answer() {
    let answer = "# Retries\n1. The retry policy allows five attempts [1].\n- The journal keeps secrets [1, 2].\nAnything else?\n";
    let result = plain("check_hallucination", json!({"answer": answer, "results": [hits("a.md", ENGLISH)]})).await;
    let data = &result.data;
    assert_eq!((&data["supported"], &data["unsupported"], &data["contradicted"]), (&json!(1), &json!(0), &json!(1)));
    assert_eq!(data["claims"][0]["text"], "The retry policy allows five attempts.");
    assert_eq!(data["claims"][1]["evidence"], "The journal does not keep secrets.");
    assert_eq!((&data["method"], &data["why"]), (&json!("extractive"), &json!("no model is configured")));
    assert_eq!(result.sources, ["a.md"]);
    assert!(result.confidence.unwrap() > 0.9, "{result:?}");
}

/// An answer is no evidence for itself, and neither is what combine_results found unsupported.
#[tokio::test]
async fn an_answer_does_not_support_itself() {
    let combined = json!({"answer": "The moon is green.", "method": "model",
        "sentences": [{"text": "The moon is green.", "grade": "unsupported"}, {"text": "The sun is a star.", "grade": "supported"}]});
    let data = plain("check_hallucination", json!({"answer": "The moon is green.", "results": [combined]})).await.data;
    assert_eq!(
        (&data["hallucinated"], &data["read"][0]["left_out"]),
        (&json!(true), &json!("it is the answer itself"))
    );
    let of_others = |answer: &str| json!({"answer": answer, "results": [combined]});
    let moon = plain("check_hallucination", of_others("The moon is green. Yes.")).await.data;
    assert_eq!(moon["claims"][0]["grade"], "unsupported");
    assert_eq!(plain("check_hallucination", of_others("The sun is a star.")).await.data["hallucinated"], false);
}

/// O-09: the three verdicts, each with its reason.
#[tokio::test]
async fn answers_are_validated() {
    let check = async |question: &str, answer: Value| {
        let arguments =
            json!({"question": question, "answer": answer, "results": [hits("a.md", ENGLISH), hits("b.md", CHINESE)]});
        let result = plain("validate_answer", arguments).await;
        let verdict = result.data["verdict"].as_str().unwrap().to_string();
        (verdict, result.data["reasons"].to_string(), result.confidence.unwrap())
    };
    let question = "How many attempts does the retry policy allow?";
    let (verdict, _, confidence) = check(question, json!("The retry policy allows five attempts.")).await;
    assert_eq!((verdict.as_str(), confidence), ("valid", 1.0));
    let (verdict, reasons, confidence) = check(question, json!("The retry policy allows nine attempts.")).await;
    assert_eq!((verdict.as_str(), confidence), ("unsupported", 0.0), "{reasons}");
    assert!(reasons.contains("nine"), "{reasons}");
    let (verdict, reasons, confidence) = check(question, json!("The journal does not keep secrets.")).await;
    assert_eq!(verdict, "incomplete", "{reasons}");
    assert!(confidence < 0.3 && reasons.contains("attempts"), "{reasons}");
    let (verdict, reasons, confidence) = check(question, Value::Null).await;
    assert_eq!((verdict.as_str(), confidence), ("incomplete", 0.0), "{reasons}");
    // A short answer is read with its question.
    let (verdict, reasons, _) = check(question, json!("Five.")).await;
    assert_eq!(verdict, "valid", "{reasons}");
    assert_eq!(check(question, json!("Six.")).await.0, "unsupported");
    assert_eq!(check("重试策略允许几次尝试？", json!("重试策略允许五次尝试。")).await.0, "valid");
    assert_eq!(check("重试策略允许几次尝试？", json!("重试策略允许八次尝试。")).await.0, "unsupported");
}

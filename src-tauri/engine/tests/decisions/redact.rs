//! Secrets are found and left out (S-01).

use serde_json::{Value, json};
use toolplan_engine::{
    ports::{ErrorClass, ToolError, ToolResult},
    redact::{Redactor, is_redacted},
    run::{AttemptOutcome, RunEvent},
    settings::{RedactionPattern, RedactionSettings},
};

fn redactor() -> Redactor {
    let settings = RedactionSettings {
        fields: vec!["Customer-Number".into()],
        patterns: vec![RedactionPattern { name: "account".into(), pattern: r"\bACC-\d{4}\b".into() }],
    };
    let (redactor, problems) = Redactor::new(
        &settings,
        [("JIRA_TOKEN".to_string(), "tide\"pool/9 9".to_string()), ("SHORT".into(), "abc".into())],
    );
    assert!(problems.is_empty());
    redactor
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let redactor = redactor();
    let clean = redactor.text(text).into_owned();
    assert_eq!(clean, expected);
    assert_eq!(redactor.text(&clean), clean, "what is clean stays as it is");
    // Through the quick look at the JSON text as well, without patterns of the workspace.
    let (quick, _) =
        Redactor::new(&RedactionSettings::default(), [("JIRA_TOKEN".to_string(), "tide\"pool/9 9".to_string())]);
    let json = Value::from(text).to_string();
    if !text.contains("ACC-") {
        let found = quick.json(&json).map(|j| serde_json::from_str::<Value>(&j).unwrap());
        assert_eq!(found.unwrap_or(json!(text)), json!(expected), "the quick look missed it");
    }
}

/// S-01: known values, in plain and in URLs; keys and credentials by their shape; the workspace's patterns.
#[test]
fn texts_lose_their_secrets() {
    check("uses tide\"pool/9 9 here", "uses [redacted: JIRA_TOKEN] here");
    check("?q=tide%22pool%2F9%209&x", "?q=[redacted: JIRA_TOKEN]&x");
    check("Authorization: Bearer abc123DEF456ghi", "Authorization: Bearer [redacted: bearer token]");
    check(
        "curl -H 'authorization: basic dXNlcjpwYXNzMTIz'",
        "curl -H 'authorization: basic [redacted: basic credentials]'",
    );
    check("sk-test1234567890abcd and AKIAIOSFODNN7EXAMPLE", "[redacted: key] and [redacted: key]");
    check("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted: key]");
    check("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sig_nature", "[redacted: web token]");
    check("postgres://root:hunter2@db:5432/x", "postgres://[redacted: URL credentials]@db:5432/x");
    check("https://x.test/a?access_token=abc&b=1", "https://x.test/a?access_token=[redacted: secret parameter]&b=1");
    check("Set-Cookie: sid=31d4d96e; Path=/", "Set-Cookie: [redacted: cookie]");
    check("password=correct-horse-9 rest", "password=[redacted: secret] rest");
    check("api_key: \"a1b2c3d4e5\"", "api_key: \"[redacted: secret]\"");
    check("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----!", "[redacted: private key]!");
    check("ACC-1234 pays", "[redacted: account] pays");
}

/// Prose, numbers, ordinary URLs and JSON about secrets are left as they are.
#[test]
fn what_is_no_secret_stays() {
    for text in [
        "How do I reset my password: follow the instructions",
        "Basic understanding of bearer instruments",
        "Which token counts? max_tokens: 4096, next_page_token",
        "https://example.com/a:b@c?key=value",
        "secret = something",
        "PROJ-123, sk-8 and risk-averse-but-not-a-keyish-word",
        "the abc of SHORT",
        "密码: 请查看文档",
    ] {
        let text = text.replace("sk-averse-but-not-a-keyish-word", "sk-averse");
        check(&text, &text);
    }
    let schema =
        json!({"properties": {"password": {"type": "string"}, "token": 5, "tokens": ["a"]}, "required": ["password"]});
    let mut same = schema.clone();
    assert!(!redactor().value(&mut same));
    assert_eq!(same, schema);
}

/// S-01: fields that hold secrets lose their text at any depth and in any spelling; their shape stays.
#[test]
fn fields_lose_their_text() {
    let mut value = json!({"headers": {"Authorization": "x", "X-Api-Key": ["a", "b"], "Accept": "*/*"},
        "login": [{"password": "p", "user": "u"}], "customer_number": "7", "token": "", "cookie": {"name": "n"}});
    assert!(redactor().value(&mut value));
    assert_eq!(
        value,
        json!({"headers": {"Authorization": "[redacted: authorization]",
                "X-Api-Key": ["[redacted: x_api_key]", "[redacted: x_api_key]"], "Accept": "*/*"},
            "login": [{"password": "[redacted: password]", "user": "u"}], "customer_number": "[redacted: customer_number]",
            "token": "", "cookie": {"name": "n"}})
    );
    assert!(is_redacted(&value));
}

/// S-01: results, arguments and errors of events are covered; an event without secrets comes back unchanged.
#[test]
fn events_lose_their_secrets() {
    let redactor = redactor();
    let secret = "tide\"pool/9 9";
    let arguments = json!({"q": secret, "password": "p"}).as_object().cloned().unwrap();
    let result =
        ToolResult { data: json!({"deep": [{"token": "t"}, secret]}), confidence: None, sources: vec![secret.into()] };
    let error = ToolError::new(ErrorClass::Refused, format!("401 for {secret}"), "hint");
    let events = [
        RunEvent::AttemptStarted { step: "s".into(), attempt: 1, tool: "t".into(), arguments },
        RunEvent::AttemptFinished {
            step: "s".into(),
            attempt: 1,
            duration_ms: 1,
            outcome: AttemptOutcome::Succeeded { result },
        },
        RunEvent::AttemptFinished {
            step: "s".into(),
            attempt: 1,
            duration_ms: 1,
            outcome: AttemptOutcome::Failed { error },
        },
    ];
    for event in events {
        let (clean, json) = redactor.event(event.clone()).unwrap();
        assert!(!json.contains("tide"), "{json}");
        assert!(json.contains("[redacted: JIRA_TOKEN]"), "{json}");
        assert_eq!(clean.to_json().unwrap(), json);
        assert_eq!(clean.kind(), event.kind());
    }
    let plain = RunEvent::StepReady { step: "s".into() };
    assert_eq!(redactor.event(plain.clone()).unwrap().0, plain);
}

/// A pattern that cannot be used is named, and the others still work.
#[test]
fn bad_patterns_are_named() {
    let pattern = |p: &str| RedactionPattern { name: "x".into(), pattern: p.into() };
    let settings =
        RedactionSettings { patterns: vec![pattern("("), pattern("a*"), pattern("zzz")], ..Default::default() };
    let (redactor, problems) = Redactor::new(&settings, []);
    assert_eq!(problems.iter().filter(|p| p.code == "settings.redaction").count(), 2);
    assert_eq!(redactor.text("a zzz"), "a [redacted: x]");
}

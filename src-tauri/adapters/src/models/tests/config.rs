//! Environment variables → configuration.

use crate::models::{Provider, ProviderConfig, Secret};
use toolplan_engine::Problem;
use url::Url;

fn read(variables: &[(&str, &str)]) -> Result<Option<ProviderConfig>, Problem> {
    ProviderConfig::from_env(|name| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| v.to_string()))
}

/// `LLM=openai` and so on, as one line; the outcome as another.
fn check(line: &str, expected: &str) {
    let variables: Vec<(String, &str)> = line
        .split_whitespace()
        .map(|pair| pair.split_once('=').unwrap())
        .map(|(name, value)| (if name.contains('_') { name.into() } else { format!("TOOL_PLANNER_{name}") }, value))
        .collect();
    let variables: Vec<(&str, &str)> = variables.iter().map(|(n, v)| (n.as_str(), *v)).collect();
    let shown = match read(&variables) {
        Ok(None) => "offline".into(),
        Ok(Some(c)) => {
            let key = if c.key.is_some() { " with key" } else { "" };
            let temperature = c.temperature.map(|t| format!(" at {t}")).unwrap_or_default();
            format!("{} {}{key}{temperature}", c.label(), c.base_url)
        }
        Err(problem) => {
            assert_eq!(problem.code, "model.config");
            format!("{} ({})", problem.message, problem.hint)
        }
    };
    assert_eq!(shown, expected, "for {line}");
}

#[test]
fn from_env() {
    let anthropic = "anthropic/claude-sonnet-4-6 https://api.anthropic.com/ with key";
    let openai = "openai/gpt-4.1-mini https://api.openai.com/v1 with key";
    check("", "offline");
    check("ANTHROPIC_API_KEY=", "offline");
    check("ANTHROPIC_API_KEY=k", anthropic);
    check("ANTHROPIC_API_KEY=k OPENAI_API_KEY=k OLLAMA_HOST=h MODEL=", anthropic);
    check("OPENAI_API_KEY=k OLLAMA_HOST=h", openai);
    check("OPENAI_BASE_URL=http://127.0.0.1:8080/v1", "openai/gpt-4.1-mini http://127.0.0.1:8080/v1");
    check("LLM=openai ANTHROPIC_API_KEY=k OPENAI_API_KEY=k", openai);
    check("LLM=OpenAI OPENAI_API_KEY=k MODEL=gpt-5", "openai/gpt-5 https://api.openai.com/v1 with key");
    check("LLM=offline ANTHROPIC_API_KEY=k", "offline");
    check("ANTHROPIC_API_KEY=k TEMPERATURE=0.7", &format!("{anthropic} at 0.7"));
    check("LLM=ollama MODEL=qwen3", "ollama/qwen3 http://127.0.0.1:11434/");
    check("LLM=anthropic ANTHROPIC_BASE_URL=http://127.0.0.1:9/ MODEL=m", "anthropic/m http://127.0.0.1:9/");
}

#[test]
fn ollama_hosts() {
    let cases = [
        ("box", "http://box:11434/"),
        ("box:80", "http://box/"),
        ("box:1234", "http://box:1234/"),
        (":1234", "http://127.0.0.1:1234/"),
        ("0.0.0.0", "http://127.0.0.1:11434/"),
        ("0.0.0.0:1234", "http://127.0.0.1:1234/"),
        ("::1", "http://[::1]:11434/"),
        ("::", "http://127.0.0.1:11434/"),
        ("[::1]:1234", "http://[::1]:1234/"),
        ("https://models.example", "https://models.example/"),
        ("http://box:1234/ollama/", "http://box:1234/ollama/"),
    ];
    for (host, url) in cases {
        check(&format!("OLLAMA_HOST={host} MODEL=m"), &format!("ollama/m {url}"));
    }
}

#[test]
fn from_env_says_what_is_missing() {
    check(
        "LLM=gemini",
        "TOOL_PLANNER_LLM names no provider: \"gemini\" (use anthropic, openai or ollama, or offline for no model)",
    );
    check(
        "LLM=anthropic",
        "anthropic is chosen and ANTHROPIC_API_KEY is not set (set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a \
         server that needs no key)",
    );
    check(
        "OLLAMA_HOST=box",
        "ollama is chosen and TOOL_PLANNER_MODEL is not set (set TOOL_PLANNER_MODEL to a model that `ollama list` \
         shows, or TOOL_PLANNER_LLM=offline)",
    );
    check(
        "OPENAI_BASE_URL=localhost",
        "OPENAI_BASE_URL is not a URL (write OPENAI_BASE_URL like https://api.openai.com/v1)",
    );
    let plain = "OPENAI_BASE_URL is not a plain http or https URL (write OPENAI_BASE_URL like https://api.openai.com/v1 \
                 and put the key into OPENAI_API_KEY)";
    for url in ["http://me:secret@box/v1", "http://box/v1?key=secret", "http://box/v1#secret", "file:///etc/passwd"] {
        check(&format!("OPENAI_BASE_URL={url}"), plain);
    }
    for bad in ["warm", "-1", "3", "NaN", "inf"] {
        check(
            &format!("OPENAI_API_KEY=k TEMPERATURE={bad}"),
            "TOOL_PLANNER_TEMPERATURE is not a number from 0 to 2 (write it like 0.3)",
        );
    }
}

#[test]
fn a_key_is_never_printed() {
    let config = read(&[("OPENAI_API_KEY", "  sk-very-secret\n")]).unwrap().unwrap();
    assert_eq!(config.key, Some(Secret::new("sk-very-secret")), "spaces around a key are a slip of the hand");
    assert!(!format!("{config:?} {}", config.label()).contains("very"));
    assert_eq!(Secret::new("sk-very-secret").to_string(), "[redacted]");
    let cut = Secret::new("sk-very-secret").redact("a sk-very-secret, a sk-very-se… and a sk-ver");
    assert_eq!(cut, "a [redacted], a [redacted]… and a sk-ver");

    assert_eq!(Secret::new("k").redact("ok"), "ok", "a placeholder for a server that wants no key");

    let broken = ProviderConfig { key: Some(Secret::new("sk-very\nsecret")), ..config };
    let problem = broken.build().err().unwrap();
    assert_eq!(problem.message, "OPENAI_API_KEY holds characters that no key has");
}

#[test]
fn only_openai_itself_counts_exactly() {
    let exact = |model: &str, url: &str, provider| {
        let base_url = Url::parse(url).unwrap();
        let config =
            ProviderConfig { provider, model: model.into(), base_url, key: None, temperature: None, max_tokens: 1 };
        config.build().unwrap().counts_exactly()
    };
    let openai = "https://api.openai.com/v1";
    for model in
        ["gpt-4o", "gpt-4o-mini", "gpt-4.1-mini", "gpt-5", "gpt-5.1", "o1", "o3-mini", "o4-mini", "ft:gpt-4o:us"]
    {
        assert!(exact(model, openai, Provider::OpenAi), "{model}");
        assert!(!exact(model, "http://127.0.0.1:8080/v1", Provider::OpenAi), "{model} by another server");
    }
    for model in ["gpt-4", "gpt-4-turbo", "gpt-3.5-turbo", "gpt-50", "o10", "gpt-oss-20b"] {
        assert!(!exact(model, openai, Provider::OpenAi), "{model}");
    }
    assert!(!exact("gpt-4o", "http://127.0.0.1:11434", Provider::Ollama));
    assert!(!exact("claude-sonnet-4-6", "https://api.anthropic.com", Provider::Anthropic));
}

//! Which provider is asked, and how it is read from environment variables.
//!
//! Pure: the variables come through a function, so that a test, the CLI and a keychain can each supply them.

use super::{Anthropic, OpenAi, Secret};
use std::sync::Arc;
use toolplan_engine::{Problem, ports::ChatModel};
use url::{Host, Url};

/// Tokens that a reply may have.
pub const MAX_TOKENS: u32 = 2048;

const ANTHROPIC_MODEL: &str = "claude-sonnet-4-6";
const OPENAI_MODEL: &str = "gpt-4.1-mini";

/// The providers that Toolplan speaks to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// The Messages API.
    Anthropic,
    /// The Chat Completions API, at OpenAI or any server that speaks it (llama.cpp, vLLM, LM Studio).
    OpenAi,
    /// Ollama, through its Chat Completions endpoint.
    Ollama,
}

impl Provider {
    pub const ALL: [Self; 3] = [Self::Anthropic, Self::OpenAi, Self::Ollama];

    /// As in `TOOL_PLANNER_LLM` and in labels.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
        }
    }

    /// The variable that holds the key, where there is one.
    pub fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::OpenAi => Some("OPENAI_API_KEY"),
            Self::Ollama => None,
        }
    }

    /// The variable that says where the server is.
    pub fn url_variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_BASE_URL",
            Self::OpenAi => "OPENAI_BASE_URL",
            Self::Ollama => "OLLAMA_HOST",
        }
    }

    fn default_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Ollama => "http://127.0.0.1:11434",
        }
    }
}

/// Everything needed to ask a model. `Debug` shows no key.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderConfig {
    pub provider: Provider,
    pub model: String,
    /// Without the endpoint's own path; a final `/v1` may be there or not.
    pub base_url: Url,
    pub key: Option<Secret>,
    /// From `TOOL_PLANNER_TEMPERATURE`, for whoever builds the prompt: only the prompt's temperature is ever sent.
    pub temperature: Option<f32>,
    pub max_tokens: u32,
}

impl ProviderConfig {
    /// Reads the environment through `get`; `None` when it names no provider. Empty variables count as unset.
    ///
    /// `TOOL_PLANNER_LLM` decides: `anthropic`, `openai`, `ollama`, or `offline` for no model whatever else is set.
    /// Without it an Anthropic key comes first, then OpenAI's key or base URL, then `OLLAMA_HOST`. `TOOL_PLANNER_MODEL`
    /// has a default for the first two. A key may be missing where a base URL is set, for servers that want none.
    pub fn from_env(get: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, Problem> {
        let get = |name: &str| get(name).map(|v| v.trim().to_owned()).filter(|v| !v.is_empty());
        let Some(provider) = provider(&get)? else { return Ok(None) };
        let given_url = get(provider.url_variable());
        let key = provider.key_variable().and_then(&get).map(Secret::new);
        if let (None, None, Some(variable)) = (&key, &given_url, provider.key_variable()) {
            return Err(config_problem(
                format!("{} is chosen and {variable} is not set", provider.name()),
                format!("set {variable}, or {} for a server that needs no key", provider.url_variable()),
            ));
        }
        let model = match (get("TOOL_PLANNER_MODEL"), provider) {
            (Some(model), _) => model,
            (None, Provider::Anthropic) => ANTHROPIC_MODEL.into(),
            (None, Provider::OpenAi) => OPENAI_MODEL.into(),
            (None, Provider::Ollama) => {
                return Err(config_problem(
                    "ollama is chosen and TOOL_PLANNER_MODEL is not set".into(),
                    "set TOOL_PLANNER_MODEL to a model that `ollama list` shows, or TOOL_PLANNER_LLM=offline".into(),
                ));
            }
        };
        let base_url = match given_url {
            Some(text) if provider == Provider::Ollama => ollama_url(&text),
            Some(text) => Url::parse(&text).ok(),
            None => Url::parse(provider.default_url()).ok(),
        };
        let base_url = base_url.ok_or_else(|| {
            let variable = provider.url_variable();
            config_problem(
                format!("{variable} is not a URL"),
                format!("write {variable} like {}", provider.default_url()),
            )
        })?;
        check_url(provider, &base_url)?;
        let temperature = get("TOOL_PLANNER_TEMPERATURE").map(|text| temperature(&text)).transpose()?;
        Ok(Some(Self { provider, model, base_url, key, temperature, max_tokens: MAX_TOKENS }))
    }

    /// The model that this configuration describes. Connects to nothing yet.
    pub fn build(&self) -> Result<Arc<dyn ChatModel>, Problem> {
        check_url(self.provider, &self.base_url)?;
        Ok(match self.provider {
            Provider::Anthropic => Arc::new(Anthropic::new(self)?),
            Provider::OpenAi | Provider::Ollama => Arc::new(OpenAi::new(self)?),
        })
    }

    /// For people: `anthropic/claude-sonnet-4-6`.
    pub fn label(&self) -> String {
        format!("{}/{}", self.provider.name(), self.model)
    }
}

pub(super) fn config_problem(message: String, hint: String) -> Problem {
    Problem::new("model.config", message, hint)
}

fn provider(get: &impl Fn(&str) -> Option<String>) -> Result<Option<Provider>, Problem> {
    if let Some(name) = get("TOOL_PLANNER_LLM") {
        if name.eq_ignore_ascii_case("offline") {
            return Ok(None);
        }
        let known = Provider::ALL.into_iter().find(|p| name.eq_ignore_ascii_case(p.name()));
        return known.map(Some).ok_or_else(|| {
            let shown: String = name.chars().take(40).collect();
            config_problem(
                format!("TOOL_PLANNER_LLM names no provider: {shown:?}"),
                "use anthropic, openai or ollama, or offline for no model".into(),
            )
        });
    }
    let set = |name: &str| get(name).is_some();
    Ok(if set("ANTHROPIC_API_KEY") {
        Some(Provider::Anthropic)
    } else if set("OPENAI_API_KEY") || set("OPENAI_BASE_URL") {
        Some(Provider::OpenAi)
    } else if set("OLLAMA_HOST") {
        Some(Provider::Ollama)
    } else {
        None
    })
}

/// A user name, a query or a fragment may hide a key that would then stand in errors; no server of these needs one.
fn check_url(provider: Provider, url: &Url) -> Result<(), Problem> {
    let variable = provider.url_variable();
    let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    let web = matches!(url.scheme(), "http" | "https") && url.host().is_some();
    if web && plain && url.fragment().is_none() {
        return Ok(());
    }
    Err(config_problem(
        format!("{variable} is not a plain http or https URL"),
        match provider.key_variable() {
            Some(key) => format!("write {variable} like {} and put the key into {key}", provider.default_url()),
            None => format!("write {variable} like {}", provider.default_url()),
        },
    ))
}

fn temperature(text: &str) -> Result<f32, Problem> {
    text.parse::<f32>().ok().filter(|t| (0.0..=2.0).contains(t)).ok_or_else(|| {
        config_problem("TOOL_PLANNER_TEMPERATURE is not a number from 0 to 2".into(), "write it like 0.3".into())
    })
}

/// `OLLAMA_HOST` as Ollama's own programs read it: a URL, or a host with or without a port. An address that only a
/// server can listen on (`0.0.0.0`) means this machine.
fn ollama_url(text: &str) -> Option<Url> {
    let mut url = if text.contains("://") {
        Url::parse(text).ok()?
    } else {
        let text = match text {
            port if port.starts_with(':') && !port.starts_with("::") => format!("127.0.0.1{port}"),
            address if address.parse::<std::net::Ipv6Addr>().is_ok() => format!("[{address}]"),
            other => other.to_owned(),
        };
        let authority = text.split('/').next().unwrap_or_default();
        // Asked of the text, because `Url` drops a port 80 that somebody wrote.
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let mut url = Url::parse(&format!("http://{text}")).ok()?;
        if !has_port {
            url.set_port(Some(11434)).ok()?;
        }
        url
    };
    let unspecified = match url.host()? {
        Host::Ipv4(address) => address.is_unspecified(),
        Host::Ipv6(address) => address.is_unspecified(),
        Host::Domain(_) => false,
    };
    if unspecified {
        url.set_host(Some("127.0.0.1")).ok()?;
    }
    Some(url)
}

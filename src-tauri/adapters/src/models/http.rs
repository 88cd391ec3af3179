//! One request to a provider's endpoint and the reading of its answer, under limits.
//!
//! The only place that makes problems out of connections, statuses and faults. It names the server's host and the
//! variable to check, never the key. Knows no protocol: an [`Assembly`] reads the events.

use super::{
    ProviderConfig,
    config::config_problem,
    draft::{Assembly, Fault, excerpt},
    names::WireNames,
    sse::Decoder,
};
use futures::StreamExt;
use reqwest::{
    Client, Response, StatusCode,
    header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER},
    redirect::Policy,
};
use serde_json::Value;
use std::{error::Error, time::Duration};
use toolplan_engine::{Problem, select::Reply};
use tracing::Instrument;
use url::{Host, Url};

/// Bytes of an answer, its framing included.
pub(super) const MAX_REPLY: usize = 4 << 20;
/// Bytes of an error's body that are looked at.
const MAX_ERROR: usize = 64 << 10;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Silence on an open connection. Generous, since a local model may think long before its first word.
const READ_TIMEOUT: Duration = Duration::from_secs(120);
/// How long the rest of a complete answer is waited for, so that its connection can be used again.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(50);

/// Where one provider's requests go. Not `Debug`, because it holds the key.
pub(super) struct Endpoint {
    client: Client,
    config: ProviderConfig,
    url: Url,
    headers: HeaderMap,
}

impl Endpoint {
    /// `path` is appended to the base URL; a first segment that already ends the base (`v1`) is not repeated.
    pub(super) fn new(config: &ProviderConfig, path: &[&str], mut headers: HeaderMap) -> Result<Self, Problem> {
        let unusable =
            || config_problem(format!("{} cannot be used", config.provider.url_variable()), "write a URL".into());
        let mut url = config.base_url.clone();
        url.path_segments_mut().map_err(|()| unusable())?.pop_if_empty();
        let last = url.path_segments().and_then(|mut segments| segments.next_back().map(str::to_owned));
        let path = if last.as_deref() == path.first().copied() { &path[1..] } else { path };
        url.path_segments_mut().map_err(|()| unusable())?.extend(path);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        // A redirect would carry the key to wherever it points.
        let mut builder = Client::builder()
            .redirect(Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .user_agent(concat!("toolplan/", env!("CARGO_PKG_VERSION")));
        if is_loopback(&url) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| {
            config_problem(
                format!("no HTTPS client can be made: {}", innermost(&error)),
                "check the system's certificates and the proxy variables".into(),
            )
        })?;
        Ok(Self { client, config: config.clone(), url, headers })
    }

    pub(super) fn config(&self) -> &ProviderConfig {
        &self.config
    }

    /// Sends `body` and assembles the answer. Dropping the future closes the connection.
    pub(super) async fn ask(&self, body: &Value, assembly: impl Assembly, names: &WireNames) -> Result<Reply, Problem> {
        let span = tracing::debug_span!(
            "chat",
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = self.config.provider.name(),
            gen_ai.request.model = self.config.model,
            gen_ai.usage.input_tokens = tracing::field::Empty,
            gen_ai.usage.output_tokens = tracing::field::Empty,
            server.address = self.url.host_str(),
        );
        async {
            let request = self.client.post(self.url.clone()).headers(self.headers.clone()).body(body.to_string());
            let response = request.send().await.map_err(|error| self.unreachable(&error))?;
            if !response.status().is_success() {
                return Err(self.status_problem(response).await);
            }
            let reply = self.read(response, assembly, names).await?;
            let span = tracing::Span::current();
            span.record("gen_ai.usage.input_tokens", reply.input_tokens);
            span.record("gen_ai.usage.output_tokens", reply.output_tokens);
            Ok(reply)
        }
        .instrument(span)
        .await
    }

    async fn read(&self, response: Response, mut assembly: impl Assembly, names: &WireNames) -> Result<Reply, Problem> {
        let fault = |fault| self.fault(fault);
        let mut chunks = response.bytes_stream();
        let mut total = 0;
        let mut decoder = Decoder::default();
        // A server that ignores `stream` answers with one JSON object; no stream begins with a brace.
        let mut whole: Option<Vec<u8>> = None;
        let mut begun = false;
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| self.broken_off(&error))?;
            total += chunk.len();
            if total > MAX_REPLY {
                return Err(fault(Fault::reply(format!("the reply is larger than {MAX_REPLY} bytes"))));
            }
            if let (false, Some(first)) = (begun, chunk.iter().find(|b| !b.is_ascii_whitespace())) {
                begun = true;
                whole = (*first == b'{').then(Vec::new);
            }
            if let Some(body) = &mut whole {
                body.extend_from_slice(&chunk);
                continue;
            }
            for event in decoder.push(&chunk).map_err(fault)? {
                if assembly.event(&event).map_err(fault)? {
                    let rest = async { while let Some(Ok(_)) = chunks.next().await {} };
                    let _ = tokio::time::timeout(DRAIN_TIMEOUT, rest).await;
                    return assembly.finish(names).map_err(fault);
                }
            }
        }
        if let Some(body) = whole {
            let value = serde_json::from_slice(&body)
                .map_err(|error| fault(Fault::reply(format!("the reply is not JSON ({error})"))))?;
            assembly.whole(&value).map_err(fault)?;
        }
        assembly.finish(names).map_err(fault)
    }

    async fn status_problem(&self, response: Response) -> Problem {
        let status = response.status();
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|v| v.to_str().ok()).map(excerpt);
        let said = error_text(response).await.map(|text| format!(": {}", excerpt(&text))).unwrap_or_default();
        // Not `Display`, which writes "unknown status code" for Anthropic's 529.
        let http = match status.canonical_reason() {
            Some(reason) => format!("HTTP {} {reason}", status.as_u16()),
            None => format!("HTTP {}", status.as_u16()),
        };
        match status {
            // Their texts quote a part of the key, so they are not shown.
            StatusCode::UNAUTHORIZED => {
                let what = if self.config.key.is_some() { "refused the key" } else { "wants a key" };
                self.problem("model.refused", format!("{what} ({http})"))
            }
            StatusCode::FORBIDDEN => self.problem("model.refused", format!("refused the request ({http}){said}")),
            StatusCode::TOO_MANY_REQUESTS => {
                let wait = match retry_after {
                    Some(time) if time.parse::<f64>().is_ok() => format!(", try again after {time} s"),
                    Some(time) => format!(", try again after {time}"),
                    None => String::new(),
                };
                self.problem("model.rate_limited", format!("allows no more requests now ({http}){wait}{said}"))
            }
            _ if status.is_server_error() => self.problem("model.server", format!("failed ({http}){said}")),
            _ => self.problem("model.request", format!("did not accept the request ({http}){said}")),
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> Problem {
        let why = if error.is_timeout() { "no answer in time".into() } else { innermost(error) };
        self.problem("model.unreachable", format!("cannot be reached: {why}"))
    }

    fn broken_off(&self, error: &reqwest::Error) -> Problem {
        if error.is_timeout() {
            return self.unreachable(error);
        }
        let fault = Fault::truncated();
        self.problem(fault.code, format!("{} ({})", fault.message, innermost(error)))
    }

    fn fault(&self, fault: Fault) -> Problem {
        self.problem(fault.code, fault.message)
    }

    fn problem(&self, code: &str, message: String) -> Problem {
        let provider = self.config.provider;
        let url = provider.url_variable();
        let hint = match code {
            "model.unreachable" => format!("check that the server runs, and check {url} and the network"),
            "model.refused" => match provider.key_variable() {
                Some(key) => format!("check {key}, and that its account may use {}", self.config.model),
                None => format!("check {url}: the server wants a key, and this provider sends none"),
            },
            "model.rate_limited" => "wait, or choose another TOOL_PLANNER_MODEL or TOOL_PLANNER_LLM".into(),
            "model.request" => format!("check TOOL_PLANNER_MODEL (now {}) and {url}", self.config.model),
            "model.server" => "try again later, or choose another TOOL_PLANNER_LLM".into(),
            _ => format!("try again; if it stays, check {url} and TOOL_PLANNER_MODEL (now {})", self.config.model),
        };
        // What a server says may echo the key; our own words cannot.
        let message = self.config.key.as_ref().map_or_else(|| message.clone(), |key| key.redact(&message));
        Problem::new(code, format!("{} at {}: {message}", provider.name(), host(&self.url)), hint)
    }
}

/// A header that holds the key and shows it nowhere.
pub(super) fn secret_header(config: &ProviderConfig, prefix: &str) -> Result<Option<HeaderValue>, Problem> {
    let Some(key) = &config.key else { return Ok(None) };
    let mut value = HeaderValue::from_str(&format!("{prefix}{}", key.expose())).map_err(|_| {
        let variable = config.provider.key_variable().unwrap_or("the key");
        config_problem(format!("{variable} holds characters that no key has"), format!("copy {variable} again"))
    })?;
    value.set_sensitive(true);
    Ok(Some(value))
}

/// What the server says about its error, in any of the usual shapes; nothing for an HTML page.
async fn error_text(response: Response) -> Option<String> {
    let mut body = vec![];
    let mut chunks = response.bytes_stream();
    while let Some(Ok(chunk)) = chunks.next().await {
        let room = MAX_ERROR - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if body.len() == MAX_ERROR {
            break;
        }
    }
    let text = String::from_utf8_lossy(&body);
    let said = match serde_json::from_str::<Value>(&text) {
        Ok(value) => {
            let places = ["/error/message", "/error", "/message", "/detail"];
            places.iter().find_map(|place| value.pointer(place)?.as_str().map(str::to_owned))?
        }
        Err(_) if text.trim_start().starts_with('<') => return None,
        Err(_) => text.into_owned(),
    };
    Some(said).filter(|said| !said.trim().is_empty())
}

/// The host as a person would type it, with the port where the URL has one.
fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// No proxy stands between two programs of one machine, whatever the proxy variables say.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

/// The cause at the bottom, which is the one that says something: "Connection refused".
fn innermost(mut error: &(dyn Error + 'static)) -> String {
    while let Some(source) = error.source() {
        error = source;
    }
    excerpt(&error.to_string())
}

//! HTTP as the network tools use it: checked addresses, redirects followed by hand, bounded in size and time.
//!
//! Every hop passes the same check. Credentials go to the origin that they belong to and to no other. Knows nothing of
//! what the answers mean.

use super::{
    address::{PrivateAddress, PublicOnly, is_public},
    arguments::invalid,
};
use reqwest::{Client, Method, Response, header, redirect};
use serde_json::Value;
use std::{error::Error, net::IpAddr, sync::Arc, sync::OnceLock, time::Duration};
use toolplan_engine::ports::{ErrorClass, ToolError};
use url::{Host, Url};

/// Time of one fetch with all of its redirects.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(20);
const MAX_REDIRECTS: usize = 5;
const MAX_URL: usize = 8192;

/// Sends requests. The clients are made at the first one.
pub(super) struct Fetcher {
    allow_private: bool,
    max_bytes: usize,
    /// Reaches any address: for hosts that a person configured, and where private addresses are allowed.
    any: OnceLock<Result<Client, String>>,
    /// Reaches public addresses only.
    public: OnceLock<Result<Client, String>>,
}

/// How a tool proves who it is.
#[derive(Clone)]
pub(super) enum Credential {
    Bearer(String),
    Basic { user: String, token: String },
}

impl Credential {
    /// Basic with a user, Bearer without one, nothing without a token.
    pub(super) fn of(user: Option<&String>, token: Option<&String>) -> Option<Self> {
        Some(match (user, token?) {
            (Some(user), token) => Self::Basic { user: user.clone(), token: token.clone() },
            (None, token) => Self::Bearer(token.clone()),
        })
    }
}

pub(super) struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) accept: &'static str,
    pub(super) body: Option<Value>,
    pub(super) credential: Option<Credential>,
    /// The host of `url` is a person's own setting and may be private.
    pub(super) is_configured: bool,
    pub(super) time_limit: Duration,
}

impl Request {
    pub(super) fn get(url: Url, accept: &'static str) -> Self {
        Self {
            method: Method::GET,
            url,
            accept,
            body: None,
            credential: None,
            is_configured: false,
            time_limit: TIME_LIMIT,
        }
    }
}

/// What came back, whatever its status.
pub(super) struct Answer {
    /// After redirects.
    pub(super) url: Url,
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) retry_after: Option<String>,
    pub(super) body: Vec<u8>,
    /// The body is longer than the limit.
    pub(super) truncated: bool,
    /// A redirect led to another origin, where no credential was sent.
    pub(super) left_origin: bool,
}

impl Fetcher {
    pub(super) fn new(allow_private: bool, max_bytes: usize) -> Self {
        Self { allow_private, max_bytes, any: OnceLock::new(), public: OnceLock::new() }
    }

    /// Sends the request and follows its redirects.
    pub(super) async fn send(&self, request: Request) -> Result<Answer, ToolError> {
        let host = shown_host(&request.url);
        let limit = request.time_limit;
        tokio::time::timeout(limit, self.follow(request)).await.unwrap_or_else(|_| {
            Err(ToolError::new(
                ErrorClass::Timeout,
                format!("{host} did not answer in full within {} s", limit.as_secs_f32()),
                "try again later",
            ))
        })
    }

    async fn follow(&self, mut request: Request) -> Result<Answer, ToolError> {
        let origin = request.url.origin();
        let trusted = request.is_configured.then(|| request.url.host_str().map(str::to_string)).flatten();
        for _ in 0..=MAX_REDIRECTS {
            let is_any = self.allow_private || (trusted.is_some() && request.url.host_str() == trusted.as_deref());
            check_url(&request.url, is_any)?;
            let left_origin = request.url.origin() != origin;
            let response = self.hop(&request, is_any, left_origin).await?;
            match redirect_target(&response, &request.url)? {
                Some(target) => redirect(&mut request, response.status().as_u16(), target)?,
                None => return self.read(response, left_origin).await,
            }
        }
        let message = format!("{} redirects more than {MAX_REDIRECTS} times", shown_host(&request.url));
        Err(ToolError::new(ErrorClass::Client, message, "open the page in a browser and use the address it ends at"))
    }

    async fn hop(&self, request: &Request, is_any: bool, left_origin: bool) -> Result<Response, ToolError> {
        let client = if is_any { &self.any } else { &self.public };
        let client = client.get_or_init(|| build(is_any).map_err(|e| e.to_string())).as_ref().map_err(|e| {
            let hint = "check the system's certificate store";
            ToolError::new(ErrorClass::Internal, format!("no HTTPS client can be made: {e}"), hint)
        })?;
        let mut builder = client
            .request(request.method.clone(), request.url.clone())
            .header(header::ACCEPT, request.accept)
            .header(header::ACCEPT_ENCODING, "identity");
        builder = match &request.credential {
            Some(Credential::Bearer(token)) if !left_origin => builder.bearer_auth(token),
            Some(Credential::Basic { user, token }) if !left_origin => builder.basic_auth(user, Some(token)),
            _ => builder,
        };
        if let Some(body) = &request.body {
            builder = builder.json(body);
        }
        builder.send().await.map_err(|e| connection_error(&request.url, &e))
    }

    async fn read(&self, mut response: Response, left_origin: bool) -> Result<Answer, ToolError> {
        let text = |name| response.headers().get(name).and_then(|v| v.to_str().ok()).map(str::to_string);
        let encoding = text(header::CONTENT_ENCODING).filter(|e| !e.trim().eq_ignore_ascii_case("identity"));
        if let Some(encoding) = encoding.filter(|e| !e.trim().is_empty()) {
            // Asked for identity; unpacking would let a small body become a huge one.
            return Err(ToolError::new(
                ErrorClass::Client,
                format!("{} answers compressed ({encoding}) although it was asked not to", shown_host(response.url())),
                "fetch another address of the same content",
            ));
        }
        let content_type = text(header::CONTENT_TYPE).unwrap_or_default();
        let retry_after = text(header::RETRY_AFTER);
        let (url, status) = (response.url().clone(), response.status().as_u16());
        let mut body = vec![];
        let mut truncated = false;
        while let Some(chunk) = response.chunk().await.map_err(|e| connection_error(&url, &e))? {
            let room = self.max_bytes.saturating_sub(body.len());
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                truncated = true;
                break;
            }
        }
        Ok(Answer { url, status, content_type, retry_after, body, truncated, left_origin })
    }
}

/// Reads a URL that somebody typed or a model wrote.
pub(super) fn parse_url(text: &str) -> Result<Url, ToolError> {
    let text = text.trim();
    let shown = toolplan_engine::text::middle_truncate(text, 120);
    if text.len() > MAX_URL {
        return Err(invalid(format!("the URL {shown} is longer than {MAX_URL} characters"), "use a shorter URL"));
    }
    let hint = "give a full URL such as https://example.org/page";
    let url = Url::parse(text).map_err(|e| invalid(format!("{shown} is no URL: {e}"), hint))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused(
            format!("the scheme {} is not fetched", url.scheme()),
            "only http and https URLs are fetched",
        ));
    }
    Ok(url)
}

/// The error for a status that is not a success; `None` for one that is. `thing` is what was asked for.
pub(super) fn status_error(answer: &Answer, thing: &str, refused_hint: &str, missing_hint: &str) -> Option<ToolError> {
    let (class, what, hint) = match answer.status {
        200..=299 => return None,
        401 | 403 if answer.left_origin => {
            let hint =
                "the answer came from a redirect to another origin, where no token is sent; configure that address";
            (ErrorClass::Refused, "is not permitted", hint.to_string())
        }
        401 | 403 => (ErrorClass::Refused, "is not permitted", refused_hint.to_string()),
        404 | 410 => (ErrorClass::NotFound, "does not exist", missing_hint.to_string()),
        429 => {
            let wait =
                answer.retry_after.as_deref().map(|s| format!("; the server asks to wait {s} s")).unwrap_or_default();
            (ErrorClass::RateLimited, "was asked for too often", format!("try again later{wait}"))
        }
        500..=599 => (ErrorClass::Transient, "cannot be served now", "try again later".to_string()),
        _ => (ErrorClass::Client, "was not served", "check the address and the arguments".to_string()),
    };
    let message = format!("{thing} {what} (HTTP {} from {})", answer.status, shown_host(&answer.url));
    let retry_after_ms = answer.retry_after.as_deref().and_then(|s| s.trim().parse::<u32>().ok());
    let retry_after_ms = retry_after_ms.map(|s| s.saturating_mul(1000)).filter(|_| class.is_retryable());
    Some(ToolError { retry_after_ms, ..ToolError::new(class, message, hint) })
}

pub(super) fn refused(message: impl Into<String>, hint: impl Into<String>) -> ToolError {
    ToolError::new(ErrorClass::Refused, message, hint)
}

/// Host and port as they stand in the URL: what a message may show, since a query can hold secrets.
pub(super) fn shown_host(url: &Url) -> String {
    let host = url.host_str().unwrap_or("the server");
    url.port().map_or_else(|| host.to_string(), |port| format!("{host}:{port}"))
}

fn build(is_any: bool) -> reqwest::Result<Client> {
    let builder = Client::builder()
        .user_agent(concat!("Toolplan/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        // A proxy would resolve the name again, where nothing checks the address.
        .no_proxy()
        .no_gzip()
        .no_brotli()
        .no_deflate()
        .no_zstd()
        .referer(false);
    if is_any { builder.build() } else { builder.dns_resolver(Arc::new(PublicOnly)).build() }
}

/// What can be seen of an address before it is resolved. A literal address never reaches the resolver.
fn check_url(url: &Url, is_any: bool) -> Result<(), ToolError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused(
            format!("a redirect leads to the scheme {}", url.scheme()),
            "only http and https are fetched",
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        let message = format!("the URL of {} holds a user name or password", shown_host(url));
        return Err(refused(message, "remove it: results and the journal would show it"));
    }
    let literal = match url.host() {
        Some(Host::Ipv4(v4)) => IpAddr::V4(v4),
        Some(Host::Ipv6(v6)) => IpAddr::V6(v6),
        Some(Host::Domain(_)) => return Ok(()),
        None => return Err(invalid("the URL names no host", "give a full URL such as https://example.org/page")),
    };
    if is_any || is_public(literal) {
        return Ok(());
    }
    Err(private(&PrivateAddress { host: shown_host(url), address: literal }))
}

fn private(found: &PrivateAddress) -> ToolError {
    refused(found.to_string(), "use a public address, or allow private addresses in Settings → network")
}

fn redirect_target(response: &Response, from: &Url) -> Result<Option<Url>, ToolError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = response.headers().get(header::LOCATION) else { return Ok(None) };
    let target = location.to_str().ok().and_then(|l| from.join(l).ok());
    match target {
        Some(target) => Ok(Some(target)),
        None => {
            let message = format!("{} redirects to something that is no URL", shown_host(from));
            Err(ToolError::new(ErrorClass::Client, message, "fetch another address"))
        }
    }
}

/// Turns the request into the one that the redirect asks for, as browsers do.
fn redirect(request: &mut Request, status: u16, target: Url) -> Result<(), ToolError> {
    let keeps_method = matches!(status, 307 | 308) || matches!(request.method, Method::GET | Method::HEAD);
    if !keeps_method {
        request.method = Method::GET;
        request.body = None;
    } else if request.body.is_some() && target.origin() != request.url.origin() {
        let message = format!("{} redirects the data of the call to {}", shown_host(&request.url), shown_host(&target));
        return Err(refused(message, "bind the tool to the address that the redirect leads to"));
    }
    request.url = target;
    Ok(())
}

fn connection_error(url: &Url, error: &reqwest::Error) -> ToolError {
    let mut cause: &dyn Error = error;
    loop {
        if let Some(found) = cause.downcast_ref::<PrivateAddress>() {
            return private(found);
        }
        match cause.source() {
            Some(deeper) => cause = deeper,
            None => break,
        }
    }
    if error.is_builder() {
        let hint = "check that the configured token and user are single lines of plain text";
        return invalid(format!("the request to {} cannot be written", shown_host(url)), hint);
    }
    // The deepest cause says what happened, and unlike reqwest's own text it never repeats the URL.
    ToolError::new(
        ErrorClass::Transient,
        format!("{} cannot be reached: {cause}", shown_host(url)),
        "check the address and the network connection, then try again",
    )
}

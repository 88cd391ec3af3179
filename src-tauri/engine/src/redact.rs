//! Keeping secrets out of what is written down (S-01).
//!
//! A [`Redactor`] knows the secret values of this machine, the names of fields that hold secrets, the shapes of keys
//! and credentials, and the patterns of the workspace. What it finds it replaces by `[redacted: what it was]`. The
//! store asks it before an event becomes bytes, so that nothing that reads the journal can see what was left out: the
//! run itself included, which goes on with the result that the journal holds.
//!
//! Most events hold nothing suspicious, and one look at their JSON text says so.

use crate::{Problem, run::RunEvent, settings::RedactionSettings};
use regex::{Regex, bytes};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// What stands in the place of a secret.
pub const MARK: &str = "[redacted: ";

/// Fields that hold nothing but a secret. Written in small letters with `_`.
const FIELDS: &[&str] = &[
    "authorization",
    "proxy_authorization",
    "api_key",
    "apikey",
    "x_api_key",
    "api_token",
    "x_auth_token",
    "access_key",
    "secret_key",
    "secret_access_key",
    "token",
    "access_token",
    "refresh_token",
    "id_token",
    "auth_token",
    "bearer_token",
    "session_token",
    "csrf_token",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "client_secret",
    "private_key",
    "credentials",
    "cookie",
    "set_cookie",
    "session_id",
    "sessionid",
];

/// A shape: what it is, its pattern, and the group that is the secret. `random`: only text that no one would write by
/// hand, so that prose about passwords stays.
struct Shape {
    what: &'static str,
    pattern: &'static str,
    group: usize,
    random: bool,
}

const SHAPES: &[Shape] = &[
    Shape {
        what: "private key",
        pattern: r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
        group: 0,
        random: false,
    },
    Shape {
        what: "key",
        pattern: r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}|\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{35}|\bATATT3[A-Za-z0-9_=-]{20,}|\bhf_[A-Za-z0-9]{20,}|\bnpm_[A-Za-z0-9]{20,}",
        group: 0,
        random: false,
    },
    Shape {
        what: "web token",
        pattern: r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
        group: 0,
        random: false,
    },
    Shape { what: "bearer token", pattern: r"(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{12,})", group: 1, random: true },
    Shape { what: "basic credentials", pattern: r"(?i)\bbasic\s+([A-Za-z0-9+/]{12,}={0,2})", group: 1, random: true },
    Shape {
        what: "URL credentials",
        pattern: r"[A-Za-z][A-Za-z0-9+.-]*://([^/\s:@]*:[^/\s@]+)@",
        group: 1,
        random: false,
    },
    Shape {
        what: "secret parameter",
        pattern: r#"(?i)[?&](?:access_token|auth_token|api_?key|token|sig|signature|password|secret|client_secret)=([^&\s#"'\[]+)"#,
        group: 1,
        random: false,
    },
    Shape { what: "cookie", pattern: r"(?i)\b(?:set-)?cookie:\s*([^\s=;\[]+=[^\r\n]+)", group: 1, random: false },
    Shape {
        what: "secret",
        pattern: r#"(?i)\b(?:password|passwd|pwd|secret|(?:client|aws)_secret[a-z_]*|api[_-]?key|(?:access|auth|refresh)[_-]?token)["']?\s*[:=]\s*["']?([^\s"',;&\[\]]{8,})"#,
        group: 1,
        random: true,
    },
];

/// What the JSON text of an event must hold to be looked at closely, beside the fields and the known secrets.
const SUSPICIOUS: &str = r"-----BEGIN|\b[spr]k[-_]|gh[pousr]_|github_pat_|glpat-|xox[a-s]-|AKIA|AIza|ATATT3|hf_|npm_|eyJ|://[^/\s\x22@]*:[^/\s\x22@]*@|(?i-u:bearer|basic)(?-u:\s|\\)|(?i-u:cookie):|[?&](?i-u:access_token|auth_token|api_?key|token|sig|signature|password|secret|client_secret)=|(?i-u:password|passwd|pwd|secret[a-z_]*|api[_-]?key|token)(?-u:[\\\x22' ]{0,6})[:=](?-u:[\\\x22' ]{0,6})[^\s\x22',;&\[\]{}\\]{8}";

/// Finds secrets and takes them out. Cheap to share, made anew when the settings change.
pub struct Redactor {
    suspicious: bytes::Regex,
    /// Name and value, longest value first: a secret may begin with another one.
    known: Vec<(String, String)>,
    fields: Vec<String>,
    shapes: Vec<(String, Regex, usize, bool)>,
    /// Patterns of the workspace see plain text only, so every event is taken apart for them.
    closely: bool,
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new(&RedactionSettings::default(), []).0
    }
}

impl Redactor {
    /// `known` are secrets by name; values shorter than six bytes are left alone, as they would turn up everywhere.
    /// A pattern of the settings that does not compile is reported and left out.
    pub fn new(
        settings: &RedactionSettings,
        known: impl IntoIterator<Item = (String, String)>,
    ) -> (Self, Vec<Problem>) {
        let mut secrets: Vec<(String, String)> = vec![];
        for (name, value) in known {
            let value = value.trim();
            if value.len() < 6 {
                continue;
            }
            let in_url: String = value.bytes().map(percent_encoded).collect();
            secrets.push((name.clone(), value.to_string()));
            if in_url != value {
                secrets.push((name, in_url));
            }
        }
        secrets.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.cmp(b)));
        secrets.dedup_by(|a, b| a.1 == b.1);

        let mut fields: Vec<String> = FIELDS.iter().map(|f| f.to_string()).collect();
        fields.extend(settings.fields.iter().map(|f| as_field(f).into_owned()).filter(|f| !f.is_empty()));
        let mut shapes: Vec<(String, Regex, usize, bool)> =
            SHAPES.iter().map(|s| (s.what.into(), compiled(s.pattern), s.group, s.random)).collect();
        let mut problems = vec![];
        let mut closely = false;
        for own in &settings.patterns {
            match Regex::new(&own.pattern) {
                // A pattern that fits nothing at all would fit between all letters.
                Ok(regex) if regex.is_match("") => problems.push(bad_pattern(own, "it fits the empty text")),
                Ok(regex) => {
                    let what = if own.name.trim().is_empty() { "pattern" } else { own.name.trim() };
                    shapes.push((what.into(), regex, 0, false));
                    closely = true;
                }
                Err(error) => problems.push(bad_pattern(own, &error.to_string())),
            }
        }
        let names: Vec<String> = fields.iter().map(|f| regex::escape(f).replace('_', "[_-]?")).collect();
        let values = secrets.iter().map(|(_, value)| {
            let json = Value::from(value.as_str()).to_string();
            regex::escape(&json[1..json.len() - 1])
        });
        let mut any = vec![SUSPICIOUS.to_string(), format!(r#""(?i-u:{})":[\["]"#, names.join("|"))];
        any.extend(values);
        let suspicious = bytes::RegexBuilder::new(&any.join("|"))
            .size_limit(50 << 20)
            .build()
            .expect("patterns of ours and escaped text compile");
        (Self { suspicious, known: secrets, fields, shapes, closely }, problems)
    }

    /// The event without its secrets, and its JSON text.
    pub fn event(&self, event: RunEvent) -> serde_json::Result<(RunEvent, String)> {
        let json = event.to_json()?;
        match self.json(&json) {
            None => Ok((event, json)),
            Some(clean) => {
                let event = RunEvent::from_json(clean.as_bytes())?;
                Ok((event, clean))
            }
        }
    }

    /// The JSON text without its secrets; `None` when there are none, or it is no JSON.
    pub fn json(&self, json: &str) -> Option<String> {
        if !self.closely && !self.suspicious.is_match(json.as_bytes()) {
            return None;
        }
        let mut value: Value = serde_json::from_str(json).ok()?;
        self.value(&mut value).then(|| value.to_string())
    }

    /// Takes the secrets out of a value; whether there were any.
    pub fn value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.text(text) {
                Cow::Borrowed(_) => false,
                Cow::Owned(clean) => {
                    *text = clean;
                    true
                }
            },
            Value::Array(items) => items.iter_mut().fold(false, |found, item| self.value(item) | found),
            Value::Object(map) => self.object(map),
            _ => false,
        }
    }

    fn object(&self, map: &mut Map<String, Value>) -> bool {
        let mut found = false;
        for (key, value) in map.iter_mut() {
            found |= match self.field(key) {
                Some(name) => blank(value, name) || self.value(value),
                None => self.value(value),
            };
        }
        if map.keys().any(|key| matches!(self.text(key), Cow::Owned(_))) {
            let old = std::mem::take(map);
            map.extend(old.into_iter().map(|(key, value)| (self.text(&key).into_owned(), value)));
            found = true;
        }
        found
    }

    fn field(&self, key: &str) -> Option<&str> {
        if key.len() > 64 {
            return None;
        }
        let name = as_field(key);
        self.fields.iter().find(|f| **f == name).map(String::as_str)
    }

    /// The text without its secrets.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut clean = Cow::Borrowed(text);
        for (name, value) in &self.known {
            if clean.contains(value.as_str()) {
                clean = Cow::Owned(clean.replace(value.as_str(), &format!("{MARK}{name}]")));
            }
        }
        for (what, pattern, group, random) in &self.shapes {
            let mut rest = 0;
            let mut out = String::new();
            for found in pattern.captures_iter(&clean) {
                let Some(secret) = found.get(*group) else { continue };
                if *random && !looks_random(secret.as_str()) || secret.as_str().starts_with(MARK) {
                    continue;
                }
                out.push_str(&clean[rest..secret.start()]);
                out.push_str(MARK);
                out.push_str(what);
                out.push(']');
                rest = secret.end();
            }
            if rest > 0 {
                out.push_str(&clean[rest..]);
                clean = Cow::Owned(out);
            }
        }
        clean
    }
}

/// Whether any text in the value was left out when it was written down.
pub fn is_redacted(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(MARK),
        Value::Array(items) => items.iter().any(is_redacted),
        Value::Object(map) => map.values().any(is_redacted),
        _ => false,
    }
}

/// Replaces the text of a secret field; objects and numbers are not secrets themselves.
fn blank(value: &mut Value, name: &str) -> bool {
    match value {
        Value::String(text) if !text.is_empty() && !text.starts_with(MARK) => {
            *text = format!("{MARK}{name}]");
            true
        }
        Value::Array(items) if items.iter().any(Value::is_string) => {
            items.iter_mut().fold(false, |found, item| blank(item, name) | found)
        }
        _ => false,
    }
}

fn as_field(key: &str) -> Cow<'_, str> {
    if key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') {
        return Cow::Borrowed(key);
    }
    Cow::Owned(key.trim().to_ascii_lowercase().replace(['-', ' '], "_"))
}

/// Letters and digits together, letter case to and fro, or very long: nobody writes that in a sentence.
fn looks_random(text: &str) -> bool {
    let bytes = text.as_bytes();
    let turns = bytes.windows(2).filter(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase()).count();
    turns >= 3 || text.len() >= 40 || bytes.iter().any(u8::is_ascii_digit) && bytes.iter().any(u8::is_ascii_alphabetic)
}

fn percent_encoded(byte: u8) -> String {
    match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => (byte as char).to_string(),
        other => format!("%{other:02X}"),
    }
}

fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of ours compiles")
}

fn bad_pattern(own: &crate::settings::RedactionPattern, why: &str) -> Problem {
    let why = why.lines().last().unwrap_or_default().trim();
    Problem::new(
        "settings.redaction",
        format!("the redaction pattern {:?} cannot be used: {why}", own.pattern),
        "correct it; until then what it should find is not left out",
    )
}

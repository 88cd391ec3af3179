//! A value that must not be seen: it prints as a placeholder wherever it is formatted.

use std::fmt;

/// An API key. There is no way to print or serialize it by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value, for the one header that carries it.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    /// `text` without the value, should a server have echoed it. A message is cut at some length, so the beginning of
    /// the value counts as well. Values of up to three characters are placeholders for servers that want no key.
    pub(super) fn redact(&self, text: &str) -> String {
        const TELLING: usize = 8;
        let key = self.0.as_str();
        let Some(start) = key.get(..TELLING.min(key.len())).filter(|start| start.len() > 3) else {
            return text.to_owned();
        };
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(start) {
            out.push_str(&rest[..at]);
            out.push_str("[redacted]");
            let found = &rest[at..];
            let same = found.chars().zip(key.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
            rest = &found[same..];
        }
        out + rest
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

//! Server-sent events out of bytes that arrive in any pieces.
//!
//! Knows the framing and nothing of what the events mean. Stricter than a browser: a line that cannot be a field is an
//! error, since here it means that something other than a model answered (an HTML page, a proxy's message).

use super::draft::{Fault, excerpt};

/// Bytes of one line, and of the data of one event.
pub(super) const MAX_LINE: usize = 1 << 20;

/// One event: its name (empty when none was sent) and its data lines joined by newlines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) name: String,
    pub(super) data: String,
}

/// The state between two pieces.
#[derive(Default)]
pub(super) struct Decoder {
    line: Vec<u8>,
    /// The last byte was a carriage return, so a newline that follows belongs to it.
    after_cr: bool,
    begun: bool,
    event: Event,
    has_data: bool,
}

impl Decoder {
    /// Takes the next bytes and returns the events that they complete. What is unfinished at the end of the stream is
    /// no event, as the standard says.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<Vec<Event>, Fault> {
        let mut events = vec![];
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|b| matches!(b, b'\n' | b'\r'));
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + part.len() > MAX_LINE {
                return Err(Fault::reply(format!("a line of the stream is longer than {MAX_LINE} bytes")));
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { break };
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            events.extend(self.line(&line)?);
        }
        Ok(events)
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<Event>, Fault> {
        let line = std::str::from_utf8(line).map_err(|_| {
            Fault::reply(format!("the stream is not UTF-8: {}", excerpt(&String::from_utf8_lossy(line))))
        })?;
        let line = if self.begun { line } else { line.trim_start_matches('\u{feff}') };
        self.begun = true;
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return Ok(std::mem::take(&mut self.has_data).then_some(event));
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            // A comment, which servers send to keep the connection open.
            "" => {}
            "event" => value.clone_into(&mut self.event.name),
            "data" => self.data(value)?,
            // llama.cpp reports an error in the middle of a stream so.
            "error" => {
                "error".clone_into(&mut self.event.name);
                self.data(value)?;
            }
            "id" | "retry" => {}
            // A field of a later standard.
            other
                if line.len() > other.len() && other.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)) => {
            }
            _ => return Err(Fault::reply(format!("the stream holds a line that is no event: {}", excerpt(line)))),
        }
        Ok(None)
    }

    fn data(&mut self, value: &str) -> Result<(), Fault> {
        if self.event.data.len() + value.len() > MAX_LINE {
            return Err(Fault::reply(format!("an event of the stream is longer than {MAX_LINE} bytes")));
        }
        if std::mem::replace(&mut self.has_data, true) {
            self.event.data.push('\n');
        }
        self.event.data.push_str(value);
        Ok(())
    }
}

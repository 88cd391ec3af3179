//! Reading a catalog file: a JSON array of tools of any size, a tool at a time.
//!
//! The file is cut into its elements as it is read, so that memory holds one element and the tools taken so far, and one
//! bad element costs itself only. Whatever is not taken is listed with its reason; only a file whose brackets do not
//! match is refused whole, because then nobody knows where a tool ends.

use crate::{Workbench, views::catalog::ImportReport};
use serde_json::Value;
use std::{
    collections::HashSet,
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
};
use toolplan_engine::{
    Problem, capability,
    tool::{ToolSpec, validate},
};

/// A larger element is no tool.
const MAX_ELEMENT: usize = 4 << 20;

/// More tools than anybody can look through.
pub const MAX_TOOLS: usize = 200_000;

/// Brackets inside brackets after which reading stops.
const MAX_DEPTH: usize = 10_000;

/// How many rejects are told one by one.
const MAX_PROBLEMS: usize = 1000;

/// Fields that hold lists of texts: null is an empty one, and what is no text is left out with a note (K-07).
const LISTS: &[&str] = &["capabilities", "guidance", "limitations", "tags", "aliases", "auth_scopes"];

impl Workbench {
    /// Registers the tools of the file as one revision. `progress` hears how many bytes of how many are read.
    ///
    /// Errors: `file.unreadable`; `file.malformed` when the file is no array or ends too soon, and then nothing changes.
    pub fn import_catalog(&self, path: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<ImportReport, Problem> {
        let unreadable =
            |e: std::io::Error| Problem::new("file.unreadable", format!("{}: {e}", path.display()), "check the path");
        let file = File::open(path).map_err(unreadable)?;
        let all = file.metadata().map_err(unreadable)?.len();
        let mut progress = |read: u64| progress(read, all);
        let mut reader = Elements::of(BufReader::with_capacity(1 << 16, file), path, &mut progress);
        let mut taking = Taking::default();
        while let Some(element) = reader.next()? {
            taking.take(element)?;
        }
        progress(all);
        let Taking { specs, mut report, rejected, .. } = taking;
        if rejected as usize > report.problems.len() {
            let more = rejected as usize - report.problems.len();
            let message = format!("{more} more tools are left out for reasons like these");
            report.problems.push(Problem::new("import.more", message, "correct these and import the file again"));
        }
        report.taken = specs.len() as u32;
        let _alone = self.editing();
        report.revision = match specs.is_empty() {
            true => self.tools().catalog.revision(),
            false => self.store_all(specs, &format!("import of {}", path.display()))?,
        };
        Ok(report)
    }
}

#[derive(Default)]
struct Taking {
    specs: Vec<ToolSpec>,
    names: HashSet<String>,
    report: ImportReport,
    rejected: u32,
}

impl Taking {
    fn take(&mut self, element: Element) -> Result<(), Problem> {
        let Element { number, line, content } = element;
        let wanted = match content.and_then(|bytes| self.read(number, line, &bytes)) {
            Ok(spec) if self.names.contains(&spec.name) => {
                Err(format!("there was a tool called {} before it; the first one is taken", spec.name))
            }
            Ok(spec) => Ok(spec),
            Err(reason) => Err(reason),
        };
        match wanted {
            Ok(_) if self.specs.len() == MAX_TOOLS => Err(Problem::new(
                "import.too_many",
                format!("the file holds more than {MAX_TOOLS} tools"),
                "split it, and import the parts that you need; nothing was changed",
            )),
            Ok(spec) => {
                self.names.insert(spec.name.clone());
                self.specs.push(spec);
                Ok(())
            }
            Err(reason) => {
                self.rejected += 1;
                if self.report.problems.len() < MAX_PROBLEMS {
                    let message = format!("tool {number} (line {line}): {reason}");
                    self.report.problems.push(Problem::new(
                        "import.rejected",
                        message,
                        "correct it and import it again",
                    ));
                }
                Ok(())
            }
        }
    }

    fn read(&mut self, number: u32, line: u32, bytes: &[u8]) -> Result<ToolSpec, String> {
        let text = std::str::from_utf8(bytes)
            .map_err(|e| format!("it is not UTF-8 text: its byte {} is invalid", e.valid_up_to()))?;
        let mut value: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let Some(fields) = value.as_object_mut() else { return Err("it is no object".into()) };
        let mut notes = vec![];
        // Null says nothing, and every field has a value for when nothing is said.
        fields.retain(|_, value| !value.is_null());
        for list in LISTS {
            let Some(value) = fields.get_mut(*list) else { continue };
            let (kept, odd) = capability::strings(value);
            notes.extend(odd.into_iter().map(|odd| format!("{list}: {odd}; it is left out")));
            *value = kept.into();
        }
        let spec: ToolSpec = serde_json::from_value(value).map_err(|e| e.to_string())?;
        validate(&spec).map_err(|problem| problem.message)?;
        for note in notes.into_iter().take(MAX_PROBLEMS.saturating_sub(self.report.notes.len())) {
            let message = format!("tool {number} (line {line}), {}: {note}", spec.name);
            self.report.notes.push(Problem::new(
                "import.note",
                message,
                "nothing to do, unless it was meant otherwise",
            ));
        }
        Ok(spec)
    }
}

/// One element of the array: its bytes, or why they are not kept.
struct Element {
    /// From 1.
    number: u32,
    /// Where it begins.
    line: u32,
    content: Result<Vec<u8>, String>,
}

/// Cuts a JSON array into its elements.
struct Elements<'p, R> {
    input: R,
    path: &'p Path,
    /// Hears the bytes read, every megabyte.
    progress: &'p mut dyn FnMut(u64),
    read: u64,
    line: u32,
    number: u32,
    state: State,
}

#[derive(PartialEq)]
enum State {
    Before,
    Inside,
    After,
}

impl<'p, R: BufRead> Elements<'p, R> {
    fn of(input: R, path: &'p Path, progress: &'p mut dyn FnMut(u64)) -> Self {
        Self { input, path, progress, read: 0, line: 1, number: 0, state: State::Before }
    }

    fn next(&mut self) -> Result<Option<Element>, Problem> {
        if self.state == State::Before {
            match self.past_white_space()? {
                Some(b'[') => self.state = State::Inside,
                _ => return Err(self.malformed("it is no JSON array of tools")),
            }
        }
        if self.state == State::After {
            return Ok(None);
        }
        let mut first = self.past_white_space()?;
        if first == Some(b']') && self.number == 0 {
            return self.end();
        }
        self.number += 1;
        let line = self.line;
        let mut content = Ok(vec![]);
        let mut open: Vec<u8> = vec![];
        let (mut in_string, mut escaped) = (false, false);
        loop {
            let Some(byte) = (match first.take() {
                Some(byte) => Some(byte),
                None => self.byte()?,
            }) else {
                return Err(self.malformed(&format!("it ends inside tool {}", self.number)));
            };
            if in_string {
                (in_string, escaped) = (byte != b'"' || escaped, byte == b'\\' && !escaped);
            } else {
                match byte {
                    b'"' => in_string = true,
                    b'{' | b'[' if open.len() == MAX_DEPTH => {
                        return Err(self.malformed(&format!("tool {} is nested too deep", self.number)));
                    }
                    b'{' => open.push(b'}'),
                    b'[' => open.push(b']'),
                    b',' | b']' if open.is_empty() => {
                        if content.as_ref().is_ok_and(|bytes: &Vec<u8>| bytes.iter().all(u8::is_ascii_whitespace)) {
                            return Err(self.malformed("a tool is missing between the commas"));
                        }
                        if byte == b']' {
                            self.end()?;
                        }
                        return Ok(Some(Element { number: self.number, line, content }));
                    }
                    b'}' | b']' if open.pop() != Some(byte) => {
                        return Err(self.malformed("a bracket closes what was not opened"));
                    }
                    _ => {}
                }
            }
            match &mut content {
                Ok(bytes) if bytes.len() == MAX_ELEMENT => {
                    content = Err(format!("it has more than {} MB", MAX_ELEMENT >> 20));
                }
                Ok(bytes) => bytes.push(byte),
                Err(_) => {}
            }
        }
    }

    fn end(&mut self) -> Result<Option<Element>, Problem> {
        self.state = State::After;
        match self.past_white_space()? {
            None => Ok(None),
            Some(_) => Err(self.malformed("something follows the array")),
        }
    }

    /// The next byte that is no white space; a byte order mark is none.
    fn past_white_space(&mut self) -> Result<Option<u8>, Problem> {
        loop {
            match self.byte()? {
                Some(byte) if byte.is_ascii_whitespace() || (self.read <= 3 && b"\xEF\xBB\xBF".contains(&byte)) => {}
                other => return Ok(other),
            }
        }
    }

    fn byte(&mut self) -> Result<Option<u8>, Problem> {
        let buffer = self.input.fill_buf().map_err(|e| {
            Problem::new("file.unreadable", format!("{}: {e}", self.path.display()), "check the disk and try again")
        })?;
        let Some(byte) = buffer.first().copied() else { return Ok(None) };
        self.input.consume(1);
        self.read += 1;
        self.line += u32::from(byte == b'\n');
        if self.read.is_multiple_of(1 << 20) {
            (self.progress)(self.read);
        }
        Ok(Some(byte))
    }

    fn malformed(&self, what: &str) -> Problem {
        Problem::new(
            "file.malformed",
            format!("{}: {what}, at line {}", self.path.display(), self.line),
            "correct the JSON at that line; nothing was changed",
        )
    }
}

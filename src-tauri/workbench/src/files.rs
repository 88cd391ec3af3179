//! Runs as files of JSON lines (R-01): a header, an event a line, a footer with a checksum. `docs/journal.md` describes
//! the format.
//!
//! Both ways stream: a run of any length takes the memory of a page of events. What comes in is bounded and distrusted;
//! a file is taken as far as it goes, and where it stops is said with the line.

use crate::{
    Workbench,
    keep::blocking,
    long::{WorkKind, Working},
    views::{Exported, Imported},
};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::{Value, json};
use std::{
    fs::File,
    io::{BufRead, BufReader, BufWriter, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::runtime::Handle;
use toolplan_engine::{
    Problem,
    redact::Redactor,
    run::{JournalEntry, RunEvent, RunId, RunOutcome},
    settings::{RedactionPattern, RedactionSettings},
    tool::Revision,
};
use toolplan_store::NewRun;

const FORMAT: &str = "toolplan-run";

/// Files with a higher number are not read; fields and events that this version does not know are kept or passed over.
const VERSION: u32 = 1;

/// Events that are read or written together.
const PAGE: u32 = 500;

/// The longest line and the most events that are taken in.
const LONGEST_LINE: u64 = 32 << 20;
const MOST_EVENTS: u32 = 2_000_000;

/// The first line.
#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
    #[serde(default)]
    app: String,
    run: RunFacts,
    /// What held when the run started; of older runs, when it was exported.
    #[serde(default)]
    settings: Value,
    /// The tools that its plan may call.
    #[serde(default)]
    tools: Value,
}

#[derive(Serialize, Deserialize)]
struct RunFacts {
    #[serde(default)]
    uid: String,
    #[serde(default)]
    id: RunId,
    query: String,
    #[serde(default)]
    planner: String,
    #[serde(default)]
    catalog_revision: Revision,
    #[serde(default)]
    created_ms: u64,
    #[serde(default)]
    outcome: Option<RunOutcome>,
    #[serde(default)]
    events: u32,
}

/// An event's line.
#[derive(Deserialize)]
struct EventLine {
    seq: u32,
    at_ms: u64,
    event: Value,
}

/// The last line.
#[derive(Serialize, Deserialize)]
struct Footer {
    end: bool,
    events: u32,
    /// FNV-1a with 64 bits over all lines before this one, line feeds included; finds damage, not forgery.
    checksum: String,
}

impl Workbench {
    /// Writes the run to a file; without `path`, to `exports/run-N.jsonl` beside the database. `redact` are patterns of
    /// text to leave out beside what never got into the journal. An existing file is replaced when all is written.
    ///
    /// Errors: `journal.unknown_run`, `settings.redaction`, `file.unwritable`, `work.cancelled`.
    pub async fn export_run(
        &self,
        run: RunId,
        path: Option<PathBuf>,
        redact: Vec<String>,
    ) -> Result<Exported, Problem> {
        let workbench = self.clone();
        blocking(move || {
            let path = path.unwrap_or_else(|| workbench.export_path(run));
            let unwritable = |error: std::io::Error| {
                let message = format!("{} cannot be written: {error}", path.display());
                Problem::new("file.unwritable", message, "choose another folder, or free some space")
            };
            if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
                std::fs::create_dir_all(folder).map_err(unwritable)?;
            }
            let events = workbench.inner.store.journal().run(run)?.events;
            let working = workbench.begin(WorkKind::Export, format!("run {run} to {}", path.display()), events.into());
            let mut unfinished = path.as_os_str().to_owned();
            unfinished.push(".part");
            let written = File::create(&unfinished)
                .map_err(unwritable)
                .and_then(|file| workbench.write_run(run, BufWriter::new(file), &redact, &working, unwritable));
            match written {
                Ok((events, bytes)) => {
                    std::fs::rename(&unfinished, &path).map_err(unwritable)?;
                    Ok(Exported { path: path.display().to_string(), events, bytes })
                }
                Err(problem) => {
                    let _ = std::fs::remove_file(&unfinished);
                    Err(problem)
                }
            }
        })
        .await
    }

    fn export_path(&self, run: RunId) -> PathBuf {
        let folder = self.inner.place.database.parent().map(Path::to_path_buf).unwrap_or_default();
        folder.join("exports").join(format!("run-{run}.jsonl"))
    }

    /// Writes the lines; returns how many events and bytes.
    pub(crate) fn write_run(
        &self,
        run: RunId,
        file: impl Write,
        redact: &[String],
        working: &Working,
        unwritable: impl Fn(std::io::Error) -> Problem,
    ) -> Result<(u32, u64), Problem> {
        let redactor = (!redact.is_empty()).then(|| export_redactor(redact)).transpose()?;
        let clean = |json: String| match redactor.as_ref().and_then(|r| r.json(&json)) {
            Some(clean) => clean,
            None => json,
        };
        let journal = self.inner.store.journal();
        let row = journal.run(run)?;
        let (settings, tools) = match journal.first(run, "basis")? {
            Some(RunEvent::Basis { settings, tools }) => (json!(settings), json!(tools)),
            _ => (json!(self.settings()), Value::Null),
        };
        let header = Header {
            format: FORMAT.into(),
            version: VERSION,
            app: env!("CARGO_PKG_VERSION").into(),
            run: RunFacts {
                uid: row.uid,
                id: row.id,
                query: row.query,
                planner: row.planner,
                catalog_revision: row.catalog_revision,
                created_ms: row.created_ms,
                outcome: row.outcome,
                events: row.events,
            },
            settings,
            tools,
        };
        let mut out = Lines { file, checksum: Checksum::default(), bytes: 0 };
        out.line(&clean(serde_json::to_string(&header).map_err(unreadable)?)).map_err(&unwritable)?;
        let (mut after, mut events) = (0, 0);
        loop {
            let page = journal.raw(run, after, PAGE)?;
            let Some(last) = page.last() else { break };
            working.at(events.into())?;
            after = last.seq;
            for raw in page {
                // A body that is no JSON would break the line; it is told as what it is.
                let body =
                    match std::str::from_utf8(&raw.body).ok().filter(|b| serde_json::from_str::<IgnoredAny>(b).is_ok())
                    {
                        Some(body) => clean(body.to_owned()),
                        None => json!({"type": "damaged", "kind": raw.kind}).to_string(),
                    };
                let line =
                    format!(r#"{{"seq":{},"at_ms":{},"event":{}}}"#, raw.seq, raw.at_ms, body.replace('\n', " "));
                out.line(&line).map_err(&unwritable)?;
                events += 1;
            }
        }
        let footer = Footer { end: true, events, checksum: out.checksum.text() };
        out.line(&serde_json::to_string(&footer).map_err(unreadable)?).map_err(&unwritable)?;
        out.file.flush().map_err(&unwritable)?;
        Ok((events, out.bytes))
    }

    /// Takes in runs from files. Each is told what became of it; a broken file is taken as far as it goes. Called off,
    /// nothing of the file at hand is taken, nor of those after it.
    pub async fn import_runs(&self, paths: Vec<PathBuf>) -> Vec<Imported> {
        let mut told = vec![];
        let sizes: Vec<u64> = paths.iter().map(|path| std::fs::metadata(path).map_or(0, |m| m.len())).collect();
        let label = match paths.as_slice() {
            [path] => path.display().to_string(),
            paths => format!("{} files", paths.len()),
        };
        let working = Arc::new(self.begin(WorkKind::Import, label, sizes.iter().sum()));
        let mut before = 0;
        for (path, size) in paths.into_iter().zip(sizes) {
            let (workbench, file, runtime) = (self.clone(), path.clone(), Handle::current());
            let counting = Counting { working: working.clone(), before };
            before += size;
            let result = blocking(move || Ok(workbench.read_run(&file, &counting, &runtime))).await;
            told.push(result.unwrap_or_else(|problem| Imported {
                path: path.display().to_string(),
                run: None,
                events: 0,
                already: false,
                problem: Some(problem),
            }));
        }
        told
    }

    fn read_run(&self, path: &Path, counting: &Counting, runtime: &Handle) -> Imported {
        let mut imported =
            Imported { path: path.display().to_string(), run: None, events: 0, already: false, problem: None };
        if counting.working.is_called_off() {
            return Imported { problem: Some(counting.working.called_off()), ..imported };
        }
        let mut lines = match Input::open(path) {
            Ok(lines) => lines,
            Err(problem) => return Imported { problem: Some(problem), ..imported },
        };
        let read = self.read_events(path, &mut lines, counting, runtime, &mut imported);
        let journal = self.inner.store.journal();
        let settled = match (imported.run, counting.working.is_called_off()) {
            (Some(run), true) if !imported.already => {
                (imported.run, imported.events) = (None, 0);
                journal.discard(run).and(Err(counting.working.called_off()))
            }
            (Some(run), _) if !imported.already => journal.arrived(run),
            _ => Ok(()),
        };
        imported.problem = settled.and(read).err();
        imported
    }

    fn read_events(
        &self,
        path: &Path,
        lines: &mut Input,
        counting: &Counting,
        runtime: &Handle,
        imported: &mut Imported,
    ) -> Result<(), Problem> {
        let header = lines.header()?;
        let journal = self.inner.store.journal();
        let known = match header.run.uid.as_str() {
            "" => None,
            uid => journal.run_named(uid)?,
        };
        if let Some(row) = &known
            && row.events >= header.run.events
        {
            imported.run = Some(row.id);
            imported.already = true;
            return Ok(());
        }
        let facts = header.run;
        let new = NewRun {
            query: facts.query,
            planner: facts.planner,
            catalog_revision: facts.catalog_revision,
            // A shorter copy is here already: this one gets a name of its own.
            uid: Some(facts.uid).filter(|uid| !uid.is_empty() && uid.len() <= 64 && known.is_none()),
            created_ms: Some(facts.created_ms).filter(|ms| *ms > 0 && *ms < 1 << 52),
            source: Some(path.display().to_string()),
            arriving: true,
        };
        let mut new = Some(new);
        let (mut page, mut last, mut started, mut ended) = (vec![], None::<(u32, u64)>, None, false);
        let outcome = loop {
            let next = lines.event();
            let entry = match next {
                Ok(Some(entry)) => entry,
                Ok(None) => break Ok(()),
                Err(problem) => break Err(problem),
            };
            if last.is_some_and(|(seq, _)| entry.seq <= seq) || entry.seq == 0 {
                break Err(lines.broken(&format!("the events are not in order: {}", entry.seq)));
            }
            if imported.events >= MOST_EVENTS {
                break Err(lines.broken(&format!("a run has at most {MOST_EVENTS} events")));
            }
            last = Some((entry.seq, entry.at_ms));
            match &entry.event {
                RunEvent::Started { .. } => (started, ended) = (started.or(Some(entry.at_ms)), false),
                RunEvent::Reopened { .. } => ended = false,
                RunEvent::Finished { .. } => ended = true,
                _ => {}
            }
            page.push(entry);
            imported.events += 1;
            if page.len() == PAGE as usize {
                counting.at(lines.bytes)?;
                self.store_page(runtime, &mut new, imported, std::mem::take(&mut page))?;
            }
        };
        // What was started elsewhere does not go on here by itself.
        if let (Some((seq, at_ms)), Some(started), false) = (last, started, ended) {
            let duration_ms = at_ms.saturating_sub(started);
            let event = RunEvent::Finished { outcome: RunOutcome::Interrupted, duration_ms };
            page.push(JournalEntry { seq: seq + 1, at_ms, event });
        }
        self.store_page(runtime, &mut new, imported, page)?;
        if imported.run.is_none() && outcome.is_ok() {
            return Err(lines.broken("the file holds no event"));
        }
        outcome
    }

    /// Stores a page, and makes the run with the first one.
    fn store_page(
        &self,
        runtime: &Handle,
        new: &mut Option<NewRun>,
        imported: &mut Imported,
        page: Vec<JournalEntry>,
    ) -> Result<(), Problem> {
        if page.is_empty() {
            return Ok(());
        }
        let journal = self.inner.store.journal();
        if let Some(new) = new.take() {
            imported.run = Some(runtime.block_on(journal.create(new))?);
        }
        let run = imported.run.unwrap_or_default();
        runtime.block_on(journal.write(run, page)).map(drop)
    }
}

/// Where one of several files is in the whole of the work.
struct Counting {
    working: Arc<Working>,
    /// Bytes of the files before it.
    before: u64,
}

impl Counting {
    /// Error: `work.cancelled`.
    fn at(&self, bytes: u64) -> Result<(), Problem> {
        self.working.at(self.before + bytes)
    }
}

fn export_redactor(patterns: &[String]) -> Result<Redactor, Problem> {
    let pattern = |p: &String| RedactionPattern { name: "left out".into(), pattern: p.clone() };
    let settings = RedactionSettings { fields: vec![], patterns: patterns.iter().map(pattern).collect() };
    match Redactor::new(&settings, []) {
        (redactor, problems) if problems.is_empty() => Ok(redactor),
        (_, mut problems) => Err(problems.remove(0)),
    }
}

fn unreadable(error: serde_json::Error) -> Problem {
    Problem::new(
        "file.unwritable",
        format!("the run cannot be written as JSON: {error}"),
        "report this with the message",
    )
}

struct Lines<W> {
    file: W,
    checksum: Checksum,
    bytes: u64,
}

impl<W: Write> Lines<W> {
    fn line(&mut self, line: &str) -> std::io::Result<()> {
        self.file.write_all(line.as_bytes())?;
        self.file.write_all(b"\n")?;
        self.checksum.add(line.as_bytes());
        self.checksum.add(b"\n");
        self.bytes += line.len() as u64 + 1;
        Ok(())
    }
}

/// FNV-1a, 64 bits.
struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}

/// A file of lines that nobody vouches for.
struct Input {
    name: String,
    file: BufReader<File>,
    line: Vec<u8>,
    number: u32,
    bytes: u64,
    events: u32,
    checksum: Checksum,
}

impl Input {
    fn open(path: &Path) -> Result<Self, Problem> {
        let name = path.display().to_string();
        let failed = |error: std::io::Error| {
            Problem::new("file.unreadable", format!("{name}: {error}"), "choose a file that you may read")
        };
        let file = File::open(path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(Problem::new("file.unreadable", format!("{name} is no file"), "choose a file of a run"));
        }
        let file = BufReader::with_capacity(1 << 16, file);
        Ok(Self { name, file, line: vec![], number: 0, bytes: 0, events: 0, checksum: Checksum::default() })
    }

    /// Reads the next line into `line`; whether there was one.
    fn next(&mut self) -> Result<bool, Problem> {
        self.line.clear();
        self.number += 1;
        let read = (&mut self.file).take(LONGEST_LINE).read_until(b'\n', &mut self.line);
        self.bytes += self.line.len() as u64;
        match read {
            Ok(0) => Ok(false),
            Ok(_) if !self.line.ends_with(b"\n") && self.line.len() as u64 >= LONGEST_LINE => {
                Err(self.broken(&format!("the line is longer than {LONGEST_LINE} bytes")))
            }
            Ok(_) => Ok(true),
            Err(error) => Err(self.broken(&error.to_string())),
        }
    }

    fn parsed<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Problem> {
        let text = std::str::from_utf8(&self.line)
            .map_err(|e| self.broken(&format!("it is not UTF-8 text: byte {}", e.valid_up_to() + 1)))?;
        serde_json::from_str(text).map_err(|error| {
            // The place inside the line only; the line is named anyway.
            let text = error.to_string();
            let why = text.split(" at line ").next().unwrap_or(&text);
            self.broken(&format!("{why} (column {})", error.column()))
        })
    }

    fn header(&mut self) -> Result<Header, Problem> {
        let foreign = |name: &str| {
            Problem::new(
                "run_file.foreign",
                format!("{name} is no file of a run"),
                "choose a file that `toolplan export` or the window wrote",
            )
        };
        if !self.next()? || !self.line.starts_with(b"{") {
            return Err(foreign(&self.name));
        }
        let probe: Value = self.parsed()?;
        if probe.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(foreign(&self.name));
        }
        let version = probe.get("version").and_then(Value::as_u64).unwrap_or(0);
        if version > u64::from(VERSION) {
            let message =
                format!("{} has version {version} of the format; this Toolplan reads up to {VERSION}", self.name);
            return Err(Problem::new("run_file.newer", message, "update Toolplan"));
        }
        let header = self.parsed()?;
        self.checksum.add(&self.line);
        Ok(header)
    }

    /// The next event; `None` after the footer.
    fn event(&mut self) -> Result<Option<JournalEntry>, Problem> {
        if !self.next()? {
            return Err(self.broken("the file ends here, without its last line: it was cut off"));
        }
        if self.line.starts_with(b"{\"end\":") {
            let footer: Footer = self.parsed()?;
            if footer.events != self.events {
                let counted = format!("the file says that it has {} events, and has {}", footer.events, self.events);
                return Err(self.broken(&counted));
            }
            if footer.checksum != self.checksum.text() {
                return Err(self.broken("the checksum is wrong: the file was changed after it was written"));
            }
            return Ok(None);
        }
        let line: EventLine = self.parsed()?;
        let event = RunEvent::from_value(line.event)
            .map_err(|error| self.broken(&format!("the event cannot be read: {error}")))?;
        if line.at_ms >= 1 << 52 {
            return Err(self.broken("the time is out of range"));
        }
        let entry = JournalEntry { seq: line.seq, at_ms: line.at_ms, event };
        self.checksum.add(&self.line);
        self.events += 1;
        Ok(Some(entry))
    }

    fn broken(&self, why: &str) -> Problem {
        Problem::new(
            "run_file.broken",
            format!("line {} of {}: {why}", self.number, self.name),
            "the events before that line are taken; export the run again where it came from",
        )
    }
}

/// The events of a file, all of them or an error: for looking at it without taking it in.
pub(crate) fn events_of(path: &Path) -> Result<Vec<JournalEntry>, Problem> {
    let mut input = Input::open(path)?;
    input.header()?;
    let mut entries = vec![];
    while let Some(entry) = input.event()? {
        entries.push(entry);
        if entries.len() > MOST_EVENTS as usize {
            return Err(input.broken(&format!("a run has at most {MOST_EVENTS} events")));
        }
    }
    Ok(entries)
}

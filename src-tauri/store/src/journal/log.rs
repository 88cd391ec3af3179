//! The log beside the database: events of runs under way, on their way into the tables.
//!
//! A transaction of SQLite costs ten times as much as a step that does nothing. So the events of a run that this store
//! drives are appended to a file of the store's own, one `write` per append, and `append` returns; the writer's thread
//! puts them into the tables a few milliseconds later, many at once. What `write` has taken survives `kill -9`; who
//! opens the workspace next takes in the logs of the dead. See `docs/decisions/0013-durability.md`.
//!
//! A line is `run seq at_ms json`; the first line of the file is the mark of its owner. A line that was cut off, and
//! all that follow, were never acknowledged.

use super::facts::Encoded;
use crate::{failure::as_io_problem, now_ms};
use std::{
    collections::HashMap,
    fmt::Write as _,
    fs::{File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};
use toolplan_engine::{Problem, run::RunId};

/// Bytes after which the file is emptied once everything in it is in the tables.
const EMPTY_AT: u64 = 8 << 20;

/// Events of one append, in the log and not yet in the tables.
pub(crate) struct Batch {
    pub(crate) run: RunId,
    pub(crate) first_seq: u32,
    pub(crate) at_ms: u64,
    pub(crate) events: Vec<Encoded>,
}

/// What an append to the log came to.
pub(crate) enum Logged {
    /// It is in the log.
    Stored { first_seq: u32, at_ms: u64, file: Arc<File>, tell_writer: bool },
    /// The run is not driven by this store: the events go the long way.
    NotHere(Vec<Encoded>),
    /// What the log holds cannot be put into the tables.
    Blocked(Vec<Encoded>),
}

/// The log of one open store.
pub(crate) struct Log {
    path: PathBuf,
    mark: String,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    file: Option<Arc<File>>,
    bytes: u64,
    /// The runs that this store drives: number and time of their last event.
    live: HashMap<RunId, (u32, u64)>,
    waiting: Vec<Batch>,
    /// The writer is putting some of it into the tables right now.
    taken: bool,
    /// The writer knows that something waits.
    told: bool,
    /// The tables did not take what waits.
    blocked: bool,
    line: String,
}

impl Log {
    /// Makes no file yet: most stores never run anything.
    pub(crate) fn new(database: &Path, mark: String) -> Self {
        let number = mark.rsplit('#').next().unwrap_or_default();
        let path = beside(database, &format!("{}-{number}", std::process::id()));
        Self { path, mark, inner: Mutex::default() }
    }

    /// From now on the run's events go through the log; `seq` and `at_ms` are those of its last event.
    pub(crate) fn begin(&self, run: RunId, seq: u32, at_ms: u64) {
        self.inner.lock().expect("no writer panics").live.insert(run, (seq, at_ms));
    }

    pub(crate) fn append(&self, run: RunId, events: Vec<Encoded>) -> Result<Logged, Problem> {
        let mut inner = self.inner.lock().expect("no writer panics");
        let inner = &mut *inner;
        let Some(&(last_seq, last_ms)) = inner.live.get(&run) else { return Ok(Logged::NotHere(events)) };
        if inner.blocked {
            return Ok(Logged::Blocked(events));
        }
        let failed = |error| as_io_problem("journal.write", "write the journal to", &self.path, &error);
        let file = match &inner.file {
            Some(file) => file.clone(),
            None => {
                let (file, bytes) = self.create().map_err(failed)?;
                inner.bytes = bytes;
                inner.file.insert(Arc::new(file)).clone()
            }
        };
        let (first_seq, at_ms) = (last_seq + 1, now_ms().max(last_ms));
        inner.line.clear();
        for (seq, event) in (first_seq..).zip(&events) {
            // Writing into a text cannot fail.
            let _ = writeln!(inner.line, "{run} {seq} {at_ms} {}", event.body);
        }
        let mut writer = &*file;
        if let Err(error) = writer.write_all(inner.line.as_bytes()) {
            // What arrived of it was not acknowledged. If it cannot be taken back, it ends the file for its readers.
            let _ = file.set_len(inner.bytes);
            return Err(failed(error));
        }
        inner.bytes += inner.line.len() as u64;
        if events.iter().any(Encoded::ends_run) {
            inner.live.remove(&run);
        } else {
            inner.live.insert(run, (last_seq + events.len() as u32, at_ms));
        }
        inner.waiting.push(Batch { run, first_seq, at_ms, events });
        let tell_writer = !std::mem::replace(&mut inner.told, true);
        Ok(Logged::Stored { first_seq, at_ms, file, tell_writer })
    }

    fn create(&self) -> std::io::Result<(File, u64)> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        // Left by a process that had our number.
        file.set_len(0)?;
        let head = format!("{}\n", self.mark);
        file.write_all(head.as_bytes())?;
        Ok((file, head.len() as u64))
    }

    /// Whether something is in the log and not yet in the tables.
    pub(crate) fn has_waiting(&self) -> bool {
        let inner = self.inner.lock().expect("no writer panics");
        inner.taken || !inner.waiting.is_empty()
    }

    /// What is not in the tables yet, and whether the file will be emptied when it is.
    pub(crate) fn take(&self) -> (Vec<Batch>, bool) {
        let mut inner = self.inner.lock().expect("no writer panics");
        inner.told = false;
        inner.taken = !inner.waiting.is_empty();
        (std::mem::take(&mut inner.waiting), inner.bytes > EMPTY_AT)
    }

    /// The tables did not take these: they wait again, before what came since.
    pub(crate) fn put_back(&self, mut batches: Vec<Batch>) {
        let mut inner = self.inner.lock().expect("no writer panics");
        batches.append(&mut inner.waiting);
        inner.waiting = batches;
        (inner.taken, inner.blocked) = (false, true);
    }

    /// The tables took everything that [`Log::take`] gave.
    pub(crate) fn taken(&self) {
        let mut inner = self.inner.lock().expect("no writer panics");
        (inner.taken, inner.blocked) = (false, false);
        if inner.bytes > EMPTY_AT && inner.waiting.is_empty() {
            let emptied = inner.file.as_deref().map(|file| {
                file.set_len(0)?;
                let (head, mut file) = (format!("{}\n", self.mark), file);
                file.write_all(head.as_bytes())?;
                std::io::Result::Ok(head.len() as u64)
            });
            match emptied {
                Some(Ok(bytes)) => inner.bytes = bytes,
                Some(Err(error)) => tracing::warn!(%error, path = %self.path.display(), "the log was not emptied"),
                None => {}
            }
        }
    }

    /// The store closes. A log that the tables did not take stays for the next one who opens the workspace.
    pub(crate) fn close(&self) {
        let mut inner = self.inner.lock().expect("no writer panics");
        if inner.file.take().is_some()
            && inner.waiting.is_empty()
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            tracing::warn!(%error, path = %self.path.display(), "a log was left behind");
        }
    }
}

fn beside(database: &Path, which: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(format!("-log-{which}"));
    name.into()
}

/// One event of a dead store's log.
pub(crate) struct Line {
    pub(crate) run: RunId,
    pub(crate) seq: u32,
    pub(crate) at_ms: u64,
    pub(crate) body: String,
}

/// The logs beside the database whose owner is gone: their files and their events, in the order they were written.
pub(crate) fn orphaned(database: &Path, is_gone: impl Fn(&str) -> bool) -> Vec<(PathBuf, Vec<Line>)> {
    let start = beside(database, "");
    let (Some(folder), Some(start)) = (start.parent(), start.file_name().map(|n| n.to_string_lossy().into_owned()))
    else {
        return vec![];
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(files) = std::fs::read_dir(folder) else { return vec![] };
    let mut logs = vec![];
    for file in files.flatten() {
        if file.file_name().to_string_lossy().starts_with(&start)
            && let Ok(bytes) = std::fs::read(file.path())
        {
            let text = String::from_utf8_lossy(&bytes);
            let mark = text.lines().next().unwrap_or_default();
            // A file without a whole first line was made this instant, or by nobody.
            if text.contains('\n') && is_gone(mark) {
                logs.push((file.path(), lines(&text)));
            }
        }
    }
    logs.sort_by(|a, b| a.0.cmp(&b.0));
    logs
}

fn lines(text: &str) -> Vec<Line> {
    let line = |line: &str| {
        let mut words = line.strip_suffix('\n')?.splitn(4, ' ');
        let (run, seq, at_ms) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Line { run, seq, at_ms, body: words.next()?.to_owned() })
    };
    text.split_inclusive('\n').skip(1).map_while(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_off_ends_the_log() {
        let seqs = |text: &str| lines(text).iter().map(|l| l.seq).collect::<Vec<_>>();
        assert_eq!(seqs("mark\n1 1 5 {}\n1 2 6 {}\n"), [1, 2]);
        assert_eq!(seqs("mark\n1 1 5 {}\n1 2 6 {"), [1]);
        assert_eq!(seqs("mark\n1 1 5 {}\n1 \0\0\0\n1 3 6 {}\n"), [1]);
        assert_eq!(seqs("mark\n"), [0; 0]);
        assert_eq!(lines("m\n1 1 5 {\"a\": \"b c\"}\n")[0].body, "{\"a\": \"b c\"}");
    }
}

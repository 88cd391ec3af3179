//! The folder's documents as passages with counted words, kept between calls and shared by the search tools.
//!
//! Built at the first search. Every later one walks the folder again and reads only what has another time or size.
//! Readers hold a [`Snapshot`] that never changes under them. Knows nothing of queries or ranks.

use super::{
    blocking::Stop,
    passages::{self, Passage},
    references::{self, Reference},
    sandbox::{Folder, Found, MAX_FILES, Notes, Place, decode},
    vectors::VectorSpace,
    words,
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, TryLockError},
    time::{Duration, SystemTime},
};
use toolplan_engine::ports::ToolError;

/// Bytes of text that the index holds; the files beyond are named in the result.
const MAX_TEXT: usize = 64 * 1024 * 1024;
/// Passages that the index holds. Text of that size has half as many, unless it is all headings.
const MAX_PASSAGES: usize = 150_000;

/// The index of one folder. Empty until the first snapshot is asked for.
#[derive(Default)]
pub(super) struct FolderIndex {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    folder: Option<Folder>,
    /// By relative path; also those that cannot be read as text, so that they are read only once.
    files: HashMap<String, Arc<IndexedFile>>,
    snapshot: Option<Arc<Snapshot>>,
}

/// One file as it was when it was read.
pub(super) struct IndexedFile {
    pub(super) path: String,
    size: u64,
    modified: Option<SystemTime>,
    /// Why it is not text.
    skipped: Option<String>,
    lossy: bool,
    text_bytes: usize,
    pub(super) passages: Vec<IndexedPassage>,
    pub(super) references: Vec<Reference>,
}

/// A passage and its words.
pub(super) struct IndexedPassage {
    pub(super) passage: Passage,
    /// Hashed terms and how often they occur, by hash.
    terms: Vec<(u32, u32)>,
    /// All occurrences of all terms.
    pub(super) length: u32,
}

impl IndexedPassage {
    /// How often the term occurs, by its [`hash`].
    pub(super) fn count(&self, term: u32) -> u32 {
        self.terms.binary_search_by_key(&term, |(t, _)| *t).map_or(0, |at| self.terms[at].1)
    }
}

/// The folder at one moment.
pub(super) struct Snapshot {
    /// In the order of their paths.
    pub(super) files: Vec<Arc<IndexedFile>>,
    /// File and passage of every passage: the place in this list is the passage's id in this snapshot.
    ids: Vec<(u32, u32)>,
    pub(super) average_length: f32,
    pub(super) notes: Notes,
    vectors: Mutex<Option<Arc<VectorSpace>>>,
}

impl FolderIndex {
    /// The folder as it is now.
    pub(super) fn snapshot(&self, folder: &Folder, stop: &Stop) -> Result<Arc<Snapshot>, ToolError> {
        let mut state = lock(&self.state, stop)?;
        if state.folder.as_ref() != Some(folder) {
            *state = State { folder: Some(folder.clone()), ..State::default() };
        }
        let mut notes = Notes::default();
        let found = folder.walk(&folder.root_place(), stop, &mut notes)?;
        let mut files = Vec::with_capacity(found.len());
        let (mut text_bytes, mut passages) = (0, 0);
        for found in &found {
            stop.check()?;
            let kept =
                state.files.get(&found.place.relative).filter(|f| f.size == found.size && f.modified == found.modified);
            let file = match kept {
                Some(file) => file.clone(),
                None => {
                    let file = Arc::new(read(folder, found, stop)?);
                    // Kept at once: what a cancelled call has read serves the next one.
                    state.files.insert(file.path.clone(), file.clone());
                    file
                }
            };
            text_bytes += file.text_bytes;
            passages += file.passages.len();
            if text_bytes > MAX_TEXT || passages > MAX_PASSAGES {
                state.files.remove(&file.path);
                notes.left_out = Some(format!(
                    "everything from {} on: the index holds {} MB of text in {MAX_PASSAGES} passages",
                    file.path,
                    MAX_TEXT / 1024 / 1024
                ));
                break;
            }
            match &file.skipped {
                Some(reason) => notes.skip(&file.path, reason.as_str()),
                None => files.push(file.clone()),
            }
            if file.lossy {
                notes.lossy(&file.path);
            }
        }
        if let Some(snapshot) = state.snapshot.as_ref().filter(|s| s.notes == notes && is_same(&s.files, &files)) {
            return Ok(snapshot.clone());
        }
        // Files that are gone leave the cache; the bound keeps a folder that is rewritten all the time small.
        if state.files.len() > files.len() + notes.skipped.len() + notes.more_skipped || state.files.len() > MAX_FILES {
            let present: std::collections::HashSet<&str> = found.iter().map(|f| f.place.relative.as_str()).collect();
            state.files.retain(|path, _| present.contains(path.as_str()));
        }
        let snapshot = Arc::new(Snapshot::new(files, notes));
        state.snapshot = Some(snapshot.clone());
        Ok(snapshot)
    }

    /// Whether a call works on the index at this moment.
    #[cfg(test)]
    pub(super) fn is_busy(&self) -> bool {
        matches!(self.state.try_lock(), Err(TryLockError::WouldBlock))
    }
}

impl Snapshot {
    fn new(files: Vec<Arc<IndexedFile>>, notes: Notes) -> Self {
        let ids: Vec<(u32, u32)> = files
            .iter()
            .enumerate()
            .flat_map(|(file, f)| (0..f.passages.len()).map(move |passage| (file as u32, passage as u32)))
            .collect();
        let total: u64 = files.iter().flat_map(|f| &f.passages).map(|p| u64::from(p.length)).sum();
        let average_length = total as f32 / ids.len().max(1) as f32;
        Self { files, ids, average_length, notes, vectors: Mutex::default() }
    }

    /// Passages, counted by id.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The passage with the id, and its file.
    pub(super) fn get(&self, id: usize) -> (&IndexedFile, &IndexedPassage) {
        let (file, passage) = self.ids[id];
        let file = &self.files[file as usize];
        (file, &file.passages[passage as usize])
    }

    /// The vectors of all passages, made at the first search by vectors.
    pub(super) fn vectors(&self, stop: &Stop) -> Result<Arc<VectorSpace>, ToolError> {
        let mut vectors = lock(&self.vectors, stop)?;
        if let Some(space) = vectors.as_ref() {
            return Ok(space.clone());
        }
        let space = Arc::new(VectorSpace::build(self, stop)?);
        *vectors = Some(space.clone());
        Ok(space)
    }

    /// The fields about what was searched that every search result carries.
    pub(super) fn describe(&self, data: &mut serde_json::Value) {
        data["files_searched"] = self.files.len().into();
        self.notes.clone().into_fields(data);
    }
}

const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

/// A hash of a term that is the same in every process: FNV-1a.
pub(super) fn hash(term: &str) -> u32 {
    let mut hash = HASH_START;
    for byte in term.bytes() {
        hash = mix(hash, byte.into());
    }
    fold(hash)
}

/// The same of characters, by whole characters.
pub(super) fn hash_characters(kind: char, characters: &[char]) -> u32 {
    let mut hash = mix(HASH_START, kind.into());
    for character in characters {
        hash = mix(hash, (*character).into());
    }
    fold(hash)
}

fn mix(hash: u64, next: u32) -> u64 {
    (hash ^ u64::from(next)).wrapping_mul(0x0100_0000_01b3)
}

/// The low bits alone are poor for short strings.
fn fold(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

fn read(folder: &Folder, found: &Found, stop: &Stop) -> Result<IndexedFile, ToolError> {
    let Place { relative, .. } = &found.place;
    let mut file = IndexedFile {
        path: relative.clone(),
        size: found.size,
        modified: found.modified,
        skipped: None,
        lossy: false,
        text_bytes: 0,
        passages: vec![],
        references: vec![],
    };
    match folder.read(&found.place).and_then(|bytes| decode(&bytes)) {
        Err(reason) => file.skipped = Some(reason),
        Ok((text, lossy)) => {
            file.lossy = lossy;
            file.text_bytes = text.len();
            file.references = references::find(&text);
            let passages = passages::split(&text, passages::is_prose(relative));
            for passage in passages {
                stop.check()?;
                file.passages.push(count_terms(relative, passage));
            }
        }
    }
    Ok(file)
}

/// Counts the words of the passage and, as if they stood in it once, those of its heading and path.
fn count_terms(path: &str, passage: Passage) -> IndexedPassage {
    let mut counts: HashMap<u32, u32> = HashMap::new();
    let mut length = 0;
    for text in [passage.text.as_str(), passage.heading.as_str(), path] {
        words::for_each_term(text, |term| {
            *counts.entry(hash(term)).or_default() += 1;
            length += 1;
        });
    }
    let mut terms: Vec<(u32, u32)> = counts.into_iter().collect();
    terms.sort_unstable();
    IndexedPassage { passage, terms, length }
}

fn is_same(before: &[Arc<IndexedFile>], now: &[Arc<IndexedFile>]) -> bool {
    before.len() == now.len() && before.iter().zip(now).all(|(a, b)| Arc::ptr_eq(a, b))
}

/// Waits for the lock unless told to stop. A holder that panicked left a cache that is whole between its steps.
fn lock<'a, T>(mutex: &'a Mutex<T>, stop: &Stop) -> Result<MutexGuard<'a, T>, ToolError> {
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                stop.check()?;
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

//! Who runs a run, and whether that one is still there.
//!
//! A run names its owner: one open [`crate::Store`] in one process. A run without an end whose owner is gone was
//! interrupted. A process is told from a later one with the same number by the time it started and by the boot.

use std::{
    collections::BTreeSet,
    fs::{File, OpenOptions, read_to_string},
    path::Path,
    process::id,
    sync::{
        LazyLock, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

/// The stores that are open in this process.
static OPEN: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// This process.
static PROCESS: LazyLock<String> =
    LazyLock::new(|| process(id()).unwrap_or_else(|| format!("unknown/{}/{}", id(), crate::now_ms())));

/// One open store, for as long as it is open.
pub(crate) struct Owner {
    store: u64,
    /// Where the living cannot be told from the dead: nobody else had the workspace open when this owner came.
    alone: bool,
    _presence: Option<File>,
}

impl Owner {
    /// Registers an open store on the workspace at `path`.
    pub(crate) fn claim(path: &Path) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let store = NEXT.fetch_add(1, Ordering::Relaxed);
        OPEN.lock().expect("a set does not panic").insert(store);
        // Linux can tell which process lives; elsewhere a lock tells at least whether anyone else is there.
        let presence = if cfg!(target_os = "linux") { None } else { presence(path).ok() };
        let (alone, presence) = presence.map_or((false, None), |(alone, file)| (alone, Some(file)));
        Self { store, alone, _presence: presence }
    }

    /// What a run of this owner is marked with.
    pub(crate) fn mark(&self) -> String {
        format!("{}#{}", *PROCESS, self.store)
    }

    /// Whether the owner with this mark can no longer continue its runs. When in doubt it can.
    pub(crate) fn is_gone(&self, mark: &str) -> bool {
        let Some((owner, store)) = mark.rsplit_once('#') else { return false };
        if owner == *PROCESS {
            let open = OPEN.lock().expect("a set does not panic");
            return store.parse().is_ok_and(|store| !open.contains(&store));
        }
        if cfg!(target_os = "linux") {
            let number = owner.split('/').nth(1).and_then(|number| number.parse().ok());
            return number.is_some_and(|number| process(number).as_deref() != Some(owner));
        }
        self.alone
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        OPEN.lock().expect("a set does not panic").remove(&self.store);
    }
}

/// `boot/number/start` of a living process; `None` when it is dead, or where the system has no `/proc`.
fn process(number: u32) -> Option<String> {
    let boot = read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let stat = read_to_string(format!("/proc/{number}/stat")).ok()?;
    // `number (name) state …`: the name may hold anything, so the fields are counted from its end (proc(5)).
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    let start = fields.nth(18)?;
    let dead = matches!(state, "Z" | "X");
    (!dead).then(|| format!("{}/{number}/{start}", boot.trim()))
}

/// Shares a lock beside the workspace with everyone who has it open. Returns whether nobody else held it.
fn presence(path: &Path) -> std::io::Result<(bool, File)> {
    let mut name = path.as_os_str().to_owned();
    name.push("-open");
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(name)?;
    let alone = file.try_lock().is_ok();
    if alone {
        file.unlock()?;
    }
    file.lock_shared()?;
    Ok((alone, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn tells_the_living_from_the_dead() {
        let path = Path::new("unused");
        let me = Owner::claim(path);
        let closed = Owner::claim(path).mark();
        assert!(!me.is_gone(&me.mark()), "an open store of this process");
        assert!(me.is_gone(&closed), "a store of this process that was closed");
        assert!(me.is_gone(&me.mark().replacen(|c: char| c.is_ascii_hexdigit(), "x", 1)), "an earlier boot");

        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mark = format!("{}#1", process(child.id()).unwrap());
        assert!(!me.is_gone(&mark), "another living process");
        child.kill().unwrap();
        // Not waited for yet: a zombie is dead too, once the signal has arrived.
        while process(child.id()).is_some() {
            std::thread::yield_now();
        }
        assert!(me.is_gone(&mark));
        child.wait().unwrap();
        assert!(me.is_gone(&mark));
        assert!(!me.is_gone("a mark of some later version"), "when in doubt, leave the run alone");
    }

    #[test]
    fn presence_tells_whether_someone_else_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("workspace");
        let (alone, first) = presence(&path).unwrap();
        assert!(alone);
        let (alone, second) = presence(&path).unwrap();
        assert!(!alone);
        drop((first, second));
        assert!(presence(&path).unwrap().0);
    }
}

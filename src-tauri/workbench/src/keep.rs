//! Which runs stay, and what the workspace takes (W-12); what is left out of the journal (S-01).

use crate::{
    Environment, Workbench,
    views::{Pruned, Storage, StorageKind},
};
use toolplan_engine::{Problem, redact::Redactor, run::RunId, settings::Settings};

/// Variables that hold secrets of ours, whatever they are called.
const SECRETS: &[&str] = &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "JIRA_API_TOKEN", "CONFLUENCE_API_TOKEN"];

/// Endings of the names of variables that hold secrets.
const SECRET_ENDINGS: &[&str] = &["_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD", "_CREDENTIALS", "_PAT", "_AUTH"];

impl Workbench {
    /// What the workspace takes on the disk.
    pub fn storage(&self) -> Result<Storage, Problem> {
        let usage = self.inner.store.journal().usage()?;
        let kind = |&(kind, rows, bytes): &(&str, u32, u64)| StorageKind { kind: kind.into(), rows, bytes };
        Ok(Storage {
            file_bytes: usage.file_bytes,
            free_bytes: usage.free_bytes,
            kinds: usage.kinds.iter().map(kind).collect(),
            runs: usage.runs,
            pinned: usage.pinned,
            oldest_ms: usage.oldest_ms,
        })
    }

    /// What is wrong with the database file; empty when nothing is.
    pub fn integrity(&self) -> Result<Vec<String>, Problem> {
        self.inner.store.integrity()
    }

    /// Removes the runs that the settings do not keep, oldest first, one after another.
    pub async fn prune_runs(&self) -> Result<Pruned, Problem> {
        let workbench = self.clone();
        blocking(move || {
            let keep = workbench.settings().retention;
            let mut pruned = Pruned::default();
            for run in workbench.inner.store.journal().surplus(&keep)? {
                // It may have been pinned or resumed meanwhile.
                match workbench.removed(run) {
                    Ok(gone) => {
                        pruned.runs += gone.runs;
                        pruned.events += gone.events;
                        pruned.bytes += gone.bytes;
                    }
                    Err(problem) if problem.code == "journal.live" || problem.code == "journal.unknown_run" => {}
                    Err(problem) => return Err(problem),
                }
            }
            Ok(pruned)
        })
        .await
    }

    /// Keeps the run whatever the settings say, or no longer.
    pub fn pin_run(&self, run: RunId, pinned: bool) -> Result<(), Problem> {
        self.inner.store.journal().pin(run, pinned)
    }

    /// Removes the run and its journal for good. Errors: `journal.unknown_run`, `journal.live`.
    pub async fn delete_run(&self, run: RunId) -> Result<(), Problem> {
        let workbench = self.clone();
        blocking(move || workbench.removed(run).map(drop)).await
    }

    fn removed(&self, run: RunId) -> Result<Pruned, Problem> {
        if self.inner.runs.lock().expect("no holder panics").contains_key(&run) {
            return Err(Problem::new("journal.live", format!("run {run} is under way"), "stop it first"));
        }
        let gone = self.inner.store.journal().remove(run)?;
        self.forget(run);
        Ok(Pruned { runs: gone.runs, events: gone.events, bytes: gone.bytes })
    }

    /// Prunes in the background, when there is something to keep within.
    pub(crate) fn prune_soon(&self) {
        if self.settings().retention == Default::default() {
            return;
        }
        let workbench = self.clone();
        tokio::spawn(async move {
            if let Err(problem) = workbench.prune_runs().await {
                tracing::warn!(%problem, hint = problem.hint, "old runs could not be removed");
            }
        });
    }
}

/// Knows the secrets of the environment and the patterns of the settings.
pub(crate) fn redactor(environment: &Environment, settings: &Settings) -> (Redactor, Vec<Problem>) {
    let ours = SECRETS.iter().filter_map(|name| Some((name.to_string(), environment(name)?)));
    let is_secret = |name: &str| SECRET_ENDINGS.iter().any(|end| name.to_ascii_uppercase().ends_with(end));
    let others =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    // A path or a word such as `true` is no secret, whatever its variable is called.
    let others = others.filter(|(name, value)| is_secret(name) && value.len() >= 8 && !value.starts_with('/'));
    Redactor::new(&settings.redaction, ours.chain(others))
}

/// Long work on files and the database, away from the threads that serve.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(Problem::new("internal", error.to_string(), "report this with the message")))
}

//! Long work: how far it is, and how a person calls it off (W-12). What is under way is kept in one list, so that every
//! kind of work is shown and cancelled in the same manner. Runs are not in it: they have controls of their own.

use crate::Workbench;
use serde::{Deserialize, Serialize};
use std::{
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};
use tokio_util::sync::CancellationToken;
use toolplan_engine::Problem;

/// Work that is under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct LongWork {
    pub id: u32,
    pub kind: WorkKind,
    /// What is worked on, such as a file's name.
    pub label: String,
    pub done: u64,
    /// 0: nobody knows.
    pub total: u64,
}

/// What is done, and in what it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum WorkKind {
    /// Bytes of the files.
    Import,
    /// Events of the run.
    Export,
    /// A planning; it is not counted.
    Plan,
    /// Tools that the embedding model reads.
    Embedding,
}

/// The id of the embedding model's reading: there is one at most, and it ends by itself only.
const EMBEDDING: u32 = 0;

#[derive(Default)]
pub(crate) struct Works {
    under_way: Mutex<Vec<Arc<Task>>>,
    last: AtomicU32,
}

struct Task {
    id: u32,
    kind: WorkKind,
    label: String,
    done: AtomicU64,
    total: u64,
    cancel: CancellationToken,
}

/// One piece of work; dropping it ends it.
pub(crate) struct Working {
    workbench: Workbench,
    task: Arc<Task>,
}

impl Working {
    /// So much is done. Error: `work.cancelled`.
    pub(crate) fn at(&self, done: u64) -> Result<(), Problem> {
        self.task.done.store(done, Ordering::Relaxed);
        if self.task.cancel.is_cancelled() { Err(self.called_off()) } else { Ok(()) }
    }

    pub(crate) fn is_called_off(&self) -> bool {
        self.task.cancel.is_cancelled()
    }

    pub(crate) fn called_off(&self) -> Problem {
        let (what, hint) = match self.task.kind {
            WorkKind::Import => ("import", "nothing of this file was taken; import it again whenever you like"),
            WorkKind::Export => ("export", "no file was written; export it again whenever you like"),
            WorkKind::Plan => ("planning", "the plan before it still stands; plan again whenever you like"),
            WorkKind::Embedding => ("reading of the tools", "what is read stays"),
        };
        Problem::new("work.cancelled", format!("the {what} was called off: {}", self.task.label), hint)
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        let mut under_way = self.workbench.inner.works.under_way.lock().expect("no holder panics");
        under_way.retain(|task| task.id != self.task.id);
    }
}

impl Workbench {
    /// All long work that is under way, oldest first.
    pub fn long_work(&self) -> Vec<LongWork> {
        let mut works: Vec<LongWork> = {
            let under_way = self.inner.works.under_way.lock().expect("no holder panics");
            let told = |task: &Arc<Task>| LongWork {
                id: task.id,
                kind: task.kind,
                label: task.label.clone(),
                done: task.done.load(Ordering::Relaxed),
                total: task.total,
            };
            under_way.iter().map(told).collect()
        };
        if self.is_indexing() {
            let model = self.embedding_model();
            let (done, total) = (model.indexed.into(), model.total.into());
            works.push(LongWork { id: EMBEDDING, kind: WorkKind::Embedding, label: model.label, done, total });
        }
        works
    }

    /// Calls work off; what is over already is left alone.
    pub fn cancel_work(&self, id: u32) {
        if id == EMBEDDING {
            self.cancel_index_embeddings();
        }
        let under_way = self.inner.works.under_way.lock().expect("no holder panics");
        under_way.iter().filter(|task| task.id == id).for_each(|task| task.cancel.cancel());
    }

    /// Does work that ends when it is called off. Error: `work.cancelled`.
    pub async fn cancellable<T>(
        &self,
        kind: WorkKind,
        label: &str,
        work: impl Future<Output = Result<T, Problem>>,
    ) -> Result<T, Problem> {
        let working = self.begin(kind, label.into(), 0);
        let cancel = working.task.cancel.clone();
        tokio::select! {
            done = work => done,
            () = cancel.cancelled() => Err(working.called_off()),
        }
    }

    pub(crate) fn begin(&self, kind: WorkKind, label: String, total: u64) -> Working {
        let works = &self.inner.works;
        let id = 1 + works.last.fetch_add(1, Ordering::Relaxed);
        let task = Arc::new(Task { id, kind, label, done: AtomicU64::new(0), total, cancel: CancellationToken::new() });
        works.under_way.lock().expect("no holder panics").push(task.clone());
        Working { workbench: self.clone(), task }
    }
}

//! What a replay says of the record: whether today's scheduler makes the same decisions.

use super::{Progress, Replay, not_started, position};
use crate::{
    Problem,
    compare::{self, Divergence, Record},
    run::{JournalEntry, ReplayPolicy, RunEvent},
};
use std::sync::Arc;

/// What a check of a record found.
#[derive(Debug, Clone, PartialEq)]
pub struct Verified {
    pub faithful: bool,
    pub divergence: Option<Divergence>,
    /// Events that were decided and compared.
    pub decisions: u32,
}

/// Whether today's scheduler makes every decision of the record, given its inputs. Nothing is stored.
pub fn verify(origin: Arc<[JournalEntry]>) -> Result<Verified, Problem> {
    let start = position(&origin, |e| matches!(e, RunEvent::Started { .. })).ok_or_else(not_started)?;
    let mut replay = Replay::at(origin, start, ReplayPolicy::default(), 0)?;
    let mut decisions = 0;
    while replay.divergence.is_none() {
        match replay.advance() {
            Progress::Entries { entries, .. } => decisions += entries.len() as u32,
            Progress::Waits | Progress::Ended => break,
        }
    }
    Ok(Verified { faithful: replay.divergence.is_none(), divergence: replay.divergence, decisions })
}

/// What a finished replay says of itself: whether it was faithful, else where it first was not. Without the record to
/// follow to its end, the tool calls decide.
pub fn conclude(replay: &Replay, origin: &[JournalEntry], made: &[JournalEntry]) -> RunEvent {
    let divergence = match (&replay.divergence, replay.following) {
        (Some(divergence), _) => Some(divergence.clone()),
        (None, true) => None,
        (None, false) => {
            let (a, b) = (Record::of(origin), Record::of(made));
            let pairs = compare::align(&a.state.plan.steps, &b.state.plan.steps);
            compare::first_divergence(&a, &b, &pairs)
        }
    };
    RunEvent::Compared { faithful: divergence.is_none(), divergence: divergence.map(Box::new) }
}

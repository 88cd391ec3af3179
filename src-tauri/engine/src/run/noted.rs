//! What happens beside the steps of a run and belongs into its journal.

use super::RunEvent;
use crate::discovery::DiscoveryEvent;
use std::sync::{Arc, Mutex};

/// Where the gate and the tools of a run put down what they did. The driver writes it into the journal before the event
/// that it leads to. Cheap to clone; clones are the same list.
#[derive(Debug, Clone, Default)]
pub struct Noted(Arc<Mutex<Vec<(Option<String>, DiscoveryEvent)>>>);

impl Noted {
    /// `step`: `None` where only the driver knows it.
    pub fn note(&self, step: Option<String>, event: DiscoveryEvent) {
        self.0.lock().expect("no holder panics").push((step, event));
    }

    /// All that was noted since the last time, in order; what names no step is of `step`.
    pub fn take(&self, step: Option<&str>) -> Vec<RunEvent> {
        let noted = std::mem::take(&mut *self.0.lock().expect("no holder panics"));
        let event = |(of, event): (Option<String>, _)| RunEvent::Discovery { step: of.or(step.map(Into::into)), event };
        noted.into_iter().map(event).collect()
    }
}

//! What happens beside the steps of a run and belongs into its journal.

use super::RunEvent;
use crate::discovery::DiscoveryEvent;
use std::sync::{Arc, Mutex};

/// Where the gate and the tools of a run put down what they did. The driver writes it into the journal before the event
/// that it leads to. Cheap to clone; clones are the same list.
#[derive(Debug, Clone, Default)]
pub struct Noted(Arc<Mutex<Vec<RunEvent>>>);

impl Noted {
    /// `step`: `None` where only the driver knows it.
    pub fn note(&self, step: Option<String>, event: DiscoveryEvent) {
        self.0.lock().expect("no holder panics").push(RunEvent::Discovery { step, event });
    }

    /// All that was noted since the last time, in order; what names no step is of `here`.
    pub fn take(&self, here: Option<&str>) -> Vec<RunEvent> {
        let mut noted = std::mem::take(&mut *self.0.lock().expect("no holder panics"));
        for event in &mut noted {
            if let RunEvent::Discovery { step: step @ None, .. } = event {
                *step = here.map(Into::into);
            }
        }
        noted
    }
}

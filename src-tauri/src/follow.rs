//! Carries runs to the window: folds new journal entries and sends the state a few times a second.

use crate::{RunAdvanced, WorkAdvanced};
use std::{collections::HashMap, time::Duration};
use tauri::AppHandle;
use tauri_specta::Event;
use tokio::time::{MissedTickBehavior, interval};
use toolplan_workbench::{
    Workbench,
    engine::run::{RunEvent, RunId, RunState},
};

/// How often the window hears of a run that goes on.
pub const ADVANCE_INTERVAL: Duration = Duration::from_millis(60);

/// Follows all runs until the workbench is gone.
pub async fn follow(app: AppHandle, workbench: Workbench) {
    let mut updates = workbench.follow();
    let mut states: HashMap<RunId, (RunState, bool)> = HashMap::new();
    let mut tick = interval(ADVANCE_INTERVAL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            update = updates.recv() => {
                let Some(update) = update else { return };
                let (state, changed) = states.entry(update.run).or_default();
                for entry in update.entries.iter() {
                    state.apply(entry);
                    if let RunEvent::Planned { .. } = entry.event {
                        // The window has it already, and it is large.
                        state.planning = None;
                    }
                }
                *changed = true;
            }
            _ = tick.tick() => {
                states.retain(|run, (state, changed)| {
                    if std::mem::take(changed) {
                        let advanced = RunAdvanced { run: *run, state: state.clone() };
                        if let Err(error) = advanced.emit(&app) {
                            tracing::warn!(%error, "the window did not take an event");
                        }
                    }
                    state.outcome.is_none()
                });
            }
        }
    }
}

/// How often the window hears of long work.
const WORK_INTERVAL: Duration = Duration::from_millis(200);

/// Tells of long work for as long as there is any, and once more when there is none left.
pub async fn follow_work(app: AppHandle, workbench: Workbench) {
    let mut tick = interval(WORK_INTERVAL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut told = vec![];
    loop {
        tick.tick().await;
        let works = workbench.long_work();
        if works != told {
            told.clone_from(&works);
            if let Err(error) = (WorkAdvanced { works }).emit(&app) {
                tracing::warn!(%error, "the window did not take an event");
            }
        }
    }
}

//! Where a run's time went: a bar per step with its waiting, its attempts and its pauses (W-05).

use crate::{
    Workbench,
    views::{Timeline, TimelineAttempt, TimelineStep},
};
use toolplan_engine::{
    Problem,
    plan::critical_path,
    run::{AttemptOutcome, RunId, RunState, StepState},
};

impl Workbench {
    pub fn run_timeline(&self, run: RunId) -> Result<Timeline, Problem> {
        Ok(timeline(&self.state_of(run)?))
    }
}

/// Times are milliseconds after the start of the run.
pub fn timeline(state: &RunState) -> Timeline {
    let start = state.started_ms.unwrap_or_default();
    let after = |ms: u64| ms.saturating_sub(start) as f64;
    let steps: Vec<TimelineStep> = state.steps.iter().map(|(id, s)| bar(id, s, &after)).collect();
    let worked: Vec<f64> = steps.iter().map(|s| s.work_ms).collect();
    let path = path(state, &worked);
    let on_path = |id: &str| path.iter().any(|step| step == id);
    let sum_ms: f64 = worked.iter().sum();
    let end = steps.iter().filter_map(|s| s.finished_ms).fold(0.0, f64::max);
    let wall_ms = state.duration_ms.map_or(end, |ms| ms as f64);
    Timeline {
        wall_ms,
        sum_ms,
        speed_up: worked_at_all(state, sum_ms).then(|| sum_ms / busy_ms(&steps)),
        critical_path_ms: path.iter().filter_map(|id| steps.iter().find(|s| s.step == *id)).map(|s| s.work_ms).sum(),
        steps: steps.iter().map(|s| TimelineStep { on_critical_path: on_path(&s.step), ..s.clone() }).collect(),
        critical_path: path,
    }
}

/// Whether there was work to be done side by side: answers from the cache are none.
fn worked_at_all(state: &RunState, sum_ms: f64) -> bool {
    sum_ms > 0.0 && state.steps.values().flat_map(|s| &s.attempts).any(|a| a.cached_ms.is_none())
}

/// How long at least one step was at work. Where the run stood still for a person, nothing was done side by side.
fn busy_ms(steps: &[TimelineStep]) -> f64 {
    let mut spans: Vec<(f64, f64)> =
        steps.iter().filter_map(|s| s.attempts.first().map(|a| (a.start_ms, a.start_ms + s.work_ms))).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut busy, mut until) = (0.0, 0.0_f64);
    for (start, end) in spans {
        busy += (end - start.max(until)).max(0.0);
        until = until.max(end);
    }
    busy
}

fn bar(id: &str, s: &StepState, after: &dyn Fn(u64) -> f64) -> TimelineStep {
    let attempts: Vec<TimelineAttempt> = s
        .attempts
        .iter()
        .enumerate()
        .map(|(i, a)| {
            let end = a.duration_ms.map(|ms| after(a.started_ms) + ms as f64);
            let before = i.checked_sub(1).and_then(|i| s.attempts.get(i));
            let ended = before.and_then(|b| Some(after(b.started_ms) + b.duration_ms? as f64));
            TimelineAttempt {
                number: a.number,
                tool: a.tool.clone(),
                start_ms: after(a.started_ms),
                end_ms: end,
                pause_ms: ended.map(|ended| (after(a.started_ms) - ended).max(0.0)).unwrap_or_default(),
                cached: a.cached_ms.is_some(),
                given_up: a.given_up,
                error: match &a.outcome {
                    Some(AttemptOutcome::Failed { error }) => error.message.clone(),
                    _ => String::new(),
                },
            }
        })
        .collect();
    let first = attempts.first().map(|a| a.start_ms);
    let ready = s.attempts.first().map_or(s.ready_ms, |a| s.ready_ms.map(|ready| ready.min(a.started_ms)));
    TimelineStep {
        step: id.into(),
        status: s.status,
        ready_ms: ready.map(after),
        queue_ms: first.zip(ready.map(after)).map(|(first, ready)| (first - ready).max(0.0)),
        // From the first call to the last answer, pauses included: what those that depend on it wait for.
        work_ms: first
            .zip(attempts.iter().filter_map(|a| a.end_ms).reduce(f64::max))
            .map_or(0.0, |(start, end)| end - start),
        finished_ms: s.finished_ms.map(after),
        attempts,
        on_critical_path: false,
    }
}

fn path(state: &RunState, worked: &[f64]) -> Vec<String> {
    let deps = state.plan.dependency_indexes();
    if deps.len() != worked.len() {
        return vec![];
    }
    let longest = critical_path(&deps, worked).map(|(_, path)| path).unwrap_or_default();
    longest.into_iter().map(|i| state.plan.steps[i].id.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolplan_engine::run::{JournalEntry, RunEvent};

    /// The state after these events, one each ten milliseconds.
    fn after(events: &[serde_json::Value]) -> RunState {
        let plan = json!({"steps": [{"id": "a", "tool": "t"}, {"id": "b", "tool": "t"}]});
        let started = json!({"type": "started", "plan": plan, "catalog_revision": 1, "parallel_limit": 5,
            "timeout_ms": 30_000, "retry": {"max_retries": 3, "base_ms": 1_000}});
        let entries = [&started].into_iter().chain(events).zip(1_u32..).map(|(event, seq)| JournalEntry {
            seq,
            at_ms: u64::from(seq) * 10,
            event: serde_json::from_value::<RunEvent>(event.clone()).expect("an event"),
        });
        RunState::of(&entries.collect::<Vec<_>>())
    }

    fn called(step: &str) -> serde_json::Value {
        json!({"type": "attempt_started", "step": step, "attempt": 1, "tool": "t", "arguments": {}})
    }

    fn answered(step: &str, duration_ms: u32) -> serde_json::Value {
        let result = json!({"data": 1, "confidence": null, "sources": []});
        json!({"type": "attempt_finished", "step": step, "attempt": 1, "duration_ms": duration_ms,
            "outcome": {"kind": "succeeded", "result": result}})
    }

    fn from_cache(step: &str) -> serde_json::Value {
        json!({"type": "cache_hit", "step": step, "attempt": 1, "age_ms": 7})
    }

    /// W-05: a cancelled call ends where it was given up, and that is the time it took.
    #[test]
    fn a_cancelled_call_has_an_end() {
        let shown = timeline(&after(&[called("a"), called("b"), json!({"type": "step_cancelled", "step": "a"})]));
        let a = &shown.steps[0];
        assert_eq!((a.attempts[0].given_up, a.attempts[0].end_ms, a.work_ms), (true, Some(30.0), 20.0));
        let b = &shown.steps[1].attempts[0];
        assert_eq!((b.given_up, b.end_ms), (false, None), "it goes on");
    }

    /// W-05: nothing was done side by side where every answer came from the cache or took no time.
    #[test]
    fn no_work_has_no_speed_up() {
        let end = [json!({"type": "finished", "outcome": "succeeded", "duration_ms": 20})];
        let of = |events: &[serde_json::Value]| timeline(&after(events)).speed_up;
        let (a, b) = ([called("a"), from_cache("a"), answered("a", 1)], [called("b"), answered("b", 40)]);
        assert_eq!(of(&[&a[..], &end].concat()), None);
        assert_eq!(of(&[&a[..], &b, &end].concat()), Some(1.0), "one after the other");
        assert_eq!(of(&[&[called("b"), answered("b", 0)][..], &end].concat()), None);
    }

    /// W-05: what was done side by side, against the time in which anything was done: a run that stood still for an hour
    /// is no slower for it.
    #[test]
    fn the_speed_up_is_of_the_time_at_work() {
        let paused = [
            json!({"type": "paused", "reason": {"kind": "by_hand"}}),
            json!({"type": "resumed", "go": {"kind": "continue"}}),
        ];
        let both = [called("a"), called("b"), answered("a", 40), answered("b", 40)];
        let end = [json!({"type": "finished", "outcome": "succeeded", "duration_ms": 3_600_000})];
        let shown = timeline(&after(&[&paused[..], &both, &end].concat()));
        assert_eq!((shown.wall_ms, shown.sum_ms), (3_600_000.0, 80.0));
        assert_eq!(shown.speed_up, Some(80.0 / 50.0), "they overlap for 30 ms");
    }
}

//! Following the record event by event, and leaving it where today's decisions are others.

use super::{
    Coming, Replay,
    inputs::is_input,
    preview::{Answerer, Asked},
};
use crate::{
    compare::{Divergence, DivergenceKind},
    run::{Go, JournalEntry, RunEvent, StepStatus, breakpoint::arguments_in_charge},
};

impl Replay {
    /// Holds a decision against the record, and takes it in.
    pub(super) fn decided(&mut self, event: RunEvent, entries: &mut Vec<JournalEntry>) {
        if self.following {
            match self.origin.get(self.cursor) {
                Some(recorded) if self.same(&event, &recorded.event) => {
                    let recorded = recorded.clone();
                    self.cursor += 1;
                    self.now_ms = self.after(&recorded);
                    self.take_in(recorded.event, entries);
                    self.follow_annotations(entries);
                    return;
                }
                // The record breaks off here.
                None => {
                    self.exhausted = true;
                    return;
                }
                Some(other) => {
                    let there = (other.seq, other.event.clone());
                    self.part_at(&event, there);
                    self.leave_the_record();
                    self.settle(entries);
                }
            }
        }
        self.take_in(event, entries);
    }

    /// Whether a decision is the recorded one, but for what the clock says.
    fn same(&self, made: &RunEvent, recorded: &RunEvent) -> bool {
        match (made, recorded) {
            (RunEvent::Finished { outcome: a, .. }, RunEvent::Finished { outcome: b, .. }) => a == b,
            (
                RunEvent::AttemptStarted { step, attempt, tool, arguments },
                RunEvent::AttemptStarted { step: s, attempt: n, tool: t, arguments: given },
            ) => {
                // A call that could not leave was written down as planned.
                let planned = || {
                    let index = self.plan.index(step)?;
                    Some(arguments_in_charge(&self.plan.steps()[index], &self.state.steps[index]))
                };
                (step, attempt, tool) == (s, n, t) && (arguments == given || planned() == Some(given))
            }
            (made, recorded) => made == recorded,
        }
    }

    /// What the origin says of an attempt beside its start.
    fn follow_annotations(&mut self, entries: &mut Vec<JournalEntry>) {
        while self.following
            && let Some(entry) = self.origin.get(self.cursor)
            && matches!(
                entry.event,
                RunEvent::TimeoutChosen { .. } | RunEvent::FaultInjected { .. } | RunEvent::CalledLive { .. }
            )
        {
            let entry = entry.clone();
            self.cursor += 1;
            if !is_of_origin(&entry.event) {
                self.take_in(entry.event, entries);
            }
        }
    }

    /// Takes the recorded inputs that come next.
    pub(super) fn follow_inputs(&mut self, entries: &mut Vec<JournalEntry>) {
        let before = self.cursor;
        while let Some(entry) = self.origin.get(self.cursor)
            && is_input(&entry.event, &self.plan, &self.state)
        {
            let entry = entry.clone();
            self.cursor += 1;
            if !is_of_origin(&entry.event) {
                self.now_ms = self.after(&entry);
                self.take_in(entry.event, entries);
            }
        }
        if self.cursor == before {
            let there = self.origin.get(before).map(|e| (e.seq, e.event.clone()));
            let (seq, what) = there.map_or((0, String::new()), |(seq, event)| (seq, named(&event)));
            self.part(format!("Event {seq}: the origin decided {what}; the replay decides nothing"), Some(seq));
            self.leave_the_record();
            self.settle(entries);
        }
    }

    /// From here on the replay goes its own way.
    pub(super) fn leave_the_record(&mut self) {
        self.following = false;
    }

    /// Takes care of what was under way when the record was left: answers on their way arrive as recorded, and nobody
    /// is there to go on from a pause.
    pub(super) fn settle(&mut self, entries: &mut Vec<JournalEntry>) {
        let started: Vec<(String, u32, u64)> = self
            .state
            .steps
            .iter()
            .filter(|(_, s)| s.is_in_flight() && !s.edited_result)
            .filter_map(|(id, s)| s.attempts.last().map(|a| (id.clone(), a.number, a.started_ms)))
            .collect();
        for (step, attempt, started_ms) in started {
            if self.coming.values().any(|c| matches!(c, Coming::Answer { step: s, .. } if *s == step)) {
                continue;
            }
            let Some(a) = self.state.steps.get(&step).and_then(|s| s.attempts.last()).cloned() else { continue };
            match self.book.find(&step, attempt, &a.tool, &a.arguments) {
                Some(answer) => {
                    self.asked.push(Asked::new(&step, &a.tool, &a.arguments, Answerer::Record));
                    let began = started_ms.saturating_sub(self.base_ms);
                    let due = (began + answer.duration_ms).max(self.now_ms);
                    self.expect(due, Coming::Answer { step, attempt, answer });
                }
                None => self.ask_other(step, attempt, a.tool, a.arguments, entries),
            }
        }
        let waiting: Vec<(String, u64)> = self
            .state
            .steps
            .iter()
            .filter(|(_, s)| s.status == StepStatus::Waiting && !s.unknown)
            .map(|(id, s)| (id.clone(), s.waits_ms.unwrap_or(0)))
            .collect();
        for (step, pause_ms) in waiting {
            self.expect(self.now_ms + pause_ms, Coming::PauseOver { step });
        }
        if !self.state.breakpoints.is_empty() {
            self.take_in(RunEvent::BreakpointsSet { breakpoints: vec![] }, entries);
        }
        if self.state.paused.is_some() || self.state.go != Go::Continue {
            self.take_in(RunEvent::Resumed { go: Go::Continue }, entries);
        }
    }

    pub(super) fn part(&mut self, sentence: String, seq_a: Option<u32>) {
        let seq_b = Some(self.state.seq + 1);
        self.divergence.get_or_insert(Divergence {
            kind: DivergenceKind::Decision,
            call: 0,
            step_a: None,
            step_b: None,
            tool_a: None,
            tool_b: None,
            seq_a,
            seq_b,
            sentence,
        });
    }

    fn part_at(&mut self, made: &RunEvent, (seq, recorded): (u32, RunEvent)) {
        let sentence = format!("Event {seq}: the origin decided {}, the replay {}", named(&recorded), named(made));
        self.part(sentence, Some(seq));
        if let Some(divergence) = &mut self.divergence
            && divergence.step_b.is_none()
        {
            divergence.step_a = recorded.step().map(str::to_string);
            divergence.step_b = made.step().map(str::to_string);
        }
    }
}

fn named(event: &RunEvent) -> String {
    match event.step() {
        Some(step) => format!("{} {step}", event.kind()),
        None => event.kind().to_string(),
    }
}

/// What the origin says of its own origin, and of who answered there, is not the replay's.
fn is_of_origin(event: &RunEvent) -> bool {
    matches!(event, RunEvent::Derived { .. } | RunEvent::Compared { .. } | RunEvent::CalledLive { .. })
}

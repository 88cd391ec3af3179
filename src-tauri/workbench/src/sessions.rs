//! Sessions: where each stands, what a person or a model does with it, and planning inside one (V-04, V-08).
//!
//! A session is kept in the workspace's file after every event, so that it outlives the process. The rules are the
//! engine's; a refusal is part of the answer, not an error.

use crate::{Workbench, views::PlanView};
use serde::Serialize;
use std::time::{SystemTime, UNIX_EPOCH};
use toolplan_engine::{
    Problem, intent,
    request::Request,
    session::{SessionEvent, SessionState, deadlocks},
    settings::{Intent, Settings},
};

/// A session as it is shown.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct SessionView {
    pub session: SessionState,
    pub intents: Vec<IntentView>,
    /// Why the last action changed nothing; null when it did, or when none was made.
    pub refused: Option<Problem>,
    /// What is wrong with the session as it stands; recovering it helps.
    pub trouble: Option<Problem>,
    /// Settings under which no session can get on.
    pub deadlocks: Vec<Problem>,
}

/// An intent of the settings, and why it cannot be selected, if so.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct IntentView {
    pub intent: Intent,
    pub why_not: Option<Problem>,
}

/// A planning inside a session, and the session after it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct SessionPlan {
    pub plan: PlanView,
    pub session: SessionView,
}

impl Workbench {
    /// The session called `id`; one that is not known yet begins in REQUEST.
    pub fn session(&self, id: &str) -> Result<SessionView, Problem> {
        Ok(self.session_view(self.load_session(id)?, None))
    }

    /// Lets the event happen in the session. A refusal is in the view and in the session's log.
    pub fn session_event(&self, id: &str, event: SessionEvent) -> Result<SessionView, Problem> {
        let _one_at_a_time = self.inner.sessions.lock().expect("no holder panics");
        let mut session = self.load_session(id)?;
        let refused = session.on(event, &self.settings(), now_ms()).err();
        self.store_session(&session)?;
        Ok(self.session_view(session, refused))
    }

    /// Plans the request in the session's state. An intent that the model selects meanwhile is selected in the session.
    pub async fn plan_in_session(
        &self,
        id: &str,
        request: Request,
        previous: Option<u32>,
    ) -> Result<SessionPlan, Problem> {
        let mut request = self.load_session(id)?.request(request);
        // What the session activates belongs to it (D-06).
        request.session.id = id.to_string();
        let plan = self.plan(request, previous).await?;
        let _one_at_a_time = self.inner.sessions.lock().expect("no holder panics");
        let mut session = self.load_session(id)?;
        let mut refused = None;
        for event in self.planned(plan.id)?.selections.iter().cloned() {
            // The session may have moved on while the model was asked; its own rules decide again.
            refused = session.on(event, &self.settings(), now_ms()).err();
        }
        self.store_session(&session)?;
        Ok(SessionPlan { plan, session: self.session_view(session, refused) })
    }

    fn session_view(&self, session: SessionState, refused: Option<Problem>) -> SessionView {
        let settings = self.settings();
        SessionView {
            intents: intents(&settings),
            trouble: session.trouble(&settings),
            deadlocks: deadlocks(&self.tools().catalog, &settings),
            session,
            refused,
        }
    }

    fn load_session(&self, id: &str) -> Result<SessionState, Problem> {
        let stored = self.inner.store.settings().get(&key(id)?)?;
        // What cannot be read is closed: a new session is in REQUEST.
        let session = stored.and_then(|value| serde_json::from_value(value).ok());
        Ok(session.unwrap_or_else(|| SessionState::new(id)))
    }

    fn store_session(&self, session: &SessionState) -> Result<(), Problem> {
        let value = serde_json::to_value(session)
            .map_err(|e| Problem::new("session.unwritable", e.to_string(), "reset the session"))?;
        self.inner.store.settings().set(&key(session.id())?, &value)
    }
}

fn intents(settings: &Settings) -> Vec<IntentView> {
    let view = |intent: &Intent| IntentView {
        why_not: intent::selectable(settings, &intent.id).err(),
        intent: intent.clone(),
    };
    settings.intents.iter().map(view).collect()
}

/// Where a session is stored.
fn key(id: &str) -> Result<String, Problem> {
    if id.is_empty() || id.len() > 100 || id.chars().any(char::is_control) {
        return Err(Problem::new(
            "session.id",
            format!("{id:?} is no name of a session"),
            "give it a name of at most 100 bytes",
        ));
    }
    Ok(format!("session.{id}"))
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

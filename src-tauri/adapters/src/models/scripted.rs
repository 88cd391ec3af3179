//! A model whose replies are known beforehand, for tests, demonstrations and replay (P-05). Opens no connection.

use async_trait::async_trait;
use std::{collections::HashMap, time::Duration};
use toolplan_engine::{
    Problem,
    ports::ChatModel,
    select::{Prompt, Reply},
};

/// Answers from recorded replies, by the exact query.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    replies: HashMap<String, Reply>,
    delay: Duration,
}

impl Recorded {
    /// Replies by query.
    pub fn new(replies: HashMap<String, Reply>) -> Self {
        Self { replies, delay: Duration::ZERO }
    }

    /// The same replies, each after `delay`: a slow model, for time limits.
    pub fn with_delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    pub fn reply_for(&self, query: &str) -> Option<Reply> {
        self.replies.get(query).cloned()
    }

    /// The recorded reply for the query that stands in the prompt after `Query: `. A query may have several lines: in
    /// the engine's own template the query type follows it, in any other the longest recorded query counts.
    fn find(&self, user: &str) -> Option<&Reply> {
        let mut words = user.match_indices("Query: ");
        let (at, word) = words.find(|(at, _)| *at == 0 || user[..*at].ends_with('\n'))?;
        let rest = &user[at + word.len()..];
        let end = if rest.contains("\nQuery type: ") { "\nQuery type: " } else { "\n" };
        let fits =
            |query: &str| rest.strip_prefix(query).is_some_and(|after| after.is_empty() || after.starts_with(end));
        let found = self.replies.iter().filter(|(query, _)| fits(query));
        found.max_by_key(|(query, _)| query.len()).map(|(_, reply)| reply)
    }
}

#[async_trait]
impl ChatModel for Recorded {
    fn label(&self) -> String {
        "recorded".into()
    }

    fn counts_exactly(&self) -> bool {
        false
    }

    async fn complete(&self, prompt: &Prompt) -> Result<Reply, Problem> {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
        self.find(&prompt.user).cloned().ok_or_else(|| {
            Problem::new(
                "model.unrecorded",
                "no reply is recorded for this query",
                "record one under the exact query, or choose another provider",
            )
        })
    }
}

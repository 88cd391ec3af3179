//! The tokens of the network tools. They come from the environment, go into request headers and nowhere else.

use std::fmt;

/// Credentials of Jira and Confluence. `Debug` tells which are set and never what they are.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    pub jira_token: Option<String>,
    /// With a user the token is sent as Basic credentials (Atlassian Cloud), without one as a Bearer token.
    pub jira_user: Option<String>,
    pub confluence_token: Option<String>,
    /// As `jira_user`.
    pub confluence_user: Option<String>,
}

impl Secrets {
    /// Reads `JIRA_API_TOKEN`, `JIRA_USER`, `CONFLUENCE_API_TOKEN` and `CONFLUENCE_USER`. Blank means unset.
    pub fn from_env() -> Self {
        let read = |name| std::env::var(name).ok().map(|v| v.trim().to_string()).filter(|v| !v.is_empty());
        Self {
            jira_token: read("JIRA_API_TOKEN"),
            jira_user: read("JIRA_USER"),
            confluence_token: read("CONFLUENCE_API_TOKEN"),
            confluence_user: read("CONFLUENCE_USER"),
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |secret: &Option<String>| if secret.is_some() { "[redacted]" } else { "unset" };
        f.debug_struct("Secrets")
            .field("jira_token", &shown(&self.jira_token))
            .field("jira_user", &shown(&self.jira_user))
            .field("confluence_token", &shown(&self.confluence_token))
            .field("confluence_user", &shown(&self.confluence_user))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_secret() {
        let secrets =
            Secrets { jira_token: Some("hunter2".into()), jira_user: Some("ada".into()), ..Default::default() };
        let shown = format!("{secrets:?}");
        assert!(!shown.contains("hunter2") && !shown.contains("ada"), "{shown}");
        assert!(shown.contains("[redacted]") && shown.contains("unset"), "{shown}");
    }
}

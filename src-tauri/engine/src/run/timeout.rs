//! How long an attempt may take (O-04), learned from how long the tool has taken (O-11).

use super::ChosenTimeout;
use crate::settings::AdaptiveTimeout;

/// How long a tool's calls have taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CallHistory {
    pub calls: u32,
    /// 95th percentile, milliseconds.
    pub p95_ms: f64,
}

/// The timeout that the tool's history suggests in place of the workspace's; `None` when there is too little history,
/// or when the setting is off.
pub fn adaptive(settings: &AdaptiveTimeout, history: Option<&CallHistory>) -> Option<ChosenTimeout> {
    let history = history.filter(|h| settings.enabled && h.calls >= settings.min_calls)?;
    let wanted = history.p95_ms * f64::from(settings.factor);
    let timeout_ms = (wanted.round() as u32).clamp(settings.min_ms, settings.max_ms.max(settings.min_ms));
    let bound = match timeout_ms {
        ms if f64::from(ms) > wanted.round() => ", at least",
        ms if f64::from(ms) < wanted.round() => ", at most",
        _ => ",",
    };
    let reason = format!(
        "{} × the p95 of {:.0} ms over {} calls{bound} {timeout_ms} ms",
        settings.factor, history.p95_ms, history.calls
    );
    Some(ChosenTimeout { timeout_ms, reason })
}

//! Work that blocks, on a thread of its own, stopped soon after its future is dropped or its call is cancelled (O-04).

use tokio_util::sync::CancellationToken;
use toolplan_engine::ports::{CallContext, ErrorClass, ToolError};

/// Tells blocking work when to stop. Loops ask it once per file, or every few thousand small steps.
pub(super) struct Stop(CancellationToken);

impl Stop {
    /// An error once nobody waits for the work any more.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        if self.is_set() {
            return Err(ToolError::new(ErrorClass::Internal, "the call was cancelled", "run the step again"));
        }
        Ok(())
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// Runs `work` on a blocking thread. Dropping the returned future tells the work to stop.
pub(super) async fn run<T, F>(context: &CallContext, work: F) -> Result<T, ToolError>
where
    T: Send + 'static,
    F: FnOnce(&Stop) -> Result<T, ToolError> + Send + 'static,
{
    let token = context.cancel.child_token();
    let _cancels_when_dropped = token.clone().drop_guard();
    let joined = tokio::task::spawn_blocking(move || {
        let stop = Stop(token);
        stop.check()?;
        work(&stop)
    });
    joined.await.unwrap_or_else(|failure| {
        tracing::error!(%failure, "a tool's blocking work ended abnormally");
        Err(ToolError::new(
            ErrorClass::Internal,
            "the tool stopped because of a defect in Toolplan",
            "try other arguments, and report what you called it with",
        ))
    })
}

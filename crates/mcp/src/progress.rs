//! Notifications that a call goes on, for a client that asked for them.
//!
//! A client may end a call after a time without a message, and a call may wait for a person.

use std::convert::Infallible;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;

/// How often a call says that it goes on.
const EVERY: Duration = Duration::from_secs(10);

/// Waits for the result of a call. Until then, a client that named a progress token is notified
/// again and again, with the seconds since the call began.
pub(crate) async fn reporting<T>(
    context: &RequestContext<RoleServer>,
    call: impl Future<Output = T>,
) -> T {
    tokio::select! {
        // A call that is done says no more.
        biased;
        result = call => result,
        never = notify(context) => match never {},
    }
}

async fn notify(context: &RequestContext<RoleServer>) -> Infallible {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    let mut seconds = 0.0;
    loop {
        tokio::time::sleep(EVERY).await;
        seconds += EVERY.as_secs_f64();
        let progress = ProgressNotificationParam::new(token.clone(), seconds);
        // A client that has gone cancels the call.
        drop(context.peer.notify_progress(progress).await);
    }
}

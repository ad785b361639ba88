//! Streams of callers who are still accepted.
//!
//! A stream outlives the authentication of its request. So the caller is checked again while it is
//! open, and the stream ends when a key is revoked or expires.

use std::sync::Arc;

use accord_base::Caller;
use axum::body::Body;
use futures_util::{StreamExt as _, future::BoxFuture, stream};
use tokio::time::{Interval, MissedTickBehavior, interval};

use accord_serving::keys::CHECK_INTERVAL;

/// Says whether a caller would still be accepted.
pub type IsAccepted = Arc<dyn Fn(Caller) -> BoxFuture<'static, bool> + Send + Sync>;

struct Watched {
    body: axum::body::BodyDataStream,
    caller: Caller,
    is_accepted: IsAccepted,
    ticks: Interval,
    shut_out: Option<BoxFuture<'static, ()>>,
}

/// The body, which ends when its caller is no longer accepted. `shut_out` then runs.
pub(crate) fn watched(
    body: Body,
    caller: Caller,
    is_accepted: IsAccepted,
    shut_out: BoxFuture<'static, ()>,
) -> Body {
    let mut ticks = interval(CHECK_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let body = body.into_data_stream();
    let watched = Watched { body, caller, is_accepted, ticks, shut_out: Some(shut_out) };
    Body::from_stream(stream::unfold(watched, |mut watched| async move {
        loop {
            tokio::select! {
                data = watched.body.next() => return data.map(|data| (data, watched)),
                _ = watched.ticks.tick() => {
                    if (watched.is_accepted)(watched.caller.clone()).await {
                        continue;
                    }
                    if let Some(shut_out) = watched.shut_out.take() {
                        shut_out.await;
                    }
                    return None;
                }
            }
        }
    }))
}

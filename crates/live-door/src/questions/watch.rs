//! Following a live session: its frames, its ledger, and what it waits for, as server-sent events.

use std::{convert::Infallible, pin::pin, time::Duration};

use accord_api::Call;
use accord_base::Caller;
use accord_contract::Failure;
use accord_live::{Delivery, Watcher};
use accord_live_core::{operations::watch::WatchLiveSession, session::StreamQuery};
use axum::{body::Body, response::IntoResponse as _};
use bytes::Bytes;
use futures_util::stream;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until};

use super::app_of;
use crate::channel::{event, of_session};
use crate::{Context, Exchange};
use accord_serving::keys::{CHECK_INTERVAL, Keys};
use accord_serving::{Reply, streams::StreamPermit};

/// How often a comment is sent when nothing happens.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(super) async fn watch(
    exchange: Exchange,
    Call { path, query, .. }: Call<WatchLiveSession>,
) -> Reply {
    let Context { host, caller, .. } = exchange.context;
    let after = StreamQuery { since: query.since, from_seq: query.from_seq };
    let watcher = host.live().watch(&caller, &app_of(&path.project)?, &path.session, after).await;
    let watcher = watcher.map_err(of_session)?;
    let mut checks = interval(CHECK_INTERVAL);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let channel = Channel {
        watcher,
        permit: host.streams().take()?,
        keys: host.keys().clone(),
        caller,
        checks,
        is_new: true,
        ended: false,
    };
    let headers = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    let body = Body::from_stream(stream::unfold(channel, Channel::step));
    Ok((headers, body).into_response())
}

struct Channel {
    watcher: Watcher,
    permit: StreamPermit,
    keys: Keys,
    caller: Caller,
    /// When the caller is checked.
    checks: Interval,
    is_new: bool,
    ended: bool,
}

impl Channel {
    /// The next bytes to send; `None` at the end.
    async fn step(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        if self.ended {
            return None;
        }
        // At once, so that a client knows that it follows.
        let text = match std::mem::take(&mut self.is_new) {
            true => ": follows\n\n".to_owned(),
            false => self.next().await?,
        };
        Some((Ok(text.into()), self))
    }

    async fn next(&mut self) -> Option<String> {
        let silence_ends = Instant::now() + KEEP_ALIVE;
        let heard: Result<Delivery, Option<Failure>> = {
            // Kept over the checks, because each new one would read the store.
            let mut next = pin!(self.watcher.next());
            loop {
                tokio::select! {
                    () = self.permit.closing() => return None,
                    delivery = &mut next => break delivery.map_err(Some),
                    () = sleep_until(silence_ends) => return Some(": keep-alive\n\n".to_owned()),
                    _ = self.checks.tick() => match self.keys.accepts(&self.caller).await {
                        Ok(true) => {}
                        Ok(false) => break Err(None),
                        Err(failure) => break Err(Some(failure)),
                    },
                }
            }
        };
        match heard {
            // The id of a frame from the ledger is its number there.
            Ok(Delivery::Frames(frames)) => Some(frames.iter().map(event).collect()),
            Ok(Delivery::End(end)) => {
                self.ended = true;
                let last: String = end.frame.iter().map(event).collect();
                Some(format!("{last}: {}\n\n", end.close.reason))
            }
            Err(None) => {
                self.ended = true;
                Some(": the key is no longer valid\n\n".to_owned())
            }
            Err(Some(failure)) => {
                self.ended = true;
                tracing::warn!(code = %failure.code, "a live stream ended: {}", failure.message);
                Some(format!(": {}\n\n", failure.code))
            }
        }
    }
}

//! Following a live session: its frames, its ledger, and what it waits for, as server-sent events.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::pin::pin;
use std::time::Duration;

use accord_base::Caller;
use accord_contract::codes::{Code, Failure};
use accord_contract::wire::TextForm;
use accord_live::{Delivery, Frame, Watcher};
use accord_live_core::SessionId;
use accord_live_core::session::StreamQuery;
use accord_memory_core::query::Text;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until};

use super::read::number;
use super::{app_of, session};
use crate::http::Route;
use crate::http::live::of_session;
use crate::http::routes::{InProject, PathId, Query};
use crate::http::streams::StreamPermit;
use crate::http::{Context, Reply};
use crate::keys::{CHECK_INTERVAL, Keys};
use accord_serving::table::Content;

const NUMBER: TextForm = TextForm::ANY.pattern("^[0-9]{1,15}$").example("42");
const SINCE: Text = Text::new("since", NUMBER);
const FROM_SEQ: Text = Text::new("from_seq", NUMBER);

/// How often a comment is sent when nothing happens.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "watch_live_session",
            session!("frames"),
            "Follows a live session: the frames that its subscribers get, one render_event for \
             each event of its ledger, x-ask when it begins to wait for a person and x-answered \
             when it waits no more. Without numbers it begins now. The stream ends when the \
             session expires.",
            watch,
        )
        .query(SINCE, "Begins with the events of the ledger after this number.")
        .query(FROM_SEQ, "Begins with the kept frames of the stream after this number.")
        .answers(200, "The frames.", Content::Events)
        .refuses(&[
            Code::AgenticUnauthorized,
            Code::GguiSessionNotFound,
            Code::GguiReplayHorizonPassed,
            Code::HttpTooManyStreams,
            Code::HostClosing,
        ]),
    ]
}

async fn watch(
    Context { host, caller, .. }: Context,
    InProject(project): InProject,
    PathId(session): PathId<SessionId>,
    query: Query,
) -> Reply {
    let params = query.params()?;
    let after =
        StreamQuery { since: number(SINCE, &params)?, from_seq: number(FROM_SEQ, &params)? };
    let watcher = host.live().watch(&caller, &app_of(&project)?, &session, after).await;
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
    let mut response = Response::new(Body::from_stream(stream::unfold(channel, Channel::step)));
    for (name, value) in [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

/// An open stream.
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
            Ok(Delivery::Frames(frames)) => Some(events(&frames)),
            Ok(Delivery::End(end)) => {
                self.ended = true;
                let last = end.frame.as_slice();
                Some(format!("{}: {}\n\n", events(last), end.close.reason))
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

/// Frames as they are sent. The id of one from the ledger is its number there.
fn events(frames: &[Frame]) -> String {
    let mut text = String::new();
    for frame in frames {
        if let Some(sequence) = frame.sequence {
            writeln!(text, "id: {sequence}").expect("writing to a String never fails");
        }
        write!(text, "data: {}\n\n", frame.text).expect("writing to a String never fails");
    }
    text
}

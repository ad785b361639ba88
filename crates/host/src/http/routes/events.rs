//! The events of a project, as server-sent events.
//!
//! The id of an event is its sequence number in the project, so that a client can resume where it
//! was disconnected. A stream ends when the host closes, the key becomes invalid or an error
//! occurs. The client sees the error when it reconnects.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::pin::pin;
use std::time::Duration;

use accord_base::{Access, Caller, Event};
use accord_contract::codes::{Code, Failure};
use accord_contract::wire::Shape;
use accord_memory::{FollowEnd, Follower, Since};
use accord_memory_core::limits::MAX_EXACT;
use accord_memory_core::query::Described;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use hyper::HeaderMap;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until};

use super::{InProject, Query};
use crate::http::Route;
use crate::http::streams::StreamPermit;
use crate::http::{Context, Reply};
use crate::keys::{CHECK_INTERVAL, Keys};
use accord_serving::table::Content;

/// The header with the sequence number of the last event that a client has received.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The header that tells proxies not to buffer.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// How often a comment is sent when there are no events.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How long a client should wait before it reconnects, in milliseconds.
const RETRY: u32 = 2_000;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "events",
            "/v1/projects/{project_id}/events",
            "Follows the events of a project. Ids increase by one. An event that the caller may \
             not see has the type hidden, a damaged one the type damaged. Without a cursor the \
             stream begins now; after 0 it begins with the first event. The removal of the \
             project is its last event and ends the stream.",
            follow,
        )
        .header(event_number("last-event-id"), "The last event that was received; overrides after.")
        .query(event_number("after"), "The last event that was received.")
        .answers(200, "The events.", Content::Events)
        .refuses(&[
            Code::AgenticProjectNotFound,
            Code::AgenticInvalidCursor,
            Code::AgenticEventCursorTooOld,
            Code::HttpTooManyStreams,
            Code::HostClosing,
        ]),
    ]
}

/// The number of an event, as a parameter.
fn event_number(name: &'static str) -> Described {
    let shape = Shape::Integer { minimum: Some(0), maximum: Some(MAX_EXACT) };
    Described { name, shape, default: None }
}

async fn follow(
    Context { host, caller, .. }: Context,
    InProject(project): InProject,
    query: Query,
    headers: HeaderMap,
) -> Reply {
    let since = since(&headers, &query)?;
    let follower = host.memory().follow(&caller, &project, since).await?;
    let mut opening = format!("retry: {RETRY}\n");
    if since == Since::Now {
        // A client that reconnects before the first event resumes here, too.
        writeln!(opening, "id: {}", follower.seen()).expect("writing to a String never fails");
    }
    opening.push('\n');
    let mut checks = interval(CHECK_INTERVAL);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let channel = Channel {
        follower,
        permit: host.streams().take()?,
        keys: host.keys().clone(),
        caller,
        checks,
        opening: Some(opening),
        ended: false,
    };
    let mut response = Response::new(Body::from_stream(stream::unfold(channel, Channel::step)));
    for (name, value) in
        [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store"), (BUFFERING, "no")]
    {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}

/// The event after which the client wants to continue.
fn since(headers: &HeaderMap, query: &Query) -> Result<Since, Failure> {
    let params = query.params()?;
    // A header that is not text must be refused below, not ignored: without a cursor the client
    // would miss events.
    let seen = headers.get(LAST_EVENT_ID).map(|sent| sent.to_str().unwrap_or("?"));
    let named = seen.filter(|seen| !seen.is_empty()).or(params.text("after"));
    let Some(named) = named else {
        return Ok(Since::Now);
    };
    let number = named.trim().parse().ok();
    let number = number.filter(|number: &u64| *number <= MAX_EXACT.unsigned_abs());
    number.map(Since::After).ok_or_else(|| {
        let message = format!("{named:?} is not the sequence number of an event");
        Failure::new(Code::AgenticInvalidCursor, message)
    })
}

/// An open stream.
struct Channel {
    follower: Follower,
    permit: StreamPermit,
    keys: Keys,
    caller: Caller,
    /// When the caller is checked.
    checks: Interval,
    opening: Option<String>,
    ended: bool,
}

impl Channel {
    /// The next bytes to send; `None` at the end.
    async fn step(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        if self.ended {
            return None;
        }
        let text = match self.opening.take() {
            Some(opening) => opening,
            None => self.next().await?,
        };
        Some((Ok(text.into()), self))
    }

    async fn next(&mut self) -> Option<String> {
        let silence_ends = Instant::now() + KEEP_ALIVE;
        let heard = {
            // Kept over the checks, because each new one would read the store.
            let mut next = pin!(self.follower.next());
            loop {
                tokio::select! {
                    () = self.permit.closing() => return None,
                    page = &mut next => break page,
                    () = sleep_until(silence_ends) => return Some(": keep-alive\n\n".to_owned()),
                    // The follower checks the key when it reads a page. Without events nothing else
                    // would end the stream of a revoked key.
                    _ = self.checks.tick() => match self.keys.accepts(&self.caller).await {
                        Ok(true) => {}
                        Ok(false) => break Err(FollowEnd::ShutOut),
                        Err(failure) => break Err(FollowEnd::Failed(failure)),
                    },
                }
            }
        };
        match heard {
            Ok(events) => Some(frames(&events, self.follower.access())),
            Err(end) => {
                self.ended = true;
                Some(farewell(&end))
            }
        }
    }
}

/// Events as they are sent.
fn frames(events: &[Event], access: &Access) -> String {
    let mut text = String::new();
    for event in events {
        let (kind, document) = (event.type_for(access), event.document_for(access));
        write!(text, "id: {}\nevent: {kind}\ndata: {document}\n\n", event.seq)
            .expect("writing to a String never fails");
    }
    text
}

/// The last comment of a stream, for people who look at it.
fn farewell(end: &FollowEnd) -> String {
    match end {
        FollowEnd::Removed => ": the project was removed\n\n".to_owned(),
        FollowEnd::ShutOut => ": the key is no longer valid\n\n".to_owned(),
        FollowEnd::Failed(failure) => {
            tracing::warn!(code = %failure.code, "an event stream ended: {}", failure.message);
            format!(": {}\n\n", failure.code)
        }
    }
}

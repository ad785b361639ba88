//! The events of a project, or of all projects, as server-sent events.
//!
//! The id of an event is its sequence number in the project, or a position in all projects, so that
//! a client can resume where it was disconnected. A stream ends when the host closes, the key
//! becomes invalid or an error occurs. The client sees the error when it reconnects.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::pin::pin;
use std::time::Duration;

use accord_api::Call;
use accord_base::cursor::StreamPosition;
use accord_base::{Access, Caller, Event};
use accord_contract::{Code, Failure};
use accord_memory::{FollowEnd, Follower, Since, WatchedEvent, Watcher};
use accord_memory_core::limits::MAX_EXACT;
use accord_memory_core::operations::{FollowEvents, WatchEvents};
use accord_serving::operation::serve_response;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use hyper::HeaderMap;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until};

use crate::{Context, Exchange, MemoryDoor, Route};
use accord_serving::Reply;
use accord_serving::keys::{CHECK_INTERVAL, Keys};
use accord_serving::streams::StreamPermit;

/// The header with the sequence number of the last event that a client has received.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The header that tells proxies not to buffer.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// How often a comment is sent when there are no events.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a client should wait before it reconnects, in milliseconds.
const RETRY: u32 = 2_000;

pub fn routes() -> Vec<Route> {
    vec![serve_response(follow), serve_response(watch)]
}

/// Where the events of a stream come from.
trait Source: Send + Sized + 'static {
    /// The id from which a client resumes.
    fn place(&self) -> String;

    /// Waits for the next events. Returns them as they are sent.
    fn next(&mut self) -> impl Future<Output = Result<String, FollowEnd>> + Send;
}

impl Source for Follower {
    fn place(&self) -> String {
        self.seen().to_string()
    }

    async fn next(&mut self) -> Result<String, FollowEnd> {
        let events = self.next().await?;
        Ok(frames(&events, self.access()))
    }
}

impl Source for Watcher {
    fn place(&self) -> String {
        self.position().encode()
    }

    async fn next(&mut self) -> Result<String, FollowEnd> {
        let events = self.next().await?;
        Ok(watched(&events, &self.place(), self.access()))
    }
}

async fn follow(asked: Exchange, call: Call<FollowEvents>) -> Reply {
    let (Context { host, caller, .. }, project) = (asked.context, call.path.project);
    let since = since(&asked.headers, call.query.after.as_deref())?;
    let follower = host.memory().follow(&caller, &project, since).await?;
    stream_of(follower, &host, caller, since == Since::Now)
}

async fn watch(asked: Exchange, call: Call<WatchEvents>) -> Reply {
    let Context { host, caller, .. } = asked.context;
    // As above: a header that is not text must not be ignored.
    let resumed = asked.headers.get(LAST_EVENT_ID);
    let resumed = resumed.map(|sent| sent.to_str().unwrap_or("?").to_owned());
    let after = resumed.or(call.query.after);
    let after = after.map(|after| StreamPosition::decode(after.trim())).transpose()?;
    let is_new = after.is_none();
    let watcher = host.memory().watch(&caller, call.query.project, after).await?;
    stream_of(watcher, &host, caller, is_new)
}

/// The answer that sends events until the stream ends.
fn stream_of(source: impl Source, host: &MemoryDoor, caller: Caller, is_new: bool) -> Reply {
    let mut opening = format!("retry: {RETRY}\n");
    if is_new {
        // A client that reconnects before the first event resumes here, too.
        writeln!(opening, "id: {}", source.place()).expect("writing to a String never fails");
    }
    opening.push('\n');
    let mut checks = interval(CHECK_INTERVAL);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let channel = Channel {
        source,
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
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

/// The event after which the client wants to continue.
fn since(headers: &HeaderMap, after: Option<&str>) -> Result<Since, Failure> {
    // A header that is not text must be refused below, not ignored: without a cursor the client
    // would miss events.
    let seen = headers.get(LAST_EVENT_ID).map(|sent| sent.to_str().unwrap_or("?"));
    let named = seen.filter(|seen| !seen.is_empty()).or(after);
    let Some(named) = named else { return Ok(Since::Now) };
    let number = named.trim().parse().ok();
    let number = number.filter(|number: &u64| *number <= MAX_EXACT.unsigned_abs());
    number.map(Since::After).ok_or_else(|| {
        let message = format!("{named:?} is not the sequence number of an event");
        Failure::new(Code::AgenticInvalidCursor, message)
    })
}

struct Channel<S> {
    source: S,
    permit: StreamPermit,
    keys: Keys,
    caller: Caller,
    /// When the caller is checked.
    checks: Interval,
    opening: Option<String>,
    ended: bool,
}

impl<S: Source> Channel<S> {
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
            let mut next = pin!(self.source.next());
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
            Ok(text) => Some(text),
            Err(end) => {
                self.ended = true;
                Some(farewell(&end))
            }
        }
    }
}

fn frames(events: &[Event], access: &Access) -> String {
    let mut text = String::new();
    for event in events {
        let (kind, document) = (event.type_for(access), event.document_for(access));
        write!(text, "id: {}\nevent: {kind}\ndata: {document}\n\n", event.seq)
            .expect("writing to a String never fails");
    }
    text
}

/// The same of several projects. Only the last event has an id, because a position names every
/// project.
fn watched(events: &[WatchedEvent], place: &str, access: &Access) -> String {
    let mut text = String::new();
    for (at, WatchedEvent { project, event }) in events.iter().enumerate() {
        if at + 1 == events.len() {
            writeln!(text, "id: {place}").expect("writing to a String never fails");
        }
        let (kind, mut document) = (event.type_for(access), event.document_for(access));
        // A damaged event names its place, too.
        document["project_id"] = project.as_str().into();
        document["seq"] = event.seq.into();
        write!(text, "event: {kind}\ndata: {document}\n\n").expect("a String takes it");
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

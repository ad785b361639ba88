//! `GET /api/sessions/{session_id}/stream`: the frames of the channel as server-sent events.

use std::{convert::Infallible, fmt::Write as _, pin::Pin, time::Duration};

use accord_api::parameter::Opaque;
use accord_live::{Delivery, Frame, Subscriber, Subscription};
use accord_live_core::operations::channel::{FROM_SEQ, LAST_EVENT_ID, SINCE_SEQUENCE};
use accord_live_core::{frame::ServerFrame, refuse, session::stream_query, tenancy::Identity};
use axum::{body::Body, response::IntoResponse as _};
use bytes::Bytes;
use futures_util::stream;
use hyper::HeaderMap;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use tokio::time::{Instant, sleep_until};

use super::fallback::Bearer;
use crate::{AccessWatch, Lost, TokenHolder};
use accord_serving::streams::{Unfinished, closing_down};
use accord_serving::{Permit, Reply};

/// The header that tells proxies not to buffer.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// How often a comment is sent when there are no frames.
const HEARTBEAT: Duration = Duration::from_secs(25);
/// What a stream begins with: how long a client waits before it connects again.
const OPENING: &str = "retry: 3000\n\n";

/// Clauses: GGUI-HTTP-STREAM.
pub(super) async fn follow(bearer: Bearer, headers: HeaderMap) -> Reply {
    let Bearer { host, claims, holder, token, query, .. } = bearer;
    let params = query.params()?;
    let last = headers.get(LAST_EVENT_ID.name()).and_then(|last| last.to_str().ok());
    let position = |parameter: Opaque| params.text(parameter.name());
    let asked = stream_query(last, position(SINCE_SEQUENCE), position(FROM_SEQ))?;
    // Unlike on the channel, no session begins here.
    let found = host.live().found(&claims.session_id, None).await?;
    let is_there = found.is_some_and(|found| {
        found.session.app_id == claims.app_id && found.session.is_active(host.live().now())
    });
    if !is_there {
        return Err(refuse::session_not_found("there is no such session").into());
    }
    let work = host.streams().begin_work();
    if host.streams().are_closing() {
        return Err(closing_down().into());
    }
    let permit = host.sockets().open()?;
    let holder = holder.unwrap_or_else(TokenHolder::nobody);
    let standing = host.watch_access(&holder, Some(&claims.app_id));
    let request = asked.subscribe(claims.session_id, claims.app_id, token);
    let subscribed = host.live().subscribe(&Identity::Pending, &request, None).await;
    let Subscription { ack, subscriber } = subscribed.map_err(|refusal| *refusal.failure)?;
    let events = Events {
        closing: Box::pin(host.streams().closed()),
        version: host.live().version_of(&request.session_id),
        standing,
        subscriber,
        opening: Some(format!("{OPENING}{}", event(&ack))),
        is_ended: false,
        _kept: (permit, work),
    };
    let headers = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-store, no-cache, must-revalidate"),
        (BUFFERING, "no"),
    ];
    let body = Body::from_stream(stream::unfold(events, Events::step));
    Ok((headers, body).into_response())
}

struct Events {
    subscriber: Subscriber,
    standing: AccessWatch,
    /// The version that the session advertises.
    version: String,
    closing: Pin<Box<dyn Future<Output = ()> + Send>>,
    opening: Option<String>,
    is_ended: bool,
    _kept: (Permit, Unfinished),
}

impl Events {
    /// The next bytes to send; `None` at the end.
    async fn step(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        if self.is_ended {
            return None;
        }
        let text = match self.opening.take() {
            Some(opening) => opening,
            None => self.next().await?,
        };
        Some((Ok(text.into()), self))
    }

    async fn next(&mut self) -> Option<String> {
        let silence_ends = Instant::now() + HEARTBEAT;
        let delivery = tokio::select! {
            () = &mut self.closing => return None,
            Lost { failure, close } = self.standing.lost() => {
                self.is_ended = true;
                let error = ServerFrame::Error(Box::new(failure)).encode(&self.version, None);
                return Some(format!("data: {error}\n\n: {}\n\n", close.reason));
            }
            delivery = self.subscriber.next() => delivery,
            // The sessions that expire end their subscribers by themselves.
            () = sleep_until(silence_ends) => return Some(": hb\n\n".to_owned()),
        };
        match delivery {
            Ok(Delivery::Frames(frames)) => Some(frames.iter().map(event).collect()),
            Ok(Delivery::End(end)) => {
                self.is_ended = true;
                let last: String = end.frame.iter().map(event).collect();
                Some(format!("{last}: {}\n\n", end.close.reason))
            }
            Err(failure) => {
                self.is_ended = true;
                tracing::warn!(code = %failure.code, "a live stream ends: {}", failure.message);
                Some(format!(": {}\n\n", failure.code))
            }
        }
    }
}

pub(crate) fn event(frame: &Frame) -> String {
    let mut text = String::with_capacity(frame.text.len() + 32);
    if let Some(sequence) = frame.sequence {
        writeln!(text, "id: {sequence}").expect("writing to a String never fails");
    }
    write!(text, "data: {}\n\n", frame.text).expect("writing to a String never fails");
    text
}

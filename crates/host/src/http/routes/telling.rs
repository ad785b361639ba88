//! Answers that say how far long work is.
//!
//! Whoever waits in silence for minutes gives up, and so do the proxies between. A client that accepts
//! `application/x-ndjson` is told how it goes, line by line: any number of the kind `progress`, what the work
//! itself has to say, and at the end one of the kind `summary` or `failure`. The status is 200 whatever the
//! end is: it is sent before that is known.

use std::convert::Infallible;

use accord_contract::codes::Failure;
use accord_contract::wire::{Object, Value};
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use hyper::HeaderMap;
use hyper::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use serde_json::json;
use tokio::sync::mpsc;

/// What such an answer is called.
const LINES: &str = "application/x-ndjson";

/// What an operation that answers so says about it.
pub(super) const ABOUT: &str = "application/x-ndjson: lines that say how it goes.";

/// How many lines may wait for a client.
const WAITING: usize = 256;

/// Tells a client how it goes.
#[derive(Clone, Debug)]
pub(super) struct Teller(mpsc::Sender<Value>);

impl Teller {
    /// Says how far it is. A client that does not listen hears it the next time.
    pub(super) fn progress(&self, done: u64, total: u64) {
        let line = json!({"kind": "progress", "done": done, "total": total});
        drop(self.0.try_send(line));
    }

    /// Says something that must not be missed; waits for the client, on this thread.
    pub(super) fn say(&self, kind: &str, members: Value) {
        // Whoever asked may have gone; then the work ends.
        drop(self.0.blocking_send(of_kind(kind, members)));
    }
}

/// Whether the client wants to be told.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter();
    let mut accepted = accepted.filter_map(|list| list.to_str().ok());
    accepted.any(|list| {
        let mut types = list.split(',').filter_map(|each| each.split(';').next());
        types.any(|each| each.trim().eq_ignore_ascii_case(LINES))
    })
}

/// The answer of work that tells. When the client goes away, the work is dropped.
pub(super) fn answer<W>(work: impl FnOnce(Teller) -> W) -> Response
where
    W: Future<Output = Result<Value, Failure>> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(WAITING);
    let work = work(Teller(sender.clone()));
    tokio::spawn(async move {
        let done = tokio::select! {
            done = work => done,
            () = sender.closed() => return,
        };
        let last = match done {
            Ok(summary) => of_kind("summary", summary),
            Err(failure) => {
                let code = failure.code.as_str();
                of_kind("failure", json!({"code": code, "message": failure.message}))
            }
        };
        drop(sender.send(last).await);
    });
    let lines = stream::unfold(receiver, |mut receiver| async move {
        let line = receiver.recv().await?;
        let line = Bytes::from(format!("{line}\n"));
        Some((Ok::<_, Infallible>(line), receiver))
    });
    let mut response = Response::new(Body::from_stream(lines));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(LINES));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn of_kind(kind: &str, members: Value) -> Value {
    let mut line = Object::new();
    line.insert("kind".into(), kind.into());
    if let Value::Object(members) = members {
        line.extend(members);
    }
    Value::Object(line)
}

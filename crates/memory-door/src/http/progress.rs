//! Answers that report the progress of long work.
//!
//! Clients and proxies give up after minutes without a byte. A client that accepts
//! `application/x-ndjson` gets lines while the work goes on: any number of the kind `progress`,
//! lines of the work itself, and at the end one of the kind `summary` or `failure`. The status is
//! always 200, because it is sent before the result is known.

use std::convert::Infallible;

use accord_contract::{Failure, Object, Value};
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use hyper::HeaderMap;
use hyper::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use serde_json::json;
use tokio::sync::mpsc;

use accord_serving::table::LINES;

/// How many lines may be queued for a client.
const WAITING: usize = 256;

/// Sends progress lines to a client.
#[derive(Clone, Debug)]
pub(super) struct ProgressSender(mpsc::Sender<Value>);

impl ProgressSender {
    /// Reports progress. The line is dropped if the queue is full; a later one replaces it.
    pub(super) fn progress(&self, done: u64, total: u64) {
        let line = json!({"kind": "progress", "done": done, "total": total});
        drop(self.0.try_send(line));
    }

    /// Sends a line that must not be dropped. Blocks while the queue is full.
    pub(super) fn send(&self, kind: &str, members: Value) {
        // If the client has disconnected, the work is about to be dropped.
        drop(self.0.blocking_send(of_kind(kind, members)));
    }
}

/// Whether the client accepts progress lines.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(ACCEPT).iter().filter_map(|list| list.to_str().ok());
    accepted.any(|list| {
        let mut types = list.split(',').filter_map(|each| each.split(';').next());
        types.any(|each| each.trim().eq_ignore_ascii_case(LINES))
    })
}

/// The answer of work that reports progress. If the client disconnects, the work is dropped.
pub(super) fn answer<W>(work: impl FnOnce(ProgressSender) -> W) -> Response
where
    W: Future<Output = Result<Value, Failure>> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(WAITING);
    let work = work(ProgressSender(sender.clone()));
    accord_system::spawn(async move {
        let done = tokio::select! {
            done = work => done,
            () = sender.closed() => return,
        };
        let last = match done {
            Ok(summary) => of_kind("summary", summary),
            Err(failure) => {
                let code = failure.code.as_str();
                let mut line = json!({"code": code, "message": failure.message});
                if let (Some(line), Some(details)) = (line.as_object_mut(), failure.details) {
                    line.extend(*details);
                }
                of_kind("failure", line)
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

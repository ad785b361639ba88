//! What stands in front of an honest host.

use std::sync::Arc;
use std::thread::JoinHandle;

use accord_base::Caller;
use accord_host::Api;
use accord_host::http::{Host, api_as};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request as Incoming, State};
use axum::response::Response;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::{HeaderMap, Method};
use serde_json::Value;
use tokio::sync::oneshot;

/// What a fault changes.
#[derive(Clone, Copy)]
pub(super) enum Change {
    /// What is asked, before the host sees it.
    Request(fn(&mut Asked)),
    /// What is answered, before the client sees it.
    Answer(fn(&Asked, &mut Answered)),
}

/// What is asked.
pub(super) struct Asked {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) body: Bytes,
}

/// What is answered.
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// A server with a change, on a port of its own. It ends when it is dropped.
pub(super) struct Front {
    url: String,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Front {
    pub(super) fn start(host: &Host, change: Change) -> Self {
        let api = api_as(host, Caller::local());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (end, ended) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(serve(listener, api, change, ended));
            runtime.shutdown_background();
        });
        Self { url, end: Some(end), thread: Some(thread) }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

async fn serve(
    listener: std::net::TcpListener,
    api: Arc<dyn Api>,
    change: Change,
    ended: oneshot::Receiver<()>,
) {
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let service = Router::new().fallback(pass).with_state((api, change));
    tokio::select! {
        served = axum::serve(listener, service) => served.unwrap(),
        _ = ended => {}
    }
}

async fn pass(State((api, change)): State<(Arc<dyn Api>, Change)>, incoming: Incoming) -> Response {
    let (mut parts, body) = incoming.into_parts();
    // A stream of events has no end to wait for.
    if parts.uri.path().ends_with("/events") {
        return api.call(Incoming::from_parts(parts, body)).await.unwrap();
    }
    let mut asked = Asked {
        method: parts.method.clone(),
        path: parts.uri.path().to_owned(),
        query: pairs(parts.uri.query().unwrap_or_default()),
        body: body.collect().await.unwrap().to_bytes(),
    };
    if let Change::Request(change) = change {
        change(&mut asked);
        let query: Vec<_> =
            asked.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        let uri = format!("{}{mark}{}", asked.path, query.join("&"));
        parts.uri = uri.parse().unwrap();
        parts.headers.remove("content-length");
    }
    let request = Incoming::from_parts(parts, Body::from(asked.body.clone()));
    let (mut parts, body) = api.call(request).await.unwrap().into_parts();
    let mut answered = Answered {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body: body.collect().await.unwrap().to_bytes(),
    };
    if let Change::Answer(change) = change {
        change(&asked, &mut answered);
        parts.status = answered.status.try_into().unwrap();
        answered.headers.remove("content-length");
    }
    parts.headers = answered.headers;
    Response::from_parts(parts, Body::from(answered.body))
}

/// The parameters of a query, not decoded.
fn pairs(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

impl Asked {
    /// Whether it is asked with this method at a path of this end.
    pub(super) fn is(&self, method: &str, end: &str) -> bool {
        self.method == method && self.path.ends_with(end)
    }

    pub(super) fn is_deposit(&self) -> bool {
        self.is("POST", "/packages")
    }

    /// Whether one package is read.
    pub(super) fn is_specific(&self) -> bool {
        self.method == "GET"
            && self.path.strip_prefix("/v1/packages/").is_some_and(|id| !id.contains('/'))
    }

    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let mut pairs = self.query.iter();
        pairs.find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Changes the document that is sent, where it is one.
    pub(super) fn document(&mut self, change: impl FnOnce(&mut Value)) {
        changed(&mut self.body, change);
    }
}

impl Answered {
    /// Changes the document that is answered, where it is one.
    pub(super) fn document(&mut self, change: impl FnOnce(&mut Value)) {
        changed(&mut self.body, change);
    }

    /// The code of a refusal.
    pub(super) fn code(&self) -> Option<String> {
        let document: Value = serde_json::from_slice(&self.body).ok()?;
        document["error"]["code"].as_str().map(str::to_owned)
    }
}

fn changed(body: &mut Bytes, change: impl FnOnce(&mut Value)) {
    if let Ok(mut document) = serde_json::from_slice(body) {
        change(&mut document);
        *body = Bytes::from(document.to_string());
    }
}

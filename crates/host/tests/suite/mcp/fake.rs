//! A host with scripted answers that remembers what it was asked.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use accord_contract::codes::Exchange;
use accord_contract::{Code, Failure, Protocol};
use accord_host::{Api, Request, Response};
use axum::body::Body;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// What the fake was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) body: Value,
}

pub(crate) type Reply = Result<(u16, String), Failure>;

/// The fake.
pub(crate) struct Fake {
    asked: Mutex<Vec<Asked>>,
    answer: Box<dyn Fn(&Asked) -> Reply + Send + Sync>,
    gate: Option<Gate>,
    media_type: &'static str,
}

/// Makes requests wait until a test lets them go.
pub(crate) struct Gate {
    /// How many requests have arrived.
    pub(crate) arrived: Arc<AtomicUsize>,
    /// One permit lets one request go.
    pub(crate) go: Arc<Semaphore>,
}

impl Fake {
    /// A fake that answers in this way.
    pub(crate) fn new(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Arc<Self> {
        let media_type = "application/json";
        Arc::new(Self { asked: Mutex::default(), answer: Box::new(answer), gate: None, media_type })
    }

    /// The same fake, whose answers have another media type.
    pub(crate) fn of_media_type(self: Arc<Self>, media_type: &'static str) -> Arc<Self> {
        let answer = Box::new(move |asked: &Asked| self.reply(asked));
        Arc::new(Self { asked: Mutex::default(), answer, gate: None, media_type })
    }

    /// The same fake, whose requests wait.
    pub(crate) fn behind(self: Arc<Self>, gate: Gate) -> Arc<Self> {
        let answer = Box::new(move |asked: &Asked| self.reply(asked));
        let media_type = "application/json";
        Arc::new(Self { asked: Mutex::default(), answer, gate: Some(gate), media_type })
    }

    /// What it answers.
    pub(crate) fn reply(&self, asked: &Asked) -> Reply {
        (self.answer)(asked)
    }

    /// A fake that answers every request with this document.
    pub(crate) fn giving(document: Value) -> Arc<Self> {
        Self::new(move |_| Ok((200, document.to_string())))
    }

    /// A fake that behaves like a host as far as sessions and writes go: it gives back what it was
    /// sent.
    pub(crate) fn echoing() -> Arc<Self> {
        Self::new(|asked| {
            let mut document = asked.body.clone();
            if asked.method == "POST" && asked.target.ends_with("/sessions") {
                document["session_id"] = "sess_1".into();
                let project = asked.target.split('/').nth(3).unwrap();
                document["project_id"] = project.replace("%2F", "/").into();
                document["callsign"] = "amber-otter".into();
                complete(&mut document);
            }
            if asked.method == "PATCH" && asked.target.starts_with("/v1/sessions/") {
                let known = [
                    ("session_id", "sess_1"),
                    ("project_id", "p"),
                    ("actor_id", "ada"),
                    ("actor_type", "agent"),
                    ("callsign", "amber-otter"),
                ];
                known.into_iter().for_each(|(name, text)| document[name] = text.into());
                complete(&mut document);
            }
            if asked.method == "DELETE" {
                document = json!({"invalidated": 1});
            }
            Ok((if asked.method == "POST" { 201 } else { 200 }, document.to_string()))
        })
    }

    /// Everything that it was asked.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The last that it was asked.
    pub(crate) fn last(&self) -> Asked {
        self.asked().pop().expect("something was asked")
    }
}

/// Adds what every session has.
pub(crate) fn complete(session: &mut Value) {
    let rest = json!({
        "callsign": null,
        "started_at": "2026-04-18T20:00:00Z",
        "ended_at": null,
        "packages_deposited": [],
    });
    for (name, value) in rest.as_object().unwrap() {
        session.as_object_mut().unwrap().entry(name).or_insert_with(|| value.clone());
    }
}

/// The answer of a host that refuses.
pub(crate) fn refusing(failure: &Failure) -> Reply {
    let exchange = Exchange { correlation_id: "c".into(), capabilities: Vec::new() };
    let body = failure.body(Protocol::Agentic, exchange);
    Ok((failure.code.http_status(), body.to_string()))
}

/// The answer of a host that cannot be reached.
pub(crate) fn unreachable() -> Reply {
    Err(Failure::new(Code::HostTimeout, "the host was silent"))
}

impl Api for Fake {
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        async move {
            let (head, body) = request.into_parts();
            let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
            let asked = Asked {
                method: head.method.to_string(),
                target: head.uri.to_string(),
                body: serde_json::from_slice(&body).unwrap_or(Value::Null),
            };
            if let Some(gate) = &self.gate {
                gate.arrived.fetch_add(1, Ordering::Release);
                gate.go.acquire().await.unwrap().forget();
            }
            let (status, text) = {
                self.asked.lock().unwrap().push(asked.clone());
                (self.answer)(&asked)?
            };
            let mut response = Response::new(Body::from(text));
            *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap();
            let media_type = hyper::header::HeaderValue::from_static(self.media_type);
            response.headers_mut().insert(hyper::header::CONTENT_TYPE, media_type);
            Ok(response)
        }
        .boxed()
    }
}

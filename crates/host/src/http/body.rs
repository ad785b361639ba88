//! Bodies of requests, read within limits on their size and on the client's patience.
//!
//! Every body that a handler sees is a [`Patient`] one: it fails with a code when nothing comes for
//! too long. How large it may be is decided where it is read: [`Document`] for JSON documents,
//! [`Chunks`] for what is taken in piece by piece.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::Wire;
use axum::body::Body;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use hyper::header::CONTENT_TYPE;
use tokio::time::{Instant, Sleep};

use super::{Host, Refusal};

/// A JSON document as it was sent, at most as long as the setting `limits.body_bytes`.
#[derive(Clone, Debug)]
pub struct Document(pub Bytes);

/// A body that is taken in piece by piece. [`Chunks::within`] says how large it may be.
#[derive(Debug)]
pub struct Chunks(Body);

/// A body that fails when its sender makes no progress.
#[derive(Debug)]
pub struct Patient {
    body: Body,
    patience: Duration,
    until: Pin<Box<Sleep>>,
}

impl FromRequest<Host> for Document {
    type Rejection = Refusal;

    async fn from_request(request: Request, host: &Host) -> Result<Self, Refusal> {
        check_json(&request)?;
        let limit = host.settings().limits.body_bytes.0;
        Ok(Self(whole(request.into_body(), limit).await?))
    }
}

impl Document {
    /// Reads a message of Accord's own.
    ///
    /// # Errors
    /// When the document is not JSON, or not that message.
    pub fn read<T: Wire>(&self) -> Result<T, Failure> {
        Ok(T::from_document(accord_canon::read(&self.0)?)?)
    }
}

impl FromRequest<Host> for Chunks {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &Host) -> Result<Self, Refusal> {
        Ok(Self(request.into_body()))
    }
}

impl Chunks {
    /// The body, which may have at most `limit` bytes.
    ///
    /// # Errors
    /// At once where its sender says that it has more.
    pub fn within(self, limit: u64) -> Result<Limit, Failure> {
        check_announced(&self.0, limit)?;
        let body = Limited::new(self.0, usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(Limit { body, limit })
    }
}

/// A body with a limit on its size.
#[derive(Debug)]
pub struct Limit {
    body: Limited<Body>,
    limit: u64,
}

impl Limit {
    /// The next piece; `None` at the end.
    ///
    /// # Errors
    /// When the body is too large, comes too slowly, or breaks off.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        while let Some(frame) = self.body.frame().await {
            let frame = frame.map_err(|error| broken(&*error, self.limit))?;
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }
}

/// A whole body of at most `limit` bytes.
///
/// # Errors
/// When it is larger, comes too slowly, or breaks off.
async fn whole(body: Body, limit: u64) -> Result<Bytes, Failure> {
    check_announced(&body, limit)?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let read = Limited::new(body, most).collect().await;
    read.map(http_body_util::Collected::to_bytes)
        .map_err(|error| broken(&*error, limit))
}

/// Refuses a body that announces more than the limit, before any of it is read.
fn check_announced(body: &Body, limit: u64) -> Result<(), Failure> {
    match body.size_hint().lower() > limit {
        true => Err(too_large(limit)),
        false => Ok(()),
    }
}

/// Refuses a body that says that it is something other than JSON.
fn check_json(request: &Request) -> Result<(), Failure> {
    let Some(sent) = request.headers().get(CONTENT_TYPE) else {
        return Ok(());
    };
    let essence = sent.to_str().unwrap_or_default();
    let essence = essence.split(';').next().unwrap_or_default().trim();
    let essence = essence.to_ascii_lowercase();
    if essence == "application/json" || essence.ends_with("+json") {
        return Ok(());
    }
    Err(
        Failure::new(Code::HttpMediaType, "this route takes a JSON document")
            .suggesting("send the header Content-Type: application/json"),
    )
}

fn broken(error: &(dyn std::error::Error + 'static), limit: u64) -> Failure {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return too_large(limit);
        }
        if let Some(failure) = error.downcast_ref::<Failure>() {
            return failure.clone();
        }
        cause = error.source();
    }
    Failure::new(
        Code::HttpBodyBroken,
        "the body of the request broke off before its end",
    )
}

fn too_large(limit: u64) -> Failure {
    let message = format!("the body is larger than the limit of {limit} bytes");
    Failure::new(Code::AgenticPayloadTooLarge, message)
}

impl Patient {
    /// The same body, whose sender may pause for `patience` at most.
    pub fn new(body: Body, patience: Duration) -> Self {
        Self {
            body,
            patience,
            until: Box::pin(tokio::time::sleep(patience)),
        }
    }
}

impl HttpBody for Patient {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            let until = Instant::now() + self.patience;
            self.until.as_mut().reset(until);
            return Poll::Ready(frame);
        }
        match self.until.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Some(Err(axum::Error::new(too_slow(self.patience))))),
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn too_slow(patience: Duration) -> Failure {
    let message = format!("nothing of the body came for {} s", patience.as_secs_f32());
    Failure::new(Code::HttpBodyTimeout, message)
}

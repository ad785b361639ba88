//! Bodies of requests, read within limits on their size and on the client's patience.
//!
//! Every body that a handler sees is a [`Patient`] one: it fails with a code when nothing comes for
//! too long, or too little on the whole. How large it may be is decided where it is read: [`Document`] for JSON documents,
//! [`Chunks`] for what is taken in piece by piece. None is ever unpacked: a body is what was sent, so
//! that no few bytes become many.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::Wire;
use axum::body::Body;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::HeaderMap;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use tokio::time::{Instant, Sleep};

use super::{Host, Refusal};

/// A JSON document as it was sent, at most as long as the setting `limits.body_bytes`.
#[derive(Clone, Debug)]
pub struct Document(pub Bytes);

/// A body that is taken in piece by piece. [`Chunks::within`] says how large it may be.
#[derive(Debug)]
pub struct Chunks(Body);

/// A body that fails when its sender makes no progress, or too little. Only the time counts that is spent
/// waiting for the sender: a server that is busy is none of its faults.
#[derive(Debug)]
pub struct Patient {
    body: Body,
    /// How long one pause may be.
    patience: Duration,
    /// How many bytes a second must come; 0 for any number.
    rate: u64,
    received: u64,
    /// How long it was waited for the sender, until the last piece.
    waited: Duration,
    /// Since when it is waited for the next piece, and until when that is borne.
    waiting: Option<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    since: Instant,
    until: Pin<Box<Sleep>>,
    /// Whether the pause is not too long in itself, and only one too many.
    is_slow: bool,
}

impl FromRequest<Host> for Document {
    type Rejection = Refusal;

    async fn from_request(request: Request, host: &Host) -> Result<Self, Refusal> {
        check_json(request.headers())?;
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

/// Refuses a body that is packed.
///
/// # Errors
/// With `HTTP_MEDIA_TYPE`, when the request names another content encoding than `identity`.
pub(super) fn check_encoding(request: &Request) -> Result<(), Failure> {
    let sent = request.headers().get_all(CONTENT_ENCODING);
    let is_plain = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    if sent.iter().all(is_plain) {
        return Ok(());
    }
    let message = "this server takes no packed bodies";
    let failure = Failure::new(Code::HttpMediaType, message);
    Err(failure.suggesting("send the body as it is, without the header Content-Encoding"))
}

/// Refuses a text that says that it is something other than these media types, or in another alphabet than
/// UTF-8.
///
/// # Errors
/// With `HTTP_MEDIA_TYPE`.
pub(crate) fn check_media_type(
    headers: &HeaderMap,
    is_known: impl Fn(&str) -> bool,
    takes: &'static str,
    send: &'static str,
) -> Result<(), Failure> {
    let Some(sent) = headers.get(CONTENT_TYPE) else {
        return Ok(());
    };
    let sent = sent.to_str().unwrap_or_default().to_ascii_lowercase();
    let mut parts = sent.split(';').map(str::trim);
    if !is_known(parts.next().unwrap_or_default()) {
        let suggestion = format!("send the header Content-Type: {send}");
        return Err(Failure::new(Code::HttpMediaType, takes).suggesting(suggestion));
    }
    let mut alphabets = parts.filter_map(|part| part.strip_prefix("charset="));
    match alphabets.find(|name| !matches!(name.trim_matches('"'), "utf-8" | "utf8")) {
        None => Ok(()),
        Some(name) => {
            let message = format!("this route takes text in UTF-8, and not in {name}");
            let failure = Failure::new(Code::HttpMediaType, message);
            Err(failure.suggesting("write the body in UTF-8, and name that or no charset"))
        }
    }
}

/// Refuses a body that says that it is something other than JSON.
fn check_json(headers: &HeaderMap) -> Result<(), Failure> {
    let is_json = |essence: &str| essence == "application/json" || essence.ends_with("+json");
    let takes = "this route takes a JSON document";
    check_media_type(headers, is_json, takes, "application/json")
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
    /// The same body, whose sender may pause for `patience` at most, and must send `rate` bytes a second on
    /// the whole.
    pub fn new(body: Body, patience: Duration, rate: u64) -> Self {
        Self {
            body,
            patience,
            rate,
            received: 0,
            waited: Duration::ZERO,
            waiting: None,
        }
    }

    /// Begins to wait for the next piece.
    fn wait(&self) -> Waiting {
        let earned = self.received.saturating_mul(1_000);
        let earned = earned.checked_div(self.rate).map(Duration::from_millis);
        let left = earned.map(|earned| (self.patience + earned).saturating_sub(self.waited));
        let is_slow = left.is_some_and(|left| left < self.patience);
        let since = Instant::now();
        let until = tokio::time::sleep(left.unwrap_or(self.patience).min(self.patience));
        Waiting {
            since,
            until: Box::pin(until),
            is_slow,
        }
    }

    fn too_slow(&self, is_slow: bool) -> Failure {
        let message = match is_slow {
            true => format!("the body came at less than {} bytes a second", self.rate),
            false => format!(
                "nothing of the body came for {} s",
                self.patience.as_secs_f32()
            ),
        };
        Failure::new(Code::HttpBodyTimeout, message)
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
            if let Some(waiting) = self.waiting.take() {
                self.waited += waiting.since.elapsed();
            }
            if let Some(Ok(data)) = frame
                .as_ref()
                .map(|frame| frame.as_ref().map(Frame::data_ref))
            {
                self.received += data.map_or(0, |data| data.len() as u64);
            }
            return Poll::Ready(frame);
        }
        let mut waiting = self.waiting.take().unwrap_or_else(|| self.wait());
        match waiting.until.as_mut().poll(context) {
            Poll::Ready(()) => {
                let failure = self.too_slow(waiting.is_slow);
                Poll::Ready(Some(Err(axum::Error::new(failure))))
            }
            Poll::Pending => {
                self.waiting = Some(waiting);
                Poll::Pending
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Bytes as Piece;
    use futures_util::stream;

    use super::*;

    /// A body of so many pieces of ten bytes, each a second after the last.
    fn dripping(pieces: u32) -> Body {
        Body::from_stream(stream::unfold(0, move |sent| async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let piece = Ok::<_, std::convert::Infallible>(Piece::from_static(b"0123456789"));
            (sent < pieces).then_some((piece, sent + 1))
        }))
    }

    async fn read(pieces: u32, rate: u64) -> Result<usize, Failure> {
        let patience = Duration::from_secs(5);
        let body = Body::new(Patient::new(dripping(pieces), patience, rate));
        Ok(whole(body, 1_000_000).await?.len())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_drips_is_ended_however_short_its_pauses_are() {
        assert_eq!(read(1_000, 10).await, Ok(10_000), "as fast as it must be");
        assert_eq!(read(1_000, 0).await, Ok(10_000), "nothing is asked for");
        let began = Instant::now();
        let failure = read(1_000, 20).await.unwrap_err();
        assert_eq!(failure.code, Code::HttpBodyTimeout);
        assert!(failure.message.contains("20 bytes a second"), "{failure:?}");
        // Five seconds are given, and half a second more with each piece: the tenth comes too late.
        assert_eq!(began.elapsed().as_secs(), 9);
        assert_eq!(read(8, 20).await, Ok(80), "a short one may be slow");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_busy_is_no_fault_of_the_sender() {
        let patience = Duration::from_secs(5);
        let mut body = Body::new(Patient::new(dripping(20), patience, 10));
        for _ in 0..20 {
            tokio::time::sleep(Duration::from_secs(60)).await;
            assert!(body.frame().await.unwrap().is_ok());
        }
    }
}

//! Request bodies, read within limits on size and time.
//!
//! Every body that a handler sees is a [`TimedBody`]: it fails with a code when the client pauses
//! too long or sends too slowly. The size is limited where a body is read: [`Document`] for JSON
//! documents, [`Chunks`] for streams. Compressed bodies are refused, so that a few bytes cannot
//! expand to many.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use accord_contract::{Code, Failure, Wire};
use axum::body::Body;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::HeaderMap;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use tokio::time::{Instant, Sleep};

use crate::{Door, Refusal};

/// A JSON document as it was sent. The setting `limits.body_bytes` limits its size.
#[derive(Clone, Debug)]
pub struct Document(pub Bytes);

/// A body that is read piece by piece. [`Chunks::within`] limits its size.
#[derive(Debug)]
pub struct Chunks(Body);

/// A body that fails when the client pauses too long or sends too slowly. Only time spent waiting
/// for the client counts; time in which the server is busy does not.
#[derive(Debug)]
pub struct TimedBody {
    body: Body,
    max_pause: Duration,
    /// The minimum average rate in bytes per second; 0 for none.
    rate: u64,
    received: u64,
    /// The time spent waiting for the client, up to the last piece.
    waited: Duration,
    /// The wait for the next piece, if one is under way.
    waiting: Option<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    since: Instant,
    until: Pin<Box<Sleep>>,
    /// Whether the wait ends early because of the minimum rate.
    is_too_slow: bool,
}

impl<D: Door> FromRequest<D> for Document {
    type Rejection = Refusal;

    async fn from_request(request: Request, host: &D) -> Result<Self, Refusal> {
        check_json(request.headers())?;
        let limit = host.settings().limits.body_bytes.0;
        Ok(Self(read_body(request.into_body(), limit).await?))
    }
}

impl Document {
    pub fn read<T: Wire>(&self) -> Result<T, Failure> {
        Ok(T::from_document(accord_canon::read(&self.0)?)?)
    }
}

impl<S: Sync> FromRequest<S> for Chunks {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &S) -> Result<Self, Refusal> {
        Ok(Self(request.into_body()))
    }
}

impl Chunks {
    /// Limits the body to `limit` bytes. Fails at once if `Content-Length` is larger.
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

/// Reads a whole body of at most `limit` bytes.
pub async fn read_body(body: Body, limit: u64) -> Result<Bytes, Failure> {
    check_announced(&body, limit)?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let read = Limited::new(body, most).collect().await;
    read.map(http_body_util::Collected::to_bytes).map_err(|error| broken(&*error, limit))
}

/// Refuses a body whose announced size exceeds the limit, before any of it is read.
fn check_announced(body: &Body, limit: u64) -> Result<(), Failure> {
    // The hint is exact for a body with Content-Length, and 0 for a chunked one, which is limited
    // while it is read.
    if body.size_hint().lower() > limit {
        return Err(too_large(limit));
    }
    Ok(())
}

/// Refuses a compressed body.
pub fn check_encoding(request: &Request) -> Result<(), Failure> {
    let sent = request.headers().get_all(CONTENT_ENCODING);
    let is_plain = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    if sent.iter().all(is_plain) {
        return Ok(());
    }
    let message = "this server does not accept compressed bodies";
    let failure = Failure::new(Code::HttpMediaType, message);
    Err(failure.suggesting("send the body uncompressed, without the header Content-Encoding"))
}

/// Refuses a text whose `Content-Type` names another media type, or another charset than UTF-8.
pub fn check_media_type(
    headers: &HeaderMap,
    is_known: impl Fn(&str) -> bool,
    takes: &'static str,
    send: &'static str,
) -> Result<(), Failure> {
    let Some(sent) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    let sent = sent.to_str().unwrap_or_default().to_ascii_lowercase();
    let mut parts = sent.split(';').map(str::trim);
    if !is_known(parts.next().unwrap_or_default()) {
        let suggestion = format!("send the header Content-Type: {send}");
        return Err(Failure::new(Code::HttpMediaType, takes).suggesting(suggestion));
    }
    let mut charsets = parts.filter_map(|part| part.strip_prefix("charset="));
    match charsets.find(|name| !matches!(name.trim_matches('"'), "utf-8" | "utf8")) {
        None => Ok(()),
        Some(name) => {
            let message = format!("this route accepts text in UTF-8, not in {name}");
            let failure = Failure::new(Code::HttpMediaType, message);
            Err(failure.suggesting("encode the body in UTF-8, and name that charset or none"))
        }
    }
}

/// Refuses a body whose `Content-Type` is not JSON.
fn check_json(headers: &HeaderMap) -> Result<(), Failure> {
    let is_json = |essence: &str| essence == "application/json" || essence.ends_with("+json");
    let takes = "this route accepts a JSON document";
    check_media_type(headers, is_json, takes, "application/json")
}

fn broken(error: &(dyn std::error::Error + 'static), limit: u64) -> Failure {
    // The handler sees an error that axum and hyper have wrapped, so its causes are searched.
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
    Failure::new(Code::HttpBodyBroken, "the connection was lost before the end of the body")
}

fn too_large(limit: u64) -> Failure {
    let message = format!("the body is larger than the limit of {limit} bytes");
    Failure::new(Code::InputTooLarge, message)
}

impl TimedBody {
    /// The client may pause for `max_pause` at a time, and must send `rate` bytes per second on
    /// average. The first `max_pause` seconds do not count towards the average.
    pub fn new(body: Body, max_pause: Duration, rate: u64) -> Self {
        Self { body, max_pause, rate, received: 0, waited: Duration::ZERO, waiting: None }
    }

    fn start_waiting(&self) -> Waiting {
        // Received bytes earn time at the minimum rate. With a rate of 0 the division gives `None`,
        // and only pauses are limited.
        let earned =
            self.received.saturating_mul(1_000).checked_div(self.rate).map(Duration::from_millis);
        let left = earned.map(|earned| (self.max_pause + earned).saturating_sub(self.waited));
        let timeout = left.unwrap_or(self.max_pause).min(self.max_pause);
        Waiting {
            since: Instant::now(),
            until: Box::pin(tokio::time::sleep(timeout)),
            is_too_slow: timeout < self.max_pause,
        }
    }

    fn timeout(&self, is_too_slow: bool) -> Failure {
        let message = if is_too_slow {
            format!("the body was sent at less than {} bytes per second", self.rate)
        } else {
            let seconds = self.max_pause.as_secs_f32();
            format!("no bytes of the body were received for {seconds} s")
        };
        Failure::new(Code::HttpBodyTimeout, message)
    }
}

impl HttpBody for TimedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // The body is polled before the timer. Bytes that are here count, even if the timer ran out
        // while the server was busy.
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            if let Some(waiting) = self.waiting.take() {
                self.waited += waiting.since.elapsed();
            }
            if let Some(Ok(data)) = frame.as_ref().map(|frame| frame.as_ref().map(Frame::data_ref))
            {
                self.received += data.map_or(0, |data| data.len() as u64);
            }
            return Poll::Ready(frame);
        }
        let mut waiting = self.waiting.take().unwrap_or_else(|| self.start_waiting());
        match waiting.until.as_mut().poll(context) {
            Poll::Ready(()) => {
                let failure = self.timeout(waiting.is_too_slow);
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
        let pause = Duration::from_secs(5);
        let body = Body::new(TimedBody::new(dripping(pieces), pause, rate));
        Ok(read_body(body, 1_000_000).await?.len())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_drips_is_ended_however_short_its_pauses_are() {
        assert_eq!(read(1_000, 10).await, Ok(10_000), "as fast as it must be");
        assert_eq!(read(1_000, 0).await, Ok(10_000), "nothing is asked for");
        let began = Instant::now();
        let failure = read(1_000, 20).await.unwrap_err();
        assert_eq!(failure.code, Code::HttpBodyTimeout);
        assert!(failure.message.contains("20 bytes per second"), "{failure:?}");
        // Five seconds are given, and half a second more with each piece: the tenth comes too late.
        assert_eq!(began.elapsed().as_secs(), 9);
        assert_eq!(read(8, 20).await, Ok(80), "a short one may be slow");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_busy_is_no_fault_of_the_sender() {
        let pause = Duration::from_secs(5);
        let mut body = Body::new(TimedBody::new(dripping(20), pause, 10));
        for _ in 0..20 {
            tokio::time::sleep(Duration::from_secs(60)).await;
            assert!(body.frame().await.unwrap().is_ok());
        }
    }
}

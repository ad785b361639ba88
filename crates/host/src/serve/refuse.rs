//! Refusals that are written as bytes, because the HTTP layer is not there or does not know them.

use std::time::Duration;

use accord_contract::codes::{Code, Failure, Protocol};
use hyper::HeaderMap;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use crate::http::reply::status_of;
use crate::http::{CORRELATION, Correlation};

/// How long a client has to take a refusal.
const TELLING: Duration = Duration::from_secs(2);

/// The whole answer to a request that is refused, after which the connection ends.
pub(super) fn answer(failure: &Failure) -> Vec<u8> {
    let correlation = Correlation::of(&HeaderMap::new());
    let status = status_of(failure.code);
    let body = failure.body(Protocol::Agentic, correlation.exchange());
    let body = body.to_string();
    tracing::info!(
        correlation_id = correlation.as_str(),
        code = %failure.code,
        status = status.as_u16(),
        "{}",
        failure.message
    );
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n{CORRELATION}: {}\r\n\r\n{body}",
        body.len(),
        correlation.as_str(),
    )
    .into_bytes()
}

/// What the HTTP layer means by a refusal of its own.
pub(super) fn of_head(head: &[u8]) -> Failure {
    // "HTTP/1.1 431 …"
    match head.get(9..12) {
        Some(b"431" | b"414") => Failure::new(
            Code::HttpHeadersTooLarge,
            "the path and headers of the request are larger than the limit",
        ),
        _ => Failure::new(Code::HttpMalformed, "the request is not HTTP/1.1"),
    }
}

/// There is no room for another connection.
pub(super) fn too_many(limit: usize) -> Failure {
    let message = format!("the server has {limit} connections already");
    Failure::new(Code::HttpTooManyConnections, message)
}

/// Tells a client that it is refused, and closes.
pub(super) async fn tell(stream: TcpStream, tls: Option<TlsAcceptor>, failure: &Failure) {
    let telling = async {
        match tls {
            None => say(stream, failure).await,
            Some(tls) => say(tls.accept(stream).await?, failure).await,
        }
    };
    // A client that does not listen is not told.
    drop(tokio::time::timeout(TELLING, telling).await);
}

async fn say(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    failure: &Failure,
) -> std::io::Result<()> {
    stream.write_all(&answer(failure)).await?;
    stream.shutdown().await?;
    // What the client has sent must be read, or the system throws the answer away with it.
    let mut unread = [0; 4096];
    while stream.read(&mut unread).await? > 0 {}
    Ok(())
}

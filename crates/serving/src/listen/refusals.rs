//! Refusals that are written as bytes, because no request reached the HTTP layer.

use std::time::Duration;

use accord_contract::{Code, Failure, Protocol};
use hyper::HeaderMap;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use crate::reply::status_of;
use crate::{CORRELATION, Correlation, errors};

/// How long a client may take to receive a refusal.
const SEND_TIMEOUT: Duration = Duration::from_secs(2);

/// The complete answer to a refused request. The connection ends after it.
pub(super) fn answer(failure: &Failure, protocol: Protocol) -> Vec<u8> {
    let correlation = Correlation::of(&HeaderMap::new());
    let status = status_of(failure.code);
    let body = errors::body(failure, protocol, &correlation);
    let (id, code) = (correlation.as_str(), failure.code);
    tracing::info!(correlation_id = id, %code, status = status.as_u16(), "{}", failure.message);
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n{CORRELATION}: {id}\r\n\r\n{body}",
        body.len(),
    )
    .into_bytes()
}

/// The failure that a refusal of hyper means.
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

pub(super) fn too_many_connections(limit: usize) -> Failure {
    let message = format!("the server has {limit} open connections, which is its limit");
    Failure::new(Code::HttpTooManyConnections, message)
}

/// Sends a refusal, and closes the connection.
pub(super) async fn send(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    failure: &Failure,
    protocol: Protocol,
) {
    let sending = async {
        match tls {
            None => write(stream, failure, protocol).await,
            Some(tls) => write(tls.accept(stream).await?, failure, protocol).await,
        }
    };
    // A client that does not read its refusal does without.
    drop(tokio::time::timeout(SEND_TIMEOUT, sending).await);
}

async fn write(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    failure: &Failure,
    protocol: Protocol,
) -> std::io::Result<()> {
    stream.write_all(&answer(failure, protocol)).await?;
    stream.shutdown().await?;
    // If the connection were closed with unread bytes, the system would discard the answer.
    let mut unread = [0; 4096];
    while stream.read(&mut unread).await? > 0 {}
    Ok(())
}

//! A WebSocket to the server under test. It keeps frames, their order and the code of the close.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use accord_process::Cancel;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tungstenite::handshake::HandshakeError;
use tungstenite::handshake::client::generate_key;
use tungstenite::http::{self, Uri};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, Message, WebSocket, client::client_with_config};

use crate::exchange::ExchangeError;

pub(super) struct Socket {
    inner: WebSocket<Stream>,
    closed: Option<Closed>,
}

pub(super) enum Opened {
    Socket(Box<Socket>),
    /// The server answered the upgrade with another status.
    Refused(u16),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Closed {
    /// The code: 1005 for a close frame without one, 1006 without a close frame.
    pub(super) code: u16,
    pub(super) reason: String,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Arrival {
    Text(String),
    Binary(Vec<u8>),
    Closed(Closed),
}

#[derive(Clone, Copy)]
pub(super) struct Patience<'a> {
    pub(super) until: Instant,
    pub(super) cancel: Option<&'a Cancel>,
}

impl Patience<'_> {
    /// How long to wait before looking at the limits again.
    fn slice(&self, what: &str) -> Result<Duration, ExchangeError> {
        if self.cancel.is_some_and(Cancel::is_cancelled) {
            return Err(ExchangeError::Cancelled);
        }
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ExchangeError::TimedOut(format!("{what} did not come in time")));
        }
        Ok(left.min(SLICE))
    }
}

impl Socket {
    /// Opens a socket. The URI has the scheme `ws` or `wss`.
    pub(super) fn open(
        uri: &Uri,
        headers: &[(String, String)],
        patience: Patience<'_>,
    ) -> Result<Opened, ExchangeError> {
        let stream = Stream::connect(uri, patience)?;
        let authority = uri.authority().map(http::uri::Authority::as_str).unwrap_or_default();
        let mut request = http::Request::builder()
            .uri(uri)
            .header("host", authority)
            .header("connection", "Upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-version", "13")
            .header("sec-websocket-key", generate_key())
            .header("user-agent", concat!("accord-check/", env!("CARGO_PKG_VERSION")));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.body(()).map_err(|error| {
            ExchangeError::Broken(format!("the upgrade cannot be sent: {error}"))
        })?;
        let config = WebSocketConfig::default().max_message_size(Some(LARGEST_MESSAGE));
        let mut shaken = client_with_config(request, stream, Some(config));
        loop {
            match shaken {
                Ok((inner, _)) => {
                    let socket = Self { inner, closed: None };
                    return Ok(Opened::Socket(Box::new(socket)));
                }
                Err(HandshakeError::Interrupted(mut middle)) => {
                    let slice = patience.slice("the answer to the upgrade")?;
                    middle.get_mut().get_mut().wait_at_most(slice)?;
                    shaken = middle.handshake();
                }
                Err(HandshakeError::Failure(Error::Http(answer))) => {
                    return Ok(Opened::Refused(answer.status().as_u16()));
                }
                Err(HandshakeError::Failure(error)) => {
                    let why = format!("the answer to the upgrade cannot be read: {error}");
                    return Err(ExchangeError::Broken(why));
                }
            }
        }
    }

    /// Sends a message. What a server sent before it closed the connection is read afterwards.
    pub(super) fn send(&mut self, message: Message) {
        if self.closed.is_none() {
            // The end of the connection is noticed by the next read, together with the close frame.
            let _ = self.inner.send(message);
        }
    }

    /// Waits for what arrives next.
    pub(super) fn read(
        &mut self,
        patience: Patience<'_>,
        what: &str,
    ) -> Result<Arrival, ExchangeError> {
        if let Some(closed) = &self.closed {
            return Ok(Arrival::Closed(closed.clone()));
        }
        loop {
            let slice = patience.slice(what)?;
            self.inner.get_mut().wait_at_most(slice)?;
            let arrived = match self.inner.read() {
                Ok(Message::Text(text)) => Arrival::Text(text.as_str().to_owned()),
                Ok(Message::Binary(bytes)) => Arrival::Binary(bytes.to_vec()),
                Ok(Message::Close(frame)) => {
                    let frame = frame.map(|frame| (frame.code.into(), frame.reason.to_string()));
                    let (code, reason) = frame.unwrap_or((NO_CODE, String::new()));
                    Arrival::Closed(Closed { code, reason })
                }
                Ok(_) => continue,
                Err(Error::Io(error)) if is_pause(&error) => continue,
                Err(Error::Capacity(error)) => {
                    return Err(ExchangeError::Broken(format!("a frame is too large: {error}")));
                }
                Err(Error::Utf8(error)) => {
                    return Err(ExchangeError::Broken(format!("a frame is no text: {error}")));
                }
                // Every other error ends the connection without a close frame.
                Err(_) => Arrival::Closed(Closed { code: NO_CLOSE_FRAME, reason: String::new() }),
            };
            if let Arrival::Closed(closed) = &arrived {
                self.closed = Some(closed.clone());
                // Sends the answer to the close frame.
                let _ = self.inner.flush();
            }
            return Ok(arrived);
        }
    }

    pub(super) fn close(&mut self) {
        if self.closed.is_none() {
            let _ = self.inner.close(None);
            let _ = self.inner.flush();
        }
    }
}

/// A connection, with or without TLS.
enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    fn connect(uri: &Uri, patience: Patience<'_>) -> Result<Self, ExchangeError> {
        let unreachable = |error: &dyn std::fmt::Display| {
            ExchangeError::Unreachable(format!("the server cannot be reached: {error}"))
        };
        let is_tls = uri.scheme_str() == Some("wss");
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let addresses = (host, port).to_socket_addrs().map_err(|error| unreachable(&error))?;
        let mut failed = None;
        for address in addresses {
            let left = patience.until.saturating_duration_since(Instant::now());
            match TcpStream::connect_timeout(&address, left.max(SLICE)) {
                Ok(stream) => {
                    // Frames are small, and each must leave at once.
                    stream.set_nodelay(true).map_err(|error| unreachable(&error))?;
                    return if is_tls {
                        Self::with_tls(stream, host)
                    } else {
                        Ok(Self::Plain(stream))
                    };
                }
                Err(error) => failed = Some(error),
            }
        }
        Err(match failed {
            Some(error) => unreachable(&error),
            None => unreachable(&"its name has no address"),
        })
    }

    fn with_tls(stream: TcpStream, host: &str) -> Result<Self, ExchangeError> {
        let broken = |error: &dyn std::fmt::Display| {
            ExchangeError::Unreachable(format!("TLS cannot be used: {error}"))
        };
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| broken(&error))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from(host.to_owned()).map_err(|error| broken(&error))?;
        let connection = ClientConnection::new(Arc::new(config), name);
        let connection = connection.map_err(|error| broken(&error))?;
        Ok(Self::Tls(Box::new(StreamOwned::new(connection, stream))))
    }

    fn wait_at_most(&self, limit: Duration) -> Result<(), ExchangeError> {
        let stream = match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => stream.get_ref(),
        };
        stream.set_read_timeout(Some(limit)).map_err(|error| {
            ExchangeError::Broken(format!("the connection has no time limit: {error}"))
        })
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

/// Whether nothing arrived within the time of a read.
fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// A read ends after this time, to look at the limits.
const SLICE: Duration = Duration::from_millis(100);
const LARGEST_MESSAGE: usize = 8 * 1024 * 1024;
/// A close frame without a code.
const NO_CODE: u16 = 1005;
/// The end of a connection without a close frame.
pub(super) const NO_CLOSE_FRAME: u16 = 1006;

//! A WebSocket over an upgraded connection: messages in, texts out, and its end.
//!
//! The protocol itself is tungstenite's, which does no I/O of its own. It is polled over the
//! connection here, so that a limit can change while the socket is open, and so that what a client
//! still sends after a refusal can be read away.
//!
//! Invariants:
//! - a call that is cancelled loses no message;
//! - a message over the limit is refused by its announced size, before it is in memory.

use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use accord_live_core::frame::Close;
use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::time::timeout;
use tungstenite::error::{CapacityError, ProtocolError};
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig, WebSocketContext};
use tungstenite::{Error, Message, Utf8Bytes};

/// Bytes that are read at once. Thousands of sockets are idle, so it is small.
const READ_BUFFER: usize = 4 * 1024;
/// Bytes of texts that are collected before they are written.
const WRITE_BUFFER: usize = 16 * 1024;

/// How long the other side may take to answer a close frame.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long what a refused client still sends is read.
const LINGER: Duration = Duration::from_secs(10);

/// A WebSocket.
pub(super) struct WebSocket<S> {
    stream: S,
    context: WebSocketContext,
    /// Whether the other side can no longer be understood.
    is_broken: bool,
}

/// What came in.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A message, text or binary.
    Message(Bytes),
    /// A message of this size, which is over the limit.
    TooLarge(usize),
    /// Something that is no WebSocket message.
    Malformed(Close),
    /// Nothing more: the other side closed the socket, or the connection is lost.
    End,
}

/// The connection is lost.
#[derive(Debug)]
pub(super) struct Lost;

impl<S: AsyncRead + AsyncWrite + Unpin> WebSocket<S> {
    /// A socket over a connection after the handshake. `limit` is the largest message; 0 for none.
    pub(super) fn new(stream: S, limit: usize) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER)
            .write_buffer_size(WRITE_BUFFER);
        let context = WebSocketContext::new(Role::Server, Some(config));
        let mut socket = Self { stream, context, is_broken: false };
        socket.set_limit(limit);
        socket
    }

    /// Sets the largest message; 0 for none.
    pub(super) fn set_limit(&mut self, limit: usize) {
        let limit = (limit > 0).then_some(limit);
        self.context.set_config(|config| {
            config.max_message_size = limit;
            config.max_frame_size = limit;
        });
    }

    /// The next message.
    pub(super) async fn next(&mut self) -> Incoming {
        poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Incoming> {
        loop {
            let mut stream = Blocking { stream: &mut self.stream, context };
            let incoming = match self.context.read(&mut stream) {
                Ok(Message::Text(text)) => Incoming::Message(text.into()),
                Ok(Message::Binary(bytes)) => Incoming::Message(bytes),
                // A ping or a close frame is answered by the next read.
                Ok(_) => continue,
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Poll::Pending;
                }
                Err(Error::Capacity(CapacityError::MessageTooLong { size, .. })) => {
                    self.is_broken = true;
                    Incoming::TooLarge(size)
                }
                Err(Error::Utf8(_)) => {
                    self.is_broken = true;
                    Incoming::Malformed(Close::NOT_UTF8)
                }
                Err(Error::Protocol(error)) if error != GONE => {
                    self.is_broken = true;
                    Incoming::Malformed(Close::PROTOCOL)
                }
                Err(_) => Incoming::End,
            };
            return Poll::Ready(incoming);
        }
    }

    /// Sends texts, one message each.
    pub(super) async fn send(&mut self, texts: impl Iterator<Item = Arc<str>>) -> Result<(), Lost> {
        for text in texts {
            let bytes = Bytes::from_owner(Text(text));
            let text = Utf8Bytes::try_from(bytes).map_err(|_| Lost)?;
            self.write(Some(Message::Text(text))).await?;
        }
        self.write(None).await
    }

    /// Queues a message, or waits until everything queued is sent.
    async fn write(&mut self, mut message: Option<Message>) -> Result<(), Lost> {
        poll_fn(|context| {
            let mut stream = Blocking { stream: &mut self.stream, context };
            let written = match message.take() {
                Some(message) => self.context.write(&mut stream, message),
                None => self.context.flush(&mut stream),
            };
            match written {
                Ok(()) => Poll::Ready(Ok(())),
                // The message is queued, so the next poll sends the queue.
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
                Err(_) => Poll::Ready(Err(Lost)),
            }
        })
        .await
    }

    /// Closes the socket, and waits for the other side to do so.
    ///
    /// Clauses: GGUI-TRANSPORT-CLOSE.
    pub(super) async fn close(mut self, close: Close) {
        let frame = close.code.map(|code| CloseFrame {
            code: code.into(),
            reason: Utf8Bytes::from_static(close.reason),
        });
        if self.write(Some(Message::Close(frame))).await.is_err() || self.write(None).await.is_err()
        {
            return;
        }
        if self.is_broken {
            // Its answer cannot be found in what it still sends. If the connection were closed with
            // unread bytes, the system would discard the close frame.
            drop(self.stream.shutdown().await);
            drop(timeout(LINGER, self.read_away()).await);
            return;
        }
        let answered =
            async { while !matches!(self.next().await, Incoming::End) && !self.is_broken {} };
        drop(timeout(CLOSE_TIMEOUT, answered).await);
        drop(timeout(CLOSE_TIMEOUT, self.stream.shutdown()).await);
    }

    /// Ends a socket that the other side closed.
    pub(super) async fn end(mut self) {
        drop(timeout(CLOSE_TIMEOUT, self.stream.shutdown()).await);
    }

    async fn read_away(&mut self) {
        let mut unread = [0; READ_BUFFER];
        while matches!(self.stream.read(&mut unread).await, Ok(1..)) {}
    }
}

/// What tungstenite says when the connection ends without a close frame.
const GONE: ProtocolError = ProtocolError::ResetWithoutClosingHandshake;

/// A text as the owner of its bytes.
struct Text(Arc<str>);

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// A connection as tungstenite reads and writes it: where it would have to wait, it fails with
/// `WouldBlock`, and the task is woken later.
struct Blocking<'s, 'c, 'w, S> {
    stream: &'s mut S,
    context: &'c mut Context<'w>,
}

fn ready<T>(polled: Poll<io::Result<T>>) -> io::Result<T> {
    match polled {
        Poll::Ready(result) => result,
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
    }
}

impl<S: AsyncRead + Unpin> Read for Blocking<'_, '_, '_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(buffer);
        ready(Pin::new(&mut *self.stream).poll_read(self.context, &mut buffer))?;
        Ok(buffer.filled().len())
    }
}

impl<S: AsyncWrite + Unpin> Write for Blocking<'_, '_, '_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        ready(Pin::new(&mut *self.stream).poll_write(self.context, bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        ready(Pin::new(&mut *self.stream).poll_flush(self.context))
    }
}

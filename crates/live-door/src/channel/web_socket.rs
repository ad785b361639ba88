//! A WebSocket over an upgraded connection: messages in, texts out, and its end.
//!
//! The protocol itself is tungstenite's, which does no I/O of its own. It is polled over the
//! connection here, so that a limit can change while the socket is open, and so that what a client
//! still sends after a refusal can be read away.
//!
//! Invariants:
//! - a call that is cancelled loses no message;
//! - a message over the limit is refused by its announced size, before it is in memory;
//! - a socket that waits holds no large buffer, whatever it has received and sent before.

use std::io::{self, Read, Write};
use std::task::{Context, Poll};
use std::{future::poll_fn, pin::Pin, sync::Arc, time::Duration};

use accord_live_core::frame::Close;
use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::time::timeout;
use tungstenite::error::{CapacityError, ProtocolError};
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig, WebSocketContext};
use tungstenite::{Error, Message, Utf8Bytes};

use super::frame_edges::FrameEdges;

/// Bytes that are read at once. Thousands of sockets are idle, so it is small.
const READ_BUFFER: usize = 4 * 1024;
/// Bytes of texts that are collected before they are written.
const WRITE_BUFFER: usize = 16 * 1024;
/// Bytes of a message after which the buffers of a socket are given back.
const LARGE: usize = 16 * 1024;

/// How long the other side may take to answer a close frame.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long what a refused client still sends is read.
const LINGER: Duration = Duration::from_secs(10);

pub(super) struct WebSocket<S> {
    stream: S,
    context: WebSocketContext,
    limit: usize,
    /// What was received and not handed to the context yet.
    ahead: Vec<u8>,
    edges: FrameEdges,
    /// Whether a large message went through the buffers of the context, which keep their size.
    is_large: bool,
    /// Whether the other side can no longer be understood.
    is_broken: bool,
}

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

#[derive(Debug)]
pub(super) struct Lost;

impl<S: AsyncRead + AsyncWrite + Unpin> WebSocket<S> {
    /// A socket over a connection after the handshake. `limit` is the largest message; 0 for none.
    pub(super) fn new(stream: S, limit: usize) -> Self {
        Self {
            stream,
            context: context(limit),
            limit,
            ahead: Vec::new(),
            edges: FrameEdges::default(),
            is_large: false,
            is_broken: false,
        }
    }

    /// Sets the largest message; 0 for none.
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        self.context.set_config(|config| limit_config(config, limit));
    }

    pub(super) async fn next(&mut self) -> Incoming {
        poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Incoming> {
        loop {
            let (ahead, edges) = (&mut self.ahead, &mut self.edges);
            let mut stream = Blocking { stream: &mut self.stream, ahead, edges, context };
            let incoming = match self.context.read(&mut stream) {
                Ok(Message::Text(text)) => self.received(text.into()),
                Ok(Message::Binary(bytes)) => self.received(bytes),
                // A ping or a close frame is answered by the next read.
                Ok(_) => continue,
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.give_back_buffers(context);
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

    fn received(&mut self, bytes: Bytes) -> Incoming {
        self.is_large |= bytes.len() > LARGE;
        Incoming::Message(bytes)
    }

    /// Replaces the context of a socket that waits, if its buffers are large. It has nothing of a
    /// message then: neither one that comes in nor one that goes out.
    fn give_back_buffers(&mut self, context: &mut Context<'_>) {
        let is_quiet = self.ahead.is_empty() && self.edges.is_between_messages();
        if !self.is_large || !is_quiet || self.is_broken || !self.context.can_write() {
            return;
        }
        let (ahead, edges) = (&mut self.ahead, &mut self.edges);
        let mut stream = Blocking { stream: &mut self.stream, ahead, edges, context };
        if self.context.flush(&mut stream).is_ok() {
            self.context = self::context(self.limit);
            self.is_large = false;
        }
    }

    pub(super) async fn send(&mut self, texts: impl Iterator<Item = Arc<str>>) -> Result<(), Lost> {
        for text in texts {
            self.is_large |= text.len() > LARGE;
            let bytes = Bytes::from_owner(Text(text));
            let text = Utf8Bytes::try_from(bytes).map_err(|_| Lost)?;
            self.write(Some(Message::Text(text))).await?;
        }
        self.write(None).await
    }

    /// Queues a message, or waits until everything queued is sent.
    async fn write(&mut self, mut message: Option<Message>) -> Result<(), Lost> {
        poll_fn(|context| {
            let (ahead, edges) = (&mut self.ahead, &mut self.edges);
            let mut stream = Blocking { stream: &mut self.stream, ahead, edges, context };
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
        let reason = Utf8Bytes::from_static(close.reason);
        let frame = close.code.map(|code| CloseFrame { code: code.into(), reason });
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

fn context(limit: usize) -> WebSocketContext {
    let mut config =
        WebSocketConfig::default().read_buffer_size(READ_BUFFER).write_buffer_size(WRITE_BUFFER);
    limit_config(&mut config, limit);
    WebSocketContext::new(Role::Server, Some(config))
}

fn limit_config(config: &mut WebSocketConfig, limit: usize) {
    let limit = (limit > 0).then_some(limit);
    config.max_message_size = limit;
    config.max_frame_size = limit;
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
    ahead: &'s mut Vec<u8>,
    edges: &'s mut FrameEdges,
    context: &'c mut Context<'w>,
}

fn ready<T>(polled: Poll<io::Result<T>>) -> io::Result<T> {
    match polled {
        Poll::Ready(result) => result,
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
    }
}

impl<S: AsyncRead + Unpin> Read for Blocking<'_, '_, '_, S> {
    /// Reads up to the end of a frame.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let payload = self.edges.payload_left().min(buffer.len());
        if self.ahead.is_empty() && payload > 0 {
            let read = self.receive(&mut buffer[..payload])?;
            self.edges.pass(&buffer[..read]);
            return Ok(read);
        }
        if self.ahead.is_empty() {
            let mut some = [0; READ_BUFFER];
            let read = self.receive(&mut some)?;
            self.ahead.extend_from_slice(&some[..read]);
        }
        let most = self.ahead.len().min(buffer.len());
        let passed = self.edges.pass(&self.ahead[..most]);
        buffer[..passed].copy_from_slice(&self.ahead[..passed]);
        match passed == self.ahead.len() {
            // Given back, because thousands of sockets have one.
            true => *self.ahead = Vec::new(),
            false => drop(self.ahead.drain(..passed)),
        }
        Ok(passed)
    }
}

impl<S: AsyncRead + Unpin> Blocking<'_, '_, '_, S> {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
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

#[cfg(test)]
mod tests {
    use tokio::io::duplex;
    use tungstenite::protocol::frame::Frame;
    use tungstenite::protocol::frame::coding::{Data, OpCode};

    use super::*;

    /// A text message of a client, in one frame or two.
    fn message(text: &str, frames: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let parts: Vec<&[u8]> = text.as_bytes().chunks(text.len().div_ceil(frames)).collect();
        for (index, part) in parts.iter().enumerate() {
            let kind = if index == 0 { Data::Text } else { Data::Continue };
            let is_last = index + 1 == parts.len();
            let mut frame = Frame::message(part.to_vec(), OpCode::Data(kind), is_last);
            frame.header_mut().mask = Some([7, 1, 9, 3]);
            frame.format(&mut bytes).unwrap();
        }
        bytes
    }

    #[tokio::test]
    async fn a_socket_that_waits_has_given_its_buffers_back() {
        let (mut client, server) = duplex(64 * 1024);
        let mut socket = WebSocket::new(server, 1 << 20);
        let (large, small) = ("l".repeat(1 << 20), "s".to_owned());
        let sent = [large.clone(), small.clone(), small.clone(), large.clone(), small.clone()];
        let bytes: Vec<u8> = sent.iter().flat_map(|text| message(text, 2)).collect();
        let (half, rest) = bytes.split_at(bytes.len() - 3);
        let half = half.to_vec();
        let sending = tokio::spawn(async move {
            client.write_all(&half).await.unwrap();
            client
        });
        for expected in &sent[..4] {
            let Incoming::Message(found) = socket.next().await else { panic!("no message") };
            assert!(found == expected.as_bytes());
            assert!(socket.is_large);
        }
        let mut client = sending.await.unwrap();
        // The last message has begun, so the buffers stay.
        assert!(timeout(Duration::from_millis(50), socket.next()).await.is_err());
        assert!(socket.is_large);
        client.write_all(rest).await.unwrap();
        assert!(
            matches!(socket.next().await, Incoming::Message(found) if found == small.as_bytes())
        );
        assert!(timeout(Duration::from_millis(50), socket.next()).await.is_err());
        assert!(!socket.is_large && socket.ahead.capacity() == 0, "they were given back");
        // The same for what is sent; and the socket goes on as before.
        let text: Arc<str> = large.as_str().into();
        let reading = tokio::spawn(async move {
            let mut read = vec![0; (1 << 20) + 10];
            client.read_exact(&mut read).await.unwrap();
            client.write_all(&message("again", 1)).await.unwrap();
            client
        });
        socket.send(std::iter::once(text)).await.unwrap();
        assert!(socket.is_large);
        let again = socket.next().await;
        assert!(matches!(again, Incoming::Message(found) if found == b"again"[..]));
        assert!(timeout(Duration::from_millis(50), socket.next()).await.is_err());
        assert!(!socket.is_large);
        drop(reading.await.unwrap());
    }
}

//! A client that costs as little as possible: frames are made once, and answers are not parsed
//! further than needed.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A socket of the channel.
pub(crate) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// How much of the buffer was taken.
    taken: usize,
}

impl Client {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        let request = format!(
            "GET /ws HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.expect("a request");
        let mut client = Self { stream, buffer: Vec::new(), taken: 0 };
        let end = loop {
            if let Some(end) = client.buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
            client.fill().await;
        };
        assert!(client.buffer.starts_with(b"HTTP/1.1 101"), "no upgrade");
        client.taken = end;
        client
    }

    /// Subscribes to a session. Returns the payload of the answer.
    pub(crate) async fn subscribe(&mut self, session: &str, from: Option<u64>) -> Value {
        let mut payload = json!({"sessionId": session, "appId": "shop"});
        if let Some(from) = from {
            payload["fromSeq"] = from.into();
        }
        let frame = json!({"type": "subscribe", "payload": payload, "requestId": "s"});
        self.send(&framed(&frame.to_string())).await;
        let ack: Value = serde_json::from_slice(self.next().await).expect("a frame");
        assert_eq!(ack["type"], "ack", "{ack}");
        ack["payload"].clone()
    }

    /// Sends a frame that was made before.
    pub(crate) async fn send(&mut self, frame: &[u8]) {
        self.stream.write_all(frame).await.expect("it is sent");
    }

    /// The next frame.
    pub(crate) async fn next(&mut self) -> &[u8] {
        loop {
            if let Some((start, end)) = self.complete() {
                self.taken = end;
                return &self.buffer[start..end];
            }
            self.fill().await;
        }
    }

    /// The place of the next whole message in the buffer.
    fn complete(&self) -> Option<(usize, usize)> {
        let bytes = &self.buffer[self.taken..];
        let short = usize::from(*bytes.get(1)?);
        let (head, length) = match short {
            126 => (4, usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?))),
            127 => {
                let length = u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?);
                (10, usize::try_from(length).ok()?)
            }
            short => (2, short),
        };
        assert_eq!(bytes[0], 0x81, "a text message");
        let start = self.taken + head;
        (self.buffer.len() >= start + length).then_some((start, start + length))
    }

    async fn fill(&mut self) {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        let read = self.stream.read_buf(&mut self.buffer).await.expect("bytes");
        assert!(read > 0, "the server closed the connection");
    }
}

/// A text message of a client. Its mask is zero, so that the text stays as it is.
pub(crate) fn framed(text: &str) -> Vec<u8> {
    let mut frame = vec![0x81];
    match u16::try_from(text.len()).expect("a short frame") {
        short @ 0..126 => frame.push(0x80 | short.to_le_bytes()[0]),
        long => {
            frame.push(0x80 | 126);
            frame.extend(long.to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(text.bytes());
    frame
}

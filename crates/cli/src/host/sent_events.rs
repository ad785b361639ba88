//! Server-sent events of a host, as they arrive.

use super::answer::Streamed;
use super::{Connection, HostRequest};
use crate::Result;

/// A stream of server-sent events.
pub(crate) struct SentEvents {
    answer: Streamed,
    /// What arrived, and is not read yet. A piece can end anywhere, also in the middle of a line.
    held: Vec<u8>,
    /// The id that the next event has.
    id: Option<String>,
}

/// What the lines of a stream say.
pub(crate) enum Sent {
    Event {
        /// The place from which a client resumes, if the host named one.
        id: Option<String>,
        data: String,
    },
    Comment(String),
}

impl SentEvents {
    pub(crate) async fn open(host: &Connection, request: HostRequest) -> Result<Self> {
        Ok(Self { answer: host.stream(request).await?, held: Vec::new(), id: None })
    }

    /// Waits for what is next; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Result<Option<Sent>> {
        loop {
            while let Some(end) = self.held.iter().position(|byte| *byte == b'\n') {
                let rest = self.held.split_off(end + 1);
                let line = std::mem::replace(&mut self.held, rest);
                let line = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
                if let Some(id) = line.strip_prefix("id: ") {
                    self.id = Some(id.to_owned());
                } else if let Some(data) = line.strip_prefix("data: ") {
                    return Ok(Some(Sent::Event { id: self.id.take(), data: data.to_owned() }));
                } else if let Some(comment) = line.strip_prefix(": ") {
                    return Ok(Some(Sent::Comment(comment.to_owned())));
                }
            }
            let Some(piece) = self.answer.next().await? else { return Ok(None) };
            self.held.extend_from_slice(&piece);
        }
    }

    /// The place that the host named without an event, as at the beginning of a stream.
    pub(crate) fn place(&self) -> Option<&str> {
        self.id.as_deref()
    }
}

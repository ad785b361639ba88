//! What a subscriber gets: the replay, then every frame of the session, in order.

use std::sync::Arc;

use accord_contract::codes::{Code, Failure};
use accord_contract::rule;
use accord_contract::time::Time;
use accord_live_core::SessionId;
use accord_live_core::frame::{Binding, Close, ServerFrame};
use accord_live_core::limits::REPLAY_PAGE;

use super::hub::{Attached, Entry, Taken};
use super::{Live, rows};

/// Commits that are taken at once.
const BATCH: usize = 64;

/// A frame to send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Frame {
    /// Its JSON text.
    pub text: Arc<str>,
    /// The number in the ledger, for a frame of the replay of the ledger: the `id` of an event
    /// stream.
    pub sequence: Option<u64>,
}

/// What a subscriber gets next.
#[derive(Clone, Debug, PartialEq)]
pub enum Delivery {
    /// Frames, in order.
    Frames(Vec<Frame>),
    /// Nothing more.
    End(End),
}

/// Why a subscription ends.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// A last frame.
    pub frame: Option<Frame>,
    /// The close frame of a socket.
    pub close: Close,
}

/// A subscriber of a session. It ends when it is dropped.
pub struct Subscriber {
    pub(crate) live: Live,
    pub(crate) binding: Binding,
    pub(crate) attached: Attached,
    /// Which session of the id it is.
    pub(crate) began: (Time, u64),
    /// The ledger that is replayed: after the first number, up to the second.
    pub(crate) ledger: Option<(u64, u64)>,
    /// The replay of the stream.
    pub(crate) replay: Vec<Frame>,
    /// The version and the stream up to which it has everything.
    pub(crate) version: u64,
    pub(crate) stream: u64,
    /// The event of the ledger after which it follows the ledger, if it does.
    pub(crate) follows: Option<u64>,
}

impl Frame {
    pub(crate) fn new(
        frame: &ServerFrame,
        version: &str,
        request_id: Option<&str>,
        sequence: Option<u64>,
    ) -> Self {
        Self { text: frame.encode(version, request_id).to_string().into(), sequence }
    }
}

impl Subscriber {
    /// What it is subscribed to.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// Whether a part of the replay is still to come.
    pub fn is_replaying(&self) -> bool {
        self.ledger.is_some() || !self.replay.is_empty()
    }

    /// Waits for what is next. A call that is cancelled loses nothing.
    ///
    /// # Errors
    /// When the store fails. The next call tries again.
    pub async fn next(&mut self) -> Result<Delivery, Failure> {
        loop {
            if let Some((after, through)) = self.ledger {
                let frames = self.ledger_page(after, through).await?;
                // The rows are gone when the session has expired meanwhile.
                let last = frames.last().and_then(|frame| frame.sequence);
                let rest = last.filter(|last| *last < through).map(|last| (last, through));
                self.ledger = rule!(rest; OnePageReplayed => None);
                if !frames.is_empty() {
                    return Ok(Delivery::Frames(frames));
                }
                continue;
            }
            if !self.replay.is_empty() {
                return Ok(Delivery::Frames(std::mem::take(&mut self.replay)));
            }
            // Before the frames are taken: those up to this version are in the tail.
            let newest = self.attached.newest();
            match self.attached.take(self.version, self.began, BATCH) {
                Taken::Entries(entries) if entries.is_empty() => {
                    self.version = self.version.max(newest);
                    let frames = self.followed().await?;
                    if !frames.is_empty() {
                        return Ok(Delivery::Frames(frames));
                    }
                    self.attached.changed_after(self.version).await;
                }
                Taken::Entries(entries) => {
                    let frames = self.frames_of(&entries).await?;
                    if let Some(last) = entries.last() {
                        (self.version, self.stream) = (last.version, last.stream);
                    }
                    if !frames.is_empty() {
                        return Ok(Delivery::Frames(frames));
                    }
                }
                Taken::Slow => return Ok(Delivery::End(self.slow())),
                Taken::Ended => {
                    return Ok(Delivery::End(End { frame: None, close: Close::SESSION_EXPIRED }));
                }
            }
        }
    }

    /// The frames of commits. Those that the tail has not come from the store.
    async fn frames_of(&self, entries: &[Entry]) -> Result<Vec<Frame>, Failure> {
        let mut frames = Vec::new();
        let mut stream = self.stream;
        for entry in entries {
            if entry.stream_before > stream {
                frames.extend(self.kept(stream, entry.stream_before).await?);
            }
            stream = entry.stream;
            let sent = entry.frames.iter();
            frames.extend(sent.map(|text| Frame { text: Arc::clone(text), sequence: None }));
        }
        Ok(frames)
    }

    /// The kept frames after a number, up to another.
    async fn kept(&self, after: u64, through: u64) -> Result<Vec<Frame>, Failure> {
        let session = self.session().clone();
        let read = self.live.read(move |unit| {
            let rows = unit.live_frames(&session, after, usize::MAX)?;
            rows.iter().filter(|row| row.seq <= through).map(rows::frame).collect()
        });
        let rows: Vec<_> = read.await.map_err(|error| error.into_failure())?;
        Ok(self.live.data_frames(self.session(), rows))
    }

    /// The next events of the ledger, for a subscriber that follows it.
    async fn followed(&mut self) -> Result<Vec<Frame>, Failure> {
        let Some(after) = self.follows else { return Ok(Vec::new()) };
        let frames = self.ledger_page(after, u64::MAX).await?;
        if let Some(last) = frames.last().and_then(|frame| frame.sequence) {
            self.follows = Some(last);
        }
        Ok(frames)
    }

    async fn ledger_page(&self, after: u64, through: u64) -> Result<Vec<Frame>, Failure> {
        let session = self.session().clone();
        let read = self.live.read(move |unit| {
            let rows = unit.live_ledger(&session, after, REPLAY_PAGE)?;
            rows.iter().filter(|row| row.seq <= through).map(rows::ledger).collect()
        });
        let rows: Vec<_> = read.await.map_err(|error| error.into_failure())?;
        let version = self.live.version_of(self.session());
        let frame = |row: accord_live_core::session::LedgerRow| {
            let seq = row.seq;
            Frame::new(&ServerFrame::RenderEvent(row), &version, None, Some(seq))
        };
        Ok(rows.into_iter().map(frame).collect())
    }

    /// The end of a subscriber that reads too slowly. It can connect again with its cursors.
    fn slow(&self) -> End {
        let message = "the subscriber reads too slowly; subscribe again with fromSeq";
        let failure = Failure::new(Code::LiveSubscriberSlow, message).with("fromSeq", self.stream);
        let error = ServerFrame::Error(Box::new(failure));
        let version = self.live.version_of(self.session());
        let frame = Some(Frame::new(&error, &version, None, None));
        End { frame, close: Close::SLOW_SUBSCRIBER }
    }

    fn session(&self) -> &SessionId {
        &self.binding.session_id
    }
}

impl std::fmt::Debug for Subscriber {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Subscriber");
        shown.field("binding", &self.binding).field("stream", &self.stream).finish_non_exhaustive()
    }
}

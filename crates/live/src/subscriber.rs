//! What a subscriber gets: the replay, then every frame of the session, in order.

use std::sync::Arc;

use accord_contract::{Code, Failure, Time, rule};
use accord_live_core::SessionId;
use accord_live_core::frame::{Binding, Close, ServerFrame};
use accord_live_core::limits::{REPLAY_PAGE, STREAM_PAGE};
use accord_live_core::session::{Head, LedgerRow, is_replayed};
use accord_store::FrameEntry;

use super::hub::{Attached, Entry, Taken};
use super::{Live, counts::add, rows, unit::UnitResult};

/// Commits that are taken at once.
const BATCH: usize = 64;

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Frame {
    pub text: Arc<str>,
    /// The number in the ledger, for a frame of the replay of the ledger: the `id` of an event
    /// stream.
    pub sequence: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Delivery {
    Frames(Vec<Frame>),
    End(End),
}

#[derive(Clone, Debug, PartialEq)]
pub struct End {
    pub frame: Option<Frame>,
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
    /// Frames that come before the replay of the stream.
    pub(crate) notices: Vec<Frame>,
    pub(crate) replay: Option<StreamReplay>,
    /// The version and the stream up to which it has everything.
    pub(crate) version: u64,
    pub(crate) stream: u64,
    /// The event of the ledger after which it follows the ledger, if it does.
    pub(crate) follows: Option<u64>,
}

/// What is still to come of the replay of a stream. It is read from the store in pages, so that a
/// subscriber holds one page and no more.
#[derive(Clone, Copy)]
pub(crate) struct StreamReplay {
    /// The number of the last frame that was read.
    after: u64,
    /// The position that the subscriber named.
    from: Option<u64>,
    /// The last number of the snapshot.
    through: u64,
    /// The last number that was evicted at the time of the snapshot.
    evicted: u64,
}

impl StreamReplay {
    /// The replay of a stream from a position, if there can be one.
    pub(crate) fn begin(head: &Head, from: Option<u64>) -> Option<Self> {
        let is_empty = from.is_some_and(|from| from >= head.stream) || head.stream == 0;
        // The core decides about the frame of the position itself.
        let after = from.unwrap_or(0).saturating_sub(1);
        let replay = Self { after, from, through: head.stream, evicted: head.evicted };
        (!is_empty).then_some(replay)
    }
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
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// Whether a part of the replay is still to come.
    pub fn is_replaying(&self) -> bool {
        self.ledger.is_some() || !self.notices.is_empty() || self.replay.is_some()
    }

    /// Waits for what is next. A call that is cancelled loses nothing. At the end of a replay there
    /// may be no frames: a caller that waits for the replay learns that it is over. Fails when the
    /// store fails. The next call tries again.
    pub async fn next(&mut self) -> Result<Delivery, Failure> {
        let delivery = self.wait().await?;
        match &delivery {
            Delivery::Frames(frames) => add(&self.live.inner.counters.frames, frames.len()),
            Delivery::End(end) if end.close == Close::SLOW_SUBSCRIBER => {
                add(&self.live.inner.counters.slow, 1);
            }
            Delivery::End(_) => {}
        }
        Ok(delivery)
    }

    async fn wait(&mut self) -> Result<Delivery, Failure> {
        loop {
            if let Some((after, through)) = self.ledger {
                let frames = self.ledger_page(after, through).await?;
                // The rows are gone when the session has expired meanwhile.
                let last = frames.last().and_then(|frame| frame.sequence);
                let rest = last.filter(|last| *last < through).map(|last| (last, through));
                self.ledger = rule!(rest; OnePageReplayed => None);
                if !frames.is_empty() || !self.is_replaying() {
                    return Ok(Delivery::Frames(frames));
                }
                continue;
            }
            if !self.notices.is_empty() {
                return Ok(Delivery::Frames(std::mem::take(&mut self.notices)));
            }
            if let Some(replay) = self.replay {
                let Some((frames, rest)) = self.stream_page(replay).await? else {
                    return Ok(Delivery::End(self.slow(replay.after)));
                };
                self.replay = rest;
                if !frames.is_empty() || !self.is_replaying() {
                    return Ok(Delivery::Frames(frames));
                }
                continue;
            }
            // Before the frames are taken: those up to this version are in the tail.
            let newest = match self.follows {
                Some(_) => self.attached.newest(),
                None => self.attached.newest_framed(),
            };
            match self.attached.take(self.version, self.began, BATCH) {
                Taken::Entries(entries) if entries.is_empty() => {
                    self.version = self.version.max(newest);
                    let frames = self.followed().await?;
                    if !frames.is_empty() {
                        return Ok(Delivery::Frames(frames));
                    }
                    match self.follows {
                        Some(_) => self.attached.changed_after(self.version).await,
                        None => self.attached.framed_after(self.version).await,
                    }
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
                Taken::Slow => return Ok(Delivery::End(self.slow(self.stream))),
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

    /// The next frames of the replay of the stream, and what is still to come. Nothing when frames
    /// of it were evicted meanwhile.
    async fn stream_page(
        &self,
        replay: StreamReplay,
    ) -> Result<Option<(Vec<Frame>, Option<StreamReplay>)>, Failure> {
        let session = self.session().clone();
        let read = self.live.read(move |unit| {
            let evicted = unit.live_session(&session)?.map_or(0, |row| row.session.head.evicted);
            let read = |after, limit| unit.live_frames(&session, after, limit);
            let place = |row: &FrameEntry| (row.seq, row.text.len());
            let rows = rows::page(replay.after, STREAM_PAGE, read, place)?;
            let rows = rows.iter().map(rows::frame).collect::<UnitResult<Vec<_>>>()?;
            Ok((rows, evicted))
        });
        let (mut rows, evicted) = read.await?;
        // A fresh subscriber has asked for no frame in particular.
        let is_asked_for = replay.from.is_some();
        if is_asked_for && evicted > replay.evicted && evicted > replay.after {
            return Ok(None);
        }
        let last = rows.last().map(|row| row.seq).filter(|last| *last < replay.through);
        let rest = last.map(|after| StreamReplay { after, ..replay });
        rows.retain(|row| is_replayed(row, replay.from, replay.through));
        Ok(Some((self.live.data_frames(self.session(), rows), rest)))
    }

    /// The kept frames after a number, up to another.
    async fn kept(&self, after: u64, through: u64) -> Result<Vec<Frame>, Failure> {
        let session = self.session().clone();
        let read = self.live.read(move |unit| {
            let rows = unit.live_frames(&session, after, usize::MAX)?;
            rows.iter().filter(|row| row.seq <= through).map(rows::frame).collect()
        });
        let rows: Vec<_> = read.await?;
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
            let mut rows = rows::ledger_page(unit, &session, after, REPLAY_PAGE)?;
            rows.retain(|row| row.seq <= through);
            Ok(rows)
        });
        let rows: Vec<_> = read.await?;
        let version = self.live.version_of(self.session());
        let frame = |row: LedgerRow| {
            let seq = row.seq;
            Frame::new(&ServerFrame::RenderEvent(row), &version, None, Some(seq))
        };
        Ok(rows.into_iter().map(frame).collect())
    }

    /// The end of a subscriber that reads too slowly. It can connect again with its cursors.
    /// `stream` is the number of the last frame that it got.
    fn slow(&self, stream: u64) -> End {
        let message = "the subscriber reads too slowly; subscribe again with fromSeq";
        let failure = Failure::new(Code::LiveSubscriberSlow, message).with("fromSeq", stream);
        let error = ServerFrame::Error(Box::new(failure));
        let frame = Frame::new(&error, &self.live.version_of(self.session()), None, None);
        End { frame: Some(frame), close: Close::SLOW_SUBSCRIBER }
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

//! Everything that happens in a session, for a person who watches: the frames of the channel, the
//! events of the ledger, and what the session waits for.
//!
//! A socket gets the ledger only as a replay, unless it asks to follow it. A watcher follows it,
//! too: with one frame `render_event` for each event, when it happens. `x-ask` and `x-answered` are
//! frames of Accord's own, and no socket gets them.

use accord_base::{Caller, Need};
use accord_contract::{Failure, Wire as _};
use accord_live_core::frame::{Binding, Role};
use accord_live_core::session::{StreamQuery, check_position};
use accord_live_core::{AppId, SessionId, operations::questions::LiveAsk, refuse};
use serde_json::json;

use super::subscriber::{Delivery, Frame, StreamReplay, Subscriber};
use super::{Live, hub::Purpose, unit::Snapshot};

/// Follows a session. It ends when it is dropped.
#[derive(Debug)]
pub struct Watcher {
    live: Live,
    subscriber: Subscriber,
    /// What the session waits for, as far as it was told.
    told: Option<LiveAsk>,
    /// Frames that were taken and not handed out yet.
    held: Option<Vec<Frame>>,
}

impl Live {
    /// Follows a session, which must exist: after a number of its ledger, and of its stream.
    /// Without numbers it begins now.
    pub async fn watch(
        &self,
        caller: &Caller,
        app: &AppId,
        session: &SessionId,
        after: StreamQuery,
    ) -> Result<Watcher, Failure> {
        self.enter(caller, app, Need::Read)?;
        // First, so that no commit after the snapshot is missed.
        let attached = self.inner.hub.attach(session, Purpose::Subscriber);
        let found = self.snapshot(session).await?;
        let mine = found.filter(|found| {
            found.row.session.app_id == *app && found.row.session.is_active(self.now())
        });
        let missing = || refuse::tool_session_not_found("there is no such session");
        let Snapshot { row, .. } = mine.ok_or_else(missing)?;
        let head = &row.session.head;
        let since = match after.since {
            Some(since) => check_position(head, since)?,
            None => head.ledger,
        };
        let replay = after.from_seq.and_then(|from| StreamReplay::begin(head, Some(from)));
        let (session_id, app_id) = (session.clone(), app.clone());
        let binding = Binding { session_id, app_id, role: Role::User, client_id: None };
        let subscriber = Subscriber {
            live: self.clone(),
            binding,
            attached,
            began: (head.created_at, head.horizon),
            ledger: None,
            notices: Vec::new(),
            replay,
            version: row.version,
            stream: head.stream,
            follows: Some(since),
        };
        // None yet: the first call tells what the session waits for.
        Ok(Watcher { live: self.clone(), subscriber, told: None, held: Some(Vec::new()) })
    }
}

impl Watcher {
    /// Waits for what is next. A call that is cancelled loses nothing. Fails when the store fails.
    /// The next call tries again.
    pub async fn next(&mut self) -> Result<Delivery, Failure> {
        loop {
            if self.held.is_none() {
                match self.subscriber.next().await? {
                    Delivery::Frames(frames) => self.held = Some(frames),
                    end => return Ok(end),
                }
            }
            let ask = self.ask().await?;
            let mut frames = self.held.take().unwrap_or_default();
            frames.extend(ask);
            if !frames.is_empty() {
                return Ok(Delivery::Frames(frames));
            }
        }
    }

    /// The frame about what the session waits for, if that has changed.
    async fn ask(&mut self) -> Result<Option<Frame>, Failure> {
        let (now, ledger) = self.live.ask(&self.subscriber.binding().session_id).await?;
        // After the events up to then, so that an answer comes before the end of its ask.
        if self.subscriber.follows.is_some_and(|seen| seen < ledger) {
            return Ok(None);
        }
        let key = |ask: &LiveAsk| (ask.intent.clone(), ask.since.clone());
        if now.as_ref().map(key) == self.told.as_ref().map(key) {
            return Ok(None);
        }
        let session = self.subscriber.binding().session_id.as_str();
        let frame = match &now {
            Some(ask) => json!({"type": "x-ask", "payload": ask.encode()}),
            None => json!({"type": "x-answered", "payload": {"session_id": session}}),
        };
        self.told = now;
        Ok(Some(Frame { text: frame.to_string().into(), sequence: None }))
    }
}

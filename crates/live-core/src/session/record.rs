//! The record of a session, and its snapshot on the wire.

use accord_contract::{Object, Time, Value, wire_enum};

use crate::json::{members, put};
use crate::{AppId, SessionId};

/// The row of a session: everything that decisions about actions need.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Session {
    pub id: SessionId,
    pub app_id: AppId,
    pub head: Head,
}

/// The counters and times of a session. A counter is the number of the last entry; 0 is none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Head {
    pub ledger: u64,
    /// The last event of the ledger that cannot be read any more.
    pub horizon: u64,
    pub stream: u64,
    /// The last frame of the stream that was kept for replay and is gone.
    pub evicted: u64,
    /// The number of kept frames of channels with the policy `all`.
    pub ring: u32,
    /// The version of the UI, from 0.
    pub epoch: u64,
    /// Grows whenever the UI and its contract change, so that a reader knows when to read them.
    pub revision: u64,
    /// The last event of the ledger that was taken out of the pipe.
    pub drained: u64,
    /// Whether a UI was rendered, so that events go into the pipe.
    pub has_pipe: bool,
    pub is_asking: bool,
    pub is_ended: bool,
    pub created_at: Time,
    pub last_activity_at: Time,
    /// When it expires, unless something is done in it before.
    pub expires_at: Time,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Content {
    /// The members of the UI: its variant, code and specs, and every unknown member.
    pub ui: Object,
    pub props: Option<Object>,
    pub host_context: Option<Object>,
    pub context: Option<Object>,
    /// The epoch whose ask an answer has closed.
    pub closed: Option<u64>,
}

wire_enum! {
    /// Whether a session can be used.
    pub enum Status("GguiSessionStatus", closed) {
        /// It can.
        Active = "active",
        /// Its time is over.
        Expired = "expired",
    }
}

impl Head {
    pub fn new(now: Time, ttl_seconds: i64) -> Self {
        Self {
            ledger: 0,
            horizon: 0,
            stream: 0,
            evicted: 0,
            ring: 0,
            epoch: 0,
            revision: 0,
            drained: 0,
            has_pipe: false,
            is_asking: false,
            is_ended: false,
            created_at: now,
            last_activity_at: now,
            expires_at: now.add_seconds(ttl_seconds),
        }
    }

    /// The head of a new session whose id was used before: the counters go on, and nothing that
    /// was before can be read.
    ///
    /// Clauses: GGUI-SEQ-NEVER-RESTARTS.
    #[must_use]
    pub fn reborn(&self, now: Time, ttl_seconds: i64) -> Self {
        Self {
            ledger: self.ledger,
            horizon: self.ledger,
            drained: self.ledger,
            stream: self.stream,
            evicted: self.stream,
            revision: self.revision + 1,
            ..Self::new(now, ttl_seconds)
        }
    }

    /// Sets the time of the last activity, and when the session expires. A clock that goes back
    /// shortens nothing.
    pub(super) fn touch(&mut self, now: Time, ttl_seconds: i64) {
        self.last_activity_at = self.last_activity_at.max(now);
        self.expires_at = self.expires_at.max(now.add_seconds(ttl_seconds));
    }
}

impl Session {
    /// Clauses: GGUI-SESSION-TTL.
    pub fn status(&self, now: Time) -> Status {
        if self.head.expires_at <= now { Status::Expired } else { Status::Active }
    }

    pub fn is_active(&self, now: Time) -> bool {
        self.status(now) == Status::Active
    }

    /// The session in a list: its snapshot without what is large. `ui` are the members of its UI.
    pub(crate) fn summary(&self, ui: &Object, now: Time) -> Object {
        let listed = ["prompt", "description", "type", "kind", "themeId", "hostSession"];
        let ui = listed.iter().filter_map(|name| ui.get_key_value(*name));
        let ui = ui.map(|(name, value)| (name.clone(), value.clone())).collect();
        self.members(&Content { ui, ..Content::default() }, now)
    }

    /// Clauses: GGUI-SESSION-SNAPSHOT.
    pub fn snapshot(&self, content: &Content, now: Time) -> Value {
        Value::Object(self.members(content, now))
    }

    pub(crate) fn members(&self, content: &Content, now: Time) -> Object {
        let head = &self.head;
        let mut snapshot = members([
            ("id", self.id.as_str().into()),
            ("appId", self.app_id.as_str().into()),
            ("eventSequence", head.ledger.into()),
            ("createdAt", head.created_at.unix_millis().into()),
            ("lastActivityAt", head.last_activity_at.unix_millis().into()),
            ("expiresAt", head.expires_at.unix_millis().into()),
            ("status", self.status(now).as_str().into()),
            ("epoch", head.epoch.into()),
        ]);
        put(&mut snapshot, "hostContext", content.host_context.clone().map(Value::Object));
        put(&mut snapshot, "props", content.props.clone().map(Value::Object));
        put(&mut snapshot, "contextSnapshot", content.context.clone().map(Value::Object));
        for (name, value) in &content.ui {
            // What the server counts is never overridden by what an agent sent.
            snapshot.entry(name).or_insert_with(|| value.clone());
        }
        snapshot
    }
}

impl Content {
    /// The content of a session without a UI: a component without code.
    ///
    /// Clauses: GGUI-SESSION-PROVISIONED.
    pub fn provisioned() -> Self {
        Self { ui: members([("componentCode", "".into())]), ..Self::default() }
    }
}

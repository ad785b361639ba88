//! Why a server closes a socket.

/// Clauses: GGUI-TRANSPORT-CLOSE.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Close {
    /// The code; `None` for a close frame without one, which a client sees as 1005.
    pub code: Option<u16>,
    pub reason: &'static str,
}

impl Close {
    pub const FRAME_TOO_LARGE: Self = Self::new(1009, "");
    pub const PRE_SUBSCRIBE_PAYLOAD: Self = Self::new(1009, "pre_subscribe_payload_exceeded");
    pub const PRE_SUBSCRIBE_IDLE: Self = Self::new(1008, "pre_subscribe_idle_timeout");
    pub const PRE_SUBSCRIBE_CEILING: Self = Self::new(1013, "pre_subscribe_connection_ceiling");
    /// The server stops; the client connects again at once.
    pub const SERVICE_RESTART: Self = Self::new(1012, "service_restart");
    pub const SESSION_EXPIRED: Self = Self::new(1008, "session_expired");
    /// The subscriber reads too slowly; it connects again with its cursors.
    pub const SLOW_SUBSCRIBER: Self = Self::new(1013, "slow_subscriber");
    /// The key that opened the socket is no longer valid.
    pub const UNAUTHENTICATED: Self = Self::new(1008, "unauthenticated");
    pub const PROJECT_ARCHIVED: Self = Self::new(1008, "project_archived");
    pub const INTERNAL: Self = Self::new(1011, "internal_error");
    /// A frame breaks the rules of WebSockets.
    pub const PROTOCOL: Self = Self::new(1002, "");
    pub const NOT_UTF8: Self = Self::new(1007, "");
    /// The client does not support the version.
    pub const UPGRADE_REQUIRED: Self = Self { code: None, reason: "" };

    const fn new(code: u16, reason: &'static str) -> Self {
        Self { code: Some(code), reason }
    }
}

//! The limits of the channel, its fallbacks and its tools.

/// The limits of sockets. A cap of 0 is no cap.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a frame, on every socket.
    pub frame_bytes: usize,
    /// Bytes of a frame before the socket is subscribed.
    pub pre_subscribe_bytes: usize,
    /// Milliseconds without a successful subscribe after which a socket is closed.
    pub pre_subscribe_idle_ms: u64,
    /// Sockets that are not subscribed yet.
    pub pre_subscribe_sockets: usize,
    /// Frames that wait for a slow subscriber.
    pub subscriber_queue: usize,
}

impl Default for Limits {
    /// Clauses: GGUI-TRANSPORT-LIMITS.
    fn default() -> Self {
        Self {
            frame_bytes: 1_048_576,
            pre_subscribe_bytes: 65_536,
            pre_subscribe_idle_ms: 30_000,
            pre_subscribe_sockets: 1024,
            subscriber_queue: 1024,
        }
    }
}

/// Seconds that a session lives after its last activity.
pub const SESSION_TTL_SECONDS: i64 = 3600;
pub const HANDSHAKE_TTL_SECONDS: i64 = 600;
/// Bytes of a contract, as JSON.
pub const CONTRACT_BYTES: usize = 524_288;
/// Frames of channels with the policy `all` that a session keeps.
pub const RING: u32 = 256;
/// Bytes of the payload of a frame that an agent emits, as JSON.
pub const EMIT_BYTES: usize = 262_144;
/// Bytes of the rows that are read for one page of a ledger or stream. A page has one row at least.
pub const PAGE_BYTES: usize = 1_048_576;
/// Frames of a page of a replay of the stream.
pub const STREAM_PAGE: usize = 64;
/// Ledger events of a page of a replay.
pub const REPLAY_PAGE: usize = 100;
/// The most ledger events of a page over HTTP, and the number without a limit in the request.
pub const EVENTS_PAGE: (usize, usize) = (500, 100);
/// The most ledger events of a pull.
pub const PULL_PAGE: usize = 100;
pub const PULL_WAIT_SECONDS: u64 = 20;
pub const CONSUME_WAIT_SECONDS: u64 = 25;
/// The interval of a polled channel in milliseconds: smallest, largest, default.
pub const POLL_INTERVAL_MS: (u64, u64, u64) = (1000, 60_000, 10_000);
/// Characters of the details of a failed poll.
pub const POLL_DETAILS_CHARS: usize = 2048;
pub const CONTEXT_SLOTS: usize = 50;
/// Bytes of the value of a slot, as JSON.
pub const CONTEXT_VALUE_BYTES: usize = 16_384;
/// Bytes of a context snapshot, as JSON.
pub const CONTEXT_BYTES: usize = 65_536;
/// Characters of component code that a slice carries inline, in base64.
pub const INLINE_CODE_CHARS: usize = 262_144;
pub const COMPONENT_CODE_BYTES: usize = 524_288;
pub const TELEMETRY_EVENTS: usize = 40;
/// The most sessions of a list, and the number without a limit in the request.
pub const SESSIONS_PAGE: (u64, u64) = (200, 50);
/// The longest time in which a contract takes answers, in seconds: 90 days.
pub const ANSWER_WITHIN_SECONDS: i64 = 90 * 24 * 3600;
/// How long a question to a person takes answers, in seconds, if it does not say so: a day.
pub const ASK_WITHIN_SECONDS: i64 = 24 * 3600;
/// The longest wait of one call for the answer to a question, in seconds. MCP clients wait for 60.
pub const ASK_WAIT_SECONDS: u64 = 50;
/// The most options of a question to a person.
pub const ASK_OPTIONS: usize = 8;
/// Seconds that unread answers are kept after the end of their session: 7 days.
pub const UNREAD_SECONDS: i64 = 7 * 24 * 3600;
pub const CLIENT_ID_CHARS: usize = 128;
pub const RENDERS_PER_MINUTE: u32 = 600;
/// Questions that one actor has open in a project: half a page of the inbox.
pub const OPEN_ASKS: u32 = 25;
pub const DECLARED_TOOLS: usize = 512;
/// Bytes of the servers of a catalog of tools, as JSON.
pub const DECLARED_BYTES: usize = 262_144;

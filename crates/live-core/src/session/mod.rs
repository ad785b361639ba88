//! Live sessions: what is stored of them, and what is decided about them.
//!
//! A decision takes the state, an input and the time, and returns an answer and a [`Delta`]: the
//! rows to write in one transaction. A refusal has no delta.
//!
//! The rows, and the decisions that write them:
//!
//! * session ([`Session`]: app, counters, times), one for each id. Small. Every decision writes it.
//! * content ([`ContentChange`]: UI, props of an epoch, host context, context), by session, part
//!   and epoch. Written by [`render()`], [`set_props`], [`host_context`], [`sync_context`].
//! * ledger ([`LedgerRow`]), by session and number; session and [`DedupKey`] are unique.
//!   Written by [`act`], [`submit`], [`render()`], [`set_props`].
//! * stream ([`StreamRow`]), by session and number: at most 256, and one for each channel with the
//!   policy `latest`. Written by [`emit`], [`render()`], [`begin_consume`].
//! * ask ([`Ask`]), at most one for each session. Written by [`render()`], [`begin_consume`],
//!   [`act`], [`submit`].
//! * event of the project: one for each ledger row, and when a session begins or expires.
//!
//! The pipe has no rows of its own: it is the ledger rows with an event id after
//! [`Head::drained`]. An action writes the session row, one ledger row and one event.
//!
//! Invariants:
//! - the numbers of ledger and stream have no gaps and never restart, also not when the id of an
//!   expired session is used again: such a session continues the counters, and its horizon hides
//!   what was before;
//! - nothing is appended by a refusal;
//! - every ledger row has exactly one event in the stream of the project.

mod action;
mod ask;
mod change;
mod channel;
mod consume;
mod context;
mod decision;
mod delta;
pub mod event;
mod inbox;
mod kept;
mod ledger;
mod props;
mod query;
mod record;
mod redact;
mod render;
mod replay;
mod sender;
mod shown;
mod stream;
mod subscribe;

pub use action::{ActFacts, Acted, Dispatch, act, submit};
pub(crate) use ask::{ASKED_BY, TO, actor_document};
pub use ask::{Ask, AskChange, PendingAsk, asked_by, asked_of};
pub use change::At;
pub use channel::{ChannelFacts, ChannelSubscription, subscribe_channel};
pub use consume::{ConsumedEvent, Drained, begin_consume, confirm, drain, give_back};
pub use context::{check_context_size, host_context, sync_context};
pub(crate) use decision::id as decision_id;
pub use delta::{ContentChange, Delta, StreamChange};
pub use inbox::waiting;
pub use kept::{KeptAnswer, kept_data, package_id};
pub use ledger::{DedupKey, LedgerKind, LedgerName, LedgerRow, ledger_kind};
pub use props::{PropsChanged, set_props};
pub(crate) use props::{UNCHANGED, check_props};
pub use query::{EventsQuery, StreamQuery, events_query, stream_query};
pub use record::{Content, Head, Session, Status};
pub use redact::redact;
pub use render::{Rendering, render};
pub use replay::{LedgerPage, LiveCursor, StreamReplay, check_position, check_since_sequence};
pub use replay::{is_replayed, is_truncated, ledger_page, pull_position, replay_stream};
pub use sender::Sender;
pub(crate) use sender::{BY, DOOR, PERSON};
pub(crate) use shown::{ASKED, EXPECT, QUESTION, asked};
pub use stream::{Emitted, Emitter, NewFrame, StreamRow, emit};
pub use subscribe::{SubscribeFacts, SubscribeRefusal, Subscribed, expire, subscribe};

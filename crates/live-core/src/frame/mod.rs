//! The frames of the channel: `{type, payload, requestId?}`, one JSON object each.
//!
//! Clauses: GGUI-FRAME-ENVELOPE.
//!
//! Invariants:
//! - a frame that cannot be read is answered with its code, or closes the socket; it is never
//!   dropped in silence;
//! - an answer repeats the `requestId` of its request;
//! - unknown members are tolerated, except in a host context, which is stored as it is.

mod client;
mod close;
mod gate;
mod host_context;
mod parse;
mod server;

pub(crate) use client::DATA_SUBMIT;
pub use client::{
    Action, ChannelSubscribe, ChannelUnsubscribe, ClientBody, ClientFrame, HostContextObserved,
    Role, Subscribe,
};
pub use close::Close;
pub use gate::{Binding, Gate, Socket};
pub use host_context::HostContext;
pub use parse::{Rejected, parse};
pub use server::{ActionAck, ServerFrame, SubscribeAck};

//! Serving: everything between a connection and the handlers of a door.
//!
//! A request passes through [`exchange`] (correlation id, error body, log, metrics), `guard` (the
//! headers Host and Origin), `peer` (authentication) and the limits, and then reaches its handler.
//! Each of them can refuse it with a [`Failure`](accord_contract::codes::Failure), and `exchange`
//! alone writes the error body.
//!
//! A door is a list of routes ([`table`]) over a state ([`Door`]): what all doors share
//! ([`Serving`]), and the services of its own. Handlers take a [`Context`] and, for their bodies,
//! [`body::Document`] or [`body::Chunks`]; they answer `Result<_, Refusal>`. An operation is served
//! with [`operation::serve`].
//!
//! This crate knows no protocol's services.

#![expect(clippy::disallowed_methods, reason = "serving uses sockets, files and the environment")]

pub mod acting;
mod api;
pub mod attempt;
pub mod body;
pub mod client;
mod context;
mod correlation;
pub mod declared;
pub mod errors;
pub mod exchange;
pub mod folder;
mod from_page;
mod guard;
pub mod keys;
pub mod listen;
pub mod log;
pub mod logins;
pub mod lookup;
pub mod metrics;
pub mod operation;
mod peer;
pub mod people;
mod permits;
pub mod query;
pub mod reply;
mod serving;
pub mod settings;
pub mod streams;
pub mod table;
mod visitor;

pub use self::api::{Api, Request, Response};
pub use self::context::Context;
pub use self::correlation::{CORRELATION, Correlation};
pub use self::exchange::TERMINAL;
pub use self::from_page::FromPage;
pub use self::metrics::Metrics;
pub use self::peer::Peer;
pub use self::permits::{Permit, Permits};
pub use self::reply::{Refusal, Reply};
pub use self::serving::{Door, Serving};
pub use self::visitor::Visitor;

/// The name of the route that answered, in the extensions of its response. Metrics use it, because
/// the number of paths is unbounded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RouteName(pub &'static str);

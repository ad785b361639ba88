//! Operations as types: what a client sends, what a host answers, what the host needs of the
//! caller, and with which codes it refuses.
//!
//! * [`Operation`]: the trait. A core declares each of its operations once, with
//!   [`operation!`]; the host serves it, the command and the MCP tools call it.
//! * [`parameter`]: parameters in paths, queries and headers, and [`params!`] for sets of them.
//! * [`body`]: the kinds of bodies. [`Envelope`]: answers in ALX envelopes.
//! * [`Call`]: a request before it is sent; [`Encoded`]: the same as method, target and bytes;
//!   [`Answered`]: an answer as it was received.
//! * [`LocalOperation`]: an operation that no host serves yet, declared with
//!   [`local_operation!`].
//! * [`operations`]: those of no protocol.
//! * [`Declaration`]: an operation without its types. Routers and documents are made from it.
//!
//! Invariants:
//! - a client encodes with the definitions that the host decodes with;
//! - a request and its answer have their types only at the edges: what a host or a client does in
//!   between takes [`Encoded`] and [`Reply`], and is compiled once;
//! - the text of an answer is kept as it was received.
//!
//! This crate is pure.

#![warn(missing_docs)]

pub mod body;
mod call;
mod declaration;
mod envelope;
mod local;
mod operation;
pub mod operations;
pub mod parameter;

pub use accord_base::{Decision, Need};
pub use body::{Json, Maybe, NoBody, Reply, Verbatim};
pub use call::{Answered, Call, Encoded, Received, target};
pub use declaration::{Answer, Body, Content, Declaration, Location, Parameter};
pub use envelope::Envelope;
pub use local::{LocalDeclaration, LocalOperation};
pub use operation::{Method, Operation, Success};
pub use parameter::NoParams;

#[doc(hidden)]
pub use accord_contract as contract;

//! Operations as types: what a client sends, what a host answers, what the host needs of the
//! caller, and with which codes it refuses.
//!
//! A core declares each [`Operation`] once, with [`operation!`]; the host serves it, the command
//! and the MCP tools call it. A [`Declaration`] is an operation without its types: routers and
//! documents are made from it. A [`LocalOperation`] is one that no host serves yet.
//!
//! Invariants:
//! - a client encodes with the definitions that the host decodes with;
//! - a request and its answer have their types only at the edges: what is in between takes
//!   [`Encoded`] and [`Reply`], and is compiled once;
//! - the text of an answer is kept as it was received.

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

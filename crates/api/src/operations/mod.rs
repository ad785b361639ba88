//! The operations that belong to no protocol: keys, people, decisions, maintenance, the server
//! itself.
//! Their paths begin with `/accord/v1`, except where other programs expect a path.

pub mod about;
pub mod decisions;
pub mod edge_decisions;
pub mod edges;
pub mod inbox;
pub mod keys;
pub mod notifications;
pub mod people;
pub mod upkeep;

//! ALX 1.1 from the outside: the client rules, the wire guarantees, events, retries.

mod client_rules;
mod events;
mod fixtures;
mod guarantees;
mod retry;
mod sending;

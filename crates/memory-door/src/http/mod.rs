//! The routes of the protocol: a file each for what belongs together, with the handlers that turn
//! requests into calls of [`Memory`](accord_memory::Memory) and its answers into responses.

mod answer;
pub mod blobs;
pub mod bundles;
pub mod events;
pub mod export;
pub mod facts;
pub mod import;
pub mod lifecycle;
pub mod packages;
mod progress;
pub mod projects;
pub mod questions;
pub mod sessions;
pub mod verify;

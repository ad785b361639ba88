//! The routes of the protocol: a file each for what belongs together, with the handlers that turn
//! requests into calls of [`Memory`](accord_memory::Memory) and its answers into responses.

mod answer;
pub(super) mod blobs;
pub(super) mod bundles;
pub(super) mod events;
pub(super) mod export;
pub(super) mod facts;
pub(super) mod import;
pub(super) mod lifecycle;
pub(super) mod packages;
mod progress;
pub(super) mod projects;
pub(super) mod questions;
pub(super) mod sessions;
pub(super) mod verify;

pub(crate) use accord_serving::query::{InProject, PathId, Query, check_query, path_params};
pub use accord_serving::reply::{NEW_PROJECT, SUPERSEDED_BY};

//! The routes of the protocol: a file each for what belongs together, with the handlers that turn
//! requests into calls of [`Memory`](accord_memory::Memory) and its answers into responses.

use accord_api::parameter::{ParamSet as _, Params};
use accord_contract::Failure;
use accord_memory_core::operations::WriteHeaders;
use hyper::HeaderMap;

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

/// How something is written. Fails when a header is neither true nor false.
fn write_headers(headers: &HeaderMap) -> Result<WriteHeaders, Failure> {
    let described = WriteHeaders::described();
    let names = described.iter().map(|member| member.definition.name);
    let given = names.filter_map(|name| Some((name, headers.get(name)?)));
    let given = given.map(|(name, value)| (name, value.to_str().unwrap_or_default()));
    WriteHeaders::read(&Params::new(given)?)
}

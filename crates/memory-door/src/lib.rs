//! The door of the memory: the routes of the Agentic Protocol, and its MCP tools.
//!
//! A route binds an operation of [`accord_memory_core::operations`] to its service in
//! [`accord_memory`]. Stored documents are sent as they are.

mod http;
mod relay;
mod tools;

use std::ops::Deref;

use accord_memory::Memory;
use accord_serving::{Serving, operation, table};

pub use self::http::{
    blobs, bundles, events, export, facts, import, lifecycle, packages, projects, questions,
    sessions, verify,
};
pub use self::relay::TOOLSET as RELAY;
pub use self::tools::TOOLSET;

/// The state of the handlers. A clone is the same.
#[derive(Clone)]
pub struct MemoryDoor {
    serving: Serving,
    memory: Memory,
}

type Context = accord_serving::Context<MemoryDoor>;
type Exchange = operation::Exchange<MemoryDoor>;

pub type Route = table::Route<MemoryDoor>;

impl MemoryDoor {
    pub fn new(serving: Serving, memory: Memory) -> Self {
        Self { serving, memory }
    }

    fn memory(&self) -> &Memory {
        &self.memory
    }
}

impl Deref for MemoryDoor {
    type Target = Serving;

    fn deref(&self) -> &Serving {
        &self.serving
    }
}

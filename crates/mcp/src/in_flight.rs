//! The requests of a connection that have no answer yet.
//!
//! Invariant: no two of them have the same id. The answers of two would be indistinguishable, and
//! over HTTP one of the two clients would wait forever.

use std::{collections::HashSet, sync::Arc};

use accord_contract::{Code, Failure};
use parking_lot::Mutex;
use rmcp::model::RequestId;

/// The ids of the requests that have no answer yet. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct InFlight(Arc<Mutex<HashSet<RequestId>>>);

/// A request without an answer. Dropping it frees its id.
#[derive(Debug)]
pub(crate) struct Pending {
    in_flight: InFlight,
    id: RequestId,
}

impl InFlight {
    /// Registers a request until the result is dropped.
    pub(crate) fn begin(&self, id: &RequestId) -> Result<Pending, Failure> {
        self.insert(id)?;
        Ok(Pending { in_flight: self.clone(), id: id.clone() })
    }

    /// Registers a request until [`InFlight::remove`].
    pub(crate) fn insert(&self, id: &RequestId) -> Result<(), Failure> {
        if self.0.lock().insert(id.clone()) {
            return Ok(());
        }
        let message = format!("the request with the id {id} has no answer yet");
        Err(Failure::new(Code::McpDuplicateId, message))
    }

    pub(crate) fn remove(&self, id: &RequestId) {
        self.0.lock().remove(id);
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.in_flight.remove(&self.id);
    }
}

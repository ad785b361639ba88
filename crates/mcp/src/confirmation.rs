//! Requests to the host that confirm what a client was given.
//!
//! Invariants:
//! - a confirmation is sent after its reply was written completely, and only if the client did not
//!   cancel the call before;
//! - a call that begins after its client got a reply sees what the reply confirms.

use std::{collections::HashMap, sync::Arc};

use accord_contract::Value;
use accord_serving::Api;
use parking_lot::Mutex;
use rmcp::model::RequestId;
use tokio::sync::OwnedMutexGuard;

use super::HostRequest;

/// The confirmations of a connection that wait for their replies. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Confirmations {
    waiting: Arc<Mutex<HashMap<RequestId, Waiting>>>,
    /// Held while a reply is written and confirmed.
    gate: Arc<tokio::sync::Mutex<()>>,
}

/// A confirmation, and how it reaches the host.
type Waiting = (HostRequest, Arc<dyn Api>);

impl Confirmations {
    pub(crate) fn insert(&self, id: RequestId, request: HostRequest, api: Arc<dyn Api>) {
        self.waiting.lock().insert(id, (request, api));
    }

    pub(crate) fn remove(&self, id: &RequestId) {
        self.waiting.lock().remove(id);
    }

    /// Begins to write a line. Calls wait until the result is dropped, if a reply is to be
    /// confirmed.
    pub(crate) async fn begin(&self) -> Option<OwnedMutexGuard<()>> {
        if self.waiting.lock().is_empty() {
            return None;
        }
        Some(Arc::clone(&self.gate).lock_owned().await)
    }

    /// Waits until the replies that a client may have got are confirmed.
    pub(crate) async fn settled(&self) {
        drop(self.gate.lock().await);
    }

    /// Sends the confirmation of a reply that was written.
    pub(crate) async fn written(&self, line: &[u8]) {
        let id = serde_json::from_slice::<Value>(line).ok().map(|mut reply| reply["id"].take());
        let id = id.and_then(|id| serde_json::from_value::<RequestId>(id).ok());
        let Some((request, api)) = id.and_then(|id| self.waiting.lock().remove(&id)) else {
            return;
        };
        if let Err(error) = request.send(&*api).await {
            // What is not confirmed is given again.
            tracing::warn!(code = error.code(), "a reply could not be confirmed");
        }
    }
}

//! The hub of an edge.

use std::time::{Duration, Instant};

use accord_api::operations::edges::{EdgeOutboxEnvelope, EdgeOutboxRequest, OfEdge, SendOutbox};
use accord_api::{Call, Json, NoParams};
use accord_contract::Failure;
use accord_edge::{Hub, JoinFile};

use crate::Result;
use crate::host::Connection;

/// A connection to a hub, for one edge.
pub(super) struct HubClient {
    pub(super) connection: Connection,
    pub(super) edge: OfEdge,
    /// When it gives up.
    until: Option<Instant>,
}

impl HubClient {
    pub(super) fn of(join: &JoinFile) -> Result<Self> {
        Self::within(join, None)
    }

    /// One that gives up after a time.
    pub(super) fn within(join: &JoinFile, limit: Option<Duration>) -> Result<Self> {
        let connection = Connection::to_hub(&join.url, join.key.clone())?;
        let edge = OfEdge { project: join.project.clone(), edge: join.edge_id.clone() };
        Ok(Self { connection, edge, until: limit.map(|limit| Instant::now() + limit) })
    }
}

impl Hub for HubClient {
    fn send(&self, request: EdgeOutboxRequest) -> Result<EdgeOutboxEnvelope, Failure> {
        let call = Call::<SendOutbox>::new(self.edge.clone(), NoParams, Json(request));
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        Ok(self.connection.call_within(&call, left)?.answer.0)
    }
}

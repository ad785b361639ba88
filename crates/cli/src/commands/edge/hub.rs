//! The hub of an edge.

use std::time::{Duration, Instant};

use accord_api::body::AnswerBody;
use accord_api::operations::edges::{
    EdgeJoinRequest, EdgeOutboxEnvelope, EdgeOutboxRequest, JoinEdge, JoinParams, LeaveEdge,
    LeaveParams, OfEdge, SendOutbox,
};
use accord_api::{Call, Json, NoBody, NoParams, Operation};
use accord_contract::Failure;
use accord_edge::{Hub, JoinFile};

use crate::Result;
use crate::host::Connection;

/// How long the hub may take for an answer.
const LIMIT: Duration = Duration::from_secs(60);
/// The longest answer of the hub.
const MOST: usize = 16 << 20;

/// A connection to a hub, for one edge.
pub(super) struct HubClient {
    pub(super) connection: Connection,
    edge: OfEdge,
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

    /// Joins the edge at the hub, or only asks whether it may join.
    pub(super) fn join(&self, join: &JoinFile, dry_run: bool) -> Result<(), Failure> {
        let request = EdgeJoinRequest {
            name: join.name.clone(),
            source: join.source,
            send: join.send,
            decide: join.decide.clone(),
            deciders: join.deciders.clone(),
        };
        let query = JoinParams { dry_run };
        self.call(&Call::<JoinEdge>::new(self.edge.clone(), query, Json(request))).map(drop)
    }

    /// Ends the join at the hub. Returns the number of events whose data was removed.
    pub(super) fn leave(&self, erase: bool) -> Result<u64, Failure> {
        let call = Call::<LeaveEdge>::new(self.edge.clone(), LeaveParams { erase }, NoBody);
        Ok(self.call(&call)?.0.events)
    }

    fn call<O>(&self, call: &Call<O>) -> Result<O::Answer, Failure>
    where
        O: Operation<Answer: AnswerBody>,
    {
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        let limits = (left.map_or(LIMIT, |left| left.min(LIMIT)), MOST);
        Ok(self.connection.call_within(call, limits)?.answer)
    }
}

impl Hub for HubClient {
    fn send(&self, request: EdgeOutboxRequest) -> Result<EdgeOutboxEnvelope, Failure> {
        let call = Call::<SendOutbox>::new(self.edge.clone(), NoParams, Json(request));
        Ok(self.call(&call)?.0)
    }
}

//! Edges: work trees on other machines that are joined to a project, and what they sent.
//!
//! Invariants:
//! - what an edge sent, its events and the position after them are written in one transaction;
//! - an item has one row for an edge and an id: a later version replaces it;
//! - the inbox has the requests of edges, from the transaction on that writes them.

use accord_api::operations::edges::EdgeEntryKind;
use accord_base::ProjectId;
use accord_base::inbox::Waiting;
use accord_contract::Timestamp;
use accord_outbox::inbox::{SentItem, named, waiting};

use crate::Result;

/// The row of an edge.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EdgeRow {
    /// The project that it is joined to.
    pub project_id: ProjectId,
    /// Its id, unique in the project.
    pub edge_id: String,
    /// The number of the last entry of its outbox that was applied.
    pub position: u64,
    /// What is known about it, a JSON document.
    pub text: String,
}

/// Something that an edge sent and that is kept beside its events.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EdgeItemRow {
    /// The project of the edge.
    pub project_id: ProjectId,
    /// The edge.
    pub edge_id: String,
    /// The id that the source gave it, unique for the edge.
    pub item_id: String,
    /// What it is. An engine stores any text.
    pub kind: String,
    /// When it was received.
    pub received_at: Timestamp,
    /// The document as the edge sent it.
    pub text: String,
}

/// A decision of a person about something that waits at an edge.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EdgeDecisionRow {
    /// The project of the edge.
    pub project_id: ProjectId,
    /// The edge.
    pub edge_id: String,
    /// Its id, unique for the edge.
    pub decision_id: String,
    /// The item that it is about, which may be gone.
    pub item_id: String,
    /// When it was decided.
    pub decided_at: Timestamp,
    /// What is known about it, a JSON document.
    pub text: String,
}

impl EdgeRow {
    /// What the items of the edge show of it: its name and its actor.
    pub fn named(&self) -> Option<(String, Option<String>)> {
        named(&self.text)
    }
}

impl EdgeItemRow {
    /// What waits for a person there. `decisions`: the texts of the decisions about it.
    pub fn waiting(&self, edge: &EdgeRow, decisions: &[String]) -> Option<Waiting> {
        if self.kind != EdgeEntryKind::Request.as_str() {
            return None;
        }
        waiting(&SentItem {
            edge: &self.edge_id,
            item: &self.item_id,
            received_at: self.received_at.time(),
            text: &self.text,
            record: &edge.text,
            decisions,
        })
    }
}

/// Reads edges.
pub trait Edges {
    /// The edge of an id in a project.
    fn edge(&self, project: &ProjectId, id: &str) -> Result<Option<EdgeRow>>;

    /// The edges of a project, in the order of their ids.
    fn edges(&self, project: &ProjectId) -> Result<Vec<EdgeRow>>;

    /// One item of an edge.
    fn edge_item(&self, project: &ProjectId, edge: &str, item: &str)
    -> Result<Option<EdgeItemRow>>;

    /// The items of an edge, in the order of their ids.
    fn edge_items(&self, project: &ProjectId, edge: &str) -> Result<Vec<EdgeItemRow>>;

    /// The decisions about an edge, in the order of their ids.
    fn edge_decisions(&self, project: &ProjectId, edge: &str) -> Result<Vec<EdgeDecisionRow>>;
}

/// Writes edges.
pub trait EdgeWrites {
    /// Adds an edge, or replaces the row of its id. It is a conflict when the project does not
    /// exist.
    fn put_edge(&mut self, row: &EdgeRow) -> Result<()>;

    /// Removes an edge, its items and the decisions about them. Returns whether there was one.
    fn remove_edge(&mut self, project: &ProjectId, id: &str) -> Result<bool>;

    /// Adds an item, or replaces the row of its id. It is a conflict when the project does not
    /// exist.
    fn put_edge_item(&mut self, row: &EdgeItemRow) -> Result<()>;

    /// Removes an item. Returns whether there was one.
    fn remove_edge_item(&mut self, project: &ProjectId, edge: &str, item: &str) -> Result<bool>;

    /// Adds a decision, or replaces the row of its id. It is a conflict when the project does not
    /// exist.
    fn put_edge_decision(&mut self, row: &EdgeDecisionRow) -> Result<()>;

    /// Removes a decision. Returns whether there was one.
    fn remove_edge_decision(
        &mut self,
        project: &ProjectId,
        edge: &str,
        decision: &str,
    ) -> Result<bool>;
}

//! Edges: work trees on other machines that are joined to a project of this host, the hub.
//!
//! An edge stays the record of its work. It sends what happened as entries of its outbox, which are
//! numbered from 1. The hub applies each number once, in order, and answers with its position: the
//! edge sends what follows it. What a hub has for an edge can be a member of that answer.

use accord_base::{EdgeId, Need, ProjectId};
use accord_contract::{Code, Limits, Object, TextForm, Timestamp, envelope, message, wire_enum};

use super::edge_decisions::{EdgeDecidable, EdgeDecision, EdgeVerb};
use crate::body::Json;
use crate::parameter::{Flag, InProject, Segment, Text};
use crate::{operation, params};

/// The most entries of a request.
pub const MOST_ENTRIES: usize = 256;
/// The most requests of an edge that wait at a time.
pub const MOST_REQUESTS: usize = 500;
/// The longest id that a source gives to something.
const LONGEST_ID: usize = 1024;

pub(super) const SOURCE_ID: TextForm = TextForm::ANY.chars(1, LONGEST_ID).without_nul();
const TYPE: TextForm = TextForm::ANY.chars(1, 200).without_nul();
const NAME: TextForm = TextForm::ANY.chars(1, 200).pattern(r"^[^\u0000-\u001f\u007f-\u009f]*$");

wire_enum! {
    /// What an edge is.
    pub enum EdgeSource("EdgeSource", closed) {
        /// A governed repository.
        Runs = "runs",
        /// A task tree.
        Tasks = "tasks",
    }

    /// What an edge sends. Each includes the ones before it.
    pub enum EdgeSend("EdgeSend", closed) {
        /// Types, ids and times of events, and that something waits.
        Events = "events",
        /// Also what events, requests and results say, and names, sizes and hashes of files.
        Summary = "summary",
        /// Also differences of texts, within limits.
        Diff = "diff",
        /// Also what agents print, within limits.
        Output = "output",
    }

    /// What an entry of an outbox is.
    pub enum EdgeEntryKind("EdgeEntryKind", closed) {
        /// Something happened.
        Event = "event",
        /// Something waits for a person, or its evidence changed.
        Request = "request",
        /// Something does not wait any more.
        RequestEnded = "request_ended",
        /// Work was accepted or finished.
        Result = "result",
        /// How far a decision of the hub is. Its id is that of the decision, its type the state.
        Decision = "decision",
        /// What is now, and waits for nobody. A later one with the same id replaces it.
        State = "state",
        /// A piece of what the agent of a turn prints while it works.
        Output = "output",
    }
}

params! {
    /// An edge.
    pub struct OfEdge {
        /// The project's id.
        required project: Segment<ProjectId> = Segment::new("project_id");
        /// The edge's id.
        required edge: Segment<EdgeId> = Segment::new("edge_id");
    }

    /// Something that an edge sent.
    pub struct OfEdgeItem {
        /// The project's id.
        required project: Segment<ProjectId> = Segment::new("project_id");
        /// The edge's id.
        required edge: Segment<EdgeId> = Segment::new("edge_id");
        /// The id of the request or result.
        required item: Text = Text::new("item_id", SOURCE_ID);
    }

    /// How an edge joins.
    #[derive(Default)]
    pub struct JoinParams {
        /// Only check whether the edge may join. Nothing changes.
        flag dry_run: Flag = Flag::new("dry_run");
    }

    /// How an edge leaves.
    #[derive(Default)]
    pub struct LeaveParams {
        /// Also remove what the edge sent: its requests, its results, and the data of its events.
        flag erase: Flag = Flag::new("erase");
    }
}

message! {
    /// A work tree that joins.
    pub struct EdgeJoinRequest("EdgeJoinRequest", closed) {
        /// Its name for people, in one line.
        required name: String = "name", "text-for-people", Limits::text(NAME);
        /// What it is.
        required source: EdgeSource = "source", "edge-source";
        /// What it sends.
        required send: EdgeSend = "send", "edge-send";
        /// What the hub may decide. Default: nothing.
        optional decide: Vec<EdgeDecidable> = "decide", "edge-decidables", Limits::items(16);
        /// The persons who may decide that on the hub, such as `human:lead`.
        optional deciders: Vec<String> = "deciders", "actors", Limits::items(100);
    }

    /// A turn that was given to an agent or a person, and is neither accepted nor given to another
    /// turn.
    pub struct EdgeRunTurn("EdgeRunTurn", open) {
        /// Its id.
        required turn_id: String = "turn_id", "turn-id";
        /// Its role.
        optional role: String = "role", "role-id";
    }

    /// The newest run of a governed repository, as the repository says it, or its events.
    pub struct EdgeRun("EdgeRun", open) {
        /// Its id; null before the first run.
        required_or_null run_id: String = "run_id", "run-id";
        /// Its phase.
        required_or_null phase: String = "phase", "phase";
        /// Its status.
        required_or_null status: String = "status", "run-status";
        /// The turns that are being worked on, the oldest first.
        required turns: Vec<EdgeRunTurn> = "turns", "active-turns";
        /// The type of its last event; absent if the hub has none of it.
        optional last_event: String = "last_event", "source-type";
        /// The time of that event, by the clock of the edge.
        optional last_event_at: Timestamp = "last_event_at", "time:rfc-3339";
    }

    /// An edge, as the hub knows it.
    pub struct Edge("Edge", open) {
        /// Its id.
        required edge_id: EdgeId = "edge_id", "edge-id";
        /// Its name for people.
        required name: String = "name", "text-for-people";
        /// What it is.
        required source: EdgeSource = "source", "edge-source";
        /// What it sends.
        required send: EdgeSend = "send", "edge-send";
        /// Who joined it: the actor of the key, if the key has one.
        required_or_null joined_by: String = "joined_by", "actor";
        /// When it joined.
        required joined_at: Timestamp = "joined_at", "time:rfc-3339";
        /// When the hub last heard of it. What it shows of the edge is as of then.
        required last_contact_at: Timestamp = "last_contact_at", "time:rfc-3339";
        /// When it left; null while it is joined.
        required_or_null left_at: Timestamp = "left_at", "time:rfc-3339";
        /// The number of the last entry of its outbox that was applied.
        required position: u64 = "position", "sequence";
        /// The number of entries that the edge could not send any more.
        required lost: u64 = "lost", "count";
        /// The number of its requests that wait.
        required requests: u64 = "requests", "count";
        /// What the hub may decide.
        optional decide: Vec<EdgeDecidable> = "decide", "edge-decidables";
        /// The persons who may decide that on the hub.
        optional deciders: Vec<String> = "deciders", "actors";
        /// The newest run of a governed repository.
        optional run: EdgeRun = "run", "edge-run";
    }

    /// An entry of an outbox.
    pub struct EdgeEntry("EdgeEntry", open) {
        /// Its number in the outbox, from 1, without gaps.
        required seq: u64 = "seq", "sequence";
        /// What it is.
        required kind: EdgeEntryKind = "kind", "edge-entry-kind";
        /// The id that the source gave it.
        required id: String = "id", "source-id", Limits::text(SOURCE_ID);
        /// The type, as the source names it.
        required type_name: String = "type", "source-type", Limits::text(TYPE);
        /// When it happened, by the clock of the edge.
        required at: Timestamp = "at", "time:rfc-3339";
        /// What the source says about it.
        required body: Object = "body", "source-document";
    }

    /// What follows the position of the hub.
    pub struct EdgeOutboxRequest("EdgeOutboxRequest", closed) {
        /// Entries with consecutive numbers. Without any, the edge only makes contact.
        required entries: Vec<EdgeEntry> = "entries", "edge-entries", Limits::items(MOST_ENTRIES);
        /// The edge does not have the entries up to this number any more. The hub names the gap.
        optional lost_through: u64 = "lost_through", "sequence";
    }

    /// A request, a result or a state of an edge.
    pub struct EdgeItem("EdgeItem", open) {
        /// The id that the source gave it.
        required id: String = "id", "source-id";
        /// `request`, `result`, `state` or `output`.
        required kind: EdgeEntryKind = "kind", "edge-entry-kind";
        /// The type, as the source names it.
        required type_name: String = "type", "source-type";
        /// When it happened, by the clock of the edge.
        required at: Timestamp = "at", "time:rfc-3339";
        /// When the hub received it.
        required received_at: Timestamp = "received_at", "time:rfc-3339";
        /// What the edge says about it. Only the answer about this item has it.
        optional document: Object = "document", "source-document";
        /// The digest of that document, which a decision names. Only the answer about this item has
        /// it.
        optional evidence: String = "evidence", "evidence-digest";
        /// What can be decided on the hub. Only the answer about this item has it.
        optional verbs: Vec<EdgeVerb> = "verbs", "edge-verbs";
        /// The newest decision about it.
        optional decision: EdgeDecision = "decision", "edge-decision";
    }
}

envelope! {
    /// An edge.
    pub struct EdgeEnvelope("EdgeEnvelope") {
        /// The edge.
        required edge: Edge = "edge", "edge";
        /// The incarnation of the hub's store. After a restore it is another one.
        required incarnation: String = "incarnation", "store-incarnation";
    }

    /// The edges of a project.
    pub struct EdgeListEnvelope("EdgeListEnvelope") {
        /// The edges, in the order of their ids.
        required edges: Vec<Edge> = "edges", "edges-by-id";
    }

    /// An edge with what it sent.
    pub struct EdgeDetailEnvelope("EdgeDetailEnvelope") {
        /// The edge.
        required edge: Edge = "edge", "edge";
        /// Its requests that wait, its newest results, and its state, without their documents.
        required items: Vec<EdgeItem> = "items", "edge-items";
    }

    /// Something that an edge sent.
    pub struct EdgeItemEnvelope("EdgeItemEnvelope") {
        /// The request or result.
        required item: EdgeItem = "item", "edge-item";
    }

    /// What the hub applied.
    pub struct EdgeOutboxEnvelope("EdgeOutboxEnvelope") {
        /// The incarnation of the hub's store. After a restore it is another one.
        required incarnation: String = "incarnation", "store-incarnation";
        /// The number of the last entry that the hub has. The edge sends what follows.
        required position: u64 = "position", "sequence";
        /// The digest of that entry: the SHA-256 of its canonical JSON (RFC 8785). An edge whose
        /// entry with this number has another one has another outbox. Absent if the hub does not
        /// know it.
        optional digest: String = "digest", "digest";
        /// The number of entries of this request that are new.
        required applied: u64 = "applied", "count";
        /// When the hub received the request.
        required received_at: Timestamp = "received_at", "time:rfc-3339";
        /// Decisions that the edge may take or apply, the oldest first.
        optional decisions: Vec<EdgeDecision> = "decisions", "edge-decisions";
    }

    /// An edge that left.
    pub struct EdgeLeftEnvelope("EdgeLeftEnvelope") {
        /// Its id.
        required edge_id: EdgeId = "edge_id", "edge-id";
        /// Whether what it sent was removed.
        required erased: bool = "erased", "flag";
        /// The number of events whose data was removed.
        required events: u64 = "events", "count";
    }
}

operation! {
    /// Joins a work tree to a project, or updates what is known about it. Only the key that joined
    /// it, or another key of the same actor, may repeat that. On a host with keys, it needs the key
    /// of a person.
    pub struct JoinEdge("join_edge", Put "/accord/v1/projects/{project_id}/edges/{edge_id}")
        of Agentic
    {
        path OfEdge;
        query JoinParams;
        body Json<EdgeJoinRequest>;
        needs Need::Join;
        answers 200 "The edge.", Json<EdgeEnvelope>;
        refuses [&[Code::AccessDenied, Code::NotForWorkers, Code::AofPersonRequired,
            Code::WireFieldValue, Code::EdgeOfAnotherKey, Code::AgenticProjectNotFound,
            Code::AgenticProjectArchived]];
    }

    /// Lists the edges of a project.
    pub struct ListEdges("edges", Get "/accord/v1/projects/{project_id}/edges") of Agentic {
        path InProject;
        needs Need::Read;
        answers 200 "The edges.", Json<EdgeListEnvelope>;
        refuses [&[Code::AgenticProjectNotFound]];
    }

    /// Shows an edge, its requests that wait and its newest results.
    pub struct ReadEdge("edge", Get "/accord/v1/projects/{project_id}/edges/{edge_id}")
        of Agentic
    {
        path OfEdge;
        needs Need::Read;
        answers 200 "The edge.", Json<EdgeDetailEnvelope>;
        refuses [&[Code::EdgeNotFound, Code::AgenticProjectNotFound]];
    }

    /// Shows a request or a result of an edge, as the edge sent it.
    pub struct ReadEdgeItem("edge_item",
        Get "/accord/v1/projects/{project_id}/edges/{edge_id}/items/{item_id}") of Agentic
    {
        path OfEdgeItem;
        needs Need::Read;
        answers 200 "The item.", Json<EdgeItemEnvelope>;
        refuses [&[Code::EdgeNotFound, Code::AgenticProjectNotFound, Code::WireFieldValue]];
    }

    /// Takes entries of an edge's outbox. Each number is applied once, in order: entries that the
    /// hub has are left out, and entries after a gap are not applied. Only the key that joined the
    /// edge may send.
    pub struct SendOutbox("send_outbox",
        Post "/accord/v1/projects/{project_id}/edges/{edge_id}/outbox") of Agentic
    {
        path OfEdge;
        body Json<EdgeOutboxRequest>;
        needs Need::Join;
        answers 200 "What was applied.", Json<EdgeOutboxEnvelope>;
        refuses [&[Code::AccessDenied, Code::NotForWorkers, Code::AofPersonRequired,
            Code::WireFieldValue, Code::EdgeOfAnotherKey, Code::EdgeNotFound, Code::EdgeLeft,
            Code::EdgeDamaged, Code::AgenticProjectNotFound, Code::AgenticProjectArchived]];
    }

    /// Ends the join of an edge. Its requests do not wait any more. What it sent stays, unless it
    /// is erased: then its requests, its results and the data of its events are removed.
    pub struct LeaveEdge("leave_edge",
        Delete "/accord/v1/projects/{project_id}/edges/{edge_id}") of Agentic
    {
        path OfEdge;
        query LeaveParams;
        needs Need::Join;
        answers 200 "The edge has left.", Json<EdgeLeftEnvelope>;
        refuses [&[Code::AccessDenied, Code::NotForWorkers, Code::AofPersonRequired,
            Code::EdgeOfAnotherKey, Code::EdgeNotFound, Code::AgenticProjectNotFound,
            Code::AgenticProjectArchived]];
    }
}

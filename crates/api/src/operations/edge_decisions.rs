//! Decisions that a person takes on the hub about what waits at an edge.
//!
//! The hub keeps the decision until the edge takes it. The edge applies it as one that is taken
//! there, and says how it ended in its outbox. What happened at the edge wins.

use accord_base::decision::DecisionId;
use accord_base::{Decision, Door, EdgeId, KnownBy, Need, ProjectId};
use accord_contract::{Code, Limits, TextForm, Timestamp, envelope, message, wire_enum};

use super::edges::{OfEdge, SOURCE_ID};
use crate::body::Json;
use crate::parameter::{Acting, Segment};
use crate::{operation, params};

/// A digest, or the beginning of one.
const DIGEST: TextForm = TextForm::ANY.chars(32, 64);
/// The longest note.
const NOTE: TextForm = TextForm::ANY.chars(1, 2_000).without_nul();

wire_enum! {
    /// What a hub may decide, by the types of requests.
    pub enum EdgeDecidable("EdgeDecidable", closed) {
        /// A gate before a phase.
        RunGate = "run.gate",
        /// The gate before the end of a run.
        RunCompletion = "run.completion",
        /// A run that is blocked.
        RunBlock = "run.block",
        /// Changes that a turn proposes.
        RunProposal = "run.proposal",
        /// The end of what is worked on in a run.
        RunStop = "run.stop",
        /// A task in review.
        TaskReview = "task.review",
        /// A task that failed too often.
        TaskDeadletter = "task.deadletter",
    }

    /// What a person decides.
    pub enum EdgeVerb("EdgeVerb", closed) {
        /// The gate opens, the review ends well, or the proposed changes are applied.
        Approve = "approve",
        /// The work goes on in its phase; the note says why.
        SendBack = "send_back",
        /// A blocked run continues.
        Resolve = "resolve",
        /// A failed task is ready again.
        Resurrect = "resurrect",
        /// A task is given up, or a proposal is dropped.
        Cancel = "cancel",
        /// The workers of a run are ended, and it waits for a person; the note says why.
        Stop = "stop",
    }

    /// How far a decision is.
    pub enum EdgeDecisionState("EdgeDecisionState", closed) {
        /// Decided, not delivered.
        Waiting = "waiting",
        /// The edge has it, and applies it next.
        Taken = "taken",
        /// The edge has applied it.
        Applied = "applied",
        /// What it is about ended at the edge before.
        Superseded = "superseded",
        /// A person took it back before it was applied.
        Withdrawn = "withdrawn",
        /// The edge did not take it in time.
        Expired = "expired",
        /// The edge did not apply it; `reason` says why.
        Returned = "returned",
    }
}

params! {
    /// A decision about an edge.
    pub struct OfEdgeDecision {
        /// The project's id.
        required project: Segment<ProjectId> = Segment::new("project_id");
        /// The edge's id.
        required edge: Segment<EdgeId> = Segment::new("edge_id");
        /// The decision's id.
        required decision: Segment<DecisionId> = Segment::new("decision_id");
    }
}

message! {
    /// A decision about a request of an edge.
    pub struct EdgeDecisionRequest("EdgeDecisionRequest", closed) {
        /// The id of the request.
        required item: String = "item", "source-id", Limits::text(SOURCE_ID);
        /// What is decided. The request lists what it can be.
        required verb: EdgeVerb = "verb", "edge-verb";
        /// The digest of the evidence that the person saw, or its beginning.
        required evidence: String = "evidence", "evidence-digest", Limits::text(DIGEST);
        /// A note for the records. To send something back, or to stop a run, it says why.
        optional note: String = "note", "text", Limits::text(NOTE);
    }

    /// A decision that a person took on the hub.
    pub struct EdgeDecision("EdgeDecision", open) {
        /// Its id, also in the records of decisions of the hub and of the edge.
        required decision_id: DecisionId = "decision_id", "decision-id";
        /// The id of the request.
        required item: String = "item", "source-id";
        /// The type of the request.
        required type_name: String = "type", "source-type";
        /// What was decided.
        required verb: EdgeVerb = "verb", "edge-verb";
        /// How far it is.
        required state: EdgeDecisionState = "state", "edge-decision-state";
        /// Since when.
        required state_at: Timestamp = "state_at", "time:rfc-3339";
        /// Why it ended so.
        optional reason: String = "reason", "text-for-people";
        /// The digest of the evidence that it is about.
        required evidence: String = "evidence", "evidence-digest";
        /// A note for the records.
        optional note: String = "note", "text";
        /// The person, such as `human:lead`.
        required actor: String = "actor", "actor";
        /// How the person is known.
        required known_by: KnownBy = "known_by", "known-by";
        /// The id of the key behind the request or the login.
        optional key_id: String = "key_id", "key-id";
        /// The door of the request.
        required door: Door = "door", "door";
        /// The hub, by the incarnation of its store.
        required hub: String = "hub", "store-incarnation";
        /// When the person decided, by the clock of the hub.
        required decided_at: Timestamp = "decided_at", "time:rfc-3339";
        /// Until when the edge may take it, by the clock of the hub.
        required expires_at: Timestamp = "expires_at", "time:rfc-3339";
        /// How many seconds are left. Only the answer to the edge has it: clocks differ.
        optional seconds_left: u64 = "seconds_left", "seconds";
    }
}

envelope! {
    /// A decision about a request of an edge.
    pub struct EdgeDecisionEnvelope("EdgeDecisionEnvelope") {
        /// The decision.
        required decision: EdgeDecision = "decision", "edge-decision";
    }

    /// The decisions about the requests of an edge.
    pub struct EdgeDecisionListEnvelope("EdgeDecisionListEnvelope") {
        /// Those that did not end, and the newest others, the newest first.
        required decisions: Vec<EdgeDecision> = "decisions", "edge-decisions";
    }
}

operation! {
    /// A person decides about a request of an edge, at the evidence that the edge sent. The edge
    /// takes the decision at its next contact, and applies it if its files still are the evidence.
    /// The join says what the hub may decide, and who.
    pub struct DecideEdgeItem("decide_edge_item",
        Post "/accord/v1/projects/{project_id}/edges/{edge_id}/decisions") of Agentic
    {
        path OfEdge;
        query Acting;
        body Json<EdgeDecisionRequest>;
        needs Need::Decide(Decision::Approve);
        answers 201 "The decision, which waits for the edge.", Json<EdgeDecisionEnvelope>;
        refuses [&[Code::AccessDenied, Code::NotForWorkers, Code::AofPersonRequired,
            Code::XchainConfirmationNeeded, Code::AofUnauthorizedAgent, Code::WireFieldMissing,
            Code::WireFieldValue, Code::EdgeNotFound, Code::EdgeLeft, Code::EdgeNotDecidable,
            Code::EdgeDecisionWaits, Code::XchainEvidenceChanged, Code::AgenticProjectNotFound,
            Code::AgenticProjectArchived]];
    }

    /// Lists the decisions about the requests of an edge.
    pub struct ListEdgeDecisions("edge_decisions",
        Get "/accord/v1/projects/{project_id}/edges/{edge_id}/decisions") of Agentic
    {
        path OfEdge;
        needs Need::Read;
        answers 200 "The decisions.", Json<EdgeDecisionListEnvelope>;
        refuses [&[Code::EdgeNotFound, Code::AgenticProjectNotFound]];
    }

    /// Takes a decision back that the edge has not applied. If the edge has taken it, it can be
    /// that it was applied: the edge says so at its next contact.
    pub struct WithdrawEdgeDecision("withdraw_edge_decision",
        Delete "/accord/v1/projects/{project_id}/edges/{edge_id}/decisions/{decision_id}")
        of Agentic
    {
        path OfEdgeDecision;
        query Acting;
        needs Need::Decide(Decision::Approve);
        answers 200 "The decision, which is withdrawn.", Json<EdgeDecisionEnvelope>;
        refuses [&[Code::AccessDenied, Code::NotForWorkers, Code::AofPersonRequired,
            Code::XchainConfirmationNeeded, Code::AofUnauthorizedAgent, Code::WireFieldMissing,
            Code::WireFieldValue, Code::EdgeNotFound, Code::EdgeDecisionEnded,
            Code::AgenticProjectNotFound, Code::AgenticProjectArchived]];
    }
}

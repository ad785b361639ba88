//! The envelope around every message.

use accord_contract::wire::Pointer;
use accord_contract::{Object, Timestamp, Value, Wire as _, message, wire_enum};

use super::Payload;
use crate::{TaskId, rule};

wire_enum! {
    /// The types of messages.
    pub enum MessageType("AofMessageType", closed) {
        /// The work on a task is over.
        CompletionReport = "completion.report",
        /// How the work on a task is going.
        StatusUpdate = "status.update",
        /// A task is delegated to another agent.
        HandoffRequest = "handoff.request",
        /// The other agent takes the task.
        HandoffAccepted = "handoff.accepted",
        /// The other agent does not take the task.
        HandoffRejected = "handoff.rejected",
    }

    /// The name of the protocol.
    pub enum AofName("AofProtocol", closed) {
        /// AOF.
        Aof = "aof",
    }
}

message! {
    // Clauses: AOF-ENV-PROTOCOL, AOF-ENV-VERSION, AOF-ENV-TYPE, AOF-ENV-FROM, AOF-ENV-TO,
    // AOF-ENV-SENT-AT, AOF-ENV-PAYLOAD.
    /// The envelope of a message.
    pub struct Envelope("AofEnvelope", open) {
        /// The protocol.
        required protocol: AofName = "protocol", "protocol";
        /// The version of the protocol: 1.
        required version: i64 = "version", "version";
        /// The type of the message.
        required kind: MessageType = "type", "message-type";
        /// The project. Default: the project of the tree.
        optional project_id: String = "projectId", "project-id";
        /// The task.
        required task_id: TaskId = "taskId", "task-id";
        /// The agent that sends the message.
        required from_agent: String = "fromAgent", "agent-id";
        /// The agent that the message is for.
        required to_agent: String = "toAgent", "agent-id";
        /// When it was sent.
        required sent_at: Timestamp = "sentAt", "time:iso-8601";
        /// The run that the sender works in. A message of an earlier run is refused.
        optional run_id: String = "runId", "run-id";
        /// What the message says.
        required payload: Object = "payload", "payload";
    }
}

/// A message that was read whole.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Message {
    pub envelope: Envelope,
    pub payload: Payload,
    pub problems: Vec<String>,
}

impl Message {
    /// Reads a message from a document that says that it is one.
    /// Clauses: AOF-ENV-FIELDS.
    pub(super) fn read(mut document: Object) -> Result<Self, Vec<String>> {
        // The reference also accepts this spelling.
        if !document.contains_key("projectId")
            && let Some(project) = document.shift_remove("project_id")
        {
            document.insert("projectId".into(), project);
        }
        let envelope = Envelope::from_document(Value::Object(document))
            .map_err(|error| vec![error.to_string()])?;
        if rule!(envelope.version != 1; AnyVersion => false) {
            return Err(vec![format!("/version: expected 1, found {}", envelope.version)]);
        }
        let mut problems = Vec::new();
        let root = Pointer::Root;
        let at = root.member("payload");
        let payload = Payload::read(envelope.kind, envelope.payload.clone(), &at, &mut problems)
            .map_err(|error| vec![error.to_string()])?;
        Ok(Self { envelope, payload, problems })
    }
}

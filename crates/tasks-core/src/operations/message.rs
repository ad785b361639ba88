//! Messages of AOF/1.

use accord_api::parameter::Flag;
use accord_api::{Json, Need, Verbatim, operation, params};
use accord_contract::{Code, message};

use super::{COMMON, InProject, OF_CHANGES, OF_TASK, TaskMove, TaskNotice, envelope};
use crate::message::{Envelope, MessageType};
use crate::task::TaskComment;
use crate::{Status, TaskId};

params! {
    /// How a message is read.
    #[derive(Default)]
    pub struct MessageQuery {
        /// `taskId` and `parentTaskId` can be parts of ids, as in a path: the beginning or the last
        /// numbers.
        flag short_ids: Flag = Flag::new("short_ids");
    }
}

message! {
    /// What an input did. One that is not for the protocol changes nothing: its reason is
    /// `not_protocol`.
    pub struct MessageAnswer("AofMessageAnswer", closed) {
        /// Whether everything that the message asks for was done.
        required applied: bool = "applied", "flag";
        /// Why not.
        optional reason: String = "reason", "reason";
        /// The type of the message.
        optional kind: MessageType = "type", "message-type";
        /// The task.
        optional task_id: TaskId = "task_id", "task-id";
        /// Its status now.
        optional status: Status = "status", "status";
        /// Its moves, in order.
        required moves: Vec<TaskMove> = "moves", "moves";
        /// The statuses that people are notified about.
        required notices: Vec<TaskNotice> = "notices", "notices";
        /// What was odd and did not stop the message.
        required warnings: Vec<String> = "warnings", "texts";
        /// What others said about the task since the sender's run began.
        optional comments: Vec<TaskComment> = "comments", "comments";
    }
}

envelope! {
    /// What a message did.
    AofMessageEnvelope("AofMessageEnvelope") of MessageAnswer;
}

operation! {
    /// Receives an AOF/1 message: the envelope, an event that carries it in `payload`, `message` or
    /// `content`, or plain text that begins with `AOF/1 `. A key of an agent sends only as that
    /// agent. A message whose move is not allowed is answered with `applied: false`; a refused one
    /// with AOF's reason as the code, and an event records it. An input that is not for the
    /// protocol changes nothing, and is no error.
    pub struct SendMessage("aof_message", Post "/accord/v1/projects/{project_id}/aof/messages")
        of Aof
    {
        path InProject;
        query MessageQuery;
        body Verbatim<Envelope>;
        needs Need::Write;
        answers 200 "What the message did.", Json<AofMessageEnvelope>;
        refuses [
            COMMON,
            OF_CHANGES,
            OF_TASK,
            &[
                Code::AgenticPayloadTooLarge,
                Code::AofInvalidJson,
                Code::AofInvalidEnvelope,
                Code::AofUnknownType,
                Code::AofTaskidMismatch,
                Code::AofParentNotFound,
                Code::AofNestedDelegation,
                Code::AofUnassignedTask,
                Code::AofUnauthorizedAgent,
                Code::AofStaleRun,
                Code::AofInvalidProjectId,
                Code::AofPathOutsideTask,
            ],
        ];
    }
}

//! What agents and people do to a task by verbs.

use accord_api::{Json, Need, operation};
use accord_contract::{Code, Limits};

use super::decide::REASON;
use super::{Acting, COMMON, OF_CHANGES, OF_TASK, OfTask, TaskEnvelope, at_task, request};

const MOVES: &[Code] = &[Code::AofUnauthorizedAgent, Code::AofInvalidTaskTransition];

request! {
    /// A task cannot go on.
    pub struct BlockRequest("TaskBlockRequest") {
        /// Why.
        required reason: String = "reason", "text", Limits::text(REASON);
    }
}

operation! {
    /// Blocks a task, with a reason. Its lease ends.
    pub struct BlockTask("block_task", Post at_task!("/block")) of Aof {
        path OfTask;
        query Acting;
        body Json<BlockRequest>;
        needs Need::Write;
        answers 200, Json<TaskEnvelope>;
        refuses [COMMON, OF_CHANGES, OF_TASK, MOVES];
    }
}

request! {
    /// A blocked task can go on.
    pub struct UnblockRequest("TaskUnblockRequest") {
        /// Why.
        optional reason: String = "reason", "text", Limits::text(REASON);
    }
}

operation! {
    /// Makes a blocked task ready again.
    pub struct UnblockTask("unblock_task", Post at_task!("/unblock")) of Aof {
        path OfTask;
        query Acting;
        body Json<UnblockRequest>;
        needs Need::Write;
        answers 200, Json<TaskEnvelope>;
        refuses [COMMON, OF_CHANGES, OF_TASK, MOVES];
    }
}

request! {
    /// A task of the backlog becomes ready.
    pub struct PromoteRequest("TaskPromoteRequest") {
        /// Whether it becomes ready although it waits for tasks. Only a person can force it.
        optional force: bool = "force", "flag";
    }
}

operation! {
    /// Makes a task of the backlog ready. Only a person can force it while the task waits for
    /// others.
    pub struct PromoteTask("promote_task", Post at_task!("/promote")) of Aof {
        path OfTask;
        query Acting;
        body Json<PromoteRequest>;
        needs Need::Write;
        answers 200, Json<TaskEnvelope>;
        refuses [COMMON, OF_CHANGES, OF_TASK, MOVES, &[Code::AofDependencyUnmet]];
    }
}

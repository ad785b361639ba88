//! The end of a session of an agent.

use accord_api::{Json, Need, operation};
use accord_contract::{Code, Limits, TextForm, message};

use super::{
    Acting, COMMON, InProject, OF_CHANGES, OF_TASK, TaskMove, TaskNotice, at_tasks, envelope,
    request,
};
use crate::TaskId;

const NAME: TextForm = TextForm::ANY.chars(1, 256).without_nul();

request! {
    /// The session of an agent ended: recorded results are applied.
    pub struct SessionEndRequest("TaskSessionEndRequest") {
        /// The agent. Default: every agent.
        optional agent: String = "agent", "agent-id", Limits::text(NAME);
        /// The task. Default: every task in progress.
        optional task: String = "task_id", "task-reference", Limits::text(NAME);
    }
}

message! {
    /// A recorded result that was not applied.
    pub struct SessionEndRejection("TaskSessionEndRejection", closed) {
        /// The task.
        required task_id: TaskId = "task_id", "task-id";
        /// Why.
        required reason: String = "reason", "reason";
    }

    /// What the end of a session did.
    pub struct SessionEndAnswer("TaskSessionEndAnswer", closed) {
        /// The moves of tasks, in order.
        required moves: Vec<TaskMove> = "moves", "moves";
        /// Tasks in progress without a result.
        required waiting: Vec<TaskId> = "waiting", "task-ids";
        /// Results that were not applied.
        required rejected: Vec<SessionEndRejection> = "rejected", "rejections";
        /// The statuses that people are notified about.
        required notices: Vec<TaskNotice> = "notices", "notices";
    }
}

envelope! {
    /// What the end of a session did.
    TaskSessionEndEnvelope("TaskSessionEndEnvelope") of SessionEndAnswer;
}

operation! {
    /// The session of an agent ended: recorded results that were not applied are applied.
    pub struct EndSession("end_task_session", Post at_tasks!("/session-end")) of Aof {
        path InProject;
        query Acting;
        body Json<SessionEndRequest>;
        needs Need::Write;
        answers 200, Json<TaskSessionEndEnvelope>;
        refuses [COMMON, OF_CHANGES, OF_TASK, &[Code::AofUnauthorizedAgent]];
    }
}

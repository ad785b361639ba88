//! What a task waits for.

use accord_api::{Json, Need, operation};
use accord_contract::{Code, Limits, TextForm};

use super::{
    Acting, COMMON, OF_CHANGES, OF_TASK, OfDependency, OfTask, TaskEnvelope, at_task, request,
};

const TASK: TextForm = TextForm::ANY.chars(1, 64);

request! {
    /// A dependency of a task.
    pub struct DependencyRequest("TaskDependencyRequest") {
        /// The task that must be done first.
        required blocker: String = "blocker", "task-reference", Limits::text(TASK);
    }
}

operation! {
    /// Makes a task wait for another one.
    pub struct AddDependency("add_dependency", Post at_task!("/dependencies")) of Aof {
        path OfTask;
        query Acting;
        body Json<DependencyRequest>;
        needs Need::Write;
        answers 200, Json<TaskEnvelope>;
        refuses [
            COMMON,
            OF_CHANGES,
            OF_TASK,
            &[
                Code::AofUnauthorizedAgent,
                Code::AofTaskFinished,
                Code::AofDependencyNotFound,
                Code::AofDependencyCycle,
            ],
        ];
    }

    /// Ends that a task waits for another one.
    pub struct RemoveDependency(
        "remove_dependency", Delete at_task!("/dependencies/{blocker_id}")
    ) of Aof {
        path OfDependency;
        query Acting;
        needs Need::Write;
        answers 200, Json<TaskEnvelope>;
        refuses [
            COMMON,
            OF_CHANGES,
            OF_TASK,
            &[Code::AofUnauthorizedAgent, Code::AofTaskFinished, Code::AofDependencyNotFound],
        ];
    }
}

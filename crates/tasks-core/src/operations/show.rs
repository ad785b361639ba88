//! One task.

use accord_api::parameter::Flag;
use accord_api::{Json, Need, operation, params};
use accord_contract::message;

use super::{COMMON, OF_TASK, OfTask, OutputView, TaskDetails, TaskObserved, at_task, envelope};

params! {
    /// What is shown of a task.
    #[derive(Default)]
    pub struct ShowQuery {
        /// Leaves the body out.
        flag without_body: Flag = Flag::new("without_body");
    }
}

message! {
    /// A task, with what a person decides about.
    pub struct ShowAnswer("TaskShowAnswer", closed) {
        /// The task.
        required task: TaskDetails = "task", "task";
        /// The files in `outputs/`.
        required outputs: Vec<OutputView> = "outputs", "outputs";
        /// How many files are left out of `outputs`.
        required outputs_hidden: u64 = "outputs_hidden", "count";
        /// What Accord observed about the last run. Absent if Accord neither started the agent nor
        /// ran the checks.
        optional observed: TaskObserved = "observed", "observed";
        /// The sandbox of the last run, or why there was none.
        optional sandbox: String = "sandbox", "text";
        /// The files that the report declares and that do not exist.
        required missing: Vec<String> = "missing", "paths";
        /// What to look at before a decision: checks that failed or were not run, missing files.
        required findings: Vec<String> = "findings", "texts";
        /// How often a review sent the task back.
        required reworks: u64 = "reworks", "count";
        /// The digest of the task file, its outputs and the missing files, for `--expect`.
        required evidence: String = "evidence", "evidence-digest";
        /// The root of the tree, where a caller on this machine can read it.
        optional root: String = "root", "path";
    }
}

envelope! {
    /// A task, with what a person decides about.
    TaskShowEnvelope("TaskShowEnvelope") of ShowAnswer;
}

operation! {
    /// Shows one task, its outputs, and the evidence that a person decides about.
    pub struct ShowTask("task", Get at_task!("")) of Aof {
        path OfTask;
        query ShowQuery;
        needs Need::Read;
        answers 200, Json<TaskShowEnvelope>;
        refuses [COMMON, OF_TASK];
    }
}

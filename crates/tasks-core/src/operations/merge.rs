//! What a merge of git left to decide, and tasks whose files were removed.

use accord_api::{Decision, Json, Need, operation};
use accord_contract::message;

use super::{
    Acting, COMMON, InProject, NO_TREE, OF_CHANGES, OfTask, TaskEnvelope, at_task, at_tasks,
    envelope, request,
};
use crate::{Status, TaskId};

request! {
    /// Which versions of tasks count after a merge of git.
    pub struct MergeRequest("TaskMergeRequest") {
        /// Whether to say only what would be merged, and change nothing.
        optional dry_run: bool = "dry_run", "flag";
    }

    /// A task whose file was removed is written again.
    pub struct UndeleteRequest("TaskUndeleteRequest") {
        /// Why.
        optional reason: String = "reason", "text";
    }
}

message! {
    /// A task with two versions, or one whose id two tasks had.
    pub struct MergedTask("TaskMergedTask", closed) {
        /// The task, with the id that it has now.
        required task_id: TaskId = "task_id", "task-id";
        /// Its title.
        required title: String = "title", "text";
        /// Its status.
        required status: Status = "status", "task-status";
        /// Why this version counts: `decision`; `united` if nothing was dropped; `later`;
        /// `renumbered`; `kept` if one copy removed the task; `committed` if only one copy changed
        /// it, and git mixed it with another one.
        required reason: String = "reason", "reason";
        /// The id that it had before, if another task keeps that.
        optional from: TaskId = "from", "task-id";
        /// The members of which the other version had other values, which were dropped.
        required lost: Vec<String> = "lost", "names";
        /// What was dropped, with both values, and what else to know, in sentences.
        optional said: Vec<String> = "said", "texts";
        /// The tasks whose references were rewritten.
        required rewritten: Vec<TaskId> = "rewritten", "task-ids";
    }

    /// A file that a person must correct by hand.
    pub struct UnmergedFile("TaskUnmergedFile", closed) {
        /// The path, within the tree.
        required path: String = "path", "tree-path";
        /// What is wrong.
        required problem: String = "problem", "text";
    }

    /// What a merge of git left, and how it was decided.
    pub struct MergeAnswer("TaskMergeAnswer", closed) {
        /// The tasks that were merged, or would be.
        required merged: Vec<MergedTask> = "merged", "tasks";
        /// What must be corrected by hand.
        required unmerged: Vec<UnmergedFile> = "unmerged", "files";
    }
}

envelope! {
    /// What a merge of git left, and how it was decided.
    TaskMergeEnvelope("TaskMergeEnvelope") of MergeAnswer;
}

operation! {
    /// Decides which versions of tasks count after a merge of git. What only one side changed
    /// counts; of what both changed, the version with a person's decision, then the later one. Of
    /// two tasks with one id, the later one gets the next free id.
    pub struct MergeTasks("merge_tasks", Post at_tasks!("/merge")) of Aof {
        path InProject;
        query Acting;
        body Json<MergeRequest>;
        needs Need::Decide(Decision::Approve);
        answers 200, Json<TaskMergeEnvelope>;
        refuses [COMMON, OF_CHANGES, NO_TREE, super::TASK_FILES];
    }

    /// Writes the file of a task again that was removed, as the log of this copy has it.
    pub struct UndeleteTask("undelete_task", Post at_task!("/undelete")) of Aof {
        path OfTask;
        query Acting;
        body Json<UndeleteRequest>;
        needs Need::Decide(Decision::Approve);
        answers 200, Json<TaskEnvelope>;
        refuses [COMMON, OF_CHANGES, super::OF_TASK];
    }
}

//! What an agent needs to know before it works on a task.

use accord_contract::message;
use accord_tasks_core::TaskId;

use super::{OutputView, TaskDetails};

message! {
    /// A task that was done before, and what it left.
    pub struct BriefingDependency("TaskBriefingDependency", closed) {
        /// The task.
        required id: TaskId = "id", "task-id";
        /// What was done, in one line; absent if there is no such task.
        optional title: String = "title", "text";
        /// Its status; absent if there is no such task.
        optional status: String = "status", "status";
        /// Its folder, within the tree.
        optional folder: String = "folder", "tree-path";
        /// The summary of its last report: the text of the file that the report names.
        optional summary: String = "summary", "markdown";
        /// The notes of its last report.
        optional notes: String = "notes", "text";
        /// The files in its folder `outputs`, by their paths within its folder.
        required outputs: Vec<String> = "outputs", "paths";
        /// How many files are left out of `outputs`.
        required outputs_hidden: u64 = "outputs_hidden", "count";
    }
}

message! {
    /// What an agent needs to know before it works on a task.
    pub struct BriefingAnswer("TaskBriefingAnswer", closed) {
        /// The task, with its body.
        required task: TaskDetails = "task", "task";
        /// The body without the work log.
        required instructions: String = "instructions", "markdown";
        /// The entries of the work log, oldest first.
        required work_log: Vec<String> = "work_log", "texts";
        /// The handoff request: `inputs/handoff.md`.
        optional handoff: String = "handoff", "markdown";
        /// The files in the folder `inputs`.
        required inputs: Vec<OutputView> = "inputs", "files";
        /// How many files are left out of `inputs`.
        required inputs_hidden: u64 = "inputs_hidden", "count";
        /// The tasks that it depends on, and what they left.
        required dependencies: Vec<BriefingDependency> = "dependencies", "dependencies";
        /// The root of the tree, as a path of this machine.
        required root: String = "root", "path";
        /// The folder of the task, as a path of this machine.
        required directory: String = "directory", "path";
    }
}

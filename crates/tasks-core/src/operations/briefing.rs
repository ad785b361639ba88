//! What an agent needs to know before it works on a task.

use accord_api::parameter::{Number, Word};
use accord_api::{Need, operation, params};
use accord_base::Door;
use accord_contract::message;

use super::list::{BUDGET, FORMAT};
use super::{
    COMMON, DOOR, Formatted, OF_TASK, OfTask, OutputView, PersonDecision, ReadFormat, TaskDetails,
    at_task, envelope,
};
use crate::TaskId;
use crate::briefing::{Audience, Briefing, Dependency, Held};
use crate::task::TaskComment;

params! {
    /// In which form a briefing is read.
    #[derive(Default)]
    pub struct BriefingQuery {
        /// `markdown` is shorter, for agents; its budget is 4000 tokens unless `max_tokens` says
        /// otherwise.
        optional format: Word<ReadFormat> = FORMAT;
        /// The most tokens of the Markdown. What does not fit is counted.
        optional max_tokens: Number = BUDGET;
        /// Who reads it: `mcp` for a client of the tools.
        optional door: Word<Door> = DOOR;
    }
}

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
        /// Who approved or closed it.
        optional approval: PersonDecision = "approval", "decision";
        /// What people said about it, as its text has it, oldest first.
        optional comments: Vec<TaskComment> = "comments", "comments";
    }

    /// What an agent needs to know before it works on a task.
    pub struct BriefingAnswer("TaskBriefingAnswer", closed) {
        /// The task, with its body.
        required task: TaskDetails = "task", "task";
        /// The body without the work log and the comments, which are in `task`.
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

envelope! {
    /// What an agent needs to know about a task.
    TaskBriefingEnvelope("TaskBriefingEnvelope") of BriefingAnswer;
}

operation! {
    /// What an agent needs before it works on a task: instructions, why it was sent back, the
    /// handoff, what the tasks before it left, the work log, where to write and how to report.
    pub struct TaskBriefing("task_briefing", Get at_task!("/briefing")) of Aof {
        path OfTask;
        query BriefingQuery;
        needs Need::Read;
        answers 200, Formatted<TaskBriefingEnvelope>;
        refuses [COMMON, OF_TASK];
    }
}

impl BriefingAnswer {
    /// The text for an agent, of at most `budget` tokens, with the memory of the project, if any.
    pub fn text(&self, audience: Audience<'_>, memory: Option<&str>, budget: usize) -> String {
        let task = &self.task;
        let lease = task.lease.as_ref().map(|lease| Held {
            agent: &lease.agent,
            run_id: lease.run_id.as_deref(),
            alive_until: lease.alive_until.as_ref().unwrap_or(&lease.until),
        });
        let sent_back = task.sent_back.as_ref();
        let briefing = Briefing {
            id: task.id,
            project: &task.project_id,
            title: &task.title,
            priority: task.priority,
            status: task.status,
            lease,
            block_reason: task.block_reason.as_deref(),
            due: task.due.as_deref().map(|due| (due, task.overdue == Some(true))),
            comments: task.comments.as_deref().unwrap_or_default(),
            sent_back: sent_back.map(|sent| (sent.by.as_str(), sent.note.as_deref())),
            instructions: &self.instructions,
            work_log: &self.work_log,
            handoff: self.handoff.as_deref(),
            inputs: self.inputs.iter().map(|file| (file.path.as_str(), file.bytes)).collect(),
            inputs_hidden: self.inputs_hidden,
            dependencies: self.dependencies.iter().map(|task| task.part(&self.root)).collect(),
            memory,
            file: format!("{}/{}", self.root, task.path),
            directory: &self.directory,
        };
        briefing.text(audience, budget)
    }
}

impl BriefingDependency {
    fn part(&self, root: &str) -> Dependency<'_> {
        Dependency {
            id: self.id,
            title: self.title.as_deref().unwrap_or_default(),
            status: self.status.as_deref(),
            folder: self.folder.as_ref().map(|folder| format!("{root}/{folder}")),
            summary: self.summary.as_deref(),
            notes: self.notes.as_deref(),
            outputs: &self.outputs,
            outputs_hidden: self.outputs_hidden,
            approval: self.approval.as_ref().map(|said| (said.by.as_str(), said.note.as_deref())),
            comments: self.comments.as_deref().unwrap_or_default(),
        }
    }
}

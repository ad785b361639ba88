//! Somebody says something about a task.

use accord_base::By;
use accord_contract::{Code, Failure, Time};
use accord_tasks_core::operations::{CommentRequest, TaskAnswer};
use accord_tasks_core::task::{TaskComment, TaskFile, split_comments};
use accord_tasks_core::verbs;

use crate::{Result, Tree};

/// The most comments of an answer to an agent that works, the newest.
const SHOWN: usize = 10;

impl Tree {
    /// Adds a comment to a task.
    pub fn comment(&self, task: &str, request: &CommentRequest, by: &By) -> Result<TaskAnswer> {
        let text = request.text.clone();
        if text.trim().is_empty() {
            let failure = Failure::new(Code::WireFieldValue, "a comment is not empty");
            return Err(failure.at("/text"));
        }
        self.by_verb(task, by, move |_, file, subject| Ok(verbs::comment(subject, file, &text)))
    }
}

/// What others said about a task since its run began, for the agent that works on it.
pub(crate) fn since_begin(file: &TaskFile, agent: &str) -> Option<Vec<TaskComment>> {
    let began = file.task().lease.value()?.acquired_at.time();
    let is_new = |comment: &TaskComment| is_since(began, comment) && comment.by != agent;
    let (_, comments) = split_comments(file.body());
    let mut comments: Vec<TaskComment> = comments.into_iter().filter(is_new).collect();
    comments.drain(..comments.len().saturating_sub(SHOWN));
    (!comments.is_empty()).then_some(comments)
}

fn is_since(began: Time, comment: &TaskComment) -> bool {
    comment.at.time() >= began
}

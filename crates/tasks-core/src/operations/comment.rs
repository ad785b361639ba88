//! What people and agents say about a task.

use accord_api::{Json, Need, operation};
use accord_contract::{Limits, TextForm};

use super::{Acting, COMMON, OF_CHANGES, OF_TASK, OfTask, TaskEnvelope, at_task, request};

/// The longest comment, in characters.
const TEXT: TextForm = TextForm::ANY.chars(1, 10_000).without_nul();

request! {
    /// A comment.
    pub struct CommentRequest("TaskCommentRequest") {
        /// The text, in Markdown.
        required text: String = "text", "markdown", Limits::text(TEXT);
    }
}

operation! {
    /// Adds a comment to a task, whatever its status is. It is in the section Comments of the body
    /// and in the event `task.commented`, with who said it and when. The agent that works on the
    /// task reads it in the answer to its next heartbeat or message, the next one in its briefing.
    pub struct CommentOnTask("comment_on_task", Post at_task!("/comments")) of Aof {
        path OfTask;
        query Acting;
        body Json<CommentRequest>;
        needs Need::Write;
        answers 200, Json<TaskEnvelope>;
        refuses [COMMON, OF_CHANGES, OF_TASK];
    }
}

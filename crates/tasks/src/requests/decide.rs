//! What people decide about a task.

use accord_contract::wire::{Limits, TextForm};

use super::request;

/// The longest reason. A reason reaches metadata, events and briefings.
const REASON: TextForm = TextForm::ANY.chars(1, 2_000).without_nul();
const DIGEST: TextForm = TextForm::ANY.chars(12, 64);
const TASK: TextForm = TextForm::ANY.chars(1, 64);

request! {
    /// A task cannot go on.
    pub struct BlockRequest("TaskBlockRequest") {
        /// Why.
        required reason: String = "reason", "text", Limits::text(REASON);
    }
}

request! {
    /// A blocked task can go on.
    pub struct UnblockRequest("TaskUnblockRequest") {
        /// Why.
        optional reason: String = "reason", "text", Limits::text(REASON);
    }
}

request! {
    /// A task is given up.
    pub struct CancelRequest("TaskCancelRequest") {
        /// Why.
        optional reason: String = "reason", "text", Limits::text(REASON);
    }
}

request! {
    /// A person ends a task as done, whatever its status is.
    pub struct CloseRequest("TaskCloseRequest") {
        /// A note for the records.
        optional note: String = "note", "text", Limits::text(REASON);
        /// The evidence that the person saw, or the beginning of its digest.
        optional expect: String = "expect", "evidence-digest", Limits::text(DIGEST);
    }
}

request! {
    /// A person ends a review: the task is done.
    pub struct ApproveRequest("TaskApproveRequest") {
        /// A note for the records.
        optional note: String = "note", "text", Limits::text(REASON);
        /// The evidence that the person saw, or the beginning of its digest.
        optional expect: String = "expect", "evidence-digest", Limits::text(DIGEST);
    }
}

request! {
    /// A person ends a review: the task is ready again, and the next agent reads why.
    pub struct SendBackRequest("TaskSendBackRequest") {
        /// Why.
        required reason: String = "reason", "text", Limits::text(REASON);
        /// The evidence that the person saw, or the beginning of its digest.
        optional expect: String = "expect", "evidence-digest", Limits::text(DIGEST);
    }
}

request! {
    /// A person takes over what a file says, where Accord refused it.
    pub struct AdoptRequest("TaskAdoptRequest") {
        /// Whether to say only what would be taken over, and change nothing.
        optional dry_run: bool = "dry_run", "flag";
        /// A note for the records.
        optional note: String = "note", "text", Limits::text(REASON);
        /// The evidence that the person saw, or the beginning of its digest.
        optional expect: String = "expect", "evidence-digest", Limits::text(DIGEST);
    }
}

request! {
    /// A task of the backlog becomes ready.
    pub struct PromoteRequest("TaskPromoteRequest") {
        /// Whether it becomes ready although it waits for tasks. Only a person can force it.
        optional force: bool = "force", "flag";
    }
}

request! {
    /// A dead letter becomes ready again, with a new retry budget.
    pub struct ResurrectRequest("TaskResurrectRequest") {
        /// Why.
        optional reason: String = "reason", "text", Limits::text(REASON);
    }
}

request! {
    /// A dependency of a task.
    pub struct DependencyRequest("TaskDependencyRequest") {
        /// The task that must be done first.
        required blocker: String = "blocker", "task-reference", Limits::text(TASK);
    }
}

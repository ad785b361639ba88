//! What people decide about a task.

use accord_api::parameter::Text;
use accord_api::{Decision, Json, Need, operation, params};
use accord_contract::{Code, Limits, TextForm};

use super::adopt::AdoptRequest;
use super::{Acting, COMMON, OF_CHANGES, OF_TASK, OfTask, TaskEnvelope, at_task, request};

/// The longest reason. A reason reaches metadata, events and briefings.
pub(super) const REASON: TextForm = TextForm::ANY.chars(1, 2_000).without_nul();
pub(super) const DIGEST: TextForm = TextForm::ANY.chars(12, 64);

/// The refusals of a decision that is not about what waits now.
pub(super) const OUTDATED: &[Code] = &[Code::XchainEvidenceChanged, Code::DecisionStale];
/// The refusal of a decision while a process of the task's worker runs.
pub(super) const STILL_RUNS: &[Code] = &[Code::WorkerStillRuns];
const REVIEWS: &[Code] = &[Code::AofInvalidTaskTransition];

params! {
    /// What the person saw.
    pub struct ExpectedEvidence {
        /// The entity tag of the task that the person saw.
        optional expected: Text = Text::new("if-match", TextForm::ANY);
    }
}

/// A decision that says what the person saw.
pub trait Deciding {
    /// The digest of the evidence that the person saw, or its beginning.
    fn expect(&mut self) -> &mut Option<String>;

    /// Whether the person decides although a process of the task's worker still runs.
    fn despite_leftovers(&self) -> bool;
}

macro_rules! deciding {
    ($($request:ty)*) => {$(
        impl Deciding for $request {
            fn expect(&mut self) -> &mut Option<String> {
                &mut self.expect
            }

            fn despite_leftovers(&self) -> bool {
                self.despite_leftovers == Some(true)
            }
        }
    )*};
}
deciding!(
    ApproveRequest SendBackRequest CloseRequest CancelRequest ResurrectRequest ReopenRequest
    AdoptRequest
);

request! {
    /// A person ends a review: the task is done.
    pub struct ApproveRequest("TaskApproveRequest") {
        /// A note for the records.
        optional note: String = "note", "text", Limits::text(REASON);
        /// The evidence that the person saw, or the beginning of its digest.
        optional expect: String = "expect", "evidence-digest", Limits::text(DIGEST);
        /// Whether the person, at a terminal or on a page, decides although a process of the
        /// task's worker still runs.
        optional despite_leftovers: bool = "despite_leftovers", "flag";
    }
}

operation! {
    /// A person ends a review: the task is done. With `expect`, only if the evidence is what the
    /// person saw.
    pub struct ApproveTask("approve_task", Post at_task!("/approve")) of Aof {
        path OfTask;
        query Acting;
        headers ExpectedEvidence;
        body Json<ApproveRequest>;
        needs Need::Decide(Decision::Review);
        answers 200, Json<TaskEnvelope>;
        refuses [COMMON, OF_CHANGES, OF_TASK, OUTDATED, STILL_RUNS, REVIEWS];
    }
}

request! {
    /// A person ends a review: the task is ready again, and the next agent reads why.
    pub struct SendBackRequest("TaskSendBackRequest") {
        /// Why.
        required reason: String = "reason", "text", Limits::text(REASON);
        /// The evidence that the person saw, or the beginning of its digest.
        optional expect: String = "expect", "evidence-digest", Limits::text(DIGEST);
        /// Whether the person, at a terminal or on a page, decides although a process of the
        /// task's worker still runs.
        optional despite_leftovers: bool = "despite_leftovers", "flag";
    }
}

operation! {
    /// A person ends a review: the task is ready again, and its next agent reads why.
    pub struct SendBackTask("send_back_task", Post at_task!("/send-back")) of Aof {
        path OfTask;
        query Acting;
        headers ExpectedEvidence;
        body Json<SendBackRequest>;
        needs Need::Decide(Decision::Review);
        answers 200, Json<TaskEnvelope>;
        refuses [COMMON, OF_CHANGES, OF_TASK, OUTDATED, STILL_RUNS, REVIEWS];
    }
}

request! {
    /// A person ends a task as done, whatever its status is.
    pub struct CloseRequest("TaskCloseRequest") {
        /// A note for the records.
        optional note: String = "note", "text", Limits::text(REASON);
        /// The evidence that the person saw, or the beginning of its digest.
        optional expect: String = "expect", "evidence-digest", Limits::text(DIGEST);
        /// Whether the person, at a terminal or on a page, decides although a process of the
        /// task's worker still runs.
        optional despite_leftovers: bool = "despite_leftovers", "flag";
    }
}

operation! {
    /// A person ends a task as done, whatever its status is.
    pub struct CloseTask("close_task", Post at_task!("/close")) of Aof {
        path OfTask;
        query Acting;
        headers ExpectedEvidence;
        body Json<CloseRequest>;
        needs Need::Decide(Decision::Review);
        answers 200, Json<TaskEnvelope>;
        refuses [COMMON, OF_CHANGES, OF_TASK, OUTDATED, STILL_RUNS, &[Code::AofTaskFinished]];
    }
}

request! {
    /// A task is given up.
    pub struct CancelRequest("TaskCancelRequest") {
        /// Why.
        optional reason: String = "reason", "text", Limits::text(REASON);
        /// The evidence that the person saw, or the beginning of its digest.
        optional expect: String = "expect", "evidence-digest", Limits::text(DIGEST);
        /// Whether the person, at a terminal or on a page, decides although a process of the
        /// task's worker still runs.
        optional despite_leftovers: bool = "despite_leftovers", "flag";
    }
}

operation! {
    /// A person gives a task up.
    pub struct CancelTask("cancel_task", Post at_task!("/cancel")) of Aof {
        path OfTask;
        query Acting;
        headers ExpectedEvidence;
        body Json<CancelRequest>;
        needs Need::Decide(Decision::Review);
        answers 200, Json<TaskEnvelope>;
        refuses [COMMON, OF_CHANGES, OF_TASK, OUTDATED, STILL_RUNS, &[Code::AofTaskFinished]];
    }
}

request! {
    /// A dead letter becomes ready again, with a new retry budget.
    pub struct ResurrectRequest("TaskResurrectRequest") {
        /// Why.
        optional reason: String = "reason", "text", Limits::text(REASON);
        /// The evidence that the person saw, or the beginning of its digest.
        optional expect: String = "expect", "evidence-digest", Limits::text(DIGEST);
        /// Whether the person, at a terminal or on a page, decides although a process of the
        /// task's worker still runs.
        optional despite_leftovers: bool = "despite_leftovers", "flag";
    }
}

operation! {
    /// A person makes a dead letter ready again, with a new retry budget.
    pub struct ResurrectTask("resurrect_task", Post at_task!("/resurrect")) of Aof {
        path OfTask;
        query Acting;
        headers ExpectedEvidence;
        body Json<ResurrectRequest>;
        needs Need::Decide(Decision::Review);
        answers 200, Json<TaskEnvelope>;
        refuses [COMMON, OF_CHANGES, OF_TASK, OUTDATED, STILL_RUNS, REVIEWS];
    }
}

request! {
    /// A finished task is opened again, and its next agent reads why.
    pub struct ReopenRequest("TaskReopenRequest") {
        /// Why.
        required reason: String = "reason", "text", Limits::text(REASON);
        /// The evidence that the person saw, or the beginning of its digest.
        optional expect: String = "expect", "evidence-digest", Limits::text(DIGEST);
        /// Whether the person, at a terminal or on a page, decides although a process of the
        /// task's worker still runs.
        optional despite_leftovers: bool = "despite_leftovers", "flag";
    }
}

operation! {
    /// A person opens a task that is done or cancelled again: it is ready, or in the backlog if it
    /// waits for others. What waits for it waits again.
    pub struct ReopenTask("reopen_task", Post at_task!("/reopen")) of Aof {
        path OfTask;
        query Acting;
        headers ExpectedEvidence;
        body Json<ReopenRequest>;
        needs Need::Decide(Decision::Review);
        answers 200, Json<TaskEnvelope>;
        refuses [COMMON, OF_CHANGES, OF_TASK, OUTDATED, STILL_RUNS, REVIEWS];
    }
}

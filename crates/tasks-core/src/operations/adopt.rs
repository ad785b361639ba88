//! What a person takes over from a file.

use accord_api::{Decision, Json, Need, operation};
use accord_contract::{Code, Limits, TextForm, Value, message};

use super::decide::{DIGEST, ExpectedEvidence, OUTDATED, REASON, STILL_RUNS};
use super::{
    Acting, COMMON, InProject, NO_TREE, OF_CHANGES, OF_TASK, OfTask, TaskDetails, TaskMove,
    TaskNotice, at_task, at_tasks, envelope, request,
};

use crate::TaskId;

const ADOPTS: &[Code] = &[Code::AofNothingToAdopt];
const WRITER: TextForm = TextForm::ANY.chars(1, 64).without_nul();

request! {
    /// A person takes over what a file says, where Accord refused it.
    pub struct AdoptRequest("TaskAdoptRequest") {
        /// Whether to say only what would be taken over, and change nothing.
        optional dry_run: bool = "dry_run", "flag";
        /// A note for the records.
        optional note: String = "note", "text", Limits::text(REASON);
        /// The evidence that the person saw, or the beginning of its digest.
        optional expect: String = "expect", "evidence-digest", Limits::text(DIGEST);
        /// Whether the person, at a terminal or on a page, decides although a process of the
        /// task's worker still runs.
        optional despite_leftovers: bool = "despite_leftovers", "flag";
    }
}

message! {
    /// A difference that was taken over.
    pub struct AdoptedChange("TaskAdoptedChange", closed) {
        /// The member.
        required member: String = "member", "name";
        /// What Accord had; null for nothing.
        required accord: Value = "accord", "value";
        /// What the file says; null for nothing.
        required file: Value = "file", "value";
    }

    /// What a person took over from a file.
    pub struct AdoptAnswer("TaskAdoptAnswer", closed) {
        /// The task as it is now; absent for the settings of the tree.
        optional task: TaskDetails = "task", "task";
        /// What changed, or would change.
        required adopted: Vec<AdoptedChange> = "adopted", "changes";
        /// The digest of what the decision is about, for `expect`.
        optional evidence: String = "evidence", "evidence-digest";
        /// Moves, in order.
        required moves: Vec<TaskMove> = "moves", "moves";
        /// The statuses that people are notified about.
        required notices: Vec<TaskNotice> = "notices", "notices";
    }
}

request! {
    /// A person confirms another copy of the tree.
    pub struct AdoptWriterRequest("TaskAdoptWriterRequest") {
        /// A writer of that copy, as the names of its event logs say it.
        required writer: String = "writer", "writer-id", Limits::text(WRITER);
        /// Whether to say only what would be confirmed, and change nothing.
        optional dry_run: bool = "dry_run", "flag";
        /// A note for the records.
        optional note: String = "note", "text", Limits::text(REASON);
        /// The evidence that the person saw, or the beginning of its digest.
        optional expect: String = "expect", "evidence-digest", Limits::text(DIGEST);
    }
}

message! {
    /// Another copy of the tree, which a person confirms.
    pub struct AdoptWriterAnswer("TaskAdoptWriterAnswer", closed) {
        /// The writer that was named.
        required writer: String = "writer", "writer-id";
        /// The public key of the copy, with which it signs its events.
        required key: String = "key", "public-key";
        /// Who acted in that copy, as its events say, the most frequent first.
        required actors: Vec<String> = "actors", "actor-ids";
        /// How many events it signed.
        required events: u64 = "events", "count";
        /// The tasks that wait for this confirmation.
        required tasks: Vec<TaskId> = "tasks", "task-ids";
        /// Whether the copy is confirmed now.
        required confirmed: bool = "confirmed", "flag";
        /// The digest of what the decision is about, for `expect`.
        required evidence: String = "evidence", "evidence-digest";
    }
}

envelope! {
    /// What a person took over from a file.
    TaskAdoptEnvelope("TaskAdoptEnvelope") of AdoptAnswer;
    /// Another copy of the tree, which a person confirms.
    TaskAdoptWriterEnvelope("TaskAdoptWriterEnvelope") of AdoptWriterAnswer;
}

operation! {
    /// A person takes over what the file of a task says, where Accord refused it.
    pub struct AdoptTask("adopt_task", Post at_task!("/adopt")) of Aof {
        path OfTask;
        query Acting;
        headers ExpectedEvidence;
        body Json<AdoptRequest>;
        needs Need::Decide(Decision::Approve);
        answers 200, Json<TaskAdoptEnvelope>;
        refuses [COMMON, OF_CHANGES, OF_TASK, OUTDATED, STILL_RUNS, ADOPTS];
    }

    /// A person takes over what `project.yaml` says about `apply` and `review`.
    pub struct AdoptSettings("adopt_task_settings", Post at_tasks!("/adopt-settings")) of Aof {
        path InProject;
        query Acting;
        body Json<AdoptRequest>;
        needs Need::Decide(Decision::Approve);
        answers 200, Json<TaskAdoptEnvelope>;
        refuses [COMMON, OF_CHANGES, NO_TREE, OUTDATED, ADOPTS];
    }

    /// A person confirms another copy of the tree: what its events sign counts from now on.
    pub struct AdoptWriter("adopt_task_writer", Post at_tasks!("/adopt-writer")) of Aof {
        path InProject;
        query Acting;
        body Json<AdoptWriterRequest>;
        needs Need::Decide(Decision::Approve);
        answers 200, Json<TaskAdoptWriterEnvelope>;
        refuses [COMMON, OF_CHANGES, NO_TREE, OUTDATED, ADOPTS];
    }
}

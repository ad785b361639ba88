//! The end of a run, as the process that watched its agent reports it.

use accord_api::{Json, Need, operation};
use accord_contract::{Limits, TextForm, Timestamp, message, wire_enum};

use super::claim::OF_RUN;
use super::{
    Acting, COMMON, OF_CHANGES, OF_TASK, OfTask, TaskChanges, TaskObserved, at_task, envelope,
};
use crate::{Status, TaskId};

const NAME: TextForm = TextForm::ANY.chars(1, 256).without_nul();

wire_enum! {
    /// How the program of an agent ended.
    pub enum AgentExit("TaskAgentExit", closed) {
        /// By itself, with exit code 0.
        Success = "success",
        /// In any other way, or it did not start.
        Failure = "failure",
        /// It was ended because the work was cancelled.
        Cancelled = "cancelled",
        /// It was ended because the process that watched it had been killed, or could not reach the
        /// host for as long as the lease holds.
        WorkerKilled = "worker_killed",
    }

    /// How a run ended.
    pub enum RunEnding("TaskRunEnding", closed) {
        /// The agent reported.
        Reported = "reported",
        /// The agent failed, and left no report that counts.
        Failed = "failed",
        /// The run was taken back because its worker had been killed.
        Reclaimed = "reclaimed",
        /// The task was given back.
        Released = "released",
        /// The task was given to another run, or moved by a person. Nothing was changed.
        Lost = "lost",
    }
}

message! {
    /// The program of an agent ended.
    pub struct EndRunRequest("TaskEndRunRequest", closed) {
        /// The agent. Default: the caller.
        optional agent: String = "agent", "agent-id", Limits::text(NAME);
        /// The run.
        required run_id: String = "run_id", "run-id", Limits::text(NAME);
        /// How the program ended.
        required exit: AgentExit = "exit", "agent-exit";
        /// After `success`: the last lines of the output. After `failure`: what went wrong. Used if
        /// the agent left no report.
        optional text: String = "text", "text";
        /// What the process that watched the agent observed. An agent can send it only with
        /// `uploads`: what was seen on another machine is kept as the words of who sends it.
        optional observed: TaskObserved = "observed", "observed";
        /// Whether the outputs of the run, with its report, are what it uploaded, also if that is
        /// nothing.
        optional uploads: bool = "uploads", "flag";
        /// What the agent changed in the repository that it worked in, on another machine. It is
        /// recorded with what was observed.
        optional changes: TaskChanges = "changes", "changes";
    }

    /// How a run ended.
    pub struct EndRunAnswer("TaskEndRunAnswer", closed) {
        /// The task.
        required task_id: TaskId = "task_id", "task-id";
        /// How the run ended.
        required ending: RunEnding = "ending", "run-ending";
        /// The status of the task now.
        required status: Status = "status", "status";
        /// What went wrong, if the run failed.
        optional error: String = "error", "text";
        /// When the task is tried again, if it is.
        optional retry_at: Timestamp = "retry_at", "time:iso-8601";
    }
}

envelope! {
    /// How a run ended.
    TaskEndRunEnvelope("TaskEndRunEnvelope") of EndRunAnswer;
}

operation! {
    /// Ends the run of an agent whose program ended. A report in `outputs/report.json` of the
    /// task's folder is applied first, then a result that waits for the end of the session.
    /// Without a report, a program that ended well leads to a review, one that failed to another
    /// attempt, and one that was cancelled gives the task back. A run that does not hold the task
    /// changes nothing.
    pub struct EndRun("end_task_run", Post at_task!("/run-end")) of Aof {
        path OfTask;
        query Acting;
        body Json<EndRunRequest>;
        needs Need::Write;
        answers 200, Json<TaskEndRunEnvelope>;
        refuses [COMMON, OF_CHANGES, OF_TASK, OF_RUN];
    }
}

//! The outputs of a task: listed, read, and uploaded by a worker that does not have the files of
//! the tree.

use accord_api::body::Bytes;
use accord_api::parameter::{Definition, Described, Flag, Number, Params, Text, Word};
use accord_api::{Json, Need, operation, params};
use accord_base::{Door, refuse};
use accord_contract::{Code, Failure, TextForm, message};

use super::claim::OF_RUN;
use super::{
    ACTOR, COMMON, DOOR, OF_CHANGES, OF_TASK, OfTask, OutputView, TaskChanges, at_task, envelope,
};
use crate::uploads::{MOST_BYTES, PATH};
use crate::{Status, TaskId};

const NAME: TextForm = TextForm::ANY.chars(1, 256).without_nul();
const FILE: TextForm = TextForm::ANY.chars(1, PATH).without_nul().example("outputs/result.txt");
const DIGEST: TextForm = TextForm::ANY.pattern("^[0-9a-f]{64}$").example(EMPTY);
/// The digest of an empty file.
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// The digest of a file, in a query.
pub struct FileDigest;

params! {
    /// Which files are listed, and what beside them.
    #[derive(Default)]
    pub struct OutputsQuery {
        /// Lists the inputs in place of the outputs.
        flag inputs: Flag = Flag::new("inputs");
        /// Lists the files after this path: `next` of an earlier answer.
        optional after: Text = Text::new("after", FILE);
        /// Adds what the agent changed in the repository that it worked in, on another machine.
        flag changes: Flag = Flag::new("changes");
    }

    /// Which file of a task is read.
    pub struct FileQuery {
        /// Its path within the folder of the task. One that begins neither with `outputs/` nor with
        /// `inputs/` is in `outputs`.
        required path: Text = Text::new("path", FILE);
        /// The first byte that is read.
        optional offset: Number = Number::new("offset", 0, u32::MAX).or(0);
    }

    /// A part of a file that the agent of a run left.
    pub struct StageQuery {
        /// Who acts: `human:NAME`, `script:NAME`, `agent:NAME`, or the plain name of an agent.
        /// Default: the actor of the key.
        optional actor: Text = ACTOR;
        /// Which kind of client asks, for the records. `cli` counts only through the socket of
        /// the data folder.
        optional door: Word<Door> = DOOR;
        /// The agent. Default: the caller.
        optional agent: Text = Text::new("agent", NAME.example("builder"));
        /// The size of the whole file, in bytes. Default: the end of the body is that of the file.
        optional size: Number = Number::new("size", 0, u32::MAX);
        /// Which byte of the file the first one of the body is.
        optional offset: Number = Number::new("offset", 0, u32::MAX).or(0);
        /// Whether the file is a program.
        flag executable: Flag = Flag::new("executable");
        /// The run, which must hold the task.
        required run_id: Text = Text::new("run_id", NAME.example("run-1"));
        /// The path of the file within the folder of the task; it begins with `outputs/`.
        required path: Text = Text::new("path", FILE);
        /// The SHA-256 of the whole file: 64 hexadecimal digits.
        required sha256: FileDigest = FileDigest;
    }
}

message! {
    /// The files in `outputs/` of a task, or in `inputs/`.
    pub struct OutputsAnswer("TaskOutputsAnswer", closed) {
        /// The task.
        required task_id: TaskId = "task_id", "task-id";
        /// Its status.
        required status: Status = "status", "status";
        /// The files, by their paths within the folder of the task.
        required outputs: Vec<OutputView> = "outputs", "outputs";
        /// How many are left out: links, and files beyond the 2,000 of this answer.
        required hidden: u64 = "hidden", "count";
        /// The path of the last file, if more follow: `after` of the next request.
        optional next: String = "next", "path";
        /// What the agent changed in its repository on another machine, if that is asked for.
        optional changes: TaskChanges = "changes", "changes";
        /// Who says what changed. This host did not see it.
        optional changes_said_by: String = "changes_said_by", "actor";
    }

    /// How much of a file is uploaded.
    pub struct StagedAnswer("TaskStagedAnswer", closed) {
        /// How many of its bytes are there. The next ones follow them.
        required received: u64 = "received", "bytes";
        /// Whether the file is complete and has its digest.
        required complete: bool = "complete", "flag";
    }
}

envelope! {
    /// The files in `outputs/` of a task.
    TaskOutputsEnvelope("TaskOutputsEnvelope") of OutputsAnswer;
    /// How much of a file is uploaded.
    TaskStagedEnvelope("TaskStagedEnvelope") of StagedAnswer;
}

operation! {
    /// Lists the files that the agents of a task left, or those that they read, with sizes and
    /// digests.
    pub struct TaskOutputs("task_outputs", Get at_task!("/outputs")) of Aof {
        path OfTask;
        query OutputsQuery;
        needs Need::Read;
        answers 200, Json<TaskOutputsEnvelope>;
        refuses [COMMON, OF_TASK];
    }

    /// Reads a file in `outputs` or `inputs` of a task. A link is no file.
    pub struct ReadTaskFile("task_file", Get at_task!("/file")) of Aof {
        path OfTask;
        query FileQuery;
        needs Need::Read;
        answers 200 "The bytes from the offset to the end.", Bytes;
        refuses [COMMON, OF_TASK, &[Code::AofPathOutsideTask, Code::AofOutputNotFound]];
    }

    /// Uploads a part of an output, of at most 1 MiB. An empty body asks how much is there; a file
    /// that the task has with this digest is taken from there. What a run uploaded takes the place
    /// of `outputs/` in the commit that records its report, and is removed if the run ends without
    /// one.
    pub struct StageOutput("stage_output", Put at_task!("/outputs")) of Aof {
        path OfTask;
        query StageQuery;
        body Bytes;
        needs Need::Write;
        answers 200, Json<TaskStagedEnvelope>;
        refuses [
            COMMON,
            OF_CHANGES,
            OF_TASK,
            OF_RUN,
            &[
                Code::AofPathOutsideTask,
                Code::AofOutputTooLarge,
                Code::AofOutputOffset,
                Code::AofOutputDamaged,
                Code::AofRunReported,
            ],
        ];
    }
}

impl Definition for FileDigest {
    type Value = String;

    fn value(&self, params: &Params<'_>) -> Result<Option<String>, Failure> {
        let Some(text) = params.text("sha256") else { return Ok(None) };
        let is_digit = |letter: u8| letter.is_ascii_digit() || (b'a'..=b'f').contains(&letter);
        if text.len() == EMPTY.len() && text.bytes().all(is_digit) {
            return Ok(Some(text.to_owned()));
        }
        Err(refuse::schema("/sha256", "a digest has 64 lowercase hexadecimal digits"))
    }

    fn text(&self, value: &String) -> String {
        value.clone()
    }

    fn described(&self) -> Described {
        Text::new("sha256", DIGEST).described()
    }
}

/// Whether the largest file fits into the numbers of the parameters.
const _: () = assert!(MOST_BYTES < u32::MAX);

//! What Accord observed about the run of an agent, beside what the agent says.

use accord_base::client_output::ClientCost;
use accord_contract::{Code, Failure, Limits, TextForm, message};

const NAME: TextForm = TextForm::ANY.chars(1, 256).without_nul();
/// The longest output of a check, command or name of a file.
const TEXT: TextForm = TextForm::ANY.chars(0, 4_000).without_nul();
/// The longest difference of a file.
const DIFF: TextForm = TextForm::ANY.bytes(MOST_OF_FILE);
/// The most bytes of the difference of one file.
const MOST_OF_FILE: usize = 64 * 1024;
/// The most bytes of the differences of a run.
const MOST_OF_RUN: usize = 256 * 1024;
/// The most files of a run that are named with what changed in them.
pub const CHANGED: usize = 1_000;
/// The most checks of a task.
pub const CHECKS: usize = 20;
/// The most changed files and commits of a record.
pub const CHANGES: usize = 100;

message! {
    /// A check of a task, as Accord ran it after the agent had ended.
    pub struct TaskCheck("TaskCheck", closed) {
        /// The program and its arguments.
        required argv: Vec<String> = "argv", "argument-list";
        /// The exit code; absent if it did not end by itself.
        optional exit_code: i64 = "exit_code", "exit-code";
        /// Why there is no exit code.
        optional problem: String = "problem", "text", Limits::text(TEXT);
        /// How long it took.
        required duration_ms: u64 = "duration_ms", "duration:ms";
        /// The last lines of its output.
        required output: String = "output", "text", Limits::text(TEXT);
        /// The sandbox that it ran in: `bubblewrap`, `landlock`, or `off` with the reason.
        required sandbox: String = "sandbox", "text", Limits::text(TEXT);
    }

    /// What the clients of agents print about their cost. An agent can print the same.
    pub struct TaskCost("TaskCost", closed) {
        /// In millionths of a US dollar.
        optional micro_usd: u64 = "micro_usd", "amount:micro-usd";
        /// The tokens that were read.
        required input_tokens: u64 = "input_tokens", "count";
        /// The tokens that were written.
        required output_tokens: u64 = "output_tokens", "count";
    }

    /// What Accord observed about the run of an agent that it started.
    pub struct TaskObserved("TaskObserved", closed) {
        /// The run.
        required run_id: String = "run_id", "run-id", Limits::text(NAME);
        /// The sandbox that the agent ran in: `bubblewrap`, `landlock`, or `off` with the reason.
        required sandbox: String = "sandbox", "text", Limits::text(TEXT);
        /// The checks of the task as they were when it was claimed.
        required checks: Vec<TaskCheck> = "checks", "checks";
        /// The folder that the agent worked in.
        required work_tree: String = "work_tree", "path", Limits::text(TEXT);
        /// The commit that was checked out when the agent began, if the folder is under git.
        optional base: String = "base", "commit", Limits::text(NAME);
        /// The commits since then, newest first.
        required commits: Vec<String> = "commits", "texts", Limits::texts(CHANGES, TEXT);
        /// The files that differ from that commit.
        required files: Vec<String> = "files", "paths", Limits::texts(CHANGES, TEXT);
        /// How many commits and files are left out.
        required left_out: u64 = "left_out", "count";
        /// What all runs of the task cost, as the output of the clients says. Absent if it does
        /// not.
        optional cost: TaskCost = "cost", "cost";
        /// What git, agents or editors execute or follow, and what changed while the agent ran.
        optional executed: Vec<String> = "executed", "paths", Limits::texts(CHANGES, TEXT);
        /// Whether the folder is on another machine.
        optional elsewhere: bool = "elsewhere", "flag";
        /// Who says all of this, if the process that watched the agent ran on another machine: the
        /// actor that ended the run. The host that has the task saw none of it.
        optional said_by: String = "said_by", "actor", Limits::text(NAME);
        /// Whether the checks ran on the machine that has the task, and the rest did not.
        optional checked_here: bool = "checked_here", "flag";
        /// The SHA-256 of what changed there, which `task_outputs` answers.
        optional changes: String = "changes", "digest", Limits::text(NAME);
    }

    /// A file that an agent changed in the repository that it worked in.
    pub struct TaskChange("TaskChange", closed) {
        /// Its path within the repository.
        required path: String = "path", "path", Limits::text(TEXT);
        /// Its size; null if it is gone.
        required_or_null size: u64 = "size", "bytes";
        /// Its SHA-256; null if it is gone, or was not read.
        required_or_null sha256: String = "sha256", "digest";
        /// Whether it is no text.
        optional binary: bool = "binary", "flag";
        /// What changed in it, without credentials.
        optional diff: String = "diff", "diff", Limits::text(DIFF);
        /// Whether the end of that is cut off.
        optional cut: bool = "cut", "flag";
    }

    /// What an agent changed in the repository that it worked in, on another machine.
    pub struct TaskChanges("TaskChanges", closed) {
        /// The files.
        required files: Vec<TaskChange> = "files", "changes", Limits::items(CHANGED);
        /// What was cut off or left out.
        optional cuts: Vec<String> = "cuts", "texts", Limits::texts(CHANGED + 1, TEXT);
    }
}

impl From<ClientCost> for TaskCost {
    fn from(cost: ClientCost) -> Self {
        Self {
            micro_usd: cost.usd.map(|usd| (usd * 1e6).round() as u64),
            input_tokens: cost.input_tokens,
            output_tokens: cost.output_tokens,
        }
    }
}

impl From<&TaskCost> for ClientCost {
    fn from(cost: &TaskCost) -> Self {
        Self {
            usd: cost.micro_usd.map(|micro| micro as f64 / 1e6),
            input_tokens: cost.input_tokens,
            output_tokens: cost.output_tokens,
        }
    }
}

impl TaskChanges {
    /// Checks that the differences are not too long together.
    pub fn check(&self) -> Result<(), Failure> {
        let bytes: usize = self.files.iter().filter_map(|it| Some(it.diff.as_ref()?.len())).sum();
        if bytes <= MOST_OF_RUN {
            return Ok(());
        }
        let message = format!("the differences have {bytes} bytes; the most are {MOST_OF_RUN}");
        Err(Failure::new(Code::WireFieldValue, message).at("/changes"))
    }
}

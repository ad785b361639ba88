//! The tree of a project: its settings, the scheduler, its files.

use std::collections::BTreeMap;

use accord_api::parameter::Number;
use accord_api::{Json, Need, operation, params};
use accord_contract::{Code, Limits, TextForm, Timestamp, message, wire_enum};

use super::{
    Acting, COMMON, InProject, NO_TREE, OF_CHANGES, TaskMove, TaskNotice, at_tasks, envelope,
    request,
};
use crate::TaskId;

const NAME: TextForm = TextForm::ANY.chars(1, 256).without_nul();
/// At most a week.
const DURATION: Limits = Limits::whole(1_000, 604_800_000);

wire_enum! {
    /// When a report moves its task.
    pub enum ApplyMode("TaskApplyMode", closed) {
        /// When it arrives.
        AtOnce = "at-once",
        /// When the session of its agent ends.
        SessionEnd = "session-end",
    }

    /// Who may end a review.
    pub enum ReviewMode("TaskReviewMode", closed) {
        /// A person, unless the task says `reviewBy: agent`.
        Human = "human",
        /// The task's agent too, as in the guide.
        Guide = "guide",
    }

    /// Where run artifacts are.
    pub enum LayoutName("TaskRunLayout", closed) {
        /// `runs/`, as in the guide.
        Guide = "guide",
        /// `state/runs/`, as in the reference.
        Upstream = "upstream",
    }

    /// What tells the ids of tasks of one day apart.
    pub enum IdForm("TaskIdForm", closed) {
        /// Numbers: `001`, and after `999` `001-01`.
        Number = "number",
        /// Eight letters and digits. Readers by the pattern of the guide refuse them.
        Random = "random",
    }

    /// The type of a project.
    pub enum ProjectType("TaskProjectType", closed) {
        /// Software.
        Swe = "swe",
        /// Operations.
        Ops = "ops",
        /// Research.
        Research = "research",
        /// Administration.
        Admin = "admin",
        /// Personal.
        Personal = "personal",
        /// Anything else.
        Other = "other",
    }
}

request! {
    /// A new tree, or other settings of an existing one.
    pub struct InitRequest("TaskInitRequest") {
        /// The title of the project. Default: its id.
        optional title: String = "title", "text", Limits::text(NAME);
        /// The type of the project. Default: `swe`.
        optional kind: ProjectType = "type", "project-type";
        /// The team that owns the project.
        optional team: String = "team", "team", Limits::text(NAME);
        /// Who leads the project.
        optional lead: String = "lead", "actor-id", Limits::text(NAME);
        /// When a report moves its task. Default: `at-once`.
        optional apply: ApplyMode = "apply", "apply-mode";
        /// Who may end a review. Default: `human`.
        optional review: ReviewMode = "review", "review-mode";
        /// Where run artifacts are. Default: `guide`.
        optional layout: LayoutName = "layout", "run-layout";
        /// What tells the ids of tasks of one day apart. Default: `number`.
        optional ids: IdForm = "ids", "task-id-form";
        /// How long a lease lasts. Default: ten minutes.
        optional lease_ttl_ms: u64 = "lease_ttl_ms", "duration:ms", DURATION;
        /// How long a heartbeat lasts. Default: five minutes.
        optional heartbeat_ttl_ms: u64 = "heartbeat_ttl_ms", "duration:ms", DURATION;
        /// How many tasks may be in progress.
        optional max_running: u64 = "max_running", "count", Limits::whole(1, 100_000);
        /// How many tasks of each team may be in progress.
        optional team_limits: BTreeMap<String, u64> = "team_limits", "counts";
        /// How often a task is tried before it becomes a dead letter.
        optional max_attempts: u64 = "max_attempts", "count", Limits::whole(1, 1_000);
    }
}

message! {
    /// A tree that was made, or whose settings were changed.
    pub struct InitAnswer("TaskInitAnswer", closed) {
        /// The project.
        required project_id: String = "project_id", "project-id";
        /// The id of the project in AOF, which is the name of its folder.
        required aof_id: String = "aof_id", "project-id";
        /// The root of the tree.
        required root: String = "root", "path";
        /// Whether the tree is new.
        required created: bool = "created", "flag";
        /// The last event of the tree that was in this folder before and is gone: ids and events
        /// go on after it.
        optional goes_on_after: u64 = "goes_on_after", "event-number";
        /// When a report moves its task.
        required apply: ApplyMode = "apply", "apply-mode";
        /// Who may end a review.
        required review: ReviewMode = "review", "review-mode";
        /// Where run artifacts are.
        required layout: LayoutName = "layout", "run-layout";
        /// What tells the ids of tasks of one day apart; absent for numbers.
        optional ids: IdForm = "ids", "task-id-form";
        /// How long a lease lasts.
        required lease_ttl_ms: u64 = "lease_ttl_ms", "duration:ms";
        /// How long a heartbeat lasts.
        required heartbeat_ttl_ms: u64 = "heartbeat_ttl_ms", "duration:ms";
    }
}

request! {
    /// Everything that is due.
    pub struct PollRequest("TaskPollRequest") {
        /// The most tasks that the answer says to start.
        optional max_start: u64 = "max_start", "count", Limits::whole(0, 100_000);
    }
}

message! {
    /// A task that needs a person.
    pub struct PollAlert("TaskPollAlert", closed) {
        /// The task.
        required task_id: TaskId = "task_id", "task-id";
        /// Why.
        required reason: String = "reason", "reason";
    }

    /// What a poll did.
    pub struct PollAnswer("TaskPollAnswer", closed) {
        /// The moves of tasks, in order.
        required moves: Vec<TaskMove> = "moves", "moves";
        /// The tasks that an executor should start, the most urgent first.
        required start: Vec<TaskId> = "start", "task-ids";
        /// Tasks that need a person.
        required alerts: Vec<PollAlert> = "alerts", "alerts";
        /// The statuses that people are notified about.
        required notices: Vec<TaskNotice> = "notices", "notices";
        /// How many tasks of the tree have each status.
        required counts: BTreeMap<String, u64> = "counts", "counts";
        /// Tasks that should have been done by now, the oldest date first.
        optional overdue: Vec<TaskId> = "overdue", "task-ids";
        /// Tasks of which git left two versions: `accord task merge` decides between them.
        optional unmerged: Vec<TaskId> = "unmerged", "task-ids";
        /// When the next action is due without any change of a task.
        optional next_due: Timestamp = "next_due", "time:iso-8601";
    }
}

params! {
    /// A check of every file of the tree.
    #[derive(Default)]
    pub struct LintQuery {
        /// The most findings; the others are counted.
        optional limit: Number = Number::new("limit", 1, 100_000).or(1_000);
    }
}

wire_enum! {
    /// How bad a finding is.
    pub enum LintSeverity("TaskLintSeverity", closed) {
        /// Something cannot work as it is.
        Error = "error",
        /// It works, and is not as it should be.
        Warning = "warning",
    }
}

message! {
    /// Something that is wrong in a tree.
    pub struct LintFinding("TaskLintFinding", closed) {
        /// The name of what is wrong.
        required code: String = "code", "lint-code";
        /// How bad it is.
        required severity: LintSeverity = "severity", "severity";
        /// The path, within the tree.
        required path: String = "path", "tree-path";
        /// What is wrong.
        required problem: String = "problem", "text";
        /// The task, if it is about one.
        optional task_id: TaskId = "task_id", "task-id";
        /// What to do about it.
        optional suggestion: String = "suggestion", "text";
    }

    /// Whether the files of a tree are what they should be.
    pub struct LintAnswer("TaskLintAnswer", closed) {
        /// Whether nothing is wrong.
        required clean: bool = "clean", "flag";
        /// How many tasks were checked.
        required tasks: u64 = "tasks", "count";
        /// How many events were checked.
        required events: u64 = "events", "count";
        /// What is wrong.
        required findings: Vec<LintFinding> = "findings", "findings";
        /// How many findings are left out.
        required hidden: u64 = "hidden", "count";
    }
}

envelope! {
    /// A tree, and its settings.
    TaskInitEnvelope("TaskInitEnvelope") of InitAnswer;
    /// What a poll did.
    TaskPollEnvelope("TaskPollEnvelope") of PollAnswer;
    /// Whether the files of a tree are what they should be.
    TaskLintEnvelope("TaskLintEnvelope") of LintAnswer;
}

operation! {
    /// Creates the tree of a project, or changes its settings. Needs admin; settings that decide
    /// about the work of agents need a person.
    pub struct InitTasks("init_tasks", Post at_tasks!("/init")) of Aof {
        path InProject;
        query Acting;
        body Json<InitRequest>;
        needs Need::Create;
        answers 200, Json<TaskInitEnvelope>;
        refuses [&[Code::NotForWorkers], COMMON, OF_CHANGES, &[Code::AofProjectMismatch]];
    }

    /// Does everything that is due: recovers silent runs, promotes and blocks tasks. A poll that
    /// finds nothing writes nothing.
    pub struct PollTasks("poll_tasks", Post at_tasks!("/poll")) of Aof {
        path InProject;
        query Acting;
        body Json<PollRequest>;
        needs Need::Write;
        answers 200, Json<TaskPollEnvelope>;
        refuses [COMMON, OF_CHANGES, NO_TREE];
    }

    /// Checks every file of the tree, and changes nothing.
    pub struct LintTasks("lint_tasks", Get at_tasks!("/lint")) of Aof {
        path InProject;
        query LintQuery;
        needs Need::Read;
        answers 200, Json<TaskLintEnvelope>;
        refuses [COMMON, NO_TREE];
    }
}

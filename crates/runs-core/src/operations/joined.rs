//! The runs of the repositories that are joined to a project of a host.
//!
//! What the host shows of a repository is what the repository sent, as of the last contact. What it
//! does not have, and what changes a run, is refused with `run_elsewhere`, which says where the
//! repository is. A repository on the machine of the host can be open to it: then the host reads
//! the repository itself, and stages results in it.

use accord_api::operations::edge_decisions::{EdgeDecision, EdgeVerb};
use accord_api::operations::edges::EdgeRunTurn;
use accord_api::parameter::{InProject, Number, Segment, Text};
use accord_api::{Json, Need, operation, params};
use accord_base::{EdgeId, ProjectId};
use accord_contract::{Code, Limits, Object, TextForm, Timestamp, envelope, message};

use super::answers::{NextAnswer, RunStageAnswer};
use super::codes::{OF_CHANGES, OF_COMMITS, OF_DOCUMENTS, OF_FILES, OF_GIT, OF_OPENING, OF_TURN};

const RUN: TextForm = TextForm::ANY.chars(1, 200).without_nul().example("edge_0a1b");
const VERSION: TextForm = TextForm::ANY.chars(1, 200).without_nul().example("57-joined");
const WORDS: TextForm = TextForm::ANY.chars(1, 20_000).without_nul();
const NAME: TextForm = TextForm::ANY.chars(1, 1_000).without_nul();
/// The longest time that a request waits, in seconds.
pub const LONGEST_WAIT: u32 = 50;
/// The most turns of a history. The host keeps as many of a repository.
pub const MOST_TURNS: u32 = 200;
/// The turns of a history that names no number.
pub const TURNS: u32 = 20;

/// What every operation on one run refuses.
const OF_RUN: &[Code] =
    &[Code::EdgeNotFound, Code::IdAmbiguous, Code::AgenticProjectNotFound, Code::WireFieldValue];

params! {
    /// A run.
    pub struct OfRun {
        /// The project's id.
        required project: Segment<ProjectId> = Segment::new("project_id");
        /// The id of the edge, for the newest run of its repository, or the id of that run.
        required run: Text = Text::new("run_id", RUN);
    }

    /// How much of a history is shown.
    #[derive(Default)]
    pub struct RunHistoryQuery {
        /// Only so many of the newest turns.
        optional last: Number = Number::new("last", 1, MOST_TURNS).or(TURNS);
    }

    /// Whose prompt is read.
    #[derive(Default)]
    pub struct RunPromptQuery {
        /// The turn. Default: the only active one.
        optional turn: Text = Text::new("turn", NAME.example("turn_0a1b"));
    }

    /// What of an output is read.
    #[derive(Default)]
    pub struct RunOutputQuery {
        /// The turn. Default: the newest one that has an output.
        optional turn: Text = Text::new("turn", NAME.example("turn_0a1b"));
        /// Only what follows this place, which is `next` of an earlier answer.
        optional from: Number = Number::new("from", 0, u32::MAX).or(0);
    }

    /// How a request waits.
    #[derive(Default)]
    pub struct RunWaitQuery {
        /// `version` of an earlier answer. Default: that of the beginning of the request.
        optional since: Text = Text::new("since", VERSION);
        /// How many seconds the request waits at most.
        optional wait_seconds: Number = Number::new("wait_seconds", 0, LONGEST_WAIT).or(25);
    }
}

message! {
    /// Something of a run that waits for a person.
    pub struct RunWaits("RunWaits", open) {
        /// Its id, which a decision names.
        required id: String = "id", "source-id";
        /// Its type, such as `run.gate`.
        required type_name: String = "type", "source-type";
        /// What waits, in words.
        required_or_null title: String = "title", "text-for-people";
        /// Since when: since the host received it, or for an open repository, since it waits there.
        required since: Timestamp = "since", "time:rfc-3339";
    }

    /// What a person can decide on a host about a run itself.
    pub struct RunControl("RunControl", open) {
        /// The id that a decision names.
        required item: String = "item", "source-id";
        /// The digest of the state of the run, which a decision names.
        required evidence: String = "evidence", "evidence-digest";
        /// What can be decided.
        required verbs: Vec<EdgeVerb> = "verbs", "edge-verbs";
        /// The newest decision about it.
        optional decision: EdgeDecision = "decision", "edge-decision";
    }

    /// The newest run of a repository that is joined to a project.
    pub struct JoinedRun("JoinedRun", open) {
        /// The id of the edge, which names the repository.
        required edge_id: EdgeId = "edge_id", "edge-id";
        /// The name of the repository for people.
        required name: String = "name", "text-for-people";
        /// Whether the repository is open to the host, which reads it and can stage results in it.
        required here: bool = "here", "flag";
        /// What is shown is as of then: now, or the last contact with the repository.
        required as_of: Timestamp = "as_of", "time:rfc-3339";
        /// When the repository left; null while it is joined.
        required_or_null left_at: Timestamp = "left_at", "time:rfc-3339";
        /// The run; null if there is none, or the repository did not say it.
        required_or_null run_id: String = "run_id", "run-id";
        /// Its phase.
        required_or_null phase: String = "phase", "phase";
        /// Its status: `idle`, `active`, `paused`, `blocked`, `completed` or `failed`.
        required_or_null status: String = "status", "run-status";
        /// The turns that are being worked on.
        required turns: Vec<EdgeRunTurn> = "turns", "active-turns";
        /// How many things of the repository wait for a person.
        required requests: u64 = "requests", "count";
        /// What waits for a person, the oldest first. Only the answers about one run have it.
        optional waits: Vec<RunWaits> = "waits", "waiting-requests";
        /// What a person can decide here about the run itself. Only the answers about one run have
        /// it, and only if the join allows something that is possible now.
        optional control: RunControl = "control", "run-control";
        /// The next steps in the repository, in order. Only the answers about a run of an open
        /// repository have it.
        optional next: Vec<NextAnswer> = "next", "next-steps";
        /// Changes with everything that the host learns of the repository. It can be waited for.
        required version: String = "version", "run-version";
    }

    /// The result of a turn that was done without the loop of its run.
    pub struct RunStageRequest("RunStageRequest", closed) {
        /// The turn. Default: the only active one.
        optional turn_id: String = "turn_id", "turn-id", Limits::text(NAME);
        /// What was done.
        required summary: String = "summary", "text", Limits::text(WORDS);
        /// Decisions, a sentence each.
        optional decisions: Vec<String> = "decisions", "text", Limits::items(200);
        /// Objections, a sentence each.
        optional objections: Vec<String> = "objections", "text", Limits::items(200);
        /// The changed files. Default: those that git reports.
        optional files: Vec<String> = "files", "repository-paths", Limits::items(10_000);
        /// No file was changed.
        optional no_files: bool = "no_files", "flag";
        /// Checks that passed, a command each.
        optional verified: Vec<String> = "verified", "shell-lines", Limits::items(200);
        /// The proposed next role.
        optional next_role: String = "next_role", "role-id", Limits::text(NAME);
        /// The phase is complete: the next one is requested.
        optional next_phase: bool = "next_phase", "flag";
        /// The run is complete: its completion is requested.
        optional complete: bool = "complete", "flag";
        /// What a person must decide first.
        optional needs_human: String = "needs_human", "text", Limits::text(WORDS);
        /// Members of the result that replace the ones that are made of the others.
        optional members: Object = "members", "governed-turn-result";
    }
}

envelope! {
    /// The runs of the repositories that are joined to a project.
    pub struct JoinedRunsEnvelope("JoinedRunsEnvelope") {
        /// The runs, in the order of the ids of their edges.
        required runs: Vec<JoinedRun> = "runs", "joined-runs";
    }

    /// A run of a repository that is joined to a project.
    pub struct JoinedRunEnvelope("JoinedRunEnvelope") {
        /// The run.
        required run: JoinedRun = "run", "joined-run";
    }

    /// What was waited for.
    pub struct RunWaitEnvelope("RunWaitEnvelope") {
        /// Whether the run has another version than the one that was waited for.
        required changed: bool = "changed", "verdict";
        /// The run.
        required run: JoinedRun = "run", "joined-run";
    }

    /// Turns that were accepted.
    pub struct RunHistoryEnvelope("RunHistoryEnvelope") {
        /// The run.
        required run: JoinedRun = "run", "joined-run";
        /// The turns, the oldest first, as far as the repository sends them.
        required turns: Vec<Object> = "turns", "governed-history-lines";
    }

    /// What a turn is to do.
    pub struct RunPromptEnvelope("RunPromptEnvelope") {
        /// The turn.
        required turn_id: String = "turn_id", "turn-id";
        /// Its role.
        optional role: String = "role", "role-id";
        /// Its prompt, in Markdown.
        required prompt: String = "prompt", "markdown";
    }

    /// What the agent of a turn printed.
    pub struct RunOutputEnvelope("RunOutputEnvelope") {
        /// The run.
        required run: JoinedRun = "run", "joined-run";
        /// The turn; null if nothing was received.
        required_or_null turn_id: String = "turn_id", "turn-id";
        /// Whole lines, without credentials. What was left out is said in its place.
        required output: String = "output", "text-of-agent";
        /// The place after them.
        required next: u64 = "next", "count";
        /// Whether the turn is still worked on, so that more may follow.
        required active: bool = "active", "verdict";
    }

    /// A result that was staged.
    pub struct RunStageEnvelope("RunStageEnvelope") {
        /// The result, and why it would be refused.
        required staged: RunStageAnswer = "staged", "staged-result";
    }
}

operation! {
    /// Lists the runs of the repositories that are joined to a project.
    pub struct ListJoinedRuns("joined_runs", Get "/accord/v1/projects/{project_id}/runs")
        of Agentic
    {
        path InProject;
        needs Need::Read;
        answers 200 "The runs.", Json<JoinedRunsEnvelope>;
        refuses [&[Code::AgenticProjectNotFound]];
    }

    /// Shows where a run is, and what of it waits for a person.
    pub struct ReadJoinedRun("joined_run", Get "/accord/v1/projects/{project_id}/runs/{run_id}")
        of Agentic
    {
        path OfRun;
        needs Need::Read;
        answers 200 "The run.", Json<JoinedRunEnvelope>;
        refuses [OF_RUN, OF_OPENING, OF_FILES, OF_DOCUMENTS];
    }

    /// Shows the turns of a run that were accepted.
    pub struct JoinedRunHistory("joined_run_history",
        Get "/accord/v1/projects/{project_id}/runs/{run_id}/history") of Agentic
    {
        path OfRun;
        query RunHistoryQuery;
        needs Need::Read;
        answers 200 "The turns.", Json<RunHistoryEnvelope>;
        refuses [OF_RUN, OF_OPENING, OF_FILES, OF_DOCUMENTS];
    }

    /// Reads the prompt of an active turn, in an open repository. Others do not send prompts.
    pub struct ReadRunPrompt("joined_run_prompt",
        Get "/accord/v1/projects/{project_id}/runs/{run_id}/prompt") of Agentic
    {
        path OfRun;
        query RunPromptQuery;
        needs Need::Read;
        answers 200 "The prompt.", Json<RunPromptEnvelope>;
        refuses [
            OF_RUN, &[Code::RunElsewhere], OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_TURN,
        ];
    }

    /// Reads what the agent of a turn printed while it works, as far as the repository sent it. The
    /// host keeps the end of it.
    pub struct ReadRunOutput("joined_run_output",
        Get "/accord/v1/projects/{project_id}/runs/{run_id}/output") of Agentic
    {
        path OfRun;
        query RunOutputQuery;
        needs Need::Read;
        answers 200 "The output.", Json<RunOutputEnvelope>;
        refuses [OF_RUN, &[Code::RunElsewhere], OF_OPENING, OF_FILES, OF_DOCUMENTS];
    }

    /// Waits until the host learns something new of a run.
    pub struct WaitForRun("joined_run_wait",
        Get "/accord/v1/projects/{project_id}/runs/{run_id}/wait") of Agentic
    {
        path OfRun;
        query RunWaitQuery;
        needs Need::Read;
        answers 200 "The run.", Json<RunWaitEnvelope>;
        refuses [OF_RUN, OF_OPENING, OF_FILES, OF_DOCUMENTS];
    }

    /// Stages the result of a turn in its repository, as `accord run stage` does, if the repository
    /// is open to the host. It replaces an earlier one. The workers of turns are refused: they
    /// stage in their repository.
    pub struct StageRunResult("stage_run_result",
        Post "/accord/v1/projects/{project_id}/runs/{run_id}/result") of Agentic
    {
        path OfRun;
        body Json<RunStageRequest>;
        needs Need::Write;
        answers 200 "The result is staged.", Json<RunStageEnvelope>;
        refuses [
            OF_RUN, &[Code::AccessDenied, Code::RunElsewhere], OF_OPENING, OF_FILES, OF_DOCUMENTS,
            OF_COMMITS, OF_CHANGES, OF_TURN, OF_GIT,
            &[
                Code::NotForWorkers, Code::XchainFilesRequired, Code::XchainUnknownPhase,
                Code::XchainVersionControlChanged,
            ],
        ];
    }
}

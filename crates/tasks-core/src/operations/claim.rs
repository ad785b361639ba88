//! The work of agents: claim, heartbeat, release.

use accord_api::parameter::{MAX_TOKENS, Number, Text, Word};
use accord_api::{Envelope, Json, Need, operation, params};
use accord_base::Door;
use accord_base::excerpt::one_line;
use accord_contract::{Code, Limits, TextForm, Timestamp, message};

use super::decide::REASON;
use super::{
    ACTOR, Acting, COMMON, DOOR, InProject, NO_TREE, OF_CHANGES, OF_TASK, OfTask, TaskDetails,
    TaskEnvelope, at_task, at_tasks, envelope, request,
};
use crate::TaskId;
use crate::briefing::LEAST_TOKENS;
use crate::task::TaskComment;

const NAME: TextForm = TextForm::ANY.chars(1, 256).without_nul();
/// Long enough that nobody else makes the same.
const RUN: TextForm = TextForm::ANY.chars(16, 100).without_nul();
/// At most a day.
const TTL: Limits = Limits::whole(1_000, 86_400_000);

pub(super) const OF_RUN: &[Code] =
    &[Code::AofUnassignedTask, Code::AofUnauthorizedAgent, Code::AofStaleRun];

params! {
    /// Who claims, and whether a briefing is wanted.
    #[derive(Default)]
    pub struct ClaimQuery {
        /// Who acts: `human:NAME`, `script:NAME`, `agent:NAME`, or the plain name of an agent.
        /// Default: the actor of the key.
        optional actor: Text = ACTOR;
        /// Which kind of client asks, for the records. `cli` counts only through the socket of
        /// the data folder.
        optional door: Word<Door> = DOOR;
        /// Adds a briefing in Markdown of at most so many tokens.
        optional briefing_tokens: Number = Number::new("briefing_tokens", LEAST_TOKENS, MAX_TOKENS);
    }
}

request! {
    /// A claim of one task. Default of `agent`: the caller.
    pub struct ClaimRequest("TaskClaimRequest") {
        /// The agent.
        optional agent: String = "agent", "agent-id", Limits::text(NAME);
        /// How long the lease lasts. Default: the project's setting.
        optional lease_ttl_ms: u64 = "lease_ttl_ms", "duration:ms", TTL;
        /// How long each heartbeat lasts. Default: the project's setting.
        optional heartbeat_ttl_ms: u64 = "heartbeat_ttl_ms", "duration:ms", TTL;
        /// Whether it is claimed although it waits for other tasks. Only a person can force it.
        optional force: bool = "force", "flag";
        /// The id of the run that begins: letters, digits, `_` and `-`. While that run holds the
        /// task, the same request again gives the same claim, whose lease begins anew. Default: a
        /// new id.
        optional run_id: String = "run_id", "run-id", Limits::text(RUN);
    }

    /// A claim of the next ready task that fits: the most urgent, then the oldest. A task fits if
    /// it is routed to the agent, or to no agent and to one of the roles or teams if it names one.
    pub struct ClaimNextRequest("TaskClaimNextRequest") {
        /// The agent. Default: the caller.
        optional agent: String = "agent", "agent-id", Limits::text(NAME);
        /// The roles of the agent.
        optional roles: Vec<String> = "roles", "roles", Limits::texts(50, NAME);
        /// The teams of the agent.
        optional teams: Vec<String> = "teams", "teams", Limits::texts(50, NAME);
        /// Tags that the task must have, all of them.
        optional tags: Vec<String> = "tags", "tags", Limits::texts(50, NAME);
        /// Whether only tasks that are routed to the agent itself fit.
        optional only_mine: bool = "only_mine", "flag";
        /// Whether tasks on which the last attempt of this agent failed are left to others.
        optional leave_failed: bool = "leave_failed", "flag";
        /// The id of the run that begins: letters, digits, `_` and `-`. While that run holds a
        /// task, the same request again gives the same claim, whose lease begins anew. Default: a
        /// new id.
        optional run_id: String = "run_id", "run-id", Limits::text(RUN);
        /// How long the lease lasts. Default: the project's setting.
        optional lease_ttl_ms: u64 = "lease_ttl_ms", "duration:ms", TTL;
        /// How long each heartbeat lasts. Default: the project's setting.
        optional heartbeat_ttl_ms: u64 = "heartbeat_ttl_ms", "duration:ms", TTL;
    }

    /// A sign of life of a run: its lease and its heartbeat move.
    pub struct HeartbeatRequest("TaskHeartbeatRequest") {
        /// The agent. Default: the caller.
        optional agent: String = "agent", "agent-id", Limits::text(NAME);
        /// The run. A heartbeat of an earlier run is refused.
        optional run_id: String = "run_id", "run-id", Limits::text(NAME);
        /// How long the lease lasts from now. Default: the project's setting.
        optional lease_ttl_ms: u64 = "lease_ttl_ms", "duration:ms", TTL;
        /// How long the heartbeat lasts from now. Default: the project's setting.
        optional heartbeat_ttl_ms: u64 = "heartbeat_ttl_ms", "duration:ms", TTL;
    }

    /// An agent gives a task back.
    pub struct ReleaseRequest("TaskReleaseRequest") {
        /// The agent. Default: the caller.
        optional agent: String = "agent", "agent-id", Limits::text(NAME);
        /// The run.
        optional run_id: String = "run_id", "run-id", Limits::text(NAME);
        /// Why.
        optional reason: String = "reason", "text", Limits::text(REASON);
    }
}

message! {
    /// A task that an agent claimed.
    pub struct ClaimAnswer("TaskClaimAnswer", closed) {
        /// The task, with its lease; `sent_back` says why the last review refused the work.
        required task: TaskDetails = "task", "task";
        /// The run. Messages of the agent should name it as `runId`.
        required run_id: String = "run_id", "run-id";
        /// When the lease ends.
        required lease_until: Timestamp = "lease_until", "time:iso-8601";
        /// When the task is taken back, unless the agent sends a heartbeat before.
        required alive_until: Timestamp = "alive_until", "time:iso-8601";
        /// The folder of the task, as a path of this machine.
        required directory: String = "directory", "path";
        /// In how many seconds the lease ends, so that the clocks need not agree.
        optional lease_seconds: u64 = "lease_seconds", "duration:seconds";
        /// In how many seconds the task is taken back.
        optional alive_seconds: u64 = "alive_seconds", "duration:seconds";
    }

    /// Ready tasks that do not fit the agent of a request, and what they ask for.
    pub struct UnfitTasks("UnfitTasks", closed) {
        /// How many.
        required count: u64 = "count", "count";
        /// They are for this agent.
        optional agent: String = "agent", "agent-id";
        /// They are for this role.
        optional role: String = "role", "role";
        /// They are for this team.
        optional team: String = "team", "team";
        /// They lack these tags of the request.
        optional without_tags: Vec<String> = "without_tags", "tags";
        /// They wait for other tasks.
        optional waits: bool = "waits", "flag";
        /// The last attempt of this agent failed, so that others get them first.
        optional left_to_others: bool = "left_to_others", "flag";
    }

    /// The next ready task that fits, if there is one.
    pub struct ClaimNextAnswer("TaskClaimNextAnswer", closed) {
        /// The claim.
        optional claimed: ClaimAnswer = "claimed", "claim";
        /// Why nothing was claimed: `no_ready_task`, `none_fits`, `limit_reached`,
        /// `resource_busy` or `left_to_others`.
        optional reason: String = "reason", "reason";
        /// The ready tasks that do not fit, by what they ask for.
        optional unfit: Vec<UnfitTasks> = "unfit", "unfit-tasks";
        /// How many tasks are ready still, whether they fit or not.
        required ready: u64 = "ready", "count";
    }

    /// A heartbeat.
    pub struct HeartbeatAnswer("TaskHeartbeatAnswer", closed) {
        /// The task.
        required task_id: TaskId = "task_id", "task-id";
        /// The agent.
        required agent: String = "agent", "agent-id";
        /// The run.
        required run_id: String = "run_id", "run-id";
        /// When the lease ends.
        required lease_until: Timestamp = "lease_until", "time:iso-8601";
        /// When the task is taken back, unless there is another heartbeat before.
        required alive_until: Timestamp = "alive_until", "time:iso-8601";
        /// How many heartbeats there were before in this run.
        required beat_count: u64 = "beat_count", "count";
        /// In how many seconds the lease ends, so that the clocks need not agree.
        optional lease_seconds: u64 = "lease_seconds", "duration:seconds";
        /// In how many seconds the task is taken back.
        optional alive_seconds: u64 = "alive_seconds", "duration:seconds";
        /// What others said about the task since the run began.
        optional comments: Vec<TaskComment> = "comments", "comments";
    }
}

const LEFT: &str = "left to another agent, because this one failed";

impl UnfitTasks {
    /// What they ask for, after their number: `1 for role dev`.
    pub fn text(&self) -> String {
        let lacks = self.without_tags.iter().flatten();
        let named = [("agent", &self.agent), ("role", &self.role), ("team", &self.team)];
        let named = named.into_iter().filter_map(|(kind, name)| Some((kind, name.as_deref()?)));
        let asks: Vec<String> = named
            .map(|(kind, name)| format!("for {kind} {}", one_line(name, 60)))
            .chain(lacks.map(|tag| format!("without tag {}", one_line(tag, 60))))
            .chain(self.waits.map(|_| "that waits for other tasks".to_owned()))
            .chain(self.left_to_others.map(|_| LEFT.to_owned()))
            .collect();
        match asks.as_slice() {
            [] => format!("{} for any agent", self.count),
            asks => format!("{} {}", self.count, asks.join(", ")),
        }
    }
}

/// Declares the envelope of each claim.
macro_rules! claims {
    ($($(#[doc = $about:literal])+ $name:ident($wire:literal) of $answer:ident;)+) => {$(
        accord_contract::envelope! {
            $(#[doc = $about])+
            pub struct $name($wire) {
                /// The answer of the operation, as `accord task … --json` prints it.
                required result: $answer = "result", "answer";
                /// What the agent needs to know, in Markdown, if the request asks for it and
                /// a task was claimed.
                optional briefing: String = "briefing", "markdown";
            }
        }

        impl Envelope for $name {
            type Result = Briefed<$answer>;

            fn wrap(Briefed { answer, briefing }: Self::Result, correlation: &str) -> Self {
                Self {
                    ok: accord_contract::wire::True,
                    correlation_id: correlation.into(),
                    protocol: accord_contract::alx::ProtocolInfo::ours(Default::default()),
                    result: answer,
                    briefing,
                    extra: Default::default(),
                }
            }

            fn result(self) -> Self::Result {
                Briefed { answer: self.result, briefing: self.briefing }
            }
        }
    )+};
}

/// A claim, with a briefing if the request asks for one and a task was claimed.
#[derive(Clone, Debug)]
pub struct Briefed<A> {
    pub answer: A,
    /// The briefing, in Markdown.
    pub briefing: Option<String>,
}

claims! {
    /// A task that an agent claimed.
    TaskClaimEnvelope("TaskClaimEnvelope") of ClaimAnswer;
    /// The next ready task, if there is one.
    TaskClaimNextEnvelope("TaskClaimNextEnvelope") of ClaimNextAnswer;
}

envelope! {
    /// A heartbeat.
    TaskHeartbeatEnvelope("TaskHeartbeatEnvelope") of HeartbeatAnswer;
}

operation! {
    /// Claims a ready task for an agent: the agent gets a lease, and the task is in progress. A
    /// task that waits for others is refused, unless a person forces it.
    pub struct ClaimTask("claim_task", Post at_task!("/claim")) of Aof {
        path OfTask;
        query ClaimQuery;
        body Json<ClaimRequest>;
        needs Need::Write;
        answers 200, Json<TaskClaimEnvelope>;
        refuses [
            COMMON,
            OF_CHANGES,
            OF_TASK,
            &[
                Code::AofTaskNotReady,
                Code::AofUnauthorizedAgent,
                Code::AofDependencyUnmet,
                Code::AofResourceBusy,
            ],
        ];
    }

    /// Claims the next ready task that fits an agent: the most urgent, then the oldest. Two callers
    /// never get the same task. If none fits, the answer says why.
    pub struct ClaimNextTask("claim_next_task", Post at_tasks!("/claim-next")) of Aof {
        path InProject;
        query ClaimQuery;
        body Json<ClaimNextRequest>;
        needs Need::Write;
        answers 200, Json<TaskClaimNextEnvelope>;
        refuses [COMMON, OF_CHANGES, NO_TREE, &[Code::AofUnauthorizedAgent]];
    }

    /// A sign of life of a run: its lease and its heartbeat are extended.
    pub struct Heartbeat("task_heartbeat", Post at_task!("/heartbeat")) of Aof {
        path OfTask;
        query Acting;
        body Json<HeartbeatRequest>;
        needs Need::Write;
        answers 200, Json<TaskHeartbeatEnvelope>;
        refuses [COMMON, OF_CHANGES, OF_TASK, OF_RUN];
    }

    /// Gives a task back: its lease ends, and it is ready for another claim.
    pub struct ReleaseTask("release_task", Post at_task!("/release")) of Aof {
        path OfTask;
        query Acting;
        body Json<ReleaseRequest>;
        needs Need::Write;
        answers 200, Json<TaskEnvelope>;
        refuses [COMMON, OF_CHANGES, OF_TASK, OF_RUN];
    }
}

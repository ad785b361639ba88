//! The artifacts of a run: the documents that outlive the session of an agent. A run begins when a
//! lease is acquired and has an id of its own, which the reference does not know and ignores. The
//! id is the fencing token: a message of an earlier run is refused.

use accord_contract::{Object, Time, Timestamp, message, wire_enum};

use crate::message::{CompletionReport, Outcome, TestReport};
use crate::{TaskId, rule};

/// Where the handoff note of a run is, within the folder of its task.
const HANDOFF_REF: &str = "outputs/handoff.md";

wire_enum! {
    /// The status of a run.
    pub enum RunStatus("AofRunStatus", closed) {
        /// An agent works.
        Running = "running",
        /// The agent reported that the work is over.
        Completed = "completed",
        /// The agent fell silent.
        Failed = "failed",
        /// The agent gave the task back.
        Abandoned = "abandoned",
    }
}

message! {
    /// The folders of a task that a run uses.
    pub struct ArtifactPaths("AofArtifactPaths", open) {
        /// What the agent reads.
        required inputs: String = "inputs", "path";
        /// What the agent works in.
        required work: String = "work", "path";
        /// What the agent leaves.
        required output: String = "output", "path";
    }

    /// `run.json`: a run.
    pub struct Run("AofRun", open) {
        /// The task.
        required task_id: TaskId = "taskId", "task-id";
        /// The agent.
        required agent_id: String = "agentId", "agent-id";
        /// When it began.
        required started_at: Timestamp = "startedAt", "time:iso-8601";
        /// The status.
        required status: RunStatus = "status", "run-status";
        /// The folders.
        required artifact_paths: ArtifactPaths = "artifactPaths", "paths";
        /// Anything else that is known about it.
        optional metadata: Object = "metadata", "metadata";
        /// The id of the run.
        optional run_id: String = "runId", "run-id";
    }

    /// `run_heartbeat.json`: the last sign of life of a run.
    pub struct Heartbeat("AofHeartbeat", open) {
        /// The task.
        required task_id: TaskId = "taskId", "task-id";
        /// The agent.
        required agent_id: String = "agentId", "agent-id";
        /// When it was.
        required last_heartbeat: Timestamp = "lastHeartbeat", "time:iso-8601";
        /// How many there were.
        optional beat_count: u64 = "beatCount", "count";
        /// When the run counts as dead.
        optional expires_at: Timestamp = "expiresAt", "time:iso-8601";
        /// The id of the run.
        optional run_id: String = "runId", "run-id";
    }

    /// `run_result.json`: how a run ended.
    pub struct RunResult("AofRunResult", open) {
        /// The task.
        required task_id: TaskId = "taskId", "task-id";
        /// The agent.
        required agent_id: String = "agentId", "agent-id";
        /// When it ended.
        required completed_at: Timestamp = "completedAt", "time:iso-8601";
        /// How it ended.
        required outcome: Outcome = "outcome", "outcome";
        /// The summary.
        required summary_ref: String = "summaryRef", "path";
        /// The handoff note.
        required handoff_ref: String = "handoffRef", "path";
        /// The files that were made.
        optional deliverables: Vec<String> = "deliverables", "paths";
        /// The tests.
        required tests: TestReport = "tests", "tests";
        /// What stands in the way.
        optional blockers: Vec<String> = "blockers", "texts";
        /// Notes for the next reader.
        required notes: String = "notes", "text";
        /// The id of the run.
        optional run_id: String = "runId", "run-id";
    }
}

impl Run {
    /// Clauses: AOF-RUN-JSON.
    pub fn begin(task: TaskId, agent: &str, run_id: &str, now: Time) -> Self {
        let artifact_paths = ArtifactPaths {
            inputs: "inputs/".into(),
            work: "work/".into(),
            // The guide's spelling here; the folder itself is `outputs`.
            output: "output/".into(),
            extra: Object::new(),
        };
        Self {
            task_id: task,
            agent_id: agent.to_owned(),
            started_at: Timestamp::emit(now),
            status: RunStatus::Running,
            artifact_paths,
            metadata: Some(Object::new()),
            run_id: Some(run_id.to_owned()),
            extra: Object::new(),
        }
    }

    /// The run with another status, and a member of its metadata that says when or why.
    #[must_use]
    pub fn ended(mut self, status: RunStatus, about: &[(&str, &str)]) -> Self {
        self.status = status;
        let metadata = self.metadata.get_or_insert_default();
        for (name, text) in about {
            metadata.insert((*name).to_owned(), (*text).into());
        }
        self
    }
}

impl Heartbeat {
    /// The first sign of life of a run, or the next one after `last`.
    /// Clauses: AOF-RUN-HEARTBEAT.
    pub fn next(run: &Run, last: Option<&Self>, ttl_seconds: i64, now: Time) -> Self {
        // Beats are counted per run: those of an earlier run say nothing about this one.
        let last = last.filter(|last| last.run_id == run.run_id);
        Self {
            task_id: run.task_id,
            agent_id: run.agent_id.clone(),
            last_heartbeat: Timestamp::emit(now),
            beat_count: Some(last.and_then(|last| last.beat_count).map_or(0, |count| count + 1)),
            expires_at: Some(Timestamp::emit(
                now.add_seconds(rule!(ttl_seconds; HeartbeatLastsLonger => 2 * ttl_seconds)),
            )),
            run_id: run.run_id.clone(),
            extra: Object::new(),
        }
    }

    /// Whether the run counts as dead. A heartbeat without an end never expires.
    /// Clauses: AOF-RS-STALE.
    pub fn is_expired(&self, now: Time) -> bool {
        self.expires_at
            .as_ref()
            .is_some_and(|end| rule!(end.time() <= now; ExpiresLater => end.time() < now))
    }
}

impl RunResult {
    /// The result that a report says.
    /// Clauses: AOF-CR-RUN-RESULT.
    pub fn of(
        report: &CompletionReport,
        task: TaskId,
        agent: &str,
        run_id: Option<&str>,
        sent_at: Time,
    ) -> Self {
        Self {
            task_id: task,
            agent_id: agent.to_owned(),
            // Written again, because the reference reads no other form of a time.
            completed_at: Timestamp::emit(sent_at),
            outcome: report.outcome,
            summary_ref: report.summary_ref.clone(),
            handoff_ref: HANDOFF_REF.to_owned(),
            deliverables: Some(report.deliverables.clone().unwrap_or_default()),
            tests: report.tests.clone(),
            blockers: Some(report.blockers.clone().unwrap_or_default()),
            notes: report.notes.clone(),
            run_id: run_id.map(str::to_owned),
            extra: Object::new(),
        }
    }

    /// The name under which it is kept once another run begins.
    pub fn file_name(&self) -> &str {
        let name = self.run_id.as_deref().unwrap_or_default();
        // The file may be an agent's, so that its id is not a name yet.
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        let is_name = !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain);
        if is_name { name } else { "earlier" }
    }

    /// Whether the result is that of a run: by its id, or without one, if it is not older.
    pub fn belongs_to(&self, run: &Run) -> bool {
        match (&self.run_id, &run.run_id) {
            (Some(one), Some(other)) => one == other,
            _ => self.completed_at.time() >= run.started_at.time(),
        }
    }
}

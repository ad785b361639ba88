//! What an agent gets.

use accord_contract::message;
use accord_contract::time::Timestamp;
use accord_tasks_core::TaskId;

use super::TaskDetails;

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
    }
}

message! {
    /// The next ready task that fits, if there is one.
    pub struct ClaimNextAnswer("TaskClaimNextAnswer", closed) {
        /// The claim.
        optional claimed: ClaimAnswer = "claimed", "claim";
        /// Why nothing was claimed: `no_ready_task`, `none_fits`, `limit_reached` or
        /// `resource_busy`.
        optional reason: String = "reason", "reason";
        /// How many tasks are ready still, whether they fit or not.
        required ready: u64 = "ready", "count";
    }
}

message! {
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
    }
}

//! What an agent asks for.

use accord_contract::wire::{Limits, TextForm};

use super::request;

const NAME: TextForm = TextForm::ANY.chars(1, 256).without_nul();
const REASON: TextForm = TextForm::ANY.chars(1, 2_000).without_nul();
/// At most a day.
const TTL: Limits = Limits::whole(1_000, 86_400_000);

request! {
    /// A claim of one task. Default of `agent`: the caller.
    pub struct ClaimRequest("TaskClaimRequest") {
        /// The agent.
        optional agent: String = "agent", "agent-id", Limits::text(NAME);
        /// How long the lease lasts. Default: the project's setting.
        optional lease_ttl_ms: u64 = "lease_ttl_ms", "duration:ms", TTL;
        /// How long each heartbeat lasts. Default: the project's setting.
        optional heartbeat_ttl_ms: u64 = "heartbeat_ttl_ms", "duration:ms", TTL;
    }
}

request! {
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
        /// How long the lease lasts. Default: the project's setting.
        optional lease_ttl_ms: u64 = "lease_ttl_ms", "duration:ms", TTL;
        /// How long each heartbeat lasts. Default: the project's setting.
        optional heartbeat_ttl_ms: u64 = "heartbeat_ttl_ms", "duration:ms", TTL;
    }
}

request! {
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
}

request! {
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

//! The documents of a coordinator.

use super::{Any, Count, Flag, List, Map, Text, Texts, Timestamp, Word, documents};
use crate::coordinator::{BarrierStatus, BarrierType, CoordinatorStatus, LineType};

documents! {
    /// `multirepo/state.json`: an initiative.
    Coordinator {
        STATUS: Word<CoordinatorStatus> = "status",
        PHASE: Text = "phase",
        SUPER_RUN_ID: Text = "super_run_id",
        REPO_RUNS: Map => {RepoRun} = "repo_runs",
        PENDING_GATE: Map => MultiGate = "pending_gate",
        DISPATCHING: Map => Dispatching = "dispatching",
        BLOCKED_REASON: Text = "blocked_reason",
        PHASE_GATE_STATUS: Map = "phase_gate_status",
        UPDATED_AT: Timestamp = "updated_at",
        SCHEMA_VERSION: Text = "schema_version",
        PROJECT_ID: Text = "project_id",
        CREATED_AT: Timestamp = "created_at",
        COMPLETED_AT: Timestamp = "completed_at",
        DIVERGENCE: Texts = "divergence",
    }

    /// The run of a repository of an initiative.
    RepoRun {
        RUN_ID: Text = "run_id",
        STATUS: Text = "status",
        PHASE: Text = "phase",
        INITIALIZED_BY_COORDINATOR: Flag = "initialized_by_coordinator",
    }

    /// A barrier of `multirepo/barriers.json`.
    Barrier {
        WORKSTREAM_ID: Text = "workstream_id",
        REQUIRED_REPOS: Texts = "required_repos",
        SATISFIED_REPOS: Texts = "satisfied_repos",
        TYPE: Word<BarrierType> = "type",
        STATUS: Word<BarrierStatus> = "status",
        REQUIRED_DECISION_IDS_BY_REPO: Map = "required_decision_ids_by_repo",
        CREATED_AT: Timestamp = "created_at",
        ALIGNMENT_DECISION_IDS: Map = "alignment_decision_ids",
    }

    /// A line of `multirepo/history.jsonl`.
    MultiHistory {
        TYPE: Word<LineType> = "type",
        WORKSTREAM_ID: Text = "workstream_id",
        REPO_ID: Text = "repo_id",
        DECISIONS: List = "decisions",
        TIMESTAMP: Timestamp = "timestamp",
        SUPER_RUN_ID: Text = "super_run_id",
        REPO_RUN_ID: Text = "repo_run_id",
        REPO_TURN_ID: Text = "repo_turn_id",
        ROLE: Text = "role",
        FILES_CHANGED: Texts = "files_changed",
        CONTEXT_REF: Text = "context_ref",
        REPO_RUNS: Map = "repo_runs",
        PROJECTION_REF: Text = "projection_ref",
        SUMMARY: Text = "summary",
        VERIFICATION: Map = "verification",
        RESYNCED_REPOS: Texts = "resynced_repos",
        BARRIER_CHANGES: List = "barrier_changes",
        BLOCKED_REASON: Text = "blocked_reason",
        FROM: Text = "from",
        TO: Text = "to",
        RECOVERY_REPORT: Text = "recovery_report",
        GATE: Text = "gate",
        REASON: Text = "reason",
        SENT_BACK_BY: Text = "sent_back_by",
        REPO_IDS: Texts = "repo_ids",
    }

    /// The intent of a dispatch.
    Dispatching {
        SINCE_SEQUENCE: Count = "since_sequence",
        WORKSTREAM_ID: Text = "workstream_id",
        REPO_ID: Text = "repo_id",
        ROLE: Text = "role",
        CONTEXT_REF: Text = "context_ref",
        REQUESTED_AT: Timestamp = "requested_at",
    }

    /// A gate of an initiative that needs approval.
    MultiGate {
        GATE: Text = "gate",
        HUMAN_BARRIERS: Texts = "human_barriers",
        TO: Text = "to",
        REQUIRED_REPOS: Texts = "required_repos",
        GATE_TYPE: Text = "gate_type",
        FROM: Text = "from",
        REQUESTED_AT: Timestamp = "requested_at",
    }

    /// `agentxchain-multi.json`: the configuration of an initiative.
    MultiConfig {
        REPOS: Map = "repos",
        WORKSTREAMS: Map = "workstreams",
        GATES: Map = "gates",
        PROJECT: Map = "project",
        ROUTING: Map = "routing",
        SCHEMA_VERSION: Text = "schema_version",
    }

    /// The project of a configuration.
    Project {
        ID: Text = "id",
    }

    /// A repository of an initiative.
    Repo {
        PATH: Text = "path",
        DEFAULT_BRANCH: Text = "default_branch",
        REQUIRED: Any = "required",
    }

    /// A workstream of an initiative.
    Workstream {
        COMPLETION_BARRIER: Word<BarrierType> = "completion_barrier",
        PHASE: Text = "phase",
        REPOS: Texts = "repos",
        ENTRY_REPO: Text = "entry_repo",
        DEPENDS_ON: Texts = "depends_on",
    }

    /// The decisions that a barrier waits for.
    BarrierDecisions {
        DECISION_IDS_BY_REPO: Map = "decision_ids_by_repo",
    }

    /// The routing of a phase.
    Route {
        EXIT_GATE: Text = "exit_gate",
        ENTRY_WORKSTREAM: Text = "entry_workstream",
    }

    /// A gate of an initiative.
    GateConfig {
        REQUIRES_REPOS: Texts = "requires_repos",
        REQUIRES_HUMAN_APPROVAL: Any = "requires_human_approval",
    }
}

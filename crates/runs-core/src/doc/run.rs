//! The documents of a run: its state, its turns, its gates and its delegations.

use super::{Amount, Any, Count, Flag, List, Map, Text, Texts, Timestamp, documents};

documents! {
    /// `state.json`: a run.
    State {
        BLOCKED_ON: Text = "blocked_on",
        BUDGET_STATUS: Map => Budget = "budget_status",
        BUDGET_RESERVATIONS: Map = "budget_reservations",
        ACCEPTED_SEQUENCE: Count = "accepted_sequence",
        BLOCKED_REASON: Map => Blocked = "blocked_reason",
        PENDING_PHASE_TRANSITION: Map => PendingGate = "pending_phase_transition",
        PENDING_RUN_COMPLETION: Map => PendingGate = "pending_run_completion",
        SCHEMA_VERSION: Text = "schema_version",
        RUN_ID: Text = "run_id",
        PROJECT_ID: Text = "project_id",
        STATUS: Text = "status",
        PHASE: Text = "phase",
        ACCEPTED_INTEGRATION_REF: Text = "accepted_integration_ref",
        ACTIVE_TURNS: Map => {Turn} = "active_turns",
        TURN_SEQUENCE: Count = "turn_sequence",
        LAST_COMPLETED_TURN_ID: Text = "last_completed_turn_id",
        ESCALATION: Map => Escalation = "escalation",
        QUEUED_PHASE_TRANSITION: Map => PendingGate = "queued_phase_transition",
        QUEUED_RUN_COMPLETION: Map => PendingGate = "queued_run_completion",
        LAST_GATE_FAILURE: Map => GateFailure = "last_gate_failure",
        PHASE_GATE_STATUS: Map = "phase_gate_status",
        CURRENT_TURN: Map => Turn = "current_turn",
        NON_PROGRESS_SIGNATURE: Text = "non_progress_signature",
        NON_PROGRESS_COUNT: Count = "non_progress_count",
        PHASE_ENTERED_AT: Timestamp = "phase_entered_at",
        NEXT_RECOMMENDED_ROLE: Text = "next_recommended_role",
        COMPLETED_AT: Timestamp = "completed_at",
        CREATED_AT: Timestamp = "created_at",
        PROVENANCE: Map = "provenance",
        INHERITED_CONTEXT: Map = "inherited_context",
        REPO_DECISIONS: List = "repo_decisions",
        PENDING_DELEGATION_REVIEW: Map => Review = "pending_delegation_review",
        DELEGATION_QUEUE: List => [Queued] = "delegation_queue",
        SENT_BACK: Map => SentBack = "accord_sent_back",
        ANSWER: Map => Answer = "accord_answer",
    }

    /// An active turn of a run.
    Turn {
        TURN_ID: Text = "turn_id",
        ASSIGNED_ROLE: Text = "assigned_role",
        ROLE: Text = "role",
        STATUS: Text = "status",
        ATTEMPT: Count = "attempt",
        ASSIGNED_SEQUENCE: Count = "assigned_sequence",
        RUNTIME_ID: Text = "runtime_id",
        STARTED_AT: Text = "started_at",
        ASSIGNED_AT: Text = "assigned_at",
        DISPATCHED_AT: Text = "dispatched_at",
        DEADLINE_AT: Timestamp = "deadline_at",
        DELEGATION_CONTEXT: Map = "delegation_context",
        DELEGATION_REVIEW: Map => Review = "delegation_review",
        CONFLICT_STATE: Map => Conflict = "conflict_state",
        BASELINE: Map => Baseline = "baseline",
        RUN_ID: Text = "run_id",
        CONCURRENT_WITH: Texts = "concurrent_with",
        REISSUED_FROM: Text = "reissued_from",
        INTAKE_CONTEXT: Any = "intake_context",
        LAST_REJECTION: Map => Rejection = "last_rejection",
        CONFLICT_CONTEXT: Map = "conflict_context",
        LAST_ACCEPTANCE_FAILURE: Map = "last_acceptance_failure",
        LEFT_BEHIND: Map => LeftBehind = "left_behind",
        WORKER_PREPARED_AT: Timestamp = "worker_prepared_at",
        OBSERVED_COST: Map = "accord_observed_cost",
        WORKER_PID: Count = "worker_pid",
        WORKER_STARTED_AT: Timestamp = "worker_started_at",
        WORKER_SANDBOX: Text = "worker_sandbox",
    }

    /// The repository at the assignment of a turn.
    Baseline {
        DIRTY_SNAPSHOT: Map = "dirty_snapshot",
        HEAD_REF: Text = "head_ref",
        CLEAN: Flag = "clean",
        KIND: Text = "kind",
        CAPTURED_AT: Timestamp = "captured_at",
        ACCORD_VIEW: Map = "accord_view",
        ACCORD_WAY_REF: Text = "accord_way_ref",
    }

    /// The changes of a worker that ended without an accepted result.
    LeftBehind {
        COMMITTED: Map = "committed",
        UNCOMMITTED: Map = "uncommitted",
    }

    /// Files that another turn changed concurrently.
    Conflict {
        DETECTION_COUNT: Count = "detection_count",
        DETECTED_AT: Timestamp = "detected_at",
        CONFLICTING_FILES: Texts = "conflicting_files",
        ACCEPTED_SINCE_TURN_IDS: Texts = "accepted_since_turn_ids",
        OVERLAP_RATIO: Amount = "overlap_ratio",
        SUGGESTED_RESOLUTION: Text = "suggested_resolution",
        RESOLUTION: Text = "resolution",
    }

    /// The last rejection of a turn.
    Rejection {
        CONFLICT_CONTEXT: Map = "conflict_context",
        TURN_ID: Text = "turn_id",
        ATTEMPT: Count = "attempt",
        REJECTED_AT: Timestamp = "rejected_at",
        REASON: Text = "reason",
        VALIDATION_ERRORS: Texts = "validation_errors",
        FAILED_STAGE: Text = "failed_stage",
    }

    /// The last escalation of a run.
    Escalation {
        SOURCE: Text = "source",
        FROM_ROLE: Text = "from_role",
        FROM_TURN_ID: Text = "from_turn_id",
        ATTEMPTS: Count = "attempts",
        REASON: Text = "reason",
        RAISED_AT: Timestamp = "raised_at",
        ENDS_WORKERS: Flag = "accord_ends_workers",
    }

    /// Why a run is blocked.
    Blocked {
        CATEGORY: Text = "category",
        RECOVERY: Map => Recovery = "recovery",
        BLOCKED_AT: Timestamp = "blocked_at",
        TURN_ID: Text = "turn_id",
    }

    /// How a person unblocks a run.
    Recovery {
        TYPED_REASON: Text = "typed_reason",
        OWNER: Text = "owner",
        RECOVERY_ACTION: Text = "recovery_action",
        TURN_RETAINED: Flag = "turn_retained",
        DETAIL: Text = "detail",
    }

    /// A request to pass a gate, pending or queued.
    PendingGate {
        FROM: Text = "from",
        TO: Text = "to",
        GATE: Text = "gate",
        REQUESTED_BY_TURN: Text = "requested_by_turn",
        REQUESTED_AT: Text = "requested_at",
    }

    /// A failed gate.
    GateFailure {
        GATE_TYPE: Text = "gate_type",
        GATE_ID: Text = "gate_id",
        PHASE: Text = "phase",
        FROM_PHASE: Text = "from_phase",
        TO_PHASE: Text = "to_phase",
        REQUESTED_BY_TURN: Text = "requested_by_turn",
        FAILED_AT: Timestamp = "failed_at",
        QUEUED_REQUEST: Flag = "queued_request",
        REASONS: Texts = "reasons",
        MISSING_FILES: Texts = "missing_files",
        MISSING_VERIFICATION: Flag = "missing_verification",
        SENT_BACK: Map => SentBack = "sent_back",
    }

    /// What a person answered when they resolved a block.
    Answer {
        QUESTION: Text = "question",
        ASKED_BY_TURN: Text = "asked_by_turn",
        ANSWER: Text = "answer",
        ANSWERED_BY: Text = "answered_by",
        ANSWERED_AT: Timestamp = "answered_at",
    }

    /// A request that a person sent back.
    SentBack {
        GATE_TYPE: Text = "gate_type",
        GATE_ID: Text = "gate_id",
        TO_PHASE: Text = "to_phase",
        REQUESTED_BY_TURN: Text = "requested_by_turn",
        REQUESTED_BY_ROLE: Text = "requested_by_role",
        REASON: Text = "reason",
        SENT_BACK_BY: Text = "sent_back_by",
        SENT_BACK_AT: Timestamp = "sent_back_at",
    }

    /// The payload of events and ledger lines about gates.
    GateEvent {
        GATE_TYPE: Text = "gate_type",
        GATE_ID: Text = "gate_id",
        FROM: Text = "from",
        TO: Text = "to",
        APPROVED_BY: Text = "approved_by",
        REQUESTED_BY_TURN: Text = "requested_by_turn",
    }

    /// Who decided, in the records of a person's decision.
    HumanDecision {
        ACTOR: Text = "actor",
        OS_USER: Text = "os_user",
        NOTE: Text = "note",
        DOOR: Text = "door",
        PRESENCE: Text = "presence",
        EVIDENCE_DIGEST: Text = "evidence_digest",
        DECISION_ID: Text = "decision_id",
        KNOWN_BY: Text = "known_by",
        HUB: Text = "hub",
        ASKED_AT: Timestamp = "asked_at",
        DECIDED_AT: Timestamp = "decided_at",
        SANDBOX: Text = "sandbox",
        LEFT_RUNNING: Text = "left_running",
    }

    /// The spent and the remaining budget of a run.
    Budget {
        SPENT_USD: Amount = "spent_usd",
        REMAINING_USD: Amount = "remaining_usd",
        EXHAUSTED: Flag = "exhausted",
    }

    /// The budget that is reserved for a turn.
    Reservation {
        RESERVED_USD: Amount = "reserved_usd",
        TURN_ID: Text = "turn_id",
    }

    /// A delegation that is stored until its review.
    Queued {
        DELEGATION_ID: Text = "delegation_id",
        PARENT_TURN_ID: Text = "parent_turn_id",
        CHILD_TURN_ID: Text = "child_turn_id",
        MISSING_DECISION_IDS: Texts = "missing_decision_ids",
        REQUIRED_DECISION_IDS: Texts = "required_decision_ids",
        STATUS: Text = "status",
        TO_ROLE: Text = "to_role",
        PARENT_ROLE: Text = "parent_role",
        CHARTER: Text = "charter",
        ACCEPTANCE_CONTRACT: Texts = "acceptance_contract",
        SCOPE: Texts = "scope",
        CREATED_AT: Timestamp = "created_at",
        SUMMARY: Text = "summary",
        FILES_CHANGED: Texts = "files_changed",
        VERIFICATION: Map = "verification",
        SATISFIED_DECISION_IDS: Texts = "satisfied_decision_ids",
    }

    /// The review of a turn's completed delegations.
    Review {
        PARENT_ROLE: Text = "parent_role",
        RESULTS: List => [Queued] = "results",
        DELEGATION_RESULTS: List => [Queued] = "delegation_results",
        PARENT_TURN_ID: Text = "parent_turn_id",
    }
}

//! The declared types of events.

use accord_contract::wire_enum;

wire_enum! {
    pub enum EventType("RunEventKind", closed) {
        RunStarted = "run_started",
        PhaseEntered = "phase_entered",
        IntentsMigrated = "intents_migrated",
        IntentsSuperseded = "intents_superseded",
        IntentRetiredByPhaseAdvance = "intent_retired_by_phase_advance",
        TurnDispatched = "turn_dispatched",
        TurnAccepted = "turn_accepted",
        TurnRejected = "turn_rejected",
        TurnConflicted = "turn_conflicted",
        ConflictResolved = "conflict_resolved",
        AcceptanceFailed = "acceptance_failed",
        TurnReissued = "turn_reissued",
        TurnStalled = "turn_stalled",
        TurnStartFailed = "turn_start_failed",
        RuntimeSpawnFailed = "runtime_spawn_failed",
        /// A worker's output could not be read.
        StdoutAttachFailed = "stdout_attach_failed",
        TurnCheckpointed = "turn_checkpointed",
        CoordinatorRetry = "coordinator_retry",
        CoordinatorRetryProjectionWarning = "coordinator_retry_projection_warning",
        RunBlocked = "run_blocked",
        RunCompleted = "run_completed",
        EscalationRaised = "escalation_raised",
        EscalationResolved = "escalation_resolved",
        GatePending = "gate_pending",
        GateApproved = "gate_approved",
        GateFailed = "gate_failed",
        PhaseCleanup = "phase_cleanup",
        BudgetExceededWarn = "budget_exceeded_warn",
        HumanEscalationRaised = "human_escalation_raised",
        HumanEscalationResolved = "human_escalation_resolved",
        DispatchProgress = "dispatch_progress",
        SessionContinuation = "session_continuation",
        /// A turn whose worker showed no activity was retried.
        AutoRetriedGhost = "auto_retried_ghost",
        /// A turn whose worker showed no activity has no retries left.
        GhostRetryExhausted = "ghost_retry_exhausted",
        /// A turn that timed out while making progress was retried.
        AutoRetriedProductiveTimeout = "auto_retried_productive_timeout",
        /// A turn that timed out while making progress has no retries left.
        ProductiveTimeoutRetryExhausted = "productive_timeout_retry_exhausted",
        RetainedClaudeAuthEscalationReclassified = "retained_claude_auth_escalation_reclassified",
        StateReconciledOperatorCommits = "state_reconciled_operator_commits",
        OperatorCommitReconcileRefused = "operator_commit_reconcile_refused",
        CharterMaterializationRequired = "charter_materialization_required",
        ArtifactTypeAutoNormalized = "artifact_type_auto_normalized",
        StagedResultAutoNormalized = "staged_result_auto_normalized",
    }
}

impl EventType {
    /// Whether events of this type must name a turn.
    pub(crate) fn needs_turn(self) -> bool {
        matches!(self, Self::TurnDispatched | Self::TurnAccepted | Self::TurnRejected)
    }
}

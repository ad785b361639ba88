//! The declared types of events.

use accord_contract::wire_enum;

wire_enum! {
    /// The type of an event.
    pub enum EventType("RunEventKind", closed) {
        /// A run began.
        RunStarted = "run_started",
        /// A phase began.
        PhaseEntered = "phase_entered",
        /// Intents were migrated from an earlier run.
        IntentsMigrated = "intents_migrated",
        /// Intents were superseded by later ones.
        IntentsSuperseded = "intents_superseded",
        /// An intent ended with its phase.
        IntentRetiredByPhaseAdvance = "intent_retired_by_phase_advance",
        /// A turn was dispatched to its worker.
        TurnDispatched = "turn_dispatched",
        /// A turn was accepted.
        TurnAccepted = "turn_accepted",
        /// A turn was rejected.
        TurnRejected = "turn_rejected",
        /// Another turn changed the same files.
        TurnConflicted = "turn_conflicted",
        /// A conflict was resolved.
        ConflictResolved = "conflict_resolved",
        /// A turn's result was refused.
        AcceptanceFailed = "acceptance_failed",
        /// A turn was reissued.
        TurnReissued = "turn_reissued",
        /// A turn's worker stopped responding.
        TurnStalled = "turn_stalled",
        /// A turn's worker did not start.
        TurnStartFailed = "turn_start_failed",
        /// A runtime process could not be spawned.
        RuntimeSpawnFailed = "runtime_spawn_failed",
        /// A worker's output could not be read.
        StdoutAttachFailed = "stdout_attach_failed",
        /// A turn's files were committed.
        TurnCheckpointed = "turn_checkpointed",
        /// A coordinator retried a repository's turn.
        CoordinatorRetry = "coordinator_retry",
        /// A retried turn was projected with a warning.
        CoordinatorRetryProjectionWarning = "coordinator_retry_projection_warning",
        /// The run was blocked.
        RunBlocked = "run_blocked",
        /// The run was completed.
        RunCompleted = "run_completed",
        /// The run was escalated.
        EscalationRaised = "escalation_raised",
        /// An escalation was resolved.
        EscalationResolved = "escalation_resolved",
        /// A gate needs approval.
        GatePending = "gate_pending",
        /// A gate was approved.
        GateApproved = "gate_approved",
        /// A gate failed.
        GateFailed = "gate_failed",
        /// The files of a phase were cleaned up.
        PhaseCleanup = "phase_cleanup",
        /// The budget was exceeded, but the run continues.
        BudgetExceededWarn = "budget_exceeded_warn",
        /// A person was asked for a decision.
        HumanEscalationRaised = "human_escalation_raised",
        /// A person answered.
        HumanEscalationResolved = "human_escalation_resolved",
        /// A worker reported progress.
        DispatchProgress = "dispatch_progress",
        /// A session was continued.
        SessionContinuation = "session_continuation",
        /// A turn whose worker showed no activity was retried.
        AutoRetriedGhost = "auto_retried_ghost",
        /// A turn whose worker showed no activity has no retries left.
        GhostRetryExhausted = "ghost_retry_exhausted",
        /// A turn that timed out while making progress was retried.
        AutoRetriedProductiveTimeout = "auto_retried_productive_timeout",
        /// A turn that timed out while making progress has no retries left.
        ProductiveTimeoutRetryExhausted = "productive_timeout_retry_exhausted",
        /// An escalation was reclassified as missing credentials.
        RetainedClaudeAuthEscalationReclassified = "retained_claude_auth_escalation_reclassified",
        /// Commits of a person were reconciled.
        StateReconciledOperatorCommits = "state_reconciled_operator_commits",
        /// Commits of a person could not be reconciled.
        OperatorCommitReconcileRefused = "operator_commit_reconcile_refused",
        /// A charter must be materialized first.
        CharterMaterializationRequired = "charter_materialization_required",
        /// A result's artifact type was corrected.
        ArtifactTypeAutoNormalized = "artifact_type_auto_normalized",
        /// A staged result was corrected before its validation.
        StagedResultAutoNormalized = "staged_result_auto_normalized",
    }
}

impl EventType {
    /// Whether events of this type must name a turn.
    pub(crate) fn needs_turn(self) -> bool {
        matches!(self, Self::TurnDispatched | Self::TurnAccepted | Self::TurnRejected)
    }
}

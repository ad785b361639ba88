//! The declared types of events.

use accord_contract::wire_enum;

wire_enum! {
    /// What happened.
    pub enum EventType("RunEventKind", closed) {
        /// A run began.
        RunStarted = "run_started",
        /// A phase began.
        PhaseEntered = "phase_entered",
        /// Intents of an earlier run were taken over.
        IntentsMigrated = "intents_migrated",
        /// Intents were replaced by later ones.
        IntentsSuperseded = "intents_superseded",
        /// An intent ended with its phase.
        IntentRetiredByPhaseAdvance = "intent_retired_by_phase_advance",
        /// A turn was handed to its worker.
        TurnDispatched = "turn_dispatched",
        /// A turn became part of the history.
        TurnAccepted = "turn_accepted",
        /// A turn was rejected.
        TurnRejected = "turn_rejected",
        /// Another turn changed the same files.
        TurnConflicted = "turn_conflicted",
        /// A conflict was resolved.
        ConflictResolved = "conflict_resolved",
        /// A turn's result was refused.
        AcceptanceFailed = "acceptance_failed",
        /// A turn was given out again.
        TurnReissued = "turn_reissued",
        /// A turn's worker went quiet.
        TurnStalled = "turn_stalled",
        /// A turn's worker never came up.
        TurnStartFailed = "turn_start_failed",
        /// A runtime could not be started.
        RuntimeSpawnFailed = "runtime_spawn_failed",
        /// A worker's output could not be read.
        StdoutAttachFailed = "stdout_attach_failed",
        /// A turn's files were committed.
        TurnCheckpointed = "turn_checkpointed",
        /// A coordinator tried a repository's turn again.
        CoordinatorRetry = "coordinator_retry",
        /// A retried turn could not be taken over cleanly.
        CoordinatorRetryProjectionWarning = "coordinator_retry_projection_warning",
        /// The run waits for a person.
        RunBlocked = "run_blocked",
        /// The run is over.
        RunCompleted = "run_completed",
        /// The run was stopped.
        EscalationRaised = "escalation_raised",
        /// The run goes on.
        EscalationResolved = "escalation_resolved",
        /// A gate waits for a person.
        GatePending = "gate_pending",
        /// A gate was passed.
        GateApproved = "gate_approved",
        /// A gate's conditions do not hold.
        GateFailed = "gate_failed",
        /// What a phase left was tidied up.
        PhaseCleanup = "phase_cleanup",
        /// The budget is spent and the run goes on.
        BudgetExceededWarn = "budget_exceeded_warn",
        /// A person is asked for.
        HumanEscalationRaised = "human_escalation_raised",
        /// A person answered.
        HumanEscalationResolved = "human_escalation_resolved",
        /// A worker made progress.
        DispatchProgress = "dispatch_progress",
        /// A session went on.
        SessionContinuation = "session_continuation",
        /// A turn without any sign of life was tried again.
        AutoRetriedGhost = "auto_retried_ghost",
        /// A turn without any sign of life was given up.
        GhostRetryExhausted = "ghost_retry_exhausted",
        /// A turn that worked too long was tried again.
        AutoRetriedProductiveTimeout = "auto_retried_productive_timeout",
        /// A turn that worked too long was given up.
        ProductiveTimeoutRetryExhausted = "productive_timeout_retry_exhausted",
        /// A stop was traced to missing credentials.
        RetainedClaudeAuthEscalationReclassified = "retained_claude_auth_escalation_reclassified",
        /// A person's commits were taken over.
        StateReconciledOperatorCommits = "state_reconciled_operator_commits",
        /// A person's commits could not be taken over.
        OperatorCommitReconcileRefused = "operator_commit_reconcile_refused",
        /// A charter must be written down first.
        CharterMaterializationRequired = "charter_materialization_required",
        /// A result's artifact type was corrected.
        ArtifactTypeAutoNormalized = "artifact_type_auto_normalized",
        /// A staged result was corrected before it was judged.
        StagedResultAutoNormalized = "staged_result_auto_normalized",
    }
}

impl EventType {
    /// Whether an event of the type must say which turn it is about.
    pub fn needs_turn(self) -> bool {
        matches!(
            self,
            Self::TurnDispatched | Self::TurnAccepted | Self::TurnRejected
        )
    }
}

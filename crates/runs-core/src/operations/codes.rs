//! The failure codes that operations on governed runs share.

use accord_contract::Code;

/// The repository is opened, and its configuration, state and records are read.
pub(super) const OF_REPOSITORY: &[Code] = &[
    Code::InputUnreadable,
    Code::XchainNotGoverned,
    Code::XchainInvalidConfig,
    Code::XchainSchemaVersionInvalid,
    Code::XchainUndeclaredRuntimeReference,
    Code::XchainUndeclaredRoleReference,
    Code::XchainUndeclaredGateReference,
    Code::XchainStateInvalid,
    Code::XchainRecordInvalid,
    Code::XchainRecordsMissing,
    Code::XchainRunLost,
    Code::XchainConfigChanged,
    Code::XchainRecordsChanged,
    Code::XchainStateFolderUnusable,
    Code::XchainFileSystemFailed,
    Code::XchainFileTooLarge,
    Code::XchainNotAFile,
    Code::XchainPathObstructed,
    Code::XchainPathOutsideRepository,
    Code::XchainGitFailed,
    Code::XchainVersionControlChanged,
];

/// The repository is locked and changed.
pub(super) const OF_CHANGES: &[Code] = &[
    Code::XchainLockTimeout,
    Code::XchainLockLost,
    Code::XchainCommitUnfinished,
    Code::XchainInvalidStateTransition,
    Code::XchainImmutableField,
    Code::XchainWorkerBusy,
    Code::XchainGivenUp,
];

/// A turn is named, or the only active one is meant.
pub(super) const OF_TURN: &[Code] = &[
    Code::IdAmbiguous,
    Code::XchainTargetRequired,
    Code::XchainTurnNotActive,
    Code::XchainAttemptOver,
];

/// Hooks run.
pub(super) const OF_HOOKS: &[Code] = &[
    Code::XchainHookBlocked,
    Code::XchainHookStateTamper,
    Code::XchainHookHistoryTamper,
    Code::XchainHookLedgerTamper,
    Code::XchainHookBundleTamper,
];

/// A person decides.
pub(super) const OF_DECISIONS: &[Code] = &[
    Code::WireFieldMissing,
    Code::WireFieldValue,
    Code::AofPersonRequired,
    Code::NotForWorkers,
    Code::XchainConfirmationNeeded,
    Code::XchainEvidenceChanged,
];

/// A turn is assigned.
pub(super) const OF_ASSIGNMENTS: &[Code] = &[
    Code::XchainUnknownRole,
    Code::XchainUnknownPhase,
    Code::XchainRoleWithoutRuntime,
    Code::XchainRuntimeNotSupported,
    Code::XchainTurnCapacityReached,
    Code::XchainRoleAlreadyActive,
    Code::XchainBudgetExhausted,
    Code::XchainBaselineDirty,
    Code::XchainCheckpointRequired,
];

/// A turn is dispatched.
pub(super) const OF_DISPATCHES: &[Code] = &[
    Code::XchainRoleWithoutRuntime,
    Code::XchainRuntimeNotSupported,
    Code::XchainRuntimeUnavailable,
    Code::XchainManifestInvalid,
    Code::XchainFinalizationFailed,
];

/// A worker runs.
pub(super) const OF_WORKERS: &[Code] = &[
    Code::XchainWorkerNotStarted,
    Code::XchainWorkerStalled,
    Code::XchainWorkerTimedOut,
    Code::XchainWorkerWithoutResult,
    Code::XchainWorkerFailed,
    Code::XchainWorkerCancelled,
];

/// A result is validated and compared with the changes.
pub(super) const OF_RESULTS: &[Code] = &[
    Code::XchainTurnAlreadyAccepted,
    Code::XchainStaleStaging,
    Code::XchainAcceptanceOutOfStep,
    Code::XchainValidationFailed,
    Code::XchainMissingRequiredField,
    Code::XchainSchemaError,
    Code::XchainInvalidDecisionIdFormat,
    Code::XchainRunIdMismatch,
    Code::XchainTurnIdMismatch,
    Code::XchainAssignmentError,
    Code::XchainArtifactError,
    Code::XchainReservedPathViolation,
    Code::XchainVerificationError,
    Code::XchainProtocolError,
    Code::XchainChallengeRequirementViolated,
    Code::XchainMutuallyExclusiveRequests,
    Code::XchainEmptyRequiredField,
    Code::XchainInvalidEnumValue,
    Code::XchainDuplicateDecisionId,
    Code::XchainOverrideValidationFailed,
    Code::XchainArtifactMismatch,
    Code::XchainArtifactDirtyTreeMismatch,
    Code::XchainUndeclaredVerificationOutputs,
    Code::XchainEmptyWorkspaceArtifact,
    Code::XchainGateSemanticCoverage,
    Code::XchainVerificationReplayDrift,
    Code::XchainPolicyViolation,
    Code::XchainPolicyEscalation,
    Code::XchainConflict,
    Code::XchainAcceptanceDrift,
];

/// A proposal is named.
pub(super) const OF_PROPOSALS: &[Code] = &[
    Code::IdAmbiguous,
    Code::XchainProposalNotFound,
    Code::XchainProposalDecided,
    Code::XchainProposalOutdated,
    Code::XchainProposalChanged,
    Code::XchainReservedPathViolation,
];

/// The workspace of an initiative is opened and read.
pub(super) const OF_INITIATIVES: &[Code] = &[
    Code::XchainInvalidCoordinatorConfig,
    Code::XchainWorkstreamCycle,
    Code::XchainCoordinatorStateInvalid,
    Code::XchainNoInitiative,
    Code::XchainCoordinatorDiverged,
    Code::XchainProjectionFailed,
    Code::XchainCrossRepoWriteViolation,
];

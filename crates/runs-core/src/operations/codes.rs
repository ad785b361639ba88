//! The failure codes that operations on governed runs share.
//!
//! A list has what its step can fail with, and an operation names the lists of its steps. What is
//! wrong with a result is a detail of `validation_failed`, not a code of its own.

use accord_contract::Code;

/// A governed repository is looked for.
pub(super) const OF_OPENING: &[Code] = &[
    Code::InputUnreadable,
    Code::XchainNotGoverned,
    Code::XchainRecordsMissing,
    Code::XchainFileSystemFailed,
];

/// Records, bundles, proposals and the copies that judge turns are read.
pub(super) const OF_FILES: &[Code] = &[
    Code::XchainRecordInvalid,
    Code::XchainFileTooLarge,
    Code::XchainNotAFile,
    Code::XchainPathOutsideRepository,
    Code::XchainStateFolderUnusable,
];

/// Configuration and state are read.
pub(super) const OF_DOCUMENTS: &[Code] = &[
    Code::XchainInvalidConfig,
    Code::XchainSchemaVersionInvalid,
    Code::XchainUndeclaredRuntimeReference,
    Code::XchainUndeclaredRoleReference,
    Code::XchainUndeclaredGateReference,
    Code::XchainStateInvalid,
];

/// The repository is locked, commits that were left are finished, and a commit is written.
pub(super) const OF_COMMITS: &[Code] = &[
    Code::XchainStateInvalid,
    Code::XchainLockTimeout,
    Code::XchainLockLost,
    Code::XchainCommitUnfinished,
    Code::XchainPathObstructed,
    Code::XchainWorkerBusy,
    Code::XchainRecordsChanged,
];

/// The run is changed.
pub(super) const OF_CHANGES: &[Code] = &[
    Code::XchainInvalidStateTransition,
    Code::XchainInvalidEvent,
    Code::XchainConfigChanged,
    Code::XchainRunLost,
];

/// Git is asked.
pub(super) const OF_GIT: &[Code] = &[Code::XchainGitFailed, Code::XchainGivenUp];

/// A turn is named, or the only active one is meant.
pub(super) const OF_TURN: &[Code] =
    &[Code::IdAmbiguous, Code::XchainTargetRequired, Code::XchainTurnNotActive];

/// Hooks run.
pub(super) const OF_HOOKS: &[Code] = &[
    Code::XchainHookBlocked,
    Code::XchainHookStateTamper,
    Code::XchainHookHistoryTamper,
    Code::XchainHookLedgerTamper,
    Code::XchainHookBundleTamper,
    Code::XchainGivenUp,
];

/// A person decides.
pub(super) const OF_DECISIONS: &[Code] = &[
    Code::WireFieldValue,
    Code::AofPersonRequired,
    Code::NotForWorkers,
    Code::WorkerStillRuns,
    Code::XchainConfirmationNeeded,
];

/// The person is asked, about evidence.
pub(super) const OF_EVIDENCE: &[Code] =
    &[Code::XchainEvidenceChanged, Code::DecisionStale, Code::XchainGitFailed, Code::XchainGivenUp];

/// The runtime of a role is looked for.
pub(super) const OF_RUNTIMES: &[Code] = &[
    Code::XchainRoleWithoutRuntime,
    Code::XchainRuntimeNotSupported,
    Code::XchainRuntimeUnavailable,
];

/// A turn is assigned.
pub(super) const OF_ASSIGNMENTS: &[Code] = &[
    Code::XchainUnknownRole,
    Code::XchainTurnCapacityReached,
    Code::XchainRoleAlreadyActive,
    Code::XchainBudgetExhausted,
    Code::XchainBaselineDirty,
    Code::XchainCheckpointRequired,
];

/// The worker of a turn ended without a result.
pub(super) const OF_WORKERS: &[Code] = &[
    Code::XchainWorkerNotStarted,
    Code::XchainWorkerStalled,
    Code::XchainWorkerTimedOut,
    Code::XchainWorkerWithoutResult,
    Code::XchainWorkerFailed,
    Code::XchainWorkerCancelled,
    Code::XchainAttemptOver,
];

/// Turns are run: what is not a matter of a worker or its result.
pub(super) const OF_CYCLES: &[Code] = &[
    Code::XchainFinalizationFailed,
    Code::XchainManifestInvalid,
    Code::XchainTurnAlreadyAccepted,
    Code::XchainConflict,
    Code::XchainNothingToCheckpoint,
];

/// A result is validated and compared with the changes.
pub(super) const OF_RESULTS: &[Code] = &[
    Code::XchainTurnAlreadyAccepted,
    Code::XchainStaleStaging,
    Code::XchainValidationFailed,
    Code::XchainInvalidDecisionIdFormat,
    Code::XchainEmptyRequiredField,
    Code::XchainInvalidEnumValue,
    Code::XchainDuplicateDecisionId,
    Code::XchainOverrideValidationFailed,
    Code::XchainVersionControlChanged,
    Code::XchainArtifactError,
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
pub(super) const OF_PROPOSALS: &[Code] = &[Code::IdAmbiguous, Code::XchainProposalNotFound];

/// The workspace of an initiative is opened and read.
pub(super) const OF_INITIATIVES: &[Code] = &[
    Code::XchainInvalidCoordinatorConfig,
    Code::XchainWorkstreamCycle,
    Code::XchainCoordinatorStateInvalid,
];

/// What happened in the repositories of an initiative is taken over.
pub(super) const OF_PROJECTIONS: &[Code] = &[
    Code::XchainNoInitiative,
    Code::XchainCoordinatorDiverged,
    Code::XchainProjectionFailed,
    Code::XchainCrossRepoWriteViolation,
];

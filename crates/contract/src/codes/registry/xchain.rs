//! The codes of AgentXchain v7.

#[rustfmt::skip]
macro_rules! xchain_codes {
    ($next:ident $($later:ident)*; $($rows:tt)*) => { $next! { $($later)*; $($rows)* Xchain {
    XchainInvalidConfig = "invalid_config", Validation, AfterChange, 422,
        "The governed configuration is not valid; correct agentxchain.json at the named places.";
    XchainSchemaVersionInvalid = "schema_version_invalid", Validation, AfterChange, 422,
        "A governed document has an unknown schema version; write the named one.";
    XchainUndeclaredRuntimeReference = "undeclared_runtime_reference", Validation, AfterChange, 422,
        "A role names a runtime that the configuration does not declare; declare it or name \
         another.";
    XchainUndeclaredRoleReference = "undeclared_role_reference", Validation, AfterChange, 422,
        "The routing names a role that the configuration does not declare; declare it or name \
         another.";
    XchainUndeclaredGateReference = "undeclared_gate_reference", Validation, AfterChange, 422,
        "The routing names a gate that the configuration does not declare; declare it or name \
         another.";
    XchainStateInvalid = "state_invalid", Execution, Never, 500,
        "The run's state document is damaged at the named place; restore it from version control \
         or a backup.";
    XchainRecordInvalid = "record_invalid", Execution, Never, 500,
        "A line of a governed record is damaged; find it with doctor and restore it from version \
         control or a backup.";
    XchainInvalidStateTransition = "invalid_state_transition", Validation, AfterChange, 409,
        "The run's current status does not allow this; look at its status.";
    XchainRecordsMissing = "records_missing", Execution, AfterChange, 409,
        "The last run of the repository is not the one of state.json, as after a git stash, \
         checkout or reset of everything; restore its records (git stash pop), or abandon that run \
         with accord run start --restart.";
    XchainImmutableField = "immutable_field", Validation, Never, 409,
        "A member that is fixed once the run has started would change; start a new run instead.";
    XchainUnknownRole = "unknown_role", NotFound, AfterChange, 404,
        "The configuration has no such role; name one that it declares.";
    XchainUnknownPhase = "unknown_phase", NotFound, AfterChange, 404,
        "The routing has no such phase; name one that it has.";
    XchainRoleWithoutRuntime = "role_without_runtime", Validation, AfterChange, 422,
        "The role has no runtime for its turns; declare one.";
    XchainRuntimeNotSupported = "runtime_not_supported", Execution, AfterChange, 501,
        "The role's runtime is of a type that Accord cannot run; give the role another runtime.";
    XchainTurnCapacityReached = "turn_capacity_reached", Validation, AfterChange, 409,
        "The phase has reached its limit of active turns; wait for the named turns, or accept or \
         reject one of them first.";
    XchainRoleAlreadyActive = "role_already_active", Validation, AfterChange, 409,
        "The role already has an active turn; accept or reject that first.";
    XchainBudgetExhausted = "budget_exhausted", Validation, AfterChange, 409,
        "The run's budget does not cover another turn; raise budget.per_run_max_usd in \
         agentxchain.json, and resolve the run if it is blocked.";
    XchainBaselineDirty = "baseline_dirty", Validation, AfterChange, 409,
        "The working tree has changes that belong to no turn; commit the named files, or stash \
         only them with git stash push -u -- FILE. A stash of everything removes the run's own \
         records.";
    XchainCheckpointRequired = "checkpoint_required", Validation, AfterChange, 409,
        "An accepted turn's changes are not committed yet; make its checkpoint first.";
    XchainTargetRequired = "target_required", Validation, AfterChange, 409,
        "Several turns are active; name one.";
    XchainFilesRequired = "files_required", Validation, AfterChange, 409,
        "Several turns are active, so the changed files can belong to any of them; name the files \
         of this turn.";
    XchainTurnNotActive = "turn_not_active", NotFound, AfterChange, 404,
        "The run has no active turn with this id; look at the run's status.";
    XchainTurnAlreadyAccepted = "turn_already_accepted", Validation, Never, 409,
        "The turn is already in the history, and nothing was done; continue with the next turn, or \
         reissue a turn that is still active.";
    XchainStaleStaging = "stale_staging", Validation, AfterChange, 409,
        "The staged result belongs to another turn; stage the result of this one.";
    XchainLockTimeout = "lock_timeout", Execution, Backoff, 409,
        "Another process holds the lock of the repository; wait for it, or end the named process.";
    XchainLockLost = "lock_lost", Execution, Backoff, 409,
        "Another process took over or removed the repository's lock while this one worked, and \
         nothing more was written; look at the status, then retry.";
    XchainCommitUnfinished = "commit_unfinished", Execution, AfterChange, 500,
        "The change is committed in its journal, but a file could not be written; repair what is \
         named, and the next command finishes the change first.";
    XchainNotGoverned = "not_governed", NotFound, AfterChange, 404,
        "The folder is not a governed repository, because it has no agentxchain.json; go to the \
         root of one, or create one with accord run init.";
    XchainAlreadyGoverned = "already_governed", Validation, AfterChange, 409,
        "The folder is already a governed repository, and nothing was written; continue with \
         accord run status, or choose another folder.";
    XchainGitFailed = "git_failed", Execution, AfterChange, 500,
        "Git failed; follow its own message, then retry.";
    XchainVersionControlChanged = "version_control_changed", Validation, AfterChange, 409,
        "Git's settings, hooks or branch changed after the turn was assigned, so the changes of \
         the turn, or what git starts later, cannot be determined; restore what is named and \
         accept the turn again. To keep changes of your own, \
         escalate and resolve the run; to take the turn back, reissue it.";
    XchainNothingToCheckpoint = "nothing_to_checkpoint", Validation, AfterChange, 409,
        "No accepted turn has uncommitted changes; continue with the next turn.";
    XchainRuntimeUnavailable = "runtime_unavailable", Execution, AfterChange, 409,
        "The program of a runtime is not on this machine or cannot be started; install it, or \
         correct the runtime in agentxchain.json.";
    XchainGivenUp = "given_up", Execution, AfterChange, 503,
        "The command was cancelled, and changed nothing but the audit log of hooks that had run; \
         run it again.";
    XchainWorkerNotStarted = "worker_not_started", Execution, Backoff, 502,
        "The worker of a turn could not be started, or gave no sign of life in time; read its \
         output, correct it, or give it more time with accord run step --silence TIME.";
    XchainWorkerStalled = "worker_stalled", Execution, Backoff, 504,
        "The worker of a turn gave no more sign of life and was ended; give it more time with \
         accord run step --silence TIME, or read its output and reject the turn.";
    XchainWorkerTimedOut = "worker_timed_out", Execution, Backoff, 504,
        "The worker of a turn was not done at the turn's deadline and was ended; give it more time \
         or less work, then dispatch the turn again.";
    XchainWorkerWithoutResult = "worker_without_result", Execution, AfterChange, 502,
        "The worker of a turn ended without staging a result; read its output, correct its command \
         or its prompt, and dispatch the turn again.";
    XchainWorkerFailed = "worker_failed", Execution, Backoff, 502,
        "The worker of a turn answered with an error, or with something that is not a result; \
         follow its message, and dispatch the turn again.";
    XchainWorkerCancelled = "worker_cancelled", Execution, AfterChange, 503,
        "The work on a turn was cancelled; the turn is still active: dispatch it again, or reject \
         it.";
    XchainWorkerBusy = "worker_busy", Execution, Backoff, 409,
        "A worker is active on the turn, as the named process; wait for it, or end it first.";
    XchainAttemptOver = "attempt_over", Execution, AfterChange, 409,
        "The turn was rejected while a worker was still at an earlier attempt, whose result was \
         ignored; look at the status, and continue with the next attempt.";
    XchainConfigChanged = "config_changed", Validation, AfterChange, 409,
        "agentxchain.json changed while a worker ran, and the configuration from before its start \
         judges the turn; see the change with accord run adopt, and put it in force with accord \
         run adopt --yes if it is a person's.";
    XchainRecordsChanged = "records_changed", Approval, AfterChange, 409,
        "State, history, ledger or events of the run changed while a worker ran, in a way that a \
         person must confirm; see the change with accord run adopt, and put it in force with \
         accord run adopt --yes, or go on without it.";
    XchainRunLost = "run_lost", Execution, AfterChange, 409,
        "The folder .agentxchain of the run was removed while a worker ran; look at the status, \
         and where the run was not put back, do that with accord run adopt --undo --yes.";
    XchainStateFolderUnusable = "state_folder_unusable", Execution, AfterChange, 409,
        "The folder for the copies that judge a turn cannot be used; let XDG_STATE_HOME name a \
         folder of your own outside the repository.";
    XchainFileSystemFailed = "file_system_failed", Execution, AfterChange, 500,
        "The operating system refused to read or write a file of the repository; free space or \
         correct its permissions, then retry.";
    XchainFileTooLarge = "file_too_large", Validation, AfterChange, 413,
        "A file of the repository is larger than the limit; make it smaller.";
    XchainNotAFile = "not_a_file", Validation, AfterChange, 422,
        "A folder, a pipe or a device is at the path of a file; remove it.";
    XchainPathObstructed = "path_obstructed", Validation, AfterChange, 409,
        "Something else is at the path of a file or of one of its folders, and nothing was \
         written; remove or move what is named, then retry.";
    XchainAcceptanceOutOfStep = "acceptance_out_of_step", Execution, Never, 500,
        "The acceptance of a turn got an answer that it had not asked for, which is a bug; report \
         it, and accept the turn again.";
    XchainValidationFailed = "validation_failed", Validation, AfterChange, 422,
        "The staged result is not valid; correct what the named stage found and stage it again.";
    XchainMissingRequiredField = "missing_required_field", Validation, AfterChange, 422,
        "A staged result lacks a required member; add it.";
    XchainSchemaError = "schema_error", Validation, AfterChange, 422,
        "A staged result is not JSON or has a member of the wrong form; correct it at the named \
         place.";
    XchainInvalidDecisionIdFormat = "invalid_decision_id_format", Validation, AfterChange, 422,
        "The id of a decision does not have the form DEC-001; correct it.";
    XchainRunIdMismatch = "run_id_mismatch", Validation, AfterChange, 422,
        "A staged result belongs to another run; stage the result of this run.";
    XchainTurnIdMismatch = "turn_id_mismatch", Validation, AfterChange, 422,
        "A staged result belongs to another turn; stage the result of the assigned one.";
    XchainAssignmentError = "assignment_error", Validation, AfterChange, 422,
        "A staged result does not match the assignment; correct its role or runtime.";
    XchainArtifactError = "artifact_error", Validation, AfterChange, 422,
        "The changes of a staged result do not fit its role; correct the artifact or the files \
         that it declares.";
    XchainReservedPathViolation = "reserved_path_violation", Validation, AfterChange, 422,
        "A staged result claims a file that belongs to the run itself; leave that file alone.";
    XchainPathOutsideRepository = "path_outside_repository", Validation, AfterChange, 422,
        "A path leads out of the repository or is not valid; name files inside it, relative to its \
         root.";
    XchainVerificationError = "verification_error", Validation, AfterChange, 422,
        "A staged result contradicts its own evidence; correct the verification that it declares.";
    XchainProtocolError = "protocol_error", Validation, AfterChange, 422,
        "A staged result asks for something that the run's rules do not allow; correct what is \
         named.";
    XchainChallengeRequirementViolated = "challenge_requirement_violated",
        Validation, AfterChange, 422,
        "A role that only reviews raised no objection; raise at least one.";
    XchainMutuallyExclusiveRequests = "mutually_exclusive_requests", Validation, AfterChange, 422,
        "A staged result asks for a phase transition and for the end of the run; ask for one of \
         them.";
    XchainEmptyRequiredField = "empty_required_field", Validation, AfterChange, 422,
        "A member that must not be blank is blank; fill it in.";
    XchainInvalidEnumValue = "invalid_enum_value", Validation, AfterChange, 422,
        "A member has a value that is not allowed; choose one of the named values.";
    XchainDuplicateDecisionId = "duplicate_decision_id", Validation, AfterChange, 409,
        "The run already has a decision with this id; use the next free one.";
    XchainOverrideValidationFailed = "override_validation_failed", Validation, AfterChange, 409,
        "A decision overrides one that does not exist, is no longer active, or belongs to a higher \
         authority; name another or ask that role.";
    XchainArtifactMismatch = "artifact_mismatch", Validation, AfterChange, 409,
        "The changed files are not those that the result declares; declare them all, or undo the \
         others.";
    XchainArtifactDirtyTreeMismatch = "artifact_dirty_tree_mismatch", Validation, AfterChange, 409,
        "The working tree has changes that the result does not declare; name each file in \
         files_changed, or in verification.produced_files if a check wrote it, or undo the change.";
    XchainUndeclaredVerificationOutputs = "undeclared_verification_outputs",
        Validation, AfterChange, 409,
        "The declared checks were run again and wrote files that the result does not name; name \
         each in verification.produced_files as artifact or ignore.";
    XchainEmptyWorkspaceArtifact = "empty_workspace_artifact", Validation, AfterChange, 422,
        "A result claims work in the workspace and nothing changed there; declare a review \
         instead.";
    XchainGateSemanticCoverage = "gate_semantic_coverage", Validation, AfterChange, 409,
        "A result asks to leave the phase while its gate fails on files that the turn did not \
         change; correct those files first.";
    XchainVerificationReplayDrift = "verification_replay_drift", Validation, AfterChange, 409,
        "The declared evidence could not be reproduced; correct the work or the evidence.";
    XchainPolicyViolation = "policy_violation", Validation, AfterChange, 409,
        "A policy of the configuration forbids the result; correct the result or the named policy.";
    XchainPolicyEscalation = "policy_escalation", Approval, AfterChange, 409,
        "A policy of the configuration requires a person, and the run is blocked; resolve the run \
         to continue.";
    XchainConflict = "conflict", Validation, AfterChange, 409,
        "Another turn changed the same files after this one was assigned; reject and reassign it, \
         or merge by hand.";
    XchainAcceptanceDrift = "acceptance_drift", Validation, AfterChange, 409,
        "The working tree changed while the turn was being accepted; wait until nothing changes it \
         and accept the turn again.";
    NotForWorkers = "not_for_workers", Approval, AfterChange, 403,
        "It is a person who does this, and a worker, a hook or a command of a gate started the \
         process that asks, or that process cannot be examined, or it belongs to another user; a \
         person must run it in a shell that no worker started, sign in, or use a key.";
    WorkerStillRuns = "worker_still_runs", Approval, AfterChange, 409,
        "A process of a worker still runs, and could change what is decided; wait until it has \
         ended, or end it by the number that is named, or decide at a terminal with \
         --despite-leftovers.";
    XchainConfirmationNeeded = "confirmation_needed", Approval, AfterChange, 409,
        "The decision belongs to a person, and there is no terminal to ask one; run it in a \
         terminal, or give --yes and --actor human:NAME if the host allows that.";
    XchainEvidenceChanged = "evidence_changed", Approval, AfterChange, 409,
        "The facts that a person decides about are not those that the digest of --expect stands \
         for; look at them again, and decide with the new digest.";
    XchainGateActionFailed = "gate_action_failed", Execution, AfterChange, 409,
        "A command of the gate failed and the approval was not carried out; correct what it \
         reports and approve again.";
    XchainHookBlocked = "hook_blocked", Validation, AfterChange, 409,
        "A hook blocked the operation; see its message in the hook audit log.";
    XchainHookStateTamper = "hook_state_tamper", Execution, AfterChange, 409,
        "A hook changed the run's state or one of its logs, which were restored; correct the hook.";
    XchainHookHistoryTamper = "hook_history_tamper", Execution, AfterChange, 409,
        "A hook changed the run's history, which was restored; correct the hook.";
    XchainHookLedgerTamper = "hook_ledger_tamper", Execution, AfterChange, 409,
        "A hook changed the decision ledger or the decisions of the repository, which were \
         restored; correct the hook.";
    XchainHookBundleTamper = "hook_bundle_tamper", Execution, AfterChange, 409,
        "A hook changed a protected file of the turn's bundle, its staged result or the lock, \
         which were restored; correct the hook.";
    XchainInvalidEvent = "invalid_event", Validation, AfterChange, 422,
        "An event lacks a member, or its type is not declared; correct it as named.";
    XchainInvalidEvents = "invalid_events", Validation, AfterChange, 422,
        "A timeline is not a list or is empty; give at least its first event.";
    XchainOrderingViolation = "ordering_violation", Validation, AfterChange, 422,
        "The events of a run are in an impossible order; see the named events.";
    XchainManifestInvalid = "manifest_invalid", Validation, AfterChange, 409,
        "A dispatch bundle does not match its manifest; write the bundle again before using it.";
    XchainFinalizationFailed = "finalization_failed", Execution, AfterChange, 409,
        "A dispatch bundle has no files to finalise; write the bundle first.";
    XchainInvalidCoordinatorConfig = "invalid_coordinator_config", Validation, AfterChange, 422,
        "The coordinator's configuration is not valid; correct agentxchain-multi.json at the named \
         places.";
    XchainWorkstreamCycle = "workstream_cycle", Validation, AfterChange, 422,
        "Workstreams depend on each other in a cycle; remove one of the dependencies.";
    XchainCoordinatorStateInvalid = "coordinator_state_invalid", Execution, Never, 500,
        "A document of the coordinator is damaged at the named place; restore it from a backup.";
    XchainNoInitiative = "no_initiative", Execution, AfterChange, 409,
        "This workspace has no initiative; start one.";
    XchainCrossRepoWriteViolation = "cross_repo_write_violation", Validation, AfterChange, 422,
        "An accepted turn changed a file outside its own repository; undo that and accept the turn \
         again.";
    XchainProjectionFailed = "projection_failed", Validation, AfterChange, 422,
        "An acceptance names a repository, workstream or turn that the coordinator does not know; \
         correct what is named.";
    XchainProposalNotFound = "proposal_not_found", NotFound, AfterChange, 404,
        "The turn made no proposal; `accord run proposal list --all` lists them.";
    XchainProposalDecided = "proposal_decided", Validation, Never, 409,
        "The proposal was applied or dropped before; `accord run proposal list --all` shows which.";
    XchainProposalOutdated = "proposal_outdated", Validation, AfterChange, 409,
        "Files changed since the proposal was accepted, or its record does not say how they were; \
         restore the named files, or take the changes over by hand and drop the proposal.";
    XchainProposalChanged = "proposal_changed", Validation, AfterChange, 409,
        "The files in the folder of the proposal are not those that were accepted; restore them, \
         or drop the proposal.";
    XchainUnknownRepository = "unknown_repository", NotFound, AfterChange, 404,
        "The initiative has no such repository in its phase; name one of those that are listed.";
    XchainNothingToDispatch = "nothing_to_dispatch", Validation, AfterChange, 409,
        "No workstream can take a turn now; see the reason for each.";
    XchainCoordinatorGateBlocked = "coordinator_gate_blocked", Approval, AfterChange, 409,
        "The coordinator's gate is not open yet; see what blocks it.";
    XchainCoordinatorDiverged = "coordinator_diverged", Execution, AfterChange, 409,
        "A repository is not in the state that the coordinator knows; resynchronise, or repair \
         what is named.";
    } } };
}

//! Answers about an initiative.

use accord_contract::alx::ErrorEnvelope;
use accord_contract::{Object, message};

use super::{NextAnswer, RunFacts, RunFinding};

message! {
    /// An initiative that has begun.
    pub struct CoordinatorInitAnswer("CoordinatorInitAnswer", closed) {
        /// Its state.
        required state: Object = "state", "coordinator-state";
        /// The repositories in which a run was started for it.
        required begun: Vec<String> = "begun", "repository-ids";
        /// The next steps, in order.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }

    /// A turn that an initiative dispatched.
    pub struct CoordinatorTurn("CoordinatorTurn", closed) {
        /// The workstream.
        required workstream_id: String = "workstream_id", "workstream-id";
        /// The repository.
        required repo_id: String = "repo_id", "repository-id";
        /// The role.
        required role: String = "role", "role-id";
        /// The turn.
        required turn_id: String = "turn_id", "turn-id";
        /// Its dispatch bundle, in the repository.
        required bundle: String = "bundle", "repository-path";
        /// Where its result must be staged, in the repository.
        required staging: String = "staging", "repository-path";
        /// The context about other repositories.
        required context_ref: String = "context_ref", "context-id";
    }

    /// The result of a step of an initiative.
    pub struct CoordinatorStepAnswer("CoordinatorStepAnswer", closed) {
        /// The acceptances that were projected.
        required projected: Vec<Object> = "projected", "coordinator-history-lines";
        /// The turn that was dispatched.
        optional dispatched: CoordinatorTurn = "dispatched", "turn";
        /// Why nothing more can be done now.
        optional waiting: ErrorEnvelope = "waiting", "failure";
        /// The state of the initiative.
        required state: Object = "state", "coordinator-state";
        /// The next steps, in order.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }

    /// A gate of an initiative that was approved.
    pub struct CoordinatorGateAnswer("CoordinatorGateAnswer", closed) {
        /// The gate.
        required gate: Object = "gate", "coordinator-gate";
        /// The person who approved it.
        optional approved_by: String = "approved_by", "actor-key";
        /// The digest of the evidence of the approval.
        optional evidence_digest: String = "evidence_digest", "evidence-digest";
        /// The state of the initiative.
        required state: Object = "state", "coordinator-state";
        /// The next steps, in order.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }

    /// A gate of an initiative that was sent back.
    pub struct CoordinatorSendBackAnswer("CoordinatorSendBackAnswer", closed) {
        /// The gate.
        required gate: Object = "gate", "coordinator-gate";
        /// The repositories that get another turn.
        required repos: Vec<String> = "repos", "repository-ids";
        /// The state of the initiative.
        required state: Object = "state", "coordinator-state";
        /// The next steps, in order.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }

    /// A difference between a repository and its initiative.
    pub struct CoordinatorDivergence("CoordinatorDivergence", closed) {
        /// The repository.
        required repo_id: String = "repo_id", "repository-id";
        /// The kind of difference.
        required kind: String = "kind", "divergence";
        /// The turn that it is about.
        optional turn_id: String = "turn_id", "turn-id";
        /// The workstream of that turn.
        optional workstream_id: String = "workstream_id", "workstream-id";
    }

    /// The result of a resynchronisation.
    pub struct CoordinatorSyncAnswer("CoordinatorSyncAnswer", closed) {
        /// The state of the initiative.
        required state: Object = "state", "coordinator-state";
        /// The acceptances that were projected.
        required projected: Vec<Object> = "projected", "coordinator-history-lines";
        /// Differences that were resolved.
        required mended: Vec<CoordinatorDivergence> = "mended", "divergences";
        /// Differences that remain.
        required left: Vec<CoordinatorDivergence> = "left", "divergences";
        /// Whether a blocked initiative continues.
        required resumed: bool = "resumed", "verdict";
        /// The next steps, in order.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }

    /// A repository of an initiative.
    pub struct CoordinatorRepo("CoordinatorRepo", closed) {
        /// Its id.
        required id: String = "id", "repository-id";
        /// Its folder.
        required path: String = "path", "path";
        /// The run that belongs to the initiative.
        required_or_null run_id: String = "run_id", "run-id";
        /// The status of its run.
        required_or_null status: String = "status", "run-status";
        /// The phase of its run.
        required_or_null phase: String = "phase", "phase";
        /// Why it cannot be read.
        optional problem: String = "problem", "text";
        /// What Accord observed about its turns of the phase, while a gate waits for a person.
        optional facts: RunFacts = "facts", "facts";
        /// The next step in it.
        optional next: NextAnswer = "next", "next-step";
    }

    /// A workstream of the phase.
    pub struct CoordinatorWorkstream("CoordinatorWorkstream", closed) {
        /// Its id.
        required id: String = "id", "workstream-id";
        /// The repository that is next, or that it waits for.
        required_or_null repo_id: String = "repo_id", "repository-id";
        /// The role that gets the turn.
        optional role: String = "role", "role-id";
        /// Why no turn can be dispatched.
        optional obstacle: String = "obstacle", "dispatch-obstacle";
    }

    /// The status of an initiative.
    pub struct CoordinatorStatusAnswer("CoordinatorStatusAnswer", closed) {
        /// The workspace.
        required root: String = "root", "path";
        /// The initiative; null before it begins.
        required_or_null state: Object = "state", "coordinator-state";
        /// Its barriers.
        required barriers: Object = "barriers", "coordinator-barriers";
        /// Its repositories.
        required repos: Vec<CoordinatorRepo> = "repos", "repositories";
        /// The workstreams of the phase.
        required workstreams: Vec<CoordinatorWorkstream> = "workstreams", "workstreams";
        /// Differences between repositories and the initiative.
        required divergence: Vec<CoordinatorDivergence> = "divergence", "divergences";
        /// Members of the configuration that have no effect.
        required findings: Vec<RunFinding> = "findings", "findings";
        /// The process that holds the lock of the workspace.
        optional lock_owner_pid: u64 = "lock_owner_pid", "process-id";
        /// Pending journals, which the next command that writes finishes.
        required journals: Vec<String> = "journals", "repository-paths";
        /// Since when the gate waits for a person.
        optional waiting_since: String = "waiting_since", "time:rfc-3339";
        /// The digest of the evidence that the person decides about.
        optional evidence_digest: String = "evidence_digest", "evidence-digest";
        /// The next steps, in order.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }
}

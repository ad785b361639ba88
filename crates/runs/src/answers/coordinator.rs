//! The answers about an initiative.

use accord_contract::alx::ErrorEnvelope;
use accord_contract::wire::{Object, message};
use accord_runs_core::RunId;
use accord_runs_core::coordinator::{Choice, CoordinatorState, Divergence, Obstacle};

use super::{NextAnswer, RunFinding, error_envelope};
use crate::coordinator::{
    CoordinatorOverview, GateApproval, GateSentBack, InitiativeStarted, RepoOverview, ResyncResult,
    StepOutcome, StepResult,
};
use crate::operations::Dispatched;

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
}

message! {
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
}

message! {
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
}

message! {
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
}

message! {
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
}

message! {
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
}

message! {
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
}

message! {
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
        /// The next step in it.
        optional next: NextAnswer = "next", "next-step";
    }
}

message! {
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
}

message! {
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

impl CoordinatorTurn {
    fn new(choice: &Choice, dispatched: &Dispatched, context: &str) -> Self {
        Self {
            workstream_id: choice.workstream.clone(),
            repo_id: choice.repo.clone(),
            role: choice.role.clone(),
            turn_id: dispatched.turn.id().to_string(),
            bundle: dispatched.bundle.clone(),
            staging: dispatched.staging.clone(),
            context_ref: context.to_owned(),
        }
    }
}

impl CoordinatorDivergence {
    /// The document of a divergence.
    pub fn new(found: &Divergence) -> Self {
        Self {
            repo_id: found.repo.clone(),
            kind: found.kind.to_string(),
            turn_id: found.turn.clone(),
            workstream_id: found.workstream.clone(),
        }
    }
}

impl CoordinatorRepo {
    fn new(repo: &RepoOverview, next: Option<NextAnswer>) -> Self {
        let own = repo.overview.as_ref().ok();
        let state = own.and_then(|own| own.state.as_ref().ok());
        let unsound = own.and_then(|own| own.state.as_ref().err().or(own.config.as_ref().err()));
        let problem = repo.overview.as_ref().err().cloned();
        Self {
            id: repo.id.clone(),
            path: repo.place.to_string_lossy().into_owned(),
            run_id: repo.run.clone().or_else(|| {
                let run = state?.run_id();
                run.map(RunId::to_string)
            }),
            status: state.map(|state| state.status().to_string()),
            phase: state.map(|state| state.phase().to_owned()),
            problem: problem.or_else(|| unsound.map(|failure| failure.message.clone())),
            next,
        }
    }
}

impl CoordinatorWorkstream {
    fn new(id: &str, prospect: &Result<Choice, Obstacle>) -> Self {
        let (repo, role, obstacle) = match prospect {
            Ok(choice) => (Some(choice.repo.clone()), Some(choice.role.clone()), None),
            Err(found) => (found.repo.clone(), None, Some(found.reason.to_string())),
        };
        Self { id: id.to_owned(), repo_id: repo, role, obstacle }
    }
}

impl CoordinatorStatusAnswer {
    /// The answer about the status of an initiative; `next_of` gives the next step in a
    /// repository.
    pub fn new(
        overview: &CoordinatorOverview,
        next_of: impl Fn(&str) -> Option<NextAnswer>,
        next: Vec<NextAnswer>,
    ) -> Self {
        let repos = overview.repos.iter();
        let streams = overview.prospects.iter();
        let waiting = overview.waiting.as_ref();
        let evidence = waiting.and_then(|waiting| waiting.evidence.as_ref().ok());
        Self {
            root: overview.root.to_string_lossy().into_owned(),
            state: overview.state.as_ref().map(|state| state.document()),
            barriers: overview.barriers.document(),
            repos: repos.map(|repo| CoordinatorRepo::new(repo, next_of(&repo.id))).collect(),
            workstreams: streams.map(|(id, found)| CoordinatorWorkstream::new(id, found)).collect(),
            divergence: overview.divergence.iter().map(CoordinatorDivergence::new).collect(),
            findings: overview.findings.iter().map(RunFinding::new).collect(),
            lock_owner_pid: overview.holder.as_ref().map(|holder| holder.lock.owner_pid),
            journals: overview.journals.clone(),
            waiting_since: waiting.and_then(|waiting| waiting.since).map(|since| since.to_string()),
            evidence_digest: evidence.map(ToString::to_string),
            next,
        }
    }
}

impl CoordinatorInitAnswer {
    /// The answer after an initiative has begun.
    pub fn new(started: &InitiativeStarted, next: Vec<NextAnswer>) -> Self {
        Self { state: started.state.document(), begun: started.begun.clone(), next }
    }
}

impl CoordinatorStepAnswer {
    /// The answer of a step.
    pub fn new(
        result: &StepResult,
        state: Option<&CoordinatorState>,
        next: Vec<NextAnswer>,
    ) -> Self {
        let (mut turn, mut waiting) = (None, None);
        match &result.outcome {
            StepOutcome::Dispatched { choice, dispatched, context } => {
                turn = Some(CoordinatorTurn::new(choice, dispatched, context));
            }
            StepOutcome::Waiting(failure) => waiting = Some(error_envelope(failure)),
            StepOutcome::Gate { .. } => {}
        }
        Self {
            projected: result.projected.clone(),
            dispatched: turn,
            waiting,
            state: document(state),
            next,
        }
    }
}

impl CoordinatorGateAnswer {
    /// The answer after a gate was approved.
    pub fn new(approval: &GateApproval, next: Vec<NextAnswer>) -> Self {
        Self {
            gate: approval.gate.clone(),
            approved_by: Some(approval.approval.person.actor.clone()),
            evidence_digest: Some(approval.approval.evidence.to_string()),
            state: approval.state.document(),
            next,
        }
    }
}

impl CoordinatorSendBackAnswer {
    /// The answer after a gate was sent back.
    pub fn new(sent: &GateSentBack, next: Vec<NextAnswer>) -> Self {
        Self {
            gate: sent.gate.clone(),
            repos: sent.repos.clone(),
            state: sent.state.document(),
            next,
        }
    }
}

impl CoordinatorSyncAnswer {
    /// The answer of a resynchronisation.
    pub fn new(
        result: &ResyncResult,
        state: Option<&CoordinatorState>,
        next: Vec<NextAnswer>,
    ) -> Self {
        let documents = |found: &[Divergence]| {
            let found = found.iter();
            found.map(CoordinatorDivergence::new).collect()
        };
        Self {
            state: document(state),
            projected: result.projected.clone(),
            mended: documents(&result.mended),
            left: documents(&result.left),
            resumed: result.resumed,
            next,
        }
    }

    /// The answer of a dry run, which only names the divergence.
    pub fn dry_run(
        left: &[Divergence],
        state: Option<&CoordinatorState>,
        next: Vec<NextAnswer>,
    ) -> Self {
        Self {
            state: document(state),
            projected: Vec::new(),
            mended: Vec::new(),
            left: left.iter().map(CoordinatorDivergence::new).collect(),
            resumed: false,
            next,
        }
    }
}

fn document(state: Option<&CoordinatorState>) -> Object {
    state.map(CoordinatorState::document).unwrap_or_default()
}

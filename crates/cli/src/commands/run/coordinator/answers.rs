//! What the commands of a coordinator answer, as JSON. Documents of the protocol are in them as
//! they are.

use accord_contract::compat::Direction;
use accord_contract::snapshot::Builder;
use accord_contract::wire::{Object, message};
use accord_runs::coordinator::{CoordinatorOverview, RepoOverview};
use accord_runs::operations::Dispatched;
use accord_runs_core::RunId;
use accord_runs_core::coordinator::{Choice, Divergence, Obstacle};

use super::super::answers::{RunFailure, RunFinding};
use super::super::next::NextAnswer;

message! {
    /// An initiative that has begun.
    pub(crate) struct CoordinatorInitAnswer("CoordinatorInitAnswer", closed) {
        /// Where it stands.
        required state: Object = "state", "coordinator-state";
        /// The repositories whose run was begun for it.
        required begun: Vec<String> = "begun", "repository-ids";
        /// What is to be done next, the first first.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }
}

message! {
    /// A turn that an initiative handed out.
    pub(crate) struct CoordinatorTurn("CoordinatorTurn", closed) {
        /// The workstream.
        required workstream_id: String = "workstream_id", "workstream-id";
        /// The repository.
        required repo_id: String = "repo_id", "repository-id";
        /// The role.
        required role: String = "role", "role-id";
        /// The turn.
        required turn_id: String = "turn_id", "turn-id";
        /// The folder with what the worker is given, in the repository.
        required bundle: String = "bundle", "repository-path";
        /// Where its result belongs, in the repository.
        required staging: String = "staging", "repository-path";
        /// What the worker is told about the others.
        required context_ref: String = "context_ref", "context-id";
    }
}

message! {
    /// What a step of an initiative did.
    pub(crate) struct CoordinatorStepAnswer("CoordinatorStepAnswer", closed) {
        /// The acceptances that were taken over.
        required projected: Vec<Object> = "projected", "coordinator-history-lines";
        /// The turn that was handed out.
        optional dispatched: CoordinatorTurn = "dispatched", "turn";
        /// Why nothing more can be done now.
        optional waiting: RunFailure = "waiting", "failure";
        /// Where the initiative stands.
        required state: Object = "state", "coordinator-state";
        /// What is to be done next, the first first.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }
}

message! {
    /// A gate of an initiative that was passed.
    pub(crate) struct CoordinatorGateAnswer("CoordinatorGateAnswer", closed) {
        /// The gate, as it waited.
        required gate: Object = "gate", "coordinator-gate";
        /// Where the initiative stands.
        required state: Object = "state", "coordinator-state";
        /// What is to be done next, the first first.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }
}

message! {
    /// Where a repository is not as its initiative knows it.
    pub(crate) struct CoordinatorDivergence("CoordinatorDivergence", closed) {
        /// The repository.
        required repo_id: String = "repo_id", "repository-id";
        /// How it differs.
        required kind: String = "kind", "divergence";
        /// The turn that it is about.
        optional turn_id: String = "turn_id", "turn-id";
        /// The workstream of that turn.
        optional workstream_id: String = "workstream_id", "workstream-id";
    }
}

message! {
    /// What a resynchronisation did.
    pub(crate) struct CoordinatorSyncAnswer("CoordinatorSyncAnswer", closed) {
        /// Where the initiative stands.
        required state: Object = "state", "coordinator-state";
        /// The acceptances that were taken over.
        required projected: Vec<Object> = "projected", "coordinator-history-lines";
        /// What was mended.
        required mended: Vec<CoordinatorDivergence> = "mended", "divergences";
        /// What still differs.
        required left: Vec<CoordinatorDivergence> = "left", "divergences";
        /// Whether the initiative was blocked and goes on.
        required resumed: bool = "resumed", "verdict";
        /// What is to be done next, the first first.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }
}

message! {
    /// A repository of an initiative.
    pub(crate) struct CoordinatorRepo("CoordinatorRepo", closed) {
        /// Its id.
        required id: String = "id", "repository-id";
        /// Where it is.
        required path: String = "path", "path";
        /// The run that belongs to the initiative.
        required_or_null run_id: String = "run_id", "run-id";
        /// How its run stands.
        required_or_null status: String = "status", "run-status";
        /// The phase of its run.
        required_or_null phase: String = "phase", "phase";
        /// Why it cannot be seen.
        optional problem: String = "problem", "text";
        /// What is to be done next in it.
        optional next: NextAnswer = "next", "next-step";
    }
}

message! {
    /// A workstream of the phase.
    pub(crate) struct CoordinatorWorkstream("CoordinatorWorkstream", closed) {
        /// Its id.
        required id: String = "id", "workstream-id";
        /// The repository that is next, or that it waits for.
        required_or_null repo_id: String = "repo_id", "repository-id";
        /// The role that gets the turn.
        optional role: String = "role", "role-id";
        /// Why no turn can be handed out.
        optional obstacle: String = "obstacle", "dispatch-obstacle";
    }
}

message! {
    /// Where an initiative stands.
    pub(crate) struct CoordinatorStatusAnswer("CoordinatorStatusAnswer", closed) {
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
        /// Where repositories are not as the initiative knows them.
        required divergence: Vec<CoordinatorDivergence> = "divergence", "divergences";
        /// Members of the configuration that have no effect.
        required findings: Vec<RunFinding> = "findings", "findings";
        /// The process that works on the workspace just now.
        optional lock_owner_pid: u64 = "lock_owner_pid", "process-id";
        /// Journals that the next command that writes brings to their end.
        required journals: Vec<String> = "journals", "repository-paths";
        /// What is to be done next, the first first.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }
}

/// Adds the answers to a snapshot.
pub(crate) fn add_to(snapshot: Builder) -> Builder {
    snapshot
        .message::<CoordinatorInitAnswer>(Direction::Response)
        .message::<CoordinatorStatusAnswer>(Direction::Response)
        .message::<CoordinatorStepAnswer>(Direction::Response)
        .message::<CoordinatorGateAnswer>(Direction::Response)
        .message::<CoordinatorSyncAnswer>(Direction::Response)
}

impl CoordinatorTurn {
    pub(super) fn new(choice: &Choice, dispatched: &Dispatched, context: &str) -> Self {
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
    pub(super) fn new(found: &Divergence) -> Self {
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
        Self {
            id: id.to_owned(),
            repo_id: repo,
            role,
            obstacle,
        }
    }
}

pub(super) fn status_answer(
    overview: &CoordinatorOverview,
    next_of: impl Fn(&str) -> Option<NextAnswer>,
    next: Vec<NextAnswer>,
) -> CoordinatorStatusAnswer {
    let repos = overview.repos.iter();
    let streams = overview.prospects.iter();
    CoordinatorStatusAnswer {
        root: overview.root.to_string_lossy().into_owned(),
        state: overview.state.as_ref().map(|state| state.document()),
        barriers: overview.barriers.document(),
        repos: repos
            .map(|repo| CoordinatorRepo::new(repo, next_of(&repo.id)))
            .collect(),
        workstreams: streams
            .map(|(id, found)| CoordinatorWorkstream::new(id, found))
            .collect(),
        divergence: overview
            .divergence
            .iter()
            .map(CoordinatorDivergence::new)
            .collect(),
        findings: overview.findings.iter().map(RunFinding::new).collect(),
        lock_owner_pid: overview.holder.as_ref().map(|holder| holder.lock.owner_pid),
        journals: overview.journals.clone(),
        next,
    }
}

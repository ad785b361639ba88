//! The answers about an initiative.

use accord_contract::Object;
use accord_runs_core::RunId;
use accord_runs_core::coordinator::{Choice, CoordinatorState, Divergence, Obstacle};
use accord_runs_core::operations::answers::{
    CoordinatorDivergence, CoordinatorGateAnswer, CoordinatorInitAnswer, CoordinatorRepo,
    CoordinatorSendBackAnswer, CoordinatorStatusAnswer, CoordinatorStepAnswer,
    CoordinatorSyncAnswer, CoordinatorTurn, CoordinatorWorkstream, NextAnswer,
};

use super::error_envelope;
use super::run::finding_answer;
use crate::coordinator::{
    CoordinatorOverview, GateApproval, GateSentBack, InitiativeStarted, RepoOverview, ResyncResult,
    StepOutcome, StepResult,
};
use crate::operations::Dispatched;

fn coordinator_turn(choice: &Choice, dispatched: &Dispatched, context: &str) -> CoordinatorTurn {
    CoordinatorTurn {
        workstream_id: choice.workstream.clone(),
        repo_id: choice.repo.clone(),
        role: choice.role.clone(),
        turn_id: dispatched.turn.id().to_string(),
        bundle: dispatched.bundle.clone(),
        staging: dispatched.staging.clone(),
        context_ref: context.to_owned(),
    }
}

/// The document of a divergence.
pub fn divergence_answer(found: &Divergence) -> CoordinatorDivergence {
    CoordinatorDivergence {
        repo_id: found.repo.clone(),
        kind: found.kind.to_string(),
        turn_id: found.turn.clone(),
        workstream_id: found.workstream.clone(),
    }
}

fn coordinator_repo(repo: &RepoOverview, next: Option<NextAnswer>) -> CoordinatorRepo {
    let own = repo.overview.as_ref().ok();
    let state = own.and_then(|own| own.state.as_ref().ok());
    let unsound = own.and_then(|own| own.state.as_ref().err().or(own.config.as_ref().err()));
    let problem = repo.overview.as_ref().err().cloned();
    let run = || state?.run_id().map(RunId::to_string);
    CoordinatorRepo {
        id: repo.id.clone(),
        path: repo.place.to_string_lossy().into_owned(),
        run_id: repo.run.clone().or_else(run),
        status: state.map(|state| state.status().to_string()),
        phase: state.map(|state| state.phase().to_owned()),
        problem: problem.or_else(|| unsound.map(|failure| failure.message.clone())),
        facts: repo.facts.clone(),
        next,
    }
}

fn coordinator_workstream(id: &str, prospect: &Result<Choice, Obstacle>) -> CoordinatorWorkstream {
    let (repo, role, obstacle) = match prospect {
        Ok(choice) => (Some(choice.repo.clone()), Some(choice.role.clone()), None),
        Err(found) => (found.repo.clone(), None, Some(found.reason.to_string())),
    };
    CoordinatorWorkstream { id: id.to_owned(), repo_id: repo, role, obstacle }
}

/// The answer about the status of an initiative; `next_of` gives the next step in a repository.
pub fn coordinator_status_answer(
    overview: &CoordinatorOverview,
    next_of: impl Fn(&str) -> Option<NextAnswer>,
    next: Vec<NextAnswer>,
) -> CoordinatorStatusAnswer {
    let repos = overview.repos.iter();
    let streams = overview.prospects.iter();
    let waiting = overview.waiting.as_ref();
    let evidence = waiting.and_then(|waiting| waiting.evidence.as_ref().ok());
    CoordinatorStatusAnswer {
        root: overview.root.to_string_lossy().into_owned(),
        state: overview.state.as_ref().map(|state| state.document()),
        barriers: overview.barriers.document(),
        repos: repos.map(|repo| coordinator_repo(repo, next_of(&repo.id))).collect(),
        workstreams: streams.map(|(id, found)| coordinator_workstream(id, found)).collect(),
        divergence: overview.divergence.iter().map(divergence_answer).collect(),
        findings: overview.findings.iter().map(finding_answer).collect(),
        lock_owner_pid: overview.holder.as_ref().map(|holder| holder.lock.owner_pid),
        journals: overview.journals.clone(),
        waiting_since: waiting.and_then(|waiting| waiting.since).map(|since| since.to_string()),
        evidence_digest: evidence.map(ToString::to_string),
        next,
    }
}

/// The answer after an initiative has begun.
pub fn coordinator_init_answer(
    started: &InitiativeStarted,
    next: Vec<NextAnswer>,
) -> CoordinatorInitAnswer {
    CoordinatorInitAnswer { state: started.state.document(), begun: started.begun.clone(), next }
}

/// The answer of a step.
pub fn coordinator_step_answer(
    result: &StepResult,
    state: Option<&CoordinatorState>,
    next: Vec<NextAnswer>,
) -> CoordinatorStepAnswer {
    let (turn, waiting) = match &result.outcome {
        StepOutcome::Dispatched { choice, dispatched, context } => {
            (Some(coordinator_turn(choice, dispatched, context)), None)
        }
        StepOutcome::Waiting(failure) => (None, Some(error_envelope(failure))),
        StepOutcome::Gate { .. } => (None, None),
    };
    let (projected, state) = (result.projected.clone(), document(state));
    CoordinatorStepAnswer { projected, dispatched: turn, waiting, state, next }
}

/// The answer after a gate was approved.
pub fn coordinator_gate_answer(
    approval: &GateApproval,
    next: Vec<NextAnswer>,
) -> CoordinatorGateAnswer {
    CoordinatorGateAnswer {
        gate: approval.gate.clone(),
        approved_by: Some(approval.approval.person.actor.clone()),
        evidence_digest: Some(approval.approval.evidence.to_string()),
        state: approval.state.document(),
        next,
    }
}

/// The answer after a gate was sent back.
pub fn coordinator_send_back_answer(
    sent: &GateSentBack,
    next: Vec<NextAnswer>,
) -> CoordinatorSendBackAnswer {
    let (gate, repos) = (sent.gate.clone(), sent.repos.clone());
    CoordinatorSendBackAnswer { gate, repos, state: sent.state.document(), next }
}

/// The answer of a resynchronisation.
pub fn coordinator_sync_answer(
    result: &ResyncResult,
    state: Option<&CoordinatorState>,
    next: Vec<NextAnswer>,
) -> CoordinatorSyncAnswer {
    CoordinatorSyncAnswer {
        projected: result.projected.clone(),
        mended: result.mended.iter().map(divergence_answer).collect(),
        resumed: result.resumed,
        ..coordinator_sync_plan(&result.left, state, next)
    }
}

/// The answer of a dry run, which only names the divergence.
pub fn coordinator_sync_plan(
    left: &[Divergence],
    state: Option<&CoordinatorState>,
    next: Vec<NextAnswer>,
) -> CoordinatorSyncAnswer {
    CoordinatorSyncAnswer {
        state: document(state),
        projected: Vec::new(),
        mended: Vec::new(),
        left: left.iter().map(divergence_answer).collect(),
        resumed: false,
        next,
    }
}

fn document(state: Option<&CoordinatorState>) -> Object {
    state.map(CoordinatorState::document).unwrap_or_default()
}

//! The next steps of an initiative, for a person.

use super::send_back::owed_repos;
use super::{
    BlockerKind, Choice, CoordinatorStatus, Divergence, Initiative, Obstacle, ObstacleReason,
    RepoViews, gate_blockers, recovery_report_path,
};
use crate::next_step::NextStep;

#[derive(Clone, Debug, PartialEq)]
pub enum NextAction {
    Init,
    Step,
    ApproveGate { gate: String },
    SendBack { phase: String },
    // Write the recovery report, then resynchronise.
    Account { report: String },
    // `sent_back`: the initiative owes it a turn, so that its own gate must be sent back first.
    Repository { id: String, sent_back: bool },
}

pub struct InitiativeFacts<'a> {
    pub initiative: Initiative<'a>,
    pub views: &'a RepoViews,
    /// What each workstream can do now; see [`super::prospects`].
    pub prospects: &'a [(String, Result<Choice, Obstacle>)],
    pub divergence: &'a [Divergence],
    pub repos: &'a [(&'a str, Option<&'a NextStep>)],
}

/// The next steps of an initiative, in order; never empty.
pub fn next_actions(facts: &InitiativeFacts<'_>) -> Vec<NextAction> {
    let state = facts.initiative.state;
    let mut actions = match state.status() {
        // A repository may still wait for the approval of its own completion.
        CoordinatorStatus::Completed => {
            let mut actions = in_repos(facts, |_, step| waits_for_person(step));
            actions.push(NextAction::Init);
            return actions;
        }
        CoordinatorStatus::Blocked => {
            return vec![NextAction::Account { report: recovery_report_path() }];
        }
        CoordinatorStatus::Paused => {
            let gate = state.pending_gate_id().unwrap_or_default().to_owned();
            let phase = state.phase().to_owned();
            return vec![NextAction::ApproveGate { gate }, NextAction::SendBack { phase }];
        }
        CoordinatorStatus::Active => {
            in_repos(facts, |id, _| delays_workstream(id, facts.prospects))
        }
    };
    let blockers = gate_blockers(&facts.initiative, facts.views);
    if facts.prospects.iter().any(|(_, prospect)| prospect.is_ok())
        || facts.divergence.iter().any(|found| found.kind.is_repairable())
        || blockers.is_empty()
    {
        actions.insert(0, NextAction::Step);
        return actions;
    }
    // A step would change nothing: the blockers of the gate are resolved in the repositories. While
    // a workstream is not done, it may still need a repository that is not complete yet.
    let unfinished = (blockers.iter()).any(|found| found.kind == BlockerKind::BarrierUnsatisfied);
    let blocks_gate = |id: &str| {
        blockers.iter().any(|found| {
            let early = unfinished && found.kind == BlockerKind::RepoNotCompletionReady;
            found.about.as_deref() == Some(id) && is_resolved_in_repo(found.kind) && !early
        })
    };
    for action in in_repos(facts, |id, step| blocks_gate(id) || waits_for_person(step)) {
        if !actions.contains(&action) {
            actions.push(action);
        }
    }
    if actions.is_empty() {
        actions.push(NextAction::Step);
    }
    actions
}

fn in_repos(
    facts: &InitiativeFacts<'_>,
    is_next: impl Fn(&str, Option<&NextStep>) -> bool,
) -> Vec<NextAction> {
    let owed = owed_repos(facts.initiative.history);
    let repos = facts.repos.iter().filter(|(id, step)| is_next(id, *step));
    let action = |(id, _): &(&str, Option<&NextStep>)| NextAction::Repository {
        id: (*id).to_owned(),
        sent_back: owed.iter().any(|repo| repo == id),
    };
    repos.map(action).collect()
}

fn delays_workstream(repo: &str, prospects: &[(String, Result<Choice, Obstacle>)]) -> bool {
    let mut obstacles = prospects.iter().filter_map(|(_, prospect)| prospect.as_ref().err());
    obstacles.any(|found| {
        found.repo.as_deref() == Some(repo)
            && matches!(found.reason, ObstacleReason::RepoBusy | ObstacleReason::RepoBlocked)
    })
}

fn is_resolved_in_repo(kind: BlockerKind) -> bool {
    use BlockerKind::{RepoActiveTurns, RepoBlocked, RepoNotCompletionReady, RepoPendingGate};
    matches!(kind, RepoBlocked | RepoActiveTurns | RepoPendingGate | RepoNotCompletionReady)
}

fn waits_for_person(step: Option<&NextStep>) -> bool {
    use NextStep::{ApproveCompletion, ApproveTransition, Resolve};
    matches!(step, Some(ApproveTransition { .. } | ApproveCompletion { .. } | Resolve { .. }))
}

//! Chooses the repository that gets the next turn.

use accord_contract::{Code, Failure, Object, Time, Value, wire_enum};

use super::history::{self, LineType};
use super::projection::Initiative;
use super::send_back::owed_repos;
use super::{BarrierType, CoordinatorStatus, RepoViews, Workstream};
use crate::{Result, Status, TurnId, build, doc};

wire_enum! {
    pub enum ObstacleReason("DispatchObstacle", closed) {
        DependencyPending = "dependency_pending",
        WorkstreamComplete = "workstream_complete",
        RepoBlocked = "repo_blocked",
        RepoBusy = "repo_busy",
        RoleUnresolved = "role_unresolved",
        /// Every repository has had its turn, but the barrier is not satisfied.
        BarrierBlocked = "barrier_blocked",
        WorkstreamMissing = "workstream_missing",
        PhaseMismatch = "phase_mismatch",
        NoAssignableWorkstream = "no_assignable_workstream",
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Choice {
    pub workstream: String,
    pub repo: String,
    pub role: String,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Obstacle {
    pub workstream: Option<String>,
    pub repo: Option<String>,
    pub reason: ObstacleReason,
}

/// Chooses the next turn: of the given workstream, or of the first one that can take a turn. Fails
/// with `nothing_to_dispatch` and the obstacle of each workstream.
pub fn choose(
    initiative: &Initiative<'_>,
    repos: &RepoViews,
    wanted: Option<&str>,
) -> Result<Choice> {
    if initiative.state.status() != CoordinatorStatus::Active {
        return Err(initiative.state.refuse("dispatches no turns"));
    }
    let phase = initiative.state.phase();
    let unfit = |id: &str, reason| Err(refusal(&[obstacle(Some(id), None, reason)]));
    let candidates = match wanted {
        None => initiative.config.workstreams_of(phase),
        Some(id) => match initiative.config.workstream(id) {
            None => return unfit(id, ObstacleReason::WorkstreamMissing),
            Some(stream) if stream.phase != phase => {
                return unfit(id, ObstacleReason::PhaseMismatch);
            }
            Some(stream) => vec![stream],
        },
    };
    let mut obstacles = Vec::new();
    for stream in candidates {
        match consider(stream, initiative, repos) {
            Ok(choice) => return Ok(choice),
            Err(found) => obstacles.push(found),
        }
    }
    if obstacles.is_empty() {
        obstacles.push(obstacle(None, None, ObstacleReason::NoAssignableWorkstream));
    }
    Err(refusal(&obstacles))
}

/// The next turn or the obstacle of each workstream of the phase, entry workstreams first.
pub fn prospects(
    initiative: &Initiative<'_>,
    repos: &RepoViews,
) -> Vec<(String, Result<Choice, Obstacle>)> {
    let streams = initiative.config.workstreams_of(initiative.state.phase());
    let prospect = |stream: &Workstream| (stream.id.clone(), consider(stream, initiative, repos));
    streams.into_iter().map(prospect).collect()
}

pub fn dispatched_line(
    initiative: &Initiative<'_>,
    choice: &Choice,
    turn: &TurnId,
    now: Time,
) -> Object {
    let members = [
        doc::MultiHistory::WORKSTREAM_ID.to(choice.workstream.as_str()),
        doc::MultiHistory::REPO_ID.to(choice.repo.as_str()),
        doc::MultiHistory::REPO_RUN_ID.to(initiative.state.repo_run(&choice.repo)),
        doc::MultiHistory::REPO_TURN_ID.to(turn.as_str()),
        doc::MultiHistory::ROLE.to(choice.role.as_str()),
    ];
    history::line(LineType::TurnDispatched, initiative.state, now, members)
}

fn consider(
    stream: &Workstream,
    initiative: &Initiative<'_>,
    repos: &RepoViews,
) -> Result<Choice, Obstacle> {
    let stop = |repo: Option<&str>, reason| Err(obstacle(Some(&stream.id), repo, reason));
    if !stream.depends_on.iter().all(|other| initiative.barriers.is_satisfied(other)) {
        return stop(None, ObstacleReason::DependencyPending);
    }
    let done = initiative.barriers.is_satisfied(&stream.id);
    let accepted = |repo: &str| {
        initiative.history.iter().any(|line| {
            history::is(line, LineType::AcceptanceProjection)
                && doc::MultiHistory::WORKSTREAM_ID.get(line) == Some(stream.id.as_str())
                && doc::MultiHistory::REPO_ID.get(line) == Some(repo)
        })
    };
    // After a gate was sent back, its repositories get a turn although the workstream is done.
    let owed = owed_repos(initiative.history);
    let owed = stream.repos.iter().find(|repo| owed.contains(repo));
    // A sequence is satisfied by its first repository; the others still get turns.
    if done && owed.is_none() && stream.barrier != BarrierType::OrderedRepoSequence {
        return stop(None, ObstacleReason::WorkstreamComplete);
    }
    let any = stream.repos.iter().any(|repo| accepted(repo));
    // A repository whose accepted turns lack a required decision gets another turn.
    let undecided = || {
        stream.barrier.settings()?;
        let made = initiative.barriers.of_workstream(&stream.id)?.satisfied_repos();
        stream.repos.iter().find(|repo| !made.contains(repo))
    };
    // Repositories without an accepted turn come first, so that each gets one before any gets two.
    let new = || stream.repos.iter().find(|repo| !accepted(repo));
    let next =
        owed.or_else(|| if any { new().or_else(undecided) } else { Some(&stream.entry_repo) });
    let Some(repo) = next else {
        use ObstacleReason::{BarrierBlocked, WorkstreamComplete};
        return stop(None, if done { WorkstreamComplete } else { BarrierBlocked });
    };
    let view = repos.get(repo);
    // A state that cannot be read is treated like a blocked repository, not like a free one.
    let Some(state) = view.and_then(|view| view.state.as_ref()) else {
        return stop(Some(repo), ObstacleReason::RepoBlocked);
    };
    if state.status() != Status::Active {
        return stop(Some(repo), ObstacleReason::RepoBlocked);
    }
    if state.turns().len() > 0 {
        return stop(Some(repo), ObstacleReason::RepoBusy);
    }
    let config = view.and_then(|view| view.config.as_ref());
    let known = |role: &&str| config.is_some_and(|config| config.role(role).is_some());
    // A recommendation may be `human`, which takes no turns.
    let recommended = doc::State::NEXT_RECOMMENDED_ROLE.get(state.members()).filter(known);
    let entry = || config?.route(state.phase())?.entry_role.as_deref().filter(known);
    let role = recommended.or_else(entry).map(str::to_owned);
    match role {
        Some(role) => Ok(Choice { workstream: stream.id.clone(), repo: repo.clone(), role }),
        None => stop(Some(repo), ObstacleReason::RoleUnresolved),
    }
}

fn obstacle(workstream: Option<&str>, repo: Option<&str>, reason: ObstacleReason) -> Obstacle {
    Obstacle { workstream: workstream.map(str::to_owned), repo: repo.map(str::to_owned), reason }
}

fn refusal(obstacles: &[Obstacle]) -> Failure {
    let text = |obstacle: &Obstacle| match &obstacle.workstream {
        Some(stream) => format!("{stream}: {}", obstacle.reason),
        None => obstacle.reason.to_string(),
    };
    let texts: Vec<String> = obstacles.iter().map(text).collect();
    let document = |obstacle: &Obstacle| {
        Value::Object(build([
            ("workstream_id", obstacle.workstream.clone().into()),
            ("repo_id", obstacle.repo.clone().into()),
            ("reason", obstacle.reason.as_str().into()),
        ]))
    };
    let documents: Vec<Value> = obstacles.iter().map(document).collect();
    Failure::new(Code::XchainNothingToDispatch, texts.join("; ")).with("obstacles", documents)
}

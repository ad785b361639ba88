//! Start of an initiative.

use accord_contract::{Code, Failure, Object, Time};

use super::history::{self, LineType};
use super::validate::phase_alignment;
use super::{
    Barriers, CoordinatorChange, CoordinatorConfig, CoordinatorDecision, CoordinatorLedger,
    CoordinatorState, RepoViews,
};
use crate::{Ids, Result, Status, build, doc};

/// What a repository needs before the initiative can begin.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RepoStart {
    Link(String),
    /// It has no run: start one, then call [`init`] again.
    Begin,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Initialised {
    pub state: CoordinatorState,
    pub barriers: Barriers,
    pub line: Object,
}

impl Initialised {
    pub fn into_change(self, ledger: &mut CoordinatorLedger, now: Time) -> CoordinatorChange {
        let count = self.state.repos().count();
        let statement = format!("an initiative over {count} repositories begins");
        let category = CoordinatorDecision::Initialization;
        let decision = ledger.line(&self.state, category, &statement, [], now);
        let mut change = CoordinatorChange::of_state(self.state, self.barriers);
        change.history.push(self.line);
        change.decisions.push(decision);
        change
    }
}

/// Checks every repository and returns what each needs. Once all have a run, the initiative begins.
/// `begun` names the repositories whose run was started for it. Fails with `coordinator_diverged`
/// when a repository cannot participate: its state or configuration is missing, it is blocked or
/// completed, or its phases differ.
pub fn init(
    config: &CoordinatorConfig,
    repos: &RepoViews,
    begun: &[String],
    ids: &mut Ids,
    now: Time,
) -> Result<Result<Initialised, Vec<(String, RepoStart)>>> {
    let refuse = |repo: &str, reason: &str, message: String| {
        let failure = Failure::new(Code::XchainCoordinatorDiverged, message);
        failure.with("repo_id", repo).with("reason", reason)
    };
    let mut starts = Vec::new();
    let mut runs = Object::new();
    for repo in config.repos() {
        let id = &repo.id;
        let view = repos.get(id);
        let read = view.and_then(|view| view.config.as_ref().zip(view.state.as_ref()));
        let Some((own, state)) = read else {
            return Err(refuse(id, "repo_no_state", format!("{id} is not a governed repository")));
        };
        // The coordinator moves all repositories together, so their phases must be the same.
        if let Some(problem) = phase_alignment(id, &own.phases(), &config.phases()) {
            return Err(refuse(id, &problem.code.clone(), problem.message));
        }
        match state.status() {
            // A run that never began can still be started, although its state is blocked.
            Status::Blocked if state.run_id().is_some() => {
                let message = format!("{id} is blocked; resolve it first");
                return Err(refuse(id, "repo_blocked", message));
            }
            Status::Completed | Status::Failed => {
                return Err(refuse(id, "repo_completed", format!("the run of {id} has ended")));
            }
            _ => {}
        }
        let Some(run) = state.run_id() else {
            starts.push((id.clone(), RepoStart::Begin));
            continue;
        };
        starts.push((id.clone(), RepoStart::Link(run.to_string())));
        let ours = begun.contains(id);
        let entry = build([
            doc::RepoRun::RUN_ID.to(run.as_str()),
            doc::RepoRun::STATUS.to(if ours { "initialized" } else { "linked" }),
            doc::RepoRun::PHASE.to(state.phase()),
            doc::RepoRun::INITIALIZED_BY_COORDINATOR.to(ours),
        ]);
        runs.insert(id.clone(), entry.into());
    }
    // The host starts the missing runs and asks again. Nothing is written before all have one.
    if starts.iter().any(|(_, start)| *start == RepoStart::Begin) {
        return Ok(Err(starts));
    }
    let phases = config.phases();
    let first = phases.first().copied().unwrap_or(crate::config::DEFAULT_PHASES[0]);
    let id = format!("srun_{}_{}", now.unix_millis(), ids.hex(4));
    let repo_runs = doc::MultiHistory::REPO_RUNS.to(runs.clone());
    let state = CoordinatorState::new(&id, config.project_id(), first, runs, now);
    let line = history::line(LineType::RunInitialized, &state, now, [repo_runs]);
    Ok(Ok(Initialised { state, barriers: Barriers::of_config(config, now), line }))
}

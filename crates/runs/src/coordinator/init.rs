//! Starts an initiative.

use accord_contract::{Code, Failure};
use accord_runs_core::coordinator::{
    CoordinatorProblem, CoordinatorState, CoordinatorStatus, RepoStart, init, refusal,
};
use accord_runs_core::{Result, build};

use super::Coordinator;
use super::repos::{ChildRepo, When, in_repo, views};
use super::session::ledger;
use crate::LockedRepository;
use crate::operations::Start;

#[derive(Clone, Debug, PartialEq)]
pub struct InitiativeStarted {
    pub state: CoordinatorState,
    /// The repositories in which a run was started for it; the others had one.
    pub begun: Vec<String>,
}

impl Coordinator {
    /// Starts an initiative: links the runs of repositories that have one, and starts the others.
    /// Fails with `invalid_coordinator_config` if a repository is missing; `coordinator_diverged`
    /// if one cannot take part. No run is started then.
    pub fn init(&self) -> Result<InitiativeStarted> {
        let config = self.config()?;
        let children = self.children(&config);
        let problems = children.iter().filter_map(|child| child.runs.as_ref().err());
        let problems: Vec<CoordinatorProblem> = problems.cloned().collect();
        if !problems.is_empty() {
            return Err(refusal(&problems));
        }
        // The lock is released at once. A workspace may be one of its own repositories, and
        // starting a run takes that lock.
        check_free(&self.lock()?)?;
        // Check all repositories before a run is started in any of them.
        let seen = views(&children, None, When::Before)?;
        let now = self.environment.now();
        let mut begun = Vec::new();
        if let Err(starts) = init(&config, &seen, &[], &mut self.environment.ids(), now)? {
            for (id, _) in starts.iter().filter(|(_, start)| *start == RepoStart::Begin) {
                start(&children, id)?;
                begun.push(id.clone());
            }
        }
        // Everything is read and checked again: other processes may have acted without a lock.
        let seen = views(&children, None, When::Before)?;
        let locked = self.lock()?;
        let before = check_free(&locked)?;
        let now = self.environment.now();
        let mut ids = self.environment.ids();
        let ready = init(&config, &seen, &begun, &mut ids, now)?.map_err(|_| {
            let message = "a repository lost its run while the initiative started; start it again";
            Failure::new(Code::XchainCoordinatorDiverged, message)
        })?;
        let change = ready.into_change(&mut ledger(&locked)?, now);
        locked.commit(&change.commit(before.as_ref(), &mut ids, now))?;
        Ok(InitiativeStarted { state: change.state, begun })
    }
}

/// A workspace has one initiative at a time.
fn check_free(locked: &LockedRepository) -> Result<Option<CoordinatorState>> {
    let state = locked.coordinator_state()?;
    let Some(active) = state.as_ref().filter(|it| it.status() != CoordinatorStatus::Completed)
    else {
        return Ok(state);
    };
    let (id, status) = (active.super_run_id(), active.status());
    let message = format!("the initiative {id} is {status} here; a workspace has one at a time");
    let failure = Failure::new(Code::XchainInvalidStateTransition, message);
    Err(failure.suggesting("accord run coordinator status"))
}

fn start(children: &[ChildRepo], id: &str) -> Result<()> {
    let child = children.iter().find(|child| child.repo.id == id);
    if let Some(Ok(runs)) = child.map(|child| &child.runs) {
        let by = "coordinator";
        let provenance = Some(build([("trigger", by.into()), ("created_by", by.into())]));
        let start = Start { provenance, ..Start::default() };
        runs.start(&start).map_err(|failure| in_repo(id, failure))?;
    }
    Ok(())
}

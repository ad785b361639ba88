//! The operations on several repositories.

use accord_contract::{Failure, Object};
use accord_runs::coordinator::Coordinator;
use accord_runs::repository::RecordFile;
use accord_runs_core::coordinator::{
    Barriers, CoordinatorChange, CoordinatorConfig, Initiative, Offer, Projection,
    project as project_acceptance,
};
use serde_json::Value;

use super::answer;
use super::context::{CaseContext, of_machine, refusal};
use crate::BadCall;

pub(super) const OPERATIONS: [&str; 2] = ["validate_coordinator_config", "project_repo_acceptance"];

pub(super) fn validate(case: &mut CaseContext<'_>) -> Result<Value, BadCall> {
    match coordinator(case).config() {
        Ok(_) => Ok(answer::valid()),
        Err(failure) => Ok(answer::invalid(&refusal(failure)?)),
    }
}

/// Projects an accepted turn under the lock, and reports what is on disk afterwards.
pub(super) fn project(case: &mut CaseContext<'_>) -> Result<Value, BadCall> {
    let config = match coordinator(case).config() {
        Ok(config) => config,
        Err(failure) => return Ok(answer::invalid(&refusal(failure)?)),
    };
    match commit(case, &config)? {
        Err(failure) => Ok(answer::invalid(&refusal(failure)?)),
        Ok(mut projection) => {
            // Read again: the answer reports what the commit wrote, not what was decided.
            projection.barriers = barriers(case)?;
            Ok(answer::projected(&projection))
        }
    }
}

fn coordinator(case: &CaseContext<'_>) -> Coordinator {
    Coordinator::on(case.repository(), case.environment())
}

fn commit(
    case: &CaseContext<'_>,
    config: &CoordinatorConfig,
) -> Result<Result<Projection, Failure>, BadCall> {
    let held = case.lock()?;
    let state = held.coordinator_state()?;
    let state = state.ok_or_else(|| BadCall::new("no initiative was started"))?;
    let lines = held.lines(RecordFile::CoordinatorHistory)?;
    let history: Result<Vec<Object>, BadCall> = lines.map(|line| Ok(line?.object)).collect();
    let repo = case.call.text("repo_id")?;
    let root = config.repo(repo).map(|repo| held.root().join(&repo.path));
    let root = root.map(|root| root.to_string_lossy().into_owned());
    let accepted = case.object("accepted_turn")?;
    let (barriers, history) = (barriers(case)?, history?);
    let place = Initiative { config, state: &state, barriers: &barriers, history: &history };
    let offer = Offer {
        repo,
        workstream: case.call.text("workstream_id")?,
        root: root.as_deref(),
        accepted: &accepted,
    };
    let environment = case.environment();
    let (mut ids, now) = (environment.ids(), environment.now());
    Ok(project_acceptance(&place, &offer, &mut ids, now).and_then(|projection| {
        let mut change = CoordinatorChange::of_state(state.clone(), projection.barriers.clone());
        change.history.extend(projection.line.clone());
        change.barrier_ledger.clone_from(&projection.ledger);
        held.commit(&change.commit(Some(&state), &mut ids, now))?;
        Ok(projection)
    }))
}

fn barriers(case: &CaseContext<'_>) -> Result<Barriers, BadCall> {
    coordinator(case).barriers().map_err(of_machine)
}

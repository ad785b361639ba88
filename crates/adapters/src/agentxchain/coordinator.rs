//! The operations on several repositories.

use accord_contract::codes::Failure;
use accord_runs::coordinator::Coordinator;
use accord_runs::repository::RecordFile;
use accord_runs_core::coordinator::{
    Barriers, CoordinatorChange, CoordinatorConfig, Offer, Place, Projection, project as take_over,
};
use accord_runs_core::fixture::answer;
use serde_json::{Map, Value};

use super::site::{Site, refusal};
use super::workspace::trouble;
use crate::BadCall;

/// The operations of a coordinator.
pub(super) const OPERATIONS: [&str; 2] = ["validate_coordinator_config", "project_repo_acceptance"];

pub(super) fn validate(site: &mut Site<'_>) -> Result<Value, BadCall> {
    match coordinator(site).config() {
        Ok(_) => Ok(answer::sound()),
        Err(failure) => Ok(answer::unsound(&refusal(failure)?)),
    }
}

/// Takes an accepted turn over, under the lock, and tells what is on disk afterwards.
pub(super) fn project(site: &mut Site<'_>) -> Result<Value, BadCall> {
    let config = match coordinator(site).config() {
        Ok(config) => config,
        Err(failure) => return Ok(answer::unsound(&refusal(failure)?)),
    };
    match commit(site, &config)? {
        Err(failure) => Ok(answer::unsound(&refusal(failure)?)),
        Ok(mut projection) => {
            projection.barriers = barriers(site)?;
            Ok(answer::projected(&projection))
        }
    }
}

fn coordinator(site: &Site<'_>) -> Coordinator {
    Coordinator::on(site.repository(), site.world())
}

fn commit(
    site: &Site<'_>,
    config: &CoordinatorConfig,
) -> Result<Result<Projection, Failure>, BadCall> {
    let held = site.hold()?;
    let state = held.coordinator_state().map_err(trouble)?;
    let state = state.ok_or_else(|| BadCall::new("no initiative was begun"))?;
    let lines = held
        .lines(RecordFile::CoordinatorHistory)
        .map_err(trouble)?;
    let history: Result<Vec<Map<String, Value>>, BadCall> = lines
        .map(|line| Ok(line.map_err(trouble)?.object))
        .collect();
    let repo = site.call.text("repo_id")?;
    let root = config.repo(repo).map(|repo| held.root().join(&repo.path));
    let root = root.map(|root| root.to_string_lossy().into_owned());
    let accepted = site.object("accepted_turn")?;
    let place = Place {
        config,
        state: &state,
        barriers: &barriers(site)?,
        history: &history?,
    };
    let offer = Offer {
        repo,
        workstream: site.call.text("workstream_id")?,
        root: root.as_deref(),
        accepted: &accepted,
    };
    let world = site.world();
    let (mut ids, now) = (world.ids(), world.now());
    Ok(
        take_over(&place, &offer, &mut ids, now).and_then(|projection| {
            let mut change =
                CoordinatorChange::of_state(state.clone(), projection.barriers.clone());
            change.history.extend(projection.line.clone());
            change.barrier_ledger.clone_from(&projection.ledger);
            held.commit(&change.commit(Some(&state), &mut ids, now))?;
            Ok(projection)
        }),
    )
}

fn barriers(site: &Site<'_>) -> Result<Barriers, BadCall> {
    let barriers = coordinator(site).barriers();
    barriers.map_err(|failure| trouble(failure.message))
}

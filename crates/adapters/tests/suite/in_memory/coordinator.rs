//! The operations on several repositories.

use accord_adapters::agentxchain::{answer, expand};
use accord_contract::{Failure, Time};
use accord_runs_core::Ids;
use accord_runs_core::coordinator::{
    Barriers, CoordinatorConfig, CoordinatorState, Initiative, Offer, project,
};
use serde_json::Value;

use super::{Fixture, object, objects, text};

pub(super) fn run(fixture: &Fixture, ids: &mut Ids, now: Time) -> Result<Value, String> {
    let setup = &fixture.setup;
    let document = setup.get("coordinator_config");
    let config = CoordinatorConfig::read(document.cloned().unwrap_or(Value::Null));
    if fixture.operation == "validate_coordinator_config" {
        return Ok(match config {
            Ok(_) => answer::valid(),
            Err(failure) => answer::invalid(&failure),
        });
    }
    let wrong = |failure: Failure| failure.to_string();
    let state = expand::coordinator_state(&object(setup, "coordinator_state"));
    let place = Initiative {
        config: &config.map_err(wrong)?,
        state: &CoordinatorState::read(state.into()).map_err(wrong)?,
        barriers: &Barriers::read(&object(setup, "barriers").into()).map_err(wrong)?,
        history: &objects(setup, "coordinator_history"),
    };
    let offer = Offer {
        repo: text(&fixture.args, "repo_id").unwrap_or_default(),
        workstream: text(&fixture.args, "workstream_id").unwrap_or_default(),
        root: None,
        accepted: &object(&fixture.args, "accepted_turn"),
    };
    Ok(match project(&place, &offer, ids, now) {
        Err(failure) => answer::invalid(&failure),
        Ok(projection) => answer::projected(&projection),
    })
}

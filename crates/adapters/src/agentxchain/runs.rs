//! The operations that move a run.

use accord_contract::codes::Failure;
use accord_runs::Reading;
use accord_runs::operations::{Gate, Start};
use accord_runs_core::accept::Commit;
use accord_runs_core::fixture::{answer, check_resolution, transition};
use serde_json::Value;

use super::site::{Site, refusal};
use super::workspace::trouble;
use crate::BadCall;

pub(super) fn perform(site: &mut Site<'_>) -> Result<Value, BadCall> {
    let repository = site.repository();
    let before = repository.state_bytes().map_err(trouble)?;
    let moved = match site.call.operation.as_str() {
        "initialize_run" => site
            .runs(Reading::Narrow)
            .start(&Start::default())
            .map(drop),
        "assign_turn" => {
            let role = site.call.text("role_id")?;
            site.runs(Reading::Narrow).assign(Some(role)).map(drop)
        }
        "approve_transition" => approve(site, Gate::Transition),
        "approve_completion" => approve(site, Gate::Completion),
        "resolve_blocked" => resolve(site)?,
        _ => move_directly(site)?,
    };
    match moved {
        Ok(()) => Ok(answer::ok(&site.state()?)),
        Err(failure) => {
            let unchanged = before == repository.state_bytes().map_err(trouble)?;
            Ok(answer::refused(&refusal(failure)?, unchanged))
        }
    }
}

fn approve(site: &Site<'_>, gate: Gate) -> Result<(), Failure> {
    site.runs(Reading::Lenient).approve(gate).map(drop)
}

fn resolve(site: &Site<'_>) -> Result<Result<(), Failure>, BadCall> {
    let state = site.state()?;
    let moved = check_resolution(&state, &site.call.args)
        .and_then(|()| site.runs(Reading::Lenient).resolve().map(drop));
    Ok(moved)
}

/// A move that users have no command for: it is a part of others.
fn move_directly(site: &Site<'_>) -> Result<Result<(), Failure>, BadCall> {
    let held = site.hold()?;
    let state = site.state()?;
    let world = site.world();
    let (mut ids, now) = (world.ids(), world.now());
    Ok(
        transition(&state, &site.call.args, &mut ids, now).and_then(|change| {
            held.commit(&Commit::of_change(&state, &change, &mut ids, now))?;
            Ok(())
        }),
    )
}

//! The operations that change the status of a run.

use accord_base::Door;
use accord_contract::Failure;
use accord_runs::Reading;
use accord_runs::operations::{PendingApproval, Start};
use accord_runs_core::accept::Commit;
use accord_runs_core::person::{Consent, Person};
use accord_runs_core::run;
use serde_json::Value;

use super::answer;
use super::context::{CaseContext, refusal};
use super::transition;
use crate::BadCall;

pub(super) fn perform(case: &mut CaseContext<'_>) -> Result<Value, BadCall> {
    let repository = case.repository();
    let before = repository.state_bytes()?;
    let moved = match case.call.operation.as_str() {
        "initialize_run" => case.runs(Reading::Narrow).start(&Start::default()).map(drop),
        "assign_turn" => {
            let role = case.call.text("role_id")?;
            case.runs(Reading::Narrow).assign(Some(role)).map(drop)
        }
        "approve_transition" => approve(case, PendingApproval::Transition),
        "approve_completion" => approve(case, PendingApproval::Completion),
        "resolve_blocked" => resolve(case)?,
        _ => transition_state(case)?,
    };
    match moved {
        Ok(()) => Ok(answer::ok(&case.state()?)),
        Err(failure) => {
            let unchanged = before == repository.state_bytes()?;
            Ok(answer::refused(&refusal(failure)?, unchanged))
        }
    }
}

fn approve(case: &CaseContext<'_>, gate: PendingApproval) -> Result<(), Failure> {
    case.runs(Reading::Lenient).approve(gate, &consent()).map(drop)
}

fn resolve(case: &CaseContext<'_>) -> Result<Result<(), Failure>, BadCall> {
    let state = case.state()?;
    let moved = run::check_resolution(&state, transition::action(&case.call.args))
        .and_then(|()| case.runs(Reading::Lenient).resolve(&consent()).map(drop));
    Ok(moved)
}

/// A case is the decision of the person that it is about.
fn consent() -> Consent {
    Consent::of(Person::new("human:case", Door::Api))
}

/// A transition without a command of its own: users reach it through other operations.
fn transition_state(case: &CaseContext<'_>) -> Result<Result<(), Failure>, BadCall> {
    let locked = case.lock()?;
    let state = case.state()?;
    let environment = case.environment();
    let (mut ids, now) = (environment.ids(), environment.now());
    let request = transition::request(&case.call.args);
    Ok(run::transition(&state, &request, &mut ids, now).and_then(|change| {
        locked.commit(&Commit::of_change(&state, &change, &mut ids, now))?;
        Ok(())
    }))
}

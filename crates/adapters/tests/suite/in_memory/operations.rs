//! The operations on one repository.

use accord_adapters::agentxchain::{answer, expand, queries, transition};
use accord_contract::{Code, Failure, Object, Time};
use accord_runs_core::accept::Conclusion;
use accord_runs_core::config::{Config, narrow_problems, refusal};
use accord_runs_core::gate::{self, View};
use accord_runs_core::hooks::{HookBatch, HookChain, HookPhase, HookReport};
use accord_runs_core::result::{self, Leniency, Situation};
use accord_runs_core::run::{self, BaselineCheck, Beginning, Change, Refused};
use accord_runs_core::state::Baseline;
use accord_runs_core::testing::{MemoryRepository, approval};
use accord_runs_core::{Ids, TurnId, event, ledger};
use serde_json::Value;

use super::{Fixture, Step, World, hooks_ran, object, text};

pub(super) fn run(fixture: &Fixture, ids: &mut Ids, now: Time) -> Result<Step, String> {
    let args = &fixture.args;
    let done = match fixture.operation.as_str() {
        "validate_config" => validate_config(args),
        "validate_event" => validate_event(args),
        "validate_event_ordering" => validate_order(args),
        "initialize_run" | "assign_turn" | "approve_transition" | "approve_completion"
        | "resolve_blocked" | "transition_state" => on_run(fixture, ids, now)?,
        "validate_turn_result" => judge(&World::set_up(fixture)?),
        "evaluate_phase_exit" | "evaluate_run_completion" => gates(fixture)?,
        "append_decision" => append(fixture)?,
        "accept_turn" => accept(fixture, ids, now)?,
        "run_hooks" => return hooks(fixture),
        other => return Err(format!("the operation {other} is not known")),
    };
    Ok(Step::Done(done))
}

fn validate_config(args: &Object) -> Value {
    let found = narrow_problems(&expand::config(&object(args, "config")).into());
    if found.is_empty() {
        return answer::valid();
    }
    answer::invalid(&refusal(&found))
}

fn validate_event(args: &Object) -> Value {
    let errors = event::check(args.get("event").unwrap_or(&Value::Null));
    if errors.is_empty() {
        return answer::valid();
    }
    answer::invalid(&event::refusal(Code::XchainInvalidEvent, &errors))
}

fn validate_order(args: &Object) -> Value {
    match event::check_order(args.get("events").unwrap_or(&Value::Null)) {
        Ok(()) => answer::valid(),
        Err(failure) => answer::invalid(&failure),
    }
}

/// The operations that move a run.
fn on_run(fixture: &Fixture, ids: &mut Ids, now: Time) -> Result<Value, String> {
    let mut world = World::set_up(fixture)?;
    let (state, config) = (&world.repository.state, &world.repository.config);
    let moved = match fixture.operation.as_str() {
        "initialize_run" => begin(&world, ids, now),
        "assign_turn" => assign(&world, &fixture.args, ids, now),
        "approve_transition" => run::approve_transition(state, config, &approval(), &[], ids, now),
        "approve_completion" => run::approve_completion(state, &approval(), &[], ids, now),
        "resolve_blocked" => run::check_resolution(state, transition::action(&fixture.args))
            .and_then(|()| run::resolve(state, None, &approval(), ids, now))
            .map_err(Refused::from),
        _ => {
            let request = transition::request(&fixture.args);
            run::transition(state, &request, ids, now).map_err(Refused::from)
        }
    };
    Ok(match moved {
        Ok(change) => {
            world.repository.state = change.state;
            answer::ok(&world.repository.state)
        }
        Err(refused) => {
            if let Some(record) = refused.record {
                world.repository.state = record.state;
            }
            answer::refused(&refused.failure, world.state_unchanged())
        }
    })
}

fn valid_config(world: &World) -> Result<Config, Failure> {
    Config::read_narrow(world.config_document.clone())
}

fn begin(world: &World, ids: &mut Ids, now: Time) -> Result<Change, Refused> {
    let config = valid_config(world)?;
    let beginning = Beginning {
        repo_decisions: world.repository.repo_decisions()?.active().cloned().collect(),
        ..Beginning::default()
    };
    Ok(run::init(&world.repository.state, &config, beginning, ids, now)?)
}

fn assign(world: &World, args: &Object, ids: &mut Ids, now: Time) -> Result<Change, Refused> {
    let config = valid_config(world)?;
    let role = text(args, "role_id").unwrap_or_default();
    let clean = BaselineCheck::Clean(Baseline { clean: true, ..Baseline::default() });
    let length = world.repository.history.len() as u64;
    let assignable = run::check_assignment(&world.repository.state, &config, role, clean, length)?;
    let said = HookReport::none(HookPhase::BeforeAssignment);
    Ok(assignable.confirm(&said, ids, now)?.0)
}

fn judge(world: &World) -> Value {
    let repository = &world.repository;
    let situation = Situation {
        config: &repository.config,
        state: &repository.state,
        turn: repository.state.only_turn(),
        index: &repository.index(),
    };
    let judged = result::judge(world.staged(), &situation, Leniency::default());
    answer::judged(&judged)
}

fn gates(fixture: &Fixture) -> Result<Value, String> {
    let world = World::set_up(fixture)?;
    let repository = &world.repository;
    let staged = world.staged().unwrap_or(Value::Null);
    let result = staged.as_object().cloned().unwrap_or_default();
    let verification = object(&result, "verification");
    let phase = repository.state.phase();
    let view = View {
        config: &repository.config,
        phase,
        verification: text(&verification, "status"),
        files: &repository.files,
        index: &repository.index(),
        asking_role: text(&result, "role"),
    };
    if fixture.operation == "evaluate_phase_exit" {
        let request = queries::requested_phase(&fixture.args, &result);
        let exit = gate::evaluate_phase_exit(request, &view);
        return Ok(answer::phase_exit(&exit, phase, world.state_unchanged()));
    }
    let requested = queries::requests_completion(&result);
    let completion = gate::evaluate_completion(requested, &view);
    let unchanged = world.state_unchanged();
    Ok(answer::completion(&completion, phase, unchanged))
}

fn append(fixture: &Fixture) -> Result<Value, String> {
    let world = World::set_up(fixture)?;
    let length = world.repository.ledger.len();
    let entry = fixture.args.get("entry").cloned().unwrap_or(Value::Null);
    let taken = world.decision_ids();
    Ok(match ledger::check_entry(&entry, |id| taken.contains(id)) {
        Ok(_) => answer::appended(object(&fixture.args, "entry"), length + 1),
        Err(failure) => answer::not_appended(&failure, length),
    })
}

fn accept(fixture: &Fixture, ids: &Ids, now: Time) -> Result<Value, String> {
    let mut world = World::set_up(fixture)?;
    let turn = text(&fixture.args, "turn_id").and_then(TurnId::parse);
    let outcome = world.accept(turn.as_ref(), ids.clone(), now);
    let decisions = world.repository.repo_decisions();
    let decisions = decisions.map_err(|failure| failure.to_string())?;
    let records = answer::Records {
        history_length: world.repository.history.len(),
        repo_decisions: decisions.lines(),
    };
    Ok(match outcome {
        Ok(Conclusion::Accepted(accepted)) => answer::accepted(
            &accepted.state,
            accepted.history_entry.clone(),
            &records,
            &accepted.warnings,
        ),
        Ok(Conclusion::Refused { failure, .. }) | Err(failure) => {
            answer::not_accepted(&failure, &records, world.state_unchanged())
        }
    })
}

fn hooks(fixture: &Fixture) -> Result<Step, String> {
    let MemoryRepository { config, state, .. } = World::set_up(fixture)?.repository;
    let name = text(&fixture.args, "phase").unwrap_or_default();
    let phase = HookPhase::parse(name).ok_or(format!("{name:?} is not a phase for hooks"))?;
    let run = state.run_id().map(ToString::to_string);
    let payload = object(&fixture.args, "payload");
    Ok(match HookBatch::new(phase, config.hooks(phase), payload, run) {
        Some(batch) => Step::Hooks(Box::new(HookChain::new(batch))),
        None => Step::Done(hooks_ran(&HookReport::none(phase))),
    })
}

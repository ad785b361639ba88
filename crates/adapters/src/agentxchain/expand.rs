//! The partial documents of a setup, completed with the defaults of the fixture format.

use accord_contract::Object;
use accord_runs_core::coordinator::COORDINATOR_VERSION;
use serde_json::{Value, json};

pub fn config(partial: &Object) -> Object {
    let mut config = partial.clone();
    let defaults = json!({
        "schema_version": "1.0",
        "project": { "id": "fixture", "name": "Fixture" },
        "roles": {},
        "runtimes": {},
        "routing": {},
        "gates": {},
        "rules": {},
    });
    fill(&mut config, defaults);
    let mut uses_manual = false;
    if let Some(Value::Object(roles)) = config.get_mut("roles") {
        for (id, role) in roles {
            if let Value::Object(role) = role {
                let defaults = json!({
                    "title": id.to_uppercase(),
                    "mandate": format!("Does the work of {id}."),
                    "write_authority": "authoritative",
                    "runtime": "manual",
                });
                fill(role, defaults);
                uses_manual |= role["runtime"] == "manual";
            }
        }
    }
    if let Some(Value::Object(runtimes)) = config.get_mut("runtimes") {
        if uses_manual {
            fill(runtimes, json!({ "manual": {} }));
        }
        for runtime in runtimes.values_mut().filter_map(Value::as_object_mut) {
            fill(runtime, json!({ "type": "manual" }));
        }
    }
    if let Some(Value::Object(rules)) = config.get_mut("rules") {
        fill(rules, json!({ "challenge_required": true }));
    }
    config
}

pub fn state(partial: &Object, config: &Object) -> Object {
    let mut state = partial.clone();
    let defaults = json!({
        "schema_version": "1.1",
        "run_id": null,
        "status": "idle",
        "phase": "planning",
        "active_turns": {},
        "blocked_on": null,
        "pending_phase_transition": null,
        "pending_run_completion": null,
    });
    fill(&mut state, defaults);
    let run_id = state["run_id"].clone();
    if let Some(Value::Object(turns)) = state.get_mut("active_turns") {
        for (id, turn) in turns {
            if let Value::Object(turn) = turn {
                active_turn(id, turn, &run_id, config);
            }
        }
    }
    state
}

pub fn coordinator_state(partial: &Object) -> Object {
    let mut state = partial.clone();
    let defaults = json!({
        "schema_version": COORDINATOR_VERSION,
        "super_run_id": "srun_fixture",
        "status": "active",
        "phase": "implementation",
        "repo_runs": {},
    });
    fill(&mut state, defaults);
    state
}

fn active_turn(id: &str, turn: &mut Object, run_id: &Value, config: &Object) {
    let named = |member: &str| turn.get(member).and_then(Value::as_str);
    let role = named("assigned_role").or_else(|| named("role"));
    let role = role.unwrap_or("dev").to_owned();
    let declared = config.get("roles").and_then(|roles| roles.get(&role));
    let runtime = declared.and_then(|role| role.get("runtime")?.as_str());
    let defaults = json!({
        "turn_id": id,
        "run_id": run_id,
        "assigned_role": role,
        "runtime_id": runtime.unwrap_or("manual"),
        "status": "running",
        "attempt": 1,
        "assigned_sequence": 1,
    });
    fill(turn, defaults);
}

fn fill(document: &mut Object, defaults: Value) {
    if let Value::Object(defaults) = defaults {
        for (name, value) in defaults {
            // Never replaced, also not a null: a fixture may test exactly that.
            document.entry(name).or_insert(value);
        }
    }
}

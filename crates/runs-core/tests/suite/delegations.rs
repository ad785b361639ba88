//! Work that one role hands to another, and what it may not lead to.

use accord_runs_core::TurnId;
use accord_runs_core::state::{State, Status};
use accord_runs_core::testing::MemoryRepository;
use serde_json::{Value, json};

use crate::support::{Run, Script, accept, assign, config, config_with, result, stage, world};

/// Assigns a turn, and accepts what it says.
fn turn(world: &mut MemoryRepository, role: &str, seed: u8, said: &Value) -> Run {
    let turn = assign(world, role, seed);
    say(world, &turn, seed, said)
}

fn say(world: &mut MemoryRepository, turn: &TurnId, seed: u8, said: &Value) -> Run {
    let mut staged = result(world, turn);
    for (name, value) in said.as_object().unwrap() {
        staged[name] = value.clone();
    }
    stage(world, turn, &staged);
    let script = Script { seed: 100 + seed, ..Script::default() };
    accept(world, turn, &script)
}

/// A run without gates, in a phase, in which a decision was asked for.
fn delegated(phase: &str) -> MemoryRepository {
    let config = config_with(|document| {
        for phase in ["implementation", "qa"] {
            let route = document["routing"][phase].as_object_mut().unwrap();
            route.remove("exit_gate");
            route.insert("allowed_next_roles".into(), json!(["pm", "dev", "human"]));
        }
    });
    let mut world = world(config, phase);
    let ask = json!({"delegations": [{"id": "del-001", "to_role": "dev", "charter": "Build it.",
        "acceptance_contract": ["All of it."], "required_decision_ids": ["DEC-005"]}]});
    turn(&mut world, "pm", 2, &ask).accepted();
    world
}

#[test]
fn a_request_that_waits_does_not_pass_over_missing_decisions() {
    let decided = json!([{"id": "DEC-005", "category": "scope", "statement": "Small.",
        "rationale": "Time."}]);
    let ways = [
        ("qa", "queued_run_completion", json!({"run_completion_request": true})),
        ("implementation", "queued_phase_transition", json!({"phase_transition_request": "qa"})),
    ];
    for (phase, queue, ask) in ways {
        for (decides, review) in
            [(true, json!({})), (false, json!({})), (false, json!({"status": "failed"}))]
        {
            let mut world = delegated(phase);
            let mut said = ask.clone();
            said["files_changed"] = json!(["src/other.rs"]);
            if decides {
                said["decisions"] = decided.clone();
            }
            turn(&mut world, "dev", 3, &said).accepted();
            assert!(world.state.member(queue).is_object(), "{queue} waits");
            let run = turn(&mut world, "pm", 4, &review);
            run.accepted();
            let moved = world.state.status() == Status::Completed || world.state.phase() != phase;
            assert_eq!(moved, decides, "{phase} {review}");
            assert!(world.state.member(queue).is_null());
            assert_eq!(run.events().contains(&"gate_failed".to_owned()), !decides);
            if decides {
                continue;
            }
            let why = world.state.member("last_gate_failure")["reasons"][0].to_string();
            assert!(why.contains("DEC-005"), "{why}");
            // It does not pass after another role's next turn either.
            turn(&mut world, "dev", 5, &json!({"files_changed": ["src/third.rs"]})).accepted();
            assert_eq!(world.state.status(), Status::Active);
            assert_eq!(world.state.phase(), phase);
        }
    }
}

#[test]
fn delegated_work_comes_back_for_review() {
    let mut world = world(config(), "implementation");
    let parent = assign(&mut world, "pm", 2);
    let mut staged = result(&world, &parent);
    staged["delegations"] = json!([{"id": "del-001", "to_role": "dev", "charter": "Build it.",
        "scope": "All of it.", "required_decision_ids": ["DEC-005"]}]);
    stage(&mut world, &parent, &staged);
    accept(&mut world, &parent, &Script::default()).accepted();
    assert_eq!(world.state.member("next_recommended_role"), "dev");
    let child = assign(&mut world, "dev", 3);
    let context = world.state.turn(&child).unwrap().delegation_context().unwrap().clone();
    assert_eq!(context["charter"], "Build it.");
    assert_eq!(context["acceptance_contract"], json!(["All of it."]));
    let mut staged = result(&world, &child);
    staged["files_changed"] = json!(["src/other.rs"]);
    stage(&mut world, &child, &staged);
    accept(&mut world, &child, &Script { seed: 70, ..Script::default() }).accepted();
    assert_eq!(world.state.member("next_recommended_role"), "pm");
    let review = assign(&mut world, "pm", 4);
    let results = world.state.turn(&review).unwrap().delegation_review().unwrap().clone();
    assert_eq!(results["results"][0]["missing_decision_ids"], json!(["DEC-005"]));
    // With decisions missing, the review cannot go on.
    let mut staged = result(&world, &review);
    staged["phase_transition_request"] = "qa".into();
    stage(&mut world, &review, &staged);
    let run = accept(&mut world, &review, &Script { seed: 71, ..Script::default() });
    assert_eq!(run.refused().details.as_ref().unwrap()["failed_stage"], "protocol");
}

#[test]
fn a_pending_review_ends_with_the_turn_of_the_review() {
    let mut world = delegated("implementation");
    turn(&mut world, "dev", 3, &json!({"files_changed": ["src/other.rs"]})).accepted();
    let pending = world.state.member("pending_delegation_review");
    assert_eq!(pending["delegation_results"][0]["delegation_id"], "del-001");
    let review = assign(&mut world, "pm", 4);
    assert_eq!(world.state.member("pending_delegation_review"), pending, "while it is at work");
    let own = world.state.turn(&review).unwrap().delegation_review().unwrap().clone();
    assert_eq!(own["results"], pending["delegation_results"]);
    assert!(!own.contains_key("delegation_results"));
    let mut staged = result(&world, &review);
    staged["files_changed"] = json!(["src/fourth.rs"]);
    stage(&mut world, &review, &staged);
    let run = accept(&mut world, &review, &Script { seed: 72, ..Script::default() });
    assert_eq!(run.accepted().history_entry["delegation_review"]["results"], own["results"]);
    assert!(world.state.member("pending_delegation_review").is_null());
}

#[test]
fn the_review_of_another_runner_is_enforced_under_either_name() {
    for name in ["results", "delegation_results"] {
        for counted in [true, false] {
            let mut world = delegated("implementation");
            turn(&mut world, "dev", 3, &json!({"files_changed": ["src/other.rs"]})).accepted();
            let review = assign(&mut world, "pm", 4);
            let mut document = Value::Object(world.state.document());
            let place = &mut document["active_turns"][review.as_str()]["delegation_review"];
            let mut results = place["results"].take();
            if !counted {
                let item = results[0].as_object_mut().unwrap();
                item.shift_remove("missing_decision_ids");
            }
            *place = json!({"parent_turn_id": place["parent_turn_id"], name: results});
            world.state = State::read(document).unwrap();
            let ask = json!({"phase_transition_request": "qa", "files_changed": ["src/x.rs"]});
            let run = say(&mut world, &review, 5, &ask);
            assert_eq!(run.refused().details.as_ref().unwrap()["failed_stage"], "protocol");
            say(&mut world, &review, 6, &json!({"files_changed": ["src/x.rs"]})).accepted();
            assert!(world.state.member("pending_delegation_review").is_null(), "{name}");
        }
    }
}

#[test]
fn a_second_review_waits_for_the_end_of_the_first() {
    let mut world = world(config(), "implementation");
    let ask = |id: &str| {
        json!({"delegations": [{"id": id, "to_role": "dev", "charter": "Build it.",
            "acceptance_contract": ["All of it."]}]})
    };
    turn(&mut world, "pm", 2, &ask("del-001")).accepted();
    let mut said = ask("del-002");
    said["files_changed"] = json!([]);
    turn(&mut world, "qa", 3, &said).accepted();
    for (seed, file) in [(4, "src/one.rs"), (5, "src/two.rs")] {
        turn(&mut world, "dev", seed, &json!({"files_changed": [file]})).accepted();
        assert_eq!(world.state.member("next_recommended_role"), "pm");
        assert_eq!(world.state.member("pending_delegation_review")["parent_role"], "pm");
    }
    turn(&mut world, "pm", 6, &json!({"files_changed": ["src/three.rs"]})).accepted();
    assert_eq!(world.state.member("pending_delegation_review")["parent_role"], "qa");
    assert_eq!(world.state.member("next_recommended_role"), "qa");
    turn(&mut world, "qa", 7, &json!({"files_changed": []})).accepted();
    assert!(world.state.member("pending_delegation_review").is_null());
    assert_eq!(world.state.member("delegation_queue"), json!([]));
}

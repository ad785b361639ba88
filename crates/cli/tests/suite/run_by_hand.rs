//! `accord run`, typed by hand as a newcomer would.

use std::path::Path;

use serde_json::{Value, json};

use crate::run_place::{Place, plan};
use crate::snapshot;
use crate::wait::{output_of, pid_in, signal, wait_for_end_of};

/// The command that an answer says to type next.
fn next(said: &str) -> &str {
    let line = said.lines().find_map(|line| line.strip_prefix("next  "));
    let line = line.unwrap_or_else(|| panic!("no next step: {said}"));
    line.split("   (").next().unwrap_or(line)
}

#[test]
fn each_answer_says_what_to_type_next_until_the_gate_is_passed() {
    let place = Place::new();
    let said = place.run("init --name Shop --goal 'to sell'").yes();
    assert_eq!(next(&said), "accord run start");
    let said = place.run("start").yes();
    assert_eq!(next(&said), "accord run assign pm");
    let said = place.run("assign").yes();
    assert!(said.starts_with("pm has turn_"), "{said}");
    let dispatch = next(&said).strip_prefix("accord run ").expect("a command");
    let said = place.run(dispatch).yes();
    snapshot::check("each_answer_says_what_to_type_next_until_the_gate_is_passed", &said);
    assert!(next(&said).starts_with("accord run stage --turn turn_"), "{said}");
    place.run("reject --reason 'another day'").yes();
    place.run("escalate --reason 'wait for Ada'").yes();
    let said = place.run("status").yes();
    snapshot::check("each_answer_says_what_to_type_next_until_the_gate_is_passed-2", &said);
    assert_eq!(next(&said), "accord run resolve");
    place.run("resolve --yes").yes();
}

#[test]
fn a_turn_goes_through_acceptance_checkpoint_and_gate() {
    let place = Place::begun();
    let files = plan(&place);
    let dirty = place.run("assign pm").refused("baseline_dirty");
    snapshot::check("a_turn_goes_through_acceptance_checkpoint_and_gate", &dirty);
    place.commit();
    let turn = place.work("pm", &files, |result| {
        result["phase_transition_request"] = json!("implementation");
        result["decisions"] = json!([{"id": "first", "category": "scope", "statement": "small",
            "rationale": "soon"}]);
    });
    for path in &files {
        place.write(path, &(std::fs::read_to_string(place.at(path)).expect("text") + "\nmore\n"));
    }
    let said = place.run("accept --strict").refused("validation_failed");
    snapshot::check("a_turn_goes_through_acceptance_checkpoint_and_gate-2", &said);
    let said = place.run("status").yes();
    snapshot::check("a_turn_goes_through_acceptance_checkpoint_and_gate-3", &said);
    let done = place.json("accept --checkpoint");
    assert_eq!(done["turn_id"], turn.as_str());
    assert_eq!(done["history_entry"]["normalizations"][0]["code"], "decision_id_assigned");
    assert_eq!(done["checkpoint"]["files"], json!(files));
    assert_eq!(done["next"][0]["command"], "accord run approve-transition");
    let plan = place.run("approve-transition --dry-run").yes();
    snapshot::check("a_turn_goes_through_acceptance_checkpoint_and_gate-4", &plan);
    place.run("approve-completion").refused("invalid_state_transition");
    let said = place.run("approve-transition --yes --actor human:lead").yes();
    assert_eq!(next(&said), "accord run assign dev");
    let history = place.run("history").yes();
    assert!(history.contains(&turn), "{history}");
    snapshot::check("a_turn_goes_through_acceptance_checkpoint_and_gate-5", &history);
    let decisions = place.run("decisions").yes();
    snapshot::check("a_turn_goes_through_acceptance_checkpoint_and_gate-6", &decisions);
    let events = place.run("events --type turn_accepted --json").yes();
    assert_eq!(events.lines().count(), 1);
    assert!(place.run("doctor").yes().contains("no problem found"));
}

#[test]
fn a_refusal_is_a_document_for_programs_and_words_for_people() {
    let place = Place::begun();
    let ran = place.run("accept --json");
    assert_eq!(ran.code, 2);
    let document: Value = serde_json::from_str(&ran.stdout).expect("one JSON document");
    assert_eq!(document["code"], "turn_not_active");
    assert!(ran.stderr.starts_with("turn_not_active"), "{}", ran.stderr);
    place.run("assign nobody").refused("unknown_role");
    place.run("init").refused("already_governed");
    place.run("accept --turn ../x").refused("USAGE");
    let elsewhere = Place::new();
    elsewhere.run("status").refused("not_governed");
}

#[test]
fn the_repository_can_be_named_and_is_named_in_what_to_type_next() {
    let place = Place::new();
    let there = place.at("a b");
    let there = there.to_str().expect("UTF-8");
    let said = place.run(&format!("init --repo '{there}'")).yes();
    assert_eq!(next(&said), format!("accord run start --repo '{there}'"));
    place.run(&format!("start --repo '{there}'")).yes();
    assert!(Path::new(there).join(".agentxchain/state.json").exists());
}

#[test]
fn doctor_says_no_where_something_stands_in_the_way() {
    let place = Place::begun();
    place.write("agentxchain.json", "{\"schema_version\": \"9\"}");
    let ran = place.run("doctor");
    assert_eq!(ran.code, 1, "{ran:?}");
    snapshot::check("doctor_says_no_where_something_stands_in_the_way", &ran.stdout);
    let status = place.run("status").yes();
    assert_eq!(next(&status), "accord run doctor");
}

#[test]
fn doctor_names_members_of_a_wrong_type() {
    let place = Place::begun();
    place.write("prompts/dev.md", "Build it.");
    place.configure(|config| {
        config["prompts"] = json!({"dev": ["prompts/dev.md"]});
        config["run_loop"] = json!({"max_turns": "five"});
        config["workflow_kit"] = json!({"phases": {"planning": {"artifacts": [
            {"path": ".planning/ROADMAP.md", "owned_by": ["pm"]}]}}});
        // The rules of the configuration report this one.
        config["rules"] = json!({"max_turn_retries": "two"});
    });
    place.change(".agentxchain/state.json", |state| {
        state["turn_sequence"] = json!("none");
        state["last_gate_failure"] = json!({"reasons": ["late", 7]});
    });
    place.write(".agentxchain/session.json", "{\"blocked\": \"no\"}");
    let line = |turn: &str| json!({"turn_id": turn, "files_changed": "a.txt"}).to_string() + "\n";
    let history = line("turn_1") + "{\"turn_id\": \"turn_2\"}\n" + &line("turn_3");
    place.write(".agentxchain/history.jsonl", &history);
    place.write(".agentxchain/decision-ledger.jsonl", "{\"id\": 1, \"rationale\": null}\n");
    let ran = place.run("doctor");
    assert_eq!(ran.code, 1, "{ran:?}");
    snapshot::check("doctor_names_members_of_a_wrong_type", &ran.stdout);
    let ran = place.run("doctor --json");
    let answer: Value = serde_json::from_str(&ran.stdout).expect("one JSON document");
    let finding = json!({
        "level": "error",
        "subject": ".agentxchain/state.json, turn_sequence",
        "message": "must be a whole number from zero, but is a text; it is ignored",
        "advice": "correct the value, or restore the file from version control or a backup",
    });
    let findings = answer["findings"].as_array().expect("findings");
    let is_it = |found: &&Value| found["subject"] == finding["subject"];
    let found = findings.iter().find(is_it).expect("a finding about the state");
    for (name, value) in finding.as_object().expect("members") {
        assert_eq!(&found[name], value, "{name}");
    }
}

#[test]
fn a_command_that_is_terminated_ends_its_hook_and_leaves_the_run_as_it_was() {
    let place = Place::begun();
    let config = std::fs::read_to_string(place.at("agentxchain.json")).expect("text");
    let mut config: Value = serde_json::from_str(&config).expect("JSON");
    config["hooks"] = json!({"before_assignment": [{"name": "slow", "type": "process",
        "command": ["/bin/sh", "-c",
            "echo broken > .agentxchain/state.json; sleep 30 & echo $! > started; wait"],
        "timeout_ms": 30000, "mode": "blocking"}]});
    place.write("agentxchain.json", &config.to_string());
    place.commit();
    let state = std::fs::read(place.at(".agentxchain/state.json")).expect("a state");
    let child = place.begin("assign");
    let hook = pid_in(&place.at("started"));
    signal(child.id(), "-INT");
    let output = output_of(child, "accord run assign");
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.starts_with("given_up"), "{words}");
    wait_for_end_of(&hook);
    let after = std::fs::read(place.at(".agentxchain/state.json")).expect("a state");
    assert_eq!(after, state);
}

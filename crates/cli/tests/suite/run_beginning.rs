//! The first commands in a new git repository, as a person types them.

use crate::run_place::Place;

#[test]
fn a_new_repository_is_governed_committed_and_started() {
    let place = Place::new();
    place.git(&["init", "--quiet"]);
    place.git(&["config", "user.name", "T"]);
    place.git(&["config", "user.email", "t@example.org"]);
    let said = place.run("init --name Shop --commit").yes();
    assert!(said.contains("commit") && said.contains("next  accord run start"), "{said}");
    place.git(&["diff", "--quiet", "HEAD"]);
    place.run("start 'sell shoes'").yes();
    assert_eq!(place.json("status")["state"]["provenance"]["trigger_reason"], "sell shoes");
    place.run("assign").yes();
}

#[test]
fn without_a_commit_the_command_for_it_is_printed_and_turns_can_be_assigned() {
    let place = Place::new();
    place.git(&["init", "--quiet"]);
    let said = place.run("init --name Shop").yes();
    assert!(said.contains("git add -- .agentxchain .gitignore .planning"), "{said}");
    place.run("start").yes();
    place.run("assign pm").yes();
}

#[test]
fn a_stash_of_everything_is_named_by_status_and_taken_back_by_its_next_command() {
    let place = Place::begun();
    place.run("assign pm").yes();
    place.git(&["stash", "-u", "--quiet"]);
    let said = place.run("status").yes();
    assert!(said.contains("next  git stash pop"), "{said}");
    place.run("start").refused("records_missing");
    place.git(&["stash", "pop", "--quiet"]);
    let turns = place.json("status")["state"]["active_turns"].clone();
    assert_eq!(turns.as_object().map(serde_json::Map::len), Some(1));
}

//! What `accord run` tells people: everything that they must know, and commands that work.

use std::process::Command;

use serde_json::{Value, json};

use crate::accord::run;
use crate::run_place::Place;

#[test]
fn files_in_the_way_are_named_in_the_command_that_commits_them() {
    let place = Place::begun();
    place.write("my notes.txt", "mine");
    std::fs::create_dir(place.at("below")).expect("a folder");
    for (words, folder) in [("status", "."), ("status --repo ..", "below")] {
        let mut typed = crate::accord::command(&["run"]);
        typed.args(words.split(' ')).arg("--json").current_dir(place.at(folder));
        let said: Value = serde_json::from_str(&run(typed, "").stdout).expect("JSON");
        let next = &said["next"][0];
        let why = next["why"].as_str().expect("words");
        assert!(why.contains("stash push -u -- 'my notes.txt'"), "{why}");
        let line = next["command"].as_str().expect("a command");
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{line} --quiet -m mine")]).current_dir(place.at(folder));
        let ran = run(shell, "");
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        let next = &place.json("status")["next"][0];
        assert_eq!(next["command"], "accord run assign pm");
        place.write("my notes.txt", "mine, again");
    }
}

/// A turn that asks to leave the phase and did nothing about its gate.
fn leaves_early(place: &Place) {
    place.hand_out("pm");
    place.write("README.md", "x");
    place.run("stage --summary 'nothing yet' --next-phase").yes();
}

#[test]
fn warnings_are_printed_in_full_by_accept_and_status() {
    const END: &str = "its request to leave was dropped";
    for words in ["step", "loop --max-turns 1", "accept --checkpoint"] {
        let place = Place::begun();
        leaves_early(&place);
        let ran = place.run(words);
        assert_eq!(ran.code, 0, "{words}: {ran:?}");
        assert!(ran.stdout.contains(END), "{words}: {ran:?}");
        let said = place.run("status").yes();
        assert!(said.contains(END), "{said}");
        let warnings = place.json("status")["last_warnings"].clone();
        assert!(warnings[0].as_str().expect("a text").ends_with(END));
        let place = Place::begun();
        leaves_early(&place);
        let ran = place.run(&format!("{words} --json"));
        let said: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let warning = said["warnings"][0].as_str().expect("a text");
        assert!(warning.ends_with(END), "{words}: {said}");
    }
}

#[test]
fn a_loop_that_ends_at_a_block_says_why_in_full() {
    let last = "and these are the last of many words that an agent can say before it ends";
    let script = format!("echo '{} {last}' >&2; exit 1", "word ".repeat(30));
    let place = Place::begun_with(|config| {
        config["roles"]["pm"]["runtime"] = json!("agent");
        config["runtimes"]["agent"] = json!({"type": "local_cli", "command": ["sh", "-c", script]});
        config["rules"]["max_turn_retries"] = json!(1);
    });
    let ran = place.run("loop");
    assert_eq!(ran.code, 1, "{ran:?}");
    let said = ran.stdout;
    assert!(said.contains("because") && said.contains(last), "{said}");
    let said = place.run("status").yes();
    assert!(said.contains(last), "{said}");
    assert!(said.contains("commit what you changed yourself"), "{said}");
}

#[test]
fn a_staged_result_that_would_be_refused_is_to_be_staged_again() {
    let place = Place::begun();
    // Who only reviews must object to something.
    place.hand_out("qa");
    let ran = place.run("stage --summary done");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("next  accord run stage --turn"), "{ran:?}");
    assert!(!ran.stdout.contains("run accept"), "{ran:?}");
}

#[test]
fn the_command_that_stages_a_review_has_its_objection() {
    for required in [true, false] {
        let place = Place::begun_with(|config| {
            config["rules"]["challenge_required"] = json!(required);
        });
        place.hand_out("qa");
        let next = place.json("status")["next"][0]["command"].clone();
        let line = next.as_str().expect("a command");
        assert_eq!(line.ends_with(" --summary '…' --objection '…'"), required, "{line}");
        let typed = line.strip_prefix("accord run ").expect("a command of accord");
        place.run(typed).yes();
    }
    let place = Place::begun();
    place.hand_out("qa");
    let said = place.run("stage --summary done").stdout;
    assert!(said.contains("--summary '…' --objection '…'"), "{said}");
}

#[test]
fn a_refusal_for_several_active_turns_names_them_and_the_option() {
    let place = Place::begun_with(|config| {
        config["routing"]["planning"]["max_concurrent_turns"] = json!(2);
    });
    place.run("assign pm").yes();
    place.run("assign dev").yes();
    let said = place.run("dispatch").refused("target_required");
    assert!(said.contains(" of pm, ") && said.contains("`--turn ID`"), "{said}");
}

#[test]
fn a_refusal_for_the_status_of_a_run_names_the_command_that_shows_it() {
    let place = Place::begun();
    for words in ["approve-transition --yes", "resolve --yes", "send-back --reason no --yes"] {
        let said = place.run(words).refused("invalid_state_transition");
        assert!(said.contains("`accord run status`"), "{words}: {said}");
    }
}

#[test]
fn delegations_are_in_the_status_and_their_tasks_in_the_prompt_of_the_review() {
    let place = Place::begun();
    place.work("pm", &["notes.md"], |result| {
        result["delegations"] = json!([{"id": "del-001", "to_role": "dev",
            "charter": "Try the price page", "acceptance_contract": ["a file price.txt"]}]);
    });
    place.write("notes.md", "a plan");
    place.run("accept --checkpoint").yes();
    let said = place.run("status").yes();
    assert!(said.contains("  task     del-001 of pm for dev, pending: Try the price"), "{said}");
    place.work("dev", &["price.txt"], |_| {});
    place.write("price.txt", "5");
    place.run("accept --checkpoint").yes();
    let said = place.run("status").yes();
    assert!(said.contains("  review   pm reviews the results of its delegations"), "{said}");
    let handed = place.hand_out("pm");
    let turn = handed["turn"]["turn_id"].as_str().expect("an id");
    let prompt = place.read(&format!(".agentxchain/dispatch/turns/{turn}/PROMPT.md"));
    for line in
        ["Task: Try the price page", "Acceptance criteria: a file price.txt", "files: price.txt"]
    {
        assert!(prompt.contains(line), "{prompt}");
    }
}

#[test]
fn the_history_tells_turns_that_were_taken_back_from_accepted_ones() {
    let place = Place::begun();
    place.hand_out("pm");
    place.run("reissue --reason 'pm is away'").yes();
    let said = place.run("history").yes();
    assert!(said.contains("reissued") && !said.contains("accepted"), "{said}");
}

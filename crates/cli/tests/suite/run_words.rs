//! What `accord run` says to words that are none, and to a run that one role cannot carry on.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::accord::program;
use crate::run_place::Place;
use crate::wait::{ignores_hangup, output_of, signal, wait_until};

#[test]
fn a_reason_that_says_nothing_is_refused() {
    let place = Place::begun();
    place.hand_out("pm");
    let before = place.read(".agentxchain/state.json");
    for words in [
        "reject --reason ''",
        "reject --reason ' \t'",
        "escalate --reason ''",
        "reissue --role dev --reason ' '",
        "stage --summary ''",
        "stage --summary done --decision ' '",
        "stage --summary done --needs-human ''",
    ] {
        let said = place.run(words).refused("USAGE");
        assert!(said.contains("it is empty"), "{words}: {said}");
    }
    assert_eq!(place.read(".agentxchain/state.json"), before);
}

#[test]
fn wrong_words_are_a_document_for_programs() {
    let place = Place::begun();
    for (words, named) in [
        ("reject --json", "--reason"),
        ("status --json=yes", "--json"),
        ("loop --json --max-turns many", "many"),
        ("step --json --no-such-flag", "--no-such-flag"),
        ("coordinator step --json --no-such-flag", "--no-such-flag"),
        ("init --json --agent 'one \"word'", "--agent"),
        ("stage --json --summary x --with no-such-file", "no-such-file"),
    ] {
        let ran = place.run(words);
        assert_eq!(ran.code, 2, "{words}: {ran:?}");
        let reported: Value = serde_json::from_str(&ran.stdout).expect("one document");
        assert!(reported["code"].is_string(), "{words}: {reported}");
        let message = reported["error"]["message"].as_str().expect("a text");
        assert!(message.contains(named), "{words}: {message}");
        assert!(ran.stderr.starts_with(reported["code"].as_str().expect("a code")));
    }
    // Who did not ask for a document gets none.
    place.run("reject").refused("USAGE");
}

#[test]
fn a_run_that_a_role_cannot_carry_on_is_given_to_another() {
    let place = Place::begun();
    place.hand_out("pm");
    place.run("reject --reason unclear").yes();
    let said = place.run("reject --reason 'still unclear'").yes();
    assert!(said.contains("reissue it to another role"), "{said}");
    let given = place.json("reissue --role dev --reason 'pm is away'");
    assert_eq!(given["turn"]["assigned_role"], "dev");
    let status = place.json("status");
    assert_eq!(status["state"]["status"], "active");
    assert_eq!(status["accepted_turns"], 0);
    let history = place.run("history").yes();
    assert!(history.contains("Taken back: pm is away"), "{history}");
}

#[test]
fn money_that_is_spent_has_a_hint_that_helps() {
    let place = Place::begun_with(|config| {
        config["budget"] = json!({"per_turn_max_usd": 1.0, "per_run_max_usd": 1.0});
    });
    let mut state: Value =
        serde_json::from_str(&place.read(".agentxchain/state.json")).expect("JSON");
    state["budget_status"]["spent_usd"] = json!(0.5);
    place.write(".agentxchain/state.json", &state.to_string());
    let status = place.run("status").yes();
    assert!(status.contains("raise budget.per_run_max_usd"), "{status}");
    assert!(!status.contains("accord run resolve"), "{status}");
    let said = place.run("step").refused("budget_exhausted");
    assert!(said.contains("raise"), "{said}");
}

/// `nohup` starts a program with SIGHUP ignored.
#[test]
fn a_loop_that_is_to_outlive_its_terminal_does() {
    let script = "echo begun; touch ../$AGENTXCHAIN_RUN_ID
        while [ -e ../$AGENTXCHAIN_RUN_ID ]; do sleep 0.02; done";
    for (trap, outlives) in [("trap '' HUP;", true), ("", false)] {
        let place = Place::begun_with(|config| {
            config["roles"]["pm"]["runtime"] = json!("agent");
            config["runtimes"]["agent"] =
                json!({"type": "local_cli", "command": ["/bin/sh", "-c", script]});
        });
        let state: Value =
            serde_json::from_str(&place.read(".agentxchain/state.json")).expect("JSON");
        let mark = place.root().join("..").join(state["run_id"].as_str().expect("a run"));
        let child = Command::new("/bin/sh")
            .args(["-c", &format!("{trap} exec \"$0\" run step --json"), program()])
            .current_dir(place.root())
            // The mark is outside of the work tree.
            .env("ACCORD_WORKERS_SANDBOX", "off")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        wait_until("the start of the worker", || mark.exists());
        assert_eq!(ignores_hangup(child.id()), outlives);
        signal(child.id(), "-HUP");
        if outlives {
            std::fs::remove_file(&mark).expect("the mark");
        }
        let output = output_of(child, "accord run step");
        let reported: Value = serde_json::from_slice(&output.stdout).expect("a document");
        if outlives {
            assert_eq!(reported["code"], "worker_without_result", "{reported}");
        } else {
            assert_eq!(reported["stop"], "cancelled", "{reported}");
        }
        let _ = std::fs::remove_file(&mark);
    }
}

//! Commands that meet on one repository: one works, the other names it.

use serde_json::{Value, json};

use crate::run_place::{Place, all_different, kill, result, text};
use crate::wait::{output_of, wait_until};

const STATE: &str = ".agentxchain/state.json";

#[test]
fn of_two_commands_that_meet_one_wins() {
    let place = Place::begun();
    let rounds = if std::env::var_os("ACCORD_KILL_ROUNDS").is_some() { 40 } else { 4 };
    for round in 0..rounds {
        let lost = together(&place, "assign pm");
        assert!(matches!(lost.as_str(), "turn_capacity_reached" | "lock_timeout"), "{lost}");
        let handed = place.json("dispatch");
        let file = format!("work-{round}.txt");
        place.write(&file, "done\n");
        let result = result(&handed["turn"], &handed["runtime_id"], &[&file]);
        place.write(handed["staging"].as_str().expect("a path"), &result.to_string());
        let lost = together(&place, "accept");
        assert!(
            matches!(lost.as_str(), "turn_already_accepted" | "turn_not_active" | "lock_timeout"),
            "{lost}"
        );
        let history = place.lines(".agentxchain/history.jsonl");
        assert_eq!(history.len(), round + 1);
        all_different(history.iter().map(|line| text(line, "turn_id")).collect(), "history");
        let events = place.lines(".agentxchain/events.jsonl");
        all_different(events.iter().map(|event| text(event, "event_id")).collect(), "events");
        assert_eq!(place.leftovers(), [""; 0]);
        place.run("checkpoint").yes();
    }
}

#[test]
fn a_command_that_waits_too_long_names_the_holder_of_the_lock() {
    let hook =
        "touch waits; while ! test -f go; do sleep 0.05; done; echo '{\"verdict\":\"allow\"}'";
    let place = Place::begun_with(|config| {
        config["hooks"] = json!({"before_assignment": [{"name": "waits", "type": "process",
            "command": ["/bin/sh", "-c", hook], "timeout_ms": 30000, "mode": "blocking"}]});
    });
    let holder = place.begin("assign --json");
    wait_until("the start of the hook", || place.at("waits").exists());
    let state = place.read(STATE);
    let ran = place.run("escalate --reason now --json");
    let refusal: Value = serde_json::from_str(&ran.stdout).expect("one JSON document");
    assert_eq!(refusal["code"], "lock_timeout", "{refusal}");
    let message = text(&refusal["error"], "message");
    let lock: Value =
        serde_json::from_str(&place.read(".agentxchain/locks/accept-turn.lock")).expect("a lock");
    assert_eq!(lock["owner_pid"], holder.id());
    assert!(message.contains(&holder.id().to_string()), "{message}");
    assert!(message.contains(text(&lock, "acquired_at")), "{message}");
    // A command that only reads does not wait.
    place.run("status").yes();
    assert_eq!(place.read(STATE), state);
    let (output, was_killed) = kill(holder);
    assert!(was_killed, "{output:?}");
    place.write("go", "");
    let ran = place.run("escalate --reason now --json");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(place.leftovers(), [""; 0]);
}

/// Types the same command twice at once; gives the code of the one that lost.
fn together(place: &Place, words: &str) -> String {
    let words = format!("{words} --json");
    let children = [place.begin(&words), place.begin(&words)];
    let outputs = children.map(|child| output_of(child, &words));
    let won = outputs.iter().filter(|output| output.status.success()).count();
    assert_eq!(won, 1, "{words}: {outputs:?}");
    let lost = outputs.iter().find(|output| !output.status.success());
    let refusal: Value =
        serde_json::from_slice(&lost.expect("one").stdout).expect("one JSON document");
    text(&refusal, "code").to_owned()
}

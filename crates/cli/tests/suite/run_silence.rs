//! A silent agent, as a person meets it: the message names the setting, and the next command works.

use std::process::Command;

use serde_json::json;

use crate::accord::run;
use crate::run_place::Place;

#[test]
fn the_next_command_after_a_silent_worker_leads_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = folder.path().join("first");
    // The second worker is silent for longer than the configured limit, too.
    let script = format!("if mkdir '{}'; then exec sleep 60; fi; sleep 6; exit 0", first.display());
    let place = Place::begun_with(|config| {
        config["roles"]["pm"]["runtime"] = json!("agent");
        config["runtimes"]["agent"] = json!({
            "type": "local_cli", "command": ["sh", "-c", script], "startup_watchdog_ms": 4500,
        });
    });
    let ran = place.run("step");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("runtimes.agent.startup_watchdog_ms is 4500"), "{ran:?}");
    let line = place.json("status")["next"][0]["command"].as_str().expect("a command").to_owned();
    assert!(line.ends_with(" --silence 30m"), "{line}");
    // The line is typed as it stands; `accord` is the command under test.
    let accord = crate::accord::command(&[]).get_program().to_owned();
    let shell = format!("accord() {{ '{}' \"$@\"; }}\n{line}", accord.to_string_lossy());
    let mut typed = Command::new("sh");
    typed.args(["-c", &shell]).current_dir(place.root()).env("XDG_STATE_HOME", place.state());
    typed.env("ACCORD_WORKERS_SANDBOX", "off");
    let ran = run(typed, "");
    // The worker was let end by itself this time; it has no result, which is another matter.
    assert!(ran.stderr.contains("without a result"), "{ran:?}");
}

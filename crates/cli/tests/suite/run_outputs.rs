//! What the agent of a governed run prints is on the hub while it works.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::json;

use crate::accord::command;
use crate::edges::{Hub, join, kill, send, typed};
use crate::memory::bare;
use crate::run_place::{Place, text};
use crate::wait::{exit_of, output_of, wait_until};

const TOKEN: &str = "ghp_9aK2mQx7Lp4Rt8Vw1Zc6Nb3Yd5Hf0Js2Gu7E";

/// A repository whose agent prints, and waits for a file before it prints more.
fn printing() -> Place {
    let agent = format!(
        "echo first; echo token = {TOKEN}; echo see hidden.env; touch at-work; \
         while ! test -e go; do sleep 0.1; done; echo second; exec sleep 600"
    );
    Place::begun_with(|config| {
        config["roles"]["pm"]["runtime"] = json!("agent");
        config["runtimes"]["agent"] = json!({"type": "local_cli", "command": ["sh", "-c", agent]});
    })
}

#[test]
fn an_agent_that_works_is_heard_on_the_hub() {
    let (hub, place) = (Hub::with(&[]), printing());
    join(&place, &hub, &["--send", "output", "--exclude", "*.env"]).yes();
    let edge = text(&hub.edge(), "edge_id").to_owned();
    let working = place.begin("step");
    wait_until("the agent to work", || place.at("at-work").exists());
    let mut follower = command(&["edge"]);
    follower.current_dir(place.root()).env("XDG_STATE_HOME", place.state());
    follower.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let follower = follower.spawn().expect("accord starts");
    let output = || hub.get(&format!("/runs/{edge}/output"));
    let said = || text(&output(), "output").to_owned();
    wait_until("the first lines", || said().contains("first"));
    wait_until("the last line of an agent that waits", || said().contains("see "));
    let first = said();
    assert_eq!(first, "first\n[removed: a token of GitHub]\nsee [excluded]\n");
    let answer = output();
    assert_eq!((&answer["active"], &answer["next"]), (&json!(true), &json!(first.len())));

    // Somebody follows it, and sees each line once.
    let data = hub.folder.path().join("data");
    let words = ["project", "runs", &edge, "--output", "--follow", "--project", "shop", "--data"];
    let mut reader = bare(&[&words[..], &[data.to_str().expect("text")]].concat());
    reader.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut reader = reader.spawn().expect("accord starts");
    let mut lines = BufReader::new(reader.stdout.take().expect("an output")).lines();
    let mut next = || lines.next().map(|line| line.expect("text"));
    assert_eq!(next().as_deref(), Some("first"));
    place.write("go", "");
    for expected in ["[removed: a token of GitHub]", "see [excluded]", "second"] {
        assert_eq!(next().as_deref(), Some(expected));
    }
    let more = hub.get(&format!("/runs/{edge}/output?from={}", first.len()));
    assert_eq!(more["output"], "second\n");
    // The turn is taken back, so that nothing more follows.
    place.run("escalate --end-workers --reason 'not now' --yes").yes();
    output_of(working, "a step that was stopped");
    place.run("resolve --yes").yes();
    for file in ["at-work", "go"] {
        std::fs::remove_file(place.at(file)).expect("it is there");
    }
    place.run("reissue --reason 'not now'").yes();
    assert_eq!(next(), None);
    assert_eq!(exit_of(&mut reader, "a reader").code(), Some(0));
    kill(follower);
    send(&place);
    assert_eq!(said(), first + "second\n", "it is sent once");

    // No event has what was printed.
    let events = hub.events();
    let pieces = events.iter().filter(|event| event["type"] == "edge.output").count();
    assert!(pieces >= 2 && !json!(events).to_string().contains("second"));
    let outbox = place.state().join("accord/edges").join(&edge).join("outbox.jsonl");
    let outbox = std::fs::read_to_string(outbox).expect("an outbox");
    assert!(!outbox.contains(TOKEN) && !outbox.contains("hidden.env"));
}

#[test]
fn what_is_not_sent_says_so() {
    let (hub, place) = (Hub::with(&[]), Place::begun());
    join(&place, &hub, &[]).yes();
    let edge = text(&hub.edge(), "edge_id").to_owned();
    let data = hub.folder.path().join("data");
    let words = ["project", "runs", &edge, "--output", "--project", "shop", "--data"];
    let reader = bare(&[&words[..], &[data.to_str().expect("text")]].concat());
    let refused = crate::accord::run(reader, "").refused("run_elsewhere");
    assert!(refused.contains("--send output"), "{refused}");
    typed(&place, &["leave"]).yes();
}

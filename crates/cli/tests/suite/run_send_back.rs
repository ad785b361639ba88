//! `accord run send-back` and `accord run proposal`, as a person types them.

use std::path::Path;

use serde_json::{Value, json};

use crate::run_place::{Place, plan};

const REASON: &str = "The roadmap names no dates.";

/// A turn of the project manager that requests the next phase, up to the gate. Gives its prompt.
fn request(place: &Place) -> String {
    let files = plan(place);
    place.commit();
    let turn = place.work("pm", &files, |result| {
        result["phase_transition_request"] = json!("implementation");
    });
    let prompt = place.read(&format!(".agentxchain/dispatch/turns/{turn}/PROMPT.md"));
    for path in &files {
        place.write(path, &(place.read(path) + "\nmore\n"));
    }
    place.run("accept --checkpoint").yes();
    prompt
}

#[test]
fn a_request_is_sent_back_made_again_and_approved() {
    let place = Place::begun();
    let first = request(&place);
    assert!(!first.contains("Sent back"), "{first}");
    let status = place.run("status").yes();
    let lines: Vec<&str> = status.lines().filter(|line| line.contains("accord run ")).collect();
    assert!(lines[0].starts_with("next  accord run approve-transition   ("), "{status}");
    assert!(lines[1].starts_with("or    accord run send-back --reason '…'   ("), "{status}");
    let next = place.json("status")["next"].clone();
    assert_eq!((&next[0]["instead"], &next[1]["instead"]), (&Value::Null, &json!(true)));
    place.run("send-back").refused("USAGE");
    place.run("send-back --reason ' ' --yes").refused("USAGE");
    place.run("send-back --reason no --role nobody --yes").refused("unknown_role");
    // Without a terminal a person must say so.
    place.run(&format!("send-back --reason '{REASON}'")).refused("confirmation_needed");

    let said =
        place.run(&format!("send-back --reason '{REASON}' --actor human:reviewer --yes")).yes();
    assert!(said.contains("is active in planning"), "{said}");
    assert!(said.contains("next  accord run assign pm"), "{said}");
    place.run(&format!("send-back --reason '{REASON}' --yes")).refused("invalid_state_transition");
    let status = place.run("status").yes();
    assert!(status.contains(&format!("sent back by human:reviewer: {REASON}")), "{status}");

    let again = request(&place);
    let section = again.split("## Sent back by a person").nth(1).expect("the section");
    assert!(section.contains("human:reviewer") && section.contains(&format!("> {REASON}")));
    let said = place.run("approve-transition --yes").yes();
    assert!(said.contains("is active in implementation"), "{said}");
    let events = place.run("events --type gate_failed --json").yes();
    let event: Value = serde_json::from_str(events.trim()).expect("one event");
    assert_eq!(event["payload"]["sent_back"]["reason"], REASON);
    assert_eq!(event["payload"]["sent_back"]["door"], "cli");
    let digest = event["payload"]["sent_back"]["evidence_digest"].as_str().expect("a digest");
    assert_eq!(digest.len(), 64);
    assert!(place.run("doctor").yes().contains("no problem found"));
}

#[test]
fn a_loop_goes_on_after_a_request_was_sent_back() {
    let worker = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/run_send_back.sh");
    let place = Place::begun_with(|config| {
        config["roles"]["pm"]["runtime"] = json!("agent");
        config["runtimes"]["agent"] = json!({"type": "local_cli",
            "prompt_transport": "dispatch_bundle_only", "command": ["/bin/sh", worker]});
    });
    let held = place.run("loop");
    assert_eq!(held.code, 0, "{held:?}");
    assert!(held.stdout.contains("accord run send-back"), "{held:?}");
    place.run(&format!("send-back --reason '{REASON}' --yes")).yes();
    let held = place.run("loop");
    assert!(held.stdout.contains("accord run approve-transition"), "{held:?}");
    // The worker copies its prompt.
    assert!(place.read("prompt-2.md").contains(REASON), "{held:?}");
    assert!(!place.read("prompt-1.md").contains(REASON));
}

#[test]
fn a_proposal_is_shown_applied_and_committed() {
    let place = Place::begun();
    place.write("old.txt", "old\n");
    let files = plan(&place);
    place.commit();
    let turn = place.work("pm", &files[..1], |result| {
        result["proposed_changes"] = json!([
            {"path": "old.txt", "action": "modify", "content": "better\n"},
            {"path": "new.txt", "action": "create", "content": "new\n"},
        ]);
    });
    place.write(files[0], "Approved: YES\n\nmore\n");
    place.run("accept --checkpoint").yes();
    let status = place.run("status").yes();
    assert!(status.contains(&format!("accord run proposal show {turn}")), "{status}");
    let listed = place.json("proposal list");
    assert_eq!(listed["proposals"][0]["files"], json!(["old.txt", "new.txt"]));
    let shown = place.run(&format!("proposal show {}", &turn[..10])).yes();
    assert!(shown.contains("old.txt (ready)"), "{shown}");
    let compare = format!(
        "git diff --no-index --no-ext-diff --no-textconv -- old.txt \
         .agentxchain/proposed/{turn}/old.txt\n"
    );
    for line in [&compare, &format!("accord run proposal drop {turn}\n")] {
        assert!(shown.contains(line.as_str()), "{shown}");
    }
    place.write("old.txt", "mine\n");
    let refused = place.run(&format!("proposal apply {turn} --yes")).refused("proposal_outdated");
    assert!(refused.contains("old.txt"), "{refused}");
    place.write("old.txt", "old\n");
    place.run("proposal apply turn_none --yes").refused("proposal_not_found");
    place.run(&format!("proposal apply {turn}")).refused("confirmation_needed");
    let done = place.json(&format!("proposal apply {turn} --checkpoint --yes"));
    assert_eq!(
        (&done["decision"], &done["files"]),
        (&json!("applied"), &json!(["old.txt", "new.txt"]))
    );
    assert_eq!(done["checkpoint"]["files"], done["files"]);
    assert_eq!(
        (place.read("old.txt"), place.read("new.txt")),
        ("better\n".to_owned(), "new\n".to_owned())
    );
    place.run(&format!("proposal drop {turn} --yes")).refused("proposal_decided");
    assert!(place.run("proposal list").yes().contains("no proposal waits"));
    assert!(place.run("proposal list --all").yes().contains("applied"));
    assert!(place.run("doctor").yes().contains("no problem found"));
}

//! Decisions that belong to a person, typed by people, scripts and workers.

use serde_json::{Value, json};

use crate::accord::{Ran, command, program, run};
use crate::run_place::{Place, plan};
use crate::terminal::{Session, at_terminal};

/// A run that waits at the gate behind planning.
pub(crate) fn waiting(change: impl FnOnce(&mut Value)) -> Place {
    let place = Place::begun_with(change);
    plan(&place);
    place.commit();
    place.run("assign pm").yes();
    place.run("dispatch").yes();
    place.run("stage --summary 'the plan' --next-phase").yes();
    place.run("accept --checkpoint").yes();
    place
}

/// Types a command at a terminal, and this answer to its question.
fn typed(place: &Place, words: &str, answer: &str) -> Session {
    let words = shell_words::split(words).expect("words");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = command(&[&["run"], words.as_slice()].concat());
    command.current_dir(place.root());
    at_terminal(command, answer)
}

pub(crate) fn approved(place: &Place) -> Option<Value> {
    let mut events = place.lines(".agentxchain/events.jsonl");
    events.retain(|event| event["event_type"] == "gate_approved");
    Some(events.pop()?["payload"].clone())
}

#[test]
fn without_a_terminal_a_decision_needs_yes() {
    let place = waiting(|_| {});
    let before = place.read(".agentxchain/state.json");
    let said = place.run("approve-transition").refused("confirmation_needed");
    assert!(said.contains("--yes"), "{said}");
    assert_eq!(place.read(".agentxchain/state.json"), before);
    place.run("approve-transition --yes --actor agent:dev").refused("USAGE");
    place.run("approve-transition --yes --expect 0123456789a").refused("USAGE");
    place.run("accept --yes").refused("USAGE");
    let said = unnamed(&place, "approve-transition --yes").refused("confirmation_needed");
    assert!(said.contains("--actor human:NAME"), "{said}");
    assert_eq!(place.read(".agentxchain/state.json"), before);
    let answer = place.json("approve-transition --yes --actor human:lead --note 'read it'");
    assert_eq!(answer["approved_by"], "human:lead");
    let record = approved(&place).expect("an approval");
    assert_eq!(record["evidence_digest"], answer["evidence_digest"]);
    assert_eq!(
        (&record["actor"], &record["note"], &record["door"]),
        (&json!("human:lead"), &json!("read it"), &json!("cli"))
    );
    assert_eq!(record["approved_by"], "human", "as other runners read it");
    assert_eq!(record["presence"], "no terminal");
    assert!(record["os_user"].is_string(), "{record}");
    // What cannot be decided is not asked.
    place.run("resolve").refused("invalid_state_transition");
    place.run("escalate --reason stop").yes();
    place.run("resolve").refused("confirmation_needed");
    let answer = place.json("resolve --yes");
    assert_eq!(answer["approved_by"], "human:lead", "ACCORD_ACTOR");
}

/// Types a command with no person in its environment.
fn unnamed(place: &Place, words: &str) -> Ran {
    let mut command = place.command(words);
    command.env_remove("ACCORD_ACTOR");
    run(command, "")
}

#[test]
fn an_operator_can_require_a_terminal() {
    let place = waiting(|_| {});
    let mut command = place.command("approve-transition --yes --actor human:lead");
    command.env("ACCORD_DECIDE_TERMINAL", "required");
    let said = run(command, "").refused("confirmation_needed");
    assert!(said.contains("decide.terminal"), "{said}");
    place.write(".accord/accord.toml", "[decide]\nterminal = \"required\"\n");
    place.run("approve-transition --yes").refused("confirmation_needed");
    assert_eq!(approved(&place), None);
    let said = typed(&place, "approve-transition", "y\n");
    assert_eq!(said.code, 0, "{}", said.shown);
    let record = approved(&place).expect("an approval");
    let user = record["os_user"].as_str().expect("a user");
    assert_eq!(record["actor"], format!("human:{user}"));
    assert_eq!(record.get("presence"), None, "{record}");
}

#[test]
fn at_a_terminal_a_person_is_asked_and_shown_what_is_approved() {
    let place = waiting(|config| {
        config["gates"]["planning_signoff"]["gate_actions"] =
            json!([{"run": "echo shipped >> acted", "timeout_ms": 5000}]);
    });
    let digest = place.json("status")["evidence_digest"].as_str().expect("a digest").to_owned();
    for answer in ["n\n", "\n", "yep\n", "\u{4}"] {
        let said = typed(&place, "approve-transition", answer);
        assert_eq!(said.code, 2, "{}", said.shown);
        assert!(said.shown.contains("given_up"), "{}", said.shown);
        assert!(said.shown.contains("accord run status"), "{}", said.shown);
        assert_eq!(said.stdout, "");
    }
    assert_eq!(approved(&place), None);
    let said = typed(&place, "approve-transition --actor human:lead", "y\n");
    assert_eq!(said.code, 0, "{}", said.shown);
    for shown in [
        "from planning to implementation",
        "planning_signoff",
        "of pm",
        "the plan",
        "echo shipped >> acted",
        digest.as_str(),
        "approve the transition? [y/N] ",
    ] {
        assert!(said.shown.contains(shown), "{shown}: {}", said.shown);
    }
    assert!(said.stdout.contains("is active in implementation"), "{}", said.stdout);
    assert_eq!(approved(&place).expect("an approval")["actor"], "human:lead");
    assert_eq!(place.read("acted"), "shipped\n");
}

#[test]
fn a_project_takes_over_the_decisions_of_a_repository_once() {
    let place = waiting(|_| {});
    place.run("approve-transition --yes --note 'looks right'").yes();
    // A worker can write this line. The copies do not have it.
    let mut ledger = place.read(".agentxchain/decision-ledger.jsonl");
    let last = ledger.lines().last().expect("a line").replace("looks right", "forged");
    ledger += &format!("{}\n", last.replace("\"decision_id\":\"dec_", "\"decision_id\":\"dec_f"));
    place.write(".agentxchain/decision-ledger.jsonl", &ledger);
    // So the list says which decisions only the ledger has.
    let listed = place.run("decisions").yes();
    let is_known = |line: &&str| line.contains("human:lead") && line.contains("none, cli");
    assert_eq!(listed.lines().filter(is_known).count(), 1, "{listed}");
    assert_eq!(listed.matches("only the ledger").count(), 1, "{listed}");
    let status = place.run("status").yes();
    assert!(status.contains("by human:lead (none, cli)"), "{status}");
    assert_eq!(place.json("status")["last_decision"]["note"], "looks right");
    let data = tempfile::tempdir().expect("a folder");
    let accord = |words: &[&str]| {
        let mut command = command(words);
        command.current_dir(place.root()).env("XDG_STATE_HOME", place.state());
        command.env("ACCORD_DATA", data.path()).env("ACCORD_PROJECT", "shop");
        command
    };
    let yes = |words: &[&str]| run(accord(words), "").yes();
    yes(&["project", "create", "shop"]);
    let taken = yes(&["decisions", "--take-over", "."]);
    assert!(taken.starts_with("1 decision of "), "{taken}");
    let again = yes(&["decisions", "--take-over", "."]);
    assert!(again.starts_with("0 decisions of "), "{again}");
    let listed: Value = serde_json::from_str(&yes(&["decisions", "--json"])).expect("a document");
    let [decision] = &listed["decisions"].as_array().expect("a list")[..] else {
        panic!("{listed}");
    };
    assert_eq!((&decision["kind"], &decision["note"]), (&json!("run.gate"), &json!("looks right")));
    assert_eq!((&decision["actor"], &decision["known_by"]), (&json!("human:lead"), &json!("none")));
    let mut worker = accord(&["decisions", "--take-over", "."]);
    worker.env("AGENTXCHAIN_TURN_ID", "turn_0");
    run(worker, "").refused("not_for_workers");
}

#[test]
fn a_repository_that_hides_another_one_is_named() {
    let place = waiting(|_| {});
    assert_eq!(place.run("status").stderr, "");
    std::fs::create_dir_all(place.at("svc/deep")).expect("a folder");
    std::fs::copy(place.at("agentxchain.json"), place.at("svc/agentxchain.json")).expect("a copy");
    let mut inner = place.command("status");
    inner.current_dir(place.at("svc/deep"));
    let said = run(inner, "").stderr;
    assert_eq!(said.matches("using the governed repository").count(), 1, "{said}");
    assert!(said.contains("there is another one above"), "{said}");
}

#[test]
fn an_approval_of_what_was_seen_is_refused_when_it_has_moved() {
    let place = waiting(|_| {});
    let seen = place.json("status")["evidence_digest"].as_str().expect("a digest").to_owned();
    let shown = place.run("status").yes();
    assert!(shown.contains(&seen) && shown.contains("since"), "{shown}");
    place.write("more.txt", "more\n");
    place.commit();
    let short = &seen[..32];
    let said = place.run(&format!("approve-transition --yes --expect {short}"));
    let said = said.refused("evidence_changed");
    let now = place.json("status")["evidence_digest"].as_str().expect("a digest").to_owned();
    assert!(said.contains("accord run status"), "{said}");
    let words = format!("approve-transition --yes --expect {seen} --json");
    let refused: Value = serde_json::from_str(&place.run(&words).stdout).expect("a document");
    assert_eq!(refused["error"]["evidence_digest"], now.as_str());
    assert_eq!(refused["error"]["expected_digest"], seen.as_str());
    place.run(&format!("approve-transition --yes --expect {now}")).yes();
    for late in ["approve-transition", "send-back --reason more"] {
        let said = place.run(&format!("{late} --yes --expect {now}"));
        let said = said.refused("decision_stale");
        assert!(said.contains("human:lead decided before you: approved, at "), "{said}");
    }
}

/// Ways in which a program hides who started it, as far as they are recognised.
const TRICKS: [(&str, &str); 5] = [
    ("plain", "$A"),
    ("cleared", "env -i PATH=\"$PATH\" $A"),
    ("nohup", "nohup env -i PATH=\"$PATH\" $A"),
    ("session", "setsid --wait env -i PATH=\"$PATH\" $A"),
    // Its parent ends at once, so that it belongs to no worker by descent.
    ("orphan", "sh -c '(env -i PATH=\"$PATH\" $0 \"$@\"; echo $? > orphan.code) &' $A"),
];

/// A script that tries each trick with a command and notes the exit code and the message.
fn tricks(command: &str) -> String {
    let mut script = format!("A='{} {command}'\n", program());
    for (name, line) in TRICKS {
        script += &format!("{line} > {name}.out 2>&1 < /dev/null");
        script += match name {
            "orphan" => "\nwhile ! [ -s orphan.code ]; do sleep 0.05; done\n".to_owned(),
            name => format!("; echo $? > {name}.code\n"),
        }
        .as_str();
    }
    script
}

#[track_caller]
fn all_refused(place: &Place) {
    for (name, _) in TRICKS {
        let said = place.read(&format!("{name}.out"));
        assert_eq!(place.read(&format!("{name}.code")), "2\n", "{name}: {said}");
        assert!(said.contains("not_for_workers"), "{name}: {said}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_worker_cannot_decide_for_a_person() {
    for words in ["approve-transition --yes", "resolve --yes", "accept --human-merge --yes"] {
        let script = format!("{}echo done\n", tricks(&format!("run {words}")));
        let place = Place::begun_with(|config| {
            config["roles"]["pm"]["runtime"] = json!("agent");
            config["runtimes"]["agent"] =
                json!({"type": "local_cli", "command": ["/bin/sh", "-c", script]});
        });
        // It stages no result. What it did before counts.
        let ran = place.run("step --role pm");
        assert!(ran.stderr.contains("worker_without_result"), "{ran:?}");
        all_refused(&place);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn hooks_and_commands_of_a_gate_cannot_approve_it() {
    let script = tricks("run approve-transition --yes");
    let answer = "echo '{\"verdict\": \"allow\"}'";
    let place = waiting(|config| {
        config["hooks"] = json!({"before_gate": [{"name": "check", "type": "process",
            "command": ["/bin/sh", "-c", format!("{script}{answer}")], "timeout_ms": 30000,
            "mode": "blocking"}]});
    });
    place.run("approve-transition --yes").yes();
    all_refused(&place);

    let place = waiting(|config| {
        config["gates"]["planning_signoff"]["gate_actions"] =
            json!([{"run": script, "timeout_ms": 60000}]);
    });
    place.run("approve-transition --yes").yes();
    all_refused(&place);
    assert_eq!(approved(&place).expect("an approval")["door"], "cli");
}

//! What judges a turn is fixed before its worker starts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use accord_base::evidence::ExpectedDigest;
use accord_contract::Code;
use accord_runs::operations::{Accept, Adopt, NextStep, PendingApproval, Reject, Step, StepResult};
use accord_runs::{Environment, Notice, Runs, TurnOutcome};
use accord_trees::lock::process_start;
use serde_json::json;

use crate::attack::{Attack, OPEN_GATES, edit_state};
use crate::support::{copy_tree, plan, refused};
use accord_runs_core::testing::consent;

/// A person puts the changes in force.
fn yes() -> Adopt {
    Adopt { by: Some(consent().person), undo: false, expect: None }
}

/// A person leaves the changes undone.
fn undo() -> Adopt {
    Adopt { undo: true, ..yes() }
}

/// The turn was accepted, and the gate waits for a person.
#[track_caller]
pub(crate) fn waits_at_the_gate(attack: &Attack, stepped: StepResult) {
    assert!(matches!(stepped, StepResult::Turn(TurnOutcome::Accepted(_))), "{stepped:?}");
    attack.assert_gates_hold();
    assert_eq!(attack.state()["pending_phase_transition"]["gate"], "planning_signoff");
    assert_eq!(attack.step().unwrap(), StepResult::GateHeld(PendingApproval::Transition));
}

#[test]
fn sound_work_is_accepted_and_leaves_nothing_guarded() {
    let attack = Attack::new("");
    waits_at_the_gate(&attack, attack.step().unwrap());
    assert_eq!(attack.kept(), []);
    // A person may change the configuration between turns without ceremony.
    attack.repo.configure(|config| config["project"]["goal"] = json!("another"));
    attack.runs.approve(PendingApproval::Transition, &consent()).unwrap();
    assert_eq!(attack.state()["phase"], "implementation");
}

#[test]
fn a_person_adopts_what_was_shown() {
    let attack = Attack::once(OPEN_GATES);
    attack.repo.configure(|config| config["rules"]["max_turn_retries"] = json!(1));
    attack.step().unwrap();
    let show = Adopt { by: None, undo: false, expect: None };
    let shown = attack.runs.adopt(&show).unwrap().evidence.expect("a digest");
    // A later worker without a sandbox can write what was put back.
    let place = attack.kept()[0].folder.join("agentxchain.json");
    let text = fs::read_to_string(&place).unwrap();
    fs::write(&place, text.replace("true", "false")).unwrap();
    let expect = Some(ExpectedDigest::exactly(&shown));
    let decided = attack.runs.adopt(&Adopt { expect, ..yes() });
    refused(decided, Code::XchainEvidenceChanged);
    fs::write(&place, &text).unwrap();
    let expect = Some(ExpectedDigest::exactly(&shown));
    assert!(attack.runs.adopt(&Adopt { expect, ..yes() }).unwrap().done);
    assert_eq!(attack.repo.read("agentxchain.json"), text);
}

#[test]
fn an_agent_does_not_open_gates_in_the_configuration() {
    let attack = Attack::new(OPEN_GATES);
    let before = attack.repo.read("agentxchain.json");
    let StepResult::Turn(TurnOutcome::Blocked(failure)) = attack.step().unwrap() else {
        panic!("every attempt is refused");
    };
    assert_eq!(failure.code, Code::XchainConfigChanged, "{failure:?}");
    attack.assert_gates_hold();
    assert_eq!(attack.repo.read("agentxchain.json"), before);
    assert!(attack.repo.lines(".agentxchain/history.jsonl").is_empty());
    let events = attack.repo.lines(".agentxchain/events.jsonl");
    let refused = events.iter().find(|event| event["event_type"] == "acceptance_failed");
    assert_eq!(refused.unwrap()["payload"]["error_code"], "config_changed");
    let kept = attack.kept();
    assert_eq!(kept[0].files, [("agentxchain.json".to_owned(), "changed".to_owned())]);
    let changed = fs::read_to_string(kept[0].folder.join("agentxchain.json")).unwrap();
    assert!(changed.contains("\"credentialed\": false"), "{changed}");
}

#[test]
fn an_agent_that_stops_changing_the_configuration_can_go_on() {
    let attack = Attack::once(OPEN_GATES);
    waits_at_the_gate(&attack, attack.step().unwrap());
    assert_eq!(attack.kept().len(), 1);
}

#[test]
fn an_agent_does_not_write_the_phase_or_the_gates_into_the_state() {
    let edits = [
        r#"s/"phase": "planning"/"phase": "qa"/"#,
        r#"s/"phase_gate_status": {/"phase_gate_status": {"planning_signoff": "passed",/"#,
        r#"s/"status": "active"/"status": "completed"/"#,
        r#"s/"attempt": 1/"attempt": 0/"#,
        r#"s/"pending_phase_transition": null/"pending_phase_transition": {"from": "planning"}/"#,
        "s/.*//",
    ];
    for edit in edits {
        let attack = Attack::once(&edit_state(edit));
        let failure = refused(attack.step(), Code::XchainRecordsChanged);
        attack.assert_gates_hold();
        let kept = attack.kept();
        assert_eq!(kept.len(), 1, "{edit}");
        assert!(failure.message.contains(&*kept[0].folder.to_string_lossy()), "{failure}");
        // The result is staged, and is judged by the state that was put back. A slow agent that
        // writes another attempt is ended before it has staged its result, and does its work again.
        waits_at_the_gate(&attack, attack.step().unwrap());
    }
}

#[test]
fn forged_records_are_put_back() {
    let lines = [
        "echo '{\"event_type\": \"gate_approved\", \"forged\": 1}' >> .agentxchain/events.jsonl",
        "echo '{\"decision\": \"gate_approved\", \"forged\": 1}' >> \
         .agentxchain/decision-ledger.jsonl",
        "echo '{\"turn_id\": \"forged\"}' >> .agentxchain/history.jsonl",
        "echo 'not a line' >> .agentxchain/events.jsonl",
        "sed -i 's/run_started/run_completed/' .agentxchain/events.jsonl",
        ": > .agentxchain/events.jsonl",
        "rm .agentxchain/events.jsonl",
        "rm .agentxchain/events.jsonl; mkdir .agentxchain/events.jsonl",
        "rm .agentxchain/state.json; ln -s /dev/null .agentxchain/state.json",
    ];
    for line in lines {
        let attack = Attack::new(line);
        let before = attack.repo.lines(".agentxchain/events.jsonl");
        let stepped = attack.step();
        assert!(stepped.is_err(), "{line}");
        refused(stepped, Code::XchainRecordsChanged);
        attack.assert_gates_hold();
        let after = attack.repo.lines(".agentxchain/events.jsonl");
        assert_eq!(after[..before.len()], before, "{line}");
        waits_at_the_gate(&attack, attack.step().unwrap());
    }
}

#[test]
fn a_journal_that_an_agent_wrote_is_not_applied() {
    let journal = r#"{"kind": "change", "transaction_id": "txn_0123456789abcdef", "status":
        "prepared", "prepared_at": "2026-01-01T00:00:00.000Z", "accord": {"writes": [
        {"replace": "agentxchain.json", "text": "forged"}]}}"#;
    for folder in ["accord", "accept"] {
        let attack = Attack::new(&format!(
            "mkdir -p .agentxchain/transactions/{folder}\n\
             cat > .agentxchain/transactions/{folder}/txn_0123456789abcdef.json <<'END'\n\
             {journal}\nEND"
        ));
        waits_at_the_gate(&attack, attack.step().unwrap());
        let kept = attack.kept();
        assert_eq!(kept[0].files[0].1, "not applied");
    }
}

#[test]
fn an_agent_that_changes_the_copies_as_well_changes_nothing() {
    let edit =
        r#"s/"phase": "planning"/"phase": "qa"/; s/"phase\\": \\"planning/"phase\\": \\"qa/"#;
    for line in [
        format!(
            "sed -i '{edit}' .agentxchain/state.json \"$XDG_TEST_MARKS\"/../accord/runs/*/copy.json"
        ),
        format!("{}; rm -r \"$XDG_TEST_MARKS\"/../accord", edit_state(r#"s/"planning"/"qa"/"#)),
        format!(
            "{OPEN_GATES}\necho '{{}}' > $(echo \"$XDG_TEST_MARKS\"/../accord/runs/*)/copy.json"
        ),
    ] {
        let attack = Attack::once(&line);
        let first = attack.step();
        attack.assert_gates_hold();
        match first {
            Ok(stepped) => waits_at_the_gate(&attack, stepped),
            Err(failure) => {
                assert_eq!(failure.code, Code::XchainRecordsChanged, "{line}: {failure:?}");
                waits_at_the_gate(&attack, attack.step().unwrap());
            }
        }
    }
}

#[test]
fn a_removed_run_is_named_and_put_back() {
    for line in [
        "rm -r .agentxchain",
        "git stash --quiet --include-untracked",
        "git clean --quiet --force -d -x",
        "rm -r .agentxchain agentxchain.json",
    ] {
        let attack = Attack::once(line);
        let run = attack.state()["run_id"].as_str().unwrap().to_owned();
        let events = attack.repo.lines(".agentxchain/events.jsonl");
        let failure = attack.step().unwrap_err();
        let lost = failure.code == Code::XchainRunLost;
        // Where git tracks the folder, a stash puts back an older one.
        assert!(lost || failure.code == Code::XchainRecordsChanged, "{line}: {failure:?}");
        assert!(!lost || failure.message.contains(&run), "{failure}");
        attack.assert_gates_hold();
        assert_eq!(attack.state()["run_id"], run.as_str());
        assert_eq!(attack.repo.lines(".agentxchain/events.jsonl")[..events.len()], events);
    }
}

#[test]
fn a_person_adopts_an_edit_of_the_configuration() {
    let attack =
        Attack::once(r#"sed -i 's/"max_turn_retries": 2/"max_turn_retries": 5/' agentxchain.json"#);
    attack.step().unwrap();
    assert_eq!(attack.repo.json("agentxchain.json")["rules"]["max_turn_retries"], 2);
    let shown = attack.runs.adopt(&Adopt::default()).unwrap();
    assert!(!shown.done);
    assert_eq!(shown.kept.len(), 1);
    assert!(!shown.kept[0].outdated, "a configuration is never outdated");
    assert_eq!(attack.repo.json("agentxchain.json")["rules"]["max_turn_retries"], 2);
    assert!(attack.runs.adopt(&yes()).unwrap().done);
    assert_eq!(attack.repo.json("agentxchain.json")["rules"]["max_turn_retries"], 5);
    assert_eq!(attack.kept(), []);
    // A decision is on record once; looking is not a decision.
    assert!(attack.runs.adopt(&yes()).unwrap().is_empty());
    let [decision] = &decisions(&shown.folder)[..] else { panic!("one decision") };
    assert_eq!(decision["decision"], "adopted");
    assert_eq!(decision["actor"], "human:reviewer");
    assert_eq!(decision["door"], "api");
    assert_eq!(decision["kept"], json!([shown.kept[0].id]));
}

/// The decisions on record.
fn decisions(folder: &std::path::Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(folder.join("decisions.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn an_invalid_configuration_is_not_adopted() {
    let attack = Attack::once("echo '{' > agentxchain.json");
    attack.step().unwrap();
    let before = attack.repo.read("agentxchain.json");
    refused(attack.runs.adopt(&yes()), Code::XchainInvalidConfig);
    assert_eq!(attack.repo.read("agentxchain.json"), before);
    assert_eq!(attack.kept().len(), 1);
    let undone = attack.runs.adopt(&undo()).unwrap();
    assert!(undone.done);
    assert_eq!(attack.kept(), []);
    let [decision] = &decisions(&undone.folder)[..] else { panic!("a refusal is no decision") };
    assert_eq!(decision["decision"], "undone");
}

#[test]
fn an_invalid_state_is_not_adopted() {
    for (edit, why) in
        [("s/.*//", "not JSON"), (r#"s/"status": "active"/"status": 7/"#, "a number")]
    {
        let attack = Attack::once(&edit_state(edit));
        refused(attack.step(), Code::XchainRecordsChanged);
        let failure = refused(attack.runs.adopt(&yes()), Code::XchainStateInvalid);
        assert!(failure.message.contains("state.json"), "{why}: {failure}");
        attack.assert_gates_hold();
    }
}

#[test]
fn a_person_adopts_records_until_the_run_goes_on() {
    let edit = edit_state(r#"s/"escalation": null/"escalation": {"reason": "look"}/"#);
    for goes_on in [false, true] {
        let attack = Attack::once(&edit);
        refused(attack.step(), Code::XchainRecordsChanged);
        if goes_on {
            attack.step().unwrap();
        }
        assert_eq!(attack.kept()[0].outdated, goes_on);
        assert!(attack.runs.adopt(&yes()).unwrap().done);
        let adopted = attack.state()["escalation"]["reason"] == "look";
        assert_eq!(adopted, !goes_on, "records of the past are not put in force");
    }
}

/// The process that is going to be killed by its worker.
const KILLED: &str = "ACCORD_TEST_GUARD_KILLED";

/// Runs a step in its own process, which its worker kills. Then the worker ends.
///
/// The process is stopped while the worker executes `lines`. Otherwise it may notice them and end
/// the worker first.
pub(crate) fn killed(lines: &str) -> Attack {
    let pid = "echo $$ > \"$XDG_TEST_MARKS/worker\"";
    let attack = Attack::once(&format!("kill -STOP $PPID\n{lines}\n{pid}; kill -9 $PPID; exit 0"));
    let ended = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "guarding::a_killed_process_leaves_a_run_that_goes_on_or_asks"])
        .env(KILLED, attack.repo.root())
        .env("XDG_STATE_HOME", attack.repo.state_folder())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(ended.signal(), Some(9), "{ended}");
    // The turn is busy until its worker has ended, too.
    let pid = fs::read_to_string(attack.repo.state_folder().join("marks/worker")).unwrap();
    let (pid, begun) = (pid.trim().parse().unwrap(), Instant::now());
    while process_start(pid).is_some() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the worker {pid} did not end");
        std::thread::sleep(Duration::from_millis(10));
    }
    attack
}

#[test]
fn a_killed_process_leaves_a_run_that_goes_on_or_asks() {
    if let Some(root) = std::env::var_os(KILLED) {
        let runs = Runs::open(root.as_ref(), Environment::system()).unwrap();
        let ended = runs.step(&Step::default());
        panic!("the worker killed this process: {ended:?}");
    }
    // Copies and repository agree: nothing is asked.
    let attack = killed("");
    waits_at_the_gate(&attack, attack.step().unwrap());

    // They do not agree about the configuration.
    let attack = killed(OPEN_GATES);
    refused(attack.step(), Code::XchainConfigChanged);
    refused(attack.runs.escalate("look"), Code::XchainConfigChanged);
    let next = attack.runs.status().unwrap().next;
    assert!(matches!(&next[..], [NextStep::Adopt(_)]), "{next:?}");
    assert_eq!(attack.runs.adopt(&Adopt::default()).unwrap().differing, ["agentxchain.json"]);
    assert!(attack.runs.adopt(&undo()).unwrap().done);
    waits_at_the_gate(&attack, attack.step().unwrap());

    // A person puts the change in force.
    let attack =
        killed(r#"sed -i 's/"max_turn_retries": 2/"max_turn_retries": 5/' agentxchain.json"#);
    refused(attack.step(), Code::XchainConfigChanged);
    assert!(attack.runs.adopt(&yes()).unwrap().done);
    assert_eq!(attack.runs.config().unwrap().document()["rules"]["max_turn_retries"], 5);
    waits_at_the_gate(&attack, attack.step().unwrap());

    // About the state.
    let attack = killed(&edit_state(r#"s/"phase": "planning"/"phase": "qa"/"#));
    refused(attack.step(), Code::XchainRecordsChanged);
    assert!(attack.runs.adopt(&undo()).unwrap().done);
    waits_at_the_gate(&attack, attack.step().unwrap());

    // The run is gone, with the configuration.
    let attack = killed("rm -r .agentxchain agentxchain.json");
    let runs = attack.repo.runs();
    let failure = refused(runs.step(&Step::default()), Code::XchainRunLost);
    assert!(failure.suggestion.unwrap().contains("--undo --yes"));
    let shown = runs.adopt(&Adopt::default()).unwrap();
    assert!(shown.lost.is_some_and(|run| run.contains("planning")));
    assert!(runs.adopt(&undo()).unwrap().done);
    waits_at_the_gate(&attack, attack.step().unwrap());
}

/// Another process that does something once, while the first worker runs. It sees the copies, and
/// remembers nothing. A worker begins its work after that.
fn meanwhile(act: impl Fn(&Runs) + Send + Sync + 'static) -> (Attack, Runs) {
    let attack = Attack::new(
        "for round in $(seq 3000); do test -e \"$XDG_TEST_MARKS/acted\" && break; sleep 0.02; done",
    );
    let other = tempfile::tempdir().unwrap();
    let (root, state) = (attack.repo.root(), attack.repo.state_folder());
    let acted = attack.repo.state_folder().join("marks/acted");
    let environment = attack.repo.environment().with_listener(move |notice| {
        if let Notice::Output { bytes, .. } = notice
            && bytes.starts_with(b"begun")
            && !acted.exists()
        {
            // In the folder itself this process would find its own memory.
            copy_tree(&state, other.path());
            let elsewhere = Environment::system().with_state_folder(other.path());
            act(&Runs::open(&root, elsewhere).unwrap());
            fs::write(&acted, "").unwrap();
        }
    });
    let runs = Runs::open(&attack.repo.root(), environment).unwrap();
    (attack, runs)
}

#[test]
fn work_of_others_on_another_turn_is_taken_over() {
    let (attack, runs) = meanwhile(|other| {
        other.assign(Some("dev")).map(drop).unwrap();
    });
    attack.repo.configure(|config| {
        config["routing"]["planning"]["max_concurrent_turns"] = json!(2);
    });
    let stepped = runs.step(&Step::default()).unwrap();
    assert!(matches!(stepped, StepResult::Turn(TurnOutcome::Accepted(_))), "{stepped:?}");
    let state = attack.state();
    let turns = state["active_turns"].as_object().unwrap();
    assert!(turns.values().any(|turn| turn["assigned_role"] == "dev"), "{state:#}");
    assert_eq!(attack.kept(), []);
}

#[test]
fn a_stop_by_others_is_taken_over() {
    let (attack, runs) = meanwhile(|other| drop(other.escalate("stop it").unwrap()));
    let stepped = runs.step(&Step::default()).unwrap();
    assert!(matches!(stepped, StepResult::Turn(TurnOutcome::Blocked(_))), "{stepped:?}");
    assert_eq!(attack.state()["status"], "blocked");
    assert_eq!(attack.kept(), []);
}

#[test]
fn what_others_do_to_the_guarded_turn_is_put_back() {
    let (attack, runs) = meanwhile(|other| {
        // The worker runs, as its process says; another runner may not look.
        let mut state = other.state().unwrap().document();
        for turn in state["active_turns"].as_object_mut().unwrap().values_mut() {
            turn["status"] = json!("retrying");
            turn["attempt"] = json!(2);
        }
        let place = other.repository().root().join(".agentxchain/state.json");
        fs::write(place, serde_json::Value::Object(state).to_string()).unwrap();
    });
    refused(runs.step(&Step::default()), Code::XchainRecordsChanged);
    attack.assert_gates_hold();
    waits_at_the_gate(&attack, attack.step().unwrap());
}

#[test]
fn the_folder_of_the_copies_is_the_users_own_and_outside_the_repository() {
    let attack = Attack::new("");
    let inside = attack.repo.environment().with_state_folder(attack.repo.root().join("state"));
    let runs = Runs::open(&attack.repo.root(), inside).unwrap();
    refused(runs.step(&Step::default()), Code::XchainStateFolderUnusable);
    assert!(attack.repo.lines(".agentxchain/history.jsonl").is_empty());

    waits_at_the_gate(&attack, attack.step().unwrap());
    let runs = attack.repo.state_folder().join("accord/runs");
    let folders: Vec<_> = fs::read_dir(runs).unwrap().map(|entry| entry.unwrap()).collect();
    assert_eq!(folders.len(), 1);
    let folder = folders[0].path();
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let root = fs::read_to_string(folder.join("root")).unwrap();
    assert_eq!(root.trim_end(), attack.repo.root().to_str().unwrap());
}

#[test]
fn records_are_copied_only_as_far_as_they_grew() {
    let attack = Attack::new("");
    waits_at_the_gate(&attack, attack.step().unwrap());
    let folders = attack.repo.state_folder().join("accord/runs");
    let folder = fs::read_dir(folders).unwrap().next().unwrap().unwrap().path();
    let copy = folder.join("events.jsonl");
    use std::os::unix::fs::MetadataExt as _;
    let first = copy.metadata().unwrap();
    attack.repo.runs().reject(&Reject::default()).unwrap_err();
    attack.repo.runs().escalate("look").unwrap_err();
    attack.repo.configure(|config| {
        config["roles"]["dev"]["runtime"] = json!("agent");
    });
    attack.runs.approve(PendingApproval::Transition, &consent()).unwrap();
    plan(&attack.repo);
    drop(attack.step());
    let second = copy.metadata().unwrap();
    assert_eq!(first.ino(), second.ino(), "it was extended, not written again");
    assert!(second.len() > first.len());
    let events = attack.repo.read(".agentxchain/events.jsonl");
    let copied = fs::read_to_string(copy).unwrap();
    assert!(events.starts_with(&copied), "it is a beginning of the record");
}

#[test]
fn a_refused_result_stays_refused_for_a_person_who_accepts_it() {
    let attack = Attack::after_work(OPEN_GATES);
    attack.step().unwrap();
    refused(attack.runs.accept(&Accept::default()), Code::XchainInvalidStateTransition);
    attack.assert_gates_hold();
}

/// Lines that remove what is in the folder of the copies, or put something else there.
const COPIES: &str = "\"$XDG_TEST_MARKS\"/../accord/runs/*";

#[test]
fn something_else_in_the_place_of_a_copy_neither_blocks_nor_judges() {
    let names = ["copy.json", "events.jsonl", "history.jsonl"];
    let instead = ["mkfifo X", "mkdir X", "ln -s /dev/zero X", "ln -s missing X", "echo '{' > X"];
    let attacks = names.iter().flat_map(|name| instead.iter().map(move |line| (name, line)));
    for (name, line) in attacks {
        let line = line.replace('X', name);
        let attack = Attack::once(&format!("(cd {COPIES} && rm -f {name} && {line})"));
        waits_at_the_gate(&attack, attack.step().unwrap());
        let folders = attack.repo.state_folder().join("accord/runs");
        let folder = fs::read_dir(folders).unwrap().next().unwrap().unwrap().path();
        assert!(folder.join("copy.json").symlink_metadata().unwrap().is_file(), "{line}");
    }
}

#[test]
fn a_run_that_had_a_worker_and_has_no_copies_needs_a_person() {
    let open = r#"sed -i 's/": true/": false/' agentxchain.json"#;
    let hide = "sed -i '/worker_prepared_at/d' .agentxchain/state.json";
    let forget = "sed -i /worker_prepared/d .agentxchain/events.jsonl";
    for gone in [
        format!("rm -r {COPIES}"),
        format!("rm -r {COPIES}; {hide}"),
        format!("rm -r {COPIES}; {forget}"),
        format!("rm {COPIES}/copy.json"),
        format!("(cd {COPIES} && rm copy.json && mkfifo copy.json)"),
        format!("(cd {COPIES} && echo '{{\"version\": 1}}' > copy.json)"),
        format!("rm {COPIES}/events.jsonl"),
    ] {
        let attack = killed(&format!("{open}\n{gone}"));
        for _ in 0..2 {
            refused(attack.step(), Code::XchainRecordsChanged);
            refused(attack.runs.accept(&Accept::default()), Code::XchainRecordsChanged);
            refused(attack.runs.escalate("look"), Code::XchainRecordsChanged);
        }
        let next = attack.runs.status().unwrap().next;
        assert!(matches!(&next[..], [NextStep::Adopt(_)]), "{gone}: {next:?}");
        assert_eq!(attack.runs.adopt(&Adopt::default()).unwrap().differing, ["copy.json"]);
        refused(attack.runs.adopt(&undo()), Code::XchainRecordsChanged);
        // A person looked at it, and put it right.
        attack.repo.git(&["checkout", "--quiet", "agentxchain.json"]);
        let adopted = attack.runs.adopt(&yes()).unwrap();
        assert!(adopted.done, "{gone}");
        assert_eq!(decisions(&adopted.folder)[0]["differing"], json!(["copy.json"]));
        waits_at_the_gate(&attack, attack.step().unwrap());
    }
}

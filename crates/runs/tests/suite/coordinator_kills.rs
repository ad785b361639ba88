//! A step of an initiative that is killed at any write leaves what the next step finishes: every
//! acceptance taken over once, every turn handed out once.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use accord_contract::Code;
use accord_runs::Environment;
use accord_runs::coordinator::Coordinator;
use accord_runs::repository::Repository;
use accord_trees::Root;
use accord_trees::testing::AbortAfter;

use crate::initiative::{HOME, Workspace, handed_out};

/// Where the process that is going to be killed works, and at which write it ends.
const FOLDER: &str = "ACCORD_TEST_KILL_WORKSPACE";
const WRITES: &str = "ACCORD_TEST_KILL_AFTER";

#[test]
fn a_killed_step_is_finished_by_the_next() {
    if let Some((folder, writes)) = std::env::var_os(FOLDER).zip(std::env::var(WRITES).ok()) {
        let root = Root::open(Path::new(&folder)).unwrap();
        let disk = AbortAfter::new(root, writes.parse().unwrap());
        let workspace = Repository::on(Arc::new(disk));
        Coordinator::on(workspace, Environment::system()).step(None).unwrap();
        println!("acknowledged");
        return;
    }
    let prepared = Workspace::new();
    let (_, first) = handed_out(prepared.begun().step(None));
    prepared.carry_out("api", &first, |_| {});
    let (mut writes, mut killed) = (0, 0);
    loop {
        let workspace = prepared.copy();
        let whole = killed_at(&workspace.root(), writes);
        let coordinator = workspace.coordinator();
        match coordinator.step(None) {
            Ok(_) => {}
            Err(failure) => assert_eq!(failure.code, Code::XchainNothingToDispatch, "{failure:?}"),
        }
        check(&workspace, &first, writes);
        if whole {
            break;
        }
        killed += 1;
        writes += 5;
    }
    assert!(killed > 6, "{killed} kills are too few to mean anything");
}

fn check(workspace: &Workspace, first: &str, writes: u64) {
    let projections = workspace.said("acceptance_projection");
    assert_eq!(projections.len(), 1, "killed at {writes}");
    assert_eq!(projections[0]["repo_turn_id"], first);
    assert_eq!(workspace.lines(&format!("{HOME}/barrier-ledger.jsonl")).len(), 1);
    let active = workspace.json("web/.agentxchain/state.json");
    let active: Vec<String> = active["active_turns"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(active.len(), 1, "killed at {writes}");
    let handed: Vec<String> = workspace
        .said("turn_dispatched")
        .iter()
        .map(|line| line["repo_turn_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(handed, [first, active[0].as_str()], "killed at {writes}");
    let state = workspace.json(&format!("{HOME}/state.json"));
    assert!(state["dispatching"].is_null(), "killed at {writes}");
    let bundle = format!("web/.agentxchain/dispatch/turns/{}", active[0]);
    assert!(workspace.has(&format!("{bundle}/MANIFEST.json")));
    assert!(workspace.has(&format!("{bundle}/COORDINATOR_CONTEXT.json")));
    let ids: Vec<String> = workspace
        .lines(&format!("{HOME}/decision-ledger.jsonl"))
        .iter()
        .map(|line| line["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids, ["DEC-COORD-001", "DEC-COORD-002", "DEC-COORD-003"]);
}

/// Takes a step in a process that is killed, and says whether it got through.
fn killed_at(folder: &Path, writes: u64) -> bool {
    let test = "coordinator_kills::a_killed_step_is_finished_by_the_next";
    let output = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .env(WRITES, writes.to_string())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).contains("acknowledged")
}

//! Acceptance and rejection, as they are left on disk.

use std::time::Duration;

use accord_contract::Code;
use accord_runs::operations::{Accept, NextStep, Reject, Start};
use accord_runs::{Environment, Runs};
use accord_runs_core::state::Status;
use accord_runs_core::testing::consent;
use accord_runs_core::{TurnId, dispatch};
use serde_json::{Value, json};

use crate::support::{PLANNING, Repo, accept, dispatched, plan, refused, result, stage};

#[test]
fn an_accepted_turn_leaves_its_record_and_nothing_else() {
    let repo = Repo::plain();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    stage(&repo, &turn, &result(&turn, &PLANNING, |_| {}));
    let done = accept(&runs, turn.turn.id()).unwrap().accepted;
    assert_eq!(done.accepted_sequence, 2);
    assert!(!repo.has(&turn.bundle), "the bundle is gone");
    assert!(!repo.has(&turn.staging));
    assert!(runs.repository().pending_journals().unwrap().is_empty());
    assert_eq!(repo.json(".agentxchain/dispatch/index.json")["active_turns"], json!({}));
    assert_eq!(repo.lines(".agentxchain/history.jsonl").len(), 1);
    refused(accept(&runs, turn.turn.id()), Code::XchainTurnAlreadyAccepted);
    assert_eq!(repo.lines(".agentxchain/history.jsonl").len(), 1);
}

#[test]
fn a_result_is_corrected_and_says_so_or_is_refused_when_strict() {
    let repo = Repo::plain();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    stage(
        &repo,
        &turn,
        &result(&turn, &PLANNING, |result| {
            result["decisions"] =
                json!([{"id": "one", "category": "scope", "statement": "s", "rationale": "r"}]);
        }),
    );
    let strict = Accept { strict: true, ..Accept::default() };
    let failure = refused(runs.accept(&strict), Code::XchainValidationFailed);
    assert_eq!(failure.details.unwrap()["failed_stage"], "schema");
    let state = runs.state().unwrap();
    let stands = state.turns().next().unwrap().document();
    assert_eq!(stands["status"], "failed_acceptance");
    let event = repo.lines(".agentxchain/events.jsonl").pop().unwrap();
    assert_eq!(event["event_type"], "acceptance_failed");
    let done = accept(&runs, turn.turn.id()).unwrap().accepted;
    assert_eq!(done.history_entry["normalizations"][0]["code"], "decision_id_assigned");
    assert!(done.warnings[0].starts_with("[normalized] "), "{:?}", done.warnings);
    assert_eq!(repo.lines(".agentxchain/decision-ledger.jsonl")[0]["id"], "DEC-001");
}

#[test]
fn a_rejected_turn_is_tried_again_and_then_waits_for_a_person() {
    let repo = Repo::plain();
    repo.hook("on_escalation", "notify", "advisory", 5000, "cat > payload.json");
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    stage(&repo, &turn, &json!({"status": "half"}));
    let reject = Reject { reason: "half done".into(), ..Reject::default() };
    let first = runs.reject(&reject).unwrap();
    assert!(first.again);
    let kept = first.kept.unwrap();
    assert_eq!(repo.json(&kept)["status"], "half");
    assert!(!repo.has(&turn.staging));
    let again = runs.dispatch(None).unwrap();
    assert!(again.prompt.contains("half done"), "{}", again.prompt);
    let last = runs.reject(&reject).unwrap();
    assert!(!last.again && last.kept.is_none());
    assert_eq!(last.update.state.status(), Status::Blocked);
    assert_eq!(repo.json("payload.json")["payload"]["failed_turn_id"], turn.turn.id().as_str());
    assert_eq!(repo.lines(".agentxchain/history.jsonl").len(), 0);
    runs.resolve(&consent()).unwrap();
    runs.dispatch(None).unwrap();
}

#[test]
fn a_verification_that_a_policy_wants_again_is_run_again() {
    let repo = Repo::plain();
    repo.configure(|config| {
        config["runtimes"]["agent"] = json!({"type": "local_cli", "command": ["/bin/true"]});
        config["roles"]["pm"]["runtime"] = json!("agent");
        config["policies"] = json!([{"id": "again", "rule": "require_reproducible_verification",
            "action": "block"}]);
    });
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    let evidence = |command: &str| {
        result(&turn, &PLANNING, |result| {
            result["verification"]["machine_evidence"] =
                json!([{"command": command, "exit_code": 0}]);
        })
    };
    stage(&repo, &turn, &evidence("test -f made-up"));
    let failure = accept(&runs, turn.turn.id()).unwrap_err();
    assert!(
        matches!(failure.code, Code::XchainVerificationReplayDrift | Code::XchainPolicyViolation),
        "{failure:?}"
    );
    stage(&repo, &turn, &evidence("test -f TALK.md && true"));
    let done = accept(&runs, turn.turn.id()).unwrap().accepted;
    assert!(done.history_entry.contains_key("verification_replay"));
}

#[test]
fn outputs_that_a_result_disowns_are_deleted_and_nothing_else_is() {
    let repo = Repo::with_git();
    repo.write(".gitignore", &(repo.read(".gitignore") + ".env\n"));
    repo.write("tracked.txt", "t");
    repo.commit_all("more");
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    repo.write("out.log", "noise");
    repo.write(".env", "secret");
    stage(
        &repo,
        &turn,
        &result(&turn, &PLANNING, |result| {
            let ignore = |path: &str| json!({"path": path, "disposition": "ignore"});
            result["verification"]["produced_files"] =
                json!([ignore("out.log"), ignore(".env"), ignore("tracked.txt")]);
        }),
    );
    accept(&runs, turn.turn.id()).unwrap();
    assert!(!repo.has("out.log"));
    assert!(repo.has(".env") && repo.has("tracked.txt"));
}

#[test]
fn a_file_that_agents_follow_is_not_deleted_for_a_result() {
    let repo = Repo::with_git();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    // A person made it while the worker ran, which could not delete it in a sandbox.
    let settings = ".claude/settings.local.json";
    repo.write(settings, "{}");
    stage(
        &repo,
        &turn,
        &result(&turn, &PLANNING, |result| {
            result["verification"]["produced_files"] =
                json!([{"path": settings, "disposition": "ignore"}]);
        }),
    );
    let failure = refused(accept(&runs, turn.turn.id()), Code::XchainReservedPathViolation);
    assert!(failure.message.contains(settings), "{failure}");
    assert!(repo.has(settings));
}

#[test]
fn two_turns_that_change_one_file_come_into_conflict() {
    let repo = Repo::plain();
    repo.configure(|config| {
        config["routing"]["planning"]["max_concurrent_turns"] = json!(2);
    });
    let runs = repo.started();
    let (first, second) = (dispatched(&runs, "pm"), dispatched(&runs, "dev"));
    refused(runs.accept(&Accept::default()), Code::XchainTargetRequired);
    plan(&repo);
    for turn in [&first, &second] {
        stage(&repo, turn, &result(turn, &PLANNING, |_| {}));
    }
    accept(&runs, first.turn.id()).unwrap();
    let failure = refused(accept(&runs, second.turn.id()), Code::XchainConflict);
    assert_eq!(failure.details.unwrap()["files"].as_array().unwrap().len(), 3);
    let merged = Accept {
        turn: Some(second.turn.id().clone()),
        human_merge: Some(consent()),
        ..Accept::default()
    };
    runs.accept(&merged).unwrap();
    assert_eq!(repo.lines(".agentxchain/history.jsonl").len(), 2);
}

#[test]
fn a_repository_in_use_names_the_process() {
    let repo = Repo::plain();
    let held = repo.runs().repository().lock(Duration::ZERO).unwrap();
    let before = repo.home();
    let impatient = repo.environment().with_lock_timeout(Duration::from_millis(50));
    let runs = Runs::open(&repo.root(), impatient).unwrap();
    let failure = refused(runs.start(&Start::default()), Code::XchainLockTimeout);
    assert_eq!(failure.details.unwrap()["owner_pid"], std::process::id());
    assert!(runs.status().unwrap().holder.unwrap().alive);
    assert_eq!(repo.home(), before);
    drop(held);
    runs.start(&Start::default()).unwrap();
}

#[test]
fn time_does_not_go_back_within_a_run() {
    let repo = Repo::plain();
    let at = |text: &str| {
        let now = accord_contract::time::Time::parse_iso(text).unwrap();
        let environment =
            Environment::new(move || now, move || [now.unix_millis().to_be_bytes()[5]; 32]);
        Runs::open(&repo.root(), environment).unwrap()
    };
    at("2026-05-02T10:00:00Z").start(&Start::default()).unwrap();
    at("2026-05-01T10:00:00Z").escalate("the clock was set back").unwrap();
    let times: Vec<Value> = repo
        .lines(".agentxchain/events.jsonl")
        .iter()
        .map(|event| event["timestamp"].clone())
        .collect();
    assert!(times.iter().all(|time| time == "2026-05-02T10:00:00.000Z"), "{times:?}");
}

#[test]
fn the_flat_staging_of_other_runners_is_read() {
    let repo = Repo::plain();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    repo.write(dispatch::FLAT_STAGING_PATH, &result(&turn, &PLANNING, |_| {}).to_string());
    accept(&runs, turn.turn.id()).unwrap();
    assert!(!repo.has(dispatch::FLAT_STAGING_PATH));
    let unknown = TurnId::parse("turn_unknown").unwrap();
    refused(accept(&runs, &unknown), Code::XchainTurnNotActive);
}

#[test]
fn the_flat_staging_is_seen_by_status_and_by_reject() {
    let repo = Repo::plain();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    let id = turn.turn.id();
    let flat = |turn_id: &str| {
        let staged = result(&turn, &[], |result| result["turn_id"] = json!(turn_id));
        repo.write(dispatch::FLAT_STAGING_PATH, &staged.to_string());
    };
    flat("turn_other");
    assert!(!runs.status().unwrap().turns[0].staged);
    assert_eq!(runs.reject(&Reject::default()).unwrap().kept, None);
    assert!(repo.has(dispatch::FLAT_STAGING_PATH), "it is another's");
    runs.dispatch(None).unwrap();
    flat(id.as_str());
    let seen = runs.status().unwrap();
    assert!(seen.turns[0].staged);
    assert_eq!(seen.next, [NextStep::Accept { turn: id.clone() }]);
    let kept = runs.reject(&Reject::default()).unwrap().kept.unwrap();
    assert_eq!(repo.json(&kept)["turn_id"], id.as_str());
    assert!(!repo.has(dispatch::FLAT_STAGING_PATH));
}

#[test]
fn files_of_a_rejected_try_are_still_the_turns_own() {
    let repo = Repo::with_git();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    repo.write("extra.txt", "e");
    stage(&repo, &turn, &result(&turn, &PLANNING, |_| {}));
    accept(&runs, turn.turn.id()).unwrap_err();
    let rejected = runs.reject(&Reject::default()).unwrap().update.state;
    let next = rejected.turn(turn.turn.id()).unwrap();
    assert_eq!(next.member("baseline"), turn.turn.member("baseline"));
    // The second try corrects what it declares, and nothing else.
    let again = runs.dispatch(None).unwrap();
    stage(&repo, &again, &result(&again, &PLANNING, |_| {}));
    let failure = accept(&runs, turn.turn.id()).unwrap_err();
    assert!(failure.message.contains("extra.txt"), "{failure}");
    let all = [&PLANNING[..], &["extra.txt"]].concat();
    stage(&repo, &again, &result(&again, &all, |_| {}));
    let accepted = accept(&runs, turn.turn.id()).unwrap().accepted;
    let seen = &accepted.history_entry["observed_artifact"]["files_changed"];
    assert_eq!(seen.as_array().unwrap().len(), 4);
    assert_eq!(runs.checkpoint(None).unwrap().files.len(), 4);
}

#[test]
fn a_worker_that_commits_by_itself_leaves_nothing_to_checkpoint() {
    let repo = Repo::with_git();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    repo.commit_all("the worker's own");
    stage(&repo, &turn, &result(&turn, &PLANNING, |_| {}));
    let done = runs.accept(&Accept { checkpoint: true, ..Accept::default() }).unwrap();
    assert_eq!((done.checkpoint, done.no_checkpoint), (None, None));
    refused(runs.checkpoint(None), Code::XchainNothingToCheckpoint);
}

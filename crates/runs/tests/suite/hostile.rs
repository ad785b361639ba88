//! Input that means harm: it gets its code, and changes nothing but what records it.

use std::os::unix::fs::symlink;

use accord_contract::Code;
use accord_runs::operations::{NextStep, Reissue, Reject};
use serde_json::{Value, json};

use crate::support::{PLANNING, Repo, accept, dispatched, plan, refused, result, stage};

#[test]
fn results_that_are_no_results_are_refused_with_the_turn_kept() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let wrong_types = json!({"schema_version": 1, "run_id": [], "turn_id": {}, "role": null,
        "status": 7, "files_changed": "all", "decisions": {"a": 1}, "objections": 3,
        "verification": [], "artifact": "x", "summary": [], "runtime_id": false,
        "proposed_next_role": 1});
    for staged in ["", "no json", "[]", "null", "\u{0}", deep.as_str(), &wrong_types.to_string()] {
        let repo = Repo::plain();
        let runs = repo.started();
        let turn = dispatched(&runs, "pm");
        repo.write(&turn.staging, staged);
        let before = untouched(&repo);
        let failure = accept(&runs, turn.turn.id()).unwrap_err();
        assert_eq!(failure.code, Code::XchainValidationFailed, "{failure:?}");
        assert_eq!(untouched(&repo), before);
        assert_eq!(repo.read(&turn.staging), staged);
        let state = runs.state().unwrap();
        assert_eq!(state.turns().next().unwrap().document()["status"], "failed_acceptance");
    }
}

#[test]
fn a_result_that_is_too_large_is_not_read() {
    let repo = Repo::plain();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    repo.write(&turn.staging, &" ".repeat(9 * 1024 * 1024));
    let before = untouched(&repo);
    refused(accept(&runs, turn.turn.id()), Code::XchainFileTooLarge);
    assert_eq!(untouched(&repo), before);
    recorded(&repo, "file_too_large");
    // It can be rejected, and the next try finds an empty place.
    let rejected = runs.reject(&Reject { reason: "too much".to_owned(), ..Reject::default() });
    assert_eq!(rejected.unwrap().kept, None);
    assert!(!repo.has(&turn.staging));
}

#[test]
fn paths_that_leave_the_repository_are_refused_in_every_spelling() {
    for path in [
        "../out.txt",
        "/etc/passwd",
        "src/../../out.txt",
        "./.agentxchain/state.json",
        ".git/config",
        "a\\..\\b",
    ] {
        let repo = Repo::plain();
        let runs = repo.started();
        let turn = dispatched(&runs, "pm");
        stage(&repo, &turn, &result(&turn, &[path], |_| {}));
        let before = untouched(&repo);
        let failure = accept(&runs, turn.turn.id()).unwrap_err();
        assert_eq!(failure.code, Code::XchainValidationFailed, "{path}: {failure:?}");
        assert_eq!(untouched(&repo), before);
    }
}

#[test]
fn links_that_leave_the_repository_are_not_followed() {
    let outside = Repo::empty();
    outside.write("turn-result.json", "{}");
    outside.write("target", "keep");
    let repo = Repo::plain();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    let staging = repo.root().join(&turn.staging);
    let folder = staging.parent().unwrap().to_owned();
    std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
    let _ = std::fs::remove_dir_all(&folder);
    symlink(outside.root(), &folder).unwrap();
    refused(accept(&runs, turn.turn.id()), Code::XchainPathOutsideRepository);
    recorded(&repo, "path_outside_repository");
    std::fs::remove_file(&folder).unwrap();

    // A document that a gate reads is a link out of the repository.
    plan(&repo);
    let signoff = repo.root().join(PLANNING[0]);
    std::fs::remove_file(&signoff).unwrap();
    outside.write("signed", "Approved: YES\n");
    symlink(outside.root().join("signed"), &signoff).unwrap();
    stage(
        &repo,
        &turn,
        &result(&turn, &PLANNING, |result| {
            result["phase_transition_request"] = json!("implementation");
        }),
    );
    let answer = accept(&runs, turn.turn.id());
    assert_ne!(runs.state().unwrap().status().as_str(), "paused", "{answer:?}");

    // The state itself is a link out of the repository.
    let state = repo.root().join(".agentxchain/state.json");
    let text = std::fs::read(&state).unwrap();
    std::fs::remove_file(&state).unwrap();
    std::fs::write(outside.root().join("state.json"), &text).unwrap();
    symlink(outside.root().join("state.json"), &state).unwrap();
    assert!(runs.escalate("x").is_err());
    assert_eq!(std::fs::read(outside.root().join("state.json")).unwrap(), text);
    assert_eq!(outside.read("target"), "keep");
}

#[test]
fn a_name_that_no_run_can_speak_of_hides_nothing() {
    for name in ["evil\nname.txt", "back\\slash", " leading"] {
        let repo = Repo::with_git();
        let runs = repo.started();
        let turn = dispatched(&runs, "pm");
        plan(&repo);
        stage(&repo, &turn, &result(&turn, &PLANNING, |_| {}));
        repo.write(name, "x");
        refused(accept(&runs, turn.turn.id()), Code::XchainPathOutsideRepository);
        recorded(&repo, "path_outside_repository");
    }
}

#[test]
fn files_that_no_system_can_have_are_refused_and_recorded() {
    for name in ["n".repeat(300), "n/".repeat(2500) + "n", "src/".to_owned()] {
        let repo = Repo::with_git();
        let runs = repo.started();
        let turn = dispatched(&runs, "pm");
        plan(&repo);
        let files = [&PLANNING[..], &[&name]].concat();
        stage(&repo, &turn, &result(&turn, &files, |_| {}));
        refused(accept(&runs, turn.turn.id()), Code::XchainValidationFailed);
        recorded(&repo, "validation_failed");
    }
}

#[test]
fn a_proposal_that_cannot_lie_in_the_repository_is_refused_and_recorded() {
    for (path, there) in [(".planning", true), ("TALK.md/x", true), ("new/x", false)] {
        let repo = Repo::with_git();
        let runs = repo.started();
        let turn = dispatched(&runs, "pm");
        plan(&repo);
        let proposed = result(&turn, &PLANNING, |result| {
            result["proposed_changes"] =
                json!([{"path": path, "action": "create", "content": "x"}]);
        });
        stage(&repo, &turn, &proposed);
        let answer = accept(&runs, turn.turn.id());
        match there {
            true => {
                refused(answer, Code::XchainArtifactError);
                recorded(&repo, "artifact_error");
            }
            false => drop(answer.unwrap()),
        }
        runs.status().unwrap();
    }
}

#[test]
fn what_is_in_the_way_of_a_proposal_is_a_refusal_and_no_broken_repository() {
    let repo = Repo::plain();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    let proposed = result(&turn, &PLANNING, |result| {
        result["proposed_changes"] = json!([{"path": "x", "action": "create", "content": "x"}]);
    });
    stage(&repo, &turn, &proposed);
    let place = format!(".agentxchain/proposed/{}", turn.turn.id());
    repo.write(&place, "a file where a folder must be");
    let before = untouched(&repo);
    let failure = refused(accept(&runs, turn.turn.id()), Code::XchainPathObstructed);
    assert!(failure.message.contains(&place), "{failure}");
    recorded(&repo, "path_obstructed");
    assert_eq!(untouched(&repo), before);
    std::fs::remove_file(repo.root().join(&place)).unwrap();
    accept(&runs, turn.turn.id()).unwrap();
    assert_eq!(repo.read(&format!("{place}/x")), "x");
}

#[test]
fn a_turn_of_which_only_the_history_knows_is_ended_and_has_one_line() {
    let repo = Repo::plain();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    stage(&repo, &turn, &result(&turn, &PLANNING, |_| {}));
    // As another runner leaves it that ends between the two.
    let state = repo.read(".agentxchain/state.json");
    let staged = repo.read(&turn.staging);
    accept(&runs, turn.turn.id()).unwrap();
    repo.write(".agentxchain/state.json", &state);
    repo.write(&turn.staging, &staged);
    let only = accord_runs::operations::Accept::default();
    refused(runs.accept(&only), Code::XchainTurnAlreadyAccepted);
    refused(runs.reject(&Reject::default()), Code::XchainTurnAlreadyAccepted);
    let named = NextStep::Reissue { turn: turn.turn.id().clone() };
    assert_eq!(runs.status().unwrap().next, [named]);
    let subject = format!("turn {}", turn.turn.id());
    let finding = |runs: &accord_runs::Runs| {
        let found = runs.doctor().into_iter();
        found
            .filter(|finding| finding.subject == subject)
            .any(|finding| finding.message.contains("history"))
    };
    assert!(finding(&runs));
    runs.reissue(&Reissue::default()).unwrap();
    assert!(!finding(&runs));
    assert!(runs.state().unwrap().turn(turn.turn.id()).is_none());
    assert_eq!(repo.lines(".agentxchain/history.jsonl").len(), 1);
}

#[test]
fn damaged_files_are_named_and_left_as_they_are() {
    let cases = [
        ("agentxchain.json", "{", Code::XchainInvalidConfig),
        (".agentxchain/state.json", "{\"status\": 3}", Code::XchainStateInvalid),
        (".agentxchain/history.jsonl", "{\"a\":\n{}\n", Code::XchainRecordInvalid),
        (".agentxchain/transactions/accept/txn_1.json", "[]", Code::XchainRecordInvalid),
    ];
    for (path, text, code) in cases {
        let repo = Repo::plain();
        let runs = repo.started();
        repo.write(path, text);
        let failure = runs.assign(None).unwrap_err();
        assert_eq!(failure.code, code, "{path}: {failure:?}");
        assert_eq!(repo.read(path), text);
        assert!(!runs.doctor().is_empty());
        let found = runs.doctor().into_iter().find(|finding| finding.subject.starts_with(path));
        assert!(found.is_some(), "{path}: {:?}", runs.doctor());
    }
}

/// The turn and the last event say that its result was refused, and why.
#[track_caller]
fn recorded(repo: &Repo, code: &str) {
    let state = repo.json(".agentxchain/state.json");
    let turns = state["active_turns"].as_object().unwrap();
    let turn = turns.values().next().unwrap();
    assert_eq!(turn["status"], "failed_acceptance");
    assert_eq!(turn["last_acceptance_failure"]["error_code"], code);
    let events = repo.lines(".agentxchain/events.jsonl");
    let last = events.last().unwrap();
    assert_eq!(
        (&last["event_type"], &last["payload"]["error_code"]),
        (&json!("acceptance_failed"), &json!(code))
    );
}

/// The records that a refusal does not touch.
fn untouched(repo: &Repo) -> Vec<Value> {
    let records = ["history.jsonl", "decision-ledger.jsonl", "repo-decisions.jsonl"];
    records
        .iter()
        .flat_map(|name| repo.lines(&format!(".agentxchain/{name}")))
        .chain([json!(repo.read("TALK.md"))])
        .collect()
}

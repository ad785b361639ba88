//! The tries of a turn: whose word counts between them, and what belongs to whom.

use std::process::{Child, Command};

use accord_contract::Code;
use accord_runs::operations::{LoopOptions, LoopStop, Reject, Step, StepResult};
use accord_runs::{Notice, Runs, TurnOutcome};
use accord_runs_core::TurnId;
use accord_runs_core::state::Status;
use accord_runs_core::testing::consent;
use serde_json::{Value, json};

use crate::support::{Repo, accept, dispatched, refused};
use crate::workers::{PLANS, accepted, planned_by, turn_member};

fn rejection() -> Reject {
    Reject { reason: "not like this".to_owned(), ..Reject::default() }
}

/// A process that the state names as the worker of a turn.
fn worker_of(repo: &Repo, turn: &TurnId) -> Child {
    let worker = Command::new("sleep").arg("60").spawn().unwrap();
    let mut state = repo.json(".agentxchain/state.json");
    let active = &mut state["active_turns"][turn.as_str()];
    active["worker_pid"] = json!(worker.id());
    active["worker_started_at"] = active["dispatched_at"].clone();
    repo.write(".agentxchain/state.json", &state.to_string());
    worker
}

#[test]
fn a_turn_is_not_rejected_or_dispatched_while_its_worker_runs() {
    let repo = Repo::plain();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    let mut worker = worker_of(&repo, turn.turn.id());
    let before = repo.home();
    for failure in [
        runs.reject(&rejection()).map(drop),
        runs.dispatch(None).map(drop),
        accept(&runs, turn.turn.id()).map(drop),
    ] {
        let failure = refused(failure, Code::XchainWorkerBusy);
        let words = failure.suggestion.unwrap();
        assert!(words.contains(&format!("kill {}", worker.id())), "{words}");
    }
    assert_eq!(repo.home(), before, "a refusal changes nothing");
    // Also where the run was stopped meanwhile.
    runs.escalate("wait").unwrap();
    refused(runs.reject(&rejection()), Code::XchainWorkerBusy);
    worker.kill().unwrap();
    worker.wait().unwrap();
    runs.reject(&rejection()).unwrap();
}

#[test]
fn a_worker_whose_try_is_over_before_it_began_is_ended_and_its_result_left_out() {
    let repo = planned_by(&format!("{PLANS}\nsleep 60"), json!({}));
    let root = repo.root();
    let elsewhere = repo.environment();
    let environment = repo.environment().with_listener(move |notice| {
        // The turn is with its worker, which is not there yet.
        if let Notice::Dispatched { attempt: 1, .. } = notice {
            let other = Runs::open(&root, elsewhere.clone()).unwrap();
            other.reject(&rejection()).unwrap();
        }
    });
    repo.started();
    let runs = Runs::open(&repo.root(), environment).unwrap();
    refused(runs.step(&Step::default()), Code::XchainAttemptOver);
    assert!(repo.lines(".agentxchain/history.jsonl").is_empty());
    assert_eq!(turn_member(&runs, "attempt"), 2);
    assert_eq!(turn_member(&runs, "status"), "retrying");
    assert_eq!(turn_member(&runs, "worker_pid"), Value::Null);
    let turn = runs.state().unwrap().only_turn().unwrap().id().clone();
    let staged = format!(".agentxchain/staging/{turn}/turn-result.json");
    assert!(!repo.has(&staged), "nobody takes it for the next try's");
}

/// An agent that fails as long as the configuration does not say that it may work.
fn mended_by_the_configuration() -> Repo {
    let script = format!("grep -q may-wor[k] agentxchain.json || exit 1\n{PLANS}");
    planned_by(&script, json!({}))
}

fn mend(repo: &Repo) {
    let mut config = repo.json("agentxchain.json");
    config["project"]["goal"] = json!("may-work");
    repo.write("agentxchain.json", &format!("{config:#}\n"));
}

#[test]
fn what_a_person_changes_between_two_tries_is_not_the_agents() {
    let repo = mended_by_the_configuration();
    let runs = repo.started();
    refused(runs.step(&Step::default()), Code::XchainWorkerWithoutResult);
    mend(&repo);
    repo.write("note.txt", "of a person");
    accepted(runs.step(&Step::default()).unwrap());
    let events = repo.lines(".agentxchain/events.jsonl");
    let reported =
        events.iter().find(|event| event["event_type"] == "state_reconciled_operator_commits");
    let files = &reported.unwrap()["payload"]["files"];
    assert_eq!(*files, json!(["agentxchain.json", "note.txt"]));
}

#[test]
fn so_is_what_a_person_commits() {
    let repo = mended_by_the_configuration();
    let runs = repo.started();
    refused(runs.step(&Step::default()), Code::XchainWorkerWithoutResult);
    mend(&repo);
    repo.commit_all("mend the agent");
    accepted(runs.step(&Step::default()).unwrap());
}

#[test]
fn so_is_what_a_person_changes_before_the_first_try() {
    let repo = planned_by(PLANS, json!({}));
    let runs = repo.started();
    runs.assign(Some("pm")).unwrap();
    mend(&repo);
    repo.commit_all("one more rule");
    repo.write("note.txt", "of a person");
    accepted(runs.step(&Step::default()).unwrap());
}

#[test]
fn so_are_settings_of_git_that_a_person_changes_between_two_tries() {
    let repo = mended_by_the_configuration();
    let runs = repo.started();
    refused(runs.step(&Step::default()), Code::XchainWorkerWithoutResult);
    mend(&repo);
    repo.write(".git/info/exclude", "out/\n");
    repo.git(&["config", "core.autocrlf", "input"]);
    accepted(runs.step(&Step::default()).unwrap());
}

#[test]
fn settings_that_a_worker_changed_are_nobodys_until_a_person_resolves() {
    let script = format!("echo '*.bin' >> .git/info/exclude\n{PLANS}");
    let repo = planned_by(&script, json!({}));
    let runs = repo.started();
    let StepResult::Turn(TurnOutcome::Blocked(failure)) = runs.step(&Step::default()).unwrap()
    else {
        panic!("it is refused, and once more");
    };
    assert_eq!(failure.code, Code::XchainVersionControlChanged);
    // Who resolves has seen what the block names.
    repo.write(".git/info/exclude", "*.bin\n");
    let keeps = repo.json("agentxchain.json").to_string();
    let keeps = keeps.replace("echo '*.bin' >> .git/info/exclude", ":");
    repo.write("agentxchain.json", &keeps);
    let identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
    let commit = ["commit", "--quiet", "-m", "leave git alone", "agentxchain.json"];
    repo.git(&[&identity[..], &commit[..]].concat());
    runs.resolve(&consent()).unwrap();
    accepted(runs.step(&Step::default()).unwrap());
}

#[test]
fn what_an_agent_left_when_it_failed_stays_its_own() {
    for commits in ["", "git add --all; git -c user.name=T -c user.email=t@e.org commit -qm x;"] {
        let script = format!(
            "[ -e ../$AGENTXCHAIN_TURN_ID ] || {{ touch ../$AGENTXCHAIN_TURN_ID; \
             echo left > left.txt; {commits} exit 1; }}\n{PLANS}"
        );
        let repo = planned_by(&script, json!({}));
        let runs = repo.started();
        refused(runs.step(&Step::default()), Code::XchainWorkerWithoutResult);
        repo.write("note.txt", "of a person");
        let looped = runs.run_loop(&LoopOptions::default()).unwrap();
        assert_eq!(looped.stop, LoopStop::Blocked, "{commits:?}");
        let state = runs.state().unwrap();
        assert_eq!(state.status(), Status::Blocked);
        let why = state.member("blocked_reason")["recovery"]["detail"].clone();
        let why = why.as_str().unwrap();
        assert!(why.contains("left.txt") && !why.contains("note.txt"), "{why}");
        let turn = state.turns().next().unwrap().id().to_string();
        std::fs::remove_file(repo.root().join("..").join(turn)).unwrap();
    }
}

#[test]
fn a_file_that_a_person_changed_is_the_agents_once_it_changes_it_again() {
    let script = format!(
        "[ -e ../$AGENTXCHAIN_TURN_ID ] || {{ touch ../$AGENTXCHAIN_TURN_ID; exit 1; }}\n\
         echo more >> note.txt\n{PLANS}"
    );
    let repo = planned_by(&script, json!({}));
    let runs = repo.started();
    refused(runs.step(&Step::default()), Code::XchainWorkerWithoutResult);
    repo.write("note.txt", "of a person\n");
    let StepResult::Turn(TurnOutcome::Blocked(failure)) = runs.step(&Step::default()).unwrap()
    else {
        panic!("it is refused");
    };
    assert!(failure.message.contains("note.txt"), "{failure:?}");
    let way_out = failure.suggestion.unwrap();
    assert!(way_out.contains("accord run resolve"), "{way_out}");
    let turn = runs.state().unwrap().turns().next().unwrap().id().to_string();
    std::fs::remove_file(repo.root().join("..").join(turn)).unwrap();
}

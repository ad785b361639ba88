//! What Accord observed, for a person who decides.

use accord_base::client_output::Trouble;
use accord_contract::Code;
use accord_runs::coordinator::SendBackGate;
use accord_runs::operations::{PendingApproval, Reissue, SendBack, Step};
use accord_runs::{Environment, Notice, Runs};
use accord_runs_core::Subject;
use accord_runs_core::testing::consent;
use serde_json::{Value, json};

use crate::initiative::{Workspace, handed_out};
use crate::support::{PLANNING, Repo, accept, dispatched, plan, refused, result, stage};
use crate::workers::{PLANS, accepted, planned_by};

#[test]
fn a_gate_is_shown_with_what_was_observed() {
    let repo = planned_by(
        &PLANS.replace("\"artifact\":", "\"artifacts_created\": [\"REPORT.pdf\"], \"artifact\":"),
        json!({}),
    );
    repo.configure(|config| {
        config["policies"] = json!([{"id": "again", "rule": "require_reproducible_verification",
            "action": "block"}]);
    });
    let base = repo.git(&["rev-parse", "HEAD"]);
    let runs = repo.started();
    accepted(runs.step(&Step::default()).unwrap());
    let facts = runs.facts(&Subject::Transition).unwrap();
    assert_eq!(facts.files, PLANNING);
    assert_eq!(facts.missing, ["REPORT.pdf"], "declared, and not there");
    assert_eq!(facts.turns.len(), 1);
    let [check] = &facts.checks[..] else { panic!("{facts:?}") };
    assert_eq!((check.command.as_str(), check.exit_code, check.run_again), ("true", Some(0), true));
    assert!(facts.commits.is_empty());
    // The tests have no launcher of workers.
    let [sandbox] = &facts.sandbox[..] else { panic!("{facts:?}") };
    assert!(sandbox.starts_with("none (") && sandbox.ends_with("the rights of your user"));
    let diff = facts.diff_command.clone().unwrap();
    assert!(diff.ends_with(base.trim()), "{diff}");
    // The status has the same.
    let waiting = runs.status().unwrap().waiting.unwrap();
    assert_eq!(waiting.facts, Some(facts));
    // A commit since, and a request that was sent back.
    repo.commit_all("a person commits");
    runs.send_back(&SendBack { reason: "no dates".into(), role: None }, &consent()).unwrap();
    let facts = runs.facts(&Subject::Transition).unwrap();
    assert!(facts.commits[0].ends_with("a person commits"), "{:?}", facts.commits);
    assert_eq!(facts.send_backs.len(), 1);
    assert_eq!(facts.send_backs[0].reason, "no dates");
}

#[test]
fn a_block_is_shown_with_what_active_turns_left() {
    let repo = Repo::with_git();
    let runs = repo.started();
    dispatched(&runs, "pm");
    plan(&repo);
    repo.write("left.txt", "x");
    repo.commit_all("left behind");
    runs.escalate("look").unwrap();
    let facts = runs.facts(&Subject::Block).unwrap();
    assert!(facts.files.contains(&"left.txt".to_owned()), "{facts:?}");
    assert!(facts.commits[0].ends_with("left behind"), "{facts:?}");
}

#[test]
fn a_file_that_was_deleted_is_not_missing() {
    let repo = Repo::with_git();
    repo.write("old.txt", "x");
    repo.commit_all("old");
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    std::fs::remove_file(repo.root().join("old.txt")).unwrap();
    let files = [PLANNING.as_slice(), &["old.txt"]].concat();
    let asks = |it: &mut Value| it["phase_transition_request"] = json!("implementation");
    stage(&repo, &turn, &result(&turn, &files, asks));
    accept(&runs, turn.turn.id()).unwrap();
    let facts = runs.facts(&Subject::Transition).unwrap();
    assert!(facts.missing.is_empty(), "{facts:?}");
    assert!(!facts.checks[0].run_again, "the agent says so");
    runs.approve(PendingApproval::Transition, &consent()).unwrap();
    assert!(runs.facts(&Subject::Transition).unwrap().turns.is_empty(), "another phase has begun");
}

#[test]
fn a_merge_is_shown_with_what_was_observed() {
    let repo = Repo::with_git();
    repo.write("old.txt", "x");
    repo.commit_all("old");
    repo.configure(|config| config["routing"]["planning"]["max_concurrent_turns"] = json!(2));
    let runs = repo.started();
    let (first, second) = (dispatched(&runs, "pm"), dispatched(&runs, "dev"));
    plan(&repo);
    stage(&repo, &first, &result(&first, &PLANNING, |_| {}));
    accept(&runs, first.turn.id()).unwrap();
    std::fs::remove_file(repo.root().join("old.txt")).unwrap();
    let files = [PLANNING.as_slice(), &["old.txt", "REPORT.pdf"]].concat();
    let claims = |it: &mut Value| {
        it["cost"] = json!({"usd": 0.25});
        it["warnings"] = json!(["Accord ran the checks"]);
        it["verification_replay"] = json!({"exit_codes": [0]});
    };
    stage(&repo, &second, &result(&second, &files, claims));
    refused(accept(&runs, second.turn.id()), Code::XchainConflict);
    let state = runs.state().unwrap();
    let turn = state.turn(second.turn.id()).unwrap();
    let facts = runs.facts(&Subject::Merge(turn)).unwrap();
    assert_eq!(facts.turns, [turn.id().to_string()]);
    assert_eq!(facts.missing, ["REPORT.pdf"], "old.txt was deleted, and that was seen");
    assert!(facts.files.contains(&"old.txt".to_owned()), "{facts:?}");
    assert_eq!(facts.cost, "0.25 USD as the agents say");
    assert!(!facts.checks[0].run_again, "a result cannot say that Accord ran it");
    assert!(facts.warnings.is_empty(), "{facts:?}");
    assert!(facts.diff_command.is_some());
    let overview = runs.status().unwrap();
    assert_eq!(overview.merges[0].facts, Some(facts));
}

#[test]
fn a_proposal_is_shown_with_what_was_observed() {
    let repo = Repo::with_git();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    let files = [PLANNING.as_slice(), &["new.txt", "REPORT.pdf"]].concat();
    let proposes = |it: &mut Value| {
        it["files_changed"] = json!(PLANNING);
        it["artifacts_created"] = json!(&files);
        it["proposed_changes"] =
            json!([{"path": "new.txt", "action": "create", "content": "new\n"}]);
    };
    stage(&repo, &turn, &result(&turn, &PLANNING, proposes));
    accept(&runs, turn.turn.id()).unwrap();
    let (proposal, evidence) = runs.waiting_proposal(turn.turn.id(), None).unwrap();
    let facts = runs.facts(&Subject::Proposal(&proposal)).unwrap();
    assert_eq!(facts.turns, [turn.turn.id().to_string()]);
    assert_eq!(facts.files, PLANNING);
    assert_eq!(facts.missing, ["REPORT.pdf"], "new.txt is proposed");
    // The digest covers what was observed.
    repo.write("REPORT.pdf", "late");
    assert_ne!(runs.waiting_proposal(turn.turn.id(), None).unwrap().1, evidence);
}

#[test]
fn the_gate_of_an_initiative_is_shown_with_what_was_observed() {
    let workspace = Workspace::new();
    let coordinator = workspace.begun();
    let mut turns = Vec::new();
    for _ in ["api", "web"] {
        let (repo, turn) = handed_out(coordinator.step(None));
        workspace.carry_out(&repo, &turn, |result| {
            // The repository moves to its next phase at once.
            result["phase_transition_request"] = json!("qa");
            result["artifacts_created"] = json!(["REPORT.pdf"]);
        });
        turns.push(turn);
    }
    coordinator.step(None).unwrap();
    let plan = coordinator.plan_gate(None).unwrap();
    for ((repo, facts), turn) in plan.facts.iter().zip(&turns) {
        let facts = facts.as_ref().unwrap();
        assert_eq!(facts.turns, [turn.as_str()], "{repo}");
        assert_eq!(facts.files, [format!("src/{turn}.txt")]);
        assert_eq!(facts.missing, ["REPORT.pdf"]);
        assert_eq!(facts.commits.len(), 1, "{facts:?}");
        assert!(facts.diff_command.is_some());
    }
    let overview = coordinator.status().unwrap();
    assert_eq!(overview.repos[1].facts.as_ref(), plan.facts[1].1.as_ref().ok());
    // The digest covers what was observed.
    workspace.write("web/REPORT.pdf", "late");
    assert_ne!(coordinator.plan_gate(None).unwrap().evidence, plan.evidence);
    let back = SendBackGate { reason: "no dates".into(), repos: vec!["web".into()] };
    coordinator.send_back(&back, &consent()).unwrap();
    std::fs::remove_file(workspace.root().join("web/REPORT.pdf")).unwrap();
    let (_, turn) = handed_out(coordinator.step(None));
    workspace.carry_out("web", &turn, |_| {});
    coordinator.step(None).unwrap();
    let facts = coordinator.plan_gate(None).unwrap().facts;
    assert!(facts[0].1.as_ref().unwrap().send_backs.is_empty());
    assert_eq!(facts[1].1.as_ref().unwrap().send_backs[0].reason, "no dates");
}

#[test]
fn accepted_work_that_changed_since_is_named() {
    let repo = Repo::with_git();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    let asks = |it: &mut Value| it["phase_transition_request"] = json!("implementation");
    stage(&repo, &turn, &result(&turn, &PLANNING, asks));
    accept(&runs, turn.turn.id()).unwrap();
    assert!(runs.status().unwrap().changed.is_empty());
    repo.write(PLANNING[0], "Approved: YES, and more\n");
    let id = turn.turn.id().to_string();
    let named = vec![(PLANNING[0].to_owned(), id)];
    assert_eq!(runs.status().unwrap().changed, named);
    let found = runs.doctor();
    assert!(found.iter().any(|finding| finding.subject == PLANNING[0]), "{found:?}");
    let made = runs.checkpoint(None).unwrap();
    assert_eq!(made.changed, [PLANNING[0]]);
    assert_eq!(made.files, PLANNING[1..]);
    // The rest is committed; what changed is named again, and not passed over.
    let failure = refused(runs.checkpoint(None), Code::XchainNothingToCheckpoint);
    assert!(failure.message.contains(PLANNING[0]), "{failure}");
}

#[test]
fn what_a_client_says_that_it_cost_counts_against_the_budget() {
    let paid = r#"{"type":"result","result":"Done.","total_cost_usd":2.5,
        "usage":{"input_tokens":10,"output_tokens":5}}"#
        .replace('\n', "");
    let repo = planned_by(&format!("{PLANS}\necho '{paid}'"), json!({}));
    repo.configure(|config| config["budget"] = json!({"per_run_max_usd": 2.0}));
    let runs = repo.started();
    accepted(runs.step(&Step::default()).unwrap());
    assert_eq!(repo.json(".agentxchain/state.json")["budget_status"]["spent_usd"], 2.5);
    let line = &repo.lines(".agentxchain/history.jsonl")[0];
    assert_eq!(line["observed_cost"]["usd"], 2.5);
    let cost = runs.facts(&Subject::Transition).unwrap().cost;
    let clients = "by the output of the clients";
    assert_eq!(cost, format!("2.50 USD {clients}, 15 tokens {clients}"));
    // A claim is marked as one.
    let claims = PLANS.replace("\"artifact\":", "\"cost\": {\"usd\": 0.5}, \"artifact\":");
    let repo = planned_by(&claims, json!({}));
    let runs = repo.started();
    accepted(runs.step(&Step::default()).unwrap());
    assert_eq!(runs.facts(&Subject::Transition).unwrap().cost, "0.50 USD as the agents say");
}

#[test]
fn attempts_that_are_not_accepted_count_against_the_budget() {
    let paid = r#"{"type":"result","result":"Done.","total_cost_usd":1.5}"#;
    let repo = planned_by(&format!("echo '{paid}'; exit 1"), json!({}));
    repo.configure(|config| config["budget"] = json!({"per_run_max_usd": 2.0}));
    let runs = repo.started();
    for _ in 0..2 {
        refused(runs.step(&Step::default()), Code::XchainWorkerWithoutResult);
    }
    assert_eq!(runs.facts(&Subject::Block).unwrap().cost, "3.00 USD by the output of the clients");
    // No third attempt is started, and no turn takes the place of this one.
    let failure = refused(runs.step(&Step::default()), Code::XchainBudgetExhausted);
    assert!(failure.suggestion.unwrap().contains("per_run_max_usd"));
    let again = Reissue { reason: "again".into(), ..Reissue::default() };
    refused(runs.reissue(&again), Code::XchainBudgetExhausted);
    repo.configure(|config| config["budget"] = json!({"per_run_max_usd": 4.0}));
    repo.commit_all("more money");
    runs.reissue(&again).unwrap();
    assert_eq!(repo.json(".agentxchain/state.json")["budget_status"]["spent_usd"], 3.0);
    let line = &repo.lines(".agentxchain/history.jsonl")[0];
    assert_eq!(line["observed_cost"]["usd"], 3.0);
    refused(runs.step(&Step::default()), Code::XchainWorkerWithoutResult);
    let facts = runs.facts(&Subject::Block).unwrap();
    assert_eq!(facts.cost, "4.50 USD by the output of the clients");
    assert!(facts.turns.is_empty(), "nothing was accepted");
}

#[test]
fn a_limit_per_turn_is_about_what_its_client_says() {
    let paid = r#"{"type":"result","result":"Done.","total_cost_usd":1.5}"#;
    let repo = planned_by(&format!("{PLANS}\necho '{paid}'"), json!({}));
    repo.configure(|config| {
        config["policies"] = json!([{"id": "cheap", "rule": "max_cost_per_turn",
            "params": {"limit_usd": 1.0}, "action": "warn"}]);
    });
    let runs = repo.started();
    accepted(runs.step(&Step::default()).unwrap());
    let warnings = runs.facts(&Subject::Transition).unwrap().warnings;
    assert!(warnings.iter().any(|it| it.contains("1.50 dollars of at most 1.00")), "{warnings:?}");
}

#[test]
fn a_client_that_is_not_logged_in_is_shown_so() {
    let says = r#"{"type":"result","is_error":true,"result":"Invalid API key. Run /login"}"#;
    let repo = planned_by(&format!("echo '{says}'; exit 1"), json!({}));
    let runs = repo.started();
    let failure = refused(runs.step(&Step::default()), Code::XchainWorkerWithoutResult);
    assert!(failure.message.ends_with("it is not logged in"), "{failure}");
    let state = repo.json(".agentxchain/state.json");
    let turn = state["active_turns"].as_object().unwrap().values().next().unwrap();
    let last = &turn["last_worker_failure"]["last_message"];
    assert_eq!(*last, "Invalid API key. Run /login");
}

#[test]
fn the_status_shows_what_a_running_client_says() {
    let asks = "echo 'Shall I go on?'\n\
                for round in $(seq 3000); do test -e .git/go && break; sleep 0.02; done";
    let repo = planned_by(asks, json!({}));
    let seen = std::sync::Arc::new(std::sync::Mutex::new(None));
    let (root, noted, state) = (repo.root(), seen.clone(), repo.state_folder());
    let go = repo.root().join(".git/go");
    let environment = repo.environment().with_listener(move |notice| {
        if matches!(notice, Notice::Output { .. }) && noted.lock().unwrap().is_none() {
            let environment = Environment::system().with_state_folder(&state);
            let says = Runs::open(&root, environment).unwrap().status().unwrap().says;
            *noted.lock().unwrap() = says.first().map(|(_, output)| output.trouble());
            std::fs::write(&go, "").unwrap();
        }
    });
    repo.started();
    let runs = Runs::open(&repo.root(), environment).unwrap();
    refused(runs.step(&Step::default()), Code::XchainWorkerWithoutResult);
    assert_eq!(*seen.lock().unwrap(), Some(Some(Trouble::AsksQuestion)));
}

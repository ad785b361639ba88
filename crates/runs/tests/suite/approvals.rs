//! Decisions of a person about a real repository: the evidence moves with it, and the records name
//! the person.

use accord_base::Door;
use accord_contract::{Code, Wire as _};
use accord_runs::answers::status_answer;
use accord_runs::operations::{LoopOptions, PendingApproval};
use accord_runs_core::evidence::{EvidenceDigest, ExpectedDigest, Subject};
use accord_runs_core::person::{Consent, Person};
use accord_runs_core::run::SendBack;
use accord_runs_core::testing::consent;
use serde_json::json;

use crate::gates::waiting;
use crate::initiative::{HOME, Workspace, handed_out};
use crate::support::{Repo, refused};
use crate::workers::{PLANS, planned_by};

fn expecting(digest: &EvidenceDigest) -> Consent {
    Consent { expect: Some(ExpectedDigest::exactly(digest)), ..consent() }
}

#[test]
fn evidence_that_has_moved_refuses_the_approval_and_changes_nothing() {
    let repo = Repo::with_git();
    let runs = waiting(&repo);
    let evidence = || runs.status().unwrap().waiting.unwrap().evidence.unwrap();
    let seen = evidence();
    assert_eq!(seen, runs.evidence(&Subject::Transition).unwrap());
    let moves: [&dyn Fn(); 3] = [
        &|| repo.commit_all("someone commits"),
        &|| repo.write(".planning/PM_SIGNOFF.md", "Approved: YES\nand more\n"),
        &|| {
            let mut config = repo.json("agentxchain.json");
            config["project"]["name"] = json!("Another");
            repo.write("agentxchain.json", &format!("{config:#}\n"));
        },
    ];
    let mut last = seen;
    for change in moves {
        change();
        let before = repo.home();
        let failure = refused(
            runs.approve(PendingApproval::Transition, &expecting(&last)),
            Code::XchainEvidenceChanged,
        );
        let now = evidence();
        assert_eq!(failure.details.unwrap()["evidence_digest"], now.as_str());
        assert_ne!(now, last);
        assert_eq!(repo.home(), before);
        last = now;
    }
    runs.approve(PendingApproval::Transition, &expecting(&last)).unwrap();
    let events = repo.lines(".agentxchain/events.jsonl");
    let approved = events.iter().find(|event| event["event_type"] == "gate_approved").unwrap();
    assert_eq!(approved["payload"]["evidence_digest"], last.as_str());
    assert_eq!(approved["payload"]["actor"], "human:reviewer");
    let ledger = repo.lines(".agentxchain/decision-ledger.jsonl");
    assert_eq!(ledger.last().unwrap()["type"], "gate_approval");
    assert!(runs.status().unwrap().waiting.is_none());
}

#[test]
fn of_many_that_saw_the_same_gate_one_decides() {
    let repo = Repo::with_git();
    let runs = waiting(&repo);
    let seen = expecting(&runs.evidence(&Subject::Transition).unwrap());
    let decide = |number: usize| match number % 2 {
        0 => runs.approve(PendingApproval::Transition, &seen),
        _ => runs.send_back(&SendBack { reason: "more".to_owned(), role: None }, &seen),
    };
    let decided: Vec<_> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..20).map(|number| scope.spawn(move || decide(number))).collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    let (won, lost): (Vec<_>, Vec<_>) = decided.into_iter().partition(Result::is_ok);
    assert_eq!(won.len(), 1);
    let line = repo.lines(".agentxchain/decision-ledger.jsonl").pop().unwrap();
    let outcome = if line["type"] == "gate_approval" { "approved" } else { "sent_back" };
    for lost in lost {
        let details = refused(lost, Code::DecisionStale).details.unwrap();
        assert_eq!(details["actor"], "human:reviewer");
        assert_eq!(details["outcome"], outcome);
        assert_eq!(details["at"], line["timestamp"]);
    }
    // Without what the person saw, the code of the protocol stays.
    refused(
        runs.approve(PendingApproval::Transition, &consent()),
        Code::XchainInvalidStateTransition,
    );
}

#[test]
fn a_decision_has_a_record_that_a_forged_ledger_does_not_change() {
    let repo = Repo::with_git();
    let runs = waiting(&repo);
    let asked = repo.json(".agentxchain/state.json")["pending_phase_transition"].clone();
    refused(
        runs.approve(PendingApproval::Completion, &consent()),
        Code::XchainInvalidStateTransition,
    );
    assert_eq!(runs.person_decisions().unwrap(), []);
    let mut note = consent();
    note.person.note = Some("Read it".to_owned());
    runs.approve(PendingApproval::Transition, &note).unwrap();
    let decisions = runs.person_decisions().unwrap();
    let [record] = &decisions[..] else { panic!("{decisions:?}") };
    let run = repo.json(".agentxchain/state.json")["run_id"].clone();
    assert_eq!((&*record.kind, &*record.outcome), ("run.gate", "approved"));
    assert_eq!(record.subject, format!("{}/planning_signoff", run.as_str().unwrap()));
    assert_eq!((&*record.actor, record.note.as_deref()), ("human:reviewer", Some("Read it")));
    assert_eq!(record.asked_at.as_ref().unwrap().encode(), asked["requested_at"]);
    let line = repo.lines(".agentxchain/decision-ledger.jsonl").pop().unwrap();
    let events = repo.lines(".agentxchain/events.jsonl");
    let event = events.iter().find(|event| event["event_type"] == "gate_approved").unwrap();
    for said in [&line, &event["payload"]] {
        assert_eq!(said["decision_id"], record.decision_id.as_str());
        assert_eq!(said["known_by"], record.known_by.as_str());
        assert_eq!(said["asked_at"], asked["requested_at"]);
        assert_eq!(said["evidence_digest"], record.evidence.as_deref().unwrap());
    }
    // A line that a worker writes into the ledger is no decision, with a new id or with this one.
    let path = ".agentxchain/decision-ledger.jsonl";
    let mut forged = line.clone();
    forged["actor"] = json!("human:boss");
    let mut other = forged.clone();
    other["decision_id"] = json!("dec_forged");
    repo.write(path, &format!("{}{forged}\n{other}\n", repo.read(path)));
    assert_eq!(runs.person_decisions().unwrap(), decisions);
}

#[test]
fn a_waiting_gate_says_since_when() {
    let repo = Repo::with_git();
    let runs = waiting(&repo);
    let requested = || repo.json(".agentxchain/state.json")["pending_phase_transition"].clone();
    let document = || status_answer(&runs.status().unwrap(), Vec::new()).encode();
    assert_eq!(document()["waiting_since"], requested()["requested_at"]);
    let digest = document()["evidence_digest"].as_str().unwrap().to_owned();
    assert_eq!(digest.len(), 64);
    // A runner that does not write it to the state has the event.
    let mut state = repo.json(".agentxchain/state.json");
    state["pending_phase_transition"].as_object_mut().unwrap().remove("requested_at");
    repo.write(".agentxchain/state.json", &format!("{state:#}\n"));
    let events = repo.lines(".agentxchain/events.jsonl");
    let pending = events.iter().find(|event| event["event_type"] == "gate_pending").unwrap();
    assert_eq!(document()["waiting_since"], pending["timestamp"]);
}

#[test]
fn a_resolution_is_about_the_block_and_names_the_person() {
    let repo = Repo::with_git();
    let runs = repo.started();
    runs.escalate("wait").unwrap();
    let waiting = runs.status().unwrap().waiting.unwrap();
    assert!(waiting.since.is_some());
    let seen = waiting.evidence.unwrap();
    repo.commit_all("a person works");
    refused(runs.resolve(&expecting(&seen)), Code::XchainEvidenceChanged);
    runs.resolve(&expecting(&runs.evidence(&Subject::Block).unwrap())).unwrap();
    let ledger = repo.lines(".agentxchain/decision-ledger.jsonl");
    let line = ledger.last().unwrap();
    assert_eq!(
        (&line["decision"], &line["actor"]),
        (&json!("escalation_resolved"), &json!("human:reviewer"))
    );
    let late = refused(runs.resolve(&expecting(&seen)), Code::DecisionStale);
    assert!(late.message.starts_with("human:reviewer decided before you: resolved"), "{late:?}");
}

#[test]
fn a_loop_approves_in_the_name_of_the_one_who_started_it() {
    let repo = planned_by(PLANS, json!({}));
    let runs = repo.started();
    let person = Person { note: Some("overnight".into()), ..Person::new("human:lead", Door::Loop) };
    let options =
        LoopOptions { auto_approve: Some(person), max_turns: Some(1), ..LoopOptions::default() };
    runs.run_loop(&options).unwrap();
    let events = repo.lines(".agentxchain/events.jsonl");
    let approved = events.iter().find(|event| event["event_type"] == "gate_approved").unwrap();
    let payload = &approved["payload"];
    assert_eq!(
        (&payload["actor"], &payload["door"], &payload["note"]),
        (&json!("human:lead"), &json!("loop"), &json!("overnight"))
    );
}

#[test]
fn the_gate_of_an_initiative_is_about_every_repository() {
    let workspace = Workspace::new();
    let coordinator = workspace.begun();
    for repo in ["api", "web"] {
        let (named, turn) = handed_out(coordinator.step(None));
        assert_eq!(named, repo);
        workspace.carry_out(repo, &turn, |result| {
            result["phase_transition_request"] = json!("qa");
        });
    }
    coordinator.step(None).unwrap();
    let overview = coordinator.status().unwrap();
    let waiting = overview.waiting.unwrap();
    assert_eq!(waiting.since, overview.state.unwrap().waiting_since());
    assert!(waiting.since.is_some());
    let seen = waiting.evidence.unwrap();
    assert_eq!(coordinator.plan_gate(None).unwrap().evidence, seen);
    workspace.git("web", &["commit", "--quiet", "--allow-empty", "-m", "more"]);
    let before = workspace.kept();
    let failure = refused(coordinator.approve_gate(&expecting(&seen)), Code::XchainEvidenceChanged);
    assert!(failure.suggestion.unwrap().contains("accord run coordinator status"));
    assert_eq!(workspace.kept(), before);
    let now = coordinator.plan_gate(None).unwrap().evidence;
    let passed = coordinator.approve_gate(&expecting(&now)).unwrap();
    assert_eq!(passed.approval.evidence, now);
    assert!(coordinator.status().unwrap().waiting.is_none());
    let line = workspace.said("phase_transition_approved").pop().unwrap();
    assert_eq!(
        (&line["actor"], &line["evidence_digest"]),
        (&json!("human:reviewer"), &json!(now.as_str()))
    );
    let ledger = workspace.lines(&format!("{HOME}/decision-ledger.jsonl"));
    assert!(ledger.iter().any(|line| line["actor"] == "human:reviewer"));
}

//! The record of decisions outlasts events, and nobody else writes to it.

use std::fs;
use std::path::PathBuf;

use accord_base::KnownBy;
use accord_base::decision::DecisionRecord;
use accord_canon::sha256;
use accord_contract::Wire as _;
use accord_tasks::decisions::{DecisionList, decisions_after};
use accord_tasks_core::Status;
use accord_tasks_core::operations::{
    AdoptRequest, ApproveRequest, CancelRequest, CloseRequest, ResurrectRequest, SendBackRequest,
};
use serde_json::{Value, json};

use crate::support::{Case, agent, human};

fn all(case: &Case) -> DecisionList {
    decisions_after(&case.tree, None).unwrap()
}

fn record_file(case: &Case) -> PathBuf {
    case.folder.path().join("state/accord/decisions.jsonl")
}

fn approve(case: &Case) -> String {
    let id = case.reviewed().to_string();
    case.tree.approve(&id, &ApproveRequest::default(), &human()).unwrap();
    id
}

#[test]
fn every_decision_of_a_person_has_a_record_that_outlasts_the_events() {
    let case = Case::new();
    let by = human().present(KnownBy::Terminal.into());
    let review = case.reviewed().to_string();
    let asked = case.events().last().unwrap()["timestamp"].clone();
    case.clock.add(60);
    let back = SendBackRequest { reason: "No tests".into(), expect: None, despite_leftovers: None };
    case.tree.send_back(&review, &back, &by).unwrap();
    let place = all(&case).position;
    approve(&case);
    let closed = case.ready().to_string();
    case.tree.close(&closed, &CloseRequest::default(), &by).unwrap();
    let dead = case.in_status(Status::Deadletter).to_string();
    case.tree.resurrect(&dead, &ResurrectRequest::default(), &by).unwrap();
    case.tree.cancel(&dead, &CancelRequest::default(), &by).unwrap();
    let refused = case.tree.cancel(&closed, &CancelRequest::default(), &by);
    refused.unwrap_err();
    let refused = case.tree.approve(&case.reviewed().to_string(), &Default::default(), &agent("a"));
    refused.unwrap_err();

    let list = all(&case);
    let said = |record: &DecisionRecord| format!("{} {}", record.kind, record.outcome);
    let kinds: Vec<String> = list.records.iter().map(said).collect();
    let expected = [
        "task.review sent_back",
        "task.review approved",
        "task.close approved",
        "task.resurrect resurrected",
        "task.cancel cancelled",
    ];
    assert_eq!(kinds, expected);
    assert!(!list.is_broken);
    let first = &list.records[0];
    assert_eq!((first.subject.as_str(), first.actor.as_str()), (&*review, "human:reviewer"));
    assert_eq!((first.known_by, first.door.as_str()), (KnownBy::Terminal, "cli"));
    assert_eq!(first.note.as_deref(), Some("No tests"));
    assert_eq!(first.evidence.as_ref().map(String::len), Some(64));
    let asked_at = first.asked_at.as_ref().unwrap();
    assert_eq!(asked_at.time().unix_millis() + 60_000, first.decided_at.time().unix_millis());
    assert_eq!(asked_at.encode(), asked);
    // The event says the same.
    let events = case.events();
    let of_first =
        |event: &&Value| event["payload"]["decision"]["decision_id"] == first.decision_id.as_str();
    assert_eq!(events.iter().find(of_first).unwrap()["payload"]["decision"], first.encode());

    let later = decisions_after(&case.tree, place.as_deref()).unwrap();
    assert_eq!(later.records, list.records[1..]);
    assert!(decisions_after(&case.tree, later.position.as_deref()).unwrap().records.is_empty());
    fs::remove_dir_all(case.folder.path().join("events")).unwrap();
    assert_eq!(decisions_after(&case.reopened(), None).unwrap(), list);
}

#[test]
fn an_adoption_is_a_decision() {
    let case = Case::new();
    let manifest = case.folder.path().join("project.yaml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("review: human", "review: guide")).unwrap();
    let trial = AdoptRequest { dry_run: Some(true), ..AdoptRequest::default() };
    let seen = case.tree.adopt_settings(&trial, &human()).unwrap().evidence;
    assert_eq!(all(&case), DecisionList::default());
    let request = AdoptRequest { expect: seen.clone(), ..AdoptRequest::default() };
    case.tree.adopt_settings(&request, &human()).unwrap();
    let record = all(&case).records.remove(0);
    assert_eq!((&*record.kind, &*record.subject), ("task.adopt", "project.yaml"));
    assert_eq!(record.evidence, seen);
    let late = case.tree.adopt_settings(&request, &human()).unwrap_err();
    assert_eq!(late.code.as_str(), "decision_stale");
}

#[test]
fn a_forged_decision_does_not_count() {
    let case = Case::new();
    let first = approve(&case);
    // A worker that knows the form forges a line, and then a whole chain.
    let file = record_file(&case);
    let text = fs::read_to_string(&file).unwrap();
    let mut forged: Value = serde_json::from_str(text.trim_end()).unwrap();
    forged["decision"]["decision_id"] = json!("dec_forged");
    forged["previous"] = json!(sha256(text.trim_end().as_bytes()).hex());
    fs::write(&file, format!("{text}{forged}\n")).unwrap();
    let second = approve(&case);
    let subjects = || {
        let list = all(&case);
        assert!(!list.is_broken);
        list.records.into_iter().map(|record| record.subject).collect::<Vec<_>>()
    };
    assert_eq!(subjects(), [first.clone(), second.clone()]);
    case.is_clean();
    // A line that was changed is noticed, and later ones still count.
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("human:reviewer", "human:another", 1)).unwrap();
    let list = all(&case);
    assert!(list.is_broken);
    let left: Vec<_> = list.records.into_iter().map(|record| record.subject).collect();
    assert_eq!(left, [second]);
    let findings = case.tree.lint(&Default::default(), &human()).unwrap().findings;
    assert!(findings.iter().any(|it| it.code == "decisions_changed"), "{findings:?}");
}

//! Records of decisions: who writes them, and what they outlast.

use accord_api::operations::decisions::{DecisionParams, TakeOverRequest};
use accord_base::decision::{Decided, DecisionId, DecisionProtocol, DecisionRecord};
use accord_base::worker::{Ancestor, Ancestry, Attempt};
use accord_base::{ActorKey, By, Caller, CallerProcess, Door, KeyScope, KnownBy, Verb};
use accord_contract::{Code, Time};
use accord_memory::Memory;
use accord_memory_core::PackageId;
use accord_memory_core::fact::AssertOptions;
use accord_memory_core::lifecycle::{Change, Move, Reviewer};
use accord_memory_core::operations::InvalidateParams;
use accord_memory_core::package::Status;
use accord_store::StoreExt as _;
use serde_json::json;

use crate::support::{deposit, engines, memory_over, project_id};

/// A key of an actor that may do everything.
fn key(actor: &str) -> Caller {
    let verbs = vec![Verb::Read, Verb::Write, Verb::Review, Verb::Admin];
    let scope = KeyScope::new(verbs, None);
    Caller::key(format!("k-{actor}"), &scope.bound_to(ActorKey::parse(actor).unwrap(), false))
}

async fn change(memory: &Memory, caller: &Caller, change: Change, note: &str) {
    let (id, note) = (PackageId::new("pkg_1").unwrap(), Some(note.to_owned()));
    let asked = Move { note, ..Move::new(change) };
    memory.transition(caller, Door::Http, None, id, asked).await.unwrap();
}

async fn listed(memory: &Memory, asked: DecisionParams) -> Vec<DecisionRecord> {
    let page = memory.decisions(&Caller::owner(), &project_id("atlas"), asked).await.unwrap();
    assert!(page.damaged.is_empty());
    page.decisions
}

fn of_run(number: u32) -> DecisionRecord {
    let by = By::parse("human:lead", Door::Cli).unwrap().present(KnownBy::Terminal.into());
    let (protocol, subject) = (DecisionProtocol::Runs, format!("run_1/gate_{number}"));
    let decided = Decided { protocol, kind: "run.gate", subject: &subject, outcome: "approved" };
    let now = Time::from_unix(1_700_000_000 + i64::from(number), 0).unwrap();
    DecisionRecord::new(DecisionId::of(&[&subject]), decided, &by, now)
}

fn worker() -> Caller {
    let marks = vec![("ACCORD_TASK_ID".to_owned(), "TASK-2026-02-09-001".to_owned())];
    let process = Ancestor { pid: 7, marks, is_supervisor: false };
    let seen = Ancestry { processes: vec![process], has_terminal: false, os_user: None };
    Caller::owner().examined_by(move || CallerProcess::Seen(vec![seen.clone()]))
}

#[tokio::test]
async fn a_worker_does_not_end_a_review_that_a_person_was_asked_for() {
    for (engine, _folder) in engines() {
        let memory = memory_over(&engine);
        deposit(&memory, "pkg_1", json!({"status": "draft"})).await;
        let (lead, worker) = (key("human:lead"), worker());
        change(&memory, &worker, Change::Flag(Reviewer::Human), "ready?").await;
        let refused = async |asked: Change| {
            let asked = Move::new(asked);
            let id = PackageId::new("pkg_1").unwrap();
            let refused = memory.transition(&worker, Door::Http, None, id, asked).await;
            assert_eq!(refused.unwrap_err().code, Code::NotForWorkers);
        };
        refused(Change::Review(Status::Complete)).await;
        refused(Change::Flag(Reviewer::Agent)).await;
        change(&memory, &lead, Change::Review(Status::RevisionRequested), "why?").await;
        refused(Change::Complete).await;
        change(&memory, &worker, Change::Resubmit, "so").await;
        change(&memory, &lead, Change::Review(Status::Complete), "good").await;
        // An agent may review what an agent was asked for.
        deposit(&memory, "pkg_2", json!({"status": "draft"})).await;
        let id = || PackageId::new("pkg_2").unwrap();
        for asked in [Change::Flag(Reviewer::Agent), Change::Review(Status::Complete)] {
            memory.transition(&worker, Door::Http, None, id(), Move::new(asked)).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_worker_does_not_end_a_fact_of_a_person() {
    for (engine, _folder) in engines() {
        let (memory, atlas) = (memory_over(&engine), project_id("atlas"));
        let assert_fact = async |caller: &Caller, value: &str| {
            let sent = json!({"subject": "deploy", "predicate": "needs", "value": value});
            let sent = sent.to_string();
            memory.assert_fact(caller, &atlas, sent.as_bytes(), AssertOptions::default()).await
        };
        let end = async |caller: &Caller| {
            let subject = "deploy".to_owned();
            let asked = InvalidateParams {
                subject,
                predicate: "needs".to_owned(),
                object: None,
                value: None,
                actor: None,
                session_id: None,
            };
            memory.invalidate_fact(caller, &atlas, asked).await
        };
        let (lead, worker) = (key("human:lead"), worker());
        assert_fact(&worker, "nothing").await.unwrap();
        assert_fact(&lead, "two approvals").await.unwrap();
        let refused = assert_fact(&worker, "no approval").await.unwrap_err();
        assert_eq!(refused.code, Code::NotForWorkers);
        assert_eq!(end(&worker).await.unwrap_err().code, Code::NotForWorkers);
        assert_eq!(end(&lead).await, Ok(1));
        assert_fact(&worker, "nothing").await.unwrap();
        assert_eq!(end(&worker).await, Ok(1));
    }
}

#[tokio::test]
async fn the_review_of_a_person_is_recorded_and_outlasts_its_events() {
    for (engine, _folder) in engines() {
        let memory = memory_over(&engine);
        deposit(&memory, "pkg_1", json!({"status": "draft"})).await;
        let (lead, agent) = (key("human:lead"), key("agent:ada"));
        change(&memory, &agent, Change::Flag(Reviewer::Human), "ready?").await;
        change(&memory, &lead, Change::Review(Status::RevisionRequested), "name the cost").await;
        change(&memory, &agent, Change::Resubmit, "named").await;
        // The protocol lets agents review. That is no decision of a person.
        change(&memory, &agent, Change::Review(Status::RevisionRequested), "typo").await;
        change(&memory, &agent, Change::Resubmit, "done").await;
        change(&memory, &lead, Change::Review(Status::Complete), "good").await;
        let found = listed(&memory, DecisionParams::default()).await;
        let outcomes: Vec<&str> = found.iter().map(|it| it.outcome.as_str()).collect();
        assert_eq!(outcomes, ["approved", "revision_requested"]);
        for (record, note) in found.iter().zip(["good", "name the cost"]) {
            assert_eq!(
                (record.kind.as_str(), record.subject.as_str()),
                ("package.review", "pkg_1")
            );
            assert_eq!((record.actor.as_str(), record.known_by), ("human:lead", KnownBy::Key));
            assert_eq!(record.key_id.as_deref(), Some("k-human:lead"));
            assert_eq!((record.note.as_deref(), record.door), (Some(note), Door::Http));
            assert!(record.asked_at.is_some() && record.evidence.is_some());
        }
        let atlas = project_id("atlas");
        let events = engine.read(|unit| unit.events(&atlas, 0, usize::MAX)).unwrap();
        let recorded = events.iter().filter(|row| row.entry.kind == "decision.recorded").count();
        assert_eq!(recorded, 2);
        let trimmed = atlas.clone();
        let trim = engine.write(move |unit| unit.trim_events(&trimmed, u64::MAX >> 1));
        assert_eq!(trim.unwrap(), events.len() as u64);
        assert_eq!(listed(&memory, DecisionParams::default()).await, found);
        // A project with decisions is not empty.
        let contents = engine.read(|unit| unit.contents(&atlas)).unwrap();
        assert_eq!(contents.decisions, Some(2));
    }
}

#[tokio::test]
async fn a_list_has_pages_and_filters() {
    for (engine, _folder) in engines() {
        let memory = memory_over(&engine);
        deposit(&memory, "pkg_1", json!({})).await;
        let atlas = project_id("atlas");
        let decisions = (1..=5).map(of_run).collect();
        let request = TakeOverRequest { source: "a repository".to_owned(), decisions };
        memory.take_over_decisions(&Caller::owner(), &atlas, request).await.unwrap();
        let mut asked = DecisionParams { limit: Some(2), ..DecisionParams::default() };
        let mut subjects = Vec::new();
        loop {
            let page = memory.decisions(&Caller::owner(), &atlas, asked.clone()).await.unwrap();
            assert!(page.decisions.len() <= 2);
            subjects.extend(page.decisions.into_iter().map(|it| it.subject));
            asked.cursor = page.next_cursor;
            if asked.cursor.is_none() {
                break;
            }
        }
        let newest_first: Vec<String> =
            (1..=5).rev().map(|it| format!("run_1/gate_{it}")).collect();
        assert_eq!(subjects, newest_first);
        for (subject, expected) in [("run_1", 5), ("run_1/gate_2", 1), ("run", 0), ("run_10", 0)] {
            let subject = Some(subject.to_owned());
            let found = listed(&memory, DecisionParams { subject, ..Default::default() }).await;
            assert_eq!(found.len(), expected);
        }
        let of_tasks =
            DecisionParams { protocol: Some(DecisionProtocol::Tasks), ..Default::default() };
        assert!(listed(&memory, of_tasks).await.is_empty());
        let by_other = DecisionParams { actor: Some("human:bob".to_owned()), ..Default::default() };
        assert!(listed(&memory, by_other).await.is_empty());
    }
}

#[tokio::test]
async fn a_decision_is_taken_over_once_by_the_owner_alone() {
    for (engine, _folder) in engines() {
        let memory = memory_over(&engine);
        deposit(&memory, "pkg_1", json!({})).await;
        let atlas = project_id("atlas");
        let request = |decisions: Vec<DecisionRecord>| TakeOverRequest {
            source: "a repository".to_owned(),
            decisions,
        };
        let take = |caller: Caller, decisions| {
            let (memory, atlas) = (memory.clone(), atlas.clone());
            async move { memory.take_over_decisions(&caller, &atlas, request(decisions)).await }
        };
        let attempt = Attempt {
            project: atlas.clone(),
            agent: "builder".parse().unwrap(),
            work: "TASK-1".to_owned(),
            id: None,
        };
        let worker = Caller::owner().for_worker(&attempt).unwrap();
        let refused = take(worker, vec![of_run(1)]).await.unwrap_err();
        assert_eq!(refused.code, Code::NotForWorkers);
        for caller in [key("agent:builder"), key("human:lead"), Caller::local()] {
            let refused = take(caller, vec![of_run(1)]).await.unwrap_err();
            assert_eq!(refused.code, Code::AccessDenied);
        }
        let by_agent = DecisionRecord { actor: "agent:builder".to_owned(), ..of_run(1) };
        let of_task = DecisionRecord { protocol: DecisionProtocol::Tasks, ..of_run(1) };
        for (wrong, member) in [(by_agent, "actor"), (of_task, "protocol")] {
            let refused = take(Caller::owner(), vec![of_run(2), wrong]).await.unwrap_err();
            assert_eq!(refused.code, Code::WireFieldValue);
            assert_eq!(refused.pointer.as_deref(), Some(&*format!("/decisions/1/{member}")));
        }
        assert!(listed(&memory, DecisionParams::default()).await.is_empty());
        let done = take(Caller::owner(), vec![of_run(1), of_run(2)]).await.unwrap();
        assert_eq!((done.taken.len(), done.known), (2, 0));
        let done = take(Caller::owner(), vec![of_run(2), of_run(3)]).await.unwrap();
        assert_eq!((done.taken.len(), done.known), (1, 1));
        let found = listed(&memory, DecisionParams::default()).await;
        assert_eq!(found.len(), 3);
        for record in found {
            assert_eq!(record.known_by, KnownBy::Terminal);
            assert_eq!(record.taken_over_from.as_deref(), Some("a repository"));
        }
    }
}

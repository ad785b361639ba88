//! What people and agents do to tasks by verbs.

use std::collections::BTreeSet;
use std::fs;

use accord_base::{By, Door};
use accord_contract::{Code, Failure, Field};
use accord_tasks::Tree;
use accord_tasks_core::operations::{
    BlockRequest, CreateRequest, DependencyRequest, EditRequest, PromoteRequest, ReleaseRequest,
    ReviewBy, TaskAnswer,
};
use accord_tasks_core::task::Priority;
use accord_tasks_core::{Status, TaskId};
use serde_json::json;

use crate::support::{AGENT, Case, agent, human, id, kinds, ready, routed, way};

fn because(reason: &str) -> BlockRequest {
    BlockRequest { reason: reason.to_owned() }
}

fn on(blocker: TaskId) -> DependencyRequest {
    DependencyRequest { blocker: blocker.to_string() }
}

fn send_back(tree: &Tree, id: &str, by: &By) -> Result<TaskAnswer, Failure> {
    let request = accord_tasks_core::operations::SendBackRequest {
        reason: "not yet".to_owned(),
        ..accord_tasks_core::operations::SendBackRequest::default()
    };
    tree.send_back(id, &request, by)
}

/// A verb, what it is called, and the status after it for each status before; `None` if refused.
type Verb =
    (&'static str, fn(&Tree, &str, &By) -> Result<TaskAnswer, Failure>, [Option<Status>; 8]);

fn verbs() -> Vec<Verb> {
    use Status::{Blocked, Cancelled, Done, Ready};
    // In the order of `Status::ALL`: backlog, ready, in-progress, blocked, review, done,
    // cancelled, deadletter.
    vec![
        (
            "block",
            |tree, id, by| tree.block(id, &because("no key"), by),
            [Some(Blocked), Some(Blocked), Some(Blocked), None, Some(Blocked), None, None, None],
        ),
        (
            "unblock",
            |tree, id, by| tree.unblock(id, &Default::default(), by),
            [None, None, None, Some(Ready), None, None, None, None],
        ),
        (
            "cancel",
            |tree, id, by| tree.cancel(id, &Default::default(), by),
            [
                Some(Cancelled),
                Some(Cancelled),
                Some(Cancelled),
                Some(Cancelled),
                Some(Cancelled),
                None,
                None,
                Some(Cancelled),
            ],
        ),
        (
            "promote",
            |tree, id, by| tree.promote(id, &Default::default(), by),
            [Some(Ready), None, None, None, None, None, None, None],
        ),
        (
            "resurrect",
            |tree, id, by| tree.resurrect(id, &Default::default(), by),
            [None, None, None, None, None, None, None, Some(Ready)],
        ),
        (
            "close",
            |tree, id, by| tree.close(id, &Default::default(), by),
            [Some(Done), Some(Done), Some(Done), Some(Done), Some(Done), None, None, Some(Done)],
        ),
        (
            "approve",
            |tree, id, by| tree.approve(id, &Default::default(), by),
            [None, None, None, None, Some(Done), None, None, None],
        ),
        ("send-back", send_back, [None, None, None, None, Some(Ready), None, None, None]),
        (
            "release",
            |tree, id, by| tree.release(id, &Default::default(), by),
            [None, None, Some(Ready), None, None, None, None, None],
        ),
    ]
}

#[test]
fn every_verb_moves_only_what_the_table_allows() {
    for (name, verb, expected) in verbs() {
        let case = Case::new();
        for (before, after) in Status::ALL.iter().zip(expected) {
            let id = case.in_status(*before);
            let (file, events) = (case.file(*before, id), case.events());
            match (verb(&case.tree, &id.to_string(), &human()), after) {
                (Ok(answer), Some(after)) => {
                    assert_eq!(answer.task.status, after, "{name} of {before}");
                    // One event for each move, each of them allowed, from the first to the last.
                    let steps = way(&answer.moves);
                    assert_eq!(steps.first().unwrap().0, *before);
                    assert_eq!(steps.last().unwrap().1, after);
                    let is_cancel = after == Status::Cancelled;
                    assert!(steps.iter().all(|(from, to)| is_cancel || from.can_become(*to)));
                    let new = &case.events()[events.len()..];
                    let moved =
                        kinds(new).iter().filter(|kind| **kind == "task.transitioned").count();
                    assert_eq!(moved, steps.len(), "{name} of {before}");
                    assert!(answer.task.lease.is_none(), "{name} of {before} keeps a lease");
                }
                (Err(_), None) => {
                    assert_eq!(case.file(*before, id), file, "{name} of {before}");
                    assert_eq!(case.events(), events, "{name} of {before}");
                }
                (answer, after) => panic!("{name} of {before}: {answer:?}, not {after:?}"),
            }
        }
        case.is_clean();
    }
}

#[test]
fn verbs_of_people_are_refused_to_agents_and_scripts() {
    for (name, verb, _) in verbs() {
        if !["cancel", "resurrect", "close", "approve", "send-back"].contains(&name) {
            continue;
        }
        for by in [agent(AGENT), By::parse("script:ci", Door::Http).unwrap()] {
            let case = Case::new();
            let id = case.reviewed();
            let refused = verb(&case.tree, &id.to_string(), &by).unwrap_err();
            assert_eq!(refused.code, Code::AofPersonRequired, "{name}");
            case.file(Status::Review, id);
        }
    }
}

#[test]
fn an_agent_changes_only_its_own_tasks() {
    let case = Case::new();
    let id = id(&case.tree.create(&routed("x"), &human()).unwrap()).to_string();
    let other = agent("swe-qa");
    let edit = EditRequest { title: Some("y".into()), ..EditRequest::default() };
    let refusals = [
        case.tree.block(&id, &because("x"), &other).err(),
        case.tree.promote(&id, &PromoteRequest::default(), &other).err(),
        case.tree.edit(&id, &edit, &other).err(),
        case.tree.add_dependency(&id, &on(case.ready()), &other).err(),
    ];
    for refusal in refusals {
        assert_eq!(refusal.unwrap().code, Code::AofUnauthorizedAgent);
    }
    case.tree.edit(&id, &edit, &agent(AGENT)).unwrap();
    // Nor does it claim or beat as another one.
    let claim = accord_tasks_core::operations::ClaimRequest {
        agent: Some(AGENT.into()),
        ..accord_tasks_core::operations::ClaimRequest::default()
    };
    let refused = case.tree.claim(&case.ready().to_string(), &claim, &other).unwrap_err();
    assert_eq!(refused.code, Code::AofUnauthorizedAgent);
}

/// Failure 8 in docs/conformance.md: the reference keeps the lease of a blocked task, and makes the
/// task ready again when that lease expires.
#[test]
fn a_blocked_task_stays_blocked_when_its_lease_would_have_expired() {
    let case = Case::new();
    let id = case.claimed();
    case.tree.block(&id.to_string(), &because("no key"), &agent(AGENT)).unwrap();
    assert!(!case.file(Status::Blocked, id).contains("lease:"));
    assert!(case.text(&format!("runs/{id}/run.json")).contains("\"status\": \"abandoned\""));
    case.clock.add(100_000);
    let polled = case.poll();
    assert!(polled.moves.is_empty() && polled.start.is_empty());
    let reopened = case.reopened().poll(&Default::default(), &human()).unwrap();
    assert!(reopened.moves.is_empty());
    case.file(Status::Blocked, id);
    // The same for a report: the lease ends with the status.
    let id = case.claimed();
    case.tree.message(&case.report(id, "blocked"), &agent(AGENT)).unwrap();
    case.clock.add(100_000);
    assert!(case.poll().moves.is_empty());
    assert!(!case.file(Status::Blocked, id).contains("lease:"));
}

#[test]
fn unblocking_forgets_the_reason() {
    let case = Case::new();
    let id = case.ready();
    let blocked = case.tree.block(&id.to_string(), &because("no\nkey"), &human()).unwrap();
    assert_eq!(blocked.task.block_reason.as_deref(), Some("no\nkey"));
    assert_eq!(blocked.notices[0].status, Status::Blocked);
    let free = case.tree.unblock(&id.to_string(), &Default::default(), &human()).unwrap();
    assert_eq!((free.task.block_reason, free.task.metadata.len()), (None, 0));
}

#[test]
fn what_a_person_blocked_a_person_unblocks() {
    let case = Case::new();
    let id = id(&case.tree.create(&routed("x"), &human()).unwrap());
    let (task, by) = (id.to_string(), agent(AGENT));
    let blocked = case.tree.block(&task, &because("not before Monday"), &human()).unwrap();
    assert_eq!(blocked.task.metadata["blockedBy"], "human:reviewer");
    for by in [&by, &By::parse("script:ci", Door::Http).unwrap()] {
        let refused = case.tree.unblock(&task, &Default::default(), by).unwrap_err();
        assert_eq!(refused.code, Code::AofPersonRequired);
    }
    // Nor by a message. Its text is not lost.
    let payload = json!({"taskId": task, "agentId": AGENT, "status": "ready", "notes": "It works"});
    let said = case.send("status.update", id, payload);
    assert_eq!((said.applied, said.reason.as_deref()), (false, Some("block_is_human")));
    assert!(case.file(Status::Blocked, id).contains("Notes: It works"));
    assert!(case.poll().moves.is_empty());
    case.tree.unblock(&task, &Default::default(), &human()).unwrap();
    // What the agent blocks, it unblocks.
    case.tree.block(&task, &because("no key"), &by).unwrap();
    assert!(!case.file(Status::Blocked, id).contains("blockedBy"));
    let free = case.tree.unblock(&task, &Default::default(), &by).unwrap();
    assert_eq!((free.task.status, free.task.metadata.len()), (Status::Ready, 0));
}

/// Failure 12 in docs/conformance.md: the reference drops members that it does not know.
#[test]
fn an_edit_changes_what_it_names_and_nothing_else() {
    let case = Case::new();
    let id = case.ready();
    let path = case.folder.path().join(format!("tasks/ready/{id}.md"));
    let text = fs::read_to_string(&path).unwrap();
    let text = text.replace("priority: normal", "priority: normal # for now\nx-ours: {a: 1}");
    fs::write(&path, &text).unwrap();
    // A person's file is read again.
    let tree = case.reopened();
    let request = EditRequest {
        priority: Some(Priority::High),
        agent: Field::Value(AGENT.into()),
        instructions: Some("Do it.".into()),
        max_in_progress_ms: Field::Value(60_000),
        ..EditRequest::default()
    };
    let edited = tree.edit(&id.to_string(), &request, &human()).unwrap();
    assert_eq!(edited.changed, ["priority", "routing.agent", "sla.maxInProgressMs", "body"]);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("priority: high # for now\nx-ours: {a: 1}\n"), "{text}");
    assert!(text.ends_with("## Instructions\n\nDo it.\n"), "{text}");
    let events = case.events();
    let event = events.last().unwrap();
    assert_eq!(event["type"], "task.updated");
    assert_eq!(event["payload"]["changes"]["priority"], json!({"from": "normal", "to": "high"}));
    // The same again changes nothing.
    let again = tree.edit(&id.to_string(), &request, &human()).unwrap();
    assert!(again.changed.is_empty());
    assert_eq!((fs::read_to_string(&path).unwrap(), case.events().len()), (text, events.len()));
    // Null takes a member away; another section is added behind the first.
    let request = EditRequest {
        agent: Field::Null,
        guidance: Some("Gently.".into()),
        ..EditRequest::default()
    };
    let edited = tree.edit(&id.to_string(), &request, &human()).unwrap();
    assert_eq!(edited.task.agent, None);
    let body = edited.task.body.unwrap();
    assert_eq!(body, "## Instructions\n\nDo it.\n\n## Guidance\n\nGently.");
    case.is_clean();
}

#[test]
fn only_a_person_changes_how_a_task_is_reviewed() {
    let case = Case::new();
    let id = case.claimed().to_string();
    let off = EditRequest { review_required: Field::Value(false), ..EditRequest::default() };
    let by_agent =
        EditRequest { review_by: Field::Value(ReviewBy::Agent), ..EditRequest::default() };
    for request in [&off, &by_agent] {
        let refused = case.tree.edit(&id, request, &agent(AGENT)).unwrap_err();
        assert_eq!(refused.code, Code::AofPersonRequired);
    }
    assert!(case.tree.edit(&id, &off, &human()).is_ok());
    let mut new = ready("x");
    new.review_required = Some(false);
    let refused = case.tree.create(&new, &agent(AGENT)).unwrap_err();
    assert_eq!(refused.code, Code::AofPersonRequired);
    let mut hidden = ready("x");
    hidden.metadata = json!({"reviewRequired": false}).as_object().cloned();
    let refused = case.tree.create(&hidden, &agent(AGENT)).unwrap_err();
    assert_eq!(refused.pointer.as_deref(), Some("/metadata/reviewRequired"));
}

#[test]
fn a_title_is_one_line() {
    let case = Case::new();
    let id = case.ready().to_string();
    for title in ["a\n## b", "a\r", "a\u{2028}b", "  ", "a\tb"] {
        let refused = case.tree.create(&ready(title), &human()).unwrap_err();
        assert_eq!(refused.pointer.as_deref(), Some("/title"), "{title:?}");
        let edit = EditRequest { title: Some(title.into()), ..EditRequest::default() };
        let refused = case.tree.edit(&id, &edit, &human()).unwrap_err();
        assert_eq!(refused.pointer.as_deref(), Some("/title"), "{title:?}");
    }
}

#[test]
fn a_finished_task_is_not_edited() {
    for status in [Status::Done, Status::Cancelled] {
        let case = Case::new();
        let id = case.in_status(status).to_string();
        let edit = EditRequest { title: Some("y".into()), ..EditRequest::default() };
        let edited = case.tree.edit(&id, &edit, &human()).unwrap_err();
        let waits = case.tree.add_dependency(&id, &on(case.ready()), &human()).unwrap_err();
        assert_eq!([edited.code, waits.code], [Code::AofTaskFinished; 2]);
    }
}

/// Failure 9 in docs/conformance.md: the reference accepts a dependency on a task that does not
/// exist, and waits for ever for one that was cancelled.
#[test]
fn dependencies_are_checked_and_impossible_ones_are_surfaced() {
    let case = Case::new();
    let mut new = routed("second");
    new.depends_on = Some(vec!["TASK-2026-02-09-900".into()]);
    let refused = case.tree.create(&new, &human()).unwrap_err();
    assert_eq!(refused.code, Code::AofDependencyNotFound);
    let first = id(&case.tree.create(&routed("first"), &human()).unwrap());
    new.depends_on = Some(vec![first.to_string()]);
    let second = id(&case.tree.create(&new, &human()).unwrap());
    // A cycle, a task that waits for itself, one that does not exist.
    for (task, blocker, code) in [
        (first, second.to_string(), Code::AofDependencyCycle),
        (first, first.to_string(), Code::AofDependencyCycle),
        (first, "TASK-2026-02-09-900".into(), Code::AofDependencyNotFound),
    ] {
        let request = DependencyRequest { blocker };
        let refused = case.tree.add_dependency(&task.to_string(), &request, &human());
        assert_eq!(refused.unwrap_err().code, code);
    }
    // The wait may be one for a person. An agent ends that of its own task alone.
    let removed = case.tree.remove_dependency(&second.to_string(), &on(first), &agent(AGENT));
    assert_eq!(removed.unwrap_err().code, Code::AofPersonRequired);
    let own = id(&case.tree.create(&new, &agent(AGENT)).unwrap());
    case.tree.remove_dependency(&own.to_string(), &on(first), &agent(AGENT)).unwrap();
    case.tree.cancel(&own.to_string(), &Default::default(), &human()).unwrap();
    case.tree.cancel(&first.to_string(), &Default::default(), &human()).unwrap();
    let polled = case.poll();
    assert_eq!(way(&polled.moves), [(Status::Backlog, Status::Blocked)]);
    let file = case.file(Status::Blocked, second);
    assert!(file.contains(&format!("dependency_impossible: {first} is cancelled")), "{file}");
    // Without the dependency it goes on.
    case.tree.remove_dependency(&second.to_string(), &on(first), &human()).unwrap();
    assert_eq!(way(&case.poll().moves), [(Status::Blocked, Status::Ready)]);
    let removed = case.tree.remove_dependency(&second.to_string(), &on(first), &human());
    assert_eq!(removed.unwrap_err().code, Code::AofDependencyNotFound);
    let kinds: Vec<String> = kinds(&case.events()).into_iter().map(str::to_owned).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "task.dep.removed").count(), 2);
    case.is_clean();
}

/// Failure 7 in docs/conformance.md: of concurrent additions the reference keeps some.
#[test]
fn concurrent_dependencies_are_all_kept() {
    const CALLERS: usize = 12;
    let case = Case::new();
    let task = case.in_status(Status::Backlog);
    let blockers: Vec<TaskId> = (0..CALLERS).map(|_| case.ready()).collect();
    // Two trees on one folder stand for two processes.
    let trees = [case.tree.clone(), case.reopened()];
    std::thread::scope(|scope| {
        for (caller, blocker) in blockers.iter().enumerate() {
            let tree = trees[caller % 2].clone();
            scope.spawn(move || {
                tree.add_dependency(&task.to_string(), &on(*blocker), &human()).unwrap();
            });
        }
    });
    let shown = case.tree.show(&task.to_string(), &Default::default(), &human()).unwrap();
    let found: BTreeSet<TaskId> = shown.task.depends_on.iter().map(|needed| needed.id).collect();
    assert_eq!(found, blockers.into_iter().collect());
}

#[test]
fn a_task_that_waits_is_promoted_only_by_force() {
    let case = Case::new();
    let first = case.ready();
    let mut new = ready("second");
    new.depends_on = Some(vec![first.to_string()]);
    let made = case.tree.create(&new, &human()).unwrap();
    // Ready at once would mean to start before its dependency.
    assert_eq!(made.task.status, Status::Backlog);
    assert!(made.warnings[0].starts_with("not_ready"), "{:?}", made.warnings);
    let second = id(&made).to_string();
    let refused = case.tree.promote(&second, &Default::default(), &human()).unwrap_err();
    assert_eq!(refused.code, Code::AofDependencyUnmet);
    assert!(refused.message.contains(&first.to_string()));
    let force = PromoteRequest { force: Some(true) };
    let own = CreateRequest {
        title: "third".into(),
        depends_on: new.depends_on.clone(),
        ..CreateRequest::default()
    };
    let third = id(&case.tree.create(&own, &agent(AGENT)).unwrap()).to_string();
    let refused = case.tree.promote(&third, &force, &agent(AGENT)).unwrap_err();
    assert_eq!(refused.code, Code::AofPersonRequired);
    case.tree.promote(&second, &force, &human()).unwrap();
    case.tree.cancel(&first.to_string(), &Default::default(), &human()).unwrap();
    // A forced task is taken although what it waits for is gone.
    let next = case.tree.claim_next(&Default::default(), &agent(AGENT)).unwrap();
    assert_eq!(next.claimed.unwrap().task.id.to_string(), second);
}

#[test]
fn a_task_is_given_back_by_its_holder_or_a_person() {
    let case = Case::new();
    let id = case.claimed();
    let text = id.to_string();
    let refused = case.tree.release(&text, &ReleaseRequest::default(), &agent("swe-qa"));
    assert_eq!(refused.unwrap_err().code, Code::AofUnauthorizedAgent);
    let old = ReleaseRequest { run_id: Some("run_0".into()), ..ReleaseRequest::default() };
    assert_eq!(case.tree.release(&text, &old, &agent(AGENT)).unwrap_err().code, Code::AofStaleRun);
    let released = case.tree.release(&text, &ReleaseRequest::default(), &agent(AGENT)).unwrap();
    assert_eq!(released.task.status, Status::Ready);
    assert!(case.text(&format!("runs/{id}/run.json")).contains("\"status\": \"abandoned\""));
    case.claim(id);
    case.tree.release(&text, &ReleaseRequest::default(), &human()).unwrap();
    let again = case.tree.release(&text, &ReleaseRequest::default(), &human()).unwrap_err();
    assert_eq!(again.code, Code::AofUnassignedTask);
    case.is_clean();
}

//! A person takes over what was refused.

use std::fs;

use accord_base::KnownBy;
use accord_tasks_core::Status;
use accord_tasks_core::operations::AdoptRequest;

use crate::support::{AGENT, World, agent, human};

fn edit(world: &World, status: Status, id: accord_tasks_core::TaskId, from: &str, to: &str) {
    let path = world.file(status, id);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{from:?} is not in {text}");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn a_refused_edit_is_taken_over_once() {
    let world = World::new();
    let id = world.ready("Ship it");
    world.claim(id, AGENT);
    let with = "metadata:\n  reviewRequired: false";
    edit(&world, Status::InProgress, id, "metadata: {}", with);
    world.look();
    // The agent goes on, and its body stays.
    let path = world.file(Status::InProgress, id);
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("reviewRequired"));
    fs::write(&path, format!("{text}\nLater notes.\n")).unwrap();
    let (task, request) = (id.to_string(), AdoptRequest::default());
    let refused = world.tree().adopt(&task, &request, &agent(AGENT)).unwrap_err();
    assert_eq!(refused.code.as_str(), "person_required");
    let trial = AdoptRequest { dry_run: Some(true), ..AdoptRequest::default() };
    let would = world.tree().adopt(&task, &trial, &human()).unwrap();
    assert!(!fs::read_to_string(&path).unwrap().contains("reviewRequired"));
    let answer = world.tree().adopt(&task, &request, &human()).unwrap();
    assert_eq!(answer.adopted, would.adopted);
    assert_eq!(answer.adopted.len(), 1, "{:?}", answer.adopted);
    assert_eq!(answer.adopted[0].member, "metadata.reviewRequired");
    assert_eq!(answer.adopted[0].file, false);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("reviewRequired: false") && text.contains("Later notes."), "{text}");
    let adopted = world.events_of("task.adopted");
    assert_eq!(adopted.len(), 1);
    assert_eq!(adopted[0]["actor"], "human:reviewer");
    assert_eq!(adopted[0]["payload"]["door"], "cli");
    // It holds: a look does not undo it, and the report needs no review.
    world.look();
    assert_eq!(world.events_of("task.edit_refused").len(), 1);
    let again = world.tree().adopt(&task, &request, &human()).unwrap_err();
    assert_eq!(again.code.as_str(), "nothing_to_adopt");
    world.report(id, AGENT, "done").unwrap();
    assert_eq!(world.copies(id), [Status::Done]);
}

#[test]
fn another_edit_is_not_taken_over_instead_of_the_one_that_was_shown() {
    let world = World::new();
    let id = world.ready("Ship it");
    world.claim(id, AGENT);
    edit(&world, Status::InProgress, id, "priority: normal", "priority: high");
    world.look();
    let trial = AdoptRequest { dry_run: Some(true), ..AdoptRequest::default() };
    let shown = world.tree().adopt(&id.to_string(), &trial, &human()).unwrap();
    // The agent edits its file while the person looks.
    edit(&world, Status::InProgress, id, "status: in-progress", "status: done");
    world.look();
    let expect = shown.evidence;
    let request = AdoptRequest { expect, ..AdoptRequest::default() };
    let refused = world.tree().adopt(&id.to_string(), &request, &human()).unwrap_err();
    assert_eq!(refused.code.as_str(), "evidence_changed");
    assert_eq!(world.copies(id), [Status::InProgress]);
}

#[test]
fn an_adopted_status_moves_the_task() {
    let mut world = World::new();
    let id = world.ready("Ship it");
    world.claim(id, AGENT);
    world.report(id, AGENT, "done").unwrap();
    edit(&world, Status::Review, id, "status: review", "status: done");
    world.reopen();
    world.look();
    assert_eq!(world.copies(id), [Status::Review]);
    let expect = Some("0123456789abcdef".repeat(2));
    let request = AdoptRequest { expect, ..AdoptRequest::default() };
    let outdated = world.tree().adopt(&id.to_string(), &request, &human()).unwrap_err();
    assert_eq!(outdated.code.as_str(), "evidence_changed");
    world.adopt(id);
    assert_eq!(world.copies(id), [Status::Done]);
    let moved = world.events_of("task.transitioned");
    let last = moved.last().unwrap();
    assert_eq!(
        (&last["payload"]["to"], &last["payload"]["reason"]),
        (&"done".into(), &"adopted".into())
    );
    assert_eq!(world.lint(), Vec::<String>::new());
}

#[test]
fn adopted_settings_hold() {
    let mut world = World::new();
    let manifest = world.root().join("project.yaml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("review: human", "review: guide")).unwrap();
    world.look();
    assert!(fs::read_to_string(&manifest).unwrap().contains("review: human"));
    let request = AdoptRequest::default();
    let refused = world.tree().adopt_settings(&request, &agent(AGENT)).unwrap_err();
    assert_eq!(refused.code.as_str(), "person_required");
    // A person sees first what would change, and decides about that.
    let trial = AdoptRequest { dry_run: Some(true), ..AdoptRequest::default() };
    let would = world.tree().adopt_settings(&trial, &human()).unwrap();
    assert_eq!(would.adopted[0].member, "review");
    assert!(fs::read_to_string(&manifest).unwrap().contains("review: human"));
    assert!(world.events_of("task.adopted").is_empty());
    let outdated = AdoptRequest { expect: Some("0".repeat(32)), ..AdoptRequest::default() };
    let refused = world.tree().adopt_settings(&outdated, &human()).unwrap_err();
    assert_eq!(refused.code.as_str(), "evidence_changed");
    let request = AdoptRequest { expect: would.evidence, ..AdoptRequest::default() };
    let without_terminal = human().present(KnownBy::Nothing.into());
    let answer = world.tree().adopt_settings(&request, &without_terminal).unwrap();
    assert_eq!(answer.adopted, would.adopted);
    let event = world.events_of("task.adopted").remove(0);
    assert_eq!(event["payload"]["presence"], "no terminal", "{event}");
    let request = AdoptRequest::default();
    assert!(fs::read_to_string(&manifest).unwrap().contains("review: guide"));
    let again = world.tree().adopt_settings(&request, &human()).unwrap_err();
    assert_eq!(again.code.as_str(), "nothing_to_adopt");
    // The next process follows them: an agent may end its review.
    world.reopen();
    world.look();
    assert_eq!(world.events_of("task.edit_refused").len(), 1);
    let id = world.ready("Ship it");
    world.claim(id, AGENT);
    world.report(id, AGENT, "done").unwrap();
    world.update(id, AGENT, Status::Done).unwrap();
    assert_eq!(world.copies(id), [Status::Done]);
}

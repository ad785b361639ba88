//! What a poll does.

use std::collections::{BTreeMap, HashMap};

use accord_contract::Code;
use accord_tasks_core::board::{Action, Board, Entry, Limits};
use accord_tasks_core::run::{Heartbeat, Run};
use accord_tasks_core::{Status, TaskId};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{at, task};

fn id(number: usize) -> TaskId {
    TaskId::parse(&format!("TASK-2026-02-09-{number:03}")).unwrap()
}

fn entry(number: usize, status: &str, about: Value) -> Entry {
    let mut about = about;
    if about.get("routing").is_none() {
        about["routing"] = json!({"agent": "swe-backend"});
    }
    Entry::of(task(&id(number).to_string(), status, about).task(), None)
}

fn board(entries: impl IntoIterator<Item = Entry>) -> Board {
    let mut board = Board::default();
    entries.into_iter().for_each(|entry| board.put(entry));
    board
}

#[test]
fn ready_tasks_are_started_by_urgency_then_age() {
    let aged = |number: usize, priority: &str, seconds: i64| {
        let about = json!({"priority": priority, "createdAt": at(seconds).to_string()});
        entry(number, "ready", about)
    };
    let mut board = board([
        aged(1, "low", -9),
        aged(2, "normal", -5),
        aged(3, "normal", -7),
        aged(4, "critical", -1),
    ]);
    let started = board.poll(&Limits::default(), at(0));
    assert_eq!(started, [Action::Start(id(4)), Action::Start(id(3)), Action::Start(id(2))]);
}

#[test]
fn limits_and_resources_hold_within_one_poll() {
    let about = |team: &str, resource: Option<&str>| {
        let mut about = json!({"routing": {"team": team}});
        if let Some(resource) = resource {
            about["resource"] = resource.into();
        }
        about
    };
    let mut board = board([
        entry(1, "in-progress", about("web", Some("db"))),
        entry(2, "ready", about("ops", Some("db"))),
        entry(3, "ready", about("web", None)),
        entry(4, "ready", about("ops", Some("gpu"))),
        entry(5, "ready", about("ops", Some("gpu"))),
        entry(6, "ready", json!({"routing": {"tags": ["x"]}})),
        entry(7, "ready", about("ops", None)),
    ]);
    let teams = HashMap::from([("web".to_owned(), 1)]);
    let limits = Limits { running: 9, teams, ..Limits::default() };
    assert_eq!(board.poll(&limits, at(0)), [Action::Start(id(4)), Action::Start(id(7))]);
    let few = Limits { running: 2, ..limits };
    assert_eq!(board.poll(&few, at(0)), [Action::Start(id(4))]);
}

#[test]
fn a_task_goes_on_when_what_it_needs_is_done() {
    let mut board = board([
        entry(1, "in-progress", json!({})),
        entry(2, "backlog", json!({"dependsOn": [id(1).to_string()]})),
        entry(3, "backlog", json!({})),
        entry(4, "review", json!({"parentId": id(3).to_string()})),
        entry(5, "backlog", json!({"routing": {}})),
        entry(6, "backlog", json!({"routing": {}, "dependsOn": [id(1).to_string()]})),
    ]);
    assert_eq!(board.poll(&Limits::default(), at(0)), [Action::Unrouted(id(5))]);
    // Nothing changed: nothing is said twice.
    assert_eq!(board.poll(&Limits::default(), at(0)), []);
    board.put(entry(1, "done", json!({})));
    let promoted = [Action::Promote(id(2)), Action::Promote(id(6))];
    assert_eq!(board.poll(&Limits::default(), at(0)), promoted);
    board.put(entry(4, "done", json!({"parentId": id(3).to_string()})));
    assert_eq!(board.poll(&Limits::default(), at(0)), [Action::Promote(id(3))]);
}

#[test]
fn what_can_never_be_done_is_surfaced() {
    let needs = |other: usize| json!({"dependsOn": [id(other).to_string()]});
    let mut board = board([
        entry(1, "ready", json!({})),
        entry(2, "backlog", needs(1)),
        entry(3, "backlog", needs(9)),
    ]);
    let none = Limits { running: 0, ..Limits::default() };
    let missing = format!("dependency_impossible: {} does not exist", id(9));
    assert_eq!(board.poll(&none, at(0)), [Action::Block(id(3), missing.clone())]);
    board.put(entry(1, "cancelled", json!({})));
    let cancelled = format!("dependency_impossible: {} is cancelled", id(1));
    assert_eq!(board.poll(&none, at(0)), [Action::Block(id(2), cancelled)]);
    // Once the task exists, the other goes on by itself.
    let mut blocked = needs(9);
    blocked["metadata"] = json!({"blockReason": missing});
    board.put(entry(3, "blocked", blocked));
    assert_eq!(board.poll(&none, at(0)), []);
    board.put(entry(9, "ready", json!({})));
    assert_eq!(board.poll(&none, at(0)), [Action::Requeue(id(3))]);
    // A task that an agent blocked stays blocked.
    board.put(entry(4, "blocked", json!({"metadata": {"blockReason": "no key"}})));
    assert_eq!(board.poll(&none, at(0)), []);
}

#[test]
fn the_heartbeat_decides_over_the_lease() {
    let lease = |until: i64| {
        json!({"lease": {
            "agent": "a", "acquiredAt": at(0).to_string(), "expiresAt": at(until).to_string()
        }})
    };
    let file = task(&id(1).to_string(), "in-progress", lease(600));
    let run = Run::begin(id(1), "a", "run_1", at(0));
    let beat = Heartbeat::next(&run, None, 300, at(0));
    let mut board = board([Entry::of(file.task(), Some(&beat))]);
    assert_eq!(board.next_due(), Some(at(300)));
    assert_eq!(board.poll(&Limits::default(), at(299)), []);
    assert_eq!(board.poll(&Limits::default(), at(300)), [Action::Recover(id(1))]);
    // A run that beats is never reclaimed, even when its lease is over.
    let beat = Heartbeat::next(&run, Some(&beat), 300, at(500));
    board.put(Entry::of(file.task(), Some(&beat)));
    assert_eq!(board.poll(&Limits::default(), at(700)), []);
    // Without a heartbeat the lease decides.
    board.put(Entry::of(file.task(), None));
    assert_eq!(board.poll(&Limits::default(), at(599)), []);
    assert_eq!(board.poll(&Limits::default(), at(600)), [Action::Recover(id(1))]);
}

#[test]
fn a_task_in_progress_for_too_long_is_reported_once() {
    let mut board = board([entry(1, "in-progress", json!({"sla": {"maxInProgressMs": 60_000}}))]);
    // It has been in progress since a minute before the tests begin.
    let [Action::Violation(found)] = board.poll(&Limits::default(), at(0))[..] else {
        panic!("no violation");
    };
    assert_eq!(found, id(1));
    assert_eq!(board.poll(&Limits::default(), at(9)), []);
}

#[test]
fn an_alert_is_repeated_after_a_quarter_of_an_hour() {
    let alerted = |at: i64| {
        let about = json!({
            "sla": {"maxInProgressMs": 60_000},
            "metadata": {"slaAlertedAt": self::at(at).to_string()},
        });
        entry(1, "in-progress", about)
    };
    let mut board = board([alerted(100)]);
    assert_eq!(board.next_due(), Some(at(1_000)));
    assert_eq!(board.poll(&Limits::default(), at(999)), []);
    // A heartbeat writes the task again, and the alert stays where it was.
    board.put(alerted(100));
    assert_eq!(board.poll(&Limits::default(), at(999)), []);
    assert_eq!(board.poll(&Limits::default(), at(1_000)), [Action::Violation(id(1))]);
    // An alert from before the task was in progress does not count.
    board.put(alerted(-100));
    assert_eq!(board.poll(&Limits::default(), at(0)), [Action::Violation(id(1))]);
}

#[test]
fn an_action_is_not_planned_again_unchanged() {
    let lease = json!({"lease": {
        "agent": "a", "acquiredAt": at(0).to_string(), "expiresAt": at(600).to_string()
    }});
    let mut board = board([entry(1, "in-progress", lease.clone())]);
    assert_eq!(board.poll(&Limits::default(), at(600)), [Action::Recover(id(1))]);
    // The action failed: nothing reached the board.
    assert_eq!(board.poll(&Limits::default(), at(900)), []);
    assert!(board.next_due().is_none_or(|due| due > at(900)));
    board.put(entry(1, "in-progress", lease));
    assert_eq!(board.poll(&Limits::default(), at(901)), [Action::Recover(id(1))]);
}

#[test]
fn tasks_that_wait_for_each_other_are_surfaced_once() {
    let needs = |others: &[usize]| {
        let others: Vec<String> = others.iter().map(|other| id(*other).to_string()).collect();
        json!({"dependsOn": others})
    };
    // 1 and 2 wait for each other, 3 for itself; 4 only waits for them.
    let mut board = board([
        entry(1, "backlog", needs(&[2, 4])),
        entry(2, "ready", needs(&[1])),
        entry(3, "backlog", needs(&[3])),
        entry(4, "backlog", needs(&[5])),
        entry(5, "ready", json!({})),
        entry(6, "backlog", needs(&[1])),
    ]);
    let none = Limits { running: 0, ..Limits::default() };
    let why = |number: usize| format!("dependency_impossible: {} waits for itself", id(number));
    let block = |number: usize| Action::Block(id(number), why(number));
    assert_eq!(board.poll(&none, at(0)), [block(1), block(2), block(3)]);
    for (number, needed) in [(1, &[2, 4][..]), (2, &[1]), (3, &[3])] {
        let mut about = needs(needed);
        about["metadata"] = json!({"blockReason": why(number)});
        board.put(entry(number, "blocked", about));
    }
    assert_eq!(board.poll(&none, at(0)), []);
    // The circle is cut: both go on.
    let mut cut = needs(&[4]);
    cut["metadata"] = json!({"blockReason": why(1)});
    board.put(entry(1, "blocked", cut));
    assert_eq!(board.poll(&none, at(0)), [Action::Requeue(id(1)), Action::Requeue(id(2))]);
}

#[test]
fn a_ready_task_waits_for_what_it_needs() {
    let needs = |other: usize| json!({"dependsOn": [id(other).to_string()]});
    let mut board = board([entry(1, "in-progress", json!({})), entry(2, "ready", needs(1))]);
    assert_eq!(board.poll(&Limits::default(), at(0)), []);
    board.put(entry(1, "done", json!({})));
    assert_eq!(board.poll(&Limits::default(), at(0)), [Action::Start(id(2))]);
}

#[test]
fn dependencies_exist_and_have_no_cycle() {
    let needs = |other: usize| json!({"dependsOn": [id(other).to_string()]});
    let board = board([
        entry(1, "backlog", json!({})),
        entry(2, "backlog", needs(1)),
        entry(3, "backlog", needs(2)),
    ]);
    board.check_dependencies(id(4), &[id(1), id(3)]).unwrap();
    let missing = board.check_dependencies(id(4), &[id(8)]).unwrap_err();
    assert_eq!(missing.code, Code::AofDependencyNotFound);
    for needed in [id(1), id(2), id(3)] {
        let cycle = board.check_dependencies(id(1), &[needed]).unwrap_err();
        assert_eq!(cycle.code, Code::AofDependencyCycle, "{needed}");
    }
}

proptest! {
    /// However a board came to be, it answers like one that was built from its tasks at once.
    #[test]
    fn a_board_does_not_depend_on_its_past(
        changes in prop::collection::vec((0_usize..6, 0_usize..9, 0_usize..7, 0_usize..7), 1..40)
    ) {
        let mut board = Board::default();
        let mut tasks = BTreeMap::new();
        for (number, status, needed, parent) in changes {
            if status == 8 {
                board.remove(id(number));
                tasks.remove(&number);
                continue;
            }
            let mut about = json!({"dependsOn": [id(needed).to_string()]});
            if parent < 6 && parent != number {
                about["parentId"] = id(parent).to_string().into();
            }
            let entry = entry(number, Status::ALL[status].as_str(), about);
            board.put(entry.clone());
            tasks.insert(number, entry);
        }
        let mut fresh = self::board(tasks.into_values());
        let limits = Limits { running: 4, ..Limits::default() };
        let mut expected = fresh.poll(&limits, at(0));
        let mut found = board.poll(&limits, at(0));
        // A board that has polled says nothing twice, so the actions are compared as sets.
        let key = |action: &Action| (action.task(), format!("{action:?}"));
        expected.sort_by_key(key);
        found.sort_by_key(key);
        prop_assert_eq!(found, expected);
        prop_assert!(board.counts().eq(fresh.counts()));
        prop_assert_eq!(board.next_due(), fresh.next_due());
    }
}
